"""Laws of the similarities of mixtures, against sums written out and SciPy's linear programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.encoding import join, take
from likewise.similarity.functions import from_function as plain
from likewise.similarity.kinds import mixtures as measures
from likewise.similarity.kinds.mixtures import MaximumMeanDiscrepancy, MeanEmbedding
from likewise.similarity.kinds.permutations import Kendall
from likewise.similarity.kinds.vectors import RBF, Cosine, Matern
from likewise.testing.similarities import check_similarity

relaxed = settings(max_examples=40, deadline=None)
numbers = st.integers(0, 6).map(float)
mixtures = st.dictionaries(numbers, st.floats(0.01, 10), min_size=1, max_size=4)
K = RBF(2.0)


def ground(x: Any, y: Any) -> Any:
    return K.between(K.encode(list(x)), K.encode(list(y)))


def shares(mixture: dict[Any, float]) -> Any:
    weights = np.array(list(mixture.values()))
    return weights / weights.sum()


def inner(a: dict[Any, float], b: dict[Any, float]) -> float:
    return float(shares(a) @ ground(a, b) @ shares(b))


@relaxed
@given(mixtures, mixtures)
def test_mean_embedding_and_discrepancy_as_defined(a: dict[float, float], b: dict[float, float]) -> None:
    assert MeanEmbedding(K)(a, b) == pytest.approx(inner(a, b) / np.sqrt(inner(a, a) * inner(b, b)), rel=1e-9)
    squared = max(inner(a, a) - 2 * inner(a, b) + inner(b, b), 0.0)
    assert MaximumMeanDiscrepancy(K, 0.5)(a, b) == pytest.approx(np.exp(-squared / 0.5), rel=1e-9)


@relaxed
@given(mixtures, st.floats(0.1, 100))
def test_units_order_and_form_do_not_count(a: dict[float, float], unit: float) -> None:
    halves = [(x, 0.5 * unit * w) for x, w in a.items()]
    pairs = [*halves, *reversed(halves), (99.0, 0.0)]
    for similarity in (MeanEmbedding(K), MaximumMeanDiscrepancy(K)):
        assert similarity(a, pairs) == pytest.approx(1.0, abs=1e-6)


def test_one_object_each_is_the_ground_similarity() -> None:
    for x, y in ((0.0, 1.0), (2.0, 5.0)):
        assert MeanEmbedding(K)({x: 3.0}, {y: 2.0}) == pytest.approx(K(x, y))


def random_mixtures(count: int, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    objects = [tuple(x) for x in rng.normal(size=(6, 2)).round(3).tolist()]
    chosen = [rng.choice(6, size=rng.integers(1, 5), replace=False) for _ in range(count)]
    return [[(objects[k], float(rng.uniform(0.1, 2.0))) for k in places] for places in chosen]


@pytest.mark.parametrize(
    "similarity",
    [
        MeanEmbedding(RBF()),
        MeanEmbedding(Cosine()),
        MeanEmbedding(RBF(0.5) + 2.0 * Matern()),
        MaximumMeanDiscrepancy(RBF()),
        MaximumMeanDiscrepancy(Matern(1.0), lengthscale=0.3),
        MaximumMeanDiscrepancy(Cosine(), constant=10.0),
    ],
    ids=repr,
)
def test_conformance(similarity: Similarity) -> None:
    x = (0.0, 0.0)
    wrong = [{x: -1.0}, {x: np.nan}, {x: "much"}, {x: 0.0}, {}, "water", 3.0, [(x, 1.0, 2.0)], {(0.0,): 1.0}, None]
    check_similarity(similarity, random_mixtures(10), wrong=wrong)


def test_any_ground_similarity_serves() -> None:
    orders = [{(0, 1, 2): 1.0}, {(0, 1, 2): 1.0, (2, 1, 0): 1.0}, {(1, 0, 2): 2.0, (1, 2, 0): 1.0}, {(2, 1, 0): 1.0}]
    check_similarity(MeanEmbedding(Kendall()), orders, wrong=[{(0, 0, 1): 1.0}])
    lengths = plain(lambda x, y: 1.0 / (1 + abs(len(x) - len(y))))
    texts = [{"a": 1.0, "bb": 2.0}, {"ccc": 1.0}, {"a": 1.0, "dddd": 1.0}, {"bb": 1.0}]
    for similarity in (MeanEmbedding(lengths), MaximumMeanDiscrepancy(lengths)):
        check_similarity(similarity, texts)
        assert not similarity.psd


def test_the_ground_similarity_is_asked_once_for_each_pair_of_different_objects() -> None:
    seen = []
    counting = plain(lambda x, y: seen.append((x, y)) or float(x == y))
    embedding = MeanEmbedding(counting)
    blends = [{"water": 1.0, "ethanol": float(k)} for k in range(1, 9)]
    encoding = join([embedding.encode(blends[:3]), embedding.encode(blends[3:])])
    embedding.between(encoding, encoding)
    assert {frozenset(pair) for pair in seen} == {frozenset({"water"}), frozenset({"ethanol"}), frozenset(blends[0])}
    assert len(seen) <= 4


def test_large_supports_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    clouds = [[(float(x), 1.0) for x in rng.normal(size=rng.integers(1, 9))] for _ in range(12)]
    expected = {}
    for limit in (measures.LARGEST, 10):
        monkeypatch.setattr(measures, "LARGEST", limit)
        monkeypatch.setattr(measures, "SMALL", 2 if limit == 10 else 64)
        for similarity in (MeanEmbedding(K), MaximumMeanDiscrepancy(K)):
            encoding = similarity.encode(clouds)
            found = similarity.between(encoding, take(encoding, slice(0, 7)))
            np.testing.assert_allclose(found, expected.setdefault(similarity.name, found), rtol=1e-12)
            np.testing.assert_allclose(similarity.within(encoding), 1.0)


def test_supports_met_in_another_order_are_not_confused() -> None:
    embedding = MeanEmbedding(K)
    blends = [{0.0: 1.0, 3.0: 2.0}, {3.0: 1.0}, {3.0: 1.0, 5.0: 1.0, 0.0: 1.0}]
    pieces = join([embedding.encode([blend]) for blend in blends])
    whole = embedding.encode(blends)
    np.testing.assert_allclose(embedding.between(pieces, pieces), embedding.between(whole, whole), rtol=1e-12)


def test_a_mixture_is_compared_with_itself_anew_for_another_ground() -> None:
    blends = [{0.0: 1.0, 3.0: 2.0}, {3.0: 1.0}, {3.0: 1.0, 5.0: 1.0, 0.0: 1.0}]
    encoding = MeanEmbedding(RBF(1.0)).encode(blends)
    for lengthscale in (1.0, 3.0, 1.0):
        embedding = MeanEmbedding(RBF(lengthscale))
        fresh = embedding.encode(blends)
        np.testing.assert_array_equal(embedding.between(encoding, encoding), embedding.between(fresh, fresh))


def test_opposites_cancel_to_a_mixture_like_no_other() -> None:
    embedding = MeanEmbedding(Cosine())
    nothing = [((1.0, 0.0), 1.0), ((-1.0, 0.0), 1.0)]
    encoding = embedding.encode([nothing, [((1.0, 0.0), 1.0)]])
    np.testing.assert_allclose(embedding.between(encoding, encoding), [[0.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(embedding.within(encoding), [0.0, 1.0])


def test_wrong_mixtures_are_named() -> None:
    embedding = MeanEmbedding(K)
    for wrong, message in (
        ({1.0: -2.0}, "weight of 1.0 in mixture 1 is -2.0"),
        ({1.0: 0.0}, "mixture 1 has no object of positive weight"),
        ("water", "object 1 is not a mixture: 'water'"),
        (
            {"water": 1.0},
            "of these mixtures, object 1 is not a vector of numbers: 'water'",
        ),
    ):
        with pytest.raises(SimilarityError, match=message):
            embedding.encode([{0.0: 1.0}, wrong])


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(SimilarityError, match="needs a positive lengthscale"):
        MaximumMeanDiscrepancy(K, -1.0)


def test_no_objects_have_no_scores() -> None:
    for similarity in (MeanEmbedding(K), MaximumMeanDiscrepancy(K)):
        some, none = similarity.encode([{0.0: 1.0}]), similarity.encode([])
        assert similarity.between(some, none).shape == (1, 0)
        assert similarity.between(none, some).shape == (0, 1)
