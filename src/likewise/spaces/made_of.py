"""What spaces that are made of other spaces share: how a part is given, listed, moved and mixed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Vector
from likewise.similarity.kinds.vectors import as_vectors
from likewise.spaces.base import (
    Continuous,
    Crossover,
    Enumerable,
    Generator,
    OwnNumbers,
    PartlyContinuous,
    Space,
)
from likewise.spaces.box import Box
from likewise.spaces.categorical import Categorical
from likewise.spaces.drawing import some
from likewise.spaces.numbers.scalar import Scalar, scalar_of

HANDFUL = 4
PLAIN = (int, float, str, bool)
STEPS = (0.02, 0.1, 0.3)
BLENDED = 0.3


def part_space(owner: str, name: str, part: Any) -> Space:
    """The space of a part, of which a list has the values."""
    if isinstance(part, Box) and part.scalar:
        return scalar_of(part)
    if isinstance(part, Space):
        return part
    if isinstance(part, list):
        try:
            return Categorical(part)
        except SpaceError as error:
            raise SpaceError(f"field {name!r}: {error}") from error
    raise SpaceError(
        f"the part {name!r} of a {owner} is a space or a list of values, not {part!r}; "
        "for a range of numbers write Float(low, high)"
    )


def part_objects(owner: str, name: str, part: Any) -> Sequence[Any]:
    """All objects of a part that can be listed."""
    if isinstance(part, Enumerable):
        return part.objects
    if isinstance(part, Scalar) and (levels := part.levels) is not None:
        return part.keep_allowed(levels)
    if hasattr(part, "grid"):
        listed: Sequence[Any] = part.grid().objects
        return listed
    raise SpaceError(
        f"the part {name!r} of the {owner}, {type(part).__name__}, cannot be listed; give its values as a list"
    )


def part_moves(part: Space, value: Any, quota: int, rng: Generator) -> list[Any]:
    """Some neighbours of a part's value, whatever the part's space can do."""
    # Quicker than asking for the protocol, and moves are asked for at every step of a search.
    if hasattr(part, "moves"):
        near = part.moves(value, rng)
    elif isinstance(part, Continuous):
        near = _steps(part, value, rng)
    elif isinstance(part, Enumerable):
        near = [part.objects[i] for i in some(len(part.objects), quota + 1, rng)]
    else:
        near = part.sample(HANDFUL, rng)
    different = [other for other in part.keep_allowed(near) if not _same(part, value, other)]
    return [different[i] for i in some(len(different), quota, rng)]


def _same(part: Space, value: Any, other: Any) -> bool:
    """Whether two values are the same; plain ones need no key for it."""
    if type(value) in PLAIN and type(other) is type(value):
        return bool(value == other)
    return part.key(value) == part.key(other)


def _steps(part: Continuous, value: Any, rng: Generator) -> list[Any]:
    """Random steps of several sizes from a continuous part's value."""
    scales = np.repeat(STEPS, HANDFUL)[:, None]
    steps = scales * rng.standard_normal((len(scales), part.dimension))
    return part.from_vector(part.project(part.to_vector([value]) + steps))


def part_mixed(part: Space, value: Any, other: Any, rng: Generator) -> Any:
    """One of two values of a part, or sometimes a mix of both."""
    if isinstance(part, Crossover) and rng.random() < BLENDED:
        return part.crossover(value, other, rng)
    return value if rng.random() < 0.5 else other


def part_width(part: Any) -> int:
    """How many numbers an object of a continuous part has, which may be more than it has search coordinates."""
    if hasattr(part, "widths"):
        return sum(part.widths.values())
    one = part.sample(1, np.random.default_rng(0))
    return int((part.to_numbers(one) if isinstance(part, OwnNumbers) else as_vectors(one)).shape[1])


def part_resolutions(parts: Iterable[Continuous | PartlyContinuous]) -> Vector:
    """The resolutions of continuous parts, side by side."""
    each: list[Any] = [np.broadcast_to(part.resolution, part.dimension) for part in parts]  # type: ignore[union-attr]
    return np.concatenate([np.zeros(0), *each])


def side_by_side(n: int, columns: Sequence[Matrix]) -> Matrix:
    """The columns as one matrix of `n` rows, which may have none."""
    return np.hstack([np.zeros((n, 0)), *columns])
