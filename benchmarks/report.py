"""The suite's part of docs/benchmarks.md out of the results: overall ratios and losses, then each group of tasks."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.curves import draw
from benchmarks.footing import footing
from benchmarks.measures import Measures, best_peer, bootstrap, eligible, geometric_mean, paired, ratio
from benchmarks.methods import OURS, PEERS
from benchmarks.sections import write_section
from benchmarks.suite import BATCHES, HIGH, missing
from benchmarks.tables import all_measures, markdown, mean_and_error, shared_means
from benchmarks.tasks.catalogue import DESCRIBED, LARGE, QAP, SMALL, TABLES, expectations
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
WITHOUT = {
    f"{title}, without {', '.join(DESCRIBED)}": tuple(name for name in GROUPS[title] if not name.startswith(DESCRIBED))
    for title in ("Pools", "Pools, batches of 8")
}
GAUSSIAN_PROCESSES = ("botorch", "optuna-gp", "skopt")
# Of permutations no Gaussian process is at hand; what people use there is a genetic algorithm.
STRONG = (*GAUSSIAN_PROCESSES, "ga")
SINGLE = ("likewise-embedding", "likewise-bhattacharyya", "likewise-wasserstein", "likewise-kl")
COLUMNS = (OURS, "paper", *BATCHES, *SINGLE, *PEERS)
INTRODUCTION = """## The suite

Made by `python -m benchmarks report` from `benchmarks/results`, which `python -m benchmarks suite` fills.

Regret after t evaluations is r_t = (y* − best_t)/(y* − median), with the median over the pool, or over 10,000 uniform
samples where there is no pool. *AUC regret* is its mean over the evaluations after the initial ones, which are the same
for all methods. Means ± standard errors over the seeds in brackets; seconds are processor time of a tell and an ask,
with one BLAS thread. *Ratio* is (AUC + 0.005)/(best peer's AUC + 0.005) on the seeds both have, with the 90 % bootstrap
interval of the paired difference and both means over those seeds beside it. The best peer is the one of the largest
ratio among those that share five seeds or more: with two or three the luck of the initial objects decides. Where no
peer with a Gaussian process shares five, nor a genetic algorithm, the ratio says which peers are left, and the task is
left out of the geometric mean.

Molecules are not the same to all methods. The peers see Morgan bits (radius 2, 2,048): BoTorch by Tanimoto's kernel,
Optuna and scikit-optimize by their first ten principal components. `likewise` with `similarity="auto"` sees counts of
Morgan features, MACCS keys and thirteen RDKit descriptors, in reactions the counts and which molecule it is.
[On equal footing](#on-equal-footing) gives each what the other sees. Where a task is marked log₁₀, the logarithm of its
value is optimised, and its regret measured.
"""

Table = Mapping[str, Measures]
Contents = Mapping[str, Any]
Comparison = Callable[[Table, str], str]


def read(results: Path) -> dict[str, Any]:
    """The results of each task, by the name of their file."""
    contents = {path.stem: json.loads(path.read_text()) for path in sorted(results.glob("*.json"))}
    return {name: content for name, content in contents.items() if "task" in content}


def write(out: Path, results: Path, readme: Path | None = None) -> None:
    """Write the suite's part of the page, and the curves in a folder beside it; the rest of the page stays.

    What README says of it is written, too, where README is named.
    """
    contents = read(results)
    tables = {name: all_measures(content) for name, content in contents.items()}
    found = ratios(tables)
    if readme is not None:
        write_section("suite", headline(tables, found), readme)
    figures = out.with_suffix("")
    figures.mkdir(parents=True, exist_ok=True)
    sections = [_section(title, names, contents, tables, figures) for title, names in GROUPS.items()]
    parts = [INTRODUCTION, _overall(tables, found), _losses(tables, found), footing(tables), *sections]
    parts.append(_settings(contents))
    if not out.exists():
        out.write_text("# Benchmarks\n")
    write_section("suite", "\n".join(part for part in parts if part), out)


def ratios(tables: Mapping[str, Table]) -> dict[str, float]:
    """likewise against the best peer, per task that has both."""
    found = {}
    for name, table in tables.items():
        peer = best_peer(table, PEERS)
        if OURS in table and peer:
            found[name] = ratio(table[OURS], table[peer])
    return found


def without_strong(table: Table) -> list[str]:
    """The peers a ratio is against where none of them is strong; nothing where one is."""
    there = eligible(table, PEERS)
    return [] if set(there) & set(STRONG) else there


class Overall(NamedTuple):
    """A group of tasks: the ratios that count, their geometric mean and the largest one, and what is left out."""

    number: int
    mean: str
    largest: str
    weak: int

    @classmethod
    def of(cls, names: Sequence[str], tables: Mapping[str, Table], found: Mapping[str, float]) -> Overall:
        there = [name for name in names if name in found]
        weak = [name for name in there if without_strong(tables[name])]
        counted = {name: found[name] for name in there if name not in weak}
        mean = f"{geometric_mean(list(counted.values())):.2f}" if counted else ""
        worst = max(counted, key=lambda name: counted[name], default="")
        return cls(len(counted), mean, f"{counted[worst]:.2f} ({worst})" if counted else "", len(weak))


def headline(tables: Mapping[str, Table], found: Mapping[str, float]) -> str:
    """What README says of the suite."""
    pools, batches = (Overall.of(GROUPS[title], tables, found) for title in ("Pools", "Pools, batches of 8"))
    alike = Overall.of(next(iter(WITHOUT.values())), tables, found)
    text = (
        "- [Benchmarks](docs/benchmarks.md) against BoTorch, Optuna and others, and where `likewise` loses. Regret "
        f"over that of each task's best peer, geometric means: {pools.mean} on {pools.number} pools of real data "
        f"(largest {pools.largest}), {alike.mean} on {alike.number} of them without {', '.join(DESCRIBED)}, where it "
        f"sees more than the peers, and {batches.mean} on {batches.number} in batches of 8"
    )
    return textwrap.fill(text, 120, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def _overall(tables: Mapping[str, Table], found: Mapping[str, float]) -> str:
    groups = {title: Overall.of(names, tables, found) for title, names in (GROUPS | WITHOUT).items()}
    rows = [[title, *map(str, each)] for title, each in groups.items() if each.number or each.weak]
    heads = ["tasks", "number", "geometric mean ratio", "largest ratio", "left out, no strong peer"]
    return "### Overall\n\n" + markdown(heads, rows) + "\n"


def _losses(tables: Mapping[str, Table], found: Mapping[str, float]) -> str:
    """The tasks on which likewise is behind its best peer, behind chance, or slower; and the runs that are missing."""
    ours = {name: table for name, table in tables.items() if OURS in table}
    lost = sorted(((value, name) for name, value in found.items() if value > 1), reverse=True)
    by_chance = [
        f"{name} ({value:.2f})"
        for name, table in ours.items()
        if "random" in table and (value := ratio(table[OURS], table["random"])) > 1
    ]
    slower = [
        f"{name} ({table[OURS].cpu_seconds.mean():.2g} s, {peer} {table[peer].cpu_seconds.mean():.2g} s)"
        for name, table in ours.items()
        for peer in GAUSSIAN_PROCESSES
        if peer in table and table[OURS].cpu_seconds.mean() >= table[peer].cpu_seconds.mean()
    ]
    lines = {
        "More regret than the best peer": [f"{name} ({value:.2f})" for value, name in lost],
        "More regret than random search": by_chance,
        "Slower to ask than a peer with a Gaussian process": slower,
    }
    said = [f"- {what}: {', '.join(names) or 'nowhere'}." for what, names in lines.items()]
    return "### Where likewise loses\n\n" + "\n".join([*said, *_missing(tables)]) + "\n"


def _missing(tables: Mapping[str, Table]) -> list[str]:
    """A line for each method whose runs are fewer than the suite plans."""
    there = {file: {name: m.seeds for name, m in table.items()} for file, table in tables.items()}
    return [
        f"- Runs missing: {name} "
        + "; ".join(f"{done} of {planned} on {_few(files)}" for (done, planned), files in sorted(short.items()))
        + "."
        for name, short in missing(there).items()
    ]


def _section(title: str, names: Sequence[str], contents: Contents, measured: Mapping[str, Table], figures: Path) -> str:
    there = {name: contents[name] for name in names if name in contents}
    if not there:
        return ""
    picture = figures / f"{title.lower().replace(',', '').replace(' ', '-')}.png"
    tables = {name: measured[name] for name in there}
    draw(there, tables, picture)
    sizes = sorted({f"{c['task']['initial']} + {c['task']['budget']} evaluations" for c in there.values()})
    parts = [
        f"### {title}\n\n{'; '.join(sizes)}.\n",
        "AUC regret:\n\n" + _by_method(tables, lambda m: f"{mean_and_error(m.auc)} ({len(m.seeds)})", AUC),
        "Final regret:\n\n"
        + _by_method(tables, lambda m: mean_and_error(m.final), FINAL if title == "Functions" else {}),
        "Found of the top 1 %:\n\n" + _by_method(tables, lambda m: f"{m.found.mean():.1f}") if "Pools" in title else "",
        "Seconds per ask:\n\n" + _by_method(tables, lambda m: f"{m.cpu_seconds.mean():.2g}"),
        f"![regret after each evaluation]({figures.name}/{picture.name})\n",
    ]
    return "\n".join(part for part in parts if part)


def _by_method(
    tables: Mapping[str, Table],
    shown: Callable[[Measures], str],
    against: Mapping[str, Comparison] = MappingProxyType({}),
) -> str:
    """A row per task and a column per method, then those that compare likewise with a peer."""
    methods = [name for name in COLUMNS if any(name in table for table in tables.values())]
    rows = [
        [
            _label(task),
            *(shown(table[m]) if m in table else "" for m in methods),
            *(_against(table, c) for c in against.values()),
        ]
        for task, table in tables.items()
    ]
    heads = [f"**{name}**" if name == OURS else name for name in methods]
    return markdown(["task", *heads, *against], rows) + "\n"


def _label(file: str) -> str:
    """A task's name, and whether it is measured by its value's logarithm."""
    table = TABLES.get(file.removesuffix("-batch8"))
    return f"{file} (log₁₀)" if table and table.value in table.log else file


def _against(table: Table, comparison: Comparison) -> str:
    """A comparison with the best peer; nothing where none shares a seed."""
    peer = best_peer(table, PEERS)
    return comparison(table, peer) if peer and OURS in table else ""


def _ratio(table: Table, peer: str) -> str:
    weak = without_strong(table)
    return f"**{ratio(table[OURS], table[peer]):.2f}**" + (f" against {', '.join(weak)} only" if weak else "")


def _difference(table: Table, peer: str) -> str:
    a, b = paired(table[OURS], table[peer])
    low, high = bootstrap(a, b)
    return f"{float(np.mean(a - b)):+.3f} [{low:+.3f}, {high:+.3f}] ({peer})"


def _final_ratio(table: Table, peer: str) -> str:
    a, b = paired(table[OURS], table[peer], "final")
    low, high = bootstrap(a, b, "ratio")
    return f"**{a.mean() / b.mean():.2g}** [{low:.2g}, {high:.2g}] ({peer})"


def _means(of: str) -> Comparison:
    return lambda table, peer: shared_means(table[OURS], table[peer], of)


SHARED = "means, shared seeds"
AUC: Mapping[str, Comparison] = {"ratio": _ratio, "difference": _difference, SHARED: _means("auc")}
FINAL: Mapping[str, Comparison] = {"ratio": _final_ratio, SHARED: _means("final")}


def _settings(contents: Contents) -> str:
    """Each method's settings and versions, where they differ once per kind of task."""
    said: dict[tuple[str, str, str], list[str]] = {}
    for name, content in contents.items():
        for method, entry in content["methods"].items():
            versions = ", ".join(f"{library} {number}" for library, number in entry["versions"].items())
            said.setdefault((method, entry["settings"], versions), []).append(name)
    rows = [[*key, _few(names)] for key, names in sorted(said.items())]
    return "### Settings\n\n" + markdown(["method", "settings", "versions", "tasks"], rows) + "\n"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
