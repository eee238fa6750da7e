"""Every similarity of vectors, strings, sequences, sets and molecules keeps the laws; a broken one is noticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from likewise.similarity.algebra import Symmetrised, warped
from likewise.similarity.base import LogNormal, Normalised, Parameter, Similarity
from likewise.similarity.coordinates import Coordinates, Rescaled
from likewise.similarity.kinds.molecules import CanonicalSMILES, Descriptors, Tanimoto, TanimotoCounts
from likewise.similarity.kinds.sequences import GlobalAlignment, ReverseComplement
from likewise.similarity.kinds.sets import Dice, Jaccard, MinMax, Overlap
from likewise.similarity.kinds.strings import Damerau, Hamming, Indel, JaroWinkler, Levenshtein, NGrams
from likewise.similarity.kinds.vectors import RBF, Cosine, Linear, Matern
from likewise.similarity.records import Parts
from likewise.testing.similarities import check_similarity

rng = np.random.default_rng(0)
VECTORS = list(rng.uniform(0.1, 1.0, (9, 5)))
NARROW = list(rng.uniform(0.1, 1.0, (8, 2)))
NUMBERS = [float(x) for x in rng.uniform(0.0, 3.0, 8)]
DNA = ["".join(rng.choice(list("ACGT"), 8)) for _ in range(10)]
WORDS = ["kitten", "sitting", "mitten", "", "knitting", "Sitzung", "雪", "kit", ("kit", "ten"), ("kit", "ting", 3)]
PROTEINS = ["ARNDCQEGHI", "ARNDCQEGH", "LKMFPSTWYV", "ARNDPSTWYV", "WWWWW", "arndcq", "YVAR"]
SETS = [{"salt"}, {"salt", "pepper"}, set(), {1, 2, ("a", 3)}, {1, 2}, ["garlic", "salt"], frozenset({"pepper", 1})]
BITS = list(rng.random((8, 100)) < 0.3)
COUNTS = [{"C": 6, "H": 6}, {"C": 2, "H": 6, "O": 1}, {"O": 2}, {}, {"H": 2, "O": 1}, {"C": 1, "H": 4}]
SMILES = ["CCO", "OCCC", "CCN", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "C[C@H](N)C(=O)O", "[Na+].[Cl-]", "C"]
RECORDS = [{"at": float(t), "mix": list(v), "base": s} for t, v, s in zip(NUMBERS, NARROW, DNA, strict=False)]
UNIT = Coordinates.spanning(np.array([0.05, 0.0]), np.array([2.0, 1.0]), np.array([True, False]))

NO_VECTOR = ["text", [0.1, float("nan"), 0, 0, 0], [1.0], None]
NO_TEXT = [7, None, {"a": 1}]
NO_DNA = ["ACGTAC", 7, None]
NO_SET = ["salt", 7, None, [["a"]]]
NO_BITS = [np.zeros(99), np.full(100, 2), {"salt"}]
NO_SMILES = ["C1CC", "CC(C)(C)(C)C", "", None, 7]

CASES: list[tuple[Similarity, Sequence[Any], Sequence[Any]]] = [
    (RBF(), VECTORS, NO_VECTOR),
    (RBF(0.7), NUMBERS, ["text", float("inf")]),
    (RBF([0.5, 1.0, 2.0, 0.3, 0.9]), VECTORS, NO_VECTOR),
    (Matern(smoothness=0.5), VECTORS, NO_VECTOR),
    (Matern(smoothness=1.5), VECTORS, NO_VECTOR),
    (Matern(), NARROW, NO_VECTOR),
    (Linear(), VECTORS, NO_VECTOR),
    (Linear(bias=0.5), VECTORS, NO_VECTOR),
    (Cosine(), VECTORS, NO_VECTOR),
    (Rescaled(RBF(0.4), UNIT), NARROW, NO_VECTOR),
    (RBF() + Cosine(), VECTORS, NO_VECTOR),
    (RBF(0.5) + Matern(0.9) * Linear(), VECTORS, NO_VECTOR),
    (RBF() * Matern() * Linear(1.0), VECTORS, NO_VECTOR),
    (2.5 * Matern(smoothness=1.5), VECTORS, NO_VECTOR),
    (warped(RBF(), 3), VECTORS, NO_VECTOR),
    (warped(Matern(), 0.5), VECTORS, NO_VECTOR),
    (warped(0.5 * (RBF(0.3) + RBF(2.0)), 2.5), VECTORS, NO_VECTOR),
    (Symmetrised(Cosine()), VECTORS, NO_VECTOR),
    (Parts("sum", [1.0, 2.0], at=RBF(0.8), mix=Matern(0.6)), RECORDS, [{"at": 1.0}, 7]),
    (Parts("product", [0.5, 2.0], at=RBF(0.8), mix=Matern(0.6)), RECORDS, [{"mix": [1, 2]}, None]),
    (Parts("product", at=RBF(0.8), base=Hamming()), RECORDS, [{"at": 1.0, "base": "ACG"}]),
    (Parts("sum", at=RBF(0.8), mix=RBF(), base=NGrams(2)), RECORDS, [{"at": "hot", "mix": [1, 2], "base": "ACGTACGT"}]),
    (2.0 * Parts("sum", at=RBF(0.8), mix=Matern()) + Parts(at=Linear(), mix=RBF()), RECORDS, [{"at": 1.0}]),
    (Levenshtein(), WORDS, NO_TEXT),
    (Indel(), WORDS, NO_TEXT),
    (Damerau(), WORDS, NO_TEXT),
    (Damerau(restricted=False), WORDS, NO_TEXT),
    (JaroWinkler(), WORDS, NO_TEXT),
    (Hamming(), DNA, NO_DNA),
    (Hamming([1, 2, 3, 4, 1, 2, 3, 0.1]), DNA, NO_DNA),
    (warped(Hamming(), 2) + 0.5 * NGrams(2), DNA, NO_DNA),
    (NGrams(2), WORDS, NO_TEXT),
    (NGrams(3, up_to=True), WORDS, NO_TEXT),
    (NGrams(2, how="minmax"), WORDS, NO_TEXT),
    (GlobalAlignment(), PROTEINS, ["", "JJ", 7, "ÅÄÖ"]),
    (ReverseComplement(Hamming()), DNA, ["ACGTACGX", 7]),
    (ReverseComplement(Hamming([1, 2, 3, 4, 1, 2, 3, 0.1]), "max"), DNA, ["ACGTACGX", 7]),
    (ReverseComplement(NGrams(3)), DNA, ["ACGTACGX", 7]),
    (Jaccard(), SETS, NO_SET),
    (Dice(), SETS, NO_SET),
    (Overlap(), SETS, NO_SET),
    (Jaccard(), BITS, NO_BITS),
    (Dice(), BITS, NO_BITS),
    (Overlap(), BITS, NO_BITS),
    (MinMax(), COUNTS, [{"C": -1}, {"C": 0.5}, [1.0]]),
    (MinMax(), VECTORS, [[-1.0, 0, 0, 0, 0], *NO_VECTOR]),
    (Tanimoto(), SMILES, NO_SMILES),
    (Tanimoto("atompair", bits=512), SMILES, NO_SMILES),
    (Tanimoto("torsion", chirality=True), SMILES, NO_SMILES),
    (Tanimoto("maccs"), SMILES, NO_SMILES),
    (TanimotoCounts(radius=1), SMILES, NO_SMILES),
    (TanimotoCounts("atompair"), SMILES, NO_SMILES),
    (TanimotoCounts("torsion"), SMILES, NO_SMILES),
    (CanonicalSMILES(Indel()), SMILES, NO_SMILES),
    (CanonicalSMILES(NGrams(2)), SMILES, NO_SMILES),
    (Descriptors(), SMILES, NO_SMILES),
    (Descriptors(RBF(0.5)), SMILES, NO_SMILES),
]


@pytest.mark.parametrize(("similarity", "objects", "wrong"), CASES, ids=[case[0].name for case in CASES])
def test_the_laws_hold(similarity: Similarity, objects: Sequence[Any], wrong: Sequence[Any]) -> None:
    for library in {"molecules": ["rdkit"], "sequences": ["Bio"]}.get(type(similarity).__module__.split(".")[-1], []):
        pytest.importorskip(library)
    check_similarity(similarity, objects, wrong=wrong)


@dataclass(frozen=True, eq=False)
class Broken(Similarity):
    """An RBF on numbers that breaks one law."""

    law: str
    scale: float = 1.0
    seen: list[float] = field(default_factory=list)

    @property
    def psd(self) -> bool:
        return True

    def encode(self, objects: Sequence[Any]) -> np.ndarray:
        values = np.asarray(objects, dtype=float)
        if self.law == "permuted" and len(values) > 1:
            values = values + 0.1 * np.arange(len(values))
        if self.law == "different times":
            self.seen.extend(values)
            values = values - (0.0 if len(values) in (1, 6) else values.mean())
        return values

    def between(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        scores = np.exp(-0.5 * np.subtract.outer(a, b) ** 2 / self.scale)
        if self.law == "symmetric":
            scores = scores * (1.0 + 0.1 * (a[:, None] > b))
        if self.law == "negative":
            scores = np.where(scores < 0.5, -scores, scores)
        if self.law == "not finite":
            scores = np.where(scores < 0.5, np.nan, scores)
        if self.law == "eigenvalues":
            scores = 1.0 - np.clip(1.0 - scores, 0.0, 0.9) ** 3
        if self.law == "float64":
            scores = scores.astype(np.float32)
        if self.law == "shape":
            scores = scores[:, :-1]
        return scores

    def within(self, a: np.ndarray) -> np.ndarray:
        return np.full(len(a), 0.9 if self.law == "`within`" else 1.0)

    def paired(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return super().paired(a, b) * (0.9 if self.law == "`paired`" else 1.0)

    def parameters(self, a: np.ndarray) -> dict[str, Parameter]:
        value = -1.0 if self.law == "positive" else self.scale
        return {"scale": Parameter(np.array([value]), LogNormal(0.0, 1.0))}

    def with_parameters(self, values: Any) -> Similarity:
        scale = float(values["scale"][0])
        return Broken(self.law, 1.1 * scale if self.law == "put back" else scale)

    def sensitivity(self, a: np.ndarray) -> Any:
        scores = self.between(a, a)
        slopes = 0.5 * np.subtract.outer(a, a) ** 2 / self.scale * scores
        wrong = 1.01 if self.law == "`sensitivity` to log scale" else 1.0
        names = ["other"] if self.law == "`sensitivity` is of" else ["scale"]
        return scores, lambda weights: {name: wrong * np.array([np.sum(weights * slopes)]) for name in names}

    def linearise(self, a: np.ndarray, b: np.ndarray) -> Any:
        scores = self.between(a, b)
        slopes = -np.subtract.outer(a, b) / self.scale * scores
        wrong = 1.01 if self.law == "the gradient of `linearise` is" else 1.0
        return scores, lambda weights: wrong * np.sum(weights * slopes, axis=1)[:, None]

    def linearise_within(self, a: np.ndarray) -> Any:
        wrong = 0.01 if self.law == "the gradient of `linearise_within` is" else 0.0
        return self.within(a), lambda weights: np.full((len(a), 1), wrong)


BROKEN = [
    "symmetric",
    "negative",
    "not finite",
    "eigenvalues",
    "float64",
    "shape",
    "`within`",
    "`paired`",
    "pair by pair",
    "different times",
    "positive",
    "put back",
    "`sensitivity` to log scale",
    "`sensitivity` is of",
    "the gradient of `linearise` is",
    "the gradient of `linearise_within` is",
]


def test_the_unbroken_one_keeps_the_laws() -> None:
    check_similarity(Broken("none"), NUMBERS[:6], rng=np.random.default_rng(1))


@pytest.mark.parametrize("law", BROKEN)
def test_a_broken_law_is_named(law: str) -> None:
    broken = Broken("permuted" if law == "pair by pair" else law)
    with pytest.raises(AssertionError, match=law):
        check_similarity(broken, NUMBERS[:6])


@pytest.mark.parametrize(("wrong", "said"), [(5.0, "is accepted"), ("text", "where a SimilarityError is expected")])
def test_an_object_that_is_not_refused_as_it_should_is_named(wrong: object, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_similarity(Broken("none"), NUMBERS[:6], wrong=[wrong])


def test_too_few_objects_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="four objects"):
        check_similarity(RBF(), NUMBERS[:3])


@dataclass(frozen=True)
class Vocabulary(Normalised):
    """Numbers the words in the order in which it meets them: its fields are not all there is to it."""

    numbers: dict[str, int] = field(default_factory=dict)

    def encode(self, objects: Sequence[Any]) -> Any:
        return np.array([self.numbers.setdefault(x, len(self.numbers)) for x in objects])

    def between(self, a: Any, b: Any) -> Any:
        return (a[:, None] == b).astype(float)

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, ()


@dataclass(frozen=True)
class HomeVocabulary(Vocabulary):
    portable = False


def test_what_remembers_objects_is_noticed_unless_it_says_so() -> None:
    with pytest.raises(AssertionError, match=r"encodings by a copy of it.*portable = False"):
        check_similarity(Vocabulary(), DNA)
    check_similarity(HomeVocabulary(), DNA)
