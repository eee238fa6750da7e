"""Divergences of any distributions p(ω|x) by Monte Carlo, from a sampler and a log-density (Section 4 of the paper)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, log2, prod
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Linearised, Matrix, Vector, check_whole
from likewise.similarity.differences import Moved, move
from likewise.similarity.encoding import Encoding
from likewise.similarity.functions import DistanceSimilarity

# A distribution as an object: it draws samples and knows its density.

Samples = np.ndarray[Any, Any]


@runtime_checkable
class Distribution(Protocol):
    """An object p(ω|x) such as a `Gaussian`, or a member of a `Family`."""

    def sample(self, n: int, rng: np.random.Generator) -> Samples:
        """`n` draws of ω, one per row."""
        ...

    def log_density(self, omega: Samples) -> Vector:
        """log p(ω|x) of each row of `omega`."""
        ...


def own_sample(x: Any, n: int, rng: np.random.Generator) -> Samples:
    """`n` draws from an object that is a distribution."""
    return cast(Samples, _method(x, "sample")(n, rng))


def own_log_density(omega: Samples, x: Any) -> Vector:
    """The log-densities of draws under an object that is a distribution."""
    return cast(Vector, _method(x, "log_density")(omega))


def _method(x: Any, name: str) -> Any:
    # Trajectories ask for thousands of densities: a protocol takes as long to check as many a density.
    found = getattr(x, name, None)
    if found is None:
        raise SimilarityError(
            f"{x!r} is no distribution: it has no method {name}; "
            "give the functions sample(x, n, rng) and log_density(omega, x)"
        )
    return found


# A generator whose uniform and normal draws fill the space evenly, so that averages over them are more exact.
#
# It is handed to a sampler in the place of a usual generator. Draws of n rows are columns of a scrambled Sobol
# sequence, one column for each number that a row needs, so that those of one sample are independent of each other. A
# sampler that turns uniform or normal numbers into its draws (by quantiles, or by a mean and a scale) gains by it; one
# that draws in other ways, by `rng.gamma` for one, has the draws of a usual generator of the same seed.

# Numbers for a sample beyond so many are plain random: even filling of so many dimensions would take more samples.
COLUMNS = 64


class QuasiRandom(np.random.Generator):
    """Draws of `rows` samples. The same seed gives the same draws.

    >>> u = QuasiRandom(0, 8).random(8)
    >>> np.sort(np.floor(8 * u)).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """

    def __init__(self, seed: int, rows: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self._seed, self._rows, self._used = seed, rows, 0

    def random(self, size: Any = None, *args: Any, **options: Any) -> Any:
        """Uniform draws from [0, 1)."""
        found = None if args or options else self._columns(size)
        return super().random(size, *args, **options) if found is None else found

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform draws from [low, high)."""
        found = self._columns(size)
        return super().uniform(low, high, size) if found is None else low + (np.asarray(high) - low) * found

    def standard_normal(self, size: Any = None, *args: Any, **options: Any) -> Any:
        """Standard normal draws, by the quantiles of uniform ones."""
        found = None if args or options else self._columns(size)
        return super().standard_normal(size, *args, **options) if found is None else _quantiles(found)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Normal draws of these means and standard deviations."""
        found = self._columns(size)
        return super().normal(loc, scale, size) if found is None else loc + np.asarray(scale) * _quantiles(found)

    def _columns(self, size: Any) -> Matrix | None:
        """The next columns, if one row for each sample is asked for and there are columns left."""
        shape = () if size is None else tuple(np.atleast_1d(size).tolist())
        width = prod(shape[1:])
        if shape[:1] != (self._rows,) or self._used + width > COLUMNS:
            return None
        self._used += width
        return _points(self._seed, self._rows)[:, self._used - width : self._used].reshape(shape)


@lru_cache(maxsize=8)
def _points(seed: int, rows: int) -> Matrix:
    """Scrambled points strictly between 0 and 1: each of them alone is uniform."""
    from scipy.stats import qmc

    points = qmc.Sobol(COLUMNS, seed=np.random.default_rng(seed)).random_base2(max(1, ceil(log2(rows))))[:rows]
    inside = np.clip(points, np.finfo(float).eps, 1.0 - np.finfo(float).eps)
    inside.flags.writeable = False
    return np.asarray(inside, dtype=float)


def _quantiles(uniform: Matrix) -> Matrix:
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform), dtype=float)


# Divergences of any distributions p(ω|x) by Monte Carlo, from a sampler and a log-density (Section 4 of the paper).
#
# All objects are sampled with the same quasi-random numbers (`quasi_random.py`), once, when they are encoded. Both
# directions are estimated from each object's own samples and averaged, so that the score is symmetric by construction.

Sample = Callable[[Any, int, np.random.Generator], Samples]
LogDensity = Callable[[Samples, Any], Vector]
Score = Callable[[Samples, Any], Matrix]
# Other seeds that tell how exact an estimate is.
REPEATS = 16


@dataclass(frozen=True, eq=False)
class DifferencedScore:
    """∇ log p(ω|x) in the numbers of x by central differences, all of the same ω: common random numbers."""

    log_density: LogDensity
    space: Any

    def __call__(self, omega: Samples, x: Any) -> Matrix:
        moved = move(self.space, [x])
        above, below = (np.array([self.log_density(omega, y) for y in moved[k]], dtype=float) for k in (0, 1))
        with np.errstate(invalid="ignore"):
            changes = (above - below).T
        # Where one of the two has no density the logarithm has no derivative.
        finite = np.where(np.isfinite(changes), changes, 0.0)
        return Moved(above=[], below=[], apart=np.repeat(moved.apart, len(finite), 0), spans=moved.spans).slopes(finite)


@dataclass(frozen=True, eq=False)
class MonteCarloDivergence(DistanceSimilarity):
    """½E_p[φ(log p/p')] + ½E_p'[φ(log p'/p)], estimated. Distances are cut off at zero: the divergence is not negative,
    its estimate may be by chance.

    An encoding is the objects, their samples (n, M, …), and the log-density of each object at its own samples (n, M).
    """

    sample: Sample = own_sample
    log_density: LogDensity = own_log_density
    samples: int = 256
    lengthscale: float | None = None
    constant: float | None = None
    seed: int = 0
    score: Score | None = field(default=None, kw_only=True)
    _crossing: ClassVar[float]

    @abstractmethod
    def _phi(self, ratios: Matrix) -> Matrix:
        """φ of the log-ratios."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "samples", self.samples, least=2)
        check_whole(self.name, "seed", self.seed, least=0)

    def encode(self, objects: Sequence[Any]) -> Encoding:
        samples = [self._drawn(x) for x in objects]
        own = [self._log_density(omega, x) for omega, x in zip(samples, objects, strict=True)]
        for x, values in zip(objects, own, strict=True):
            if not np.all(np.isfinite(values)):
                raise SimilarityError(
                    f"log_density of {x!r} is not finite at its own samples; "
                    "`sample` and `log_density` must belong together"
                )
        return list(objects), np.array(samples), np.array(own).reshape(len(objects), self.samples)

    def _drawn(self, x: Any) -> Samples:
        # Every object starts from the same seed: common random numbers make differences between objects less noisy.
        omega = np.asarray(self.sample(x, self.samples, QuasiRandom(self.seed, self.samples)))
        if omega.shape[:1] != (self.samples,):
            raise SimilarityError(
                f"sample({x!r}, {self.samples}, rng) gave shape {omega.shape}; give {self.samples} samples, one per row"
            )
        return omega

    def _log_density(self, omega: Samples, x: Any) -> Vector:
        values = np.asarray(self.log_density(omega, x), dtype=float)
        if values.shape != (len(omega),) or np.any(np.isnan(values)):
            raise SimilarityError(
                f"log_density of {len(omega)} samples given {x!r} has shape {values.shape}"
                f"{' and is NaN somewhere' if np.any(np.isnan(values)) else ''}; give one number per sample"
            )
        return values

    def _terms(self, a: Encoding, x: Any) -> Matrix:
        """φ(log p(ω|a_i) − log p(ω|x)) at the samples of each a_i, shape (n, M)."""
        _, omega, own = a
        other = self._log_density(omega.reshape(-1, *omega.shape[2:]), x).reshape(own.shape)
        return self._phi(own - other)

    def _half(self, a: Encoding, b: Encoding) -> Matrix:
        if not (a[0] and b[0]):
            return np.zeros((len(a[0]), len(b[0])))
        return np.stack([np.mean(self._terms(a, x), axis=1) for x in b[0]], axis=1)

    def distances(self, a: Encoding, b: Encoding) -> Matrix:
        half = self._half(a, b)
        other = half if a is b else self._half(b, a)
        return np.maximum(0.5 * (half + other.T), 0.0)

    def standard_error(self, a: Encoding, b: Encoding, repeats: int = REPEATS) -> Matrix:
        """Standard error of each distance, for diagnosis: its standard deviation over so many other seeds.

        Quasi-random draws of one seed depend on each other, so that they do not tell it themselves.
        """
        found = [other.distances(other.encode(a[0]), other.encode(b[0])) for other in self._repeated(repeats)]
        return cast(Matrix, np.std(found, axis=0, ddof=1))

    def gradient_error(self, a: Encoding, b: Encoding, weights: Matrix, repeats: int = REPEATS) -> Matrix:
        """Standard error of the gradients Σ_j W_ij ∇S(a_i, b_j), in the same way."""
        others = self._repeated(repeats)
        found = [other.linearise(other.encode(a[0]), other.encode(b[0]))[1](weights) for other in others]
        return cast(Matrix, np.std(found, axis=0, ddof=1))

    def _repeated(self, repeats: int) -> list[MonteCarloDivergence]:
        return [replace(self, seed=self.seed + 1 + k) for k in range(repeats)]

    # The derivative, where the score s = ∇_x log p(ω|x) is known:
    # ∇d = ½E_p[s (φ + c)] − ½c E_p'[s], with φ at log p/p' and c = `_crossing`; E_p[s] = 0, so φ is centred, which
    # leaves less variance.
    @property
    def differentiable(self) -> bool:
        return self.score is not None

    def _scores(self, omega: Samples, x: Any) -> Matrix:
        values = np.asarray(cast(Score, self.score)(omega, x), dtype=float)
        if values.ndim != 2 or len(values) != len(omega):
            raise SimilarityError(
                f"score of {len(omega)} samples given {x!r} has shape {values.shape}; give one row per sample"
            )
        return values

    def _gradient(self, a: Encoding, b: Encoding, weights: Matrix) -> Matrix:
        objects, omega, own = a
        if objects and not b[0]:
            return np.zeros((len(objects), self._scores(omega[0][:1], objects[0]).shape[1]))
        terms = np.zeros_like(own)
        for w, x in zip(weights.T, b[0], strict=True):
            terms += w[:, None] * self._terms(a, x)
        rows = []
        for i, x in enumerate(objects):
            score = self._scores(omega[i], x)
            row = (terms[i] - terms[i].mean()) @ score / (self.samples - 1)
            if self._crossing:
                there = self._scores(b[1].reshape(-1, *b[1].shape[2:]), x)
                shares = np.repeat(weights[i], self.samples) / self.samples
                row = row + self._crossing * (weights[i].sum() * score.mean(axis=0) - shares @ there)
            rows.append(0.5 * row)
        return np.array(rows) if rows else np.zeros((0, 0))

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        distances = self.distances(a, b)
        return self.scores(distances), lambda weights: self._gradient(a, b, weights * self.slopes(distances))


@dataclass(frozen=True, eq=False)
class MonteCarloKL(MonteCarloDivergence):
    """constant − D_SYM or exp(−D_SYM/ℓ), D_SYM = ½KL(p‖p') + ½KL(p'‖p), for any p(ω|x). Not PSD.

    `sample(x, n, rng)` gives n samples of ω as rows, `log_density(omega, x)` one number per sample; both may be left
    out where objects are distributions, as `Gaussian` and the members of a `Family` are.
    `samples` is how many are drawn for each object, best a power of 2; 256 by default.
    `lengthscale` is ℓ, by default the median D_SYM of the observed objects; with `constant` it is constant − D_SYM.
    `seed` gives the draws, which are the same random numbers for all objects. A sampler that takes `rng.random` or
    `rng.standard_normal` gets evenly spread ones, whose averages are more exact. `standard_error` and `gradient_error`
    say how exact.
    `score(omega, x)` = ∇_x log p(ω|x) as rows makes the similarity differentiable:
    ∇S = ½[∫∇log p · p' dω − ∫∇log p · log(e·p/p') · p dω] (Eq. derivative, which lacks the ½). Without it, a study
    takes finite differences of `log_density` at the same draws.

    >>> from likewise.similarity.kinds.gaussians import Gaussian
    >>> kl = MonteCarloKL(constant=2.0)
    >>> round(kl(Gaussian(0.0, 1.0), Gaussian(1.0, 1.0)), 2)
    1.5
    """

    _crossing = 1.0

    def _phi(self, ratios: Matrix) -> Matrix:
        if not np.all(np.isfinite(ratios)):
            raise SimilarityError(
                "the symmetric KL divergence is infinite: one distribution has samples where another has no density; "
                "use MonteCarloJS, which is bounded"
            )
        return ratios


@dataclass(frozen=True, eq=False)
class MonteCarloJS(MonteCarloDivergence):
    """exp(−d/ℓ) or constant − d, d the Jensen–Shannon divergence ½KL(p‖m) + ½KL(p'‖m), m = ½(p + p'), for any p(ω|x).

    It is at most log 2, so `constant=np.log(2)` keeps constant − d non-negative, whatever the supports. The exact
    exp(−d/ℓ) is PSD, the estimate only up to its error. Arguments as for `MonteCarloKL`;
    here ∇d = ½∫∇log p · log(p/m) · p dω.

    sample, log_density, samples, lengthscale, constant, seed, score: those of `MonteCarloKL`.

    >>> from likewise.similarity.kinds.gaussians import Gaussian
    >>> js = MonteCarloJS(constant=np.log(2.0))
    >>> round(js(Gaussian(0.0, 1.0), Gaussian(100.0, 1.0)), 6)
    0.0
    """

    # The terms that c stands for cancel in the exact derivative, and leaving them out costs nothing but noise.
    _crossing = 0.0

    def _phi(self, ratios: Matrix) -> Matrix:
        return cast(Matrix, np.log(2.0) - np.logaddexp(0.0, -ratios))
