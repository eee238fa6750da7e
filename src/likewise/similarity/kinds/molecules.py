"""Similarities of molecules given as SMILES (or RDKit molecules): fingerprints, canonical text, descriptors.

RDKit reads the molecules. Fingerprints are packed bits, so that a million molecules of 2,048 bits take 256 MB and one
query against them takes about 50 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Function, Matrix, Normalised, Similarity, assign
from likewise.similarity.checks import check_whole
from likewise.similarity.combine.wrapper import Through
from likewise.similarity.encodings.arrays import Encoding, join
from likewise.similarity.encodings.packed_bits import Packed, packed_bytes, packed_sizes
from likewise.similarity.from_function import as_similarity
from likewise.similarity.kinds.sets import Sets, compared, jaccard, unary_sets
from likewise.similarity.kinds.smiles import Molecule, canonical, parsed, rdkit
from likewise.similarity.kinds.vectors import Matern

Fingerprint = Literal["morgan", "atompair", "torsion", "maccs"]
Counted = Literal["morgan", "atompair", "torsion"]
MACCS_BITS = 167
# Molecules held at once; a million parsed ones would fill the memory of most machines.
CHUNK = 1024


@lru_cache(maxsize=64)
def _generator(fingerprint: str, radius: int, bits: int, chirality: bool) -> Any:
    make = rdkit("Chem.rdFingerprintGenerator")
    if fingerprint == "morgan":
        return make.GetMorganGenerator(radius=radius, fpSize=bits, includeChirality=chirality)
    if fingerprint == "atompair":
        return make.GetAtomPairGenerator(fpSize=bits, includeChirality=chirality)
    return make.GetTopologicalTorsionGenerator(fpSize=bits, includeChirality=chirality)


def _chunks(objects: Sequence[Any]) -> Iterator[tuple[int, list[Molecule]]]:
    for start in range(0, len(objects), CHUNK):
        yield start, parsed(objects[start : start + CHUNK], start)


class FingerprintSimilarity(Normalised):
    """Tanimoto over fingerprints: shared features / all features of two molecules. PSD."""

    fingerprint: str
    radius: int
    chirality: bool
    # Microseconds for each fingerprint, for molecules of some 25 atoms; so are the other prices here.
    prices: ClassVar[Mapping[str, float]]

    @property
    def price(self) -> float:
        return self.prices[self.fingerprint]

    kind = "molecules"

    psd = True

    @property
    def name(self) -> str:
        radius = str(self.radius) if self.fingerprint == "morgan" else ""
        return f"{type(self).__name__}({self.fingerprint}{radius}{', chiral' if self.chirality else ''})"

    def between(self, a: Sets, b: Sets) -> Matrix:
        return compared(a, b, jaccard)

    def __post_init__(self) -> None:
        if self.fingerprint not in self.prices:
            raise SimilarityError(
                f"{type(self).__name__} has the fingerprints {', '.join(self.prices)}, not {self.fingerprint!r}"
            )
        check_whole("a Morgan fingerprint", "its radius", self.radius, 0)


@dataclass(frozen=True)
class Tanimoto(FingerprintSimilarity):
    """|A ∩ B| / |A ∪ B| of two molecules' fingerprint bits. PSD.

    `fingerprint` is "morgan" (circular, of this `radius`: ECFP4 for 2), "atompair", "torsion" (topological) or "maccs"
    (167 keys, whatever `bits` says). Atom pairs and torsions simulate counts by several bits, as RDKit does unasked.
    Two molecules without any feature (torsions need four atoms) are alike.

    chirality: whether mirror images differ; False by default.

    >>> round(Tanimoto()("CCO", "CCN"), 4)
    0.3333
    """

    compares = "share of fingerprint bits in common"
    fingerprint: Fingerprint = "morgan"
    radius: int = 2
    bits: int = 2048
    chirality: bool = False
    prices = MappingProxyType({"morgan": 60.0, "atompair": 120.0, "torsion": 100.0, "maccs": 750.0})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("a fingerprint", "its bits", self.bits, 64)
        if self.bits % 64:
            raise SimilarityError(f"a fingerprint needs a multiple of 64 bits, not {self.bits}; 2048 is usual")

    def encode(self, objects: Sequence[Any]) -> Sets:
        width = MACCS_BITS if self.fingerprint == "maccs" else self.bits
        bits = np.empty((len(objects), -(-width // 64)), dtype=np.uint64)
        for start, molecules in _chunks(objects):
            bits[start : start + CHUNK] = self._bits(molecules, width)
        return bits, packed_sizes(bits)

    def _bits(self, molecules: list[Molecule], width: int) -> Packed:
        if self.fingerprint == "maccs":
            found = list(map(rdkit("Chem.rdMolDescriptors").GetMACCSKeysFingerprint, molecules))
        else:
            # Zero means all cores; starting them for a few molecules costs more than it saves.
            threads = 0 if len(molecules) == CHUNK else 1
            found = _generator(self.fingerprint, self.radius, self.bits, self.chirality).GetFingerprints(
                molecules, threads
            )
        text = b"".join(map(rdkit("DataStructs").BitVectToBinaryText, found))
        return packed_bytes(np.frombuffer(text, dtype=np.uint8).reshape(len(molecules), -(-width // 8)))


@dataclass(frozen=True)
class TanimotoCounts(FingerprintSimilarity):
    """Σ min(c, c') / Σ max(c, c') of how often each feature occurs in two molecules: min–max, or count Tanimoto. PSD.

    `fingerprint` is "morgan" (of this `radius`), "atompair" or "torsion"; features are not folded into a few bits.

    chirality: whether mirror images differ; False by default.

    >>> TanimotoCounts()("CCO", "CCCO")
    0.5
    """

    compares = "how often each fragment occurs, compared by min over max"
    fingerprint: Counted = "morgan"
    radius: int = 2
    chirality: bool = False
    prices = MappingProxyType({"morgan": 110.0, "atompair": 275.0, "torsion": 100.0})

    def encode(self, objects: Sequence[Any]) -> Sets:
        parts = [self._counts(molecules) for _, molecules in _chunks(objects)]
        nothing = np.zeros(0, dtype=np.int64)
        return join(parts) if parts else unary_sets(nothing, nothing.astype(np.uint64), nothing, 0)

    def _counts(self, molecules: list[Molecule]) -> Sets:
        threads = 0 if len(molecules) == CHUNK else 1
        found: list[Mapping[int, int]] = [
            counts.GetNonzeroElements()
            for counts in _generator(self.fingerprint, self.radius, 2048, self.chirality).GetSparseCountFingerprints(
                molecules, threads
            )
        ]
        rows = np.repeat(np.arange(len(found)), [len(counts) for counts in found])
        features = np.array([feature for counts in found for feature in counts], dtype=np.uint64)
        times = np.array([times for counts in found for times in counts.values()], dtype=np.int64)
        return unary_sets(rows, features, times, len(found))


@dataclass(frozen=True)
class CanonicalSMILES(Through):
    """A similarity of strings, applied to the canonical SMILES of molecules. PSD if the inner one is.

    inner: the similarity of texts, or a plain function of two.

    >>> from likewise.similarity.kinds.strings import Indel
    >>> CanonicalSMILES(Indel())("OCC", "CCO")
    1.0
    """

    compares = "a similarity of strings, on canonical SMILES"
    inner: Similarity | Function
    price = 70.0
    kind = "molecules"

    @property
    def name(self) -> str:
        return f"{self.wrapped.name} of SMILES"

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.wrapped.encode(canonical(objects))


# Name, middle and width over small organic molecules (1st to 99th percentile): fixed, so that descriptors computed at
# different times are comparable, and so that a width of one is what the prior of lengthscales expects.
DESCRIPTORS: tuple[tuple[str, float, float], ...] = (
    ("logP", 2.4, 8.0),
    ("molar refractivity", 70.0, 110.0),
    ("polar surface", 50.0, 125.0),
    ("weight", 270.0, 420.0),
    ("donors", 1.0, 4.0),
    ("acceptors", 3.0, 8.0),
    ("rotatable bonds", 3.0, 8.0),
    ("rings", 2.0, 5.0),
    ("aromatic rings", 1.0, 4.0),
    ("sp3 fraction", 0.4, 1.0),
    ("heavy atoms", 18.0, 30.0),
    ("heteroatoms", 5.0, 11.0),
    ("charge", 0.0, 2.0),
)


def _descriptors(molecule: Molecule) -> tuple[float, ...]:
    d = rdkit("Chem.rdMolDescriptors")
    logp, refractivity = d.CalcCrippenDescriptors(molecule)
    return (
        logp,
        refractivity,
        d.CalcTPSA(molecule),
        d.CalcExactMolWt(molecule),
        d.CalcNumHBD(molecule),
        d.CalcNumHBA(molecule),
        d.CalcNumRotatableBonds(molecule),
        d.CalcNumRings(molecule),
        d.CalcNumAromaticRings(molecule),
        d.CalcFractionCSP3(molecule),
        molecule.GetNumHeavyAtoms(),
        d.CalcNumHeteroatoms(molecule),
        rdkit().GetFormalCharge(molecule),
    )


@dataclass(frozen=True)
class Descriptors(Through):
    """A similarity of vectors (Matérn 5/2 unless given) of thirteen physico-chemical descriptors. PSD if that one is.

    Lipophilicity, refractivity, polar surface, weight, hydrogen bonds, rotatable bonds, rings, sp³ carbons, atoms and
    charge, each over its usual range; the lengthscales are learnt in a study, one per descriptor.

    inner: the similarity of the vectors of descriptors; None (default) is Matérn 5/2.

    >>> like = Descriptors()
    >>> like("CCO", "CCCO") > like("CCO", "c1ccccc1")
    True
    """

    compares = "thirteen physico-chemical descriptors"
    inner: Similarity | Function | None = None
    price = 570.0
    count = len(DESCRIPTORS)

    def __post_init__(self) -> None:
        assign(self, inner=Matern() if self.inner is None else as_similarity(self.inner))

    kind = "molecules"

    @property
    def name(self) -> str:
        return f"{self.wrapped.name} of descriptors"

    def encode(self, objects: Sequence[Any]) -> Encoding:
        rows = [_descriptors(molecule) for _, molecules in _chunks(objects) for molecule in molecules]
        middle, width = np.array([(m, w) for _, m, w in DESCRIPTORS]).T
        return self.wrapped.encode((np.array(rows).reshape(-1, len(DESCRIPTORS)) - middle) / width)
