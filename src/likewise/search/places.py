"""Where objects lie in a space's search coordinates, and which are too close to others to be set apart from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from likewise.similarity.base import Matrix
from likewise.spaces.base import Continuous, PartlyContinuous, Space, is_continuous

# A whole number is another one at any distance; so much is rounding.
ROUNDING = 1e-12
# What differs otherwise than in its coordinates is so far apart, where the resolution is 1.
APART = 10.0


@dataclass(frozen=True, eq=False)
class Places:
    """Objects of a space, by where they lie.

    Two objects are closer than the space can set them if they differ by no more than its resolution in every search
    coordinate, and are the same in what is not continuous. In a space without search coordinates none are.

    >>> from likewise.spaces.box import Box
    >>> Places.of(Box([0.0], [100.0]), [[50.0]]).close([[50.05], [50.2]]).tolist()
    [True, False]
    """

    space: Space
    vectors: Matrix
    # What is not continuous of each object, if the space has such.
    rests: tuple[str, ...]

    @classmethod
    def of(cls, space: Space, objects: Sequence[Any] = ()) -> Places:
        """The places of these objects."""
        dimension = cast(Continuous, space).dimension if is_continuous(space) else 0
        return cls(space, np.zeros((0, dimension)), ()).add(objects)

    def add(self, objects: Sequence[Any]) -> Places:
        """The same with more objects."""
        if not len(objects) or not is_continuous(self.space):
            return self
        vectors = np.vstack([self.vectors, self._to_vector(objects)])
        return Places(self.space, vectors, (*self.rests, *rests_of(self.space, objects)))

    def close(self, objects: Sequence[Any]) -> NDArray[np.bool_]:
        """Which of these objects are closer to one of the places than the space can set."""
        near = np.zeros(len(objects), dtype=bool)
        if not len(objects) or not len(self.vectors):
            return near
        vectors = self._to_vector(objects)
        # Most objects are far from all places, whatever else they are made of, which takes longer to compare.
        few = np.flatnonzero(self._within(self._nearest, vectors / self._resolution))
        if not self.rests or not len(few):
            near[few] = True
            return near
        rests = rests_of(self.space, [objects[i] for i in few.tolist()])
        near[few] = self._within(self._labelled_tree, self._labelled(vectors[few], rests))
        return near

    def apart(self, objects: Sequence[Any]) -> list[int]:
        """Which of these objects, in their order, are close neither to a place nor to one before them."""
        left = np.flatnonzero(~self.close(objects)).tolist()
        if not is_continuous(self.space) or len(left) < 2:
            return left
        some = [objects[i] for i in left]
        tree = _tree(self._to_vector(some), self._resolution)
        near = tree.query_pairs(1.0 + 1e-9, p=np.inf, output_type="ndarray")
        if not len(near):
            return left
        # The rest is compared of those alone that are at one place.
        crowded = np.unique(near)
        rests = dict(zip(crowded.tolist(), rests_of(self.space, [some[i] for i in crowded.tolist()]), strict=False))
        before: list[list[int]] = [[] for _ in some]
        for i, j in near.tolist():
            if rests.get(i) == rests.get(j):
                before[j].append(i)
        kept: set[int] = set()
        for i, others in enumerate(before):
            if kept.isdisjoint(others):
                kept.add(i)
        return [left[i] for i in sorted(kept)]

    def _to_vector(self, objects: Sequence[Any]) -> Matrix:
        return cast(Continuous, self.space).to_vector(list(objects))

    @staticmethod
    def _within(tree: Any, scaled: Matrix) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(tree.query(scaled, p=np.inf, distance_upper_bound=1.0 + 1e-9)[0]))

    @cached_property
    def _resolution(self) -> Any:
        return np.maximum(self.space.resolution, ROUNDING)

    @cached_property
    def _nearest(self) -> Any:
        return _tree(self.vectors, self._resolution)

    @cached_property
    def _labels(self) -> dict[str, int]:
        return {rest: i for i, rest in enumerate(dict.fromkeys(self.rests))}

    @cached_property
    def _labelled_tree(self) -> Any:
        return _tree(self._labelled(self.vectors, self.rests), 1.0)

    def _labelled(self, vectors: Matrix, rests: Sequence[str]) -> Matrix:
        """Coordinates in units of the resolution, and one more that is the same for the same rest alone."""
        labels = np.array([APART * self._labels.get(rest, -1) for rest in rests] or [0.0] * len(vectors))
        return np.column_stack([vectors / self._resolution, labels])


def rests_of(space: Space, objects: Sequence[Any]) -> tuple[str, ...]:
    """What the objects are but for their vectors: their keys, all moved to one vector."""
    if isinstance(space, Continuous) or not isinstance(space, PartlyContinuous):
        return ()
    origin = np.tile(space.project(np.zeros((1, space.dimension))), (len(objects), 1))
    return tuple(space.key(x) for x in space.with_vector(list(objects), origin))


def _tree(vectors: Matrix, unit: Any) -> Any:
    # Not at the top: it takes as long to load as half of this package.
    from scipy.spatial import cKDTree

    return cKDTree(vectors / unit)
