"""`python -m benchmarks.calibration`: coverage of intervals over simulated problems, as JSON and as tables."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration.cases import CASES
from benchmarks.calibration.docs import chances, tables, write
from benchmarks.calibration.hostile import attack
from benchmarks.calibration.measures import simulate
from benchmarks.store import machine

OUT = Path(__file__).resolve().parents[1] / "results" / "calibration.json"
SIZES = (5, 10, 20, 50)


def main() -> None:
    """Run the cases that are asked for, and print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--problems", type=int, default=200, help="simulated problems for each case and size")
    parser.add_argument("--only", help="cases by the beginnings of their names, separated by semicolons")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of observations")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, default=OUT, help="where the figures go")
    parser.add_argument(
        "--studies", type=int, help="instead, so many random hostile studies, which must have an answer"
    )
    parser.add_argument("--docs", action="store_true", help="instead, write the known figures into docs/benchmarks.md")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first of them")
    chosen = parser.parse_args()
    if chosen.studies is not None:
        raise SystemExit(attack_all(range(chosen.first, chosen.first + chosen.studies), chosen.workers))
    if chosen.docs:
        return write(json.loads(chosen.json.read_text())["cells"])
    wanted = [part.strip() for part in chosen.only.split(";")] if chosen.only else [""]
    cases = [case for case in CASES if any(case.startswith(part) for part in wanted)]
    sizes = [int(size) for size in chosen.sizes.split(",")]
    known = json.loads(chosen.json.read_text()) if chosen.json.exists() else {"cells": {}}
    with ProcessPoolExecutor(chosen.workers) as pool:
        for case in cases:
            for n in sizes:
                jobs = [(case, n, seed) for seed in range(chosen.problems)]
                found = list(pool.map(_simulate, jobs, chunksize=4))
                known["cells"][f"{case}|{n}"] = {"problems": chosen.problems, **total(found)}
                print(f"{case:24s} n={n:3d} {summary(known['cells'][f'{case}|{n}'])}", flush=True)
                save(known, chosen.json)
    print("\n\n".join([*tables(known["cells"]), chances(known["cells"])]))
    return None


def save(known: dict[str, Any], path: Path) -> None:
    """Keep what is known so far; a run may be cut short, and take up where it ended with other cases."""
    path.write_text(json.dumps({**known, "machine": machine()}, sort_keys=True, separators=(",", ":")) + "\n")


def attack_all(seeds: Sequence[int], workers: int) -> int:
    """Print what is wrong with random studies; how many there are with anything wrong."""
    with ProcessPoolExecutor(workers) as pool:
        found = zip(seeds, pool.map(attack, seeds, chunksize=8), strict=True)
        wrong = [(seed, complaint) for seed, complaint in found if complaint is not None]
    for seed, complaint in wrong:
        print(f"seed {seed}: {complaint}")
    print(f"{len(wrong)} of {len(seeds)} studies have something wrong")
    return len(wrong)


def _simulate(job: tuple[str, int, int]) -> dict[str, Any]:
    return simulate(*job)


def total(outcomes: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Counts added up; the error as a root mean square."""
    listed = list(outcomes)
    summed = {name: np.sum([one[name] for one in listed], axis=0).tolist() for name in listed[0]}
    summed["rmse"] = round(float(np.sqrt(summed.pop("squared_error") / summed["unseen"])), 4)
    return summed


def summary(cell: dict[str, Any]) -> str:
    """One line about a cell."""
    share = {name: 100.0 * cell[name] / cell["unseen"] for name in ("inside95", "inside50")}
    top = 100.0 * cell["top_inside95"] / cell["top"]
    inside = f"95 %: {share['inside95']:5.1f}  50 %: {share['inside50']:5.1f}  foremost: {top:5.1f}"
    return f"{inside}  rmse {cell['rmse']:.3f}  wild {cell['wild']}"


if __name__ == "__main__":
    main()
