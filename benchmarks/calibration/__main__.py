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
from benchmarks.calibration.hostile import attack
from benchmarks.calibration.measures import simulate
from benchmarks.store import machine
from benchmarks.tables import markdown

OUT = Path(__file__).resolve().parents[1] / "results" / "calibration.json"
SIZES = (5, 10, 20, 50)


def main() -> None:
    """Run the cases that are asked for, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--problems", type=int, default=200, help="simulated problems for each case and size")
    parser.add_argument("--only", help="cases by the beginnings of their names, separated by semicolons")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of observations")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, default=OUT, help="where the figures go")
    parser.add_argument(
        "--studies", type=int, help="instead, so many random hostile studies, which must have an answer"
    )
    parser.add_argument("--first", type=int, default=0, help="the seed of the first of them")
    chosen = parser.parse_args()
    if chosen.studies is not None:
        raise SystemExit(attack_all(range(chosen.first, chosen.first + chosen.studies), chosen.workers))
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
    known["machine"] = machine()
    chosen.json.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    for table in tables(known["cells"]):
        print(table, "\n")


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


def tables(cells: dict[str, Any]) -> list[str]:
    """Coverage of both intervals and among the foremost, errors, and what became of chances."""
    sizes = sorted({int(key.split("|")[1]) for key in cells})
    names = list(dict.fromkeys(key.split("|")[0] for key in cells))
    ordered = [case for case in CASES if case in names]

    def rows(figure: Any) -> list[list[str]]:
        return [
            [case, *(figure(cells[f"{case}|{n}"]) if f"{case}|{n}" in cells else "" for n in sizes)] for case in ordered
        ]

    heads = [*(f"n = {n}" for n in sizes)]
    shares = (
        ("95 % interval", "inside95", "unseen"),
        ("50 % interval", "inside50", "unseen"),
        ("95 % interval, ten foremost", "top_inside95", "top"),
    )
    found = [
        markdown([title, *heads], rows(lambda cell, a=a, b=b: f"{100.0 * cell[a] / cell[b]:.0f}"))
        for title, a, b in shares
    ]
    return [*found, markdown(["RMSE", *heads], rows(lambda cell: f"{cell['rmse']:.2f}"))]


if __name__ == "__main__":
    main()
