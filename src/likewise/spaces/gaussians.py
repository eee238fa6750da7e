"""Diagonal Gaussians with bounded means and variances, the space of the paper's application (Section 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.errors import SimilarityError, SpaceError
from likewise.similarity.base import Matrix, Similarity, Vector, assign, map_leaves
from likewise.similarity.kinds.distributions.gaussians import Gaussian, SymmetricKL, diagonal_gaussians
from likewise.similarity.kinds.vectors import Coordinates
from likewise.similarity.ranges import rescaled
from likewise.spaces.base import Generator, Space, checked_where, checked_whole
from likewise.spaces.box import Box
from likewise.spaces.drawing import child

Bounds = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Gaussians(Space):
    """Diagonal Gaussians with means and variances between bounds.

    - `mean`, `variance`: pairs (lower, upper) of numbers, or of rows of numbers, one for each dimension of ω.
    - `dimension`: that of ω, for bounds that are single numbers; by default 1, or the length of the rows.
    - `where`: a function that says whether a Gaussian is allowed; by default all are.

    The search sees the unit cube of 2d numbers, with the means on a linear scale and the variances on a logarithmic
    one: what a step does to a Gaussian depends on the ratio of variances, as its divergences do.

    >>> space = Gaussians(mean=(-3.0, 3.0), variance=(0.01, 4.0), dimension=2)
    >>> space.fit(Gaussian([0.0, 1.0], [0.5, 0.5]))
    Gaussian(mean=[0.0, 1.0], variance=[0.5, 0.5])
    >>> space.from_vector(np.full((1, 4), 0.5))
    [Gaussian(mean=[0.0, 0.0], variance=[0.2..., 0.2...])]
    """

    kind = "Gaussians"
    box: Box
    where: Callable[[Any], bool] | None = field(default=None)

    def __init__(
        self,
        mean: Bounds,
        variance: Bounds,
        dimension: int | None = None,
        *,
        where: Callable[[Any], bool] | None = None,
    ) -> None:
        ends = [np.asarray(end, dtype=float) for end in (*_pair("mean", mean), *_pair("variance", variance))]
        checked_whole("the dimension of Gaussians", dimension)
        sizes = {end.size for end in ends if end.ndim} | ({dimension} if dimension is not None else set())
        if len(sizes) > 1 or any(end.ndim > 1 for end in ends) or min(sizes, default=1) < 1:
            raise SpaceError(
                f"the bounds of mean {mean!r} and variance {variance!r} do not fit each other"
                f"{'' if dimension is None else f' and dimension {dimension}'}; "
                "give single numbers, or rows of one length"
            )
        d = int(min(sizes, default=1))
        low, high, least, most = (np.broadcast_to(end, (d,)) for end in ends)
        if not np.all(least > 0):
            raise SpaceError(f"variances are positive, so their lower bound must be, not {variance[0]!r}")
        box = Box(np.concatenate([low, least]), np.concatenate([high, most]), log=[False] * d + [True] * d)
        assign(self, box=box, where=checked_where(where))

    def __repr__(self) -> str:
        low, high, least, most = (end.tolist() for end in self._ends())
        return f"Gaussians(mean=({low}, {high}), variance=({least}, {most}))"

    @property
    def dimension(self) -> int:
        """Numbers of the search vector: a mean and a variance for each entry of ω."""
        return self.box.dimension

    def _ends(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        d = self.dimension // 2
        return self.box.lower[:d], self.box.upper[:d], self.box.lower[d:], self.box.upper[d:]

    def _made(self, rows: Sequence[Any]) -> list[Gaussian]:
        array = np.asarray(rows, dtype=float).reshape(-1, self.dimension)
        d = self.dimension // 2
        return diagonal_gaussians(array[:, :d], array[:, d:])

    def _draw(self, n: int, rng: Generator) -> list[Gaussian]:
        return self._made(self.box.sample(n, rng))

    def _fit(self, x: Any) -> Gaussian:
        if not isinstance(x, Gaussian):
            raise SpaceError(f"{x!r} is not a Gaussian; write Gaussian(mean, variance)")
        d = self.dimension // 2
        if not x.diagonal or x.dimension != d:
            raise SpaceError(f"{x!r} is not a Gaussian of {d} independent dimensions, as those of this space are")
        try:
            return self._made([self.box.fit(np.asarray(x))])[0]
        except SpaceError as error:
            raise SpaceError(f"{x!r} does not fit: in (mean, variance), {error}") from None

    def to_vector(self, objects: Sequence[Any]) -> Matrix:
        return self.box.to_vector(objects)

    def from_vector(self, vectors: Matrix) -> list[Gaussian]:
        return self._made(self.box.from_vector(vectors))

    @property
    def spans(self) -> Vector:
        """The range of each mean and of each variance."""
        return self.box.spans

    def to_numbers(self, objects: Sequence[Any]) -> Matrix:
        return self.box.to_numbers(objects)

    def from_numbers(self, numbers: Matrix) -> list[Gaussian]:
        return self._made(self.box.from_numbers(numbers))

    def project(self, vectors: Matrix) -> Matrix:
        return self.box.project(vectors)

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        return self.box.pull(vectors, gradient)

    def moves(self, x: Gaussian, rng: Generator) -> list[Gaussian]:
        """Means and log-variances shaken at several scales."""
        return self.keep_allowed(self._made(self.box.moves(np.asarray(x), rng)))

    def crossover(self, x: Gaussian, other: Gaussian, rng: Generator) -> Any:
        """A Gaussian whose numbers lie between the two, or a little beyond."""
        one, two = np.asarray(x), np.asarray(other)
        return child(self, lambda: self._made([self.box.crossover(one, two, rng)])[0], x)

    def divergence_bound(self) -> float:
        """The largest D_SYM between two members, so that `SymmetricKL(constant=…)` with it is nowhere negative.

        D_SYM is convex in either variance, so that the largest is at bounds: for each dimension both variances least,
        ½w²/σ, or one least and one most, ¼(σ/σ' + σ'/σ − 2) + ¼w²(1/σ + 1/σ'), with w the range of the mean.

        >>> Gaussians(mean=(0.0, 1.0), variance=(1.0, 1.0)).divergence_bound()
        0.5
        """
        low, high, least, most = self._ends()
        square = (high - low) ** 2
        alike = 0.5 * square / least
        apart = 0.25 * (least / most + most / least - 2.0) + 0.25 * square * (1.0 / least + 1.0 / most)
        return float(np.sum(np.maximum(alike, apart)))

    def from_json(self, data: Any) -> Gaussian:
        try:
            return self._fit(Gaussian.from_json(data))
        except (KeyError, TypeError, SimilarityError) as error:
            raise SpaceError(f"{data!r} is not a stored Gaussian of this space: {error}") from None

    def describe(self) -> dict[str, Any]:
        low, high, least, most = (end.tolist() for end in self._ends())
        return {"space": "Gaussians", "mean": [low, high], "variance": [least, most]}

    def view(self, similarity: Similarity) -> Similarity:
        """Similarities of vectors see (μ, σ) scaled to the unit cube, both linearly: plain GP-based optimisation.

        The constant of `SymmetricKL(constant=…)` is raised to `divergence_bound` where it is smaller, so that no score
        in this space is negative.
        """
        similarity = map_leaves(self._dominating, similarity)
        linear = Coordinates.spanning(self.box.lower, self.box.upper, np.zeros(self.dimension, dtype=bool))
        return rescaled(similarity, lambda path: None if path else linear)

    def _dominating(self, similarity: Similarity) -> Similarity:
        if not isinstance(similarity, SymmetricKL) or similarity.constant is None:
            return similarity
        return replace(similarity, constant=max(similarity.constant, self.divergence_bound()))


def _pair(what: str, bounds: Any) -> tuple[Any, Any]:
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        raise SpaceError(f"`{what}` is a pair of bounds (lower, upper), not {bounds!r}") from None
    return lower, upper
