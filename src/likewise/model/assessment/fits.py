"""How well one similarity, or a committee, predicts: the numbers, and a table of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LONGEST_NAME = 48
DONE = {
    "krein": "set apart",
    "as_is": "kept",
    "clip": "clipped",
    "flip": "flipped",
}
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


@dataclass(frozen=True)
class Fit:
    """How well one similarity, or the committee, predicts values it has not seen.

    `rmse` is on the user's scale, `explained` the share of the variance about the mean that it takes away, `spearman`
    the rank correlation of predictions and values, `log_density` the mean log predictive density, `inside` the share
    of values within their 50, 80 and 95 % intervals, `negative` the negative share of the spectrum, which `treatment`
    was applied to, and `weight` the share of the votes.
    """

    name: str
    rmse: float
    explained: float
    spearman: float
    log_density: float
    inside: tuple[float, float, float]
    negative: float
    treatment: str
    weight: float


def table(rows: Sequence[Fit], mean_rmse: float) -> str:
    """One line for each fit, and one for predicting the mean, in aligned columns."""
    lines = [HEADER, *map(cells, rows), ("the mean", "", f"{mean_rmse:.4g}", "0 %", *[""] * 6)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(HEADER))]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
        ).rstrip()
        for line in lines
    )


def cells(fit: Fit) -> tuple[str, ...]:
    """The row of a fit under `HEADER`."""
    return (
        shorten(fit.name),
        _percent(fit.weight),
        f"{fit.rmse:.4g}",
        _percent(fit.explained),
        _number(fit.spearman),
        _number(fit.log_density),
        *map(_percent, fit.inside),
        f"{_percent(fit.negative)} {DONE[fit.treatment]}" if fit.negative > 0 else "none",
    )


def shorten(name: str) -> str:
    """A name that fits its column.

    >>> shorten("x" * 60)[-3:]
    'xx…'
    """
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100.0 * share:.0f} %"


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"
