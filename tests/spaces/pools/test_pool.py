"""Pools: order, duplicates, lookup, and the range that vector similarities see."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import SpaceError
from likewise.similarity.algebra import warped
from likewise.similarity.coordinates import Rescaled
from likewise.similarity.kinds.gaussians import Gaussian
from likewise.similarity.kinds.vectors import RBF, Linear
from likewise.similarity.records import Parts
from likewise.spaces.pool import Pool
from likewise.spaces.record import Record

values = st.integers(0, 4) | st.sampled_from(["a", "b", "1"]) | st.booleans() | st.sampled_from([0.5, 1.0])
members = st.recursive(
    values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2)
)


@given(st.lists(members, min_size=1, max_size=12))
def test_the_first_of_equal_objects_is_kept_in_order(given_objects: list[Any]) -> None:
    pool = Pool(given_objects)
    first = [x for i, x in enumerate(given_objects) if not any(_equal(x, y) for y in given_objects[:i])]
    assert list(pool.objects) == first
    assert pool.duplicates == len(given_objects) - len(first)
    assert [pool.index(x) for x in pool.objects] == list(range(len(pool)))
    assert all(pool.from_json(json.loads(json.dumps(pool.to_json(x)))) is x for x in pool.objects)


def _equal(x: Any, y: Any) -> bool:
    """Equality in which true is not 1, at any depth."""
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(_equal, x, y))
    if isinstance(x, dict) and isinstance(y, dict):
        return x.keys() == y.keys() and all(_equal(x[k], y[k]) for k in x)
    return bool(x == y) and isinstance(x, bool) == isinstance(y, bool)


@given(st.integers(1, 30), st.integers(0, 60), st.integers(0, 5))
def test_no_object_comes_twice_before_all_came(size: int, n: int, seed: int) -> None:
    for where in (None, lambda x: x % 3 != 0):
        pool = Pool(range(size), where=where)
        if not len(pool):
            continue
        drawn = pool.sample(n, np.random.default_rng(seed))
        distinct = min(n, len(pool))
        assert len(drawn) == n
        assert len(set(drawn[:distinct])) == distinct


def test_arrays_tuples_and_lists_are_looked_up_by_their_numbers() -> None:
    pool = Pool([np.array([1.0, 2.0]), (3, 4), np.array([[1, 2], [3, 4]]), frozenset({"a", "b"})])
    assert [pool.index(x) for x in ([1, 2], np.array([3.0, 4.0]), [[1, 2], [3, 4]], {"b", "a"})] == [0, 1, 2, 3]
    assert pool.fit([1, 2]) is pool.objects[0]


def test_a_pool_of_nothing_is_refused() -> None:
    with pytest.raises(SpaceError, match="at least one object"):
        Pool([])


def test_an_empty_pool_is_a_pool_from_which_nothing_can_be_sampled() -> None:
    pool = Pool(["b"], where=lambda x: False)
    assert len(pool) == 0
    assert "a" not in pool
    assert pool.sample(0, np.random.default_rng(0)) == []
    assert pool.view(RBF()) is not None
    with pytest.raises(SpaceError, match="none of its objects satisfies"):
        pool.sample(1, np.random.default_rng(0))


def test_foreign_objects_are_refused_by_name() -> None:
    with pytest.raises(SpaceError, match="'CCX' is not among the 1 objects"):
        Pool(["CCO"]).fit("CCX")
    assert object() not in Pool(["CCO"])
    assert 1j not in Pool([Fraction(1, 2)], to_json=str, from_json=Fraction)


def test_objects_without_a_json_form_need_functions_to_json_and_back() -> None:
    with pytest.raises(SpaceError, match=r"object 1 of the pool.*give to_json and from_json"):
        Pool(["a", Fraction(1, 2)])
    pool = Pool([Fraction(1, 2), Fraction(2, 4), Fraction(1, 3)], to_json=str, from_json=Fraction)
    assert pool.duplicates == 1
    assert pool.from_json("2/4") == Fraction(1, 2)
    with pytest.raises(SpaceError, match="not in the pool"):
        pool.from_json("7/8")


def test_gaussians_bring_their_json_form() -> None:
    pool = Pool([Gaussian([0.0], [1.0]), Gaussian([1.0], [1.0])])
    assert pool.fit(Gaussian([1.0], [1.0])) is pool.objects[1]


@pytest.mark.parametrize("wrong", ["no such file", {"a": 1}, 5, b"ab"])
def test_a_single_object_is_no_pool(wrong: Any) -> None:
    with pytest.raises(SpaceError, match="list of objects"):
        Pool(wrong)


def test_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(SpaceError, match="object 0 of the pool"):
        Pool([np.array([np.nan, 1.0])])


def test_the_description_knows_the_objects_but_not_their_order() -> None:
    for objects in (["a", "b", "c"], [{"x": 1}, {"x": 2}, {"x": 3}]):
        assert Pool(objects).describe() == Pool(objects[::-1]).describe()
        assert Pool(objects).describe() != Pool(objects[:2]).describe()
    assert Pool(["ab", "c"]).describe() != Pool(["a", "bc"]).describe()


def test_vector_similarities_see_the_range_of_the_pool() -> None:
    vectors = np.random.default_rng(0).normal(size=(9, 3)) * [1.0, 100.0, 0.0] + [0.0, 5.0, 2.0]
    viewed = Pool(vectors).view(RBF(0.3))
    low, high = vectors.min(axis=0), vectors.max(axis=0)
    scaled = (vectors - low) / np.where(high > low, high - low, 1.0)
    expected = RBF(0.3).between(scaled, scaled)
    np.testing.assert_allclose(viewed.between(viewed.encode(list(vectors)), viewed.encode(list(vectors))), expected)


def test_each_field_has_its_own_range_at_any_depth() -> None:
    rng = np.random.default_rng(0)
    records = [{"t": 100 * rng.random(), "in": {"v": rng.normal(size=2)}, "name": str(i)} for i in range(7)]
    one = warped(Parts(t=RBF(0.3), **{"in": Parts(v=RBF(0.5) + RBF(1.0))}), 2.0)
    viewed = Pool(records).view(one)
    t = np.array([r["t"] for r in records])[:, None]
    v = np.array([r["in"]["v"] for r in records])
    t, v = ((a - a.min(axis=0)) / np.ptp(a, axis=0) for a in (t, v))
    expected = (RBF(0.3).between(t, t) * (RBF(0.5).between(v, v) + RBF(1.0).between(v, v))) ** 2
    a = viewed.encode(records)
    np.testing.assert_allclose(viewed.between(a, a), expected)


def test_what_is_rescaled_is_not_rescaled_again_and_the_range_is_computed_once() -> None:
    pool = Pool([[0.0, 1.0], [2.0, 5.0]])
    once = pool.view(RBF())
    assert isinstance(once, Rescaled)
    assert pool.view(once) is once
    other = pool.view(Linear())
    assert isinstance(other, Rescaled)
    assert other.coordinates is once.coordinates


@pytest.mark.parametrize("objects", [["a", "b"], [[1.0], [1.0, 2.0]], [{"x": 1.0}, {"y": 1.0}], [True, False]])
def test_pools_that_are_no_vectors_leave_similarities_alone(objects: list[Any]) -> None:
    similarity = RBF()
    assert Pool(objects).view(similarity) is similarity
    inside = Pool(objects).view(Parts(x=similarity))
    assert inside.parts == (similarity,)


def test_a_large_pool_of_strings_is_built_in_a_few_passes() -> None:
    strings = [f"CC{i}" for i in range(200_000)]
    started = time.process_time()
    set(strings)
    baseline = time.process_time() - started
    started = time.process_time()
    pool = Pool(strings)
    assert pool.index("CC77") == 77
    assert time.process_time() - started < 60 * baseline + 0.2


def test_a_pool_keeps_what_it_was_given_whatever_becomes_of_that() -> None:
    array, nested = np.random.default_rng(0).random((5, 2)), ({"a"}, [np.zeros(2)])
    record: dict[str, Any] = {"t": 1, "of": [1, 2]}
    pool, whole = Pool([array[0], record, nested]), Pool(array)
    before, rows = [pool.key(x) for x in pool.objects], array.copy()
    array *= 1000.0
    record.pop("t")
    record["of"].append(3)
    nested[1][0] += 1.0
    assert [pool.key(x) for x in pool.objects] == before
    np.testing.assert_array_equal(np.array(whole.objects), rows)
    for x in (whole.objects[0], pool.objects[2][1][0]):
        with pytest.raises(ValueError, match="read-only"):
            x += 1.0


def test_strings_and_objects_of_other_classes_are_not_copied() -> None:
    texts, others = ["CC" + "O" * n for n in range(3)], [Fraction(1, 2), Fraction(1, 3)]
    assert all(x is y for x, y in zip(Pool(texts).objects, texts, strict=True))
    assert all(x is y for x, y in zip(Pool(others, to_json=str, from_json=Fraction).objects, others, strict=True))


def test_a_grid_of_records_does_not_share_its_records() -> None:
    pool = Record(solvent=["water", "DMF"], t=[20, 40]).grid()
    assert len({id(x) for x in pool.objects}) == 4


@pytest.mark.parametrize("wrong", ["CCO", b"ab", {"a": 1}, 5])
def test_what_is_excluded_is_a_list(wrong: Any) -> None:
    with pytest.raises(SpaceError, match="exclude takes a list of objects") as caught:
        Pool(["CCO", "CCN"], exclude=wrong)
    assert f"[{wrong!r}]" in str(caught.value)


def test_the_range_is_that_of_the_others_where_what_is_excluded_has_none() -> None:
    rows = [[0.0, 1.0], [2.0, 5.0], [1.0, 3.0]]
    whole, less = (pool.view(RBF()) for pool in (Pool(rows), Pool([*rows, "broken"], exclude=["broken"])))
    np.testing.assert_array_equal(whole.encode(rows), less.encode(rows))
    assert not isinstance(Pool([*rows, "broken"]).view(RBF()), Rescaled)
