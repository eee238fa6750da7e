"""Pools are scored whole. Scores with the observed objects are kept, and grow by one column per observation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scorer import Scorer
from likewise.influence.gram import Gram
from likewise.search.base import Found, Ground, Search
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.encoding import Encoding, take
from likewise.spaces.base import Enumerable

BLOCK = 4096
CONTENDERS = 512


@dataclass(eq=False)
class _Columns:
    """Scores of the whole pool with the observed objects under one likeness, in single precision."""

    similarity: Similarity
    encodings: Encoding
    selves: Vector
    scores: NDArray[np.float32]
    known: int = 0
    last: Any = None

    def updated(self, gram: Gram) -> NDArray[np.float32]:
        """The columns of all observed objects; only those of new ones are computed."""
        t = len(gram)
        if self.known > t or (self.known and gram.objects[self.known - 1] is not self.last):
            self.known = 0
        if t > self.scores.shape[1]:
            grown = np.empty((len(self.scores), max(16, 2 * t)), dtype=np.float32, order="F")
            grown[:, : self.known] = self.scores[:, : self.known]
            self.scores = grown
        if t > self.known:
            new = take(gram.encodings, slice(self.known, t))
            for start in range(0, len(self.scores), BLOCK):
                block = take(self.encodings, slice(start, start + BLOCK))
                self.scores[start : start + BLOCK, self.known : t] = self.similarity.between(block, new)
            self.known, self.last = t, gram.objects[t - 1]
        return self.scores[:, :t]


@dataclass(eq=False)
class ExhaustiveSearch(Search):
    """Scores every object of an enumerable space; equilibria are simply the best ones."""

    objects: list[Any]
    keys: list[str]
    _columns: dict[int, _Columns] = field(default_factory=dict)
    _rest: float = -np.inf

    @classmethod
    def over(cls, space: Enumerable, key: Any) -> ExhaustiveSearch:
        """The search over all objects of a space; `key` names an object."""
        objects = list(space.objects)
        return cls(objects, [key(x) for x in objects])

    def equilibria(self, scorer: Scorer, ground: Ground) -> Found:
        scores = self._scores(scorer, np.arange(len(self.objects)))
        return self._best(scores, np.arange(len(self.objects)), ground)

    def again(self, scorer: Scorer, ground: Ground, found: Found) -> Found:
        """A pending object only lowers scores, so the old ones are bounds: contenders alone are scored again."""
        if not found.objects:
            return found
        index = np.array([self._place[ground.space.key(x)] for x in found.objects], dtype=np.intp)
        scores = self._scores(scorer, index)
        if scores.max(initial=-np.inf) < self._rest:
            return self.equilibria(scorer, ground)
        rest = self._rest
        best = self._best(scores, index, ground)
        self._rest = max(rest, self._rest)
        return best

    @cached_property
    def _place(self) -> dict[str, int]:
        return {key: i for i, key in enumerate(self.keys)}

    def _best(self, scores: Vector, index: NDArray[np.intp], ground: Ground) -> Found:
        free = np.array([self.keys[i] not in ground.taken for i in index.tolist()], dtype=bool)
        scores, index = scores[free], index[free]
        # Ties are broken by the seed: a random order first, then a stable sort.
        shuffle = ground.rng.permutation(len(scores))
        order = shuffle[np.argsort(-scores[shuffle], kind="stable")]
        top, self._rest = order[:CONTENDERS], -np.inf
        if len(order) > CONTENDERS:
            self._rest = float(scores[order[CONTENDERS]])
        return Found([self.objects[i] for i in index[top].tolist()], scores[top])

    def _scores(self, scorer: Scorer, index: NDArray[np.intp]) -> Vector:
        committee = scorer.committee
        used = {k: self._column(k, committee.grams[k]) for k in committee.used}
        columns = {k: column.updated(committee.grams[k]) for k, column in used.items()}
        whole = len(index) == len(self.objects)
        out = np.empty(len(index))
        for start in range(0, len(index), BLOCK):
            part = slice(start, start + BLOCK) if whole else index[start : start + BLOCK]
            rows: dict[int, Matrix] = {}
            for k in columns:
                rows[k] = columns[k][part].astype(np.float64)
                if committee.waiting:
                    block = take(used[k].encodings, part)
                    extra = used[k].similarity.between(block, committee.waiting[k])
                    rows[k] = np.hstack([rows[k], extra])
            score = scorer.score_rows(rows, {k: used[k].selves[part] for k in used})
            if scorer.feasibility is not None:
                chosen = self.objects[part] if isinstance(part, slice) else [self.objects[i] for i in part.tolist()]
                score = scorer.weighed(score, chosen)
            out[start : start + BLOCK] = score
        return out

    def _column(self, k: int, gram: Gram) -> _Columns:
        """The columns of likeness k; they start anew when its parameters have been learnt anew."""
        known = self._columns.get(k)
        if known is None or known.similarity is not gram.similarity:
            encodings = gram.similarity.encode(self.objects) if known is None else known.encodings
            empty = np.empty((len(self.objects), 0), dtype=np.float32)
            known = _Columns(gram.similarity, encodings, gram.similarity.within(encodings), empty)
            self._columns[k] = known
        return known
