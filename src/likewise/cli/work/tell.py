"""What `likewise tell` does: results that were filled in, back into the table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, NamedTuple

from likewise.campaign.journal import Journal
from likewise.campaign.outputs import is_suggestions_file
from likewise.campaign.results import Merged, Overlooked, merge_files
from likewise.campaign.settings import NAME, Project, find_project
from likewise.campaign.text import count
from likewise.cli.commands import options
from likewise.cli.commands.tell import OnConflict
from likewise.cli.console import Console, say
from likewise.cli.parameters import Reply
from likewise.cli.work.session import OF_COLUMNS, Session, command, words
from likewise.cli.work.suggest import following
from likewise.errors import TableError, UsageError
from likewise.tables.writing import check_name


class Merging(NamedTuple):
    """The files of a merge: the table, the results, and where the new table goes."""

    session: Session
    results: Path
    target: Path

    @property
    def table(self) -> Path:
        """The table."""
        return self.session.table


def tell(
    files: list[Path],
    out: Path | None,
    on_conflict: OnConflict,
    force: bool,
    columns: options.ColumnOptions,
    console: Console,
) -> Reply:
    """The results merged into the table."""
    session, results = _files(files, console)
    columns = session.columns(columns)
    merging = Merging(session, results, _target(session.table, results, out, force))
    try:
        merged = merge_files(session.table, results, columns.choices, on_conflict.value, merging.target, console)
    except Overlooked as error:
        every = shlex.join(words({**vars(columns), "object": [error.taken, *error.columns]}))
        alone = shlex.quote(error.taken)
        raise UsageError(f"{error} Say {every}, or --object {alone} alone if these rows are replicates.") from None
    except TableError as error:
        raise _with_commands(error, merging, columns, out) from None
    next_command = _next_command(merging, columns, merged)
    return Reply(
        lambda: _data(merged, merging, next_command, console), lambda: _say(merged, merging, next_command, on_conflict)
    )


# How a contradiction is settled, and the word for it.
SETTLED = {
    "replace": "what the results say counts",
    "keep": "what the table says counts",
    "add": "both count, as two measurements",
}


def _with_commands(error: TableError, merging: Merging, columns: options.ColumnOptions, out: Path | None) -> TableError:
    """The error, with whole commands where it asks for a decision."""
    if "on_conflict" not in error.settings:
        return error
    session, ways = merging.session, error.settings["on_conflict"].split()
    mine = session.project is not None and session.project.options.get("out") == merging.results and out is None
    more = [] if out is None else ["--out", str(out)]
    again = command(
        "tell",
        session.table,
        merging.results,
        *words(vars(columns)),
        *more,
        project=session.project if mine else None,
        skip_bad=columns.skip_bad,
    )
    lines = [f"\n  {again} --on-conflict {way}  ({SETTLED[way]})" for way in ways]
    return type(error)(f"{error} Next, one of these:{''.join(lines)}")


def _files(files: list[Path], console: Console) -> tuple[Session, Path]:
    """Returns the paths of table and results, as typed or from the settings file."""
    if len(files) > 2:
        raise UsageError(f"Give the TABLE and the RESULTS, not {len(files)} files.")
    if len(files) == 2:
        return Session.of(files[0], console), files[1]
    project = find_project(files[0]) if files else None
    if files and project is None:
        # Results for the table of this folder.
        project = _here(f"Give the TABLE, too: likewise tell TABLE {shlex.quote(str(files[0]))}")
        return Session(project.table, project, console), files[0]
    project = project or _here("Give the TABLE and the RESULTS")
    results = project.options.get("out")
    if results is None:
        raise UsageError(f'{project.path} does not say where results are; write next = "next.csv", or name the file.')
    if not results.exists():
        raise UsageError(
            f"There is no file {results}, where {project.path} has the results; if yours has another name, say it: "
            f"{command('tell', 'FILE')}."
        )
    return Session(project.table, project, console), results


def _here(remedy: str) -> Project:
    project = find_project(None)
    if project is None:
        raise UsageError(f"There is no {NAME} in this folder. {remedy}, or begin with `likewise init TABLE`.")
    return project


def _target(file: Path, results: Path, out: Path | None, force: bool) -> Path:
    """Where the new table goes: into the place of the old one, unless another file is named."""
    if file.exists() and results.exists() and file.samefile(results):
        raise UsageError(f"{file} is both the table and the results; values in the table need no tell.")
    if out is None:
        return file
    check_name(out)
    for what, other in (("the table", file), ("the results", results)):
        if out.exists() and out.samefile(other):
            raise UsageError(f"--out {out} is {what}; give another name, or leave --out away to change the table.")
    if out.exists() and not force:
        raise UsageError(f"{out} exists already; give another name with --out, or --force to replace it.")
    return out


def _next_command(merging: Merging, columns: options.ColumnOptions, merged: Merged) -> str:
    """The command for the next round: that of the last one, on the new table; once more this one if rows are left."""
    session, target, results = merging.session, merging.target, merging.results
    project = session.project if target == merging.table else None
    ours = is_suggestions_file(results)
    if merged.left_out and ours:
        mine = project if project is not None and project.options.get("out") == results else None
        return command("tell", target, results, *words(vars(columns)), project=mine, skip_bad=columns.skip_bad)
    last = Journal.of(merging.table).last_round or {}
    last_options = {name: value for name, value in last.get("options", {}).items() if name not in OF_COLUMNS}
    # A file of results that we have not written stays as it is.
    options = {**last_options, **vars(columns), "out": results if ours else following(target)}
    return command("suggest", target, *words(options), project=project, skip_bad=columns.skip_bad)


def _say(merged: Merged, merging: Merging, next_command: str, on_conflict: OnConflict) -> None:
    merge = merged.merge
    parts = [f"{count(merge.filled, 'result')} filled in", f"{count(merge.added, 'row')} added"]
    parts += [f"{merge.replaced} replaced"] if merge.replaced else []
    parts += [f"{count(merge.noted, 'note')} taken over"] if merge.noted else []
    say(f"{merging.target}: {', '.join(parts)}, {merge.known} known already.")
    if merge.conflicts:
        conflicts = {"replace": "the first replaced by the second", "add": "both kept"}
        lines = [f"  {conflict}" for conflict in merge.conflicts]
        how = conflicts.get(on_conflict.value, "the first kept")
        say(f"{count(len(merge.conflicts), 'contradiction')}, {how}:", *lines)
    if merge.open:
        say(f"{count(merge.open, 'run')} still under way: not suggested again, and taken into account.")
    if merged.backup is not None:
        say(f"The old table is kept as {merged.backup}.")
    if merged.left_out:
        rows = ", ".join(map(str, merged.left_out))
        say(f"Left out of {merging.results}: row {rows}. Correct or empty what cannot be used there.")
    say(f"Next: {next_command}")


def _data(merged: Merged, merging: Merging, next_command: str, console: Console) -> dict[str, Any]:
    merge = merged.merge
    return {
        "file": str(merging.target),
        "backup": None if merged.backup is None else str(merged.backup),
        "filled": merge.filled,
        "replaced": merge.replaced,
        "added": merge.added,
        "known": merge.known,
        "noted": merge.noted,
        "left_out": list(merged.left_out),
        "without_value": merge.blank,
        "under_way": merge.open,
        "conflicts": [vars(conflict) for conflict in merge.conflicts],
        "notes": console.notes,
        "next_command": next_command,
    }
