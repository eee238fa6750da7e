"""The generated part of docs/architecture.md, and whether the page still tells the truth."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tools.house.source import (
    DOOR,
    PACKAGE,
    ROOT,
    Source,
    passages,
    read_package,
    repeated_classes,
    rooms,
    single_importers,
    upward,
    vagueness,
)
from tools.house.ways import WAYS, Way, walk

PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- made by python -m tools.house --docs -->", "<!-- end of the made part -->"


def render(sources: Sequence[Source], ways: dict[str, Way]) -> str:
    """The whole part, in Markdown."""
    parts = (_rooms(sources), _size(sources), _passages(sources), _ways(ways), _steps(ways["ask"]))
    return "\n\n".join(parts)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in lines)


def _rooms(sources: Sequence[Source]) -> str:
    alone = single_importers(sources)

    def row(room: str) -> list[object]:
        inside = [source for source in sources if source.room == room]
        asked = sorted({line.room for source in inside for line in source.imports} - {room}, key=rooms(sources).index)
        return [f"`{room}`" if room != DOOR else room, *counts(inside), ", ".join(asked) or "–"]

    def counts(inside: Sequence[Source]) -> list[object]:
        halves = sum(source.module in alone for source in inside)
        return [len(inside), f"{_tokens(inside):,}", halves, sum(source.numeric for source in inside)]

    head = ["room", "files", "tokens", "one importer", "numeric constants", "imports from"]
    table = _table(head, [*map(row, rooms(sources)), ["all", *counts(sources), ""]])
    text = (
        "Tokens are names, operators, numbers and strings, but for docstrings. One importer: files that exactly one\n"
    )
    text += "other imports. The door is `__init__.py` and what else lies beside the rooms."
    return f"### Rooms\n\n{text}\n\n{table}"


def _tokens(sources: Sequence[Source]) -> int:
    return sum(source.tokens for source in sources)


def _size(sources: Sequence[Source]) -> str:
    """What should not grow."""
    rows = [
        ["tokens of code", f"{_tokens(sources):,}"],
        ["files", len(sources)],
        ["modules that exactly one other imports", len(single_importers(sources))],
        ["names of classes in more than one module", len(repeated_classes(sources))],
        ["bindings whose name says nothing, such as `found`", f"{100 * vagueness(sources):.1f} %"],
        ["constants in upper case", sum(len(source.constants) for source in sources)],
        ["of these, numbers", sum(source.numeric for source in sources)],
        ["numbers anywhere in the code, but for 0, 1, 2 and ½", sum(source.literals for source in sources)],
    ]
    return f"### Size\n\n{_table(['what', 'how many'], rows)}"


def _passages(sources: Sequence[Source]) -> str:
    """The imports between rooms as a picture; errors are left out, for every room raises them."""
    shown = [(a, b, n) for (a, b), n in passages(sources).items() if "errors" not in (a, b) and DOOR not in (a, b)]
    order = rooms(sources)
    arrows = [f"  {a} -->|{n}| {b}" for a, b, n in sorted(shown, key=lambda p: (order.index(p[0]), order.index(p[1])))]
    text = "A number is how many lines import. Every room may import `errors`, which is left out."
    return "\n".join(["### Imports between rooms", "", text, "", "```mermaid", "graph TD", *arrows, "```"])


def _ways(ways: dict[str, Way]) -> str:
    def row(name: str, way: Way) -> list[object]:
        visited = {Source(PACKAGE / file).room for file in way.files}
        called = (WAYS[name].__doc__ or "").splitlines()[0].rstrip(".")
        return [called, len(visited), len(way.files), way.functions, len(way.passages), way.hops, len(way.loaded)]

    head = ["call", "rooms", "files run", "functions", "calls from file to file", "hops", "files loaded"]
    text = "Hops: how often a call passes from file to file on the way to the deepest place. Calls from file to file:\n"
    text += "different pairs of files of which one calls the other."
    return f"### Ways\n\n{text}\n\n{_table(head, [row(name, way) for name, way in ways.items()])}"


def _steps(way: Way) -> str:
    text = "Files in the order in which they are first entered, each with the function that is called first."
    lines, room = ["### The way of one ask", "", text, ""], ""
    for file, function in way.files.items():
        if (here := Source(PACKAGE / file).room) != room:
            lines.append(f"- **{here}**")
            room = here
        lines.append(f"  - `{file}`: `{function}`")
    return "\n".join(lines)


def _split(text: str) -> tuple[str, str, str]:
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"{PAGE} needs one line '{BEGIN}' and after it one line '{END}'")
    before, rest = text.split(BEGIN)
    made, after = rest.split(END)
    return before, made.strip(), after


def rewrite() -> None:
    """Make the generated part anew."""
    before, _, after = _split(PAGE.read_text(encoding="utf-8"))
    made = render(read_package(), {name: walk(name) for name in WAYS})
    PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")


def faults() -> list[str]:
    """What is wrong: rooms or imports that the page does not show, files it names that are gone, imports uphill.

    Counts and ways may lag behind: they change with every commit, and mislead nobody.
    """
    before, made, after = _split(PAGE.read_text(encoding="utf-8"))
    sources = read_package()
    arrows = re.findall(r"^  (\w+) -->\|\d+\| (\w+)$", made, re.MULTILINE)
    there = {(a, b) for a, b in passages(sources) if "errors" not in (a, b) and DOOR not in (a, b)}
    listed = set(re.findall(r"^\| `(\w+)` \| \d+ \|", made, re.MULTILINE))
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.py)?|\w+\.py)`", before + after))
    return [
        *(f"room {room} is not on the page" for room in {s.room for s in sources} - {DOOR} - listed),
        *(f"room {room} is on the page and gone" for room in listed - {s.room for s in sources}),
        *(f"import {a} → {b} is not on the page" for a, b in there - set(arrows)),
        *(f"import {a} → {b} is on the page and gone" for a, b in set(arrows) - there),
        *(f"import {passage} leads uphill" for passage in upward(sources)),
        *(f"{name} is named on the page and gone" for name in named if not _exists(name)),
    ]


def _exists(name: str) -> bool:
    return (PACKAGE / name).exists() or (ROOT / name).exists()
