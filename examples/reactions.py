"""The conditions of a reaction that give the highest yield: base, ligand, solvent, concentration, temperature.

Run it by `python examples/reactions.py direct_arylation.csv`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import likewise as lw

PARTS = ["Base_SMILES", "Ligand_SMILES", "Solvent_SMILES", "Concentration", "Temp_C"]


def similarity() -> lw.Similarity:
    """One similarity for each part; how much each part matters is learnt."""
    return lw.Parts(
        Base_SMILES=lw.Tanimoto(),
        Ligand_SMILES=lw.Tanimoto(),
        Solvent_SMILES=lw.Tanimoto(),
        Concentration=lw.RBF(),
        Temp_C=lw.RBF(),
    )


def problem(path: Path | None) -> tuple[lw.Space, Callable[[dict[str, Any]], float]]:
    """All conditions, and the yield of each; without a table, made-up yields of a few conditions."""
    if path is None:
        bases, ligands, solvents = ["[O-]C", "[O-]CC", "[O-]C(C)(C)C"], ["CP", "CCP", "CP(C)C"], ["O", "CO", "CCO"]
        choices = [bases, ligands, solvents, [0.1, 0.2], [90, 105, 120]]
        space = lw.Record(**dict(zip(PARTS, choices, strict=True)))
        return space.grid(), lambda x: sum(len(x[part]) for part in PARTS[:3]) - abs(x["Temp_C"] - 100) / 5
    table = pl.read_csv(path)
    yields = {row[:-1]: row[-1] for row in table.select(*PARTS, "yield").iter_rows()}
    space = lw.Record(**{part: table[part].unique(maintain_order=True).to_list() for part in PARTS})
    return space.grid(), lambda x: yields[tuple(x[part] for part in PARTS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help=f"a table with the columns {', '.join(PARTS)} and yield")
    parser.add_argument("--made-up", action="store_true", help="a made-up problem instead of the table")
    parser.add_argument("--budget", type=int, default=60, help="how many conditions are tried")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not given.made_up and not (given.data and given.data.exists()):
        print(f"skipped: there is no table at {given.data}; give the path of the data, or --made-up")
        return
    space, reaction_yield = problem(None if given.made_up else given.data)
    best = lw.maximize(reaction_yield, space, similarity(), budget=given.budget, seed=given.seed)
    print(f"the highest yield of {given.budget} tried is {best.value:.1f}, from")
    for part, value in best.object.items():
        print(f"  {part:16s}{value}")


if __name__ == "__main__":
    main()
