"""Pictures of several objectives: the trade-off between them, and how the front has grown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.figures.data import Front, Matrix, Vector, Volumes
from likewise.figures.figures import BLUE, DARK, GREY, GRID, ORANGE, draw, legend, whole_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE = 3.6


def front(data: Front) -> Figure:
    """The trade-off: of two objectives in the plane, of more as lines across one axis for each."""
    return _plane(data) if len(data.names) == 2 else _lines(data)


def _plane(data: Front) -> Figure:
    with draw(WIDE) as (figure, axes):
        (x, y), (right, up) = data.values.T, data.larger
        outside, rest = ~data.kept, data.kept & ~data.best
        if outside.any():
            axes.plot(x[outside], y[outside], "x", color=GREY, ms=5, label="outside the limits")
        axes.plot(x[rest], y[rest], "o", color=GREY, ms=4, mew=0, label="measured")
        order = np.argsort(x[data.best])
        # The line goes along what the points of the front dominate.
        steps = "steps-pre" if right else "steps-post"
        axes.plot(
            x[data.best][order], y[data.best][order], "s-", color=BLUE, ms=5, lw=1.6, drawstyle=steps, label="front"
        )
        if len(data.mean):
            below, above = np.maximum(data.mean - data.low, 0), np.maximum(data.high - data.mean, 0)
            axes.errorbar(
                *data.mean.T, xerr=(below[:, 0], above[:, 0]), yerr=(below[:, 1], above[:, 1]), fmt="D", ms=5,
                mfc="white", mec=ORANGE, ecolor=ORANGE, elinewidth=0.9, alpha=0.9, label="suggested (95 %)",
            )  # fmt: skip
        good = ("less is better", "more is better")
        axes.set(xlabel=f"{data.names[0]} ({good[right]})", ylabel=f"{data.names[1]} ({good[up]})")
        legend(figure, axes)
    return figure


def _lines(data: Front) -> Figure:
    """Parallel coordinates: each axis from the worst value, below, to the best one, above."""
    with draw(WIDE) as (figure, axes):
        every = np.vstack([data.values, data.mean])
        ends = _ends(every, data.larger)
        places = np.arange(len(data.names))
        groups: tuple[tuple[Matrix, dict[str, Any]], ...] = (
            (data.values[~data.best], {"color": GREY, "lw": 0.8, "alpha": 0.6, "label": "measured"}),
            (data.values[data.best], {"color": BLUE, "lw": 1.6, "label": "front"}),
            (data.mean, {"color": ORANGE, "lw": 1.4, "ls": "--", "label": "suggested: expected"}),
        )
        for rows, style in groups:
            for row in rows:
                axes.plot(places, (row - ends[0]) / (ends[1] - ends[0]), **style)
                style.pop("label", None)
        for place, low, high in zip(places, *ends, strict=True):
            # No longer than the values go, so that the numbers at its ends can be read.
            axes.vlines(place, 0.0, 1.0, color=DARK, lw=0.8)
            axes.annotate(f"{high:.4g}", (place, 1.02), ha="center", va="bottom", fontsize=8)
            axes.annotate(f"{low:.4g}", (place, -0.02), ha="center", va="top", fontsize=8)
        axes.set(xticks=places, yticks=[], ylim=(-0.12, 1.12), ylabel="better upwards")
        axes.spines["bottom"].set_visible(False)
        axes.spines["left"].set_visible(False)
        axes.tick_params(bottom=False)
        axes.set_xticklabels(data.names, fontsize=8)
        axes.grid(visible=False)
        legend(figure, axes)
    return figure


def _ends(values: Matrix, larger: Any) -> tuple[Vector, Vector]:
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    worst, best = np.where(larger, low, high), np.where(larger, high, low)
    return worst, np.where(best == worst, worst + 1.0, best)


def hypervolume(data: Volumes) -> Figure:
    """How much the front dominates, after each measurement."""
    with draw() as (figure, axes):
        for begin in data.rounds[1:]:
            axes.axvline(begin + 0.5, color=GRID, lw=1.2, ls=(0, (4, 3)), zorder=0)
        axes.step(np.arange(1, len(data.values) + 1), data.values, where="post", color=BLUE, lw=2)
        axes.set(xlabel="measurement", ylabel="hypervolume of the front")
        axes.set_ylim(bottom=0)
        whole_numbers(axes)
    return figure
