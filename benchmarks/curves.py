"""Curves of regret with their standard errors, one picture per task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import all_measures

SHOWN = ("likewise", "paper", "botorch", "optuna-gp", "optuna-tpe", "skopt", "ga", "random")


def draw(name: str, content: Mapping[str, Any], path: Path) -> None:
    """Mean regret after each evaluation, on a logarithmic scale."""
    import matplotlib

    matplotlib.use("svg")
    # The same results give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "likewise"
    from matplotlib import pyplot

    table = all_measures(content, SHOWN)
    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    for i, method in enumerate(shown for shown in SHOWN if shown in table):
        curves = table[method].curves
        mean, t = curves.mean(axis=0), np.arange(1, curves.shape[1] + 1)
        error = curves.std(axis=0, ddof=min(1, len(curves) - 1)) / np.sqrt(len(curves))
        axes.plot(t, mean, label=method, color=f"C{i}", linewidth=2.2 if method == "likewise" else 1.2)
        axes.fill_between(t, np.maximum(mean - error, 1e-7), mean + error, color=f"C{i}", alpha=0.15, linewidth=0)
    axes.axvline(content["task"]["initial"], color="grey", linewidth=0.6)
    axes.set(yscale="log", xlabel="evaluations", ylabel="regret", title=name)
    axes.legend(fontsize=7, frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
