"""Large pools of molecules in a table: encoded in pieces, with the same answer as at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from likewise.similarity import auto, parallel

Run = Callable[..., Any]
Save = Callable[..., Path]


def molecules(count: int) -> list[str]:
    tails = ["O", "N", "C#N", "C(=O)O", "c1ccccc1", "F"]
    return [f"C{'C' * (i // 6 % 20)}{'(C)' if i // 120 % 2 else ''}C{tails[i % 6]}" for i in range(count)]


def test_a_pool_in_pieces_gives_the_same_answer(run: Run, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    lines = [f"{smiles},{len(smiles) + i % 3 if i % 12 == 0 else ''}" for i, smiles in enumerate(molecules(240))]
    table = save("\n".join(["smiles,y", *lines]))
    command = ("suggest", table, "-n", 4, "-s", "tanimoto,tanimoto_counts", "--json")
    plain = run(*command).data["suggestions"]
    monkeypatch.setattr(parallel, "PIECE", 64)
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    ahead = run(*command).data["suggestions"]
    assert [s["object"] for s in ahead] == [s["object"] for s in plain]
    assert [s["mean"] for s in ahead] == pytest.approx([s["mean"] for s in plain])


def test_what_takes_too_long_is_left_out_and_named(run: Run, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    lines = [f"{smiles},{len(smiles) + i % 3 if i % 12 == 0 else ''}" for i, smiles in enumerate(molecules(240))]
    table = save("\n".join(["smiles,y", *lines]))
    monkeypatch.setattr(auto, "SECONDS", 0.0)
    answer = run("suggest", table, "-n", 1)
    assert answer.code == 0
    assert "is left out: comparing" in answer.err


def test_a_broken_molecule_in_a_large_pool_is_named_by_its_row(
    run: Run, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rdkit")
    lines = [f"{smiles},{len(smiles) if i % 12 == 0 else ''}" for i, smiles in enumerate(molecules(240))]
    lines[200] = "C1CC,"
    table = save("\n".join(["smiles,y", *lines]))
    monkeypatch.setattr(parallel, "PIECE", 64)
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    answer = run("suggest", table, "-s", "tanimoto")
    assert answer.code == 1
    assert "row 202" in answer.err
    assert run("suggest", table, "-s", "tanimoto", "--skip-bad").code == 0
