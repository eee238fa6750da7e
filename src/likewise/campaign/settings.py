"""The settings of a campaign in `likewise.toml` beside its table: read, checked, and written by `likewise init`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from likewise.campaign.columns import DIRECTION_WORDS, Aims, limits_sign, read_limits, read_value
from likewise.errors import TableError, UsageError
from likewise.study.goals import Direction, Limits

# The settings of a campaign in `likewise.toml` beside its table: commands in that folder need no options.
#
# A file is written once, by `likewise init`, and belongs to the user from then on. It is looked for in the folder of
# the table, or in the current one, and nowhere else: a forgotten file further up must not change an answer.

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


def _same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve()


def read_project(path: Path) -> Project:
    """Returns the settings of a file; raises a TableError that names the setting which is wrong."""
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
    settings = {name: value for name, value in options.items() if value not in (None, [], {})}
    table = _beside(path, data["table"])
    assert table is not None
    return Project(path, table, settings, values, data)


def _beside(path: Path, name: str | None) -> Path | None:
    return None if name is None else path.parent / name


def _check(path: Path, data: Mapping[str, Any]) -> None:
    """Raises a TableError if a setting is unknown or of another type: a misspelt one would be ignored silently."""
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
        raise TableError(f"{path}: {name} is {value!r}, and should be {' or '.join(words[kind] for kind in kinds)}.")


def _refuse(path: Path, name: str, names: Sequence[str]) -> None:
    raise TableError(f"{path} has a setting {name!r}, which is not known; known ones are {', '.join(names)}.")


def _aims(path: Path, values: Mapping[str, Any], require: Mapping[str, Any]) -> Aims:
    """What is wanted of the columns: [values] are optimised, or have to be kept as those in [require]."""
    objectives: dict[str, Direction] = {}
    limits: dict[str, Limits] = {}
    for name, wanted in [*values.items(), *require.items()]:
        if isinstance(wanted, str) and wanted.strip() in DIRECTION_WORDS and name in values:
            objectives[name] = DIRECTION_WORDS[wanted.strip()]
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


def _stds(path: Path, stds: str | Mapping[str, Any] | None) -> list[str]:
    """Columns of standard deviations as the option has them: one, or by the names of the values."""
    if not isinstance(stds, Mapping):
        return [] if stds is None else [stds]
    for name, column in stds.items():
        _check_type(path, f"columns.std.{name}", column, str)
    return [f"{name}={column}" for name, column in stds.items()]


def _is_plain(aims: Aims) -> bool:
    """Whether there is one column, and its name says no direction."""
    return not aims.several and not any(read_value(name)[1] for name in aims.objectives)


def _all_bounds(path: Path, bounds: Mapping[str, Any], aims: Aims) -> str | None:
    """Bounds as the option has them: of one column, or of several by their names."""
    if not aims.several:
        return _bounds_option(path, bounds.get(next(iter(aims.objectives), "")))
    texts = {name: _bounds_option(path, ends) for name, ends in bounds.items() if name in aims.columns}
    return ";".join(f"{name}={text}" for name, text in texts.items()) or None


def _bounds_option(path: Path, ends: Any) -> str | None:
    """Bounds as the option has them; an end that is left open is an empty text."""
    if ends is None:
        return None
    if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(end, int | float | str) for end in ends):
        raise TableError(f'{path}: bounds are two numbers, as in [0, 100]; an open end is "", as in [0, ""].')
    return ",".join(str(end) for end in ends)


# The text of a campaign's settings file, as `likewise init` writes it.


def project_text(
    table: str,
    options: Mapping[str, Any],
    *,
    units: Mapping[str, str],
    following: str,
    about: Mapping[str, str],
) -> str:
    """The text of a settings file: what is set, with a word on each, and what could be set as comments."""
    value = options["value"]
    aims = options.get("aims") or Aims({value: "minimize" if options.get("minimize") else "maximize"}, {})
    parts = [
        _beginning(table, options, following),
        _columns(options, value, about),
        ['[values]  # "maximize" or "minimize"', *(_set(name, way) for name, way in aims.objectives.items())],
        ["[require]  # measured, and to be kept", *_limits(aims)] if aims.limits else [],
        _bounds_text(options.get("bounds"), value),
        ["[units]", *([_set(name, unit) for name, unit in units.items()] or [f'# {key(value)} = "%"'])],
        _plate(options),
        _cost(options),
        _model(options),
    ]
    return "\n".join(line for part in parts if part for line in (*part, ""))


def _beginning(table: str, options: Mapping[str, Any], following: str) -> list[str]:
    space, current = "candidates, if they are not rows of the table", options.get("space")
    return [
        "# The settings of this campaign. Commands in this folder read them; change what is not right.",
        "# An option of a command counts more than the setting here, for that command alone.",
        "",
        _set("table", table),
        _set("next", following, "suggestions are written here; fill them in"),
        _set("number", options.get("n") or 4, "suggestions in a round"),
        _set("seed", options.get("seed") or 0, "the same seed and table give the same answer"),
        _or_comment("report", options.get("report"), "report.html", "a report is written with each round"),
        _or_comment("space", current, "box:1..10,20..120", space),
        _or_comment("where", options.get("where"), "cost < 20", "what may be suggested"),
        _or_comment("skip_bad", options.get("skip_bad"), True, "leave out rows that cannot be used"),
    ]


def _columns(options: Mapping[str, Any], value: str, about: Mapping[str, str]) -> list[str]:
    return [
        "[columns]",
        *(f"# {key(name)}: {text}" for name, text in about.items()),
        _set("objects", list(options["object"]), "what describes an experiment"),
        _or_comment("std", options.get("std"), f"{value}_std", "standard deviations of the values"),
        _or_comment("block", options.get("block"), "day", "a column whose values may shift results: a day, a plate"),
        _or_comment("text", options.get("text"), ["lot"], "columns of numbers to compare as text"),
        _or_comment("decimal", options.get("decimal"), ",", "found in the table if it is not set"),
    ]


def _bounds_text(text: str | None, value: str) -> list[str]:
    bounds = [f"{key(name)} = [{_ends(ends)}]" for name, ends in _ends_by_name(text, value).items()]
    return ["[bounds]  # between which values lie", *(bounds or [f"# {key(value)} = [0, 100]"])]


def _plate(options: Mapping[str, Any]) -> list[str]:
    shared = "one value of these columns in a round, or in each of `groups = 2`"
    groups = [_set("groups", options["groups"])] if options.get("groups") else []
    return [
        "[plate]  # what the suggestions of a round keep to together",
        _or_comment("same", options.get("same"), ["temperature"], shared),
        *groups,
        _or_comment("at_most", options.get("at_most"), ["3:ligand"], "so many different values"),
        _or_comment("fix", options.get("fix"), ["base=KOAc"], "one value"),
    ]


def _cost(options: Mapping[str, Any]) -> list[str]:
    return [
        "[cost]",
        _or_comment("column", options.get("cost"), "price", "what a run costs: the most gain for its cost is chosen"),
        _or_comment("budget", options.get("budget"), 500, "what a round may cost"),
    ]


def _model(options: Mapping[str, Any]) -> list[str]:
    similarity = options.get("similarity") or ["auto"]
    value = similarity[0] if len(similarity) == 1 else list(similarity)
    further = (_set(name, options[name]) for name in ("method", "acquisition", "strategy") if options.get(name))
    return ["[model]", _set("similarity", value, "`likewise similarities` lists them"), *further]


def _limits(aims: Aims) -> list[str]:
    return [_set(name, limits_sign(limits)) for name, limits in aims.limits.items()]


def _ends_by_name(bounds: str | None, value: str) -> dict[str, str]:
    """The bounds of an option by their columns."""
    pairs = [part.rpartition("=") for part in (bounds or "").split(";") if part.strip()]
    return {name.strip() if sign else value: ends for name, sign, ends in pairs}


def _ends(bounds: str) -> str:
    return ", ".join(end.strip() or '""' for end in bounds.split(","))


def _set(name: str, value: Any, why: str = "") -> str:
    line = f"{key(name)} = {toml_value(value)}"
    return f"{line}  # {why}" if why else line


def _or_comment(name: str, value: Any, example: Any, why: str) -> str:
    return _set(name, value, why) if value else f"# {_set(name, example, why)}"


def key(name: str) -> str:
    """The name of a setting as TOML writes it.

    >>> key("yield"), key("Yield (%)")
    ('yield', '"Yield (%)"')
    """
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else toml_value(name)


def toml_value(value: Any) -> str:
    r"""A value as TOML writes it.

    >>> toml_value(["a\tb", 'say "x"', 2]), toml_value({"space": "Box", "lower": 0.5})
    ('["a\\tb", "say \\"x\\"", 2]', '{ space = "Box", lower = 0.5 }')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | Path):
        return _text(str(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key(name)} = {toml_value(part)}" for name, part in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def _text(text: str) -> str:
    plain = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    )
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain) + '"'
