"""Several similarities, warps and noises, weighted by evidence. One model is a committee of one.

Each similarity has one Gram matrix; a member mixes their scores and holds a regression on the result. Predictions are
the weighted mixture of the members; an acquisition is averaged over them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.figures.markup import html_table
from likewise.model.censoring import Mask, anchors, exact
from likewise.model.evidence import AMPLITUDE_STRENGTH, misfit_share
from likewise.model.prediction import Mixture, Moments, Prediction
from likewise.model.regression import Pending, PendingPanel, Regression, known_values, panels
from likewise.model.scores import Gram, ObjectScores, Slope
from likewise.model.spectrum import Treatment
from likewise.model.transforms import Transform, root_mean_square
from likewise.similarity.algebra import Mix
from likewise.similarity.base import Matrix, Similarity, Vector, is_differentiable
from likewise.similarity.encoding import Encoding
from likewise.tables.cells import shorten

# Scores that differ by so small a share are the same.
SAME = 1e-10

Scores = Mapping[int, Matrix]
Selves = Mapping[int, Vector]

# How many similarities a committee names when it is shown.
SHOWN = 6

# How many ranges of the values a mean may lie outside of them, where scores are no kernel.
REACH = 2.0

CommitteePullback = Callable[[Matrix, Matrix], list[Slope]]


@dataclass(frozen=True, eq=False)
class Member:
    """One model of the committee, and its share of the votes; `log_prior` is what it had before any evidence."""

    mix: Mix
    regression: Regression
    weight: float
    ratio: float
    log_prior: float = 0.0
    # The factor of observed objects whose true values are taken as known, and with it what is about to be.
    settled: Matrix | None = None
    pending: Pending | None = None

    def __repr__(self) -> str:
        return f"Member(weight={self.weight:.4g}, {self.mix!r}, {len(self.regression)} observations)"

    def lean(self, treatment: Treatment) -> Member:
        """The same member without matrices of scores: its treatment is a lean one."""
        bare = replace(self.regression, treatment=treatment)
        pending = None if self.pending is None else replace(self.pending, regression=bare)
        return replace(self, regression=bare, pending=pending)


@dataclass(frozen=True, eq=False)
class Committee:
    """Members over shared similarities, on one transform of the values.

    `values` and `extra_noise`, known variances of the measurements, are those it is conditioned on, on the user's
    scale; `limits` says which of the values are limits, and on which side (`censoring`), None where none is. `waiting`
    has, for each used similarity, the observed objects followed by those in flight, if any are.
    """

    grams: tuple[Gram, ...]
    members: tuple[Member, ...]
    transform: Transform
    values: Vector = field(default_factory=lambda: np.zeros(0))
    extra_noise: Vector | None = None
    limits: Vector | None = None
    waiting: Mapping[int, Gram] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.grams[0])

    def __repr__(self) -> str:
        shares = zip(self.similarities, self.similarity_weights().tolist(), strict=True)
        ranked = sorted(((share, s.name) for s, share in shares), reverse=True)[:SHOWN]
        weighed = ", ".join(f"{shorten(name, 60)} {share:.0%}".replace("%", " %") for share, name in ranked)
        s = "" if len(self.members) == 1 else "s"
        return f"Committee({len(self.members)} member{s}, {len(self)} observations: {weighed})"

    def _repr_html_(self) -> str:
        shares = zip(self.similarities, self.similarity_weights().tolist(), strict=True)
        ranked = sorted(((share, s.name) for s, share in shares), reverse=True)
        rows = [(shorten(name, 60), f"{100 * share:.0f} %") for share, name in ranked]
        return html_table(f"{len(self.members)} members, {len(self)} observations", ["similarity", "weight"], rows)

    @property
    def similarities(self) -> tuple[Similarity, ...]:
        """What objects are compared by."""
        return tuple(gram.similarity for gram in self.grams)

    @property
    def objects(self) -> tuple[Any, ...]:
        """The observed objects."""
        return self.grams[0].objects

    @property
    def known(self) -> Mask:
        """Which of the values are measured, and no limits."""
        return exact(self.values, self.limits)

    @property
    def targets(self) -> Vector:
        """The observed values on the model's scale; in the place of a limit what it comes to."""
        return self.members[0].regression.values

    @property
    def weights(self) -> Vector:
        """Each member's share of the votes."""
        return np.array([member.weight for member in self.members])

    @property
    def used(self) -> tuple[int, ...]:
        """The similarities that some member uses."""
        return tuple(sorted({k for member in self.members for k in member.mix.used}))

    @property
    def differentiable(self) -> bool:
        """Whether every similarity in use has derivatives in the objects."""
        return all(is_differentiable(self.grams[k].similarity) for k in self.used)

    def similarity_weights(self) -> Vector:
        """How much each similarity counts: members' votes shared among the similarities of their mix."""
        shares = np.zeros(len(self.grams))
        for member in self.members:
            mix = np.array(member.mix.weights)
            shares += member.weight * mix / mix.sum()
        return shares

    def encode(self, objects: Sequence[Any]) -> dict[int, Encoding]:
        """Each used similarity's encoding of these objects."""
        return ObjectScores(objects).encodings({k: self.grams[k] for k in self.used})

    def rows(self, encodings: Mapping[int, Encoding], objects: Sequence[Any] | None = None) -> dict[int, Matrix]:
        """Each used similarity's scores with the observed objects, then with the pending ones.

        `objects`, where they are at hand, name a score that is refused.
        """
        grams = {k: self.waiting.get(k, self.grams[k]) for k in encodings}
        return {k: grams[k].rows(encoding, objects=objects) for k, encoding in encodings.items()}

    def selves(self, encodings: Mapping[int, Encoding], objects: Sequence[Any] | None = None) -> dict[int, Vector]:
        """Each used similarity's scores of the objects with themselves."""
        return {k: self.grams[k].selves(encoding, objects) for k, encoding in encodings.items()}

    def compare(self, comparison: ObjectScores) -> tuple[dict[int, Matrix], dict[int, Vector]]:
        """What `rows` and `selves` say of these objects, of which other committees may have asked before."""
        rows = {k: comparison.rows(k, self.waiting.get(k, self.grams[k])) for k in self.used}
        return rows, {k: comparison.selves(k, self.grams[k]) for k in self.used}

    def moments(self, rows: Scores, selves: Selves) -> tuple[Matrix, Matrix]:
        """Means and variances on the model's scale, one row per member; members of one mix share their work."""
        n = len(next(iter(selves.values())))
        means, variances = np.empty((2, len(self.members), n))
        mixed, own = self.mix_scores(rows), self.mix_scores(selves)
        for mix, places, panel in self._panels:
            means[places], variances[places] = panel.moments(mixed[mix][:, : len(self)], own[mix])
        return np.clip(means, *self._reaches), self.lower(variances, mixed)

    def mix_scores(self, rows: Mapping[int, Any]) -> dict[Mix, Any]:
        """The scores of each mix of the members."""
        return {mix: mix.scores(rows) for mix in dict.fromkeys(mix for mix, _, _ in self._panels)}

    def lower(self, variances: Matrix, mixed: Mapping[Mix, Matrix]) -> Matrix:
        """Variances, one row per member, given what is pending, from those before and the scores of each mix."""
        if all(member.pending is None for member in self.members):
            return variances
        return np.concatenate([panel.lower(variances[places], mixed[mix]) for mix, places, panel in self._panels])

    def linearise(self, comparison: ObjectScores) -> tuple[Matrix, Matrix, CommitteePullback]:
        """Means and variances of the objects as `moments` gives them, and one step of the chain rule through them.

        The step takes ∂u/∂μ and ∂u/∂V of each member to derivatives in the scores (`pull_all` takes these to ∇u).
        """
        linearised = {k: comparison.linearise(k, self.waiting.get(k, self.grams[k])) for k in self.used}
        rows, selves = ({k: getattr(one, name) for k, one in linearised.items()} for name in ("rows", "selves"))
        mixed, own = self.mix_scores(rows), self.mix_scores(selves)
        each = [panel.linearise(mixed[mix], own[mix]) for mix, _, panel in self._panels]
        raw = np.concatenate([mean for mean, _, _ in each])
        means = np.clip(raw, *self._reaches)

        def pull(in_mean: Matrix, in_variance: Matrix) -> list[Slope]:
            in_mean = np.where(means == raw, in_mean, 0.0)
            on_rows: dict[int, Any] = {}
            on_selves: dict[int, Any] = {}
            for (mix, places, _), (_, _, pull_panel) in zip(self._panels, each, strict=True):
                on_row, on_self = pull_panel(in_mean[places], in_variance[places])
                _add(on_rows, mix.pull(rows, on_row))
                _add(on_selves, mix.pull(selves, on_self))
            return [Slope(linearised[k], on_rows[k], on_selves[k]) for k in on_rows]

        return means, np.concatenate([variance for _, variance, _ in each]), pull

    def reach(self, regression: Regression) -> tuple[float, float]:
        """How far a member's means may lie from the values, on the model's scale.

        Where scores are no kernel, a new object may be a thousand times as like itself as the observed ones are, and
        powers of scores make more of it; what a member says of it beyond some ranges of the values is no belief.
        """
        # As the paper prints them, means may be anything.
        return (-np.inf, np.inf) if regression.psd or not regression.treatment.definite else self._ends

    @cached_property
    def _ends(self) -> tuple[float, float]:
        if not len(self.values):
            return -np.inf, np.inf
        some = self.values[anchors(self.values, self.limits)]
        low, high = float(np.min(some)), float(np.max(some))
        beyond = REACH * (high - low)
        ends = np.asarray(self.transform.forward(np.array([low - beyond, high + beyond])), dtype=float)
        # Values that are all the same have no range, but a scale.
        return (float(ends[0]), float(ends[1])) if beyond > 0 else (-REACH, REACH)

    @cached_property
    def _reaches(self) -> tuple[Matrix, Matrix]:
        """The reach of each member, one row each."""
        low, high = zip(*(self.reach(member.regression) for member in self.members), strict=True)
        return np.array(low)[:, None], np.array(high)[:, None]

    @cached_property
    def _panels(self) -> list[tuple[Mix, slice, PendingPanel]]:
        """The members of each mix and treatment, which stand together, and their places."""
        return panels([(m.mix, m.regression, m.pending) for m in self.members])

    def mixture(self, means: Matrix, variances: Matrix) -> Moments:
        """Mean and standard deviation of the mixture of the members: Σ w (s² + (c − m)²), which cancels nothing."""
        mean = self.weights @ means
        return Moments(mean, np.sqrt(self.weights @ (variances + (means - mean) ** 2)))

    def on_users_scale(self, means: Matrix, variances: Matrix, *, measurement: bool = False) -> Prediction:
        """The mixture's distribution on the user's scale, of true values or of measurements.

        What a member takes for noise may as well be what it cannot explain, which belongs to the object. Without
        repeated measurements nobody can tell: each of the two has a share of the belief (`misfit`).
        """
        noises = np.array([m.ratio * m.regression.amplitude for m in self.members])[:, None]
        misfit = np.ones_like(noises) if measurement else misfit_share(noises)
        centres, spreads = self.transform.moments_away(means, np.sqrt(variances + misfit * noises))
        cases = [(misfit, noises)] if measurement else [(1.0 - misfit, 0.0 * noises), (misfit, noises)]
        parts = np.concatenate([np.sqrt(variances + noise) for _, noise in cases])
        shares = np.concatenate([share[:, 0] * self.weights for share, _ in cases])
        every = np.concatenate([means for _ in cases])
        mixture = Mixture(shares, every, parts, len(self) + AMPLITUDE_STRENGTH, self.transform)
        mean = self.weights @ centres
        away = np.concatenate([spreads, centres - mean])
        std = root_mean_square(away.T, np.concatenate([self.weights, self.weights]))
        return Prediction(np.clip(self.transform.origin + mean, *self.transform.bounds), std, mixture)

    def distribution(self, means: Matrix, variances: Matrix) -> Mixture:
        """The mixture's distribution where all noise is in the variances: that of measurements."""
        return Mixture(self.weights, means, np.sqrt(variances), len(self) + AMPLITUDE_STRENGTH, self.transform)

    def predict(self, objects: Sequence[Any], *, measurement: bool = False) -> Prediction:
        """Mean and standard deviation at each object, on the user's scale.

        With `measurement` of what would be measured there: all that members take for noise belongs to it, and where
        standard deviations of measurements are known, their median.
        """
        encodings = self.encode(objects)
        rows, selves = self.rows(encodings, objects), self.selves(encodings, objects)
        return self.predict_rows(rows, selves, measurement=measurement)

    def predict_rows(self, rows: Scores, selves: Selves, *, measurement: bool = False) -> Prediction:
        """What `predict` says of objects whose scores are at hand."""
        means, variances = self.moments(rows, selves)
        if measurement:
            return self.on_users_scale(means, variances + self._typical_noise(), measurement=True)
        return self.on_users_scale(means, variances)

    def _typical_noise(self) -> float:
        """The median of the known variances of measurements, on the model's scale; 0 where none is known."""
        if self.extra_noise is None:
            return 0.0
        noise = self.extra_noise * self.transform.slope(self.values) ** 2
        return float(np.median(noise[noise > 0])) if np.any(noise > 0) else 0.0

    def influence(self, objects: Sequence[Any]) -> Matrix:
        """Σ_m w_m I_m(x): the signed weight of each observation in the mixture's mean on the model's scale."""
        return self.explain(ObjectScores(objects))[1]

    def explain(self, comparison: ObjectScores) -> tuple[Prediction, Matrix]:
        """What `predict` and `influence` say, with the objects compared once."""
        rows, selves = self.compare(comparison)
        prediction = self.on_users_scale(*self.moments(rows, selves))
        observed = {k: row[:, : len(self)] for k, row in rows.items()}
        influences = (m.weight * m.regression.solution.influence(m.mix.scores(observed)) for m in self.members)
        return prediction, np.asarray(sum(influences))

    def with_pending(self, objects: Sequence[Any], comparison: ObjectScores | None = None) -> Committee:
        """The committee whose variances take these objects in flight into account, too; only they are compared."""
        if not len(objects):
            return self
        once = ObjectScores(objects) if comparison is None else comparison
        return replace(self, waiting={k: once.grow(k, self.waiting.get(k, self.grams[k])) for k in self.used})._await()

    def settling(self, places: Sequence[Sequence[int]]) -> Committee:
        """The committee that takes the true values of these observed objects as known, for each member its own.

        Noise leaves doubt about them. It is shared with what is like them, and none of it is hope to improve on them.
        Members to which a value, once measured, is as good as certain have no such doubt.
        """
        members = tuple(
            replace(m, settled=None if m.regression.certain() else known_values(m.regression, place))
            for m, place in zip(self.members, places, strict=True)
        )
        return replace(self, members=members)._await()

    def unsettled(self) -> Committee:
        """The committee with all the doubt that noise leaves."""
        if all(m.settled is None for m in self.members):
            return self
        return replace(self, members=tuple(replace(m, settled=None) for m in self.members))._await()

    def _await(self) -> Committee:
        """The committee whose members take account of what they take as known and of what is in flight."""
        t, scores = len(self), {k: self.waiting.get(k, self.grams[k]).scores[len(self) :] for k in self.used}
        rows, among = ({k: score[:, part] for k, score in scores.items()} for part in (slice(t), slice(t, None)))

        def pending(m: Member) -> Pending | None:
            if m.settled is None and not self.waiting:
                return None
            return Pending.on(m.regression, m.mix.scores(rows), m.mix.scores(among), m.settled)

        return replace(self, members=tuple(replace(m, pending=pending(m)) for m in self.members))

    def without_pending(self) -> Committee:
        """The committee as if nothing were in flight."""
        members = tuple(replace(m, pending=None, settled=None) for m in self.members)
        return replace(self, members=members, waiting={})

    @cached_property
    def noiseless(self) -> bool:
        """Whether most votes are of members to which a value, once measured, is as good as certain."""
        certain = (m.weight for m in self.members if m.regression.certain())
        return len(self) > 0 and sum(certain) > 0.5

    def identical(self, rows: Scores, selves: Selves) -> NDArray[np.bool_]:
        """Which objects every similarity in use calls identical to one that is observed or in flight.

        S(x, x') = S(x, x) = S(x', x') for the same x' and all similarities: then nothing tells x and x' apart.
        """
        same = np.ones((), dtype=bool)
        for k, theirs in self._known_selves.items():
            selves_k = selves[k][:, None]
            close = SAME * np.abs(selves_k)
            known = theirs[: rows[k].shape[1]]
            same = same & (np.abs(rows[k] - selves_k) <= close) & (np.abs(known - selves_k) <= close)
        return np.asarray(same.any(axis=1), dtype=bool)

    @cached_property
    def _known_selves(self) -> dict[int, Vector]:
        """Each used similarity's scores of the observed objects, and then of those in flight, with themselves."""
        grams = {k: self.waiting.get(k, self.grams[k]) for k in self.used}
        return {k: gram.selves(gram.encodings) for k, gram in grams.items()}

    def observed_means(self) -> Matrix:
        """The mean of each observed object on the model's scale, one row per member."""
        return np.array([member.regression.fitted for member in self.members])

    @cached_property
    def ceiling(self) -> float:
        """What no value is above, on the model's scale: where the upper bound of the user's values lies."""
        high = self.transform.bounds[1]
        return float(self.transform.forward(high)) if np.isfinite(high) else high

    def pending_stds(self) -> Matrix:
        """The standard deviation of each object in flight before it is about to be known, one row per member."""
        return np.array([[] if m.pending is None else m.pending.stds for m in self.members])

    def pending_means(self) -> Matrix:
        """The mean of each object in flight on the model's scale, one row per member."""
        t = len(self)
        rows = {k: gram.scores[t:, :t] for k, gram in self.waiting.items()}
        return np.clip([m.regression.mean(m.mix.scores(rows)) for m in self.members], *self._reaches)

    def lean(self) -> Committee:
        """The same committee without the matrices of scores that prediction from rows does not need."""
        # Members of one treatment stay members of one treatment.
        lean = {id(t): t.lean() for t in (m.regression.treatment for m in self.members)}
        members = tuple(m.lean(lean[id(m.regression.treatment)]) for m in self.members)
        waiting = {k: gram.lean() for k, gram in self.waiting.items()}
        return replace(self, grams=tuple(gram.lean() for gram in self.grams), members=members, waiting=waiting)


def _add(total: dict[int, Any], more: Mapping[int, Any]) -> None:
    for k, value in more.items():
        total[k] = total[k] + value if k in total else value
