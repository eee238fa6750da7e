"""Compositions: parts that are not negative and add up to a total, such as the recipe of an alloy or a blend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.kinds.vectors import Coordinates
from likewise.similarity.ranges import rescaled
from likewise.spaces.base import Generator, Space, checked_where, checked_whole
from likewise.spaces.drawing import child

TOLERANCE = 1e-6
SHIFTS = 24


@dataclass(frozen=True)
class Simplex(Space):
    """Shares that are not negative and add up to a total.

    - `n`: how many shares, at least 2.
    - `total`: what they add up to, in your own unit; by default 1, and 100 for percentages.
    - `where`: a function that says whether a composition is allowed; by default all are.

    Objects are arrays. The search sees each share as a fraction of the total.

    >>> import numpy as np
    >>> blend = Simplex(3, total=100.0)
    >>> blend.fit([20, 30, 50])
    array([20., 30., 50.])
    >>> blend.project(np.array([[0.9, 0.3, -0.2]])).round(3).tolist()
    [[0.8, 0.2, 0.0]]
    """

    kind = "compositions"
    short = "simplex:3"
    n: int
    _: KW_ONLY
    total: float = 1.0
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        if checked_whole("the number of parts of a Simplex", self.n) < 2:
            raise SpaceError(f"a Simplex needs at least 2 parts, not {self.n}")
        if not (np.isfinite(self.total) and self.total > 0):
            raise SpaceError(f"the parts of a Simplex add up to a positive total, not {self.total}")

    @classmethod
    def from_text(cls, text: str) -> Self:
        return cls(int(text))

    @property
    def dimension(self) -> int:
        """Number of parts."""
        return self.n

    def _draw(self, n: int, rng: Generator) -> list[Vector]:
        """Uniform over the simplex: Dirichlet(1, …, 1)."""
        return list(self.total * rng.dirichlet(np.ones(self.n), size=n))

    def _fit(self, x: Any) -> Vector:
        try:
            array = np.array(x, dtype=float) + 0.0  # −0 and 0 have different JSON forms
        except (TypeError, ValueError):
            raise SpaceError(f"{x!r} is not a composition of {self.n} numbers") from None
        if array.shape != (self.n,):
            raise SpaceError(f"{x!r} has shape {array.shape}; the composition has {self.n} parts")
        slack = TOLERANCE * self.total
        if not np.all(array >= -slack):
            k = int(np.argmin(array >= -slack))
            raise SpaceError(f"part {k} is {array[k]:g}; the parts of a composition are not negative")
        if not abs(array.sum() - self.total) <= slack:
            raise SpaceError(f"the parts of {x!r} add up to {array.sum():g}, not to {self.total:g}; rescale them")
        if np.all(array >= 0) and abs(array.sum() - self.total) <= 1e-12 * self.total:
            return array
        return self.from_vector(array[None] / self.total)[0]

    def to_vector(self, objects: Sequence[Any]) -> Matrix:
        return self.to_numbers(objects) / self.total

    def from_vector(self, vectors: Matrix) -> list[Vector]:
        return list(self.total * self.project(vectors))

    @property
    def spans(self) -> Vector:
        """The total, for each part."""
        return np.full(self.n, float(self.total))

    def to_numbers(self, objects: Sequence[Any]) -> Matrix:
        return np.array(objects, dtype=float).reshape(len(objects), self.n)

    def from_numbers(self, numbers: Matrix) -> list[Vector]:
        return self.from_vector(np.asarray(numbers, dtype=float) / self.total)

    def project(self, vectors: Matrix) -> Matrix:
        """The nearest points of the simplex: all parts lowered alike, to max(v − τ, 0), until they add up to 1."""
        vectors = np.asarray(vectors, dtype=float)
        falling = -np.sort(-vectors, axis=1)
        excess = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, self.n + 1)
        kept = np.maximum(np.sum(falling > excess, axis=1), 1)
        lowered: Matrix = np.maximum(vectors - excess[np.arange(len(vectors)), kept - 1][:, None], 0.0)
        return lowered / lowered.sum(axis=1, keepdims=True)

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        """The gradient along the simplex: what would change the total is left out, as it cannot be followed."""
        along: Matrix = gradient - gradient.mean(axis=1, keepdims=True)
        return self.total * along

    def moves(self, x: Any, rng: Generator) -> list[Vector]:
        """Some mass shifted from one part to another: all of it, half of it, or a random share."""
        x = np.asarray(x, dtype=float)
        givers = rng.choice(np.flatnonzero(x > 0), size=SHIFTS)
        takers = (givers + rng.integers(1, self.n, size=SHIFTS)) % self.n
        shares = rng.choice([1.0, 0.5, np.nan, np.nan], size=SHIFTS)
        amounts = x[givers] * np.where(np.isnan(shares), rng.random(SHIFTS) ** 2, shares)
        moved = np.tile(x, (SHIFTS, 1))
        moved[np.arange(SHIFTS), givers] -= amounts
        moved[np.arange(SHIFTS), takers] += amounts
        return self.keep_allowed(np.unique(moved[np.any(moved != x, axis=1)], axis=0))

    def crossover(self, x: Any, other: Any, rng: Generator) -> Vector:
        """A mixture of the two compositions."""

        def mix() -> Vector:
            share = rng.random()
            return share * np.asarray(x, dtype=float) + (1.0 - share) * np.asarray(other, dtype=float)

        return child(self, mix, x)

    def view(self, similarity: Similarity) -> Similarity:
        """Similarities of vectors see fractions of the total."""
        fractions = Coordinates(np.zeros(self.n), np.full(self.n, float(self.total)), np.zeros(self.n, dtype=bool))
        return rescaled(similarity, lambda path: None if path else fractions)
