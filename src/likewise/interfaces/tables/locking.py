"""One at a time: whoever changes a table holds a lock beside it from reading to replacing, and others wait."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PAUSE = 0.05


@contextmanager
def alone(table: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a table; `waiting` is called once if somebody else has it.

    A lock ends with its process, however that ends. Where none can be made, in a folder that cannot be written or on a
    disk without locks, the work goes on without.
    """
    place = Path(os.path.realpath(table))
    lock = place.with_name(f".{place.name}.lock")
    file = _held(lock, waiting)
    try:
        yield
    finally:
        if file is not None:
            _released(lock, file)


def _held(lock: Path, waiting: Callable[[], None]) -> int | None:
    said = False
    while True:
        try:
            file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            # Windows refuses a file that is being removed by whoever held it.
            if os.name == "nt" and lock.exists():
                time.sleep(PAUSE)
                continue
            return None
        try:
            taken = _taken(file)
        except OSError:
            os.close(file)
            return None
        if taken and _same(file, lock):
            return file
        os.close(file)
        if not taken and not said:
            waiting()
            said = True
        time.sleep(0 if taken else PAUSE)


def _same(file: int, lock: Path) -> bool:
    """Whether the file is still there: whoever held the lock before has removed it."""
    try:
        return os.path.samestat(os.fstat(file), lock.stat())
    except FileNotFoundError:
        return False


if os.name == "nt":
    import msvcrt

    def _taken(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except PermissionError:
            return False
        return True

    def _released(lock: Path, file: int) -> None:
        # An open file cannot be removed there; one that somebody else has opened meanwhile stays for him.
        os.close(file)
        with suppress(OSError):
            lock.unlink()

else:
    import fcntl

    def _taken(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _released(lock: Path, file: int) -> None:
        # Removed while it is held, so that nobody else can hold it by then.
        with suppress(OSError):
            lock.unlink()
        os.close(file)
