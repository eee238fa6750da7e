"""A finite list of any objects: a catalogue, a grid, a library of molecules, in memory or from files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SpaceError, TableError, UsageError
from likewise.similarity.auto import Recognised, of_field
from likewise.similarity.base import Similarity, assign
from likewise.similarity.coordinates import Coordinates, FieldPath, column, rescaled, span
from likewise.spaces.base import SAMPLE, Generator, Space, check_json_functions, checked_where, is_allowed
from likewise.spaces.codec import copied, identity, plain, without_form
from likewise.spaces.graphs import graph_data, shape_of
from likewise.spaces.pool_encodings import Encoder, with_placeholders
from likewise.tables.cells import CODE, as_objects, is_frame, numbers, too_long
from likewise.tables.reading import parquet_columns, read_parquet
from likewise.tables.reading import read as read_table

if TYPE_CHECKING:
    import polars as pl

# Objects of other libraries as JSON data: graphs of networkx, molecules of RDKit. Neither library is imported here.


def foreign(x: Any) -> Any:
    """A graph of networkx, or the canonical SMILES of a molecule of RDKit; a TypeError for other objects.

    >>> import networkx as nx
    >>> foreign(nx.path_graph(3)), foreign(nx.DiGraph([("a", "b")]))["edges"]
    ({'nodes': 3, 'edges': [[0, 1], [1, 2]]}, [['a', 'b', {}]])
    """
    if is_graph(x):
        return _graph(x)
    # Who has such an object has imported the library.
    chem = sys.modules.get("rdkit.Chem")
    if chem is not None and isinstance(x, chem.Mol):
        return str(chem.MolToSmiles(x))
    return without_form(x)


def is_graph(x: Any) -> bool:
    """Whether the object is a graph of networkx."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(x, networkx.Graph)


def _graph(graph: Any) -> dict[str, Any]:
    """As the space `Graphs` writes it where that says all, else with names and attributes of nodes and edges."""
    data = _numbered(graph) if _is_numbered(graph) else _named(graph)
    kinds = {"directed": graph.is_directed(), "multigraph": graph.is_multigraph()}
    return {**data, **{kind: True for kind, true in kinds.items() if true}}


def _is_numbered(graph: Any) -> bool:
    """Whether nodes are 0, 1, …, and nothing but labels is written on them and on the edges, on all or on none."""
    return (
        not graph.is_multigraph()
        and set(graph) == set(range(len(graph)))
        and _labelled(graph.nodes) in ([], [{"label"}])
        and _labelled(graph.edges) in ([], [{"label"}])
    )


def _labelled(places: Mapping[Any, Mapping[str, Any]]) -> list[set[str]]:
    """The different sets of attributes there are, but for a single empty one."""
    found = {frozenset(attributes) for attributes in places.values()}
    return [] if found <= {frozenset()} else [set(names) for names in found]


def _numbered(graph: Any) -> dict[str, Any]:
    return graph_data(shape_of(graph), labels=bool(_labelled(graph.nodes)), edge_labels=bool(_labelled(graph.edges)))


def _named(graph: Any) -> dict[str, Any]:
    def ends(u: Any, v: Any) -> list[Any]:
        found = [plain(u), plain(v)]
        return found if graph.is_directed() else sorted(found, key=json.dumps)

    def ordered(rows: list[Any]) -> list[Any]:
        return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))

    return {
        "nodes": ordered([[plain(node), plain(attributes)] for node, attributes in graph.nodes.items()]),
        "edges": ordered([[*ends(*edge[:2]), plain(attributes)] for edge, attributes in graph.edges.items()]),
    }


# Pools from files: a column of a CSV, TSV or Parquet file, or of a folder of Parquet files, or several as records.
#
# What is read stays in the table's own memory, a third of what Python's objects would take, and looks like a sequence.

SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx", ".smi", ".sdf")
READ_AHEAD = 1 << 14
SOME = 1000


class TableObjects(Sequence[Any]):
    """Rows of a table as objects: values of its only column, or records of several.

    >>> import polars as pl
    >>> table = TableObjects(pl.DataFrame({"solvent": ["water", "DMF"], "celsius": [20, 60]}))
    >>> table[1], table.position({"solvent": "water", "celsius": 20.0}), len(table)
    ({'solvent': 'DMF', 'celsius': 60}, 0, 2)
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        self._single = len(frame.columns) == 1

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._listed(self.frame[index])
        place = int(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"row {place} of {len(self)}")
        return self.frame.item(place, 0) if self._single else self.frame.row(place, named=True)

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), READ_AHEAD):
            yield from self._listed(self.frame[start : start + READ_AHEAD])

    def _listed(self, frame: pl.DataFrame) -> list[Any]:
        return frame.to_series(0).to_list() if self._single else frame.to_dicts()

    def kept(self, wanted: Callable[[Any], bool]) -> TableObjects:
        """The rows whose objects are wanted."""
        import polars as pl

        return TableObjects(self.frame.filter(pl.Series([bool(wanted(x)) for x in self], dtype=pl.Boolean)))

    @property
    def texts(self) -> bool:
        """Whether the objects are strings."""
        import polars as pl

        return self._single and self.frame.dtypes[0] == pl.String

    def ordered(self) -> Iterator[str]:
        """Strings in the order of their characters."""
        return iter(TableObjects(self.frame.sort(self.frame.columns[0])))

    def position(self, x: Any) -> int | None:
        """The row of an object equal to this one; None where there is none."""
        row = self._row(x)
        if row is None:
            return None
        hashes, order = self._hashes
        (wanted,) = row.hash_rows(seed=0).to_numpy()
        first, last = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
        same = identity(plain(x))
        return next((int(i) for i in order[first:last] if identity(plain(self[int(i)])) == same), None)

    def _row(self, x: Any) -> pl.DataFrame | None:
        """The object as a table of one row; None where it has not the form."""
        import polars as pl

        names = self.frame.columns
        given = {names[0]: x} if self._single else x
        if not isinstance(given, Mapping) or set(given) != set(names):
            return None
        if any(value is None or isinstance(value, list | dict | tuple) for value in given.values()):
            return None
        try:
            plainly = {name: [plain(given[name])] for name in names}
            return pl.DataFrame(plainly).cast(dict(self.frame.schema))  # type: ignore[arg-type]
        except (pl.exceptions.PolarsError, TypeError):
            return None

    @cached_property
    def _hashes(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """Sorted hashes of the rows and where they stand: sixteen bytes a row, where a dictionary takes a hundred."""
        hashes = self.frame.hash_rows(seed=0).to_numpy()
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order


def read(source: str | os.PathLike[str], column: str | Sequence[str] | None) -> TableObjects | list[Any]:
    """The objects of a file or folder; a list where their kind has no compact form."""
    import polars as pl

    path = Path(source)
    try:
        frame = _frame(path, column)
    except (TableError, UsageError) as error:
        raise SpaceError(str(error)) from error
    if not len(frame):
        raise SpaceError(f"{path} has no rows; give a file with objects")
    for name in frame.columns:
        _check_complete(frame[name], path)
    if all(kind in (pl.String, pl.Boolean) or kind.is_integer() or kind.is_float() for kind in frame.dtypes):
        return TableObjects(frame)
    return frame.to_series(0).to_list() if len(frame.columns) == 1 else frame.to_dicts()


def _frame(path: Path, column: str | Sequence[str] | None) -> pl.DataFrame:
    """The wanted columns; those of a Parquet file alone are read, as it may be large."""
    kinds, kind = ", ".join(SUFFIXES), Path(path.name.removesuffix(".gz")).suffix.lower()
    if not path.exists():
        raise SpaceError(
            f"There is no file {str(path)!r}; give a list of objects, or a {kinds} file, or a folder of .parquet files"
        )
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path] if path.suffix.lower() == ".parquet" else []
    if path.is_dir() and not files:
        raise SpaceError(f"the folder {path} has no .parquet files; give a folder that has, or one file")
    if not files and kind not in SUFFIXES:
        raise SpaceError(f"{path} is none of {kinds}, of which pools are read; convert it, or give a list")
    if files:
        return _parquet(files, path, column)
    import polars as pl

    table = read_table(path)
    if table.dialect.kind == "structures":
        column = column or "smiles"
    found = table.frame.select(_columns(table.columns, path, column))
    # Where a file has types of its own, they count.
    texts = [found[name] for name, kind in found.schema.items() if kind == pl.String]
    return found if table.dialect.kind == "parquet" else found.with_columns(*map(_interpret, texts))


def _parquet(files: list[Path], path: Path, column: str | Sequence[str] | None) -> pl.DataFrame:
    try:
        names = parquet_columns(files[0])
        return read_parquet(files, _columns(names, path, column))
    except SpaceError:
        raise
    except (OSError, ValueError) as error:
        raise SpaceError(f"{path} cannot be read: {error}; see that it is a whole Parquet file") from error


def _interpret(cells: pl.Series) -> pl.Series:
    """What a column of texts holds: truth values, numbers if all are and none of them is a code; otherwise texts.

    Some cells tell of most columns that they are texts, and reading all takes long.
    """
    return cells if len(cells) > SOME and _typed(cells.head(SOME)).dtype == cells.dtype else _typed(cells)


def _typed(cells: pl.Series) -> pl.Series:
    import polars as pl

    if cells.is_in(["true", "false"]).all():
        return (cells == "true").alias(cells.name)
    # Commas are decimal where some cell leaves no doubt.
    read = numbers(cells)
    if read.unclear is not None or read.bad or read.present < len(cells) - cells.null_count():
        return cells
    if cells.str.contains(CODE).any():
        return cells
    whole = cells.cast(pl.Int64, strict=False)
    if whole.null_count() == cells.null_count():
        return whole
    return cells if too_long(cells.drop_nulls(), read.decimal) else pl.Series(cells.name, read.values)


def _columns(names: list[str], path: Path, column: str | Sequence[str] | None) -> list[str]:
    if column is None:
        if len(names) != 1:
            raise SpaceError(
                f"{path} has the columns {', '.join(map(repr, names))}; say which are the objects: column={names[0]!r}"
            )
        return names
    wanted = [column] if isinstance(column, str) else list(column)
    missing = [name for name in wanted if name not in names]
    if missing or not wanted:
        raise SpaceError(f"{path} has no column {missing or wanted}; it has {', '.join(map(repr, names))}")
    return wanted


def _check_complete(values: pl.Series, path: Path) -> None:
    bad = values.is_null()
    if values.dtype.is_float():
        bad = bad | ~values.is_finite().fill_null(False)
    if bad.any():
        row = bad.arg_max()
        raise SpaceError(
            f"row {row} of {path} has no value in the column {values.name!r} ({bad.sum()} such rows); "
            "fill them in, or leave these rows out"
        )


# A finite list of any objects: a catalogue, a grid, a library of molecules.

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
    _cache: Path | None
    _processes: int | None
    _excluded: tuple[Any, ...]
    _spans: dict[FieldPath, Coordinates | None] = field(compare=False)

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
        assign(self, _cache=None if cache is None else Path(cache), _processes=_positive(processes))
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
        if isinstance(given, TableObjects):
            return TableObjects(given.frame.unique(maintain_order=True, keep="first"))
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
        if isinstance(self.objects, TableObjects):
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
        return with_placeholders(self.objects, self._excluded_rows)

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
            if isinstance(self.objects, TableObjects):
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

    def _describe(self) -> dict[str, Any]:
        """The size of the pool and a digest of its objects, which does not depend on their order."""
        return {"space": "Pool", "size": len(self), "digest": self._digest}

    def includes(self, described: Mapping[str, Any]) -> bool:
        """Whether the objects at its beginning, in any order, are those of a pool of which only a digest is known."""
        size = described.get("size")
        if described.get("space") != "Pool" or not isinstance(size, int) or not 0 <= size <= len(self):
            return False
        first = self._digest if size == len(self) else self._digest_of(_beginning(self.objects, size))
        return first == described.get("digest")

    @cached_property
    def _digest(self) -> str:
        return self._digest_of(self.objects)

    def _digest_of(self, objects: Sequence[Any]) -> str:
        if isinstance(objects, TableObjects) and objects.texts:
            return _hashed(objects.ordered())
        return _hashed(sorted(objects if self._only_strings else map(self.key, objects)))

    @cached_property
    def _only_strings(self) -> bool:
        if isinstance(self.objects, TableObjects):
            return self.objects.texts
        return self._to_json is None and set(map(type, self.objects)) <= {str}

    def recognise_part(self, rng: Generator) -> Recognised:
        """By the values alone, as those of a column of a table."""
        return of_field(self.sample(SAMPLE, rng))

    def view(self, similarity: Similarity) -> Similarity:
        """Vector similarities, those of a record's fields included, see numbers rescaled to the pool's range."""
        return rescaled(similarity, self._span)

    def _span(self, path: FieldPath) -> Coordinates | None:
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


def _beginning(objects: Sequence[Any], size: int) -> Sequence[Any]:
    """The first objects, in the form that all have."""
    return TableObjects(objects.frame[:size]) if isinstance(objects, TableObjects) else objects[:size]


def _hashed(texts: Iterable[str]) -> str:
    """A digest of the texts' JSON list, of which only a stretch is held at a time."""
    digest, first, rest = hashlib.sha256(b"["), True, iter(texts)
    while some := list(islice(rest, STRETCH)):
        digest.update(("" if first else ", ").encode() + json.dumps(some)[1:-1].encode())
        first = False
    digest.update(b"]")
    return digest.hexdigest()


def _filtered(objects: Collection[Any], where: Callable[[Any], bool] | None) -> Sequence[Any]:
    if isinstance(objects, TableObjects):
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
