"""Laws of the similarities of graphs, and networkx's opinion of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.kinds import graphs as graphs_module
from likewise.similarity.kinds.graphs import ShortestPath, WeisfeilerLehman
from likewise.testing.similarities import check_similarity

COUNTED: list[Similarity] = [
    WeisfeilerLehman(),
    WeisfeilerLehman(0),
    ShortestPath(),
]


def name(similarity: Similarity) -> str:
    return f"{similarity.name}-{getattr(similarity, 'iterations', '')}"


def random_graph(seed: int, *, directed: bool = False, labelled: bool = True, nodes: int = 7) -> Any:
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(int(rng.integers(1, nodes + 1)), 0.4, seed=int(seed), directed=directed)
    if labelled:
        nx.set_node_attributes(graph, {v: str(rng.choice(list("CNO"))) for v in graph}, "label")
        nx.set_edge_attributes(graph, {e: int(rng.integers(2)) for e in graph.edges}, "label")
    return graph


def shuffled(graph: Any, rng: np.random.Generator) -> Any:
    """The same graph with other names, its nodes and edges in another order."""
    names = dict(zip(graph, map(str, rng.permutation(len(graph))), strict=True))
    renamed = nx.relabel_nodes(graph, names)
    other = type(graph)()
    for node in rng.permutation(list(renamed)):
        other.add_node(str(node), **renamed.nodes[str(node)])
    edges = list(renamed.edges(data=True))
    for k in rng.permutation(len(edges)):
        u, v, data = edges[k]
        other.add_edge(*((u, v) if graph.is_directed() or rng.random() < 0.5 else (v, u)), **data)
    return other


def cosine(a: Counter[Any], b: Counter[Any]) -> float:
    norms = [sum(c * c for c in counts.values()) for counts in (a, b)]
    return float(sum(a[key] * b[key] for key in a) / np.sqrt(norms[0] * norms[1]))


relaxed = settings(max_examples=50, deadline=None)
graphs = st.builds(random_graph, st.integers(0, 10_000), directed=st.booleans(), labelled=st.booleans())


@relaxed
@given(graphs, st.integers(0, 1000))
def test_isomorphic_graphs_are_alike(graph: Any, seed: int) -> None:
    other = shuffled(graph, np.random.default_rng(seed))
    for similarity in COUNTED:
        assert similarity(graph, other) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.filterwarnings("ignore:The hashes produced for directed graphs:UserWarning")
@relaxed
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 4))
def test_weisfeiler_lehman_counts_the_subtrees_of_networkx(seed: int, directed: bool, iterations: int) -> None:
    a, b = (random_graph(s, directed=directed) for s in (seed, seed + 1))
    # With labels on directed edges, networkx (3.6) does not tell successors from predecessors.
    by = None if directed else "label"
    for graph in (a, b):
        nx.set_edge_attributes(graph, dict.fromkeys(graph.edges) if directed else {}, "label")
    subtrees = [
        Counter(
            (depth, code)
            for codes in nx.weisfeiler_lehman_subgraph_hashes(
                g, node_attr="label", edge_attr=by, iterations=iterations, include_initial_labels=True
            ).values()
            for depth, code in enumerate(codes)
        )
        for g in (a, b)
    ]
    assert WeisfeilerLehman(iterations)(a, b) == pytest.approx(cosine(*subtrees), abs=1e-12)


@relaxed
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_paths_and_labels_as_defined(seed: int, directed: bool, labelled: bool) -> None:
    pair = [random_graph(s, directed=directed, labelled=labelled) for s in (seed, seed + 1)]

    def label(graph: Any, v: Any) -> Any:
        return graph.nodes[v]["label"] if labelled else graph.degree[v]

    def ends(graph: Any, u: Any, v: Any) -> Any:
        both = (label(graph, u), label(graph, v))
        return both if directed else tuple(sorted(both))

    def paths(graph: Any) -> Counter[Any]:
        lengths = dict(nx.all_pairs_shortest_path_length(graph))
        return Counter((ends(graph, u, v), d) for u in graph for v, d in lengths[u].items() if directed or (u <= v))

    assert ShortestPath()(*pair) == pytest.approx(cosine(*map(paths, pair)), abs=1e-12)
    nodes = [Counter(label(g, v) for v in g) for g in pair]
    assert WeisfeilerLehman(0)(*pair) == pytest.approx(cosine(*nodes), abs=1e-12)


@pytest.mark.parametrize("similarity", COUNTED, ids=name)
@pytest.mark.parametrize("directed", [False, True])
def test_conformance(similarity: Similarity, directed: bool) -> None:
    objects = [random_graph(seed, directed=directed) for seed in range(20)]
    objects += [nx.Graph(), nx.empty_graph(3), nx.MultiGraph([(0, 1), (0, 1)]), nx.DiGraph([(0, 1)])]
    check_similarity(similarity, objects, wrong=["CCO", None, [(0, 1)]])


def test_directions_and_parallel_edges_count() -> None:
    wl = WeisfeilerLehman(2)
    fork, join = nx.DiGraph([(0, 1), (0, 2)]), nx.DiGraph([(1, 0), (2, 0)])
    assert wl(fork, join) < 1 - 1e-6
    assert wl(fork, fork.to_undirected()) < 1 - 1e-6
    assert wl(nx.MultiGraph([(0, 1), (0, 1)]), nx.MultiGraph([(0, 1)])) < 1 - 1e-6


def test_a_label_is_not_a_degree_and_a_number_is_not_a_text() -> None:
    def ring(label: Any) -> Any:
        graph = nx.cycle_graph(4)
        nx.set_node_attributes(graph, label, "label")
        return graph

    rings = [nx.cycle_graph(4), ring(2), ring("2"), ring((2,))]
    scores = WeisfeilerLehman(1).between(*[WeisfeilerLehman(1).encode(rings)] * 2)
    np.testing.assert_allclose(scores, np.eye(4), atol=1e-12)


def test_encodings_are_the_same_in_every_process() -> None:
    code = (
        "import networkx as nx; from likewise.similarity.kinds.graphs import WeisfeilerLehman;"
        "g = nx.Graph(['ab', 'bc', 'cd', 'bd']); nx.set_node_attributes(g, {v: v for v in g}, 'label');"
        "print(WeisfeilerLehman().encode([g]).indices.tolist())"
    )
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    other = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
    )
    graph = nx.Graph(["ab", "bc", "cd", "bd"])
    nx.set_node_attributes(graph, {v: v for v in graph}, "label")
    assert WeisfeilerLehman().encode([graph]).indices.tolist() == json.loads(other.stdout)


def test_a_graph_in_pieces_is_compared_piece_by_piece() -> None:
    pieces = nx.Graph([(0, 1), (2, 3)])
    assert ShortestPath()(pieces, pieces) == pytest.approx(1.0)
    # Twice the same features: the cosine is blind to the number.
    assert ShortestPath()(pieces, nx.path_graph(2)) == pytest.approx(1.0)
    one_way = nx.DiGraph([(0, 1), (0, 2)])
    assert ShortestPath()(one_way, one_way) == pytest.approx(1.0)


def test_many_graphs_are_encoded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [random_graph(seed, directed=seed % 2 == 0) for seed in range(12)]
    similarity = ShortestPath()
    whole = similarity.encode(objects)
    monkeypatch.setattr(graphs_module, "CELLS_AT_ONCE", 100)
    assert abs(similarity.encode(objects) - whole).max() < 1e-12


@pytest.mark.parametrize("similarity", COUNTED, ids=name)
def test_a_missing_label_is_named(similarity: Similarity) -> None:
    half = nx.path_graph(3)
    half.nodes[0]["label"] = "C"
    with pytest.raises(SimilarityError, match="node 1 of graph 1 has no label"):
        similarity.encode([nx.path_graph(2), half])


def test_labels_that_cannot_be_recognised_are_named() -> None:
    for label, message in ((["C"], "label \\['C'\\] in graph 0 cannot be hashed"), (object(), "no text of its own")):
        graph = nx.path_graph(2)
        nx.set_node_attributes(graph, {0: label, 1: label}, "label")
        with pytest.raises(SimilarityError, match=message):
            WeisfeilerLehman().encode([graph])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: WeisfeilerLehman(-1),
        lambda: WeisfeilerLehman(1.5),  # type: ignore[arg-type]
    ],
)
def test_wrong_settings_are_refused(wrong: Any) -> None:
    with pytest.raises(SimilarityError, match="not"):
        wrong()
