"""A diagnosis in words: a verdict in one plain sentence, warnings, and a table of fits as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from likewise.model.diagnosis import Fit

# So many different objects are needed before leaving out says anything.
ENOUGH = 8
# A rank correlation past this many of its standard errors, 1/√(n − 1), is not chance.
ERRORS = 2.0
CLEAR_SHARE, CLEAR_CORRELATION = 0.25, 0.5
# A share of values inside their intervals this many standard errors from what it should be is worth a warning.
CALIBRATION_ERRORS = 3.0
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


def verdict(spearman: float, explained: float, similarities: int, objects: int) -> str:
    """Whether the similarities are of use, from the committee's leave-one-out correlation and share explained.

    >>> verdict(0.81, 0.6, 1, 40)
    'this similarity explains the values: leave-one-out correlation 0.81 over 40 observations'
    """
    these = "this similarity" if similarities == 1 else "these similarities"
    s = "s" if similarities == 1 else ""
    if objects < ENOUGH:
        return f"{objects} observations are too few to say whether {these} explain{s} the values; tell {ENOUGH} or more"
    if np.isnan(explained):
        return "all values are equal, so that there is nothing to explain"
    found = f"leave-one-out correlation {spearman:.2f} over {objects} observations"
    chance = not spearman > ERRORS / np.sqrt(objects - 1)
    # With an outlier among the values the order may be right where the sum of squares is not.
    if chance or (explained <= 0 and spearman < CLEAR_CORRELATION):
        none = (
            "this similarity predicts no better" if similarities == 1 else "none of these similarities predicts better"
        )
        return f"{none} than the mean; suggestions are close to random exploration"
    if explained < CLEAR_SHARE and spearman < CLEAR_CORRELATION:
        return f"{these} explain{s} a little of the values: {found}"
    return f"{these} explain{s} the values: {found}"


def warnings(inside: Sequence[float], objects: int) -> tuple[str, ...]:
    """What is wrong with the intervals, if anything is.

    >>> warnings((0.5, 0.8, 0.6), 40)
    ('intervals are too narrow: 60 % of the values lie within their 95 % intervals',)
    """
    error = np.sqrt(0.95 * 0.05 / max(objects, 1))
    if objects < ENOUGH or inside[-1] >= 0.95 - CALIBRATION_ERRORS * error:
        return ()
    return (
        f"intervals are too narrow: {inside[-1]:.0%} of the values lie within their 95 % intervals".replace(
            "%", " %", 1
        ),
    )


def table(rows: Sequence[Fit], mean_rmse: float) -> str:
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
