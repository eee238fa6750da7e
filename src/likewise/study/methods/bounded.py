"""Values that are known to lie between bounds, whatever the method believes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from likewise.errors import StudyError
from likewise.model.schedule import Data
from likewise.study.methods.base import Beliefs, Known, Proposal, Proposer

Bounds = tuple[float | None, float | None]


def check_bounds(given: Any) -> tuple[float, float] | None:
    """The bounds as numbers, infinite where there is none.

    >>> check_bounds((0, None))
    (0.0, inf)
    """
    if given is None:
        return None
    try:
        low, high = given
        found = float("-inf") if low is None else float(low), float("inf") if high is None else float(high)
    except (TypeError, ValueError):
        raise StudyError(f"bounds={given!r} are no two numbers; give (0, 100), or (0, None) without an end") from None
    if not found[0] < found[1]:
        raise StudyError(f"bounds={given!r} leave no room; give the lower one first, as in (0, 100)")
    return found


def describe_bounds(bounds: tuple[float, float] | None) -> dict[str, Any]:
    """What a study notes of its bounds, as plain JSON: nothing where it has none."""
    return {} if bounds is None else {"bounds": [None if abs(end) == float("inf") else end for end in bounds]}


def within(proposer: Proposer, bounds: tuple[float, float] | None, sign: float) -> Proposer:
    """The proposer, with beliefs that keep to the bounds of the user's values, which are the model's times `sign`."""
    if bounds is None:
        return proposer
    low, high = bounds if sign > 0 else (-bounds[1], -bounds[0])
    return BoundedProposer(proposer, low, high)


@final
@dataclass(eq=False)
class BoundedProposer(Proposer):
    """Another proposer, whose beliefs stay between two values."""

    inner: Proposer
    low: float
    high: float

    def propose(self, n: int, known: Known, before: Proposal | None = None) -> Proposal:
        found = self.inner.propose(n, known, before)
        return found if found.beliefs is None else replace(found, beliefs=self._within(found.beliefs))

    def believe(self, told: Data) -> Beliefs:
        return self._within(self.inner.believe(told))

    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        self.inner.check(objects, known)

    def _within(self, beliefs: Beliefs) -> Beliefs:
        return replace(beliefs, committee=beliefs.committee.within(self.low, self.high))
