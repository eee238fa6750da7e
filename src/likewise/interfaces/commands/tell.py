"""`likewise tell`: results that were filled in, back into the table."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.interfaces.commands.options import (
    Debug,
    DecimalSign,
    File,
    Json,
    Object,
    Quiet,
    SkipBad,
    Std,
    Value,
    choices,
)
from likewise.interfaces.complaints import TableError, UsageError
from likewise.interfaces.console import Voice, say, say_json

if TYPE_CHECKING:
    from likewise.interfaces.merge import Conflict, Merge
    from likewise.interfaces.sheet import Sheet

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
    decimal: DecimalSign = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Merge filled-in results into the table: gaps are filled, new objects appended, contradictions listed."""
    from likewise.interfaces.merge import merged
    from likewise.interfaces.tables.writing import backed_up, suited, write

    voice = Voice(quiet)
    table, told = _read(file, results, choices(object, value, std, None, decimal), skip_bad, voice)
    target = _target(file, results, out, in_place, force)
    merge = merged(table, told, on_conflict.value)
    if merge.conflicts and on_conflict is OnConflict.STOP:
        raise TableError(_contradictions(file, results, merge.conflicts))
    if merge.left_out:
        voice.note(f"{results} has columns that {file} has not, which were left out: {', '.join(merge.left_out)}")
    backup = backed_up(file) if in_place else None
    write(merge.frame, target, table.table.dialect if in_place else suited(target, table.table.dialect))
    if as_json:
        say_json("tell", _data(merge, target, backup, voice))
    else:
        _report(merge, target, backup, results)


def _read(file: Path, results: Path, chosen: Any, skip_bad: bool, voice: Voice) -> tuple[Sheet, Sheet]:
    """Both tables; the results have the columns of the table, and their cells mean what they mean there."""
    from likewise.interfaces.sheet import sheet

    table = sheet(file, chosen, voice)
    roles = table.roles
    texts = tuple(name for name, kind in table.kinds.items() if kind == "text")
    same = replace(chosen, objects=roles.objects, value=roles.value, std=roles.std, text=texts, skip_bad=skip_bad)
    told = sheet(results, same, voice)
    if not told.measured:
        raise TableError(
            f"{results} has no value in column {roles.value!r}; fill in what was measured, and tell it again."
        )
    return table, told


def _target(file: Path, results: Path, out: Path | None, in_place: bool, force: bool) -> Path:
    if in_place:
        if out is not None:
            raise UsageError("--in-place changes FILE and --out writes another; give one of them.")
        return file
    stem, dot, rest = file.name.partition(".")
    target = out or file.with_name(f"{stem}-told{dot}{rest}")
    for what, other in (("the table", file), ("the results", results)):
        if target.exists() and target.samefile(other):
            raise UsageError(f"--out {target} is {what}; give another name, or --in-place to change the table.")
    if target.exists() and not force:
        raise UsageError(f"{target} is there already; give another name with --out, or --force to replace it.")
    return target


def _contradictions(file: Path, results: Path, conflicts: list[Conflict]) -> str:
    lines = [f"\n  {conflict}" for conflict in conflicts[:LISTED]]
    more = f"\n  and {len(conflicts) - LISTED} more" if len(conflicts) > LISTED else ""
    count = "1 object has" if len(conflicts) == 1 else f"{len(conflicts)} objects have"
    return (
        f"{count} one value in {file} and another in {results}, so nothing was written. Correct them, or say "
        f"--on-conflict keep, replace or add (as a further measurement).{''.join(lines)}{more}"
    )


def _report(merge: Merge, target: Path, backup: Path | None, results: Path) -> None:
    from likewise.interfaces.answers import counted

    done = f"{counted(merge.filled, 'value')} filled in, {counted(merge.added, 'row')} added"
    say(f"{target}: {done}, {merge.known} known already.")
    if merge.conflicts:
        say(f"{counted(len(merge.conflicts), 'contradiction')}:", *(f"  {conflict}" for conflict in merge.conflicts))
    if merge.blank:
        say(f"Without a value yet in {results}: {counted(merge.blank, 'row')}.")
    if backup is not None:
        say(f"The table as it was is kept as {backup}.")


def _data(merge: Merge, target: Path, backup: Path | None, voice: Voice) -> dict[str, Any]:
    return {
        "file": str(target),
        "backup": None if backup is None else str(backup),
        "filled": merge.filled,
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
        "notes": voice.notes,
    }
