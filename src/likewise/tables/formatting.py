"""Cells and numbers as text."""

from __future__ import annotations

import json
from typing import Any

from likewise.tables.cells import Decimal


def cell_text(cell: Any) -> str:
    """A cell of any type as text.

    >>> import datetime
    >>> cell_text(12345678901234567), cell_text([0.5, 1]), cell_text(datetime.date(2026, 1, 31)), cell_text(True)
    ('12345678901234567', '[0.5, 1]', '2026-01-31', 'true')
    """
    if isinstance(cell, bool | list | dict):
        return json.dumps(cell, default=str)
    return number_text(cell) if isinstance(cell, float) else str(cell)


def number_text(value: float, decimal: Decimal = ".", digits: int = 17) -> str:
    """A number as text, with as many digits as it takes, or as are asked for.

    >>> number_text(0.1), number_text(1234.5678, ",", 6), number_text(3.0)
    ('0.1', '1234,57', '3')
    """
    if isinstance(value, int):
        return str(value)
    text = repr(float(value)) if digits >= 17 else f"{value:.{digits}g}"
    return text.removesuffix(".0").replace(".", decimal)
