"""Laws of a similarity made from an embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.kinds.embedded import Embedded
from likewise.similarity.kinds.vectors import RBF, Cosine, Matern
from likewise.testing.similarities import check_similarity

WORDS = ["analogy", "banana", "cab", "dab", "abacus", "ebb", "logical", "biology"]


def letters(text: str) -> list[int]:
    return [text.count(letter) for letter in "abcglo"]


class Counting:
    """An embedding that remembers what it was called with."""

    def __init__(self, batch: bool = False) -> None:
        self.batch = batch
        self.calls: list[Any] = []

    def __call__(self, given: Any) -> Any:
        self.calls.append(given)
        return [letters(text) for text in given] if self.batch else letters(given)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("inner", [Cosine(), RBF(2.0), Matern(), Cosine() + RBF(1.0)], ids=lambda s: s.name)
def test_conformance(inner: Similarity, batch: bool) -> None:
    check_similarity(Embedded(Counting(batch), inner, batch), WORDS)


@pytest.mark.parametrize("batch", [False, True])
def test_it_is_the_similarity_of_the_vectors(batch: bool) -> None:
    embedded = Embedded(Counting(batch), RBF(2.0), batch)
    expected = RBF(2.0).between(*[RBF(2.0).encode([letters(word) for word in WORDS])] * 2)
    encoding = embedded.encode(WORDS)
    np.testing.assert_array_equal(embedded.between(encoding, encoding), expected)


def test_each_object_is_embedded_once_ever() -> None:
    function = Counting()
    embedded = Embedded(function, RBF())
    encoding = embedded.encode([*WORDS[:4], *WORDS[:4]])
    embedded.fitted(encoding).encode(WORDS[2:])
    settled = embedded.with_parameters({name: 2 * p.value for name, p in embedded.parameters(encoding).items()})
    settled.encode(WORDS)
    assert sorted(function.calls) == sorted(WORDS)


def test_a_batch_holds_the_new_objects_alone() -> None:
    function = Counting(batch=True)
    embedded = Embedded(function, batch=True)
    embedded.encode(WORDS[:3])
    embedded.encode(WORDS[1:5])
    embedded.encode(WORDS[:5])
    assert function.calls == [WORDS[:3], WORDS[3:5]]


def test_arrays_lists_and_records_are_recognised() -> None:
    calls = []
    embedded = Embedded(lambda x: calls.append(x) or [1.0, float(len(x))])
    for x in (np.zeros(3), [1, [2, 3]], {"a": np.ones(2)}):
        embedded.encode([x])
        embedded.encode([x.copy()])
    assert len(calls) == 3


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[1.0, 2.0]], r"embedding of 'cab' is not a vector of finite numbers \(its shape is \(1, 2\)\)"),
        ([np.nan, 1.0], "embedding of 'cab' is not a vector of finite numbers"),
        ([], "embedding of 'cab' is not a vector"),
        (None, "embedding of 'cab' is not a vector"),
        ("text", "embedding of 'cab' is not a vector of numbers"),
        ([1.0, 2.0, 3.0], "embedding of 'cab' has 3 numbers where others have 2"),
    ],
)
@pytest.mark.parametrize("batch", [False, True])
def test_a_wrong_vector_is_named(bad: Any, message: str, batch: bool) -> None:
    def one(text: str) -> Any:
        return bad if text == "cab" else [1.0, 2.0]

    embedded = Embedded((lambda texts: [one(t) for t in texts]) if batch else one, batch=batch)
    embedded.encode(["ebb"])
    with pytest.raises(SimilarityError, match=message):
        embedded.encode(["dab", "cab"])


@pytest.mark.parametrize(("given", "message"), [([[1.0]], "gave 1 vectors"), (None, "gave None")])
def test_a_batch_of_another_length_is_refused(given: Any, message: str) -> None:
    with pytest.raises(SimilarityError, match=f"2 objects {message}.*'cab'"):
        Embedded(lambda texts: given, batch=True).encode(["cab", "dab"])


def test_an_error_of_the_function_keeps_its_kind_and_names_the_object() -> None:
    def offline(text: str) -> Any:
        raise ConnectionError("no answer")

    with pytest.raises(ConnectionError) as caught:
        Embedded(offline).encode(["cab"])
    assert caught.value.__notes__ == ["while embedding 'cab'"]


def test_vectors_found_before_an_error_are_kept() -> None:
    function = Counting()

    def fragile(text: str) -> Any:
        if text == "cab" and len(function.calls) < 3:
            function.calls.append("failed")
            raise ConnectionError("no answer")
        return function(text)

    embedded = Embedded(fragile)
    with pytest.raises(ConnectionError):
        embedded.encode(["dab", "ebb", "cab"])
    embedded.encode(["dab", "ebb", "cab"])
    assert function.calls == ["dab", "ebb", "failed", "cab"]


def test_what_is_kept_is_bounded_and_what_was_used_last_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.similarity.kinds.embedded.KEPT", 40)
    calls: list[str] = []

    def letters(text: str) -> list[float]:
        calls.append(text)
        return [float(text.count(letter)) for letter in "abcd"]

    alike = Embedded(letters)
    many = [f"ab{i}" for i in range(500)]
    assert alike.vectors(many).shape == (500, 4)
    for text in many:
        alike.vectors([many[0], text])
    assert len(alike._vectors.found) == 10
    # The first was evicted once, and used at every turn from then on.
    assert calls.count(many[0]) == 2
    np.testing.assert_array_equal(alike.vectors(many), [letters(text) for text in many])
