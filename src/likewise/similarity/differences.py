"""Gradients by central differences, for what has none of its own, in a space whose objects have numbers.

Each object is moved by a small step up and down each search coordinate of its space, and all moved objects are compared
at once. The step is a share of the space's range, so that it suits every unit, and a logarithmic scale too. What the
space then makes of a step counts, not the step: at a bound the difference is one-sided, a fixed number does not move,
and on a simplex all parts move together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from likewise.similarity.algebra import Through
from likewise.similarity.base import Linearised, Matrix, Similarity, Vector
from likewise.similarity.encoding import Encoding, take

# As a share of the range. Its square is lost by the difference, for a similarity that changes over a tenth of the range
# a part in a million; rounding loses 1e-12, and 1e-3 where a score is computed in single precision.
STEP = 1e-4
# Displacements that are smaller, beside the largest one, are rounding.
LEAST = 1e-10
# So many objects tell whether scores change smoothly: differences over a step and over half of it are as alike as this.
JUDGES, ALIKE = 8, 0.1


class Movable(Protocol):
    """A space whose objects can be moved: what `Continuous` and `OwnNumbers` of the spaces ask for."""

    @property
    def spans(self) -> Vector: ...

    def to_vector(self, objects: Sequence[Any]) -> Matrix: ...

    def from_vector(self, vectors: Matrix) -> list[Any]: ...

    def project(self, vectors: Matrix) -> Matrix: ...

    def to_numbers(self, objects: Sequence[Any]) -> Matrix: ...


class Moved(NamedTuple):
    """For each of n objects and each of k coordinates one object above it and one below, and how far apart they are.

    `apart` has shape (n, k, w) for objects of w numbers, in ranges of the numbers.
    """

    above: list[Any]
    below: list[Any]
    apart: Matrix
    spans: Vector

    def slopes(self, changes: Matrix) -> Matrix:
        """The gradient in the objects' numbers, shape (n, w), of what changes so, shape (n, k), from below to above.

        It is the smallest vector g with apart · g = changes: what no displacement shows is no part of it.
        """
        steps = np.diagonal(self.apart, axis1=1, axis2=2)
        n, k, w = self.apart.shape
        if k == w and np.count_nonzero(self.apart) == np.count_nonzero(steps):
            return np.divide(changes, steps, out=np.zeros((n, w)), where=steps != 0) / self.spans
        inverse = np.linalg.pinv(self.apart, rcond=LEAST)
        return cast(Matrix, np.einsum("nwk,nk->nw", inverse, changes) / self.spans)


def move(space: Movable, objects: Sequence[Any], step: float = STEP) -> Moved:
    """The objects a step above and below these in each coordinate.

    >>> from likewise.spaces.numbers import Box
    >>> moved = move(Box([0.0], [10.0]), [np.array([5.0]), np.array([0.0])], step=0.25)
    >>> [x.tolist() for x in moved.above], [x.tolist() for x in moved.below]
    ([[7.5], [2.5]], [[2.5], [0.0]])
    """
    vectors = space.to_vector(objects)
    steps = step * np.eye(vectors.shape[1])
    above, below = (_at(space, vectors[:, None, :] + sign * steps) for sign in (1.0, -1.0))
    apart = (space.to_numbers(above) - space.to_numbers(below)) / space.spans
    return Moved(above, below, apart.reshape(*vectors.shape, -1), space.spans)


def _at(space: Movable, vectors: Matrix) -> list[Any]:
    return space.from_vector(space.project(vectors.reshape(-1, vectors.shape[-1])))


@dataclass(frozen=True)
class Differenced(Through):
    """A similarity with gradients by central differences in a space. PSD if the inner one is.

    `smooth` is whether scores change smoothly, which is settled on the observed objects: a score that jumps, as a
    judgement of 0 or 1 does, has no gradient that would lead anywhere, and says that it has none.

    >>> from likewise.spaces.numbers import Box
    >>> S = Differenced(lambda x, y: float(np.exp(-abs(x[0] - y[0]))), Box([0.0], [10.0]))
    >>> _, pull = S.linearise(S.encode([np.array([1.0])]), S.encode([np.array([2.0])]))
    >>> pull(np.ones((1, 1))).round(4).tolist()
    [[0.3679]]
    """

    inner: Similarity
    space: Any
    smooth: bool = True

    @property
    def differentiable(self) -> bool:
        return self.smooth

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return list(objects), self.inner.encode(objects)

    def part_encoding(self, a: Encoding, i: int) -> Encoding:
        return a[1]

    def linearise(self, a: Encoding, b: Encoding) -> Linearised:
        def pull(weights: Matrix) -> Matrix:
            moved = move(self.space, a[0])
            used = np.flatnonzero(np.any(weights != 0, axis=0))
            others, shares = take(b[1], used), weights[:, used]
            changes = self._between(moved.above, others) - self._between(moved.below, others)
            return moved.slopes(np.einsum("nkm,nm->nk", changes.reshape(*moved.apart.shape[:2], -1), shares))

        return self.between(a, b), pull

    def linearise_within(self, a: Encoding) -> Linearised:
        def pull(weights: Vector) -> Matrix:
            moved = move(self.space, a[0])
            above, below = (self.inner.within(self.inner.encode(objects)) for objects in moved[:2])
            return moved.slopes(weights[:, None] * (above - below).reshape(moved.apart.shape[:2]))

        return self.within(a), pull

    def _between(self, objects: Sequence[Any], others: Encoding) -> Matrix:
        return self.inner.between(self.inner.encode(objects), others)

    def fitted(self, a: Encoding) -> Similarity:
        settled = cast(Differenced, super().fitted(a))
        return replace(settled, smooth=settled._is_smooth(a))

    def _is_smooth(self, a: Encoding) -> bool:
        """Whether most scores among some objects that change at all change half as much over half a step."""
        few = take(a, np.unique(np.linspace(0, len(a[0]) - 1, JUDGES).astype(np.intp)))
        if len(few[0]) < 2:
            return True
        vectors = self.space.to_vector(few[0])
        away = np.random.default_rng(0).standard_normal(vectors.shape)
        away *= STEP / np.abs(away).max(axis=1, keepdims=True)
        whole, half = (self._change(vectors, share * away, few[1]) for share in (1.0, 0.5))
        scale = float(np.max(np.abs(self.within(few))))
        changing = np.maximum(np.abs(whole), np.abs(half)) > 1e-12 * scale
        alike = np.abs(whole - 2.0 * half) <= ALIKE * np.abs(whole)
        return bool(changing.any() and 2 * np.count_nonzero(alike & changing) >= np.count_nonzero(changing))

    def _change(self, vectors: Matrix, away: Matrix, others: Encoding) -> Matrix:
        return self._between(_at(self.space, vectors + away), others) - self._between(
            _at(self.space, vectors - away), others
        )
