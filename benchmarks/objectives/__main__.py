"""Run what is missing, and put the section into docs/benchmarks.md: `python -m benchmarks.objectives [--report]`."""

from __future__ import annotations

import argparse
import json
import os
import time
import traceback
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.commit import commit
from benchmarks.objectives.methods import METHODS, suits
from benchmarks.objectives.page import write_section
from benchmarks.objectives.tasks import BUDGET, INITIAL, TASKS, Several
from benchmarks.store import RESULTS, locked, machine, replace_file

FOLDER = RESULTS / "objectives"
DATA = Path(os.environ.get("LIKEWISE_BENCHMARK_DATA", "../shared/data"))


def run(task: Several, method: str, seed: int, batch: int = 1) -> dict[str, Any]:
    """One search: the hypervolume as a share of the best after each evaluation, and seconds of a tell and an ask."""
    optimiser = METHODS[method](task, seed)
    objects: list[Any] = task.start(seed)
    outcomes = new = task.outcomes(objects)
    times = []
    while len(outcomes) < INITIAL + BUDGET:
        before = time.perf_counter(), time.process_time()
        optimiser.tell(objects, new)
        objects = optimiser.ask(min(batch, INITIAL + BUDGET - len(outcomes)))
        times.append((time.perf_counter() - before[0], time.process_time() - before[1]))
        outcomes = np.vstack([outcomes, new := task.outcomes(objects)])
    feasible = np.flatnonzero(task.feasible(outcomes))
    return {
        "seconds": round(median(clock for clock, _ in times), 4),
        "cpu_seconds": round(median(cpu for _, cpu in times), 4),
        "feasible": int(feasible[0]) + 1 if len(feasible) else None,
        "volumes": [round(v / task.best, 6) for v in task.volumes(outcomes)],
        **({"commit": commit()} if method == "likewise" else {}),
    }


def keep(path: Path, method: str, seed: int, line: dict[str, Any]) -> None:
    """Add a run to its file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.parent):
        found = json.loads(path.read_text()) if path.exists() else {"methods": {}}
        found["machine"] = machine()
        found["methods"].setdefault(method, {})[str(seed)] = line
        replace_file(path, json.dumps(found, separators=(",", ":")).replace('"seconds"', '\n"seconds"') + "\n")


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--tasks", default=",".join(TASKS))
    read.add_argument("--methods", default=",".join(METHODS))
    read.add_argument("--seeds", type=int, default=3)
    read.add_argument("--batch", type=int, default=1)
    read.add_argument("--again", action="store_true")
    read.add_argument("--report", action="store_true", help="only the page")
    given = read.parse_args()
    jobs = [(s, t, m) for s in range(given.seeds) for m in given.methods.split(",") for t in given.tasks.split(",")]
    made: dict[str, Several] = {}
    for seed, name, method in [] if given.report else jobs:
        path = FOLDER / (f"{name}.json" if given.batch == 1 else f"{name}-batch{given.batch}.json")
        known = json.loads(path.read_text())["methods"] if path.exists() else {}
        if str(seed) in known.get(method, {}) and not given.again:
            continue
        task = made.setdefault(name, TASKS[name](DATA)) if name not in made else made[name]
        if not suits(method, task):
            continue
        try:
            line = run(task, method, seed, given.batch)
        except Exception:
            print(f"{name} {method} seed {seed} failed\n{traceback.format_exc()}", flush=True)
            continue
        keep(path, method, seed, line)
        print(f"{name} {method} seed {seed}: {line['volumes'][-1]:.4f}, {line['seconds']:.3g} s", flush=True)
    write_section(FOLDER)


if __name__ == "__main__":
    main()
