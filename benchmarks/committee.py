"""How well a committee predicts molecules beside its members alone: `python -m benchmarks.committee`.

100 molecules to learn from, the others of the table to predict, 20 random splits; each similarity alone learns its warp
and its noise. The random similarity, which knows nothing, is added to see whether it does harm.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import likewise as lw
from benchmarks.store import machine
from benchmarks.tables import markdown, mean_and_error
from benchmarks.tasks.base import Vector
from benchmarks.tasks.catalogue import task
from benchmarks.tasks.pool import Pool

SETS = {"esol": "esol", "freesolv": "freesolv_max", "photoswitch": "photoswitch"}
TRAINING, NORMAL_95 = 100, 1.959964
OUT = Path(__file__).parent / "results" / "committee.json"
Given = Callable[[list[str]], Any]


def _three() -> list[Any]:
    return [lw.Tanimoto(), lw.TanimotoCounts(), lw.Indel()]


def random_similarity(objects: list[str]) -> Any:
    """Inner products of random directions, squared: a PSD score between 0 and 1 that says nothing."""
    directions = np.random.default_rng(0).standard_normal((len(objects), 20))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return lw.Precomputed(objects, (directions @ directions.T) ** 2)


CHOICES: dict[str, Given] = {
    "auto": lambda objects: "auto",
    "Tanimoto": lambda objects: lw.Tanimoto(),
    "TanimotoCounts": lambda objects: lw.TanimotoCounts(),
    "Indel": lambda objects: lw.Indel(),
    "all three": lambda objects: _three(),
    "all three + random": lambda objects: [*_three(), random_similarity(objects)],
}


def split(objects: list[str], values: Vector, similarity: Any, seed: int) -> tuple[float, float]:
    """Test RMSE, in standard deviations of the values, and the share of test values in their 95 % intervals."""
    order = np.random.default_rng(seed).permutation(len(objects))
    known, new = order[:TRAINING], order[TRAINING:]
    study = lw.Study(lw.Pool(objects), similarity=similarity, seed=seed)
    for i in known:
        study.tell(objects[i], float(values[i]))
    prediction = study.predict([objects[i] for i in new])
    error = values[new] - prediction.mean
    inside = np.abs(error) <= NORMAL_95 * prediction.std
    return float(np.sqrt(np.mean(error**2)) / values.std()), float(inside.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--choices", nargs="+", default=list(CHOICES), choices=list(CHOICES))
    given = parser.parse_args()
    found: dict[str, Any] = {}
    for name, task_name in SETS.items():
        pool = task(task_name)
        assert isinstance(pool, Pool)
        objects = list(pool.parts[0].values)
        for choice in given.choices:
            similarity = CHOICES[choice](objects)
            rows = [split(objects, pool.values, similarity, seed) for seed in range(given.splits)]
            found.setdefault(choice, {})[name] = np.array(rows).round(5).tolist()
            print(name, choice, np.mean(rows, axis=0), flush=True)
    print(table(found))
    OUT.write_text(json.dumps({"machine": machine(), "RMSE and 95 % coverage per split": found}) + "\n")


def table(found: dict[str, Any]) -> str:
    """RMSE ± standard error and coverage, per choice and data set."""
    rows = []
    for choice, sets in found.items():
        cells = [np.array(entry) for entry in sets.values()]
        shown = [f"{mean_and_error(cell[:, 0], '{:.3f}')} ({cell[:, 1].mean():.0%})" for cell in cells]
        rows.append([choice, *shown, f"{np.mean([cell[:, 0].mean() for cell in cells]):.3f}"])
    return markdown(["similarity", *next(iter(found.values())), "mean RMSE"], rows)


if __name__ == "__main__":
    main()
