"""The generated part of docs/architecture.md, and whether the page still tells the truth."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tools.house.source import DOOR, PACKAGE, ROOT, Source, passages, read_package, rooms, upward
from tools.house.ways import WAYS, Way, walk

PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- made by python -m tools.house --docs -->", "<!-- end of the made part -->"
LIMITS = {"files in a folder": 20, "lines of a file": 400, "lines of a function": 50, "imports within functions": 20}


def render(sources: Sequence[Source], ways: dict[str, Way]) -> str:
    """The whole part, in Markdown."""
    parts = (_rooms(sources), _passages(sources), _limits(sources), _ways(ways), _steps(ways["ask"]))
    return "\n\n".join(parts)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in lines)


def _rooms(sources: Sequence[Source]) -> str:
    def row(room: str) -> list[object]:
        inside = [source for source in sources if source.room == room]
        asked = sorted({line.room for source in inside for line in source.imports} - {room}, key=rooms(sources).index)
        return [f"`{room}`" if room != DOOR else room, len(inside), f"{_code(inside):,}", ", ".join(asked) or "–"]

    total = ["all", len(sources), f"{_code(sources):,}", ""]
    head = ["room", "files", "lines of code", "imports from"]
    text = (
        "Lines of code are those that are neither blank nor comment nor docstring. The door is `__init__.py` and what"
    )
    return f"### Rooms\n\n{text}\nelse lies beside the rooms.\n\n{_table(head, [*map(row, rooms(sources)), total])}"


def _code(sources: Sequence[Source]) -> int:
    return sum(source.code for source in sources)


def _passages(sources: Sequence[Source]) -> str:
    """The imports between rooms as a picture; errors are left out, for every room raises them."""
    shown = [(a, b, n) for (a, b), n in passages(sources).items() if "errors" not in (a, b) and DOOR not in (a, b)]
    order = rooms(sources)
    arrows = [f"  {a} -->|{n}| {b}" for a, b, n in sorted(shown, key=lambda p: (order.index(p[0]), order.index(p[1])))]
    text = "A number is how many lines import. Every room may import `errors`, which is left out."
    return "\n".join(["### Imports between rooms", "", text, "", "```mermaid", "graph TD", *arrows, "```"])


def measures(sources: Sequence[Source]) -> dict[str, tuple[int, str]]:
    """The largest of everything that has a limit, and where it is."""
    folders = Counter(source.path.parent for source in sources)
    folder, files = folders.most_common(1)[0]
    longest = max(sources, key=lambda source: source.lines)
    functions = [((f.end_lineno or 0) - f.lineno + 1, f"{s.name}: {f.name}") for s in sources for f in s.functions]
    inner = [source.name for source in sources for line in source.imports if line.within_function]
    most = Counter(inner).most_common(1)
    return {
        "files in a folder": (files, folder.relative_to(PACKAGE.parent).as_posix()),
        "lines of a file": (longest.lines, longest.name),
        "lines of a function": max(functions),
        "imports within functions": (len(inner), most[0][0] if most else "–"),
    }


def beyond_limits() -> list[str]:
    """What is larger than its limit, and where."""
    found = measures(read_package()).items()
    return [f"{what}: {n} in {where}, at most {LIMITS[what]}" for what, (n, where) in found if n > LIMITS[what]]


def _limits(sources: Sequence[Source]) -> str:
    rows = [[what, LIMITS[what], n, f"`{where}`"] for what, (n, where) in measures(sources).items()]
    text = "Imports within functions are those of the package's own modules, in all files together."
    return f"### Limits\n\n{text}\n\n{_table(['what', 'at most', 'largest', 'where'], rows)}"


def _ways(ways: dict[str, Way]) -> str:
    def row(name: str, way: Way) -> list[object]:
        visited = {Source(PACKAGE / file).room for file in way.files}
        called = (WAYS[name].__doc__ or "").splitlines()[0].rstrip(".")
        return [called, len(visited), len(way.files), len(way.passages), way.hops, len(way.loaded)]

    head = ["call", "rooms", "files run", "calls from file to file", "hops", "files loaded"]
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

    Line counts and ways may lag behind: they change with every commit, and mislead nobody.
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
