"""The part of the unit cube where linear constraints hold: nearest points, random points, and directions inside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Vector
from likewise.spaces.base import Generator

# Rounding of a sum of coordinates of the unit cube.
TINY = 1e-12
# So close to a bound a coordinate is on it.
SNAP = 1e-9
ROUNDS, SETTLED = 200, 1e-10


@dataclass(frozen=True, eq=False)
class Polytope:
    """Points z with 0 ≤ z ≤ width, A z ≤ b and E z = e; a width is 1, or 0 for a coordinate that is fixed.

    >>> plane = Polytope(np.zeros((0, 3)), np.zeros(0), np.ones((1, 3)), np.ones(1), np.ones(3))
    >>> plane.project(np.array([[0.9, 0.3, -0.2]])).round(3).tolist()
    [[0.8, 0.2, 0.0]]
    """

    at_most: Matrix
    bounds: Vector
    equal: Matrix
    values: Vector
    widths: Vector

    @cached_property
    def _sides(self) -> tuple[Matrix, Vector]:
        """All inequalities, those of the cube included."""
        unit = np.eye(len(self.widths))
        return np.vstack([self.at_most, unit, -unit]), np.concatenate([self.bounds, self.widths, 0.0 * self.widths])

    @cached_property
    def _inverse(self) -> Matrix:
        """E⁺, with fixed coordinates left where they are."""
        return np.asarray(np.linalg.pinv(self.equal * (self.widths > 0)))

    def along(self, steps: Matrix) -> Matrix:
        """The steps without what would break an equality, or move what is fixed."""
        free = np.asarray(steps, dtype=float) * (self.widths > 0)
        return np.asarray(free - (free @ self.equal.T) @ self._inverse.T)

    @cached_property
    def centre(self) -> Vector:
        """A point with room around it: the centre of the largest ball inside; a SpaceError where there is no point."""
        # Not at the top: it takes long to load, and few spaces need it.
        from scipy.optimize import linprog

        sides, bounds = self._sides
        room = np.linalg.norm(self.along(sides), axis=1)
        goal = np.append(np.zeros(len(self.widths)), -1.0)
        equal = np.hstack([self.equal, np.zeros((len(self.equal), 1))])
        found = linprog(
            goal,
            A_ub=np.column_stack([sides, room]),
            b_ub=bounds,
            A_eq=equal if len(equal) else None,
            b_eq=self.values if len(equal) else None,
            bounds=[(0.0, width) for width in self.widths] + [(0.0, 1.0)],
        )
        if found.x is None or not found.success:
            raise SpaceError("no settings satisfy all constraints; loosen one of them, or widen a range")
        return self._exact(np.clip(found.x[:-1], 0.0, self.widths)[None])[0]

    def _exact(self, z: Matrix) -> Matrix:
        """The points moved onto the planes."""
        return z - (z @ self.equal.T - self.values) @ self._inverse.T if len(self.equal) else z

    def project(self, vectors: Matrix) -> Matrix:
        """The nearest points inside, by Dykstra's alternating projections; what is left is moved towards the centre."""
        z = np.asarray(vectors, dtype=float)
        norms = np.einsum("ij,ij->i", self.at_most, self.at_most)
        corrections = np.zeros((len(self.bounds) + 1, *z.shape))
        for _ in range(ROUNDS):
            before = z
            for k, (row, bound) in enumerate(zip(self.at_most, self.bounds, strict=True)):
                y = z + corrections[k]
                z = y - np.maximum(y @ row - bound, 0.0)[:, None] * row / norms[k]
                corrections[k] = y - z
            y = z + corrections[-1]
            z = np.clip(y, 0.0, self.widths)
            corrections[-1] = y - z
            z = self._exact(z)
            if np.abs(z - before).max(initial=0.0) < SETTLED:
                break
        return self._inside(z)

    def _inside(self, z: Matrix) -> Matrix:
        """The points on their way to the centre, as far as it takes to satisfy every inequality."""
        sides, bounds = self._sides
        way = self.along(self._exact(z) - self.centre)
        rise, room = way @ sides.T, np.maximum(bounds - sides @ self.centre, 0.0)
        beyond = rise > room + TINY
        share = np.where(beyond, room / np.where(beyond, rise, 1.0), 1.0).min(axis=1)
        return self._snap(np.clip(self.centre + share[:, None] * way, 0.0, self.widths))

    def _snap(self, z: Matrix) -> Matrix:
        """The points with what is as good as a bound on it, as nobody weighs in 1e-12; the others make up for it."""
        snapped = np.where(z < SNAP, 0.0, np.where(z > self.widths - SNAP, self.widths, z))
        for i in np.flatnonzero(np.any(snapped != z, axis=1)).tolist() if len(self.equal) else []:
            inside = (snapped[i] > 0) & (snapped[i] < self.widths)
            left = self.values - self.equal @ snapped[i]
            snapped[i, inside] += np.linalg.pinv(self.equal[:, inside]) @ left
        return snapped

    def sample(self, n: int, rng: Generator) -> Matrix:
        """Random points, by hit and run: from the centre in random directions, each time anywhere along the line."""
        sides, bounds = self._sides
        z = np.tile(self.centre, (n, 1))
        for _ in range(30 + 10 * len(self.widths)):
            way = self.along(rng.standard_normal(z.shape))
            rise, room = way @ sides.T, np.maximum(bounds - z @ sides.T, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                reach = room / np.abs(rise)
            ahead = np.where(rise > TINY, reach, np.inf).min(axis=1)
            back = np.where(rise < -TINY, reach, np.inf).min(axis=1)
            low, high = np.where(np.isfinite(back), -back, 0.0), np.where(np.isfinite(ahead), ahead, 0.0)
            z = z + (low + rng.random(n) * (high - low))[:, None] * way
        return self._inside(z)
