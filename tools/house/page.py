"""The house in tables: all of it for the command line, the small part that docs/architecture.md shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.house.source import (
    DOOR,
    PACKAGE,
    ROOT,
    Source,
    read_package,
    repeated_classes,
    rooms,
    single_importers,
    vagueness,
)
from tools.house.ways import WAYS, Way, walk

PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- made by python -m tools.house --docs -->", "<!-- end of the made part -->"


def small(sources: Sequence[Source], ask: Way) -> str:
    """Returns what the page shows: size by room, and how much of the code one ask enters."""
    entered = f"One ask, of a study of 81 words with 17 measured, enters {len(ask.files)} files and {ask.functions}"
    return f"{_rooms(sources, 3)}\n\n{entered} functions."


def whole(sources: Sequence[Source], ways: dict[str, Way]) -> str:
    """Returns all there is to say, in Markdown."""
    return "\n\n".join((_rooms(sources), _size(sources), _ways(ways), _steps(ways["ask"])))


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in lines)


def _rooms(sources: Sequence[Source], columns: int | None = None) -> str:
    """The rooms with the first `columns` of their numbers, or with all."""
    alone, order = single_importers(sources), rooms(sources)

    def row(name: str, inside: Sequence[Source]) -> list[object]:
        imported = {line.room for source in inside for line in source.imports} - {name}
        cells: list[object] = [
            len(inside),
            f"{sum(source.tokens for source in inside):,}",
            sum(source.module in alone for source in inside),
            sum(source.numeric for source in inside),
            "" if inside is sources else ", ".join(sorted(imported, key=order.index)) or "–",
        ]
        return [f"`{name}`" if name not in (DOOR, "all") else name, *cells[:columns]]

    head = ["room", "files", "tokens", "one importer", "numeric constants", "imports from"]
    inside = {room: [source for source in sources if source.room == room] for room in order}
    rows = [row(room, files) for room, files in inside.items()]
    return _table(head[: None if columns is None else columns + 1], [*rows, row("all", sources)])


def _size(sources: Sequence[Source]) -> str:
    """What should not grow."""
    rows = [
        ["names of classes in more than one module", len(repeated_classes(sources))],
        ["bindings whose name says nothing, such as `found`", f"{100 * vagueness(sources):.1f} %"],
        ["constants in upper case", sum(len(source.constants) for source in sources)],
        ["numbers anywhere in the code, but for 0, 1, 2 and ½", sum(source.literals for source in sources)],
    ]
    return _table(["what", "how many"], rows)


def _ways(ways: dict[str, Way]) -> str:
    head = ["call", "files run", "functions", "files loaded"]
    rows = [[WAYS[name].__doc__, len(way.files), way.functions, len(way.loaded)] for name, way in ways.items()]
    return _table(head, rows)


def _steps(ask: Way) -> str:
    """The files of one ask in the order in which they are entered, each with the function that is called first."""
    return "\n".join(f"- `{file}`: `{function}`" for file, function in ask.files.items())


def _split(text: str) -> tuple[str, str, str]:
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"{PAGE} needs one line '{BEGIN}' and after it one line '{END}'")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    return before, table, after


def rewrite() -> None:
    """Makes the table of the page anew."""
    before, _, after = _split(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(f"{before}{BEGIN}\n\n{small(read_package(), walk('ask'))}\n\n{END}{after}", encoding="utf-8")


def faults() -> list[str]:
    """Returns what is wrong with the page: rooms that it lacks, rooms and files that it names and that are gone.

    The numbers may lag behind: they change with every commit, and mislead nobody.
    """
    before, table, after = _split(PAGE.read_text(encoding="utf-8"))
    present = {source.room for source in read_package()} - {DOOR}
    listed = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    named = re.findall(r"`((?:\w+/)+(?:\w+\.py)?|\w+\.py)`", before + after)
    return [
        *(f"room {room} is not on the page" for room in present - listed),
        *(f"room {room} is on the page and gone" for room in listed - present),
        *(f"{name} is named on the page and gone" for name in sorted(set(named)) if not _exists(name)),
    ]


def _exists(name: str) -> bool:
    return (PACKAGE / name).exists() or (ROOT / name).exists()
