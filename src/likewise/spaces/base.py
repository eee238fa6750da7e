"""The protocol: a space samples its objects, knows them when it sees them, and writes them as JSON.

What else a space can do is said by having the methods, and the search follows: `Enumerable` spaces are scored whole,
`Continuous` ones are climbed along gradients, `PartlyContinuous` ones with what is not continuous held fixed, and those
with `Moves` from neighbour to neighbour.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Similarity

Generator = np.random.Generator
TRIES = 10_000


def checked_where(where: Any) -> Any:
    """The predicate of a space, or None; a SpaceError for anything that cannot be called."""
    if where is not None and not callable(where):
        raise SpaceError(f"where={where!r} is no predicate; give a function that says whether an object is allowed")
    return where


def checked_whole(what: str, number: Any) -> Any:
    """The whole number, or None; a SpaceError for anything else."""
    if number is not None and (isinstance(number, bool) or not isinstance(number, int | np.integer)):
        raise SpaceError(f"{what} is a whole number, not {number!r}; round it")
    return number


class Space(ABC):
    """A set of objects. Subclasses are frozen dataclasses; a field `where` restricts the space by a predicate."""

    where: Callable[[Any], bool] | None

    @abstractmethod
    def _draw(self, n: int, rng: Generator) -> Sequence[Any]:
        """`n` random objects, before `where` is asked."""

    @abstractmethod
    def _fit(self, x: Any) -> Any:
        """The object in its canonical form (a list becomes an array); a SpaceError naming what does not fit."""

    @abstractmethod
    def to_json(self, x: Any) -> Any:
        """The object as JSON data."""

    @abstractmethod
    def from_json(self, data: Any) -> Any:
        """The object that `to_json` wrote."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The space as JSON data, to recognise it when a stored study is opened again."""

    @final
    def fit(self, x: Any) -> Any:
        """The object in its canonical form; a SpaceError where it lies outside the space."""
        fitted = self._fit(x)
        if self.where is not None and not self.where(fitted):
            raise SpaceError(f"{fitted!r} is excluded by the space's `where`")
        return fitted

    @final
    def __contains__(self, x: Any) -> bool:
        try:
            self.fit(x)
        except SpaceError:
            return False
        return True

    @final
    def sample(self, n: int, rng: Generator) -> list[Any]:
        """`n` random objects of the space; repeats are possible."""
        if self.where is None:
            return list(self._draw(n, rng))
        found: list[Any] = []
        tried = 0
        while len(found) < n:
            drawn = self._draw(max(n, 64), rng)
            fresh = [x for x in drawn if self.where(x)]
            found += fresh
            tried = 0 if fresh else tried + len(drawn)
            if found and tried >= TRIES:
                # So few objects satisfy `where` that waiting for more would take forever: repeats.
                found += [found[i] for i in rng.integers(len(found), size=n - len(found))]
            elif tried >= TRIES:
                raise SpaceError(
                    f"none of {tried} random objects of {type(self).__name__} satisfies `where`; "
                    "loosen the predicate, or use a space that produces such objects directly"
                )
        return found[:n]

    @final
    def allowed(self, objects: Sequence[Any]) -> NDArray[np.bool_]:
        """Which objects satisfy `where`."""
        if self.where is None:
            return np.ones(len(objects), dtype=bool)
        return np.array([bool(self.where(x)) for x in objects], dtype=bool)

    @final
    def key(self, x: Any) -> str:
        """A text that equal objects share and different ones do not."""
        return json.dumps(self.to_json(x), sort_keys=True, separators=(",", ":"))

    def view(self, similarity: Similarity) -> Similarity:
        """The similarity as it should look at this space's objects; most spaces leave it as it is."""
        return similarity


@runtime_checkable
class Enumerable(Protocol):
    """A space whose objects can be listed."""

    @property
    def objects(self) -> Sequence[Any]: ...


@runtime_checkable
class Continuous(Protocol):
    """A space whose objects are vectors, for gradient trajectories.

    `to_vector` maps objects to search coordinates, usually the unit cube; `from_vector` maps back (rounding whole
    numbers); `project` moves any vectors to the nearest ones inside; `pull` turns a gradient in the objects' own
    numbers, as similarities give it, into one in the search coordinates at `vectors`.
    """

    @property
    def dimension(self) -> int: ...

    def to_vector(self, objects: Sequence[Any]) -> Matrix: ...

    def from_vector(self, vectors: Matrix) -> list[Any]: ...

    def project(self, vectors: Matrix) -> Matrix: ...

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix: ...


@runtime_checkable
class PartlyContinuous(Protocol):
    """A space whose objects are vectors in part, such as records: gradient trajectories hold the other parts fixed.

    As in `Continuous`, but a vector alone makes no object: `with_vector` gives each object with its continuous parts
    replaced. `pull` takes a gradient in the numbers of the continuous parts, in their order; the similarity that
    `view` returns gives it so.
    """

    @property
    def dimension(self) -> int: ...

    def to_vector(self, objects: Sequence[Any]) -> Matrix: ...

    def with_vector(self, objects: Sequence[Any], vectors: Matrix) -> list[Any]: ...

    def project(self, vectors: Matrix) -> Matrix: ...

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix: ...


@runtime_checkable
class Moves(Protocol):
    """A space that knows neighbours: some objects one step from x, drawn by rng, all inside the space."""

    def moves(self, x: Any, rng: Generator) -> list[Any]: ...


@runtime_checkable
class Crossover(Protocol):
    """A space that can mix two objects into a third."""

    def crossover(self, x: Any, other: Any, rng: Generator) -> Any: ...
