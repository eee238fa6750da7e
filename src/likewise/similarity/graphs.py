"""Similarities of graphs by the pieces they share: nodes, edges, paths, and rooted trees.

An object is a networkx graph, directed or not, with parallel edges or not. The attribute "label" of a node (a string, a
number, or a tuple of such) says what it is, in all of its nodes or in none; without labels a node's degree takes their
place. The attribute "label" of an edge counts where it is there. Names of nodes and their order do not count.

All similarities here count features and compare the counts by their cosine, so all are PSD. A feature is a 64-bit hash
that is the same in every process.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.errors import MissingExtra, SimilarityError
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.hashed import Hashes, Integers, Sparse, counted, mixed, products, stable_hash

# Any odd constant; it tells the centre of a tree from its leaves, and the start of a path from its end.
CENTRE = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True, eq=False)
class Flat:
    """Graphs written one after another: which are directed, each node's graph and label, each edge's ends and label."""

    directed: NDArray[np.bool_]
    rows: Integers
    labels: Hashes
    sources: Integers
    targets: Integers
    edge_labels: Hashes

    @property
    def count(self) -> int:
        return len(self.directed)

    @property
    def edge_rows(self) -> Integers:
        return self.rows[self.sources]


def as_graphs(objects: Sequence[Any]) -> Sequence[Any]:
    """The objects themselves, all of them networkx graphs; the error names the one that is not."""
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtra("comparing graphs", "networkx", "graphs") from None
    for number, x in enumerate(objects):
        if not isinstance(x, nx.Graph):
            raise SimilarityError(f"object {number} is not a networkx graph: {x!r}; networkx.Graph(edges) builds one")
    return objects


def node_labels(graph: Any, number: int) -> list[Any] | None:
    """The labels of the nodes, or None where no node has one; the error names the node that lacks it."""
    labels = dict(graph.nodes(data="label"))
    missing = [node for node, label in labels.items() if label is None]
    if missing and len(missing) < len(labels):
        raise SimilarityError(
            f"node {missing[0]!r} of graph {number} has no label while other nodes have one; "
            "give every node the attribute 'label', or none"
        )
    return None if missing else list(labels.values())


def _hashed(kind: str, label: Any, number: int) -> int:
    try:
        return stable_hash((kind, label))
    except TypeError:
        raise SimilarityError(
            f"the label {label!r} in graph {number} cannot be hashed; use a string, a number, or a tuple of such"
        ) from None


def flatten(objects: Sequence[Any]) -> Flat:
    """The graphs as arrays, so that features of all of them are computed together."""
    rows: list[int] = []
    labels: list[int] = []
    edges: list[tuple[int, int, int]] = []
    directed: list[bool] = []
    for number, graph in enumerate(as_graphs(objects)):
        place = {node: len(rows) + i for i, node in enumerate(graph)}
        given = node_labels(graph, number)
        if given is None:
            labels += [stable_hash(("degree", degree)) for _, degree in graph.degree]
        else:
            labels += [_hashed("node", label, number) for label in given]
        edges += [(place[u], place[v], _hashed("edge", e, number)) for u, v, e in graph.edges(data="label")]
        directed.append(graph.is_directed())
        rows += [number] * len(place)
    ends = np.array([(u, v) for u, v, _ in edges], dtype=np.int64).reshape(-1, 2)
    return Flat(
        directed=np.array(directed, dtype=bool),
        rows=np.array(rows, dtype=np.int64),
        labels=np.array(labels, dtype=np.uint64),
        sources=ends[:, 0],
        targets=ends[:, 1],
        edge_labels=np.array([e for _, _, e in edges], dtype=np.uint64),
    )


def _pair_hashes(first: Hashes, second: Hashes, ordered: Any) -> Hashes:
    """One hash for each pair of labels; only an ordered pair tells the first from the second."""
    both = mixed(first) + mixed(second)
    return mixed(np.where(ordered, both + CENTRE * second, both))


class CountedFeatures(Similarity):
    """Cosine of the counts of features. A graph without any feature is like other such graphs alone."""

    @abstractmethod
    def features(self, flat: Flat) -> tuple[Integers, Hashes]:
        """The graph and the hash of every feature."""

    @property
    def psd(self) -> bool:
        return True

    def encode(self, objects: Sequence[Any]) -> Sparse:
        flat = flatten(objects)
        rows, hashes = self.features(flat)
        empty = np.flatnonzero(np.bincount(rows, minlength=flat.count) == 0)
        nothing = np.full(len(empty), stable_hash("nothing"), dtype=np.uint64)
        counts = counted(np.concatenate([rows, empty]), np.concatenate([hashes, nothing]), flat.count).astype(float)
        lengths = np.sqrt(np.add.reduceat(counts.data**2, counts.indptr[:-1])) if flat.count else np.zeros(0)
        counts.data /= np.repeat(lengths, np.diff(counts.indptr))
        return counts

    def between(self, a: Sparse, b: Sparse) -> Matrix:
        return products(a, b)

    def within(self, a: Sparse) -> Vector:
        return np.ones(a.shape[0])


@dataclass(frozen=True)
class WeisfeilerLehman(CountedFeatures):
    """Cosine of the counts of subtrees: each node's label, refined `iterations` times by those of its neighbours. PSD.

    Isomorphic graphs score 1; so do the few non-isomorphic ones that the refinement cannot tell apart. Edges of
    directed graphs are followed both ways, and each way is told from the other.

    >>> import networkx as nx
    >>> path, renamed, ring = nx.path_graph(4), nx.Graph(["ab", "bc", "cd"]), nx.cycle_graph(4)
    >>> kernel = WeisfeilerLehman(iterations=2)
    >>> round(kernel(path, renamed), 6), round(kernel(path, ring), 6)
    (1.0, 0.235702)
    """

    iterations: int = 3

    def __post_init__(self) -> None:
        if not isinstance(self.iterations, int) or self.iterations < 0:
            raise SimilarityError(
                f"WeisfeilerLehman needs a whole number of iterations, not {self.iterations!r}; 2 to 5 are usual"
            )

    def features(self, flat: Flat) -> tuple[Integers, Hashes]:
        way = flat.directed[flat.edge_rows].astype(np.uint64)
        edges = np.concatenate([flat.edge_labels + CENTRE * way, flat.edge_labels + CENTRE * (way + way)])
        senders = np.concatenate([flat.sources, flat.targets])
        receivers = np.concatenate([flat.targets, flat.sources])
        refined = [flat.labels]
        for _ in range(self.iterations):
            heard = np.zeros_like(flat.labels)
            np.add.at(heard, receivers, mixed(mixed(refined[-1])[senders] + edges))
            refined.append(mixed(CENTRE * mixed(refined[-1]) + heard))
        return np.tile(flat.rows, len(refined)), np.concatenate(refined)


@dataclass(frozen=True)
class ShortestPath(CountedFeatures):
    """Cosine of the counts of (label, label, distance) over pairs of nodes; a node has distance 0 from itself. PSD.

    Distances are numbers of edges; directed edges are followed one way, and pairs without a path are left out. A graph
    in several pieces is refused, unless `disconnected` allows it.

    >>> import networkx as nx
    >>> round(ShortestPath()(nx.path_graph(4), nx.cycle_graph(4)), 4)
    0.4714
    """

    disconnected: bool = False

    def features(self, flat: Flat) -> tuple[Integers, Hashes]:
        starts = np.searchsorted(flat.rows, np.arange(flat.count + 1))
        cuts = np.searchsorted(flat.edge_rows, np.arange(flat.count + 1))
        parts = [
            self._of_one(flat, number, slice(*starts[number : number + 2]), slice(*cuts[number : number + 2]))
            for number in range(flat.count)
        ]
        rows = np.repeat(np.arange(flat.count), [len(part) for part in parts])
        return rows, np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)

    def _of_one(self, flat: Flat, number: int, nodes: slice, edges: slice) -> Hashes:
        labels = flat.labels[nodes]
        links = np.zeros((len(labels), len(labels)), dtype=np.float32)
        links[flat.sources[edges] - nodes.start, flat.targets[edges] - nodes.start] = 1.0
        directed = bool(flat.directed[number])
        either_way = hops(np.maximum(links, links.T))
        if not self.disconnected:
            _check_connected(np.isfinite(either_way), number)
        steps = hops(links) if directed else either_way
        first, second = np.nonzero(np.isfinite(steps) if directed else np.triu(np.isfinite(steps)))
        return mixed(
            _pair_hashes(labels[first], labels[second], directed) + CENTRE * steps[first, second].astype(np.uint64)
        )


def hops(links: NDArray[np.float32]) -> Matrix:
    """How many edges lead from each node to each other, infinite where none do: all breadth-first searches at once.

    >>> hops(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float32))
    array([[ 0.,  1., inf],
           [ 1.,  0., inf],
           [inf, inf,  0.]])
    """
    steps = np.full(links.shape, np.inf)
    front, step = np.eye(len(links), dtype=bool), 0
    while front.any():
        steps[front] = step
        front = (front.astype(np.float32) @ links > 0) & np.isinf(steps)
        step += 1
    return steps


def _check_connected(reached: NDArray[np.bool_], number: int) -> None:
    if not reached.all():
        raise SimilarityError(
            f"graph {number} is disconnected, in {len(np.unique(reached, axis=0))} pieces without paths between them; "
            "allow it by ShortestPath(disconnected=True), or use WeisfeilerLehman"
        )


@dataclass(frozen=True)
class Histograms(CountedFeatures):
    """Cosine of the counts of node labels ("vertex"), or of edges by their label and those of their ends ("edge"). PSD.

    >>> import networkx as nx
    >>> round(Histograms("vertex")(nx.path_graph(4), nx.cycle_graph(4)), 4)
    0.7071
    """

    of: Literal["vertex", "edge"] = "vertex"

    def __post_init__(self) -> None:
        if self.of not in ("vertex", "edge"):
            raise SimilarityError(f"Histograms counts by 'vertex' or by 'edge', not by {self.of!r}")

    @property
    def name(self) -> str:
        return f"Histograms({self.of})"

    def features(self, flat: Flat) -> tuple[Integers, Hashes]:
        if self.of == "vertex":
            return flat.rows, flat.labels
        ends = _pair_hashes(flat.labels[flat.sources], flat.labels[flat.targets], flat.directed[flat.edge_rows])
        return flat.edge_rows, mixed(ends + flat.edge_labels)
