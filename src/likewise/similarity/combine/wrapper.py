"""A similarity made of one other: with other scores, or of what the objects are turned into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from likewise.similarity.base import Matrix, Sensitivity, Similarity, Vector, assign, numbered
from likewise.similarity.encodings.arrays import Encoding
from likewise.similarity.from_function import as_similarity


class Wrapper(Similarity):
    """A frozen dataclass with a similarity, or a plain function, in its field `wraps`, whose encodings it shares."""

    wraps: ClassVar[str] = "inner"

    def __post_init__(self) -> None:
        assign(self, **{self.wraps: as_similarity(self.wrapped)})

    @property
    def wrapped(self) -> Similarity:
        """The similarity that this one is made of."""
        found: Similarity = getattr(self, self.wraps)
        return found

    @property
    def parts(self) -> tuple[Similarity, ...]:
        return (self.wrapped,)

    @property
    def signed(self) -> bool:
        return self.wrapped.signed

    @property
    def kind(self) -> str | None:
        return self.wrapped.kind

    @property
    def encoder(self) -> Similarity:
        return self.wrapped.encoder if type(self).encode is Wrapper.encode else self

    @property
    def name(self) -> str:
        return self.wrapped.name

    def rebuilt(self, parts: Sequence[Similarity]) -> Similarity:
        return replace(self, **{self.wraps: parts[0]})  # type: ignore[type-var]

    def part_encoding(self, a: Encoding, i: int) -> Encoding:
        return a

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.wrapped.encode(objects)


class Through(Wrapper):
    """Hands on the scores of the inner similarity. PSD if that one is."""

    @property
    def psd(self) -> bool:
        return self.wrapped.psd

    @property
    def divisible(self) -> bool:
        return self.wrapped.divisible

    @property
    def self_bounded(self) -> bool:
        return self.wrapped.self_bounded

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return self.wrapped.between(self.part_encoding(a, 0), self.part_encoding(b, 0))

    def within(self, a: Encoding) -> Vector:
        return self.wrapped.within(self.part_encoding(a, 0))

    def sensitivity(self, a: Encoding) -> Sensitivity:
        scores, pull = self.wrapped.sensitivity(self.part_encoding(a, 0))
        return scores, lambda weights: numbered(pull(weights))
