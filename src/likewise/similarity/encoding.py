"""What a similarity computes once per object: trees of arrays, in memory and on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError

if TYPE_CHECKING:
    from likewise.similarity.base import Similarity

# What a similarity computes once per object, so that comparing is array work.
#
# An encoding has one entry per object: a NumPy array (first axis), a list, a SciPy sparse matrix (rows), a tuple of
# encodings of equal length, `Levels` of one where entries recur, or `Grouped` ones where objects of several groups are
# encoded each in their own way. These functions are all that the rest of the library asks of one.

Encoding = Any
Indices = NDArray[np.intp]
# Levels are worth their lookups from so many objects on, and from so many objects per level.
MANY, PER_LEVEL = 64, 4


@dataclass(frozen=True, eq=False)
class Levels:
    """Few entries that many objects share: object i has `entries[which[i]]`.

    >>> plain(Levels(["a", "b"], np.array([1, 1, 0])))
    ['b', 'b', 'a']
    """

    entries: Encoding
    which: Indices


@dataclass(frozen=True, eq=False)
class Grouped:
    """Objects of several groups: object i is of group `which[i]`, and `entries` has one encoding for each group.

    An encoding holds the objects of its group in their order; it is None for a group without any.

    >>> both = Grouped(np.array([1, 0, 1]), (["a"], np.array([3.0, 4.0])))
    >>> take(both, np.array([2])).entries
    (None, array([4.]))
    """

    which: Indices
    entries: tuple[Encoding, ...]

    def places(self, group: int) -> Indices:
        """The places of the objects of a group."""
        return np.flatnonzero(self.which == group)

    def map(self, function: Callable[[Encoding], Encoding]) -> Grouped:
        """The same with another encoding of each group that has objects."""
        return Grouped(self.which, tuple(None if x is None else function(x) for x in self.entries))


def worth_levels(objects: int, levels: int) -> bool:
    """Whether there are clearly more objects than levels."""
    return objects >= max(MANY, PER_LEVEL * levels)


def levels_of(encoding: Encoding) -> tuple[Encoding, Indices | None]:
    """The entries, and which of them each object has, if not its own."""
    return (encoding.entries, encoding.which) if isinstance(encoding, Levels) else (encoding, None)


def plain(encoding: Encoding) -> Encoding:
    """The encoding with an entry for each object, however often it recurs."""
    if isinstance(encoding, tuple):
        return tuple(map(plain, encoding))
    if isinstance(encoding, Grouped):
        return encoding.map(plain)
    return plain(take(encoding.entries, encoding.which)) if isinstance(encoding, Levels) else encoding


def count_rows(encoding: Encoding) -> int:
    """Number of objects encoded.

    >>> count_rows((["a", "b"], np.zeros((2, 3))))
    2
    """
    if isinstance(encoding, tuple):
        return count_rows(encoding[0])
    if isinstance(encoding, Levels | Grouped):
        return len(encoding.which)
    return int(encoding.shape[0]) if hasattr(encoding, "shape") else len(encoding)


def take(encoding: Encoding, index: Any) -> Encoding:
    """The entries at `index`, an integer array or a slice.

    >>> take(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(encoding, tuple):
        return tuple(take(part, index) for part in encoding)
    if isinstance(encoding, Levels):
        which = encoding.which[index]
        worth = worth_levels(len(which), count_rows(encoding.entries))
        return Levels(encoding.entries, which) if worth else take(encoding.entries, which)
    if isinstance(encoding, Grouped):
        return _taken_groups(encoding, index)
    if isinstance(encoding, list):
        return encoding[index] if isinstance(index, slice) else [encoding[i] for i in index]
    return encoding[index]


def join(encodings: Sequence[Encoding]) -> Encoding:
    """One encoding after another.

    >>> join([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    first = encodings[0]
    if len(encodings) == 1:
        return first
    if Levels in set(map(type, encodings)):
        return _joined_levels(encodings)
    if isinstance(first, tuple):
        return tuple(join(parts) for parts in zip(*encodings, strict=True))
    if isinstance(first, Grouped):
        groups = zip(*(encoding.entries for encoding in encodings), strict=True)
        return Grouped(np.concatenate([encoding.which for encoding in encodings]), tuple(map(_joined_group, groups)))
    if isinstance(first, list):
        return [entry for encoding in encodings for entry in encoding]
    if isinstance(first, np.ndarray):
        for other in encodings:
            if other.shape[1:] != first.shape[1:]:
                raise SimilarityError(
                    f"objects encoded as arrays of shape {first.shape[1:]} and of {other.shape[1:]} cannot be compared "
                    "with each other; give objects of one length"
                )
        return np.concatenate(encodings)
    from scipy import sparse

    return sparse.vstack(encodings, format="csr")


def _taken_groups(encoding: Grouped, index: Any) -> Grouped:
    rank = np.empty(len(encoding.which), dtype=np.intp)
    for group in range(len(encoding.entries)):
        places = encoding.places(group)
        rank[places] = np.arange(len(places))
    which, rank = encoding.which[index], rank[index]
    chosen = [rank[which == group] for group in range(len(encoding.entries))]
    each = zip(encoding.entries, chosen, strict=True)
    return Grouped(which, tuple(take(inside, some) if len(some) else None for inside, some in each))


def _joined_group(entries: Sequence[Encoding]) -> Encoding:
    present = [inside for inside in entries if inside is not None]
    return join(present) if present else None


def distinct(keys: Iterable[Hashable]) -> tuple[Indices, Indices]:
    """The place where each different key is first, and which of them each one is.

    >>> first, which = distinct("abac")
    >>> first.tolist(), which.tolist()
    ([0, 1, 3], [0, 1, 0, 2])
    """
    seen: dict[Hashable, int] = {}
    places = np.array([seen.setdefault(key, place) for place, key in enumerate(keys)], dtype=np.intp)
    return np.unique(places, return_inverse=True)


def _joined_levels(encodings: Sequence[Encoding]) -> Encoding:
    """Levels one after another, of which those that are the same become one; all plain if any is."""
    if not all(isinstance(encoding, Levels) for encoding in encodings):
        return join([plain(x) if isinstance(x, Levels) else x for x in encodings])
    entries = join([levels.entries for levels in encodings])
    starts = np.cumsum([0, *(count_rows(levels.entries) for levels in encodings)])
    which = np.concatenate([levels.which + start for levels, start in zip(encodings, starts[:-1], strict=True)])
    first, place = distinct(_keys(entries))
    return Levels(take(entries, first), place[which])


def _keys(encoding: Encoding) -> list[Hashable]:
    """Something for each entry that only entries of the same content share."""
    if isinstance(encoding, tuple):
        return list(zip(*map(_keys, encoding), strict=True))
    if isinstance(encoding, list):
        return [x if isinstance(x, str | bytes) else id(x) for x in encoding]
    if isinstance(encoding, Levels):
        return _keys(plain(encoding))
    if isinstance(encoding, Grouped):
        inside = [iter(() if x is None else _keys(x)) for x in encoding.entries]
        return [(group, next(inside[group])) for group in encoding.which.tolist()]
    if isinstance(encoding, np.ndarray):
        return [row.tobytes() for row in encoding]
    rows = [slice(*ends) for ends in pairwise(encoding.indptr)]
    return [(encoding.indices[row].tobytes(), encoding.data[row].tobytes()) for row in rows]


# The encodings of objects by several similarities, each made once.

# More objects than a model is conditioned on; beyond them it begins anew.
MOST = 5000


def share(
    similarities: Sequence[Similarity], key: Callable[[Similarity], Any] = id
) -> tuple[list[Similarity], list[int]]:
    """What encodes for these similarities, each once, and for each of them the place of its own among those.

    `key` says which encoders are the same.

    >>> from likewise.similarity.algebra import fixed
    >>> from likewise.similarity.kinds.vectors import RBF
    >>> rbf = RBF()
    >>> share([rbf, RBF(), fixed(rbf)])[1]
    [0, 1, 0]
    """
    encoders: dict[Any, Similarity] = {}
    keys = [key(one.encoder) for one in similarities]
    for name, one in zip(keys, similarities, strict=True):
        encoders.setdefault(name, one.encoder)
    places = {name: k for k, name in enumerate(encoders)}
    return list(encoders.values()), [places[name] for name in keys]


@dataclass(eq=False)
class EncodingCache:
    """Encodings by each of several similarities. Objects are known by identity, so they must not change.

    >>> from likewise.similarity.kinds.vectors import RBF
    >>> x, y = np.array([0.0]), np.array([1.0])
    >>> cache = EncodingCache((RBF(),))
    >>> _ = cache.of([x])
    >>> cache.of([y, x])[0].tolist()
    [[1.0], [0.0]]
    """

    similarities: tuple[Similarity, ...]
    _objects: list[Any] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    # One for each encoder, as similarities may share theirs.
    _encodings: list[Encoding] = field(default_factory=list)

    def of(self, objects: Sequence[Any]) -> list[Encoding]:
        """The encodings of these objects; a SimilarityError, and nothing is kept, where they cannot be compared."""
        self.meet(objects)
        index = np.array([self._places[id(x)] for x in objects], dtype=np.intp)
        if np.array_equal(index, np.arange(len(self._objects))):
            found = self._encodings
        else:
            found = [take(encoding, index) for encoding in self._encodings]
        return [found[k] for k in self._shared[1]]

    def meet(self, objects: Sequence[Any]) -> None:
        """Encode what was not met before; a SimilarityError, and nothing is kept, where it cannot be compared."""
        new = self._unmet(objects)
        if len(self._objects) + len(new) > MOST:
            self._objects, self._places, self._encodings = [], {}, []
            new = self._unmet(objects)
        if not new:
            return
        made = [checked(encoder, encoder.encode(new), len(new)) for encoder in self._shared[0]]
        if self._objects:
            made = [join(pair) for pair in zip(self._encodings, made, strict=True)]
        self._encodings = made
        self._places.update({id(x): len(self._objects) + i for i, x in enumerate(new)})
        self._objects += new

    @cached_property
    def _shared(self) -> tuple[list[Similarity], list[int]]:
        return share(self.similarities)

    def _unmet(self, objects: Sequence[Any]) -> list[Any]:
        return list({id(x): x for x in objects if id(x) not in self._places}.values())


def checked(encoder: Similarity, encoding: Encoding, n: int) -> Encoding:
    """The encoding of n objects; a SimilarityError where it is of another number of them."""
    try:
        size = count_rows(encoding)
    except (TypeError, AttributeError, IndexError, StopIteration):
        size = -1
    if size != n:
        shown = f"{encoding!r:.80}" if size < 0 else f"the encodings of {size}"
        raise SimilarityError(
            f"`encode` of {encoder.name} gave {shown} for {n} objects; "
            "return an array, list or sparse matrix with one entry for each object, or a tuple of these"
        )
    return encoding


# Encodings on disk: arrays as .npy files, read by mapping them, and a JSON tree that says how they belong together.
#
# Arrays of numbers, sparse matrices, tuples, levels and groups of these can be stored; lists of Python objects cannot.


@dataclass(frozen=True)
class Filed:
    """An encoding in a folder: `tree` says how its files belong together."""

    tree: Any
    folder: Path

    def read(self) -> Encoding:
        """The encoding, mapped for as long as it is held."""
        try:
            return read(self.tree, self.folder)
        except OSError as error:
            raise SimilarityError(
                f"the encodings in {self.folder} cannot be read: {error}; leave the folder where it is while it is used"
            ) from error


# The arrays of a sparse matrix; what stands for an array in a tree.
SPARSE = ("data", "indices", "indptr")
ARRAY = "array"


def flatten(encoding: Encoding) -> tuple[Any, list[Any]]:
    """What an encoding is made of: a tree of plain data that says how, and the arrays, and lists of objects, in order.

    >>> flatten((np.zeros(2), Levels(["a"], np.array([0, 0]))))
    (['tuple', 'array', ['levels', 'array', 'array']], [array([0., 0.]), ['a'], array([0, 0])])
    """
    if encoding is None:
        return None, []
    if isinstance(encoding, tuple):
        kind, parts = "tuple", encoding
    elif isinstance(encoding, Levels):
        kind, parts = "levels", (encoding.entries, encoding.which)
    elif isinstance(encoding, Grouped):
        kind, parts = "groups", (encoding.which, *encoding.entries)
    elif hasattr(encoding, "indptr") and hasattr(encoding, "tocsr"):
        matrix = encoding.tocsr()
        return ["sparse", *matrix.shape], [getattr(matrix, name) for name in SPARSE]
    else:
        return ARRAY, [encoding]
    trees, leaves = zip(*map(flatten, parts), strict=True) if parts else ((), ())
    return [kind, *trees], [leaf for inside in leaves for leaf in inside]


def unflatten(tree: Any, leaves: Iterator[Any]) -> Encoding:
    """The encoding of which `flatten` gave the tree and the leaves."""
    if tree is None:
        return None
    if tree == ARRAY:
        return next(leaves)
    kind, *inside = tree
    if kind == "sparse":
        from scipy import sparse

        return sparse.csr_array(tuple(next(leaves) for _ in SPARSE), shape=tuple(inside))
    parts = tuple(unflatten(part, leaves) for part in inside)
    if kind == "tuple":
        return parts
    return Levels(*parts) if kind == "levels" else Grouped(parts[0], parts[1:])


def storable(encoding: Encoding) -> bool:
    """Whether the encoding is made of arrays of numbers.

    >>> storable((np.zeros(2), np.ones((2, 3)))), storable(["a", "b"])
    (True, False)
    """
    return all(isinstance(part, np.ndarray) and part.dtype.kind in "biuf" for part in flatten(encoding)[1])


def nbytes(encoding: Encoding) -> int:
    """Memory of an encoding, roughly for what is not made of arrays; none for what is on disk.

    >>> nbytes((np.zeros(2), np.zeros(3, dtype=np.uint8)))
    19
    """
    if isinstance(encoding, Filed):
        return 0
    return sum(part.nbytes if isinstance(part, np.ndarray) else 100 * len(part) for part in flatten(encoding)[1])


def write(encoding: Encoding, folder: Path, stem: str) -> Any:
    """Write the arrays of an encoding to files that begin with `stem`; returns what to read them by, as plain data."""
    tree, arrays = flatten(encoding)
    files = [f"{stem}-{i}.npy" for i in range(len(arrays))]
    for name, array in zip(files, arrays, strict=True):
        np.save(folder / name, array)
    return {"tree": tree, "files": files}


def checksums(tree: Any, folder: Path) -> dict[str, str]:
    """A checksum for each file of an encoding.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     list(checksums(write((np.zeros(2), np.ones(3)), Path(folder), "x"), Path(folder)))
    ['x-0.npy', 'x-1.npy']
    """
    sums = {}
    for name in tree["files"]:
        with (folder / name).open("rb") as file:
            sums[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums


def read(tree: Any, folder: Path) -> Encoding:
    """The encoding that `write` wrote, mapped from its files."""
    # A plain view, which the libraries below handle faster than a memmap.
    arrays = (np.load(folder / name, mmap_mode="r").view(np.ndarray) for name in tree["files"])
    return unflatten(tree["tree"], arrays)
