"""The best rows of a pool, scored again as picks of a batch become pending: rank-one conditioning of a few rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from likewise.acquisition.scorer import Scorer
from likewise.model.gram import Gram
from likewise.search.pool.query import Entries, Query, Rows
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.combine.mix import Mix


@dataclass(frozen=True, eq=False)
class Contest:
    """Rows that may be picked, what is known of them, and what does not change when others are pending."""

    rows: Rows
    rest: float
    entries: Entries
    means: Matrix
    before: Matrix
    mixed: dict[Mix, Matrix]
    log_chance: Vector | None
    _extra: dict[int, Matrix] = field(default_factory=dict)

    @classmethod
    def between(cls, rows: Rows, rest: float, entries: Entries, query: Query) -> Contest:
        """The contest of these rows; `rest` bounds the scores of all others."""
        scorer, committee = query.scorer, query.scorer.committee.without_pending()
        selves = {k: entries.selves[k] for k in entries.scores}
        means, before, _ = committee.stages(entries.scores, selves)
        mixed = {mix: mix.scores(entries.scores) for mix in {member.mix for member in committee.members}}
        chance = None
        if scorer.feasibility is not None:
            own = {k: entries.selves[k] for k in entries.chances}
            chance = scorer.feasibility.score_rows(entries.chances, own)
        return cls(rows, rest, entries, means, before, mixed, chance)

    def scores(self, scorer: Scorer) -> Vector:
        """What each row is worth when the scorer's pending objects are taken into account."""
        score = scorer.score_moments(self.means, self._after(scorer))
        return score if self.log_chance is None else scorer.lower(score, self.log_chance)

    def _after(self, scorer: Scorer) -> Matrix:
        committee = scorer.committee
        if not committee.waiting:
            return self.before
        for k, gram in committee.waiting.items():
            self._extend(k, gram)
        after = np.empty_like(self.before)
        for mix, group in groupby(range(len(committee.members)), key=lambda i: committee.members[i].mix):
            rows = np.hstack([self.mixed[mix], mix.scores(self._extra)])
            for i in group:
                pending = committee.members[i].pending
                after[i] = self.before[i] if pending is None else pending.lower(self.before[i], rows)
        return after

    def _extend(self, k: int, waiting: Gram) -> None:
        """Compare with what has become pending; earlier picks come first, and their scores are kept."""
        known = self._extra.get(k, np.zeros((len(self.rows), 0)))
        start = self.entries.scores[k].shape[1] + known.shape[1]
        self._extra[k] = np.hstack([known, waiting.rows(self.entries.encodings[k], start)])
