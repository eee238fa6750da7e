"""A plain function stands wherever a similarity does, and what goes wrong inside it is told with the pair."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity

WORDS = ["ACGT", "AGGT", "TTTT", "AC", "CCCC"]


def alike(x: str, y: str) -> float:
    return 1.0 / (1.0 + abs(x.count("A") - y.count("A")) + abs(x.count("C") - y.count("C")))


COMBINED: list[tuple[Callable[[Any], Similarity], Callable[[str], Any]]] = [
    (lambda f: lw.Indel() + f, str),
    (lambda f: f + lw.Indel(), str),
    (lambda f: lw.Indel() * f, str),
    (lambda f: f * lw.Indel(), str),
    (lambda f: sum([lw.Indel(), f]), str),
    (lambda f: lw.warped(f, 2), str),
    (lambda f: lw.symmetrised(f), str),
    (lambda f: lw.ReverseComplement(f), str),
    (lambda f: lw.ReverseComplement(f, "max"), str),
    (lambda f: lw.Parts(a=f, b=lw.Indel()), lambda x: {"a": x, "b": x}),
    (lambda f: lw.MeanEmbedding(f), lambda x: {x: 1.0, "A": 2.0}),
    (lambda f: lw.MaximumMeanDiscrepancy(f), lambda x: {x: 1.0, "A": 2.0}),
]


@pytest.mark.parametrize(("combine", "make"), COMBINED)
def test_a_plain_function_combines_as_its_similarity_does(
    combine: Callable[[Any], Similarity], make: Callable[[str], Any]
) -> None:
    objects = [make(x) for x in WORDS]
    plain, wrapped = combine(alike), combine(lw.from_function(alike))
    assert plain.name == wrapped.name
    for similarity in (plain, plain.rebuilt(plain.parts)):
        scores = [[similarity(x, y) for y in objects] for x in objects]
        np.testing.assert_array_equal(scores, [[wrapped(x, y) for y in objects] for x in objects])


def test_an_embedding_is_compared_by_a_plain_function() -> None:
    embedded = lw.Embedded(lambda x: [x.count("A")], lambda x, y: 1.0 / (1.0 + abs(x[0] - y[0])))
    assert embedded("AA", "A") == 0.5


def test_sum_begins_with_nothing() -> None:
    alone = lw.Indel()
    assert sum([alone]) is alone
    assert sum([alone, lw.Hamming()])("ACGT", "AGGT") == alone("ACGT", "AGGT") + 0.75


def test_numbers_scale() -> None:
    for scaled in (3 * lw.Indel(), lw.Indel() * 3.0):
        assert scaled("ACGT", "AGGT") == 2.25


@pytest.mark.parametrize("combine", [operator.add, lambda a, b: b + a])
@pytest.mark.parametrize("other", [2, "text", None])
def test_what_is_no_similarity_is_not_added(combine: Callable[[Any, Any], Any], other: Any) -> None:
    with pytest.raises(SimilarityError, match="function of two objects, not"):
        combine(lw.Indel(), other)


@pytest.mark.parametrize("make", [lw.from_function, lw.symmetrised, lambda f: lw.Parts(a=f), lw.MeanEmbedding])
def test_what_cannot_be_called_is_refused_at_once(make: Callable[[Any], Any]) -> None:
    with pytest.raises(SimilarityError, match="function of two objects, not 3"):
        make(3)


@pytest.mark.parametrize("error", [KeyError("b"), ZeroDivisionError("by zero"), TypeError("bad"), ValueError("odd")])
def test_an_error_inside_the_function_is_told_with_the_pair(error: Exception) -> None:
    def broken(x: str, y: str) -> float:
        raise error

    with pytest.raises(SimilarityError) as caught:
        lw.from_function(broken)("a", "b")
    assert f"broken('a', 'b') raised {type(error).__name__}: {error}" in str(caught.value)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("given", [None, "much", [1.0, 2.0]])
def test_a_score_that_is_no_number_is_named(given: Any) -> None:
    with pytest.raises(SimilarityError) as caught:
        lw.from_function(lambda x, y: given)("a", "b")
    assert f"('a', 'b') did not give a number but {given!r}" in str(caught.value)


def test_scores_in_single_precision_are_symmetric_and_others_are_not() -> None:
    def rounded(x: float, y: float) -> float:
        return float(np.exp(-np.float32(abs(x - y))) * (1.0 + (1e-7 if x < y else 0.0)))

    assert lw.from_function(rounded)(0.1, 0.7) > 0
    with pytest.raises(SimilarityError, match="not symmetric"):
        lw.from_function(lambda x, y: 1.0 + (1e-5 if x < y else 0.0))(0.1, 0.7)
