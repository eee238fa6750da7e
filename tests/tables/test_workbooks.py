"""Workbooks: read as a spreadsheet shows them, written anew, and changed in some cells and nowhere else."""

from __future__ import annotations

import io
import itertools
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import TableError
from likewise.tables import workbooks
from likewise.tables.dialect import Dialect
from likewise.tables.reading import read
from likewise.tables.workbooks import _letters, check_workbook, edit_cells
from likewise.tables.writing import write

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


# A cell as a writer gets it: its content, nothing for an empty one, and whether it has a format.
Cell = tuple[Any, bool]
Grid = dict[tuple[int, int], Cell]
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def by_openpyxl(grid: Grid, merged: list[str], options: dict[str, Any]) -> bytes:
    stream, workbook = io.BytesIO(), openpyxl.Workbook()
    for (row, column), (content, formatted) in grid.items():
        cell = workbook.active.cell(row + 1, column + 1)
        if content is not None:
            cell.value, cell.data_type = content, "s" if isinstance(content, str) else cell.data_type
        if formatted:
            cell.number_format = "0.0"
    for area in merged:
        workbook.active.merged_cells.add(area)
    workbook.active.title = options["title"]
    workbook.save(stream)
    return stream.getvalue()


def by_xlsxwriter(grid: Grid, merged: list[str], options: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as workbook:
        sheet, digits = workbook.add_worksheet(options["title"]), workbook.add_format({"num_format": "0.0"})
        for (row, column), (content, formatted) in grid.items():
            way = {str: sheet.write_string, bool: sheet.write_boolean}.get(type(content), sheet.write_number)
            style = digits if formatted else None
            sheet.write_blank(row, column, None, style) if content is None else way(row, column, content, style)
        for area in merged:
            sheet.merge_range(area, None)
        # What merging wrote over.
        for (row, column), (content, _) in grid.items():
            if isinstance(content, float) and merged:
                sheet.write_number(row, column, content, digits)
    return stream.getvalue()


def by_excel(grid: Grid, merged: list[str], options: dict[str, Any]) -> bytes:
    """As Excel and other programs write XML: prefixes, hints, empty elements, texts of several kinds, no names."""
    prefix, named, hints = options["prefix"], options["named"], options["hints"]
    last, width = max(row for row, _ in grid), 1 + max(column for _, column in grid)
    rows, texts = [], []
    for row in range(last + 1 + options["formatted_below"]):
        cells = []
        columns = [column for column in range(width) if (row, column) in grid]
        for column in columns if named else range(max(columns, default=-1) + 1):
            content, formatted = grid.get((row, column), (None, False))
            tag = f"{prefix}c" + (f' r="{_letters(column)}{row + 1}"' if named else "") + ' s="1"' * formatted
            if content is None:
                cells.append(f"<{tag}/>" if hints else f"<{tag}></{prefix}c>")
            elif isinstance(content, bool):
                cells.append(f'<{tag} t="b"><{prefix}v>{int(content)}</{prefix}v></{prefix}c>')
            elif isinstance(content, str) and options["shared"]:
                cells.append(f'<{tag} t="s"><{prefix}v>{len(texts)}</{prefix}v></{prefix}c>')
                texts.append(content)
            elif isinstance(content, str):
                inside = f'<{prefix}is><{prefix}t xml:space="preserve">{escape(content)}</{prefix}t></{prefix}is>'
                cells.append(f'<{tag} t="inlineStr">{inside}</{prefix}c>')
            else:
                cells.append(f"<{tag}><{prefix}v>{content!r}</{prefix}v></{prefix}c>")
        about = f' r="{row + 1}"' * named + f' spans="1:{width}" x14ac:dyDescent="0.25" ht="15.5"' * hints
        if cells or not named:
            rows.append(f"<{prefix}row{about}>{''.join(cells)}</{prefix}row>")
        elif hints and row % 2:
            rows.append(f"<{prefix}row{about} />")
    areas = "".join(f'<{prefix}mergeCell ref="{area}"/>' for area in merged)
    # A form's button has rows of another kind.
    button = "<legacy xmlns:xdr='urn:a'><xdr:from><xdr:row>3</xdr:row></xdr:from></legacy>" if hints else ""
    sheet = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
        f'<{prefix}worksheet xmlns{":" * bool(prefix)}{prefix[:-1]}="{MAIN}" xmlns:x14ac="urn:b" x14ac:note="a &gt; >">'
        f'<{prefix}dimension ref="A1:{_letters(width - 1)}{last + 1}"/>'
        f"<{prefix}sheetData>{options['between'].join(rows)}</{prefix}sheetData>"
        + (f'<{prefix}mergeCells count="{len(merged)}">{areas}</{prefix}mergeCells>' if merged else "")
        + f"{button}</{prefix}worksheet>"
    )
    table = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in texts)
    # The other parts of the archive are as in any other workbook.
    plain = by_xlsxwriter({(0, 0): ("x", True)}, [], options)
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(plain)) as archive, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as copy:
        parts = {name: archive.read(name) for name in archive.namelist()}
        parts["xl/worksheets/sheet1.xml"] = sheet.encode()
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{table}</sst>'.encode()
        for name, part in parts.items():
            copy.writestr(name, part)
    return stream.getvalue()


def contents(data: bytes) -> dict[tuple[int, int], tuple[Any, str]]:
    """The cells that hold something or have a format, as another library reads them."""
    sheet = openpyxl.load_workbook(io.BytesIO(data)).active
    cells = (cell for row in sheet.iter_rows() for cell in row)
    pairs = {
        (cell.row - 1, cell.column - 1): (cell.value, cell.number_format) for cell in cells if hasattr(cell, "column")
    }
    return {place: pair for place, pair in pairs.items() if pair != (None, "General")}


def in_order(data: bytes) -> bool:
    """Whether rows and the cells in them stand in the order of their names, each once, as Excel wants them."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        rows = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml")).findall(
            f"{{{MAIN}}}sheetData/{{{MAIN}}}row"
        )
    numbers = [[int(row.get("r", 0)) for row in rows]]
    for row in rows:
        columns = (re.sub("[0-9]", "", cell.get("r", "")) for cell in row)
        numbers.append([sum((ord(x) - 64) * 26**k for k, x in enumerate(reversed(name))) for name in columns])
    named = [[number for number in some if number] for some in numbers]
    return all(a < b for some in named for a, b in itertools.pairwise(some))


PLACES = st.tuples(st.integers(1, 7), st.integers(0, 6))
VALUES = st.none() | CELLS | st.booleans()


@settings(max_examples=150, deadline=None)
@given(
    grid=st.dictionaries(PLACES, st.tuples(VALUES, st.booleans()), max_size=16),
    new=st.dictionaries(st.tuples(st.integers(1, 10), st.integers(0, 30)) | PLACES, VALUES, min_size=1, max_size=8),
    merged=st.lists(st.sampled_from(["B3:B4", "D3:E3", "F2:G4"]), unique=True, max_size=2),
    writer=st.sampled_from([by_openpyxl, by_xlsxwriter, by_excel, by_excel]),
    options=st.fixed_dictionaries(
        {
            "title": st.sampled_from(["Sheet", "S & <1>", "Füllung"]),
            "prefix": st.sampled_from(["", "x:"]),
            "between": st.sampled_from(["", "\r\n  "]),
            "formatted_below": st.integers(0, 3),
            **dict.fromkeys(("named", "hints", "shared"), st.booleans()),
        }
    ),
)
def test_what_is_put_into_a_workbook_is_what_it_holds(
    grid: Grid,
    new: dict[tuple[int, int], Any],
    merged: list[str],
    writer: Callable[[Grid, list[str], dict[str, Any]], bytes],
    options: dict[str, Any],
) -> None:
    """For cells anywhere and files of every writer: the cells put there are there, and all others as they were."""
    data = writer({**{(0, column): (f"name{column}", False) for column in range(7)}, **grid}, merged, options)
    before = contents(data)
    hidden = {(row, column) for area in merged for row, column in AREAS[area]}
    if hidden & new.keys():
        with pytest.raises(TableError, match=r"cell [A-Z]+\d+ is merged with other cells.*unmerge them"):
            edit_cells(data, options["title"], new, "a.xlsx")
        return
    edited = edit_cells(data, options["title"], new, "a.xlsx")
    check_workbook(edited, options["title"], new, "a.xlsx", data)
    after = contents(edited)
    assert in_order(edited)
    for place in before.keys() | after.keys() | new.keys():
        content, style = after.get(place, (None, "General"))
        was, style_was = before.get(place, (None, "General"))
        wanted = new.get(place, was)
        assert content == wanted
        assert type(content) is type(wanted) or isinstance(content, int | float)
        # Rows below the last one have its formats.
        assert style == style_was or (place in new and place not in before)


AREAS = {
    "B3:B4": [(2, 1), (3, 1)],
    "D3:E3": [(2, 4)],
    "F2:G4": [(row, column) for row in (1, 2, 3) for column in (5, 6)],
}


@pytest.mark.parametrize("writer", [by_openpyxl, by_xlsxwriter, by_excel])
def test_a_result_goes_into_the_last_cell_of_a_row_that_is_empty_and_formatted(
    run: Run, tmp_path: Path, writer: Callable[..., bytes]
) -> None:
    names = {(0, column): (name, True) for column, name in enumerate(("ligand", "temp", "yield"))}
    runs = [("XPhos", 80, 10.5), ("SPhos", 90, 20.5), ("dppf", 80, None), ("dppf", 90, None)]
    grid = {(row, column): (cell, True) for row, cells in enumerate(runs, 1) for column, cell in enumerate(cells)}
    options = {"title": "Runs", "prefix": "", "between": "", "formatted_below": 2, "named": True, "hints": True}
    (tmp_path / "t.xlsx").write_bytes(writer({**names, **grid}, [], {**options, "shared": True}))
    (tmp_path / "r.csv").write_text("ligand,temp,yield\ndppf,80,33.5\nRuPhos,70,12\n")
    assert run("tell", "t.xlsx", "r.csv", "-o", "ligand", "-o", "temp", "-v", "yield").code == 0
    sheet = openpyxl.load_workbook("t.xlsx").active
    assert [sheet.cell(row, 3).value for row in range(2, 7)] == [10.5, 20.5, 33.5, None, 12]
    assert (sheet["A6"].value, sheet["C4"].number_format) == ("RuPhos", "0.0")


def test_a_workbook_that_would_not_hold_what_it_should_is_not_written(
    run: Run, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the reason: XML that is none, another cell that has changed, a new workbook that cannot hold a text."""
    before = book.read_bytes()
    book.with_name("r.csv").write_text("ligand,temp,yield\ndppf,80,33.5\n")
    real = workbooks._cell
    for old, new in (("</c>", "</cc>"), ("<v>33.5</v>", "<v>3</v>"), ("</c>", "</c></row><row r='50'><c><v>7</v></c>")):
        with monkeypatch.context() as patched:
            patched.setattr(workbooks, "_cell", lambda *a, o=old, n=new: real(*a).replace(o.encode(), n.encode()))
            answer = run("tell", book, "r.csv", "-o", "ligand", "-o", "temp", "-v", "yield")
        assert answer.code == 1
        assert "runs.xlsx" in answer.err
        assert "nothing was written" in answer.err
        assert book.read_bytes() == before
        assert not list(book.parent.glob("*.bak*"))
    with pytest.raises(TableError, match=r"a\.xlsx cannot hold the text of 40,000 characters.*row 2.*CSV"):
        write(polars.DataFrame({"x": ["y" * 40_000]}), Path("a.xlsx"), Dialect(kind="workbook"))
    assert not Path("a.xlsx").exists()


def test_columns_of_formulas_are_no_settings(run: Run, book: Path) -> None:
    assert read(book).computed == {"double"}
    answer = run("init", book)
    assert "described by: ligand (text), temp (numbers)." in answer.out + answer.err
