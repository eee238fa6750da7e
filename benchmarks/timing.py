"""Seconds of a tell and an ask in six dimensions, likewise beside its GP-based peers: `python -m benchmarks.timing`.

All in one process with one BLAS thread, in turn, so that what else the machine does falls on all alike. Each ask is
cold: the observations (Hartmann-6 at uniform points) are told to a fresh optimiser, and the ask learns every parameter
before it climbs. The tell is timed with it, as in a run: some methods fit in one and some in the other.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.methods import method
from benchmarks.store import machine
from benchmarks.tables import markdown
from benchmarks.tasks.functions import FUNCTIONS

OBSERVATIONS = {100: 5, 1000: 3}
OUT = Path(__file__).parent / "results" / "timing.json"


def seconds(name: str, n: int, seed: int) -> tuple[float, float]:
    """Of telling `n` observations and one ask: on the clock, and on the processor."""
    task = replace(FUNCTIONS["hartmann6"], initial=n)
    optimiser = method(name).start(task, seed)
    objects = task.start(seed)
    scores = task.score(objects)
    before = time.perf_counter(), time.process_time()
    optimiser.tell(objects, scores)
    optimiser.ask(1)
    return time.perf_counter() - before[0], time.process_time() - before[1]


def compare(names: list[str], n: int, repeats: int) -> dict[str, tuple[float, float]]:
    """Medians over repeats, the methods in turn; one round before them warms caches and imports."""
    for name in names:
        seconds(name, 100, 99)
    rounds = [[seconds(name, n, seed) for name in names] for seed in range(repeats)]
    taken = np.array(rounds)
    return {name: (median(taken[:, i, 0]), median(taken[:, i, 1])) for i, name in enumerate(names)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="likewise,botorch,optuna-gp")
    parser.add_argument("--observations", type=int, nargs="+", default=list(OBSERVATIONS))
    given = parser.parse_args()
    names = given.methods.split(",")
    found = {n: compare(names, n, OBSERVATIONS.get(n, 3)) for n in given.observations}
    rows = [
        [str(n), name, f"{clock:.3g}", f"{cpu:.3g}", f"{table[names[0]][1] / cpu:.3f}"]
        for n, table in found.items()
        for name, (clock, cpu) in table.items()
    ]
    print(markdown(["observations", "method", "seconds", "CPU seconds", f"{names[0]} / this, CPU"], rows))
    OUT.write_text(json.dumps({"machine": machine(), "median seconds (clock, CPU)": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
