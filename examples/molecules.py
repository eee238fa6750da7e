"""The molecular switch that absorbs at the longest wavelength, among 391 that have been made.

Run it by `python examples/molecules.py photoswitches.csv`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import polars as pl

import likewise as lw

WAVELENGTH = "E isomer pi-pi* wavelength in nm"


def similarity() -> list[lw.Similarity]:
    """Shared substructures, how often they occur, and the text of the SMILES."""
    return [lw.Tanimoto(), lw.TanimotoCounts(), lw.CanonicalSMILES(lw.Indel())]


def problem(path: Path | None) -> tuple[lw.Space, Callable[[str], float]]:
    """The molecules and their wavelengths; without a table, made-up ones of azobenzenes with two groups each."""
    if path is None:
        shifts = {"C": 5, "O": 20, "OC": 25, "N": 60, "N(C)C": 80, "F": 2, "Cl": 8, "C#N": 15, "[N+](=O)[O-]": 30}
        pairs = [(a, b) for a in shifts for b in shifts]
        made = {f"c1cc({a})ccc1N=Nc1ccc({b})cc1": 320.0 + shifts[a] + shifts[b] for a, b in pairs}
        return lw.Pool(list(made)), made.__getitem__
    table = pl.read_csv(path).drop_nulls(WAVELENGTH).group_by("SMILES", maintain_order=True).agg(pl.mean(WAVELENGTH))
    wavelengths = dict(table.iter_rows())
    return lw.Pool(list(wavelengths)), wavelengths.__getitem__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help=f"a table with the columns SMILES and {WAVELENGTH}")
    parser.add_argument("--made-up", action="store_true", help="a made-up problem instead of the table")
    parser.add_argument("--budget", type=int, default=60, help="how many molecules are measured")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not given.made_up and not (given.data and given.data.exists()):
        print(f"skipped: there is no table at {given.data}; give the path of the data, or --made-up")
        return
    space, wavelength = problem(None if given.made_up else given.data)
    best = lw.maximize(wavelength, space, similarity(), budget=given.budget, seed=given.seed)
    print(f"{best.object} has the longest wavelength of {given.budget} measured: {best.value:.0f} nm")
    print(f"next: {best.study.ask()[0]}")


if __name__ == "__main__":
    main()
