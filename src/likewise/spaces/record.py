"""Records: named parts, each from a space of its own, continuous ones included."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Self

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.auto.recognise import Recognised, of_records
from likewise.similarity.base import Matrix, assign
from likewise.similarity.combine.parts import Parts
from likewise.spaces.base import Enumerable, Generator, Space, at_vectors
from likewise.spaces.conditions.condition import Condition
from likewise.spaces.conditions.some import Some
from likewise.spaces.drawing import MOVES, child
from likewise.spaces.made_of import (
    HANDFUL,
    MadeOf,
    part_mixed,
    part_moves,
    part_objects,
    part_space,
    side_by_side,
)
from likewise.spaces.numbers.tie import Tie
from likewise.spaces.pools.pool import Pool

GRID = 200_000

Fields = dict[str, Any]


@dataclass(frozen=True, init=False)
class Record(MadeOf):
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
    tie: Tie | None = field(compare=False, repr=False)

    def __init__(self, where: Callable[[Any], bool] | str | None = None, /, **parts: Any) -> None:
        if where is None and (isinstance(parts.get("where"), str) or callable(parts.get("where"))):
            where = parts.pop("where")
        if where is not None and not isinstance(where, str) and not callable(where):
            raise SpaceError(f"the first argument of Record is a predicate, not {where!r}; give the parts by name")
        if not parts:
            raise SpaceError("Record needs at least one part, as in Record(solvent=['water', 'DMF'])")
        made = {name: part_space("Record", name, part) for name, part in parts.items()}
        condition = Condition.read(where, made) if isinstance(where, str) else where
        self._assign(condition, made, Tie.of(made, condition))

    def _assign(self, where: Callable[[Any], bool] | None, parts: dict[str, Space], tie: Tie | None) -> None:
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
        parts = {name: Some(part, tuple(only[name])) if name in only else part for name, part in self.parts.items()}
        both = [each for each in (self.where, where) if each is not None]
        made = Record(**parts)
        parts.update({} if tie is None else tie.parts)
        made._assign((lambda x: all(each(x) for each in both)) if both else None, parts, tie)
        return made

    def to_json(self, x: Fields) -> Fields:
        return {name: part.to_json(x[name]) for name, part in self.parts.items()}

    def from_json(self, data: Any) -> Fields:
        return {name: part.from_json(data[name]) for name, part in self.parts.items()}

    def describe(self) -> dict[str, Any]:
        return {"space": "Record", "parts": {name: part.describe() for name, part in self.parts.items()}}

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
