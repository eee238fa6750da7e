"""The pictures, as matplotlib figures. They read in print and by colour-blind readers: shapes tell what colours tell.

Colours are Okabe and Ito's; values are on the viridis scale, which is ordered in grey too. Its yellow end is the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from likewise.errors import import_extra
from likewise.figures.data import Course, Expectations, LeftOut, Map, Matrix
from likewise.figures.labels import apart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY, DARK = "#0072B2", "#D55E00", "#8a8f98", "#22262b"
GRID = "#e4e7eb"
SIZE = (4.1, 3.1)
MAP_HEIGHT = 3.9
# By whether small values are good; yellow is the good end of either.
SCALES = {False: "viridis", True: "viridis_r"}
LEVELS = np.linspace(0.05, 0.95, 19)
# Inches from tip to tip of the mark of a suggestion.
MARK = 0.25
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5a6069",
    "axes.labelcolor": DARK,
    "text.color": DARK,
    "axes.titlesize": 11.0,
    "xtick.color": "#5a6069",
    "ytick.color": "#5a6069",
    "xtick.labelcolor": DARK,
    "ytick.labelcolor": DARK,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "svg.fonttype": "none",
    "figure.facecolor": "white",
    # Names of columns may hold dollar signs and underscores, and mean nothing by them.
    "text.parse_math": False,
    "text.usetex": False,
}


def matplotlib() -> Any:
    """The library that draws; a MissingExtra where there is none."""
    return import_extra("matplotlib", "drawing", "matplotlib", "plots")


@contextmanager
def draw(height: float = SIZE[1]) -> Iterator[tuple[Figure, Any]]:
    """A figure in the style of all, and its axes."""
    with matplotlib().rc_context(STYLE):
        from likewise.figures.picture import Picture

        figure = Picture(figsize=(SIZE[0], height), layout="constrained")
        yield figure, figure.add_subplot()


def progress(course: Course, upcoming: Expectations | None = None, name: str = "value") -> Figure:
    """Values in the order they were told, the best so far, and what is expected of the suggestions."""
    with draw() as (figure, axes):
        t = len(course.values)
        for begin in course.rounds[1:]:
            axes.axvline(begin + 0.5, color=GRID, lw=1.2, ls=(0, (4, 3)), zorder=0)
        axes.plot(np.arange(1, t + 1), course.values, "o", color=GREY, ms=4, mew=0, label="measured")
        axes.step(np.arange(1, t + 1), course.best, where="post", color=BLUE, lw=2, label="best so far")
        if upcoming is not None and len(upcoming.mean):
            x = t + 1 + np.arange(len(upcoming.mean)) + max(1.0, 0.02 * t)
            axes.errorbar(
                x, upcoming.mean, yerr=upcoming.reach, fmt="D", ms=5, mfc="white", mec=ORANGE, ecolor=ORANGE,
                elinewidth=1.2, label="suggested: expected, 95 %",
            )  # fmt: skip
        axes.set(xlabel="measurement", ylabel=name)
        whole_numbers(axes)
        legend(figure, axes)
    return figure


def predictions(check: LeftOut, name: str = "value") -> Figure:
    """Each measured value against what the others predict for it, with 95 % intervals."""
    with draw() as (figure, axes):
        inside = check.inside()
        below, above = np.maximum(check.mean - check.low, 0.0), np.maximum(check.high - check.mean, 0.0)
        for which, marker, colour, label in (
            (inside, "o", BLUE, "value inside its 95 % interval"),
            (~inside, "^", ORANGE, "value outside"),
        ):
            if which.any():
                axes.errorbar(
                    check.values[which], check.mean[which], yerr=(below[which], above[which]), fmt=marker, ms=5,
                    color=colour, ecolor=colour, elinewidth=0.9, alpha=0.75, mew=0, label=label,
                )  # fmt: skip
        low, high = float(check.values.min()), float(check.values.max())
        axes.plot([low, high], [low, high], color=DARK, lw=1, ls="--", label="equal")
        axes.set(xlabel=f"measured {name}", ylabel="predicted from the others")
        legend(figure, axes)
    return figure


def calibration(check: LeftOut) -> Figure:
    """How many values lie inside their intervals, against how many should, with what chance allows."""
    with draw() as (figure, axes):
        n, found = len(check.values), np.array([np.mean(check.inside(level)) for level in LEVELS])
        slack = ndtri(0.975) * np.sqrt(LEVELS * (1 - LEVELS) / max(n, 1))
        low, high = np.clip(LEVELS - slack, 0, 1), np.clip(LEVELS + slack, 0, 1)
        axes.fill_between(100 * LEVELS, 100 * low, 100 * high, color=GREY, alpha=0.25, lw=0, label="chance, 95 %")
        axes.plot([0, 100], [0, 100], color=DARK, lw=1, ls="--", label="as it should be")
        axes.plot(100 * LEVELS, 100 * found, "o-", color=BLUE, ms=4, lw=1.6, label="found")
        axes.set(xlim=(0, 100), ylim=(0, 100), xlabel="interval (%)", ylabel="values inside it (%)")
        legend(figure, axes)
    return figure


def object_map(shown: Map, name: str = "value", *, minimize: bool = False) -> Figure:
    """Objects in the plane: near ones are alike. Measured ones are coloured by value, suggestions are numbered.

    minimize: whether small values are the good ones; the good end of the scale is yellow.
    """
    with draw(height=MAP_HEIGHT) as (figure, axes):
        groups = shown.groups()
        others, measured = groups["others"], groups["measured"]
        if others:
            axes.scatter(*shown.points[others].T, s=7, c="#c3c8cf", lw=0, label="not measured", gid="others")
        if measured:
            drawn = axes.scatter(
                *shown.points[measured].T, s=34, c=shown.values[measured], cmap=SCALES[minimize], ec=DARK, lw=0.6,
                label="measured", gid="measured",
            )  # fmt: skip
            bar = figure.colorbar(drawn, ax=axes, shrink=0.85, pad=0.02)
            bar.set_label(f"{name} (yellow is good)")
            bar.outline.set_visible(False)
        axes.set(xticks=[], yticks=[])
        axes.margins(0.06)
        axes.spines[:].set_visible(False)
        if shown.picks:
            _draw_picks(axes, shown.points, shown.picks)
        legend(figure, axes)
    return figure


def _draw_picks(axes: Any, points: Matrix, picks: Sequence[int]) -> None:
    """Numbered marks for the suggestions, beside their points where these lie too close together to be read."""
    low, high = points.min(axis=0), points.max(axis=0)
    # Inches of the picture, roughly: the axes leave room for the legend and the scale of the values.
    inches = np.array([0.75 * SIZE[0], 0.85 * MAP_HEIGHT]) / np.maximum(high - low, 1e-12)
    spots = points[list(picks)]
    places = apart(spots * inches, MARK) / inches
    axes.plot(*np.stack([spots, places]).transpose(2, 0, 1), color=ORANGE, lw=0.9, zorder=2)
    axes.scatter(*spots.T, s=7, c=ORANGE, lw=0, zorder=2)
    axes.scatter(
        *places.T, s=130, c="white", marker="D", ec=ORANGE, lw=1.6, label="suggested", gid="suggested", zorder=3
    )
    for rank, place in enumerate(places, 1):
        axes.annotate(str(rank), place, ha="center", va="center_baseline", fontsize=7.5, color=DARK, zorder=4)


def weights(names: Sequence[str], shares: Sequence[float]) -> Figure:
    """How much each similarity counts in the committee."""
    order = np.argsort(-np.asarray(shares), kind="stable")
    with draw(height=0.7 + 0.42 * len(names)) as (figure, axes):
        places = np.arange(len(names))
        lengths = 100 * np.asarray(shares)[order]
        axes.barh(places, lengths, color=BLUE, height=0.55)
        for place, length in zip(places, lengths, strict=True):
            axes.text(length + 1.5, place, _percent(length), va="center", fontsize=9, color=DARK)
        axes.set_yticks(places, [_short(names[i]) for i in order])
        axes.invert_yaxis()
        axes.set(xlim=(0, 112), xticks=[0, 50, 100], xlabel="weight (%)")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
    return figure


def levels(
    labels: Sequence[str], expected: Expectations, name: str = "value", limits: tuple[float, float] | None = None
) -> Figure:
    """What is expected at each level of a factor, with 95 % intervals, from top to bottom; `limits` are the axis's."""
    with draw(height=0.75 + 0.27 * len(labels)) as (figure, axes):
        places = np.arange(len(labels))
        axes.errorbar(
            expected.mean,
            places,
            xerr=expected.reach,
            fmt="o",
            ms=6,
            color=BLUE,
            ecolor=BLUE,
            elinewidth=1.4,
            capsize=2.5,
        )
        axes.set_yticks(places, [_short(label, 26) for label in labels])
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set(xlabel=f"expected {name}, 95 % interval", **({} if limits is None else {"xlim": limits}))
        axes.tick_params(axis="y", length=0)
    return figure


def curve(
    at: Sequence[float],
    expected: Expectations,
    heading: str,
    name: str = "value",
    limits: tuple[float, float] | None = None,
) -> Figure:
    """What is expected along a factor that is a number, with a band of 95 %; `limits` are the axis's."""
    with draw(height=2.6) as (figure, axes):
        axes.fill_between(at, expected.low, expected.high, color=BLUE, alpha=0.18, lw=0)
        axes.plot(at, expected.mean, "o-", color=BLUE, ms=5, lw=1.8)
        axes.set(xlabel=heading, ylabel=f"expected {name}, 95 %", **({} if limits is None else {"ylim": limits}))
    return figure


def _percent(share: float) -> str:
    return "< 1 %" if 0 < share < 0.5 else f"{share:.0f} %"


def _short(text: str, width: int = 30) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def whole_numbers(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))


def legend(figure: Figure, axes: Any) -> None:
    """Above the picture, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside upper left", ncols=2, handlelength=1.4, columnspacing=1.2)
    for handle in legend.legend_handles:
        if handle is not None and hasattr(handle, "set_sizes"):
            handle.set_sizes([36.0])
