"""Batches and noise: errors are the same for every method, values are true ones, and records have their optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")

from benchmarks.methods import method
from benchmarks.noise import page
from benchmarks.noise.plan import TASKS, noisy
from benchmarks.run import run
from benchmarks.tasks.base import Vector
from benchmarks.tasks.mixed import RECORDS

BEST = {
    "reaction": {"solvent": "DMF", "base": "Cs2CO3", "equivalents": 3, "T": 92.0, "c": 10**-0.55},
    "mixed_ackley": {"x1": 0.3, "x2": -0.8, "x3": 1.1, "k1": 7, "k2": 2, "first": "c", "second": "c"},
}


class Repeating:
    """Asks for the first object again, and keeps what it is told."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.told: list[float] = []

    def tell(self, objects: list[Any], scores: Vector) -> None:
        self.objects += objects
        self.told += list(scores)

    def ask(self, n: int) -> list[Any]:
        return self.objects[:1] * n

    def recommend(self) -> Any:
        return self.objects[0]


@pytest.mark.parametrize("name", list(RECORDS))
def test_a_record_is_best_at_its_optimum_and_nowhere_better(name: str) -> None:
    task = RECORDS[name]
    assert task.score([BEST[name]])[0] == pytest.approx(task.sign * task.optimum, abs=1e-9)
    assert task.samples.max() <= task.sign * task.optimum + 1e-9


@pytest.mark.parametrize("name", list(TASKS))
@pytest.mark.parametrize("batch", [1, 8])
def test_values_are_true_and_errors_those_of_the_seed(name: str, batch: int) -> None:
    task, told = replace(noisy(TASKS[name], 0.1), budget=400), []
    for _ in range(2):
        optimiser = Repeating()
        done = run(task, replace(method("random"), start=lambda *_, one=optimiser: one), 3, batch)
        true = task.sign * task.score(task.start(3))[0]
        assert done.values[10:] == pytest.approx([true] * 400)
        assert done.recommended == pytest.approx(true)
        told.append(optimiser.told)
    assert told[0] == told[1]
    errors = np.array(told[0][10:]) - task.sign * true
    assert np.std(errors) == pytest.approx(0.1 * task.spread, rel=0.15)


def test_likewise_plays_a_noisy_record_in_batches() -> None:
    task = replace(noisy(TASKS["reaction"], 0.1), budget=9)
    done = run(task, method("likewise"), 0, 8)
    assert len(done.values) == 19
    assert done.recommended in done.values


def test_the_page_stands_without_results(tmp_path: Any) -> None:
    assert "| hartmann6 | – | – | – | – | – | – / – |" in page.section(tmp_path)
