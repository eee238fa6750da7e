"""Doubt that is shared with the best is no hope, and one noisy value finds less than there is in doubt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.acquisition.scorer import DOUBT, Scorer, margins_of, moved, moved_slope
from likewise.model.fit import FitSettings, fit
from likewise.model.regression import Pending, PendingPanel, Regression, doubts, known_values
from likewise.model.scores import Gram
from likewise.similarity.algebra import fixed

EI = lw.LogExpectedImprovement()


def fitted(seed: int, ratio: float, n: int = 10) -> tuple[Gram, Regression, Scorer]:
    rng = np.random.default_rng(seed)
    x, y = rng.random((n, 2)), rng.standard_normal(n)
    gram = Gram.of(lw.RBF(0.3), list(x))
    made = fit([gram], y, settings=FitSettings(learn=False, ratios=(ratio,), warps=(1.0,), offset=0.0))
    return gram, made.members[0].regression, Scorer.on(made, EI)


@given(st.floats(1e-6, 1e6), st.floats(0.0, 1e6))
def test_the_slope_of_what_a_measurement_finds_is_a_finite_difference(variance: float, noise: float) -> None:
    v, step = np.array([variance]), 1e-6 * variance
    numeric = (moved(v + step, noise) - moved(v - step, noise)) / (2 * step)
    np.testing.assert_allclose(moved_slope(v, noise), numeric, rtol=1e-3)
    assert moved(v, noise)[0] <= np.sqrt(variance) * (1 + 1e-12)
    assert moved(v, 0.0)[0] == np.sqrt(variance)


def test_what_has_no_bound_has_none() -> None:
    assert moved(np.array([np.inf, 0.0]), 1.0).tolist() == [np.inf, 0.0]
    assert moved_slope(np.array([0.0]), 0.0).tolist() == [0.0]


@given(seed=st.integers(0, 10_000), many=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_what_is_taken_as_known_is_as_if_it_were_in_flight(seed: int, many: int) -> None:
    """The observed objects' own columns say as much of their true values as new columns of the same objects do."""
    gram, regression, _ = fitted(seed, 0.1)
    rng = np.random.default_rng(seed)
    places = rng.choice(len(gram), many, replace=False).tolist()
    grown = gram.grow([gram.objects[i] for i in places])
    flying = Pending.on(regression, grown.scores[len(gram) :, : len(gram)], grown.scores[len(gram) :, len(gram) :])
    known = known_values(regression, places)
    assert known is not None
    others = gram.similarity.encode(list(rng.random((20, 2))))
    rows, wide = gram.rows(others), grown.rows(others)
    before = regression.variance(rows, np.ones(20))[None]
    sure = Pending.on(regression, np.zeros((0, len(gram))), np.zeros((0, 0)), known)
    settled = PendingPanel((regression,), (sure,)).lower(before, rows)
    later = PendingPanel((regression,), (flying,)).lower(before, wide)
    np.testing.assert_allclose(settled, later, atol=1e-4 * regression.spread)
    assert np.all(settled <= before * (1 + 1e-9))


@pytest.mark.parametrize("ratio", [0.01, 0.3])
def test_the_worth_is_what_one_simulated_measurement_adds_to_the_best_mean(ratio: float) -> None:
    gram, regression, scorer = fitted(3, ratio)
    best = int(np.argmax(regression.fitted))
    hair, top = 1e-6 * regression.amplitude, float(regression.fitted[best])
    rng, x = np.random.default_rng(0), np.array([0.45, 0.6])
    grown = gram.grow([gram.objects[best], x])
    sure = regression.given(grown.scores[:-1, :-1], top, hair)
    row = gram.grow([gram.objects[best]]).rows(gram.similarity.encode([x]))
    mean, variance, noise = sure.mean(row)[0], sure.variance(row, np.ones(1))[0], ratio * regression.spread
    gains = []
    for value in mean + np.sqrt(variance + noise) * rng.standard_normal(4000):
        after = sure.given(grown.scores, float(value), ratio * regression.amplitude)
        gains.append(max(float(after.fitted[-1]) - top, 0.0))
    error = 5 * np.std(gains) / np.sqrt(len(gains))
    # Of gains that count however small they are.
    score = replace(scorer, margins=0.0).score([x])
    assert abs(np.mean(gains) - float(np.exp(score[0]))) < error


def test_without_noise_nothing_is_in_doubt() -> None:
    _, _, scorer = fitted(1, 1e-4)
    assert all(member.pending is None for member in scorer.committee.members)
    assert np.all(scorer.margins == 0.0)


@given(seed=st.integers(0, 10_000), ratio=st.sampled_from([0.01, 0.1, 1.0]))
@settings(max_examples=25, deadline=None)
def test_a_margin_is_a_share_of_the_standard_deviation_at_the_best(seed: int, ratio: float) -> None:
    gram, regression, scorer = fitted(seed, ratio)
    stds = np.sqrt(regression.variance(gram.scores, np.diagonal(gram.scores)))
    np.testing.assert_allclose(doubts(regression, range(len(gram))), stds, rtol=1e-6)
    best = int(np.argmax(regression.fitted))
    np.testing.assert_allclose(scorer.margins, [[DOUBT * stds[best]]], rtol=1e-6)
    both = margins_of(scorer.committee, [[best, 0]])
    np.testing.assert_allclose(both, [[DOUBT * (stds[best] + stds[0]) / 2]], rtol=1e-6)


def test_a_search_with_noise_leaves_a_hill_that_it_knows() -> None:
    """Of two hills the higher one was never seen; the other one is known to a tenth of the noise, and is left."""
    rng = np.random.default_rng(0)

    def f(x: float) -> float:
        return float(np.exp(-(((x - 0.25) / 0.06) ** 2)) + 2.0 * np.exp(-(((x - 0.8) / 0.06) ** 2)))

    study = lw.Study(lw.Float(0.0, 1.0), seed=0)
    for x in (0.05, 0.2, 0.25, 0.3, 0.5, 0.6, 0.95):
        study.tell(x, f(x) + 0.05 * rng.standard_normal())
    asked = []
    for _ in range(12):
        (s,) = study.ask()
        asked.append(s.object)
        study.tell(s, f(s.object) + 0.05 * rng.standard_normal())
    assert any(abs(x - 0.8) < 0.06 for x in asked)


@pytest.mark.parametrize("similarity", [lw.RBF(0.1), fixed(lw.RBF(0.1))], ids=["learnt", "warped, no kernel"])
def test_a_place_that_was_measured_often_is_left(similarity: lw.Similarity) -> None:
    """Thirty noisy values about one place settle it, as far as they can; next to it there is nothing to find."""
    rng = np.random.default_rng(0)
    x = [np.array([0.5 + 1e-3 * rng.standard_normal()]) for _ in range(30)] + [np.array([v]) for v in (0.1, 0.9)]
    y = np.append(1.0 + 0.3 * rng.standard_normal(30), [0.0, 0.2])
    scorer = Scorer.on(fit([Gram.of(similarity, x)], y), EI)
    certain = np.array([member.regression.certain() for member in scorer.committee.members])
    np.testing.assert_array_equal(np.ravel(scorer.margins) > 0.0, ~certain)
    there, elsewhere = scorer.score([np.array([0.5004]), np.array([0.3])])
    assert there < elsewhere - 1.0


def test_a_bound_has_all_the_doubt_that_there_is() -> None:
    _, _, scorer = fitted(2, 0.1)
    x = list(np.random.default_rng(0).random((20, 2)))
    made = Scorer.on(scorer.committee.without_pending(), lw.UpperConfidence())
    np.testing.assert_allclose(scorer.by(lw.UpperConfidence()).score(x), made.score(x))
    flying = [np.array([0.2, 0.3])]
    there, here = (one.with_pending(flying).score(x) for one in (scorer.by(lw.UpperConfidence()), made))
    np.testing.assert_allclose(there, here)
