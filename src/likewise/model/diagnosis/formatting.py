"""Tables of fits as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from likewise.model.diagnosis.diagnosis import Fit

LONGEST_NAME = 48
DONE = {"as_is": "kept", "clip": "clipped", "flip": "flipped", "shift": "shifted", "square": "squared"}
HEADER = (
    "similarity",
    "weight",
    "RMSE",
    "explained",
    "rank corr.",
    "log density",
    "in 50 %",
    "80 %",
    "95 %",
    "negative",
)


def fits(rows: Sequence[Fit], mean_rmse: float) -> str:
    """One line for each fit, and one for predicting the mean, in aligned columns."""
    lines = [HEADER, *map(_cells, rows), ("the mean", "", f"{mean_rmse:.4g}", "0 %", *[""] * 6)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADER))]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
        ).rstrip()
        for line in lines
    )


def _cells(fit: Fit) -> tuple[str, ...]:
    return (
        shortened(fit.name),
        _percent(fit.weight),
        f"{fit.rmse:.4g}",
        _percent(fit.explained),
        _number(fit.spearman),
        _number(fit.log_density),
        *map(_percent, fit.inside),
        f"{_percent(fit.negative)} {DONE[fit.treatment]}" if fit.negative > 0 else "none",
    )


def shortened(name: str) -> str:
    """A name that fits its column.

    >>> shortened("x" * 60)[-3:]
    'xx…'
    """
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100.0 * share:.0f} %"


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"
