"""Some objects of a space: what is left of a part of records when a batch may use only these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.auto.recognise import Recognised
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.spaces.base import Continuous, Generator, Space, is_continuous


@dataclass(frozen=True, eq=False)
class Some(Space):
    """Some objects of a space, in the space's own coordinates, so that gradients stay what they were.

    >>> from likewise.spaces.numbers.scalar import Float
    >>> Some(Float(20, 120), (30.0, 80.0)).from_vector(np.array([[0.5]]))
    [80.0]
    """

    short = None
    whole: Space
    objects: tuple[Any, ...]
    where: None = None

    def _draw(self, n: int, rng: Generator) -> list[Any]:
        return [self.objects[i] for i in rng.integers(len(self.objects), size=n)]

    def _fit(self, x: Any) -> Any:
        key = self.whole.key(self.whole.fit(x))
        for one in self.objects:
            if self.whole.key(one) == key:
                return one
        raise SpaceError(f"{x!r} is none of {', '.join(map(repr, self.objects))}, to which this batch is bound")

    def moves(self, x: Any, rng: Generator) -> list[Any]:
        """The other objects."""
        own = self.whole.key(x)
        return [one for one in self.objects if self.whole.key(one) != own]

    def to_json(self, x: Any) -> Any:
        return self.whole.to_json(x)

    def from_json(self, data: Any) -> Any:
        return self.whole.from_json(data)

    def describe(self) -> dict[str, Any]:
        return {"space": "Some", "whole": self.whole.describe(), "objects": [self.to_json(x) for x in self.objects]}

    def recognise(self, rng: Generator) -> Recognised:
        return self.whole.recognise(rng)

    def view(self, similarity: Similarity) -> Similarity:
        return self.whole.view(similarity)

    @property
    def stepped(self) -> bool:
        return True

    @property
    def resolution(self) -> Any:
        """None of these is too close to another."""
        return 0.0

    @property
    def _inside(self) -> Continuous:
        return cast(Continuous, self.whole)

    @property
    def dimension(self) -> int:
        """As many coordinates as the whole space has; none where it has none."""
        return self._inside.dimension if is_continuous(self.whole) else 0

    @property
    def widths(self) -> Mapping[str, int]:
        """How many numbers each part of the whole space has, where it is made of parts."""
        return cast(Any, self.whole).widths

    @property
    def spans(self) -> Vector:
        return cast(Any, self.whole).spans

    def to_vector(self, objects: Sequence[Any]) -> Matrix:
        return self._inside.to_vector(objects)

    def from_vector(self, vectors: Matrix) -> list[Any]:
        """The nearest of the objects."""
        apart = np.asarray(vectors)[:, None, :] - self.to_vector(self.objects)[None]
        return [self.objects[i] for i in np.argmin(np.sum(apart**2, axis=2), axis=1).tolist()]

    def project(self, vectors: Matrix) -> Matrix:
        return self.to_vector(self.from_vector(vectors))

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        return self._inside.pull(vectors, gradient)

    def to_numbers(self, objects: Sequence[Any]) -> Matrix:
        return cast(Any, self.whole).to_numbers(objects)

    def from_numbers(self, numbers: Matrix) -> list[Any]:
        return self.from_vector(self.to_vector(cast(Any, self.whole).from_numbers(numbers)))
