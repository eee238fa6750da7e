"""What searches ask of a score: what objects are worth, from what one committee or several believe of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from likewise.acquisition.base import Care
from likewise.model.committee import Committee
from likewise.similarity.base import Matrix, Vector

if TYPE_CHECKING:
    from likewise.acquisition.scorer import Scorer

# Means and variances, one row per member.
Moments = tuple[Matrix, Matrix]
Rows = Mapping[int, Matrix]
Selves = Mapping[int, Vector]
# What is known of objects without a model, one number for each.
Known = Callable[[Sequence[Any]], Vector]


class Scoring(ABC):
    """The worth of any object.

    `feasibility` scores the logarithm of the chance that an object can be measured at all.
    """

    feasibility: Scorer | None

    @property
    @abstractmethod
    def committees(self) -> tuple[Committee, ...]:
        """The committees whose beliefs count, one for each outcome."""

    @property
    def known(self) -> tuple[Known, ...]:
        """What is known of an object without a model; its numbers are handed to the methods below."""
        return ()

    @property
    def differentiable(self) -> bool:
        """Whether the score has a gradient in the objects' vectors."""
        chance = self.feasibility
        committees = (*self.committees, *(() if chance is None else chance.committees))
        return not self.known and all(committee.differentiable for committee in committees)

    @abstractmethod
    def score(self, objects: Sequence[Any]) -> Vector:
        """The worth of each object."""

    @abstractmethod
    def linearise(self, objects: Sequence[Any]) -> tuple[Vector, Callable[[], Matrix]]:
        """The worth of each object, and its gradient in the object's vector when asked for."""

    @abstractmethod
    def score_moments(self, moments: Sequence[Moments], known: Sequence[Vector] = ()) -> Vector:
        """The worth of objects of which each committee's means and variances are at hand."""

    @abstractmethod
    def bound_moments(
        self, moments: Sequence[Moments], known: Sequence[Vector] = (), *, care: Care = Care.FAIR
    ) -> Vector:
        """What no object of these means and of variances up to these is worth more than, whatever its chance."""

    @abstractmethod
    def hide_known(
        self, score: Vector, moments: Sequence[Moments], rows: Sequence[Rows], selves: Sequence[Selves]
    ) -> Vector:
        """The scores without those of objects that are known already, if under another name.

        `moments`, `rows` and `selves` are each committee's. Where nothing is noisy, an object that no similarity can
        tell from a measured one is not worth measuring.
        """

    @abstractmethod
    def lower(self, score: Vector, log_chance: Vector) -> Vector:
        """The score lowered by the logarithms of the chances that the objects can be measured."""

    @abstractmethod
    def with_pending(self, objects: Sequence[Any]) -> Self:
        """The score when these objects are in flight, too."""

    @abstractmethod
    def extends(self, earlier: Scoring) -> bool:
        """Whether this is the earlier one with more in flight: then no object is worth more than it was."""

    @abstractmethod
    def lean(self) -> Self:
        """What scores rows, without the matrices behind it."""


def same_members(now: Sequence[Committee], then: Sequence[Committee]) -> bool:
    """Whether committees have the same members, whatever is in flight."""
    mine, theirs = ([[id(m.regression) for m in one.members] for one in each] for each in (now, then))
    return mine == theirs


def hide(score: Vector, committees: Sequence[Committee], rows: Sequence[Rows], selves: Sequence[Selves]) -> Vector:
    """Scores of −∞ for objects that every committee is sure to know already."""
    if not all(committee.noiseless for committee in committees):
        return score
    same = [c.identical(row, own) for c, row, own in zip(committees, rows, selves, strict=True)]
    return np.where(np.logical_and.reduce(same), -np.inf, score)
