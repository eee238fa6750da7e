"""A run shows how far it is: in a terminal, and below the cell of a notebook."""

from __future__ import annotations

import io
import sys

import pytest

import likewise as lw
from likewise.run.loop import describe

RUN = (
    "import likewise as lw\nlw.maximize(lambda x: -((x - 0.7) ** 2), lw.Float(0, 1), lw.RBF(), {options}).value > -0.1"
)


def execute(*cells: str) -> list[list[dict]]:
    """The outputs of each cell, as a notebook keeps them."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_notebook_shows_a_bar_below_the_cell_and_keeps_it() -> None:
    shown, hidden = execute(RUN.format(options="budget=8"), RUN.format(options="budget=3, progress=False"))
    assert [output["output_type"] for output in shown] == ["display_data", "execute_result"]
    html = shown[0]["data"]["text/html"]
    assert '<progress value="8" max="8"' in html
    assert "8/8 best -" in html
    assert shown[0]["data"]["text/plain"].startswith("likewise 8/8 best -")
    assert [output["output_type"] for output in hidden] == ["execute_result"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_and_a_file_none(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        monkeypatch.setattr(sys, "stderr", stream)
        lw.maximize(ord, lw.Pool(list("abc")), lambda x, y: float(x == y), budget=2)
    assert "2/2" in terminal.getvalue()
    assert file.getvalue() == ""


def test_it_is_said_where_nothing_keeps_to_the_constraints() -> None:
    study = lw.Study(lw.Pool(list("ab")), constraints={"impurity": lw.AtMost(1.0)}, objectives={"yield": "maximize"})
    study.tell("a", {"yield": 3.0, "impurity": 2.0})
    assert describe(study) == "nothing keeps to the constraints yet"
