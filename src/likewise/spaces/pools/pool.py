"""A finite list of any objects: a catalogue, a grid, a library of molecules."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path as Folder
from typing import Any

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.auto.recognise import Recognised, of_field
from likewise.similarity.base import Similarity, assign
from likewise.similarity.coordinates import Coordinates
from likewise.similarity.ranges import Path, column, rescaled, span
from likewise.spaces.base import SAMPLE, Generator, Space, check_json_functions, checked_where, is_allowed
from likewise.spaces.codec.codec import identity, plain
from likewise.spaces.codec.copies import copied
from likewise.spaces.codec.foreign import foreign, is_graph
from likewise.spaces.pools.encodings import Encoder, standing_in
from likewise.spaces.pools.sources import Table, read
from likewise.tables.frames import as_objects, is_frame

STRETCH = 1 << 14
AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kMGT]?)(i?)B\s*", re.IGNORECASE)
Function = Callable[[Any], Any]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Pool(Space):
    """A finite list of any objects, in the order given; of equal ones the first is kept.

    - `objects`: a list of them, or a .csv, .tsv, .parquet, .smi or .sdf file (or .gz of one), an .xlsx workbook, or
      a folder of .parquet files.
    - `column`: in a file or a data frame, the column of the objects, or several that are the fields of a record.
    - `where`: a function that says whether an object is kept; by default all are.
    - `to_json`: a function from an object to JSON data, such as `str`, for objects that have no JSON form; by default
      none.
    - `from_json`: the function back, such as `Fraction`; both are given, or neither.
    - `exclude`: a list of objects that are never proposed, and need not be anything that a similarity can compare.
    - `memory`: a budget such as "4GB", or bytes. Scores and encodings beyond it are kept on disk, with the same
      answers; by default all are held.
    - `cache`: a folder that keeps the encodings for the next time; several pools and processes may share it. By default
      they are made anew.
    - `processes`: how many processes encode; by default as many as there are processors, where that pays.
    - `client`: a Dask client, which keeps the pool in parts on the workers of a cluster; by default none.

    Two objects are equal when they have the same JSON form, in which tuples, arrays and sets are lists, a graph of
    networkx is its nodes and edges, and a molecule of RDKit its canonical SMILES, so that coordinates do not tell two
    apart. Objects of other kinds need a method `to_json`, or the pool both functions. A pool may be empty; only
    sampling from it is an error. Vector similarities see the pool's numbers rescaled to their range. Arrays, dicts,
    lists and sets are copied, and the pool's arrays read-only.

    >>> pool = Pool(["CCO", "CCN", "CCO"])
    >>> pool.objects, pool.duplicates, pool.index("CCN"), "CCC" in pool
    (('CCO', 'CCN'), 1, 1, False)
    """

    short = None
    objects: Sequence[Any]
    duplicates: int
    where: Callable[[Any], bool] | None
    memory: int | None
    client: Any
    _to_json: Function | None
    _from_json: Function | None
    _cache: Folder | None
    _processes: int | None
    _excluded: tuple[Any, ...]
    _spans: dict[Path, Coordinates | None] = field(compare=False)

    def __init__(
        self,
        objects: Iterable[Any] | str | os.PathLike[str],
        *,
        column: str | Sequence[str] | None = None,
        where: Callable[[Any], bool] | None = None,
        to_json: Function | None = None,
        from_json: Function | None = None,
        exclude: Iterable[Any] = (),
        memory: str | int | None = None,
        cache: str | os.PathLike[str] | None = None,
        processes: int | None = None,
        client: Any = None,
    ) -> None:
        check_json_functions("Pool", to_json, from_json)
        assign(self, where=checked_where(where), memory=_bytes(memory), client=_checked(client), _spans={})
        assign(self, _to_json=to_json, _from_json=from_json)
        assign(self, _cache=None if cache is None else Folder(cache), _processes=_positive(processes))
        given = self._given(objects, column)
        if not len(given):
            raise SpaceError("a pool needs at least one object; look at the file, or at the list, that it is made from")
        distinct = self._distinct(given)
        assign(self, duplicates=len(given) - len(distinct), objects=_filtered(distinct, where))
        assign(self, _excluded=tuple(copied(_listed("exclude", exclude))))

    def _given(self, objects: Any, column: str | Sequence[str] | None) -> Sequence[Any]:
        """The objects as they are given, or as they are read."""
        if isinstance(objects, str | os.PathLike):
            found = read(objects, column)
            return found if self._from_json is None else [self._from_json(data) for data in found]
        if is_frame(objects):
            names = [column] if isinstance(column, str) else column
            return as_objects(objects if names is None else objects[[*names]])
        if column is not None:
            raise SpaceError(f"column={column!r} is for objects in a file or a data frame; a list has no columns")
        return _listed("Pool", objects)

    def _distinct(self, given: Sequence[Any]) -> Collection[Any]:
        if isinstance(given, Table):
            return Table(given.frame.unique(maintain_order=True, keep="first"))
        if self._to_json is None and set(map(type, given)) <= {str}:
            return dict.fromkeys(given)
        found: dict[Hashable, Any] = {}
        for number, x in enumerate(given):
            try:
                found.setdefault(self._identity(x), x)
            except TypeError as error:
                raise SpaceError(
                    f"object {number} of the pool cannot be stored, as {error}: {_short(x)}; "
                    "give to_json and from_json, two functions from an object to JSON data and back"
                ) from error
        # Of its own, so that it stays as it is whatever becomes of what was given.
        return [copied(x, writeable=False) for x in found.values()]

    def _identity(self, x: Any) -> Hashable:
        if self._to_json is None:
            if type(x) is str:
                return x
            if type(x) is np.ndarray and x.dtype == float and x.ndim == 1 and np.isfinite(x).all():
                return tuple(x.tolist())
        return identity(self.to_json(x))

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        identities = self.objects if self._only_strings else map(self._identity, self.objects)
        return dict(zip(identities, range(len(self.objects)), strict=True))

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        return f"Pool of {len(self)} objects"

    def index(self, x: Any) -> int:
        """The position of the object in `objects`; a SpaceError when it is not there."""
        position = self._position(x)
        if position is None:
            excluded = "" if self.where is None else ", or is excluded by its `where`"
            raise SpaceError(
                f"{_short(x)} is not among the {len(self)} objects of the pool{excluded}; add it to the pool's objects"
            )
        return position

    def row(self, key: str) -> int | None:
        """The position of the object that has this key; None where there is none."""
        return self._stored_at(json.loads(key))

    def _stored_at(self, data: Any) -> int | None:
        """The position of the object with this JSON form."""
        if isinstance(self.objects, Table):
            return self.objects.position(data)
        return self._positions.get(identity(data))

    @cached_property
    def excluded(self) -> frozenset[str]:
        """The keys of the objects that are never proposed; those that are not in the pool do not matter."""
        return frozenset(self.key(self.objects[i]) for i in self._excluded_rows)

    @cached_property
    def _excluded_rows(self) -> frozenset[int]:
        inside = (self._position(x) for x in self._excluded)
        return frozenset(i for i in inside if i is not None)

    @property
    def comparable(self) -> Sequence[Any]:
        """The objects, with another one in place of each that is excluded, which no similarity need understand."""
        return standing_in(self.objects, self._excluded_rows)

    def encodings(self, similarities: Sequence[Similarity]) -> Iterator[tuple[Any, ...]]:
        """The encodings of all objects by each similarity, in chunks: from the cache, or made by several processes.

        Those of excluded objects are of no account, for they are encodings of others.
        """
        return Encoder(self.comparable, self._content, self._cache, self._processes, self._excluded_rows)(similarities)

    def _content(self) -> str:
        """A digest of the objects in their order."""
        return _hashed(self.objects if self._only_strings else map(self.key, self.objects))

    def _position(self, x: Any) -> int | None:
        try:
            if isinstance(self.objects, Table):
                return self.objects.position(x)
            return self._positions.get(self._identity(x))
        except Exception:
            # `to_json` is the user's; whatever it does to a foreign object, that object is not in the pool.
            return None

    def _draw(self, n: int, rng: Generator) -> list[Any]:
        size = len(self)
        if n and not size:
            why = "it has no objects" if self.where is None else "none of its objects satisfies `where`"
            raise SpaceError(f"nothing can be sampled from this pool, as {why}; give it some")
        if n <= size:
            return [self.objects[i] for i in rng.choice(size, size=n, replace=False)]
        # Each object once before any comes twice, so that the first draws are distinct.
        order = np.concatenate([rng.permutation(size), rng.integers(size, size=n - size)])
        return [self.objects[i] for i in order]

    def _fit(self, x: Any) -> Any:
        return self.objects[self.index(x)]

    def to_json(self, x: Any) -> Any:
        return plain(x, foreign) if self._to_json is None else self._to_json(x)

    def from_json(self, data: Any) -> Any:
        position = self._stored_at(data)
        if position is None and self._from_json is not None:
            position = self._position(self._from_json(data))
        if position is None:
            raise SpaceError(f"the stored object {_short(data)} is not in the pool; open the study with its own pool")
        return self.objects[position]

    def describe(self) -> dict[str, Any]:
        """The size of the pool and a digest of its objects, which does not depend on their order."""
        return {"space": "Pool", "size": len(self), "digest": self._digest}

    @cached_property
    def _digest(self) -> str:
        texts: Iterable[str] = map(self.key, self.objects)
        if isinstance(self.objects, Table) and self.objects.texts:
            texts = self.objects.ordered()
        else:
            texts = sorted(self.objects if self._only_strings else texts)
        return _hashed(texts)

    @cached_property
    def _only_strings(self) -> bool:
        if isinstance(self.objects, Table):
            return self.objects.texts
        return self._to_json is None and set(map(type, self.objects)) <= {str}

    def recognise_part(self, rng: Generator) -> Recognised:
        """By the values alone, as those of a column of a table."""
        return of_field(self.sample(SAMPLE, rng))

    def view(self, similarity: Similarity) -> Similarity:
        """Vector similarities, those of a record's fields included, see numbers rescaled to the pool's range."""
        return rescaled(similarity, self._span)

    def _span(self, path: Path) -> Coordinates | None:
        if path not in self._spans:
            found = span(column(self.objects, path))
            # What is excluded may be what has no numbers.
            self._spans[path] = span(column(self.comparable, path)) if found is None and self._excluded else found
        return self._spans[path]


def _checked(client: Any) -> Any:
    if client is not None and (not hasattr(client, "scatter") or getattr(client, "asynchronous", False)):
        raise SpaceError(f"a pool's client is a plain distributed.Client, not asynchronous, not {_short(client)}")
    return client


def _listed(what: str, objects: Any) -> list[Any]:
    if isinstance(objects, str | bytes | Mapping) or is_graph(objects) or not isinstance(objects, Iterable):
        raise SpaceError(
            f"{what} takes a list of objects, not one {type(objects).__name__}: {_short(objects)}; "
            f"for this one alone write [{_short(objects)}]"
        )
    return as_objects(objects)


def _hashed(texts: Iterable[str]) -> str:
    """A digest of the texts' JSON list, of which only a stretch is held at a time."""
    digest, first, rest = hashlib.sha256(b"["), True, iter(texts)
    while some := list(islice(rest, STRETCH)):
        digest.update(("" if first else ", ").encode() + json.dumps(some)[1:-1].encode())
        first = False
    digest.update(b"]")
    return digest.hexdigest()


def _filtered(objects: Collection[Any], where: Callable[[Any], bool] | None) -> Sequence[Any]:
    if isinstance(objects, Table):
        return objects if where is None else objects.kept(where)
    return tuple(objects if where is None else filter(partial(is_allowed, where), objects))


def _bytes(memory: str | int | None) -> int | None:
    """A budget in bytes: a whole number of them, or a text such as "4GB" or "500 MB"."""
    if memory is None or (isinstance(memory, int) and not isinstance(memory, bool) and memory > 0):
        return memory
    found = AMOUNT.fullmatch(memory) if isinstance(memory, str) else None
    if found is None or float(found[1]) == 0:
        raise SpaceError(f"memory={memory!r} is no amount of memory; write it as '4GB', '500MB' or a number of bytes")
    unit = 1024 if found[3] else 1000
    return int(float(found[1]) * unit ** " kmgt".index(found[2].lower() or " "))


def _positive(processes: int | None) -> int | None:
    if processes is not None and (not isinstance(processes, int) or processes < 1):
        raise SpaceError(f"processes={processes!r}; give a whole number from 1, or leave it out for all processors")
    return processes


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 80 else f"{text[:77]}..."
