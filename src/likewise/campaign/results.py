"""Results in a file, merged into the file of the table they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from likewise.campaign.listener import Listener
from likewise.campaign.merge import Conflict, Merge, OnConflict, merge_results, overlooked_columns
from likewise.campaign.sheet import Choices, Sheet, sheet
from likewise.campaign.wording import shown
from likewise.errors import TableError, UsageError
from likewise.model.contamination import far_values
from likewise.tables.locking import exclusive
from likewise.tables.writing import dialect_for, keep_backup, write_again

LISTED = 20


@dataclass(frozen=True)
class Merged:
    """What was merged, and the copy of the table as it was, if it was changed in place."""

    merge: Merge
    backup: Path | None


class Overlooked(UsageError):
    """Columns that tell apart rows which have the same object: they may belong to it."""

    def __init__(self, taken: str, columns: Sequence[str]) -> None:
        names = ", ".join(map(repr, columns))
        super().__init__(
            f"Column {taken!r} was taken for the objects, but rows that are equal there differ in {names}; nothing "
            "was written."
        )
        self.taken, self.columns = taken, tuple(columns)


def merge_files(
    file: Path, results: Path, chosen: Choices, on_conflict: OnConflict, target: Path, listener: Listener
) -> Merged:
    """Merge the results into the table and write it to the target, which may be the table's own file.

    In place, a backup is kept and others wait: what they merge at the same moment is not lost.
    """
    with _waiting(file, listener) if target == file else nullcontext():
        before = _stamp(file)
        table, told = _read(file, results, chosen, listener)
        merge = merge_results(table, told, on_conflict)
        _check(merge, file, results, on_conflict)
        _remark_on_far(table, told, results, listener)
        if merge.left_out:
            listener.note(f"{results} has columns that {file} has not; they were left out: {', '.join(merge.left_out)}")
        dialect, backup = dialect_for(target, table.table.dialect), None
        if target == file:
            if _stamp(file) != before:
                raise TableError(f"{file} was changed by another program meanwhile; nothing was written. Try again.")
            dialect, backup = table.table.dialect, keep_backup(file)
        write_again(merge.frame, target, dialect, table.table)
    return Merged(merge, backup)


def _waiting(file: Path, listener: Listener) -> AbstractContextManager[None]:
    return exclusive(file, lambda: listener.note(f"Waiting for another command that changes {file}"))


def _stamp(file: Path) -> tuple[int, ...] | None:
    """What is different once a file was changed."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(file: Path, results: Path, chosen: Choices, listener: Listener) -> tuple[Sheet, Sheet]:
    """Both tables; the results have the columns of the table, and their cells mean what they mean there."""
    table = sheet(file, chosen, listener)
    roles = table.roles
    told = sheet(results, table.of_results(chosen), listener)
    if not told.measured:
        raise TableError(f"{results} has no value in column {roles.value!r}. Fill in what was measured, and try again.")
    if not chosen.objects and (others := overlooked_columns(table, told)):
        raise Overlooked(roles.objects[0], others)
    return table, told


def _check(merge: Merge, file: Path, results: Path, on_conflict: OnConflict) -> None:
    """A TableError where the results contradict the table, and nobody said what to do then."""
    if merge.conflicts and on_conflict == "stop":
        several = len(merge.conflicts) > 1
        objects = f"{len(merge.conflicts)} objects have" if several else "1 object has"
        raise TableError(
            f"{objects} one value in {file} and another in {results}, so nothing was written:{_list(merge.conflicts)}\n"
            f"Correct {'them' if several else 'it'}, or decide which value counts.",
            settings={"on_conflict": ""},
        )
    if merge.unsettled:
        first = merge.unsettled[0]
        raise TableError(
            f"Which value of {shown(first.object)} is to be replaced by {first.told:.10g} (row {first.told_row} of the "
            f"results)? {file} has several, so nothing was written:{_list(merge.unsettled)}\nCorrect it there.",
            settings={"keep_or_add": ""},
        )


def _remark_on_far(table: Sheet, told: Sheet, results: Path, listener: Listener) -> None:
    """Note which results are far from all other values: a slip is easiest to mend at once."""
    known = [table.values[i] for i in table.measured]
    far = far_values(np.array([*known, *(told.values[i] for i in told.measured)]))
    for i in (told.measured[k - len(known)] for k in np.sort(far).tolist() if k >= len(known)):
        listener.note(
            f"{told.values[i]:.6g} for {shown(told.objects[i])} (row {told.table.number(i)} of {results}) is far from "
            "all other values; if it is a slip, correct it in the table"
        )


def _list(conflicts: Sequence[Conflict]) -> str:
    lines = [f"\n  {conflict}" for conflict in conflicts[:LISTED]]
    return "".join(lines) + (f"\n  and {len(conflicts) - LISTED} more" if len(conflicts) > LISTED else "")
