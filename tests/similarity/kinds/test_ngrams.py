"""n-grams against scikit-learn's counts."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.encoding import take
from likewise.similarity.kinds.strings import NGrams

long_enough = st.lists(st.text(alphabet="ABC", min_size=3, max_size=12), min_size=1, max_size=6)


def scores(like: Similarity, objects: list[str]) -> np.ndarray:
    a = like.encode(objects)
    return like.between(a, a)


def sklearn_counts(objects: list[str], low: int, high: int) -> np.ndarray:
    return CountVectorizer(analyzer="char", ngram_range=(low, high), lowercase=False).fit_transform(objects).toarray()


@pytest.mark.parametrize("up_to", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3])
@given(objects=long_enough)
@settings(max_examples=40)
def test_cosine_of_ngrams_is_scikit_learns(up_to: bool, n: int, objects: list[str]) -> None:
    expected = cosine_similarity(sklearn_counts(objects, 1 if up_to else n, n))
    np.testing.assert_allclose(scores(NGrams(n, up_to=up_to), objects), expected, atol=1e-12)


@pytest.mark.parametrize("up_to", [False, True])
@given(objects=long_enough)
@settings(max_examples=40)
def test_minmax_of_ngrams_is_sum_of_minima_over_sum_of_maxima(up_to: bool, objects: list[str]) -> None:
    counts = sklearn_counts(objects, 1 if up_to else 2, 2)
    expected = [[np.minimum(x, y).sum() / np.maximum(x, y).sum() for y in counts] for x in counts]
    np.testing.assert_allclose(scores(NGrams(2, how="minmax", up_to=up_to), objects), expected, atol=1e-12)


def test_many_objects_in_blocks_are_scored_as_few() -> None:
    rng = np.random.default_rng(0)
    objects = ["".join(rng.choice(list("ACGT"), rng.integers(3, 20))) for _ in range(700)]
    like = NGrams(3)
    a = like.encode(objects)
    whole, few = like.between(a, a), take(a, slice(690, 700))
    np.testing.assert_allclose(whole[690:], like.between(few, a), atol=1e-14)
    np.testing.assert_allclose(whole, cosine_similarity(sklearn_counts(objects, 3, 3)), atol=1e-12)


@pytest.mark.parametrize("like", [NGrams(3), NGrams(3, how="minmax")])
def test_a_short_string_is_like_itself_alone(like: Similarity) -> None:
    found = scores(like, ["", "A", "AB", "B", "ABCABC"])
    np.testing.assert_allclose(found, np.eye(5), atol=1e-15)


@pytest.mark.parametrize("like", [NGrams(2), NGrams(2, how="minmax", up_to=True)])
def test_tokens_count_as_letters(like: Similarity) -> None:
    words = {"a": "the", "b": ("a", 1), "c": 7.5}
    x, y = "abcabca", "acbbca"
    tokens = tuple(words[letter] for letter in x), [words[letter] for letter in y]
    assert like(*tokens) == pytest.approx(like(x, y), abs=1e-12)


def test_ngrams_are_the_same_columns_in_every_process() -> None:
    program = (
        "from likewise.similarity.kinds.strings import NGrams; print(NGrams(2).encode([('a', 'bc', 7)])[0].indices)"
    )
    command = [sys.executable, "-c", program]
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    found = {subprocess.run(command, env=seed, capture_output=True, text=True, check=True).stdout for seed in seeds}
    assert len(found) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: NGrams(0),
        lambda: NGrams(2, how="euclid"),  # type: ignore[arg-type]
    ],
)
def test_impossible_settings_are_refused(wrong: object) -> None:
    with pytest.raises(SimilarityError, match=r"0|euclid"):
        wrong()  # type: ignore[operator]


@pytest.mark.parametrize("like", [NGrams(2)])
def test_what_is_no_string_is_named(like: Similarity) -> None:
    with pytest.raises(SimilarityError, match="object 1 is not a string"):
        like.encode(["AB", 17])
