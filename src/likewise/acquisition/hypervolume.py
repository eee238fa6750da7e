"""Fronts of several outcomes: their hypervolume, how far an object is expected to push them out, and its chance to.

Larger is better in every outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import import_extra
from likewise.similarity.base import Matrix, Vector

# Fronts and their hypervolumes, by moocore; larger is better in every outcome.

# How far below the worst of all points the reference lies, as a share of their extent.
MARGIN = 0.01


def _library() -> Any:
    return import_extra("moocore", "a study of several objectives", "moocore", "objectives")


def is_nondominated(points: Matrix, *, equal: bool = False) -> NDArray[np.bool_]:
    """Which points no other dominates; of equal ones the first, or with `equal` all.

    >>> is_nondominated(np.array([[1.0, 2.0], [0.5, 0.5], [2.0, 1.0]])).tolist()
    [True, False, True]
    """
    if len(points) < 2:
        return np.ones(len(points), dtype=bool)
    return np.asarray(_library().is_nondominated(np.ascontiguousarray(points), maximise=True, keep_weakly=equal))


def layers(points: Matrix) -> NDArray[np.intp]:
    """The front each point is on: 0 for those that no other dominates, 1 for those without these, and so on.

    >>> layers(np.array([[1.0, 2.0], [0.5, 0.5], [2.0, 1.0]])).tolist()
    [0, 1, 0]
    """
    if not len(points):
        return np.zeros(0, dtype=np.intp)
    ranks = _library().pareto_rank(np.ascontiguousarray(points), maximise=True)
    return np.asarray(ranks, dtype=np.intp) - int(np.min(ranks))


def hypervolume(points: Matrix, reference: Vector) -> float:
    """The volume that the points dominate above a reference.

    >>> hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))
    3.0
    """
    if not len(points):
        return 0.0
    if points.shape[1] == 1:
        return float(max(0.0, points.max() - reference[0]))
    return float(_library().hypervolume(np.ascontiguousarray(points), ref=reference, maximise=True))


def reference_point(points: Matrix) -> Vector:
    """What is no improvement any more: in each outcome the worst of all points so far, and a hair below it.

    >>> reference_point(np.array([[0.0, 2.0], [1.0, 1.0], [0.5, 0.0]])).round(3).tolist()
    [-0.01, -0.02]
    """
    if not len(points):
        return np.zeros(points.shape[1])
    extent = np.ptp(points, axis=0)
    return np.asarray(points.min(axis=0) - MARGIN * np.where(extent > 0, extent, 1.0))


# Expected hypervolume improvement, in logarithms, from one-dimensional expectations.
#
# The region that no point of the front dominates is cut into boxes. With independent outcomes the expected volume that
# a new object adds to a box factors, and for edges l < u of an outcome
#
#     E[(min(y, u) − l)₊] = g(l) − g(u),      g(e) = E[(y − e)₊] = Σ_m w_m σ_m h((μ_m − e_m)/σ_m),
#
# the mean over that outcome's members: the mixture's own, at a price of members × edges and not of their product over
# the outcomes. An edge belongs to a member as an incumbent does (see `Front`).
#
# Log improvement at each edge is all that is needed of the members; what follows works on arrays L_j of log g_j, one
# row for each edge and one column for each object.

Index = NDArray[np.intp]
# A box that is thinner than this share of what lies above its lower edge is empty.
THIN = 1e-12
# How many directions stand for the whole front where it is not cut into boxes.
DIRECTIONS = 64
# Boxes of more outcomes than this would be too many.
EXACT = 3


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes, each with a lower and an upper edge in every outcome.

    Edges are counted by outcome: 0 is the reference, 1 to n the points of the front from the lowest up, and n + 1 has
    no end. `lower` and `upper` have a row for each box and a column for each outcome.
    """

    lower: Index
    upper: Index

    def __len__(self) -> int:
        return len(self.lower)


def cells(points: Matrix) -> Boxes:
    """The boxes of what no point dominates, where larger is better; points are rows, and none dominates another.

    At most n + 1 boxes for two outcomes and 2n + 1 for three.

    >>> two = cells(np.array([[1.0, 2.0], [2.0, 1.0]]))
    >>> two.lower.tolist(), two.upper.tolist()
    ([[0, 2], [1, 1], [2, 0]], [[1, 3], [2, 3], [3, 3]])
    """
    n, outcomes = points.shape
    ranks = _ranks(points)
    if outcomes == 1:
        return Boxes(np.array([[n]]), np.array([[n + 1]]))
    if outcomes == 2:
        strips = _Strips(n)
        for first, second in ranks.tolist():
            strips.insert(first, second)
        return _as_cells([((lo, b), (hi, n + 1)) for lo, hi, b, _ in strips.open], 2)
    return _as_cells(list(_slabs(ranks)), 3)


def _slabs(ranks: Index) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The boxes of three outcomes: a strip lasts, from the top of the third down, until a point cuts into it."""
    strips = _Strips(len(ranks))
    for first, second, third in ranks[np.argsort(-ranks[:, 2])].tolist():
        for lo, hi, b, top in strips.insert(first, second, third):
            yield (lo, b, third), (hi, len(ranks) + 1, top)
    for lo, hi, b, top in strips.open:
        yield (lo, b, 0), (hi, len(ranks) + 1, top)


class _Strips:
    """What is not dominated in two outcomes: strips of the first, open upwards in the second from an edge on."""

    def __init__(self, n: int) -> None:
        # Lower and upper edge in the first outcome, lower edge in the second, and where it began in the third.
        self.open: list[tuple[int, int, int, int]] = [(0, n + 1, 0, n + 1)]

    def insert(self, first: int, second: int, third: int = 0) -> list[tuple[int, int, int, int]]:
        """Cut a point out; the strips that it ends."""
        cut = [strip for strip in self.open if strip[0] < first and strip[2] < second]
        if not cut:
            return []
        left = cut[0][0]
        parts = [(left, min(first, cut[-1][1]), second, third)]
        parts += [(first, hi, b, third) for _, hi, b, _ in cut[-1:] if hi > first]
        place = self.open.index(cut[0])
        self.open[place : place + len(cut)] = parts
        return cut


def _ranks(points: Matrix) -> Index:
    """The rank of each point in each outcome, from 1 on; equal ones in their order."""
    order = np.argsort(points, axis=0, kind="stable")
    ranks = np.empty_like(order)
    for j in range(points.shape[1]):
        ranks[order[:, j], j] = np.arange(1, len(points) + 1)
    return ranks


def _as_cells(found: list[tuple[tuple[int, ...], tuple[int, ...]]], outcomes: int) -> Boxes:
    lower = np.array([low for low, _ in found], dtype=np.intp).reshape(-1, outcomes)
    upper = np.array([high for _, high in found], dtype=np.intp).reshape(-1, outcomes)
    return Boxes(lower, upper)


@dataclass(frozen=True, eq=False)
class Front:
    """What is to be improved on: boxes, and the edges of each outcome as each of its members sees them.

    The front is that of the mixture's means at the measured objects and at those in flight, not of the values, whose
    noise would lead astray. Members see the same points in their own coordinates: an edge of a member is the largest of
    its means at all objects of which the mixture expects no more than of the front's point there. So edges rise from
    point to point for every member, boxes stay boxes, and with one outcome the edge is the incumbent of expected
    improvement. An object in flight only raises edges: no box grows.

    `edges` has for each outcome one row for each edge that is used and one column for each member; `points` are the
    ranks of the points in every outcome, None where the boxes are not made of points.
    """

    cells: Boxes
    edges: tuple[Matrix, ...]
    points: Index | None = None

    @classmethod
    def of(cls, means: Sequence[Matrix], weights: Sequence[Vector], reference: Sequence[float]) -> Front:
        """The front of points, from the means of each outcome, one row per member, and the members' votes."""
        mixed = np.stack([w @ m for w, m in zip(weights, means, strict=True)], axis=1)
        front = nondominated(mixed, reference)
        edges = tuple(_edges(*each, front) for each in zip(means, mixed.T, reference, strict=True))
        return cls(cells(mixed[front]), edges, _ranks(mixed[front]))

    @classmethod
    def along(
        cls, means: Sequence[Matrix], weights: Sequence[Vector], reference: Sequence[float], directions: Matrix
    ) -> Front:
        """Boxes above the front along some directions, where there are too many outcomes to cut all of it.

        An augmented Chebyshev scalarisation measures points along a direction d, t = min_j (y_j − r_j)/d_j and a little
        of the mean; the box begins where the best point of the front is met, r + t d, and has no end.
        """
        mixed = np.stack([w @ m for w, m in zip(weights, means, strict=True)], axis=1)
        low, kept = np.asarray(reference), nondominated(mixed, reference)
        corners = np.stack([low + _reached(mixed[kept] - low, d) * d for d in directions])
        edges = []
        for j, (own, mean) in enumerate(zip(means, mixed.T, strict=True)):
            raised = _edges(own, mean, low[j], kept)
            knots = np.maximum.accumulate(np.concatenate([[low[j]], np.sort(mean[kept])]))
            edges.append(np.stack([np.interp(corners[:, j], knots, column) for column in raised.T], axis=1))
        indices = np.tile(np.arange(len(directions))[:, None], (1, len(means)))
        return cls(Boxes(indices, np.full_like(indices, len(directions))), tuple(edges))

    def coarse(self, most: int) -> Front:
        """The front of no more than `most` points, spread along it: nothing is worth less beyond it."""
        if self.points is None or len(self.edges) == 1 or len(self.points) <= most:
            return self
        chosen = np.unique(np.linspace(0, len(self.points) - 1, most).round().astype(int))
        points = self.points[np.argsort(self.points[:, 0])[chosen]]
        rows = np.vstack([np.zeros((1, points.shape[1]), dtype=np.intp), np.sort(points, axis=0)])
        edges = tuple(mine[each] for mine, each in zip(self.edges, rows.T, strict=True))
        return Front(cells(points.astype(float)), edges)


def _edges(own: Matrix, mean: Vector, reference: float, kept: Index) -> Matrix:
    """The edges of one outcome: the reference, and for each point of the front, from the lowest up, members' own."""
    order = np.argsort(mean, kind="stable")
    highest = np.maximum.accumulate(own[:, order], axis=1)
    # The last of equal means, so that whoever is equal counts.
    places = np.searchsorted(mean[order], np.sort(mean[kept]), side="right") - 1
    edges = np.vstack([np.full((1, len(own)), reference), highest[:, places].T])
    return np.maximum(edges, reference)


def _reached(above: Matrix, direction: Vector) -> float:
    """How far along a direction from the reference some point dominates, by the augmented Chebyshev scalarisation."""
    if not len(above):
        return 0.0
    ratios = above / direction
    best = int(np.argmax(ratios.min(axis=1) + 1e-3 * ratios.mean(axis=1)))
    return max(0.0, float(ratios[best].min()))


def nondominated(points: Matrix, reference: Sequence[float]) -> Index:
    """The places of the points that no other dominates and that are above the reference; of equal ones the first.

    >>> nondominated(np.array([[1.0, 2.0], [0.5, 0.5], [2.0, 1.0], [9.0, -9.0]]), [0.0, 0.0]).tolist()
    [0, 2]
    """
    above = np.flatnonzero(np.all(points > np.asarray(reference), axis=1))
    if not len(above):
        return above
    if points.shape[1] == 1:
        return above[[int(np.argmax(points[above, 0]))]]

    return np.asarray(above[is_nondominated(points[above])], dtype=np.intp)


def log_volume(front: Front, logs: Sequence[Matrix]) -> tuple[Vector, list[Matrix]]:
    """log Σ_boxes Π_j (g_j(l) − g_j(u)) for each object, from L_j = log g_j at the edges, and its slopes in every L_j.

    >>> empty = Front.of([np.zeros((1, 0))] * 2, [np.ones(1)] * 2, [0.0, 0.0])
    >>> log_volume(empty, [np.log([[0.5]]), np.log([[0.25]])])[0].round(6).tolist() == [round(np.log(0.125), 6)]
    True
    """
    factors, ratios = zip(*(_factors(front.cells, j, log) for j, log in enumerate(logs)), strict=True)
    each = np.sum(factors, axis=0)
    top = each.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    shares = np.exp(each - top)
    total = shares.sum(axis=0)
    with np.errstate(divide="ignore"):
        volume = top + np.log(total)
    shares = shares / np.where(total > 0, total, 1.0)
    slopes = [
        _slopes(front.cells, j, log, shares, ratio) for j, (log, ratio) in enumerate(zip(logs, ratios, strict=True))
    ]
    return volume, slopes


def _factors(found: Boxes, j: int, log: Matrix) -> tuple[Matrix, Matrix]:
    """log(g(l) − g(u)) for each box, and g(u)/g(l)."""
    low, high = log[found.lower[:, j]], _above(found, j, log)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(np.isfinite(low), np.exp(np.minimum(high - low, 0.0)), 0.0)
        ratio = np.where(ratio > 1.0 - THIN, 1.0, ratio)
        return low + np.log1p(-ratio), ratio


def _above(found: Boxes, j: int, log: Matrix) -> Matrix:
    """L at the upper edges; −∞ where a box has no end."""
    closed = found.upper[:, j] < len(log)
    high = np.full((len(found), log.shape[1]), -np.inf)
    high[closed] = log[found.upper[closed, j]]
    return high


def _slopes(found: Boxes, j: int, log: Matrix, shares: Matrix, ratio: Matrix) -> Matrix:
    """∂/∂L_j: ∂log(g(l) − g(u)) is 1/(1 − r) at the lower edge and −r/(1 − r) at the upper one, r = g(u)/g(l)."""
    inside = shares / np.where(ratio < 1.0, 1.0 - ratio, 1.0)
    slopes = np.zeros_like(log)
    np.add.at(slopes, found.lower[:, j], inside)
    closed = found.upper[:, j] < len(log)
    np.add.at(slopes, found.upper[closed, j], -(ratio * inside)[closed])
    return slopes


def bound_volume(front: Front, highs: Sequence[Matrix], lows: Sequence[Matrix]) -> Vector:
    """What Σ_boxes Π_j (g_j(l) − g_j(u)) does not exceed, where each g_j lies between its `lows` and its `highs`."""
    total: Any = 0.0
    for low, high in zip(front.cells.lower.tolist(), front.cells.upper.tolist(), strict=True):
        product: Any = 1.0
        for j, (from_edge, to_edge) in enumerate(zip(low, high, strict=True)):
            above = lows[j][to_edge] if to_edge < len(lows[j]) else 0.0
            product = product * np.maximum(highs[j][from_edge] - above, 0.0)
        total = total + product
    return np.asarray(total)


def spread_directions(outcomes: int, rng: np.random.Generator, most: int = DIRECTIONS) -> Matrix:
    """Random directions with positive coordinates, evenly over the sphere.

    >>> spread_directions(4, np.random.default_rng(0), 3).shape
    (3, 4)
    """
    drawn = np.abs(rng.standard_normal((most, outcomes)))
    return np.maximum(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), 1e-3)


# What objects promise: their chances, and by how much the front is expected to grow.
#
# A front of more than three outcomes is not cut into boxes. Whether an object enters it is then seen by draws of its
# values. Its hypervolume is a mean over directions d on the positive part of the sphere (polar coordinates),
#
#     V(P) = c_k E_d[max_{p ∈ P} min_j ((p_j − r_j)/d_j)₊ᵏ],
#
# for k outcomes and the reference r. The constant c_k cancels in a share of it, and so do the units of every outcome.

# So many draws of an object's values, and so many directions, stand for all of them.
DRAWS, RAYS = 512, 256


@dataclass(frozen=True, eq=False)
class Promise:
    """Of each object the chance to keep to all limits, the chance to enter the front, and how much it should grow.

    Growth is a share of the front's hypervolume.
    """

    feasible: Vector
    chance: Vector
    gain: Vector


def judge_draws(
    feasible: Vector,
    moments: Sequence[tuple[Matrix, Matrix]],
    ceilings: Sequence[float],
    front: Matrix,
    weights: Sequence[Vector],
    least: Vector,
    reference: Vector,
) -> Promise:
    """What objects promise beside a front that is not cut into boxes, which grows from the reference on."""
    drawn = np.minimum(draw_outcomes(moments, weights), ceilings)
    gain = shares_of_growth(front - reference, drawn - reference)
    return Promise(feasible, feasible * chances_to_enter(front, drawn, least), feasible * gain)


def draw_outcomes(moments: Sequence[tuple[Matrix, Matrix]], weights: Sequence[Vector]) -> Any:
    """Values of objects, of shape (objects, draws, outcomes), from the members' means and standard deviations.

    >>> draw_outcomes([(np.array([[2.0]]), np.array([[0.0]]))], [np.ones(1)])[0, :3].tolist()
    [[2.0], [2.0], [2.0]]
    """
    rng, found = np.random.default_rng(0), []
    for (means, stds), votes in zip(moments, weights, strict=True):
        members = rng.choice(len(votes), size=DRAWS, p=votes / votes.sum())
        found.append(means[members] + stds[members] * rng.standard_normal((DRAWS, 1)))
    return np.stack(found, axis=-1).swapaxes(0, 1)


def chances_to_enter(front: Matrix, drawn: Any, least: Vector) -> Vector:
    """The share of each object's draws that no point of the front equals or beats, and that are above `least`.

    >>> drawn = np.array([[[2.0, 0.0], [0.5, 0.5]]])
    >>> chances_to_enter(np.array([[1.0, 1.0]]), drawn, np.full(2, -np.inf)).tolist()
    [0.5]
    """
    free = np.all(drawn > least, axis=-1)
    for point in front:
        free &= np.any(drawn > point, axis=-1)
    return np.asarray(free.mean(axis=1))


def shares_of_growth(front: Matrix, drawn: Any) -> Vector:
    """By which share the hypervolume of a front is expected to grow with each object; values count from the reference.

    Of a front without volume it is the share of what is drawn.

    >>> shares_of_growth(np.array([[1.0, 1.0]]), np.full((1, 3, 2), 2.0)).round(6).tolist()
    [3.0]
    """
    outcomes = drawn.shape[-1]
    extent = np.max(front, axis=0, initial=0.0)
    extent = np.where(extent > 0, extent, np.maximum(drawn.max(axis=(0, 1)), 1e-300))
    rays = spread_directions(outcomes, np.random.default_rng(0), RAYS) * extent
    before = np.max([_reach(point, rays) for point in front], axis=0, initial=0.0) ** outcomes
    grown = [np.maximum(_reach(values[:, None], rays) ** outcomes - before, 0.0).mean() for values in drawn]
    return np.asarray(grown) / (before.mean() or 1.0)


def _reach(values: Any, rays: Matrix) -> Any:
    """How far along each ray a point dominates."""
    return np.maximum(np.min(values / rays, axis=-1), 0.0)
