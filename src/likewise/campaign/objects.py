"""From cells to objects and back: what a column holds, and which spellings mean one object."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars

from likewise.campaign.roles import Roles
from likewise.errors import SimilarityError, SpaceError, UsageError
from likewise.similarity.auto import called_smiles
from likewise.similarity.catalogue import has_rdkit, read_as_smiles, seem_smiles, writing
from likewise.similarity.kinds.molecules import canonical_reaction, canonical_text
from likewise.spaces.codec import read_number, write_cell
from likewise.tables.cells import (
    CODE,
    Decimal,
    cell_text,
    could_mean,
    empty,
    numbers,
    one_number,
    read_json,
    style_of,
    too_long,
)
from likewise.tables.cleaning import MOST
from likewise.tables.reading import Table

if TYPE_CHECKING:
    from likewise.spaces.base import Space

# What a column of objects holds: text, numbers or JSON; most cells decide, and the others are mistakes.

# Comparing texts takes time and memory in their length: a dozen this long take seconds, and longer ones are mistakes.
LONGEST_TEXT = 100_000
OR_AS_TEXT = "or compare the column as text"
AS_TEXT = f"correct it, {OR_AS_TEXT}"
# A column is one of JSON when almost all cells are; the others are mistakes.
ALMOST_ALL = 0.9
ROOM = ("rt", "r.t.", "r.t", "room temp", "room temp.", "room temperature", "ambient", "raumtemperatur")
NOTHING = "it stands for nothing, and the other cells of the column are numbers; write 0 where nothing was added"


@dataclass(frozen=True, eq=False)
class Content:
    """A column's kind, a value for each row (None where it is missing), and why cells do not fit, by their places."""

    kind: str
    values: list[Any]
    wrong: dict[int, str] = field(default_factory=dict)
    note: str = ""


def content(cells: polars.Series, kind: str | None, decimal: Decimal) -> Content:
    """What a column holds; its kind is found out unless it is known."""
    if cells.dtype != polars.String:
        return _of_typed(cells, kind)
    # "None" and "NA" are gaps among numbers, but fine names for what a recipe leaves out.
    texts = [cell.strip() or None if cell is not None else None for cell in cells.to_list()]
    present = [text for text in texts if text is not None]
    kind, note = (kind, "") if kind is not None else _kind_of_cells(cells, present, decimal)
    if kind == "JSON":
        return _json(texts)
    if kind == "numbers":
        return _numbers(cells, texts, decimal)
    return Content("text", list(texts), _too_long_texts(texts), note)


def _too_long_texts(texts: Sequence[str | None]) -> dict[int, str]:
    return {
        place: f"it has {len(text)} characters, and at most {LONGEST_TEXT} can be compared; shorten it"
        for place, text in enumerate(texts)
        if text is not None and len(text) > LONGEST_TEXT
    }


def _kind_of_cells(cells: polars.Series, present: Sequence[str], decimal: Decimal) -> tuple[str, str]:
    """The kind of a column, and why numbers are taken for text."""
    if not present:
        return "text", ""
    if present[0][0] in "[{" and len(_json(present).wrong) <= (1 - ALMOST_ALL) * len(present):
        return "JSON", ""
    if style_of(cells).share <= MOST:
        return "text", ""
    code = next((text for text in present if _code(text)), None)
    if code is not None:
        return "text", f"is compared as text: {code!r} begins with 0, like a code"
    long = too_long(present, decimal)
    return ("numbers", "") if long is None else ("text", _too_long(long))


def _code(text: str) -> bool:
    return re.match(CODE, text) is not None


def _too_long(cell: Any) -> str:
    return f"is compared as text: {cell} has more digits than a number keeps"


def _numbers(cells: polars.Series, texts: Sequence[str | None], decimal: Decimal) -> Content:
    read = numbers(cells, decimal)
    wrong: dict[int, str] = {}
    for place in read.bad:
        sign = "" if one_number(texts[place] or "") is None else f" with decimal sign {decimal!r}"
        room = " (20 or 25 °C for room temperature)" if (texts[place] or "").lower() in ROOM else ""
        wrong[place] = f"it is not a number{sign}{room}, unlike the other cells of the column; {AS_TEXT}"
    for place, text in enumerate(texts):
        if text is not None and place not in wrong and read.values[place] != read.values[place]:
            wrong[place] = f"{NOTHING}, {OR_AS_TEXT}"
        elif text is not None and (_code(text) or too_long([text], decimal)):
            wrong[place] = f"it is a code, and the other cells of the column are numbers; {AS_TEXT}"
    return Content("numbers", [None if value != value else value for value in read.values], wrong)


def _of_typed(cells: polars.Series, kind: str | None) -> Content:
    if cells.dtype in (polars.Categorical, polars.Enum):
        return content(cells.cast(polars.String), kind or "text", ".")
    plain = cells.dtype in (polars.Date, polars.Datetime, polars.Time, polars.Boolean)
    if kind == "text" or (kind is None and plain):
        return _as_text(cells)
    if cells.dtype.is_numeric():
        long = _beyond(cells) if kind is None else None
        if long is not None:
            return _as_text(cells, _too_long(long))
        read = numbers(cells)
        values = [None if value != value else value for value in read.values]
        return Content("numbers", values, dict.fromkeys(read.bad, "it is not finite; correct it, or leave the row out"))
    if kind == "numbers":
        places = cells.is_not_null().arg_true().to_list()
        return Content(kind, [None] * len(cells), dict.fromkeys(places, f"it is not a number; {AS_TEXT}"))
    return Content("JSON", cells.to_list())


def _as_text(cells: polars.Series, note: str = "") -> Content:
    return Content("text", [None if cell is None else cell_text(cell) for cell in cells.to_list()], note=note)


def _beyond(cells: polars.Series) -> int | None:
    """A whole number that is another one when it is kept in floating point."""
    if not cells.dtype.is_integer():
        return None
    return next((cell for cell in cells.to_list() if cell is not None and int(float(cell)) != cell), None)


def _json(texts: Sequence[str | None]) -> Content:
    content = Content("JSON", [])
    for place, text in enumerate(texts):
        try:
            content.values.append(None if text is None else read_json(text))
        except ValueError as error:
            content.values.append(None)
            content.wrong[place] = f"it is not JSON ({error}), unlike the other cells of the column; correct it"
    return content


# One object in several spellings: `XPhos` and `xphos `, `c1ccccc1` and `C1=CC=CC=C1`.
#
# Names are the same where they differ in capitals, blanks and forms of a character (K₂CO₃) alone. Molecules are the
# same where their canonical SMILES are. One spelling, the most frequent, stands for all of them; the table keeps its
# own.

Kind = Literal["names", "molecules", "reactions", "texts"]
# More different texts than this are not all folded: a molecule takes 0.2 ms.
MANY = 5_000
MOLECULES = 0.9
LISTED = 3
# Spellings of one molecule have as many of these letters, and close as many rings; hydrogen is written or not.
LETTERS = "cnosplfbri"


@dataclass(frozen=True, eq=False)
class Spellings:
    """How the texts of a column are spelled: what kind they are, and the spelling that stands for each folded text.

    `texts` are all of them where they are too many to be folded.
    """

    kind: Kind
    chosen: Mapping[str, str] = field(default_factory=dict)
    texts: polars.Series | None = None

    def fold(self, text: str) -> str:
        """What all spellings of a text share."""
        return FOLDS[self.kind](text)

    def of(self, texts: Sequence[str]) -> dict[str, str]:
        """The spelling in this column for each text that is spelled otherwise."""
        if self.texts is not None:
            present = set(self.texts.to_list())
            twin_texts = twins([text for text in texts if text not in present], self.texts)
            return {other: text for text, other in twin_texts.items()}
        if not self.chosen:
            return {}
        spelled = {text: self.chosen.get(self.fold(text), text) for text in texts}
        return {text: other for text, other in spelled.items() if text != other}


def fold_name(text: str) -> str:
    """A name without capitals, blanks at its ends, and special forms of characters.

    >>> fold_name("XPhos") == fold_name(" xphos"), fold_name("K₂CO₃")
    (True, 'k2co3')
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def fold_molecule(text: str) -> str:
    """The canonical SMILES, or the text itself where it is no molecule."""
    return canonical_text(text) or text


def fold_reaction(text: str) -> str:
    """The reaction in canonical SMILES, or the text itself where it is none."""
    return canonical_reaction(text) or text


FOLDS: dict[Kind, Callable[[str], str]] = {
    "names": fold_name,
    "molecules": fold_molecule,
    "reactions": fold_reaction,
    "texts": str,
}


def spellings(texts: Sequence[str | None], column: str) -> Spellings:
    """How the texts of a column are spelled."""
    distinct = list(dict.fromkeys(text for text in texts[: 4 * MANY] if text is not None))
    kind = _kind_of_texts(distinct, column)
    if kind == "texts" or (kind == "names" and len(distinct) > MANY):
        return Spellings("texts")
    counts = Counter(text for text in texts if text is not None)
    if len(counts) > MANY:
        return Spellings(kind, texts=polars.Series(list(counts))) if kind == "molecules" else Spellings("texts")
    fold = FOLDS[kind]
    chosen: dict[str, str] = {}
    # Of equally frequent ones the first, as the counter keeps their order.
    for text in sorted(counts, key=lambda text: -counts[text]):
        chosen.setdefault(fold(text), text)
    return Spellings(kind, chosen)


def _kind_of_texts(distinct: list[str], column: str) -> Kind:
    """What the texts are; sequences and codes, in which every letter counts, are texts."""
    sample = distinct[:: -(-len(distinct) // 200)] if distinct else []
    if has_rdkit() and sample and sum(text.count(">") == 2 for text in sample) >= MOLECULES * len(sample):
        return "reactions"
    likely = sum(map(seem_smiles, sample)) >= MOLECULES * len(sample)
    if has_rdkit() and sample and (likely or called_smiles(column)):
        parsed, tried = read_as_smiles(sample)
        if parsed >= (0.5 if called_smiles(column) else MOLECULES) * tried and _written(sample) != "sequence":
            return "molecules"
    return "names" if not likely and not called_smiles(column) and _written(sample) == "name" else "texts"


def _written(texts: list[str]) -> str:
    try:
        kind = writing(texts, molecules=False)[0]
    except SimilarityError:
        return "name"
    return "name" if kind in ("texts", "categories") else "sequence"


def twins(wanted: Sequence[str], texts: polars.Series) -> dict[str, str]:
    """The texts that are the same molecule as a wanted one, with that one; those with other heavy atoms are not read.

    >>> twins(["c1ccccc1"], polars.Series(["CCO", "C1=CC=CC=C1", "c1ccccc1"]))
    {'C1=CC=CC=C1': 'c1ccccc1'}
    """
    if not wanted:
        return {}
    by_fold = {fold_molecule(text): text for text in reversed(wanted)}
    atoms = _atoms(polars.Series(list(wanted))).unique()
    near = _atoms(texts).with_columns(text=texts).join(atoms, on=atoms.columns, how="semi")["text"]
    pairs = ((text, by_fold.get(fold_molecule(text))) for text in near.to_list())
    return {text: other for text, other in pairs if other is not None and other != text}


def _atoms(texts: polars.Series) -> polars.DataFrame:
    """How often each letter of an atom occurs in each text, and how many digits close its rings."""
    low = polars.col("low")
    bare = low.str.replace_all(r"\[[^\]]*\]", "").str.replace_all(r"%\d\d", "0")
    counts = [low.str.count_matches(letter, literal=True).alias(letter) for letter in LETTERS]
    return texts.str.to_lowercase().alias("low").to_frame().select(*counts, rings=bare.str.count_matches(r"\d"))


def respell(
    values: list[Any], column: str, spelled: Spellings | None, place: Callable[[int], int], measured: Sequence[int]
) -> tuple[list[Any], Spellings, str]:
    """The texts of a column, each in the spelling that stands for it, how they are spelled, and a note on changes.

    `known` is how the table spells that these are results of; `place` gives the number of a row. Of too many molecules,
    those are found that are `measured` in another spelling.
    """
    target = spellings(values, column) if spelled is None else spelled
    if target.kind == "texts":
        return values, target, ""
    if spelled is None and target.texts is not None:
        wanted = dict.fromkeys(values[i] for i in measured if values[i] is not None)
        changed = twins(list(wanted), target.texts)
    else:
        changed = target.of(list(dict.fromkeys(text for text in values if text is not None)))
    if not changed:
        return values, target, ""
    rows = {text: place(number) for number, text in reversed(list(enumerate(values))) if text in changed}
    listed = [f"{text!r} (row {row}) as {changed[text]!r}" for text, row in reversed(rows.items())]
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    what = f"one {target.kind.removesuffix('s')}"
    note = f"takes {', '.join(listed[:LISTED])}{more}: {what} in several spellings"
    return [changed.get(value, value) if isinstance(value, str) else value for value in values], target, note


# From cells to objects and back: text, numbers, JSON, or whatever the space they belong to takes them for.

EMPTY = "the cell is empty; fill it in (write none where a recipe leaves something out)"
# Digits that a number is written with: few, unless the space wants more (shares that add up to one).
DIGITS = (6, 10, 17)


class Bad(NamedTuple):
    """A cell that cannot be used, and why."""

    place: int
    column: str
    cell: Any
    reason: str
    settings: Mapping[str, str] = {}


@dataclass(eq=False)
class Objects:
    """Returns the object of each row, or None, and the cells that cannot be read."""

    objects: list[Any]
    bad: list[Bad] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    spellings: dict[str, Spellings] = field(default_factory=dict)


def objects(
    table: Table,
    roles: Roles,
    *,
    space: Space | None = None,
    kinds: Mapping[str, str] | None = None,
    decimal: Decimal | None = None,
    exactly: Collection[str] = (),
    spelled: Mapping[str, Spellings] | None = None,
    measured: Sequence[int] = (),
) -> Objects:
    """The objects of a table's rows; a row without any content has none.

    `kinds` are those of known columns, and `spelled` their spellings, where these are results. The texts of columns in
    `exactly` are what their letters are. `measured` are the rows with a value.
    """
    if space is not None:
        return _in_space(table, roles, space, decimal)
    columns = {name: content(table.column(name), (kinds or {}).get(name), decimal or ".") for name in roles.objects}
    read = Objects([], kinds={name: column.kind for name, column in columns.items()})
    read.notes = [f"column {name!r} {column.note}" for name, column in columns.items() if column.note]
    for name, column in columns.items():
        if column.kind == "text" and name not in exactly:
            before = (spelled or {}).get(name)
            values, read.spellings[name], note = respell(column.values, name, before, table.number, measured)
            columns[name] = replace(column, values=values)
            read.notes += [f"column {name!r} {note}. To keep them apart, compare the column as text"] if note else []
    blank = _blank(table)
    only = columns[roles.objects[0]]
    if not (roles.record or blank or only.wrong or None in only.values):
        read.objects = only.values
        return read
    for place in range(len(table)):
        read.objects.append(None if place in blank else _object(place, roles, columns, read, table))
    return read


def _object(place: int, roles: Roles, columns: Mapping[str, Content], read: Objects, table: Table) -> Any:
    for name, column in columns.items():
        if place in column.wrong:
            reason = column.wrong[place]
            settings = {"text": name} if reason.endswith(OR_AS_TEXT) else {}
            read.bad.append(Bad(place, name, table.column(name)[place], reason, settings))
            return None
        if column.values[place] is None:
            read.bad.append(Bad(place, name, table.column(name)[place], EMPTY))
            return None
    values = {name: column.values[place] for name, column in columns.items()}
    return values if roles.record else next(iter(values.values()))


def _blank(table: Table) -> set[int]:
    """The rows without any content, as spreadsheets leave them at the end, and those that could not be read."""
    # Whoever writes the file may put quotation marks around nothing.
    texts = polars.col(polars.String).str.strip_chars().replace("", None)
    empty = polars.all_horizontal(polars.all().is_null())
    places = table.frame.with_columns(texts).select(empty.arg_true()).to_series().to_list()
    return {*places, *table.ragged, *table.aside}


def cell_of_kind(text: str, kind: str, column: str, decimal: Decimal | None = None) -> Any:
    """What a cell means in a column of this kind, in a table with this decimal sign."""
    text = text.strip()
    if kind == "numbers":
        if decimal is None and _unclear(text):
            raise UsageError(f"{could_mean(text)} in column {column!r}, and no cell tells.", settings={"decimal": ""})
        value = one_number(text, decimal)
        if value is None:
            raise UsageError(f"Column {column!r} holds numbers, and {text!r} is not a number.")
        return value
    if kind == "JSON":
        try:
            return read_json(text)
        except ValueError:
            raise UsageError(f"Column {column!r} holds JSON, and {text!r} is not; write it like [0.5, 1].") from None
    return text


def _unclear(text: str) -> bool:
    return style_of(polars.Series([text])).unclear is not None


def numeric(space: Space, column: str) -> bool:
    """Whether cells of a column are numbers in this space; JSON and text are not."""
    return space.parts.get(column, space).numeric


def _in_space(table: Table, roles: Roles, space: Space, decimal: Decimal | None) -> Objects:
    read = Objects([])
    blank = _blank(table)
    columns = {name: table.column(name).to_list() for name in roles.objects}
    for place in range(len(table)):
        cells = {name: column[place] for name, column in columns.items()}
        if place in blank:
            read.objects.append(None)
            continue
        try:
            read.objects.append(space.fit(from_cells(space, cells, decimal)))
        except (SpaceError, ValueError) as error:
            read.objects.append(None)
            column = _blamed(str(error), roles.objects)
            read.bad.append(Bad(place, column, cells[column], f"it is not in the space: {error}"))
    return read


def _blamed(error: str, columns: Sequence[str]) -> str:
    """The column that an error of a space is about: the one it names, or counts as a dimension from 0.

    >>> _blamed("dimension 1 is 400, outside its bounds [20, 120]", ["time", "temp"])
    'temp'
    """
    named = next((name for name in columns if repr(name) in error), None)
    counted = re.search(r"\bdimension (\d+) is\b", error)
    if named is None and counted is not None and int(counted[1]) < len(columns):
        return columns[int(counted[1])]
    return named or columns[0]


def from_cells(space: Space, cells: Mapping[str, Any], decimal: Decimal | None = None) -> Any:
    """The object that the cells of a row describe, before the space has seen it; None is whichever sign fits."""
    if space.parts and (len(cells) > 1 or set(cells) == set(space.parts)):
        return {
            name: from_cell(space.parts[name], cell, decimal) if name in space.parts else cell
            for name, cell in cells.items()
        }
    if len(cells) > 1:
        return [read_number(cell, decimal) if isinstance(cell, str) else cell for cell in cells.values()]
    return from_cell(space, next(iter(cells.values())), decimal)


def from_cell(space: Space, cell: Any, decimal: Decimal | None = None) -> Any:
    """What a single cell means in a space.

    >>> from likewise.spaces.permutations import Permutations
    >>> from_cell(Permutations(3), "2 0 1"), from_cell(Permutations(3), "[2, 0, 1]")
    ([2, 0, 1], [2, 0, 1])
    """
    if empty(cell):
        raise SpaceError("the cell is empty")
    return space.from_cell(cell.strip(), decimal) if isinstance(cell, str) else cell


def to_cells(space: Space, x: Any, columns: Sequence[str], decimal: Decimal = ".") -> list[str]:
    """The object as cells, one for each column.

    >>> from likewise.spaces.record import Record
    >>> to_cells(Record(solvent=["DMF"], volume=[1.5]), {"solvent": "DMF", "volume": 1.5}, ["volume", "solvent"])
    ['1.5', 'DMF']
    """
    for digits in DIGITS:
        cells = _cells(space, _round(space.to_json(x), digits), columns, decimal)
        if _means(space, dict(zip(columns, cells, strict=True)), decimal):
            return cells
    return _cells(space, space.to_json(x), columns, decimal)


def _cells(space: Space, data: Any, columns: Sequence[str], decimal: Decimal) -> list[str]:
    if space.parts and (len(columns) > 1 or list(space.parts) == list(columns)):
        return [space.parts[name].to_cell(data[name], decimal) if name in space.parts else "" for name in columns]
    if len(columns) == 1:
        return [space.to_cell(data, decimal)]
    if len(data) != len(columns):
        raise UsageError(
            f"An object of the space has {len(data)} parts, but {len(columns)} columns are named for it; "
            "name one column, or one for each part.",
            settings={"objects": ""},
        )
    return [write_cell(value, decimal) for value in data]


def _round(data: Any, digits: int) -> Any:
    """Numbers with as many digits as one would write down."""
    if isinstance(data, float):
        return float(f"{data:.{digits}g}")
    if isinstance(data, list):
        return [_round(part, digits) for part in data]
    return {name: _round(part, digits) for name, part in data.items()} if isinstance(data, dict) else data


def _means(space: Space, cells: Mapping[str, str], decimal: Decimal) -> bool:
    """Whether the cells are an object of the space."""
    try:
        return from_cells(space, cells, decimal) in space
    except (SpaceError, ValueError, TypeError):
        return False
