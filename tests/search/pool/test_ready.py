"""What a similarity cannot compare comes out before anything is learnt, by its row in the pool, and may be left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.errors import SimilarityError
from likewise.search.base import SearchState
from likewise.search.climbing import ClimbingSearch
from likewise.search.initial_design import spread
from likewise.search.pool.exhaustive import ExhaustiveSearch, Partition
from likewise.spaces import pool_encodings as spaces_encoded

WORDS = [f"{i:04d}" for i in range(900)]
BROKEN = [*WORDS[:500], "xx", *WORDS[500:]]


class Digits(lw.Hamming):
    """A similarity that cannot compare but digits; it counts what it encodes."""

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "seen", [])

    def encode(self, objects: Sequence[Any]) -> Any:
        self.seen.append(len(objects))  # type: ignore[attr-defined]
        for number, x in enumerate(objects):
            if not x.isdigit():
                raise SimilarityError(f"object {number} is no number: {x!r}")
        return super().encode(objects)


@pytest.mark.parametrize("place", [0, 1])
def test_every_likeness_encodes_the_whole_pool(place: int) -> None:
    similarities = [lw.Indel(), lw.Indel()]
    similarities[place] = Digits()  # type: ignore[call-overload]
    pool = lw.Pool(BROKEN)
    with pytest.raises(SimilarityError, match=r"^object 500 is no number: 'xx'; exclude=\[…\] leaves it out"):
        ExhaustiveSearch.over(pool, pool.key).ready(similarities)


def test_what_is_ready_is_not_made_again() -> None:
    pool, similarity = lw.Pool(BROKEN, exclude=["xx"], processes=1), Digits()
    search = ExhaustiveSearch.over(pool, pool.key)
    for _ in range(3):
        search.ready([similarity])
    assert similarity.seen == [len(pool)]  # type: ignore[attr-defined]
    ClimbingSearch().ready([similarity])
    assert similarity.seen == [len(pool)]  # type: ignore[attr-defined]


def test_what_is_excluded_is_neither_encoded_nor_proposed() -> None:
    words = WORDS[:30]
    study = lw.Study(lw.Pool([*words[:7], "xx", *words[7:]], exclude=["xx"]), Digits(), initial=1, seed=1)
    for x in words[:5]:
        study.tell(x, float(x))
    assert sorted(s.object for s in study.ask(26)) == words[5:]


def test_a_sample_that_cannot_be_compared_is_named_by_its_row_in_the_pool() -> None:
    pool = lw.Pool(BROKEN)
    state = SearchState(pool, [], set(), np.random.default_rng(0))
    with pytest.raises(SimilarityError, match=r"^object 500 is no number: 'xx'"):
        spread(len(pool), [Digits()], [], state)
    left_out = SearchState(pool, [], {pool.key("xx")}, np.random.default_rng(0))
    assert len(spread(len(pool), [Digits()], [], left_out)) == len(WORDS)


def test_a_part_of_a_pool_is_ready_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("likewise.search.pool.exhaustive", spaces_encoded.__name__):
        monkeypatch.setattr(f"{module}.CHUNK", 256)
    similarity = Digits()
    partition = Partition.of(WORDS)
    partition.ready({0: similarity})
    partition.ready({0: similarity})
    assert similarity.seen == [256, 256, 256, 132]  # type: ignore[attr-defined]
