"""Numbers that are tied by linear constraints, such as x + y + z = 1 or a + 2*b <= 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Vector
from likewise.spaces.base import Generator, Space
from likewise.spaces.condition import EQUAL, Condition, LinearForm
from likewise.spaces.numbers import Flags, Scalar

# The part of the unit cube where linear constraints hold: nearest points, random points, and directions inside.

# Rounding of a sum of coordinates of the unit cube.
TINY = 1e-12
# So close to a bound a coordinate is on it.
SNAP = 1e-9
ROUNDS, SETTLED = 200, 1e-10


def nearest_with_sum(vectors: Matrix, lower: Vector, upper: Matrix, weights: Vector, total: float) -> Matrix:
    """The nearest points with lower ≤ x ≤ upper and Σ a x = b: clip(v − τ a, lower, upper) for some τ of each row.

    The sum is linear in τ between the bends, where a number reaches a bound.

    >>> nearest_with_sum(np.array([[0.9, 0.3, -0.2]]), np.zeros(3), np.ones((1, 3)), np.ones(3), 1.0).round(3).tolist()
    [[0.8, 0.2, 0.0]]
    """
    slopes = np.where(weights, weights, np.inf)
    bends = np.sort(np.hstack([(vectors - upper) / slopes, (vectors - lower) / slopes]), axis=1)
    clipped = np.clip(vectors[:, None, :] - bends[:, :, None] * weights, lower, upper[:, None, :])
    sums = (weights * clipped).sum(axis=2)
    last = np.clip(np.sum(sums >= total, axis=1), 1, bends.shape[1] - 1)
    rows = np.arange(len(vectors))
    (before, after), (high, low) = bends[rows, [last - 1, last]], sums[rows, [last - 1, last]]
    fall = np.where(high > low, high - low, 1.0)
    shift = before + np.clip((high - total) / fall, 0.0, 1.0) * (after - before)
    return np.asarray(np.clip(vectors - shift[:, None] * weights, lower, upper))


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
        solution = linprog(
            goal,
            A_ub=np.column_stack([sides, room]),
            b_ub=bounds,
            A_eq=equal if len(equal) else None,
            b_eq=self.values if len(equal) else None,
            bounds=[(0.0, width) for width in self.widths] + [(0.0, 1.0)],
        )
        if solution.x is None or not solution.success:
            raise SpaceError("no settings satisfy all constraints; loosen one of them, or widen a range")
        return self._exact(np.clip(solution.x[:-1], 0.0, self.widths)[None])[0]

    def _exact(self, z: Matrix) -> Matrix:
        """The points moved onto the planes."""
        return z - (z @ self.equal.T - self.values) @ self._inverse.T if len(self.equal) else z

    def project(self, vectors: Matrix) -> Matrix:
        """The nearest points inside: with one equality alone exactly, else by Dykstra's alternating projections.

        What is left is moved towards the centre.
        """
        z = np.asarray(vectors, dtype=float)
        if len(self.equal) == 1 and not len(self.bounds):
            upper = np.broadcast_to(self.widths, z.shape)
            return self._inside(nearest_with_sum(z, 0.0 * self.widths, upper, self.equal[0], float(self.values[0])))
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


# Numbers of a record that are tied by linear constraints, such as x + y + z = 1 or a + 2*b <= 5.

STRIDES = np.repeat([0.3, 0.1, 0.03, 0.01], 4)[:, None]
REPAIRS, STARTS = 60, 200
Fields = dict[str, Any]


@dataclass(frozen=True, eq=False)
class LinearConstraints:
    """Some numbers of a record and the constraints between them: coefficients and constant of Σ c x + k ≤ 0 or = 0."""

    parts: Mapping[str, Scalar]
    constraints: tuple[tuple[LinearForm, bool], ...]

    @classmethod
    def of(cls, parts: Mapping[str, Space], condition: Any) -> LinearConstraints | None:
        """What a condition ties together; None where nothing, or where it is no text."""
        if not isinstance(condition, Condition):
            return None
        forms = tuple(bound for form, sign in condition.comparisons if (bound := _bound(form, sign, parts)) is not None)
        names = {name for form, _ in forms for name in form.coefficients}
        tied = {name: part for name, part in parts.items() if name in names and isinstance(part, Scalar)}
        return cls(tied, forms) if forms else None

    def bind(self, only: Mapping[str, Sequence[Any]]) -> LinearConstraints:
        """The same with some of the numbers fixed."""
        return LinearConstraints(
            {name: _fixed(name, part, only) for name, part in self.parts.items()}, self.constraints
        )

    def check(self) -> None:
        """A complaint where no numbers satisfy the constraints."""
        self._some  # noqa: B018

    @cached_property
    def names(self) -> list[str]:
        """The names of the tied numbers."""
        return list(self.parts)

    @cached_property
    def _rows(self) -> tuple[Matrix, Vector, Flags]:
        """Coefficients, constants, and which constraints are equalities, in the units of the numbers."""
        rows = np.array([[form.coefficients.get(name, 0.0) for name in self.names] for form, _ in self.constraints])
        constants = np.array([form.constant for form, _ in self.constraints])
        return rows, constants, np.array([equal for _, equal in self.constraints])

    @cached_property
    def _ends(self) -> tuple[Vector, Vector, Vector]:
        """Lower and upper bounds, and steps."""
        boxes = [part.box for part in self.parts.values()]
        low, high, step = (np.array([getattr(b, end)[0] for b in boxes]) for end in ("lower", "upper", "step"))
        return low, high, step

    @cached_property
    def polytope(self) -> Polytope:
        """The constraints in the unit coordinates of the numbers."""
        (rows, constants, equal), (low, high, _) = self._rows, self._ends
        scaled, ends = rows * (high - low), -(constants + rows @ low)
        size = np.maximum(np.abs(scaled).max(axis=1), 1e-300)
        scaled, ends = scaled / size[:, None], ends / size
        return Polytope(scaled[~equal], ends[~equal], scaled[equal], ends[equal], (high > low).astype(float))

    @cached_property
    def _some(self) -> Vector:
        """Numbers that satisfy the constraints, with steps if there are any."""
        starts = np.vstack([self.polytope.centre, self.polytope.sample(STARTS, np.random.default_rng(0))])
        repaired, holds = self._repair(self._scaled(starts))
        if not holds.any():
            raise SpaceError(
                "no settings on their steps satisfy all constraints; use other steps, or loosen a constraint"
            )
        return repaired[np.argmax(holds)]

    def _scaled(self, z: Matrix) -> Matrix:
        low, high, _ = self._ends
        return low + z * (high - low)

    def sample(self, n: int, rng: Generator) -> list[Fields]:
        """Random numbers that satisfy the constraints."""
        return self._made(self._scaled(self.polytope.sample(n, rng)))

    def from_vector(self, vectors: Matrix) -> list[Fields]:
        """The numbers at these unit coordinates, or near them."""
        return self._made(self._scaled(self.polytope.project(vectors)))

    def settle(self, record: Mapping[str, Any]) -> Fields:
        """The numbers of a record, changed as little as it takes to satisfy the constraints."""
        z = np.hstack([part.to_vector([record[name]]) for name, part in self.parts.items()])
        return self.from_vector(z)[0]

    def _made(self, numbers: Matrix) -> list[Fields]:
        if self._ends[2].any():
            repaired, holds = self._repair(numbers)
            numbers = np.where(holds[:, None], repaired, self._some)
        return self._fields(numbers)

    def _fields(self, numbers: Matrix) -> list[Fields]:
        columns = [part.from_numbers(numbers[:, [k]]) for k, part in enumerate(self.parts.values())]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*columns, strict=True)]

    def moves(self, record: Mapping[str, Any], rng: Generator) -> list[Fields]:
        """The numbers shaken along the constraints, and each one that has steps one up or down, others following."""
        here = np.array([float(record[name]) for name in self.names])
        z = np.hstack([part.to_vector([record[name]]) for name, part in self.parts.items()])
        shaken = z + self.polytope.along(STRIDES * rng.standard_normal((len(STRIDES), len(self.names))))
        up = np.diag(self._ends[2])[self._ends[2] > 0]
        steps = np.stack([-up, up], axis=1).reshape(-1, len(here))
        moved, holds = self._repair(here + steps, steps != 0)
        near = self.from_vector(shaken) + self._fields(moved[holds])
        unmoved = {name: record[name] for name in self.names}
        return [x for x in {repr(x): x for x in near}.values() if x != unmoved]

    def _repair(self, numbers: Matrix, locked: Flags | None = None) -> tuple[Matrix, Flags]:
        """Rows of numbers on their steps, changed one by one until the constraints hold, and where they then do."""
        columns = [part.from_numbers(numbers[:, [k]]) for k, part in enumerate(self.parts.values())]
        x = np.array(columns, dtype=float).T
        fixed = np.zeros(x.shape, dtype=bool) if locked is None else locked
        left = self._violation(x)
        tried = np.arange(len(x))
        for _ in range(REPAIRS):
            tried = tried[left[tried] > 0]
            if not len(tried):
                break
            changed, then = self._changed(x[tried], fixed[tried], numbers[tried])
            better = then < left[tried]
            tried = tried[better]
            x[tried], left[tried] = changed[better], then[better]
        return x, left == 0.0

    def _violation(self, x: Matrix) -> Vector:
        """How far the constraints are broken, in all, each in units of its terms; 0 where that is rounding."""
        rows, constants, equal = self._rows
        terms = x[..., None, :] * rows
        value, size = terms.sum(axis=-1) + constants, np.abs(terms).sum(axis=-1) + np.abs(constants)
        broken = np.where(equal, np.abs(value), np.maximum(value, 0.0))
        shares = np.where(broken > 0.1 * EQUAL * size, broken / np.maximum(size, 1e-300), 0.0)
        return np.asarray(shares.sum(axis=-1))

    def _changed(self, x: Matrix, locked: Flags, wish: Matrix) -> tuple[Matrix, Vector]:
        """Each row with the change of one number that helps most with one constraint, and what is then broken."""
        (rows, constants, equal), (low, high, step) = self._rows, self._ends
        value = (x[:, None, :] * rows).sum(axis=2) + constants
        change = -value[:, :, None] / np.where(rows, rows, np.inf)
        many = np.abs(change) / np.where(step, step, 1.0)
        # An inequality needs whole steps beyond; an equality comes nearest with the nearest.
        many = np.maximum(np.where(equal[:, None], np.round(many), np.ceil(many - 1e-9)), 1.0)
        change = np.where(step, np.sign(change) * step * many, change)
        y = x[:, None, None, :] + np.eye(x.shape[1]) * change[..., None]
        y = np.clip(y, low, high)
        helps = ((value > 0) | (equal & (value < 0)))[:, :, None] & (rows != 0) & ~locked[:, None, :]
        left = np.where(helps, self._violation(y), np.inf)
        away = np.sum(np.abs(y - wish[:, None, None, :]) / np.where(high > low, high - low, 1.0), axis=-1)
        flat = (len(x), -1)
        least = np.round(left, 12).reshape(flat)
        away = np.where(least == least.min(axis=1, keepdims=True), away.reshape(flat), np.inf)
        every, best = np.arange(len(x)), np.argmin(away, axis=1)
        return y.reshape(*flat, x.shape[1])[every, best], left.reshape(flat)[every, best]


def _bound(form: LinearForm | None, sign: str, parts: Mapping[str, Space]) -> tuple[LinearForm, bool] | None:
    """The comparison as ≤ 0 or = 0, where it is of numbers that can be tied; None for all else."""
    if not sign or form is None or not form.coefficients:
        return None
    tied = [parts.get(name) for name in form.coefficients]
    if any(not isinstance(part, Scalar) or part.box.log[0] for part in tied):
        return None
    return (-form if sign == ">=" else form), sign == "="


def _fixed(name: str, part: Scalar, only: Mapping[str, Sequence[Any]]) -> Scalar:
    if name not in only:
        return part
    if len(only[name]) > 1:
        raise SpaceError(
            f"{name!r} is tied to other numbers by a constraint, so that a batch cannot be bound to {len(only[name])} "
            "values of it; fix it to one, or leave it out of at_most"
        )
    return part.at(only[name][0])
