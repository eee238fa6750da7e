"""Changing cells of a workbook and nothing else: its formats, formulas, pictures, charts and other sheets stay.

No library keeps all of them (docs/decisions.md). A workbook is a zip archive of XML files. The cells are put into the
XML of their sheet where they belong, to the byte; every other file of the archive is copied as it is.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from likewise.errors import TableError

Place = tuple[int, int]
# Days are counted from here; so are they in the older calendar of Apple.
EPOCH = datetime(1899, 12, 30)
FORMULA = re.compile(rb"""<(?:[\w.-]+:)?c\b[^>]*?\br="([A-Z]+)\d+"[^>]*>\s*<(?:[\w.-]+:)?f\b""")


@dataclass
class _Element:
    """A row or a cell in the XML: where it begins and ends, where its content begins and ends, its attributes."""

    number: int
    start: int
    inner: int
    attributes: dict[str, str]
    close: int = -1
    end: int = -1
    cells: dict[int, _Element] = field(default_factory=dict)
    formula: bool = False
    filled: bool = False

    @property
    def empty(self) -> bool:
        """Whether it is written as one tag."""
        return self.close < 0


def edit_cells(data: bytes, sheet: str, changes: Mapping[Place, Any], name: str) -> bytes:
    """The workbook with these cells, by row and column from 0, changed to numbers, texts, dates or nothing.

    Rows below the last one get the formats of the last one.
    """
    archive = zipfile.ZipFile(io.BytesIO(data))
    path = _sheet_path(archive, sheet, name)
    xml = archive.read(path)
    rows, last = _rows(xml, name)
    new = {path: _edited(xml, rows, last, changes, name)}
    bottom = max((row for row, _ in changes), default=0)
    if rows and bottom > max(rows):
        new |= _grown_tables(archive, path, max(rows), bottom)
    book = "xl/workbook.xml"
    new[book] = _recalculated(archive.read(book))
    return _copied(archive, new)


def formula_columns(data: bytes, sheet: str, name: str) -> set[int]:
    """The columns of a sheet, from 0, in which some cell is worked out by a formula; none for other kinds of files."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        xml = archive.read(_sheet_path(archive, sheet, name))
    except (KeyError, zipfile.BadZipFile, expat.ExpatError, TableError):
        return set()
    return {_column(found.decode()) for found in set(FORMULA.findall(xml))}


def _copied(archive: zipfile.ZipFile, new: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for about in archive.infolist():
            made.writestr(
                about, new[about.filename] if about.filename in new else archive.read(about), about.compress_type
            )
    return stream.getvalue()


def _sheet_path(archive: zipfile.ZipFile, sheet: str, name: str) -> str:
    """The file of a sheet in the archive."""
    book = _attributes(archive.read("xl/workbook.xml"), "sheet")
    number = next((each.get("r:id") or each.get("id") for each in book if each.get("name") == sheet), None)
    links = _attributes(archive.read("xl/_rels/workbook.xml.rels"), "Relationship")
    target = next((each["Target"] for each in links if each.get("Id") == number), None)
    if target is None:
        raise TableError(f"{name} has no sheet {sheet!r} to write to; save it again with a spreadsheet program.")
    return target.lstrip("/") if target.startswith("/") else posixpath.join("xl", target)


def _attributes(xml: bytes, tag: str) -> list[dict[str, str]]:
    """The attributes of each element of this name, whatever its prefix."""
    found: list[dict[str, str]] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, given: found.append(given) if name.split(":")[-1] == tag else None
    parser.Parse(xml, True)
    return found


def _rows(xml: bytes, name: str) -> tuple[dict[int, _Element], int]:
    """The rows of a sheet with their cells, by number, and where the last one ends."""
    rows: dict[int, _Element] = {}
    open_: list[_Element] = []
    ends = [-1]
    parser = expat.ParserCreate()

    def begin(tag: str, given: dict[str, str]) -> None:
        tag, at = tag.split(":")[-1], parser.CurrentByteIndex
        if tag == "row":
            number = int(given["r"]) - 1 if "r" in given else max(rows, default=-1) + 1
            rows[number] = _Element(number, at, _tag_end(xml, at), given)
            open_.append(rows[number])
        elif tag == "c" and open_:
            cells = open_[0].cells
            number = _column(given["r"]) if "r" in given else max(cells, default=-1) + 1
            cells[number] = _Element(number, at, _tag_end(xml, at), given)
            open_.append(cells[number])
        elif open_ and tag in ("f", "v", "is"):
            open_[-1].formula |= tag == "f"
            open_[-1].filled = True

    def finish(tag: str) -> None:
        tag, at = tag.split(":")[-1], parser.CurrentByteIndex
        if tag in ("row", "c") and open_:
            element = open_.pop()
            if xml[at : at + 2] == b"</":
                element.close, element.end = at, _tag_end(xml, at)
            else:
                element.end = element.inner
        elif tag == "sheetData":
            ends[0] = at

    parser.StartElementHandler, parser.EndElementHandler = begin, finish
    try:
        parser.Parse(xml, True)
    except expat.ExpatError as error:
        raise TableError(f"{name} is damaged ({error}); save it again with a spreadsheet program.") from None
    return rows, ends[0]


def _tag_end(xml: bytes, start: int) -> int:
    """Where the tag that begins here ends; a > inside quotation marks does not end it."""
    found = re.compile(rb"""(?:[^>"']|"[^"]*"|'[^']*')*>""").match(xml, start)
    assert found is not None
    return found.end()


def _edited(xml: bytes, rows: dict[int, _Element], last: int, changes: Mapping[Place, Any], name: str) -> bytes:
    prefix = _prefix(xml)
    pieces: list[tuple[int, int, bytes]] = []
    below: dict[int, dict[int, Any]] = {}
    for (row, column), value in sorted(changes.items()):
        if row in rows:
            pieces.append(_changed_cell(xml, rows[row], column, value, prefix, name))
        else:
            below.setdefault(row, {})[column] = value
    like = rows[max(rows)] if rows else None
    for row, cells in sorted(below.items()):
        place = next((rows[k].start for k in sorted(rows) if k > row), last)
        pieces.append((place, place, _new_row(row, cells, like, prefix)))
    return _spliced(xml, pieces)


def _spliced(xml: bytes, pieces: list[tuple[int, int, bytes]]) -> bytes:
    """The text with pieces replaced; of those at one place, the first given stands first."""
    out, at = [], 0
    for start, end, new in sorted(pieces, key=lambda piece: piece[0]):
        out += [xml[at:start], new]
        at = max(at, end)
    return b"".join([*out, xml[at:]])


def _prefix(xml: bytes) -> str:
    found = re.search(rb"<([\w.-]+:)?sheetData\b", xml)
    return found[1].decode() if found and found[1] else ""


def _changed_cell(xml: bytes, row: _Element, column: int, value: Any, prefix: str, name: str) -> tuple[int, int, bytes]:
    """What to put where, so that a cell of a row that is there has this value; its format stays."""
    cell = row.cells.get(column)
    if cell is not None and cell.formula:
        raise TableError(
            f"{name}, cell {_letters(column)}{row.number + 1} holds a formula, and a result belongs there; "
            "empty the cell, and try again."
        )
    new = _cell(row.number, column, value, None if cell is None else cell.attributes.get("s"), prefix)
    if cell is not None:
        return cell.start, cell.end, new
    if row.empty:
        tag = xml[row.start : row.inner].rstrip()[:-2].rstrip()
        return row.start, row.end, tag + b">" + new + f"</{prefix}row>".encode()
    place = next((row.cells[k].start for k in sorted(row.cells) if k > column), row.close)
    return place, place, new


def _new_row(row: int, cells: Mapping[int, Any], like: _Element | None, prefix: str) -> bytes:
    known = {} if like is None else like.cells
    styles = {k: cell.attributes.get("s") for k, cell in known.items()}
    inside = b"".join(_cell(row, k, v, styles.get(k), prefix) for k, v in sorted(cells.items()) if v is not None)
    return f'<{prefix}row r="{row + 1}">'.encode() + inside + f"</{prefix}row>".encode()


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
    if isinstance(value, int | float):
        return f"<{tag} {where}><{prefix}v>{value!r}</{prefix}v></{tag}>".encode()
    text = escape(_written(str(value)))
    inside = f'<{prefix}is><{prefix}t xml:space="preserve">{text}</{prefix}t></{prefix}is>'
    return f'<{tag} {where} t="inlineStr">{inside}</{tag}>'.encode()


def _written(text: str) -> str:
    """A text without the characters that XML cannot hold, and with what spreadsheets take for codes of such marked."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", re.sub("(?=_x[0-9A-Fa-f]{4}_)", "_x005F", text))


def _column(reference: str) -> int:
    """The column of a cell, from 0.

    >>> _column("A1"), _column("AB12")
    (0, 27)
    """
    number = 0
    for letter in reference.rstrip("0123456789"):
        number = 26 * number + ord(letter) - 64
    return number - 1


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
    for each in _attributes(archive.read(links), "Relationship") if links in archive.namelist() else ():
        if not each.get("Type", "").endswith("/table"):
            continue
        target = posixpath.normpath(posixpath.join(folder, each["Target"])).lstrip("/")
        xml = archive.read(target)
        grown[target] = re.sub(rf'(\sref="[A-Z]+\d+:[A-Z]+){old + 1}"'.encode(), rf'\g<1>{new + 1}"'.encode(), xml)
    return grown


def _recalculated(xml: bytes) -> bytes:
    """The workbook's own file, which has formulas worked out again when it is opened: their cells have changed."""
    if b"fullCalcOnLoad" in xml:
        return xml
    found = re.search(rb"<([\w.-]+:)?calcPr\b", xml)
    if found:
        return xml[: found.end()] + b' fullCalcOnLoad="1"' + xml[found.end() :]
    ends = list(re.finditer(rb"</([\w.-]+:)?(sheets|functionGroups|externalReferences|definedNames)>", xml))
    prefix = ends[-1][1] or b""
    return xml[: ends[-1].end()] + b"<" + prefix + b'calcPr fullCalcOnLoad="1"/>' + xml[ends[-1].end() :]
