"""Spaces of distributions, by their parameters: Gaussians, and any family with a sampler and a density."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from likewise.errors import SimilarityError, SpaceError
from likewise.similarity.algebra import COMBINATIONS
from likewise.similarity.base import Matrix, Similarity, Vector, assign, map_leaves
from likewise.similarity.coordinates import Coordinates, NumbersOf, Rescaled, rescaled
from likewise.similarity.kinds.gaussians import (
    Gaussian,
    GaussianSimilarity,
    SymmetricKL,
    covariance_from_numbers,
    covariance_to_numbers,
    diagonal_gaussians,
    full_gaussians,
)
from likewise.similarity.kinds.monte_carlo import MonteCarloDivergence, Samples
from likewise.spaces.base import Generator, Space, checked_numbers, checked_where, checked_whole, child, wider
from likewise.spaces.numbers import Box
from likewise.spaces.simplex import Simplex

# The numbers of Gaussians between bounds, in which a `Gaussians` space is searched, for either kind of covariance.

# Eigenvalues so close to their bounds are inside.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class DiagonalNumbers:
    """(μ, σ) of diagonal Gaussians, in a box whose variances are on a logarithmic scale."""

    lower: Vector
    upper: Vector
    least: Vector
    most: Vector

    @property
    def box(self) -> Box:
        """The box of the numbers."""
        d = len(self.lower)
        ends = [np.concatenate(pair) for pair in ((self.lower, self.least), (self.upper, self.most))]
        return Box(*ends, log=[False] * d + [True] * d)

    def draw(self, n: int, rng: Generator) -> Matrix:
        """The numbers of random members."""
        return np.array(self.box.sample(n, rng)).reshape(n, 2 * len(self.lower))

    def read(self, objects: Sequence[Any]) -> Matrix:
        """The numbers of Gaussians."""
        return np.array(objects, dtype=float).reshape(len(objects), 2 * len(self.lower))

    def make(self, numbers: Matrix) -> list[Gaussian]:
        """The Gaussians of these numbers."""
        d = len(self.lower)
        return diagonal_gaussians(numbers[:, :d], numbers[:, d:])

    def settle(self, numbers: Matrix) -> Matrix:
        """The numbers of the nearest members: those in the box are members."""
        return numbers

    def misfit(self, x: Gaussian) -> str | None:
        """What of this Gaussian's covariance does not belong into the space, beside the bounds of its numbers."""
        return None if x.diagonal else 'it has a full covariance; use Gaussians(…, covariance="full")'

    def divergence_bound(self) -> float:
        """D_SYM is convex in either variance, so that the largest is at bounds: for each dimension both variances
        least, ½w²/σ, or one least and one most, ¼(σ/σ' + σ'/σ − 2) + ¼w²(1/σ + 1/σ'), with w the range of the mean.
        """
        least, most, square = self.least, self.most, (self.upper - self.lower) ** 2
        apart = 0.25 * (least / most + most / least - 2.0) + 0.25 * square * (1.0 / least + 1.0 / most)
        return float(np.sum(np.maximum(0.5 * square / least, apart)))


@dataclass(frozen=True, eq=False)
class FullNumbers:
    """(μ, log-Cholesky coordinates of Σ) of Gaussians whose variances in every direction are between the bounds.

    With T = diag(√least), the eigenvalues of T⁻¹ΣT⁻¹ are between 1 and the ratio of the bounds, which is one for all
    entries. So are then the variances of the entries, alone and given others.
    """

    lower: Vector
    upper: Vector
    least: Vector
    most: Vector

    def __post_init__(self) -> None:
        ratios = self.most / self.least
        if not np.allclose(ratios, ratios[0], rtol=1e-9, atol=0.0):
            raise SpaceError(
                f"with full covariances the bounds of the variances need one ratio, not {ratios.tolist()}; "
                "give single numbers, or upper bounds that are one multiple of the lower ones"
            )

    @property
    def ratio(self) -> float:
        """The largest variance in units of the least one."""
        return float(self.most[0] / self.least[0])

    @property
    def box(self) -> Box:
        """The box of the numbers, in which no scale is logarithmic: the logarithms are numbers here."""
        rows = np.tril_indices(len(self.lower), -1)[0]
        reach = np.sqrt(self.most)[rows] if self.ratio > 1.0 + TOLERANCE else np.zeros(len(rows))
        lower = np.concatenate([self.lower, 0.5 * np.log(self.least), -reach])
        return Box(lower, np.concatenate([self.upper, 0.5 * np.log(self.most), reach]))

    def draw(self, n: int, rng: Generator) -> Matrix:
        """Eigenvalues alike on a logarithmic scale, in random directions."""
        d = len(self.lower)
        drawn = np.array(DiagonalNumbers(self.lower, self.upper, np.ones(d), np.full(d, self.ratio)).draw(n, rng))
        axes = np.linalg.qr(rng.standard_normal((n, d, d)))[0]
        return np.hstack([drawn[:, :d], self._numbers(axes, drawn[:, d:])])

    def read(self, objects: Sequence[Any]) -> Matrix:
        """The numbers of Gaussians, diagonal ones among them."""
        n, d = len(objects), len(self.lower)
        means = np.array([x.mean for x in objects], dtype=float).reshape(n, d)
        whole = np.array([x.covariance for x in objects], dtype=float).reshape(n, d, d)
        return np.hstack([means, covariance_to_numbers(whole)])

    def make(self, numbers: Matrix) -> list[Gaussian]:
        """The Gaussians of these numbers."""
        d = len(self.lower)
        return full_gaussians(numbers[:, :d], covariance_from_numbers(numbers[:, d:]))

    def settle(self, numbers: Matrix) -> Matrix:
        """The numbers with eigenvalues that are outside moved to their bounds."""
        d = len(self.lower)
        values, axes = self._eigen(covariance_from_numbers(numbers[:, d:]))
        outside = np.any((values < 1.0 - TOLERANCE) | (values > self.ratio * (1.0 + TOLERANCE)), axis=1)
        settled = np.array(numbers)
        settled[outside, d:] = self._numbers(axes[outside], np.clip(values[outside], 1.0, self.ratio))
        return settled

    def misfit(self, x: Gaussian) -> str | None:
        """What of this Gaussian's covariance does not belong into the space, beside the bounds of its numbers."""
        values = self._eigen(x.covariance[None])[0][0]
        if values[0] >= 1.0 - TOLERANCE and values[-1] <= self.ratio * (1.0 + TOLERANCE):
            return None
        low, high = (f"{value:.4g}" for value in (values[0], values[-1]))
        return f"in units of the least variance, its variances are from {low} to {high}, outside [1, {self.ratio:.4g}]"

    def divergence_bound(self) -> float:
        """¼d(r + 1/r − 2) + ½Σw²/σ with r the ratio of the variances and w the ranges of the means.

        Each term is attained, though not both by one pair: the largest D_SYM is more than half of it.
        """
        apart = 0.25 * len(self.lower) * (self.ratio + 1.0 / self.ratio - 2.0)
        return float(apart + 0.5 * np.sum((self.upper - self.lower) ** 2 / self.least))

    def _eigen(self, covariances: Matrix) -> tuple[Matrix, Matrix]:
        units = np.sqrt(self.least)
        values, axes = np.linalg.eigh(covariances / np.multiply.outer(units, units))
        return values, axes

    def _numbers(self, axes: Matrix, values: Matrix) -> Matrix:
        """The log-Cholesky coordinates of T axes diag(values) axesᵀ T."""
        units = np.sqrt(self.least)
        whole = (axes * values[:, None, :]) @ axes.transpose(0, 2, 1) * np.multiply.outer(units, units)
        return covariance_to_numbers(0.5 * (whole + whole.transpose(0, 2, 1)))


# Gaussians with bounded means and variances, the space of the paper's application (Section 4).

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
    grows = MappingProxyType({"mean": wider, "variance": wider})
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
        message = f"the bounds of mean {mean!r} and variance {variance!r} are finite numbers, or rows of them"
        ends = [checked_numbers(end, message) for end in (*_pair("mean", mean), *_pair("variance", variance))]
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

    def _describe(self) -> dict[str, Any]:
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


# Distributions of any family, from a sampler and a density, by their parameters (Section 4 of the paper).

Sample = Callable[[Vector, int, Generator], Samples]
LogDensity = Callable[[Samples, Vector], Vector]
Score = Callable[[Samples, Vector], Matrix]


@dataclass(frozen=True, eq=False, repr=False)
class FamilyMember:
    """A distribution of a family, told by its parameters. As an array it is its parameters."""

    family: Family
    parameters: Vector

    def sample(self, n: int, rng: Generator) -> Samples:
        """`n` draws of ω, one per row."""
        return np.asarray(self.family.draw(self.parameters, n, rng))

    def log_density(self, omega: Samples) -> Vector:
        """log p(ω|x) of each row of `omega`."""
        return np.asarray(self.family.log_density(omega, self.parameters), dtype=float)

    def score(self, omega: Samples) -> Matrix:
        """∇ log p(ω|x) in the parameters for each row of `omega`, where the family was given it."""
        return np.asarray(cast(Score, self.family.score)(omega, self.parameters), dtype=float)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.parameters, dtype=dtype or float)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FamilyMember):
            return NotImplemented
        return self.family.name == other.family.name and np.array_equal(self.parameters, other.parameters)

    def __hash__(self) -> int:
        return hash(self.parameters.tobytes())

    def __repr__(self) -> str:
        return f"{self.family.name}({self.parameters.tolist()})"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Family(Space):
    """Distributions p(ω|x) of one family, whose parameters x lie in a space of numbers.

    - `sample`: a function (x, n, rng) that gives n draws of ω, one per row. Draws by `rng.random` or
      `rng.standard_normal`, made into ω by quantiles or by a location and a scale, make similarities more exact.
    - `log_density`: a function (omega, x) that gives log p(ω|x) for each row of `omega`.
    - `parameters`: a `Box`, or a `Simplex` for probabilities.
    - `score`: a function (omega, x) that gives ∇ log p(ω|x) in the parameters, a row for each row of `omega`; by
      default finite differences of `log_density`.
    - `name`: what a member is called; "Member" by default.
    - `where`: a function that says whether a member is allowed; by default all are.

    Objects have `parameters`, `sample(n, rng)` and `log_density(omega)`, so that `Expectation`, `MonteCarloKL()` and
    `MonteCarloJS()` need no functions of their own. Similarities of vectors compare the parameters, in the range of
    their space. `fit` takes a member or its parameters.

    >>> from scipy.special import gammaincinv, gammaln
    >>> gamma = Family(
    ...     sample=lambda x, n, rng: x[1] * gammaincinv(x[0], rng.random(n)),
    ...     log_density=lambda w, x: (x[0] - 1) * np.log(w) - w / x[1] - gammaln(x[0]) - x[0] * np.log(x[1]),
    ...     parameters=Box([0.5, 0.1], [9.0, 4.0], log=[0, 1]),
    ...     name="Gamma",
    ... )
    >>> x = gamma.fit([2.0, 0.5])
    >>> x, x.log_density(np.array([1.0])).round(4).tolist()
    (Gamma([2.0, 0.5]), [-0.6137])
    """

    kind = "distributions"
    short = None
    draw: Sample
    log_density: LogDensity
    parameters: Box | Simplex
    score: Score | None
    name: str
    where: Callable[[Any], bool] | None

    def __init__(
        self,
        sample: Sample,
        log_density: LogDensity,
        parameters: Box | Simplex,
        *,
        score: Score | None = None,
        name: str = "Member",
        where: Callable[[Any], bool] | None = None,
    ) -> None:
        for what, given in (("sample", sample), ("log_density", log_density), ("score", score or log_density)):
            if not callable(given):
                raise SpaceError(f"`{what}` of a Family is a function, not {given!r}")
        if not isinstance(parameters, Box | Simplex):
            raise SpaceError(f"the parameters of a Family lie in a Box or a Simplex, not in {parameters!r}")
        functions = {"draw": sample, "log_density": log_density, "score": score}
        assign(self, parameters=parameters, name=name, where=checked_where(where), **functions)

    def __repr__(self) -> str:
        return f"Family(name={self.name!r}, parameters={self.parameters!r})"

    @property
    def dimension(self) -> int:
        """Number of parameters."""
        return self.parameters.dimension

    @property
    def stepped(self) -> bool:
        return self.parameters.stepped

    @property
    def resolution(self) -> Any:
        return self.parameters.resolution

    def _made(self, parameters: Sequence[Vector]) -> list[FamilyMember]:
        return [FamilyMember(self, each) for each in parameters]

    def _draw(self, n: int, rng: Generator) -> list[FamilyMember]:
        return self._made(self.parameters.sample(n, rng))

    def _fit(self, x: Any) -> FamilyMember:
        if isinstance(x, FamilyMember) and x.family.name != self.name:
            raise SpaceError(f"{x!r} is not of the family {self.name}")
        try:
            return FamilyMember(self, self.parameters.fit(x.parameters if isinstance(x, FamilyMember) else x))
        except SpaceError as error:
            raise SpaceError(f"{x!r} does not fit the family {self.name}: among its parameters, {error}") from None

    def to_json(self, x: FamilyMember) -> Any:
        return self.parameters.to_json(x.parameters)

    def _describe(self) -> dict[str, Any]:
        return {"space": "Family", "name": self.name, "parameters": self.parameters.describe()}

    def includes(self, described: Mapping[str, Any]) -> bool:
        named = (described.get("space"), described.get("name")) == ("Family", self.name)
        return named and self.parameters.includes(described["parameters"])

    def to_vector(self, objects: Sequence[Any]) -> Matrix:
        return self.parameters.to_vector([x.parameters for x in objects])

    def from_vector(self, vectors: Matrix) -> list[FamilyMember]:
        return self._made(self.parameters.from_vector(vectors))

    @property
    def spans(self) -> Vector:
        """The range of each parameter."""
        return self.parameters.spans

    def to_numbers(self, objects: Sequence[Any]) -> Matrix:
        return self.parameters.to_numbers([x.parameters for x in objects])

    def from_numbers(self, numbers: Matrix) -> list[FamilyMember]:
        return self._made(self.parameters.from_numbers(numbers))

    def project(self, vectors: Matrix) -> Matrix:
        return self.parameters.project(vectors)

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        return self.parameters.pull(vectors, gradient)

    def moves(self, x: FamilyMember, rng: Generator) -> list[FamilyMember]:
        """Members whose parameters are neighbours."""
        return self.keep_allowed(self._made(self.parameters.moves(x.parameters, rng)))

    def crossover(self, x: FamilyMember, other: FamilyMember, rng: Generator) -> Any:
        """A member whose parameters are mixed of those of both."""
        parents = x.parameters, other.parameters
        return child(self, lambda: self._made([self.parameters.crossover(*parents, rng)])[0], x)

    def view(self, similarity: Similarity) -> Similarity:
        """Similarities of vectors see the parameters as their space shows them."""
        return self.parameters.view(similarity)

    def differentiate(self, similarity: Similarity) -> Similarity:
        """As in every space; the family's score, where it was given, is that of Monte Carlo divergences."""
        return super().differentiate(similarity if self.score is None else map_leaves(_with_score, similarity))


def _with_score(similarity: Similarity) -> Similarity:
    if isinstance(similarity, MonteCarloDivergence) and similarity.score is None:
        return replace(similarity, score=_score)
    return similarity


def _score(omega: Samples, x: FamilyMember) -> Matrix:
    return x.score(omega)
