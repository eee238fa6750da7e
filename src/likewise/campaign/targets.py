"""The files that a command writes, checked before any work: nothing is lost, and nothing is done in vain."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from likewise.errors import TableError, UsageError


def check_targets(targets: Mapping[str, Path | None], sources: Mapping[str, Path | None]) -> None:
    """Refuse files that cannot be written, that the command reads, or that are one; each is called by its option."""
    known = [(what, path) for what, path in sources.items() if path is not None]
    for option, target in targets.items():
        if target is None:
            continue
        _check_place(option, target)
        for what, path in known:
            if _same(target, path):
                raise UsageError(f"{option} {target} is {what}; give another name.")
        known.append((f"that of {option} too", target))


def _check_place(option: str, target: Path) -> None:
    # A link stays, and what it points to is written.
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise UsageError(f"{option} {target}: there is no folder {folder}; make it, or give another name.")
    if target.exists() and not target.is_file():
        raise UsageError(f"{option} {target} is a folder or a device, not a file; give another name.")
    if not os.access(folder, os.W_OK):
        raise TableError(f"{option} {target}: the folder {folder} cannot be written; change its rights, or the name.")


def _same(one: Path, other: Path) -> bool:
    """Whether two names are one file, be it there or not."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)
