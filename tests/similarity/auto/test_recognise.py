"""What "auto" stands for: every kind is recognised, says why, and gets similarities that can compare the objects."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import SimilarityError
from likewise.similarity.algebra import Fixed, fixed
from likewise.similarity.auto import recognise
from likewise.similarity.catalogue import as_field, usual_lengthscale, writing
from likewise.similarity.coordinates import rescaled, span
from likewise.similarity.kinds.gaussians import Gaussian
from likewise.similarity.kinds.permutations import Kendall, Numbered, Positions
from likewise.similarity.kinds.sets import Equal
from likewise.similarity.kinds.strings import Hamming
from likewise.similarity.kinds.vectors import RBF, Matern
from likewise.similarity.records import Parts
from likewise.testing.similarities import check_similarity

rng = np.random.default_rng(3)


def sequences(letters: str, lengths: Sequence[int]) -> list[str]:
    return ["".join(rng.choice(list(letters), n)) for n in lengths]


def some_graphs() -> list[Any]:
    nx = pytest.importorskip("networkx")
    return [nx.path_graph(4), nx.cycle_graph(5), nx.star_graph(3), nx.DiGraph([(0, 1), (1, 2)])]


SMILES = ["CCO", "CC(=O)O", "c1ccccc1O", "C[N+](C)(C)C", "O=C([O-])C.[K+]"]
AMINO = "ACDEFGHIKLMNPQRSTVWY"

KINDS: dict[str, tuple[str, Sequence[Any]]] = {
    "molecules": ("molecules", SMILES),
    "alkanes, whose letters DNA has too": ("molecules", ["CCC", "CCCC", "CCCCC"]),
    "amines, whose letters DNA has too": ("molecules", ["CCN", "CNC", "CCCN", "NCCCCN"]),
    "molecules with one typing error": ("molecules", [*SMILES, *("C" * n for n in range(2, 9)), "CC(C"]),
    "DNA of one length": ("DNA", sequences("ACGT", [8] * 9)),
    "DNA of several lengths": ("DNA", sequences("ACGT", [5, 9, 12, 7])),
    "DNA in small letters": ("DNA", sequences("acgt", [12] * 5)),
    "DNA with unknown letters": ("DNA", ["ACGNTT", "NNACGT", "GGGATN"]),
    "RNA": ("RNA", sequences("ACGU", [10] * 6)),
    "proteins": ("proteins", sequences(AMINO, [30, 42, 25])),
    "peptides of one length": ("proteins", sequences(AMINO, [9] * 8)),
    "architectures": ("codes", ["00012210", "22101100", "10101012"]),
    "codes of letters": ("codes", ["abba", "baab", "abab", "bbbb"]),
    "codes of tokens": ("codes", [("conv", "pool", "skip"), ("conv", "conv", "skip")]),
    "words": ("texts", ["water", "ethanol", "a cup of tea"]),
    "solvents by name": ("texts", ["DMF", "DMSO", "water", "toluene"]),
    "sentences with the letters of atoms": ("texts", ["CO is so nice", "No, I can see"]),
    "words of tokens": ("texts", [("conv", "pool"), ("conv", "conv", "skip")]),
    "one word": ("texts", ["hello"]),
    "an empty text": ("texts", ["", "hello", "world and all"]),
    "categories": ("categories", ["red", "green", "red", "green", "red", "red"]),
    "letters": ("categories", ["a", "b", "c"]),
    "truth values": ("categories", [True, False, None]),
    "numbers": ("numbers", [1, 2.5, np.float64(3.0), np.int64(4)]),
    "vectors": ("vectors", list(rng.random((6, 3)))),
    "vectors as lists": ("vectors", [[0.0, 2.5], [1.0, -1.0]]),
    "one vector, whose sum is constant": ("vectors", [[0.4, 0.6]]),
    "whole numbers that are no permutation": ("vectors", [(0, 1, 1), (2, 0, 0)]),
    "compositions": ("compositions", list(rng.dirichlet([1, 1, 1], 6))),
    "percentages": ("compositions", [[20.0, 80.0], [50.0, 50.0], [99.0, 1.0]]),
    "bits": ("bits", list((rng.random((5, 12)) < 0.5).astype(int))),
    "bits as tuples": ("bits", [(0, 1, 1, 0), (1, 1, 0, 1)]),
    "one-hot vectors": ("bits", [[0, 1, 0], [1, 0, 0], [0, 0, 1]]),
    "permutations": ("permutations", [(2, 0, 1), (0, 1, 2)]),
    "permutations as arrays": ("permutations", [rng.permutation(7) for _ in range(4)]),
    "orders of named items": ("permutations", [("oil", "salt", "rice"), ("salt", "rice", "oil")]),
    "series of several lengths": ("series", [rng.random(n) for n in (5, 9, 7)]),
    "long series of one length": ("series", list(rng.random((4, 60)))),
    "series with channels": ("series", [rng.random((n, 2)) for n in (5, 9)]),
    "series with channels as lists": ("series", [[[0.0, 1.0], [1.0, 2.0]], [[0.5, 1.0], [2.0, 0.0], [1.0, 1.0]]]),
    "sets": ("sets", [{"salt"}, frozenset({"salt", "oil"}), {"rice"}]),
    "Gaussians": ("Gaussians", [Gaussian([0.0, 1.0], [1.0, 2.0]), Gaussian([1.0, 1.0], [3.0, 1.0])]),
    "full Gaussians": ("Gaussians", [Gaussian([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]), Gaussian([1.0, 1.0], 1.0)]),
    "mixtures": ("mixtures", [{"water": 0.7, "ethanol": 0.3}, {"water": 1.0}, {"ethanol": 0.2, "oil": 0.8}]),
    "counts": ("mixtures", [{"C": 6, "H": 6}, {"C": 2, "H": 6, "O": 1}]),
    "shares of the same things": ("compositions", [{"a": 0.2, "b": 0.8}, {"a": 0.5, "b": 0.5}, {"a": 1.0, "b": 0.0}]),
    "records": ("records", [{"T": 20.0, "base": "KOAc"}, {"T": 80.0, "base": "KOtBu"}]),
    "branches of numbers": ("branches", [{"a": 1}, {"a": 2}, {"b": 5}]),
    "branches of names": ("branches", [{"a": 1}, {"b": "x"}, {"b": "y"}]),
    "mixtures of one thing": ("mixtures", [{"water": 1.0}, {"oil": 1.0}]),
    "records of numbers": ("records", [{"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 5.0}, {"a": 0.0, "b": 1.0}]),
}


@pytest.mark.parametrize(("kind", "objects"), KINDS.values(), ids=list(KINDS))
def test_every_kind_is_recognised_and_compared(kind: str, objects: Sequence[Any]) -> None:
    if kind == "molecules":
        pytest.importorskip("rdkit")
    found = recognise(objects)
    assert found.kind == kind, found
    comparable = [x for x in objects if x != "CC(C"] if kind == "molecules" else objects
    for similarity in found.similarities:
        encoding = similarity.encode(comparable)
        scores = similarity.between(encoding, encoding)
        assert scores.shape == (len(comparable), len(comparable))
        assert np.all(np.isfinite(scores))


def test_graphs_are_recognised() -> None:
    graphs = some_graphs()
    found = recognise(graphs)
    assert found.kind == "graphs"
    assert all(np.isfinite(one.between(one.encode(graphs), one.encode(graphs))).all() for one in found.similarities)


def test_molecules_of_rdkit_are_recognised() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    assert recognise([chem.MolFromSmiles(text) for text in SMILES]).kind == "molecules"


@given(st.permutations(range(len(KINDS["DNA of one length"][1]))))
def test_the_order_of_the_objects_does_not_matter(order: list[int]) -> None:
    objects = KINDS["DNA of one length"][1]
    assert recognise([objects[i] for i in order]).kind == "DNA"


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        ([], ["no object"]),
        (["CCO", 3.0], ["object 0 is a text, 'CCO'", "object 1 is a number, 3.0"]),
        ([[1.0, 2.0], {"a": 1}], ["object 0 is a sequence", "object 1 is a mapping"]),
        ([[1.0, 2.0], ["a", "b"]], ["object 0 is a row of numbers", "object 1 is not"]),
        ([True, "yes"], ["truth value", "text"]),
        (["1.5", "2.0", "-3e2"], ["number written as text: '1.5'", "float('1.5')"]),
        ([object()], ["no kind that is recognised", "a function of two objects"]),
        ([{"a": "x"}, {"b": "y"}], ["object 0 has 'a'", "object 1 has 'b'"]),
        ([{1: "x"}], ["named fields"]),
        ([{}], ["empty mapping"]),
        ([{"a": "x", "b": object()}, {"a": "y", "b": object()}], ["field 'b'", "no kind that is recognised"]),
        ([{"a": "x"}, {"a": 1.0}], ["field 'a'", "object 0 is a text, 'x'", "object 1 is a number"]),
    ],
)
def test_what_is_not_of_one_known_kind_is_an_error_that_names_it(objects: Sequence[Any], words: list[str]) -> None:
    with pytest.raises(SimilarityError) as error:
        recognise(objects)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_why_is_a_sentence_with_the_evidence() -> None:
    pytest.importorskip("rdkit")
    assert recognise(SMILES).why == "every one of 5 texts parses as SMILES"
    assert "13 texts parse" in recognise(KINDS["molecules with one typing error"][1]).why.replace("12 of ", "")
    assert str(recognise([1.0, 2.0])).startswith("numbers: every one of 2 objects is a number; compared by ")


def test_fields_of_records_are_recognised_each_by_itself() -> None:
    pytest.importorskip("rdkit")
    records = [
        {"solvent": solvent, "base": base, "T": T, "lab": "north", "note": None if T < 50 else "hot"}
        for solvent in ("CCO", "CN(C)C=O")
        for base in ("K2CO3", "KOAc")
        for T in (20.0, 90.0)
    ]
    product, plain_sum = recognise(records).similarities
    assert isinstance(product, Parts)
    assert product.fields == ("solvent", "base", "T", "note")
    assert [part.name for part in product.parts] == [
        "0.5 × TanimotoCounts(morgan2) + Equal",
        "Equal",
        "fixed RBF",
        "Equal",
    ]
    assert isinstance(plain_sum, Fixed)
    assert plain_sum.parameters(plain_sum.encode(records)) == {}


def test_molecules_that_do_not_repeat_count_by_structure_alone() -> None:
    pytest.importorskip("rdkit")
    similarities = as_field("molecules", recognise(SMILES).similarities, repeats=False)
    assert {similarity.name for similarity in similarities} == {"TanimotoCounts(morgan2)"}


def test_one_record_keeps_its_fields() -> None:
    found = recognise([{"a": 1.0, "b": "x"}])
    assert "a (numbers), b (categories)" in found.why


def test_few_numbers_written_as_text_are_categories_in_a_field() -> None:
    records = [{"batch": batch, "T": T} for batch in ("8", "16") for T in (1.0, 2.0, 3.0)]
    assert "batch (categories)" in recognise(records).why


def test_without_rdkit_molecules_are_texts_and_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "rdkit"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "rdkit", None)
    kind, why = writing(SMILES)
    assert kind == "texts"
    assert "pip install 'likewise[molecules]'" in why


@given(st.lists(st.text(max_size=8), min_size=1, max_size=6))
def test_any_texts_but_numbers_are_recognised(texts: list[str]) -> None:
    assert recognise([*texts, "no number"]).similarities


def test_the_usual_lengthscale_is_half_the_diagonal() -> None:
    assert usual_lengthscale(16) == pytest.approx(0.5 * np.linalg.norm(np.ones(16)))


CASES = [
    (Equal(), ["red", "blue", 3, ("a", 1), None], [["a"]]),
    (Equal(0.0), ["red", "blue", "green", "grey"], [{}]),
    (fixed(Hamming()), ["ACGT", "AGGT", "TTTT", "ACCT"], [7, "ACG"]),
    (fixed(RBF(0.5)), list(rng.random((5, 2))), ["text", [1.0]]),
    (
        fixed(Parts("sum", a=RBF(0.5), b=Equal())),
        [{"a": x, "b": i % 2} for i, x in enumerate((0.1, 0.4, 0.8, 0.9))],
        [7],
    ),
    (Numbered(Kendall(), ("a", "b", "c", "d")), ["abcd", "bcda", "cdab", "dacb"], ["abce", 7, "abc"]),
]


@pytest.mark.parametrize(("similarity", "objects", "wrong"), CASES, ids=[case[0].name for case in CASES])
def test_the_laws_hold(similarity: Any, objects: Sequence[Any], wrong: Sequence[Any]) -> None:
    check_similarity(similarity, objects, wrong=wrong)


@given(st.permutations("abcde"), st.permutations("abcde"), st.permutations("abcde"))
def test_the_numbers_of_the_items_make_no_difference(items: list[str], x: list[str], y: list[str]) -> None:
    for inner in (Positions(), Kendall()):
        assert Numbered(inner, tuple(items))(x, y) == pytest.approx(Numbered(inner, tuple("abcde"))(x, y))


def test_what_is_fixed_has_nothing_to_learn_and_is_fixed_once() -> None:
    once = fixed(Matern(0.5))
    assert fixed(once) is once
    assert once.parameters(once.encode([[0.0], [1.0]])) == {}
    assert once.with_parameters({}) is once


def test_spaces_rescale_vectors_that_are_fixed() -> None:
    similarity = fixed(RBF(0.5))
    seen = rescaled(similarity, lambda path: span([[0.0], [10.0]]))
    assert seen([0.0], [5.0]) == pytest.approx(RBF(0.5)([0.0], [0.5]))


@pytest.mark.parametrize("otherwise", [-0.1, 1.0, np.nan])
def test_equal_refuses_what_is_no_share(otherwise: float) -> None:
    with pytest.raises(SimilarityError, match="otherwise"):
        Equal(otherwise)
