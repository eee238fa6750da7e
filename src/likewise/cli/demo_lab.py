"""A made-up laboratory for the demonstration: amides of para-substituted benzoic acids, and a yield nobody measured.

Each building block has two invented numbers, how it pulls on electrons and how bulky it is. The yield is best for one
balance of the two, with some noise. The molecules exist on paper alone; the numbers are nobody's data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import polars

# SMILES of the substituent (put where {} is), its pull and its bulk.
RINGS: dict[str, tuple[float, float]] = {
    "c1ccccc1{}": (0.0, 0.0),
    "c1cc(F)ccc1{}": (0.1, 0.1),
    "c1cc(Cl)ccc1{}": (0.25, 0.3),
    "c1cc(Br)ccc1{}": (0.25, 0.45),
    "c1cc(C)ccc1{}": (-0.15, 0.3),
    "c1cc(CC)ccc1{}": (-0.15, 0.5),
    "c1cc(C(C)C)ccc1{}": (-0.15, 0.7),
    "c1cc(C(C)(C)C)ccc1{}": (-0.2, 1.0),
    "c1cc(OC)ccc1{}": (-0.3, 0.4),
    "c1cc(OCC)ccc1{}": (-0.3, 0.55),
    "c1cc(N(C)C)ccc1{}": (-0.75, 0.55),
    "c1cc(C#N)ccc1{}": (0.65, 0.3),
    "c1cc(C(F)(F)F)ccc1{}": (0.55, 0.6),
    "c1cc([N+](=O)[O-])ccc1{}": (0.8, 0.45),
    "c1cc(C(=O)OC)ccc1{}": (0.45, 0.6),
    "c1cc(SC)ccc1{}": (0.0, 0.5),
    "c1cc(c2ccccc2)ccc1{}": (0.0, 0.9),
    "c1cc(OC(F)(F)F)ccc1{}": (0.35, 0.6),
}
AMINES: dict[str, tuple[float, float]] = {
    "NC": (-0.1, 0.1),
    "NCC": (-0.12, 0.2),
    "NCCC": (-0.12, 0.3),
    "NC(C)C": (-0.15, 0.45),
    "NC1CC1": (-0.1, 0.4),
    "NC1CCCC1": (-0.15, 0.6),
    "NC1CCCCC1": (-0.15, 0.75),
    "NC(C)(C)C": (-0.2, 1.0),
    "N1CCCC1": (-0.3, 0.5),
    "N1CCCCC1": (-0.3, 0.65),
    "N1CCOCC1": (-0.05, 0.65),
    "N1CCN(C)CC1": (-0.2, 0.75),
    "NCC#N": (0.4, 0.3),
    "NCC(F)(F)F": (0.45, 0.4),
    "NCc1ccccc1": (0.05, 0.7),
    "Nc1ccccc1": (0.3, 0.6),
}
NOISE = 1.5


@dataclass(eq=False)
class Laboratory:
    """Molecules whose yields are known to nobody but the laboratory.

    >>> laboratory = Laboratory(seed=0)
    >>> len(laboratory.molecules), 0 < max(laboratory.truth.values()) < 100
    (288, True)
    """

    seed: int = 0

    @cached_property
    def truth(self) -> dict[str, float]:
        """The yield of each molecule, without noise."""
        found = {}
        for (ring, (pull, bulk)), (amine, (other_pull, other_bulk)) in product(RINGS.items(), AMINES.items()):
            smiles = ring.format(f"C(=O){amine}")
            off = ((pull - 0.4 * other_pull - 0.45) / 0.25) ** 2 + ((bulk + 0.8 * other_bulk - 0.9) / 0.3) ** 2
            found[smiles] = 4.0 + 88.0 * math.exp(-0.5 * off)
        return found

    @cached_property
    def molecules(self) -> list[str]:
        """All molecules, in an order of the seed's."""
        names = list(self.truth)
        return [names[i] for i in np.random.default_rng(self.seed).permutation(len(names))]

    def measure(self, smiles: str) -> float:
        """A measurement of the yield in percent; the same one whenever it is repeated."""
        rng = np.random.default_rng([self.seed, self.molecules.index(smiles)])
        return round(min(max(self.truth[smiles] + NOISE * float(rng.standard_normal()), 0.0), 100.0), 1)

    def write(self, target: Path) -> None:
        """The table of all molecules, none of them measured."""
        names = [f"amide {number}" for number in range(1, len(self.molecules) + 1)]
        columns = {"name": names, "smiles": self.molecules, "yield": None, "round": None}
        polars.DataFrame(columns).write_csv(target)

    def fill_in(self, target: Path) -> None:
        """Measure what was suggested, and write the yields into the file."""
        table = polars.read_csv(target, infer_schema=False)
        yields = polars.Series("yield", [str(self.measure(smiles)) for smiles in table["smiles"]])
        table.with_columns(yields).write_csv(target)

    def measurements(self, table: Path) -> dict[str, float]:
        """The yields that a table holds."""
        rows = polars.read_csv(table, infer_schema=False).select("smiles", polars.col("yield").cast(float)).rows()
        return {smiles: value for smiles, value in rows if value is not None}
