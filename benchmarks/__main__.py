"""`python -m benchmarks`: run tasks, the whole suite, or make the report."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks.methods import METHODS, PEERS


def main() -> None:
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.data:
        from benchmarks.tasks.catalogue import DATA_VARIABLE

        os.environ[DATA_VARIABLE] = str(arguments.data)
    arguments.command(arguments)


def _suite(arguments: argparse.Namespace) -> None:
    from benchmarks.suite import jobs, run_jobs

    run_jobs(jobs(_methods(arguments), tuple(_names(arguments.only))), again=arguments.again)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _methods(arguments: argparse.Namespace) -> tuple[str, ...]:
    return PEERS if arguments.methods == "peers" else tuple(_names(arguments.methods))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the data sets, ../shared/data by default")
    commands = parser.add_subparsers(required=True)
    suite = commands.add_parser("suite", help="everything in issue order; runs that are there are skipped")
    suite.add_argument("--methods", default=",".join(METHODS), help="names, or 'peers'")
    suite.add_argument("--only", default="", help="tasks whose names begin so, separated by commas")
    suite.add_argument("--again", action="store_true", help="replace runs that are there")
    suite.set_defaults(command=_suite)
    return parser


if __name__ == "__main__":
    main()
