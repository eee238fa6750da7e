"""What a command works with: what the user typed, and for the rest what `likewise.toml` says; and how to go on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from likewise.campaign import space_text
from likewise.campaign.columns import read_value
from likewise.campaign.settings import NAME, Project, find_project
from likewise.campaign.text import Listener
from likewise.cli.commands.options import Aim, ColumnOptions
from likewise.errors import UsageError
from likewise.spaces.base import Space
from likewise.spaces.description import build

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")
# The options of commands by the names of their fields, in the order in which they are written.
WRITTEN = {
    "object": "--object",
    "value": "--value",
    "require": "--require",
    "std": "--std",
    "block": "--block",
    "text": "--text",
    "decimal": "--decimal",
    "skip_bad": "--skip-bad",
    "space": "--space",
    "minimize": "--minimize",
    "bounds": "--bounds",
    "similarity": "--similarity",
    "seed": "--seed",
    "method": "--method",
    "acquisition": "--acquisition",
    "strategy": "--strategy",
    "same": "--same",
    "groups": "--groups",
    "at_most": "--at-most",
    "fix": "--fix",
    "where": "--where",
    "cost": "--cost",
    "budget": "--budget",
    "n": "-n",
    "out": "--out",
    "report": "--report",
}
OF_COLUMNS = ("object", "value", "require", "std", "block", "text", "decimal", "skip_bad")


@dataclass(frozen=True)
class Session:
    """The table that a command is about, and its project if it has one."""

    file: Path | None
    project: Project | None
    listener: Listener

    @classmethod
    def of(cls, file: Path | None, listener: Listener) -> Session:
        """The session for a table, or for the project of this folder if none is named."""
        project = find_project(file)
        return cls(project.table if file is None and project is not None else file, project, listener)

    @property
    def table(self) -> Path:
        """The table; raises a UsageError if none was named."""
        if self.file is None:
            raise UsageError(f"Give a FILE, or begin with `likewise init FILE`, which writes {NAME} for this folder.")
        return self.file

    def fill(self, options: Options) -> Options:
        """Returns the options, filled in from the project; notes those that were typed instead of the project's."""
        names = [option.name for option in fields(options)]
        return replace(options, **self.values({name: getattr(options, name) for name in names}))

    def columns(self, typed: ColumnOptions) -> ColumnOptions:
        """What is said about the columns; the project's settings for outcomes that are not among them do not count."""
        filled = self.fill(typed)
        if not filled.object:
            filled = replace(filled, object=self._parts())
        if not typed.value or self.project is None:
            return filled
        filled = replace(
            filled, value=_with_directions(typed.value, _as_option("value", self.project.options.get("value", [])))
        )
        prefixes = self._others(filled)
        stds = [text for text in filled.std or () if typed.std or not text.startswith(prefixes)]
        return replace(filled, std=stds or None)

    def space(self, described: Any) -> Space | None:
        """The space of a text, or of a part of the settings file."""
        if described is None or isinstance(described, str):
            return None if described is None else space_text.space(described)
        where = "" if self.project is None else str(self.project.path)
        return build(described, f"{where}, space")

    def _parts(self) -> list[str] | None:
        """The columns of objects of which the project says only where they come from."""
        space = None if self.project is None else self.space(self.project.options.get("space"))
        return None if space is None or not space.parts else list(space.parts)

    def look(self, typed: ColumnOptions, model: Aim) -> tuple[ColumnOptions, Aim]:
        """The options of a command that looks at the model; of columns of values that are typed, no limits are kept.

        Limits that are typed, too, count.
        """
        columns = self.columns(typed)
        columns = replace(columns, require=typed.require) if typed.value else columns
        return columns, self.model(model, columns)

    def model(self, typed: Aim, columns: ColumnOptions) -> Aim:
        """How objects of these columns are compared, and which are the best."""
        _check_direction(typed.minimize, columns.value or ())
        filled = self.fill(typed)
        if filled.bounds is None or typed.bounds is not None:
            return filled
        prefixes = self._others(columns)
        bounds = [part for part in filled.bounds.split(";") if not part.startswith(prefixes)]
        return replace(filled, bounds=";".join(bounds) or None)

    def _others(self, columns: ColumnOptions) -> tuple[str, ...]:
        """Returns the prefixes `name=` of settings for outcomes of the project that this command leaves out."""
        chosen = columns.aims().columns
        outcomes = () if self.project is None else self.project.outcomes
        return tuple(f"{name}=" for name in outcomes if chosen and name not in chosen)

    def values(self, typed: Mapping[str, Any]) -> dict[str, Any]:
        """The same for options by their names."""
        stored: Mapping[str, Any] = {} if self.project is None else self.project.options
        options = dict(typed)
        for name, value in typed.items():
            if value is None or value == []:
                options[name] = _as_option(name, stored.get(name))
            elif name in stored and _as_option(name, stored[name]) != value:
                self._say_override(name, value)
        return options

    def _say_override(self, name: str, value: Any) -> None:
        if self.project is not None and name not in ("n", "out", "report"):
            option = shlex.join(words({name: value})) or "--maximize"
            self.listener.note(f"{option} in place of what {self.project.path} says, for this command alone")


def _check_direction(minimize: bool | None, values: Sequence[str]) -> None:
    """Raises a UsageError if a direction for all columns contradicts that of a single column."""
    directions = {text: read_value(text)[1] for text in values}
    if minimize is None or None in directions.values():
        return
    wanted = "minimize" if minimize else "maximize"
    for text, direction in directions.items():
        if direction != wanted:
            raise UsageError(f"--{wanted} contradicts {text!r}; give the direction once, with the column.")


def _with_directions(typed: Sequence[str], stored: Sequence[str]) -> list[str]:
    """The columns of values that are typed; one without a direction has that of the project.

    >>> _with_directions(["cost"], ["yield:maximize", "cost:minimize"])
    ['cost:minimize']
    """
    wanted = {name: text for text in stored for name, direction in [read_value(text)] if direction is not None}
    return [wanted.get(text, text) for text in typed]


def _as_option(name: str, value: Any) -> Any:
    return [value] if name == "value" and isinstance(value, str) else value


def words(options: Mapping[str, Any]) -> list[str]:
    """Options as one types them, without those that were not given.

    >>> words({"minimize": True, "object": ["ligand", "base"], "value": ["yield"], "decimal": ",", "n": 4, "std": None})
    ['--object', 'ligand', '--object', 'base', '--value', 'yield', '--decimal', ',', '--minimize', '-n', '4']
    """
    typed: list[str] = []
    for name, option in WRITTEN.items():
        value = options.get(name)
        if value is None or value is False or value == []:
            continue
        values: Sequence[Any] = value if isinstance(value, list | tuple) else [value]
        typed += [option] if value is True else [word for item in values for word in (option, str(item))]
    return typed


def command(name: str, *parts: object, project: Project | None = None, skip_bad: bool | None = None) -> str:
    """A command as one types it; in the folder of a project it needs neither files nor options.

    `skip_bad` says whether it has to leave out rows that cannot be used, of which a project may say nothing.
    """
    if project is None:
        return shlex.join(["likewise", name, *map(str, parts)])
    here = project.path.parent.resolve() == Path().resolve()
    skipping = ["--skip-bad"] if skip_bad and not project.options.get("skip_bad") else []
    return shlex.join(["likewise", name, *([] if here else [str(project.table)]), *skipping])
