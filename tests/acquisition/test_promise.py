"""What objects promise, against draws: the chance to enter a front of two to five outcomes, and how much it grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.hypervolume import EXACT, hypervolume, shares_of_growth, spread_directions
from likewise.acquisition.joint_scorer import JointScorer
from likewise.acquisition.scorer import ScoredOutcome
from likewise.model.fit import FitSettings, fit
from likewise.model.scores import Gram, ObjectScores

OBJECTS = [[float(v)] for v in np.linspace(0.0, 1.0, 9)]
NEW = [[0.06], [0.31], [0.44], [0.93], [1.3]]


def scorer(outcomes: int, reference: float | None = None) -> JointScorer:
    found = []
    for j in range(outcomes):
        values = np.sin(5.0 * np.ravel(OBJECTS) + 1.7 * j) + 0.3 * np.random.default_rng(j).standard_normal(9)
        grams = [Gram.of(lw.RBF(0.2), OBJECTS), Gram.of(lw.Matern(0.1), OBJECTS)]
        committee = fit(grams, values, settings=FitSettings(learn=False, rescale=False))
        found.append(ScoredOutcome(committee, True, reference=reference if j == 0 else None))
    directions = spread_directions(outcomes, np.random.default_rng(0)) if outcomes > EXACT else None
    return JointScorer.on(found, directions=directions, settle=False)


def drawn(judge: JointScorer, n: int) -> Any:
    """Draws of every outcome of the new objects, of shape (outcomes, draws, objects)."""
    rng, found = np.random.default_rng(1), []
    for committee in judge.committees:
        means, variances = committee.moments(*committee.compare(ObjectScores(NEW)))
        who = rng.choice(len(committee.weights), size=n, p=committee.weights)
        found.append(rng.normal(means[who], np.sqrt(variances[who])))
    return np.stack(found)


@pytest.mark.parametrize("reference", [None, 0.4])
@pytest.mark.parametrize("outcomes", [2, 3, 4, 5])
def test_the_chance_to_enter_the_front_is_that_of_draws(outcomes: int, reference: float | None) -> None:
    """With boxes that overlap, four outcomes had chances of nearly 0 and 1; and what was worse than all measured in one
    outcome was not counted, though it may be on the front."""
    judge = scorer(outcomes, reference)
    points = judge._front_points()[0]
    draws = drawn(judge, 20_000)
    free = np.ones(draws.shape[1:], dtype=bool) if reference is None else draws[0] > reference
    for point in points:
        free &= np.any(draws > point[:, None, None], axis=0)
    np.testing.assert_allclose(judge.judge(ObjectScores(NEW)).chance, free.mean(axis=0), atol=0.09)


@pytest.mark.parametrize("outcomes", [2, 4, 5])
def test_growth_along_directions_is_that_of_the_hypervolume(outcomes: int) -> None:
    rng = np.random.default_rng(outcomes)
    front, new = rng.random((8, outcomes)), 0.6 + 0.6 * rng.random((6, 1, outcomes))
    before = hypervolume(front, np.zeros(outcomes))
    exact = [(hypervolume(np.vstack([front, one]), np.zeros(outcomes)) - before) / before for one in new]
    np.testing.assert_allclose(shares_of_growth(front, new), exact, rtol=0.35, atol=0.03)
    units = 10.0 ** np.arange(outcomes)
    np.testing.assert_allclose(shares_of_growth(front * units, new * units), shares_of_growth(front, new))


def test_growth_of_a_front_of_four_outcomes_is_a_share_of_it() -> None:
    judge = scorer(4)
    points, reference = judge._front_points()[0], np.array(judge.reference)
    draws = drawn(judge, 300)
    before = hypervolume(points, reference)
    exact = [
        np.mean([hypervolume(np.vstack([points, one]), reference) - before for one in draws[:, :, i].T]) / before
        for i in range(len(NEW))
    ]
    np.testing.assert_allclose(judge.judge(ObjectScores(NEW)).gain, exact, rtol=0.4, atol=0.02)
