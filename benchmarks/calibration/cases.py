"""Problems whose truth is known: objects of many kinds, a similarity, and a value for every object.

Values are standardised over the objects of a problem, so that errors and noises are in standard deviations. Where a
case says "from S", the truth is a draw from a Gaussian process whose covariance is the positive part of S over all the
problem's objects: the similarity is as right as an indefinite one can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from examples.similarities.graph_edit import edit_distance
from numpy.typing import NDArray

import likewise as lw

Vector = NDArray[np.float64]
Generator = np.random.Generator
# Observed and unseen objects of one problem together.
SIZE = 160
# The same where a comparison takes milliseconds.
FEW = 80
LETTERS = "ACDEFG"


@dataclass(frozen=True)
class Problem:
    """Objects with their true values, the space they are from, and what compares them."""

    space: lw.Space
    similarity: Any
    objects: Sequence[Any]
    truth: Vector


Case = Callable[[Generator], Problem]


def standardised(values: Vector) -> Vector:
    """Mean zero, spread one."""
    return np.asarray((values - values.mean()) / values.std())


def draw_from(scores: Vector, rng: Generator) -> Vector:
    """A draw from the Gaussian process whose covariance is the positive part of these scores."""
    levels, basis = np.linalg.eigh(0.5 * (scores + scores.T))
    return standardised(basis @ (np.sqrt(np.maximum(levels, 0.0)) * rng.standard_normal(len(levels))))


def _scores(similarity: lw.Similarity, objects: Sequence[Any]) -> Vector:
    encoding = similarity.encode(objects)
    return similarity.between(encoding, encoding)


# The square


def _smooth(points: Vector, rng: Generator) -> Vector:
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    return draw_from(np.exp(-0.5 * squares / 0.25**2) + 1e-9 * np.eye(len(points)), rng)


def square(rng: Generator, *, similarity: Any) -> Problem:
    """Uniform points of the unit square, and a draw from a process with an RBF kernel of lengthscale 0.25."""
    points = rng.random((SIZE, 2))
    given = similarity() if callable(similarity) else similarity
    return Problem(lw.Box([0.0, 0.0], [1.0, 1.0]), given, list(points), _smooth(points, rng))


def within_reach(x: Any, other: Any) -> float:
    """A judgement: alike, or not."""
    return float(np.hypot(x[0] - other[0], x[1] - other[1]) < 0.3)


# Strings


def families(rng: Generator, *, length: int = 12, edits: int = 5, gaps: bool = True) -> list[str]:
    """Strings of a few families: a founder of each, and others by random edits of it."""
    founders = ["".join(rng.choice(list(LETTERS), size=length)) for _ in range(8)]
    found: dict[str, None] = {}
    while len(found) < SIZE:
        letters = list(founders[rng.integers(len(founders))])
        for _ in range(rng.integers(1, edits + 1)):
            place, kind = rng.integers(len(letters)), rng.integers(3) if gaps else 0
            if kind == 0:
                letters[place] = str(rng.choice(list(LETTERS)))
            elif kind == 1 and len(letters) > length // 2:
                del letters[place]
            else:
                letters.insert(place, str(rng.choice(list(LETTERS))))
        found["".join(letters)] = None
    return list(found)


def strings(rng: Generator, *, similarity: Callable[[], lw.Similarity]) -> Problem:
    """Families of strings, and a value from S."""
    objects = families(rng)
    return Problem(lw.Pool(objects), similarity(), objects, draw_from(_scores(similarity(), objects), rng))


def weak_signal(rng: Generator) -> Problem:
    """Strings of one length; half of the variance is from S, the other half each object's own."""
    objects = families(rng, gaps=False)
    signal = draw_from(_scores(lw.Hamming(), objects), rng)
    truth = standardised(signal + standardised(rng.standard_normal(SIZE)))
    return Problem(lw.Pool(objects), lw.Hamming(), objects, truth)


# Distributions


def gaussians(rng: Generator, *, constant: bool) -> Problem:
    """One-dimensional Gaussians, and the expectation of a sum of six cosines, damped by the variance."""
    space = lw.Gaussians(mean=(-3.0, 3.0), variance=(0.05, 4.0))
    objects = space.sample(SIZE, rng)
    heights, speeds, phases = rng.standard_normal(6), rng.uniform(0.3, 2.5, 6), rng.uniform(0.0, 2 * np.pi, 6)
    means, variances = (np.array([float(getattr(x, name)[0]) for x in objects]) for name in ("mean", "variance"))
    damped = np.exp(-0.5 * variances[:, None] * speeds**2) * np.cos(means[:, None] * speeds + phases)
    similarity = lw.SymmetricKL(constant=space.divergence_bound()) if constant else lw.SymmetricKL()
    return Problem(space, similarity, objects, standardised(damped @ heights))


# Three more kinds of object


def graphs(rng: Generator) -> Problem:
    """Small labelled graphs compared by edit distance, which is indefinite; the value counts what is in them."""
    space = lw.Graphs((4, 6), labels=["C", "N", "O"])
    objects = space.sample(FEW, rng)
    weights = dict(zip("CNO", rng.standard_normal(3), strict=True))
    bond = rng.standard_normal()

    def value(graph: Any) -> float:
        labels = [data["label"] for _, data in graph.nodes(data=True)]
        return sum(weights[label] for label in labels) + bond * graph.number_of_edges()

    values = standardised(np.array([value(graph) for graph in objects]))
    return Problem(space, lw.from_distance(edit_distance), objects, values)


def permutations(rng: Generator) -> Problem:
    """Orders of eight jobs, compared by auto; the value is the cost of neighbours in the order."""
    space, cost = lw.Permutations(8), rng.standard_normal((8, 8))
    objects = space.sample(SIZE, rng)
    values = [sum(cost[a, b] for a, b in pairwise(order)) for order in objects]
    return Problem(space, "auto", objects, standardised(np.array(values)))


def records(rng: Generator) -> Problem:
    """Reactions of a made-up kind: a ligand, a solvent and two numbers, with an interaction; compared by auto."""
    space = lw.Record(
        ligand=[f"L{i}" for i in range(8)],
        solvent=["DMF", "THF", "water", "toluene"],
        temperature=lw.Box([20.0], [120.0]),
        time=lw.Box([1.0], [24.0]),
    )
    objects = space.sample(SIZE, rng)
    ligand = dict(zip((f"L{i}" for i in range(8)), rng.standard_normal(8), strict=True))
    solvent = dict(zip(("DMF", "THF", "water", "toluene"), rng.standard_normal(4), strict=True))
    middle, width = rng.uniform(40.0, 100.0), rng.uniform(15.0, 40.0)

    def value(x: dict[str, Any]) -> float:
        bump = np.exp(-0.5 * ((float(np.ravel(x["temperature"])[0]) - middle) / width) ** 2)
        return float(ligand[x["ligand"]] + solvent[x["solvent"]] + 2.0 * bump * (1.0 + ligand[x["ligand"]]))

    return Problem(space, "auto", objects, standardised(np.array([value(x) for x in objects])))


# Three similarities that nothing was chosen by


def common_run(x: str, other: str) -> float:
    """The longest run of letters that two strings share, as a share of the longer one; indefinite."""
    found = SequenceMatcher(None, x, other, autojunk=False).find_longest_match()
    return found.size / max(len(x), len(other))


def either(x: Any, other: Any) -> float:
    """Alike in one coordinate or in the other, whichever is closer; indefinite."""
    return float(np.exp(-np.min(np.abs(np.asarray(x) - np.asarray(other))) / 0.2))


def runs(rng: Generator) -> Problem:
    """Families of strings, compared by their longest common run; the value is from the positive part of another S."""
    objects = families(rng)
    return Problem(lw.Pool(objects), common_run, objects, draw_from(_scores(lw.Indel(), objects), rng))


def bags(rng: Generator) -> Problem:
    """Sets of ingredients compared by their overlap, which is indefinite; each ingredient, and some pairs, count."""
    names = [f"i{k}" for k in range(14)]
    objects = list({frozenset(rng.choice(names, size=rng.integers(2, 7), replace=False).tolist()) for _ in range(SIZE)})
    objects.sort(key=sorted)
    single = dict(zip(names, rng.standard_normal(14), strict=True))
    pairs = {frozenset(rng.choice(names, size=2, replace=False).tolist()): rng.standard_normal() for _ in range(12)}
    values = [sum(single[i] for i in x) + sum(w for pair, w in pairs.items() if pair <= x) for x in objects]
    return Problem(lw.Pool(objects), lw.Overlap(), objects, standardised(np.array(values)))


HELD_OUT: dict[str, Case] = {
    "longest common run": runs,
    "either coordinate": partial(square, similarity=lambda: lw.from_function(either)),
    "overlap of sets": bags,
}
CASES: dict[str, Case] = {
    "box, auto": partial(square, similarity="auto"),
    "box, one RBF": partial(square, similarity=lw.RBF),
    "Hamming, weak signal": weak_signal,
    "Levenshtein": partial(strings, similarity=lw.Levenshtein),
    "Jaro–Winkler": partial(strings, similarity=lw.JaroWinkler),
    "threshold": partial(square, similarity=lambda: lw.from_function(within_reach)),
    "const − KL": partial(gaussians, constant=True),
    "exp(−KL)": partial(gaussians, constant=False),
    "graphs by edits": graphs,
    "permutations, auto": permutations,
    "records, auto": records,
    **HELD_OUT,
}
