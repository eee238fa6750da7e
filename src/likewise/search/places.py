"""Where objects lie in a space's search coordinates, and which are too close to others to be set apart from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from likewise.similarity.base import Matrix
from likewise.spaces.base import Continuous, PartlyContinuous, Space, at_vectors, is_continuous

# A whole number is another one at any distance; so much is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Places:
    """Objects of a space, by where they lie.

    Two objects are closer than the space can set them if they differ by no more than its resolution in every search
    coordinate, and are the same in what is not continuous. In a space without search coordinates none are.

    >>> from likewise.spaces.box import Box
    >>> Places(Box([0.0], [100.0]), [[50.0]]).close([[50.05], [50.2]]).tolist()
    [True, False]
    """

    space: Space
    objects: Sequence[Any] = ()

    def add(self, objects: Sequence[Any]) -> Places:
        """The same with more objects."""
        return Places(self.space, [*self.objects, *objects]) if len(objects) else self

    def close(self, objects: Sequence[Any]) -> NDArray[np.bool_]:
        """Which of these objects are closer to one of the places than the space can set."""
        return np.array([len(found) > 0 for found in self._near(objects)], dtype=bool)

    def apart(self, objects: Sequence[Any]) -> list[int]:
        """Which of these objects, in their order, are close neither to a place nor to one before them."""
        if not is_continuous(self.space):
            return list(range(len(objects)))
        left = np.flatnonzero(~self.close(objects)).tolist()
        near = Places(self.space, [objects[i] for i in left])._near([objects[i] for i in left])
        kept: set[int] = set()
        for i, found in enumerate(near):
            if not kept.intersection(found):
                kept.add(i)
        return [left[i] for i in sorted(kept)]

    def nearest(self, objects: Sequence[Any]) -> Matrix:
        """The search coordinates of the place that each of these objects is closest to."""
        assert self._tree is not None
        return np.asarray(self._vectors[self._tree.query(self._scaled(objects), p=np.inf)[1]])

    def _near(self, objects: Sequence[Any]) -> list[list[int]]:
        """For each object the numbers of the places it is close to."""
        if self._tree is None or not len(objects):
            return [[] for _ in objects]
        found = self._tree.query_ball_point(self._scaled(objects), 1.0 + 1e-9, p=np.inf)
        return [[i for i in near if self._alike(x, self.objects[i])] for x, near in zip(objects, found, strict=True)]

    @cached_property
    def _resolution(self) -> Any:
        return np.maximum(self.space.resolution, ROUNDING)

    def _scaled(self, objects: Sequence[Any]) -> Matrix:
        return _vectors(self.space, objects) / self._resolution

    @cached_property
    def _vectors(self) -> Matrix:
        return _vectors(self.space, self.objects)

    @cached_property
    def _tree(self) -> Any:
        if not is_continuous(self.space) or not len(self.objects):
            return None
        return cKDTree(self._vectors / self._resolution)

    def _alike(self, x: Any, other: Any) -> bool:
        """Whether two objects are the same but for their vectors."""
        if not isinstance(self.space, PartlyContinuous):
            return True
        origin = self._vectors[:1]
        here, there = (self.space.key(at_vectors(self.space, origin, [one])[0]) for one in (x, other))
        return here == there


def _vectors(space: Space, objects: Sequence[Any]) -> Matrix:
    assert isinstance(space, Continuous | PartlyContinuous)
    return space.to_vector(list(objects))
