"""What one simulated study believed, and what was true."""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

import likewise as lw
from benchmarks.calibration.cases import CASES, Problem, Vector
from likewise.acquisition.improvement import log_h

NOISE = 0.1
TOP = 10
LEVELS = (0.5, 0.95)


@dataclass(frozen=True)
class Outcome:
    """Counts of one study: unseen objects, those inside each interval, and the same among the ten to be tried next.

    `chances` are what the study says of beating the best measured value, in tenths, with how many objects did.
    """

    unseen: int
    inside50: int
    inside95: int
    top: int
    top_inside95: int
    squared_error: float
    wild: int
    said: list[int]
    came: list[int]


def simulate(case: str, n: int, seed: int) -> dict[str, Any]:
    """One problem of a case with `n` observations; the same numbers for the same arguments."""
    rng = np.random.default_rng([zlib.crc32(case.encode()), seed])
    problem = CASES[case](rng)
    order = rng.permutation(len(problem.objects))
    noisy = problem.truth + NOISE * rng.standard_normal(len(problem.truth))
    study = lw.Study(problem.space, problem.similarity, seed=seed)
    for i in order[:n].tolist():
        study.tell(problem.objects[i], float(noisy[i]))
    return asdict(_judge(study, problem, order[:n], order[n:], noisy))


def _judge(study: lw.Study, problem: Problem, seen: Vector, unseen: Vector, noisy: Vector) -> Outcome:
    truth = problem.truth[unseen]
    believed = study.predict([problem.objects[i] for i in unseen.tolist()])
    mean, std = np.asarray(believed.mean), np.asarray(believed.std)
    best = float(noisy[seen].max())
    low, high = (_inside(believed, truth, level) for level in LEVELS)
    z = (mean - best) / np.maximum(std, 1e-300)
    foremost = np.argsort(-(np.log(np.maximum(std, 1e-300)) + log_h(np.clip(z, -1e6, 1e6))), kind="stable")[:TOP]
    tenths = np.minimum((10.0 * _chance(z)).astype(int), 9)
    values, spread = noisy[seen], np.ptp(noisy[seen])
    outside = np.maximum(mean - values.max(), values.min() - mean)
    return Outcome(
        unseen=len(truth),
        inside50=int(low.sum()),
        inside95=int(high.sum()),
        top=len(foremost),
        top_inside95=int(high[foremost].sum()),
        squared_error=float(np.sum((mean - truth) ** 2)),
        wild=int(np.sum(~np.isfinite(mean) | ~(std > 0.0) | (outside > 3.0 * spread))),
        said=np.bincount(tenths, minlength=10).tolist(),
        came=np.bincount(tenths, weights=truth > best, minlength=10).astype(int).tolist(),
    )


def _inside(believed: lw.Prediction, truth: Vector, level: float) -> Any:
    if hasattr(believed, "interval"):
        lower, upper = believed.interval(level)
    else:
        reach = ndtri(0.5 + level / 2) * believed.std
        lower, upper = believed.mean - reach, believed.mean + reach
    return (np.asarray(lower) <= truth) & (truth <= np.asarray(upper))


def _chance(z: Vector) -> Vector:
    from scipy.special import ndtr

    return np.asarray(ndtr(z))
