"""Which settings of graph similarities predict best: `python -m benchmarks.graphs`, and `--docs` for docs/committee.md.

Graphs that are made here, and molecules of three tables as graphs of atoms and bonds where those are at hand. Some
graphs to learn from, the others (1,000 at most) to predict, random splits, the same for each setting. The figure is
the RMSE in standard deviations of the values. The figures go to `benchmarks/results/graphs.json`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import likewise as lw
from benchmarks.committee import DOCS, Indexed, split
from benchmarks.measures import geometric_mean
from benchmarks.methods.analogical import members
from benchmarks.sections import write_section
from benchmarks.store import machine
from benchmarks.tables import markdown
from benchmarks.tasks.base import Vector
from benchmarks.tasks.catalogue import task
from benchmarks.tasks.pool import Pool

OUT = Path(__file__).parent / "results" / "graphs.json"
MADE, SPLITS, TRAINING = 500, 10, (20, 100)
Graphs = tuple[list[Any], Vector]
WL = lw.WeisfeilerLehman
SETTINGS: dict[str, tuple[lw.Similarity, ...]] = {
    **{f"WL({k})": (WL(k),) for k in (1, 2, 3, 4)},
    "paths": (lw.ShortestPath(),),
    **{f"WL({k}), paths": (WL(k), lw.ShortestPath()) for k in (1, 2, 3, 4)},
    "WL(1), WL(3), paths": (WL(1), WL(3), lw.ShortestPath()),
}


def _random(seed: int, labels: str = "", directed: bool = False, whole: bool = True) -> Iterator[Any]:
    """Random graphs of 6 to 12 nodes, in one piece or in several."""
    rng = np.random.default_rng(seed)
    while True:
        size, share = int(rng.integers(6, 13)), float(rng.uniform(0.15, 0.5))
        graph = nx.gnp_random_graph(size, share, seed=int(rng.integers(1 << 30)), directed=directed)
        if whole and not nx.is_connected(graph.to_undirected()):
            continue
        for node in graph:
            if labels:
                graph.nodes[node]["label"] = labels[int(rng.integers(len(labels)))]
        yield graph


def _made(graphs: Iterator[Any], value: Callable[[Any], float]) -> Graphs:
    found = [next(graphs) for _ in range(MADE)]
    return found, np.array([value(graph) for graph in found])


def _connectivity(graph: Any) -> float:
    """How hard the graph is to cut: the second eigenvalue of its Laplacian."""
    return float(np.linalg.eigvalsh(nx.laplacian_matrix(graph).toarray())[1])


def _trees(graph: Any) -> float:
    """The logarithm of the number of spanning trees, by Kirchhoff's theorem."""
    return float(np.linalg.slogdet(nx.laplacian_matrix(graph).toarray()[1:, 1:])[1])


def _energy(graph: Any) -> float:
    """Neighbours that attract or repel each other by their labels."""
    strength = {"AA": 1.0, "AB": -0.6, "BB": 0.3, "AC": 0.8, "BC": -1.0, "CC": 0.2}
    return sum(strength["".join(sorted(graph.nodes[u]["label"] + graph.nodes[v]["label"]))] for u, v in graph.edges)


def _span(graph: Any) -> float:
    """The mean distance of nodes with the label A, as between two charges."""
    ends, steps = [n for n in graph if graph.nodes[n]["label"] == "A"], dict(nx.all_pairs_shortest_path_length(graph))
    return float(np.mean([steps[u][v] for u in ends for v in ends if u != v] or [0.0]))


def _pieces(graph: Any) -> float:
    """The pieces, each worth the square root of its nodes, and half as much without a cycle."""
    return sum(
        np.sqrt(len(c)) * (1.0 if nx.cycle_basis(graph.subgraph(c)) else 0.5) for c in nx.connected_components(graph)
    )


def _flow(graph: Any) -> float:
    """How many nodes are reached along directed edges, on average."""
    return float(np.mean([len(nx.descendants(graph, node)) for node in graph]))


def _molecules(name: str) -> Graphs:
    """The molecules of a table as graphs: elements on nodes, orders of bonds on edges."""
    pool = task(name)
    assert isinstance(pool, Pool)
    return [_atoms(smiles) for smiles in members(pool)], pool.values


def _atoms(smiles: str) -> Any:
    from rdkit import Chem

    graph, molecule = nx.Graph(), Chem.MolFromSmiles(smiles)
    graph.add_nodes_from((a.GetIdx(), {"label": a.GetSymbol()}) for a in molecule.GetAtoms())
    bonds = molecule.GetBonds()
    graph.add_edges_from((b.GetBeginAtomIdx(), b.GetEndAtomIdx(), {"label": str(b.GetBondType())}) for b in bonds)
    return graph


TASKS: dict[str, Callable[[], Graphs]] = {
    "connectivity": lambda: _made(_random(0), _connectivity),
    "spanning trees": lambda: _made(_random(1), _trees),
    "bonds by label": lambda: _made(_random(2, "ABC"), _energy),
    "distance of label A": lambda: _made(_random(3, "ABC"), _span),
    "pieces": lambda: _made(_random(4, whole=False), _pieces),
    "pieces, labelled": lambda: _made(_random(5, "ABC", whole=False), _energy),
    "reach, directed": lambda: _made(_random(6, directed=True), _flow),
    "ESOL": partial(_molecules, "esol"),
    "FreeSolv": partial(_molecules, "freesolv_max"),
    "photoswitch": partial(_molecules, "photoswitch"),
}


def measure(graphs: Graphs, similarities: Sequence[lw.Similarity]) -> dict[str, float]:
    """The mean RMSE over the splits, by the number of graphs to learn from."""
    objects, values = graphs
    chosen = [Indexed(one, one.encode(objects)) for one in similarities]
    found = {n: [split(chosen, values, n, seed)[0] for seed in range(SPLITS)] for n in TRAINING}
    return {str(n): round(float(np.mean(errors)), 4) for n, errors in found.items()}


def run(names: Sequence[str]) -> dict[str, Any]:
    """The figures of these tasks beside those that are stored."""
    known: dict[str, Any] = json.loads(OUT.read_text())["tasks"] if OUT.exists() else {}
    for name in names:
        graphs = TASKS[name]()
        known[name] = {setting: measure(graphs, chosen) for setting, chosen in SETTINGS.items()}
        print(name, known[name], flush=True)
        OUT.write_text(json.dumps({"machine": machine(), "tasks": known}) + "\n")
    return known


def table(known: dict[str, Any]) -> str:
    """The RMSE of each setting: the geometric mean over the tasks, and each task."""
    rows = []
    for setting in SETTINGS:
        errors = [[known[name][setting][str(n)] for n in TRAINING] for name in known]
        means = [f"{geometric_mean(list(column)):.3f}" for column in zip(*errors, strict=True)]
        rows.append([setting, " / ".join(means), *(" / ".join(f"{e:.2f}" for e in pair) for pair in errors)])
    head = f"RMSE with {TRAINING[0]} / {TRAINING[1]} graphs to learn from, {SPLITS} splits."
    body = markdown(["similarities", "geometric mean", *known], rows)
    return f"{head} Made by `python -m benchmarks.graphs --docs`.\n\n{body}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graphs", description=__doc__)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS), help="those to run again")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/committee.md")
    given = parser.parse_args()
    known = run(given.tasks)
    print(table(known))
    if given.docs:
        write_section("graphs", table(known), DOCS)


if __name__ == "__main__":
    main()
