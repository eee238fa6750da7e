"""What the members of a committee believe of some rows, in double precision, and what that makes them worth.

Means, and variances before anything is in flight, are computed once. What becomes pending later, such as the earlier
picks of a batch, lowers the variances by one product with the scores that are at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.acquisition.base import Care
from likewise.acquisition.scoring import Moments, Scoring
from likewise.model.committee import Committee
from likewise.search.pool.query import Entries, largest
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

    def scores(self, scorer: Scoring, most: int, before: Vector) -> tuple[Vector, Vector]:
        """What each row is worth given the scorer's pending objects, and what it cannot exceed when more are.

        Rows that cannot be among the best `most`, beside those scored `before`, are left at −∞: a bound costs less than
        a score. Those of the highest bounds are scored first, as they say what the others have to exceed.
        """
        moments, known = self._moments(scorer), list(self.entries.known.values())
        ceiling = self._lower(scorer, scorer.bound_moments(moments, known))
        score, order = np.full(len(ceiling), -np.inf), np.argsort(-ceiling, kind="stable")
        for part in (order[: 2 * most], order[2 * most :]):
            top = largest(np.concatenate([before, score]), most)
            least = float(top.min()) if len(top) == most else -np.inf
            # In the precision that decides which rows are best.
            few = np.sort(part[ceiling[part].astype(np.float32) >= np.float32(least)])
            if len(few):
                score[few] = self._exact(scorer, moments, known, few)
                some = [(means[:, few], variances[:, few]) for means, variances in moments]
                tight = scorer.bound_moments(some, [values[few] for values in known], care=Care.TIGHT)
                ceiling[few] = self._lower(scorer, tight, few)
        return score, ceiling

    def exact_scores(self, scorer: Scoring) -> Vector:
        """What each row is worth given the scorer's pending objects."""
        return self._exact(scorer, self._moments(scorer), list(self.entries.known.values()), slice(None))

    def _moments(self, scorer: Scoring) -> list[Moments]:
        """Each committee's means and variances, given what is pending."""
        each = enumerate(zip(scorer.committees, self.moments, strict=True))
        return [(mean, self._given_pending(place, committee, v)) for place, (committee, (mean, v)) in each]

    def _exact(self, scorer: Scoring, moments: Sequence[Moments], known: Sequence[Vector], few: Any) -> Vector:
        """The scores of some of the rows."""
        some = [(means[:, few], variances[:, few]) for means, variances in moments]
        facts = [values[few] for values in known]
        each = [self.entries.of(place) for place in range(len(moments))]
        rows = [{k: scores[few] for k, scores in mine.items()} for mine, _ in each]
        selves = [{k: own[few] for k, own in theirs.items()} for _, theirs in each]
        score = scorer.hide_known(scorer.score_moments(some, facts), some, rows, selves)
        return self._lower(scorer, score, few)

    def _lower(self, scorer: Scoring, score: Vector, few: Any = slice(None)) -> Vector:
        return score if self.log_chance is None else scorer.lower(score, self.log_chance[few])

    def _given_pending(self, place: int, committee: Committee, variances: Matrix) -> Matrix:
        if all(member.pending is None for member in committee.members):
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
