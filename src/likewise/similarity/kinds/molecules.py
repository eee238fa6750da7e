"""Similarities of molecules and of reactions, given as SMILES or RDKit molecules.

Each distinct text is parsed once; what is no molecule is an error that says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from likewise.errors import SimilarityError, import_extra
from likewise.similarity.algebra import Through
from likewise.similarity.base import Function, Matrix, Normalised, Similarity, assign, check_whole
from likewise.similarity.encoding import Encoding, join
from likewise.similarity.features import Packed, packed_bytes, packed_sizes, stable_hash
from likewise.similarity.functions import as_similarity
from likewise.similarity.kinds.sets import Sets, compared, jaccard, unary_sets
from likewise.similarity.kinds.vectors import Matern

# Molecules from SMILES or InChI, each distinct text parsed once; what is no molecule is an error that says why.

Molecule = Any
# A parsed molecule takes about 28 kB, a canonical SMILES a hundred bytes.
PARSED, CANONICAL = 2048, 1 << 16
INCHI = "InChI="
# Microseconds of one processor to read a molecule of some 25 atoms.
READING = 160.0


def rdkit(part: str = "Chem") -> Any:
    """A module of RDKit, or the error that says how to get it."""
    return import_extra(f"rdkit.{part}", "reading molecules", "rdkit", "molecules")


@lru_cache(maxsize=PARSED)
def _parsed(text: str) -> Molecule | None:
    chem = rdkit()
    return chem.MolFromInchi(text) if text.startswith(INCHI) else chem.MolFromSmiles(text)


def parse(text: str) -> Molecule | None:
    """The molecule of a SMILES or an InChI; None where it is neither."""
    with rdkit("rdBase").BlockLogs():
        return _parsed(text)


@lru_cache(maxsize=CANONICAL)
def _canonical(text: str) -> str | None:
    molecule = _parsed(text)
    return None if molecule is None else str(rdkit().MolToSmiles(molecule))


def parsed(objects: Sequence[Any], first_row: int = 0) -> list[Molecule]:
    """The molecules of SMILES (or RDKit molecules, as they are); rows are counted from `first_row` in errors."""
    with rdkit("rdBase").BlockLogs():
        return [_molecule(x, first_row + i) for i, x in enumerate(objects)]


def canonical(objects: Sequence[Any]) -> list[str]:
    """The canonical SMILES of each molecule.

    >>> canonical(["OCC", "C(C)O"])
    ['CCO', 'CCO']
    """
    with rdkit("rdBase").BlockLogs():
        return [
            (_canonical(x) if isinstance(x, str) else None) or str(rdkit().MolToSmiles(_molecule(x, row)))
            for row, x in enumerate(objects)
        ]


def canonical_text(text: str) -> str | None:
    """The canonical SMILES of a text; None where it is no molecule.

    >>> canonical_text("OCC"), canonical_text("OCC("), canonical_text("")
    ('CCO', None, None)
    """
    with rdkit("rdBase").BlockLogs():
        return _canonical(text) or None


def _molecule(x: Any, row: int) -> Molecule:
    molecule = _parsed(x) if isinstance(x, str) else x
    if not isinstance(molecule, rdkit().Mol):
        raise SimilarityError(f"row {row} is not a molecule: {x!r} ({_reason(x)}); correct it or leave it out")
    if not molecule.GetNumAtoms():
        raise SimilarityError(f"row {row} is a molecule without atoms: {x!r}; correct it or leave it out")
    return molecule


def _reason(x: Any) -> str:
    """Why RDKit refused the text."""
    if not isinstance(x, str):
        return f"a {type(x).__name__}, where a SMILES or an RDKit molecule is needed"
    chem = rdkit()
    loose = chem.MolFromSmiles(x, sanitize=False)
    problems = [] if loose is None else chem.DetectChemistryProblems(loose)
    return str(problems[0].Message()).strip() if problems else "not valid SMILES"


# Similarities of molecules given as SMILES (or RDKit molecules): fingerprints, canonical text, descriptors.
#
# RDKit reads the molecules. Fingerprints are packed bits, so that a million molecules of 2,048 bits take 256 MB and one
# query against them takes about 50 ms.

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


# Similarity of reactions given as reaction SMILES, `reactants>agents>products`: what changes, and what helps.

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
