"""Rows for a terminal: under the names of their columns where they fit, else one below the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

GAP = "  "
# Columns below which nothing can be laid out sensibly.
NARROWEST = 30


class Line(NamedTuple):
    """A row: its cells, and what is said of it below, each with a label."""

    cells: Sequence[str]
    below: Sequence[tuple[str, str]] = ()


def lay_out(columns: Sequence[str], rows: Sequence[Line], width: int, right: Collection[int] = ()) -> list[str]:
    """The rows as lines of text.

    >>> print("\\n".join(lay_out(("", "base", "t"), [Line(("1", "KOH", "80"), [("because", "of that")])], 40)))
       base  t
    1  KOH   80
       because of that
    >>> print("\\n".join(lay_out(("", "base", "t"), [Line(("1", "K" * 40, "80"))], 40)))
    1  base  KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK
             KKKKKKKKK
       t     80
    """
    cells = [columns, *(row.cells for row in rows)]
    widths = [max(_width(line[k]) for line in cells) for k in range(len(columns))]
    if sum(widths) + len(GAP) * (len(widths) - 1) <= width:
        return _table(columns, rows, widths, max(width, NARROWEST), right)
    return _stack(columns, rows, max(width, NARROWEST))


def _table(
    columns: Sequence[str], rows: Sequence[Line], widths: Sequence[int], width: int, right: Collection[int]
) -> list[str]:
    indent = widths[0] + len(GAP)
    lines = [_row(columns, widths, right)]
    for row in rows:
        lines.append(_row(row.cells, widths, right))
        for label, text in row.below:
            first, *others = wrap(f"{label} {text}" if label else text, width - indent)
            lines += [" " * indent + first, *(" " * (indent + 2) + other for other in others)]
    return lines


def _row(cells: Sequence[str], widths: Sequence[int], right: Collection[int]) -> str:
    padded = [
        (" " * (w - _width(cell)) + cell) if k in right else cell + " " * (w - _width(cell))
        for k, (cell, w) in enumerate(zip(cells, widths, strict=True))
    ]
    return GAP.join(padded).rstrip()


def _stack(columns: Sequence[str], rows: Sequence[Line], width: int) -> list[str]:
    labels = [*columns[1:], *(label for row in rows for label, _ in row.below)]
    first, label = max(_width(row.cells[0]) for row in rows), max(map(_width, labels))
    indent = first + label + 2 * len(GAP)
    lines: list[str] = []
    for row in rows:
        title = row.cells[0]
        for name, text in [*zip(columns[1:], row.cells[1:], strict=True), *row.below]:
            head = f"{title}{' ' * (first - _width(title))}{GAP}{name}{' ' * (label - _width(name))}{GAP}"
            start, *others = wrap(text, width - indent)
            lines += [(head + start).rstrip(), *(" " * indent + other for other in others)]
            title = ""
        lines.append("")
    return lines[:-1]


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most this width; long words, such as structures, are broken."""
    import textwrap

    width = max(width, 12)
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
