"""Cells that a spreadsheet would run as formulas: an apostrophe before them on writing, taken away on reading."""

from __future__ import annotations

import re

# Cells that begin like this are run by spreadsheets; alone, the character does nothing.
RUNS = re.compile(r"'*[=+\-@\t\r\n].", re.DOTALL)
GUARDED = r"(?s)^'('*[=+\-@\t\r\n].)"
# Thousands may be set apart by these.
SPACES = "\u00a0\u2007\u202f\u2009 "
HARMLESS = re.compile(rf"[+\-]?[\d.,][\d.,'{SPACES}]*([eE][+\-]?\d+)?%?\Z")


def guard(text: str) -> str:
    """The text as it is written, so that no spreadsheet takes it for a formula; numbers stay as they are.

    >>> guard("=1+1"), guard("-1.5e-3"), guard("@home"), guard("-")
    ("'=1+1", '-1.5e-3', "'@home", '-')
    """
    return f"'{text}" if RUNS.match(text) and not HARMLESS.match(text) else text


def unguard(text: str) -> str:
    """The text that `guard` wrote.

    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and RUNS.match(text) else text
