"""The page's part on intervals, out of the counts: tables, and a picture of coverage by the number of observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration.cases import CASES, HELD_OUT
from benchmarks.tables import markdown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- calibration: begin -->\n", "<!-- calibration: end -->\n"
PICTURE = "calibration.png"
# What each share should be within: from so many observations on, from and to.
WANTED = {"inside95": ((5, 80, 100), (10, 85, 100), (20, 90, 98)), "inside50": ((10, 40, 62),)}
INTRODUCTION = """## Do intervals hold what they say?

`python -m benchmarks.calibration --docs`. Problems whose true values are known are simulated
(`benchmarks/calibration/cases.py`). Values have a standard deviation of 1, and measurements a noise of 0.1. Each cell
is the share of the true values of unseen objects, in per cent, that lie inside their interval; the last table has the
root mean square error. The last three cases ({held_out}) were not looked at while the model was made.
The number of problems in a cell is {problems}; a cell without a figure was not run.

![Share of true values inside their intervals](benchmarks/{picture})
"""

Cells = Mapping[str, Any]


def write(cells: Cells, page: Path = PAGE) -> None:
    """Write the part between its marks, and the picture beside the page."""
    counts = sorted({cell["problems"] for cell in cells.values()})
    problems = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    opening = INTRODUCTION.format(held_out=", ".join(HELD_OUT), problems=problems, picture=PICTURE)
    body = "\n".join([opening, *(f"{table}\n" for table in tables(cells)), chances(cells)])
    text = page.read_text()
    if BEGIN not in text:
        text = text.replace("<!-- suite: begin -->\n", f"{BEGIN}{END}\n<!-- suite: begin -->\n", 1)
    before, rest = text.split(BEGIN)
    page.write_text(f"{before}{BEGIN}{body}\n{END}{rest.split(END)[1]}")
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    draw(cells, folder / PICTURE)


def tables(cells: Cells) -> list[str]:
    """Coverage of both intervals and among the foremost, and errors."""
    return [
        _table(cells, "95 % interval", lambda cell: f"{_percent(cell, 'inside95', 'unseen'):.0f}"),
        _table(cells, "50 % interval", lambda cell: f"{_percent(cell, 'inside50', 'unseen'):.0f}"),
        _table(cells, "95 % interval, ten next to try", lambda cell: f"{_percent(cell, 'top_inside95', 'top'):.0f}"),
        _table(cells, "error", lambda cell: f"{cell['rmse']:.2f}"),
    ]


def chances(cells: Cells) -> str:
    """Of what is said to beat the best with some chance, how much does, over all cases."""
    said, came = (np.sum([cell[name] for cell in cells.values()], axis=0) for name in ("said", "came"))
    bands = [f"{10 * k}–{10 * k + 10} %" for k in range(10)]
    shares = [f"{100.0 * c / s:.0f} %" if s else "–" for s, c in zip(said, came, strict=True)]
    gains = [sum(cell[name] for cell in cells.values()) for name in ("gain_said", "gain_came")]
    table = markdown(["said chance to beat the best", *bands], [["came true", *shares]])
    return (
        f"Over all cells, of the objects that are said to beat the best measured value with some chance:\n\n{table}\n\n"
        f"The sum of all expected gains over that value is {gains[0] / gains[1]:.2f} times that of the true gains."
    )


def _percent(cell: Mapping[str, Any], inside: str, of: str) -> float:
    return 100.0 * cell[inside] / cell[of]


def _table(cells: Cells, title: str, figure: Callable[[Mapping[str, Any]], str]) -> str:
    sizes, names = _sizes(cells), _cases(cells)
    rows = [[case, *(figure(cells[f"{case}|{n}"]) if f"{case}|{n}" in cells else "" for n in sizes)] for case in names]
    return markdown([title, *(f"n = {n}" for n in sizes)], rows)


def _sizes(cells: Cells) -> list[int]:
    return sorted({int(key.split("|")[1]) for key in cells})


def _cases(cells: Cells) -> list[str]:
    found = {key.split("|")[0] for key in cells}
    return [case for case in CASES if case in found]


def draw(cells: Cells, target: Path) -> None:
    """A dot for each case and number of observations, and a grey band where it should be."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    sizes, names = _sizes(cells), _cases(cells)
    figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 0.3 * len(names) + 1.3), sharey=True, layout="constrained")
    colours = pyplot.get_cmap("viridis")(np.linspace(0.85, 0.0, len(sizes)))
    for axis, (share, wanted) in zip(axes, WANTED.items(), strict=True):
        level = int(share.removeprefix("inside"))
        _, low, high = wanted[-1]
        axis.axvspan(low, min(high, 100), color="0.92", zorder=0)
        axis.axvline(level, color="0.5", linewidth=0.8, zorder=1)
        for n, colour in zip(sizes, colours, strict=True):
            here = [
                (_percent(cells[f"{c}|{n}"], share, "unseen"), y) for y, c in enumerate(names) if f"{c}|{n}" in cells
            ]
            axis.scatter(*zip(*here, strict=True), color=colour, s=26, label=f"n = {n}", zorder=2)
        axis.set_xlim(max(0, level - 25), min(100, level + 25))
        axis.set_xlabel(f"% of true values inside the {level} % interval")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, ncols=len(sizes), loc="outside upper right")
    figure.savefig(target, dpi=130)
    pyplot.close(figure)
