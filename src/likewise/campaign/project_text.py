"""The text of a campaign's settings file, as `likewise init` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from likewise.campaign.aims import Aims, limits_sign


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
        _bounds(options.get("bounds"), value),
        ["[units]", *([_set(name, unit) for name, unit in units.items()] or [f'# {key(value)} = "%"'])],
        _plate(options),
        _cost(options),
        _model(options),
    ]
    return "\n".join(line for part in parts if part for line in (*part, ""))


def _beginning(table: str, options: Mapping[str, Any], following: str) -> list[str]:
    space, found = "candidates, if they are not rows of the table", options.get("space")
    return [
        "# The settings of this campaign. Commands in this folder read them; change what is not right.",
        "# An option of a command counts more than the setting here, for that command alone.",
        "",
        _set("table", table),
        _set("next", following, "suggestions are written here; fill them in"),
        _set("number", options.get("n") or 4, "suggestions in a round"),
        _set("seed", options.get("seed") or 0, "the same seed and table give the same answer"),
        _or_comment("report", options.get("report"), "report.html", "a report is written with each round"),
        _or_comment("space", found, "box:1..10,20..120", space),
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


def _bounds(given: str | None, value: str) -> list[str]:
    bounds = [f"{key(name)} = [{_ends(ends)}]" for name, ends in _ends_by_name(given, value).items()]
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
    one = similarity[0] if len(similarity) == 1 else list(similarity)
    further = (_set(name, options[name]) for name in ("method", "acquisition", "strategy") if options.get(name))
    return ["[model]", _set("similarity", one, "`likewise similarities` lists them"), *further]


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
        return "{ " + ", ".join(f"{key(name)} = {toml_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def _text(text: str) -> str:
    plain = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    )
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain) + '"'
