"""A similarity of your own: of mixtures, by the cheapest way to turn one into the other. It needs POT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Function, Matrix, Parameter, Similarity, Vector
from likewise.similarity.encoding import Encoding
from likewise.similarity.kinds.mixtures import GroundDistance, Mixtures, union


@dataclass(frozen=True)
class OptimalTransport(GroundDistance):
    """exp(−d/ℓ), d the least cost Σ_kl T_kl C(k, l) of a plan T that turns one mixture into the other. Not PSD.

    C is √(K(k, k) + K(l, l) − 2K(k, l)) with the cost "metric", a distance where the ground similarity is PSD, or half
    its square with the cost "gap", which is 1 − K(k, l) where K(k, k) = 1. Parameters of the ground similarity are not
    learnt.

    ground: how alike two components are: a similarity, or a plain function of two.
    cost: "metric" (default) or "gap", how dissimilarities of components are computed.
    lengthscale: the distance ℓ at which a score falls to 1/e; None (default): the median distance of the observed
        objects.
    constant: gives constant − d instead of exp(−d/ℓ); None (default) for the exponential.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> blend = OptimalTransport(RBF(1.0), cost="gap", lengthscale=1.0)
    >>> round(blend({0.0: 1, 1.0: 1}, {0.0: 3, 1.0: 1}), 4)
    0.9063
    """

    compares = "the cheapest way to turn one mixture into the other"
    ground: Similarity | Function
    cost: Literal["metric", "gap"] = "metric"
    lengthscale: float | None = None
    constant: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cost not in ("metric", "gap"):
            raise SimilarityError(f"OptimalTransport has the cost 'metric' or 'gap', not {self.cost!r}")

    def parameters(self, a: Mixtures) -> dict[str, Parameter]:
        return {}

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        return self

    def distances(self, a: Mixtures, b: Mixtures) -> Matrix:
        if not (a and b):
            return np.zeros((len(a), len(b)))
        (x, v), (y, w) = union(a), union(b)
        costs = self._costs(x, y)
        left, right = _rows(v), _rows(w)
        return np.array([[_least_cost(p, q, costs[np.ix_(i, j)]) for j, q in right] for i, p in left])

    def _costs(self, x: Encoding, y: Encoding) -> Matrix:
        gap = 0.5 * (self.wrapped.within(x)[:, None] + self.wrapped.within(y)) - self.wrapped.between(x, y)
        return np.maximum(gap, 0.0) if self.cost == "gap" else np.sqrt(2.0 * np.maximum(gap, 0.0))


def _rows(weights: Any) -> list[tuple[Any, Vector]]:
    """For each row of a sparse matrix the places and values of its entries."""
    cuts = weights.indptr[1:-1]
    return list(zip(np.split(weights.indices, cuts), np.split(weights.data, cuts), strict=True))


def _least_cost(p: Vector, q: Vector, costs: Matrix) -> float:
    if len(p) == 1 or len(q) == 1:
        return float(p @ costs @ q)
    import ot

    return float(np.sum(ot.emd(p, q, costs, center_dual=False, check_marginals=False) * costs))
