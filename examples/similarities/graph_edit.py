"""A similarity of your own: of graphs, by the fewest edits that turn one into the other.

`lw.from_distance` makes a similarity of such a plain function:

>>> import likewise as lw
>>> import networkx as nx
>>> edits = lw.from_distance(edit_distance, lengthscale=1.0)
>>> round(edits(nx.path_graph(3), nx.cycle_graph(3)), 4)
0.3679
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import networkx as nx


def edit_distance(a: Any, b: Any, timeout: float | None = 0.1) -> float:
    """The fewest nodes and edges to insert, delete or relabel, 1 each; a "label" counts where it is there.

    An exact distance takes time exponential in the size of the graphs: up to seven nodes or so it comes within seconds.
    That suits pools of small graphs; for larger ones, and for climbing search, there is `lw.WeisfeilerLehman`. Past
    `timeout` seconds it is the smaller of the bounds from both sides, which depends on the machine; with a timeout of 0
    it is the first bound, quick and reproducible; with None it is exact.
    """
    if a.is_directed() != b.is_directed():
        raise ValueError("directed and undirected graphs have no edit distance; make all of one kind")

    def first_bound(x: Any, y: Any) -> float:
        return float(next(nx.optimize_graph_edit_distance(x, y, node_match=_same_label, edge_match=_same_label)))

    def searched(x: Any, y: Any) -> float:
        distance = nx.graph_edit_distance(x, y, node_match=_same_label, edge_match=_same_label, timeout=timeout)
        return first_bound(x, y) if distance is None else float(distance)

    if timeout == 0:
        return min(first_bound(a, b), first_bound(b, a))
    start = perf_counter()
    distance = searched(a, b)
    finished = timeout is None or perf_counter() - start < timeout
    return distance if finished else min(distance, searched(b, a))


def _same_label(x: dict[str, Any], y: dict[str, Any]) -> bool:
    return bool(x.get("label") == y.get("label"))
