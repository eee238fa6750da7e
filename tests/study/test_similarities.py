"""From what a user gives to similarities: similarities, functions, lists, and "auto" for every space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likewise.errors import SimilarityError
from likewise.similarity.algebra import Fixed, fixed
from likewise.similarity.base import is_differentiable
from likewise.similarity.kinds.sets import Equal
from likewise.similarity.kinds.strings import Hamming
from likewise.similarity.kinds.vectors import RBF, Matern
from likewise.similarity.records import Parts
from likewise.spaces.base import Space
from likewise.spaces.categorical import Categorical
from likewise.spaces.distributions import Gaussians
from likewise.spaces.graphs import Graphs
from likewise.spaces.molecules import Molecules
from likewise.spaces.numbers import Box
from likewise.spaces.permutations import Permutations
from likewise.spaces.pool import Pool
from likewise.spaces.record import Record
from likewise.spaces.simplex import Simplex
from likewise.spaces.strings import Strings
from likewise.spaces.subsets import Subsets
from likewise.study.methods.committee import similarities

EXTRAS = {"molecules": "rdkit", "graphs": "networkx"}
SPACES: dict[str, tuple[str, Any]] = {
    "box": ("vectors", lambda: Box([0.0, 0.0], [1.0, 10.0])),
    "a box of many dimensions, no series": ("vectors", lambda: Box([0.0] * 50, [1.0] * 50)),
    "simplex": ("compositions", lambda: Simplex(4)),
    "Gaussians": ("Gaussians", lambda: Gaussians(([0.0], [1.0]), ([0.1], [1.0]))),
    "permutations": ("permutations", lambda: Permutations(6)),
    "permutations of two": ("permutations", lambda: Permutations(2)),
    "orders of items": ("permutations", lambda: Permutations(["a", "b", "c"])),
    "subsets": ("sets", lambda: Subsets(["a", "b", "c"])),
    "graphs": ("graphs", lambda: Graphs((3, 5))),
    "molecules": ("molecules", lambda: Molecules(["CCO", "CCN", "c1ccccc1"])),
    "DNA": ("DNA", lambda: Strings("ACGT", length=8)),
    "codes": ("codes", lambda: Strings("012", length=6)),
    "strings of atoms' letters, no molecules": ("codes", lambda: Strings("CNO", length=5)),
    "strings of several lengths": ("texts", lambda: Strings("abcd", max_length=7)),
    "categories": ("categories", lambda: Categorical(["red", "green"])),
    "numbers written as text": ("categories", lambda: Categorical(["8", "16"])),
    "numbers to choose from": ("numbers", lambda: Categorical([8, 16, 32])),
    "solvents to choose from": ("molecules", lambda: Categorical(["CO", "CCO", "CN(C)C=O"])),
    "switches": ("categories", lambda: Categorical([True, False])),
    "pool of vectors": ("vectors", lambda: Pool(list(np.random.default_rng(0).random((20, 3))))),
    "empty pool": ("nothing", lambda: Pool(["a"], where=lambda x: False)),
    "record": ("records", lambda: Record(solvent=["CO", "CCO"], T=Box(20.0, 120.0), lab=["north"])),
    "record of one choice": ("records", lambda: Record(lab=["north"])),
    "nested record": ("records", lambda: Record(inner=Record(a=[1, 2]), b=["x", "y"])),
}


@pytest.mark.parametrize(("kind", "make"), SPACES.values(), ids=list(SPACES))
def test_every_space_gets_likenesses_that_compare_its_objects(kind: str, make: Any) -> None:
    if kind in EXTRAS:
        pytest.importorskip(EXTRAS[kind])
    space: Space = make()
    rng = np.random.default_rng(1)
    assert space.recognise(rng).kind == kind
    found = similarities("auto", space, rng)
    objects = space.sample(6, rng) if kind != "nothing" else []
    for one in map(space.view, found):
        scores = one.between(one.encode(objects), one.encode(objects))
        assert np.all(np.isfinite(scores))
        assert scores == pytest.approx(scores.T)


def test_parts_of_one_value_compare_nothing_and_are_left_out() -> None:
    space = Record(solvent=["x", "y"], lab=["north"])
    product = similarities("auto", space, np.random.default_rng(0))[0]
    assert isinstance(product, Parts)
    assert product.fields == ("solvent",)


def test_the_likenesses_of_continuous_spaces_have_gradients() -> None:
    for space in (Box([0.0, 0.0], [1.0, 10.0]), Simplex(3), Gaussians(([0.0], [1.0]), ([0.1], [1.0]))):
        found = similarities("auto", space, np.random.default_rng(0))
        assert all(is_differentiable(space.view(one)) for one in found)


def test_a_record_with_a_continuous_part_has_gradients_in_it() -> None:
    space = Record(base=["x", "y"], T=Box(20.0, 120.0))
    for one in similarities("auto", space, np.random.default_rng(0)):
        assert is_differentiable(space.view(one))


def test_what_is_fixed_sees_the_units_of_the_space() -> None:
    space = Box([0.0], [10.0])
    (one,) = similarities(fixed(RBF(0.5)), space, np.random.default_rng(0))
    assert space.view(one)([0.0], [5.0]) == pytest.approx(RBF(0.5)([0.0], [0.5]))
    records = Record(T=Box([0.0], [10.0]), b=["x", "y"])
    (both,) = similarities(fixed(Parts(T=RBF(0.5), b=Equal(0.0))), records, np.random.default_rng(0))
    assert isinstance(both, Fixed)
    left, right = {"T": np.array([0.0]), "b": "x"}, {"T": np.array([5.0]), "b": "x"}
    assert records.view(both)(left, right) == pytest.approx(RBF(0.5)([0.0], [0.5]))


def test_given_similarities_are_taken_in_their_order() -> None:
    def alike(x: Any, y: Any) -> float:
        return 1.0

    found = similarities([Hamming(), Matern(), alike], Box([0.0], [1.0]), np.random.default_rng(0))
    assert [one.name for one in found] == ["Hamming", "Matern5/2", "alike"]


@pytest.mark.parametrize(("given", "words"), [("best", "unknown similarity 'best'"), ([], "empty list"), (7, "not 7")])
def test_what_is_no_similarity_is_named(given: Any, words: str) -> None:
    with pytest.raises(SimilarityError, match=words):
        similarities(given, Box([0.0], [1.0]), np.random.default_rng(0))


def test_the_same_seed_recognises_the_same_similarities() -> None:
    space = Strings("ACGT", max_length=9, min_length=5)
    one, other = (similarities("auto", space, np.random.default_rng(3)) for _ in range(2))
    assert one == other
