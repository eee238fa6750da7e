"""How well committees predict beside their members alone: `python -m benchmarks.committee`.

Some rows of a table to learn from, others to predict, random splits. Each similarity alone learns its warp and its
noise, as the committee of it alone. A similarity that knows nothing is added to see whether it does harm. The figures
go to `benchmarks/results/committee.json`; `--docs` writes them into `docs/committee.md`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

import likewise as lw
from benchmarks.methods.analogical import members
from benchmarks.store import machine
from benchmarks.tables import markdown, mean_and_error
from benchmarks.tasks.base import Vector
from benchmarks.tasks.catalogue import task
from benchmarks.tasks.pool import Pool
from likewise.model.diagnosis import unique_names
from likewise.model.fit import fit
from likewise.model.scores import Gram
from likewise.similarity.encoding import take
from likewise.study.methods.committee import similarities

ROOT = Path(__file__).resolve().parents[1]
OUT, DOCS = Path(__file__).parent / "results" / "committee.json", ROOT / "docs" / "committee.md"
BEGIN, END = "<!-- tables of benchmarks.committee -->", "<!-- end of the tables -->"
AUTO, HARMED, THREE = "**auto**", "auto + random", "all three"
INTERVAL = 0.95
TESTED = 1000


@dataclass(frozen=True)
class Table:
    """A task's table: how many rows to learn from, how many splits, and how many rows to take at all."""

    task: str
    training: int
    splits: int
    rows: int = 3000


TABLES = {
    "ESOL": Table("esol", 100, 20),
    "FreeSolv": Table("freesolv_max", 100, 20),
    "photoswitch": Table("photoswitch", 100, 20),
    "direct arylation": Table("direct_arylation", 60, 10),
    "Buchwald–Hartwig": Table("buchwald_hartwig", 60, 10),
    "TFBind8": Table("tfbind8", 60, 10),
    "NAS-Bench-Macro": Table("nasbench_macro", 60, 10),
    "crossed barrel": Table("crossed_barrel", 60, 10),
    "OER": Table("oer", 60, 10),
}


@dataclass(frozen=True, eq=False)
class Indexed(lw.Similarity):
    """A similarity of the rows of a table, by number: each is encoded once for all splits."""

    inner: lw.Similarity
    rows: Any

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def psd(self) -> bool:
        return self.inner.psd

    @property
    def signed(self) -> bool:
        return self.inner.signed

    def encode(self, objects: Sequence[Any]) -> Any:
        return take(self.rows, np.asarray(objects, dtype=np.intp))

    def between(self, a: Any, b: Any) -> Any:
        return self.inner.between(a, b)

    def within(self, a: Any) -> Any:
        return self.inner.within(a)

    def fitted(self, a: Any) -> lw.Similarity:
        return Indexed(self.inner.fitted(a), self.rows)

    def parameters(self, a: Any) -> Any:
        return self.inner.parameters(a)

    def with_parameters(self, values: Mapping[str, Vector]) -> lw.Similarity:
        return Indexed(self.inner.with_parameters(values), self.rows)

    def sensitivity(self, a: Any) -> Any:
        return self.inner.sensitivity(a)


def random_similarity(n: int) -> lw.Similarity:
    """Inner products of random directions, squared: a PSD score between 0 and 1 that says nothing."""
    directions = np.random.default_rng(0).standard_normal((n, 20))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return lw.Precomputed(list(range(n)), (directions @ directions.T) ** 2)


def choices(objects: Sequence[Any], kind: str) -> dict[str, list[lw.Similarity]]:
    """What is compared on a table: "auto", alone and with a useless similarity; its members; three for molecules."""
    pool = lw.Pool(objects)
    found = [pool.view(one) for one in similarities("auto", pool, np.random.default_rng(0))]
    auto = [Indexed(one, one.encode(objects)) for one in found]
    named = dict(zip(unique_names([_short(one.name) for one in auto]), auto, strict=True))
    three: dict[str, lw.Similarity] = {}
    if kind == "molecules":
        given = [lw.Tanimoto(), lw.TanimotoCounts(), lw.Indel()]
        three = {one.name: Indexed(one, one.encode(objects)) for one in given}
    return {
        AUTO: list(auto),
        HARMED: [*auto, random_similarity(len(objects))],
        **({THREE: list(three.values())} if three else {}),
        **{name: [one] for name, one in (three | named).items()},
    }


def _short(name: str) -> str:
    """A name for a table: not every field of a record."""
    return f"{name.split(' of ')[0]} of the fields" if ": " in name else name


def split(similarities: Sequence[lw.Similarity], values: Vector, training: int, seed: int) -> tuple[float, ...]:
    """Test RMSE in standard deviations of the values, and shares of test values in 95 % intervals.

    The first share is for intervals of the mean alone, the second for intervals of a measurement, with its noise.
    """
    order = np.random.default_rng(seed).permutation(len(values))
    known, new = order[:training].tolist(), order[training : training + TESTED].tolist()
    grams = [Gram.of(one, known) for one in similarities]
    settled = [gram.retune(gram.similarity.fitted(gram.encodings)) for gram in grams]
    committee = fit(settled, values[known])
    encodings = committee.encode(new)
    means, variances = committee.moments(committee.rows(encodings), committee.selves(encodings))
    error = values[new] - committee.on_users_scale(means, variances).mean
    noise = np.array([member.regression.noise.mean() for member in committee.members])[:, None]
    on_model = committee.transform.forward(values[new])
    inside = [
        np.mean(np.abs(committee.weights @ ndtr((on_model - means) / np.sqrt(spread)) - 0.5) <= 0.5 * INTERVAL)
        for spread in (variances, variances + noise)
    ]
    return float(np.sqrt(np.mean(error**2)) / values.std()), float(inside[0]), float(inside[1])


def run(table: Table, splits: int) -> dict[str, list[list[float]]]:
    """RMSE and the two shares for every split, for each choice."""
    pool = task(table.task)
    assert isinstance(pool, Pool)
    rows = np.sort(np.random.default_rng(0).permutation(len(pool.values))[: table.rows])
    everything = members(pool)
    objects, values = [everything[i] for i in rows.tolist()], pool.values[rows]
    found: dict[str, list[list[float]]] = {}
    for name, chosen in choices(objects, pool.kind).items():
        figures = np.array([split(chosen, values, table.training, seed) for seed in range(splits)])
        found[name] = figures.round(4).tolist()
        print(f"{table.task:18} {name[:60]:60} {figures.mean(axis=0).round(4)}", flush=True)
    return found


def as_table(name: str, found: Mapping[str, list[list[float]]]) -> str:
    """RMSE ± standard error and the shares inside, for each choice."""
    rows = []
    for choice, figures in found.items():
        rmse, mean_only, with_noise = np.array(figures).T
        rows.append([choice, mean_and_error(rmse, "{:.3f}"), f"{mean_only.mean():.0%}", f"{with_noise.mean():.0%}"])
    table = TABLES[name]
    head = f"### {name}\n\n{table.training} rows to learn from, {len(next(iter(found.values())))} splits.\n\n"
    return head + markdown(["similarity", "RMSE", "in 95 %, mean", "in 95 %, measurement"], rows)


def write_docs(found: Mapping[str, Any]) -> None:
    text = DOCS.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    tables = "\n\n".join(as_table(name, figures) for name, figures in found.items())
    DOCS.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, help="as many for every table")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/committee.md")
    given = parser.parse_args()
    known = json.loads(OUT.read_text())["tables"] if OUT.exists() else {}
    for name in given.tables:
        known[name] = run(TABLES[name], given.splits or TABLES[name].splits)
        # After every table, so that a run that is stopped loses one at most.
        content = {"machine": machine(), "figures": ["RMSE", "inside, mean", "inside, measurement"], "tables": known}
        OUT.write_text(json.dumps(content) + "\n")
    ordered = {name: known[name] for name in TABLES if name in known}
    print("\n\n".join(as_table(name, figures) for name, figures in ordered.items()))
    if given.docs:
        write_docs(ordered)


if __name__ == "__main__":
    main()
