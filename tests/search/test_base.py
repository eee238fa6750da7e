"""Of very many objects the best distinct ones are found without naming all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from likewise.search.base import SearchState, best_distinct
from likewise.spaces.strings import Strings


@pytest.mark.parametrize("copies", [1, 3, 40])
def test_the_best_are_the_same_however_few_are_named(monkeypatch: pytest.MonkeyPatch, copies: int) -> None:
    space, rng = Strings("ACGT", length=8), np.random.default_rng(0)
    objects = [x for x in space.sample(100, rng) for _ in range(copies)]
    state = SearchState(space, (), {space.key(x) for x in objects[:: 2 * copies]}, rng)
    scores = rng.permutation(len(objects)) / 1.0
    whole = best_distinct(objects, scores, state)
    named: list[Any] = []
    key = Strings.key
    monkeypatch.setattr(Strings, "key", lambda self, x: named.append(x) or key(self, x))
    few = best_distinct(objects, scores, state, most=5)
    assert few.objects == whole.objects[:5]
    np.testing.assert_array_equal(few.scores, whole.scores[:5])
    assert len(named) <= 80
