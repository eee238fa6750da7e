"""Compositions: parts that are not negative and add up to a total, such as the recipe of an alloy or a blend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError, SpaceError
from likewise.similarity.auto import Recognised, of_kind, recognise
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.catalogue import of_mixtures
from likewise.similarity.coordinates import Coordinates, rescaled
from likewise.spaces.base import Generator, Space, checked_numbers, checked_where, checked_whole, child, higher, lower
from likewise.spaces.condition import Condition
from likewise.spaces.constraints import nearest_with_sum

# Points of a simplex with bounds, of which only so many parts are not zero: nearest ones and random ones.

SLACK = 1e-12
# So many exchanges between two parts, for each part, make a point at random.
EXCHANGES = 4


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares p with lower ≤ p ≤ upper and Σ p = 1, of which at most `most` are not zero.

    >>> some = Shares(np.array([0.2, 0.0, 0.0]), np.array([1.0, 0.5, 0.5]), 2)
    >>> some.project(np.array([[0.1, 0.9, 0.4]])).round(3).tolist()
    [[0.5, 0.5, 0.0]]
    """

    lower: Vector
    upper: Vector
    most: int

    def check(self) -> None:
        """A complaint where there are none."""
        if np.any(self.lower < 0) or np.any(self.lower > self.upper):
            k = int(np.argmax((self.lower < 0) | (self.lower > self.upper)))
            raise SpaceError(
                f"part {k} has bounds from {self.lower[k]:g} to {self.upper[k]:g} of the total; "
                "give 0 ≤ lower ≤ upper for each part"
            )
        if self._must.sum() > self.most:
            raise SpaceError(
                f"{self._must.sum()} parts have a lower bound above 0, but at most {self.most} parts may be used; "
                "lower some of these bounds to 0, or allow more parts"
            )
        least, largest = float(self.lower.sum()), self._largest(self._must, self.most - int(self._must.sum()))
        if least > 1 + SLACK or largest < 1 - SLACK:
            raise SpaceError(
                f"with these bounds {self.most} parts add up to between {least:g} and {largest:g} of the total; "
                "loosen the bounds so that they can add up to all of it"
            )

    @cached_property
    def _must(self) -> NDArray[np.bool_]:
        return np.asarray(self.lower > 0)

    @cached_property
    def free(self) -> bool:
        """Whether there are no bounds but 0, and all parts may be used."""
        return bool(self.most >= len(self.lower) and not self.lower.any() and np.all(self.upper >= 1))

    def _largest(self, chosen: NDArray[np.bool_], slots: int) -> float:
        """What the chosen parts and so many more can add up to."""
        others = np.sort(self.upper[~chosen])[::-1]
        return float(self.upper[chosen].sum() + others[: max(slots, 0)].sum())

    def project(self, vectors: Matrix) -> Matrix:
        """The nearest points: all parts lowered alike, to clip(v − τ, lower, upper), until they add up to 1.

        Of more parts than may be used, the largest are kept; where they cannot add up to 1, those that can.
        """
        vectors = np.asarray(vectors, dtype=float)
        if self.free:
            return _project_free(vectors)
        upper = np.where(self._supports(vectors), self.upper, 0.0)
        p = nearest_with_sum(vectors, self.lower, upper, np.ones(len(self.lower)), 1.0)
        # What rounding leaves goes to the part that has most room for it.
        left = 1.0 - p.sum(axis=1)
        room = np.where(left[:, None] > 0, upper - p, p - self.lower)
        p[np.arange(len(p)), np.argmax(room, axis=1)] += left
        return p

    def _supports(self, vectors: Matrix) -> NDArray[np.bool_]:
        """Which parts of each row are used."""
        if self.most >= len(self.lower):
            return np.ones(vectors.shape, dtype=bool)
        order = np.argsort(-np.where(self._must, np.inf, vectors), axis=1, kind="stable")
        if np.sort(self.upper)[: self.most].sum() >= 1:
            used = np.zeros(vectors.shape, dtype=bool)
            np.put_along_axis(used, order[:, : self.most], True, axis=1)
            return used
        return np.array([self._support(row) for row in order.tolist()]).reshape(vectors.shape)

    def _support(self, order: list[int]) -> NDArray[np.bool_]:
        """The first parts in this order that can still add up to 1."""
        used = self._must.copy()
        for k in order:
            slots = self.most - int(used.sum())
            if slots and not used[k]:
                used[k] = True
                used[k] = self._largest(used, slots - 1) >= 1 - SLACK
        return used

    def sample(self, n: int, rng: Generator) -> Matrix:
        """Random points; those of one set of parts are spread evenly, and each number of parts is as frequent."""
        width = len(self.lower)
        if self.free:
            return rng.dirichlet(np.ones(width), size=n)
        if self.most >= width:
            return self._mix(self.project(rng.dirichlet(np.ones(width), size=n)), np.ones((n, width), dtype=bool), rng)
        count = rng.integers(max(1, int(self._must.sum())), self.most + 1, size=n)
        ranks = np.argsort(np.argsort(np.where(self._must, -1.0, rng.random((n, width))), axis=1), axis=1)
        drawn = rng.dirichlet(np.ones(width), size=n)
        x = self.project(np.where(ranks < count[:, None], drawn, drawn - 2.0))
        return self._mix(x, x > 0, rng)

    def _mix(self, x: Matrix, used: NDArray[np.bool_], rng: Generator) -> Matrix:
        """The points after exchanges between two used parts at random, as far as the bounds allow."""
        rows = np.arange(len(x))
        for _ in range(EXCHANGES * min(self.most, x.shape[1])):
            lots = np.where(used, rng.random(x.shape), -1.0)
            i, j = np.argsort(-lots, axis=1, kind="stable")[:, :2].T
            both = x[rows, i] + x[rows, j]
            pair = used[rows, i] & used[rows, j]
            low = np.maximum(self.lower[i], both - self.upper[j])
            high = np.maximum(np.minimum(self.upper[i], both - self.lower[j]), low)
            new = np.where(pair, low + rng.random(len(x)) * (high - low), x[rows, i])
            x[rows, j], x[rows, i] = np.where(pair, both - new, x[rows, j]), new
        return self.project(x)


def _project_free(vectors: Matrix) -> Matrix:
    """The nearest points where there are no bounds but 0."""
    falling = -np.sort(-vectors, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, vectors.shape[1] + 1)
    kept = np.maximum(np.sum(falling > excess, axis=1), 1)
    lowered: Matrix = np.maximum(vectors - excess[np.arange(len(vectors)), kept - 1][:, None], 0.0)
    return lowered / lowered.sum(axis=1, keepdims=True)


# Compositions: parts that are not negative and add up to a total, such as the recipe of an alloy or a blend.

TOLERANCE = 1e-6
SHIFTS = 24

Bounds = float | Sequence[float] | Mapping[str, float] | None


@dataclass(frozen=True)
class Simplex(Space):
    """Shares that are not negative and add up to a total.

    - `n`: how many shares, at least 2; or else
    - `names`: their names, such as those of ingredients; each object is then a dict with all names. Where the names are
      molecules (SMILES), `auto` compares recipes by how alike their ingredients are, too.
    - `lower`, `upper`: bounds of the shares, in your own unit: one number for all, a list, or a dict by name for some;
      by default 0 and the total.
    - `most`: how many shares may be above 0; by default all. A share whose lower bound is above 0 is always one of
      them.
    - `total`: what they add up to, in your own unit; by default 1, and 100 for percentages.
    - `where`: a function that says whether a composition is allowed, or with names a condition as text; by default all
      are.

    Without names, objects are arrays. The search sees each share as a fraction of the total.

    >>> import numpy as np
    >>> blend = Simplex(3, total=100.0)
    >>> blend.fit([20, 30, 50])
    array([20., 30., 50.])
    >>> blend.project(np.array([[0.9, 0.3, -0.2]])).round(3).tolist()
    [[0.8, 0.2, 0.0]]
    >>> ink = Simplex(names=["water", "glycerol", "dye", "salt"], lower={"water": 50}, most=3, total=100)
    >>> ink.fit({"water": 80, "glycerol": 20})
    {'water': 80.0, 'glycerol': 20.0, 'dye': 0.0, 'salt': 0.0}
    """

    kind = "compositions"
    grows = MappingProxyType({"lower": lower, "upper": higher, "most": higher})
    short = "simplex:3"
    n: int | None = None
    _: KW_ONLY
    names: Sequence[str] | None = None
    lower: Bounds = None
    upper: Bounds = None
    most: int | None = None
    total: float = 1.0
    where: Callable[[Any], bool] | str | None = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.n is None and self.names is None:
            raise SpaceError("a Simplex needs the number of its parts, or their names")
        if self.names is not None:
            _check_names(self.names, self.n)
        if checked_whole("the number of parts of a Simplex", self.n) is not None and self.n < 2:  # type: ignore[operator]
            raise SpaceError(f"a Simplex needs at least 2 parts, not {self.n}")
        message = f"the parts of a Simplex add up to a positive total, not {self.total!r}"
        if (total := checked_numbers(self.total, message)).ndim or not total > 0:
            raise SpaceError(message)
        if checked_whole("`most` of a Simplex", self.most) is not None and self.most < 1:  # type: ignore[operator]
            raise SpaceError(f"most={self.most}: at least one part is used; give a whole number from 1")
        self.shares.check()
        object.__setattr__(self, "where", self._condition())

    def _condition(self) -> Any:
        if isinstance(self.where, str) and self.names is not None:
            return Condition.read(self.where, self.names)
        return checked_where(self.where)

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(int(text))

    @property
    def dimension(self) -> int:
        """Number of parts."""
        return self.n if self.names is None or self.n is not None else len(self.names)  # type: ignore[return-value]

    @cached_property
    def _order(self) -> list[str]:
        """The names in the order of the numbers of a vector, in which similarities see them, too."""
        return sorted(self.names or [])

    @cached_property
    def shares(self) -> Shares:
        """The shares that are allowed, as fractions of the total."""
        lower = self._bounds("lower", self.lower, 0.0) / self.total
        upper = np.minimum(self._bounds("upper", self.upper, self.total) / self.total, 1.0)
        return Shares(lower, upper, self.dimension if self.most is None else min(self.most, self.dimension))

    def _bounds(self, what: str, given: Any, default: float) -> Vector:
        if isinstance(given, Mapping):
            unknown = [name for name in given if name not in self._order]
            if unknown:
                known = ", ".join(self._order) or "none, as the parts have no names"
                raise SpaceError(f"{what} has the part {unknown[0]!r}; the names are {known}")
            given = [given.get(name, default) for name in self._order]
        elif self.names is not None and given is not None and np.ndim(given) == 1 and len(given) == self.dimension:
            given = [given[list(self.names).index(name)] for name in self._order]
        message = f"{what}={given!r}: give one number, one for each of {self.dimension} parts, or a dict"
        try:
            return np.broadcast_to(checked_numbers(default if given is None else given, message), (self.dimension,))
        except ValueError:
            raise SpaceError(message) from None

    def _made(self, numbers: Matrix) -> list[Any]:
        """Objects of numbers in your own unit."""
        # −0 and 0 have different JSON forms.
        numbers = np.asarray(numbers) + 0.0
        if self.names is None:
            return list(numbers)
        rows = [dict(zip(self._order, row, strict=True)) for row in numbers.tolist()]
        return [{name: row[name] for name in self.names} for row in rows]

    def _draw(self, n: int, rng: Generator) -> list[Any]:
        """Uniform over the simplex: Dirichlet(1, …, 1); within bounds, of some parts, nearly so."""
        return self._made(self.total * self.shares.sample(n, rng))

    def _numbers(self, x: Any) -> Vector:
        """The numbers of what may be an object."""
        if self.names is not None and isinstance(x, Mapping):
            unknown = [name for name in x if name not in self._order]
            if unknown:
                raise SpaceError(f"the composition has a part {unknown[0]!r}; the parts are {', '.join(self.names)}")
            x = [x.get(name, 0.0) for name in self._order]
        elif self.names is not None:
            raise SpaceError(f"{x!r} is no composition with names; give a dict of {', '.join(self.names)}")
        array = (
            checked_numbers(x, lambda: f"{x!r} is not a composition of {self.dimension} numbers", finite=False) + 0.0
        )
        if array.shape != (self.dimension,):
            raise SpaceError(f"{x!r} has shape {array.shape}; the composition has {self.dimension} parts")
        return array

    def _fit(self, x: Any) -> Any:
        array, slack = self._numbers(x), TOLERANCE * self.total
        lower, upper = self.total * self.shares.lower, self.total * self.shares.upper
        if not np.all(array >= -slack):
            k = int(np.argmin(array >= -slack))
            raise SpaceError(f"part {self._called(k)} is {array[k]:g}; the parts of a composition are not negative")
        for k in np.flatnonzero((array < lower - slack) | (array > upper + slack)).tolist():
            raise SpaceError(f"part {self._called(k)} is {array[k]:g}, outside its bounds [{lower[k]:g}, {upper[k]:g}]")
        if not abs(array.sum() - self.total) <= slack:
            raise SpaceError(f"the parts of {x!r} add up to {array.sum():g}, not to {self.total:g}; rescale them")
        used = int(np.sum(array > slack))
        if used > self.shares.most:
            raise SpaceError(f"{x!r} has {used} parts above 0, and at most {self.shares.most} may be; leave some out")
        tiny = 1e-12 * self.total
        inside = np.all((array >= np.maximum(lower - tiny, 0.0)) & (array <= upper + tiny))
        exact = inside and abs(array.sum() - self.total) <= tiny
        if exact and np.sum(array > 0) <= self.shares.most:
            return self._made(array[None])[0]
        return self.from_vector(array[None] / self.total)[0]

    def _called(self, k: int) -> str:
        return repr(self._order[k]) if self.names is not None else str(k)

    def to_vector(self, objects: Sequence[Any]) -> Matrix:
        return self.to_numbers(objects) / self.total

    def from_vector(self, vectors: Matrix) -> list[Any]:
        return self._made(self.total * self.project(vectors))

    @property
    def spans(self) -> Vector:
        """The total, for each part."""
        return np.full(self.dimension, float(self.total))

    @property
    def stepped(self) -> bool:
        """Which parts are used is chosen by moves."""
        return self.shares.most < self.dimension

    def to_numbers(self, objects: Sequence[Any]) -> Matrix:
        rows = objects if self.names is None else [[x[name] for name in self._order] for x in objects]
        return np.array(rows, dtype=float).reshape(len(objects), self.dimension)

    def from_numbers(self, numbers: Matrix) -> list[Any]:
        return self.from_vector(np.asarray(numbers, dtype=float) / self.total)

    def project(self, vectors: Matrix) -> Matrix:
        """The nearest points of the simplex, within the bounds; of too many parts the largest are kept."""
        return self.shares.project(vectors)

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        """The gradient along the simplex: what would change the total is left out, as it cannot be followed."""
        along: Matrix = gradient - gradient.mean(axis=1, keepdims=True)
        return self.total * along

    def moves(self, x: Any, rng: Generator) -> list[Any]:
        """Some mass shifted from one part to another: all of it, half of it, or a random share."""
        start = self.to_numbers([x])[0]
        givers = rng.choice(np.flatnonzero(start > 0), size=SHIFTS)
        takers = (givers + rng.integers(1, self.dimension, size=SHIFTS)) % self.dimension
        shares = rng.choice([1.0, 0.5, np.nan, np.nan], size=SHIFTS)
        amounts = start[givers] * np.where(np.isnan(shares), rng.random(SHIFTS) ** 2, shares)
        moved = np.tile(start, (SHIFTS, 1))
        moved[np.arange(SHIFTS), givers] -= amounts
        moved[np.arange(SHIFTS), takers] += amounts
        if not self.shares.free:
            moved = self.total * self.project(moved / self.total)
        return self.keep_allowed(self._made(np.unique(moved[np.any(moved != start, axis=1)], axis=0)))

    def crossover(self, x: Any, other: Any, rng: Generator) -> Any:
        """A mixture of the two compositions."""
        first, second = self.to_numbers([x, other])

        def mix() -> Any:
            share = rng.random()
            mixed = (share * first + (1.0 - share) * second)[None]
            return self._made(mixed if self.shares.free else self.total * self.project(mixed / self.total))[0]

        return child(self, mix, x)

    def _describe(self) -> dict[str, Any]:
        given = super()._describe()
        usual = {"n": None, "names": None, "lower": None, "upper": None, "most": None}
        return {key: value for key, value in given.items() if key not in usual or value is not None}

    def _recognised(self, objects: Sequence[Any]) -> Recognised:
        """As compositions; where the names are molecules, by how alike those are, too."""
        plainly = of_kind("compositions", "the space Simplex says so", list(self.to_numbers(objects)))
        try:
            found = None if self.names is None else recognise(list(self.names))
        except SimilarityError:
            found = None
        if found is None or found.kind != "molecules":
            return plainly
        both = (*of_mixtures(found.similarities[0], whole=False), plainly.similarities[0])
        return Recognised("mixtures", f"the {self.dimension} ingredients are molecules", both)

    def view(self, similarity: Similarity) -> Similarity:
        """Similarities of vectors see fractions of the total."""
        width = self.dimension
        fractions = Coordinates(np.zeros(width), np.full(width, float(self.total)), np.zeros(width, dtype=bool))
        return rescaled(similarity, lambda path: None if path else fractions)


def _check_names(names: Any, n: int | None) -> None:
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(each, str) for each in names):
        raise SpaceError(f"the names of a Simplex are a list of texts, not {names!r}")
    if len(names) < 2 or len(set(names)) < len(names):
        raise SpaceError(f"a Simplex needs at least 2 names, and each once, not {list(names)!r}")
    if n is not None and n != len(names):
        raise SpaceError(f"n={n}, but there are {len(names)} names; give the names alone")
