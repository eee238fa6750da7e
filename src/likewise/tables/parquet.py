"""Reading Parquet, whose damage the library does not always notice before it panics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import polars

Found = TypeVar("Found")


def read_parquet(source: Path | list[Path] | IO[bytes], columns: Sequence[str] | None = None) -> polars.DataFrame:
    """The table of a Parquet file, or of several, or some of its columns; a ValueError or an OSError where damaged."""
    import polars

    return _guard(lambda: polars.read_parquet(source, columns=None if columns is None else list(columns)))


def parquet_columns(source: Path | IO[bytes]) -> list[str]:
    """The names of the columns; a ValueError or an OSError where the file is damaged."""
    import polars

    return _guard(lambda: list(polars.read_parquet_schema(source)))


def _guard(read: Callable[[], Found]) -> Found:
    """What is read. A panic of the library is no Exception: it would pass every handler on its way out."""
    import polars

    try:
        return read()
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise ValueError((str(error).splitlines() or [type(error).__name__])[0]) from None
