"""The words of a condition: numbers, names, texts in quotes and signs, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from likewise.errors import SpaceError

# Whoever needs more writes a function.
LONGEST = 2_000
SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "==": "=", "<>": "!=", "−": "-", "·": "*"}
TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | (?P<text>'[^']*'|"[^"]*")
  | (?P<quoted>`[^`]+`)
  | (?P<name>[^\W\d]\w*)
  | (?P<sign><=|>=|!=|<>|==|[-+*/()<>=\[\],≤≥≠−·])
    )""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A word of a kind (number, text, name, sign or end), and where it begins."""

    kind: str
    text: str
    at: int


def tokens(condition: str) -> Iterator[Token]:
    """The words of a condition, and its end.

    >>> [t.text for t in tokens("cost <= 20")]
    ['cost', '<=', '20', '']
    """
    if len(condition) > LONGEST:
        raise SpaceError(f"a condition has at most {LONGEST} characters, and this one {len(condition)}; use a function")
    at, end = 0, len(condition.rstrip())
    while at < end:
        found = TOKEN.match(condition, at)
        if found is None:
            start = at + len(condition[at:]) - len(condition[at:].lstrip())
            raise fault(condition, start, _unreadable(condition[start]))
        kind, text = str(found.lastgroup), found[str(found.lastgroup)]
        begin = found.start(str(found.lastgroup))
        at = found.end()
        if kind == "quoted":
            kind, text = "name", text[1:-1]
        elif kind == "text":
            text = text[1:-1]
        elif kind == "name" and text.lower() in ("and", "or", "not", "in"):
            kind, text = "sign", text.lower()
        yield Token(kind, SIGNS.get(text, text) if kind == "sign" else text, begin)
    yield Token("end", "", end)


def _unreadable(letter: str) -> str:
    if letter in "'\"`":
        return f"the quote {letter} is not closed"
    if letter.isdigit():
        return "this is no number; put names that begin with a digit between `…`, as in `2nd base`"
    return f"{letter!r} means nothing here; put names with such signs between `…`, as in `cost (EUR)`"


def fault(condition: str, at: int, what: str) -> SpaceError:
    """The error about a place in a condition, which is counted from 1."""
    return SpaceError(f"the condition {condition!r} cannot be read at position {at + 1}: {what}")
