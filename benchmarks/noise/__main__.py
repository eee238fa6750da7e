"""Run what is missing, and put the section into docs/benchmarks.md: `python -m benchmarks.noise [--report]`.

Seed by seed over all tasks, so that whatever is reached is balanced.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.noise.page import write_section
from benchmarks.noise.plan import FOLDER, METHODS, SETTINGS, TASKS, Setting, noisy
from benchmarks.run import run
from benchmarks.store import results_of


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--tasks", default=",".join(TASKS))
    read.add_argument("--methods", default="botorch,likewise", help=f"of {', '.join(METHODS)}")
    read.add_argument("--seeds", type=int, default=10)
    read.add_argument("--first", type=int, default=0, help="the first seed")
    read.add_argument("--settings", default=",".join(SETTINGS), help=f"of {', '.join(SETTINGS)}")
    read.add_argument("--again", action="store_true", help="replace runs that are there")
    read.add_argument("--results", type=Path, default=FOLDER)
    read.add_argument("--report", action="store_true", help="only the page")
    given = read.parse_args()
    for job in [] if given.report else _jobs(given):
        print(_done(*job, given.results, given.again), end="", flush=True)
    if given.results == FOLDER:
        write_section()


def _jobs(given: argparse.Namespace) -> Iterator[tuple[str, str, Setting, int]]:
    for seed in range(given.first, given.seeds):
        for setting in given.settings.split(","):
            for name in given.methods.split(","):
                yield from ((task, name, SETTINGS[setting], seed) for task in given.tasks.split(","))


def _done(task_name: str, name: str, setting: Setting, seed: int, folder: Path, again: bool) -> str:
    """Run one job if it is missing, and say in a line how it went."""
    task, method = noisy(TASKS[task_name], setting.noise), METHODS[name](setting.noise)
    results = results_of(task.name, setting.batch, folder)
    results.check(task, setting.batch)
    if results.has(method.name, seed) and not again:
        return ""
    found = run(task, method, seed, setting.batch)
    results.add(task, setting.batch, method, seed, found)
    best = (max if task.sign > 0 else min)(found.values)
    return f"{task.name} {method.name} seed {seed} batch {setting.batch}: {best:.5g}, {found.cpu_seconds:.3g} s\n"


if __name__ == "__main__":
    main()
