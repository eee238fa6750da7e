"""Copies share no plain container with what they were made from; all else is the same object."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise.spaces.codec import copied
from likewise.testing.spaces import same

atoms = st.none() | st.integers(-9, 9) | st.text("ab") | st.frozensets(st.integers(0, 5))
objects = st.recursive(
    atoms | st.sets(st.integers(0, 5)) | st.just(bytearray(b"ab")) | st.builds(lambda: np.array([1.5, 2.0])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text("ab"), inner, max_size=2)
    ),
)


def containers(x: Any) -> list[Any]:
    inside = list(x.values()) if isinstance(x, dict) else x if isinstance(x, list | tuple) else []
    own = [x] if isinstance(x, np.ndarray | dict | list | set | bytearray) else []
    return own + [found for value in inside for found in containers(value)]


@given(objects)
def test_a_copy_is_equal_and_shares_nothing_that_can_be_changed(x: Any) -> None:
    found = copied(x)
    assert type(found) is type(x)
    assert same(found, x)
    assert {id(one) for one in containers(found)}.isdisjoint(id(one) for one in containers(x))
    assert containers(x) or found is x


def test_arrays_are_read_only_if_wanted() -> None:
    x = {"a": (np.zeros(2), [np.ones(1)])}
    for writeable in (True, False):
        found = copied(x, writeable=writeable)
        assert [array.flags.writeable for array in (found["a"][0], found["a"][1][0])] == [writeable] * 2
    assert x["a"][0].flags.writeable


def test_objects_of_other_classes_stay_themselves() -> None:
    class Named(dict[str, int]):
        pass

    for x in (Named(a=1), object(), np.float64(1.0)):
        assert copied(x) is x
