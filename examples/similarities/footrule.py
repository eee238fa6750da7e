"""A similarity of your own: of permutations, by how far their items have moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.similarity.base import Matrix
from likewise.similarity.functions import DistanceSimilarity
from likewise.similarity.kinds.permutations import as_permutations, check_lengths


@dataclass(frozen=True)
class Footrule(DistanceSimilarity):
    """exp(−d/ℓ), d = Σ_k |place of k in p − place of k in q| / ⌊n²/2⌋: Spearman's footrule as a share of its largest.

    PSD, as d is a distance of absolute differences; with a `constant` (constant − d) it need not be.

    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.

    >>> round(Footrule(lengthscale=1.0)((0, 1, 2), (2, 1, 0)), 4)
    0.3679
    """

    kind = "permutations"
    compares = "how far items have moved"
    lengthscale: float | None = None
    constant: float | None = None

    @property
    def psd(self) -> bool:
        return self.constant is None

    def encode(self, objects: Sequence[Any]) -> Matrix:
        return np.argsort(as_permutations(objects), axis=1).astype(float)

    def distances(self, a: Matrix, b: Matrix) -> Matrix:
        from scipy.spatial.distance import cdist

        if not (len(a) and len(b)):
            return np.zeros((len(a), len(b)))
        check_lengths(a.shape[1], b.shape[1])
        return np.asarray(cdist(a, b, "cityblock")) / max(a.shape[1] ** 2 // 2, 1)
