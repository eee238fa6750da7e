"""Results in a file, merged into the file of the table they belong to, of which backups are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import polars

from likewise.campaign.journal import Conflict, Journal, Merge, OnConflict, ToldResult, file_hash, now, told_line
from likewise.campaign.merge import merge_results, overlooked_columns
from likewise.campaign.sheet import Choices, Sheet, far_value, sheet
from likewise.campaign.text import Listener, count, shown
from likewise.errors import TableError, UsageError
from likewise.study.recording import far_places
from likewise.tables.reading import Table, read
from likewise.tables.writing import dialect_for, exclusive, keep_backup, opened_by, write_again

# Backups of a table: one before each change, of which the first and the last few are kept.
#
# The journal knows which files are backups. Others, and those that somebody has changed, are never removed.

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


LISTED = 20
# How often a table may change under the hands before a command gives up.
TRIES = 3
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Merged:
    """What was merged into which table, and the copy of the table as it was, if it was changed in place.

    `left_out` are the rows of the results that cannot be used, by their numbers.
    """

    merge: Merge
    table: Sheet
    backup: Path | None
    left_out: tuple[int, ...] = ()


class Overlooked(UsageError):
    """Columns that tell apart rows which have the same object: they may belong to it."""

    def __init__(self, taken: str, columns: Sequence[str]) -> None:
        names = ", ".join(map(repr, columns))
        super().__init__(
            f"Column {taken!r} was taken for the objects, but rows that are equal there differ in {names}; nothing "
            "was written."
        )
        self.taken, self.columns = taken, tuple(columns)


class Changed(TableError):
    """The table was changed by another program while something was done with it."""


def persist(work: Callable[[], Answer], file: Path | None, listener: Listener) -> Answer:
    """What some work on a table gives; it is done again, a few times, if the table changes meanwhile."""
    for _ in range(TRIES - 1):
        try:
            return work()
        except Changed:
            listener.note(f"{file} was changed by another program meanwhile: it is read again")
    return work()


def merge_files(
    file: Path, results: Path, chosen: Choices, on_conflict: OnConflict, target: Path, listener: Listener
) -> Merged:
    """Merge the results into the table and write it to the target, which may be the table's own file.

    In place, a backup is kept and others wait: what they merge at the same moment is not lost.
    """
    return persist(lambda: _merge_files(file, results, chosen, on_conflict, target, listener), file, listener)


def _merge_files(
    file: Path, results: Path, chosen: Choices, on_conflict: OnConflict, target: Path, listener: Listener
) -> Merged:
    if holder := opened_by(results):
        listener.note(f"{results} is open in another program ({holder.name}); what is not saved there is not told")
    with waiting(file, listener) if target == file else nullcontext():
        before = stamp(file)
        table, sheet = read_both(file, results, chosen, listener)
        journal = Journal.of(file)
        merge = merge_results(table, sheet, on_conflict, journal.base)
        for note in merge.notes:
            listener.note(note)
        _check(merge, file, results, on_conflict)
        _remark_on_far(table, sheet, results, listener)
        if target != file:
            write_again(merge.frame, target, dialect_for(target, table.table.dialect), table.table)
            return Merged(merge, table, None, unusable(sheet))
        backup = replace_table(table.table, merge.frame, before) if _differs(merge.frame, table.table.frame) else None
        backup_lines = [] if backup is None else [backup_line(backup)]
        journal.add([*(_result(result) for result in merge.told if result.run), told_line(results), *backup_lines])
        if gone := thin_backups(journal):
            listener.note(f"{count(gone, 'old backup')} removed; the first and the last {KEPT} are kept")
    return Merged(merge, table, backup, unusable(sheet))


def replace_table(
    table: Table, frame: polars.DataFrame, before: tuple[int, ...] | None, *, backup: bool = True
) -> Path | None:
    """Write a table in its own place, in its own dialect; the backup, if one is to be kept.

    `before` is the stamp of the file when it was read: if another program has changed it since, nothing is written.
    """

    def check() -> None:
        if stamp(table.path) != before:
            raise Changed(f"{table.path} was changed by another program meanwhile; nothing was written. Try again.")

    check()
    copy = keep_backup(table.path) if backup else None
    try:
        # Checked again when the new content is on the disk, as whatever took long was done by then.
        write_again(frame, table.path, table.dialect, table, check)
    except TableError:
        # The table is as it was.
        if copy is not None:
            copy.unlink()
        raise
    return copy


def _differs(frame: polars.DataFrame, other: polars.DataFrame) -> bool:
    return frame.columns != other.columns or not frame.equals(other)


def _result(result: ToldResult) -> dict[str, object]:
    state = result.outcome.state
    line: dict[str, object] = {"kind": "result", "run": result.run, "time": now()}
    outcomes: dict[str, object] = {"outcomes": dict(result.others)} if result.others else {}
    if not result.outcome.settled:
        return line | outcomes
    line |= {"value": None if state is not None and state.limit is None else result.outcome.value}
    line |= ({"kept_out": True} if result.kept_out else {}) | outcomes
    return line if state is None else {**line, "state": state.kind.value, "said": state.said}


def waiting(file: Path, listener: Listener) -> AbstractContextManager[None]:
    """The lock of a table, and a note while somebody else has it; a TableError while a spreadsheet has it open."""
    check_closed(file)
    return exclusive(file, lambda: listener.note(f"Waiting for another command that changes {file}"))


def check_closed(file: Path) -> None:
    """Refuse to change a file that a spreadsheet has open: saved there, it would be as it was before."""
    if holder := opened_by(file):
        raise TableError(
            f"{file} is open in another program, as {holder} says; nothing was written. Close it there, and try again. "
            f"If it is open nowhere, delete {holder}."
        )


def stamp(file: Path) -> tuple[int, ...] | None:
    """What is different once a file was changed."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def read_both(file: Path, results: Path, chosen: Choices, listener: Listener) -> tuple[Sheet, Sheet]:
    """Both tables; the results have the columns of the table, and their cells mean what they mean there."""
    table = sheet(file, chosen, listener, may_be_empty=True)
    results_sheet = sheet(results, as_results(table, results, chosen), listener)
    named = any(results_sheet.cell(table.own.run, place) for place in range(len(results_sheet.table)))
    if not chosen.objects and not named and (columns := overlooked_columns(table, results_sheet)):
        raise Overlooked(table.roles.objects[0], columns)
    return table, results_sheet


def as_results(table: Sheet, results: Path, chosen: Choices) -> Choices:
    """How results of a table are read; where they name runs and no objects, the run stands for the object."""
    choices = table.of_results(chosen)
    columns = read(results, skip_ragged=chosen.skip_bad, may_be_empty=True).columns
    pairs = table.roles.stds.items()
    std = tuple(f"{name}={column}" for name, column in pairs if name in columns and column in columns)
    text = tuple(name for name in choices.text if name in columns)
    if choices.value not in columns and any(name in columns for name in choices.others):
        # Results of a further outcome alone.
        choices = replace(choices, absent=(str(choices.value),))
    choices = replace(choices, others=tuple(name for name in choices.others if name in columns))
    choices = replace(choices, block=choices.block if choices.block in columns else None)
    if not any(name in columns for name in choices.objects) and table.own.run in columns:
        return replace(choices, objects=(table.own.run,), std=std, text=text, kinds={table.own.run: "text"})
    return replace(choices, std=std, text=text)


def unusable(results: Sheet) -> tuple[int, ...]:
    """The rows of results that were left out and hold something all the same, by their numbers."""
    typed = [b.place for b in results.skipped if b.place in results.table.overlong or _has_values(results, b.place)]
    return tuple(results.table.number(place) for place in dict.fromkeys(typed))


def _has_values(results: Sheet, place: int) -> bool:
    return any(results.cell(name, place) for name in results.roles.values)


def _check(merge: Merge, file: Path, results: Path, on_conflict: OnConflict) -> None:
    """Raises a TableError if the results say nothing new, or contradict the table and no rule for that was chosen."""
    if not merge.changes and not merge.known:
        raise TableError(
            f"{results} says nothing that {file} has not: no value, no state and no note. Fill in what was measured, "
            "and try again."
        )
    if merge.conflicts and on_conflict == "stop":
        several = len(merge.conflicts) > 1
        cells = f"{len(merge.conflicts)} cells say" if several else "1 cell says"
        raise TableError(
            f"{cells} one thing in {file} and another in {results}, so nothing was written:{_list(merge.conflicts)}\n"
            f"Correct {'them' if several else 'it'}, or decide which counts.",
            settings={"on_conflict": "replace keep add"},
        )
    if merge.unsettled:
        first = merge.unsettled[0]
        value = f"{first.told:.10g}" if isinstance(first.told, float) else first.told
        raise TableError(
            f"Which value of {shown(first.object)} is to be replaced by {value} (row {first.told_row} of the "
            f"results)? {file} has several, so nothing was written:{_list(merge.unsettled)}\nCorrect it there.",
            settings={"on_conflict": "keep add"},
        )


def _remark_on_far(table: Sheet, sheet: Sheet, results: Path, listener: Listener) -> None:
    """Note which results are far from all other values: a slip is easiest to mend at once."""
    for column in sheet.roles.values:
        before, new = table.exact_in(column), sheet.exact_in(column)
        of = f"{column} " if sheet.roles.others else ""
        for i in ([*new][k - len(before)] for k in far_places([*before.values(), *new.values()]) if k >= len(before)):
            where = f"row {sheet.table.number(i)} of {results}: {of}"
            listener.note(f"{where}{far_value(sheet.objects[i], new[i].value)}")


def _list(conflicts: Sequence[Conflict]) -> str:
    lines = [f"\n  {conflict}" for conflict in conflicts[:LISTED]]
    return "".join(lines) + (f"\n  and {len(conflicts) - LISTED} more" if len(conflicts) > LISTED else "")
