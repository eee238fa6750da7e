"""A similarity whose parameters stay as they are given: nothing is learnt but how local it is, by a warp.

Learning a lengthscale for every dimension, or a weight for every field, pays once there are many observations; with few
it finds patterns in noise. A fixed similarity beside a learnt one lets the evidence say which of the two it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from likewise.similarity.base import Differentiable, Linearised, Parameter, Sensitivity, Similarity, Vector
from likewise.similarity.combine.wrapper import Through
from likewise.similarity.encodings.arrays import Encoding


@dataclass(frozen=True)
class Fixed(Through):
    """The inner similarity with its parameters kept as given; median distances are still settled. PSD if that one is.

    >>> from likewise.similarity.kinds.strings import Hamming
    >>> Fixed(Hamming()).parameters(Hamming().encode(["ab", "ba"]))
    {}
    """

    inner: Similarity

    @property
    def name(self) -> str:
        return f"fixed {self.inner.name}"

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return fixed(parts[0])

    def parameters(self, a: Encoding) -> dict[str, Parameter]:
        return {}

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        return self

    def sensitivity(self, a: Encoding) -> Sensitivity:
        return self.between(a, a), lambda weights: {}

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        return cast(Differentiable, self.inner).linearise(a, b)

    def linearise_within(self, a: Encoding) -> Linearised:
        return cast(Differentiable, self.inner).linearise_within(a)


def fixed(similarity: Similarity) -> Similarity:
    """The same similarity with nothing left to learn but how local it is.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> fixed(RBF(0.5))([0.0], [0.5]) == RBF(0.5)([0.0], [0.5])
    True
    """
    return similarity if isinstance(similarity, Fixed) else Fixed(similarity)
