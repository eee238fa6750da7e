"""Changing cells of a workbook and nothing else: its formats, formulas, pictures, charts and other sheets stay.

No library keeps all of them (docs/decisions.md). A workbook is a zip archive of XML files. The cells are put into the
XML of their sheet where they belong, to the byte; every other file of the archive is copied as it is.
"""

from __future__ import annotations

import io
import lzma
import math
import posixpath
import re
import zipfile
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from likewise.errors import LikewiseError, TableError

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
        for number in sorted(new):
            place = bisect_left(numbers, number)
            behind = self.inside[numbers[place]] if place < len(numbers) else None
            start = self.close if behind is None else behind.start
            pieces.append((start, behind.end if behind and numbers[place] == number else start, new[number]))
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
    """The text with pieces replaced; at one place, what is put in stands before what is replaced, in their order."""
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
