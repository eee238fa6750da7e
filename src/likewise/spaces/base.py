"""The protocol: a space samples objects, knows their neighbours or coordinates, and writes them as JSON.

With it: moves that spaces of discrete objects share, items that objects consist of, and gradients by differences.
"""

from __future__ import annotations

import decimal
import inspect
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self, TypeVar, cast, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SpaceError
from likewise.similarity.algebra import Fixed, Product, Scaled, Sum
from likewise.similarity.auto import Recognised, of_kind, recognise
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.catalogue import Kind, as_field
from likewise.similarity.differences import Differenced, Movable
from likewise.similarity.kinds.monte_carlo import DifferencedScore, MonteCarloDivergence
from likewise.spaces.codec import identity, plain, read_cell, scalar, write_cell
from likewise.spaces.condition import Condition
from likewise.tables.cells import Decimal

# Gradients for everyone: a similarity without derivatives gets them from the space that its objects live in.

# Those that hand on both the objects and the derivatives of their parts.
CHAINED = (Sum, Product, Scaled, Fixed)


def differentiate(similarity: Similarity, space: Movable) -> Similarity:
    """The similarity with derivatives in the numbers of the space's objects, by finite differences where it has none.

    >>> import likewise as lw
    >>> differentiate(lw.RBF(1.0) + (lambda x, y: 1.0), lw.Box(0, 1)).differentiable
    True
    """
    if similarity.differentiable:
        return similarity
    if isinstance(similarity, CHAINED):
        return similarity.rebuilt([differentiate(part, space) for part in similarity.parts])
    if isinstance(similarity, MonteCarloDivergence):
        return replace(similarity, score=DifferencedScore(similarity.log_density, space))
    return Differenced(similarity, space)


# The protocol: a space samples its objects, knows them when it sees them, and writes them as JSON and in cells.
#
# What else a space can do is said by having the methods, and the search follows: `Enumerable` spaces are scored whole,
# `Continuous` ones are climbed along gradients, `PartlyContinuous` ones with what is not continuous held fixed, and
# those with `Moves` from neighbour to neighbour. What `auto`, tables and the command line need to know of a space, it
# says too.

Generator = np.random.Generator
TRIES = 10_000
# What can be set of a continuous quantity, as a share of its range: three digits.
RESOLUTION = 1e-3
# What a description says of a `where` that is no text.
FUNCTION = "a function"
# Made once, for keys are asked for very often.
_KEYS = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
# So many objects tell what kind they are of.
SAMPLE = 100


def checked_where(where: Any) -> Any:
    """The predicate of a space, or None; a SpaceError for anything that cannot be called."""
    if where is not None and not callable(where):
        raise SpaceError(f"where={where!r} is no predicate; give a function that says whether an object is allowed")
    return where


def check_json_functions(space: str, to_json: Any, from_json: Any) -> None:
    """Two functions from an object to JSON data and back, or neither; a SpaceError for anything else."""
    for name, function in (("to_json", to_json), ("from_json", from_json)):
        if function is not None and not callable(function):
            raise SpaceError(f"{space} needs a function for {name}, not {function!r}")
    if (to_json is None) != (from_json is None):
        raise SpaceError(f"{space} needs to_json and from_json together, or neither")


def is_allowed(where: Callable[[Any], bool], x: Any) -> bool:
    """What a predicate says of an object; a SpaceError that names both where it raises or says nothing."""
    try:
        said = where(x)
        # Without `return` a function gives None, and would exclude every object.
        if said is not None:
            return bool(said)
    except Exception as error:
        raise SpaceError(
            f"`where` raised {type(error).__name__} for {x!r}: {error}; it must say True or False of every object"
        ) from error
    raise SpaceError(f"`where` gave None for {x!r}; return True or False, for every object")


# The usual ones first, which is quicker.
NUMBERS = (float, int, Real, decimal.Decimal)


def checked_numbers(x: Any, message: str | Callable[[], str], *, finite: bool = True) -> Vector:
    """The numbers of x as an array; a SpaceError with this message for all else, texts and truth values included."""
    array = x if isinstance(x, np.ndarray) and x.dtype.kind in "iuf" else np.array(x, dtype=object)
    if array.dtype != object or all(isinstance(v, NUMBERS) and not isinstance(v, bool) for v in array.flat):
        with suppress(OverflowError):
            numbers = np.array(array, dtype=float)
            if not finite or np.all(np.isfinite(numbers)):
                return numbers
    raise SpaceError(message if isinstance(message, str) else message())


def checked_whole(what: str, number: Any) -> Any:
    """The whole number, or None; a SpaceError for anything else."""
    if number is not None and (isinstance(number, bool) or not isinstance(number, int | np.integer)):
        raise SpaceError(f"{what} is a whole number, not {number!r}; round it")
    return number


Grows = Callable[[Any, Any], bool]


def more(before: Any, now: Any) -> bool:
    """Whether a list, a text or a mapping of such has all that it had before.

    >>> more(["a", 1], ["b", 1, "a"]), more([1], [True]), more({"S": ["x"]}, {"S": ["x", "y"], "T": ["z"]})
    (True, False, True)
    """
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return all(name in now and more(content, now[name]) for name, content in before.items())
    if not isinstance(before, str | list) or type(before) is not type(now):
        return False
    return {identity(item) for item in before} <= {identity(item) for item in now}


def lower(before: Any, now: Any) -> bool:
    """Whether numbers, or lists or mappings of such, are nowhere larger than before.

    >>> lower([1.0, 2.0], [0.5, 2.0]), lower(1, 2), lower(None, 1)
    (True, False, False)
    """
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(lower, before, now))
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return before.keys() == now.keys() and all(lower(before[name], now[name]) for name in before)
    return all(isinstance(number, int | float) for number in (before, now)) and now <= before


def higher(before: Any, now: Any) -> bool:
    """Whether numbers, or lists or mappings of such, are nowhere smaller than before."""
    return lower(now, before)


def wider(before: Any, now: Any) -> bool:
    """Whether lower and upper ends, in a list of two, leave the room that they left before.

    >>> wider([2, 4], [1, 4]), wider([2, 4], [3, 9])
    (True, False)
    """
    return lower(before[0], now[0]) and higher(before[1], now[1])


class Space(ABC):
    """A set of objects. Subclasses are frozen dataclasses; a field `where` restricts the space by a predicate.

    `kind` is the kind of the objects, for `auto`; None where a sample of them has to tell. `short` is an example of the
    short form that describes such a space on the command line, which `from_text` reads; it is empty where only a file
    does, and None where neither does, as for a space that is made of functions. `parts` are the named parts that each
    object consists of, each from a space of its own; only records have any.
    """

    kind: ClassVar[Kind | None] = None
    short: ClassVar[str | None] = ""
    parts: Mapping[str, Space] = MappingProxyType({})
    # The attributes that describe fields which may be given in several ways.
    described_by: ClassVar[Mapping[str, str]] = MappingProxyType({})
    # What of the description may be other in a space that includes this one, and how.
    grows: ClassVar[Mapping[str, Grows]] = MappingProxyType({})
    where: Callable[[Any], bool] | None

    @abstractmethod
    def _draw(self, n: int, rng: Generator) -> Sequence[Any]:
        """`n` random objects, before `where` is asked."""

    @abstractmethod
    def _fit(self, x: Any) -> Any:
        """The object in its canonical form (a list becomes an array); a SpaceError naming what does not fit."""

    def to_json(self, x: Any) -> Any:
        """The object as JSON data."""
        return plain(x)

    def from_json(self, data: Any) -> Any:
        """The object that `to_json` wrote."""
        return self._fit(data)

    @final
    def describe(self) -> dict[str, Any]:
        """The space as JSON data, to recognise it, and to make it anew, when a stored study is opened again.

        A `where` that is a function is only mentioned.
        """
        where = self.where.text if isinstance(self.where, Condition) else FUNCTION
        return self._describe() if self.where is None else {**self._describe(), "where": where}

    def _describe(self) -> dict[str, Any]:
        """The name of its class and its arguments, without `where`; by default all its fields."""
        given = [field.name for field in fields(cast(Any, self)) if field.name != "where"]
        said = {name: plain(getattr(self, self.described_by.get(name, name))) for name in given}
        return {"space": type(self).__name__, **said}

    def includes(self, described: Mapping[str, Any]) -> bool:
        """Whether every object of the space that described itself so is one of this space; False where nobody can tell.

        `where` is left out of account.
        """
        mine = self.describe()
        names = (mine.keys() | described.keys()) - {"where"}
        if not names <= mine.keys() & described.keys():
            return False
        return all(
            identity(mine[name]) == identity(described[name])
            or (name in self.grows and self.grows[name](described[name], mine[name]))
            for name in names
        )

    @property
    def size(self) -> float:
        """How many objects there are, before `where` is asked; infinite where they cannot be counted."""
        return len(self.objects) if isinstance(self, Enumerable) else math.inf

    @property
    def excluded(self) -> frozenset[str]:
        """The keys of objects of the space that are never proposed."""
        return frozenset()

    @property
    def stepped(self) -> bool:
        """Whether some numbers or parts move in steps, so that gradients alone do not reach every object."""
        return False

    @property
    def resolution(self) -> Any:
        """The least difference that can be set in each search coordinate, one for all or one for each.

        Objects that differ by no more in any of them are the same experiment. Of no matter without such coordinates.
        """
        return RESOLUTION

    @final
    def fit(self, x: Any) -> Any:
        """The object in its canonical form; a SpaceError where it lies outside the space."""
        fitted = self._fit(x)
        if self.where is not None and not is_allowed(self.where, fitted):
            raise SpaceError(f"{fitted!r} is excluded by the space's `where`")
        return fitted

    @final
    def __contains__(self, x: Any) -> bool:
        try:
            self.fit(x)
        except SpaceError:
            return False
        return True

    @final
    def sample(self, n: int, rng: Generator) -> list[Any]:
        """`n` random objects of the space; repeats are possible."""
        if self.where is None:
            return list(self._draw(n, rng))
        found: list[Any] = []
        tried = 0
        while len(found) < n:
            drawn = self._draw(max(n, 64), rng)
            fresh = [x for x in drawn if is_allowed(self.where, x)]
            found += fresh
            tried = 0 if fresh else tried + len(drawn)
            if found and tried >= TRIES:
                # So few objects satisfy `where` that waiting for more would take forever: repeats.
                found += [found[i] for i in rng.integers(len(found), size=n - len(found))]
            elif tried >= TRIES:
                raise SpaceError(
                    f"none of {tried} random objects of {type(self).__name__} satisfies `where`; "
                    "loosen the predicate, or use a space that produces such objects directly"
                )
        return found[:n]

    @final
    def allowed(self, objects: Sequence[Any]) -> NDArray[np.bool_]:
        """Which objects satisfy `where`."""
        if self.where is None:
            return np.ones(len(objects), dtype=bool)
        return np.array([is_allowed(self.where, x) for x in objects], dtype=bool)

    @final
    def keep_allowed(self, objects: Iterable[Any]) -> list[Any]:
        """The objects that satisfy `where`."""
        return list(objects if self.where is None else filter(partial(is_allowed, self.where), objects))

    @final
    def key(self, x: Any) -> str:
        """A text that equal objects share and different ones do not."""
        return key_of(self.to_json(x))

    def view(self, similarity: Similarity) -> Similarity:
        """The similarity as it should look at this space's objects; most spaces leave it as it is."""
        return similarity

    def differentiate(self, similarity: Similarity) -> Similarity:
        """The similarity with derivatives in the numbers of this space's objects, where they have any.

        What has none of its own gets them by finite differences (`likewise.similarity.differences`).
        """
        has_numbers = isinstance(self, Continuous) and isinstance(self, OwnNumbers) and self.dimension > 0
        return differentiate(similarity, cast(Any, self)) if has_numbers else similarity

    def recognise(self, rng: Generator) -> Recognised:
        """The kind of the objects and the similarities that suit it: as `kind` says, or by a sample."""
        count = len(self.objects) if isinstance(self, Enumerable) else SAMPLE
        if not count:
            return of_kind("nothing", "the space has no objects", [])
        objects = self.sample(min(count, SAMPLE), rng)
        return self._recognised(objects)

    def _recognised(self, objects: Sequence[Any]) -> Recognised:
        if self.kind is None:
            return recognise(objects)
        return of_kind(self.kind, f"the space {type(self).__name__} says so", objects)

    def recognise_part(self, rng: Generator) -> Recognised:
        """The same for a space that is a part of records."""
        found = self.recognise(rng)
        repeats = isinstance(self, Enumerable) and 2 * len(self.objects) <= SAMPLE
        return replace(found, similarities=as_field(found.kind, found.similarities, repeats=repeats))

    @property
    def numeric(self) -> bool:
        """Whether the cells of a column are numbers, whose decimal sign matters: so they are where read as usual."""
        return type(self).from_cell is Space.from_cell

    def from_cell(self, text: str, decimal: Decimal | None) -> Any:
        """What the text of a cell means, before `fit` sees it; `decimal` is the sign, None is whichever fits."""
        return read_cell(text, decimal, self.from_json)

    def to_cell(self, data: Any, decimal: Decimal) -> str:
        """The text of a cell for an object whose JSON form is `data`: `from_cell` reads it."""
        return write_cell(data, decimal)

    @classmethod
    def arguments(cls) -> list[str]:
        """The names of the arguments that describe such a space in a file."""
        positional = inspect.Parameter.POSITIONAL_ONLY
        taken = inspect.signature(cls).parameters.values()
        return [each.name for each in taken if each.name != "where" and each.kind != positional]

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any], build: Callable[[Any, str], Space]) -> Self:
        """The space that a file describes; `build` makes a space of the data of a part, which it names in errors."""
        inspect.signature(cls).bind(**arguments)
        return cls(**arguments)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The space of a short form, of which `text` is what follows the name and the colon."""
        raise NotImplementedError


@runtime_checkable
class Enumerable(Protocol):
    """A space whose objects can be listed."""

    @property
    def objects(self) -> Sequence[Any]: ...


@runtime_checkable
class Indexed(Protocol):
    """A space whose objects have a place in a list or table, by which errors name them."""

    def index(self, x: Any) -> int: ...


class _VectorSimilarity(Protocol):
    @property
    def dimension(self) -> int: ...

    def to_vector(self, objects: Sequence[Any]) -> Matrix: ...

    def project(self, vectors: Matrix) -> Matrix: ...

    def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix: ...


@runtime_checkable
class Continuous(_VectorSimilarity, Protocol):
    """A space whose objects are vectors, for gradient trajectories.

    `to_vector` maps objects to search coordinates, usually the unit cube; `from_vector` maps back (rounding whole
    numbers); `project` moves any vectors to the nearest ones inside; `pull` turns a gradient in the objects' own
    numbers, as similarities give it, into one in the search coordinates at `vectors`.
    """

    def from_vector(self, vectors: Matrix) -> list[Any]: ...


@runtime_checkable
class OwnNumbers(Protocol):
    """A continuous space that can be walked in the objects' own numbers, those that similarities have gradients in.

    `to_numbers` are an object's numbers in its own units, `from_numbers` the objects of the space that are nearest to
    any numbers, and `spans` the range of each number.
    """

    @property
    def spans(self) -> Vector: ...

    def to_numbers(self, objects: Sequence[Any]) -> Matrix: ...

    def from_numbers(self, numbers: Matrix) -> list[Any]: ...


@runtime_checkable
class PartlyContinuous(_VectorSimilarity, Protocol):
    """A space whose objects are vectors in part, such as records: gradient trajectories hold the other parts fixed.

    As in `Continuous`, but a vector alone makes no object: `with_vector` gives each object with its continuous parts
    replaced. `pull` takes a gradient in the numbers of the continuous parts, in their order; the similarity that
    `view` returns gives it so. A space that turns out to have no such part has dimension 0, and is not climbed so.
    """

    def with_vector(self, objects: Sequence[Any], vectors: Matrix) -> list[Any]: ...


@runtime_checkable
class Moves(Protocol):
    """A space that knows neighbours: some objects one step from x, drawn by rng, all inside the space."""

    def moves(self, x: Any, rng: Generator) -> list[Any]: ...


@runtime_checkable
class Crossover(Protocol):
    """A space that can mix two objects into a third."""

    def crossover(self, x: Any, other: Any, rng: Generator) -> Any: ...


def is_continuous(space: Any) -> bool:
    """Whether the space has numbers that can follow a gradient: the methods for it, and at least one dimension."""
    return isinstance(space, Continuous | PartlyContinuous) and space.dimension > 0


def key_of(data: Any) -> str:
    """The key of the object of this JSON data."""
    return _KEYS.encode(data)


def at_vectors(space: Continuous | PartlyContinuous, vectors: Matrix, objects: Sequence[Any] = ()) -> list[Any]:
    """The objects at these vectors; in a space that is continuous in part, these `objects` moved there."""
    # Quicker than asking for the protocol, and this is asked at every step of a search.
    if hasattr(space, "from_vector"):
        return cast(Continuous, space).from_vector(vectors)
    return space.with_vector(objects, vectors)


# What moves and crossovers of all spaces share: a fair choice among many edits, and keeping those that are allowed.

MOVES = 96
CHILDREN = 16

Edits = tuple[int, Callable[[int], Any]]
Object = TypeVar("Object")


def some(total: int, limit: int, rng: Generator) -> list[int]:
    """All of range(total) when they are few, else `limit` of them, drawn without replacement.

    >>> import numpy as np
    >>> some(3, 5, np.random.default_rng(0)), len(some(100, 5, np.random.default_rng(0)))
    ([0, 1, 2], 5)
    """
    if total <= limit:
        return list(range(total))
    chosen: list[int] = rng.choice(total, size=limit, replace=False).tolist()
    return chosen


def shares(counts: Sequence[int], limit: int) -> list[int]:
    """How many edits of each kind to try: all when they fit, else half of them of the first kind.

    The other kinds share the other half evenly, so that a kind with few edits (deletions) is not drowned by one with
    many (insertions); what a kind leaves goes to the first, and then to the others in turn.

    >>> shares([2000, 100, 5], 96), shares([10, 3], 96)
    ([67, 24, 5], [10, 3])
    """
    present = max(sum(c > 0 for c in counts[1:]), 1)
    given = [0, *(min(c, limit // 2 // present) for c in counts[1:])]
    for i, c in enumerate(counts):
        given[i] += min(c - given[i], limit - sum(given))
    return given


def edits(kinds: Sequence[Edits], limit: int, rng: Generator) -> list[Any]:
    """What edits make, of each kind all or a fair share: a kind is how many edits there are and the i-th one.

    >>> import numpy as np
    >>> edits([(3, lambda i: f"+{i}"), (1, lambda i: "-")], 96, np.random.default_rng(0))
    ['+0', '+1', '+2', '-']
    """
    limits = shares([count for count, _ in kinds], limit)
    return [edit(i) for (count, edit), most in zip(kinds, limits, strict=True) for i in some(count, most, rng)]


def neighbours(space: Space, x: Any, candidates: Iterable[Any]) -> list[Any]:
    """The candidates, hashable objects, that differ from x and from each other and satisfy `where`."""
    return space.keep_allowed([candidate for candidate in dict.fromkeys(candidates) if candidate != x])


def child(space: Space, make: Callable[[], Object], parent: Object) -> Object:
    """The first child that satisfies `where`; the parent when none of a few tries does."""
    for _ in range(CHILDREN):
        made = make()
        if space.allowed([made])[0]:
            return made
    return parent


# Items that objects consist of: strings, numbers, truth values or None, found again by their JSON form.


@dataclass(frozen=True)
class Items:
    """Some items in their order; 1 and 1.0 are the same item, 1 and True are not.

    >>> colours = Items("colours", ["red", "green"])
    >>> colours.listed, colours.rank("green"), colours.rank("blue")
    (('red', 'green'), 1, None)
    """

    what: str
    given: Collection[Any]

    def __post_init__(self) -> None:
        if isinstance(self.given, dict) or not hasattr(self.given, "__len__") or not len(self.given):
            raise SpaceError(f"the {self.what} are a list of at least one, not {self.given!r}")
        if len(self._ranks) < len(self.given):
            twice = next(item for rank, item in enumerate(self.listed) if self.rank(item) != rank)
            raise SpaceError(f"the {self.what} have {twice!r} twice; give each once")

    @cached_property
    def listed(self) -> tuple[Any, ...]:
        """The items as JSON data."""
        return tuple(map(self._scalar, self.given))

    def _scalar(self, item: Any) -> Any:
        try:
            return scalar(item)
        except TypeError:
            raise SpaceError(
                f"the {self.what} are strings, numbers, truth values or None, not {item!r}; "
                "give names or positions of what they stand for, or use a Pool"
            ) from None

    @cached_property
    def _ranks(self) -> dict[Hashable, int]:
        ranks: dict[Hashable, int] = {}
        for rank, item in enumerate(self.listed):
            ranks.setdefault(identity(item), rank)
        return ranks

    def rank(self, item: Any) -> int | None:
        """The place of an item in the list; None where it has none."""
        try:
            return self._ranks.get(identity(plain(item)))
        except TypeError:
            return None

    def pick(self, several: Collection[Any]) -> list[Any]:
        """These as they are in the list; a SpaceError that names one that is not there, or comes twice."""
        found: dict[int, Any] = {}
        for item in several:
            rank = self.rank(item)
            if rank is None:
                raise SpaceError(f"{several!r} has {item!r}, which is not one of the {self}")
            if rank in found:
                raise SpaceError(f"{several!r} has {item!r} more than once; give each of the {self.what} once")
            found[rank] = self.listed[rank]
        return list(found.values())

    def __str__(self) -> str:
        return f"{self.what} {', '.join(map(repr, self.listed))}"


def different(what: str, given: Collection[Any]) -> Items:
    """The items, where no two are equal to Python, as 1 and True are: for objects that are sets or orders of them."""
    items = Items(what, given)
    if len(set(items.listed)) < len(items.listed):
        raise SpaceError(f"the {items} are not all different; rename some")
    return items


# What spaces of texts share: an object is its own JSON form and its own cell.


class Texts(Space):
    """A space whose objects are strings."""

    def from_json(self, data: Any) -> str:
        # Not fitted again, for parsing a text may take long.
        return str(data)

    def from_cell(self, text: str, decimal: Decimal | None) -> str:
        return text


def checked_text(x: Any, what: str = "a string") -> str:
    """The text; a SpaceError for anything else."""
    if not isinstance(x, str):
        raise SpaceError(f"{x!r} is not {what}")
    return str(x)
