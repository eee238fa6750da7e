"""Seconds that keeping a study costs, likewise beside Optuna, on the same disk: `python -m benchmarks.storage`.

`overhead`: an ask and a tell on SQLite less the same in memory, in studies of 1,000 trials. Nothing is modelled on
either side: objects are drawn at random.

`opening`: a fresh process opens a study of 1,000 to 10,000 trials on SQLite, reads all of them and answers an ask, with
the library's Gaussian process and its defaults, with one BLAS thread and with two. Imports are left out on both sides.
Who takes longer than the limit, or needs more than 12 GB, is given up, and the ratio is then a bound.

Rounds are taken in turn, so that what else the machine does falls on all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from math import isnan, nan
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.store import machine
from benchmarks.tasks.functions import FUNCTIONS

TASK = FUNCTIONS["hartmann6"]
OUT = Path(__file__).parent / "results" / "storage.json"
Step = Callable[[], None]

OPEN = {
    "likewise": """
import resource, sys, time
import likewise as lw
from likewise.study.study import Study
import likewise.study.storage.sql, likewise.search.gradient, likewise.model.fit, scipy.optimize
resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
begun = time.perf_counter(), time.process_time()
study = Study(lw.Box([0.0] * 6, [1.0] * 6), storage=f"sqlite:///{sys.argv[1]}")
assert len(study.trials) == int(sys.argv[2])
study.ask()
print(time.perf_counter() - begun[0], time.process_time() - begun[1])
""",
    "optuna": """
import resource, sys, time
import optuna, torch, scipy.optimize, optuna._gp.gp, optuna.samplers
optuna.logging.set_verbosity(optuna.logging.ERROR)
torch.set_num_threads(int(sys.argv[3]))
resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
begun = time.perf_counter(), time.process_time()
sampler = optuna.samplers.GPSampler(seed=0)
study = optuna.load_study(study_name="study", storage=f"sqlite:///{sys.argv[1]}", sampler=sampler)
assert len(study.trials) == int(sys.argv[2])
trial = study.ask()
for k in range(6):
    trial.suggest_float(f"x{k}", 0.0, 1.0)
print(time.perf_counter() - begun[0], time.process_time() - begun[1])
""",
}


def likewise_study(path: Path | None, trials: int) -> Step:
    """A study with that many trials, and one ask and tell in it that models nothing."""
    import likewise as lw

    url = None if path is None else f"sqlite:///{path}"
    study = lw.Study(lw.Box([0.0] * 6, [1.0] * 6), lw.RBF(), storage=url, initial=10**9)
    objects = study.space.sample(trials, np.random.default_rng(0))
    study.tell_many([(x, float(TASK.score([x])[0])) for x in objects])

    def step() -> None:
        (suggestion,) = study.ask()
        study.tell(suggestion, 1.0)

    step()
    return step


def optuna_study(path: Path | None, trials: int) -> Step:
    """The same in Optuna."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    url = None if path is None else f"sqlite:///{path}"
    study = optuna.create_study(
        study_name="study", storage=url, direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0)
    )
    scale = {f"x{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(6)}
    for x in np.random.default_rng(0).random((trials, 6)):
        params = {f"x{k}": float(v) for k, v in enumerate(x)}
        value = float(TASK.score([x])[0])
        study.add_trial(optuna.trial.create_trial(params=params, distributions=scale, value=value))

    def step() -> None:
        trial = study.ask()
        for k in range(6):
            trial.suggest_float(f"x{k}", 0.0, 1.0)
        study.tell(trial, 1.0)

    step()
    return step


MAKERS: dict[str, Callable[[Path | None, int], Step]] = {"likewise": likewise_study, "optuna": optuna_study}


def seconds(step: Step, times: int) -> float:
    begun = time.perf_counter()
    for _ in range(times):
        step()
    return (time.perf_counter() - begun) / times


def overhead(directory: Path, trials: int, rounds: int) -> dict[str, Any]:
    """Medians of an ask and a tell on SQLite and in memory, and what the storage adds."""
    steps = {
        (name, where): make(directory / f"{name}.db" if where == "sqlite" else None, trials)
        for name, make in MAKERS.items()
        for where in ("sqlite", "memory")
    }
    taken = {
        key: median(column)
        for key, column in zip(steps, zip(*_rounds(list(steps.values()), rounds), strict=True), strict=True)
    }
    added = {name: taken[name, "sqlite"] - taken[name, "memory"] for name in MAKERS}
    table = {f"{name}, {where}": value for (name, where), value in taken.items()}
    return {"trials": trials, "seconds": table, "added": added, "ratio": added["likewise"] / added["optuna"]}


def _rounds(steps: list[Step], rounds: int) -> list[list[float]]:
    return [[seconds(step, 10) for step in steps] for _ in range(rounds)]


def opening(directory: Path, trials: int, rounds: int, threads: Sequence[int], limit: float) -> list[dict[str, Any]]:
    """Medians until a fresh process has answered an ask, for each number of BLAS threads."""
    for name, make in MAKERS.items():
        make(directory / f"{name} {trials}.db", trials - 1)
    return [_opened(directory, trials, rounds, number, limit) for number in threads]


def _opened(directory: Path, trials: int, rounds: int, threads: int, limit: float) -> dict[str, Any]:
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in OPEN}
    for _ in range(rounds):
        for name in OPEN:
            # Who was once given up is not asked again.
            if not any(map(isnan, (cpu for _, cpu in taken[name]))):
                taken[name].append(_once(directory, name, trials, threads, limit))
    seconds = {name: median(elapsed for elapsed, _ in taken[name]) for name in OPEN}
    cpu = {name: median(processor for _, processor in taken[name]) for name in OPEN}
    given_up = [name for name in OPEN if isnan(cpu[name])]
    return {
        "trials": trials,
        "threads": threads,
        "seconds": seconds,
        "cpu": {name: value for name, value in cpu.items() if name not in given_up},
        "given_up": given_up,
        "ratio": seconds["likewise"] / seconds["optuna"],
    }


def _once(directory: Path, name: str, trials: int, threads: int, limit: float) -> tuple[float, float]:
    """Elapsed and processor seconds of one opening, the latter NaN where it was given up."""
    # Of a copy, for an ask leaves a trial behind, and who is given up a journal.
    copy = directory / f"{uuid.uuid4().hex}.db"
    with closing(sqlite3.connect(directory / f"{name} {trials}.db")) as made, closing(sqlite3.connect(copy)) as other:
        made.backup(other)
    command = [sys.executable, "-c", OPEN[name], str(copy), str(trials), str(threads)]
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    begun = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        last = str(error.stderr or "no answer in time").strip().splitlines()[-1]
        print(f"{name}, {trials} trials, {threads} threads: {last}", file=sys.stderr)
        return time.perf_counter() - begun, nan
    elapsed, processor = map(float, done.stdout.split())
    return elapsed, processor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, nargs="+", default=[1000, 2000, 10_000], help="in a study that is opened")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="of BLAS")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which an opening is given up")
    parser.add_argument("--rounds", type=int, default=3, help="of openings")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        openings = [opening(Path(name), trials, given.rounds, given.threads, given.limit) for trials in given.trials]
        found = {
            "machine": machine(),
            "overhead": overhead(Path(name), 1000, 7),
            "limit": given.limit,
            "opening": [one for several in openings for one in several],
        }
    print(json.dumps(found, indent=1))
    OUT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
