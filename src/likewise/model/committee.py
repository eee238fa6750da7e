"""Several similarities, warps and noises, weighted by evidence. One model is a committee of one.

Each similarity has one Gram matrix; a member mixes and warps their scores by its recipe and holds a posterior on the
result. Predictions are the weighted mixture of the members; an acquisition is averaged over them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from likewise.model.gram import Gram
from likewise.model.mix import Recipe
from likewise.model.pending import Pending
from likewise.model.posterior import Posterior, Prediction
from likewise.model.transforms import Standardised, Transform
from likewise.similarity.base import Matrix, Similarity, Vector, is_differentiable
from likewise.similarity.encodings.arrays import Encoding

Scores = Mapping[int, Matrix]

CommitteePullback = Callable[[Matrix, Matrix], tuple[dict[int, Matrix], dict[int, Vector]]]


@dataclass(frozen=True, eq=False)
class Member:
    """One model of the committee, and its share of the votes."""

    recipe: Recipe
    posterior: Posterior
    weight: float
    ratio: float
    log_evidence: float = 0.0
    pending: Pending | None = None

    @property
    def model(self) -> Posterior | Pending:
        """What predicts: the posterior, or the posterior after what is pending."""
        return self.posterior if self.pending is None else self.pending

    def lean(self) -> Member:
        """The same member without matrices of scores."""
        bare = self.posterior.lean()
        pending = None if self.pending is None else replace(self.pending, posterior=bare)
        return replace(self, posterior=bare, pending=pending)


@dataclass(frozen=True, eq=False)
class Committee:
    """Members over shared similarities, on one transform of the values.

    `waiting` has, for each used similarity, the observed objects followed by those in flight, if any are.
    """

    grams: tuple[Gram, ...]
    members: tuple[Member, ...]
    transform: Transform
    waiting: Mapping[int, Gram] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.grams[0])

    @property
    def similarities(self) -> tuple[Similarity, ...]:
        return tuple(gram.similarity for gram in self.grams)

    @property
    def weights(self) -> Vector:
        """Each member's share of the votes."""
        return np.array([member.weight for member in self.members])

    @property
    def used(self) -> tuple[int, ...]:
        """The similarities that some member uses."""
        return tuple(sorted({k for member in self.members for k in member.recipe.used}))

    @property
    def differentiable(self) -> bool:
        """Whether every similarity in use has derivatives in the objects."""
        return all(is_differentiable(self.grams[k].similarity) for k in self.used)

    def similarity_weights(self) -> Vector:
        """How much each similarity counts: members' votes shared among the similarities of their recipe."""
        shares = np.zeros(len(self.grams))
        for member in self.members:
            mix = np.array(member.recipe.weights)
            shares += member.weight * mix / mix.sum()
        return shares

    def encode(self, objects: Sequence[Any]) -> dict[int, Encoding]:
        """Each used similarity's encoding of these objects."""
        return {k: self.grams[k].similarity.encode(objects) for k in self.used}

    def rows(self, encodings: Mapping[int, Encoding]) -> dict[int, Matrix]:
        """Each used similarity's scores with the observed objects, then with the pending ones."""
        return {k: self.waiting.get(k, self.grams[k]).rows(encoding) for k, encoding in encodings.items()}

    def selves(self, encodings: Mapping[int, Encoding]) -> dict[int, Vector]:
        """Each used similarity's scores of the objects with themselves."""
        return {k: self.grams[k].selves(encoding) for k, encoding in encodings.items()}

    def moments(self, rows: Scores, selves: Mapping[int, Vector]) -> tuple[Matrix, Matrix]:
        """Means and variances on the model's scale, one row per member."""
        means, _, variances = self.stages(rows, selves)
        return means, variances

    def stages(self, rows: Scores, selves: Mapping[int, Vector]) -> tuple[Matrix, Matrix, Matrix]:
        """Means, variances before anything is pending, and variances; members of one recipe share their work."""
        n = len(next(iter(selves.values())))
        means, before, after = (np.empty((len(self.members), n)) for _ in range(3))
        for recipe, group in groupby(range(len(self.members)), key=lambda i: self.members[i].recipe):
            mixed, own, shared = recipe.scores(rows), recipe.scores(selves), dict[int, Matrix]()
            for i in group:
                post, pending = self.members[i].posterior, self.members[i].pending
                observed = mixed[:, : len(post)]
                means[i] = post.mean_of_rows(observed)
                before[i] = post.variance_of_rows(observed, own, shared)
                after[i] = before[i] if pending is None else pending.lowered(before[i], mixed)
        return means, before, after

    def linearise(self, rows: Scores, selves: Mapping[int, Vector]) -> tuple[Matrix, Matrix, CommitteePullback]:
        """Means and variances as `moments` gives them, and one step of the chain rule through them.

        The step takes ∂u/∂μ and ∂u/∂V of each member to ∂u/∂S_x and ∂u/∂S(x, x) of each similarity.
        """
        groups = [(recipe, list(group)) for recipe, group in groupby(self.members, key=lambda m: m.recipe)]
        found = []
        for recipe, group in groups:
            mixed, own = recipe.scores(rows), recipe.scores(selves)
            found.append([member.model.linearise_rows(mixed, own) for member in group])
        flat = [one for group in found for one in group]

        def pull(in_mean: Matrix, in_variance: Matrix) -> tuple[dict[int, Matrix], dict[int, Vector]]:
            on_rows: dict[int, Any] = {}
            on_selves: dict[int, Any] = {}
            i = 0
            for (recipe, _), group in zip(groups, found, strict=True):
                slopes = [one[2](in_mean[i + j], in_variance[i + j]) for j, one in enumerate(group)]
                i += len(group)
                _add(on_rows, recipe.pull(rows, sum(row for row, _ in slopes)))
                _add(on_selves, recipe.pull(selves, sum(own for _, own in slopes)))
            return on_rows, on_selves

        return np.array([one[0] for one in flat]), np.array([one[1] for one in flat]), pull

    def mixture(self, means: Matrix, variances: Matrix) -> Prediction:
        """Mean and standard deviation of the mixture of the members, on the model's scale."""
        mean = self.weights @ means
        variance = self.weights @ (variances + means**2) - mean**2
        return Prediction(mean, np.sqrt(np.maximum(variance, 0.0)))

    def predict(self, objects: Sequence[Any]) -> Prediction:
        """Mean and standard deviation at each object, on the user's scale."""
        encodings = self.encode(objects)
        return self.on_users_scale(*self.moments(self.rows(encodings), self.selves(encodings)))

    def explain(self, objects: Sequence[Any]) -> tuple[Prediction, Matrix]:
        """What `predict` and `influence` say, with the objects compared once."""
        encodings = self.encode(objects)
        rows = self.rows(encodings)
        prediction = self.on_users_scale(*self.moments(rows, self.selves(encodings)))
        return prediction, self._influence(rows)

    def on_users_scale(self, means: Matrix, variances: Matrix) -> Prediction:
        """The mixture's mean and standard deviation on the user's scale."""
        if isinstance(self.transform, Standardised):
            return Prediction(*self.transform.moments(*self.mixture(means, variances)))
        centres, spreads = self.transform.moments(means, np.sqrt(variances))
        mean = self.weights @ centres
        return Prediction(mean, np.sqrt(np.maximum(self.weights @ (spreads**2 + centres**2) - mean**2, 0.0)))

    def influence(self, objects: Sequence[Any]) -> Matrix:
        """Σ_m w_m I_m(x): the signed weight of each observation in the mixture's mean on the model's scale."""
        return self._influence(self.without_pending().rows(self.encode(objects)))

    def _influence(self, rows: Scores) -> Matrix:
        observed = {k: row[:, : len(self.grams[k])] for k, row in rows.items()}
        return np.asarray(
            sum(m.weight * m.posterior.solution.influence(m.recipe.scores(observed)) for m in self.members)
        )

    def with_pending(self, objects: Sequence[Any]) -> Committee:
        """The committee whose variances take these objects in flight into account, too; only they are compared."""
        if not len(objects):
            return self
        waiting = {k: self.waiting.get(k, self.grams[k]).grown(objects) for k in self.used}
        after, t = replace(self, waiting=waiting), len(self)
        rows, among = after._apart(), {k: gram.scores[t:, t:] for k, gram in waiting.items()}
        members = tuple(
            replace(m, pending=Pending.on(m.posterior, m.recipe.scores(rows), m.recipe.scores(among)))
            for m in self.members
        )
        return replace(after, members=members)

    def without_pending(self) -> Committee:
        """The committee as if nothing were in flight."""
        return replace(self, members=tuple(replace(m, pending=None) for m in self.members), waiting={})

    def expected(self) -> Vector:
        """The mean of each object in flight, on the model's scale."""
        rows = self._apart()
        means = [m.weight * m.posterior.mean_of_rows(m.recipe.scores(rows)) for m in self.members]
        return np.asarray(np.sum(means, axis=0))

    def _apart(self) -> dict[int, Matrix]:
        """The scores of the objects in flight with the observed ones."""
        t = len(self)
        return {k: gram.scores[t:, :t] for k, gram in self.waiting.items()}

    def lean(self) -> Committee:
        """The same committee without the matrices of scores that prediction from rows does not need."""
        members = tuple(member.lean() for member in self.members)
        waiting = {k: gram.lean() for k, gram in self.waiting.items()}
        return replace(self, grams=tuple(gram.lean() for gram in self.grams), members=members, waiting=waiting)


def _add(total: dict[int, Any], more: Mapping[int, Any]) -> None:
    for k, value in more.items():
        total[k] = total[k] + value if k in total else value
