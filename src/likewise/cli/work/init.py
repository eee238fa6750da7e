"""What `likewise init` does: it looks at a table, and writes what it took for what as the settings of a campaign."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars

from likewise.campaign import space_text
from likewise.campaign.outputs import check_targets
from likewise.campaign.roles import aside
from likewise.campaign.settings import NAME, project_text, read_project
from likewise.campaign.sheet import Choices, Sheet, sheet
from likewise.campaign.text import Listener, count
from likewise.cli.answers import directions_json
from likewise.cli.commands import options
from likewise.cli.console import Console, say
from likewise.cli.parameters import Reply
from likewise.cli.work.session import command
from likewise.errors import UsageError
from likewise.spaces.base import Space
from likewise.tables.dialect import Dialect
from likewise.tables.reading import read, structure_kind
from likewise.tables.writing import check_name, dialect_for, keep_backup, write, write_bytes

UNIT = re.compile(r"[(\[]\s*([^()\[\]]{1,12}?)\s*[)\]]\s*$")
PERCENT = ("%", "percent")


class Wanted(NamedTuple):
    """What a round is to be: how many suggestions, where they and the report go, and where candidates are from.

    `together` is what the suggestions of a round keep to.
    """

    n: int
    out: Path | None
    report: Path | None
    space: str | None
    force: bool
    together: options.Together = options.Together()


def init(file: Path, wanted: Wanted, columns: options.ColumnOptions, model: options.Aim, console: Console) -> Reply:
    """The settings of a campaign in a table, written beside it."""
    target = file.parent / NAME
    check_targets({"likewise.toml": target}, {"the table": file})
    if target.exists() and not wanted.force:
        raise UsageError(f"{target} exists; change it by hand, or --force to write it anew.")
    where = None if wanted.space is None else space_text.space(wanted.space)
    if where is not None and not file.exists():
        write_empty(file, where, columns.choices)
    file = _as_table(file, console)
    chosen = _choices(file, columns.choices, where)
    read = sheet(file, chosen, console, where, may_be_empty=True)
    settings = _settings(read, chosen, model, columns)
    report = None if wanted.report is None else wanted.report.name
    settings |= {"n": wanted.n, "space": wanted.space, "report": report, **vars(wanted.together)}
    _check_together(wanted.together, read, where)
    following = (wanted.out or Path(f"next{_ending(file)}")).name
    about = {} if where is not None else dict(read.kinds)
    text = project_text(file.name, settings, units=_units(read), following=following, about=about)
    backup = keep_backup(target) if target.exists() else None
    write_bytes(target, text.encode())
    project = read_project(target)
    following_command = command("suggest", project=project)
    return Reply(
        lambda: _data(read, target, settings, following_command, console),
        lambda: _say(read, target, settings, backup, following_command),
    )


def _check_together(together: options.Together, read: Sheet, space: Space | None) -> None:
    """Refuse columns that are not there, which no round could keep to."""
    batch = together.batch
    columns = list(read.table.columns) if space is None else list(space.parts)
    named = {
        "--cost": [batch.cost] if batch.cost else [],
        "--same": batch.same,
        "--at-most": batch.most,
        "--fix": batch.fixed,
    }
    for option, names in named.items():
        if missing := [name for name in names if name not in columns]:
            raise UsageError(f"{option}: {read.table.name} has no column {missing[0]!r}; it has {', '.join(columns)}.")
    batch.check_budget()


def _ending(file: Path) -> str:
    """The end of the name of a file of suggestions: what opens the table opens it, too."""
    ending = file.suffix.lower()
    return {".tab": ".tsv", ".xls": ".xlsx"}.get(ending, ending if ending in (".tsv", ".xlsx") else ".csv")


def write_empty(file: Path, space: Space, chosen: Choices) -> None:
    """A table without rows, for candidates of a space."""
    check_name(file)
    names = list(chosen.objects) or list(space.parts) or ["object"]
    columns = dict.fromkeys([*names, *chosen.measured], polars.String())
    write(polars.DataFrame(schema=columns), file, dialect_for(file, Dialect()))


def _as_table(file: Path, console: Console) -> Path:
    """The file itself, or a table of the molecules that it holds, beside it: such files have no place for results."""
    if structure_kind(file) is None:
        return file
    target = file.with_name(f"{file.name.split('.')[0]}.csv")
    if target.exists():
        raise UsageError(f"{file} holds molecules alone, and {target} is there already; use that, or rename it.")
    write(read(file).frame, target, Dialect())
    console.note(f"{file} has no place for results; its molecules are in {target} from now on")
    return target


def _choices(file: Path, chosen: Choices, space: Space | None) -> Choices:
    """The columns as given; if none are named for the objects, all that may describe one, where it takes several."""
    if chosen.objects:
        return chosen
    if space is not None and space.parts:
        return replace(chosen, objects=tuple(space.parts))
    try:
        sheet(file, chosen, Listener(), space, may_be_empty=True)
    except UsageError as error:
        if "objects" not in error.settings:
            raise
        value = _value(file, chosen)
        table = read(file, may_be_empty=True)
        likely = [
            c
            for c in table.columns
            if c not in (value, *chosen.measured, *table.computed) and not aside(c) and not c.startswith("likewise_")
        ]
        return replace(chosen, objects=tuple(likely), value=value)
    return chosen


def _value(file: Path, chosen: Choices) -> str:
    """The column of the values: the one that is found if any other is taken for the objects."""
    table = read(file, may_be_empty=True)
    return sheet(file, replace(chosen, objects=(table.columns[0],)), Listener(), may_be_empty=True).roles.value


def _settings(read: Sheet, chosen: Choices, model: options.Aim, columns: options.ColumnOptions) -> dict[str, Any]:
    roles = read.roles
    named = columns if columns.value else replace(columns, value=[roles.value])
    return {
        "aims": named.aims(model.minimize),
        "object": list(roles.objects),
        "value": roles.value,
        "std": dict(roles.stds) if roles.others else roles.stds.get(roles.value),
        "block": roles.block,
        "text": list(chosen.text),
        "decimal": chosen.decimal,
        "skip_bad": chosen.skip_bad or None,
        **vars(model),
        "bounds": model.bounds or _percent(read),
    }


def _percent(read: Sheet) -> str | None:
    """From 0 to 100, where the values are in percent by their name and none lies outside."""
    values = [value for place in read.measured if (value := read.values[place]) == value]
    inside = all(0 <= value <= 100 for value in values)
    of = f"{read.roles.value}=" if read.roles.others else ""
    return f"{of}0,100" if _unit(read.roles.value) in PERCENT and inside else None


def _unit(name: str) -> str | None:
    """The unit in the name of a column.

    >>> _unit("Yield (%)"), _unit("temperature [°C]"), _unit("ligand")
    ('%', '°C', None)
    """
    match = UNIT.search(name)
    return None if match is None else match[1]


def _units(read: Sheet) -> dict[str, str]:
    names = (*read.roles.objects, *read.roles.values)
    return {name: unit for name in names if (unit := _unit(name)) is not None}


def _say(read: Sheet, target: Path, settings: Mapping[str, Any], backup: Path | None, following: str) -> None:
    roles, aims = read.roles, settings["aims"]
    kinds = [f"{name} ({read.kinds[name]})" if name in read.kinds else name for name in roles.objects]
    candidates = count(len(read.candidates), "candidate") if settings["space"] is None else "candidates of the space"
    say(f"{read.table.name}: {count(len(read.measured), 'measured row')}, {candidates}.")
    say(f"An experiment is described by: {', '.join(kinds)}.")
    measured = [name for name in roles.values if name not in read.given]
    aim = aims.text if aims.several else aims.text.removesuffix(f" {roles.value}")
    say(f"Measured is: {', '.join(measured)}; {aim} is looked for.")
    if settings["bounds"]:
        say(f"Values lie between: {settings['bounds'].replace(',', ' and ').replace('=', ' ')}.")
    taken = {*roles.taken, *read.own, settings["cost"]}
    if left := [name for name in read.table.columns if name not in taken]:
        say(f"Not used, and kept: {', '.join(left)}.")
    say(f"Written to {target}. Change it there if something is not right, for instance the direction.")
    if backup is not None:
        say(f"The old settings are kept as {backup}.")
    if not len(read.table) and settings["space"] is None:
        say(f"{read.table.name} has no rows yet: add one for each object that can be made, then: {following}")
    else:
        say(f"Next: {following}")


def _data(read: Sheet, target: Path, settings: Mapping[str, Any], following: str, console: Console) -> dict[str, Any]:
    return {
        "file": read.table.name,
        "settings": str(target),
        "object_columns": list(read.roles.objects),
        "value_column": read.roles.value,
        **directions_json(settings["aims"]),
        "measured": len(read.measured),
        "candidates": len(read.candidates),
        "notes": console.notes,
        "next_command": following,
    }
