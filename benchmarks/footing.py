"""likewise and BoTorch on pools of molecules, each with its own view of them and with the other's."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.measures import Measures, geometric_mean, ratio, shared
from benchmarks.tables import markdown, mean_and_error
from benchmarks.tasks.catalogue import MOLECULES

METHODS = ("likewise", "likewise-fingerprints", "botorch", "botorch-descriptors")
AGAINST = {"likewise": "botorch-descriptors", "likewise-fingerprints": "botorch"}
INTRODUCTION = """### On equal footing

Pools of molecules, AUC regret: `likewise-fingerprints` sees the Morgan bits of BoTorch alone, `botorch-descriptors` the
thirteen descriptors of likewise beside them. Ratios on shared seeds; the two are controls, not peers.
"""


def footing(tables: Mapping[str, Mapping[str, Measures]]) -> str:
    """likewise and BoTorch, each with its own view of molecules and with the other's."""
    there = {name: tables[name] for name in MOLECULES if name in tables}
    if not there:
        return ""
    rows = [[name, *(_auc(table, m) for m in METHODS)] for name, table in there.items()]
    means = ["geometric mean", *[""] * len(METHODS)]
    for ours, theirs in AGAINST.items():
        both = {name: t for name, t in there.items() if ours in t and theirs in t and shared(t[ours], t[theirs])}
        found = {name: ratio(table[ours], table[theirs]) for name, table in both.items()}
        for row in rows:
            row.append(f"**{found[row[0]]:.2f}**" if row[0] in found else "")
        means.append(f"**{geometric_mean(list(found.values())):.2f}**" if found else "")
    heads = ["task", *METHODS, *(f"{ours} / {theirs}" for ours, theirs in AGAINST.items())]
    return f"{INTRODUCTION}\n{markdown(heads, [*rows, means])}\n"


def _auc(table: Mapping[str, Measures], method: str) -> str:
    return f"{mean_and_error(table[method].auc)} ({len(table[method].seeds)})" if method in table else ""
