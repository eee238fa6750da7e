"""Graphs and molecules of other libraries in pools: told apart by what counts, found again, compared."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest

import likewise as lw
from likewise.errors import SpaceError
from likewise.spaces.graphs import Graphs
from likewise.spaces.pool import Pool, foreign


def labelled(*labels: str, edge: str | None = None) -> nx.Graph:
    graph = nx.path_graph(len(labels))
    nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    if edge is not None:
        nx.set_edge_attributes(graph, edge, "label")
    return graph


DIFFERENT: list[Callable[[], Any]] = [
    lambda: nx.path_graph(3),
    lambda: nx.path_graph(4),
    lambda: nx.path_graph(3, create_using=nx.DiGraph),
    lambda: nx.MultiGraph([(0, 1), (0, 1), (1, 2)]),
    lambda: nx.MultiGraph([(0, 1), (1, 2)]),
    lambda: labelled("C", "C", "O"),
    lambda: labelled("C", "O", "C"),
    lambda: labelled("C", "C", "O", edge="double"),
    lambda: nx.Graph([("a", "b"), ("b", "c")]),
    lambda: nx.Graph([(0, 1, {"weight": 2.0})]),
    lambda: nx.Graph([(0, 1, {"weight": 3.0})]),
    lambda: nx.empty_graph(0),
]


def test_graphs_are_told_apart_and_found_again() -> None:
    pool = Pool([make() for _ in range(2) for make in DIFFERENT])
    assert (len(pool), pool.duplicates) == (len(DIFFERENT), len(DIFFERENT))
    for row, make in enumerate(DIFFERENT):
        assert pool.index(make()) == row
        assert pool.from_json(json.loads(pool.key(make()))) is pool.objects[row]


def test_the_order_in_which_a_graph_was_built_does_not_count() -> None:
    one, other = nx.Graph(), nx.Graph()
    one.add_edges_from([("a", "b"), ("b", "c")])
    other.add_edges_from([("c", "b"), ("b", "a")])
    assert foreign(one) == foreign(other)
    assert foreign(nx.Graph([(2, 1), (1, 0)])) == foreign(nx.path_graph(3))


@pytest.mark.parametrize("space", [Graphs((2, 5)), Graphs((2, 5), ["C", "N"]), Graphs((2, 5), ["C", "N"], [1, 2])])
def test_a_pool_writes_graphs_as_their_space_does(space: Graphs) -> None:
    for graph in space.sample(5, np.random.default_rng(0)):
        if graph.edges:
            assert foreign(graph) == space.to_json(graph)


def test_a_study_of_graphs_and_one_of_molecules() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    molecules = [chem.MolFromSmiles(smiles) for smiles in ("CCO", "OCC", "CCN", "CCC", "c1ccccc1", "CO", "CN", "CC")]
    pool = Pool(molecules)
    assert pool.duplicates == 1
    assert pool.index(chem.MolFromSmiles("C(C)O")) == 0
    assert pool.to_json(molecules[1]) == "CCO"
    for space, worth in (
        (Pool([nx.path_graph(n) for n in range(1, 9)]), len),
        (pool, lambda x: x.GetNumAtoms()),
    ):
        assert lw.maximize(worth, space, budget=7, progress=False).value >= 6


def test_what_has_no_form_still_needs_functions_to_json_and_back() -> None:
    with pytest.raises(SpaceError, match=r"object 0 of the pool.*to_json and from_json"):
        Pool([nx.Graph([(object(), 1)])])
    with pytest.raises(SpaceError, match="not one Graph"):
        Pool(nx.path_graph(3))
    with pytest.raises(SpaceError, match="cannot be stored"):
        lw.Custom(lambda rng: nx.path_graph(3)).to_json(nx.path_graph(3))


def test_pools_import_neither_library() -> None:
    script = "import sys, likewise as lw; lw.Pool([{'a': 1}]); print(sorted({'networkx', 'rdkit'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
