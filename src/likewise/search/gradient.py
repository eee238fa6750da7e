"""Ascent of a score's gradient from many starts at once, in continuous spaces: by plain steps, and by batched BFGS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scorer import Scoring
from likewise.search.base import Found, Search, SearchState, best_distinct, max_candidates, rests_of
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.encoding import distinct as distinct_keys
from likewise.spaces.base import Continuous, PartlyContinuous, Space, at_vectors

# Trajectories: x ← x + η ∇u(x) from many starts at once, each to an equilibrium point (the paper's fixed point).
#
# Whether the iteration climbs as it is printed (η = 1) depends on the scale of x and of u (errata 10). Safeguarded, a
# step is taken only where it raises u: it shrinks until it does, grows after success (by the curvature just seen), and
# is projected onto the space, so no trajectory ends below its start.

Indices = NDArray[np.intp]
Linearise = Callable[[Matrix, Indices], tuple[Vector, Callable[[], Matrix]]]
Project = Callable[[Matrix], Matrix]
Visit = Callable[[Matrix], None]
Step = Literal["safeguarded", "unit"]
FIRST_STEP, LARGEST_STEP = 0.1, 0.5
SHRINK, GROW, PATIENCE = 0.2, 2.0, 12


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Where the trajectories started and ended, and whether each came to rest."""

    starts: Vector
    vectors: Matrix
    scores: Vector
    converged: NDArray[np.bool_]
    steps: int


def ascend(
    linearise: Linearise,
    starts: Matrix,
    project: Project,
    *,
    most_steps: int = 100,
    tolerance: float | Vector = 1e-5,
    first: float | None = None,
    largest: float = LARGEST_STEP,
    visit: Visit | None = None,
) -> Trajectories:
    """Climb from every start together, by safeguarded steps.

    `linearise` gives scores and gradients of a batch of vectors, and is told which trajectories they belong to. A
    trajectory rests when it moves by less than `tolerance`, one for all numbers or one for each. `first` is the first
    η, by default that of a step of 0.1; none is longer than `largest`. `visit` is shown all places after every step.

    >>> hill = lambda z, which: (-((z - 0.3) ** 2).sum(axis=1), lambda: -2.0 * (z - 0.3))
    >>> ascend(hill, np.array([[0.9], [0.0]]), lambda z: np.clip(z, 0.0, 1.0)).vectors.round(3).tolist()
    [[0.3], [0.3]]
    """
    x = project(np.array(starts, dtype=float))
    active = np.arange(len(x))
    scores, gradient = linearise(x, active)
    begun, scores, slopes = scores.copy(), scores.copy(), finite(gradient())
    size = FIRST_STEP / np.maximum(np.linalg.norm(slopes, axis=1), 1e-12) if first is None else np.full(len(x), first)
    failures, rested = np.zeros(len(x), dtype=int), np.zeros(len(x), dtype=bool)
    taken = 0
    _show(visit, x)
    while taken < most_steps and len(active):
        taken += 1
        here, slope = x[active], slopes[active]
        stride = _stride(size[active], slope, largest)
        there = project(here + stride[:, None] * slope)
        moved = there - here
        values, gradient = linearise(there, active)
        # A sufficient rise, and nothing that is not a number.
        better = values > scores[active] + 1e-6 * np.abs(np.einsum("ij,ij->i", slope, moved))
        if better.any():
            won = active[better]
            after = finite(gradient()[better])
            size[won] = _next_size(moved[better], after - slope[better], stride[better])
            x[won], scores[won], slopes[won], failures[won] = there[better], values[better], after, 0
        lost = active[~better]
        size[lost], failures[lost] = SHRINK * stride[~better], failures[lost] + 1
        still = rests(moved, tolerance) | (failures[active] >= PATIENCE)
        rested[active[still]] = True
        active = active[~still]
        _show(visit, x)
    return Trajectories(begun, x, scores, rested, taken)


def iterate(
    linearise: Linearise,
    starts: Matrix,
    project: Project,
    *,
    most_steps: int = 200,
    tolerance: float | Vector = 1e-7,
    visit: Visit | None = None,
) -> Trajectories:
    """x ← g(x) = x + ∇u(x) from every start, as the paper prints it, each step projected onto the space.

    The arguments are those of `ascend`.

    >>> hill = lambda z, which: (-((z - 0.3) ** 2).sum(axis=1) / 4, lambda: -(z - 0.3) / 2)
    >>> iterate(hill, np.array([[0.9]]), lambda z: z, most_steps=2).vectors.round(6).tolist()
    [[0.45]]
    """
    x = project(np.array(starts, dtype=float))
    active = np.arange(len(x))
    scores, gradient = linearise(x, active)
    begun, scores, slopes = scores.copy(), scores.copy(), gradient()
    taken = 0
    _show(visit, x)
    while taken < most_steps and len(active):
        taken += 1
        there = project(x[active] + np.nan_to_num(slopes))
        still = rests(there - x[active], tolerance)
        x[active] = there
        scores[active], gradient = linearise(there, active)
        slopes, active = gradient()[~still], active[~still]
        _show(visit, x)
    rested = np.ones(len(x), dtype=bool)
    rested[active] = False
    return Trajectories(begun, x, scores, rested, taken)


def _stride(size: Vector, slope: Matrix, largest: float) -> Vector:
    """The sizes, smaller where a step would be longer than the largest."""
    return size * np.minimum(1.0, largest / np.maximum(size * np.linalg.norm(slope, axis=1), 1e-300))


def finite(slopes: Matrix) -> Matrix:
    """The slopes with 0 in the place of what is no number."""
    return slopes if np.isfinite(slopes).all() else np.nan_to_num(slopes)


def rests(moved: Matrix, tolerance: float | Vector) -> NDArray[np.bool_]:
    return np.asarray(np.all(np.abs(moved) < tolerance, axis=1))


def _show(visit: Visit | None, x: Matrix) -> None:
    if visit is not None:
        visit(x.copy())


def _next_size(moved: Matrix, bent: Matrix, stride: Vector) -> Vector:
    """The step that the curvature along the last one suggests (Barzilai–Borwein); larger where there was none."""
    curvature = -np.einsum("ij,ij->i", moved, bent)
    squared = np.einsum("ij,ij->i", moved, moved)
    suggested = squared / np.where(curvature > 0, curvature, 1.0)
    return np.where(curvature > 1e-300, np.clip(suggested, 0.1 * stride, 50.0 * stride), GROW * stride)


def distinct(vectors: Matrix, scores: Vector, tolerance: float) -> NDArray[np.intp]:
    """Indices of the distinct points, best first: of those closer than `tolerance` in every number the best stays.

    >>> distinct(np.array([[0.0], [0.001], [1.0]]), np.array([1.0, 2.0, 0.5]), 0.01).tolist()
    [1, 2]
    """
    order = np.argsort(-scores, kind="stable")
    places: list[int] = []
    for i in order.tolist():
        if not places or np.min(np.max(np.abs(vectors[places] - vectors[i]), axis=1)) > tolerance:
            places.append(i)
    return np.array(places, dtype=np.intp)


# Trajectories that learn the curvature of the score as they climb: steps H ∇u with H learnt from the slopes (BFGS).
#
# A step along the gradient alone zigzags where a peak is narrow in one direction and wide in another. From two slopes,
# y = ∇u(x) − ∇u(x') and s = x' − x, each trajectory learns H, the inverse of the curvature, so that H y = s:
#
#     H ← (I − r s yᵀ) H (I − r y sᵀ) + r s sᵀ,      r = 1/(sᵀy),
#
# where the score bends downwards, sᵀy > 0. A number that is held at the end of its range takes no part in it. As with
# `ascend`, a step is taken only where it raises the score, so that no trajectory ends below its start. Most
# trajectories end at a few places: one that comes next to a better one ends where that one does, and goes no further
# itself.

Settle = Callable[[Matrix, Indices], Matrix]
Curves = NDArray[np.float64]
Flags = NDArray[np.bool_]
TINY = 1e-300
# What a number that is on no steps may differ by, to the object of a vector and back.
ROUNDING = 1e-9
# A step that failed is tried again with so much of it, at least and at most.
LEAST_SHARE, MOST_SHARE = 0.1, 0.5
# A rise of so large a share of what the slope promises is enough.
SUFFICIENT = 1e-4
# A trajectory rests where a step raises the score, and was to raise it, by less.
LEVEL = 1e-7
# A trajectory that is so close to a better one, in every number, goes no further.
MET = 1e-2
# H grows by so much at most in one step, in all directions alike.
WIDEN = 10.0


def climb_curved(
    linearise: Linearise,
    starts: Matrix,
    project: Project,
    *,
    most_steps: int = 100,
    tolerance: float | Vector = 1e-5,
    settle: Settle | None = None,
    kinds: Indices | None = None,
) -> Trajectories:
    """Climb from every start together; the arguments are those of `ascend`.

    `settle` takes vectors to those of the objects there, where some numbers are on steps: slopes between steps lead
    nowhere, and after a step that fails such numbers are held. Starts of one of `kinds` differ in numbers alone.

    >>> ridge = lambda z, which: (-(z**2) @ [1.0, 50.0], lambda: -2.0 * z * [1.0, 50.0])
    >>> found = climb_curved(ridge, np.array([[0.9, 0.4]]), lambda z: np.clip(z, -1.0, 1.0))
    >>> bool(np.all(np.abs(found.vectors) < 1e-4)) and found.steps < 15
    True
    """
    x = project(np.array(starts, dtype=float))
    taken, active, into = 0, np.arange(len(x)), np.arange(len(x))
    scores, gradient = linearise(x, active)
    begun, scores, slopes = scores.copy(), scores.copy(), finite(gradient())
    share, failures, held = np.ones(len(x)), np.zeros(len(x), dtype=int), np.zeros(x.shape, dtype=bool)
    curves, learnt, rested = _begin(slopes), *np.zeros((2, len(x)), dtype=bool)
    while taken < most_steps and len(active):
        taken += 1
        slope, free = slopes[active], _free(x[active], slopes[active], project) & ~held[active]
        aim = project(x[active] + share[active][:, None] * _step(curves[active], slope, free))
        there = aim if settle is None else settle(aim, active)
        moved = there - x[active]
        values, gradient = linearise(there, active)
        rise, promise = values - scores[active], np.einsum("ij,ij->i", slope, moved)
        better = rise > SUFFICIENT * np.abs(promise)
        if better.any():
            won, after = active[better], finite(gradient()[better])
            bent = np.where(free[better], slope[better] - after, 0.0)
            curves[won], learnt[won] = _learn(curves[won], moved[better], bent, learnt[won])
            x[won], scores[won], slopes[won] = there[better], values[better], after
        share[active] = np.where(better, 1.0, share[active] * _less(rise, promise))
        failures[active] = np.where(better, 0, failures[active] + 1)
        held[active] |= ~better[:, None] & (np.abs(there - aim) > ROUNDING)
        still = better & (np.maximum(rise, np.abs(promise)) < LEVEL)
        still |= rests(moved, tolerance) | (failures[active] >= PATIENCE)
        rested[active[still]] = True
        into[active] = np.where(still, active, _better(x, scores, active, kinds))
        active = active[~still & (into[active] == active)]
    last = _last(into)
    return Trajectories(begun, x[last], scores[last], rested[last], taken)


def _better(x: Matrix, scores: Vector, active: Indices, kinds: Indices | None) -> Indices:
    """Of each active trajectory the best one that is next to it, which may be itself."""
    near = np.abs(x[active][:, None] - x).max(axis=2, initial=0.0) < MET
    if kinds is not None:
        near &= kinds[active][:, None] == kinds
    there = np.where(near, scores, -np.inf)
    return np.where(there.max(axis=1) > scores[active], there.argmax(axis=1), active)


def _last(into: Indices) -> Indices:
    """Where each one ends, as those that it has joined may have joined others."""
    while not np.array_equal(into, into[into]):
        into = into[into]
    return into


def _begin(slopes: Matrix) -> Curves:
    """H of a first step of usual length along the gradient."""
    size = FIRST_STEP / np.maximum(_length(slopes), 1e-12)
    return np.asarray(size[:, None, None] * np.eye(slopes.shape[1]))


def _step(curves: Curves, slope: Matrix, free: Flags) -> Matrix:
    """H ∇u of the free numbers, shorter where it would be longer than the largest step."""
    step = np.where(free, np.einsum("kij,kj->ki", curves, np.where(free, slope, 0.0)), 0.0)
    return np.asarray(step * np.minimum(1.0, LARGEST_STEP / np.maximum(_length(step), TINY))[:, None])


def _length(step: Matrix) -> Vector:
    return np.sqrt(np.einsum("ij,ij->i", step, step))


def _free(x: Matrix, slope: Matrix, project: Project) -> Flags:
    """Which numbers can follow the slope; the others are held at the end of their range."""
    reach = 1e-6 / np.maximum(np.abs(slope).max(axis=1, initial=0.0), TINY)
    pushed = x + reach[:, None] * slope
    return (project(pushed) != x) | (pushed == x)


def _less(rise: Vector, promise: Vector) -> Vector:
    """The share of a failed step that a parabola through both ends and the slope suggests."""
    # A score that is no number, or that is hidden, says nothing of a parabola.
    gap = np.where(np.isfinite(rise), promise - rise, np.inf)
    suggested = 0.5 * promise / np.where(gap > 0, gap, np.inf)
    return np.minimum(np.maximum(suggested, LEAST_SHARE), MOST_SHARE)


def _learn(curves: Curves, moved: Matrix, bent: Matrix, learnt: Flags) -> tuple[Curves, Flags]:
    """H with what one step has shown; it grows where the score bends upwards, which says nothing of a peak."""
    along, length = np.einsum("ij,ij->i", moved, bent), np.einsum("ij,ij->i", moved, moved)
    down = along > 1e-10 * np.sqrt(length * np.einsum("ij,ij->i", bent, bent))
    rate = 1.0 / np.where(down, along, 1.0)
    # The first curvature that is seen is taken for that of all directions.
    first = down & ~learnt
    if first.any():
        curves = np.where(first[:, None, None], (length * rate)[:, None, None] * np.eye(moved.shape[1]), curves)
    towards = np.einsum("kij,kj->ki", curves, bent)
    across = np.einsum("ij,ij->i", bent, towards)
    # From steep flanks to a flat top: where the score bends less than H says, it does so in all directions.
    wider = np.where(down, np.clip(along / np.maximum(across, TINY), 1.0, WIDEN), 1.0)
    own = rate * (1.0 + rate * wider * across)
    mixed = (rate * wider)[:, None, None] * (moved[:, :, None] * towards[:, None, :])
    updated = wider[:, None, None] * curves - mixed - mixed.transpose(0, 2, 1)
    updated += (own[:, None] * moved)[:, :, None] * moved[:, None, :]
    if not down.all():
        updated = np.where(down[:, None, None], updated, GROW * curves)
    return updated, learnt | down


# Gradient trajectories in continuous spaces, from the observations and from fresh samples.

# So many of the objects that are too close to others are moved aside, in so many directions and by so many times the
# space's resolution.
ASIDE, DIRECTIONS, DISTANCES = 3, 8, (2.0, 6.0, 20.0)

# A trajectory keeps a matrix of so many rows at most.
MOST_CURVED = 50

# Where little may be looked at: the share that is drawn at random, and about how many steps the trajectories take.
DRAWN, STEPS = 0.3, 10


@dataclass(frozen=True)
class GradientSearch(Search):
    """Climbs from the best observations and from the best of fresh samples, all together.

    After a few steps the most promising trajectories go on to their ends; `survivors=None` lets all of them.
    """

    observations: int = 40
    samples: int = 512
    fresh: int = 12
    scouting: int = 8
    survivors: int | None = 16
    most_steps: int = 60
    tolerance: float = 1e-3

    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        search = self.within(max_candidates(scorer), _space(state).dimension)
        if last is None:
            return search._follow(scorer, state, search._starts(scorer, state))
        fresh = replace(search, observations=0, samples=search.samples // 4)._starts(scorer, state)
        again = last.objects[: min(8, search.observations)]
        return search._follow(scorer, state, np.vstack([_space(state).to_vector(again), fresh]))

    def within(self, most: float, dimension: int) -> GradientSearch:
        """The search that looks at about so many objects, of which differences take two for each number of a gradient.

        >>> few = GradientSearch().within(300, dimension=2)
        >>> few.samples, few.observations, few.fresh, few.most_steps
        (72, 2, 2, 10)
        """
        if most == np.inf:
            return self
        drawn, steps = most * DRAWN, most * (1.0 - DRAWN) / (2 * dimension + 1)
        starts = max(2, min(self.observations + self.fresh, int(steps / STEPS)))
        return replace(
            self,
            observations=min(self.observations, starts - starts // 2),
            samples=min(self.samples, max(1, int(drawn / 1.25))),
            fresh=min(self.fresh, starts // 2),
            survivors=None,
            most_steps=min(self.most_steps, max(1, int(steps / starts))),
        )

    def thorough(self) -> Search:
        return replace(self, survivors=None)

    def _starts(self, scorer: Scoring, state: SearchState) -> Matrix:
        """The best observations, and the best of random samples and of steps around the best observation."""
        space = _space(state)
        nearest = list(state.observed[: self.observations])
        starts = space.to_vector(nearest) if nearest else np.zeros((0, space.dimension))
        drawn = space.to_vector(state.space.sample(self.samples, state.rng))
        if len(state.observed):
            best = space.to_vector(list(state.observed[:1]))
            reach = np.exp(state.rng.uniform(np.log(1e-3), np.log(0.3), (self.samples // 4, 1)))
            near = best + reach * state.rng.standard_normal((self.samples // 4, space.dimension))
            drawn = np.vstack([drawn, space.project(near)])
        scores = allowed_scores(scorer.score, state.space, space.from_vector(drawn))
        return np.vstack([starts, drawn[np.argsort(-scores, kind="stable")[: self.fresh]]])

    def _follow(self, scorer: Scoring, state: SearchState, starts: Matrix) -> Found:
        if self.survivors is not None and len(starts) > self.survivors:
            scouts = climb(scorer, _space(state), starts, most_steps=self.scouting)
            apart = distinct(scouts.vectors, scouts.scores, self.tolerance)
            starts = scouts.vectors[apart[: self.survivors]]
        ends = climb(scorer, _space(state), starts, most_steps=self.most_steps, curved=True)
        distinct_ends = distinct(ends.vectors, ends.scores, self.tolerance)
        objects = _space(state).from_vector(ends.vectors[distinct_ends])
        # Where every trajectory ends at what was tried already, where they began and what is beside is what is left.
        objects += _beside(objects, state) + _space(state).from_vector(starts[-self.fresh :])
        # Rounding whole numbers moves an equilibrium off its peak; the score of what is proposed is what counts.
        scores = allowed_scores(scorer.score, state.space, objects)
        return best_distinct(objects, scores, state)


def climb(
    scorer: Scoring,
    space: Continuous | PartlyContinuous,
    starts: Matrix,
    *,
    of: Sequence[Any] = (),
    most_steps: int = 60,
    curved: bool = False,
) -> Trajectories:
    """Trajectories of a scorer; in a space that is continuous in part, `of` are the objects the starts belong to.

    `curved` are those that learn the curvature on their way, which pays where they go to their ends.
    """
    where = cast(Space, space)

    def at(vectors: Matrix, which: Indices) -> list[Any]:
        return at_vectors(space, vectors, [of[i] for i in which.tolist()] if len(of) else ())

    def linearise(vectors: Matrix, which: Indices) -> tuple[Vector, Callable[[], Matrix]]:
        objects = at(vectors, which)
        scores, gradient = scorer.linearise(objects)
        if where.where is not None:
            scores = np.where(where.allowed(objects), scores, -np.inf)
        return scores, lambda: space.pull(vectors, gradient())

    if not curved or space.dimension > MOST_CURVED:
        return ascend(linearise, starts, space.project, most_steps=most_steps)
    settle = (lambda vectors, which: space.to_vector(at(vectors, which))) if where.stepped else None
    rests = rests_of(where, of) if len(of) else ()
    kinds = distinct_keys(rests)[1] if rests else None
    return climb_curved(linearise, starts, space.project, most_steps=most_steps, settle=settle, kinds=kinds)


def _beside(objects: Sequence[Any], state: SearchState) -> list[Any]:
    """Of objects that are too close to tried ones, the best few moved aside in several directions, near and far."""
    close = np.flatnonzero(state.places.close(objects))[:ASIDE].tolist()
    if not close:
        return []
    space = _space(state)
    vectors = space.to_vector([objects[i] for i in close])
    away = state.rng.standard_normal((DIRECTIONS, *vectors.shape))
    away /= np.abs(away).max(axis=2, keepdims=True)
    steps = [vectors + distance * np.max(state.space.resolution) * away for distance in DISTANCES]
    return space.from_vector(space.project(np.concatenate(steps).reshape(-1, space.dimension)))


def _space(state: SearchState) -> Continuous:
    return cast(Continuous, state.space)


def allowed_scores(score: Callable[[Sequence[Any]], Vector], space: Space, objects: Sequence[Any]) -> Vector:
    scores = score(objects)
    return scores if space.where is None else np.where(space.allowed(objects), scores, -np.inf)
