"""What objects that are proposed together may be: parts that are fixed, shared or of few kinds, and a condition.

A plate is a filter that depends on what is picked already. After each pick it says which values a part may still have.
A record is then searched with these parts bound to those values, and of a pool the other rows are left out. Whatever
finds the objects, none that the filter refuses is proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.spaces.base import Generator, Space
from likewise.spaces.codec.codec import identity, plain
from likewise.spaces.record import Record

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Plate:
    """The objects of one batch.

    fix: the value that each of these parts has.
    same: the parts that have one value in each group.
    groups: how many objects each group has, in the order in which they are picked.
    at_most: how many different values each of these parts may have in the batch.
    where: a condition on each object.
    picked: what is in the batch already, by key.
    """

    fix: Mapping[str, Any] = field(default_factory=dict)
    same: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()
    at_most: Mapping[str, int] = field(default_factory=dict)
    where: Callable[[Any], bool] | None = None
    picked: Mapping[str, Any] = field(default_factory=dict)

    def after(self, objects: Mapping[str, Any]) -> Plate:
        """The plate when these, by key, are picked, too; what is picked already changes nothing."""
        return replace(self, picked={**self.picked, **objects})

    @cached_property
    def group(self) -> tuple[tuple[Any, ...], int]:
        """What is picked of the group that is being filled, and how many objects it has in all."""
        begin, picked = 0, tuple(self.picked.values())
        for size in self.groups:
            if len(picked) < begin + size:
                return picked[begin:], size
            begin += size
        return (), 0

    def close(self) -> Plate:
        """The plate with the group that is being filled as small as it is, so that the next one begins."""
        sizes, begin = list(self.groups), 0
        for k, size in enumerate(sizes):
            if begin < len(self.picked) < begin + size:
                sizes[k] = len(self.picked) - begin
            begin += size
        return replace(self, groups=tuple(sizes))

    @cached_property
    def only(self) -> dict[str, list[Any]]:
        """For each part that is not free now, the values that it may have."""
        found = {name: [value] for name, value in self.fix.items()}
        begun = self.group[0]
        for name in self.same:
            if begun:
                found[name] = [begun[0][name]]
        for name, most in self.at_most.items():
            used = {same(x[name]): x[name] for x in self.picked.values()}
            if len(used) >= most and name not in found:
                found[name] = list(used.values())
        return found

    @property
    def full(self) -> bool:
        """Whether every group has its objects."""
        return len(self.picked) >= sum(self.groups)

    @cached_property
    def _keys(self) -> dict[str, set[Hashable]]:
        return {name: set(map(same, values)) for name, values in self.only.items()}

    def allows(self, x: Any) -> bool:
        """Whether the object may be the next one."""
        bound = all(same(x[name]) in keys for name, keys in self._keys.items())
        return bound and not self.full and (self.where is None or bool(self.where(x)))

    def bind(self, space: Space) -> Space:
        """The space where the next object comes from: a record whose parts are bound; any other as it is."""
        return space.bound(self.only, self.where) if isinstance(space, Record) else space

    def bring(self, objects: Sequence[Any], space: Space) -> list[Any]:
        """Objects to begin a search with: records with their parts bound, where they are allowed then."""
        if not isinstance(space, Record):
            return [x for x in objects if self.allows(x)]
        moved = (self._moved(x) for x in objects)
        return [x for x in moved if x in space]

    def _moved(self, x: Any) -> Any:
        keep = {name: x[name] for name, keys in self._keys.items() if same(x[name]) in keys}
        return {**x, **{name: keep.get(name, values[0]) for name, values in self.only.items()}}


def same(value: Any) -> Hashable:
    """What equal values of a part share."""
    try:
        return identity(plain(value))
    except TypeError:
        # An object without a JSON form is equal to itself.
        return ("object", id(value))


@dataclass(eq=False)
class Rows:
    """The rows of a pool of records, by the values of their parts: which of them a plate allows."""

    space: Any
    _codes: dict[str, tuple[NDArray[np.intp], dict[Hashable, int]]] = field(default_factory=dict)
    _kept: tuple[Any, Flags] | None = None

    @property
    def objects(self) -> Sequence[Any]:
        """All objects of the pool."""
        return self.space.objects

    @cached_property
    def row(self) -> Callable[[str], int | None]:
        """The row of an object by its key."""
        if hasattr(self.space, "row"):
            return cache(self.space.row)
        return {self.space.key(x): i for i, x in enumerate(self.objects)}.get

    def allowed(self, plate: Plate, taken: Collection[str]) -> Flags:
        """Which rows may be next. A group begins with a value that enough free rows have, if there is one."""
        mask = self.lasting(plate) & (not plate.full)
        for name, values in plate.only.items():
            mask &= self._have(name, values)
        begun, size = plate.group
        if plate.same and not begun and mask.any():
            free = mask.copy()
            free[self._rows(taken)] = False
            which = self._combination(plate.same)
            count = np.bincount(which[free], minlength=int(which.max()) + 1)
            mask &= count[which] >= min(size, max(1, int(count.max())))
        return mask

    def go_on(self, plate: Plate, taken: Collection[str]) -> Plate:
        """The plate, with the next group begun where no row is left for the one that is being filled."""
        if not plate.group[0]:
            return plate
        mask = self.allowed(plate, taken)
        mask[self._rows(taken)] = False
        return plate if mask.any() else plate.close()

    def _rows(self, keys: Iterable[str]) -> list[int]:
        return [row for row in map(self.row, keys) if row is not None]

    def lasting(self, plate: Plate) -> Flags:
        """Which rows the condition allows, whatever is picked."""
        if plate.where is None:
            return np.ones(len(self.objects), dtype=bool)
        if self._kept is None or self._kept[0] is not plate.where:
            found = np.fromiter(map(bool, map(plate.where, self.objects)), bool, len(self.objects))
            self._kept = plate.where, found
        return self._kept[1]

    def _have(self, name: str, values: Iterable[Any]) -> Flags:
        codes, places = self.column(name)
        wanted = [places[key] for key in map(same, values) if key in places]
        return np.isin(codes, wanted)

    def column(self, name: str) -> tuple[NDArray[np.intp], dict[Hashable, int]]:
        """For each row the number of its value of a part, and the numbers of the values."""
        if name not in self._codes:
            places: dict[Hashable, int] = {}
            codes = [places.setdefault(same(x[name]), len(places)) for x in self.objects]
            self._codes[name] = np.array(codes, dtype=np.intp), places
        return self._codes[name]

    def _combination(self, names: Sequence[str]) -> NDArray[np.intp]:
        """A number for each row that rows with the same values of these parts share."""
        columns = np.column_stack([self.column(name)[0] for name in names])
        return np.asarray(np.unique(columns, axis=0, return_inverse=True)[1], dtype=np.intp).reshape(-1)

    def sample(self, n: int, plate: Plate, taken: Collection[str], rng: Generator) -> list[Any]:
        """Random rows that may be next, each once; none where there are none."""
        places = np.flatnonzero(self.allowed(plate, taken))
        few = rng.choice(places, size=min(n, len(places)), replace=False) if len(places) else places
        return [self.objects[i] for i in few.tolist()]
