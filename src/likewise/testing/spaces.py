"""The laws that every space obeys, to be run on one's own: `check_space(space)`.

Each check raises an AssertionError that names the law, the space and the object that breaks it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix
from likewise.similarity.kinds.vectors import as_vectors
from likewise.spaces.base import (
    Continuous,
    Crossover,
    Enumerable,
    Generator,
    Moves,
    OwnNumbers,
    PartlyContinuous,
    Space,
)

STEP = 1e-5
EPSILON = float(np.finfo(float).eps)


def check_space(space: Space, rng: Generator | None = None, n: int = 24) -> None:
    """Raise an AssertionError that names the first law that a space breaks, of those that apply to what it can do.

    space: the one to be checked.
    rng: what draws the objects; by default always the same.
    n: how many objects are drawn; 24 by default.

    >>> from likewise.spaces.strings import Strings
    >>> check_space(Strings("ACGT", length=4))
    """
    rng = np.random.default_rng(0) if rng is None else rng
    objects = space.sample(n, rng)
    check_json(space, objects)
    check_samples(space, objects, n)
    check_cells(space, objects)
    check_description(space)
    if isinstance(space, Enumerable):
        check_enumeration(space)
    if isinstance(space, Moves):
        check_moves(space, objects, rng)
    if isinstance(space, Crossover):
        check_crossover(space, objects, rng)
    if isinstance(space, Continuous):
        check_vectors(space, objects, rng)
    if isinstance(space, OwnNumbers):
        check_numbers(space, objects, rng)
    if isinstance(space, PartlyContinuous):
        check_partial_vectors(space, objects, rng)


def _numbers(space: Any, objects: Sequence[Any]) -> Matrix:
    """The objects' own numbers, as the space reads them or else as arrays."""
    return space.to_numbers(objects) if isinstance(space, OwnNumbers) else as_vectors(objects)


def check_samples(space: Space, objects: Sequence[Any], n: int) -> None:
    """Samples are `n` members, in canonical form; the same seed gives the same ones."""
    _require(len(objects) == n, space, f"sample({n}, rng) gave {len(objects)} objects")
    _require(space.sample(0, np.random.default_rng(0)) == [], space, "sample(0, rng) is not empty")
    for x in objects:
        _require_member(space, x, "a sample")
        _require_same(space, space.fit(x), x, "fit changes a sample, which should be in canonical form already")
    first, second = (space.sample(n, np.random.default_rng(7)) for _ in range(2))
    for x, y in zip(first, second, strict=True):
        _require_same(space, x, y, "two generators with one seed give different samples")


def check_json(space: Space, objects: Sequence[Any]) -> None:
    """to_json gives JSON data, of which from_json makes the same object with the same key."""
    for x in objects:
        try:
            text = json.dumps(space.to_json(x), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise AssertionError(f"{space!r}: to_json({x!r}) is not JSON data: {error}") from error
        back = space.from_json(json.loads(text))
        _require_same(space, back, x, "an object does not come back from JSON as it was")
        _require_member(space, back, "an object that came back from JSON")


def check_cells(space: Space, objects: Sequence[Any]) -> None:
    """Where tables hold objects of the space, from_cell reads the object that to_cell wrote, with either sign."""
    decimals: tuple[Literal[".", ","], ...] = () if space.short is None else (".", ",")
    for x in objects:
        for decimal in decimals:
            text = space.to_cell(space.to_json(x), decimal).strip()
            try:
                back = space.fit(space.from_cell(text, decimal)) if text else x
            except SpaceError as error:
                raise AssertionError(f"{space!r}: from_cell refuses {text!r}, which to_cell wrote: {error}") from error
            _require_same(space, back, x, f"an object does not come back from its cell {text!r} as it was")


def check_description(space: Space) -> None:
    """describe is JSON data, unchanged by JSON, and the same for a copy of the space, which it includes."""
    description = space.describe()
    _require(json.loads(json.dumps(description)) == description, space, "describe() is changed by JSON")
    _require(space.includes(description), space, "the space says it does not include itself")
    _require(copy.deepcopy(space).describe() == description, space, "a copy of the space describes itself differently")


def check_enumeration(space: Any) -> None:
    """The objects listed are members, and each is listed once."""
    listed = list(space.objects[:1000])
    for x in listed:
        _require_member(space, x, "a listed object")
    _require(len({space.key(x) for x in listed}) == len(listed), space, "an object is listed twice")


def check_moves(space: Any, objects: Sequence[Any], rng: Generator) -> None:
    """Moves are members in canonical form, mostly other objects, drawn by the generator, and leave x as it was."""
    for x in objects[:6]:
        before, seed = space.key(x), int(rng.integers(2**32))
        near, again = (space.moves(x, np.random.default_rng(seed)) for _ in range(2))
        _require(space.key(x) == before, space, f"moves changes its argument {x!r}")
        keys = [space.key(y) for y in near]
        _require(keys == list(map(space.key, again)), space, f"moves of {x!r} are not drawn by the generator alone")
        _require(2 * keys.count(before) <= len(keys), space, f"most moves from {x!r} lead back to it")
        for y in near:
            _require_member(space, y, f"a move from {x!r}")
            _require_same(space, space.fit(y), y, "fit changes a move, which should be in canonical form already")


def check_crossover(space: Any, objects: Sequence[Any], rng: Generator) -> None:
    """A mix of two objects is a member, and leaves both as they were."""
    for x, y in zip(objects, reversed(objects), strict=True):
        before = space.key(x), space.key(y)
        mixed = space.crossover(x, y, rng)
        _require_member(space, mixed, f"the crossover of {x!r} and {y!r}")
        _require_same(space, space.fit(mixed), mixed, "fit changes a crossover, which should be in canonical form")
        _require((space.key(x), space.key(y)) == before, space, "crossover changes its arguments")


def check_vectors(space: Any, objects: Sequence[Any], rng: Generator) -> None:
    """Objects and vectors map to each other, project is idempotent, and pull agrees with finite differences."""
    vectors = space.to_vector(objects)
    _require(vectors.shape == (len(objects), space.dimension), space, f"to_vector has shape {vectors.shape}")
    for x, y in zip(objects, space.from_vector(vectors), strict=True):
        same = np.allclose(_numbers(space, [x]), _numbers(space, [y]))
        _require(same, space, f"from_vector(to_vector) turns {x!r} into {y!r}")
    _require(len(space.from_vector(vectors[:0])) == 0, space, "from_vector makes objects of no vectors")
    _check_projection(space, vectors, rng)
    outside = space.project(vectors + rng.normal(size=vectors.shape))
    for x in space.from_vector(outside) if space.where is None else []:
        _require_member(space, x, "an object made from a projected vector")
    _check_pull(space, vectors, rng)


def check_numbers(space: Any, objects: Sequence[Any], rng: Generator) -> None:
    """Objects and their own numbers map to each other, and any numbers lead to an object of the space."""
    numbers = space.to_numbers(objects)
    _require(numbers.shape[1:] == space.spans.shape, space, f"to_numbers has shape {numbers.shape}")
    for x, y in zip(objects, space.from_numbers(numbers), strict=True):
        same = np.allclose(_numbers(space, [x]), _numbers(space, [y]))
        _require(same, space, f"from_numbers(to_numbers) is {y!r}, not {x!r}")
    for x in space.from_numbers(numbers + rng.normal(size=numbers.shape) * space.spans) if space.where is None else []:
        _require_member(space, x, "an object made from numbers")


def check_partial_vectors(space: Any, objects: Sequence[Any], rng: Generator) -> None:
    """An object with its own vector is itself, one with another has that vector, and project is idempotent.

    A coordinate that an object has not, as that of another branch, stays as it was; but some object has each that is
    not the same for all.
    """
    vectors = space.to_vector(objects)
    _require(vectors.shape == (len(objects), space.dimension), space, f"to_vector has shape {vectors.shape}")
    same = space.to_vector(space.with_vector(objects, vectors))
    _require(np.allclose(same, vectors), space, "with_vector(objects, to_vector(objects)) changes the objects")
    _require(len(space.with_vector([], vectors[:0])) == 0, space, "with_vector makes objects of none")
    _check_projection(space, vectors, rng)
    target = space.to_vector(list(reversed(objects)))
    moved = space.with_vector(objects, target)
    after = space.to_vector(moved)
    taken = np.isclose(after, target)
    _require(np.all(taken | np.isclose(after, vectors)), space, "with_vector does not give the objects the vectors")
    ignored = ~np.any(taken & ~np.isclose(vectors, target), axis=0) & (np.ptp(vectors, axis=0) > 0)
    _require(not ignored.any(), space, f"with_vector ignores the coordinates {np.flatnonzero(ignored).tolist()}")
    if space.where is None:
        for x in moved:
            _require_member(space, x, "an object with another vector")


def _check_projection(space: Any, vectors: Matrix, rng: Generator) -> None:
    _require(np.allclose(space.project(vectors), vectors), space, "project moves the vector of a member")
    outside = space.project(vectors + rng.normal(size=vectors.shape))
    _require(np.allclose(space.project(outside), outside), space, "project moves what it has projected")


def _check_pull(space: Any, vectors: Matrix, rng: Generator) -> None:
    """For each number k of the objects and a small step inside, pull(e_k)·step = the change of number k.

    The two may differ by 1e-4 of the largest change, for the space may bend, and by what is rounded. Each of the two
    objects whose difference is the change has number k off by ε (|x_k| (1 + |log |x_k||) + Σ_j |∂x_k/∂z_j| |z_j|):
    x_k is rounded when it is stored, and its logarithm too, where the vector holds that; and so is each z_j on its way.
    A step of 1e-5 across a range far narrower than the numbers in it is not much more than that. A number that does
    not change at all is rounded whole, and passed over.
    """
    end = space.project(vectors + STEP * rng.normal(size=vectors.shape))
    step, middle = end - vectors, 0.5 * (vectors + end)
    before, after = _numbers(space, space.from_vector(vectors)), _numbers(space, space.from_vector(end))
    change, size = after - before, np.maximum(np.abs(before), np.abs(after))
    stored = size * (1.0 + np.abs(np.log(np.where(size > 0, size, 1.0))))
    for k in range(change.shape[1]):
        unit = np.zeros_like(change)
        unit[:, k] = 1.0
        slope = space.pull(middle, unit)
        foreseen = np.sum(slope * step, axis=1)
        rounded = 2.0 * EPSILON * (stored[:, k] + np.sum(np.abs(slope * middle), axis=1))
        bent = 1e-4 * np.abs(foreseen).max(initial=0.0)
        wrong = (change[:, k] != 0) & (np.abs(foreseen - change[:, k]) > bent + rounded)
        _require(not wrong.any(), space, f"pull does not agree with finite differences in number {k} of the objects")


def same(x: Any, y: Any) -> bool:
    """Whether two objects are equal, arrays and what contains them included.

    Objects that define no equality, such as graphs, count as equal here; their keys tell them apart.
    """
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return bool(np.array_equal(x, y))
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return list(x) == list(y) and all(same(x[name], y[name]) for name in x)
    if isinstance(x, list | tuple) and type(x) is type(y):
        return len(x) == len(y) and all(map(same, x, y))
    if getattr(type(x), "__eq__", None) is object.__eq__:
        return type(x) is type(y)
    return bool(x == y)


def _require(holds: Any, space: Any, broken: str) -> None:
    if not holds:
        raise AssertionError(f"{space!r}: {broken}")


def _require_member(space: Any, x: Any, what: str) -> None:
    _require(x in space, space, f"{what} is not in the space: {x!r}")


def _require_same(space: Any, x: Any, y: Any, broken: str) -> None:
    _require(same(x, y) and space.key(x) == space.key(y), space, f"{broken}: {x!r} and {y!r}")
