"""`likewise tell`: results that were filled in, back into the table."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.campaign.console import Console, say, say_json
from likewise.cli.commands.options import (
    Debug,
    DecimalSign,
    File,
    Json,
    Object,
    Quiet,
    SkipBad,
    Std,
    Text,
    Value,
    choices,
)
from likewise.errors import TableError, UsageError

if TYPE_CHECKING:
    from likewise.campaign.merge import Conflict, Merge
    from likewise.campaign.sheet import Choices, Sheet

LISTED = 20


class OnConflict(StrEnum):
    """What to do with an object that has another value already."""

    STOP = "stop"
    KEEP = "keep"
    REPLACE = "replace"
    ADD = "add"


def tell(
    file: File,
    results: Annotated[Path, typer.Argument(help="The suggestions with their values filled in.")],
    out: Annotated[Path | None, typer.Option("--out", help="The new table; FILE-told if left out.")] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Change FILE itself; a backup is kept.")] = False,
    on_conflict: Annotated[
        OnConflict,
        typer.Option(help="Objects with another value already: stop, keep the old, replace it, or add a measurement."),
    ] = OnConflict.STOP,
    force: Annotated[bool, typer.Option("--force", help="Replace the new table if it is there already.")] = False,
    object: Object = None,
    value: Value = None,
    std: Std = None,
    text: Text = None,
    decimal: DecimalSign = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Merge filled-in results into the table: gaps are filled, new objects appended, contradictions listed."""
    console = Console(quiet)
    chosen = choices(object, value, std, text, decimal, skip_bad)
    target = _target(file, results, out, in_place, force)
    with _alone(file, console) if in_place else nullcontext():
        merge, backup = _merged(file, results, chosen, on_conflict, target, console)
    if as_json:
        say_json("tell", _data(merge, target, backup, console))
    else:
        _report(merge, target, backup, results, on_conflict)


def _alone(file: Path, console: Console) -> AbstractContextManager[None]:
    from likewise.tables.locking import alone

    return alone(file, lambda: console.note(f"waiting for another command that changes {file}"))


def _merged(
    file: Path, results: Path, chosen: Choices, on_conflict: OnConflict, target: Path, console: Console
) -> tuple[Merge, Path | None]:
    """The merged table, which is written, and the backup of the old one if it takes its place."""
    from likewise.campaign.merge import merged
    from likewise.tables.writing import backed_up, suited, write

    before = _stamp(file)
    table, told = _read(file, results, chosen, console)
    merge = merged(table, told, on_conflict.value)
    if merge.conflicts and on_conflict is OnConflict.STOP:
        raise TableError(_contradictions(file, results, merge.conflicts))
    if merge.unsettled:
        raise TableError(_several(file, merge.unsettled))
    if merge.left_out:
        console.note(f"{results} has columns that {file} has not, which were left out: {', '.join(merge.left_out)}")
    dialect = table.table.dialect
    if target != file:
        write(merge.frame, target, suited(target, dialect), table.table.overlong)
        return merge, None
    if _stamp(file) != before:
        raise TableError(f"{file} was changed by another program meanwhile; nothing was written: tell it again.")
    backup = backed_up(file)
    write(merge.frame, file, dialect, table.table.overlong)
    return merge, backup


def _stamp(file: Path) -> tuple[int, ...] | None:
    """What is different once a file was changed."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(file: Path, results: Path, chosen: Choices, console: Console) -> tuple[Sheet, Sheet]:
    """Both tables; the results have the columns of the table, and their cells mean what they mean there."""
    from likewise.campaign.ambiguous_columns import overlooked
    from likewise.campaign.sheet import sheet

    table = sheet(file, chosen, console)
    roles = table.roles
    told = sheet(results, table.of_results(chosen), console)
    if not told.measured:
        raise TableError(
            f"{results} has no value in column {roles.value!r}; fill in what was measured, and tell it again."
        )
    if not chosen.objects and (others := overlooked(table, told)):
        names = ", ".join(map(repr, others))
        command = replace(chosen, objects=(*roles.objects, *others)).options()
        raise UsageError(
            f"column {roles.objects[0]!r} was taken for the objects, but rows that are alike there differ in {names}. "
            f"Say {shlex.join(command)}, or --object {shlex.quote(roles.objects[0])} alone if they are replicates; "
            "nothing was written."
        )
    return table, told


def _target(file: Path, results: Path, out: Path | None, in_place: bool, force: bool) -> Path:
    from likewise.tables.writing import check_name

    if in_place:
        if out is not None:
            raise UsageError("--in-place changes FILE and --out writes another; give one of them.")
        return file
    if out is not None:
        check_name(out)
    stem, dot, rest = file.name.partition(".")
    target = out or file.with_name(f"{stem}-told{dot}{rest}")
    for what, other in (("the table", file), ("the results", results)):
        if target.exists() and target.samefile(other):
            raise UsageError(f"--out {target} is {what}; give another name, or --in-place to change the table.")
    if target.exists() and not force:
        raise UsageError(f"{target} is there already; give another name with --out, or --force to replace it.")
    return target


def _contradictions(file: Path, results: Path, conflicts: list[Conflict]) -> str:
    count = "1 object has" if len(conflicts) == 1 else f"{len(conflicts)} objects have"
    return (
        f"{count} one value in {file} and another in {results}, so nothing was written. Correct them, or say "
        f"--on-conflict keep, replace or add (as a further measurement).{_listed(conflicts)}"
    )


def _listed(conflicts: list[Conflict]) -> str:
    lines = [f"\n  {conflict}" for conflict in conflicts[:LISTED]]
    return "".join(lines) + (f"\n  and {len(conflicts) - LISTED} more" if len(conflicts) > LISTED else "")


def _several(file: Path, unsettled: list[Conflict]) -> str:
    from likewise.campaign.objects import shown

    first = unsettled[0]
    return (
        f"which value of {shown(first.object)} is to be replaced by {first.told:.10g} (row {first.told_row} of the "
        f"results)? {file} has several, so nothing was written. Correct it there, or say --on-conflict keep or add."
        f"{_listed(unsettled)}"
    )


def _report(merge: Merge, target: Path, backup: Path | None, results: Path, on_conflict: OnConflict) -> None:
    from likewise.campaign.answers import counted

    done = f"{counted(merge.filled, 'value')} filled in, {counted(merge.added, 'row')} added"
    changed = f", {merge.replaced} replaced" if merge.replaced else ""
    say(f"{target}: {done}{changed}, {merge.known} known already.")
    if merge.conflicts:
        kept = "the first value replaced by the second" if on_conflict is OnConflict.REPLACE else "the first value kept"
        lines = [f"  {conflict}" for conflict in merge.conflicts]
        say(f"{counted(len(merge.conflicts), 'contradiction')}, {kept}:", *lines)
    if merge.blank:
        say(f"Without a value yet in {results}: {counted(merge.blank, 'row')}.")
    if backup is not None:
        say(f"The table as it was is kept as {backup}.")


def _data(merge: Merge, target: Path, backup: Path | None, console: Console) -> dict[str, Any]:
    return {
        "file": str(target),
        "backup": None if backup is None else str(backup),
        "filled": merge.filled,
        "replaced": merge.replaced,
        "added": merge.added,
        "known": merge.known,
        "without_value": merge.blank,
        "conflicts": [
            {
                "object": conflict.object,
                "known": conflict.known,
                "known_row": conflict.known_row,
                "told": conflict.told,
                "told_row": conflict.told_row,
            }
            for conflict in merge.conflicts
        ],
        "notes": console.notes,
    }
