"""What the members of a committee believe of some rows, in double precision, and what that makes them worth.

Means, and variances before anything is in flight, are computed once. What becomes pending later, such as the earlier
picks of a batch, lowers the variances by one product with the scores that are at hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise.acquisition.scorer import Scorer
from likewise.model.committee import Committee
from likewise.search.pool.query import Entries
from likewise.similarity.base import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Means and variances, one row per member, that pending objects do not change, and the chances to be measured."""

    entries: Entries
    means: Matrix
    variances: Matrix
    log_chance: Vector | None

    @classmethod
    def of(cls, scorer: Scorer, entries: Entries) -> Beliefs:
        """The beliefs of a scorer's committee about these rows."""
        committee, chance = scorer.committee.without_pending(), None
        observed = {k: scores[:, : len(committee)] for k, scores in entries.scores.items()}
        means, variances = committee.moments(observed, {k: entries.selves[k] for k in observed})
        if scorer.feasibility is not None:
            own = {k: entries.selves[k] for k in entries.chances}
            chance = scorer.feasibility.score_rows(entries.chances, own)
        return cls(entries, means, variances, chance)

    def scores(self, scorer: Scorer) -> tuple[Vector, Vector]:
        """What each row is worth given the scorer's pending objects, and what it cannot exceed when more are."""
        variances = self._given_pending(scorer.committee)
        score, ceiling = scorer.score_moments(self.means, variances), scorer.bound_moments(self.means, variances)
        score = scorer.hide_known(score, self.entries.scores, self.entries.selves)
        if self.log_chance is None:
            return score, ceiling
        return scorer.lower(score, self.log_chance), scorer.lower(ceiling, self.log_chance)

    def _given_pending(self, committee: Committee) -> Matrix:
        if not committee.waiting:
            return self.variances
        self._compare(committee)
        return committee.lower(self.variances, committee.mix_scores(self.entries.scores))

    def _compare(self, committee: Committee) -> None:
        """Compare with what has become pending; earlier picks come first, and their scores are kept."""
        scores, encodings = self.entries.scores, self.entries.encodings
        for k, gram in committee.waiting.items():
            if scores[k].shape[1] < len(gram):
                scores[k] = np.hstack([scores[k], gram.rows(encodings[k], scores[k].shape[1])])
