"""Labelled graphs of bounded size: circuits, molecules' skeletons, architectures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import combinations, permutations
from types import MappingProxyType
from typing import Any, NamedTuple

from likewise.errors import SpaceError, import_extra
from likewise.spaces.base import MOVES, Edits, Generator, Items, Space, checked_where, checked_whole, edits, more, wider
from likewise.spaces.codec import plain

Edge = tuple[int, int]


class _Shape(NamedTuple):
    """A graph as plain data: the label of each node, and the label of each edge (None where there are none)."""

    nodes: tuple[Any, ...]
    edges: dict[Edge, Any]


def _networkx() -> Any:
    return import_extra("networkx", "Graphs", "networkx", "graphs")


@dataclass(frozen=True)
class Graphs(Space):
    """Graphs of networkx, without loops.

    - `nodes`: how many nodes, called 0, 1, …: a number, or the least and the largest.
    - `labels`, `edge_labels`: every node, or edge, has one of them as its attribute "label"; by default none. Other
      attributes are dropped.
    - `directed`, `connected`: whether graphs are; by default not. A connected directed graph is a weakly connected one.
    - `where`: a function that says whether a graph is allowed; by default all are.

    Two graphs are the same object when they have the same nodes, edges and labels under the numbering given: isomorphic
    graphs with other numberings are different objects. Samples have all sizes and all densities; moves add or remove an
    edge or a node, or change a label.

    >>> import networkx as nx
    >>> graphs = Graphs((2, 4), connected=True)
    >>> nx.path_graph(3) in graphs, nx.empty_graph(3) in graphs
    (True, False)
    >>> graphs.to_json(nx.path_graph(3))
    {'nodes': 3, 'edges': [[0, 1], [1, 2]]}
    """

    kind = "graphs"
    described_by = MappingProxyType({"nodes": "sizes"})
    grows = MappingProxyType({"nodes": wider, "labels": more, "edge_labels": more})
    nodes: int | tuple[int, int]
    labels: Sequence[Any] | None = None
    edge_labels: Sequence[Any] | None = None
    _: KW_ONLY
    directed: bool = False
    connected: bool = False
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        for size in self.sizes:
            checked_whole("the number of nodes of Graphs", size)
        low, high = self.sizes
        if not 1 <= low <= high:
            raise SpaceError(f"graphs have between 1 and some more nodes, not between {low} and {high}")
        self._node_labels, self._edge_labels  # noqa: B018

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """The least and the largest number of nodes."""
        return (self.nodes[0], self.nodes[1]) if isinstance(self.nodes, tuple | list) else (self.nodes, self.nodes)

    @cached_property
    def _node_labels(self) -> tuple[Any, ...]:
        return (None,) if self.labels is None else Items("labels of Graphs", self.labels).listed

    @cached_property
    def _edge_labels(self) -> tuple[Any, ...]:
        return (None,) if self.edge_labels is None else Items("edge_labels of Graphs", self.edge_labels).listed

    def _pairs(self, n: int) -> list[Edge]:
        return list(permutations(range(n), 2) if self.directed else combinations(range(n), 2))

    def _draw(self, n: int, rng: Generator) -> list[Any]:
        return [self._graph(self._random_shape(rng)) for _ in range(n)]

    def _random_shape(self, rng: Generator) -> _Shape:
        n = int(rng.integers(self.sizes[0], self.sizes[1] + 1))
        density = rng.random()
        chosen = {pair for pair in self._pairs(n) if rng.random() < density}
        if self.connected:
            chosen |= set(self._random_tree(n, rng))
        return _Shape(
            tuple(_one(self._node_labels, rng) for _ in range(n)),
            {edge: _one(self._edge_labels, rng) for edge in sorted(chosen)},
        )

    def _random_tree(self, n: int, rng: Generator) -> Iterator[Edge]:
        order = rng.permutation(n).tolist()
        for i in range(1, n):
            pair = (order[i], order[int(rng.integers(i))])
            yield pair if self.directed and rng.random() < 0.5 else (min(pair), max(pair))

    def _graph(self, shape: _Shape) -> Any:
        networkx = _networkx()
        graph = networkx.DiGraph() if self.directed else networkx.Graph()
        for node, label in enumerate(shape.nodes):
            graph.add_node(node, **({} if self.labels is None else {"label": label}))
        for edge in sorted(shape.edges):
            graph.add_edge(*edge, **({} if self.edge_labels is None else {"label": shape.edges[edge]}))
        return graph

    def _fit(self, x: Any) -> Any:
        networkx = _networkx()
        if not isinstance(x, networkx.Graph) or x.is_multigraph():
            raise SpaceError(f"{x!r} is not a networkx.Graph or DiGraph without parallel edges")
        self._check_structure(x)
        self._check_labels(x)
        return self._graph(shape_of(x))

    def _check_structure(self, x: Any) -> None:
        if x.is_directed() != self.directed:
            raise SpaceError(f"{x} is {'' if x.is_directed() else 'not '}directed, unlike the graphs of this space")
        if not self.sizes[0] <= len(x) <= self.sizes[1]:
            raise SpaceError(
                f"{x} has {len(x)} nodes, but graphs of this space have {self.sizes[0]} to {self.sizes[1]}"
            )
        if set(x.nodes) != set(range(len(x))):
            raise SpaceError(
                f"the nodes of {x} are {list(x.nodes)!r}, not 0 to {len(x) - 1}; "
                "use networkx.convert_node_labels_to_integers, and the attribute 'label' for names"
            )
        loop = next((u for u, v in x.edges if u == v), None)
        if loop is not None:
            raise SpaceError(f"{x} has an edge from node {loop} to itself; remove it")
        if self.connected and not _connected(x):
            raise SpaceError(f"{x} is not connected, but graphs of this space are; join its parts, or use the largest")

    def _check_labels(self, x: Any) -> None:
        for labels, allowed, places in (
            (self.labels, self._node_labels, x.nodes),
            (self.edge_labels, self._edge_labels, x.edges),
        ):
            for place in places if labels is not None else ():
                label = places[place].get("label")
                if label not in allowed:
                    what = f"node {place}" if places is x.nodes else f"edge {place}"
                    raise SpaceError(
                        f"{what} of {x} has the label {label!r}, not one of {', '.join(map(repr, allowed))}"
                    )

    def moves(self, x: Any, rng: Generator) -> list[Any]:
        """Graphs with one edge or node more or less, or one label changed; all of them when they are few."""
        shape = shape_of(x)
        kinds = [self._toggled(shape), *self._relabelled(shape), *self._resized(shape, rng)]
        graphs = [self._graph(shape) for shape in edits(kinds, MOVES, rng)]
        fine = [graph for graph in graphs if not self.connected or _connected(graph)]
        return self.keep_allowed(fine)

    def _toggled(self, shape: _Shape) -> Edits:
        """One edge removed, or one added with each of the labels."""
        edits = [
            (edge, label)
            for edge in self._pairs(len(shape.nodes))
            for label in ((None,) if edge in shape.edges else self._edge_labels)
        ]

        def edit(i: int) -> _Shape:
            edge, label = edits[i]
            kept = {e: value for e, value in shape.edges.items() if e != edge}
            return shape._replace(edges=kept if edge in shape.edges else {**kept, edge: label})

        return len(edits), edit

    def _relabelled(self, shape: _Shape) -> list[Edits]:
        nodes = [(n, label) for n, old in enumerate(shape.nodes) for label in self._node_labels if label != old]
        edges = [(e, label) for e, old in shape.edges.items() for label in self._edge_labels if label != old]

        def node(i: int) -> _Shape:
            at, label = nodes[i]
            return shape._replace(nodes=(*shape.nodes[:at], label, *shape.nodes[at + 1 :]))

        def edge(i: int) -> _Shape:
            return shape._replace(edges={**shape.edges, edges[i][0]: edges[i][1]})

        return [(len(nodes), node), (len(edges), edge)]

    def _resized(self, shape: _Shape, rng: Generator) -> list[Edits]:
        """One node more, joined to each of the others, or one less with its edges."""
        n = len(shape.nodes)

        def grown(i: int) -> _Shape:
            edge = (n, i) if self.directed and rng.random() < 0.5 else (i, n)
            label = _one(self._edge_labels, rng)
            return _Shape((*shape.nodes, _one(self._node_labels, rng)), {**shape.edges, edge: label})

        def shrunk(i: int) -> _Shape:
            kept = {(u - (u > i), v - (v > i)): label for (u, v), label in shape.edges.items() if i not in (u, v)}
            return _Shape(shape.nodes[:i] + shape.nodes[i + 1 :], kept)

        return [(n if n < self.sizes[1] else 0, grown), (n if n > self.sizes[0] else 0, shrunk)]

    def to_json(self, x: Any) -> dict[str, Any]:
        return graph_data(shape_of(x), labels=self.labels is not None, edge_labels=self.edge_labels is not None)

    def from_json(self, data: Any) -> Any:
        nodes = data["nodes"]
        shape = _Shape(
            (None,) * nodes if self.labels is None else tuple(nodes),
            {(edge[0], edge[1]): None if self.edge_labels is None else edge[2] for edge in data["edges"]},
        )
        return self._graph(shape)


def shape_of(graph: Any) -> _Shape:
    """The shape of a graph on the nodes 0, 1, …"""
    edges = {
        (u, v) if graph.is_directed() else (min(u, v), max(u, v)): attributes.get("label")
        for (u, v), attributes in graph.edges.items()
    }
    return _Shape(
        tuple(graph.nodes[node].get("label") for node in range(len(graph))),
        {(int(u), int(v)): edges[u, v] for u, v in sorted(edges)},
    )


def graph_data(shape: _Shape, *, labels: bool, edge_labels: bool) -> dict[str, Any]:
    """A shape as JSON data, with the labels that count."""
    return {
        "nodes": list(map(plain, shape.nodes)) if labels else len(shape.nodes),
        "edges": [[*edge, plain(label)] if edge_labels else list(edge) for edge, label in shape.edges.items()],
    }


def _one(labels: Sequence[Any], rng: Generator) -> Any:
    return labels[int(rng.integers(len(labels)))] if len(labels) > 1 else labels[0]


def _connected(graph: Any) -> bool:
    networkx = _networkx()
    return bool(networkx.is_weakly_connected(graph) if graph.is_directed() else networkx.is_connected(graph))
