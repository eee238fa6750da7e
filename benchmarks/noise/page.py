"""The section on batches and noise of docs/benchmarks.md, out of the results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import sections
from benchmarks.measures import Measures, geometric_mean, paired, ratio, shared
from benchmarks.noise.plan import BATCH, BUDGET, FOLDER, NOISE, SETTINGS, TASKS, Setting, noisy
from benchmarks.store import results_of
from benchmarks.tables import all_measures, markdown

OURS, EARLIER = "likewise", "likewise-0.1"
TITLES = {
    "batches": f"Batches of {BATCH}, no noise",
    "noisy-batches": f"Batches of {BATCH}, noise {NOISE:g} of the spread",
    "noisy": f"One at a time, noise {NOISE:g} of the spread",
}
HEAD = f"""## Batches and noise: 10 random objects + {BUDGET} evaluations

Made by `python -m benchmarks.noise`. Noise is normal, a share of the standard deviation of uniform samples' values.
Each measurement of a run has the same error for every method. Regret is that of true values, as a share of what the
optimum lies above the median: its mean over the evaluations after the first ten, and at the end in brackets. With
noise, a second bracket has the regret of the object that the method recommends in the end: of the measured ones that
of largest expected value. BoTorch is qLogEI, with noise qLogNEI, of all objects together in boxes, one after the
other in records. `reaction` is a record of two choices, a whole number and two floats, `mixed_ackley` of two choices,
two whole numbers and three floats. Ratios are over the seeds that both have, (regret + 0.005) / (the other's +
0.005). The last column has seconds on the processor of a tell and the next ask, of likewise and of BoTorch. A dash is
a run that is still missing; one seed tells little.
"""


def write_section() -> None:
    """Put the section into the page."""
    sections.write_section("noise", section())


def section(folder: Path = FOLDER) -> str:
    """The section."""
    return HEAD + "".join(f"\n{_part(title, SETTINGS[name], folder)}" for name, title in TITLES.items())


def _part(title: str, setting: Setting, folder: Path) -> str:
    peer = "botorch-qlognei" if setting.noise else "botorch-qlogei"
    rows, ratios = [], {peer: [], EARLIER: []}  # type: ignore[var-annotated]
    for name, task in TASKS.items():
        content = results_of(noisy(task, setting.noise).name, setting.batch, folder).read()
        table = all_measures(content)
        cells = [_cell(method, table, content) for method in (OURS, peer, EARLIER)]
        compared = [_ratio(table, method) for method in ratios]
        rows.append([name, *cells, *(_ratio_cell(*one) for one in compared), _seconds(table, OURS, peer)])
        for method, (found, _) in zip(ratios, compared, strict=True):
            ratios[method] += [found] if found is not None else []
    means = [f"{geometric_mean(found):.2f}" if found else "–" for found in ratios.values()]
    columns = ["task", OURS, peer, EARLIER, f"likewise / {peer}", f"likewise / {EARLIER}", "s per ask"]
    last = ["geometric mean", "", "", "", *means, ""]
    return f"### {title}\n\n{markdown(columns, [*rows, last])}\n"


def _cell(method: str, table: Mapping[str, Measures], content: Mapping[str, Any]) -> str:
    if method not in table:
        return "–"
    found = table[method]
    last = _recommended(content, method)
    more = "" if last is None else f" ({last:.3f})"
    return f"{found.auc.mean():.3f} ({found.final.mean():.3f}){more}"


def _recommended(content: Mapping[str, Any], method: str) -> float | None:
    """The mean regret of what was recommended."""
    task = content["task"]
    values = [line["recommended"] for line in content["methods"][method]["runs"].values() if "recommended" in line]
    return float(np.mean((task["best"] - np.array(values)) / (task["best"] - task["median"]))) if values else None


def _ratio(table: Mapping[str, Measures], other: str) -> tuple[float | None, int]:
    """The ratio of regrets over shared seeds, and how many these are."""
    if OURS not in table or other not in table or not shared(table[OURS], table[other]):
        return None, 0
    return ratio(table[OURS], table[other]), len(paired(table[OURS], table[other])[0])


def _seconds(table: Mapping[str, Measures], *methods: str) -> str:
    return " / ".join(f"{np.median(table[one].cpu_seconds):.2g}" if one in table else "–" for one in methods)


def _ratio_cell(found: float | None, seeds: int) -> str:
    return "–" if found is None else f"{found:.2f} ({seeds} seed{'s' * (seeds > 1)})"
