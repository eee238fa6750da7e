"""Values that are known to lie between bounds, whatever the method believes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from likewise.errors import StudyError
from likewise.study.goals import VALUE, Goals
from likewise.study.methods.base import AllBeliefs, Known, Proposal, Proposer, Told

Bounds = tuple[float | None, float | None]
Ends = tuple[float, float]


def check_bounds(given: Any) -> Ends | None:
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


def bounds_of(given: Any, goals: Goals) -> dict[str, Ends]:
    """The bounds by outcome, of what a user gives: two numbers for the one outcome, or a mapping by name.

    >>> bounds_of((0, 100), Goals())
    {'value': (0.0, 100.0)}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if goals.named and len(goals.outcomes) > 1:
            raise StudyError(f"bounds={given!r} are of which outcome? Give {{{goals.outcomes[0]!r}: {given!r}}}")
        given = {goals.outcomes[0]: given}
    for name in given:
        if name not in goals.outcomes:
            names = ", ".join(map(repr, goals.outcomes))
            raise StudyError(f"bounds name {name!r}, which is not measured; the outcomes are {names}")
    return {name: ends for name, one in given.items() if (ends := check_bounds(one)) is not None}


def describe_bounds(bounds: Mapping[str, Ends]) -> dict[str, Any]:
    """What a study notes of its bounds, as plain JSON: nothing where it has none."""
    plain = {name: [None if abs(end) == float("inf") else end for end in ends] for name, ends in bounds.items()}
    return {} if not plain else {"bounds": plain.get(VALUE, plain)}


def within(proposer: Proposer, bounds: Mapping[str, Ends], goals: Goals) -> Proposer:
    """The proposer, with beliefs that keep to the bounds of the user's values."""
    if not bounds:
        return proposer
    signed = {}
    for name, (low, high) in bounds.items():
        signed[name] = (low, high) if goals.sign(name) > 0 else (-high, -low)
    return BoundedProposer(proposer, signed)


@final
@dataclass(eq=False)
class BoundedProposer(Proposer):
    """Another proposer, whose beliefs about outcomes stay between two values each."""

    inner: Proposer
    bounds: Mapping[str, Ends]

    def propose(self, n: int, known: Known, before: Proposal | None = None) -> Proposal:
        found = self.inner.propose(n, known, before)
        return found if found.beliefs is None else replace(found, beliefs=self._within(found.beliefs))

    def believe(self, told: Told) -> AllBeliefs:
        return self._within(self.inner.believe(told))

    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        self.inner.check(objects, known)

    def _within(self, beliefs: AllBeliefs) -> AllBeliefs:
        kept = {
            name: replace(beliefs[name], committee=beliefs[name].committee.within(*ends))
            for name, ends in self.bounds.items()
            if name in beliefs
        }
        return {**beliefs, **kept}
