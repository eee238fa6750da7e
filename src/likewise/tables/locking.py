"""One at a time: whoever changes a table holds a lock beside it from reading to replacing, and others wait."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from likewise.errors import StorageError

PAUSE = 0.05
# Of opening: a link is an error, so that nothing elsewhere is made or touched in its name.
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def exclusive(table: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a table; `waiting` is called once if somebody else has it.

    A lock ends with its process, however that ends. Where none can be made, in a folder that cannot be written or on a
    disk without locks, the work goes on without. A link in the lock's place is a StorageError, and is not followed.
    """
    place = Path(os.path.realpath(table))
    lock = place.with_name(f".{place.name}.lock")
    file = _acquire(lock, waiting)
    try:
        yield
    finally:
        if file is not None:
            _release(lock, file)


def opened_by(file: Path) -> Path | None:
    """The file that a spreadsheet keeps beside a file which it has open, if there is one."""
    marks = (file.with_name(f"~${file.name}"), file.with_name(f".~lock.{file.name}#"))
    return next((mark for mark in marks if mark.exists()), None)


def _acquire(lock: Path, waiting: Callable[[], None]) -> int | None:
    said = False
    while True:
        try:
            file = os.open(lock, os.O_RDWR | os.O_CREAT | NOFOLLOW, 0o666)
        except OSError as error:
            if lock.is_symlink():
                raise StorageError(f"{lock} is a link, and a lock is none; remove it, and try again") from error
            # Windows refuses a file that is being removed by whoever held it.
            if os.name == "nt" and lock.exists():
                time.sleep(PAUSE)
                continue
            return None
        try:
            taken = try_lock(file)
        except OSError:
            os.close(file)
            return None
        if taken and is_still_there(file, lock):
            return file
        os.close(file)
        if not taken and not said:
            waiting()
            said = True
        time.sleep(0 if taken else PAUSE)


def is_still_there(file: int, path: Path) -> bool:
    """Whether an open file is the one at this path: whoever held its lock before may have removed or replaced it."""
    try:
        return os.path.samestat(os.fstat(file), path.lstat())
    except FileNotFoundError:
        return False


if os.name == "nt":
    import msvcrt

    def try_lock(file: int) -> bool:
        """Lock an open file, unless somebody else has; whether it is ours."""
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except PermissionError:
            return False
        return True

    def _release(lock: Path, file: int) -> None:
        # An open file cannot be removed there; one that somebody else has opened meanwhile stays for him.
        os.close(file)
        with suppress(OSError):
            lock.unlink()

else:
    import fcntl

    def try_lock(file: int) -> bool:
        """Lock an open file, unless somebody else has; whether it is ours."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(lock: Path, file: int) -> None:
        # Removed while it is held, so that nobody else can hold it by then.
        with suppress(OSError):
            lock.unlink()
        os.close(file)
