"""Studies that nobody would wish for: indefinite, singular, duplicated, contradictory, of any size.

Of each is asked that it has an answer: no NaN, no certainty about an object that was never measured, and no mean more
than three ranges outside the values that were told.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import likewise as lw
from likewise.errors import SuspectWarning

MOST, UNSEEN = 60, 12
RANGES = 3.0
Matrix = NDArray[np.float64]
Rng = np.random.Generator


def _random(points: Matrix, rng: Rng) -> Matrix:
    return rng.uniform(0.0, 1.0, (len(points), len(points)))


def _threshold(points: Matrix, rng: Rng) -> Matrix:
    return (_distances(points) < rng.uniform(0.1, 0.8)).astype(float)


def _linear(points: Matrix, rng: Rng) -> Matrix:
    distances = _distances(points)
    return np.maximum(rng.uniform(0.5, 1.0) * distances.max() - distances, 0.0)


def _kernel(points: Matrix, rng: Rng) -> Matrix:
    return np.exp(-((_distances(points) / rng.uniform(0.05, 3.0)) ** 2))


def _low_rank(points: Matrix, rng: Rng) -> Matrix:
    factor = rng.uniform(0.0, 1.0, (len(points), int(rng.integers(1, 4))))
    return factor @ factor.T


def _heavy(points: Matrix, rng: Rng) -> Matrix:
    return np.exp(5.0 * rng.standard_normal((len(points), len(points))))


def _graph(points: Matrix, rng: Rng) -> Matrix:
    return (rng.random((len(points), len(points))) < 0.2).astype(float)


def _equal(points: Matrix, rng: Rng) -> Matrix:
    return np.full((len(points), len(points)), float(rng.integers(0, 2)))


KINDS = (_random, _threshold, _linear, _kernel, _low_rank, _heavy, _graph, _equal)


def _distances(points: Matrix) -> Matrix:
    return np.asarray(np.linalg.norm(points[:, None] - points[None], axis=-1))


def scores(points: Matrix, rng: Rng) -> Matrix:
    """A symmetric matrix of scores without a negative one, of any other kind and size."""
    found = KINDS[rng.integers(len(KINDS))](points, rng)
    found = np.maximum(found, found.T)
    if rng.random() < 0.3:
        twins = rng.integers(0, len(points), len(points))
        found = found[np.ix_(twins, twins)]
    if rng.random() < 0.6:
        np.fill_diagonal(found, found.max() if rng.random() < 0.5 else np.maximum(np.diag(found), 1e-3 * found.max()))
    size = 10.0 ** (rng.uniform(-120.0, 120.0) if rng.random() < 0.2 else rng.uniform(-6.0, 6.0))
    return size * (found if found.max() > 0 else np.eye(len(points)))


def values(points: Matrix, rng: Rng) -> NDArray[np.float64]:
    """Values of any size: smooth, noise, constant, tied, with an outlier, or equal but for their last digits."""
    n = len(points)
    smooth = np.sin(6.0 * points[:, 0]) + points[:, 1]
    found = (
        smooth + 0.1 * rng.standard_normal(n),
        rng.standard_normal(n),
        np.ones(n),
        rng.integers(0, 2, n).astype(float),
        np.where(np.arange(n) == 0, 1e4, smooth),
        1.0 + 1e-13 * rng.integers(0, 9, n),
        rng.standard_cauchy(n),
        np.exp(6.0 * smooth),
    )[rng.integers(8)]
    size = 10.0 ** (rng.uniform(-60.0, 60.0) if rng.random() < 0.2 else rng.uniform(-3.0, 3.0))
    return size * (found + (10.0 ** rng.uniform(0.0, 9.0) if rng.random() < 0.2 else 0.0))


def attack(seed: int, most: int = MOST) -> str | None:
    """What is wrong with the answers of a random study; None where nothing is."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, most + 1))
    points = rng.uniform(0.0, 1.0, (n + UNSEEN, 2))
    matrix = scores(points, rng)
    try:
        return _study(seed, n, points, matrix, rng)
    except lw.SimilarityError as error:
        # Objects that are unlike themselves are refused by name.
        return None if "looks like a distance" in str(error) else f"refused: {error}"


def _study(seed: int, n: int, points: Matrix, matrix: Matrix, rng: Rng) -> str | None:
    similarity = lw.Precomputed(range(len(points)), matrix)
    direction: Any = ("maximize", "minimize")[rng.integers(2)]
    study = lw.Study(lw.Pool(range(len(points))), similarity, direction=direction, seed=seed)
    told = values(points, rng)[:n]
    again = rng.integers(0, n, int(rng.integers(0, 4))) if n else []
    std = float(np.ptp(told)) * 0.1 if n and rng.random() < 0.2 else None
    rows = [*((i, float(y), std) for i, y in enumerate(told)), *((int(i), float(-told[i]), std) for i in again)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SuspectWarning)
        try:
            study.tell_many(rows)
            return _complaint(study, n, [value for _, value, _ in rows])
        except (ArithmeticError, AssertionError, RuntimeWarning, np.linalg.LinAlgError) as error:
            return f"{type(error).__name__}: {error}"


def _complaint(study: lw.Study, n: int, told: list[float]) -> str | None:
    suggestions = study.ask(2)
    if not n:
        return None if len(suggestions) == 2 else "nothing is suggested"
    found = study.predict(range(n + UNSEEN))
    numbers = [*found, *found.interval(), *study.predict(range(n + UNSEEN), measurement=True)]
    said = [(s.mean, s.std, s.low, s.high, s.chance, s.improvement) for s in suggestions]
    numbers += [np.array([number for number in one if number is not None]) for one in said]
    if not all(np.all(np.isfinite(one)) for one in numbers):
        return "a NaN"
    if not np.all(found.std[n:] > 0):
        return "certain of an object that was never measured"
    span, size = max(told) - min(told), 1e-9 * max(map(abs, told))
    outside = max(float(np.max(found.mean) - max(told)), float(min(told) - np.min(found.mean)))
    return f"a mean {outside / span if span else np.inf:.1f} ranges outside" if outside > RANGES * span + size else None
