"""Is this similarity any good here? Each similarity alone and the committee, judged on values they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from likewise.model.committee import Committee
from likewise.model.diagnosis.verdict import verdict, warnings
from likewise.model.fit import DEFAULT, Settings, fit
from likewise.model.gram import Gram
from likewise.model.leave_one_out import Groups, LeaveOneOut, fresh, left_out, same_objects
from likewise.model.spectrum import negative_share
from likewise.model.transforms import mean_ranks
from likewise.similarity.base import Vector

LEVELS = (0.5, 0.8, 0.95)
OUTLYING = 3.5


@dataclass(frozen=True)
class Fit:
    """How well one similarity, or the committee, predicts values it has not seen.

    `rmse` is on the user's scale, `explained` the share of the variance about the mean that it takes away, `spearman`
    the rank correlation of predictions and values, `log_density` the mean log predictive density, `inside` the share
    of values within their 50, 80 and 95 % intervals, `negative` the negative share of the spectrum, which `treatment`
    was applied to, and `weight` the share of the votes.
    """

    name: str
    rmse: float
    explained: float
    spearman: float
    log_density: float
    inside: tuple[float, float, float]
    negative: float
    treatment: str
    weight: float


@dataclass(frozen=True)
class Replicated:
    """An object that was told more than once, how often, and the standard deviation of its values."""

    object: Any
    count: int
    spread: float


@dataclass(frozen=True)
class Outlier:
    """An observation far from what the others say of it, in standard deviations."""

    object: Any
    value: float
    expected: float
    deviations: float


@dataclass(frozen=True)
class Diagnosis:
    """What leaving out says of each similarity and of the committee; printed, it is a table and a verdict."""

    verdict: str
    notes: tuple[str, ...]
    observations: int
    mean_rmse: float
    committee: Fit
    similarities: tuple[Fit, ...]
    replicated: tuple[Replicated, ...]
    outliers: tuple[Outlier, ...]

    def __str__(self) -> str:
        from likewise.model.diagnosis.formatting import fits

        rows = [*self.similarities, *([self.committee] if len(self.similarities) > 1 else [])]
        return "\n".join(
            [
                self.verdict,
                *self.notes,
                "",
                fits(rows, self.mean_rmse),
                *(f"told {r.count} times, standard deviation {r.spread:.3g}: {r.object!r}" for r in self.replicated),
                *(
                    f"outlier: {o.object!r} has {o.value:.4g} where the others say {o.expected:.4g} "
                    f"({o.deviations:+.1f} standard deviations)"
                    for o in self.outliers
                ),
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON data; objects are written as text."""
        data = asdict(replace(self, replicated=(), outliers=()))
        for what in ("replicated", "outliers"):
            data[what] = [{**vars(one), "object": repr(one.object)} for one in getattr(self, what)]
        return finite(data)


def finite(data: Any) -> Any:
    """JSON has no NaN: a number that does not exist is null."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not np.isfinite(data) else data


def diagnose(
    committee: Committee,
    values: Vector,
    extra_noise: Vector | None = None,
    *,
    settings: Settings = DEFAULT,
    sign: float = 1.0,
) -> Diagnosis:
    """How well the committee and each of its similarities alone predict these values, on the user's scale.

    The values, and known measurement variances, are those the committee was fitted on; they are times `sign`, −1 where
    a study minimises, what the user told.
    """
    groups = same_objects(committee.grams[0].objects)
    baseline = _error_of_mean(values, groups)

    def judged(one: Committee) -> _Judged:
        return _Judged(one, left_out(one, values, extra_noise, groups, settings))

    alone = [judged(one) for one in _each_alone(committee, values, extra_noise, settings)]
    whole = alone[0] if len(alone) == 1 else judged(committee)
    names = unique_names([gram.similarity.name for gram in committee.grams])
    fits = [
        replace(_fit(one, name, values, baseline), weight=float(weight))
        for one, name, weight in zip(alone, names, committee.similarity_weights(), strict=True)
    ]
    total = fits[0] if len(fits) == 1 else _fit(whole, "committee", values, baseline)
    return Diagnosis(
        verdict(total.spearman, total.explained, len(fits), len(groups)),
        warnings(total.inside, len(groups)),
        len(values),
        baseline,
        total,
        tuple(fits),
        _replicated(committee, sign * values, groups),
        _outliers(whole, values, sign),
    )


class _Judged(NamedTuple):
    """A committee, and what it says of observations it has not seen."""

    committee: Committee
    left_out: LeaveOneOut


def _each_alone(
    committee: Committee, values: Vector, extra_noise: Vector | None, settings: Settings
) -> list[Committee]:
    """A committee of each similarity alone, on the same transform, so that densities can be compared."""
    if len(committee.grams) == 1:
        return [committee]
    return [
        fit([gram.tuned(fresh(gram))], values, extra_noise, settings=settings, transform=committee.transform)
        for gram in committee.grams
    ]


def unique_names(names: Sequence[str]) -> list[str]:
    """Names told apart where they are equal.

    >>> unique_names(["RBF", "RBF", "Indel"])
    ['RBF', 'RBF (2)', 'Indel']
    """
    return [
        name if (before := names[:i].count(name)) == 0 else f"{name} ({before + 1})" for i, name in enumerate(names)
    ]


def _error_of_mean(values: Vector, groups: Groups) -> float:
    """The error of predicting each object by the mean of the others."""
    errors = [values[group] - np.delete(values, group).mean() for group in groups if len(group) < len(values)]
    return float(np.sqrt(np.mean(np.concatenate(errors) ** 2))) if errors else float("nan")


def _fit(judged: _Judged, name: str, values: Vector, baseline: float) -> Fit:
    committee, unseen = judged
    on_model = np.asarray(committee.transform.forward(values), dtype=float)
    predicted = committee.on_users_scale(unseen.means, unseen.latent).mean
    rmse = float(np.sqrt(np.mean((predicted - values) ** 2)))
    away = np.abs(unseen.ranks(on_model) - 0.5)
    densities = unseen.log_densities(on_model) + np.log(np.maximum(committee.transform.slope(values), 1e-300))
    inside = tuple(float(np.mean(away <= 0.5 * level)) for level in LEVELS)
    return Fit(
        name,
        rmse,
        1.0 - (rmse / baseline) ** 2 if baseline > 0 else float("nan"),
        _rank_correlation(predicted, values),
        float(np.mean(densities)),
        (inside[0], inside[1], inside[2]),
        _negative_share(committee.grams),
        committee.members[0].posterior.treatment.kind,
        1.0,
    )


def _rank_correlation(x: Vector, y: Vector) -> float:
    a, b = mean_ranks(x), mean_ranks(y)
    # Predictions that differ by rounding alone say nothing of the order.
    flat = np.ptp(x) <= 1e-9 * max(float(np.ptp(y)), 1e-300) or np.ptp(y) == 0
    return float("nan") if flat or len(x) < 2 else float(np.corrcoef(a, b)[0, 1])


def _negative_share(grams: Sequence[Gram]) -> float:
    """The largest negative share of the spectrum of a similarity."""
    spectra = [np.asarray(np.linalg.eigvalsh(g.scores), dtype=float) for g in grams if not g.similarity.psd]
    return max(map(negative_share, spectra), default=0.0)


def _replicated(committee: Committee, values: Vector, groups: Groups) -> tuple[Replicated, ...]:
    objects = committee.grams[0].objects
    return tuple(
        Replicated(objects[group[0]], len(group), float(np.std(values[group], ddof=1)))
        for group in groups
        if len(group) > 1
    )


def _outliers(judged: _Judged, values: Vector, sign: float) -> tuple[Outlier, ...]:
    """Observations beyond 3.5 standard deviations, the farthest first."""
    committee, unseen = judged
    away = unseen.deviations(np.asarray(committee.transform.forward(values), dtype=float))
    expected = committee.on_users_scale(unseen.means, unseen.latent).mean
    order = [i for i in np.argsort(-np.abs(away), kind="stable").tolist() if abs(away[i]) > OUTLYING]
    objects = committee.grams[0].objects
    return tuple(
        Outlier(objects[i], sign * float(values[i]), sign * float(expected[i]), sign * float(away[i])) for i in order
    )
