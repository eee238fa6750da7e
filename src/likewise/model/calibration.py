"""How far a member's errors are from what it says, where its scores are no kernel.

Under a spectrum treatment the closed form of leaving out keeps the treated matrix, which has seen what is left out. So
a tenth of the objects at a time is left out, with all their replicates, the treatment is made anew from the others, and
with

    z_i = (y_i − μ(x_i)) / √(V(x_i) + σ²)      the variances are inflated by      (ν + t s²) / (ν + t),

s² the size of the z_i² and ν observations' worth of belief that they were right. One error alone does not say how large
all are: s is the most likely scale of the z_i under Student's t, brought to 1 for normal ones. A PSD similarity has
nothing to be made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likewise.model.committee import Member
from likewise.model.gram import Gram, Groups, same_objects
from likewise.model.regression import Regression, regress
from likewise.model.spectrum import Spectrum, Treatment, treat
from likewise.similarity.base import Matrix, Vector

Index = NDArray[np.intp]

FOLDS = 10
STRENGTH = 4.0
LEAST = 4
# Degrees of freedom of the errors, and rounds in which their scale settles.
FREEDOM, ROUNDS = 8.0, 50


@dataclass(frozen=True, eq=False)
class Fold:
    """What is left out, what is kept, the treatment of what is kept, and the scores of the others with it."""

    out: Index
    kept: Index
    treatment: Treatment
    rows: Matrix
    selves: Vector

    @classmethod
    def of(cls, scores: Matrix, out: Index, kind: Spectrum, doubt: float = 0.0) -> Fold:
        """The treatment made anew without some of the objects of a matrix of scores."""
        kept = np.delete(np.arange(len(scores)), out)
        treatment = treat(scores[np.ix_(kept, kept)], kind, doubt=doubt)
        return cls(out, kept, treatment, scores[np.ix_(out, kept)], scores[out, out])

    def predict(self, regression: Regression) -> tuple[Vector, Vector]:
        """Mean and variance without noise of what is left out, from what is kept."""
        others = regress(
            self.treatment,
            regression.values[self.kept],
            regression.noise[self.kept],
            regression.amplitude,
            regression.prior_mean,
        )
        others = replace(others, inflation=regression.inflation)
        return others.mean(self.rows), others.variance(self.rows, self.selves)


def calibrate(members: Sequence[Member], grams: Sequence[Gram], known: NDArray[np.bool_]) -> tuple[Member, ...]:
    """The members with their variances as large as errors in folds ask for; `known` values are no limits."""
    found, values = list(members), members[0].regression.values
    if len(values) < LEAST or all(member.regression.psd for member in members):
        return tuple(found)
    for i, made in refit(members, grams, folds(values, same_objects(grams[0].objects))):
        regression = members[i].regression
        found[i] = replace(members[i], regression=replace(regression, inflation=_inflation(regression, made, known)))
    return tuple(found)


def folds(values: Vector, groups: Groups) -> list[Index]:
    """The observations by tenths of the objects; those of one object stay together.

    By rank, so that every fold has large and small values, whatever the order of the observations.

    >>> folds(np.array([3.0, 1.0, 3.0]), [np.array([0, 2]), np.array([1])])
    [array([1]), array([0, 2])]
    """
    order = np.argsort([float(np.mean(values[group])) for group in groups], kind="stable").tolist()
    number = min(FOLDS, len(groups))
    return [np.sort(np.concatenate([groups[i] for i in order[k::number]])) for k in range(number)]


def refit(members: Sequence[Member], grams: Sequence[Gram], outs: Sequence[Index]) -> Iterator[tuple[int, list[Fold]]]:
    """The place of each member whose scores are no kernel, and its folds treated anew; one mix, one treatment."""
    made: dict[object, list[Fold]] = {}
    for i, member in enumerate(members):
        if member.regression.psd:
            continue
        key = member.mix, member.regression.treatment.kind
        if key not in made:
            scores = np.asarray(member.mix.scores([gram.scores for gram in grams]))
            doubt = member.regression.treatment.doubt
            made[key] = [Fold.of(scores, out, key[1], doubt) for out in outs if len(out) < len(scores)]
        yield i, made[key]


def _inflation(regression: Regression, made: Sequence[Fold], known: NDArray[np.bool_]) -> float:
    # One object alone, however often it was measured, leaves no fold.
    squares = [np.zeros(0)]
    for fold in made:
        mean, variance = fold.predict(regression)
        found = (regression.values[fold.out] - mean) ** 2 / (variance + regression.noise[fold.out])
        squares.append(found[known[fold.out]])
    errors = np.concatenate(squares)
    t = len(errors)
    return (STRENGTH + t * squared_scale(errors)) / (STRENGTH + t) if t else 1.0


def squared_scale(squares: Vector) -> float:
    """The most likely s² of errors with these squares, z/s of Student's t; about 1 for standard normal ones.

    >>> squares = np.linspace(0.1, 2.0, 19)
    >>> [round(squared_scale(each), 1) for each in (squares, np.append(squares, 1e6))]
    [1.2, 2.3]
    """
    found = 1.0
    for _ in range(ROUNDS):
        before, found = found, float(np.mean((FREEDOM + 1.0) * squares / (FREEDOM + squares / max(found, 1e-12))))
        if found == before:
            break
    return found / NORMAL


def _normal_scale() -> float:
    """What the same comes to for a standard normal variable."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    squares, found = nodes**2, 1.0
    for _ in range(ROUNDS):
        found = float(np.average((FREEDOM + 1.0) * squares / (FREEDOM + squares / found), weights=weights))
    return found


NORMAL = _normal_scale()
