"""What the members of a committee believe of some rows, in double precision, and what that makes them worth.

Means, and variances before anything is in flight, are computed once. What becomes pending later, such as the earlier
picks of a batch, lowers the variances by one product with the scores that are at hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise.acquisition.scoring import Moments, Scoring
from likewise.model.committee import Committee
from likewise.search.pool.query import Entries
from likewise.similarity.base import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Each committee's means and variances, one row per member, that pending objects do not change, and the chances."""

    entries: Entries
    moments: tuple[Moments, ...]
    log_chance: Vector | None

    @classmethod
    def of(cls, scorer: Scoring, entries: Entries) -> Beliefs:
        """The beliefs of a scorer's committees about these rows."""
        moments = []
        for place, committee in enumerate(scorer.committees):
            rows, selves = entries.of(place)
            observed = {k: scores[:, : len(committee)] for k, scores in rows.items()}
            moments.append(committee.without_pending().moments(observed, selves))
        chance = None
        if scorer.feasibility is not None:
            chance = scorer.feasibility.score_rows(*entries.of(len(scorer.committees)))
        return cls(entries, tuple(moments), chance)

    def scores(self, scorer: Scoring) -> tuple[Vector, Vector]:
        """What each row is worth given the scorer's pending objects, and what it cannot exceed when more are."""
        moments = [
            (means, self._given_pending(place, committee, variances))
            for place, (committee, (means, variances)) in enumerate(zip(scorer.committees, self.moments, strict=True))
        ]
        known = list(self.entries.known.values())
        score, ceiling = scorer.score_moments(moments, known), scorer.bound_moments(moments, known)
        rows, selves = zip(*(self.entries.of(place) for place in range(len(moments))), strict=True)
        score = scorer.hide_known(score, rows, selves)
        if self.log_chance is None:
            return score, ceiling
        return scorer.lower(score, self.log_chance), scorer.lower(ceiling, self.log_chance)

    def _given_pending(self, place: int, committee: Committee, variances: Matrix) -> Matrix:
        if not committee.waiting:
            return variances
        self._compare(place, committee)
        return committee.lower(variances, committee.mix_scores(self.entries.of(place)[0]))

    def _compare(self, place: int, committee: Committee) -> None:
        """Compare with what has become pending; earlier picks come first, and their scores are kept."""
        scores, encodings = self.entries.scores, self.entries.encodings
        for k, gram in committee.waiting.items():
            mine = scores[place, k]
            if mine.shape[1] < len(gram):
                scores[place, k] = np.hstack([mine, gram.rows(encodings[k], mine.shape[1])])
