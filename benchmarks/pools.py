"""Asking among many candidates: `python -m benchmarks.pools zinc million growth words encoding dask [--docs]`.

`zinc`: ask(1) after a tell over 100,000 molecules, beside BoTorch over the same pool with the same model.
`million`: ask(8) after tell(8) over 1,000,000 fingerprints, beside one reading of the matrix of similarities.
`growth`: seconds of an ask by candidates and by observations.
`words`: ask(8) among all 65,536 DNA words of eight letters, with everything learnt.
`encoding`: fingerprints per second, beside RDKit's bulk generator.
`dask`: what a cluster of two processes on this machine adds, and what goes over the wire.

Each case runs in a process of its own (benchmarks/pool_cases.py). Seconds are medians, on the clock and on the
processors; a time of likewise is that of the tells and the ask. Peaks are of resident memory, imports and all.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pool_cases import Figures, measured
from benchmarks.store import machine
from benchmarks.tables import markdown

HERE = Path(__file__).parent
OUT = HERE / "results" / "pools.json"
DOCS = HERE.parent / "docs" / "scale.md"
PICTURE = DOCS.with_name("scale.svg")
LIBRARIES = ("numpy", "scipy", "rdkit", "torch", "botorch", "gpytorch", "distributed")
CANDIDATES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
OBSERVATIONS = (100, 200, 500, 1000)
MANY_CANDIDATES, FEW_OBSERVATIONS = 1_000_000, 300
GIGABYTE = 1e9


def zinc(folder: Path, repeats: int) -> Figures:
    """likewise at one and two threads, then BoTorch at the better of both, over all molecules."""
    rows, told = 100_000, 300
    ours = [measured("ask_zinc", threads, rows=rows, told=told, repeats=repeats) for threads in (1, 2)]
    state = {key: ours[0].pop(key) for key in ("observed", "values", "amplitude")}
    state["pick"] = ours[0]["pick"]
    found = {f"likewise, {i + 1} threads": _without(one, "observed", "values") for i, one in enumerate(ours)}
    for label, chunk, joint in (("joint posteriors of 5,000", 5000, True), ("LogEI of 2,000", 2000, False)):
        found[f"BoTorch, {label}"] = measured(
            "botorch", 2, rows=rows, state=state, chunk=chunk, joint=joint, tried=[1, 2], whole=True
        )
    return found


def million(folder: Path, repeats: int) -> Figures:
    """A study over synthetic fingerprints, with and without the new columns, and the reading of as large a matrix."""
    n, told, batch = 1_000_000, 500, 8
    path = str(folder / "million.bits")
    facts = measured("synthetic", n=n, path=path)
    options = {"path": path, "n": n, "told": told, "batch": batch, "repeats": repeats, "read": True}
    found = {f"{threads} threads": measured("ask_synthetic", threads, **options) for threads in (1, 2)}
    sizes = {"matrix": 4 * n * told, "encodings": n * (256 + 4)}
    return {"n": n, "told": told, "batch": batch, "bits set": facts["bits_set"], **sizes, **found}


def growth(folder: Path, repeats: int) -> Figures:
    """ask(1) after a tell, by candidates at 300 observations and by observations at 1,000,000 candidates."""
    path = str(folder / "growth.bits")
    measured("synthetic", n=max(CANDIDATES), path=path)
    by = {
        "candidates": [(n, FEW_OBSERVATIONS) for n in CANDIDATES],
        "observations": [(MANY_CANDIDATES, told) for told in OBSERVATIONS],
    }
    return {
        name: [
            {"n": n, "told": told, **measured("ask_synthetic", path=path, n=n, told=told, batch=1, repeats=repeats)}
            for n, told in cases
        ]
        for name, cases in by.items()
    }


def words(folder: Path, repeats: int) -> Figures:
    """Three studies; how many mixes of similarities their committees have is theirs to choose."""
    return {f"seed {seed}": measured("ask_words", told=306, batch=8, seed=seed) for seed in range(3)}


def encoding(folder: Path, repeats: int) -> Figures:
    """The same molecules by likewise and by RDKit, with one process and with two."""
    return {
        f"{processes} processes": measured("encode", rows=30_000, processes=processes, repeats=min(repeats, 3))
        for processes in (1, 2)
    }


def dask(folder: Path, repeats: int) -> Figures:
    """The pool at hand, and on clusters of one and two processes."""
    n, told, batch = 200_000, 500, 8
    options = {"path": str(folder / "dask.bits"), "n": n, "told": told, "batch": batch, "repeats": repeats}
    measured("synthetic", n=n, path=options["path"])
    found = {f"{workers} workers": measured("ask_dask", workers=workers, **options) for workers in (1, 2)}
    return {"n": n, "told": told, "batch": batch, "at hand": measured("ask_synthetic", **options), **found}


FIGURES: dict[str, Callable[[Path, int], Figures]] = {
    "zinc": zinc,
    "million": million,
    "growth": growth,
    "words": words,
    "encoding": encoding,
    "dask": dask,
}


def _without(figures: Mapping[str, Any], *names: str) -> Figures:
    return {key: value for key, value in figures.items() if key not in names}


def _seconds(pair: list[float]) -> str:
    return " / ".join(f"{value:.3g}" for value in pair)


def _gigabytes(size: float) -> str:
    return f"{size / GIGABYTE:.2f}"


def zinc_table(found: Figures) -> str:
    ours = min(pair["seconds"][1] for name, pair in found.items() if name.startswith("likewise"))
    rows = [
        [name, _seconds(one["seconds"]), f"{one['seconds'][1] / ours:.0f}", _gigabytes(one["peak_rss"])]
        for name, one in found.items()
    ]
    return markdown(["100,000 ZINC molecules, 300 observations", "seconds, clock / CPU", "times ours, CPU", "GB"], rows)


def million_table(found: Figures) -> str:
    rows = []
    for name in ("1 threads", "2 threads"):
        one = found[name]
        for label in ("seconds", "without"):
            if label in one:
                ratio = [a / b for a, b in zip(one[label], one["read"], strict=True)]
                what = "ask(8) after tell(8)" if label == "seconds" else "the same, new columns there already"
                rows.append([f"{what}, {name}", _seconds(one[label]), _seconds(ratio), _gigabytes(one["peak"])])
        rows.append([f"one reading of the matrix, {name}", _seconds(one["read"]), "1", _gigabytes(found["matrix"])])
    return markdown(["1,000,000 fingerprints, 500 observations", "seconds, clock / CPU", "readings", "GB"], rows)


def growth_table(found: Figures) -> str:
    rows = [
        [f"{one['n']:,}", f"{one['told']:,}", _seconds(one["seconds"]), _gigabytes(one["peak"])]
        for name in ("candidates", "observations")
        for one in found[name]
    ]
    table = markdown(["candidates", "observations", "seconds, clock / CPU", "GB"], rows)
    return f"{table}\n\n{_exponents(found)}"


def words_table(found: Figures) -> str:
    rows = [[name, f"{one['mixes']}", _seconds(one["seconds"])] for name, one in found.items()]
    return markdown(["65,536 DNA words, 306 observations, ask(8)", "mixes", "seconds, clock / CPU"], rows)


def _exponents(found: Figures) -> str:
    """The slopes in the picture: time ~ size ** slope over the upper half of the sizes."""
    slopes = []
    for name, size in (("candidates", "n"), ("observations", "told")):
        x, y = (np.log([_of(one, key) for one in found[name][-3:]]) for key in (size, "seconds"))
        slopes.append(f"{np.polyfit(x, y, 1)[0]:.2f} in {name}")
    return f"Exponents over the three largest sizes, CPU: {', '.join(slopes)}."


def _of(one: Figures, key: str) -> float:
    return one[key][1] if key == "seconds" else one[key]


def encoding_table(found: Figures) -> str:
    rows = []
    for processes, one in found.items():
        taken = {name: pair for name, pair in one.items() if name not in ("rows", "peak_rss")}
        best = [min(pair[i] for name, pair in taken.items() if name != "likewise") for i in range(2)]
        for name, pair in taken.items():
            shares = [best[i] / pair[i] for i in range(2)]
            speed = f"{one['rows'] / pair[0]:,.0f} / {one['rows'] / pair[1]:,.0f}"
            rows.append([f"{name}, {processes}", speed, _seconds(shares)])
    head = ["Morgan fingerprints of 2,048 bits", "molecules per second, clock / CPU", "of RDKit's best"]
    return markdown(head, rows)


def dask_table(found: Figures) -> str:
    rows = []
    for name in ("at hand", "1 workers", "2 workers"):
        one = found[name]
        wire = (
            [f"{one['bytes'][what] / 1e3:,.0f}" for what in ("question", "contenders", "entries")]
            if "bytes" in one
            else 3 * [""]
        )
        rows.append([name, f"{one['seconds'][0]:.3g}", *wire])
    head = [
        f"{found['n']:,} fingerprints, 500 observations, ask(8)",
        "seconds, clock",
        "kB out, to each",
        "kB back, contenders",
        "entries",
    ]
    return markdown(head, rows)


def picture(found: Figures) -> None:
    """Both lines of growth beside lines of slope one."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "likewise", "font.size": 9}):
        figure, panes = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
        for pane, (name, size) in zip(panes, (("candidates", "n"), ("observations", "told")), strict=True):
            x, y = (np.array([_of(one, key) for one in found[name]], dtype=float) for key in (size, "seconds"))
            pane.loglog(x, y, "o-", color="#1f5f8b")
            pane.loglog(x, y[-1] * x / x[-1], ":", color="grey", label="in proportion")
            pane.set(xlabel=name, ylabel="seconds of an ask, CPU")
            pane.legend(frameon=False)
        figure.savefig(PICTURE, metadata={"Date": None})
        plt.close(figure)


TABLES: dict[str, Callable[[Figures], str]] = {
    "zinc": zinc_table,
    "million": million_table,
    "growth": growth_table,
    "words": words_table,
    "encoding": encoding_table,
    "dask": dask_table,
}


def write_docs(found: Mapping[str, Figures]) -> None:
    """Put each table between its marks in the page."""
    text = DOCS.read_text()
    for name, figures in found.items():
        begin, end = f"<!-- pools {name} -->", f"<!-- end {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{TABLES[name](figures)}\n\n{end}{rest.split(end)[1]}"
    DOCS.write_text(text)
    if "growth" in found:
        picture(found["growth"])


def _version(library: str) -> str | None:
    try:
        return version(library)
    except ImportError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", choices=[*FIGURES, []], help="those to measure; none with --docs alone")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--docs", action="store_true", help="write the stored figures into docs/scale.md")
    given = parser.parse_args()
    stored = json.loads(OUT.read_text()) if OUT.exists() else {}
    for name in given.figures:
        with tempfile.TemporaryDirectory() as folder:
            found = FIGURES[name](Path(folder), given.repeats)
        print(TABLES[name](found), flush=True)
        stored[name] = {"machine": machine(), "versions": {one: _version(one) for one in LIBRARIES}, "figures": found}
        # After every figure, so that a run that is stopped loses one at most.
        OUT.write_text(json.dumps(stored, indent=1) + "\n")
    if given.docs:
        write_docs({name: stored[name]["figures"] for name in TABLES if name in stored})


if __name__ == "__main__":
    main()
