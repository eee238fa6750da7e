"""The most accurate network of eight layers, each of them left out, small or large, among 6,561.

Run it by `python examples/architectures.py nasbench_macro_cifar10.csv`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import polars as pl

import likewise as lw


def similarity() -> list[lw.Similarity]:
    """Layer by layer with a weight for each layer, and as sequences that may be shifted against each other."""
    return [lw.Hamming(), lw.Indel()]


def problem(path: Path | None) -> tuple[lw.Space, Callable[[str], float]]:
    """All networks as strings of 0 (left out), 1 (small) and 2 (large), and their accuracy in per cent."""
    space = lw.Strings("012", length=8)
    if path is None:
        return space, lambda x: 93.0 - sum((2 - int(layer)) ** 2 * (8 - i) / 8 for i, layer in enumerate(x))
    table = pl.read_csv(path, schema_overrides={"arch": pl.String})
    return space, dict(zip(table["arch"], table["mean_acc"], strict=True)).__getitem__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="a table with the columns arch and mean_acc")
    parser.add_argument("--made-up", action="store_true", help="a made-up problem instead of the table")
    parser.add_argument("--budget", type=int, default=60, help="how many networks are trained")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not given.made_up and not (given.data and given.data.exists()):
        print(f"skipped: there is no table at {given.data}; give the path of the data, or --made-up")
        return
    space, accuracy = problem(None if given.made_up else given.data)
    best = lw.maximize(accuracy, space, similarity(), budget=given.budget, seed=given.seed)
    print(f"{best.object} is the most accurate of {given.budget} trained: {best.value:.2f} %")
    print(f"next: {best.study.ask()[0]}")


if __name__ == "__main__":
    main()
