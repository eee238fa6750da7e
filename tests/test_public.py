"""The stub lists the public names once: they load from where it says, and type checkers know them."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import likewise as lw

ROOT = Path(__file__).parents[1]
CHECKED = """
import likewise as lw
import likewise.similarity.kinds.strings

def alike(x: str, y: str) -> float:
    return 1.0

lw.Study(lw.Pool(["a"]), foo=3)
lw.Study(lw.Pool(["a"]), [lw.Hamming(), alike, lambda x, y: 1.0])
reveal_type(lw.maximize)
reveal_type(lw.from_function(alike))
reveal_type(lw.from_function(alike) + alike)
lw.Parts(a=alike, b=lw.Indel() + alike)
lw.MeanEmbedding(alike), lw.ReverseComplement(alike), lw.warped(alike, 2)
lw.nothing
"""


def test_the_stub_names_each_public_name_and_its_home() -> None:
    stub = ast.parse((ROOT / "src" / "likewise" / "__init__.pyi").read_text())
    listed = {
        name.asname: (line.module, name.name)
        for line in stub.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
        if name.asname
    }
    assert sorted(listed) == sorted(set(lw.__all__) - {"__version__", "similarity"})
    for public, (home, name) in listed.items():
        assert public == name
        assert home == getattr(lw, public).__module__
        assert getattr(lw, public) is getattr(import_module(home), name)


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lw.nothing


@pytest.mark.soak
def test_type_checkers_know_the_public_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(CHECKED)
    monkeypatch.chdir(ROOT)
    said, _, _ = api.run([str(program)])
    errors = [line for line in said.splitlines() if " error: " in line]
    assert len(errors) == 2, said
    assert 'Unexpected keyword argument "foo" for "Study"' in errors[0]
    assert 'has no attribute "nothing"' in errors[1]
    maximize, wrapped, added = (line for line in said.splitlines() if "Revealed type" in line)
    assert "-> likewise.run.optimize.Result" in maximize
    assert all("likewise.similarity.base.Similarity" in line for line in (wrapped, added))
