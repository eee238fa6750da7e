"""`python -m tests.golden [NAME…]` prints in what the answers differ from those recorded; `--record` records them.

A name is that of a study or of a page, or a part of it; without one all are run. `--digits` asks for every digit.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.golden import bench, pages, recorded
from tests.golden.studies import STUDIES

MOST_SHOWN = 5
Answers = dict[str, Any]
SETS: Mapping[str, tuple[Mapping[str, Any], Callable[[Any, Path], Answers]]] = {
    "studies": (STUDIES, bench.run),
    "pages": (pages.PAGES, pages.run),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--record", action="store_true", help="record the answers anew")
    parser.add_argument("--digits", action="store_true", help="compare every digit")
    options = parser.parse_args()
    tolerance = 0.0 if options.digits else recorded.TOLERANCE
    differing = 0
    for what, (definitions, run) in SETS.items():
        before = recorded.read(what)
        answers = {name: before[name] for name in definitions if name in before}
        for name, definition in definitions.items():
            if options.names and not any(part in name for part in options.names):
                continue
            began = time.perf_counter()
            with TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answers[name] = run(definition, Path(folder))
            seconds = time.perf_counter() - began
            differing += report(name, before.get(name, {}), answers[name], tolerance, seconds)
        if options.record:
            recorded.write(what, {name: answers[name] for name in definitions if name in answers})
    return int(differing > 0 and not options.record)


def report(name: str, before: Answers, answer: Answers, tolerance: float, seconds: float) -> bool:
    """Print in what an answer differs, the worst first; whether it does."""
    differing = list(recorded.differences(before, answer, tolerance))
    worst = max((d.relative for d in differing), default=0.0)
    said = "as recorded" if not differing else f"{len(differing)} differences, the worst {worst:.1e}"
    print(f"{name}: {said if before else 'not recorded before'} [{seconds:.1f} s]", flush=True)
    for difference in sorted(differing, key=lambda d: d.relative, reverse=True)[: MOST_SHOWN if before else 0]:
        print(f"    {difference}")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
