"""What a study expects of a method: it is told what is known, and answers with objects and the beliefs behind them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from likewise.model.blas import one_thread
from likewise.model.committee import Committee
from likewise.model.fit import DEFAULT, FitSettings
from likewise.model.model import Data
from likewise.search.base import Plate
from likewise.similarity.auto import Given
from likewise.similarity.base import Similarity
from likewise.spaces.base import Generator, Space
from likewise.study.goals import Goals, Price


@dataclass(frozen=True, eq=False)
class Told:
    """What was measured, by outcome.

    objects: the objects of all trials that have an outcome.
    outcomes: of each outcome that was ever measured its observations, in the order they were told; larger values of an
        objective are better. A study of one objective without a name has the outcome "value".
    whole: all measured objects in the order they became known, as data without values; the models of all outcomes are
        settled on the same of them.
    """

    outcomes: Mapping[str, Data]
    whole: Data

    @property
    def objects(self) -> Sequence[Any]:
        """The measured objects."""
        return self.whole.objects

    def most(self, names: Collection[str]) -> int:
        """How many observations the best known of these outcomes has."""
        return max((len(self.outcomes[name].objects) for name in names if name in self.outcomes), default=0)

    @property
    def only(self) -> Data:
        """The observations of the one outcome."""
        (data,) = self.outcomes.values()
        return data


@dataclass(frozen=True, eq=False)
class Known:
    """What a method is told when it is asked.

    told: the observations.
    failed: objects that could not be measured.
    pending: objects that are being evaluated.
    taken: keys of the objects that may not be proposed.
    rng: where everything random comes from.
    plate: what the objects of the batch must be together; None where they may be any.
    price: what objects cost, and how much may be spent on all that are proposed together; None: nothing.
    """

    told: Told
    failed: Sequence[Any]
    pending: Sequence[Any]
    taken: set[str]
    rng: Generator
    plate: Plate | None = None
    price: Price | None = None


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of one outcome of any object.

    committee: the models, with their weights; a method with one model has a committee of one.
    conditioned: which of the observations they are conditioned on.
    settings: how they are fitted.
    """

    committee: Committee
    conditioned: NDArray[np.intp]
    settings: FitSettings = DEFAULT


# By the outcome's name; what was never measured is absent.
AllBeliefs = Mapping[str, Beliefs]


@dataclass(frozen=True, eq=False)
class Proposal:
    """What a method answers.

    objects: distinct objects to try; fewer than were asked for only where the space has no more.
    beliefs: those behind the choice, by outcome; None while there is no observation.
    notes: what is kept with each suggestion, one mapping for each object.
    memory: what the method needs to go on, if it is asked again because other workers were faster.
    """

    objects: list[Any]
    beliefs: AllBeliefs | None = None
    notes: Sequence[Mapping[str, Any]] = ()
    memory: Any = None


class Proposer(ABC):
    """A method at work for one study. It may keep whatever it computes; its answers depend on what it is told alone."""

    @abstractmethod
    def propose(self, n: int, known: Known, before: Proposal | None = None) -> Proposal:
        """Up to `n` objects. `before` is the last answer to the same question, of which other workers took some."""

    @abstractmethod
    def believe(self, told: Told) -> AllBeliefs:
        """The beliefs about each outcome that was measured; there is at least one observation."""

    @abstractmethod
    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        """A complaint about objects that cannot be compared with one another and with a known one."""


@final
class Restarting(Proposer):
    """A proposer that begins anew when its work was cut short, as what it keeps may then be half done."""

    def __init__(self, start: Callable[[], Proposer]) -> None:
        self._start = start
        self.inner = start()

    def propose(self, n: int, known: Known, before: Proposal | None = None) -> Proposal:
        with self._working():
            return self.inner.propose(n, known, before)

    def believe(self, told: Told) -> AllBeliefs:
        with self._working():
            return self.inner.believe(told)

    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        self.inner.check(objects, known)

    def restart(self) -> None:
        """Begin anew."""
        self.inner = self._start()

    @contextmanager
    def _working(self) -> Iterator[None]:
        try:
            with one_thread():
                yield
        except BaseException:
            self.restart()
            raise


class Method(ABC):
    """A way to choose what to try next: settings alone, the same for any study.

    `takes_limits` says whether it can use values of which only a limit is known.
    """

    takes_limits: ClassVar[bool] = True

    @abstractmethod
    def similarities(self, given: Given, space: Space, rng: Generator) -> tuple[Similarity, ...]:
        """What objects of this space are compared by, of what the user gave as `similarity`."""

    @abstractmethod
    def start(self, space: Space, similarities: tuple[Similarity, ...], goals: Goals) -> Proposer:
        """The method at work in this space with these similarities and goals, with nothing computed yet.

        A method that cannot pursue such goals raises a StudyError.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What a study notes of it in its storage, as plain JSON."""
