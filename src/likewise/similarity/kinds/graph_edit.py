"""Similarity of graphs by edit distance: the fewest nodes and edges to insert, delete or relabel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix
from likewise.similarity.distance import DistanceSimilarity
from likewise.similarity.kinds.graphs import as_graphs, node_labels
from likewise.similarity.pairs import Entries, Pairs


def _content(graph: Any, number: int) -> tuple[Any, ...]:
    """What an edit distance sees of a graph, as a value that does not change with the graph."""
    if graph.is_multigraph():
        raise SimilarityError(
            f"graph {number} is a multigraph, which GraphEdit does not compare; pass networkx.Graph(graph)"
        )
    labels = node_labels(graph, number) or [None] * len(graph)
    return graph.is_directed(), tuple(zip(graph, labels, strict=True)), tuple(graph.edges(data="label"))


def _rebuilt(content: tuple[Any, ...]) -> Any:
    import networkx as nx

    directed, nodes, edges = content
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from((node, {"label": label}) for node, label in nodes)
    graph.add_edges_from((u, v, {"label": label}) for u, v, label in edges)
    return graph


def _same_label(x: dict[str, Any], y: dict[str, Any]) -> bool:
    return bool(x["label"] == y["label"])


def edit_distance(a: Any, b: Any, timeout: float | None) -> float:
    """Graph edit distance with unit costs; past `timeout` seconds the smaller of the bounds found from both sides."""
    import networkx as nx

    def first_bound(x: Any, y: Any) -> float:
        return float(next(nx.optimize_graph_edit_distance(x, y, node_match=_same_label, edge_match=_same_label)))

    def searched(x: Any, y: Any) -> float:
        found = nx.graph_edit_distance(x, y, node_match=_same_label, edge_match=_same_label, timeout=timeout)
        return first_bound(x, y) if found is None else float(found)

    if timeout == 0:
        return min(first_bound(a, b), first_bound(b, a))
    start = perf_counter()
    distance = searched(a, b)
    finished = timeout is None or perf_counter() - start < timeout
    return distance if finished else min(distance, searched(b, a))


@dataclass(frozen=True, eq=False)
class GraphEdit(DistanceSimilarity):
    """exp(−d/ℓ), d the edit distance of two graphs: nodes and edges inserted, deleted or relabelled, 1 each. Not PSD.

    An exact distance takes time exponential in the size of the graphs: up to seven nodes or so it comes within seconds.
    That suits pools of small graphs; for larger ones, and for climbing search, there is `WeisfeilerLehman`. A search
    that reaches `timeout` seconds gives the best upper bound found, which depends on the machine; with a timeout of 0
    it is the first bound, quick and reproducible; with None every distance is exact. Each pair is searched once.

    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.
    constant: gives constant − d instead of exp(−d/ℓ); None (default) for the exponential.

    >>> import networkx as nx
    >>> round(GraphEdit(lengthscale=1.0)(nx.path_graph(3), nx.cycle_graph(3)), 4)
    0.3679
    """

    kind = "graphs"
    compares = "edits that turn one graph into the other"
    # A copy would number its graphs anew.
    portable = False
    # As quick as small graphs are; larger ones take more.
    pair_price = 1000.0
    timeout: float | None = 0.1
    lengthscale: float | None = None
    constant: float | None = None
    _pairs: Pairs = field(default_factory=Pairs, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.timeout is not None and not (np.isfinite(self.timeout) and self.timeout >= 0):
            raise SimilarityError(
                f"GraphEdit needs a timeout of 0 seconds or more, not {self.timeout}; None searches to the end"
            )

    def encode(self, objects: Sequence[Any]) -> Entries:
        return self._pairs.entries(_content(graph, number) for number, graph in enumerate(as_graphs(objects)))

    def distances(self, a: Entries, b: Entries) -> Matrix:
        return self._pairs.scores(a, b, self._searched)

    def _searched(self, x: tuple[Any, ...], y: tuple[Any, ...]) -> float:
        if x is y:
            return 0.0
        if x[0] != y[0]:
            raise SimilarityError("GraphEdit does not compare directed with undirected graphs; make all of one kind")
        return edit_distance(_rebuilt(x), _rebuilt(y), self.timeout)
