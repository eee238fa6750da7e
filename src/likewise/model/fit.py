"""How a committee is fitted: parameters are learnt, members stand for election, evidence weighs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.model.censoring import Mask, anchors, exact, prior_covariance, rough_covariance, sites
from likewise.model.choose_transform import choose_transform
from likewise.model.committee import Committee, Member
from likewise.model.evidence import (
    NOISE_PRIOR,
    Evidence,
    cholesky,
    evidences,
    leave_one_out_density,
    marginal_likelihood,
    regression_evidence,
    warp_priors,
)
from likewise.model.regression import Regression, regress
from likewise.model.scores import Gram, Groups, Treatments, mix_scores, same_objects
from likewise.model.solvers import add_diagonal, inverse
from likewise.model.spectrum import Spectrum, Treatment, treat
from likewise.model.transforms import Standardised, Transform
from likewise.similarity.algebra import Mix
from likewise.similarity.base import Matrix, Parameter, Similarity, Vector
from likewise.similarity.encoding import Encoding, plain
from likewise.similarity.records import Parts

# How far a member's errors are from what it says, where its scores are no kernel.
#
# Under a spectrum treatment the closed form of leaving out keeps the treated matrix, which has seen what is left out.
# So a tenth of the objects at a time is left out, with all their replicates, the treatment is made anew from the
# others, and with
#
#     z_i = (y_i − μ(x_i)) / √(V(x_i) + σ²)      the variances are inflated by      (ν + t s²) / (ν + t),
#
# s² the size of the z_i² and ν observations' worth of belief that they were right. One error alone does not say how
# large all are: s is the most likely scale of the z_i under Student's t, brought to 1 for normal ones. A PSD similarity
# has nothing to be made anew.

Index = NDArray[np.intp]

FOLDS = 10
STRENGTH = 4.0
LEAST = 4
# Degrees of freedom of the errors, and rounds in which their scale settles.
FREEDOM, ROUNDS = 8.0, 50


@dataclass(frozen=True, eq=False)
class Fold:
    """What is left out, what is kept, the treatment of what is kept, and the scores of the others with it."""

    out: Index
    kept: Index
    treatment: Treatment
    rows: Matrix
    selves: Vector

    @classmethod
    def of(cls, scores: Matrix, out: Index, kind: Spectrum, doubt: float = 0.0) -> Fold:
        """The treatment made anew without some of the objects of a matrix of scores."""
        rest = np.delete(np.arange(len(scores)), out)
        treatment = treat(scores[np.ix_(rest, rest)], kind, doubt=doubt)
        return cls(out, rest, treatment, scores[np.ix_(out, rest)], scores[out, out])

    def predict(self, regression: Regression) -> tuple[Vector, Vector]:
        """Mean and variance without noise of what is left out, from what is kept."""
        regression_of_rest = regress(
            self.treatment,
            regression.values[self.kept],
            regression.noise[self.kept],
            regression.amplitude,
            regression.prior_mean,
        )
        regression_of_rest = replace(regression_of_rest, inflation=regression.inflation)
        return regression_of_rest.mean(self.rows), regression_of_rest.variance(self.rows, self.selves)


def calibrate(members: Sequence[Member], grams: Sequence[Gram], known: NDArray[np.bool_]) -> tuple[Member, ...]:
    """The members with their variances as large as errors in folds ask for; `known` values are no limits."""
    found, values = list(members), members[0].regression.values
    if len(values) < LEAST or all(member.regression.psd for member in members):
        return tuple(found)
    for i, made in refit(members, grams, folds(values, same_objects(grams[0].objects))):
        regression = members[i].regression
        found[i] = replace(members[i], regression=replace(regression, inflation=_inflation(regression, made, known)))
    return tuple(found)


def folds(values: Vector, groups: Groups) -> list[Index]:
    """The observations by tenths of the objects; those of one object stay together.

    By rank, so that every fold has large and small values, whatever the order of the observations.

    >>> folds(np.array([3.0, 1.0, 3.0]), [np.array([0, 2]), np.array([1])])
    [array([1]), array([0, 2])]
    """
    order = np.argsort([float(np.mean(values[group])) for group in groups], kind="stable").tolist()
    number = min(FOLDS, len(groups))
    return [np.sort(np.concatenate([groups[i] for i in order[k::number]])) for k in range(number)]


def refit(members: Sequence[Member], grams: Sequence[Gram], outs: Sequence[Index]) -> Iterator[tuple[int, list[Fold]]]:
    """The place of each member whose scores are no kernel, and its folds treated anew; one mix, one treatment."""
    folds_by_solution: dict[object, list[Fold]] = {}
    for i, member in enumerate(members):
        if member.regression.psd:
            continue
        key = member.mix, member.regression.treatment.kind
        if key not in folds_by_solution:
            scores = np.asarray(member.mix.scores([gram.scores for gram in grams]))
            doubt = member.regression.treatment.doubt
            folds_by_solution[key] = [Fold.of(scores, out, key[1], doubt) for out in outs if len(out) < len(scores)]
        yield i, folds_by_solution[key]


def _inflation(regression: Regression, made: Sequence[Fold], known: NDArray[np.bool_]) -> float:
    # One object alone, however often it was measured, leaves no fold.
    squares = [np.zeros(0)]
    for fold in made:
        mean, variance = fold.predict(regression)
        found = (regression.values[fold.out] - mean) ** 2 / (variance + regression.noise[fold.out])
        squares.append(found[known[fold.out]])
    errors = np.concatenate(squares)
    t = len(errors)
    return (STRENGTH + t * squared_scale(errors)) / (STRENGTH + t) if t else 1.0


def squared_scale(squares: Vector) -> float:
    """The most likely s² of errors with these squares, z/s of Student's t; about 1 for standard normal ones.

    >>> squares = np.linspace(0.1, 2.0, 19)
    >>> [round(squared_scale(each), 1) for each in (squares, np.append(squares, 1e6))]
    [1.2, 2.3]
    """
    scale = 1.0
    for _ in range(ROUNDS):
        before, scale = scale, float(np.mean((FREEDOM + 1.0) * squares / (FREEDOM + squares / max(scale, 1e-12))))
        if scale == before:
            break
    return scale / NORMAL


def _normal_scale() -> float:
    """What the same comes to for a standard normal variable."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    squares, scale = nodes**2, 1.0
    for _ in range(ROUNDS):
        scale = float(np.average((FREEDOM + 1.0) * squares / (FREEDOM + squares / scale), weights=weights))
    return scale


NORMAL = _normal_scale()


# Parameters of a similarity (lengthscales, weights) and the noise, learnt by maximum a-posteriori marginal likelihood.
#
# With W = ½(ααᵀ/â − M⁻¹), α = M⁻¹y, the gradient of the log evidence in any log-parameter θ of S is
# Σ_ij W_ij ∂S_ij/∂log θ, one pullback through the similarity, whatever it is built from.

NOISE_BOUNDS = (1e-6, 10.0)
SPAN = 8.0


@dataclass(frozen=True)
class Learnt:
    """A similarity with its parameters learnt, the noise as a share of the amplitude, and the log posterior reached.

    `size` is how many numbers were learnt, without the noise.
    """

    similarity: Similarity
    ratio: float
    log_posterior: float
    size: int


@dataclass(frozen=True, eq=False)
class Tabulated(Similarity):
    """The scores of known objects, computed once: stands for a similarity that has nothing to learn."""

    scores: Matrix
    known_psd: bool = False
    known_divisible: bool = False

    @property
    def psd(self) -> bool:
        return self.known_psd

    @property
    def divisible(self) -> bool:
        return self.known_divisible

    def encode(self, objects: Sequence[Any]) -> Encoding:
        raise SimilarityError("tabulated scores know their own objects only; encode with the similarity itself")

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return self.scores

    def within(self, a: Encoding) -> Vector:
        return np.diag(self.scores)


def tabulate(similarity: Similarity, a: Encoding) -> Similarity:
    """The similarity with every part that has no parameters replaced by its scores for these objects."""
    if not similarity.parameters(a):
        return Tabulated(similarity.between(a, a), similarity.psd, similarity.divisible)
    if not similarity.parts:
        return similarity
    inside = [(part, similarity.part_encoding(a, i)) for i, part in enumerate(similarity.parts)]
    # A branch without objects has no scores.
    return similarity.rebuilt([part if encoding is None else tabulate(part, encoding) for part, encoding in inside])


def learn(
    similarity: Similarity,
    encodings: Encoding,
    values: Vector,
    extra_noise: Vector | None = None,
    *,
    offset: float = 0.0,
    iterations: int = 60,
) -> Learnt:
    """The most plausible parameters of `similarity` for standardised values.

    `extra_noise` holds known measurement variances as shares of the amplitude; `offset` is added to all scores, so that
    the mean is learnt as well. The ascent starts from the similarity as it is, not from an earlier answer: those drift
    into ever more extreme corners of a likelihood with many peaks, and the search then trusts them too much.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> x = np.linspace(0, 1, 12)[:, None]
    >>> found = learn(RBF(), x, np.sin(6 * x[:, 0]))
    >>> bool(0.05 < found.similarity.lengthscale[0] < 1.0)
    True
    """
    from scipy.optimize import minimize

    extra = np.zeros(len(values)) if extra_noise is None else extra_noise
    # Once for all steps of the ascent.
    encodings = plain(encodings)
    parameters = similarity.parameters(encodings)
    objective = _objective(tabulate(similarity, encodings), parameters, encodings, values, extra, offset)
    begin = np.log(np.concatenate([*(p.value for p in parameters.values()), [NOISE_PRIOR.mode]]))
    bounds = [(p.prior.location - SPAN, p.prior.location + SPAN) for p in parameters.values() for _ in p.value]
    bounds.append((np.log(NOISE_BOUNDS[0]), np.log(NOISE_BOUNDS[1])))
    result = minimize(
        objective,
        np.clip(begin, *np.transpose(bounds)),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": iterations, "ftol": 1e-7},
    )
    tuned = similarity.with_parameters(_split(parameters, np.exp(result.x[:-1])))
    return Learnt(tuned, float(np.exp(result.x[-1])), float(-result.fun), len(begin) - 1)


def learn_mix(scores: Sequence[Matrix], values: Vector, extra_noise: Vector, offset: float = 0.0) -> Vector:
    """Non-negative weights, summing to one, of the mix Σ_k w_k S_k that explains the values best."""
    mix = Parts("sum", None, **{str(k): Tabulated(s) for k, s in enumerate(scores)})
    learnt = learn(mix, tuple(scores), values, extra_noise, offset=offset, iterations=30).similarity
    assert isinstance(learnt, Parts)
    return learnt.weights / learnt.weights.sum()


def _split(parameters: Mapping[str, Parameter], flat: Vector) -> dict[str, Vector]:
    sizes = [len(p.value) for p in parameters.values()]
    return dict(zip(parameters, np.split(flat, np.cumsum(sizes)[:-1]), strict=True)) if parameters else {}


def _objective(
    similarity: Similarity,
    parameters: Mapping[str, Parameter],
    encodings: Encoding,
    values: Vector,
    extra: Vector,
    offset: float = 0.0,
) -> Callable[[Vector], tuple[float, Vector]]:
    """The negative log posterior and its gradient in the log-parameters, the log noise ratio last."""

    def objective(logs: Vector) -> tuple[float, Vector]:
        split = _split(parameters, np.exp(logs[:-1]))
        ratio = np.exp(logs[-1:])
        current = similarity.with_parameters(split)
        scores, pull = current.sensitivity(encodings)
        log, weights = _evidence(scores + offset, values, float(ratio[0]) + extra, current.psd or current.divisible)
        prior = sum(parameters[name].prior.log_density(value) for name, value in split.items())
        slopes = pull(weights.on_scores)
        gradient = [slopes[name] + parameters[name].prior.log_slope(split[name]) for name in parameters]
        gradient.append(ratio * weights.trace + NOISE_PRIOR.log_slope(ratio))
        return -(log + prior + NOISE_PRIOR.log_density(ratio)), -np.concatenate(gradient)

    return objective


class _Weights(NamedTuple):
    """Derivative of the log evidence in the entries of S, and in a constant added to the diagonal of M."""

    on_scores: Matrix
    trace: float


def _evidence(scores: Matrix, values: Vector, ratio: Vector, psd: bool) -> tuple[float, _Weights]:
    """Log evidence of clipped scores, and its derivatives."""
    t = len(values)
    eigen = None if psd else np.linalg.eigh(scores)
    treated = scores if eigen is None else (eigen[1] * np.maximum(eigen[0], 0.0)) @ eigen[1].T
    factor = cholesky(add_diagonal(treated, ratio))
    inverted = inverse(factor)
    alpha = inverted @ values
    evidence = marginal_likelihood(float(values @ alpha), 2.0 * float(np.sum(np.log(np.diag(factor)))), t)
    weights = np.multiply.outer(alpha, alpha / (2.0 * evidence.amplitude))
    weights -= np.multiply(inverted, 0.5, out=inverted)
    through = weights if eigen is None else _through_clip(weights, *eigen)
    return evidence.log, _Weights(through, float(np.trace(weights)))


def _through_clip(weights: Matrix, levels: Vector, basis: Matrix) -> Matrix:
    """Derivatives in the entries of S from those in the entries of UΛ₊Uᵀ (Daleckii–Krein: divided differences)."""
    gap = np.subtract.outer(levels, levels)
    clipped = np.maximum(levels, 0.0)
    equal = np.abs(gap) < 1e-12 * max(float(np.abs(levels).max()), 1e-300)
    ratio = np.subtract.outer(clipped, clipped) / np.where(equal, 1.0, gap)
    ratio = np.where(equal, (levels > 0)[:, None].astype(float), ratio)
    return basis @ (ratio * (basis.T @ weights @ basis)) @ basis.T


# How a committee is fitted: which members stand, how evidence weighs them, and who is left out for the round.
#
# Members are mixes (each similarity alone, pairs, all to equal parts, learnt weights) × warps × noises. The
# tridiagonal form of a mix is shared by all its noises, and the amplitude has a closed form, so a member costs O(t).

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
class FitSettings:
    """What stands for election, and between which of the user's values all lie."""

    warps: tuple[float, ...] = WARPS
    ratios: tuple[float, ...] = RATIOS
    spectra: tuple[Spectrum, ...] = ("krein",)
    mixes: bool = True
    learn: bool = True
    offset: float = OFFSET
    rescale: bool = True
    bounds: tuple[float, float] = (-np.inf, np.inf)


DEFAULT = FitSettings()


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
        values, variances, _ = sites(covariance, self.values, limits)
        return Targets(values, self.extra + variances)


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
    settings: FitSettings = DEFAULT,
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
    grams: Sequence[Gram], data: Targets, settings: FitSettings, treatments: Treatments
) -> tuple[Sequence[Gram], tuple[Member, ...]]:
    """The similarities with what is learnt, and the members that are elected."""
    tuned, learnt = _learn_all(_with_spread(grams, data.values), data, settings)
    candidates = [
        candidate
        for mix, ratios, log_prior in mixes(tuned, learnt, data, settings)
        for spectrum in settings.spectra
        for candidate in _candidates(tuned, mix, ratios, log_prior, spectrum, data, treatments)
    ]
    if not all(candidate.treatment.definite for candidate in candidates):
        # One criterion for all: the marginal likelihood and the leave-one-out density differ by tens of nats.
        candidates = [replace(candidate, evidence=_leave_one_out(candidate, data)) for candidate in candidates]
    return tuned, elect(candidates, data)


def _leading_covariance(grams: Sequence[Gram], members: Sequence[Member], data: Targets) -> Matrix:
    """The covariance of measured values, before anything is known, by the member with the most votes."""
    first = max(members, key=lambda member: member.weight)
    return prior_covariance(mix_scores(grams, first.mix), first.regression.amplitude, first.ratio, data.extra)


def suitable_transform(
    grams: Sequence[Gram], values: Vector, settings: FitSettings = DEFAULT, limits: Vector | None = None
) -> type[Transform]:
    """The kind of scale that these values are modelled on, judged before anything is learnt."""
    if not settings.rescale:
        return Standardised
    places = anchors(values, limits)
    if not any(gram.similarity.branched for gram in grams):
        return choose_transform(
            [(view + settings.offset)[np.ix_(places, places)] for view in _views(grams)], values[places]
        )
    parts = [gram.part(np.flatnonzero(places)) for gram in grams]
    return choose_transform(
        lambda z: [view + settings.offset for view in _views(_with_spread(parts, z))], values[places]
    )


def _with_spread(grams: Sequence[Gram], values: Vector) -> list[Gram]:
    """The same with how much branches vary, where there are any, read off values on the model's scale."""
    return [gram.retune(gram.similarity.with_spread(gram.encodings, values)) for gram in grams]


def rough_scores(grams: Sequence[Gram]) -> Matrix:
    """The mean of all similarities, before anything is learnt."""
    return _views(grams)[-1]


def _views(grams: Sequence[Gram]) -> list[Matrix]:
    """The scores of each similarity alone, where there are several, and last the mean of all."""
    scaled = [scale * gram.scores for scale, gram in zip(_scales(grams), grams, strict=True)]
    return [*scaled, np.asarray(np.mean(scaled, axis=0))] if len(scaled) > 1 else scaled


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


def _learn_all(grams: Sequence[Gram], data: Targets, settings: FitSettings) -> tuple[list[Gram], dict[int, Learnt]]:
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
    grams: Sequence[Gram], learnt: Mapping[int, Learnt], data: Targets, settings: FitSettings
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
    logs = np.array([candidate.evidence.log + candidate.log_prior for candidate in candidates])
    strongest = np.argsort(-logs, kind="stable")[:MOST_MEMBERS]
    votes = np.exp(logs[strongest] - logs[strongest[0]])
    votes /= votes.sum()
    kept = votes >= LEAST_SHARE
    shares = votes[kept] / votes[kept].sum()
    # In the order of the candidates, so that members with one matrix stand together and share their work.
    order = np.argsort(strongest[kept])
    elected = [candidates[i] for i in strongest[kept][order]]
    many = Counter(candidate.mix for candidate in elected)
    return tuple(
        Member(
            candidate.mix, candidate.regression(data, many[candidate.mix]), share, candidate.ratio, candidate.log_prior
        )
        for candidate, share in zip(elected, shares[order].tolist(), strict=True)
    )
