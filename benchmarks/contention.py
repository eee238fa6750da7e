"""What an ask costs when many workers share one study: `python -m benchmarks.contention`.

Each worker is a process that opens the study on SQLite, asks for one object, evaluates it, tells its value, and asks
again, until there are 500 trials. Seconds are those that a worker waits for `study.ask()`.

One worker is timed first, then 16 of them twice. In the realistic load an evaluation takes 0.5 to 1.5 times
`--evaluation` seconds, at random, in which the worker sleeps, as it does when a cluster or an instrument evaluates: the
processors are then not used up by asks alone. In the saturated load evaluations take no time, so that every worker asks
all the time: 16 asks then share the processors, and take at least 16 / processors times as long as they compute.

Processor seconds are given as well: other work on the machine does not change them much. They are more for a worker
among many than for one alone, which sees every value by itself and fits its model only when the data have grown by a
tenth: of many workers each has to do so, in far fewer asks.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.store import machine
from benchmarks.tasks.functions import FUNCTIONS

TASK = FUNCTIONS["hartmann6"]
OUT = Path(__file__).parent / "results" / "contention.json"
POOL = 5000
Times = list[tuple[float, float]]


def space_of(kind: str) -> Any:
    """The unit cube of six dimensions, or a pool of its points."""
    import likewise as lw

    if kind == "box":
        return lw.Box([0.0] * 6, [1.0] * 6)
    return lw.Pool([tuple(x) for x in np.random.default_rng(0).random((POOL, 6)).tolist()])


def work(url: str, kind: str, trials: int, evaluation: float, ready: Any, sent: Any) -> None:
    """One worker; it sends the elapsed and processor seconds of each of its asks."""
    import likewise as lw

    study = lw.Study(space_of(kind), storage=url, lease=600.0)
    rng = np.random.default_rng()
    ready.wait()
    times: Times = []
    while study.count(lw.State.TOLD) + study.count(lw.State.ASKED) < trials:
        begun = time.perf_counter(), time.thread_time()
        (s,) = study.ask()
        times.append((time.perf_counter() - begun[0], time.thread_time() - begun[1]))
        time.sleep(evaluation * rng.uniform(0.5, 1.5))
        study.tell(s, float(TASK.score([np.asarray(s.object)])[0]))
    sent.put(times)


def run(kind: str, workers: int, trials: int, evaluation: float) -> dict[str, Any]:
    """So many workers on one new study."""
    context = multiprocessing.get_context("spawn")
    ready, sent = context.Barrier(workers), context.Queue()
    with tempfile.TemporaryDirectory() as directory:
        url = f"sqlite:///{directory}/study.db"
        args = (url, kind, trials, evaluation, ready, sent)
        processes = [context.Process(target=work, args=args) for _ in range(workers)]
        for process in processes:
            process.start()
        begun = time.perf_counter()
        times = [one for _ in processes for one in sent.get()]
        lasted = time.perf_counter() - begun
        for process in processes:
            process.join()
    return {"workers": workers, "evaluation": evaluation, "lasted": lasted, **summary(times)}


def summary(times: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Quantiles of the seconds of an ask, and of its processor time."""
    elapsed, processor = np.array(times).T
    return {
        "asks": len(times),
        "seconds": {"median": float(np.median(elapsed)), "p95": float(np.percentile(elapsed, 95))},
        "cpu": {"median": float(np.median(processor)), "p95": float(np.percentile(processor, 95))},
    }


def compared(kind: str, workers: int, trials: int, evaluation: float, saturated: bool) -> dict[str, Any]:
    """One worker and many, and how many times as long the slow asks of the many take."""
    one = run(kind, 1, trials, 0.0)
    many = {"realistic": run(kind, workers, trials, evaluation)}
    if saturated:
        many["saturated"] = run(kind, workers, trials, 0.0)
    ratios = {load: {what: _ratio(found, one, what) for what in ("seconds", "cpu")} for load, found in many.items()}
    return {"one": one, **many, "p95 of many / p95 of one": ratios}


def _ratio(many: dict[str, Any], one: dict[str, Any], what: str) -> float:
    return float(many[what]["p95"] / one[what]["p95"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spaces", nargs="+", choices=["box", "pool"], default=["box", "pool"])
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--evaluation", type=float, default=10.0, help="seconds of an evaluation, on average")
    parser.add_argument("--no-saturated", dest="saturated", action="store_false", help="leave the saturated load out")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    # As `Study` computes: a worker's share of two processors is not more.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    found: dict[str, Any] = {"machine": machine()}
    for kind in given.spaces:
        found[kind] = compared(kind, given.workers, given.trials, given.evaluation, given.saturated)
        print(kind, json.dumps(found[kind], indent=1), flush=True)
    given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
