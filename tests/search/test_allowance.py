"""What an ask takes is bounded by counts, never by a clock, and the study says how long it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.acquisitions import LogExpectedImprovement
from likewise.acquisition.scorer import Scorer
from likewise.search.base import FEWEST, max_candidates
from likewise.spaces.base import Space


class Counted:
    """A plain function that counts its calls."""

    def __init__(self, function: Callable[[Any, Any], float]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, x: Any, y: Any) -> float:
        self.calls += 1
        return self.function(x, y)


def same_places(x: Sequence[int], y: Sequence[int]) -> float:
    return sum(a == b for a, b in zip(x, y, strict=True)) / len(x)


def far_places(x: Sequence[int], y: Sequence[int]) -> float:
    return 1.0 - same_places(x, y)


def near(x: Any, y: Any) -> float:
    return float(np.exp(-np.sum((x - y) ** 2)))


def near_record(x: Any, y: Any) -> float:
    return float(np.exp(-((x["t"] - y["t"]) ** 2))) * (0.5 + 0.5 * (x["s"] == y["s"]))


def told(space: Space, similarity: Any, n: int, value: Callable[[Any], float]) -> lw.Study:
    study = lw.Study(space, similarity)
    study.tell_many([(x, value(x)) for x in space.sample(n, np.random.default_rng(1))])
    return study


def order(x: Sequence[int]) -> float:
    return -float(sum(abs(i - a) for i, a in enumerate(x)))


@pytest.mark.parametrize("n", [10, 20])
def test_a_plain_function_is_called_at_most_5000_times_an_ask(n: int) -> None:
    function = Counted(same_places)
    study = told(lw.Permutations(12), function, n, order)
    study.ask()
    for _ in range(3):
        before = function.calls
        (s,) = study.ask()
        study.tell(s, order(s.object))
        assert 1_000 < function.calls - before <= 5_000


SPACES: dict[str, tuple[Space, Callable[[Any, Any], float], Callable[[Any], float]]] = {
    "gradients": (lw.Box([0.0] * 3, [1.0] * 3), near, lambda x: float(np.sum(x))),
    "both": (lw.Record(t=lw.Float(0, 1), s=["a", "b"]), near_record, lambda x: float(x["t"])),
    "samples": (lw.Custom(lambda rng: float(rng.random())), lambda x, y: 1.0 - abs(x - y), float),
}


@pytest.mark.parametrize("kind", SPACES)
def test_every_search_keeps_within_the_allowance(kind: str) -> None:
    space, function, value = SPACES[kind]
    counted = Counted(function)
    study = told(space, lw.from_function(counted), 15, value)
    study.ask()
    before = counted.calls
    study.ask()
    assert counted.calls - before <= 6_000


def test_a_function_that_is_said_to_be_fast_is_called_more_often() -> None:
    def calls(microseconds: float) -> int:
        counted = Counted(same_places)
        told(lw.Permutations(8), lw.from_function(counted, microseconds=microseconds), 10, order).ask()
        return counted.calls

    assert calls(1_000.0) < calls(100.0) < calls(20.0)


def test_array_work_is_not_rationed() -> None:
    def most(similarity: Any, n: int) -> float:
        committee = told(lw.Permutations(8), similarity, n, order).committee()
        return max_candidates(Scorer.on(committee, LogExpectedImprovement()))

    assert most(lw.Positions(), 10) == np.inf
    assert most(same_places, 10) > most(same_places, 20) > FEWEST
    assert most(lw.from_function(same_places, microseconds=1e9), 10) == FEWEST
    assert most(lw.from_distance(far_places), 10) == most(same_places, 10)
    assert most(lw.from_distance(far_places, microseconds=1e9), 10) == FEWEST
    # The parts of a sum count.
    assert most(lw.Positions() + lw.from_function(same_places), 10) == most(same_places, 10)


def test_a_large_batch_searches_on_from_what_it_found() -> None:
    encoded: list[str] = []

    class Encoding(lw.Hamming):
        def encode(self, objects: Sequence[str]) -> Any:
            encoded.extend(objects)
            return super().encode(objects)

    study = told(lw.Strings("ACGT", length=12), Encoding(), 20, lambda x: float(x.count("A")))
    assert len({s.object for s in study.ask(48)}) == 48
    # The first search looks at some 6,000 objects, and the other 47 at less than 500 each.
    assert 6_000 < len(encoded) < 6_500 + 47 * 500


def test_the_study_says_what_an_ask_took() -> None:
    study = told(lw.Permutations(8), same_places, 10, order)
    assert study.effort is None
    study.ask()
    assert study.effort is not None
    assert study.effort.seconds > 0
    assert str(study.effort) in study._repr_html_()


@pytest.mark.parametrize("wrong", [-1.0, np.inf, np.nan, "fast"])
def test_a_time_that_is_none_is_refused(wrong: Any) -> None:
    for similarity in (lw.from_function, lw.from_distance):
        with pytest.raises(lw.SimilarityError, match="microseconds="):
            similarity(same_places, microseconds=wrong)
