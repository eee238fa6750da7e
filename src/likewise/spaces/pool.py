"""A finite list of any objects: a catalogue, a grid, a library of molecules."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Similarity
from likewise.similarity.vectors import Coordinates
from likewise.spaces.base import Generator, Space
from likewise.spaces.codec import identity, plain
from likewise.spaces.ranges import Path, rescaled, span

Codec = tuple[Callable[[Any], Any], Callable[[Any], Any]]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Pool(Space):
    """A finite list of any objects, in the order given; of equal ones the first is kept.

    Two objects are equal when they have the same JSON form, in which tuples, arrays and sets are lists. Objects of
    other kinds need a method `to_json`, or the pool a `codec`, two functions to JSON data and back, as in
    `codec=(str, Fraction)`. A pool may be empty; only sampling from it is an error. Vector similarities see the
    pool's numbers rescaled to their range. With a Dask `client`, encodings and scores are kept and searched by the
    workers of its cluster.

    >>> pool = Pool(["CCO", "CCN", "CCO"])
    >>> pool.objects, pool.duplicates, pool.index("CCN"), "CCC" in pool
    (('CCO', 'CCN'), 1, 1, False)
    """

    objects: tuple[Any, ...]
    duplicates: int
    codec: Codec | None
    where: Callable[[Any], bool] | None
    client: Any
    _spans: dict[Path, Coordinates | None] = field(compare=False)

    def __init__(
        self,
        objects: Iterable[Any],
        *,
        where: Callable[[Any], bool] | None = None,
        codec: Codec | None = None,
        client: Any = None,
    ) -> None:
        if isinstance(objects, str | bytes | Mapping) or not isinstance(objects, Iterable):
            raise SpaceError(f"Pool takes a list of objects, not one {type(objects).__name__}: {_short(objects)}")
        if hasattr(objects, "columns"):
            raise SpaceError(
                "Pool takes a list of objects, not a table; pass its rows as dicts: "
                "table.to_dicts() in polars, table.to_dict('records') in pandas"
            )
        object.__setattr__(self, "codec", codec)
        object.__setattr__(self, "where", where)
        object.__setattr__(self, "client", _checked(client))
        object.__setattr__(self, "_spans", {})
        given = list(objects)
        distinct = self._distinct(given)
        object.__setattr__(self, "duplicates", len(given) - len(distinct))
        object.__setattr__(self, "objects", tuple(distinct if where is None else filter(where, distinct)))

    def _distinct(self, given: list[Any]) -> Collection[Any]:
        if self.codec is None and set(map(type, given)) <= {str}:
            return dict.fromkeys(given)
        found: dict[Hashable, Any] = {}
        for number, x in enumerate(given):
            try:
                found.setdefault(self._identity(x), x)
            except TypeError as error:
                raise SpaceError(
                    f"object {number} of the pool cannot be stored, as {error}: {_short(x)}; "
                    "pass codec=(to_json, from_json), two functions from an object to JSON data and back"
                ) from error
        return found.values()

    def _identity(self, x: Any) -> Hashable:
        if self.codec is None:
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
        return self._positions.get(identity(json.loads(key)))

    def _position(self, x: Any) -> int | None:
        try:
            return self._positions.get(self._identity(x))
        except Exception:
            # A codec is the user's; whatever it does to a foreign object, that object is not in the pool.
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
        return plain(x) if self.codec is None else self.codec[0](x)

    def from_json(self, data: Any) -> Any:
        position = self._positions.get(identity(data))
        if position is None and self.codec is not None:
            position = self._position(self.codec[1](data))
        if position is None:
            raise SpaceError(f"the stored object {_short(data)} is not in the pool; open the study with its own pool")
        return self.objects[position]

    def describe(self) -> dict[str, Any]:
        """The size of the pool and a digest of its objects, which does not depend on their order."""
        texts = sorted(self.objects) if self._only_strings else sorted(map(self.key, self.objects))
        digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()
        return {"space": "Pool", "size": len(self), "digest": digest}

    @cached_property
    def _only_strings(self) -> bool:
        return self.codec is None and set(map(type, self.objects)) <= {str}

    def view(self, similarity: Similarity) -> Similarity:
        """Vector similarities, those of a record's fields included, see numbers rescaled to the pool's range."""
        return rescaled(similarity, self._span)

    def _span(self, path: Path) -> Coordinates | None:
        if path not in self._spans:
            self._spans[path] = span(self._column(path))
        return self._spans[path]

    def _column(self, path: Path) -> list[Any]:
        column = list(self.objects)
        for name in path:
            if not all(isinstance(x, Mapping) and name in x for x in column):
                return []
            column = [x[name] for x in column]
        return column


def _checked(client: Any) -> Any:
    if client is not None and (not hasattr(client, "scatter") or getattr(client, "asynchronous", False)):
        raise SpaceError(f"a pool's client is a plain distributed.Client, not asynchronous, not {_short(client)}")
    return client


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 80 else f"{text[:77]}..."
