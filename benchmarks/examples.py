"""`python -m benchmarks.examples`: the problems of `examples/` against random search, from the same first objects.

Each run is stored as soon as it ends, and skipped when it is there. The table goes to the screen, the runs to
`benchmarks/results/examples.json`.
"""

from __future__ import annotations

import argparse
import json
import runpy
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any, Literal

import numpy as np

import likewise as lw
from benchmarks.tasks.catalogue import data_folder

RESULTS = Path(__file__).parent / "results" / "examples.json"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
METHODS = ("random", "likewise", "auto")

Runs = dict[str, dict[str, dict[str, dict[str, float]]]]


@dataclass(frozen=True)
class Problem:
    """An example with its data file, how many objects are drawn at random first, and how many are chosen then."""

    example: str
    data: str
    direction: Literal["maximize", "minimize"] = "maximize"
    first: int = 10
    chosen: int = 50

    def read(self, folder: Path) -> tuple[lw.Space, Callable[[Any], float], Callable[[], Any]]:
        """The space, the objective, and what makes the similarity that the example recommends."""
        names = runpy.run_path(str(EXAMPLES / f"{self.example}.py"))
        space, objective = names["problem"](folder / self.data)
        return space, objective, names["similarity"]


PROBLEMS = {
    "dna": Problem("dna", "tfbind8/tfbind8_SIX6_REF_R1.csv.gz"),
    "molecules": Problem("molecules", "photoswitch/photoswitches.csv"),
    "reactions": Problem("reactions", "direct_arylation/direct_arylation.csv"),
    "architectures": Problem("architectures", "nasbench_macro/nasbench_macro_cifar10.csv"),
    "assignment": Problem("assignment", "qaplib/nug12.dat", "minimize"),
    "compositions": Problem("compositions", "olympus/oer_plate_3496.csv", "minimize"),
    "series": Problem("series", "timeseries/covid3month.csv"),
    "assignment, 20 + 200": Problem("assignment", "qaplib/nug12.dat", "minimize", 20, 200),
}


def run(problem: Problem, method: str, seed: int, folder: Path) -> dict[str, float]:
    """The best value after the first objects and at the end, and the CPU seconds of an ask with its tell."""
    space, objective, similarity = problem.read(folder)
    first = space.sample(problem.first, np.random.default_rng(seed))
    values = [objective(x) for x in first]
    start = time.process_time()
    if method == "random":
        values += [objective(x) for x in _fresh(space, first, problem.chosen, np.random.default_rng([seed, 1]))]
    else:
        given = similarity() if method == "likewise" else "auto"
        study = lw.Study(space, given, direction=problem.direction, seed=seed)
        for x, value in zip(first, values, strict=True):
            study.tell(x, value)
        for _ in range(problem.chosen):
            suggestion = study.ask()[0]
            values.append(objective(suggestion.object))
            study.tell(suggestion, values[-1])
    best = max if problem.direction == "maximize" else min
    seconds = (time.process_time() - start) / problem.chosen
    return {"first": best(values[: problem.first]), "best": best(values), "seconds": round(seconds, 4)}


def _fresh(space: lw.Space, taken: list[Any], n: int, rng: np.random.Generator) -> Iterator[Any]:
    """Random objects, none of them twice."""
    keys = {space.key(x) for x in taken}
    goal = len(keys) + n
    while len(keys) < goal:
        for x in space.sample(n, rng):
            if len(keys) < goal and space.key(x) not in keys:
                keys.add(space.key(x))
                yield x


def read() -> Runs:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def store(name: str, method: str, seed: int, result: dict[str, float]) -> None:
    """Add one run to the file, in which each run stands on a line of its own."""
    runs = read()
    runs.setdefault(name, {}).setdefault(method, {})[str(seed)] = result
    beside = RESULTS.with_suffix(".part")
    beside.write_text(_dumps(runs, 3) + "\n")
    beside.replace(RESULTS)


def _dumps(content: Any, levels: int) -> str:
    """JSON with a line for each entry down to this level."""
    if not levels:
        return json.dumps(content)
    entries = (f"{json.dumps(key)}: {_dumps(value, levels - 1)}" for key, value in content.items())
    return "{\n" + ",\n".join(entries) + "\n}"


def table(runs: Runs) -> str:
    """Mean best values; in brackets on how many seeds the method ended above random search, or at it."""
    lines = ["| problem | first objects | random | likewise | auto | s/ask |", "|---|---|---|---|---|---|"]
    for name, problem in PROBLEMS.items():
        if name in runs:
            lines.append(_line(name, problem, runs[name]))
    return "\n".join(lines)


def _line(name: str, problem: Problem, methods: dict[str, dict[str, dict[str, float]]]) -> str:
    arrow = "↑" if problem.direction == "maximize" else "↓"
    first = mean(run["first"] for run in methods["random"].values())
    cells = [_cell(problem, methods, method) for method in METHODS]
    times = [run["seconds"] for run in methods.get("likewise", {}).values()]
    return f"| {name} {arrow} | {first:.4g} | {' | '.join(cells)} | {median(times) if times else 0:.2f} |"


def _cell(problem: Problem, methods: dict[str, dict[str, dict[str, float]]], method: str) -> str:
    runs, random = methods.get(method, {}), methods["random"]
    if not runs:
        return "–"
    sign = 1 if problem.direction == "maximize" else -1
    ahead = [np.sign(sign * (run["best"] - random[seed]["best"])) for seed, run in runs.items() if seed in random]
    won = f" ({ahead.count(1)} won, {ahead.count(-1)} lost)" if method != "random" else ""
    return f"{mean(run['best'] for run in runs.values()):.4g}{won}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=data_folder(), help="folder of the data sets")
    parser.add_argument("--only", default=";".join(PROBLEMS), help="names of problems, separated by semicolons")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--again", action="store_true", help="replace runs that are there")
    given = parser.parse_args()
    for seed in range(given.seeds):
        for name in given.only.split(";"):
            for method in given.methods.split(","):
                if given.again or str(seed) not in read().get(name, {}).get(method, {}):
                    result = run(PROBLEMS[name], method, seed, given.data)
                    store(name, method, seed, result)
                    print(f"{name}, {method}, seed {seed}: {result}", flush=True)
    print(table(read()))


if __name__ == "__main__":
    main()
