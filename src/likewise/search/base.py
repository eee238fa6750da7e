"""The protocol: a search finds the best free objects of a score in a space.

What may be found: objects that are not taken, not too near to others, and fit the plate that they are for; and how many
objects a search may look at where comparing two of them takes long.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.scorer import Scoring
from likewise.model.committee import Committee
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.spaces.base import Continuous, Enumerable, Generator, PartlyContinuous, Space, is_continuous
from likewise.spaces.codec import identity, plain
from likewise.spaces.record import Record

# Where objects lie in a space's search coordinates, and which are too close to others to be set apart from them.

# A whole number is another one at any distance; so much is rounding.
ROUNDING = 1e-12
# What differs otherwise than in its coordinates is so far apart, where the resolution is 1.
APART = 10.0


@dataclass(frozen=True, eq=False)
class NearDuplicates:
    """Objects of a space, by where they lie.

    Two objects are closer than the space can set them if they differ by no more than its resolution in every search
    coordinate, and are the same in what is not continuous. In a space without search coordinates none are.

    >>> from likewise.spaces.numbers import Box
    >>> NearDuplicates.of(Box([0.0], [100.0]), [[50.0]]).close([[50.05], [50.2]]).tolist()
    [True, False]
    """

    space: Space
    vectors: Matrix
    # What is not continuous of each object, if the space has such.
    rests: tuple[str, ...]

    @classmethod
    def of(cls, space: Space, objects: Sequence[Any] = ()) -> NearDuplicates:
        """The places of these objects."""
        dimension = cast(Continuous, space).dimension if is_continuous(space) else 0
        return cls(space, np.zeros((0, dimension)), ()).add(objects)

    def add(self, objects: Sequence[Any]) -> NearDuplicates:
        """The same with more objects."""
        if not len(objects) or not is_continuous(self.space):
            return self
        vectors = np.vstack([self.vectors, self._to_vector(objects)])
        return NearDuplicates(self.space, vectors, (*self.rests, *rests_of(self.space, objects)))

    def close(self, objects: Sequence[Any]) -> NDArray[np.bool_]:
        """Which of these objects are closer to one of the places than the space can set."""
        near = np.zeros(len(objects), dtype=bool)
        if not len(objects) or not len(self.vectors):
            return near
        vectors = self._to_vector(objects)
        # Most objects are far from all places, whatever else they are made of, which takes longer to compare.
        candidates = np.flatnonzero(self._within(self._nearest, vectors / self._resolution))
        if not self.rests or not len(candidates):
            near[candidates] = True
            return near
        rests = rests_of(self.space, [objects[i] for i in candidates.tolist()])
        near[candidates] = self._within(self._labelled_tree, self._labelled(vectors[candidates], rests))
        return near

    def apart(self, objects: Sequence[Any]) -> list[int]:
        """Which of these objects, in their order, are close neither to a place nor to one before them."""
        left = np.flatnonzero(~self.close(objects)).tolist()
        if not is_continuous(self.space) or len(left) < 2:
            return left
        left_objects = [objects[i] for i in left]
        tree = _tree(self._to_vector(left_objects), self._resolution)
        near = tree.query_pairs(1.0 + 1e-9, p=np.inf, output_type="ndarray")
        if not len(near):
            return left
        # The rest is compared of those alone that are at one place.
        crowded = np.unique(near)
        rests = dict(
            zip(crowded.tolist(), rests_of(self.space, [left_objects[i] for i in crowded.tolist()]), strict=False)
        )
        before: list[list[int]] = [[] for _ in left_objects]
        for i, j in near.tolist():
            if rests.get(i) == rests.get(j):
                before[j].append(i)
        places: set[int] = set()
        for i, taken in enumerate(before):
            if places.isdisjoint(taken):
                places.add(i)
        return [left[i] for i in sorted(places)]

    def _to_vector(self, objects: Sequence[Any]) -> Matrix:
        return cast(Continuous, self.space).to_vector(list(objects))

    @staticmethod
    def _within(tree: Any, scaled: Matrix) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(tree.query(scaled, p=np.inf, distance_upper_bound=1.0 + 1e-9)[0]))

    @cached_property
    def _resolution(self) -> Any:
        return np.maximum(self.space.resolution, ROUNDING)

    @cached_property
    def _nearest(self) -> Any:
        return _tree(self.vectors, self._resolution)

    @cached_property
    def _labels(self) -> dict[str, int]:
        return {rest: i for i, rest in enumerate(dict.fromkeys(self.rests))}

    @cached_property
    def _labelled_tree(self) -> Any:
        return _tree(self._labelled(self.vectors, self.rests), 1.0)

    def _labelled(self, vectors: Matrix, rests: Sequence[str]) -> Matrix:
        """Coordinates in units of the resolution, and one more that is the same for the same rest alone."""
        labels = np.array([APART * self._labels.get(rest, -1) for rest in rests] or [0.0] * len(vectors))
        return np.column_stack([vectors / self._resolution, labels])


def rests_of(space: Space, objects: Sequence[Any]) -> tuple[str, ...]:
    """What the objects are but for their vectors: their keys, all moved to one vector."""
    if isinstance(space, Continuous) or not isinstance(space, PartlyContinuous):
        return ()
    origin = np.tile(space.project(np.zeros((1, space.dimension))), (len(objects), 1))
    return tuple(space.key(x) for x in space.with_vector(list(objects), origin))


def _tree(vectors: Matrix, unit: Any) -> Any:
    # Not at the top: it takes as long to load as half of this package.
    from scipy.spatial import cKDTree

    return cKDTree(vectors / unit)


# What objects that are proposed together may be: parts that are fixed, shared or of few kinds, and a condition.
#
# A plate is a filter that depends on what is picked already. After each pick it says which values a part may still
# have. A record is then searched with these parts bound to those values, and of a pool the other rows are left out.
# Whatever finds the objects, none that the filter refuses is proposed.

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
        choices = {name: [value] for name, value in self.fix.items()}
        begun = self.group[0]
        for name in self.same:
            if begun:
                choices[name] = [begun[0][name]]
        for name, most in self.at_most.items():
            used = {same(x[name]): x[name] for x in self.picked.values()}
            if len(used) >= most and name not in choices:
                choices[name] = list(used.values())
        return choices

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
            fitting = np.fromiter(map(bool, map(plate.where, self.objects)), bool, len(self.objects))
            self._kept = plate.where, fitting
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
        sampled = rng.choice(places, size=min(n, len(places)), replace=False) if len(places) else places
        return [self.objects[i] for i in sampled.tolist()]


# The protocol: a search finds the equilibria of a score in a space.


@dataclass(frozen=True, eq=False)
class Found:
    """Distinct objects that a search ended at, best first."""

    objects: list[Any]
    scores: Vector


@dataclass(frozen=True, eq=False)
class SearchState:
    """Where a search takes place: the space, what was observed (best first), and what may not be proposed again.

    `taken` are keys, `tried` where the objects lie, as far as they are known: what is closer to one of them than the
    space can set is no new object either. `repeats` are the keys of observed objects that may be measured again, though
    they are taken. `plate` says what else the next object of a batch must be, `rows` which rows of a pool are so;
    `whole` are the space and the observations without it.
    """

    space: Space
    observed: Sequence[Any]
    taken: frozenset[str] | set[str]
    rng: Generator
    tried: NearDuplicates | None = None
    repeats: frozenset[str] = frozenset()
    plate: Plate | None = None
    rows: Rows | None = None
    whole: tuple[Space, Sequence[Any]] | None = None

    def free(self, x: Any) -> bool:
        """Whether the object may be proposed."""
        return bool(self.all_free([x])[0])

    def all_free(self, objects: Sequence[Any]) -> NDArray[np.bool_]:
        """Which of the objects may be proposed."""
        fresh = np.array([self.space.key(x) not in self.taken and self.permits(x) for x in objects], dtype=bool)
        return fresh & ~self.places.close(objects)

    def permits(self, x: Any) -> bool:
        """Whether the object fits on the plate, if there is one."""
        return self.plate is None or self.plate.allows(x)

    def sample(self, n: int) -> list[Any]:
        """Random objects, as many as there are up to `n` where only some rows of a pool are permitted."""
        if self.plate is not None and self.rows is not None:
            return self.rows.sample(n, self.plate, self.taken, self.rng)
        return self.space.sample(n, self.rng)

    @property
    def places(self) -> NearDuplicates:
        """Where the tried objects lie."""
        return self.tried or NearDuplicates.of(self.space)

    def without(self, objects: Sequence[Any]) -> SearchState:
        """The state when these objects are taken, too."""
        keyed = {self.space.key(x): x for x in objects}
        taken, repeats = self.taken | keyed.keys(), self.repeats - keyed.keys()
        state = replace(self, taken=taken, tried=self.places.add(objects), repeats=repeats)
        return state if self.plate is None else state.on(self.plate.after(keyed))

    def on(self, plate: Plate) -> SearchState:
        """The state in which the next object has to fit on the plate."""
        space, observed = self.whole or (self.space, self.observed)
        rows = self.rows or (Rows(space) if isinstance(space, Enumerable) else None)
        plate = plate if rows is None else rows.go_on(plate, self.taken)
        bound = plate.bind(space)
        return replace(
            self,
            space=bound,
            observed=plate.bring(observed, bound),
            tried=self.tried or NearDuplicates.of(space),
            plate=plate,
            rows=rows,
            whole=(space, observed),
        )


class Search(ABC):
    """Finds the objects of a space that a scorer values most."""

    def ready(self, similarities: Sequence[Similarity]) -> None:
        """Make what will be needed whatever is learnt; an object that a similarity cannot compare is an error here."""
        return

    @abstractmethod
    def equilibria(
        self, scorer: Scoring, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        """Objects where the search came to rest, best first, without those that are taken.

        `last` is what was found before one more object became pending, a place to start from; None for a first search.
        `most` is how many objects will be picked; None where all equilibria are of interest. The best one is found in
        either case.
        """

    def thorough(self) -> Search:
        """The search that follows every trajectory to its end, for those who want all equilibria and not the best."""
        return self


def best_distinct(objects: Sequence[Any], scores: Vector, state: SearchState, most: int | None = None) -> Found:
    """The distinct free objects, best first; what has no score at all is none of them."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > -np.inf]
    few, distinct = len(order) if most is None else 2 * most, list[int]()
    # Of very many the best few are usually enough, and keys take time. What is kept of them stays when more follow.
    while True:
        distinct = _distinct(objects, order[:few].tolist(), state)
        if most is None or len(distinct) >= most or few >= len(order):
            return Found([objects[i] for i in distinct[:most]], scores[distinct[:most]])
        few *= 2


def _distinct(objects: Sequence[Any], order: Sequence[int], state: SearchState) -> list[int]:
    fresh: dict[str, int] = {}
    for i in order:
        fresh.setdefault(state.space.key(objects[i]), i)
    free = [i for key, i in fresh.items() if key not in state.taken and state.permits(objects[i])]
    return [free[i] for i in state.places.apart([objects[i] for i in free])]


# How many objects a search may look at, where comparing two of them takes long.

# Microseconds that the comparisons of a search may take, by what similarities say of themselves.
MICROSECONDS = 400_000.0
# As few objects as make a choice.
FEWEST = 50


def max_candidates(scorer: Scoring) -> float:
    """How many new objects may be compared with all that is known; ∞ where comparing is array work.

    Each is compared with every observed and pending object, and with itself.
    """
    chance = scorer.feasibility
    committees = (*scorer.committees, *(() if chance is None else chance.committees))
    each = {key: price for committee in committees for key, price in _prices(committee).items()}
    total = sum(each.values())
    return max(FEWEST, MICROSECONDS / total) if total > 0 else np.inf


def _prices(committee: Committee) -> dict[int, float]:
    """Of each similarity in use what it takes to compare one object with all; outcomes share similarities."""
    grams = [committee.waiting.get(k, committee.grams[k]) for k in committee.used]
    return {id(gram.similarity): gram.similarity.pair_price * (len(gram) + 1) for gram in grams}
