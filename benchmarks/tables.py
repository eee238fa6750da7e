"""Results as tables of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.measures import Measures, best_peer, bootstrap, measures, paired, ratio, standard_error
from benchmarks.methods import OURS, PEERS
from benchmarks.tasks.base import Vector

COLUMNS = (
    "method", "seeds", "AUC regret", "final regret", "top 1 % found", "s per ask",
    "ratio", "paired difference", "AUC means, shared seeds",
)  # fmt: skip


def all_measures(content: Mapping[str, Any], names: Sequence[str] = ()) -> dict[str, Measures]:
    """Measures of each method in a results file."""
    entries = content.get("methods", {})
    return {name: measures(content["task"], entries[name]["runs"]) for name in entries if not names or name in names}


def task_table(content: Mapping[str, Any], names: Sequence[str] = ()) -> str:
    """One task: a row per method, best AUC first."""
    table = all_measures(content, names)
    if not table:
        return "no runs"
    peer = best_peer(table, PEERS)
    rows = [_row(name, m, table, peer) for name, m in sorted(table.items(), key=lambda item: item[1].auc.mean())]
    return markdown(COLUMNS, rows)


def _row(name: str, ours: Measures, table: Mapping[str, Measures], peer: str | None) -> list[str]:
    return [
        f"**{name}**" if name == OURS else name,
        str(len(ours.seeds)),
        mean_and_error(ours.auc),
        mean_and_error(ours.final),
        mean_and_error(ours.found, "{:.1f}"),
        f"{np.mean(ours.cpu_seconds):.2g}",
        *(
            ["", "best peer" if name == peer else "", ""]
            if name == peer or peer is None
            else _against(ours, table[peer])
        ),
    ]


def _against(ours: Measures, theirs: Measures) -> list[str]:
    """Ratio of AUC regrets to the best peer's, the 90 % interval of the difference, and both means."""
    a, b = paired(ours, theirs)
    if not len(a):
        return ["", "", ""]
    low, high = bootstrap(a, b)
    difference = f"{(a - b).mean():+.4f} [{low:+.4f}, {high:+.4f}]"
    return [f"{ratio(ours, theirs):.2f}", difference, shared_means(ours, theirs)]


def shared_means(ours: Measures, theirs: Measures, of: str = "auc") -> str:
    """Both means over the seeds both have, and how many these are: what a ratio is made of."""
    a, b = paired(ours, theirs, of)
    means = (_form(mean).format(mean) for mean in (a.mean(), b.mean()))
    return f"{' / '.join(means)} ({len(a)})"


def _form(mean: float, usual: str = "{:.4f}") -> str:
    return "{:.1e}" if 0 < mean < 1e-3 else usual


def mean_and_error(values: Vector, form: str = "{:.4f}") -> str:
    """Mean ± standard error."""
    form = _form(values.mean(), form)
    return f"{form.format(values.mean())} ± {form.format(standard_error(values))}"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
