"""The pictures of docs/experiments.md: those of the notebook, and curves of regret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "paper.ipynb"
# By the names that the notebook gives them.
PICTURES = ("trajectories", "projection", "strategies", "regret")
BLACK, BLUE, SKY, GREEN, ORANGE, YELLOW, PURPLE, GREY = (
    "#000000", "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#E69F00", "#CC79A7", "#999999",
)  # fmt: skip
LOOKS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "distributions": {
        "likewise": (BLACK, "-"),
        "paper-const-1": (PURPLE, "-"),
        "paper-const-2": (PURPLE, "--"),
        "paper-exp-1": (GREEN, "-"),
        "paper-exp-2": (GREEN, "--"),
        "airbo-like": (YELLOW, "-."),
        "gp-ucb": (SKY, "--"),
        "botorch": (BLUE, "-"),
        "random": (GREY, ":"),
    },
    "families": {
        "likewise": (BLACK, "-"),
        "paper-const-1": (PURPLE, "-"),
        "paper-const-2": (PURPLE, "--"),
        "paper-exp-1": (GREEN, "-"),
        "paper-exp-2": (GREEN, "--"),
        "gp-ucb": (SKY, "--"),
        "botorch": (BLUE, "-"),
        "random": (GREY, ":"),
    },
    "batches": {
        "likewise": (BLACK, "-"),
        "paper-1": (PURPLE, "-"),
        "paper-2": (PURPLE, "--"),
        "paper-1-std": (GREEN, "-"),
        "paper-2-std": (GREEN, "--"),
        "turbo-1": (ORANGE, "-."),
        "botorch-qucb": (SKY, "--"),
        "botorch-qlogei": (BLUE, "-"),
        "random": (GREY, ":"),
    },
    "similarity": {
        "likewise-given": (BLACK, "-"),
        "paper": (PURPLE, "-"),
        "paper-std": (PURPLE, "--"),
        "cego-clip": (BLUE, "--"),
        "cego-flip": (ORANGE, "-."),
        "random": (GREY, ":"),
    },
}


def run_notebook(changed: Mapping[str, str] = MappingProxyType({}), path: Path = NOTEBOOK) -> dict[str, Any]:
    """All names of the notebook after its last cell; `changed` puts texts in place of others, to make it short."""
    import matplotlib

    matplotlib.use("agg")
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"]).replace("plt.show()", "") if cell["cell_type"] == "code" else ""
        for old, new in changed.items():
            text = text.replace(old, new)
        exec(compile(text, path.name, "exec"), names)
    return names


def draw_notebook(folder: Path) -> None:
    """The notebook's pictures, as files of their names."""
    from matplotlib import pyplot

    names = run_notebook()
    for name in PICTURES:
        names[name].savefig(folder / f"{name}.png", dpi=80)
        pyplot.close(names[name])
