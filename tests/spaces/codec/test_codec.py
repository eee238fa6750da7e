"""JSON data of objects: equal data share an identity, tagged objects come back as they were."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.spaces.codec import identity, plain, scalar, tagged, untagged
from likewise.testing.spaces import same

atoms = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab")
)
names = st.sampled_from(["a", "b", "tuple", "set", "array", "dict"])
data = st.recursive(atoms, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3))
objects = st.recursive(
    atoms | st.frozensets(st.integers(0, 5)) | st.sets(st.text("ab")) | st.just(np.array([[1.5, 2.0]])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(names, inner, max_size=2)
    ),
)


def exactly(x: Any) -> Any:
    """Lists of what tells data apart: 1 and 1.0 alike, true and 1 not, the order of fields of no account."""
    if isinstance(x, bool):
        return ["bool", x]
    if isinstance(x, list):
        return ["list", [exactly(value) for value in x]]
    if isinstance(x, dict):
        return ["dict", sorted((name, json.dumps(exactly(value))) for name, value in x.items())]
    return ["number", float(x) + 0.0] if isinstance(x, int | float) else ["atom", x]


@given(data, data)
def test_identities_are_equal_exactly_when_data_are(x: Any, y: Any) -> None:
    assert (identity(x) == identity(y)) == (exactly(x) == exactly(y))
    assert hash(identity(x)) == hash(identity(json.loads(json.dumps(x))))


@given(objects)
def test_tagged_objects_come_back_as_they_were(x: Any) -> None:
    back = untagged(json.loads(json.dumps(tagged(x))))
    assert type(back) is type(x)
    assert same(back, x)


@given(objects)
def test_plain_is_json_data_and_plain_already(x: Any) -> None:
    once = json.loads(json.dumps(plain(x)))
    assert once == plain(x) == plain(once)


def test_arrays_keep_their_type() -> None:
    x = np.array([1, 2], dtype=np.int16)
    assert untagged(tagged(x)).dtype == np.int16


def test_numpy_numbers_are_numbers() -> None:
    assert [scalar(v) for v in (np.int64(3), np.float32(0.5), np.bool_(True), np.str_("a"))] == [3, 0.5, True, "a"]


@pytest.mark.parametrize("x", [object(), 1j, float("nan"), np.array([np.inf]), {1: 2}, b"a", np.array(["a", None])])
def test_what_has_no_json_form_is_refused(x: Any) -> None:
    with pytest.raises(TypeError):
        plain(x)
    with pytest.raises(TypeError):
        tagged(x)


def test_an_object_may_bring_its_json_form() -> None:
    class Point:
        def to_json(self) -> list[int]:
            return [1, 2]

    assert plain([Point()]) == [[1, 2]]


@pytest.mark.parametrize("x", [[1], {"a": 1}, np.array([1.0, 2.0])])
def test_only_scalars_are_scalars(x: Any) -> None:
    with pytest.raises(TypeError):
        scalar(x)
