"""Effects of factors: what a plain function does to the values is found again, with intervals that hold it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from likewise.campaign.names import Request
from likewise.campaign.problem import Problem, solve
from likewise.campaign.reasons import names_of
from likewise.campaign.sheet import Choices, sheet
from likewise.campaign.text import Listener
from likewise.report.charts import effects

BASES = {"a": 0.0, "b": 20.0, "c": 50.0}


def problem_of(path: Path, rows: list[str], objects: tuple[str, ...]) -> Problem:
    path.write_text("\n".join([",".join([*objects, "y"]), *rows]))
    table = sheet(path, Choices(objects=objects, value="y"), Listener())
    return solve(table, Request(()), lambda problem: problem.study.ask(1), Listener())[0]


def test_levels_are_found_again_inside_their_intervals(tmp_path: Path) -> None:
    rows, noise = [], np.random.default_rng(0)
    for i, (base, solvent, t) in enumerate(product(BASES, "pq", (20.0, 60.0, 100.0))):
        value = BASES[base] + 0.1 * t + noise.normal(0.0, 1.0)
        rows.append(f"{base},{solvent},{t:g},{f'{value:.2f}' if i % 4 else ''}")
    problem = problem_of(tmp_path / "t.csv", rows, ("base", "solvent", "temp"))
    found = {effect.column: effect for effect in effects(problem, names_of(problem.sheet))}
    assert list(found) == ["base", "temp", "solvent"]
    base = found["base"]
    assert base.levels == ["c", "b", "a"]
    assert base.chance[0] > 0.9
    # The mean over the other factors: 0.1 · 60 more than the base's own.
    truth = np.array([BASES[level] + 6.0 for level in base.levels])
    assert np.all((base.low - 2.0 < truth) & (truth < base.high + 2.0))
    assert base.share > 0.7
    assert sum(effect.share for effect in found.values()) <= 1.0 + 1e-9
    assert found["temp"].numeric
    assert np.all(np.diff(found["temp"].mean) > 0)
    assert sum(base.measured) == len(problem.sheet.measured)  # type: ignore[union-attr]


def test_parts_of_a_mixture_make_room_for_each_other(tmp_path: Path) -> None:
    rng, rows = np.random.default_rng(1), []
    for i in range(24):
        x, y, _ = rng.dirichlet(np.ones(3)).round(4)
        rows.append(f"{x},{y},{round(1 - x - y, 4)},{f'{10 * x:.3f}' if i < 16 else ''}")
    problem = problem_of(tmp_path / "m.csv", rows, ("x", "y_part", "z"))
    found = {effect.column: effect for effect in effects(problem, names_of(problem.sheet))}
    assert found["x"].share == max(effect.share for effect in found.values())
    assert found["x"].mean[-1] > found["x"].mean[0] + 3.0


@pytest.mark.parametrize("measured", [0, 2])
def test_little_data_has_no_effects(tmp_path: Path, measured: int) -> None:
    rows = [f"{b},{t},{i if i < measured else ''}" for i, (b, t) in enumerate(product("ab", (1, 2)))]
    problem = problem_of(tmp_path / "s.csv", rows, ("base", "temp"))
    assert effects(problem, names_of(problem.sheet)) == []
