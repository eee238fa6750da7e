"""The country with the highest rate of deaths on 1 April 2020, by the similarity of its cases in the months before.

Run it by `python examples/series.py covid3month.csv`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import likewise as lw

Series = tuple[float, ...]


def similarity() -> list[lw.Similarity]:
    """Curves warped onto each other: in their own size, and by their shape alone."""
    return [lw.DTW(), lw.DTW(normalise=True)]


def problem(path: Path | None) -> tuple[lw.Space, Callable[[Series], float]]:
    """The cases so far on a logarithmic scale, and the rate; without a table, waves of several heights and times."""
    if path is None:
        days = np.arange(40)
        waves = {tuple(h / (1 + np.exp((m - days) / 3))): h * m / 100 for h in range(1, 7) for m in range(8, 34, 3)}
        return lw.Pool(list(waves)), waves.__getitem__
    table = pl.read_csv(path).group_by("values", maintain_order=True).agg(pl.mean("target"))
    rates = {tuple(np.log1p(np.cumsum(np.array(text.split(), dtype=float)))): rate for text, rate in table.iter_rows()}
    return lw.Pool(list(rates)), rates.__getitem__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="a table with the columns values and target")
    parser.add_argument("--made-up", action="store_true", help="a made-up problem instead of the table")
    parser.add_argument("--budget", type=int, default=60, help="how many countries are looked up")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not given.made_up and not (given.data and given.data.exists()):
        print(f"skipped: there is no table at {given.data}; give the path of the data, or --made-up")
        return
    space, rate = problem(None if given.made_up else given.data)
    best = lw.maximize(rate, space, similarity(), budget=given.budget, seed=given.seed)
    print(f"the highest rate of {given.budget} looked up is {best.value:.4f}")
    print("the cases of that country so far, every seventh day:", np.expm1(best.object)[::7].round().astype(int))


if __name__ == "__main__":
    main()
