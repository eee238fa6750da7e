"""The pictures, as matplotlib figures, of plain numbers, whoever computed them.

They read in print and by colour-blind readers: shapes tell what colours tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from likewise.errors import import_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What the pictures are handed: plain numbers, whoever computed them.

Vector = NDArray[np.float64]
DataMatrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Course:
    """Values in the order they were told, and the best so far; `rounds` are the places at which rounds begin."""

    values: Vector
    best: Vector
    rounds: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class Expectations:
    """Means of the suggestions, and the ends of their 95 % intervals, in order."""

    mean: Vector
    low: Vector
    high: Vector

    @property
    def reach(self) -> tuple[Vector, Vector]:
        """How far the interval goes below and above the mean, which a skewed distribution may have outside."""
        return np.maximum(self.mean - self.low, 0.0), np.maximum(self.high - self.mean, 0.0)


class LeftOutData(Protocol):
    """Measured values, and what the others predict for each: the mean and the ends of its 95 % interval."""

    @property
    def values(self) -> Vector: ...
    @property
    def mean(self) -> Vector: ...
    @property
    def low(self) -> Vector: ...
    @property
    def high(self) -> Vector: ...
    def inside(self, level: float = 0.95) -> NDArray[np.bool_]:
        """Which values lie in their central interval of this probability."""
        ...


@dataclass(frozen=True, eq=False)
class Map:
    """Objects in the plane, by their similarity alone; values are NaN where nothing was measured.

    `picks` are the places of the suggestions, in their order; `share` is the part of the similarity that two dimensions
    can show.
    """

    objects: list[Any]
    points: DataMatrix
    values: Vector
    picks: list[int]
    share: float

    def groups(self) -> dict[str, list[int]]:
        """The places of the objects that are drawn alike: measured, suggested, and the others."""
        measured = np.flatnonzero(~np.isnan(self.values)).tolist()
        drawn = {*measured, *self.picks}
        unmeasured = [place for place in range(len(self.values)) if place not in drawn]
        return {"others": unmeasured, "measured": measured, "suggested": self.picks}


@dataclass(frozen=True, eq=False)
class FrontData:
    """Objectives of measured objects, a row each, which of them are on the front and which keep to the limits.

    `mean`, `low` and `high` are what is expected of suggestions; `larger` says whether more of an objective is better.
    """

    names: Sequence[str]
    larger: Sequence[bool]
    values: DataMatrix
    best: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    mean: DataMatrix
    low: DataMatrix
    high: DataMatrix


@dataclass(frozen=True, eq=False)
class Volumes:
    """The hypervolume after each measurement; `rounds` are the places at which rounds begin."""

    values: Vector
    rounds: Sequence[int] = ()


# Marks that would cover each other, moved apart until each can be read.

STEPS = 400


def apart(points: DataMatrix, least: float) -> DataMatrix:
    """Places near the points, of which no two are closer than `least`; points that are far apart stay where they are.

    >>> np.round(apart(np.array([[0.0, 0.0], [0.2, 0.0], [9.0, 9.0]]), 1.0), 2).tolist()
    [[-0.4, 0.0], [0.6, 0.0], [9.0, 9.0]]
    """
    places = np.array(points, dtype=float)
    first, second = np.triu_indices(len(places), k=1)
    # Points at one spot are told apart by directions of their own.
    turns = 2.399963 * (first + 1.0) + second
    aside = np.column_stack([np.cos(turns), np.sin(turns)])
    for _ in range(STEPS):
        between = places[second] - places[first]
        distance = np.linalg.norm(between, axis=1)
        close = distance < least * (1 - 1e-6)
        if not close.any():
            break
        towards = np.where(distance[:, None] > 1e-9 * least, between / np.maximum(distance, 1e-300)[:, None], aside)
        push = (0.5 * np.maximum(least - distance, 0.0))[:, None] * towards
        np.add.at(places, second, push)
        np.add.at(places, first, -push)
    return places


# The pictures, as matplotlib figures. They read in print and by colour-blind readers: shapes tell what colours tell.
#
# Colours are Okabe and Ito's; values are on the viridis scale, which is ordered in grey too. Its yellow end is the
# best.

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


def predictions(check: LeftOutData, name: str = "value") -> Figure:
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


def calibration(check: LeftOutData) -> Figure:
    """How many values lie inside their intervals, against how many should, with what chance allows."""
    with draw() as (figure, axes):
        n, shares = len(check.values), np.array([np.mean(check.inside(level)) for level in LEVELS])
        slack = ndtri(0.975) * np.sqrt(LEVELS * (1 - LEVELS) / max(n, 1))
        low, high = np.clip(LEVELS - slack, 0, 1), np.clip(LEVELS + slack, 0, 1)
        axes.fill_between(100 * LEVELS, 100 * low, 100 * high, color=GREY, alpha=0.25, lw=0, label="chance, 95 %")
        axes.plot([0, 100], [0, 100], color=DARK, lw=1, ls="--", label="as it should be")
        axes.plot(100 * LEVELS, 100 * shares, "o-", color=BLUE, ms=4, lw=1.6, label="found")
        axes.set(xlim=(0, 100), ylim=(0, 100), xlabel="interval (%)", ylabel="values inside it (%)")
        legend(figure, axes)
    return figure


def object_map(shown: Map, name: str = "value", *, minimize: bool = False) -> Figure:
    """Objects in the plane: near ones are alike. Measured ones are coloured by value, suggestions are numbered.

    minimize: whether small values are the good ones; the good end of the scale is yellow.
    """
    with draw(height=MAP_HEIGHT) as (figure, axes):
        groups = shown.groups()
        unmeasured, measured = groups["others"], groups["measured"]
        if unmeasured:
            axes.scatter(*shown.points[unmeasured].T, s=7, c="#c3c8cf", lw=0, label="not measured", gid="others")
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


def _draw_picks(axes: Any, points: DataMatrix, picks: Sequence[int]) -> None:
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


# Pictures of several objectives: the trade-off between them, and how the front has grown.

WIDE = 3.6


def front(data: FrontData) -> Figure:
    """The trade-off: of two objectives in the plane, of more as lines across one axis for each."""
    return _plane(data) if len(data.names) == 2 else _lines(data)


def _plane(data: FrontData) -> Figure:
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


def _lines(data: FrontData) -> Figure:
    """Parallel coordinates: each axis from the worst value, below, to the best one, above."""
    with draw(WIDE) as (figure, axes):
        every = np.vstack([data.values, data.mean])
        ends = _ends(every, data.larger)
        places = np.arange(len(data.names))
        groups: tuple[tuple[DataMatrix, dict[str, Any]], ...] = (
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


def _ends(values: DataMatrix, larger: Any) -> tuple[Vector, Vector]:
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
