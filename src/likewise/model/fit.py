"""How a committee is fitted: which members stand, how evidence weighs them, and who is left out for the round.

Members are mixes (each similarity alone, pairs, all to equal parts, learnt weights) × warps × noises. The
tridiagonal form of a mix is shared by all its noises, and the amplitude has a closed form, so a member costs O(t).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np

from likewise.model.calibration import calibrate
from likewise.model.committee import Committee, Member
from likewise.model.evidence import (
    NOISE_PRIOR,
    Evidence,
    evidences,
    leave_one_out_density,
    regression_evidence,
    warp_priors,
)
from likewise.model.gram import Gram, same_objects
from likewise.model.hyperparameters import Learnt, learn, learn_mix
from likewise.model.regression import Regression, regress
from likewise.model.spectrum import Spectrum, Treatment
from likewise.model.targets.censoring import Mask, anchors, exact, prior_covariance, rough_covariance, sites
from likewise.model.targets.choose_transform import choose_transform
from likewise.model.targets.transforms import Standardised, Transform
from likewise.model.treatments import Treatments, mix_scores
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.combine.mix import Mix

WARPS = (0.5, 1.0, 2.0, 4.0, 8.0)
# Noise as a share of the amplitude, down to none to speak of: a model that sees noise where there is none measures the
# best object again and again.
RATIOS = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 5e-1)
LEAST_SHARE = 0.02
MOST_MEMBERS = 20
LEARN_FROM = 3
MIX_FROM = 20
REPLICATES_FROM = 2
DECIMALS = 8
# The common mean's prior variance, in units of the amplitude.
OFFSET = 1.0
# Below this mean score of objects with themselves, warps of scores brought to a mean of one might overflow.
LEAST_SELF = 1e-18
# So many members of one mix share its eigenvectors; fewer have a Cholesky factor each.
DECOMPOSE_FROM = 3
# What a learnt parameter costs in log evidence, in every mix that has it: it was chosen to fit.
OCCAM = 0.5


@dataclass(frozen=True)
class Settings:
    """What stands for election, and between which of the user's values all lie."""

    warps: tuple[float, ...] = WARPS
    ratios: tuple[float, ...] = RATIOS
    spectra: tuple[Spectrum, ...] = ("krein",)
    mixes: bool = True
    learn: bool = True
    offset: float = OFFSET
    rescale: bool = True
    bounds: tuple[float, float] = (-np.inf, np.inf)


DEFAULT = Settings()


class Targets(NamedTuple):
    """Values and known measurement variances on the model's scale.

    Values in other units, a·y + b, differ by rounding there, which a gradient trajectory would notice: they are rounded
    far above that, and far below any noise.
    """

    values: Vector
    extra: Vector

    @classmethod
    def of(cls, values: Vector, extra_noise: Vector | None, transform: Transform) -> Targets:
        extra = np.zeros(len(values)) if extra_noise is None else extra_noise * transform.slope(values) ** 2
        return cls(np.round(np.asarray(transform.forward(values), dtype=float), DECIMALS), extra)

    def censor(self, covariance: Matrix, limits: Vector) -> Targets:
        """The same with a value and a variance in the place of each limit (`censoring`)."""
        found, variances = sites(covariance, self.values, limits)
        return Targets(found, self.extra + variances)


class Candidate(Protocol):
    """Who stands for election."""

    @property
    def mix(self) -> Mix: ...

    @property
    def ratio(self) -> float: ...

    @property
    def log_prior(self) -> float: ...

    @property
    def evidence(self) -> Evidence: ...

    def regression(self, data: Targets, many: int) -> Regression:
        """What it says, given these data; so many of its mix are elected, which may share their work."""
        ...


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A candidate for membership, before the votes are counted."""

    mix: Mix
    psd: bool
    treatment: Treatment
    ratio: float
    log_prior: float
    evidence: Evidence

    def regression(self, data: Targets, many: int = 1) -> Regression:
        """What it says, given these data; eigenvectors take as long as the factors of some noises."""
        treatment = self.treatment if many < DECOMPOSE_FROM else self.treatment.decomposed
        return _regress(treatment, self.psd, self.ratio, self.evidence.amplitude, data)


def fit(
    grams: Sequence[Gram],
    values: Vector,
    extra_noise: Vector | None = None,
    limits: Vector | None = None,
    *,
    settings: Settings = DEFAULT,
    transform: Transform | None = None,
    treatments: Treatments | None = None,
) -> Committee:
    """The committee of these similarities for these values (on the user's scale), weighted by evidence.

    `extra_noise` holds known measurement variances on the user's scale; `limits` says which values are limits, and on
    which side (`censoring`). Without a `transform` the scale is chosen. `treatments` are those of other outcomes.
    """
    treatments = Treatments() if treatments is None else treatments
    if transform is None:
        scale = suitable_transform(grams, values, settings, limits).of(values[anchors(values, limits)])
        transform = scale.within(*settings.bounds)
    data, known = Targets.of(values, extra_noise, transform), exact(values, limits)
    ratios = settings.ratios + _replicate_ratio(grams[0].objects, data.values, known)
    settings = replace(settings, ratios=ratios)
    if limits is None:
        tuned, members = _fit_targets(grams, data, settings, treatments)
    else:
        rough = rough_covariance(rough_scores(grams) + settings.offset, *data, anchors(values, limits))
        tuned, members = _fit_targets(grams, data.censor(rough, limits), settings, treatments)
        better = _leading_covariance(tuned, members, data)
        tuned, members = _fit_targets(grams, data.censor(better, limits), settings, treatments)
    return Committee(tuple(tuned), calibrate(members, tuned, known), transform, values, extra_noise, limits)


def _fit_targets(
    grams: Sequence[Gram], data: Targets, settings: Settings, treatments: Treatments
) -> tuple[Sequence[Gram], tuple[Member, ...]]:
    """The similarities with what is learnt, and the members that are elected."""
    tuned, learnt = _learn_all(_with_spread(grams, data.values), data, settings)
    candidates = [
        one
        for mix, ratios, log_prior in mixes(tuned, learnt, data, settings)
        for spectrum in settings.spectra
        for one in _candidates(tuned, mix, ratios, log_prior, spectrum, data, treatments)
    ]
    if not all(one.treatment.definite for one in candidates):
        # One criterion for all: the marginal likelihood and the leave-one-out density differ by tens of nats.
        candidates = [replace(one, evidence=_leave_one_out(one, data)) for one in candidates]
    return tuned, elect(candidates, data)


def _leading_covariance(grams: Sequence[Gram], members: Sequence[Member], data: Targets) -> Matrix:
    """The covariance of measured values, before anything is known, by the member with the most votes."""
    first = max(members, key=lambda member: member.weight)
    return prior_covariance(mix_scores(grams, first.mix), first.regression.amplitude, first.ratio, data.extra)


def suitable_transform(
    grams: Sequence[Gram], values: Vector, settings: Settings = DEFAULT, limits: Vector | None = None
) -> type[Transform]:
    """The kind of scale that these values are modelled on, judged before anything is learnt."""
    if not settings.rescale:
        return Standardised
    some = anchors(values, limits)
    if not any(gram.similarity.branched for gram in grams):
        return choose_transform([(one + settings.offset)[np.ix_(some, some)] for one in _views(grams)], values[some])
    few = [gram.part(np.flatnonzero(some)) for gram in grams]
    return choose_transform(lambda z: [one + settings.offset for one in _views(_with_spread(few, z))], values[some])


def _with_spread(grams: Sequence[Gram], values: Vector) -> list[Gram]:
    """The same with how much branches vary, where there are any, read off values on the model's scale."""
    return [gram.retune(gram.similarity.with_spread(gram.encodings, values)) for gram in grams]


def rough_scores(grams: Sequence[Gram]) -> Matrix:
    """The mean of all similarities, before anything is learnt."""
    return _views(grams)[-1]


def _views(grams: Sequence[Gram]) -> list[Matrix]:
    """The scores of each similarity alone, where there are several, and last the mean of all."""
    each = [scale * gram.scores for scale, gram in zip(_scales(grams), grams, strict=True)]
    return [*each, np.asarray(np.mean(each, axis=0))] if len(each) > 1 else each


def recondition(
    committee: Committee,
    grams: Sequence[Gram],
    values: Vector,
    extra_noise: Vector | None = None,
    limits: Vector | None = None,
    treatments: Treatments | None = None,
) -> Committee:
    """The same members on further observations: mixes, noises, amplitudes and votes stay, nothing is learnt."""
    bare = Committee(tuple(grams), committee.members, committee.transform, values, extra_noise, limits)
    data, treatments = targets_of(bare), Treatments() if treatments is None else treatments
    members = []
    for member in committee.members:
        psd = member.mix.psd([gram.similarity for gram in grams])
        treatment = treatments.of(grams, member.mix, member.regression.treatment.kind, psd=psd)
        regression = _regress(treatment, psd, member.ratio, member.regression.amplitude, data)
        regression = replace(regression, inflation=member.regression.inflation)
        members.append(replace(member, regression=regression, pending=None))
    return replace(bare, members=tuple(members))


def targets_of(committee: Committee) -> Targets:
    """What a committee is conditioned on, on the model's scale, with sites in the place of limits."""
    data, limits = Targets.of(committee.values, committee.extra_noise, committee.transform), committee.limits
    if limits is None:
        return data
    return data.censor(_leading_covariance(committee.grams, committee.members, data), limits)


def vote(committee: Committee) -> Vector:
    """The members' shares of the votes by the evidence of the values that they are conditioned on.

    >>> import likewise as lw
    >>> x = [[v] for v in np.linspace(0.0, 1.0, 9)]
    >>> found = fit([Gram.of(lw.Matern(0.2), x)], np.sin(5.0 * np.ravel(x)))
    >>> bool(np.allclose(vote(found), found.weights))
    True
    """
    regressions = [member.regression for member in committee.members]
    definite = all(regression.treatment.definite for regression in regressions)
    judge = regression_evidence if definite else leave_one_out_density
    logs = np.array([judge(member.regression) + member.log_prior for member in committee.members])
    votes = np.exp(logs - logs.max())
    return np.asarray(votes / votes.sum())


def _regress(treatment: Treatment, psd: bool, ratio: float, amplitude: float, data: Targets) -> Regression:
    return regress(treatment, data.values, amplitude * ratio + data.extra, amplitude, psd=psd)


def _learn_all(grams: Sequence[Gram], data: Targets, settings: Settings) -> tuple[list[Gram], dict[int, Learnt]]:
    """The similarities with their parameters learnt, where they have any."""
    tuned, learnt = list(grams), dict[int, Learnt]()
    if not settings.learn or len(data.values) < LEARN_FROM:
        return tuned, learnt
    for k, gram in enumerate(grams):
        if not gram.similarity.parameters(gram.encodings):
            continue
        learnt[k] = learn(gram.similarity, gram.encodings, data.values, data.extra, offset=settings.offset)
        tuned[k] = gram.retune(learnt[k].similarity)
    return tuned, learnt


def _replicate_ratio(objects: Sequence[Any], values: Vector, known: Mask) -> tuple[float, ...]:
    """The noise that repeated measurements of one object show, as one more candidate; values have spread one."""
    groups = (group[known[group]] for group in same_objects(objects))
    repeated = [values[group] for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in repeated)
    if freedom < REPLICATES_FROM:
        return ()
    pooled = sum(float(np.sum((group - group.mean()) ** 2)) for group in repeated) / freedom
    return (float(np.clip(pooled, 1e-6, 10.0)),)


def _scales(grams: Sequence[Gram]) -> list[float]:
    """What brings each similarity to a mean score of one of an object with itself; 1 where no object is like itself."""
    means = [float(np.mean(np.diag(gram.scores))) if len(gram) else 1.0 for gram in grams]
    return [1.0 if abs(mean - 1.0) < 1e-9 or mean < LEAST_SELF else 1.0 / mean for mean in means]


def mixes(
    grams: Sequence[Gram], learnt: Mapping[int, Learnt], data: Targets, settings: Settings
) -> Iterator[tuple[Mix, tuple[float, ...], float]]:
    """Mixes that stand, with their noise ratios and log prior."""
    scale = _scales(grams)

    def warps(weights: Vector, log_prior: float = 0.0) -> Iterator[tuple[Mix, tuple[float, ...], float]]:
        used = np.flatnonzero(weights).tolist()
        paid = log_prior - OCCAM * sum(learnt[k].size for k in used if k in learnt)
        powers = (1.0,) if any(grams[k].similarity.signed for k in used) else settings.warps
        for power, prior in zip(powers, warp_priors(powers), strict=True):
            yield Mix(tuple(float(w) for w in weights), power, settings.offset), settings.ratios, paid + prior

    unit = np.diag(scale)
    for k in range(len(grams)):
        if k in learnt:
            yield Mix(tuple(unit[k].tolist()), 1.0, settings.offset), (learnt[k].ratio,), -OCCAM * learnt[k].size
        else:
            yield from warps(unit[k])
    if not settings.mixes or len(grams) < 2:
        return
    for i, j in combinations(range(len(grams)), 2):
        yield from warps(0.5 * (unit[i] + unit[j]))
    if len(grams) > 2:
        yield from warps(unit.mean(axis=0))
    if len(grams) > 2 and len(data.values) >= MIX_FROM:
        shares = learn_mix(
            [s * gram.scores for s, gram in zip(scale, grams, strict=True)], data.values, data.extra, settings.offset
        )
        yield from warps(shares @ unit, -OCCAM * (len(grams) - 1))


def _candidates(
    grams: Sequence[Gram],
    mix: Mix,
    ratios: Sequence[float],
    log_prior: float,
    spectrum: Spectrum,
    data: Targets,
    treatments: Treatments,
) -> Iterator[_Candidate]:
    """One candidate for each noise; they share the treated matrix."""
    psd = mix.psd([gram.similarity for gram in grams])
    treatment = treatments.of(grams, mix, spectrum, psd=psd)
    for ratio, evidence in zip(ratios, evidences(treatment, ratios, *data), strict=True):
        # Heavy tails: an objective without noise is not implausible, it is common.
        prior = -np.log1p(((np.log(ratio) - NOISE_PRIOR.location) / NOISE_PRIOR.scale) ** 2)
        yield _Candidate(mix, psd, treatment, ratio, log_prior + prior, evidence)


def _leave_one_out(one: _Candidate, data: Targets) -> Evidence:
    return Evidence(leave_one_out_density(one.regression(data)), one.evidence.amplitude)


def elect(candidates: Sequence[Candidate], data: Targets) -> tuple[Member, ...]:
    """The members with at least 2 % of the votes, out of the strongest candidates."""
    logs = np.array([one.evidence.log + one.log_prior for one in candidates])
    strongest = np.argsort(-logs, kind="stable")[:MOST_MEMBERS]
    votes = np.exp(logs[strongest] - logs[strongest[0]])
    votes /= votes.sum()
    kept = votes >= LEAST_SHARE
    shares = votes[kept] / votes[kept].sum()
    # In the order of the candidates, so that members with one matrix stand together and share their work.
    order = np.argsort(strongest[kept])
    elected = [candidates[i] for i in strongest[kept][order]]
    many = Counter(one.mix for one in elected)
    return tuple(
        Member(one.mix, one.regression(data, many[one.mix]), share, one.ratio, one.log_prior)
        for one, share in zip(elected, shares[order].tolist(), strict=True)
    )
