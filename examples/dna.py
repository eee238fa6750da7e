"""The 8 letters of DNA that a protein binds most strongly, among all 65,536.

Run it by `python examples/dna.py tfbind8_SIX6_REF_R1.csv.gz`.

The measurement does not depend on the strand, and `ReverseComplement` tells the similarity so.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import polars as pl

import likewise as lw


def similarity() -> list[lw.Similarity]:
    """Letters in their places, and pieces wherever they are; the evidence decides which says more."""
    return [lw.ReverseComplement(lw.Hamming()), lw.ReverseComplement(lw.NGrams(4, up_to=True))]


def problem(path: Path | None) -> tuple[lw.Space, Callable[[str], float]]:
    """All sequences, and how strongly each binds; without a table, how much it has of the site TGACGTCA."""
    space = lw.Strings("ACGT", length=8)
    if path is None:
        return space, lambda x: sum(a == b for a, b in zip(x, "TGACGTCA", strict=True)) / 8
    table = pl.read_csv(path)
    return space, dict(zip(table["seq"], table["escore"], strict=True)).__getitem__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="a table with the columns seq and escore")
    parser.add_argument("--made-up", action="store_true", help="a made-up problem instead of the table")
    parser.add_argument("--budget", type=int, default=60, help="how many sequences are measured")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not given.made_up and not (given.data and given.data.exists()):
        print(f"skipped: there is no table at {given.data}; give the path of the data, or --made-up")
        return
    space, binding = problem(None if given.made_up else given.data)
    best = lw.maximize(binding, space, similarity(), budget=given.budget, seed=given.seed)
    print(f"{best.object} binds best of {given.budget} measured: {best.value:.3f}")
    print(f"next: {best.study.ask()[0]}")


if __name__ == "__main__":
    main()
