"""What is still to be gained: laws of the number, and whether what it promises comes true."""

from __future__ import annotations

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.scorer import draw_values

POINTS = np.linspace(0.0, 1.0, 60)


def random_function(seed: int) -> np.ndarray:
    """A smooth random function on the pool."""
    scores = np.exp(-0.5 * (POINTS[:, None] - POINTS) ** 2 / 0.08**2)
    return np.linalg.cholesky(scores + 1e-8 * np.eye(60)) @ np.random.default_rng(seed).standard_normal(60)


def started(seed: int, told: int = 8, direction: str = "maximize") -> tuple[lw.Study, np.ndarray]:
    values = random_function(seed)
    study = lw.Study(lw.Pool([[x] for x in POINTS]), lw.RBF(), direction=direction, seed=seed)  # type: ignore[arg-type]
    places = np.random.default_rng([seed, 1]).choice(60, size=told, replace=False)
    study.tell_many([([POINTS[i]], float(values[i])) for i in places])
    return study, values


def test_one_suggestion_promises_what_it_says_of_itself() -> None:
    study, _ = started(0)
    gain = study.expected_gain()
    (s,) = study.ask()
    assert (gain.expected, gain.chance, gain.n) == (s.improvement, s.chance, 1)


def test_asking_for_the_gain_asks_for_nothing() -> None:
    study, _ = started(1)
    gain, before = study.expected_gain(3), len(study.trials)
    assert len(study.trials) == before
    found = study.ask(3)
    assert study.expected_gain(of=found) == gain
    assert [s.object for s in found] == [s.object for s in started(1)[0].ask(3)]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_several_promise_no_less_than_the_best_and_no_more_than_all(direction: str) -> None:
    study, _ = started(2, direction=direction)
    found = study.ask(4)
    gain = study.expected_gain(of=found)
    gains, chances = [s.improvement for s in found], [s.chance for s in found]
    assert max(gains) <= gain.expected <= sum(gains)
    assert max(chances) <= gain.chance <= min(1.0, sum(chances))


def test_twins_win_and_lose_together() -> None:
    study = started(3)[0]
    (s,) = study.ask()
    gain = study.expected_gain(of=[s, s])
    assert s.improvement <= gain.expected < 1.5 * s.improvement
    assert s.chance <= gain.chance < 1.5 * s.chance


def test_a_start_and_an_end_promise_nothing_known() -> None:
    study = lw.Study(lw.Pool(["CCO", "CCN", "CCC"]), lw.Levenshtein())
    assert study.expected_gain(2) == lw.Gain(None, None, 2)
    study.tell_many([("CCO", 1.0), ("CCN", 2.0), ("CCC", 3.0)])
    assert study.expected_gain(2) == lw.Gain(0.0, 0.0, 0)


def test_joint_draws_have_the_distribution_that_is_predicted() -> None:
    study = started(4)[0]
    objects = [[POINTS[i]] for i in (7, 30, 31, 55)]
    draws, believed = draw_values(study.committee(), objects, 20_000, np.random.default_rng(0)), study.predict(objects)
    np.testing.assert_allclose(draws.mean(axis=0), believed.mean, atol=0.05 * believed.std.max())
    for draw, low, high in zip(draws.T, *believed.interval(0.8), strict=True):
        assert np.mean((draw > low) & (draw < high)) == pytest.approx(0.8, abs=0.03)


def test_what_is_promised_comes_true_on_average() -> None:
    """Over random functions the mean gain is what was expected, within a factor of two; so is its chance."""
    promised, came, chances, hits = [], [], [], []
    for seed in range(40):
        study, values = started(seed)
        best = study.best.value
        found = study.ask(4)
        gain = study.expected_gain(of=found)
        after = max(float(values[np.argmin(np.abs(POINTS - s.object[0]))]) for s in found)
        promised.append(gain.expected)
        came.append(max(0.0, after - best))
        chances.append(gain.chance)
        hits.append(after > best)
    assert 0.5 < np.mean(promised) / np.mean(came) < 2.0
    assert abs(np.mean(chances) - np.mean(hits)) < 0.25
