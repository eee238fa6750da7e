"""Writing files: whole or not at all, never more open to others than the file they belong to, leaving nothing behind.

New content is written beside the file first, under one fixed name for each user that is locked while somebody writes. A
process that is killed leaves at most that one file, and whoever writes next removes it.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from likewise.tables.locking import NOFOLLOW, PAUSE, is_still_there, try_lock

PRIVATE, PUBLIC = 0o600, 0o666


def replace_file(target: Path, data: bytes, check: Callable[[], None] = lambda: None) -> None:
    """Put these bytes in the place of a file: a reader finds the old content or the new, never half of it.

    A file that is there keeps its permissions, a link stays a link. `check` is called last, when all that is left to do
    is to rename; whatever it raises, and an OSError, leave the old file as it was.
    """
    # The file itself rather than a link to it, which would be lost.
    target = Path(os.path.realpath(target))
    old = target if target.exists() else None

    def publish(aside: Path) -> None:
        if old is not None:
            shutil.copymode(old, aside)
        check()
        aside.replace(target)

    _write_aside(_aside(target), data, PUBLIC if old is None else PRIVATE, publish)


def back_up(source: Path) -> Path:
    """A whole copy of a file beside it, as private as the file, under a name that is not taken.

    Later copies have larger numbers, also where earlier ones are gone.
    """
    source = Path(os.path.realpath(source))
    found: list[Path] = []

    def publish(aside: Path) -> None:
        shutil.copystat(source, aside)
        found.append(_publish_new(aside, source))

    _write_aside(_aside(source.with_name(f"{source.name}.bak")), source.read_bytes(), PRIVATE, publish)
    return found[0]


def _aside(target: Path) -> Path:
    """Where the content of a file is written before it takes its place; users cannot remove each other's."""
    user = f".{os.getuid()}" if hasattr(os, "getuid") else ""
    return target.with_name(f".{target.name}{user}.new")


def _publish_new(aside: Path, source: Path) -> Path:
    """Give a written file the name of a backup after the last one."""
    number = _next_number(source)
    while True:
        backup = source.with_name(f"{source.name}.bak{number or ''}")
        try:
            # Unlike renaming, this never replaces a file.
            os.link(aside, backup)
        except FileExistsError:
            number += 1
        except OSError:
            # A disk without links: whoever backs up holds the table's lock, so that nobody takes the name meanwhile.
            if backup.exists():
                number += 1
                continue
            aside.replace(backup)
            return backup
        else:
            return backup


def _next_number(source: Path) -> int:
    start = f"{source.name}.bak"
    ends = [name.removeprefix(start) for name in os.listdir(source.parent) if name.startswith(start)]
    return max((int(end or 0) + 1 for end in ends if end.isdecimal() or not end), default=0)


def _write_aside(aside: Path, data: bytes, mode: int, publish: Callable[[Path], None]) -> None:
    file = _create(aside, mode)
    try:
        with os.fdopen(os.dup(file), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if not is_still_there(file, aside):
            raise FileExistsError(errno.EEXIST, "another process is writing it", str(aside))
        if os.name == "nt":
            # An open file cannot be renamed there.
            os.close(file)
            file = -1
        publish(aside)
    finally:
        # Gone if it has taken its place; removed while it is locked otherwise.
        if file < 0 or is_still_there(file, aside):
            with suppress(OSError):
                aside.unlink()
        if file >= 0:
            os.close(file)


def _create(aside: Path, mode: int) -> int:
    """A new file, locked; one that a killed process left is removed first, and one in use is waited for."""
    while True:
        try:
            file = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL | NOFOLLOW | getattr(os, "O_BINARY", 0), mode)
        except FileExistsError:
            _clear(aside)
            continue
        # Somebody who took it for a left one, between its making and its locking, has removed it.
        if _locks(file) and is_still_there(file, aside):
            return file
        os.close(file)


def _clear(aside: Path) -> None:
    """Remove what a killed process left; wait a little if somebody is writing it."""
    if aside.is_symlink():
        aside.unlink(missing_ok=True)
        return
    try:
        file = os.open(aside, os.O_RDWR | NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        free = _locks(file)
        if free and os.name != "nt" and is_still_there(file, aside):
            aside.unlink()
    finally:
        os.close(file)
    if not free:
        time.sleep(PAUSE)
    elif os.name == "nt":
        with suppress(PermissionError):
            aside.unlink(missing_ok=True)


def _locks(file: int) -> bool:
    """Whether the file is ours; on a disk without locks it always is."""
    try:
        return try_lock(file)
    except OSError:
        return True
