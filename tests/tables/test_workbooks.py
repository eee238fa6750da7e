"""Workbooks: read as a spreadsheet shows them, written anew, and changed in some cells and nowhere else."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import TableError
from likewise.tables.reading import read
from likewise.tables.workbooks.editing import edit_cells
from likewise.tables.workbooks.reading import read_sheet

xlsxwriter = pytest.importorskip("xlsxwriter")
openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

Run = Callable[..., Any]


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\xff\0\0" * 8 for _ in range(8))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A chemist's workbook: formats, formulas, a named table, a chart, a picture, a text box, and another sheet."""
    path = tmp_path / "runs.xlsx"
    made = xlsxwriter.Workbook(path)
    sheet, bold, digits = (
        made.add_worksheet("Runs"),
        made.add_format({"bold": True}),
        made.add_format({"num_format": "0.0"}),
    )
    runs = [(1, "XPhos", 80, 10.5), (2, "SPhos", 90, 20.5), (3, "dppf", 80, None), (4, "dppf", 90, None)]
    for row, cells in enumerate(runs, 1):
        for column, cell in enumerate(cells):
            if cell is not None:
                sheet.write(row, column, cell, digits if column == 3 else None)
        sheet.write_blank(row, 3, None, digits) if cells[3] is None else None
        sheet.write_formula(row, 4, f"=D{row + 1}*2", None, 2 * (cells[3] or 0))
    names = [{"header": name, "header_format": bold} for name in ("run", "ligand", "temp", "yield", "double")]
    sheet.add_table(0, 0, 4, 4, {"columns": names})
    sheet.conditional_format("D2:D9", {"type": "data_bar", "data_bar_2010": True})
    sheet.data_validation("B2:B9", {"validate": "list", "source": ["XPhos", "SPhos", "dppf"]})
    sheet.add_sparkline("G2", {"range": "Runs!C2:C4"})
    sheet.write_comment("D2", "checked")
    sheet.insert_textbox("H2", "a text box")
    sheet.insert_image("H8", "a.png", {"image_data": io.BytesIO(_png())})
    chart = made.add_chart({"type": "line"})
    chart.add_series({"values": "=Runs!$D$2:$D$5"})
    sheet.insert_chart("H12", chart)
    notes = made.add_worksheet("Notes")
    notes.write("A1", "keep me")
    notes.write_formula("A2", "=SUM(Runs!D2:D5)", None, 31)
    made.close()
    return path


def _parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


# What openpyxl would lose is what is kept here.
@pytest.mark.filterwarnings("ignore:.*extension is not supported:UserWarning")
def test_tell_changes_the_cells_of_results_and_nothing_else(run: Run, book: Path) -> None:
    before = _parts(book)
    results = book.with_name("results.csv")
    results.write_text("ligand,temp,yield\ndppf,80,33.5\nRuPhos,70,12\n")
    told = run("tell", book, results, "-o", "ligand", "-o", "temp", "-v", "yield")
    assert told.code == 0
    after = _parts(book)
    changed = {name for name in before if before[name] != after[name]}
    assert set(after) == set(before)
    assert changed == {"xl/worksheets/sheet1.xml", "xl/tables/table1.xml"}
    assert b"fullCalcOnLoad" in after["xl/workbook.xml"]
    sheet = openpyxl.load_workbook(book)["Runs"]
    assert [sheet.cell(row, 4).value for row in range(2, 7)] == [10.5, 20.5, 33.5, None, 12]
    assert sheet["D4"].number_format == sheet["D6"].number_format == "0.0"
    assert (sheet["B6"].value, sheet["C6"].value) == ("RuPhos", 70)
    assert sheet["E4"].value == "=D4*2"
    assert sheet.tables["Table1"].ref == "A1:E6"
    xml = after["xl/worksheets/sheet1.xml"]
    assert b"sparkline" in xml
    assert b"dataBar" in xml
    assert read(book).frame["yield"].to_list() == [10.5, 20.5, 33.5, None, 12.0]


def test_a_whole_round_in_workbooks(run: Run, book: Path) -> None:
    """Suggestions as a workbook, filled in by a spreadsheet program, and told."""
    options = ("-o", "ligand", "-o", "temp", "-v", "yield")
    assert run("suggest", book, "-n", 1, "--out", "next.xlsx", *options).code == 0
    made = openpyxl.load_workbook("next.xlsx")
    sheet = made.active
    names = [cell.value for cell in sheet[1]]
    assert names[:4] == ["run", "ligand", "temp", "yield"]
    assert isinstance(sheet.cell(2, 3).value, int)
    assert sheet.freeze_panes == "A2"
    sheet.cell(2, 4).value = 44.5
    made.save("next.xlsx")
    assert run("tell", book, "next.xlsx", *options).code == 0
    assert 44.5 in read(book).frame["yield"].to_list()


def test_titles_merged_cells_and_dates_are_read(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.append([None])
    sheet.append(["Screening of spring"])
    sheet.append(["ligand", "temp", "when", "yield"])
    for row in (
        ("XPhos", 80, date(2026, 3, 1), 5),
        (None, 90, date(2026, 3, 2), 7.5),
        ("SPhos", 80, date(2026, 3, 3), None),
    ):
        sheet.append(row)
    sheet.merge_cells("A4:A5")
    sheet.merge_cells("A2:D2")
    made.save(tmp_path / "a.xlsx")
    table = read(tmp_path / "a.xlsx")
    assert table.columns == ["ligand", "temp", "when", "yield"]
    assert table.frame["ligand"].to_list() == ["XPhos", "XPhos", "SPhos"]
    assert table.frame["yield"].to_list() == [5.0, 7.5, None]
    assert table.frame["when"].to_list()[0] == date(2026, 3, 1)
    assert table.number(0) == 4


def test_damaged_and_foreign_archives_are_refused(tmp_path: Path) -> None:
    for name, data in {"a.xlsx": b"PK\x03\x04rubbish", "b.xls": b"\xd0\xcf\x11\xe0rubbish"}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(TableError, match="no Excel workbook that can be read"):
            read(tmp_path / name)


def test_a_formula_is_not_overwritten(book: Path) -> None:
    with pytest.raises(TableError, match="cell E4 holds a formula"):
        edit_cells(book.read_bytes(), "Runs", {(3, 4): 1.0}, "runs.xlsx")


CELLS = st.one_of(
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6).map(lambda value: round(value, 3)),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=12).filter(str.strip),
)


@settings(max_examples=25)
@given(
    st.dictionaries(st.tuples(st.integers(1, 8), st.integers(0, 30)), CELLS, max_size=8),
    st.dictionaries(st.tuples(st.integers(1, 12), st.integers(0, 40)), CELLS, min_size=1, max_size=8),
    st.booleans(),
)
def test_what_is_put_into_a_workbook_is_what_it_holds(
    old: dict[tuple[int, int], Any], new: dict[tuple[int, int], Any], by_openpyxl: bool
) -> None:
    """For cells anywhere, rows with and without cells, and files of two writers: those put there, and the others."""
    stream = io.BytesIO()
    if by_openpyxl:
        made = openpyxl.Workbook()
        made.active["A1"], made.active["AP1"] = "name", "end"
        for (row, column), cell in old.items():
            target = made.active.cell(row + 1, column + 1)
            target.value, target.data_type = cell, "s" if isinstance(cell, str) else "n"
        made.save(stream)
        title = made.active.title
    else:
        with xlsxwriter.Workbook(stream, {"in_memory": True}) as made:
            sheet, title = made.add_worksheet("S & <1>"), "S & <1>"
            for (row, column), cell in {(0, 0): "name", (0, 41): "end", **old}.items():
                sheet.write_string(row, column, cell) if isinstance(cell, str) else sheet.write_number(
                    row, column, cell
                )
    data = edit_cells(stream.getvalue(), title, new, "a.xlsx")
    found = openpyxl.load_workbook(io.BytesIO(data)).active
    for (row, column), cell in {**old, **new}.items():
        assert found.cell(row + 1, column + 1).value == cell
    assert read_sheet(data, "a.xlsx").frame.height == max(row for row, _ in [*old, *new])


def test_columns_of_formulas_are_no_settings(run: Run, book: Path) -> None:
    assert read(book).computed == {"double"}
    answer = run("init", book)
    assert "described by: ligand (text), temp (numbers)." in answer.out + answer.err
