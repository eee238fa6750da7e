"""Parameters of a similarity (lengthscales, weights) and the noise, learnt by maximum a-posteriori marginal likelihood.

With W = ½(ααᵀ/â − M⁻¹), α = M⁻¹y, the gradient of the log evidence in any log-parameter θ of S is
Σ_ij W_ij ∂S_ij/∂log θ, one pullback through the similarity, whatever it is built from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import SimilarityError
from likewise.model.evidence import NOISE_PRIOR, cholesky, marginal_likelihood
from likewise.model.influence import add_diagonal, inverse
from likewise.similarity.base import Matrix, Parameter, Similarity, Vector
from likewise.similarity.combine.parts import Parts
from likewise.similarity.encodings.arrays import Encoding, plain

NOISE_BOUNDS = (1e-6, 10.0)
SPAN = 8.0


@dataclass(frozen=True)
class Learnt:
    """A similarity with its parameters learnt, the noise as a share of the amplitude, and the log posterior reached.

    `size` is how many numbers were learnt, without the noise.
    """

    similarity: Similarity
    ratio: float
    log_posterior: float
    size: int


@dataclass(frozen=True, eq=False)
class Tabulated(Similarity):
    """The scores of known objects, computed once: stands for a similarity that has nothing to learn."""

    scores: Matrix
    known_psd: bool = False
    known_divisible: bool = False

    @property
    def psd(self) -> bool:
        return self.known_psd

    @property
    def divisible(self) -> bool:
        return self.known_divisible

    def encode(self, objects: Sequence[Any]) -> Encoding:
        raise SimilarityError("tabulated scores know their own objects only; encode with the similarity itself")

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return self.scores

    def within(self, a: Encoding) -> Vector:
        return np.diag(self.scores)


def tabulate(similarity: Similarity, a: Encoding) -> Similarity:
    """The similarity with every part that has no parameters replaced by its scores for these objects."""
    if not similarity.parameters(a):
        return Tabulated(similarity.between(a, a), similarity.psd, similarity.divisible)
    if not similarity.parts:
        return similarity
    inside = [(part, similarity.part_encoding(a, i)) for i, part in enumerate(similarity.parts)]
    # A branch without objects has no scores.
    return similarity.rebuilt([part if encoding is None else tabulate(part, encoding) for part, encoding in inside])


def learn(
    similarity: Similarity,
    encodings: Encoding,
    values: Vector,
    extra_noise: Vector | None = None,
    *,
    offset: float = 0.0,
    iterations: int = 60,
) -> Learnt:
    """The most plausible parameters of `similarity` for standardised values.

    `extra_noise` holds known measurement variances as shares of the amplitude; `offset` is added to all scores, so that
    the mean is learnt as well. The ascent starts from the similarity as it is, not from an earlier answer: those drift
    into ever more extreme corners of a likelihood with many peaks, and the search then trusts them too much.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> x = np.linspace(0, 1, 12)[:, None]
    >>> found = learn(RBF(), x, np.sin(6 * x[:, 0]))
    >>> bool(0.05 < found.similarity.lengthscale[0] < 1.0)
    True
    """
    from scipy.optimize import minimize

    extra = np.zeros(len(values)) if extra_noise is None else extra_noise
    # Once for all steps of the ascent.
    encodings = plain(encodings)
    parameters = similarity.parameters(encodings)
    objective = _objective(tabulate(similarity, encodings), parameters, encodings, values, extra, offset)
    begin = np.log(np.concatenate([*(p.value for p in parameters.values()), [NOISE_PRIOR.mode]]))
    bounds = [(p.prior.location - SPAN, p.prior.location + SPAN) for p in parameters.values() for _ in p.value]
    bounds.append((np.log(NOISE_BOUNDS[0]), np.log(NOISE_BOUNDS[1])))
    result = minimize(
        objective,
        np.clip(begin, *np.transpose(bounds)),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations, "ftol": 1e-7},
    )
    tuned = similarity.with_parameters(_split(parameters, np.exp(result.x[:-1])))
    return Learnt(tuned, float(np.exp(result.x[-1])), float(-result.fun), len(begin) - 1)


def learn_mix(scores: Sequence[Matrix], values: Vector, extra_noise: Vector, offset: float = 0.0) -> Vector:
    """Non-negative weights, summing to one, of the mix Σ_k w_k S_k that explains the values best."""
    mix = Parts("sum", None, **{str(k): Tabulated(s) for k, s in enumerate(scores)})
    found = learn(mix, tuple(scores), values, extra_noise, offset=offset, iterations=30).similarity
    assert isinstance(found, Parts)
    return found.weights / found.weights.sum()


def _split(parameters: Mapping[str, Parameter], flat: Vector) -> dict[str, Vector]:
    sizes = [len(p.value) for p in parameters.values()]
    return dict(zip(parameters, np.split(flat, np.cumsum(sizes)[:-1]), strict=True)) if parameters else {}


def _objective(
    similarity: Similarity,
    parameters: Mapping[str, Parameter],
    encodings: Encoding,
    values: Vector,
    extra: Vector,
    offset: float = 0.0,
) -> Callable[[Vector], tuple[float, Vector]]:
    """The negative log posterior and its gradient in the log-parameters, the log noise ratio last."""

    def objective(logs: Vector) -> tuple[float, Vector]:
        split = _split(parameters, np.exp(logs[:-1]))
        ratio = np.exp(logs[-1:])
        current = similarity.with_parameters(split)
        scores, pull = current.sensitivity(encodings)
        log, weights = _evidence(scores + offset, values, float(ratio[0]) + extra, current.psd or current.divisible)
        prior = sum(parameters[name].prior.log_density(value) for name, value in split.items())
        slopes = pull(weights.on_scores)
        gradient = [slopes[name] + parameters[name].prior.log_slope(split[name]) for name in parameters]
        gradient.append(ratio * weights.trace + NOISE_PRIOR.log_slope(ratio))
        return -(log + prior + NOISE_PRIOR.log_density(ratio)), -np.concatenate(gradient)

    return objective


class _Weights(NamedTuple):
    """Derivative of the log evidence in the entries of S, and in a constant added to the diagonal of M."""

    on_scores: Matrix
    trace: float


def _evidence(scores: Matrix, values: Vector, ratio: Vector, psd: bool) -> tuple[float, _Weights]:
    """Log evidence of clipped scores, and its derivatives."""
    t = len(values)
    eigen = None if psd else np.linalg.eigh(scores)
    treated = scores if eigen is None else (eigen[1] * np.maximum(eigen[0], 0.0)) @ eigen[1].T
    factor = cholesky(add_diagonal(treated, ratio))
    inverted = inverse(factor)
    alpha = inverted @ values
    evidence = marginal_likelihood(float(values @ alpha), 2.0 * float(np.sum(np.log(np.diag(factor)))), t)
    weights = np.multiply.outer(alpha, alpha / (2.0 * evidence.amplitude))
    weights -= np.multiply(inverted, 0.5, out=inverted)
    through = weights if eigen is None else _through_clip(weights, *eigen)
    return evidence.log, _Weights(through, float(np.trace(weights)))


def _through_clip(weights: Matrix, levels: Vector, basis: Matrix) -> Matrix:
    """Derivatives in the entries of S from those in the entries of UΛ₊Uᵀ (Daleckii–Krein: divided differences)."""
    gap = np.subtract.outer(levels, levels)
    clipped = np.maximum(levels, 0.0)
    equal = np.abs(gap) < 1e-12 * max(float(np.abs(levels).max()), 1e-300)
    ratio = np.subtract.outer(clipped, clipped) / np.where(equal, 1.0, gap)
    ratio = np.where(equal, (levels > 0)[:, None].astype(float), ratio)
    return basis @ (ratio * (basis.T @ weights @ basis)) @ basis.T
