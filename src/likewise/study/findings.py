"""What a user says became of an object, checked before anything is written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from likewise.errors import StudyError
from likewise.study.measurement import read_value
from likewise.study.suggestion import Suggestion
from likewise.study.trial import State, Trial


@dataclass(frozen=True)
class Finding:
    """What became of a suggestion, of a trial, of the trial with an `id`, or of any object."""

    what: Any
    state: State
    value: float | None = None
    std: float | None = None
    error: str | None = None
    id: int | None = None


def told(what: Any, value: Any, std: float | None = None, id: int | None = None) -> Finding:
    """A value, refused if it is no finite number."""
    about = what.object if isinstance(what, Suggestion | Trial) else what if id is None else f"trial {id}"
    return Finding(what, State.TOLD, *read_value(about, value, std), id=id)


def told_row(row: Any) -> Finding:
    """A value from a row of what was measured, its value and perhaps its standard deviation."""
    if isinstance(row, str | bytes) or not isinstance(row, Sequence) or not 2 <= len(row) <= 3:
        raise StudyError(f"{row!r} is no row to tell; give (object, value) or (object, value, std)")
    return told(*row)


def check_single(what: Any) -> None:
    """A complaint about a list of suggestions where one is meant."""
    if isinstance(what, list | tuple) and any(isinstance(x, Suggestion | Trial) for x in what):
        raise StudyError(
            f"this is a list of {len(what)} suggestions, as `ask` returns it; tell them one by one: "
            "for s in study.ask(8): study.tell(s, measure(s.object))"
        )
