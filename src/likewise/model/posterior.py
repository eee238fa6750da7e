"""The posterior of one similarity: mean, variance, influence and gradients at any object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from likewise.errors import LikewiseError, SimilarityError
from likewise.model.prediction import Prediction
from likewise.model.regression import PendingPanel, Regression, regress
from likewise.model.scores import Gram
from likewise.model.solvers import Singular
from likewise.model.spectrum import Spectrum, treat
from likewise.similarity.base import Matrix, Similarity, Vector, check_scores, is_differentiable
from likewise.similarity.functions import as_similarity
from likewise.tables.cells import brief


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the observations say about any object. Immutable: `given` returns a new one.

    `gram` compares an object with the observed ones, and `regression` makes a mean and a variance of its scores.
    Methods take `objects`, a list of any that the similarity can compare, and answer for each of them in this order.
    """

    gram: Gram
    regression: Regression

    def __len__(self) -> int:
        return len(self.gram)

    def __repr__(self) -> str:
        return f"Posterior({brief(self.gram.similarity)}, {len(self)} observations)"

    def mean(self, objects: Sequence[Any]) -> Vector:
        """μ(x) for each of the `objects`."""
        return self.regression.mean(self._rows(objects)[0])

    def variance(self, objects: Sequence[Any]) -> Vector:
        """V(x) for each of the `objects`."""
        return self.regression.variance(*self._rows(objects))

    def std(self, objects: Sequence[Any]) -> Vector:
        """√V(x) for each of the `objects`."""
        return np.sqrt(self.variance(objects))

    def predict(self, objects: Sequence[Any]) -> Prediction:
        """Mean and standard deviation for each of the `objects`."""
        rows, selves = self._rows(objects)
        return Prediction.normal(self.regression.mean(rows), np.sqrt(self.regression.variance(rows, selves)))

    def influence(self, objects: Sequence[Any]) -> Matrix:
        """I(x) = S_x D for each of the `objects`: the weight each observation carries in its mean (Eq. I_OP)."""
        return self.regression.solution.influence(self._rows(objects)[0])

    def covariance(self, objects: Sequence[Any]) -> Matrix:
        """Signed covariance of the values of the `objects` (Eq. GP_variance)."""
        encodings = self.gram.similarity.encode(objects)
        among = self.gram.similarity.between(encodings, encodings)
        check_scores(among, objects, objects, signed=self.gram.similarity.signed)
        return self.regression.covariance(self.gram.rows(encodings, objects=objects), among)

    def gradients(self, objects: Sequence[Any]) -> tuple[Matrix, Matrix]:
        """∇μ(x) and ∇V(x) in the vector of each of the `objects`, for a differentiable similarity."""
        similarity = self.gram.similarity
        encodings = similarity.encode(objects)
        if not is_differentiable(similarity):
            raise SimilarityError(f"{similarity.name} has no gradient; search with moves instead of vectors")
        rows, pull_rows = similarity.linearise(encodings, self.gram.encodings)
        selves, pull_selves = similarity.linearise_within(encodings)
        self.gram.check(rows, objects)
        self.gram.check_selves(selves, objects)
        ones, zeros = np.ones((1, len(selves))), np.zeros((1, len(selves)))
        _, _, pull = PendingPanel((self.regression,), (None,)).linearise(rows, selves)
        mean_weights, _ = pull(ones, zeros)
        row_weights, self_weights = pull(zeros, ones)
        return pull_rows(mean_weights), pull_rows(row_weights) + pull_selves(self_weights)

    def leave_one_out(self) -> Prediction:
        """Mean and standard deviation at each observed object without its own value, in closed form."""
        return self.regression.leave_one_out()

    def given(self, x: Any, value: float, noise: float | None = None) -> Posterior:
        """The posterior after one more observation.

        x: the object that was measured.
        value: what was measured of it.
        noise: the variance of the measurement; None (default): the mean of the others'.

        O(t²) for a PSD similarity and for `as_is`.
        """
        sigma2 = float(np.mean(self.regression.noise)) if noise is None and len(self) else noise
        sigma2 = NOISE if sigma2 is None else sigma2
        _check_observations([x], np.array([value], dtype=float), np.array([sigma2]))
        gram = self.gram.grow([x])
        return Posterior(gram, self.regression.given(gram.scores, float(value), sigma2))

    def given_all(self, objects: Sequence[Any], values: Sequence[float], noise: float | None = None) -> Posterior:
        """The posterior after a batch of observations.

        objects, values: what was measured, one value for each object.
        noise: the variance of the measurements, as in `given`.
        """
        after = self
        for x, value in zip(objects, values, strict=True):
            after = after.given(x, value, noise)
        return after

    def _rows(self, objects: Sequence[Any]) -> tuple[Matrix, Vector]:
        encodings = self.gram.similarity.encode(objects)
        return self.gram.rows(encodings, objects=objects), self.gram.selves(encodings, objects)


NOISE = 1e-2


def condition(
    similarity: Similarity | Callable[[Any, Any], float],
    objects: Sequence[Any],
    values: Sequence[float],
    noise: float | Sequence[float] = NOISE,
    spectrum: Spectrum = "krein",
    *,
    amplitude: float = 1.0,
    prior_mean: float = 0.0,
    singular: Singular = "minimum_norm",
) -> Posterior:
    """The posterior of a similarity given observations: parameters as given, nothing learnt.

    `similarity` is a similarity, or a plain function of two objects.
    `objects` and `values` are what was measured, one value for each object.
    `noise` is the variance σ² of the measurements, in squared units of the values, one for all or one for each.
    `spectrum` says what is done about negative eigenvalues: "krein", the default, takes the positive part of S for rows
    and selves alike, which predicts best; "clip" and "flip" leave selves as they are; "as_is" is the paper's.
    `amplitude` is the prior variance of the values at an object whose score with itself is 1; the paper's is 1.
    `prior_mean` is what is expected far from all observations; the paper's is 0.
    `singular` says which solution is taken where S + σ²I is singular: "minimum_norm", which does not depend on the
    order of the observations, or the paper's "basic".

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> post = condition(RBF(1.0), [[0.0], [1.0]], [0.0, 1.0], noise=1e-6)
    >>> post.mean([[1.0]]).round(3).tolist()
    [1.0]
    """
    y = np.asarray(values, dtype=float)
    sigma2 = np.broadcast_to(np.asarray(noise, dtype=float), y.shape).astype(float)
    if y.ndim != 1 or len(y) != len(objects):
        raise LikewiseError(f"{len(objects)} objects need {len(objects)} values, not an array of shape {y.shape}")
    _check_observations(objects, y, sigma2)
    if not (np.isfinite(amplitude) and amplitude > 0):
        raise LikewiseError(f"the amplitude must be positive, not {amplitude}")
    gram = Gram.of(as_similarity(similarity), objects)
    psd = gram.similarity.psd
    treatment = treat(gram.scores, spectrum, psd=psd)
    return Posterior(gram, regress(treatment, y, sigma2, amplitude, prior_mean, singular, psd))


def _check_observations(objects: Sequence[Any], values: Vector, noise: Vector) -> None:
    """Refuse values that are not finite, and noises that are no variances, naming the object."""
    for x, value, sigma2 in zip(objects, values.tolist(), noise.tolist(), strict=True):
        if not isfinite(value):
            raise LikewiseError(f"the value of {x!r} is {value}; leave out observations without a finite value")
        if not (isfinite(sigma2) and sigma2 >= 0):
            raise LikewiseError(f"the noise of {x!r} is {sigma2}; it is a variance, finite and not negative")
