"""Is this similarity any good here? Each similarity alone and the committee, judged on values they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from likewise.errors import StudyError
from likewise.figures.markup import html_table
from likewise.model.assessment.fits import HEADER, Fit, cells, table
from likewise.model.assessment.leave_one_out import LeftOut, fresh, leave_out
from likewise.model.assessment.verdict import LEVELS, verdict, warnings
from likewise.model.committee import Committee
from likewise.model.fit import DEFAULT, Settings, fit, recondition
from likewise.model.gram import Gram, Groups, same_objects
from likewise.model.spectrum import negative_share
from likewise.model.targets.far_values import describe, far_values
from likewise.model.targets.transforms import mean_ranks
from likewise.similarity.base import Vector
from likewise.tables.brief import brief

# Judging takes time in the cube of the observations; these many tell similarities apart.
MOST = 400
OUTLYING = 3.5

NO_VALUES = "every value is only a limit, so that no error can be counted; tell some values that were measured"


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
    """What leaving out says of each similarity and of the committee; printed, it is a table and a verdict.

    `outliers` are far from what the others say, `suspects` far from all other values: hits or slips. `left_out` has
    what the committee says of each observation without it: what `likewise.plots` draws.
    `limits` is how many values are only limits, which are not among these.
    """

    verdict: str
    notes: tuple[str, ...]
    observations: int
    mean_rmse: float
    committee: Fit
    similarities: tuple[Fit, ...]
    replicated: tuple[Replicated, ...]
    outliers: tuple[Outlier, ...]
    suspects: tuple[Outlier, ...]
    left_out: LeftOut = field(repr=False, compare=False)
    limits: int = 0

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and what is said of values that are only limits, if there are any."""
        if not self.limits:
            return self.notes
        several = f"{self.limits} values are only limits: they help"
        which = "1 value is only a limit: it helps" if self.limits == 1 else several
        return *self.notes, f"{which} to predict the others, and no error is counted there"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        rows = [*self.similarities, *([self.committee] if len(self.similarities) > 1 else [])]
        return "\n".join(
            [
                self.verdict,
                *self.remarks,
                "",
                table(rows, self.mean_rmse),
                *(
                    f"told {r.count} times, standard deviation {r.spread:.3g}: {brief(r.object)}"
                    for r in self.replicated
                ),
                *(
                    f"outlier: {brief(o.object)} has {o.value:.4g} where the others say {o.expected:.4g} "
                    f"({o.deviations:+.1f} standard deviations)"
                    for o in self.outliers
                ),
            ]
        )

    def _repr_html_(self) -> str:
        rows = [*self.similarities, *([self.committee] if len(self.similarities) > 1 else [])]
        return html_table(" ".join([self.verdict, *self.remarks]), HEADER, [cells(row) for row in rows])

    def to_json(self) -> dict[str, Any]:
        """As JSON data; objects are written as text."""
        data = {name: value for name, value in vars(self).items() if name != "left_out"}
        data |= {"committee": asdict(self.committee), "similarities": list(map(asdict, self.similarities))}
        for what in ("replicated", "outliers", "suspects"):
            data[what] = [{**vars(one), "object": repr(one.object)} for one in getattr(self, what)]
        return finite(data)


def finite(data: Any) -> Any:
    """JSON has no NaN: a number that does not exist is null."""
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not np.isfinite(data) else data


def diagnose(committee: Committee, *, each: bool = True, settings: Settings = DEFAULT, sign: float = 1.0) -> Diagnosis:
    """How well a committee and each of its similarities alone predict the values it is conditioned on.

    Many observations are judged by some of them. The values are times `sign`, −1 where a study minimises, what the user
    told. `settings` are those the committee was fitted with. Judging each similarity takes a fit of each; where `each`
    is false, the committee alone is judged.
    """
    if len(committee) > MOST:
        found = diagnose(_thin(committee, MOST), each=each, settings=settings, sign=sign)
        return replace(found, notes=(*found.notes, f"judged by {MOST} of {len(committee)} observations"))
    groups, known = same_objects(committee.objects), np.flatnonzero(committee.known)
    if not len(known):
        raise StudyError(NO_VALUES)
    # Limits are data for all models, but no values to judge them by.
    objects = [committee.objects[i] for i in known.tolist()]
    judged = same_objects(objects)
    baseline = _error_of_mean(committee.values[known], judged)
    names = unique_names([similarity.name for similarity in committee.similarities])
    whole = leave_out(committee, groups, settings)
    total = _fit(committee, whole, names[0] if len(names) == 1 else "committee", baseline)
    fits = [total] if len(names) == 1 else []
    if each and not fits:
        fits = [
            replace(_fit(one, leave_out(one, groups, settings), name, baseline), weight=float(weight))
            for one, name, weight in zip(
                _each_alone(committee, settings), names, committee.similarity_weights(), strict=True
            )
        ]
    told = whole if sign > 0 else whole.negate()
    stated = None if committee.extra_noise is None else committee.extra_noise[known] > 0
    suspects = _outliers(objects, told, far_values(told.values, stated).tolist())
    return Diagnosis(
        verdict(total.spearman, _best_explained([total, *fits]), len(names), len(judged)),
        (*(describe(one.object, one.value) for one in suspects), *warnings(total.inside, len(judged))),
        len(committee),
        baseline,
        total,
        tuple(fits),
        _replicates(objects, told.values, judged),
        _outliers(objects, told, _outlying(told)),
        suspects,
        told,
        len(committee) - len(known),
    )


def _thin(committee: Committee, most: int) -> Committee:
    """The committee on so many of its observations, evenly spaced in their order, far values among them."""
    far = np.flatnonzero(committee.known)[far_values(committee.values[committee.known])]
    evenly = np.linspace(0, len(committee) - 1, most - len(far)).round().astype(np.intp)
    some = np.union1d(evenly, far)
    extra, limits = (None if each is None else each[some] for each in (committee.extra_noise, committee.limits))
    return recondition(committee, [gram.part(some) for gram in committee.grams], committee.values[some], extra, limits)


def _each_alone(committee: Committee, settings: Settings) -> list[Committee]:
    """A committee of each similarity alone, on the same transform, so that densities can be compared."""
    told = committee.values, committee.extra_noise, committee.limits
    return [
        fit([gram.retune(fresh(gram))], *told, settings=settings, transform=committee.transform)
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


def _fit(committee: Committee, found: LeftOut, name: str, baseline: float) -> Fit:
    shares = [float(np.mean(found.inside(level))) for level in LEVELS]
    return Fit(
        name,
        found.error,
        1.0 - (found.error / baseline) ** 2 if baseline > 0 else float("nan"),
        _rank_correlation(found.mean, found.values),
        float(np.mean(found.log_densities)),
        (shares[0], shares[1], shares[2]),
        _negative_share(committee.grams),
        committee.members[0].regression.treatment.kind,
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


def _replicates(objects: Sequence[Any], values: Vector, groups: Groups) -> tuple[Replicated, ...]:
    return tuple(
        Replicated(objects[group[0]], len(group), float(np.std(values[group], ddof=1)))
        for group in groups
        if len(group) > 1
    )


def _outlying(found: LeftOut) -> list[int]:
    """The places of observations beyond 3.5 standard deviations, the farthest first."""
    away = np.abs(found.deviations)
    return [i for i in np.argsort(-away, kind="stable").tolist() if away[i] > OUTLYING]


def _outliers(objects: Sequence[Any], found: LeftOut, places: Sequence[int]) -> tuple[Outlier, ...]:
    """Observations, with what the others say of them."""
    rows = zip(found.values.tolist(), found.mean.tolist(), found.deviations.tolist(), strict=True)
    told = [Outlier(x, *row) for x, row in zip(objects, rows, strict=True)]
    return tuple(told[i] for i in places)


def _best_explained(rows: Sequence[Fit]) -> float:
    """The largest share explained in the table; it is NaN in all rows or in none."""
    return max(row.explained for row in rows)
