"""Seconds of `import likewise` beside `import numpy, scipy.linalg`: `python -m benchmarks.import_time`.

Fresh processes in turn, so that what else the machine does falls on all alike.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median

STATEMENTS = ("import numpy, scipy.linalg", "import likewise", "import optuna", "import botorch")
REPEATS = 11


def seconds(statement: str) -> float:
    """What the statement takes in a fresh process, the interpreter's start left out."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    rounds = [[seconds(statement) for statement in STATEMENTS] for _ in range(REPEATS)]
    for statement, times in zip(STATEMENTS, zip(*rounds, strict=True), strict=True):
        print(f"{statement:30} {median(times):.3f} s (least {min(times):.3f})")


if __name__ == "__main__":
    main()
