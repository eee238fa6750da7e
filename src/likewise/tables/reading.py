"""Reading a table: what kind of file it is is found out from its bytes, and every row keeps the number people see."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from likewise.errors import TableError, UsageError, import_extra
from likewise.tables.cells import GUARDED, missing, unguard
from likewise.tables.dialect import Dialect, above_header, csv_reader, decode, find_delimiter
from likewise.tables.workbooks import is_workbook, read_sheet

if TYPE_CHECKING:
    import polars

# Unpacking gzip within a limit: a file of a few megabytes can hold more than any memory.

LIMIT = 2.0
VARIABLE = "LIKEWISE_UNPACKED_GB"
CHUNK = 1 << 20
MARK = b"\x1f\x8b"


class TooLarge(ValueError):
    """More than may be unpacked; the message says how to allow it."""


def unpack(data: bytes) -> bytes:
    """What a gzip file holds; TooLarge beyond the limit, another ValueError where it is damaged.

    >>> unpack(gzip.compress(b"a,b"))
    b'a,b'
    """
    limit = _limit()
    unpacked = io.BytesIO()
    try:
        with gzip.open(io.BytesIO(data)) as file:
            while chunk := file.read(CHUNK):
                unpacked.write(chunk)
                if unpacked.tell() > limit * 1e9:
                    raise TooLarge(
                        f"unpacks to more than {limit:g} GB; if you trust it, set the environment variable {VARIABLE} "
                        "to a larger number, or unpack it yourself and use that file"
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from None
    return unpacked.getvalue()


def _limit() -> float:
    """How many gigabytes may be unpacked."""
    text = os.environ.get(VARIABLE, "")
    try:
        limit = float(text) if text.strip() else LIMIT
    except ValueError:
        limit = -1.0
    if not limit > 0:
        raise TooLarge(f"cannot be unpacked, as {VARIABLE} is {text!r}; set it to a number of gigabytes, such as 8")
    return limit


# Reading Parquet, whose damage the library does not always notice before it panics.

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


# Files of molecules: `.smi`, a SMILES and a name in each line, and `.sdf`, drawn molecules with their properties.
#
# They hold no results. A column `value` is added, to be filled in where the table is written anew.

LINES, DRAWINGS = (".smi", ".smiles", ".ism"), (".sdf", ".sd")
HEADERS = ("smiles", "smi", "structure", "canonical_smiles")
VALUE = "value"
LISTED = 5


def structure_kind(source: Path) -> str | None:
    """Whether a file holds molecules by its name, and how: the end of the name, without .gz.

    >>> structure_kind(Path("library.smi.gz")), structure_kind(Path("runs.csv"))
    ('.smi', None)
    """
    ending = Path(source.name.lower().removesuffix(".gz")).suffix
    return ending if ending in (*LINES, *DRAWINGS) else None


def read_lines(text: str, source: Path) -> polars.DataFrame:
    """The molecules of a .smi file: a SMILES, and what follows it as the name."""
    import polars

    lines = polars.Series("line", [line for line in text.splitlines() if line.strip()], dtype=polars.String())
    if len(lines) and lines[0].split()[0].lower() in HEADERS:
        lines = lines[1:]
    if not len(lines):
        raise TableError(f"{source} holds no molecule; give a SMILES in each line.")
    parts = lines.str.strip_chars().str.extract_groups(r"^(\S+)\s*(.*)$").struct.unnest()
    parts.columns = ["smiles", "name"]
    named = parts["name"].str.len_bytes().max()
    frame = parts.with_columns(polars.col("name").replace("", None)) if named else parts.select("smiles")
    return frame.with_columns(polars.lit(None, dtype=polars.String()).alias(VALUE))


def read_drawings(text: str, source: Path) -> tuple[polars.DataFrame, list[str]]:
    """The molecules of an .sdf file as SMILES with their properties, and a note on those that cannot be read."""
    import polars

    chem = import_extra("rdkit.Chem", "reading molecules", "rdkit", "molecules")
    rows: list[dict[str, Any]] = []
    unread: list[int] = []
    with import_extra("rdkit.rdBase", "reading molecules", "rdkit", "molecules").BlockLogs():
        for number, molecule in enumerate(chem.ForwardSDMolSupplier(io.BytesIO(text.encode())), 1):
            if molecule is None or not molecule.GetNumAtoms():
                unread.append(number)
                continue
            name = molecule.GetProp("_Name").strip() if molecule.HasProp("_Name") else ""
            rows.append({"smiles": chem.MolToSmiles(molecule), "name": name or None, **molecule.GetPropsAsDict()})
    if not rows:
        raise TableError(f"{source} holds no molecule that can be read; export it again.")
    names = list(dict.fromkeys(name for row in rows for name in row))
    texts = {name: [None if row.get(name) is None else str(row[name]) for row in rows] for name in names}
    frame = polars.DataFrame(texts, schema=dict.fromkeys(names, polars.String()))
    if VALUE not in frame.columns:
        frame = frame.with_columns(polars.lit(None, dtype=polars.String()).alias(VALUE))
    frame = frame.select([c for c in frame.columns if c in ("smiles", VALUE) or frame[c].null_count() < len(frame)])
    more = f" and {len(unread) - LISTED} more" if len(unread) > LISTED else ""
    listed = ", ".join(map(str, unread[:LISTED]))
    return frame, [f"{source}: molecules that cannot be read are left out: number {listed}{more}"] if unread else []


# In a text file every cell is text, without the apostrophe that kept a spreadsheet from running it, and what it means
# is decided by whoever uses the column. Rows are counted as a spreadsheet counts them: the header is row 1.

PARQUET = b"PAR1"
LONGEST_HEADER = 1 << 24


@dataclass(frozen=True, eq=False)
class Table:
    """A table and where it came from. `first` is the number of its first row of data.

    `overlong` are rows with more cells than the header, by their places; in the frame they are empty. `aside` are rows
    that are no experiments, and why; `meant` are columns whose cells mean less than they say, and `remarks` what was
    understood of a column (`likewise.tables.cleaning`). `computed` are columns with formulas, whose results are
    those of the last time the file was saved. The frame is the table as it is written.
    """

    path: Path
    frame: polars.DataFrame
    dialect: Dialect
    first: int = 2
    notes: tuple[str, ...] = ()
    overlong: Mapping[int, Sequence[str]] = field(default_factory=dict)
    aside: Mapping[int, str] = field(default_factory=dict)
    meant: Mapping[str, polars.Series] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()

    @property
    def ragged(self) -> tuple[int, ...]:
        """The places of the rows that have more cells than the header."""
        return tuple(self.overlong)

    def __len__(self) -> int:
        return self.frame.height

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.columns)

    @property
    def name(self) -> str:
        """What messages call the file."""
        return str(self.path)

    def number(self, place: int) -> int:
        """The row's number, as a spreadsheet shows it."""
        return place + self.first

    def column(self, name: str) -> polars.Series:
        """A column, as its cells are understood; a UsageError where there is none of that name."""
        if name not in self.frame.columns:
            names = ", ".join(map(repr, self.columns))
            alike = [c for c in self.columns if c.strip().lower() == name.strip().lower()]
            hint = f"; did you mean {alike[0]!r}?" if alike else "."
            raise UsageError(f"{self.name} has no column {name!r}; its columns are {names}{hint}")
        return self.meant[name] if name in self.meant else self.frame[name]

    def where(self, place: int, column: str) -> str:
        """A cell's place, as errors name it."""
        return f"{self.name}, row {self.number(place)}, column {column!r}"


def read(path: str | Path, *, skip_ragged: bool = False, may_be_empty: bool = False) -> Table:
    """The table of a CSV, TSV or Parquet file, gzipped or not, or of a workbook; what it is, its bytes say.

    Files of molecules are known by their names, .smi and .sdf. Rows with more cells than the header are an error,
    unless they are to be skipped; so is a table without rows.
    """
    source = Path(path)
    data, gzipped = _bytes(source)
    if not data.strip():
        raise TableError(f"{source} is empty; it needs a header with the names of the columns, and a row per object.")
    if (kind := structure_kind(source)) is not None:
        table = _structures(source, data, kind)
    elif data.startswith(PARQUET):
        table = _parquet(source, data, gzipped)
    elif is_workbook(data):
        table = _workbook(source, data)
    elif source.suffix.lower() == ".parquet":
        raise TableError(f"{source} is called a Parquet file but is none; export it again, or correct its name.")
    else:
        text, dialect = decode(data, str(source))
        table = _csv(source, text, replace(dialect, gzipped=gzipped), skip_ragged)
    if not len(table) and not may_be_empty:
        names = ", ".join(map(repr, table.columns))
        raise TableError(f"{source} has the columns {names} but no row below them; add a row per object.")
    return table


def _bytes(source: Path) -> tuple[bytes, bool]:
    try:
        data = source.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"There is no file {source}; check the name and the folder.") from None
    except IsADirectoryError:
        raise UsageError(f"{source} is a folder; give the name of a CSV, TSV or Parquet file.") from None
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror or error}; check its permissions.") from None
    if not data.startswith(MARK):
        return data, False
    try:
        return unpack(data), True
    except TooLarge as error:
        raise TableError(f"{source} {error}.") from None
    except ValueError as error:
        raise TableError(f"{source} is compressed by gzip, but damaged ({error}); copy or download it again.") from None


def _parquet(source: Path, data: bytes, gzipped: bool) -> Table:
    try:
        frame = read_parquet(io.BytesIO(data))
    except (OSError, ValueError) as error:
        raise TableError(f"{source} is a damaged Parquet file ({error}); copy or export it again.") from None
    return Table(source, frame, Dialect(kind="parquet", gzipped=gzipped), first=1)


def _structures(source: Path, data: bytes, kind: str) -> Table:
    dialect = Dialect(kind="structures")
    text, _ = decode(data, str(source))
    if kind in DRAWINGS:
        frame, notes = read_drawings(text, source)
        return Table(source, frame, dialect, first=1, notes=tuple(notes))
    return Table(source, read_lines(text, source), dialect, first=1)


def _workbook(source: Path, data: bytes) -> Table:
    sheet = read_sheet(data, str(source))
    _check_header(source, sheet.names)
    frame = sheet.frame
    frame.columns = list(sheet.names)
    dialect = Dialect(kind="workbook", sheet=sheet.title, header=sheet.header, places=sheet.places)
    return Table(source, frame, dialect, sheet.header + 2, sheet.notes, computed=sheet.computed)


def _csv(source: Path, text: str, dialect: Dialect, skip_ragged: bool) -> Table:
    import polars

    above = above_header(text)
    body = text[above.end :]
    delimiter = above.delimiter or find_delimiter(body, source.name)
    dialect = replace(dialect, delimiter=delimiter, above=above.lines)
    if dialect.newline == "\r":
        body = body.replace("\r", "\n")
    notes = []
    if dialect.encoding in ("cp1252", "latin-1"):
        notes.append(f"{source} is not UTF-8; it was read as Windows-1252 (Latin-1)")
    if titles := [line for line in above.lines if line.strip() and not line.lower().startswith("sep=")]:
        notes.append(f"{source}: the header is in row {len(above.lines) + 1}, below {titles[0].strip()!r}")
    header = _header(source, body, dialect)
    frame, overlong = _frame(source, body, dialect, header, skip_ragged)
    frame, header = _without_unnamed(frame, header)
    _check_header(source, header)
    frame.columns = header
    # Looking is much quicker than replacing, and few tables have such cells.
    held = [column.name for column in frame if column.str.starts_with("'").any()]
    frame = frame.with_columns(polars.col(held).str.replace(GUARDED, "$1"))
    return Table(source, frame, dialect, 2 + len(above.lines), tuple(notes), overlong)


def _header(source: Path, text: str, dialect: Dialect) -> list[str]:
    try:
        # A header is not longer than this, and a copy of a large table is not made for it.
        names = next(csv_reader(text[:LONGEST_HEADER], dialect.delimiter))
    except (csv.Error, StopIteration):
        raise TableError(f"The header of {source} cannot be read; its first row has to name the columns.") from None
    return [unguard(name.strip()) for name in names]


def _frame(
    source: Path, text: str, dialect: Dialect, header: list[str], skip_ragged: bool
) -> tuple[polars.DataFrame, dict[int, Sequence[str]]]:
    import polars

    try:
        frame = polars.read_csv(
            io.BytesIO(text.encode()), separator=dialect.delimiter, infer_schema=False, raise_if_empty=False
        )
        if frame.width == len(header):
            return frame, {}
    except polars.exceptions.PolarsError:
        # Slower, but it knows the row that is wrong, and puts up with quotation marks inside cells.
        pass
    return _slowly(source, text, dialect, len(header), skip_ragged)


def _slowly(
    source: Path, text: str, dialect: Dialect, width: int, skip_ragged: bool
) -> tuple[polars.DataFrame, dict[int, Sequence[str]]]:
    import polars

    reader = csv_reader(text, dialect.delimiter, strict=True)
    rows: list[list[str | None]] = []
    overlong: dict[int, Sequence[str]] = {}
    try:
        next(reader)
        for place, row in enumerate(reader):
            if len(row) > width and not all(map(missing, row[width:])):
                if not skip_ragged:
                    raise TableError(
                        f"{source}, row {place + 2} has {len(row)} cells, but the header names {width} columns: "
                        f"{row[width]!r} is one too many. Put quotation marks around cells that contain "
                        f"{_delimiter_name(dialect.delimiter)}.",
                        settings={"skip_bad": ""},
                    )
                overlong[place], row = row, []
            rows.append([*(cell or None for cell in row[:width]), *[None] * (width - len(row))])
    except csv.Error as error:
        raise TableError(
            f"{source}, row {len(rows) + 2} has a quotation mark that does not belong there ({error}); "
            'close it, or write it twice ("") inside a quoted cell.'
        ) from None
    columns = {str(k): [row[k] for row in rows] for k in range(width)}
    return polars.DataFrame(columns, schema=dict.fromkeys(columns, polars.String())), overlong


def _delimiter_name(delimiter: str) -> str:
    return {"\t": "a tab", ",": "a comma", ";": "a semicolon"}.get(delimiter, repr(delimiter))


def _without_unnamed(frame: polars.DataFrame, header: list[str]) -> tuple[polars.DataFrame, list[str]]:
    """Spreadsheets save columns that were once used: without a name and without content."""
    places = [
        k for k, name in enumerate(header) if name or not all(map(missing, frame.to_series(k).unique().to_list()))
    ]
    return frame[:, places], [header[k] for k in places]


def _check_header(source: Path, header: Sequence[str]) -> None:
    for place, name in enumerate(header):
        first = header.index(name)
        if first != place:
            called = f"the name {name!r}" if name else "no name"
            raise TableError(
                f"{source}: columns {first + 1} and {place + 1} of the header both have {called}; rename one of them."
            )
