"""Records of many rows: what recurs in a field is encoded and compared once, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import SimilarityError
from likewise.model.fit import learn, tabulate
from likewise.model.scores import Gram
from likewise.similarity.algebra import Fixed
from likewise.similarity.base import Similarity
from likewise.similarity.encoding import MANY, PER_LEVEL, Encoding, Levels, count_rows, join, plain, take
from likewise.similarity.functions import as_similarity, from_function
from likewise.similarity.kinds.permutations import Mallows
from likewise.similarity.kinds.sets import Equal, Jaccard
from likewise.similarity.kinds.strings import Hamming, Levenshtein
from likewise.similarity.kinds.vectors import RBF, Linear, Matern
from likewise.similarity.records import Parts
from likewise.spaces.pool import Pool

N = 600


def grid(seed: int = 0) -> list[dict[str, Any]]:
    """A grid's rows, with one number that never recurs."""
    rng = np.random.default_rng(seed)
    heats, colours, codes = (
        rng.choice([20.0, 40.0, 90.0], N),
        rng.choice(["red", "blue"], N),
        rng.choice(["ab", "cd"], N),
    )
    rows = zip(heats.tolist(), colours.tolist(), codes.tolist(), rng.random(N).tolist(), strict=True)
    return [dict(zip(("heat", "colour", "code", "dose"), row, strict=True)) for row in rows]


def has_levels(encoding: Encoding) -> list[bool]:
    return [isinstance(x, Levels) for x in encoding]


@pytest.mark.parametrize("how", ["product", "sum"])
@pytest.mark.parametrize("weights", [None, [0.3, 2.0, 1.0, 0.7]])
@pytest.mark.parametrize("otherwise", [0.0, 0.5])
def test_the_scores_of_many_rows_are_those_of_few(
    how: Literal["product", "sum"], weights: list[float] | None, otherwise: float
) -> None:
    rows = grid()
    parts = Parts(how, weights, heat=RBF(0.5), colour=Equal(otherwise), code=Hamming(), dose=RBF(0.5))
    seen = Pool(rows).view(parts)
    many, few = seen.encode(rows), seen.encode(rows[:7])
    assert has_levels(many) == [True, True, True, False]
    in_pieces = np.vstack([seen.between(take(many, slice(i, i + 30)), few) for i in range(0, N, 30)])
    np.testing.assert_allclose(seen.between(many, few), in_pieces, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(seen.between(few, many), in_pieces.T, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(seen.within(many), seen.within(plain(many)))


def test_negative_scores_are_multiplied_as_they_are() -> None:
    parts = Parts("product", [1.0, 0.5], x=Linear(), colour=Equal())
    rows = [{"x": (-1.0 if i % 2 else 2.0,), "colour": "ab"[i % 3 == 0]} for i in range(N)]
    many, few = parts.encode(rows), parts.encode(rows[:4])
    assert has_levels(many) == [True, True]
    scores = parts.between(many, few)
    assert scores.min() < 0
    np.testing.assert_allclose(scores[:9], [[parts(a, b) for b in rows[:4]] for a in rows[:9]])


def told_apart(x: Any, other: Any) -> float:
    return 1.0 if type(x) is type(other) and x == other else 0.25


VALUES: dict[str, tuple[Callable[[], Similarity], list[Any]]] = {
    "mixed": (Equal, [1, True, 1.0, "1", (1,), None, np.float64(1.0), float("nan"), b"1"]),
    "numbers": (lambda: RBF(0.7), [1, True, 0.0, -0.0, 0.5, np.float64(0.5)]),
    "texts": (Levenshtein, ["ab", "abc", "b", ""]),
    "sets": (Jaccard, [frozenset("ab"), frozenset("b"), frozenset()]),
    "unhashable": (Jaccard, [{"a", "b"}, {"b"}, ["c", "a"]]),
    "function": (lambda: from_function(lambda x, y: 1.0 / (1.0 + abs(len(x) - len(y)))), ["ab", "abc", "b"]),
    "records": (lambda: Parts("sum", None, c=Equal(), d=RBF(0.3)), [{"c": i % 3, "d": i % 4 / 4} for i in range(12)]),
}


@st.composite
def records(draw: st.DrawFn) -> tuple[Parts, list[dict[str, Any]]]:
    chosen = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3, unique=True))
    how: Literal["product", "sum"] = draw(st.sampled_from(["product", "sum"]))
    weights = draw(st.lists(st.sampled_from([1.0, 0.5, 2.0]), min_size=len(chosen), max_size=len(chosen)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.sampled_from([0, 1, 7, MANY, 2 * MANY]))
    rows = [{kind: VALUES[kind][1][rng.integers(len(VALUES[kind][1]))] for kind in chosen} for _ in range(size)]
    return Parts(how, weights, **{kind: VALUES[kind][0]() for kind in chosen}), rows


@given(records(), st.integers(0, 5))
def test_scores_are_those_of_pair_after_pair(given_: tuple[Parts, list[dict[str, Any]]], seed: int) -> None:
    parts, rows = given_
    a = parts.encode(rows)
    assert count_rows(a) == len(rows)
    scores = parts.between(a, a)
    np.testing.assert_array_equal(scores, scores.T)
    np.testing.assert_allclose(parts.within(a), np.diagonal(scores), rtol=1e-12)
    rng = np.random.default_rng(seed)
    for i, j in rng.integers(0, len(rows), (20 if rows else 0, 2)):
        assert scores[i, j] == pytest.approx(parts(rows[i], rows[j]), rel=1e-12)
    half = len(rows) // 2
    pieces = [parts.encode(rows[:half]), parts.encode(rows[half:])] if half else [a]
    for other in (plain(a), join(pieces), take(a, slice(None))):
        np.testing.assert_allclose(parts.between(a, other), scores, rtol=1e-12)
        np.testing.assert_allclose(parts.between(other, a), scores, rtol=1e-12)


def test_values_are_equal_and_of_one_type_to_share_a_level() -> None:
    parts = Parts(x=from_function(told_apart))
    rows = [{"x": x} for x in [1, 2.0] * MANY]
    assert has_levels(parts.encode(rows)) == [True]
    (found,) = Parts(x=Equal()).encode([{"x": x} for x in [1, True, 1.0, np.float64(1.0)] * MANY])
    assert count_rows(found.entries) == 4
    assert len(np.unique(found.entries)) == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "b"] * (MANY // 2), True),
        (["a"] * (MANY - 1), False),
        ([i // PER_LEVEL for i in range(4 * MANY)], True),
        ([i // (PER_LEVEL - 1) for i in range(4 * MANY)], False),
        ([], False),
    ],
)
def test_few_values_of_many_records_are_levels(values: list[Any], expected: bool) -> None:
    assert has_levels(Parts(x=Equal()).encode([{"x": x} for x in values])) == [expected]


def test_a_value_that_recurs_is_encoded_once() -> None:
    encoded: list[int] = []

    class Counting(Equal):
        def encode(self, objects: Any) -> Any:
            encoded.append(len(objects))
            return super().encode(objects)

    Parts(x=Counting()).encode([{"x": i % 5} for i in range(N)])
    assert encoded == [5]


def test_records_in_records_have_levels_inside() -> None:
    rows = [{"inner": {"c": "ab"[i % 2], "d": float(i)}, "e": i % 3} for i in range(MANY)]
    inner, outer = Parts(inner=Parts(c=Equal(), d=RBF(9.0)), e=Equal()).encode(rows)
    assert has_levels(inner) == [True, False]
    assert isinstance(outer, Levels)


def test_a_complaint_names_the_record() -> None:
    rows: list[dict[str, Any]] = [{"x": 1.0, "code": "ab"} for _ in range(2 * MANY)]
    rows[MANY + 3]["x"] = "hot"
    with pytest.raises(SimilarityError, match=f"^object {MANY + 3} is not a vector of numbers: 'hot'"):
        Parts(x=RBF(), code=Hamming()).encode(rows)
    with pytest.raises(SimilarityError, match=f"^object {MANY + 7} "):
        Parts(kind=Jaccard()).encode([{"kind": 7 if i == MANY + 7 else frozenset("ab")} for i in range(2 * MANY)])


def numbered_rows() -> list[dict[str, Any]]:
    rng = np.random.default_rng(3)
    return [{"x": rng.integers(4) / 4, "y": rng.random(), "colour": "abc"[rng.integers(3)]} for _ in range(2 * MANY)]


@pytest.mark.parametrize("how", ["product", "sum"])
def test_derivatives_are_those_of_the_plain_encoding(how: Literal["product", "sum"]) -> None:
    rows = numbered_rows()
    parts = Parts(how, [0.5, 1.0, 2.0], x=RBF(0.4), y=RBF(0.6), colour=Equal())
    a = parts.encode(rows)
    assert has_levels(a) == [True, False, True]
    weights = np.random.default_rng(4).standard_normal((len(rows), len(rows)))
    for seen in (parts, parts.along({"y": 1, "x": 1})):
        (scores, pull), (expected, expected_pull) = seen.linearise(a, a), seen.linearise(plain(a), plain(a))
        np.testing.assert_allclose(scores, expected)
        np.testing.assert_allclose(pull(weights), expected_pull(weights))
        own, pull_own = seen.linearise_within(a)
        np.testing.assert_allclose(own, seen.within(a))
        assert pull_own(weights[0]).shape == (len(rows), 2)
        (scores, slopes), (expected, expected_slopes) = seen.sensitivity(a), seen.sensitivity(plain(a))
        np.testing.assert_allclose(scores, expected)
        for name, slope in slopes(weights).items():
            np.testing.assert_allclose(slope, expected_slopes(weights)[name])
        assert seen.parameters(a).keys() == seen.parameters(plain(a)).keys()


def test_what_is_learnt_and_settled_is_that_of_the_plain_encoding() -> None:
    rows = numbered_rows()
    orders = [(0, 1, 2, 3), (1, 0, 2, 3), (3, 2, 1, 0)]
    parts = Parts(x=RBF(), y=RBF(), order=Mallows())
    a = parts.encode([{**row, "order": orders["abc".index(row["colour"])]} for row in rows])
    settled = parts.fitted(a)
    assert settled.parts[2] == parts.fitted(plain(a)).parts[2] != Mallows()
    values = np.array([row["x"] - row["y"] for row in rows])
    found, expected = learn(settled, a, values), learn(settled, plain(a), values)
    assert (found.log_posterior, found.ratio) == (expected.log_posterior, expected.ratio)


def test_a_gram_matrix_grows_out_of_levels() -> None:
    rows = numbered_rows()
    parts = Parts(x=RBF(0.4), y=RBF(0.6), colour=Equal())
    grown = Gram.of(parts, rows[:MANY]).grow(rows[MANY : MANY + 2]).grow(rows[MANY + 2 :])
    np.testing.assert_allclose(grown.scores, Gram.of(parts, rows).scores, rtol=1e-12)
    np.testing.assert_allclose(grown.rows(parts.encode(rows)), grown.scores, rtol=1e-12)


@given(weights=st.lists(st.floats(0.01, 20.0), min_size=3, max_size=3))
def test_a_product_of_powers_of_what_can_be_divided_has_no_negative_eigenvalue(weights: list[float]) -> None:
    """Gaussian kernels and categories stay kernels to any power; others, to one that is no whole number, may not."""
    rng = np.random.default_rng(0)
    rows = [{"x": float(x), "y": float(y), "c": "abc"[i % 3]} for i, (x, y) in enumerate(rng.random((20, 2)))]
    product = Parts("product", weights, x=RBF(0.3), y=Fixed(RBF(1.0)), c=Equal(0.2))
    encoded = product.encode(rows)
    assert product.divisible
    assert tabulate(product, encoded).divisible
    assert np.linalg.eigvalsh(product.between(encoded, encoded)).min() > -1e-10
    assert not Parts("product", None, x=Matern(0.3), c=Equal()).divisible
    assert not Parts("sum", None, x=RBF(0.3), c=Equal()).divisible


def test_what_can_be_divided_is_learnt_as_if_its_eigenvalues_were_clipped() -> None:
    rng = np.random.default_rng(1)
    rows = [{"x": float(x), "c": "ab"[i % 2]} for i, x in enumerate(rng.random(30))]
    values = np.array([np.sin(5.0 * row["x"]) + (row["c"] == "a") for row in rows])
    found = []
    for rbf in (RBF(0.3), from_function(lambda x, y: float(np.exp(-0.5 * (x - y) ** 2 / 0.09)))):
        product = Parts("product", None, x=Fixed(as_similarity(rbf)), c=Equal())
        found.append(learn(product, product.encode(rows), values))
    np.testing.assert_allclose(found[0].similarity.weights, found[1].similarity.weights, rtol=1e-3)  # type: ignore[attr-defined]
    assert found[0].log_posterior == pytest.approx(found[1].log_posterior, abs=1e-5)
