"""Scores of late are kept, within bounds, so that no pair is soon called for again; no score is another pair's."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.similarity.functions import CHECKED_PAIRS, Pairs


def product(x: int, y: int) -> float:
    return float(x * 1000 + y)


visits = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60)


@given(visits, st.booleans(), st.integers(1, 200), st.integers(0, 12))
def test_a_score_is_that_of_its_pair_whatever_was_let_go(
    visited: list[tuple[int, int]], directed: bool, generation: int, held: int
) -> None:
    pairs = Pairs(directed=directed, generation=generation)
    entries = pairs.entries(range(held))
    for x, y in visited:
        (a,), (b,) = pairs.entries([x]), pairs.entries([y])
        score = pairs.score(a, b, product)
        assert score in ({product(x, y)} if directed else {product(x, y), product(y, x)})
    assert [entry.object for entry in entries] == list(range(held))


@given(visits, st.booleans())
def test_a_pair_is_called_once_within_a_generation(visited: list[tuple[int, int]], directed: bool) -> None:
    calls: Counter[Any] = Counter()

    def counted(x: int, y: int) -> float:
        calls[(x, y) if directed else (min(x, y), max(x, y))] += 1
        return 1.0

    pairs = Pairs(directed=directed, generation=len(visited) or 1)
    for x, y in visited:
        pairs.score(*pairs.entries([x, y]), counted)
    assert set(calls.values()) <= {1}


def test_what_is_visited_is_bounded() -> None:
    pairs = Pairs(generation=100)
    observed = pairs.entries(range(10))
    for start in range(10, 10_010, 10):
        entries = pairs.entries(range(start, start + 10))
        pairs.scores(entries, observed, product)
        pairs.scores(observed, entries, product)
        assert len(pairs) <= 10 + 2 * 100
    for number in range(1000):
        pairs.entries([str(number)])
    assert len(pairs) <= 10 + 2 * 100


@pytest.mark.parametrize("n", [60, 100])
def test_a_matrix_larger_than_what_is_held_is_called_in_one_order(n: int) -> None:
    similarity = lw.from_function(length)
    object.__setattr__(similarity, "_pairs", Pairs(generation=200))
    calls: list[Any] = []
    words = ["a" * k for k in range(n)]
    entries = similarity._pairs.entries(words)
    similarity._pairs.scores(entries, entries, lambda x, y: calls.append((x, y)) or 1.0)
    assert len(calls) == n * (n + 1) // 2


def test_objects_that_are_known_by_their_place_in_memory_never_share_scores() -> None:
    class Thing:
        __hash__ = None  # type: ignore[assignment]

        def __init__(self, number: int) -> None:
            self.number = number

    pairs = Pairs(generation=40)
    for number in range(300):
        a, b = pairs.entries([Thing(number), Thing(-number)])
        assert pairs.score(a, b, lambda x, y: float(x.number - y.number)) == 2.0 * number
        del a, b


def test_threads_see_whole_rows() -> None:
    pairs = Pairs(directed=True, generation=3000)
    kept = pairs.entries(range(40))

    def work(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        for _ in range(150):
            some = rng.integers(0, 200, size=8).tolist()
            expected = [[product(x, y) for y in range(40)] for x in some]
            if not np.array_equal(pairs.scores(pairs.entries(some), kept, product), expected):
                return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(8)))


def test_copies_and_pickles_compare_rightly() -> None:
    similarity = lw.from_function(length)
    words = ["a", "bb", "ccc"]
    encoding = similarity.encode(words)
    expected = similarity.between(encoding, encoding)
    for other in (copy.deepcopy((similarity, encoding)), pickle.loads(pickle.dumps((similarity, encoding)))):
        there, entries = other
        np.testing.assert_array_equal(there.between(entries, entries), expected)
        np.testing.assert_array_equal(there.between(entries, there.encode(words)), expected)


def length(x: str, y: str) -> float:
    return 1.0 / (1 + abs(len(x) - len(y)))


def test_no_text_is_made_of_objects_that_compare_well() -> None:
    class Silent(str):
        def __repr__(self) -> str:
            raise AssertionError("written out")

    words = [Silent("a" * k) for k in range(20)]
    similarity = lw.from_function(length)
    encoding = similarity.encode(words)
    assert similarity.between(encoding, encoding).shape == (20, 20)


def test_an_asymmetry_is_noticed_among_the_first_pairs_only() -> None:
    calls: list[Any] = []
    similarity = lw.from_function(lambda x, y: calls.append((x, y)) or 1.0)
    encoding = similarity.encode(list(range(40)))
    similarity.between(encoding, encoding)
    assert 40 * 41 // 2 < len(calls) <= 40 * 41 // 2 + CHECKED_PAIRS
    with pytest.raises(lw.SimilarityError, match="not symmetric"):
        lw.from_function(lambda x, y: float(x > y))(1, 2)


CAMPAIGN = """
import re, sys
from pathlib import Path
import numpy as np
import likewise as lw

def alike(x, y):
    return sum(a == b for a, b in zip(x, y)) / 12

def value(x):
    return x.count("A") - 0.5 * x.count("CG") + 0.1 * (sum(map(ord, x[::3])) % 7)

asks, most, told = map(int, sys.argv[1:])
space = lw.Strings("ACGT", length=12)
study = lw.Study(space, alike, seed=0)
for x in space.sample(told, np.random.default_rng(0)):
    study.tell(x, value(x))
for number in range(asks):
    (suggestion,) = study.ask()
    # Past `most` observations an ask is abandoned, since a model of n of them takes n³ steps.
    study.tell(suggestion, value(suggestion.object)) if number < most else study.abandon(suggestion)
# Not by getrusage, which counts what this process was before it began, a copy of the one that started it.
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


def peak(asks: int, *, most: int, told: int = 0, timeout: float) -> int:
    """The most memory, in MB, of a study of strings with a plain function."""
    command = [sys.executable, "-c", CAMPAIGN, str(asks), str(most), str(told)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=timeout).stdout)


linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc/self/status")


@linux
def test_a_plain_function_on_strings_takes_little_memory() -> None:
    assert peak(25, most=25, timeout=100.0) <= 150


@linux
@pytest.mark.soak
@pytest.mark.parametrize(("asks", "most", "told"), [(2000, 100, 0), (5, 5, 2000)])
def test_two_thousand_asks_with_a_plain_function_take_500_mb(asks: int, most: int, told: int) -> None:
    assert peak(asks, most=most, told=told, timeout=3000.0) <= 500
