"""Objects as people hold them: a list, an array, a column, or a data frame of pandas or polars, whose rows are records.

Nothing is imported for it: a frame is known by what it can do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def is_frame(given: Any) -> bool:
    """Whether this is a data frame of pandas or polars: named columns, and rows and columns in its shape.

    >>> import polars
    >>> is_frame(polars.DataFrame({"T": [20, 80]})), is_frame([[20], [80]])
    (True, False)
    """
    return hasattr(given, "columns") and len(getattr(given, "shape", ())) == 2


def as_objects(given: Iterable[Any]) -> list[Any]:
    """The objects of a list, an array, a series or a frame; of a frame with several columns, one record a row.

    >>> import polars
    >>> as_objects(polars.DataFrame({"T": [20, 80], "base": ["KOAc", "KOPiv"]}))
    [{'T': 20, 'base': 'KOAc'}, {'T': 80, 'base': 'KOPiv'}]
    >>> as_objects(polars.Series("smiles", ["CCO", "CCN"]))
    ['CCO', 'CCN']
    """
    if is_frame(given):
        columns = [str(name) for name in given.columns]  # type: ignore[attr-defined]
        cells = [_cells(given[name]) for name in given.columns]  # type: ignore[index, attr-defined]
        if len(columns) == 1:
            return cells[0]
        return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]
    if getattr(given, "ndim", 1) == 2 or not (hasattr(given, "to_list") or hasattr(given, "tolist")):
        return list(given)
    return _cells(given)


def _cells(column: Any) -> list[Any]:
    """The cells of a series or of an array of one dimension as Python's own values."""
    read = getattr(column, "to_list", None) or column.tolist
    found: Sequence[Any] = read()
    return list(found)
