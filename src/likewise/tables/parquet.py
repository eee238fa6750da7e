"""Reading Parquet, whose damage the library does not always notice before it panics."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import polars


def read_parquet(source: Path | IO[bytes]) -> polars.DataFrame:
    """The table of a Parquet file; a ValueError or an OSError where it is damaged.

    A panic of the library is no Exception: it would pass every handler on its way out.
    """
    import polars

    try:
        return polars.read_parquet(source)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise ValueError((str(error).splitlines() or [type(error).__name__])[0]) from None
