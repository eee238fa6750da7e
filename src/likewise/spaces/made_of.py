"""What spaces that are made of other spaces share: search coordinates, and how a part is given, moved and mixed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.combine.algebra import COMBINATIONS
from likewise.similarity.combine.branches import Branches
from likewise.similarity.combine.parts import Parts
from likewise.similarity.kinds.vectors import as_vectors
from likewise.spaces.base import (
    Continuous,
    Enumerable,
    Generator,
    OwnNumbers,
    PartlyContinuous,
    Space,
    is_continuous,
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
    if isinstance(part, type) and issubclass(part, Space):
        raise SpaceError(f"the part {name!r} of a {owner} is a class of spaces; write {part.__name__}(…)")
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
    # Asked as often as moves are.
    if hasattr(part, "crossover") and rng.random() < BLENDED:
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


class MadeOf(Space):
    """A space made of named ones: the search coordinates of those that have any stand side by side, in their order."""

    # The similarity that compares such objects by one similarity for each name.
    compared_by: ClassVar[type[Parts] | type[Branches]]

    @property
    @abstractmethod
    def inside(self) -> Mapping[str, Space]:
        """The spaces that it is made of."""

    def view(self, similarity: Similarity) -> Similarity:
        """For each of the spaces, the similarity as it looks at its own objects."""
        if isinstance(similarity, self.compared_by):
            each = zip(similarity.fields, similarity.parts, strict=True)
            return similarity.rebuilt([self._seen(name, part) for name, part in each]).along(self.widths)
        if isinstance(similarity, COMBINATIONS):
            return similarity.rebuilt([self.view(part) for part in similarity.parts])
        return similarity

    def _seen(self, name: str, similarity: Similarity) -> Similarity:
        space = self.inside.get(name)
        return similarity if space is None else space.differentiate(space.view(similarity))

    @cached_property
    def _continuous(self) -> dict[str, Continuous | PartlyContinuous]:
        """The spaces that have search coordinates."""
        continuous = {name: space for name, space in self.inside.items() if is_continuous(space)}
        return cast("dict[str, Continuous | PartlyContinuous]", continuous)

    @cached_property
    def widths(self) -> dict[str, int]:
        """How many numbers each of them has, which may be more than it has search coordinates."""
        return {name: part_width(space) for name, space in self._continuous.items()}

    @property
    def dimension(self) -> int:
        """How many search coordinates there are together; none where nothing is continuous."""
        return sum(space.dimension for space in self._continuous.values())

    @property
    def resolution(self) -> Vector:
        """Those of the continuous spaces, side by side."""
        return part_resolutions(self._continuous.values())

    def _split(self, vectors: Matrix) -> Iterator[tuple[str, Continuous | PartlyContinuous, Matrix]]:
        """Each continuous space with its columns."""
        start = 0
        for name, space in self._continuous.items():
            yield name, space, vectors[:, start : start + space.dimension]
            start += space.dimension

    def project(self, vectors: Matrix) -> Matrix:
        """The nearest search coordinates inside."""
        return side_by_side(len(vectors), [space.project(columns) for _, space, columns in self._split(vectors)])

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        """A gradient in the numbers of the continuous spaces as one in the search coordinates."""
        pulled, start = [], 0
        for name, space, columns in self._split(vectors):
            pulled.append(space.pull(columns, gradient[:, start : start + self.widths[name]]))
            start += self.widths[name]
        return side_by_side(len(vectors), pulled)
