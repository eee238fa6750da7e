"""Curves of regret with their standard errors, one small panel per task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.measures import Measures

# Okabe and Ito's colours, which colour-blind readers can tell apart; dashes help in print.
LOOKS = {
    "likewise": ("#000000", "-"),
    "likewise-sequential": ("#0072B2", "--"),
    "likewise-twostage": ("#CC79A7", "-"),
    "likewise-topscore": ("#009E73", ":"),
    "paper": ("#CC79A7", "--"),
    "botorch": ("#0072B2", "-"),
    "optuna-gp": ("#56B4E9", "--"),
    "optuna-tpe": ("#D55E00", "-"),
    "skopt": ("#E69F00", "--"),
    "ga": ("#009E73", "-."),
    "random": ("#999999", ":"),
}
LEAST, ACROSS = 1e-6, 3


def draw(
    contents: Mapping[str, Mapping[str, Any]],
    tables: Mapping[str, Mapping[str, Measures]],
    path: Path,
    looks: Mapping[str, tuple[str, str]] = MappingProxyType(LOOKS),
) -> None:
    """Mean regret after each evaluation, on a logarithmic scale, a panel for each task.

    `looks` has the colour and the dashes of each method that is drawn; the first one's line is thick.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    down = -(-len(contents) // ACROSS)
    figure, axes = pyplot.subplots(down, ACROSS, figsize=(9.5, 2.5 * down + 0.4), layout="constrained", squeeze=False)
    for panel in axes.flat[len(contents) :]:
        panel.set_axis_off()
    for panel, (name, content) in zip(axes.flat, contents.items(), strict=False):
        _panel(panel, name, tables[name], content["task"]["initial"], looks)
    handles = {label: line for a in axes.flat for line, label in zip(*a.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=8, fontsize=8, frameon=False)
    figure.savefig(path, dpi=80)
    pyplot.close(figure)


def _panel(
    axes: Any, name: str, table: Mapping[str, Measures], initial: int, looks: Mapping[str, tuple[str, str]]
) -> None:
    first = next(iter(looks))
    for method, (colour, dash) in looks.items():
        if method not in table:
            continue
        curves = table[method].curves
        mean, t = np.maximum(curves.mean(axis=0), LEAST), np.arange(1, curves.shape[1] + 1)
        error = curves.std(axis=0, ddof=min(1, len(curves) - 1)) / np.sqrt(len(curves))
        width = 2.0 if method == first else 1.1
        axes.plot(t, mean, dash, label=method, color=colour, linewidth=width)
        axes.fill_between(t, np.maximum(mean - error, LEAST), mean + error, color=colour, alpha=0.12, linewidth=0)
    axes.axvline(initial, color="#BBBBBB", linewidth=0.6)
    axes.set(yscale="log", xlabel="evaluations", ylabel="regret")
    axes.set_title(name, fontsize=9)
    axes.tick_params(which="both", labelsize=7)
