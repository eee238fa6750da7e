"""What pictures show, computed from a study: progress, predictions without an object's own value, and a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from likewise.similarity.base import Matrix, Similarity, Vector

if TYPE_CHECKING:
    from likewise.study.study import Study
    from likewise.study.suggestion import Suggestion

MAPPED = 1500
NEGLIGIBLE = 0.01
SMALL = 300
LEVELS = np.linspace(0.05, 0.95, 19)
WIDE = float(ndtri(0.975))


@dataclass(frozen=True, eq=False)
class Course:
    """Values in the order they were told, and the best so far."""

    values: Vector
    best: Vector
    minimize: bool


def course(study: Study) -> Course:
    """How the best value came about."""
    from likewise.study.trial import State

    values = np.array([t.value for t in study.trials if t.state is State.TOLD], dtype=float)
    minimize = study.direction == "minimize"
    return Course(values, (np.minimum if minimize else np.maximum).accumulate(values), minimize)


@dataclass(frozen=True, eq=False)
class Checked:
    """Measured values, what is predicted for each from all other objects, the ends of its 95 % interval, and `away`.

    `away` is how far a value is from the middle of its predictive distribution: 0 at the median, 1 at the very end.
    """

    values: Vector
    mean: Vector
    low: Vector
    high: Vector
    away: Vector

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which values lie in their 95 % interval."""
        return self.away <= 0.95

    @property
    def coverage(self) -> Vector:
        """The share of values inside the central interval of each of `LEVELS`."""
        return np.array([np.mean(self.away <= level) for level in LEVELS])

    @property
    def error(self) -> float:
        """The root mean square error of the predictions."""
        return float(np.sqrt(np.mean((self.values - self.mean) ** 2)))


def checked(study: Study) -> Checked:
    """Each object predicted from all the others by the committee, on the user's scale; intervals include the noise."""
    from likewise.model.fit import DEFAULT
    from likewise.model.leave_one_out import left_out, same_objects

    committee = study.committee()
    sign = 1.0 if study.direction == "maximize" else -1.0
    objects, on_model = committee.grams[0].objects, committee.members[0].posterior.values
    values = np.asarray(committee.transform.backward(on_model), dtype=float)
    found = left_out(committee, values, _variances(study, objects, sign * values), same_objects(objects), DEFAULT)
    mean = committee.on_users_scale(found.means, found.latent).mean
    centre, spread = committee.mixture(found.means, found.variances)
    ends = [np.asarray(committee.transform.backward(centre + z * spread)) for z in (-WIDE, WIDE)]
    low, high = ends if sign > 0 else ends[::-1]
    away = 2.0 * np.abs(found.ranks(on_model) - 0.5)
    return Checked(sign * values, sign * mean, sign * low, sign * high, away)


def _variances(study: Study, objects: Sequence[Any], values: Vector) -> Vector | None:
    """The known variances of the measurements of these objects, None where there are none."""
    known = [(t.object, t.value, t.std) for t in study.trials if t.std and t.value is not None]
    if not known:
        return None
    places = {id(x): [(value, std) for y, value, std in known if y is x] for x, _, _ in known}
    stds = [
        min(places.get(id(x), []), key=lambda each: abs(each[0] - value), default=(value, 0.0))[1]
        for x, value in zip(objects, values.tolist(), strict=True)
    ]
    return np.array(stds) ** 2


@dataclass(frozen=True, eq=False)
class Map:
    """Objects in the plane, by their similarity alone; values are NaN where nothing was measured.

    `picks` are the places of the suggestions, in their order; `share` is the part of the similarity that two dimensions
    can show.
    """

    objects: list[Any]
    points: Matrix
    values: Vector
    picks: list[int]
    share: float


def object_map(
    study: Study,
    suggestions: Sequence[Suggestion] = (),
    most: int = MAPPED,
    similarities: Sequence[Similarity] | None = None,
) -> Map:
    """A map of the study's objects: the measured ones, the suggestions, and some of the rest.

    Similarity is that of the committee, or of these similarities to equal parts.
    """
    from likewise.study.trial import State

    rng = np.random.default_rng(study.seed)
    picks = [s.object for s in suggestions]
    told = [t for t in study.trials if t.state is State.TOLD]
    room = max(0, most - len(picks))
    if len(told) > room // 2:
        told = [told[i] for i in np.sort(rng.choice(len(told), size=room // 2, replace=False))]
    known = {study.space.key(x) for x in [*picks, *(t.object for t in told)]}
    others = [x for x in study.space.sample(room - len(told), rng) if study.space.key(x) not in known]
    others = list({study.space.key(x): x for x in others}.values())
    objects = [*others, *(t.object for t in told), *picks]
    values = np.full(len(objects), np.nan)
    values[len(others) : len(others) + len(told)] = [t.value for t in told]
    points, share = embedded(_similarity(study, objects, similarities))
    return Map(objects, points, values, list(range(len(others) + len(told), len(objects))), share)


def _similarity(study: Study, objects: Sequence[Any], given: Sequence[Similarity] | None) -> Matrix:
    """How alike the objects are: each similarity scaled to 1 on its diagonal, mixed by its weight."""
    if given is None:
        committee = study.committee()
        similarities, weights = committee.similarities, committee.similarity_weights()
    else:
        similarities, weights = tuple(map(study.space.view, given)), np.ones(len(given))
    total = np.zeros((len(objects), len(objects)))
    for similarity, weight in zip(similarities, weights / weights.sum(), strict=True):
        if weight < NEGLIGIBLE:
            continue
        encoded = similarity.encode(objects)
        scores = similarity.between(encoded, encoded)
        own = np.sqrt(np.maximum(np.diag(scores), 1e-300))
        total += weight * scores / np.outer(own, own)
    return total


def embedded(scores: Matrix) -> tuple[Matrix, float]:
    """Points in the plane whose distances are near 1 − S (classical scaling), and the share of the spread they show.

    >>> points, share = embedded(np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> near, far = (np.linalg.norm(points[0] - points[k]) for k in (1, 2))
    >>> bool(near < 0.2 * far)
    True
    """
    n = len(scores)
    if n < 2:
        return np.zeros((n, 2)), 1.0
    squared = np.maximum(1.0 - scores, 0.0) ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    inner = -0.25 * (centred + centred.T)
    levels, basis = _largest(inner)
    kept = np.maximum(levels, 0.0)
    points = basis * np.sqrt(kept)
    # The sign of an eigenvector is arbitrary; the same objects should give the same map.
    points = points * np.where(points[np.abs(points).argmax(axis=0), np.arange(points.shape[1])] < 0, -1.0, 1.0)
    spread = float(np.linalg.norm(inner, ord="nuc")) if n <= SMALL else float(np.trace(inner))
    return points, float(np.clip(kept.sum() / max(spread, 1e-300), 0.0, 1.0))


def _largest(matrix: Matrix) -> tuple[Vector, Matrix]:
    """The two largest eigenvalues and their vectors; of a large matrix by Lanczos's method, which needs those alone."""
    if len(matrix) <= SMALL:
        levels, basis = np.linalg.eigh(matrix)
        return levels[:-3:-1], basis[:, :-3:-1]
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    try:
        levels, basis = eigsh(matrix, k=2, which="LA", v0=np.ones(len(matrix)) + np.arange(len(matrix)), tol=1e-6)
    except ArpackNoConvergence:
        levels, basis = np.linalg.eigh(matrix)
    return levels[:-3:-1], basis[:, :-3:-1]
