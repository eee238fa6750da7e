"""Results on disk: one small JSON file per task and batch size, in which each run stands on a line of its own.

Files are replaced whole (written beside, then renamed) under a lock on their folder, so that a run can be stopped at
any moment and several processes can write at once.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.methods.base import Method
from benchmarks.tasks.base import Task, Vector

RESULTS = Path(__file__).parent / "results"
DIGITS = 6


@dataclass(frozen=True)
class Run:
    """What one method did on one task from one seed: scores in the task's units, and the time a round took.

    `commit` is that of likewise's source, where it is known and the method is likewise's. `recommended` is the true
    value of the object that the method holds for the best in the end, where measurements are noisy.
    """

    values: list[float]
    seconds: float
    cpu_seconds: float
    commit: str | None = None
    recommended: float | None = None


@dataclass(frozen=True)
class Results:
    """The file of one task and batch size."""

    path: Path

    def read(self) -> dict[str, Any]:
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def has(self, method: str, seed: int) -> bool:
        return str(seed) in self.read().get("methods", {}).get(method, {}).get("runs", {})

    def check(self, task: Task, batch: int, *, facts: bool = True) -> None:
        """Stop if the file holds another task; `facts` compares the optimum and the median too, which take time."""
        wanted = _asked(task, batch) | (_facts(task) if facts else {})
        known = self.read().get("task", wanted)
        if different := [key for key in wanted if known.get(key) != wanted[key]]:
            there, here = ({key: one.get(key) for key in different} for one in (known, wanted))
            raise SystemExit(f"{self.path} holds another task: {there}, not {here}; give another --json")

    def add(self, task: Task, batch: int, method: Method, seed: int, run: Run) -> None:
        """Add one run, keeping all others."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path.parent):
            self.check(task, batch)
            header = _asked(task, batch) | _facts(task)
            content = {"task": header, "machine": machine(), "methods": self.read().get("methods", {})}
            entry = content["methods"].setdefault(method.name, {"runs": {}})
            entry |= {"settings": method.settings(task), "versions": {name: version(name) for name in method.libraries}}
            entry["runs"] = dict(
                sorted({**entry["runs"], str(seed): _line(task, run)}.items(), key=lambda kv: int(kv[0]))
            )
            replace_file(self.path, _dumps(content))


def results_of(task_name: str, batch: int, folder: Path = RESULTS) -> Results:
    """Where the results of this task are kept."""
    return Results(folder / (f"{task_name}.json" if batch == 1 else f"{task_name}-batch{batch}.json"))


def machine() -> dict[str, Any]:
    """What the times depend on."""
    models = [line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def _asked(task: Task, batch: int) -> dict[str, Any]:
    return {
        "name": task.name,
        "direction": "maximize" if task.sign > 0 else "minimize",
        "initial": task.initial,
        "budget": task.budget,
        "batch": batch,
    }


def _facts(task: Task) -> dict[str, Any]:
    facts = task.facts
    return {
        "best": _significant(task.sign * facts.best, 12),
        "median": _significant(task.sign * facts.median, 9),
        "top": _significant(task.sign * facts.top, 9),
    }


def _line(task: Task, run: Run) -> dict[str, Any]:
    best = task.sign * task.facts.best
    return {
        "seconds": _significant(run.seconds, 3),
        "cpu_seconds": _significant(run.cpu_seconds, 3),
        **({"commit": run.commit} if run.commit else {}),
        **({} if run.recommended is None else {"recommended": _rounded(run.recommended, best)}),
        "values": [_rounded(value, best) for value in run.values],
    }


def _rounded(value: float, best: float) -> float:
    """The value to as many places as give its distance from the optimum six digits: regrets are what is compared."""
    gap = abs(value - best)
    if gap == 0:
        return value
    return round(value, max(DIGITS - 1 - int(np.floor(np.log10(gap))), 0))


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def scores(header: dict[str, Any], line: dict[str, Any]) -> Vector:
    """The stored values as scores to maximise."""
    return np.asarray(line["values"]) * (1.0 if header["direction"] == "maximize" else -1.0)


def _dumps(content: dict[str, Any]) -> str:
    """JSON with one line per run."""
    methods = []
    for name, entry in sorted(content["methods"].items()):
        runs = ",\n".join(
            f"    {json.dumps(seed)}: {json.dumps(line, separators=(',', ':'))}" for seed, line in entry["runs"].items()
        )
        head = "".join(f"   {json.dumps(key)}: {json.dumps(entry[key])},\n" for key in ("settings", "versions"))
        methods.append(f'  {json.dumps(name)}: {{\n{head}   "runs": {{\n{runs}\n   }}\n  }}')
    head = "".join(f" {json.dumps(key)}: {json.dumps(content[key])},\n" for key in ("task", "machine"))
    return "{\n" + head + ' "methods": {\n' + ",\n".join(methods) + "\n }\n}\n"


def replace_file(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text)
    os.replace(beside, path)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
