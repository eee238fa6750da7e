"""What an installation weighs and how long its import takes, beside the peers: `python -m benchmarks.installation`.

Bytes are those of the files that a distribution and all it requires have written, compiled Python left out, without
extras unless they are named. Imports run in fresh processes by turns, so that what else the machine does falls on all
alike; processor seconds, the interpreter's start left out. The figures go to `benchmarks/results/installation.json`,
and the table into docs/comparison.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from statistics import median

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import likewise
from benchmarks.sections import write_section
from benchmarks.store import machine
from benchmarks.tables import markdown

OUT = Path(__file__).parent / "results" / "installation.json"
PAGE = Path(__file__).parents[1] / "docs" / "comparison.md"
# What is required, and how it is imported.
MEASURED = {
    "likewise": "import likewise",
    "likewise[molecules,plots]": "import likewise",
    "optuna": "import optuna",
    "scikit-optimize": "import skopt",
    "botorch": "import botorch",
    "baybe": "import baybe",
    "numpy and scipy": "import numpy, scipy.linalg",
}
NEEDED = {"numpy and scipy": ("scipy",)}
# What the names of likewise load when they are first used; the others load theirs with the import.
FIRST_USE = "import likewise as lw; lw.Study(lw.Box([0.0], [1.0]), lw.RBF()).ask()"
REPEATS = 11


def required(names: tuple[str, ...]) -> dict[str, Distribution]:
    """The distributions that these requirements need, themselves included, by name."""
    found: dict[str, Distribution] = {}
    open_requirements, seen = [Requirement(name) for name in names], set()
    while open_requirements:
        wanted = open_requirements.pop()
        name, extras = canonicalize_name(wanted.name), ("", *sorted(wanted.extras))
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        found[name] = distribution(name)
        for text in found[name].requires or ():
            inner = Requirement(text)
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
                open_requirements.append(inner)
    return found


def sizes(found: Distribution) -> Iterator[int]:
    """The bytes of each file of a distribution; of likewise those of the checkout, which is linked and not copied."""
    own = canonicalize_name(found.name) == "likewise"
    files = Path(likewise.__file__).parent.rglob("*") if own else (Path(f.locate()) for f in found.files or ())
    for file in files:
        if file.suffix != ".pyc" and file.is_file():
            yield file.stat().st_size


def seconds(statement: str) -> float:
    """The processor seconds of a statement in a fresh process, the interpreter's start left out."""
    code = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def measure() -> dict[str, dict[str, float]]:
    """Megabytes, distributions and seconds of all that are installed here."""
    found: dict[str, dict[str, float]] = {}
    for name in MEASURED:
        try:
            needed = required(NEEDED.get(name, (name,)))
        except PackageNotFoundError as missing:
            print(f"{name} is left out, as {missing} is not installed")
            continue
        total = sum(sum(sizes(each)) for each in needed.values())
        found[name] = {"MB": round(total / 1e6, 1), "distributions": len(needed)}
    statements = {name: MEASURED[name] for name in found} | {"first use": FIRST_USE}
    rounds = [{name: seconds(statement) for name, statement in statements.items()} for _ in range(REPEATS)]
    for name in found:
        found[name]["seconds"] = round(median(times[name] for times in rounds), 3)
    found["likewise"]["first use"] = round(median(times["first use"] for times in rounds), 3)
    return found


def table(found: dict[str, dict[str, float]]) -> str:
    """Size and import time, by library."""
    rows = [[name, f"{f['MB']:.0f}", f"{f['distributions']}", f"{f['seconds']:.3g}"] for name, f in found.items()]
    head = ["installed", "MB", "distributions, with what they require", "import, processor seconds"]
    used = found["likewise"]["first use"]
    return f"""Made by `python -m benchmarks.installation` in the environment of the benchmarks. Median of {REPEATS}
fresh processes. The torch there is the build without GPUs. `import likewise` loads names when they are first used:
with a study of one number and its first ask it takes {used:.2f} s.

{markdown(head, rows)}"""


def main() -> None:
    found = measure()
    OUT.write_text(json.dumps({"machine": machine(), "installed": found}) + "\n")
    print(table(found))
    write_section("installation", table(found), PAGE)


if __name__ == "__main__":
    main()
