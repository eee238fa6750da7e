"""A slipped decimal in a table: named by its row, and corrected or withdrawn in the table."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

Run = Callable[..., Any]
Save = Callable[..., Path]


def _table(slip: str = "8971", **columns: str) -> tuple[str, str]:
    """Twenty words with a yield, one of them mistyped, and candidates; and the mistyped word."""
    words = np.random.default_rng(0).permutation(["".join(w) for w in product("abcd", repeat=3)]).tolist()
    yields = [str(20 * w.count("a") + 7 * w.count("b")) if i < 20 else "" for i, w in enumerate(words)]
    yields[7] = slip
    return "word,yield\n" + "".join(f"{w},{y}\n" for w, y in zip(words, yields, strict=True)), words[7]


def test_a_far_value_is_named_by_its_row_and_counts(run: Run, save: Save) -> None:
    text, word = _table()
    table = save(text)
    answer = run(
        "suggest", table, "-n", 2, "--similarity", "hamming", "--out", "next.csv", "--json", "--report", "r.html"
    )
    assert answer.code == 0
    note = next(note for note in answer.data["notes"] if note.startswith(f"row 9: 8971 for '{word}'"))
    assert "withdrawn" in note
    assert "far from all other values" in Path("r.html").read_text()
    assert answer.data["best"]["value"] == 8971.0
    assert word not in [s["object"] for s in answer.data["suggestions"]]
    found = run("diagnose", table, "--similarity", "hamming", "--json").data
    assert [one["value"] for one in found["suspects"]] == [8971.0]


def test_a_slip_is_corrected_or_withdrawn_in_the_table(run: Run, save: Save) -> None:
    right, _ = _table("27")
    wrong, word = _table()
    withdrawn = "".join(
        f"{line},{'status' if i == 0 else 'withdrawn' if word in line else ''}\n"
        for i, line in enumerate(wrong.splitlines())
    )
    for text in (right, withdrawn):
        answer = run(
            "suggest", save(text), "-n", 2, "--similarity", "hamming", "--json", "--out", "next.csv", "--force"
        )
        assert answer.code == 0
        assert not any("far from" in note for note in answer.data["notes"])
        assert answer.data["best"]["value"] < 100.0


def test_a_far_result_is_remarked_on_when_it_is_told(run: Run, save: Save) -> None:
    text, _ = _table("89")
    table = save(text)
    candidate = next(line.split(",")[0] for line in text.splitlines() if line.endswith(","))
    results = save(f"word,yield\n{candidate},4500\n", "results.csv")
    answer = run("tell", table, results)
    assert answer.code == 0
    assert f": 4500 for '{candidate}'" in answer.err
    assert "Correct a slip in its cell" in answer.err
