"""The mixture of six metals that splits water with the least overpotential, among 2,121 that were measured.

Run it by `python examples/compositions.py oer_plate_3496.csv`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import likewise as lw


def similarity() -> list[lw.Similarity]:
    """As shares of a whole, by their ratios, and as plain numbers."""
    return [lw.Hellinger(), lw.Aitchison(), lw.Matern()]


def problem(path: Path | None) -> tuple[lw.Space, Callable[[tuple[float, ...]], float]]:
    """The mixtures and their overpotentials in volts; without a table, mixtures of three metals."""
    if path is None:
        tenths = [(i / 10, j / 10, (10 - i - j) / 10) for i in range(11) for j in range(11 - i)]
        return lw.Pool(tenths), lambda x: 0.35 + float(np.sum((np.array(x) - [0.2, 0.7, 0.1]) ** 2))
    rows = pl.read_csv(path).rows()
    volts = {row[:-1]: row[-1] for row in rows}
    return lw.Pool(list(volts)), lambda x: volts[tuple(x)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="a table: a column for each metal, then the overpotential")
    parser.add_argument("--made-up", action="store_true", help="a made-up problem instead of the table")
    parser.add_argument("--budget", type=int, default=60, help="how many mixtures are measured")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not given.made_up and not (given.data and given.data.exists()):
        print(f"skipped: there is no table at {given.data}; give the path of the data, or --made-up")
        return
    space, overpotential = problem(None if given.made_up else given.data)
    best = lw.minimize(overpotential, space, similarity(), budget=given.budget, seed=given.seed)
    print(f"{best.object} has the least overpotential of {given.budget} measured: {best.value:.4f} V")
    print(f"next: {best.study.ask()[0]}")


if __name__ == "__main__":
    main()
