"""Days that shift results: predictions are those of a mean day, in the model, in a study and in a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from likewise.model.model import Data, Model


def simulate(seed: int) -> tuple[list[list[float]], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.random((60, 2))
    scores = np.exp(-0.5 * np.sum((x[:, None] - x) ** 2, axis=-1) / 0.3**2) + 1e-8 * np.eye(60)
    f, day = np.linalg.cholesky(scores) @ rng.standard_normal(60), np.arange(32) // 8
    shifts = rng.standard_normal(4)
    return x.tolist(), f + shifts.mean(), day, f[:32] + 0.1 * rng.standard_normal(32) + shifts[day], shifts


def test_days_are_told_apart_from_objects_and_intervals_hold() -> None:
    errors, naive, held = [], [], []
    for seed in range(12):
        x, f, day, y, _ = simulate(seed)
        found = Model((lw.RBF(),)).committee(Data(x[:32], y, None, blocks=day))[0].predict(x[32:])
        plain = Model((lw.RBF(),)).committee(Data(x[:32], y, None))[0].predict(x[32:])
        low, high = found.interval(0.95)
        held.append(np.mean((low <= f[32:]) & (f[32:] <= high)))
        errors.append(np.mean((found.mean - f[32:]) ** 2))
        naive.append(np.mean((plain.mean - f[32:]) ** 2))
    assert np.mean(held) >= 0.9
    assert np.sqrt(np.mean(errors)) < 0.5 * np.sqrt(np.mean(naive))


def test_where_days_shift_nothing_little_changes() -> None:
    x, f, day, y, shifts = simulate(5)
    y = y - shifts[day] + shifts.mean()
    found = Model((lw.RBF(),)).committee(Data(x[:32], y, None, blocks=day))[0].predict(x[32:])
    plain = Model((lw.RBF(),)).committee(Data(x[:32], y, None))[0].predict(x[32:])
    assert np.sqrt(np.mean((found.mean - plain.mean) ** 2)) < 0.15 * np.std(f)


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_a_study_keeps_blocks(ending: str, tmp_path: Path) -> None:
    x, _, day, y, _ = simulate(1)
    url = f"sqlite:///{tmp_path / 'study.db'}"
    space = lw.Box([0.0, 0.0], [1.0, 1.0])
    one = lw.Study(space, lw.RBF(), storage=url)
    for place in range(32):
        one.tell(x[place], float(y[place]), block=f"day {day[place]}", std=0.1 if place % 2 else None)
    again, other = lw.Study(space, lw.RBF(), storage=url), lw.Study(space, lw.RBF())
    one.export(tmp_path / f"t.{ending}")
    assert other.read(tmp_path / f"t.{ending}") == 32
    assert [t.outcomes["value"].block for t in other.trials] == [f"day {k}" for k in day]
    means = one.predict(x[32:]).mean
    assert np.array_equal(means, again.predict(x[32:]).mean)
    assert np.allclose(means, other.predict(x[32:]).mean, atol=0.05)
    assert one.best.value == y.max()
    assert one.diagnose(each=False).observations == 32
