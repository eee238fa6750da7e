"""Gaussians with bounded means and variances, the space of the paper's application (Section 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from likewise.errors import SimilarityError, SpaceError
from likewise.similarity.base import Matrix, Similarity, Vector, assign, map_leaves
from likewise.similarity.combine.algebra import COMBINATIONS
from likewise.similarity.coordinates import Coordinates, NumbersOf, Rescaled
from likewise.similarity.kinds.distributions.gaussian import Gaussian
from likewise.similarity.kinds.distributions.gaussian_divergences import SymmetricKL
from likewise.similarity.kinds.distributions.gaussian_similarity import GaussianSimilarity
from likewise.similarity.ranges import rescaled
from likewise.spaces.base import Generator, Space, checked_where, checked_whole
from likewise.spaces.box import Box
from likewise.spaces.distributions.gaussian_numbers import DiagonalNumbers, FullNumbers
from likewise.spaces.drawing import child

Bounds = tuple[ArrayLike, ArrayLike]
NUMBERS: dict[str, type[DiagonalNumbers | FullNumbers]] = {"diagonal": DiagonalNumbers, "full": FullNumbers}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Gaussians(Space):
    """Gaussians with means and variances between bounds.

    - `mean`, `variance`: pairs (lower, upper) of numbers, or of rows of numbers, one for each dimension of ω.
    - `dimension`: that of ω, for bounds that are single numbers; by default 1, or the length of the rows.
    - `covariance`: "diagonal" (default) for independent entries, or "full", where the bounds are those of the variance
      in every direction, and need one ratio.
    - `where`: a function that says whether a Gaussian is allowed; by default all are.

    An object's own numbers are (μ, σ), or (μ, the log-Cholesky coordinates of Σ) with full covariances; all of them
    move. The search sees the unit cube, with means on a linear scale and variances on a logarithmic one: what a step
    does to a Gaussian depends on the ratio of variances, as its divergences do.

    >>> space = Gaussians(mean=(-3.0, 3.0), variance=(0.01, 4.0), dimension=2)
    >>> space.fit(Gaussian([0.0, 1.0], [0.5, 0.5]))
    Gaussian(mean=[0.0, 1.0], variance=[0.5, 0.5])
    >>> space.from_vector(np.full((1, 4), 0.5))
    [Gaussian(mean=[0.0, 0.0], variance=[0.2..., 0.2...])]
    >>> whole = Gaussians(mean=(-3.0, 3.0), variance=(0.01, 4.0), dimension=2, covariance="full")
    >>> whole.dimension, Gaussian([0.0, 1.0], [[0.5, 0.2], [0.2, 0.5]]) in whole
    (5, True)
    """

    kind = "Gaussians"
    numbers: DiagonalNumbers | FullNumbers
    box: Box
    where: Callable[[Any], bool] | None = field(default=None)

    def __init__(
        self,
        mean: Bounds,
        variance: Bounds,
        dimension: int | None = None,
        covariance: Literal["diagonal", "full"] = "diagonal",
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
        low, high, least, most = (np.broadcast_to(end, (int(min(sizes, default=1)),)) for end in ends)
        if not np.all(least > 0):
            raise SpaceError(f"variances are positive, so their lower bound must be, not {variance[0]!r}")
        if covariance not in NUMBERS:
            raise SpaceError(f'covariance={covariance!r} is unknown; choose "diagonal" or "full"')
        numbers = NUMBERS[covariance](low, high, least, most)
        assign(self, numbers=numbers, box=numbers.box, where=checked_where(where))

    def __repr__(self) -> str:
        full = ', covariance="full"' if self.full else ""
        (low, high), (least, most) = self._bounds()
        return f"Gaussians(mean=({low}, {high}), variance=({least}, {most}){full})"

    def _bounds(self) -> list[list[Any]]:
        each = self.numbers
        return [[each.lower.tolist(), each.upper.tolist()], [each.least.tolist(), each.most.tolist()]]

    @property
    def full(self) -> bool:
        """Whether covariances are whole matrices."""
        return isinstance(self.numbers, FullNumbers)

    @property
    def dimension(self) -> int:
        """Numbers of the search vector: those of a mean and of a covariance."""
        return self.box.dimension

    def _made(self, rows: Sequence[Any]) -> list[Gaussian]:
        numbers = np.asarray(rows, dtype=float).reshape(-1, self.dimension)
        return self.numbers.make(self.numbers.settle(numbers))

    def _draw(self, n: int, rng: Generator) -> list[Gaussian]:
        return self.numbers.make(self.numbers.draw(n, rng))

    def _fit(self, x: Any) -> Gaussian:
        if not isinstance(x, Gaussian):
            raise SpaceError(f"{x!r} is not a Gaussian; write Gaussian(mean, variance)")
        d = len(self.numbers.lower)
        if x.dimension != d:
            raise SpaceError(f"{x!r} is a Gaussian of {x.dimension} dimensions; those of this space have {d}")
        wrong = self.numbers.misfit(x)
        if wrong is not None:
            raise SpaceError(f"{x!r} does not fit: {wrong}")
        try:
            fitted = self.box.fit(self.to_numbers([x])[0])
        except SpaceError as error:
            raise SpaceError(f"{x!r} does not fit: in (mean, variance), {error}") from None
        # A covariance does not come back from its coordinates to the last bit.
        return x if self.full and np.array_equal(fitted[:d], x.mean) else self._made([fitted])[0]

    def to_vector(self, objects: Sequence[Any]) -> Matrix:
        return self.box.to_vector(list(self.to_numbers(objects)))

    def from_vector(self, vectors: Matrix) -> list[Gaussian]:
        return self._made(self.box.from_vector(vectors))

    @property
    def spans(self) -> Vector:
        """The range of each number."""
        return self.box.spans

    def to_numbers(self, objects: Sequence[Any]) -> Matrix:
        return self.numbers.read(objects)

    def from_numbers(self, numbers: Matrix) -> list[Gaussian]:
        return self._made(self.box.from_numbers(numbers))

    def project(self, vectors: Matrix) -> Matrix:
        inside = self.box.project(vectors)
        if not self.full:
            return inside
        settled = self.numbers.settle(np.array(self.box.from_vector(inside)).reshape(inside.shape))
        return self.box.project(self.box.to_vector(list(settled)))

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        return self.box.pull(vectors, gradient)

    def moves(self, x: Gaussian, rng: Generator) -> list[Gaussian]:
        """Means and variances shaken at several scales."""
        return self.keep_allowed(self._made(self.box.moves(self.to_numbers([x])[0], rng)))

    def crossover(self, x: Gaussian, other: Gaussian, rng: Generator) -> Any:
        """A Gaussian whose numbers lie between the two, or a little beyond."""
        one, two = self.to_numbers([x, other])
        return child(self, lambda: self._made([self.box.crossover(one, two, rng)])[0], x)

    def divergence_bound(self) -> float:
        """What D_SYM between two members never exceeds, so that no score of `SymmetricKL(constant=…)` is negative.

        With diagonal covariances it is the largest D_SYM; with full ones, that is between half of it and it.

        >>> Gaussians(mean=(0.0, 1.0), variance=(1.0, 1.0)).divergence_bound()
        0.5
        """
        return self.numbers.divergence_bound()

    def from_json(self, data: Any) -> Gaussian:
        try:
            return self._fit(Gaussian.from_json(data))
        except (KeyError, TypeError, SimilarityError) as error:
            raise SpaceError(f"{data!r} is not a stored Gaussian of this space: {error}") from None

    def describe(self) -> dict[str, Any]:
        mean, variance = self._bounds()
        covariance = "full" if self.full else "diagonal"
        return {"space": "Gaussians", "mean": mean, "variance": variance, "covariance": covariance}

    def view(self, similarity: Similarity) -> Similarity:
        """Similarities of vectors see the numbers scaled to the unit cube, all linearly: plain GP-based optimisation.

        The constant of `SymmetricKL(constant=…)` is raised to `divergence_bound` where it is smaller, so that no score
        in this space is negative.
        """
        similarity = map_leaves(self._dominating, similarity)
        linear = Coordinates.spanning(self.box.lower, self.box.upper, np.zeros(self.dimension, dtype=bool))
        return self._read(rescaled(similarity, lambda path: None if path else linear))

    def differentiate(self, similarity: Similarity) -> Similarity:
        """As in every space; similarities of Gaussians compare whole covariances where this space has them."""
        return super().differentiate(map_leaves(self._whole, similarity))

    def _whole(self, similarity: Similarity) -> Similarity:
        if not isinstance(similarity, GaussianSimilarity) or similarity.full == self.full:
            return similarity
        known = "full" in {each.name for each in fields(similarity)}  # type: ignore[arg-type]
        return replace(similarity, full=self.full) if known else similarity  # type: ignore[type-var]

    def _read(self, similarity: Similarity) -> Similarity:
        """Similarities of vectors get numbers of one length, as a diagonal Gaussian has fewer as an array."""
        if isinstance(similarity, COMBINATIONS):
            return similarity.rebuilt([self._read(part) for part in similarity.parts])
        return NumbersOf(similarity, self) if self.full and isinstance(similarity, Rescaled) else similarity

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
