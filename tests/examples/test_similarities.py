"""Similarities that are examples, against what defines them: enumeration, linear programs, networkx."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from examples.similarities.graph_edit import edit_distance
from examples.similarities.local_alignment import LocalAlignment
from examples.similarities.subsequences import Subsequences
from examples.similarities.transport import OptimalTransport
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import likewise as lw
from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.testing.similarities import check_similarity

any_length = st.lists(st.text(alphabet="AB", max_size=7), min_size=1, max_size=6)
numbers = st.integers(0, 6).map(float)
mixtures = st.dictionaries(numbers, st.floats(0.01, 10), min_size=1, max_size=4)
K = lw.RBF(2.0)


def scores(similarity: Similarity, objects: list[str]) -> np.ndarray:
    a = similarity.encode(objects)
    return similarity.between(a, a)


def enumerated(x: str, y: str, length: int, decay: float) -> float:
    """K(x, y) by listing every subsequence of both."""

    def weights(text: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for places in combinations(range(len(text)), length):
            word = "".join(text[p] for p in places)
            found[word] = found.get(word, 0.0) + decay ** (places[-1] - places[0] + 1)
        return found

    a, b = weights(x), weights(y)
    return sum(weight * b[word] for word, weight in a.items() if word in b)


@given(any_length, st.integers(1, 4), st.floats(0.1, 1.0))
@settings(max_examples=60)
def test_subsequences_are_those_of_enumeration(objects: list[str], length: int, decay: float) -> None:
    found = scores(Subsequences(length, decay), objects)
    for i, x in enumerate(objects):
        for j, y in enumerate(objects):
            own = enumerated(x, x, length, decay) * enumerated(y, y, length, decay)
            expected = enumerated(x, y, length, decay) / np.sqrt(own) if own else float(x == y and len(x) < length)
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


@given(any_length, any_length)
@settings(max_examples=20)
def test_subsequences_of_two_lists_are_those_of_one(a: list[str], b: list[str]) -> None:
    like = Subsequences(2)
    both = like.between(like.encode(a), like.encode(b))
    np.testing.assert_allclose(both, scores(like, a + b)[: len(a), len(a) :], atol=1e-12)


def test_a_short_string_is_like_itself_alone() -> None:
    np.testing.assert_allclose(scores(Subsequences(3), ["", "A", "AB", "B", "ABCABC"]), np.eye(5), atol=1e-15)


@pytest.mark.parametrize(("length", "decay"), [(0, 0.5), (2, 0.0), (2, 1.5)])
def test_impossible_subsequences_are_refused(length: int, decay: float) -> None:
    with pytest.raises(SimilarityError, match=r"0|1\.5"):
        Subsequences(length, decay)


def ground(x: Any, y: Any) -> Any:
    return K.between(K.encode(list(x)), K.encode(list(y)))


def shares(mixture: dict[Any, float]) -> Any:
    weights = np.array(list(mixture.values()))
    return weights / weights.sum()


@settings(max_examples=40, deadline=None)
@given(mixtures, mixtures, st.sampled_from(["metric", "gap"]))
def test_transport_is_the_linear_program(a: dict[float, float], b: dict[float, float], cost: Any) -> None:
    gap = 1.0 - ground(a, b)
    costs = gap if cost == "gap" else np.sqrt(2.0 * gap)
    n, m = costs.shape
    sums = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    plan = linprog(costs.ravel(), A_eq=sums, b_eq=np.concatenate([shares(a), shares(b)]), bounds=(0, None))
    assert 10.0 - OptimalTransport(K, cost, constant=10.0)(a, b) == pytest.approx(plan.fun, abs=1e-7)


def test_a_mixture_is_itself_and_an_unknown_cost_is_refused() -> None:
    assert OptimalTransport(K)({1.0: 2.0, 3.0: 1.0}, {3.0: 0.5, 1.0: 1.0}) == pytest.approx(1.0, abs=1e-6)
    assert OptimalTransport(K, "gap", constant=1.0)({0.0: 3.0}, {1.0: 2.0}) == pytest.approx(K(0.0, 1.0))
    with pytest.raises(SimilarityError, match="'metric' or 'gap', not 'euclid'"):
        OptimalTransport(K, "euclid")  # type: ignore[arg-type]


def random_graph(seed: int, labelled: bool = True, nodes: int = 4) -> Any:
    graph = nx.gnp_random_graph(nodes, 0.5, seed=seed)
    if labelled:
        nx.set_node_attributes(graph, dict(enumerate(np.random.default_rng(seed).choice(["C", "N"], nodes))), "label")
    return graph


small = st.builds(random_graph, st.integers(0, 10_000), labelled=st.booleans())


@settings(max_examples=25, deadline=None)
@given(small, small, st.permutations(range(4)))
def test_edit_distance_is_that_of_networkx(a: Any, b: Any, names: list[int]) -> None:
    def same(x: dict[str, Any], y: dict[str, Any]) -> bool:
        return x.get("label") == y.get("label")

    expected = nx.graph_edit_distance(a, b, node_match=same, edge_match=same)
    assert edit_distance(a, b, None) == edit_distance(b, a, None) == pytest.approx(expected)
    assert edit_distance(a, nx.relabel_nodes(a, dict(enumerate(names))), None) == 0.0
    assert edit_distance(a, b, 0) >= expected - 1e-9
    with pytest.raises(ValueError, match="directed and undirected"):
        edit_distance(a, nx.DiGraph(b))


PIECES = [{(0.0, 1.0): 1.0, (1.0, 0.5): float(k)} for k in range(1, 5)] + [{(2.0, 1.0): 1.0, (0.3, 0.1): 0.2}]


@pytest.mark.parametrize(
    ("similarity", "objects", "wrong"),
    [
        (Subsequences(2, 0.4), ["", "kitten", "sitting", "ab", "ba"], [7, None]),
        (Subsequences(3), ["ACGTACGT", "ACGTTCGT", "TTTTACGT", "ACCCACGA"], [7, None]),
        (
            LocalAlignment("NUC.4.4", 5.0, 0.5),
            ["ACGTACGT", "ACGTTCGT", "TTTTACGT", "ACCCACGA"],
            ["", "ACGJ", None, "NNN"],
        ),
        (
            lw.ReverseComplement(LocalAlignment("NUC.4.4"), "max"),
            ["ACGTACGT", "ACGTTCGT", "TTTTACGT", "ACCCACGA"],
            ["ACGTACGX", ""],
        ),
        (OptimalTransport(lw.RBF(1.0)), PIECES, [{(0.0, 0.0): -1.0}, {}, "water", None]),
        (OptimalTransport(lw.RBF(), "gap", lengthscale=0.5), PIECES, []),
        (lw.from_distance(partial(edit_distance, timeout=None)), [random_graph(seed) for seed in range(6)], []),
        (lw.from_distance(partial(edit_distance, timeout=0)), [random_graph(s, nodes=9) for s in range(6)], []),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_the_laws_hold(similarity: Similarity, objects: Any, wrong: Any) -> None:
    check_similarity(similarity, objects, wrong=wrong)
