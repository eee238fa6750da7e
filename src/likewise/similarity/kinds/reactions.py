"""Similarity of reactions given as reaction SMILES, `reactants>agents>products`: what changes, and what helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, Normalised
from likewise.similarity.checks import check_whole
from likewise.similarity.encodings.sparse_features import stable_hash
from likewise.similarity.kinds.sets import Sets, compared, jaccard, unary_sets
from likewise.similarity.kinds.smiles import canonical_text, parse, rdkit

CACHED = 4096
Sides = tuple[Any, Any, Any]


@lru_cache(maxsize=CACHED)
def read_reaction(text: str) -> Sides | None:
    """The molecules of the three sides of a reaction SMILES; None where it is none.

    >>> read_reaction("CCO>>CC=O") is not None, read_reaction("CCO") is None
    (True, True)
    """
    sides = text.strip().split(" ")[0].split(">")
    if len(sides) != 3 or not sides[0] or not sides[2]:
        return None
    molecules = [parse(side) if side else rdkit().Mol() for side in sides]
    return None if any(molecule is None for molecule in molecules) else (molecules[0], molecules[1], molecules[2])


def canonical_reaction(text: str) -> str | None:
    """One spelling of a reaction: canonical molecules, in one order on each side; None where it is none.

    >>> canonical_reaction("OCC.O>>CC=O") == canonical_reaction("O.CCO>>C(C)=O")
    True
    """
    if read_reaction(text) is None:
        return None
    sides = text.strip().split(" ")[0].split(">")
    return ">".join(".".join(sorted(canonical_text(each) or each for each in side.split("."))) for side in sides)


@dataclass(frozen=True)
class Reactions(Normalised):
    """Σ min(c, c') / Σ max(c, c') of the fragments that two reactions make, break and are helped by. PSD.

    A fragment is circular, of this `radius`. Counted are those that the products have more often than the reactants
    (made), those that they have less often (broken), and, with `agents`, those of the molecules over the arrow, such as
    catalyst and solvent, each as a feature of its own.

    - `radius`: bonds around an atom that a fragment reaches; 2 by default, as in Morgan fingerprints of molecules.
    - `agents`: whether the molecules over the arrow count; by default they do.

    >>> oxidation = Reactions()
    >>> oxidation("CCO>>CC=O", "CCCO>>CCC=O") > oxidation("CCO>>CC=O", "CC=O>>CCO")
    True
    """

    kind = "reactions"
    compares = "fragments that a reaction makes, breaks and is helped by"
    radius: int = 2
    agents: bool = True
    price = 400.0
    psd = True

    def __post_init__(self) -> None:
        check_whole("a reaction fingerprint", "its radius", self.radius, 0)

    @property
    def name(self) -> str:
        return f"Reactions({self.radius}{'' if self.agents else ', without agents'})"

    def encode(self, objects: Sequence[Any]) -> Sets:
        counts = [self._features(number, x) for number, x in enumerate(objects)]
        rows = np.repeat(np.arange(len(counts)), [len(each) for each in counts])
        features = np.array([feature for each in counts for feature in each], dtype=np.uint64)
        times = np.array([count for each in counts for count in each.values()], dtype=np.int64)
        return unary_sets(rows, features, times, len(counts))

    def between(self, a: Sets, b: Sets) -> Matrix:
        return compared(a, b, jaccard)

    def _features(self, number: int, x: Any) -> Counter[int]:
        sides = read_reaction(x) if isinstance(x, str) else None
        if sides is None:
            raise SimilarityError(
                f"object {number} is not a reaction: {x!r}; write reactants>agents>products in SMILES, or leave it out"
            )
        before, over, after = (Counter(self._fragments(molecule)) for molecule in sides)
        found: Counter[int] = Counter()
        for role, fragments in (("made", after - before), ("broken", before - after), ("agent", over)):
            if role != "agent" or self.agents:
                found.update({stable_hash((role, fragment)): times for fragment, times in fragments.items()})
        return found

    def _fragments(self, molecule: Any) -> dict[int, int]:
        make = rdkit("Chem.rdFingerprintGenerator").GetMorganGenerator(radius=self.radius)
        counts: dict[int, int] = make.GetSparseCountFingerprint(molecule).GetNonzeroElements()
        return counts
