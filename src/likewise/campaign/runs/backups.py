"""Backups of a table: one before each change, of which the first and the last few are kept.

The journal knows which files are backups. Others, and those that somebody has changed, are never removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from likewise.campaign.runs.journal import Journal, file_hash, now

# Beside the first one.
KEPT = 5


def backup_line(backup: Path) -> dict[str, Any]:
    """The line of the journal that says that a file is a backup."""
    return {"kind": "backup", "time": now(), "file": backup.name, "hash": file_hash(backup)}


def thin_backups(journal: Journal) -> int:
    """Remove the backups between the first and the last few; how many are gone."""
    lines = {str(line.get("file")): line for line in journal.of_kind("backup")}
    there = [line for name, line in lines.items() if (journal.path.parent / name).is_file()]
    old = [line for line in there[1:-KEPT] if _is_ours(journal.path.parent, line)]
    for line in old:
        with suppress(OSError):
            (journal.path.parent / line["file"]).unlink()
    return len(old)


def _is_ours(folder: Path, line: Mapping[str, Any]) -> bool:
    # A name, never a path: what a journal from elsewhere says must not reach another folder.
    name = str(line["file"])
    if Path(name).name != name or ".bak" not in name:
        return False
    try:
        return file_hash(folder / name) == line.get("hash")
    except OSError:
        return False
