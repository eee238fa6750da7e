"""Scores that no two objects may exceed: those of the objects with themselves.

A kernel has S(x, y) ≤ √(S(x, x) S(y, y)). An arbitrary score need not, and a new object that is a thousand times more
like an observed one than this is like itself would be predicted a thousand times its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from likewise.similarity.base import Differentiable, Linearised, Matrix, Sensitivity, Similarity, Vector, numbered
from likewise.similarity.combine.wrapper import Wrapper
from likewise.similarity.encodings.arrays import Encoding, count
from likewise.similarity.scores import NO_LIKENESS, check_shape

# A score that is larger by rounding alone stays as it is.
SLACK = 1.0 + 1e-9


@dataclass(frozen=True)
class SelfBounded(Wrapper):
    """The inner similarity, with no score above √(S(x, x) S(y, y)).

    >>> odd = SelfBounded(lambda x, y: 1.0 if x == y else 5.0)
    >>> odd("a", "b"), odd("a", "a")
    (1.0, 1.0)
    """

    inner: Any

    @property
    def self_bounded(self) -> bool:
        return True

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        scores = self.wrapped.between(a, b)
        check_shape("between", scores, (count(a), count(b)))
        root, over = self._over(scores, self.within(a), self.within(b))
        return np.where(over, root, scores) if over.any() else scores

    def within(self, a: Encoding) -> Vector:
        selves = self.wrapped.within(a)
        check_shape("within", selves, (count(a),))
        return selves

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        inner = cast(Differentiable, self.wrapped)
        scores, pull = inner.linearise(a, b)
        own, pull_own = inner.linearise_within(a)
        root, over = self._over(scores, own, self.within(b))
        if not over.any():
            return scores, pull

        def pull_both(weights: Any) -> Matrix:
            # d√(st)/ds = ½ √(st)/s
            on_selves = np.sum(np.where(over, 0.5 * weights * root / own[:, None], 0.0), axis=1)
            return pull(np.where(over, 0.0, weights)) + pull_own(on_selves)

        return np.where(over, root, scores), pull_both

    def linearise_within(self, a: Encoding) -> Linearised:
        return cast(Differentiable, self.wrapped).linearise_within(a)

    def sensitivity(self, a: Encoding) -> Sensitivity:
        """A score that is cut off changes with the objects' scores with themselves, which are the diagonal."""
        scores, pull = self.wrapped.sensitivity(a)
        own = np.diagonal(scores)
        root, over = self._over(scores, own, own)

        def pull_both(weights: Matrix) -> dict[str, Vector]:
            cut = np.where(over, 0.5 * weights * root, 0.0)
            on_selves = (cut.sum(axis=0) + cut.sum(axis=1)) / np.where(own > 0, own, 1.0)
            return numbered(pull(np.where(over, 0.0, weights) + np.diag(on_selves)))

        return np.where(over, root, scores), pull_both

    def _over(self, scores: Matrix, own: Vector, others: Vector) -> tuple[Matrix, Any]:
        """√(S(x, x) S(y, y)) for each pair, and which scores are above it."""
        roots = (np.sqrt(np.maximum(each, 0.0)) for each in (own, others))
        root = np.multiply.outer(*roots)
        selves = max(float(np.max(each, initial=0.0)) for each in (own, others))
        # Where no object is like itself these are distances, which are refused elsewhere.
        like = selves > NO_LIKENESS * float(np.max(scores, initial=0.0))
        return root, (scores > SLACK * root) & like


def self_bounded(similarity: Similarity) -> Similarity:
    """The similarity, or where it does not promise it, one that no score of two objects exceeds those with themselves.

    >>> from likewise.similarity.kinds.strings import JaroWinkler
    >>> self_bounded(JaroWinkler()).name, type(self_bounded(JaroWinkler())).__name__
    ('JaroWinkler', 'JaroWinkler')
    """
    return similarity if similarity.self_bounded else SelfBounded(similarity)
