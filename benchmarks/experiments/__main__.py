"""`python -m benchmarks.experiments`: run what is missing, or make docs/experiments.md of the results."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.experiments.plan import EXPERIMENTS, RESULTS, run_missing
from benchmarks.tasks.catalogue import DATA_VARIABLE


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT", help=f"of {', '.join(EXPERIMENTS)}; all if absent")
    parser.add_argument("--seeds", type=int, help="seeds of every method; as planned for each if absent")
    parser.add_argument("--methods", default="", help="those whose names begin so, separated by commas")
    parser.add_argument("--tasks", default="", help="those whose names begin so, separated by commas")
    parser.add_argument("--data", type=Path, help="folder of the data sets; ../shared/data if absent")
    parser.add_argument("--results", type=Path, default=RESULTS, help="benchmarks/results/experiments if absent")
    parser.add_argument("--docs", action="store_true", help="make docs/experiments.md and its pictures; run nothing")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in EXPERIMENTS]:
        parser.error(f"no experiment is called {unknown[0]!r}; choose from {', '.join(EXPERIMENTS)}")
    if given.data:
        os.environ[DATA_VARIABLE] = str(given.data)
    if given.docs:
        from benchmarks.experiments.page import write

        write(given.results)
        return
    methods, tasks = (tuple(name for name in text.split(",") if name) for text in (given.methods, given.tasks))
    for name in given.names or EXPERIMENTS:
        run_missing(EXPERIMENTS[name], given.seeds, methods, tasks, given.results)


if __name__ == "__main__":
    main()
