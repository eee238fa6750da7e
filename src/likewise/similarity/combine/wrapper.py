"""A similarity made of one other: with other scores, or of what the objects are turned into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from likewise.similarity.base import Matrix, ParameterPullback, Similarity, Vector
from likewise.similarity.encodings.arrays import Encoding


class Wrapper(Similarity):
    """A frozen dataclass with a field `inner`, the similarity whose encodings it shares."""

    inner: Similarity

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return (self.inner,)

    @property
    def signed(self) -> bool:
        return self.inner.signed

    @property
    def kind(self) -> str | None:
        return self.inner.kind

    @property
    def encoder(self) -> Similarity:
        return self.inner.encoder if type(self).encode is Wrapper.encode else self

    @property
    def name(self) -> str:
        return self.inner.name

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return replace(self, inner=parts[0])  # type: ignore[type-var]

    def part_encoding(self, a: Encoding, i: int) -> Encoding:
        return a

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.inner.encode(objects)


class Through(Wrapper):
    """Hands on the scores of the inner similarity. PSD if that one is."""

    @property
    def psd(self) -> bool:
        return self.inner.psd

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return self.inner.between(a, b)

    def within(self, a: Encoding) -> Vector:
        return self.inner.within(a)

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pull = self.inner.sensitivity(a)
        return scores, lambda weights: {f"0.{name}": slope for name, slope in pull(weights).items()}
