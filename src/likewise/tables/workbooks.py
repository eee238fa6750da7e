"""Workbooks of spreadsheets: reading a sheet as a table, writing a new one, changing cells of one that is there."""

from __future__ import annotations

import io
import lzma
import math
import posixpath
import re
import zipfile
import zlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from likewise.errors import LikewiseError, TableError, import_extra
from likewise.tables.cells import CODE, cell_text, number, numbers
from likewise.tables.dialect import Dialect

if TYPE_CHECKING:
    import polars

# Changing cells of a workbook and nothing else: its formats, formulas, pictures, charts and other sheets stay.
#
# No library keeps all of them (docs/decisions.md). A workbook is a zip archive of XML files. The cells are put into the
# XML of their sheet where they belong, to the byte; every other file of the archive is copied as it is.

Place = tuple[int, int]
BOOK, LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
# What the data of a sheet, a row and a cell are called; nothing of ours stands inside a cell.
INSIDE = ("sheetData", "row", "c", "")
# What reading an archive or XML that is damaged raises.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    expat.ExpatError,
    EOFError,
    OSError,
    ArithmeticError,
    LookupError,
    RuntimeError,
    ValueError,
)
# Days are counted from here; so are they in the older calendar of Apple.
EPOCH = datetime(1899, 12, 30)
FORMULA = re.compile(rb"""<(?:[\w.-]+:)?c\b[^>]*?\br="([A-Z]+)\d+"[^>]*>\s*<(?:[\w.-]+:)?f\b""")


@dataclass
class _Element:
    """The data of a sheet, a row or a cell in the XML: where it begins and ends, and where its content does.

    `empty` is whether it is written as one tag, and `inside` are the rows of the data or the cells of a row.
    """

    start: int
    inner: int
    empty: bool
    attributes: dict[str, str]
    close: int = -1
    end: int = -1
    inside: dict[int, _Element] = field(default_factory=dict)
    formula: bool = False

    def next_number(self, reference: str | None, number: Callable[[str], int]) -> int:
        """The number of what begins inside: the one it names, or the one after the last."""
        return next(reversed(self.inside), -1) + 1 if reference is None else number(reference)

    def put(self, xml: bytes, new: Mapping[int, bytes], tag: str) -> list[tuple[int, int, bytes]]:
        """What to put where, so that this stands inside by its numbers, in the place of what has the same number."""
        if self.empty:
            opened = xml[self.start : self.inner - len(b"/>")].rstrip() + b">"
            content = b"".join(new[number] for number in sorted(new))
            return [(self.start, self.end, opened + content + f"</{tag}>".encode())]
        pieces, numbers = [], sorted(self.inside)
        for column in sorted(new):
            place = bisect_left(numbers, column)
            behind = self.inside[numbers[place]] if place < len(numbers) else None
            start = self.close if behind is None else behind.start
            pieces.append((start, behind.end if behind and numbers[place] == column else start, new[column]))
        return pieces


def edit_cells(data: bytes, sheet: str, changes: Mapping[Place, Any], name: str) -> bytes:
    """The workbook with these cells, by row and column from 0, changed to numbers, texts, dates or nothing.

    Rows below the last one get the formats of the last one.
    """
    with whole(name), zipfile.ZipFile(io.BytesIO(data)) as archive:
        path = _sheet_path(archive, sheet)
        if path is None:
            raise TableError(f"{name} has no sheet {sheet!r} to write to; save it again with a spreadsheet program.")
        xml = archive.read(path)
        body, merged = _sheet_data(xml)
        _check_writable(body, merged, changes, name)
        new = {path: _edited(xml, body, changes)}
        last, bottom = max(body.inside, default=-1), max((row for row, _ in changes), default=-1)
        if -1 < last < bottom:
            new |= _grown_tables(archive, path, last, bottom)
        new[BOOK] = _recalculated(archive.read(BOOK))
        return _copied(archive, new)


def formula_columns(data: bytes, sheet: str, name: str) -> set[int]:
    """The columns of a sheet, from 0, in which some cell is worked out by a formula; none for other kinds of files."""
    if not data.startswith(b"PK"):
        return set()
    with whole(name), zipfile.ZipFile(io.BytesIO(data)) as archive:
        path = _sheet_path(archive, sheet)
        letters = set() if path is None else set(FORMULA.findall(archive.read(path)))
    return {_place(f"{column.decode()}1")[1] for column in letters}


@contextmanager
def whole(name: str) -> Iterator[None]:
    """A TableError that says so if the archive or the XML of a workbook proves to be damaged meanwhile."""
    try:
        yield
    except LikewiseError:
        raise
    except DAMAGE as error:
        raise TableError(
            f"{name} is damaged ({error}); copy it again, or save it anew with a spreadsheet program."
        ) from None


def parse(xml: bytes, begin: Callable[[str, dict[str, str]], None] | None = None) -> None:
    """Walk through XML; `begin` gets each element's name, without its prefix, and its attributes."""
    parser = expat.ParserCreate()
    if begin is not None:
        parser.StartElementHandler = lambda tag, attributes: begin(_bare(tag), attributes)
    parser.Parse(xml, True)


def _bare(tag: str) -> str:
    """A name without its prefix."""
    return tag.rpartition(":")[2]


def _copied(archive: zipfile.ZipFile, new: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as copy:
        for about in archive.infolist():
            data = new[about.filename] if about.filename in new else archive.read(about)
            copy.writestr(about, data, about.compress_type)
    return stream.getvalue()


def _sheet_path(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The file of a sheet in the archive; None where there is none, as in other kinds of workbooks."""
    names = set(archive.namelist())
    if not {BOOK, LINKS} <= names:
        return None
    ids = [
        next((value for key, value in attributes.items() if _bare(key) == "id"), None)
        for attributes in _attributes(archive.read(BOOK), "sheet")
        if attributes.get("name") == sheet
    ]
    links = {link.get("Id"): link.get("Target", "") for link in _attributes(archive.read(LINKS), "Relationship")}
    target = links.get(ids[0]) if ids else None
    path = None if target is None else posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")
    return path if path in names else None


def _attributes(xml: bytes, tag: str) -> list[dict[str, str]]:
    """The attributes of each element of this name, whatever its prefix."""
    elements: list[dict[str, str]] = []
    parse(xml, lambda name, attributes: elements.append(attributes) if name == tag else None)
    return elements


def _sheet_data(xml: bytes) -> tuple[_Element, list[str]]:
    """The data of a sheet, with its rows and their cells by number, and the ranges of its merged cells."""
    data: list[_Element] = []
    outer: list[_Element] = []
    merged: list[str] = []
    parser = expat.ParserCreate()

    def begin(tag: str, attributes: dict[str, str]) -> None:
        tag, reference = _bare(tag), attributes.get("r")
        if tag == INSIDE[len(outer)] and (outer or not data):
            start = parser.CurrentByteIndex
            inner = _tag_end(xml, start)
            element = _Element(start, inner, xml.endswith(b"/>", start, inner), attributes)
            if tag == "row":
                outer[-1].inside[outer[-1].next_number(reference, lambda text: int(text) - 1)] = element
            elif tag == "c":
                outer[-1].inside[outer[-1].next_number(reference, lambda text: _place(text)[1])] = element
            else:
                data.append(element)
            outer.append(element)
        elif tag == "f" and outer:
            outer[-1].formula = True
        elif tag == "mergeCell":
            merged.append(attributes.get("ref", ""))

    def finish(tag: str) -> None:
        if outer and _bare(tag) == INSIDE[len(outer) - 1]:
            element = outer.pop()
            # Of an element that is one tag, the parser says no place where it ends.
            element.close = element.inner if element.empty else parser.CurrentByteIndex
            element.end = element.inner if element.empty else _tag_end(xml, element.close)

    parser.StartElementHandler, parser.EndElementHandler = begin, finish
    parser.Parse(xml, True)
    if not data:
        raise ValueError("a sheet without its data")
    return data[0], merged


def _tag_end(xml: bytes, start: int) -> int:
    """Where the tag that begins here ends; a > inside quotation marks does not end it."""
    tag = re.compile(rb"""<(?:[^>"']|"[^"]*"|'[^']*')*>""").match(xml, start)
    if tag is None:
        raise ValueError("XML in an unusual encoding")
    return tag.end()


def _check_writable(body: _Element, merged: Sequence[str], changes: Mapping[Place, Any], name: str) -> None:
    """A TableError if a cell that is to be changed holds a formula, or stands for others or behind another."""
    joined = [tuple(map(_place, area.split(":"))) for area in merged if ":" in area]
    for row, column in sorted(changes):
        cell = body.inside[row].inside.get(column) if row in body.inside else None
        where = f"{name}, cell {_letters(column)}{row + 1}"
        if cell is not None and cell.formula:
            raise TableError(f"{where} holds a formula, and a result belongs there; empty the cell, and try again.")
        for (top, left), (bottom, right) in joined:
            # What is merged over several rows counts for each of them.
            if top <= row <= bottom and left <= column <= right and ((row, column) != (top, left) or top < bottom):
                raise TableError(
                    f"{where} is merged with other cells, and a result of one row belongs there; unmerge them, and "
                    "try again."
                )


def _edited(xml: bytes, body: _Element, changes: Mapping[Place, Any]) -> bytes:
    prefix = _prefix(xml)
    by_row: dict[int, dict[int, Any]] = {}
    for (row, column), value in changes.items():
        by_row.setdefault(row, {})[column] = value
    last = body.inside[max(body.inside)].inside if body.inside else {}
    pieces: list[tuple[int, int, bytes]] = []
    below: dict[int, bytes] = {}
    for row, values in by_row.items():
        like = body.inside[row].inside if row in body.inside else last
        styles = {k: like[k].attributes.get("s") for k in values if k in like}
        cells = {k: _cell(row, k, value, styles.get(k), prefix) for k, value in values.items()}
        if row in body.inside:
            pieces += body.inside[row].put(xml, cells, f"{prefix}row")
        else:
            inside = b"".join(cells[k] for k in sorted(cells) if values[k] is not None)
            below[row] = f'<{prefix}row r="{row + 1}">'.encode() + inside + f"</{prefix}row>".encode()
    return _spliced(xml, [*pieces, *(body.put(xml, below, f"{prefix}sheetData") if below else ())])


def _spliced(xml: bytes, pieces: list[tuple[int, int, bytes]]) -> bytes:
    """Returns the text with pieces replaced; at one place insertions come before replacements, in their order."""
    out, at = [], 0
    for start, end, new in sorted(pieces, key=lambda piece: piece[:2]):
        out += [xml[at:start], new]
        at = end
    return b"".join([*out, xml[at:]])


def _prefix(xml: bytes) -> str:
    tag = re.search(rb"<([\w.-]+:)?sheetData\b", xml)
    return tag[1].decode() if tag and tag[1] else ""


def _cell(row: int, column: int, value: Any, style: str | None, prefix: str) -> bytes:
    """A cell as XML."""
    tag, where = f"{prefix}c", f'r="{_letters(column)}{row + 1}"' + ("" if style is None else f' s="{style}"')
    if value is None:
        return f"<{tag} {where}/>".encode()
    if isinstance(value, bool):
        return f'<{tag} {where} t="b"><{prefix}v>{int(value)}</{prefix}v></{tag}>'.encode()
    if isinstance(value, date):
        value = (value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)) - EPOCH
        value = value.total_seconds() / 86400
    if isinstance(value, float) and not math.isfinite(value):
        return f'<{tag} {where} t="e"><{prefix}v>#NUM!</{prefix}v></{tag}>'.encode()
    if isinstance(value, int | float):
        return f"<{tag} {where}><{prefix}v>{value!r}</{prefix}v></{tag}>".encode()
    text = escape(_written(str(value)), {"\r": "&#13;"})
    inside = f'<{prefix}is><{prefix}t xml:space="preserve">{text}</{prefix}t></{prefix}is>'
    return f'<{tag} {where} t="inlineStr">{inside}</{tag}>'.encode()


def _written(text: str) -> str:
    """A text without the characters that XML cannot hold, and with what spreadsheets take for codes of such marked."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", re.sub("(?=_x[0-9A-Fa-f]{4}_)", "_x005F", text))


def _place(reference: str) -> Place:
    """The row and the column of a cell, from 0.

    >>> _place("A1"), _place("AB12")
    ((0, 0), (11, 27))
    """
    parts = re.fullmatch(r"([A-Z]{1,3})([0-9]{1,7})", reference)
    if parts is None:
        raise ValueError(f"a cell called {reference!r}")
    column = 0
    for letter in parts[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(parts[2]) - 1, column - 1


def _letters(column: int) -> str:
    """The letters of a column, counted from 0.

    >>> _letters(0), _letters(27)
    ('A', 'AB')
    """
    text, column = "", column + 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def _grown_tables(archive: zipfile.ZipFile, path: str, old: int, new: int) -> dict[str, bytes]:
    """The named tables of the sheet that ended in its last row, now to the new one."""
    folder, file = posixpath.split(path)
    links = f"{folder}/_rels/{file}.rels"
    grown: dict[str, bytes] = {}
    for link in _attributes(archive.read(links), "Relationship") if links in archive.namelist() else ():
        if not link.get("Type", "").endswith("/table"):
            continue
        target = posixpath.normpath(posixpath.join(folder, link["Target"])).lstrip("/")
        xml = archive.read(target)
        grown[target] = re.sub(rf'(\sref="[A-Z]+\d+:[A-Z]+){old + 1}"'.encode(), rf'\g<1>{new + 1}"'.encode(), xml)
    return grown


def _recalculated(xml: bytes) -> bytes:
    """The workbook's own file, which has formulas worked out again when it is opened: their cells have changed."""
    if b"fullCalcOnLoad" in xml:
        return xml
    tag = re.search(rb"<([\w.-]+:)?calcPr\b", xml)
    if tag:
        return xml[: tag.end()] + b' fullCalcOnLoad="1"' + xml[tag.end() :]
    ends = list(re.finditer(rb"</([\w.-]+:)?(sheets|functionGroups|externalReferences|definedNames)>", xml))
    prefix = ends[-1][1] or b""
    return xml[: ends[-1].end()] + b"<" + prefix + b'calcPr fullCalcOnLoad="1"/>' + xml[ends[-1].end() :]


# The first filled sheet of a workbook as a table: its values as a spreadsheet shows them last, formulas worked out.

Cells = list[list[Any]]
# Rows above the header that may hold titles.
TITLES = 5


@dataclass(frozen=True, eq=False)
class WorkbookSheet:
    """A sheet as a frame, where it stands, and what there is to say about it.

    `names` are those of the columns and `places` where they stand; `header` is the row of the names. All count from 0.
    `computed` are the columns with formulas.
    """

    frame: polars.DataFrame
    title: str
    names: tuple[str, ...]
    header: int
    places: tuple[int, ...]
    notes: tuple[str, ...] = ()
    computed: frozenset[str] = frozenset()


def is_workbook(data: bytes) -> bool:
    """Whether a file begins as workbooks do: a zip archive, or the container of old ones."""
    return data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))


def read_sheet(data: bytes, name: str) -> WorkbookSheet:
    """The first sheet with a header and something below it; a TableError where the file holds none."""
    sheets = _sheets(data, name)
    filled = [(title, _fill_merged(cells, merged)) for title, cells, merged in sheets if any(map(_filled, cells))]
    if not filled:
        raise TableError(f"{name} is empty; it needs a header with the names of the columns, and a row per object.")
    title, cells = filled[0]
    notes = []
    if len(filled) > 1:
        further = ", ".join(repr(other) for other, _ in filled[1:])
        notes.append(f"{name}: sheet {title!r} is read, not {further}; the first sheet counts")
    table = _table(title, cells, notes)
    formulas = formula_columns(data, title, name)
    named = (column for place, column in zip(table.places, table.names, strict=True) if place in formulas)
    return replace(table, computed=frozenset(named))


def sheet_cells(data: bytes, name: str) -> dict[str, dict[Place, Any]]:
    """The cells that are filled of every sheet that is shown, by its title."""
    return {
        title: {
            (row, column): cell
            for row, cells in enumerate(rows)
            for column, cell in enumerate(cells)
            if cell != "" and cell is not None
        }
        for title, rows, _ in _sheets(data, name)
    }


def _sheets(data: bytes, name: str) -> list[tuple[str, Cells, Sequence[Any]]]:
    """The title, the cells and the merged cells of every sheet that is shown."""
    calamine = import_extra("python_calamine", "reading workbooks", "python-calamine", "excel")
    shown, worksheet = calamine.SheetVisibleEnum.Visible, calamine.SheetTypeEnum.WorkSheet
    sheets = []
    try:
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            for about in book.sheets_metadata:
                if about.visible == shown and about.typ == worksheet:
                    sheet = book.get_sheet_by_name(about.name)
                    cells = sheet.to_python(skip_empty_area=False)
                    sheets.append((about.name, cells, sheet.merged_cell_ranges or ()))
    except calamine.PasswordError:
        raise TableError(f"{name} is locked by a password; save it without one, and use that.") from None
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise TableError(
            f"{name} is no Excel workbook that can be read ({error}); save it again as .xlsx or CSV."
        ) from None
    return sheets


def _fill_merged(cells: Cells, merged: Sequence[Any]) -> Cells:
    """The cells with the value of a cell that is merged over several rows in each of them."""
    for (top, left), (bottom, right) in merged:
        if left == right and bottom < len(cells):
            for row in range(top + 1, bottom + 1):
                cells[row][left] = cells[top][left]
    return cells


def _filled(row: Sequence[Any]) -> int:
    return sum(cell != "" and cell is not None for cell in row)


def _table(title: str, cells: Cells, notes: list[str]) -> WorkbookSheet:
    import polars

    header = _header(cells)
    names = [cell_text(cell).strip() if cell is not None else "" for cell in cells[header]]
    body = cells[header + 1 :]
    while body and not _filled(body[-1]):
        body.pop()
    columns = [k for k, name in enumerate(names) if name or any(_filled([row[k]]) for row in body)]
    frame = polars.DataFrame([_series(str(k), [row[k] for row in body]) for k in columns])
    return WorkbookSheet(frame, title, tuple(names[k] for k in columns), header, tuple(columns), tuple(notes))


def _header(cells: Cells) -> int:
    """The first row with content, or the first with several cells where titles stand above it: single texts."""
    rows = [k for k, row in enumerate(cells) if _filled(row)]
    return next((k for k in rows[:TITLES] if _filled(cells[k]) > 1), rows[0])


def _series(name: str, cells: list[Any]) -> polars.Series:
    """A column: of numbers, dates or truth values where all its cells are, else of text."""
    import polars

    cells = [_reading_plain(cell) for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds and kinds <= {int, float}:
        integers = all(cell is None or (float(cell).is_integer() and abs(cell) < 2**53) for cell in cells)
        values = [None if cell is None else int(cell) if integers else float(cell) for cell in cells]
        return polars.Series(name, values, dtype=polars.Int64() if integers else polars.Float64())
    if len(kinds) == 1 and kinds <= {bool, date, datetime, time}:
        return polars.Series(name, cells)
    texts = [None if cell is None else cell if isinstance(cell, str) else cell_text(cell) for cell in cells]
    return polars.Series(name, texts, dtype=polars.String())


def _reading_plain(cell: Any) -> Any:
    if isinstance(cell, timedelta):
        return cell.total_seconds() / 86400
    return None if isinstance(cell, str) and not cell.strip() else cell


# A workbook that is about to replace another is read again first: it must hold what it should, and nothing else.

# Spreadsheets hold no longer text in a cell.
LONGEST_TEXT = 32_767
DAYS = (date, time, timedelta)
# Characters that XML cannot hold, and line ends, which it writes in more than one way.
UNSTABLE = re.compile("[\x00-\x1f\ufffe\uffff]")


def check_workbook(data: bytes, sheet: str, changes: Mapping[Place, Any], name: str, old: bytes | None = None) -> None:
    """A TableError unless this workbook can be read, and holds these changes of the old one, if any, and no others."""
    for place, value in changes.items():
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise TableError(
                f"{name} cannot hold the text of {len(value):,} characters that belongs into row {place[0] + 1}: "
                f"a cell of a workbook has at most {LONGEST_TEXT:,}. Write the table as CSV."
            )
    try:
        _check_parts(data, old, name)
        expected = {} if old is None else sheet_cells(old, name)
        wanted = {place: value for place, value in changes.items() if _plain(value) != ""}
        unchanged = {place: cell for place, cell in expected.get(sheet, {}).items() if place not in changes}
        _compare({**expected, sheet: {**unchanged, **wanted}}, sheet_cells(data, name))
    except (TableError, ValueError) as error:
        raise TableError(
            f"The cells cannot be put into {name} ({error}), so nothing was written; save it anew with a spreadsheet "
            "program, or as CSV, and use that."
        ) from error


def _check_parts(data: bytes, old: bytes | None, name: str) -> None:
    """An error if the archive is not whole, or a part of it that is new is no XML."""
    before = {}
    if old is not None:
        with zipfile.ZipFile(io.BytesIO(old)) as archive:
            before = {about.filename: about.CRC for about in archive.infolist()}
    with whole(name), zipfile.ZipFile(io.BytesIO(data)) as archive:
        for about in archive.infolist():
            part = archive.read(about)
            if about.filename.endswith((".xml", ".rels")) and before.get(about.filename) != about.CRC:
                parse(part)


def _compare(wanted: Mapping[str, Mapping[Place, Any]], present: Mapping[str, Mapping[Place, Any]]) -> None:
    """A ValueError that names the first cell that is not as it should be."""
    for title in wanted.keys() | present.keys():
        ours, theirs = wanted.get(title, {}), present.get(title, {})
        for row, column in sorted(ours.keys() | theirs.keys()):
            cell, other = ours.get((row, column)), theirs.get((row, column))
            if not _same(cell, other):
                raise ValueError(f"row {row + 1}, column {column + 1} would hold {other!r} instead of {cell!r}")


def _same(wanted: Any, present: Any) -> bool:
    """Whether a cell holds what it should; whether a number is shown as a day is up to the format of the cell."""
    if type(wanted) is type(present) and wanted == present:
        return True
    if isinstance(present, DAYS):
        return _serial(wanted) is None or math.isclose(_serial(wanted) or 0, _serial(present) or 0, abs_tol=1e-5)
    wanted, present = _plain(wanted), _plain(present)
    if isinstance(wanted, float) and isinstance(present, float):
        # Writers keep 16 digits.
        return math.isclose(wanted, present, rel_tol=1e-14)
    return type(wanted) is type(present) and bool(wanted == present)


def _serial(cell: Any) -> float | None:
    """A moment or a duration in days, as a workbook counts them; None for all else."""
    if isinstance(cell, datetime):
        cell = cell.replace(tzinfo=None) - EPOCH
    elif isinstance(cell, date):
        cell = datetime(cell.year, cell.month, cell.day) - EPOCH
    elif isinstance(cell, time):
        cell = timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond)
    return cell.total_seconds() / 86400 if isinstance(cell, timedelta) else None


def _plain(cell: Any) -> str | bool | float:
    """A cell as a reader gives it: a number that is not finite and nothing at all are empty."""
    days = _serial(cell)
    if isinstance(cell, bool):
        return cell
    if days is not None or isinstance(cell, int | float):
        number = float(cell if days is None else days)
        return number if math.isfinite(number) else ""
    return "" if cell is None else UNSTABLE.sub("", str(cell))


# A table as a new workbook: a header that stays in view, columns as wide as their content, numbers as numbers.

NARROW, WIDE = 8, 48
SHOWN = "0.####"


def workbook_bytes(frame: polars.DataFrame, name: str, title: str = "Table") -> bytes:
    """The table as the only sheet of a workbook; `name` is what messages call its file."""
    library = import_extra("xlsxwriter", "writing workbooks", "XlsxWriter", "excel")
    stream = io.BytesIO()
    rows: dict[Place, Any] = {}
    # Cells are what they are: no text becomes a formula or a link.
    plain = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with library.Workbook(stream, {**plain, "nan_inf_to_errors": True}) as book:
        sheet = book.add_worksheet(title)
        bold = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
        decimals, day = book.add_format({"num_format": SHOWN}), book.add_format({"num_format": "yyyy-mm-dd"})
        formats = {float: decimals, date: day, datetime: day}
        sheet.freeze_panes(1, 0)
        for place, column in enumerate(frame):
            cells = cells_of(column)
            sheet.write_string(0, place, column.name, bold)
            sheet.set_column(place, place, _width(column.name, cells))
            rows[0, place] = column.name
            for row, cell in enumerate(map(_content, cells), 1):
                _write(sheet, row, place, cell, formats.get(type(cell)))
                rows[row, place] = cell
    check_workbook(stream.getvalue(), title, rows, name)
    return stream.getvalue()


def cells_of(column: polars.Series) -> list[Any]:
    """The cells of a column; of one of text, numbers where all of them are."""
    import polars

    cells = column.to_list()
    if column.dtype != polars.String or column.str.contains(CODE).any():
        return cells
    read = numbers(column)
    if read.bad or read.unclear is not None or not read.present:
        return cells
    return [None if value != value else int(value) if value.is_integer() else value for value in read.values]


def _content(cell: Any) -> Any:
    """A cell as a workbook can hold it: nothing, a truth value, a number, a day or a text."""
    if cell is None or isinstance(cell, bool | int | float | date | str):
        return cell
    return str(cell) if isinstance(cell, time) else cell_text(cell)


def _write(sheet: Any, row: int, place: int, cell: Any, style: Any) -> None:
    if isinstance(cell, bool):
        sheet.write_boolean(row, place, cell)
    elif isinstance(cell, int | float):
        sheet.write_number(row, place, cell, style)
    elif isinstance(cell, date):
        sheet.write_datetime(row, place, cell, style)
    elif cell is not None:
        sheet.write_string(row, place, cell)


def _width(name: str, cells: list[Any]) -> int:
    longest = max(
        (
            len(cell if isinstance(cell, str) else f"{cell:.6g}" if isinstance(cell, float) else str(cell))
            for cell in cells
            if cell is not None
        ),
        default=0,
    )
    return max(NARROW, min(max(longest, len(name)) + 2, WIDE))


# What has become of a table that was read from a workbook, as changes of cells in that workbook.


def changed_workbook(path: Path, dialect: Dialect, old: polars.DataFrame, new: polars.DataFrame) -> bytes:
    """The workbook of a table with the cells changed in which the new table differs from the old one."""
    data = path.read_bytes()
    if not data.startswith(b"PK") or b"xl/workbook.xml" not in data:
        raise TableError(
            f"{path} can be read, but results are written into .xlsx files alone; save it as one, and use that."
        )
    changes = _changes(dialect, old, new, formula_columns(data, dialect.sheet, str(path)))
    changed = edit_cells(data, dialect.sheet, changes, str(path))
    check_workbook(changed, dialect.sheet, changes, str(path), data)
    return changed


def _changes(
    dialect: Dialect, old: polars.DataFrame, new: polars.DataFrame, beside: Collection[int]
) -> dict[Place, Any]:
    """The changed cells; new columns stand behind all others, also behind those with formulas `beside` the table."""
    places = dict(zip(old.columns, dialect.places, strict=True))
    changes: dict[Place, Any] = {}
    for name in new.columns:
        before = old[name].to_list() if name in old.columns else []
        if name not in places:
            places[name] = max((*places.values(), *beside), default=-1) + 1
            changes[dialect.header, places[name]] = name
        for row, cell in enumerate(new[name].to_list()):
            previous = before[row] if row < len(before) else None
            if not _is_same(cell, previous):
                changes[dialect.header + 1 + row, places[name]] = _typed(cell)
    return changes


def _is_same(cell: Any, previous: Any) -> bool:
    """Whether a cell is as it was; a number may have become a text, as its column holds texts by now."""
    if isinstance(cell, str) and isinstance(previous, int | float):
        return number(cell) == previous
    return bool(cell == previous)


def _typed(cell: Any) -> Any:
    """A number that is written as text as a number, and other cells as they are; 007 is a code."""
    value = number(cell.strip()) if isinstance(cell, str) and re.match(CODE, cell.strip()) is None else None
    return cell if value is None else int(value) if value.is_integer() and "e" not in cell.lower() else value
