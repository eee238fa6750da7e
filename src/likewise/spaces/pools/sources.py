"""Pools from files: a column of a CSV, TSV or Parquet file, or of a folder of Parquet files, or several as records.

What is read stays in the table's own memory, a third of what Python's objects would take, and looks like a sequence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SpaceError, TableError, UsageError
from likewise.spaces.codec.codec import identity, plain
from likewise.tables.cells import CODE, numbers, too_long
from likewise.tables.parquet import parquet_columns, read_parquet
from likewise.tables.reading import read as read_table

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".csv", ".tsv", ".parquet", ".xlsx", ".smi", ".sdf")
READ_AHEAD = 1 << 14
SOME = 1000


class Table(Sequence[Any]):
    """Rows of a table as objects: values of its only column, or records of several.

    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"solvent": ["water", "DMF"], "celsius": [20, 60]}))
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

    def kept(self, wanted: Callable[[Any], bool]) -> Table:
        """The rows whose objects are wanted."""
        import polars as pl

        return Table(self.frame.filter(pl.Series([bool(wanted(x)) for x in self], dtype=pl.Boolean)))

    @property
    def texts(self) -> bool:
        """Whether the objects are strings."""
        import polars as pl

        return self._single and self.frame.dtypes[0] == pl.String

    def ordered(self) -> Iterator[str]:
        """Strings in the order of their characters."""
        return iter(Table(self.frame.sort(self.frame.columns[0])))

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


def read(source: str | os.PathLike[str], column: str | Sequence[str] | None) -> Table | list[Any]:
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
        return Table(frame)
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
