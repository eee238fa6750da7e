"""The settings of a campaign in `likewise.toml` beside its table: commands in that folder need no options.

A file is written once, by `likewise init`, and belongs to the user from then on. It is looked for in the folder of the
table, or in the current one, and nowhere else: a forgotten file further up must not change an answer.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from likewise.campaign.aims import WORDS, Aims, limits_sign, read_limits, read_value
from likewise.errors import TableError, UsageError
from likewise.study.goals import Direction, Limits

NAME = "likewise.toml"
# What each part of the file may hold, and the type that it has.
PARTS: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "": {
        "table": str,
        "next": str,
        "number": int,
        "report": str,
        "space": (str, dict),
        "seed": int,
        "skip_bad": bool,
        "where": str,
    },
    "columns": {"objects": list, "std": (str, dict), "block": str, "text": list, "decimal": str},
    "plate": {"same": list, "groups": int, "at_most": list, "fix": list},
    "cost": {"column": str, "budget": (int, float)},
    "model": {"similarity": (str, list), "method": str, "acquisition": str, "strategy": str},
}
# Parts with names of the user's own: columns of the table.
NAMED = ("values", "require", "bounds", "units")


@dataclass(frozen=True)
class Project:
    """What a settings file says: the table, the options of commands by their names, and the rest as it stands.

    `values` are the measured columns and what is wanted of each: "maximize", "minimize", or a requirement ("< 2").
    """

    path: Path
    table: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The measured columns: those that are optimised, and those that have to keep to limits."""
        return tuple(dict.fromkeys((*self.values, *self.settings.get("require", {}))))


def find_project(file: Path | None, folder: Path = Path()) -> Project | None:
    """The project of a table, or of a folder if no table is named; None where there is none, or it is another's."""
    place = (folder if file is None else file.parent) / NAME
    if not place.is_file():
        return None
    project = read_project(place)
    return project if file is None or _same(project.table, file) else None


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def read_project(path: Path) -> Project:
    """The settings of a file; a TableError that names what is wrong in it."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}; check its permissions.") from None
    except (ValueError, RecursionError) as error:
        raise TableError(
            f"{path} is not TOML: {error}; correct the line, or make it anew with `likewise init`."
        ) from None
    _check(path, data)
    values, columns, model = ({**data.get(name, {})} for name in ("values", "columns", "model"))
    aims = _aims(path, values, data.get("require", {}))
    value = next(iter(aims.objectives), None)
    similarity = model.get("similarity")
    options = {
        "object": columns.get("objects"),
        "value": value if _is_plain(aims) else [f"{name}:{way}" for name, way in aims.objectives.items()],
        "require": [f"{name} {limits_sign(limits)}" for name, limits in aims.limits.items()],
        "std": _stds(path, columns.get("std")),
        "block": columns.get("block"),
        "text": columns.get("text"),
        "decimal": columns.get("decimal"),
        "skip_bad": data.get("skip_bad"),
        "similarity": [similarity] if isinstance(similarity, str) else similarity,
        "seed": data.get("seed"),
        "minimize": None if value is None or aims.several else aims.objectives[value] == "minimize",
        "bounds": _all_bounds(path, data.get("bounds", {}), aims),
        "cost": data.get("cost", {}).get("column"),
        "budget": data.get("cost", {}).get("budget"),
        "space": data.get("space"),
        "n": data.get("number"),
        "out": _beside(path, data.get("next")),
        "report": _beside(path, data.get("report")),
        "where": data.get("where"),
        **{name: model.get(name) for name in ("method", "acquisition", "strategy")},
        **{name: data.get("plate", {}).get(name) for name in PARTS["plate"]},
    }
    kept = {name: value for name, value in options.items() if value not in (None, [], {})}
    table = _beside(path, data["table"])
    assert table is not None
    return Project(path, table, kept, values, data)


def _beside(path: Path, name: str | None) -> Path | None:
    return None if name is None else path.parent / name


def _check(path: Path, data: Mapping[str, Any]) -> None:
    """Refuse what is unknown or of another type: a setting that is misspelt would be one that is forgotten."""
    for name, value in data.items():
        if name in NAMED or name in PARTS:
            _check_type(path, name, value, dict)
        elif name not in PARTS[""]:
            _refuse(path, name, [*PARTS[""], *(f"[{part}]" for part in (*PARTS, *NAMED) if part)])
        else:
            _check_type(path, name, value, PARTS[""][name])
    for part in (part for part in PARTS if part):
        for name, value in data.get(part, {}).items():
            if name not in PARTS[part]:
                _refuse(path, f"{part}.{name}", [*PARTS[part]])
            _check_type(path, f"{part}.{name}", value, PARTS[part][name])
    if "table" not in data:
        raise TableError(f'{path} names no table; write table = "measurements.csv" as its first line.')


def _check_type(path: Path, name: str, value: Any, kind: type | tuple[type, ...]) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        words = {
            str: "a text",
            float: "a number",
            int: "a whole number",
            list: "a list",
            bool: "true or false",
            dict: "a part [name]",
        }
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise TableError(f"{path}: {name} is {value!r}, and should be {' or '.join(words[each] for each in kinds)}.")


def _refuse(path: Path, name: str, known: Sequence[str]) -> None:
    raise TableError(f"{path} has a setting {name!r}, which is not known; known ones are {', '.join(known)}.")


def _aims(path: Path, values: Mapping[str, Any], require: Mapping[str, Any]) -> Aims:
    """What is wanted of the columns: [values] are optimised, or have to be kept as those in [require]."""
    objectives: dict[str, Direction] = {}
    limits: dict[str, Limits] = {}
    for name, wanted in [*values.items(), *require.items()]:
        if isinstance(wanted, str) and wanted.strip() in WORDS and name in values:
            objectives[name] = WORDS[wanted.strip()]
            continue
        try:
            limits[name] = read_limits(f"{name} {wanted}")[1]
        except UsageError:
            raise TableError(
                f'{path}: values.{name} is {wanted!r}; write "maximize", "minimize", or a requirement such as "< 2".'
            ) from None
    if limits and not objectives:
        raise TableError(f'{path} requires something of {", ".join(limits)}, and optimises nothing; add "maximize".')
    return Aims(objectives, limits)


def _stds(path: Path, given: str | Mapping[str, Any] | None) -> list[str]:
    """Columns of standard deviations as the option has them: one, or by the names of the values."""
    if not isinstance(given, Mapping):
        return [] if given is None else [given]
    for name, column in given.items():
        _check_type(path, f"columns.std.{name}", column, str)
    return [f"{name}={column}" for name, column in given.items()]


def _is_plain(aims: Aims) -> bool:
    """Whether there is one column, and its name says no direction."""
    return not aims.several and not any(read_value(name)[1] for name in aims.objectives)


def _all_bounds(path: Path, given: Mapping[str, Any], aims: Aims) -> str | None:
    """Bounds as the option has them: of one column, or of several by their names."""
    if not aims.several:
        return _bounds(path, given.get(next(iter(aims.objectives), "")))
    texts = {name: _bounds(path, ends) for name, ends in given.items() if name in aims.columns}
    return ";".join(f"{name}={text}" for name, text in texts.items()) or None


def _bounds(path: Path, given: Any) -> str | None:
    """Bounds as the option has them; an end that is left open is an empty text."""
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 2 or not all(isinstance(end, int | float | str) for end in given):
        raise TableError(f'{path}: bounds are two numbers, as in [0, 100]; an open end is "", as in [0, ""].')
    return ",".join(str(end) for end in given)
