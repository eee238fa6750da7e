"""`python -m benchmarks.reliability --kills 500 --seed 0`: kill, look, and write down what was found."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from benchmarks.reliability.campaign import Databases, run_case, warm_up
from benchmarks.reliability.cases import DATABASES, Case, draw
from benchmarks.reliability.results import OUT, Record, add, is_sound, kills_of, read, tables, write, write_docs


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    # So that a campaign that is told to end ends its server as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if given.docs:
        write_docs(read(given.out))
        return 0
    if given.again:
        write(given.out, [])
    found = _campaign(given)
    print(tables(found))
    return 0 if all(map(is_sound, found)) else 1


def _campaign(given: argparse.Namespace) -> list[Record]:
    databases, found, begun = Databases(), list[Record](), time.monotonic()
    warm_up()
    try:
        for case in _cases(given):
            one, errors = run_case(case, databases)
            add(given.out, one)
            found.append(one)
            _show(case, one, errors, sum(map(kills_of, found)), given.kills, time.monotonic() - begun)
            if given.case is None and sum(map(kills_of, found)) >= given.kills:
                break
    finally:
        databases.close()
    return found


def _cases(given: argparse.Namespace) -> Iterator[Case]:
    """Those named, or those of the seed that are not in the file yet."""
    if given.case is not None:
        yield from (draw(given.seed, number) for number in given.case)
        return
    there = {one["number"] for one in read(given.out) if one["seed"] == given.seed}
    drawn = (draw(given.seed, number) for number in count() if number not in there)
    yield from (case for case in drawn if case.database in given.databases)


def _show(case: Case, one: Record, errors: list[str], killed: int, wanted: int, seconds: float) -> None:
    words = f"{case.database}, {case.level}, {case.workers} workers by {case.start}, parent {case.parent}"
    counts = f"{one['acknowledged']} acknowledged, {one['lost']} lost, {one['duplicated']} duplicated"
    print(f"{killed:6,} of {wanted:,} kills, {seconds:5.0f} s | {case.name}: {words}: {counts}", flush=True)
    if not is_sound(one):
        print(f"       NOT KEPT, --seed {case.seed} --case {case.number}: {one}", *errors, sep="\n", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="how many processes to kill, at least")
    parser.add_argument("--seed", type=int, default=0, help="of the cases; goes on where the file has this seed's last")
    parser.add_argument("--case", type=int, nargs="+", help="run these cases of the seed alone")
    parser.add_argument("--databases", nargs="+", choices=DATABASES, default=DATABASES, help="the cases of these alone")
    parser.add_argument("--out", type=Path, default=OUT, help="the file of the figures")
    parser.add_argument("--again", action="store_true", help="forget the figures of the file first")
    parser.add_argument("--docs", action="store_true", help="write the file's figures into docs/reliability.md instead")
    return parser


if __name__ == "__main__":
    sys.exit(main())
