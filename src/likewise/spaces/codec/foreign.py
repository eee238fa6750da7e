"""Objects of other libraries as JSON data: graphs of networkx, molecules of RDKit. Neither library is imported here."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from likewise.spaces.codec.codec import plain, without_form
from likewise.spaces.graphs import graph_data, shape_of


def foreign(x: Any) -> Any:
    """A graph of networkx, or the canonical SMILES of a molecule of RDKit; a TypeError for other objects.

    >>> import networkx as nx
    >>> foreign(nx.path_graph(3)), foreign(nx.DiGraph([("a", "b")]))["edges"]
    ({'nodes': 3, 'edges': [[0, 1], [1, 2]]}, [['a', 'b', {}]])
    """
    if is_graph(x):
        return _graph(x)
    # Who has such an object has imported the library.
    chem = sys.modules.get("rdkit.Chem")
    if chem is not None and isinstance(x, chem.Mol):
        return str(chem.MolToSmiles(x))
    return without_form(x)


def is_graph(x: Any) -> bool:
    """Whether the object is a graph of networkx."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(x, networkx.Graph)


def _graph(graph: Any) -> dict[str, Any]:
    """As the space `Graphs` writes it where that says all, else with names and attributes of nodes and edges."""
    data = _numbered(graph) if _is_numbered(graph) else _named(graph)
    kinds = {"directed": graph.is_directed(), "multigraph": graph.is_multigraph()}
    return {**data, **{kind: True for kind, true in kinds.items() if true}}


def _is_numbered(graph: Any) -> bool:
    """Whether nodes are 0, 1, …, and nothing but labels is written on them and on the edges, on all or on none."""
    return (
        not graph.is_multigraph()
        and set(graph) == set(range(len(graph)))
        and _labelled(graph.nodes) in ([], [{"label"}])
        and _labelled(graph.edges) in ([], [{"label"}])
    )


def _labelled(places: Mapping[Any, Mapping[str, Any]]) -> list[set[str]]:
    """The different sets of attributes there are, but for a single empty one."""
    found = {frozenset(attributes) for attributes in places.values()}
    return [] if found <= {frozenset()} else [set(names) for names in found]


def _numbered(graph: Any) -> dict[str, Any]:
    return graph_data(shape_of(graph), labels=bool(_labelled(graph.nodes)), edge_labels=bool(_labelled(graph.edges)))


def _named(graph: Any) -> dict[str, Any]:
    def ends(u: Any, v: Any) -> list[Any]:
        found = [plain(u), plain(v)]
        return found if graph.is_directed() else sorted(found, key=json.dumps)

    def ordered(rows: list[Any]) -> list[Any]:
        return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))

    return {
        "nodes": ordered([[plain(node), plain(attributes)] for node, attributes in graph.nodes.items()]),
        "edges": ordered([[*ends(*edge[:2]), plain(attributes)] for edge, attributes in graph.edges.items()]),
    }
