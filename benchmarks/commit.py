"""Which commit of likewise's source ran."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import likewise

SOURCE = Path(likewise.__file__).parent


@cache
def commit(folder: Path = SOURCE) -> str | None:
    """The short commit of a folder's files, with + where they differ from it; None without git or a checkout."""
    try:
        if not _git(folder, "ls-files", "."):
            return None
        changed = _git(folder, "status", "--porcelain", ".")
        return _git(folder, "rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
