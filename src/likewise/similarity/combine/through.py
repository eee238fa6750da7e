"""A similarity of what objects are turned into, or of the objects as another similarity sees them."""

from __future__ import annotations

from likewise.similarity.base import Matrix, ParameterPullback, Similarity, Vector
from likewise.similarity.encodings.arrays import Encoding


class Through(Similarity):
    """Hands on the scores of its only part, whose encodings are its own. PSD if that one is."""

    @property
    def psd(self) -> bool:
        return self.parts[0].psd

    @property
    def signed(self) -> bool:
        return self.parts[0].signed

    @property
    def kind(self) -> str | None:
        return self.parts[0].kind

    def part_encoding(self, a: Encoding, i: int) -> Encoding:
        return a

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        return self.parts[0].between(a, b)

    def within(self, a: Encoding) -> Vector:
        return self.parts[0].within(a)

    def sensitivity(self, a: Encoding) -> tuple[Matrix, ParameterPullback]:
        scores, pull = self.parts[0].sensitivity(a)
        return scores, lambda weights: {f"0.{name}": slope for name, slope in pull(weights).items()}
