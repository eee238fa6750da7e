"""Edit similarities against textbook recursions in plain Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import SimilarityError
from likewise.similarity.kinds.strings import Damerau, Hamming, Indel, JaroWinkler, Levenshtein

texts = st.text(alphabet="ABCD", max_size=9)
some_texts = st.lists(texts, min_size=1, max_size=6)


def edits(x: str, y: str, substitution: int, swaps: bool) -> int:
    """Fewest edits from x to y, with substitutions at this cost and, if allowed, swaps of neighbours."""
    d = [[max(i, j) if 0 in (i, j) else 0 for j in range(len(y) + 1)] for i in range(len(x) + 1)]
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            change = 0 if x[i - 1] == y[j - 1] else substitution
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change)
            if swaps and i > 1 and j > 1 and x[i - 1] == y[j - 2] and x[i - 2] == y[j - 1]:
                d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1)
    return d[-1][-1]


def share(distance: int, most: int) -> float:
    return 1.0 - distance / most if most else 1.0


@given(some_texts, some_texts)
def test_levenshtein_is_the_textbook_recursion(a: list[str], b: list[str]) -> None:
    like = Levenshtein()
    expected = [[share(edits(x, y, 1, swaps=False), max(len(x), len(y))) for y in b] for x in a]
    np.testing.assert_allclose(like.between(like.encode(a), like.encode(b)), expected, atol=1e-12)


@given(some_texts, some_texts)
def test_indel_is_the_textbook_recursion(a: list[str], b: list[str]) -> None:
    like = Indel()
    expected = [[share(edits(x, y, 2, swaps=False), len(x) + len(y)) for y in b] for x in a]
    np.testing.assert_allclose(like.between(like.encode(a), like.encode(b)), expected, atol=1e-12)


@given(some_texts, some_texts)
def test_restricted_damerau_is_the_textbook_recursion(a: list[str], b: list[str]) -> None:
    like = Damerau()
    expected = [[share(edits(x, y, 1, swaps=True), max(len(x), len(y))) for y in b] for x in a]
    np.testing.assert_allclose(like.between(like.encode(a), like.encode(b)), expected, atol=1e-12)


@given(texts, texts)
def test_unrestricted_damerau_needs_no_more_edits(x: str, y: str) -> None:
    assert Levenshtein()(x, y) - 1e-12 <= Damerau()(x, y) <= Damerau(restricted=False)(x, y) + 1e-12


def test_unrestricted_damerau_may_edit_inside_a_swap() -> None:
    assert Damerau(restricted=False)("CA", "ABC") == pytest.approx(1 / 3)
    assert Damerau()("CA", "ABC") == 0.0


@given(texts, texts)
def test_jaro_winkler_is_symmetric_and_rewards_a_common_beginning(x: str, y: str) -> None:
    like, plain = JaroWinkler(), JaroWinkler(prefix_weight=0.0)
    assert like(x, y) == pytest.approx(like(y, x), abs=1e-12)
    assert plain(x, y) - 1e-12 <= like(x, y) <= 1.0


@pytest.mark.parametrize(("x", "y", "score"), [("DIXON", "DICKSONX", 0.8133), ("DWAYNE", "DUANE", 0.84)])
def test_jaro_winkler_on_published_pairs(x: str, y: str, score: float) -> None:
    assert JaroWinkler()(x, y) == pytest.approx(score, abs=5e-5)


@pytest.mark.parametrize(
    "like", [Levenshtein(), Indel(), Damerau(), Damerau(restricted=False), JaroWinkler(), Hamming()]
)
@given(x=st.text(alphabet="abc", min_size=6, max_size=6), y=st.text(alphabet="abc", min_size=6, max_size=6))
@settings(max_examples=30)
def test_tokens_count_as_letters(like: Levenshtein, x: str, y: str) -> None:
    words = {"a": "conv", "b": "pool", "c": ("skip", 3)}
    tokens = tuple(words[letter] for letter in x), [words[letter] for letter in y]
    assert like(*tokens) == pytest.approx(like(x, y), abs=1e-12)


def test_many_pairs_in_threads_are_the_same_pairs() -> None:
    rng = np.random.default_rng(0)
    objects = ["".join(rng.choice(list("ACGT"), 8)) for _ in range(400)]
    like = Indel()
    a = like.encode(objects)
    whole = like.between(a, a)
    np.testing.assert_array_equal(whole[7:9], like.between(a[7:9], a))
    np.testing.assert_array_equal(whole[:, 7:9], like.between(a, a[7:9]))


@given(
    st.integers(1, 7).flatmap(
        lambda length: st.tuples(
            st.lists(st.text(alphabet="AB☃", min_size=length, max_size=length), min_size=1, max_size=5),
            st.lists(st.floats(0.01, 10), min_size=length, max_size=length),
        )
    )
)
def test_hamming_is_the_weighted_share_of_agreeing_positions(case: tuple[list[str], list[float]]) -> None:
    objects, weights = case
    like = Hamming(weights)
    expected = [
        [sum(w for w, p, q in zip(weights, x, y, strict=True) if p == q) / sum(weights) for y in objects]
        for x in objects
    ]
    a = like.encode(objects)
    np.testing.assert_allclose(like.between(a, a), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("x", "y", "score"),
    [
        ((1, 2, 3), [1.0, 2, 4], 2 / 3),
        (np.array([1, 2, 3, 4]), np.array([1, 2, 3, 5]), 0.75),
        ((300, 65), ("A", "A"), 0.0),
        (("A", "C"), "AC", 1.0),
        ("", "", 1.0),
    ],
)
def test_hamming_compares_any_tokens(x: Sequence[object], y: Sequence[object], score: float) -> None:
    assert Hamming()(x, y) == pytest.approx(score)


def test_hamming_names_both_strings_of_unequal_length() -> None:
    with pytest.raises(SimilarityError, match=r"'ACGT' has 4 and 'ACGTA' has 5"):
        Hamming().encode(["ACGT", "AAAA", "ACGTA"])
    with pytest.raises(SimilarityError, match="of 4 and of 5 letters"):
        Hamming()("ACGT", "ACGTA")
    with pytest.raises(SimilarityError, match="3 weights for sequences of length 4"):
        Hamming([1, 1, 1])("ACGT", "ACGA")


@pytest.mark.parametrize("weights", [[1.0, 0.0], [1.0, -1.0], [], [np.nan], [[1.0]]])
def test_hamming_refuses_weights_that_are_not_positive(weights: list[float]) -> None:
    with pytest.raises(SimilarityError, match="positive weight"):
        Hamming(weights)


def test_jaro_winkler_refuses_a_prefix_weight_that_would_exceed_one() -> None:
    with pytest.raises(SimilarityError, match=r"0 to 0\.25"):
        JaroWinkler(prefix_weight=0.3)


@pytest.mark.parametrize("like", [Levenshtein(), Indel(), Damerau(), JaroWinkler(), Hamming()])
@pytest.mark.parametrize("wrong", [None, 3, 2.5, {"a": 1}, np.zeros((2, 2)), [["nested", "list"]]])
def test_what_is_no_sequence_is_named(like: Levenshtein, wrong: object) -> None:
    with pytest.raises(SimilarityError, match=r"object 1|token"):
        like.encode(["a", wrong])
