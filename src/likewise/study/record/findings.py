"""What a user says became of an object, checked before anything is written down."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from likewise.errors import StudyError
from likewise.study.goals import VALUE, Goals
from likewise.study.log import plain_text
from likewise.study.measurement import Measurement, read_value
from likewise.study.suggestion import Suggestion
from likewise.study.trial import Outcome, State, Trial


@dataclass(frozen=True)
class Finding:
    """What became of a suggestion, of a trial, of the trial with an `id`, or of any object."""

    what: Any
    state: State
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    error: str | None = None
    id: int | None = None
    notes: Mapping[str, Any] | None = None

    @property
    def entry(self) -> dict[str, Any]:
        """What the log says of it, beside the trial."""
        outcomes = {name: outcome.to_dict() for name, outcome in self.outcomes.items()}
        error = None if self.error is None else plain_text(self.error)
        return {"state": self.state, "outcomes": outcomes or None, "error": error, "notes": self.notes}

    def value_of(self, name: str) -> float | None:
        """The value of an outcome, if this is one, and no limit."""
        outcome = self.outcomes.get(name)
        return None if outcome is None or outcome.limit is not None else outcome.value


def told(goals: Goals, what: Any, value: Any, std: Any = None, id: int | None = None) -> Finding:
    """A value, or values by outcome, refused if one is no finite number."""
    about = what.object if isinstance(what, Suggestion | Trial) else what if id is None else f"trial {id}"
    if not goals.named:
        if isinstance(value, Mapping):
            raise StudyError(
                f"the value of {reprlib.repr(about)} is {reprlib.repr(value)}, but the study has one objective without "
                "a name; tell a number, or make the study with objectives={…}"
            )
        return Finding(what, State.TOLD, {VALUE: read_value(about, value, std)}, id=id)
    return Finding(what, State.TOLD, read_outcomes(goals, about, value, std), id=id)


def read_outcomes(goals: Goals, about: Any, value: Any, std: Any = None) -> dict[str, Outcome]:
    """The outcomes of an object by name, refused where a name is unknown or a value is no finite number.

    >>> read_outcomes(Goals({"yield": "maximize"}, named=True), "CCO", {"yield": 71})
    {'yield': Outcome(value=71.0, std=None, limit=None, block=None)}
    """
    names = goals.outcomes
    if not isinstance(value, Mapping):
        if len(names) > 1:
            limit = value.limit if isinstance(value, Measurement) else None
            said = reprlib.repr(value) if limit is None else f"{limit.capitalize()}({value.value})"
            raise StudyError(
                f"the value of {reprlib.repr(about)} is {said}, but there are {len(names)} outcomes; "
                f"tell them by name, as in {{{names[0]!r}: {'1.5' if limit is None else said}}}"
            )
        value = {names[0]: value}
    stds = std if isinstance(std, Mapping) else dict.fromkeys(value, std)
    for name in [*value, *stds]:
        if name not in names:
            known = ", ".join(map(repr, names))
            computed = ", which is computed and not told" if name in goals.computed else ""
            raise StudyError(f"the study has no outcome {name!r}{computed}; its outcomes are {known}")
    if not value:
        raise StudyError(f"no outcome of {reprlib.repr(about)} was given; tell some of {', '.join(map(repr, names))}")
    if missing := [name for name in stds if name not in value]:
        raise StudyError(f"the standard deviation of {missing[0]!r} is given without its value; tell both")
    return {name: read_value(about, each, stds.get(name), outcome=name) for name, each in value.items()}


def amended(goals: Goals, trial: Trial, value: Any, std: Any = None) -> Finding:
    """Other values for a told trial; a standard deviation or a block that is not said again stays."""
    new, before = told(goals, trial, value, std), trial.outcomes
    if missing := [name for name in new.outcomes if name not in before]:
        raise StudyError(f"trial {trial.id} has no {missing[0]!r} to amend; tell it")
    full = {
        name: replace(own, std=before[name].std if own.std is None else own.std, block=own.block or before[name].block)
        for name, own in new.outcomes.items()
    }
    return replace(new, outcomes=full)


def read_notes(notes: Any) -> dict[str, Any] | None:
    """A user's remarks as they are stored, refused where they are no JSON.

    >>> read_notes({"by": "Ann", "vial": 3})
    {'by': 'Ann', 'vial': 3}
    """
    if notes is None:
        return None
    if not isinstance(notes, Mapping) or not all(isinstance(name, str) for name in notes):
        raise StudyError(f"notes={reprlib.repr(notes)} are no names with remarks; give a mapping, as {{'by': 'Ann'}}")
    try:
        return json.loads(json.dumps(dict(notes), allow_nan=False, default=_plain)) if notes else None
    except (TypeError, ValueError) as error:
        raise StudyError(f"notes={reprlib.repr(notes)} are not JSON: {error}; give texts, numbers or lists") from error


def _plain(content: Any) -> Any:
    """A number or an array of NumPy as Python's own."""
    if hasattr(content, "tolist"):
        return content.tolist()
    raise TypeError(f"{type(content).__name__} is no text, number or list")


def told_row(goals: Goals, row: Any) -> Finding:
    """A value from a row of what was measured, its value and perhaps its standard deviation."""
    if isinstance(row, str | bytes) or not isinstance(row, Sequence) or not 2 <= len(row) <= 3:
        raise StudyError(f"{row!r} is no row to tell; give (object, value) or (object, value, std)")
    return told(goals, *row)


def refuse_limits(findings: Sequence[Finding], method: Any) -> None:
    """A complaint about a value that is only a limit, or of a block, where a method takes numbers alone."""
    for one in (one for finding in findings for one in finding.outcomes.values()):
        if one.limit is not None:
            raise StudyError(f"{one} is only a limit, but {method!r} takes numbers alone; use the default method")
        if one.block is not None:
            raise StudyError(f"block={one.block!r} is nothing {method!r} knows of; use the default method")


def check_single(what: Any) -> None:
    """A complaint about a list of suggestions where one is meant."""
    if isinstance(what, list | tuple) and any(isinstance(x, Suggestion | Trial) for x in what):
        raise StudyError(
            f"this is a list of {len(what)} suggestions, as `ask` returns it; tell them one by one: "
            "for s in study.ask(8): study.tell(s, measure(s.object))"
        )
