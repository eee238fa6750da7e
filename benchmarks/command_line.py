"""Seconds of the command line, each command in a fresh process: `python -m benchmarks.command_line [FOLDER]`.

FOLDER holds `zinc250k/zinc250k.csv.gz`, from which the tables are made: 1,000 and 100,000 molecules, 50 of them with
their penalised logP, the others as candidates. Printed are the seconds on the wall, and of processor time (children
included) because other work on the machine lengthens the first.
"""

from __future__ import annotations

import csv
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

MEASURED = 50
REPEATS = {"--help": 7}


def table(source: Path, target: Path, rows: int) -> Path:
    """The first molecules of the source; the first ones have a value."""
    with gzip.open(source, "rt", encoding="utf-8", newline="") as file, target.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["smiles", "score"])
        for place, row in enumerate(islice(csv.DictReader(file), rows)):
            writer.writerow([row["smiles"], row["penalized_logp"] if place < MEASURED else ""])
    return target


def measured(arguments: list[str]) -> tuple[float, float]:
    """Seconds on the wall and of processor time that a command takes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "likewise", *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    root = Path(__file__).resolve().parents[1]
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else root.parent / "shared" / "data"
    source = folder / "zinc250k" / "zinc250k.csv.gz"
    with tempfile.TemporaryDirectory() as made:
        small = table(source, Path(made) / "thousand.csv", 1_000)
        large = table(source, Path(made) / "hundred-thousand.csv", 100_000)
        following, report = Path(made) / "next.csv", Path(made) / "report.html"
        files = ["--out", str(following), "--force"]
        for name, arguments in {
            "--help": ["--help"],
            "suggest -n 8, 1,000 molecules": ["suggest", str(small), "-n", "8", *files],
            "the same, with the report": ["suggest", str(small), "-n", "8", *files, "--report", str(report)],
            "suggest -n 8, 100,000 molecules": ["suggest", str(large), "-n", "8", *files],
        }.items():
            times = [measured(arguments) for _ in range(REPEATS.get(name, 1))]
            wall, processor = map(min, zip(*times, strict=True))
            print(f"{name:34} {wall:6.2f} s, processor {processor:6.2f} s", flush=True)


if __name__ == "__main__":
    main()
