"""Writing a table: in the dialect of the table it belongs to, under a lock, whole or not at all."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from likewise.errors import StorageError, TableError, UsageError
from likewise.tables.cells import cell_text, guard, unguard
from likewise.tables.dialect import Dialect
from likewise.tables.reading import Table
from likewise.tables.workbooks import changed_workbook, workbook_bytes

if TYPE_CHECKING:
    import polars

# One at a time: whoever changes a table holds a lock beside it from reading to replacing, and others wait.

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
    """Returns the lock file that a spreadsheet program keeps beside an open file, or None."""
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


# Writing files: whole or not at all, never more open to others than the file they belong to, leaving nothing behind.
#
# New content is written beside the file first, under one fixed name for each user that is locked while somebody writes.
# A process that is killed leaves at most that one file, and whoever writes next removes it.

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
    copies: list[Path] = []

    def publish(aside: Path) -> None:
        shutil.copystat(source, aside)
        copies.append(_publish_new(aside, source))

    _write_aside(_aside(source.with_name(f"{source.name}.bak")), source.read_bytes(), PRIVATE, publish)
    return copies[0]


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


# Writing a table: in the dialect of the table it belongs to, at once or not at all, and nothing a spreadsheet runs.

# Files that a table can be written to, by the end of their names.
TEXTS, TABS, PARQUETS = (".csv", ".txt", ".dat", ""), (".tsv", ".tab"), (".parquet", ".pq")
WORKBOOKS = (".xlsx",)


def check_name(target: Path) -> None:
    """Raises a UsageError if the end of a name promises another kind of file, such as a document or a database."""
    ending = _ending(target)
    if ending not in (*TEXTS, *TABS, *PARQUETS, *WORKBOOKS):
        raise UsageError(
            f"{target} ends in {ending!r}; it can end in .xlsx, or in .csv, .tsv, .txt or .parquet, each with .gz or "
            "without."
        )


def _ending(target: Path) -> str:
    """The end of a name that says what is in the file."""
    return (target.with_suffix("") if target.suffix.lower() == ".gz" else target).suffix.lower()


def dialect_for(target: Path, like: Dialect) -> Dialect:
    """The dialect that a file's name asks for, otherwise as another table was written.

    >>> dialect_for(Path("next.tsv"), Dialect(delimiter=";")).delimiter
    '\\t'
    """
    gzipped, ending = target.suffix.lower() == ".gz", _ending(target)
    if ending in PARQUETS:
        return Dialect(kind="parquet", gzipped=gzipped)
    if ending in WORKBOOKS:
        return like if like.kind == "workbook" else Dialect(kind="workbook")
    # What a delimiter is announced by goes with it; titles stay where they are.
    above = tuple(line for line in like.above if line.strip('" ').lower() == f"sep={like.delimiter}")
    text = replace(like, above=above) if like.kind == "csv" else Dialect()
    if ending in TABS:
        return replace(text, delimiter="\t", gzipped=gzipped, above=())
    if ending == ".csv" and text.delimiter in "\t|":
        text = replace(text, delimiter=",", above=())
    return replace(text, kind="csv", gzipped=gzipped)


def write(frame: polars.DataFrame, target: Path, dialect: Dialect) -> None:
    """Write the table; a file that is there already is replaced at once, and stays if anything goes wrong."""
    write_bytes(target, table_bytes(frame, target, dialect))


def table_bytes(
    frame: polars.DataFrame, target: Path, dialect: Dialect, overlong: Mapping[int, Sequence[str]] | None = None
) -> bytes:
    """The content of the table's file.

    `overlong` are rows with more cells than there are columns, by their places; they are written as they were read.
    """
    if dialect.kind != "csv" and overlong:
        raise TableError(
            f"{target} cannot be written as Parquet or workbook: a row of the table has more cells than the header, "
            f"{', '.join(next(iter(overlong.values())))}. Correct it, or write the table as CSV."
        )
    if dialect.kind == "structures":
        raise TableError(
            f"{target} is a file of molecules, which has no place for results; `likewise init {target}` makes a table."
        )
    if dialect.kind == "parquet":
        stream = io.BytesIO()
        frame.write_parquet(stream)
        data = stream.getvalue()
    elif dialect.kind == "workbook":
        data = workbook_bytes(frame, str(target))
    else:
        data = _encode(frame, dialect, overlong or {})
    return gzip.compress(data) if dialect.gzipped else data


def write_again(
    frame: polars.DataFrame, target: Path, dialect: Dialect, table: Table, check: Callable[[], None] = lambda: None
) -> None:
    """Write what has become of a table that was read; in a workbook, only the cells that have changed.

    `check` may still raise an error when all that is left to do is to replace the file.
    """
    if dialect.kind == "workbook" and table.dialect.kind == "workbook":
        data = changed_workbook(table.path, table.dialect, table.frame, frame)
    else:
        data = table_bytes(frame, target, dialect, table.overlong)
    write_bytes(target, data, check)


def write_bytes(target: Path, data: bytes, check: Callable[[], None] = lambda: None) -> None:
    """Put these bytes in the place of a file, whole or not at all."""
    try:
        replace_file(target, data, check)
    except OSError as error:
        raise TableError(f"{target} cannot be written: {error.strerror or error}; check the folder.") from error


def keep_backup(source: Path) -> Path:
    """A copy of the file beside it, under a name that is not taken."""
    try:
        return source.with_name(back_up(source).name) if not source.is_symlink() else back_up(source)
    except OSError as error:
        raise TableError(
            f"a backup of {source} cannot be written: {error.strerror or error}; nothing was changed."
        ) from error


def _encode(frame: polars.DataFrame, dialect: Dialect, overlong: Mapping[int, Sequence[str]]) -> bytes:
    lines: list[str] = []
    # Both kinds of line ends are then put in quotation marks wherever a cell has one, whatever the dialect's own.
    stream = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n")))
    writer = csv.writer(stream, delimiter=dialect.delimiter, lineterminator="\r\n")
    writer.writerow([guard(name) for name in frame.columns])
    rows = zip(*(_texts(column) for column in frame), strict=True)
    writer.writerows(_again(overlong[place]) if place in overlong else row for place, row in enumerate(rows))
    lines[:0] = dialect.above
    text = "".join(f"{line}{dialect.newline}" for line in lines)
    try:
        data = text.encode(dialect.encoding)
    except UnicodeEncodeError:
        # What is new does not fit the old encoding; UTF-8 with its mark is what spreadsheets recognise.
        return b"\xef\xbb\xbf" + text.encode()
    return ("\ufeff".encode(dialect.encoding) if dialect.bom else b"") + data


def _again(cells: Sequence[str]) -> Sequence[str]:
    """Cells as a file has them, guarded once."""
    return [guard(unguard(cell)) for cell in cells]


def _texts(column: polars.Series) -> Sequence[str]:
    return ["" if cell is None else guard(cell_text(cell)) for cell in column.to_list()]
