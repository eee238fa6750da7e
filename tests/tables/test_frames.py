"""Objects are taken from wherever people hold them: lists, arrays, series and frames say the same."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pytest

import likewise as lw
from likewise.tables.cells import as_objects

COLUMNS = {"T": [20.0, 80.0, 50.0], "base": ["KOAc", "KOPiv", "KOAc"]}
RECORDS = [{"T": t, "base": base} for t, base in zip(*COLUMNS.values(), strict=True)]


@pytest.mark.parametrize("library", [polars, pandas])
def test_rows_of_a_frame_are_records(library: object) -> None:
    frame = library.DataFrame(COLUMNS)  # type: ignore[attr-defined]
    assert as_objects(frame) == RECORDS
    assert list(lw.Pool(frame).objects) == RECORDS
    assert list(lw.Pool(frame, column="base").objects) == ["KOAc", "KOPiv"]
    assert list(lw.Pool(frame["T"]).objects) == COLUMNS["T"]
    assert all(type(x) is float for x in as_objects(frame["T"]))


def test_arrays_are_their_rows() -> None:
    assert as_objects(np.array(["CCO", "CCN"])) == ["CCO", "CCN"]
    assert [x.tolist() for x in as_objects(np.eye(2))] == [[1.0, 0.0], [0.0, 1.0]]
    assert as_objects(x for x in "ab") == ["a", "b"]


@pytest.mark.parametrize("library", [polars, pandas])
def test_compare_takes_a_frame(library: object) -> None:
    x = np.linspace(0.0, 6.0, 12)
    frame = library.DataFrame({"a": x, "b": x % 2})  # type: ignore[attr-defined]
    assert str(lw.compare(frame, np.sin(x))) == str(lw.compare(as_objects(frame), np.sin(x)))
