"""The section on several objectives of docs/benchmarks.md, out of the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import sections
from benchmarks.objectives.tasks import BUDGET, INITIAL

POOLS, BATCH = ("arylation_cost", "redoxmers", "zinc_window"), "-batch8"
ORDER = ("likewise", "botorch", "baybe", "optuna-gp", "optuna-tpe", "optuna-nsga2", "random")


def regret(runs: dict[str, Any]) -> tuple[float, float]:
    """1 − hypervolume as a share of the best: mean over the evaluations after the first ones, and at the end."""
    gaps = 1 - np.array([run["volumes"][INITIAL:] for run in runs.values()])
    return float(gaps.mean()), float(gaps[:, -1].mean())


def ratio(methods: dict[str, Any]) -> float:
    """The regret of likewise over the best peer's, for each peer on the seeds that both have; NaN without any."""
    ours, found = methods.get("likewise", {}), []
    for peer in set(methods) - {"likewise", "random"}:
        if seeds := sorted(ours.keys() & methods[peer].keys()):
            mine, theirs = (regret({seed: runs[seed] for seed in seeds})[0] for runs in (ours, methods[peer]))
            found.append(mine / max(theirs, 1e-12))
    return max(found, default=np.nan)


def _means(stored: dict[str, Any]) -> list[str]:
    """The geometric means of the ratios: pools and functions, one at a time and in batches."""
    cells = []
    for pools in (True, False):
        for batches in (False, True):
            names = [n for n in stored if n.endswith(BATCH) == batches and (n.removesuffix(BATCH) in POOLS) == pools]
            found = np.array([ratio(stored[name]) for name in names])
            cells.append(f"{np.exp(np.nanmean(np.log(found))):.2f} ({len(names)})" if names else "–")
    return ["| pools | pools, batches of 8 | functions | functions, batches of 8 |", "|---" * 4 + "|", _line(cells)]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(name: str, methods: dict[str, Any]) -> str:
    regrets = {method: regret(runs) for method, runs in methods.items()}
    cells = [f"{regrets[m][0]:.3f} ({regrets[m][1]:.3f})" if m in regrets else "–" for m in ORDER]
    over = ratio(methods)
    counts = sorted({len(runs) for runs in methods.values()})
    seeds = "–".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    return _line([name, seeds, *cells, "–" if np.isnan(over) else f"{over:.2f}"])


def _seconds(name: str, methods: dict[str, Any]) -> str:
    times = {m: np.median([run["cpu_seconds"] for run in runs.values()]) for m, runs in methods.items()}
    return _line([name, *(f"{times[m]:.2g}" if m in times else "–" for m in ORDER)])


def _first(name: str, methods: dict[str, Any]) -> str:
    """The median number of evaluations until the first feasible one; runs without one count as longer than all."""
    most = INITIAL + BUDGET
    middle = {m: np.median([run["feasible"] or most + 1 for run in runs.values()]) for m, runs in methods.items()}
    cells = [(f"{middle[m]:g}" if middle[m] <= most else f"> {most}") if m in middle else "–" for m in ORDER]
    return _line([name, *cells])


def _is_constrained(methods: dict[str, Any]) -> bool:
    """Whether the first objects are infeasible, as those of every task with constraints are."""
    return any(run["feasible"] != 1 for runs in methods.values() for run in runs.values())


def section(folder: Path) -> str:
    """The section."""
    stored = {path.stem: json.loads(path.read_text())["methods"] for path in sorted(folder.glob("*.json"))}
    head, rule = " | ".join(ORDER), "|---" * len(ORDER)
    lines = [
        f"## Several objectives: {INITIAL} random objects + {BUDGET} evaluations",
        "",
        "Made by `python -m benchmarks.objectives`. Regret: 1 − the hypervolume of the front as a share of the best",
        "front's, mean over the evaluations after the first ones and at the end in brackets. The last column is that",
        "of likewise over the best peer's, on the seeds that both have. All methods are given the same first objects",
        "and reference point. BoTorch:",
        "a GP for each outcome, qLogNEHVI of 128 samples over the whole pool, or 10 restarts of 512 raw samples in a",
        "box. BayBE: a campaign with a Pareto objective and its own defaults, molecules by their Mordred descriptors;",
        "it has no constraints on outcomes, and is left out where there are some. `arylation_cost` has two objectives,",
        "`redoxmers` and `dtlz2` three. `srn`, `c2_dtlz2` and `zinc_window` have constraints: all of their first",
        "objects break one. `zinc_window`: 5,000 molecules of ZINC by QED and synthetic accessibility, logP from 0 to",
        "0.5 (4 % of them). A name that ends in `-batch8`: eight at a time. A dash is a run that is still missing, or",
        "a task that does not suit the method; one seed tells little.",
        "",
        f"| task | seeds | {head} | likewise / best peer |",
        f"|---|---{rule}|---|",
        *(_row(name, methods) for name, methods in stored.items()),
        "",
        "Geometric means of the last column (number of tasks):",
        "",
        *_means(stored),
        "",
        "Evaluations until the first that keeps all constraints (median, the first ten included):",
        "",
        f"| task | {head} |",
        f"|---{rule}|",
        *(_first(name, methods) for name, methods in stored.items() if _is_constrained(methods)),
        "",
        "Seconds on the processor of a tell and the next ask (median):",
        "",
        f"| task | {head} |",
        f"|---{rule}|",
        *(_seconds(name, methods) for name, methods in stored.items()),
        "",
    ]
    return "\n".join(lines)


def write_section(folder: Path) -> None:
    """Put the section into the page."""
    sections.write_section("objectives", section(folder))
