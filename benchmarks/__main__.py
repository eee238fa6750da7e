"""`python -m benchmarks`: run a task, the whole suite, or make the report. Runs that are there are skipped."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.methods import METHODS, PEERS, method
from benchmarks.tasks.base import Task

DEFAULT = "likewise,botorch,optuna-tpe,optuna-gp,skopt,ga,random"


def main(arguments: Sequence[str] | None = None) -> None:
    given = _parser().parse_args(arguments)
    if given.data:
        from benchmarks.tasks.catalogue import DATA_VARIABLE

        os.environ[DATA_VARIABLE] = str(given.data)
    given.command(given)


def _run(task: Task, given: argparse.Namespace) -> None:
    """Each method on each seed, one after the other; then the table."""
    from benchmarks.checks import check
    from benchmarks.run import run
    from benchmarks.store import Results, results_of
    from benchmarks.tables import task_table

    task = replace(task, **{k: v for k in ("initial", "budget") if (v := getattr(given, k)) is not None})  # type: ignore[type-var]
    check(task)
    optimisers = [method(name) for name in _methods(given)]
    results = Results(given.json) if given.json else results_of(task.name, given.batch, given.results)
    results.check(task, given.batch)
    for optimiser in optimisers:
        for seed in range(given.seeds if optimiser.suits(task) else 0):
            if given.again or not results.has(optimiser.name, seed):
                results.add(task, given.batch, optimiser, seed, run(task, optimiser, seed, given.batch))
    print(task_table(results.read(), _methods(given)))


def _pool(given: argparse.Namespace) -> None:
    from benchmarks.tasks.table import Table, check_molecules, pool

    table = Table(given.csv, tuple(given.object), given.value, given.kind, given.minimize, tuple(given.log), given.rows)
    name = given.name or "_".join([given.csv.name.split(".")[0], given.value, *(["min"] if given.minimize else [])])
    made = pool(name, table)
    print(made.note)
    check_molecules(made)
    _run(made, given)


def _function(given: argparse.Namespace) -> None:
    from benchmarks.tasks.functions import FUNCTIONS

    _run(FUNCTIONS[given.name], given)


def _expectation(given: argparse.Namespace) -> None:
    from benchmarks.tasks.expectation import expectation

    out = given.json
    for integrand in given.integrand:
        task = expectation(given.dimension, integrand)
        if out and len(given.integrand) > 1:
            given.json = out.with_stem(f"{out.stem}-{task.name}")
        _run(task, given)


def _permutation(given: argparse.Namespace) -> None:
    from benchmarks.tasks.qap import assignment

    _run(assignment(given.file), given)


def _task(given: argparse.Namespace) -> None:
    from benchmarks.tasks.catalogue import task

    _run(task(given.name), given)


def _suite(given: argparse.Namespace) -> None:
    from benchmarks.suite import jobs, run_jobs

    run_jobs(jobs(_methods(given), tuple(_names(given.only))), given.results, again=given.again)


def _report(given: argparse.Namespace) -> None:
    from benchmarks.report import write

    write(given.out, given.results, given.readme)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _positive(text: str) -> int:
    """A whole number of one or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of 1 or more")
    return int(text)


def _methods(given: argparse.Namespace) -> tuple[str, ...]:
    return tuple(part for name in _names(given.methods) for part in (PEERS if name == "peers" else (name,)))


def _parser() -> argparse.ArgumentParser:
    from benchmarks.store import RESULTS
    from benchmarks.tasks.expectation import INTEGRANDS
    from benchmarks.tasks.functions import FUNCTIONS
    from benchmarks.tasks.pool import KINDS

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--data", type=Path, help="folder of the data sets; ../shared/data beside the project if absent"
    )
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="FOLDER", help="where results are kept; benchmarks/results"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    runs = _options()

    pool = commands.add_parser("pool", parents=[runs], help="any table as a pool of measured objects")
    pool.add_argument("--csv", type=Path, required=True)
    pool.add_argument("--object", action="append", required=True, metavar="COLUMN", help="once per part of the objects")
    pool.add_argument("--value", required=True, metavar="COLUMN")
    pool.add_argument("--minimize", action="store_true")
    pool.add_argument("--kind", choices=KINDS, required=True)
    pool.add_argument("--log", action="append", default=[], metavar="COLUMN", help="take this column's logarithm")
    pool.add_argument("--rows", type=_positive, help="the first rows alone")
    pool.add_argument("--name", help="what the task is called")
    pool.set_defaults(command=_pool)

    function = commands.add_parser("function", parents=[runs], help="a function on a box")
    function.add_argument("name", choices=list(FUNCTIONS))
    function.set_defaults(command=_function)

    expectation = commands.add_parser("expectation", parents=[runs], help="an expectation over Gaussians")
    expectation.add_argument("dimension", type=_positive)
    expectation.add_argument("--integrand", choices=list(INTEGRANDS), nargs="+", default=list(INTEGRANDS))
    expectation.set_defaults(command=_expectation)

    permutation = commands.add_parser("permutation", parents=[runs], help="a quadratic assignment problem")
    permutation.add_argument("file", type=Path, help="a .dat file beside an instances.csv with the best known values")
    permutation.set_defaults(command=_permutation)

    task = commands.add_parser("task", parents=[runs], help="a task of the list, by name")
    task.add_argument("name")
    task.set_defaults(command=_task)

    suite = commands.add_parser("suite", help="the whole list, first things first")
    suite.add_argument("--methods", default=",".join(METHODS), help="names separated by commas; 'peers' for all peers")
    suite.add_argument("--only", default="", help="tasks whose names begin so, separated by commas")
    suite.add_argument("--again", action="store_true", help="replace runs that are there")
    suite.set_defaults(command=_suite)

    root = Path(__file__).resolve().parents[1]
    report = commands.add_parser("report", help="docs/benchmarks.md, and what README says of it, out of the results")
    report.add_argument("--out", type=Path, default=root / "docs" / "benchmarks.md")
    report.add_argument("--readme", type=Path, default=root / "README.md")
    report.set_defaults(command=_report)
    return parser


def _options() -> argparse.ArgumentParser:
    """What every kind of run takes."""
    runs = argparse.ArgumentParser(add_help=False)
    runs.add_argument("--methods", default=DEFAULT, help="names separated by commas; 'peers' for all peers")
    runs.add_argument("--seeds", type=_positive, default=20)
    runs.add_argument("--initial", type=_positive, help="objects every method begins with")
    runs.add_argument("--budget", type=_positive, help="evaluations after the initial ones")
    runs.add_argument("--batch", type=_positive, default=1)
    runs.add_argument("--json", type=Path, help="where results go; <task>.json in the results' folder if absent")
    runs.add_argument("--again", action="store_true", help="replace runs that are there")
    return runs


if __name__ == "__main__":
    main()
