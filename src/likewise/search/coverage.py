"""Which levels of the factors of a table or a record were tried, and which objects have those that were not.

A factor is a part of the objects whose values recur: a ligand, a solvent, a switch, a temperature in steps, the branch
of an object that is one of several. Its values are its levels. Before anything is known, each level is worth one look
before any is worth two.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Numbers of more different values than this are no levels: they are spread by how alike they are.
MOST_NUMBERS = 32
# The step of a path that stands for the branch itself.
BRANCH = object()

Codes = NDArray[np.intp]
Path = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Factor:
    """One factor: the level of each candidate, and how often each level was tried."""

    path: Path
    levels: Mapping[Hashable, int]
    codes: Codes
    tried: Codes
    numeric: bool

    def count(self, objects: Sequence[Any]) -> Factor:
        """The factor with these objects tried, too; levels that no candidate has do not matter."""
        found = [self.levels.get(_hashable(_value(x, self.path))) for x in objects]
        places = np.array([place for place in found if place is not None], dtype=np.intp)
        return replace(self, tried=self.tried + np.bincount(places, minlength=len(self.levels)))

    def least(self, rows: Codes) -> int:
        """How often the level was tried that was tried least, of those that these candidates have."""
        return int(self.tried[self.codes[rows]].min())

    def need(self, rows: Codes) -> Codes:
        """What each of these candidates adds: nothing, or as much as there are levels that were tried as little.

        So the factor with the most levels left comes first where no object has a new level of every factor.
        """
        codes = self.codes[rows]
        least = self.tried[codes] == self.least(rows)
        return np.where(least, np.count_nonzero(np.bincount(codes[least])), 0)


@dataclass(frozen=True, eq=False)
class Coverage:
    """The factors of some candidates, with what was tried of them.

    >>> grid = [{"ligand": ligand, "base": base} for ligand in "ABC" for base in "xy"]
    >>> cover = Coverage.of(grid, known=[{"ligand": "A", "base": "x"}])
    >>> [grid[i] for i in cover.best(np.arange(6))]
    [{'ligand': 'B', 'base': 'y'}, {'ligand': 'C', 'base': 'y'}]
    """

    factors: tuple[Factor, ...]

    @classmethod
    def of(cls, objects: Sequence[Any], known: Sequence[Any] = ()) -> Coverage:
        """The factors of these objects; those that are known count as tried."""
        return cls(tuple(_factors(objects))).count(known)

    def count(self, objects: Sequence[Any]) -> Coverage:
        """The same with these objects tried, too."""
        return Coverage(tuple(factor.count(objects) for factor in self.factors))

    def best(self, rows: Codes) -> Codes:
        """Of the candidates in these rows those that cover most.

        Names come before numbers, and a factor with levels never tried before one with levels tried once.
        """
        left = list(self.factors) if len(rows) else []
        while left:
            first = min((factor.numeric, factor.least(rows)) for factor in left)
            these = [factor for factor in left if (factor.numeric, factor.least(rows)) == first]
            need = np.sum([factor.need(rows) for factor in these], axis=0)
            rows, left = rows[need == need.max()], [factor for factor in left if factor not in these]
        return rows


def _factors(objects: Sequence[Any]) -> Iterator[Factor]:
    for path, values in _columns(objects, ()):
        found: dict[Hashable, int] = {}
        try:
            codes = np.array([found.setdefault(value, len(found)) for value in values], dtype=np.intp)
        except TypeError:
            # Values that have no hash, such as arrays, are no levels.
            continue
        numeric = all(isinstance(value, Number) and not isinstance(value, bool) for value in found)
        recur = 2 * len(found) <= len(values) and (not numeric or len(found) <= MOST_NUMBERS)
        if len(found) > 1 and recur:
            yield Factor(path, found, codes, np.zeros(len(found), dtype=np.intp), numeric)


def _columns(objects: Sequence[Any], path: Path) -> Iterator[tuple[Path, list[Any]]]:
    """The parts of records, and of records within records; of objects of several branches, which branch it is."""
    if not len(objects) or not all(isinstance(x, Mapping) for x in objects):
        return
    names = objects[0].keys()
    if all(x.keys() == names for x in objects):
        for name in names:
            values = [x[name] for x in objects]
            yield (*path, name), values
            yield from _columns(values, (*path, name))
    elif all(len(x) == 1 for x in objects):
        yield (*path, BRANCH), [next(iter(x)) for x in objects]


def _value(x: Any, path: Path) -> Any:
    """What an object has at a path; None where it has no such part."""
    for name in path:
        if not isinstance(x, Mapping) or not x:
            return None
        x = next(iter(x)) if name is BRANCH else x.get(name)
    return x


def _hashable(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else None
