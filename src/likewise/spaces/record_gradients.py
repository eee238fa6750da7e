"""Gradients of a record's similarity in the columns of the record's continuous parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from likewise.similarity.base import (
    Differentiable,
    Matrix,
    Parameter,
    ParameterPullback,
    Pullback,
    Similarity,
    Vector,
    is_differentiable,
)
from likewise.similarity.combine.parts import Parts
from likewise.similarity.combine.wrapper import Through
from likewise.similarity.encodings.arrays import Encoding, count, plain


def aligned(inner: Parts, widths: Mapping[str, int]) -> Similarity:
    """The aligned similarity; the inner one itself where it compares continuous fields but none by gradient."""
    compared = [part for name, part in zip(inner.fields, inner.parts, strict=True) if name in widths]
    if compared and not any(map(is_differentiable, compared)):
        return inner
    return Aligned(inner, tuple(widths.items()))


@dataclass(frozen=True)
class Aligned(Through):
    """A similarity of records whose gradient has the columns of the continuous fields, in the order of the space.

    The other fields are held fixed, so their similarities need no derivative; a continuous field that is not compared,
    or by a similarity without a derivative, has columns of zeros. PSD if the inner one is. It presents itself as one
    similarity without parts, as its parts alone would not all be differentiable.
    """

    inner: Parts
    widths: tuple[tuple[str, int], ...]

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return ()

    def fitted(self, a: Encoding) -> Similarity:
        return self._around(self.inner.fitted(a))

    def parameters(self, a: Encoding) -> dict[str, Parameter]:
        return self.inner.parameters(a)

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        return self._around(self.inner.with_parameters(values))

    def _around(self, inner: Similarity) -> Similarity:
        return Aligned(cast(Parts, inner), self.widths)

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        return self.inner.sensitivity(a)

    def _moving(self, name: str, part: Similarity) -> bool:
        return name in dict(self.widths) and is_differentiable(part)

    def linearise(self, a: Encoding, b: Encoding) -> tuple[Matrix, Pullback]:
        fields = zip(self.inner.fields, self.inner.parts, plain(a), plain(b), strict=True)
        return self._pulled(
            [
                cast(Differentiable, part).linearise(x, y) if self._moving(name, part) else (part.between(x, y), None)
                for name, part, x, y in fields
            ],
            count(a),
        )

    def linearise_within(self, a: Encoding) -> tuple[Vector, Pullback]:
        fields = zip(self.inner.fields, self.inner.parts, plain(a), strict=True)
        return self._pulled(
            [
                cast(Differentiable, part).linearise_within(x) if self._moving(name, part) else (part.within(x), None)
                for name, part, x in fields
            ],
            count(a),
        )

    def _pulled(self, parts: Sequence[tuple[Any, Pullback | None]], n: int) -> tuple[Any, Pullback]:
        scores = [s for s, _ in parts]
        slopes = self.inner._slopes(scores)
        moving = {
            name: (pull, slope)
            for name, (_, pull), slope in zip(self.inner.fields, parts, slopes, strict=True)
            if pull is not None
        }

        def pull(weights: Any) -> Matrix:
            return np.hstack(
                [
                    moving[name][0](weights * moving[name][1]) if name in moving else np.zeros((n, width))
                    for name, width in self.widths
                ]
            )

        return self.inner._combined(scores), pull
