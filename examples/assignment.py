"""Twelve facilities assigned to twelve places, so that much traffic goes a short way: a quadratic assignment.

Run it by `python examples/assignment.py nug12.dat`.

The optimum of nug12 is 578. Of two assignments counts how many facilities have the same place: `Positions`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import likewise as lw


def similarity() -> lw.Similarity:
    """The share of facilities that have the same place."""
    return lw.Positions()


def problem(path: Path | None) -> tuple[lw.Space, Callable[[Sequence[int]], float]]:
    """All assignments, and the cost of each; without a file, six facilities with random traffic on a line."""
    if path is None:
        places = np.arange(6)
        distance, traffic = abs(places[:, None] - places), np.random.default_rng(0).integers(0, 10, size=(6, 6))
    else:
        n, *numbers = map(int, path.read_text().split())
        distance, traffic = np.array(numbers).reshape(2, n, n)
    # Swaps leave all but two facilities in their places; other moves would shift many.
    space = lw.Permutations(len(distance), steps=["swap"])
    return space, lambda order: float(np.sum(distance * traffic[np.ix_(order, order)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="a file of QAPLIB: n, then the two matrices")
    parser.add_argument("--made-up", action="store_true", help="a made-up problem instead of the file")
    parser.add_argument("--budget", type=int, default=220, help="how many assignments are evaluated")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not given.made_up and not (given.data and given.data.exists()):
        print(f"skipped: there is no file at {given.data}; give the path of the data, or --made-up")
        return
    space, cost = problem(None if given.made_up else given.data)
    study = lw.Study(space, similarity(), direction="minimize", seed=given.seed)
    for order in space.sample(min(20, given.budget), np.random.default_rng(given.seed)):
        study.tell(order, cost(order))
    while len(study.trials) < given.budget:
        for suggestion in study.ask():
            study.tell(suggestion, cost(suggestion.object))
    print(f"{study.best.object} costs least of {given.budget} evaluated: {study.best.value:.0f}")


if __name__ == "__main__":
    main()
