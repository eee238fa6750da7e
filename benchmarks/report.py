"""docs/benchmarks.md out of the results: overall ratios, then each task with its table and its curves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.curves import draw
from benchmarks.measures import best_peer, geometric_mean, ratio
from benchmarks.methods import PEERS
from benchmarks.store import RESULTS
from benchmarks.suite import HIGH
from benchmarks.tables import all_measures, markdown, task_table
from benchmarks.tasks.catalogue import LARGE, QAP, SMALL, expectations
from benchmarks.tasks.functions import FUNCTIONS

GROUPS = {
    "Pools": (*SMALL, *LARGE),
    "Pools, batches of 8": tuple(f"{name}-batch8" for name in (*SMALL, *LARGE)),
    "Functions": tuple(FUNCTIONS),
    "Functions in high dimension, batches of 8": tuple(f"{name}-batch8" for name in HIGH),
    "Expectations in 1 dimension": expectations(1),
    "Expectations in 2 dimensions": expectations(2),
    "Expectations in 5 dimensions": expectations(5),
    "Expectations in 10 dimensions": expectations(10),
    "Permutations": QAP,
}
OURS = "likewise"
INTRODUCTION = """# Benchmarks

Made by `python -m benchmarks report` from `benchmarks/results`, which `python -m benchmarks suite` fills.

Regret after t evaluations is r_t = (y* − best_t)/(y* − median), with the median over the pool, or over 10,000 uniform
samples where there is no pool. *AUC regret* is its mean over the evaluations after the initial ones, which are the same
for all methods. Means ± standard errors over seeds; *s per ask* is processor time of a tell and an ask, with one BLAS
thread. *Ratio* is (AUC + 0.005)/(best peer's AUC + 0.005) on the seeds both have, and the paired difference carries a
90 % bootstrap interval.
"""


def write(out: Path) -> None:
    """Write the page, and the curves in a folder beside it."""
    contents = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    contents = {name: content for name, content in contents.items() if "task" in content}
    figures = out.with_suffix("")
    figures.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        draw(name, content, figures / f"{name}.svg")
    sections = [_section(title, names, contents, figures.name) for title, names in GROUPS.items()]
    parts = [INTRODUCTION, _overall(contents), _losses(contents), *sections, _peers(contents)]
    out.write_text("\n".join(part for part in parts if part))


def ratios(contents: Mapping[str, Any]) -> dict[str, float]:
    """likewise against the best peer, per task that has both."""
    found = {}
    for name, content in contents.items():
        table = all_measures(content)
        peer = best_peer(table, PEERS)
        if OURS in table and peer and set(table[OURS].seeds) & set(table[peer].seeds):
            found[name] = ratio(table[OURS], table[peer])
    return found


def _overall(contents: Mapping[str, Any]) -> str:
    found = ratios(contents)
    rows = []
    for title, names in GROUPS.items():
        if there := [found[name] for name in names if name in found]:
            rows.append([title, str(len(there)), f"{geometric_mean(there):.2f}", f"{max(there):.2f}"])
    if not rows:
        return ""
    return "## Overall\n\n" + markdown(["tasks", "number", "geometric mean ratio", "largest ratio"], rows) + "\n"


def _losses(contents: Mapping[str, Any]) -> str:
    lost = {name: value for name, value in ratios(contents).items() if value > 1}
    if not lost:
        return ""
    lines = [f"- {name}: {value:.2f}" for name, value in sorted(lost.items(), key=lambda item: -item[1])]
    return "## Where likewise loses\n\n" + "\n".join(lines) + "\n"


def _section(title: str, names: tuple[str, ...], contents: Mapping[str, Any], figures: str) -> str:
    parts = [
        f"### {name}\n\n{_facts(content['task'])}\n\n{task_table(content)}\n\n![regret]({figures}/{name}.svg)\n"
        for name, content in ((name, contents[name]) for name in names if name in contents)
    ]
    return f"## {title}\n\n" + "\n".join(parts) if parts else ""


def _facts(task: Mapping[str, Any]) -> str:
    verb = "Maximise" if task["direction"] == "maximize" else "Minimise"
    return (
        f"{verb}: best {task['best']:.6g}, median {task['median']:.4g}; "
        f"{task['initial']} + {task['budget']} evaluations, {task['batch']} at a time."
    )


def _peers(contents: Mapping[str, Any]) -> str:
    """Each method's settings and versions, where they differ once per kind of task."""
    said: dict[tuple[str, str, str], list[str]] = {}
    for name, content in contents.items():
        for method, entry in content["methods"].items():
            versions = ", ".join(f"{library} {number}" for library, number in entry["versions"].items())
            said.setdefault((method, entry["settings"], versions), []).append(name)
    rows = [[*key, ", ".join(names)] for key, names in sorted(said.items())]
    return "## Settings\n\n" + markdown(["method", "settings", "versions", "tasks"], rows) + "\n"
