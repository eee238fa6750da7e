"""Gradients for everyone: a similarity without derivatives gets them from the space that its objects live in."""

from __future__ import annotations

from dataclasses import replace

from likewise.similarity.base import Similarity
from likewise.similarity.combine.algebra import Product, Scaled, Sum, Warped
from likewise.similarity.combine.fixed import Fixed
from likewise.similarity.differences import Differenced, Movable
from likewise.similarity.kinds.distributions.monte_carlo import DifferencedScore, MonteCarloDivergence

# Those that hand on both the objects and the derivatives of their parts.
CHAINED = (Sum, Product, Scaled, Warped, Fixed)


def differentiate(similarity: Similarity, space: Movable) -> Similarity:
    """The similarity with derivatives in the numbers of the space's objects, by finite differences where it has none.

    >>> import likewise as lw
    >>> differentiate(lw.RBF(1.0) + (lambda x, y: 1.0), lw.Box(0, 1)).differentiable
    True
    """
    if similarity.differentiable:
        return similarity
    if isinstance(similarity, CHAINED):
        return similarity.rebuilt([differentiate(part, space) for part in similarity.parts])
    if isinstance(similarity, MonteCarloDivergence):
        return replace(similarity, score=DifferencedScore(similarity.log_density, space))
    return Differenced(similarity, space)
