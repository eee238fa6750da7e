"""What one simulated study believed, and what was true."""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import likewise as lw
from benchmarks.calibration.cases import CASES, Problem, Vector
from likewise.acquisition.acquisitions import LogExpectedImprovement
from likewise.acquisition.scorer import Scorer

NOISE = 0.1
TOP = 10
LEVELS = (0.5, 0.95)


@dataclass(frozen=True)
class Outcome:
    """Counts of one study: unseen objects, those inside each interval, and the same among the ten to be tried next.

    `said` counts what the study says of the chance to beat the best measured value, in tenths, and `came` how many of
    those objects did. `gain_said` and `gain_came` are the sums of expected and of true gains over that value.
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
    gain_said: float
    gain_came: float


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
    truth, objects = problem.truth[unseen], [problem.objects[i] for i in unseen.tolist()]
    believed = study.predict(objects)
    best = float(noisy[seen].max())
    half, most = (_inside(believed, truth, level) for level in LEVELS)
    scorer = Scorer.on(study.committee(), LogExpectedImprovement())
    foremost = np.argsort(-scorer.score([study.space.fit(x) for x in objects]), kind="stable")[:TOP]
    tenths = np.minimum((10.0 * believed.mixture.beyond(best)).astype(int), 9)
    values, spread = noisy[seen], np.ptp(noisy[seen])
    outside = np.maximum(believed.mean - values.max(), values.min() - believed.mean)
    return Outcome(
        unseen=len(truth),
        inside50=int(half.sum()),
        inside95=int(most.sum()),
        top=len(foremost),
        top_inside95=int(most[foremost].sum()),
        squared_error=float(np.sum((believed.mean - truth) ** 2)),
        wild=int(np.sum(~np.isfinite(believed.mean) | ~(believed.std > 0.0) | (outside > 3.0 * spread))),
        said=np.bincount(tenths, minlength=10).tolist(),
        came=np.bincount(tenths, weights=truth > best, minlength=10).astype(int).tolist(),
        gain_said=float(np.sum(believed.mixture.gain(best))),
        gain_came=float(np.sum(np.maximum(truth - best, 0.0))),
    )


def _inside(believed: lw.Prediction, truth: Vector, level: float) -> Any:
    lower, upper = believed.interval(level)
    return (np.asarray(lower) <= truth) & (truth <= np.asarray(upper))
