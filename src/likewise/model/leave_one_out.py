"""What a committee says of observations it has not seen: every object left out in turn, with all its replicates.

With D = M⁻¹ and a group G of observations left out,

    mean of y_G   y_G − D_GG⁻¹ [D (y − m)]_G          covariance of y_G   a · D_GG⁻¹,

the noise included. Under a spectrum treatment of the whole matrix it is the answer with the treated matrix kept.
Recipes, noises and votes stay as they were chosen with all observations; there are few of them to choose from. Learnt
parameters are many and would have seen what they predict: for a fifth of the objects at a time they are learnt from the
other four.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

from likewise.model.committee import Committee
from likewise.model.fit import LEARN_FROM, Settings, recondition
from likewise.model.gram import Gram
from likewise.model.hyperparameters import learn
from likewise.model.posterior import Posterior
from likewise.similarity.base import Matrix, Parameter, Similarity, Vector
from likewise.similarity.encodings.arrays import take
from likewise.similarity.pairs import object_key

FOLDS = 5
Groups = list[NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """What each member says of each observation without it, on the model's scale: mean, and variance of the value."""

    weights: Vector
    means: Matrix
    latent: Matrix
    variances: Matrix

    @classmethod
    def of(cls, committee: Committee, groups: Groups) -> LeaveOneOut:
        """Every group of observations left out in turn, parameters kept."""
        found = [_left_out(member.posterior, groups) for member in committee.members]
        means, latent = (np.array(rows) for rows in zip(*found, strict=True))
        noises = np.array([member.posterior.noise for member in committee.members])
        return cls(committee.weights, means, latent, latent + noises)

    def log_densities(self, values: Vector) -> Vector:
        """log Σ_m w_m N(y_i; μ_m, σ_m²)."""
        logs = -0.5 * (np.log(2.0 * np.pi * self.variances) + (values - self.means) ** 2 / self.variances)
        return np.asarray(logsumexp(logs, axis=0, b=self.weights[:, None]))

    def ranks(self, values: Vector) -> Vector:
        """Where each value falls in its predictive distribution, from 0 to 1."""
        return self.weights @ ndtr((values - self.means) / np.sqrt(self.variances))

    def deviations(self, values: Vector) -> Vector:
        """How far each value is from its mean, in standard deviations."""
        mean = self.weights @ self.means
        variance = self.weights @ (self.variances + self.means**2) - mean**2
        return (values - mean) / np.sqrt(variance)


def _left_out(post: Posterior, groups: Groups) -> tuple[Vector, Vector]:
    """Mean and variance without noise at each observation, its group left out."""
    mean, std = post.leave_one_out()
    variance = std**2
    solved = post.solution.solve(post.values - post.prior_mean)
    for group in groups:
        if len(group) > 1:
            columns = np.array([post.solution.solve(np.eye(1, len(post), i)[0]) for i in group])
            inverse = np.linalg.pinv(columns[:, group])
            mean[group] = post.values[group] - inverse @ solved[group]
            signed = np.diag(inverse) - post.noise[group] / post.amplitude
            variance[group] = post.amplitude * post.treatment.variance(signed)
    return mean, variance


def left_out_error(committee: Committee) -> float:
    """Root mean squared error for observations left out one by one, on the model's scale; nothing is learnt anew."""
    found = LeaveOneOut.of(committee, [])
    return float(np.sqrt(np.mean((committee.members[0].posterior.values - found.weights @ found.means) ** 2)))


def same_objects(objects: Sequence[Any]) -> Groups:
    """The places of each different object.

    >>> same_objects(["a", "b", "a"])
    [array([0, 2]), array([1])]
    """
    places: dict[Any, list[int]] = {}
    for i, x in enumerate(objects):
        places.setdefault(object_key(x), []).append(i)
    return [np.array(found) for found in places.values()]


def left_out(
    committee: Committee, values: Vector, extra_noise: Vector | None, groups: Groups, settings: Settings
) -> LeaveOneOut:
    """Every group left out in turn, with what is learnt learnt without it. Values are on the user's scale."""
    found = LeaveOneOut.of(committee, groups)
    learnt = [k for k in committee.used if settings.learn and _parameters(committee.grams[k])]
    if not learnt or len(groups) < max(FOLDS, LEARN_FROM + 1):
        return found
    for fold, others in _folds(groups):
        grams = [
            _relearnt(gram, committee, values, extra_noise, others, settings) if k in learnt else gram
            for k, gram in enumerate(committee.grams)
        ]
        part = LeaveOneOut.of(recondition(committee, grams, values, extra_noise), groups)
        for rows, own in ((found.means, part.means), (found.latent, part.latent), (found.variances, part.variances)):
            rows[:, fold] = own[:, fold]
    return found


def _parameters(gram: Gram) -> dict[str, Parameter]:
    return gram.similarity.parameters(gram.encodings)


def _folds(groups: Groups) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The observations of every fifth object, and all the others."""
    everyone = np.concatenate(groups)
    for first in range(FOLDS):
        fold = np.concatenate(groups[first::FOLDS])
        yield fold, np.setdiff1d(everyone, fold)


def _relearnt(
    gram: Gram,
    committee: Committee,
    values: Vector,
    extra_noise: Vector | None,
    others: NDArray[np.intp],
    settings: Settings,
) -> Gram:
    """The scores of all objects with the parameters learnt from some of them."""
    transform = committee.transform
    on_model = np.asarray(transform.forward(values), dtype=float)[others]
    extra = None if extra_noise is None else (extra_noise * transform.slope(values) ** 2)[others]
    encodings = take(gram.encodings, others)
    return gram.tuned(learn(fresh(gram), encodings, on_model, extra, offset=settings.offset).similarity)


def fresh(gram: Gram) -> Similarity:
    """The similarity with its parameters where the prior has them."""
    modes = {name: np.full(len(p.value), p.prior.mode) for name, p in _parameters(gram).items()}
    return gram.similarity.with_parameters(modes)
