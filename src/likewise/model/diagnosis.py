"""Is the model any good? Similarities and the committee are judged on values they have not seen.

`diagnose` judges those of a study; `compare` ranks similarities on a data set without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from likewise.errors import LikewiseError, StudyError
from likewise.figures.markup import html_table
from likewise.model.censoring import SIDES, says_nothing
from likewise.model.committee import Committee
from likewise.model.fit import DEFAULT, FitSettings, fit, recondition
from likewise.model.leave_one_out import LeftOut, fresh, leave_out
from likewise.model.outliers import describe, far_values
from likewise.model.scores import Gram, Groups, same_objects
from likewise.model.spectrum import negative_share
from likewise.model.transforms import mean_ranks
from likewise.similarity.auto import Given, Recognised, as_similarities, recognise
from likewise.similarity.base import Similarity, Vector
from likewise.similarity.coordinates import column, rescaled, span
from likewise.tables.cells import as_objects, brief

# How well one similarity, or a committee, predicts: the numbers, and a table of them.

LONGEST_NAME = 48
DONE = {
    "krein": "set apart",
    "as_is": "kept",
    "clip": "clipped",
    "flip": "flipped",
}
HEADER = (
    "similarity",
    "weight",
    "RMSE",
    "explained",
    "rank corr.",
    "log density",
    "in 50 %",
    "80 %",
    "95 %",
    "negative",
)


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


def table(rows: Sequence[Fit], mean_rmse: float) -> str:
    """One line for each fit, and one for predicting the mean, in aligned columns."""
    lines = [HEADER, *map(cells, rows), ("the mean", "", f"{mean_rmse:.4g}", "0 %", *[""] * 6)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADER))]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
        ).rstrip()
        for line in lines
    )


def cells(fit: Fit) -> tuple[str, ...]:
    """The row of a fit under `HEADER`."""
    return (
        shorten(fit.name),
        _percent(fit.weight),
        f"{fit.rmse:.4g}",
        _percent(fit.explained),
        _number(fit.spearman),
        _number(fit.log_density),
        *map(_percent, fit.inside),
        f"{_percent(fit.negative)} {DONE[fit.treatment]}" if fit.negative > 0 else "none",
    )


def shorten(name: str) -> str:
    """A name that fits its column.

    >>> shorten("x" * 60)[-3:]
    'xx…'
    """
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100.0 * share:.0f} %"


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"


# What leaving out says in words: whether the similarities are of use, and whether intervals hold.

LEVELS = (0.5, 0.8, 0.95)
# So many different objects are needed before leaving out says anything.
ENOUGH = 8
# A rank correlation past this many of its standard errors, 1/√(n − 1), is not chance.
ERRORS = 2.0
CLEAR_SHARE, CLEAR_CORRELATION = 0.25, 0.5
# A share of values inside their intervals this many standard errors from what it should be is worth a warning.
CALIBRATION_ERRORS = 3.0


def verdict(spearman: float, explained: float, similarities: int, objects: int) -> str:
    """Whether the similarities are of use, from the committee's leave-one-out correlation and the share explained.

    That share is the largest in the table: a verdict never denies what a row shows.

    >>> verdict(0.81, 0.6, 1, 40)
    'this similarity explains the values: leave-one-out correlation 0.81 over 40 observations'
    """
    these = "this similarity" if similarities == 1 else "these similarities"
    s = "s" if similarities == 1 else ""
    if objects < ENOUGH:
        return f"{objects} observations are too few to say whether {these} explain{s} the values; tell {ENOUGH} or more"
    if np.isnan(explained):
        return "all values are equal, so that there is nothing to explain"
    words = f"leave-one-out correlation {spearman:.2f} over {objects} observations"
    chance = not spearman > ERRORS / np.sqrt(objects - 1)
    # With an outlier among the values the order may be right where the sum of squares is not.
    if explained <= 0 and (chance or spearman < CLEAR_CORRELATION):
        none = (
            "this similarity predicts no better" if similarities == 1 else "none of these similarities predicts better"
        )
        return f"{none} than the mean; what is suggested rests on little, so measure more, or compare by something else"
    if chance:
        order = "unknown" if np.isnan(spearman) else f"{spearman:.2f}"
        return (
            f"{these} may explain{s} some of the values: {explained:.0%} of the variance, but the rank correlation is "
            f"{order} over {objects} observations, which may be chance".replace("%", " %", 1)
        )
    if explained < CLEAR_SHARE and spearman < CLEAR_CORRELATION:
        return f"{these} explain{s} a little of the values: {words}"
    return f"{these} explain{s} the values: {words}"


def warnings(inside: Sequence[float], objects: int) -> tuple[str, ...]:
    """What is wrong with the intervals, if anything is.

    >>> warnings((0.5, 0.8, 0.6), 40)
    ('intervals are too narrow: 60 % of the values lie within their 95 % intervals',)
    """
    if objects < ENOUGH:
        return ()
    for level, share in zip(LEVELS[::-1], inside[::-1], strict=True):
        error = CALIBRATION_ERRORS * np.sqrt(level * (1.0 - level) / objects)
        if abs(share - level) > error:
            which = "narrow" if share < level else "wide"
            words = f"{share:.0%} of the values lie within their {level:.0%} intervals".replace("%", " %")
            return (f"intervals are too {which}: {words}",)
    return ()


# Is this similarity any good here? Each similarity alone and the committee, judged on values they have not seen.

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


def diagnose(
    committee: Committee, *, each: bool = True, settings: FitSettings = DEFAULT, sign: float = 1.0
) -> Diagnosis:
    """How well a committee and each of its similarities alone predict the values it is conditioned on.

    Many observations are judged by some of them. The values are times `sign`, −1 where a study minimises, what the user
    told. `settings` are those the committee was fitted with. Judging each similarity takes a fit of each; where `each`
    is false, the committee alone is judged.
    """
    if len(committee) > MOST:
        thinned = diagnose(_thin(committee, MOST), each=each, settings=settings, sign=sign)
        return replace(thinned, notes=(*thinned.notes, f"judged by {MOST} of {len(committee)} observations"))
    groups, known = same_objects(committee.objects), np.flatnonzero(committee.known)
    if not len(known):
        raise StudyError(NO_VALUES)
    # Limits are data for all models, but no values to judge them by.
    objects = [committee.objects[i] for i in known.tolist()]
    judged = same_objects(objects)
    baseline = _error_of_mean(committee.values[known], judged)
    names = unique_names([similarity.name for similarity in committee.similarities])
    left_out = leave_out(committee, groups, settings)
    total = _fit(committee, left_out, names[0] if len(names) == 1 else "committee", baseline)
    fits = [total] if len(names) == 1 else []
    if each and not fits:
        fits = [
            replace(_fit(one, leave_out(one, groups, settings), name, baseline), weight=float(weight))
            for one, name, weight in zip(
                _each_alone(committee, settings), names, committee.similarity_weights(), strict=True
            )
        ]
    signed = left_out if sign > 0 else left_out.negate()
    stated = None if committee.extra_noise is None else committee.extra_noise[known] > 0
    suspects = _outliers(objects, signed, far_values(signed.values, stated).tolist())
    return Diagnosis(
        verdict(total.spearman, _best_explained([total, *fits]), len(names), len(judged)),
        (*(describe(one.object, one.value) for one in suspects), *warnings(total.inside, len(judged))),
        len(committee),
        baseline,
        total,
        tuple(fits),
        _replicates(objects, signed.values, judged),
        _outliers(objects, signed, _outlying(signed)),
        suspects,
        signed,
        len(committee) - len(known),
    )


def _thin(committee: Committee, most: int) -> Committee:
    """The committee on so many of its observations, evenly spaced in their order, far values among them."""
    far = np.flatnonzero(committee.known)[far_values(committee.values[committee.known])]
    evenly = np.linspace(0, len(committee) - 1, most - len(far)).round().astype(np.intp)
    places = np.union1d(evenly, far)
    extra, limits = (None if each is None else each[places] for each in (committee.extra_noise, committee.limits))
    return recondition(
        committee, [gram.part(places) for gram in committee.grams], committee.values[places], extra, limits
    )


def _each_alone(committee: Committee, settings: FitSettings) -> list[Committee]:
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


# Which similarity suits a data set? Each is judged by leaving out, without a study.


@dataclass(frozen=True, eq=False)
class Comparison:
    """Similarities in the order of their leave-one-out log density, the best first; printed, a table and a verdict.

    The density asks for the right value and for the right doubt, and a search relies on both; an error alone would not
    notice a similarity that is wrong and sure of it.
    """

    rows: tuple[Fit, ...]
    similarities: tuple[Similarity, ...]
    recognised: Recognised | None
    diagnosis: Diagnosis

    @property
    def best(self) -> Similarity:
        """The similarity that predicts best alone."""
        return self.similarities[0]

    @property
    def verdict(self) -> str:
        """What the comparison says in one sentence."""
        return self.diagnosis.verdict

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        committee_row = [self.diagnosis.committee] if len(self.rows) > 1 else []
        kind = [] if self.recognised is None else [f"{self.recognised.kind}: {self.recognised.why}"]
        fits = table([*self.rows, *committee_row], self.diagnosis.mean_rmse)
        return "\n".join([*kind, self.verdict, *self.diagnosis.remarks, "", fits])

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        data = {"rows": [asdict(row) for row in self.rows], "recognised": str(self.recognised or "") or None}
        return {**self.diagnosis.to_json(), **finite(data)}


def compare(
    objects: Sequence[Any],
    values: Sequence[float],
    similarities: Given = "auto",
    *,
    std: float | Sequence[float] | None = None,
    limits: Sequence[str | None] | None = None,
) -> Comparison:
    """Rank similarities by how well each predicts values it has not seen.

    `objects` and `values` are what was measured, two objects or more, one value for each.
    `similarities` are those to compare: one, a list of similarities and plain functions of two objects, or "auto", the
    default, for those that suit the kind of the objects.
    `std` is the standard deviation of the measurements in the unit of the values, one for all or one for each; None,
    the default, where it is not known.
    `limits` says "below" or "above" of each value that is only a limit, None of the others; None, the default, where
    all were measured. Limits help to predict, and no error is counted there.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> x = np.linspace(0.0, 6.0, 25)
    >>> close, parity = RBF(), lambda a, b: float(round(4 * a) % 2 == round(4 * b) % 2)
    >>> compare(list(x), np.sin(x), [parity, close]).best.name
    'RBF'
    """
    objects = as_objects(objects)
    y, extra = _check(objects, values, std)
    named = as_similarities(similarities)
    recognised = recognise(objects) if named is None else None
    chosen = recognised.similarities if recognised is not None else named or ()
    grams = [_gram(similarity, objects) for similarity in chosen]
    diagnosis = diagnose(_fit_telling(grams, y, extra, _sides(limits, len(y))))
    order = sorted(range(len(chosen)), key=lambda k: -_density(diagnosis.similarities[k]))
    rows, ranked = tuple(diagnosis.similarities[k] for k in order), tuple(chosen[k] for k in order)
    return Comparison(rows, ranked, recognised, diagnosis)


def _sides(limits: Sequence[str | None] | None, t: int) -> Vector | None:
    """Which values are limits, and on which side."""
    if limits is None or not any(limits):
        return None
    if len(limits) != t or not {*limits} <= SIDES.keys():
        raise LikewiseError(f"limits={list(limits)!r} needs one of 'below', 'above' and None for each of {t} values")
    return np.array([SIDES[limit] for limit in limits])


def _fit_telling(grams: Sequence[Gram], values: Vector, extra: Vector | None, limits: Vector | None) -> Committee:
    """The committee of all observations but limits that say nothing."""
    void = says_nothing(values, limits)
    if not void.any():
        return fit(grams, values, extra, limits)
    telling = np.flatnonzero(~void)
    part = (None if each is None else each[telling] for each in (extra, limits))
    return fit([gram.part(telling) for gram in grams], values[telling], *part)


def _density(fit: Fit) -> float:
    return fit.log_density if np.isfinite(fit.log_density) else -np.inf


def _check(
    objects: Sequence[Any], values: Sequence[float], std: float | Sequence[float] | None
) -> tuple[Vector, Vector | None]:
    y = np.asarray(values, dtype=float)
    if y.shape != (len(objects),) or len(objects) < 2:
        raise LikewiseError(
            f"compare needs two objects or more and a value for each, not {len(objects)} objects and "
            f"values of shape {y.shape}"
        )
    wrong = np.flatnonzero(~np.isfinite(y))
    if len(wrong):
        raise LikewiseError(f"the value of {objects[wrong[0]]!r} is {y[wrong[0]]}; leave out what was not measured")
    if std is None:
        return y, None
    spread = np.broadcast_to(np.asarray(std, dtype=float), y.shape)
    if not np.all(np.isfinite(spread) & (spread >= 0)):
        raise LikewiseError(f"std holds standard deviations, finite and not negative, not {std!r}")
    return y, spread**2


def _gram(similarity: Similarity, objects: Sequence[Any]) -> Gram:
    """Scores of the objects, with numbers in their own range, as in a pool, and median distances settled."""

    def view(one: Similarity) -> Similarity:
        return rescaled(one, lambda path: span(column(objects, path)))

    viewed = view(similarity)
    gram = Gram.of(viewed, objects)
    return gram.retune(viewed.fitted(gram.encodings))
