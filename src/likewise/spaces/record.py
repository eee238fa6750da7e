"""Spaces made of other spaces: records of named parts, and one of several branches."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Self, cast

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.algebra import COMBINATIONS
from likewise.similarity.auto import Recognised, of_branches, of_records
from likewise.similarity.base import Matrix, Similarity, Vector, assign
from likewise.similarity.kinds.vectors import as_vectors
from likewise.similarity.records import Branches, Parts
from likewise.spaces.base import (
    MOVES,
    Continuous,
    Crossover,
    Enumerable,
    Generator,
    OwnNumbers,
    PartlyContinuous,
    Space,
    at_vectors,
    child,
    is_continuous,
    some,
)
from likewise.spaces.categorical import Categorical
from likewise.spaces.condition import Condition
from likewise.spaces.constraints import LinearConstraints
from likewise.spaces.numbers import Box, Scalar, scalar_of
from likewise.spaces.pool import Pool

# What spaces that are made of other spaces share: search coordinates, and how a part is given, moved and mixed.

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


class CompositeSpace(Space):
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


# Some objects of a space: what is left of a part of records when a batch may use only these.


@dataclass(frozen=True, eq=False)
class Subset(Space):
    """Some objects of a space, in the space's own coordinates, so that gradients stay what they were.

    >>> from likewise.spaces.numbers import Float
    >>> Subset(Float(20, 120), (30.0, 80.0)).from_vector(np.array([[0.5]]))
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

    def _describe(self) -> dict[str, Any]:
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


# Records: named parts, each from a space of its own, continuous ones included.

GRID = 200_000

Fields = dict[str, Any]


@dataclass(frozen=True, init=False)
class Record(CompositeSpace):
    """Named parts, each from a space of its own, as dicts.

    - `where`, which may also come first without its name: which records are allowed; by default all are. It is a
      function, or a condition as text. Linear constraints in a text tie numbers together, and all that is proposed
      keeps to them: `where="x + y + z = 1 and temperature <= 10 * time"`.
    - `parts`: a space for each field, `Record(solvent=["water", "DMF"], temperature=Float(20, 120))`. A list of values
      is a Categorical, and a Box with plain numbers for bounds a Float or an Int: a single number is a plain number.

    Moves change one part; crossover takes each part from one of two records. A record with continuous parts is climbed
    along the gradient in those, and by moves in the others. A record of a few values per field can be listed whole by
    `grid`.

    >>> recipe = Record(solvent=["water", "DMF"], base=["K2CO3", "KOAc"])
    >>> recipe.size, recipe.fit({"base": "KOAc", "solvent": "DMF"})
    (4, {'solvent': 'DMF', 'base': 'KOAc'})
    """

    compared_by = Parts
    where: Callable[[Any], bool] | None
    parts: dict[str, Space] = field()
    tie: LinearConstraints | None = field(compare=False, repr=False)

    def __init__(self, where: Callable[[Any], bool] | str | None = None, /, **parts: Any) -> None:
        if where is None and (isinstance(parts.get("where"), str) or callable(parts.get("where"))):
            where = parts.pop("where")
        if where is not None and not isinstance(where, str) and not callable(where):
            raise SpaceError(f"the first argument of Record is a predicate, not {where!r}; give the parts by name")
        if not parts:
            raise SpaceError("Record needs at least one part, as in Record(solvent=['water', 'DMF'])")
        made = {name: part_space("Record", name, part) for name, part in parts.items()}
        condition = Condition.read(where, made) if isinstance(where, str) else where
        self._assign(condition, made, LinearConstraints.of(made, condition))

    def _assign(
        self, where: Callable[[Any], bool] | None, parts: dict[str, Space], tie: LinearConstraints | None
    ) -> None:
        assign(self, where=where, parts=parts, tie=tie)
        if tie is not None:
            try:
                tie.check()
            except SpaceError as error:
                raise SpaceError(f"{getattr(where, 'text', 'the constraints')}: {error}") from None

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any], build: Callable[[Any, str], Space]) -> Self:
        """In a file, the parts stand in a table of their own."""
        parts = {**arguments}.pop("parts", {})
        where = arguments.get("where")
        if not isinstance(parts, Mapping) or set(arguments) - {"parts", "where"} or not isinstance(where, str | None):
            raise SpaceError(
                "a Record needs a table [parts], with a space or a list of values for each column, and no more than a "
                "condition `where` beside it, as text"
            )
        return cls(where, **{name: build(inside, f"part {name!r}") for name, inside in parts.items()})

    @property
    def inside(self) -> Mapping[str, Space]:
        return self.parts

    @property
    def stepped(self) -> bool:
        return True

    def recognise(self, rng: Generator) -> Recognised:
        """By the parts; one that has a single value compares nothing."""
        several = {
            name: part
            for name, part in self.parts.items()
            if not (isinstance(part, Enumerable) and len(part.objects) == 1)
        }
        return of_records({name: part.recognise_part(rng) for name, part in (several or self.parts).items()})

    def recognise_part(self, rng: Generator) -> Recognised:
        return self.recognise(rng)

    @property
    def size(self) -> float:
        return math.prod(part.size for part in self.parts.values())

    def _draw(self, n: int, rng: Generator) -> list[Fields]:
        columns = [part.sample(n, rng) for part in self.parts.values()]
        drawn = [dict(zip(self.parts, values, strict=True)) for values in zip(*columns, strict=True)]
        return drawn if self.tie is None else [{**x, **y} for x, y in zip(drawn, self.tie.sample(n, rng), strict=True)]

    def _fit(self, x: Any) -> Fields:
        if not isinstance(x, Mapping):
            raise SpaceError(f"{x!r} is not a record; give a dict with the fields {', '.join(self.parts)}")
        for name in x:
            if name not in self.parts:
                raise SpaceError(f"the record has a field {name!r}, but this space has only {', '.join(self.parts)}")
        return {name: self._fitted(name, x) for name in self.parts}

    def _fitted(self, name: str, x: Mapping[str, Any]) -> Any:
        if name not in x:
            raise SpaceError(f"the record has no field {name!r}: {x!r}; it needs {', '.join(self.parts)}")
        try:
            return self.parts[name].fit(x[name])
        except SpaceError as error:
            raise SpaceError(f"field {name!r}: {error}") from error

    def moves(self, x: Fields, rng: Generator) -> list[Fields]:
        """Records that differ in one part: a handful for each part; numbers that are tied move together."""
        quota, tied = max(HANDFUL, MOVES // len(self.parts)), self._tied
        near = [
            {**x, name: value}
            for name, part in self.parts.items()
            if name not in tied
            for value in part_moves(part, x[name], quota, rng)
        ]
        near += [] if self.tie is None else [{**x, **moved} for moved in self.tie.moves(x, rng)]
        return self.keep_allowed(near)

    @property
    def _tied(self) -> Sequence[str]:
        return () if self.tie is None else self.tie.names

    @cached_property
    def _tied_columns(self) -> list[int]:
        """The columns of the numbers that are tied, in the vector of a record."""
        starts = np.cumsum([0, *(part.dimension for part in self._continuous.values())]).tolist()
        place = dict(zip(self._continuous, starts, strict=False))
        return [place[name] for name in self._tied]

    def crossover(self, x: Fields, other: Fields, rng: Generator) -> Fields:
        """Each part from one of the two records, or sometimes a mix of both parts."""

        def mixed() -> Fields:
            made = {name: part_mixed(part, x[name], other[name], rng) for name, part in self.parts.items()}
            return made if self.tie is None else {**made, **self.tie.settle(made)}

        return child(self, mixed, x)

    def grid(self, limit: int = GRID) -> Pool:
        """A pool of all the records; a SpaceError when a part cannot be listed, or when they are more than `limit`.

        >>> Record(a=[1, 2], b=["x", "y"]).grid().objects[1]
        {'a': 1, 'b': 'y'}
        """
        columns = {name: part_objects("record", name, part) for name, part in self.parts.items()}
        total = math.prod(map(len, columns.values()))
        if total > limit:
            raise SpaceError(
                f"the grid of {' × '.join(f'{len(c)} {name}' for name, c in columns.items())} has {total} records, "
                f"more than {limit}; raise limit, or search the record without listing it"
            )
        records = [dict(zip(columns, values, strict=True)) for values in product(*columns.values())]
        return Pool(records, where=self.where, to_json=self.to_json, from_json=self.from_json)

    def bound(self, only: Mapping[str, Sequence[Any]], where: Callable[[Any], bool] | None = None) -> Record:
        """The records whose parts have some of these values alone, and that satisfy `where`, too."""
        tie = None if self.tie is None else self.tie.bind(only)
        parts = {name: Subset(part, tuple(only[name])) if name in only else part for name, part in self.parts.items()}
        both = [each for each in (self.where, where) if each is not None]
        made = Record(**parts)
        parts.update({} if tie is None else tie.parts)
        made._assign((lambda x: all(each(x) for each in both)) if both else None, parts, tie)
        return made

    def to_json(self, x: Fields) -> Fields:
        return {name: part.to_json(x[name]) for name, part in self.parts.items()}

    def from_json(self, data: Any) -> Fields:
        return {name: part.from_json(data[name]) for name, part in self.parts.items()}

    def _describe(self) -> dict[str, Any]:
        return {"space": "Record", "parts": {name: part.describe() for name, part in self.parts.items()}}

    def includes(self, described: Mapping[str, Any]) -> bool:
        parts = described.get("parts", {})
        return parts.keys() == self.parts.keys() and all(
            self.parts[name].includes(part) for name, part in parts.items()
        )

    def to_vector(self, objects: Sequence[Fields]) -> Matrix:
        """The search coordinates of the continuous parts, side by side."""
        parts = self._continuous.items()
        return side_by_side(len(objects), [part.to_vector([x[name] for x in objects]) for name, part in parts])

    def with_vector(self, objects: Sequence[Fields], vectors: Matrix) -> list[Fields]:
        """The objects with their continuous parts at these search coordinates."""
        made = list(objects)
        for name, part, columns in self._split(vectors):
            values = at_vectors(part, columns, [x[name] for x in objects])
            made = [{**x, name: value} for x, value in zip(made, values, strict=True)]
        if self.tie is None:
            return made
        tied = self.tie.from_vector(vectors[:, self._tied_columns])
        return [{**x, **y} for x, y in zip(made, tied, strict=True)]

    def project(self, vectors: Matrix) -> Matrix:
        """The nearest search coordinates inside."""
        inside = super().project(vectors)
        if self.tie is not None:
            inside[:, self._tied_columns] = self.tie.polytope.project(vectors[:, self._tied_columns])
        return inside

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
        """A gradient in the numbers of the continuous parts as one in the search coordinates."""
        found = super().pull(vectors, gradient)
        if self.tie is not None:
            found[:, self._tied_columns] = self.tie.polytope.along(found[:, self._tied_columns])
        return found


# One of several branches, each with a space of its own: the settings of an SVM, or those of a forest.

Branch = dict[str, Any]


@dataclass(frozen=True, init=False)
class OneOf(CompositeSpace):
    """One of several branches, each with a space of its own, as {branch: object}.

    - `where`, which comes first and has no name: a function that says whether an object is allowed; by default all are.
    - `branches`: a space for each branch, `OneOf(svm=Record(C=Float(0.1, 10)), forest=Record(depth=[2, 4, 8]))`. A list
      of values is a Categorical; a branch without anything to choose is None.

    An object has the parts of its own branch and no others, so that none is without meaning. It names its branch by its
    one key, so that two branches may have parts of one name. Branches are drawn equally often. Moves change the parts,
    or go to another branch.

    >>> from likewise.spaces.record import Record
    >>> model = OneOf(svm=Record(C=[0.1, 1, 10]), forest=Record(depth=[2, 4]), bayes=None)
    >>> model.size, model.fit({"svm": {"C": 1}}), model.fit({"bayes": None})
    (6, {'svm': {'C': 1}}, {'bayes': None})
    """

    compared_by = Branches
    where: Callable[[Any], bool] | None
    branches: dict[str, Space] = field()

    def __init__(self, where: Callable[[Any], bool] | None = None, /, **branches: Any) -> None:
        if where is not None and not callable(where):
            raise SpaceError(f"the first argument of OneOf is a predicate, not {where!r}; give the branches by name")
        if not branches:
            raise SpaceError("OneOf needs at least one branch, as in OneOf(svm=Record(C=[1, 10]), bayes=None)")
        given = {name: [None] if branch is None else branch for name, branch in branches.items()}
        assign(self, where=where, branches={name: part_space("OneOf", name, each) for name, each in given.items()})

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any], build: Callable[[Any, str], Space]) -> Self:
        """In a file, the branches stand in a table of their own."""
        branches = {**arguments}.pop("branches", {})
        if not isinstance(branches, Mapping) or set(arguments) - {"branches"}:
            raise SpaceError("a OneOf needs a table [branches] alone, with a space or a list of values for each branch")
        return cls(**{name: build(inside, f"branch {name!r}") for name, inside in branches.items()})

    @property
    def inside(self) -> Mapping[str, Space]:
        return self.branches

    @property
    def stepped(self) -> bool:
        return True

    def recognise(self, rng: Generator) -> Recognised:
        """By the branches."""
        return of_branches({name: branch.recognise_part(rng) for name, branch in self.branches.items()})

    def recognise_part(self, rng: Generator) -> Recognised:
        return self.recognise(rng)

    @property
    def size(self) -> float:
        return sum(branch.size for branch in self.branches.values())

    def _draw(self, n: int, rng: Generator) -> list[Branch]:
        names = list(self.branches)
        chosen = [names[i] for i in rng.integers(len(names), size=n).tolist()]
        drawn = {name: iter(branch.sample(chosen.count(name), rng)) for name, branch in self.branches.items()}
        return [{name: next(drawn[name])} for name in chosen]

    def _fit(self, x: Any) -> Branch:
        if not isinstance(x, Mapping) or len(x) != 1:
            example = f"{{{next(iter(self.branches))!r}: …}}"
            raise SpaceError(f"{x!r} is of no branch; give a dict with the branch as its one key, as in {example}")
        ((name, inside),) = x.items()
        if name not in self.branches:
            raise SpaceError(f"there is no branch {name!r}; it is one of {', '.join(self.branches)}")
        try:
            return {name: self.branches[name].fit(inside)}
        except SpaceError as error:
            raise SpaceError(f"branch {name!r}: {error}") from error

    def moves(self, x: Branch, rng: Generator) -> list[Branch]:
        """Other objects of the branch, and a handful of each other branch."""
        ((own, inside),) = x.items()
        near = [{own: value} for value in part_moves(self.branches[own], inside, MOVES, rng)]
        for name, branch in self.branches.items():
            near += [{name: value} for value in branch.sample(HANDFUL, rng)] if name != own else []
        return self.keep_allowed(near)

    def crossover(self, x: Branch, other: Branch, rng: Generator) -> Branch:
        """A mix of two objects of one branch, and otherwise one of the two."""
        ((name, inside),) = x.items()
        branch = self.branches[name]
        if name not in other or not isinstance(branch, Crossover):
            return x if rng.random() < 0.5 else other
        return child(self, lambda: {name: branch.crossover(inside, other[name], rng)}, x)

    def grid(self, limit: int = GRID) -> Pool:
        """A pool of all the objects; a SpaceError when a branch cannot be listed, or when they are more than `limit`.

        >>> from likewise.spaces.record import Record
        >>> OneOf(svm=Record(C=[1, 10]), bayes=None).grid().objects[2]
        {'bayes': None}
        """
        listed = {name: part_objects("OneOf", name, branch) for name, branch in self.branches.items()}
        total = sum(map(len, listed.values()))
        if total > limit:
            raise SpaceError(f"the branches have {total} objects, more than {limit}; raise limit, or search the space")
        objects = [{name: value} for name, values in listed.items() for value in values]
        return Pool(objects, where=self.where, to_json=self.to_json, from_json=self.from_json)

    def to_json(self, x: Branch) -> Branch:
        return {name: self.branches[name].to_json(inside) for name, inside in x.items()}

    def from_json(self, data: Any) -> Branch:
        return {name: self.branches[name].from_json(inside) for name, inside in data.items()}

    def _describe(self) -> dict[str, Any]:
        return {"space": "OneOf", "branches": {name: branch.describe() for name, branch in self.branches.items()}}

    def includes(self, described: Mapping[str, Any]) -> bool:
        """Branches may be added."""
        branches = described.get("branches", {})
        return bool(branches) and all(
            name in self.branches and self.branches[name].includes(branch) for name, branch in branches.items()
        )

    def to_vector(self, objects: Sequence[Branch]) -> Matrix:
        """The search coordinates of the own branch of each object; those of the other branches stay at the origin."""
        columns = []
        for name, branch in self._continuous.items():
            block = np.tile(branch.project(np.zeros((1, branch.dimension))), (len(objects), 1))
            own = [i for i, x in enumerate(objects) if name in x]
            if own:
                block[own] = branch.to_vector([objects[i][name] for i in own])
            columns.append(block)
        return side_by_side(len(objects), columns)

    def with_vector(self, objects: Sequence[Branch], vectors: Matrix) -> list[Branch]:
        """The objects at these search coordinates, of which each follows those of its own branch."""
        made = list(objects)
        for name, branch, columns in self._split(vectors):
            own = [i for i, x in enumerate(objects) if name in x]
            if not own:
                continue
            values = at_vectors(branch, columns[own], [objects[i][name] for i in own])
            for i, value in zip(own, values, strict=True):
                made[i] = {name: value}
        return made
