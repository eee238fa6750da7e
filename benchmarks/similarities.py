"""`python -m benchmarks.similarities`: what a pair costs under each similarity; the tables of `docs/similarities.md`.

Microseconds of one core: for each pair, once both objects are encoded, and for encoding one object. Objects are made
up from a seed. The figures go to `benchmarks/results/similarities.json`, and with `--docs` into the tables.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import likewise as lw
from benchmarks.store import machine

ROOT = Path(__file__).resolve().parents[1]
RESULTS, DOCS = Path(__file__).parent / "results" / "similarities.json", ROOT / "docs" / "similarities.md"
Generator = np.random.Generator
REPEATS, SECONDS = 3, 0.2
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
HEAD = "| similarity | PSD | library | measured on | µs per pair | µs to encode one |\n|---|---|---|---|---|---|"
DRUGS = (
    "CC(=O)Oc1ccccc1C(=O)O", "CC(C)Cc1ccc(cc1)C(C)C(=O)O", "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "CC(=O)Nc1ccc(O)cc1",
    "COc1ccc2cc(ccc2c1)C(C)C(=O)O", "OC(=O)c1ccccc1O", "CN1CCCC1c1cccnc1", "CCN(CC)CC(=O)Nc1c(C)cccc1C",
)  # fmt: skip


def same_length(x: str, other: str) -> float:
    return 1.0 / (1.0 + abs(len(x) - len(other)))


def letters(x: str) -> list[int]:
    return [x.count(letter) for letter in "CNOc"]


def log_density(omega: Any, x: lw.Gaussian) -> Any:
    return x.log_density(omega)


def smiles(n: int, rng: Generator) -> list[str]:
    return list(lw.Molecules(DRUGS).sample(n, rng))


def dna(n: int, rng: Generator) -> list[str]:
    return list(lw.Strings("ACGT", length=8).sample(n, rng))


def proteins(n: int, rng: Generator) -> list[str]:
    return list(lw.Strings("ACDEFGHIKLMNPQRSTVWY", length=100).sample(n, rng))


def vectors(n: int, rng: Generator) -> list[Any]:
    return list(rng.standard_normal((n, 10)))


def categories(n: int, rng: Generator) -> list[str]:
    return [f"solvent {i}" for i in rng.integers(12, size=n).tolist()]


def sets(n: int, rng: Generator) -> list[set[int]]:
    return [set(rng.choice(500, size=50, replace=False).tolist()) for _ in range(n)]


def bits(n: int, rng: Generator) -> list[Any]:
    return list(rng.random((n, 2048)) < 0.03)


def counts(n: int, rng: Generator) -> list[dict[str, int]]:
    return [{f"item {k}": int(rng.integers(1, 5)) for k in rng.choice(200, size=20, replace=False)} for _ in range(n)]


def orders(n: int, rng: Generator) -> list[Any]:
    return lw.Permutations(12).sample(n, rng)


def graphs(n: int, rng: Generator) -> list[Any]:
    return lw.Graphs((10, 20), labels="CNO", connected=True).sample(n, rng)


def small_graphs(n: int, rng: Generator) -> list[Any]:
    return lw.Graphs((5, 7), labels="CNO", connected=True).sample(n, rng)


def series(n: int, rng: Generator) -> list[Any]:
    return [np.cumsum(rng.standard_normal(84)) for _ in range(n)]


def compositions(n: int, rng: Generator) -> list[Any]:
    return lw.Simplex(6).sample(n, rng)


def mixtures(n: int, rng: Generator) -> list[dict[float, float]]:
    return [dict(zip(rng.integers(0, 40, size=5).tolist(), rng.random(5).tolist(), strict=True)) for _ in range(n)]


def gaussians(n: int, rng: Generator) -> list[Any]:
    return lw.Gaussians(mean=(-3, 3), variance=(0.1, 4), dimension=2).sample(n, rng)


def names(n: int, rng: Generator) -> list[str]:
    return [f"object {i}" for i in rng.integers(1000, size=n)]


def recipes(n: int, rng: Generator) -> list[dict[str, Any]]:
    return [{"solvent": s, "temperature": float(t)} for s, t in zip(smiles(n, rng), rng.random(n) * 100, strict=True)]


@dataclass(frozen=True)
class Case:
    """A row: how the similarity is written, what does the work, and the objects it is measured on."""

    example: str
    library: str
    objects: Callable[[int, Generator], list[Any]]
    what: str
    pairs: int = 50_000

    @property
    def similarity(self) -> lw.Similarity:
        given = {"objects": [f"object {i}" for i in range(1000)], "matrix": np.eye(1000)}
        found = eval(self.example, {"lw": lw, **given} | {f.__name__: f for f in (same_length, letters, log_density)})
        assert isinstance(found, lw.Similarity)
        return found


SMILES, EIGHT, ORDER = "SMILES of about 25 letters", "8 letters", "12 items"
GRAPH, CURVE, NORMAL = "10 to 20 nodes", "84 points", "2 dimensions"
TABLES: dict[str, list[Case]] = {
    "Strings": [
        Case("lw.Levenshtein()", "rapidfuzz", smiles, SMILES),
        Case("lw.Indel()", "rapidfuzz", smiles, SMILES),
        Case("lw.Damerau()", "rapidfuzz", smiles, SMILES),
        Case("lw.JaroWinkler()", "rapidfuzz", smiles, SMILES),
        Case("lw.Hamming()", "numpy", dna, EIGHT),
        Case("lw.NGrams(3)", "scipy.sparse", smiles, SMILES),
        Case("lw.NGrams(3, how='minmax')", "scipy.sparse", smiles, SMILES),
    ],
    "Biological sequences": [
        Case("lw.GlobalAlignment('BLOSUM62')", "parasail or biopython", proteins, "100 residues", 2_500),
        Case("lw.ReverseComplement(lw.Hamming())", "numpy", dna, EIGHT),
    ],
    "Categories": [Case("lw.Equal()", "numpy", categories, "12 names")],
    "Sets, bits and counts": [
        Case("lw.Jaccard()", "scipy.sparse", sets, "50 of 500 items"),
        Case("lw.Jaccard()", "numpy", bits, "2,048 bits"),
        Case("lw.Dice()", "numpy", bits, "2,048 bits"),
        Case("lw.Overlap()", "numpy", bits, "2,048 bits"),
        Case("lw.MinMax()", "scipy.sparse", counts, "20 counts"),
    ],
    "Molecules": [
        Case("lw.Tanimoto()", "rdkit", smiles, "Morgan fingerprints of 2,048 bits"),
        Case("lw.TanimotoCounts()", "rdkit", smiles, "Morgan counts"),
        Case("lw.CanonicalSMILES(lw.Indel())", "rdkit, rapidfuzz", smiles, SMILES),
        Case("lw.Descriptors()", "rdkit", smiles, "13 numbers"),
    ],
    "Permutations": [
        Case("lw.Kendall()", "numpy", orders, ORDER),
        Case("lw.Mallows()", "numpy", orders, ORDER),
        Case("lw.Positions()", "scipy", orders, ORDER),
        Case("lw.Tours()", "scipy", orders, ORDER),
    ],
    "Graphs": [
        Case("lw.WeisfeilerLehman()", "networkx, scipy.sparse", graphs, GRAPH),
        Case("lw.ShortestPath()", "networkx, scipy.sparse", graphs, GRAPH),
    ],
    "Time series": [
        Case("lw.DTW()", "dtaidistance", series, CURVE, 10_000),
        Case("lw.SoftDTW()", "numpy", series, CURVE, 400),
        Case("lw.GlobalAlignmentKernel()", "numpy", series, CURVE, 400),
    ],
    "Compositions": [
        Case("lw.Hellinger()", "numpy", compositions, "6 parts"),
        Case("lw.Aitchison()", "numpy", compositions, "6 parts"),
    ],
    "Mixtures over a ground similarity": [
        Case("lw.MeanEmbedding(lw.RBF())", "scipy.sparse", mixtures, "5 of 40 objects"),
        Case("lw.MaximumMeanDiscrepancy(lw.RBF())", "scipy.sparse", mixtures, "5 of 40 objects"),
    ],
    "Distributions": [
        Case("lw.SymmetricKL()", "numpy", gaussians, NORMAL),
        Case("lw.Bhattacharyya()", "numpy", gaussians, NORMAL),
        Case("lw.Wasserstein2()", "numpy", gaussians, NORMAL),
        Case("lw.GaussianEmbedding()", "numpy", gaussians, NORMAL),
        Case("lw.MonteCarloKL(lw.Gaussian.sample, log_density)", "numpy", gaussians, "256 samples", 2_500),
        Case("lw.MonteCarloJS(lw.Gaussian.sample, log_density)", "numpy", gaussians, "256 samples", 2_500),
    ],
    "Vectors": [
        Case("lw.RBF()", "numpy", vectors, "10 numbers"),
        Case("lw.Matern()", "numpy", vectors, "10 numbers"),
        Case("lw.Linear()", "numpy", vectors, "10 numbers"),
        Case("lw.Cosine()", "numpy", vectors, "10 numbers"),
    ],
    "Records": [
        Case("lw.Parts(solvent=lw.Tanimoto(), temperature=lw.RBF())", "", recipes, "2 fields"),
        Case("lw.Parts('sum', solvent=lw.Tanimoto(), temperature=lw.RBF())", "", recipes, "2 fields"),
    ],
    "Anything": [
        Case("lw.Embedded(letters)", "", smiles, "4 numbers each"),
        Case("lw.from_function(same_length)", "", smiles, "a function of two strings", 10_000),
        Case("lw.symmetrised(same_length)", "", smiles, "a function of two strings", 10_000),
        Case("lw.Precomputed(objects, matrix)", "", names, "1,000 objects"),
    ],
    "Built of others": [
        Case("lw.Indel() + lw.NGrams(3)", "", smiles, SMILES),
        Case("lw.Indel() * lw.NGrams(3)", "", smiles, SMILES),
        Case("lw.warped(lw.Indel(), 4.0)", "", smiles, SMILES),
    ],
}


def measured(case: Case, rng: Generator) -> dict[str, Any]:
    """A row of the table."""
    side = int(case.pairs**0.5)
    left, right, other = (case.objects(n, rng) for n in (side, side, 8))
    similarity = case.similarity
    similarity.between(similarity.encode(other), similarity.encode(other))
    start = time.process_time()
    similarity.encode(left + right)
    encode = time.process_time() - start
    pair: list[float] = []
    while len(pair) < REPEATS or (sum(pair) < SECONDS and len(pair) < 100):
        # A new one each time, for some remember the pairs that they have compared.
        similarity = case.similarity
        a, b = similarity.encode(left), similarity.encode(right)
        start = time.process_time()
        similarity.between(a, b)
        pair.append(time.process_time() - start)
    return {
        "example": case.example,
        "psd": similarity.psd,
        "library": case.library,
        "measured_on": case.what,
        "pair_microseconds": _significant(1e6 * min(pair) / side**2),
        "encode_microseconds": _significant(1e6 * encode / (2 * side)),
    }


def _significant(value: float) -> float:
    return float(f"{value:.2g}")


def table(rows: list[dict[str, Any]]) -> str:
    """Rows of a table in Markdown."""
    lines = [HEAD]
    for row in rows:
        psd, cost = "yes" if row["psd"] else "no", [_number(row[f"{part}_microseconds"]) for part in ("pair", "encode")]
        cells = [f"`{row['example']}`", psd, row["library"] or "–", row["measured_on"], *cost]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def write_docs(found: dict[str, list[dict[str, Any]]]) -> None:
    """Replace the table under each heading of the page."""
    text = DOCS.read_text()
    for heading, rows in found.items():
        pattern = re.compile(rf"(## {re.escape(heading)}\n(?:(?!## )[^|\n].*\n|\n)*)(?:\|.*\n)*\n*")
        text, times = pattern.subn(lambda match, rows=rows: match[1].rstrip() + "\n\n" + table(rows) + "\n\n", text)  # type: ignore[misc]
        if times != 1:
            raise SystemExit(f"{DOCS} needs one heading '## {heading}'")
    DOCS.write_text(text.rstrip() + "\n")


def still_there(tables: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The stored figures of the cases that there are, in their order; similarities come and go."""
    known = {name: [(case.example, case.what) for case in cases] for name, cases in TABLES.items()}
    kept = {
        name: [r for r in tables[name] if (r["example"], r["measured_on"]) in known[name]]
        for name in known
        if name in tables
    }
    return {name: rows for name, rows in kept.items() if rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", action="store_true", help="write the stored figures into the tables of the page")
    parser.add_argument("--only", nargs="*", default=list(TABLES), help="headings to measure; none with --docs alone")
    given = parser.parse_args()
    if not ONE_THREAD.items() <= os.environ.items():
        # NumPy has read them, so the process begins anew.
        os.execve(
            sys.executable,
            [sys.executable, "-m", "benchmarks.similarities", *sys.argv[1:]],
            {**os.environ, **ONE_THREAD},
        )
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"tables": {}}
    for heading in given.only:
        stored["tables"][heading] = [measured(case, np.random.default_rng(0)) for case in TABLES[heading]]
        print(f"## {heading}\n\n{table(stored['tables'][heading])}\n", flush=True)
        ordered = still_there(stored["tables"])
        RESULTS.write_text(json.dumps({"machine": machine(), "tables": ordered}, indent=1, ensure_ascii=False) + "\n")
    if given.docs:
        write_docs(still_there(stored["tables"]))


if __name__ == "__main__":
    main()
