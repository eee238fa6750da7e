"""`likewise tell`: results that were filled in, back into the table."""

from __future__ import annotations

import shlex
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.campaign.results import Merged, Overlooked, merge_files
from likewise.campaign.wording import count
from likewise.cli.commands import options
from likewise.cli.console import Console, say
from likewise.cli.parameters import Reply
from likewise.errors import UsageError
from likewise.tables.writing import check_name


class OnConflict(StrEnum):
    """What to do with an object that has another value already."""

    STOP = "stop"
    KEEP = "keep"
    REPLACE = "replace"
    ADD = "add"


def tell(
    file: options.File,
    results: Annotated[Path, typer.Argument(help="The suggestions with their values filled in.")],
    out: Annotated[Path | None, typer.Option("--out", help="The new table. Default: FILE-told.")] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Change FILE itself; a backup is kept.")] = False,
    on_conflict: Annotated[
        OnConflict,
        typer.Option(help="Objects that have another value: stop, keep the old, replace it, or add a measurement."),
    ] = OnConflict.STOP,
    force: Annotated[bool, typer.Option("--force", help="Replace the new table if it exists.")] = False,
    *,
    columns: options.Columns,
    console: Console,
) -> Reply:
    """Merge filled-in results into the table: gaps are filled, new objects appended, contradictions listed."""
    chosen = columns.choices
    target = _target(file, results, out, in_place, force)
    try:
        merged = merge_files(file, results, chosen, on_conflict.value, target, console)
    except Overlooked as error:
        every = shlex.join(options.words(replace(chosen, objects=(error.taken, *error.columns))))
        alone = shlex.quote(error.taken)
        raise UsageError(f"{error} Say {every}, or --object {alone} alone if these rows are replicates.") from None
    return Reply(lambda: _data(merged, target, console), lambda: _say(merged, target, results, on_conflict))


def _target(file: Path, results: Path, out: Path | None, in_place: bool, force: bool) -> Path:
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
        raise UsageError(f"{target} exists already; give another name with --out, or --force to replace it.")
    return target


def _say(merged: Merged, target: Path, results: Path, on_conflict: OnConflict) -> None:
    merge = merged.merge
    done = f"{count(merge.filled, 'value')} filled in, {count(merge.added, 'row')} added"
    changed = f", {merge.replaced} replaced" if merge.replaced else ""
    say(f"{target}: {done}{changed}, {merge.known} known already.")
    if merge.conflicts:
        kept = "the first value replaced by the second" if on_conflict is OnConflict.REPLACE else "the first value kept"
        lines = [f"  {conflict}" for conflict in merge.conflicts]
        say(f"{count(len(merge.conflicts), 'contradiction')}, {kept}:", *lines)
    if merge.blank:
        say(f"{results} has {count(merge.blank, 'row')} without a value yet.")
    if merged.backup is not None:
        say(f"The old table is kept as {merged.backup}.")


def _data(merged: Merged, target: Path, console: Console) -> dict[str, Any]:
    merge = merged.merge
    return {
        "file": str(target),
        "backup": None if merged.backup is None else str(merged.backup),
        "filled": merge.filled,
        "replaced": merge.replaced,
        "added": merge.added,
        "known": merge.known,
        "without_value": merge.blank,
        "conflicts": [vars(conflict) for conflict in merge.conflicts],
        "notes": console.notes,
    }
