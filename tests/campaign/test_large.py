"""Large pools of molecules: read once in several processes, with the same answer as at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.campaign import large
from likewise.campaign.console import Progress
from likewise.similarity.encodings import pieces

Run = Callable[..., Any]
Save = Callable[..., Path]

shares = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 100.0)), min_size=1, max_size=6)


@given(shares, st.floats(1.0, 100.0))
def test_what_is_kept_is_affordable_and_holds_the_weightiest(pairs: list[tuple[float, float]], seconds: float) -> None:
    weights, costs = [w for w, _ in pairs], [c for _, c in pairs]
    kept = large.affordable(weights, costs, seconds)
    assert int(np.argmax(weights)) in kept
    if len(kept) > 1:
        assert sum(costs[k] for k in kept) <= seconds
    spent = sum(costs[k] for k in kept)
    left = [k for k in range(len(pairs)) if k not in kept and weights[k] >= large.LEAST]
    assert all(spent + costs[k] > seconds for k in left)


def molecules(count: int) -> list[str]:
    tails = ["O", "N", "C#N", "C(=O)O", "c1ccccc1", "F"]
    return [f"C{'C' * (i // 6 % 20)}{'(C)' if i // 120 % 2 else ''}C{tails[i % 6]}" for i in range(count)]


def test_a_pool_that_is_read_ahead_gives_the_same_answer(run: Run, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    lines = [f"{smiles},{len(smiles) + i % 3 if i % 12 == 0 else ''}" for i, smiles in enumerate(molecules(240))]
    table = save("\n".join(["smiles,y", *lines]))
    command = ("suggest", table, "-n", 4, "-s", "tanimoto,tanimoto_counts", "--json")
    plain = run(*command).data["suggestions"]
    monkeypatch.setattr(large, "LARGE", 100)
    monkeypatch.setattr(pieces, "PIECE", 64)
    monkeypatch.setattr(pieces, "cores", lambda: 1)
    ahead = run(*command).data["suggestions"]
    assert [s["object"] for s in ahead] == [s["object"] for s in plain]
    assert [s["mean"] for s in ahead] == pytest.approx([s["mean"] for s in plain])
    monkeypatch.setattr(large, "SECONDS", 0.0)
    answer = run("suggest", table, "-n", 1)
    assert answer.code == 0


def test_processes_read_what_one_would(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit")
    from likewise.similarity.kinds.molecules import Tanimoto, TanimotoCounts

    objects = list(dict.fromkeys(molecules(200)))
    monkeypatch.setattr(pieces, "PIECE", 50)
    similarities = [Tanimoto(), TanimotoCounts()]
    monkeypatch.setattr(pieces, "cores", lambda: 2)
    made = large.encoded(similarities, objects, Progress())
    for similarity, ready in zip(similarities, made, strict=True):
        encoded = similarity.encode(objects)
        assert np.allclose(ready.between(ready.encode(objects), ready.encode(objects[:7])),
                           similarity.between(encoded, similarity.encode(objects[:7])))  # fmt: skip
        others = ["CCOCC", objects[3]]
        assert np.allclose(ready.between(ready.encode(others), ready.encode(others)),
                           similarity.between(similarity.encode(others), similarity.encode(others)))  # fmt: skip


def test_a_broken_molecule_in_a_large_pool_is_named_by_its_row(
    run: Run, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rdkit")
    lines = [f"{smiles},{len(smiles) if i % 12 == 0 else ''}" for i, smiles in enumerate(molecules(240))]
    lines[200] = "C1CC,"
    table = save("\n".join(["smiles,y", *lines]))
    monkeypatch.setattr(large, "LARGE", 100)
    monkeypatch.setattr(pieces, "cores", lambda: 1)
    answer = run("suggest", table, "-s", "tanimoto")
    assert answer.code == 1
    assert "row 202" in answer.err
    assert run("suggest", table, "-s", "tanimoto", "--skip-bad").code == 0
