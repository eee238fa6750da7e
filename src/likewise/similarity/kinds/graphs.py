"""Similarities of graphs: by the nodes, edges, paths and trees they share, and by edit distance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError, import_extra
from likewise.similarity.base import Matrix, Normalised, check_whole
from likewise.similarity.features import Hashes, Integers, Sparse, counted, mixed, products, stable_hash

# Similarities of graphs by the pieces they share: nodes, edges, paths, and rooted trees.
#
# An object is a networkx graph, directed or not, with parallel edges or not. The attribute "label" of a node (a string,
# a number, or a tuple of such) says what it is, in all of its nodes or in none; without labels a node's degree takes
# their place. The attribute "label" of an edge counts where it is there. Names of nodes and their order do not count.
#
# All similarities here count features and compare the counts by their cosine, so all are PSD. A feature is a 64-bit
# hash that is the same in every process.

# Any odd constant; it tells the centre of a tree from its leaves, and the start of a path from its end.
CENTRE = np.uint64(0xD6E8FEB86659FD93)
# Pairs of nodes whose distances are computed together.
CELLS_AT_ONCE = 1 << 18


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
    nx = import_extra("networkx", "comparing graphs", "networkx", "graphs")
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


class CountedFeatures(Normalised):
    """Cosine of the counts of features. A graph without any feature is like other such graphs alone."""

    kind = "graphs"

    @abstractmethod
    def features(self, flat: Flat) -> tuple[Integers, Hashes]:
        """The graph and the hash of every feature."""

    psd = True

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

    compares = "subtrees in common"
    iterations: int = 2

    def __post_init__(self) -> None:
        check_whole(self.name, "iterations", self.iterations, least=0)

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

    Distances are numbers of edges; directed edges are followed one way. Pairs without a path are left out, so that a
    graph in several pieces is compared piece by piece.

    >>> import networkx as nx
    >>> round(ShortestPath()(nx.path_graph(4), nx.cycle_graph(4)), 4)
    0.4714
    """

    compares = "distances between labelled nodes"

    def features(self, flat: Flat) -> tuple[Integers, Hashes]:
        largest = int(np.bincount(flat.rows, minlength=1).max())
        size = max(1, CELLS_AT_ONCE // max(largest, 1) ** 2)
        parts = [self._of_some(flat, range(k, min(k + size, flat.count))) for k in range(0, flat.count, size)]
        rows, hashes = zip(*parts, strict=True) if parts else ([flat.rows], [flat.labels])
        return np.concatenate(rows), np.concatenate(hashes)

    def _of_some(self, flat: Flat, numbers: range) -> tuple[Integers, Hashes]:
        labels, there, links = _padded(flat, numbers)
        directed = flat.directed[numbers.start : numbers.stop, None, None]
        steps = np.where(there[:, :, None] & there[:, None], _distances(links, directed), np.inf)
        once = directed | np.triu(np.ones(links.shape[1:], dtype=bool))
        graph, first, second = np.nonzero(np.isfinite(steps) & once)
        ends = _pair_hashes(labels[graph, first], labels[graph, second], directed[graph, 0, 0])
        return graph + numbers.start, mixed(ends + CENTRE * steps[graph, first, second].astype(np.uint64))


def _distances(links: NDArray[np.float32], directed: NDArray[np.bool_]) -> Matrix:
    """The distances within each graph, along directed edges in those that have them."""
    either_way = hops(np.maximum(links, links.swapaxes(1, 2)))
    return np.where(directed, hops(links), either_way) if directed.any() else either_way


def _padded(flat: Flat, numbers: range) -> tuple[Hashes, NDArray[np.bool_], NDArray[np.float32]]:
    """Labels, whether there is such a node, and edges of these graphs, each filled up to the size of the largest."""
    start, stop = np.searchsorted(flat.rows, (numbers.start, numbers.stop))
    row = flat.rows[start:stop] - numbers.start
    sizes = np.bincount(row, minlength=len(numbers))
    place = np.arange(stop - start) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    labels = np.zeros((len(numbers), int(sizes.max())), dtype=np.uint64)
    labels[row, place] = flat.labels[start:stop]
    edges = slice(*np.searchsorted(flat.edge_rows, (numbers.start, numbers.stop)))
    sources, targets = flat.sources[edges] - start, flat.targets[edges] - start
    links = np.zeros((*labels.shape, labels.shape[1]), dtype=np.float32)
    links[row[sources], place[sources], place[targets]] = 1.0
    return labels, np.arange(labels.shape[1]) < sizes[:, None], links


def hops(links: NDArray[np.float32]) -> Matrix:
    """How many edges lead from each node to each other, infinite where none do: all breadth-first searches at once.

    >>> hops(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float32))
    array([[ 0.,  1., inf],
           [ 1.,  0., inf],
           [inf, inf,  0.]])
    """
    steps = np.full(links.shape, np.inf)
    front, step = np.broadcast_to(np.eye(links.shape[-1], dtype=bool), links.shape), 0
    while front.any():
        steps[front] = step
        front = (front.astype(np.float32) @ links > 0) & np.isinf(steps)
        step += 1
    return steps
