"""Distributions of any family, from a sampler and a density, by their parameters (Section 4 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Similarity, Vector, assign, map_leaves
from likewise.similarity.kinds.distributions.distribution import Samples
from likewise.similarity.kinds.distributions.monte_carlo import MonteCarloDivergence
from likewise.spaces.base import Generator, Space, checked_where
from likewise.spaces.box import Box
from likewise.spaces.drawing import child
from likewise.spaces.simplex import Simplex

Sample = Callable[[Vector, int, Generator], Samples]
LogDensity = Callable[[Samples, Vector], Vector]
Score = Callable[[Samples, Vector], Matrix]


@dataclass(frozen=True, eq=False, repr=False)
class Member:
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
        if not isinstance(other, Member):
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

    def _made(self, parameters: Sequence[Vector]) -> list[Member]:
        return [Member(self, each) for each in parameters]

    def _draw(self, n: int, rng: Generator) -> list[Member]:
        return self._made(self.parameters.sample(n, rng))

    def _fit(self, x: Any) -> Member:
        if isinstance(x, Member) and x.family.name != self.name:
            raise SpaceError(f"{x!r} is not of the family {self.name}")
        try:
            return Member(self, self.parameters.fit(x.parameters if isinstance(x, Member) else x))
        except SpaceError as error:
            raise SpaceError(f"{x!r} does not fit the family {self.name}: among its parameters, {error}") from None

    def to_json(self, x: Member) -> Any:
        return self.parameters.to_json(x.parameters)

    def describe(self) -> dict[str, Any]:
        return {"space": "Family", "name": self.name, "parameters": self.parameters.describe()}

    def to_vector(self, objects: Sequence[Any]) -> Matrix:
        return self.parameters.to_vector([x.parameters for x in objects])

    def from_vector(self, vectors: Matrix) -> list[Member]:
        return self._made(self.parameters.from_vector(vectors))

    @property
    def spans(self) -> Vector:
        """The range of each parameter."""
        return self.parameters.spans

    def to_numbers(self, objects: Sequence[Any]) -> Matrix:
        return self.parameters.to_numbers([x.parameters for x in objects])

    def from_numbers(self, numbers: Matrix) -> list[Member]:
        return self._made(self.parameters.from_numbers(numbers))

    def project(self, vectors: Matrix) -> Matrix:
        return self.parameters.project(vectors)

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        return self.parameters.pull(vectors, gradient)

    def moves(self, x: Member, rng: Generator) -> list[Member]:
        """Members whose parameters are neighbours."""
        return self.keep_allowed(self._made(self.parameters.moves(x.parameters, rng)))

    def crossover(self, x: Member, other: Member, rng: Generator) -> Any:
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


def _score(omega: Samples, x: Member) -> Matrix:
    return x.score(omega)
