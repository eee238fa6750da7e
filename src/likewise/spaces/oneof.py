"""One of several branches, each with a space of its own: the settings of an SVM, or those of a forest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.auto.recognise import Recognised, of_branches
from likewise.similarity.base import Matrix, assign
from likewise.similarity.combine.branches import Branches
from likewise.spaces.base import Crossover, Generator, Space, at_vectors
from likewise.spaces.drawing import MOVES, child
from likewise.spaces.made_of import HANDFUL, MadeOf, part_moves, part_objects, part_space, side_by_side
from likewise.spaces.pools.pool import Pool

GRID = 200_000

Branch = dict[str, Any]


@dataclass(frozen=True, init=False)
class OneOf(MadeOf):
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

    def describe(self) -> dict[str, Any]:
        return {"space": "OneOf", "branches": {name: branch.describe() for name, branch in self.branches.items()}}

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
