"""Bounds of values in the choice: what is expected of an object is what the words say, and no more than can be."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.acquisition.scorer import Scorer, means_of
from likewise.model.fit import FitSettings, fit
from likewise.model.scores import Gram

LINE = lw.Box([0.0], [1.0])


def exact(mean: float, std: float, best: float, ceiling: float) -> float:
    """log E[(min(f, ceiling) − best)₊] in many digits."""
    with mpmath.workdps(60):
        m, s, b, c = map(mpmath.mpf, (mean, std, best, ceiling))

        def gain(edge: Any) -> Any:
            z = (m - edge) / s
            return s * (mpmath.npdf(z) + z * mpmath.ncdf(z))

        return float(mpmath.log(gain(b) - gain(c)))


numbers = st.floats(-60.0, 60.0)


@given(numbers, st.floats(-3.0, 2.0), numbers, st.floats(-5.0, 3.0))
@settings(max_examples=300, deadline=None)
def test_the_improvement_under_a_ceiling_is_accurate_and_its_bounds_are_bounds(
    mean: float, log_std: float, best: float, log_room: float
) -> None:
    std, ceiling = 10.0**log_std, best + 10.0**log_room
    acquisition = lw.LogExpectedImprovement(ceiling=ceiling)
    score = float(acquisition.score(mean, std, best))
    assert score == pytest.approx(exact(mean, std, best, ceiling), rel=1e-5, abs=1e-5)
    # An object is worth no more than its bound, now and when there is less doubt about it.
    bounds = (
        float(acquisition.bound(mean, std, best)),
        float(acquisition.average_bound(np.array([[mean]]), np.array([[std]]), best, np.ones(1))[0]),
    )
    for share in (0.01, 0.1, 0.3, 0.6, 0.9, 1.0):
        at_most = float(acquisition.score(mean, share * std, best))
        assert all(bound >= at_most - 1e-4 * (1.0 + 1e-3 * abs(at_most)) for bound in bounds)


@given(st.floats(-5.0, 5.0), st.floats(0.3, 3.0), st.floats(0.0, 4.0))
def test_what_is_at_the_ceiling_is_told_apart_by_the_chance_to_reach_it(mean: float, std: float, beyond: float) -> None:
    acquisition, chance = lw.LogExpectedImprovement(ceiling=1.0), lw.ProbabilityOfImprovement()
    scores = acquisition.score(np.array([mean, 0.0]), np.array([std, 1.0]), 1.0 + beyond)
    chances = chance.score(np.array([mean, 0.0]), np.array([std, 1.0]), 1.0)
    assert np.all(np.isfinite(scores))
    assert scores[0] - scores[1] == pytest.approx(chances[0] - chances[1], abs=0.01)


def scorer(high: float, pending: Any = ()) -> Scorer:
    x = [[v] for v in np.linspace(0.0, 1.0, 9)]
    values = np.sin(6.0 * np.ravel(x))
    limits = FitSettings(learn=False, rescale=False, bounds=(-np.inf, high))
    committee = fit([Gram.of(lw.RBF(0.3), x), Gram.of(lw.Matern(0.2), x)], values, settings=limits)
    return Scorer.on(committee, lw.LogExpectedImprovement()).with_pending(pending)


def test_what_is_in_flight_counts_as_the_mean_of_what_it_can_be() -> None:
    made = scorer(0.5, [[0.33], [0.77]])
    committee, rng = made.committee, np.random.default_rng(0)
    means = means_of(committee)[:, -2:]
    for m, member in enumerate(committee.members):
        assert member.pending is not None
        drawn = committee.pending_means()[m] + member.pending.stds * rng.standard_normal((100_000, 2))
        np.testing.assert_allclose(means[m], np.minimum(drawn, committee.ceiling).mean(axis=0), atol=0.01)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_bounds_far_from_all_values_change_nothing(direction: Any) -> None:
    def picks(bounds: Any) -> list[Any]:
        study = lw.Study(LINE, lw.RBF(), bounds=bounds, direction=direction)
        study.tell_many([([v], float(np.sin(9.0 * v))) for v in np.linspace(0.0, 1.0, 8)])
        return [s.object for s in study.ask(4)]

    assert picks((-1e4, 1e4)) == picks(None) == picks((None, 1e6))


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_choice_knows_that_there_is_little_room_left(direction: Any) -> None:
    """Near the bound the surest gain counts, not the largest: the chance to beat the best is higher than without."""
    sign = 1.0 if direction == "maximize" else -1.0

    def chance(bounds: Any) -> float:
        study = lw.Study(LINE, lw.RBF(), direction=direction, bounds=bounds)
        study.tell_many([([v], sign * (50.0 + 49.9 * float(np.sin(12.0 * v)))) for v in np.linspace(0.0, 1.0, 9)])
        study.tell([0.13], sign * 99.9)
        (suggestion,) = study.ask()
        judge = lw.Study(LINE, lw.RBF(), direction=direction, bounds=(0, 100) if sign > 0 else (-100, 0))
        judge.tell_many([(t.object, t.value) for t in study.trials if t.value is not None])
        return float(judge.predict([suggestion.object]).mixture.beyond(sign * 99.9)[0])

    assert chance((0, 100) if sign > 0 else (-100, 0)) > chance(None) + 0.02


def test_what_is_shown_agrees_with_frequencies() -> None:
    """Values drawn from what is believed, cut at the bounds: mean, deviation, chance and gain are theirs."""
    study = lw.Study(LINE, lw.RBF(), bounds=(0, 100))
    study.tell_many([([v], 50.0 + 47.0 * float(np.sin(12.0 * v))) for v in np.linspace(0.0, 1.0, 9)])
    best, rng = study.best_value, np.random.default_rng(0)
    for suggestion in study.ask(3):
        mixture = study.predict([suggestion.object]).mixture
        part = rng.choice(len(mixture.weights), size=400_000, p=mixture.weights / mixture.weights.sum())
        drawn = mixture.centres[part, 0] + mixture.spreads[part, 0] * rng.standard_t(mixture.freedom, len(part))
        # Not by the transform's own bounds.
        values = np.clip(mixture.transform.unbounded.backward(drawn), 0.0, 100.0)
        assert suggestion.chance == pytest.approx(np.mean(values > best), abs=0.005)
        assert suggestion.improvement == pytest.approx(np.mean(np.maximum(values - best, 0.0)), rel=0.02)
        assert suggestion.mean == pytest.approx(values.mean(), abs=0.05 * values.std())


def test_a_front_under_ceilings_grows_as_draws_say() -> None:
    goals: dict[str, Any] = {"objectives": {"a": "maximize", "b": "minimize"}, "reference": {"a": 0.0, "b": 100.0}}
    study = lw.Study(LINE, lw.RBF(0.2), bounds={"a": (0, 100), "b": (0, None)}, **goals)

    def values(v: float) -> dict[str, float]:
        return {"a": 50.0 + 48.0 * np.sin(9.0 * v), "b": 40.0 + 39.0 * np.cos(7.0 * v)}

    study.tell_many([([v], values(v)) for v in np.linspace(0.0, 1.0, 6)])
    from likewise.acquisition.hypervolume import hypervolume

    front = np.array([[t.outcomes["a"].value, 100.0 - t.outcomes["b"].value] for t in study.front])
    before, rng = hypervolume(front, np.zeros(2)), np.random.default_rng(0)
    for suggestion in study.ask(3):
        drawn = []
        for name in ("a", "b"):
            committee = study.committee(name)
            encodings = committee.encode([suggestion.object])
            means, variances = committee.moments(committee.rows(encodings), committee.selves(encodings))
            who = rng.choice(len(committee.members), size=4000, p=committee.weights / committee.weights.sum())
            normal = rng.standard_normal(4000)
            drawn.append(committee.transform.backward(means[who, 0] + np.sqrt(variances[who, 0]) * normal))
        points = np.stack([np.clip(drawn[0], 0, 100), 100.0 - np.clip(-drawn[1], 0, None)], axis=1)
        grown = [hypervolume(np.vstack([front, one]), np.zeros(2)) - before for one in points]
        # The front is that of what is expected at the measured objects, on a scale of straight pieces.
        assert suggestion.improvement == pytest.approx(np.mean(grown) / before, rel=0.1, abs=2e-3)


LETTERS = lw.Strings("AB", min_length=7, max_length=7)
KINDS: dict[str, Any] = {
    "batch": {},
    "cost": {"cost": lambda word: 1.0 + word.count("A"), "budget": 20.0},
    "pool": {"space": lw.Pool([f"{i:07b}" for i in range(128)])},
    "strategy": {"strategy": lw.TwoStage()},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_goes_on_when_the_bound_is_reached(kind: str) -> None:
    options = dict(KINDS[kind])
    space, price = options.pop("space", LETTERS), {k: options.pop(k) for k in ("cost", "budget") if k in options}
    study = lw.Study(space, lw.Hamming(), bounds=(0, 6), initial=2, **options)
    seen = []
    for _ in range(6):
        for suggestion in study.ask(3, **price):
            word = suggestion.object
            study.tell(suggestion, min(6, sum(a != b for a, b in pairwise(word)) + 1))
            seen.append(word)
    assert len(set(seen)) == len(seen) >= 12
    assert study.best_value == 6
    assert study.expected_gain(2).expected == 0.0


def test_a_limit_that_no_value_can_break_is_kept_for_certain() -> None:
    goals: dict[str, Any] = {"objectives": {"a": "maximize"}, "constraints": {"b": lw.Between(0, 5)}}

    def chances(bounds: Any) -> list[float]:
        study = lw.Study(LINE, lw.RBF(), bounds=bounds, **goals)
        study.tell_many([([v], {"a": v, "b": 0.5 + 0.4 * float(np.sin(20 * v))}) for v in np.linspace(0.0, 1.0, 6)])
        return [s.chance_feasible for s in study.ask(4)]  # type: ignore[misc]

    assert min(chances({"b": (0, 5)})) == 1.0
    assert min(chances({"b": (0, None)})) > 0.99
    assert min(chances(None)) < 1.0
