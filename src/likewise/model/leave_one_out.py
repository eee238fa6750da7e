"""What a committee says of observations it has not seen: every object is left out in turn, with all its replicates.

With D = M⁻¹ and a group G of observations left out,

    mean of y_G   y_G − D_GG⁻¹ [D (y − m)]_G          covariance of y_G   a · D_GG⁻¹,

the noise included. Under a spectrum treatment it would be the answer with the treated matrix kept, which has seen what
is left out: there the objects are left out by tenths, and the treatment is made anew (`calibration`).
Mixes, noises and votes stay as they were chosen with all observations; there are few of them to choose from. Learnt
parameters are many and would have seen what they predict: for a fifth of the objects at a time they are learnt from the
other four.
A value that is only a limit helps to predict the others, and is not judged itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from likewise.model.committee import Committee
from likewise.model.fit import LEARN_FROM, FitSettings, Index, folds, learn, recondition, refit, targets_of
from likewise.model.regression import Regression
from likewise.model.scores import Gram, Groups
from likewise.similarity.base import Matrix, Parameter, Similarity, Vector
from likewise.similarity.encoding import take

FOLDS = 5


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """What each member says of each observation without it, on the model's scale: mean, and variance of the value."""

    means: Matrix
    latent: Matrix
    variances: Matrix

    @classmethod
    def of(cls, committee: Committee, groups: Groups, outs: Sequence[Index] = ()) -> LeaveOneOut:
        """Every group of observations left out in turn, parameters kept.

        Where a spectrum is treated, `outs` are left out together, and the treatment is made anew without them.
        """
        parts = [_leave_out(member.regression, groups) for member in committee.members]
        means, latent = (np.array(rows) for rows in zip(*parts, strict=True))
        for i, made in refit(committee.members, committee.grams, outs):
            for fold in made:
                means[i, fold.out], latent[i, fold.out] = fold.predict(committee.members[i].regression)
        return cls(means, latent, latent + np.array([member.regression.noise for member in committee.members]))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Measured values, limits not among them, and what is predicted for each from all other objects.

    All is on the user's scale.
    `low` and `high` are the ends of its 95 % interval, noise included; `away` is how far a value is from the middle of
    its predictive distribution, 0 at the median and 1 at the very end; `deviations` is the same distance in standard
    deviations, signed; `log_densities` are the logarithms of the predictive densities.
    """

    values: Vector
    mean: Vector
    low: Vector
    high: Vector
    away: Vector
    deviations: Vector
    log_densities: Vector

    def inside(self, level: float = 0.95) -> NDArray[np.bool_]:
        """Which values lie in their central interval of this probability."""
        return self.away <= level

    @property
    def error(self) -> float:
        """The root mean square error of the predictions."""
        return float(np.sqrt(np.mean((self.mean - self.values) ** 2)))

    def negate(self) -> LeftOut:
        """The same of the values times −1."""
        return LeftOut(-self.values, -self.mean, -self.high, -self.low, self.away, -self.deviations, self.log_densities)


def _leave_out(regression: Regression, groups: Groups) -> tuple[Vector, Vector]:
    """Mean and variance without noise at each observation, its group left out."""
    mean, std = regression.leave_one_out()
    variance = std**2
    solution, solved = regression.solution, regression.solved
    for group in groups:
        if len(group) > 1:
            columns = np.array([solution.solve(np.eye(1, len(regression), i)[0]) for i in group])
            inverse = np.linalg.pinv(columns[:, group])
            mean[group] = regression.values[group] - inverse @ solved[group]
            signed = np.diag(inverse) - regression.noise[group] / regression.amplitude
            variance[group] = regression.spread * regression.treatment.variance(signed)
    return mean, variance


def leave_out(committee: Committee, groups: Groups, settings: FitSettings) -> LeftOut:
    """Every group left out in turn, with what is learnt learnt without it."""
    left_out, transform, weights = (
        _leave_out_learnt(committee, groups, settings),
        committee.transform,
        committee.weights,
    )
    is_known = committee.known
    left_out = LeaveOneOut(left_out.means[:, is_known], left_out.latent[:, is_known], left_out.variances[:, is_known])
    values, targets = committee.values[is_known], committee.targets[is_known]
    centre, spread = committee.mixture(left_out.means, left_out.variances)
    away = targets - left_out.means
    mixture = committee.distribution(left_out.means, left_out.variances)
    logs = -0.5 * (np.log(2.0 * np.pi * left_out.variances) + away**2 / left_out.variances)
    densities = np.asarray(logsumexp(logs, axis=0, b=weights[:, None]))
    return LeftOut(
        values,
        committee.on_users_scale(left_out.means, left_out.latent).mean,
        mixture.quantile(0.025),
        mixture.quantile(0.975),
        2.0 * np.abs(mixture.below(targets) - 0.5),
        (targets - centre) / spread,
        densities + np.log(np.maximum(transform.slope(values), 1e-300)),
    )


def leave_one_out_error(committee: Committee) -> float:
    """Root mean squared error for observations left out one by one, on the model's scale; nothing is learnt anew."""
    found, known = LeaveOneOut.of(committee, []), committee.known
    errors = (committee.targets - committee.weights @ found.means)[known]
    return float(np.sqrt(np.mean(errors**2))) if known.any() else 0.0


def _leave_out_learnt(committee: Committee, groups: Groups, settings: FitSettings) -> LeaveOneOut:
    """Every group left out in turn; learnt parameters are learnt without it, a fifth of the groups at a time."""
    left_out = LeaveOneOut.of(committee, groups, folds(committee.targets, groups))
    learnt = [k for k in committee.used if settings.learn and _parameters(committee.grams[k])]
    if not learnt or len(groups) < max(FOLDS, LEARN_FROM + 1):
        return left_out
    for fold, others in _folds(groups):
        grams = [
            _relearn(gram, committee, others, settings) if k in learnt else gram
            for k, gram in enumerate(committee.grams)
        ]
        again = recondition(committee, grams, committee.values, committee.extra_noise, committee.limits)
        part = LeaveOneOut.of(again, groups, [fold])
        for rows, own in (
            (left_out.means, part.means),
            (left_out.latent, part.latent),
            (left_out.variances, part.variances),
        ):
            rows[:, fold] = own[:, fold]
    return left_out


def _parameters(gram: Gram) -> dict[str, Parameter]:
    return gram.similarity.parameters(gram.encodings)


def _folds(groups: Groups) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The observations of every fifth object, and all the others."""
    everyone = np.concatenate(groups)
    for first in range(FOLDS):
        fold = np.concatenate(groups[first::FOLDS])
        yield fold, np.setdiff1d(everyone, fold)


def _relearn(gram: Gram, committee: Committee, others: NDArray[np.intp], settings: FitSettings) -> Gram:
    """The scores of all objects with the parameters learnt from some of them."""
    data = targets_of(committee)
    encodings = take(gram.encodings, others)
    learnt = learn(fresh(gram), encodings, data.values[others], data.extra[others], offset=settings.offset)
    return gram.retune(learnt.similarity)


def fresh(gram: Gram) -> Similarity:
    """The similarity with its parameters where the prior has them."""
    modes = {name: np.full(len(p.value), p.prior.mode) for name, p in _parameters(gram).items()}
    return gram.similarity.with_parameters(modes)
