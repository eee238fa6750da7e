"""Graphs: members, moves, JSON, and what does not fit."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import MissingExtra, SpaceError
from likewise.spaces.graphs import Graphs

SPACES = {
    "plain": Graphs((2, 5)),
    "labelled": Graphs((2, 5), ["C", "N"], ["single", "double"]),
    "connected": Graphs((2, 5), connected=True),
    "directed": Graphs((2, 5), ["a", "b"], directed=True, connected=True),
}


def alike(node: dict[str, Any], other: dict[str, Any]) -> bool:
    return node == other


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(SPACES)), st.integers(0, 2**32 - 1))
def test_moves_are_one_edit_away(name: str, seed: int) -> None:
    space = SPACES[name]
    rng = np.random.default_rng(seed)
    x = space.sample(1, rng)[0]
    moves = space.moves(x, rng)
    for y in [moves[i] for i in rng.integers(len(moves), size=4)] if moves else []:
        assert _edits(x, y) == 1


def _edits(x: Any, y: Any) -> int:
    """Edits between two graphs: nodes added or removed (with their edges) count as one, else edges and labels."""
    if len(x) != len(y):
        small, large = sorted((x, y), key=len)
        without = (
            nx.convert_node_labels_to_integers(large.subgraph(set(large) - {n}), ordering="sorted") for n in large
        )
        return 1 if any(nx.utils.graphs_equal(small, w) for w in without) else 9
    labels = sum(x.nodes[n] != y.nodes[n] for n in x)
    edges = sum(x.edges.get(e) != y.edges.get(e) for e in {*x.edges, *y.edges})
    return labels + edges


def test_all_edge_flips_are_there_when_they_are_few() -> None:
    x = nx.path_graph(4)
    keys = {str(sorted(y.edges)) for y in Graphs(4).moves(x, np.random.default_rng(0))}
    for u, v in nx.complete_graph(4).edges:
        flipped = x.copy()
        if flipped.has_edge(u, v):
            flipped.remove_edge(u, v)
        else:
            flipped.add_edge(u, v)
        assert str(sorted(flipped.edges)) in keys


def test_samples_have_all_sizes_and_densities() -> None:
    graphs = Graphs((1, 4)).sample(400, np.random.default_rng(0))
    assert set(map(len, graphs)) == {1, 2, 3, 4}
    edges = Counter(g.number_of_edges() for g in graphs if len(g) == 4)
    assert set(edges) == set(range(7))


def test_the_key_depends_on_edges_and_labels_not_on_how_the_graph_was_built() -> None:
    space = Graphs((2, 4), ["C", "N"])
    one, two = nx.Graph(), nx.Graph()
    for node in (0, 1, 2):
        one.add_node(node, label="C", weight=3)
    one.add_edges_from([(0, 1), (2, 1)])
    for node in (2, 0, 1):
        two.add_node(node, label="C")
    two.add_edges_from([(1, 2), (1, 0)])
    assert space.key(space.fit(one)) == space.key(space.fit(two))
    assert list(space.fit(two).nodes(data=True)) == [(n, {"label": "C"}) for n in range(3)]
    two.nodes[1]["label"] = "N"
    assert space.key(space.fit(one)) != space.key(space.fit(two))


def test_isomorphic_graphs_with_other_numbers_are_other_objects() -> None:
    space = Graphs(3)
    assert space.key(nx.path_graph([0, 1, 2])) != space.key(space.fit(nx.path_graph([1, 0, 2])))


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (nx.empty_graph(3), {"connected": True}, "is not connected"),
        (nx.Graph([(0, 1), (2, 3)]), {"connected": True}, "is not connected"),
        (nx.DiGraph([(0, 1)]).subgraph([0, 1]).copy(), {}, "directed"),
        (nx.path_graph(9), {}, "has 9 nodes, but graphs of this space have 2 to 4"),
        (nx.path_graph(1), {}, "has 1 nodes"),
        (nx.path_graph(["a", "b"]), {}, "convert_node_labels_to_integers"),
        (nx.Graph([(0, 1), (1, 1)]), {}, "node 1 to itself"),
        (nx.MultiGraph([(0, 1), (0, 1)]), {}, "parallel"),
        ([[0, 1]], {}, "not a networkx.Graph"),
        (nx.path_graph(3), {"labels": ["C"]}, "node 0 .* has the label None, not one of 'C'"),
        (nx.path_graph(3), {"edge_labels": [1, 2]}, r"edge \(0, 1\) .* has the label None"),
    ],
)
def test_what_does_not_fit_is_named(graph: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Graphs((2, 4), **options).fit(graph)


@pytest.mark.parametrize(
    "options", [{"nodes": 0}, {"nodes": (3, 2)}, {"nodes": 3, "labels": []}, {"nodes": 3, "edge_labels": [1, 1]}]
)
def test_spaces_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SpaceError):
        Graphs(**options)


def test_without_networkx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtra, match=r"likewise\[graphs\]"):
        Graphs(3).sample(1, np.random.default_rng(0))
