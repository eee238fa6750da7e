"""A slipped decimal in a table: said at once, asked for again, and settled by one more measurement."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

Run = Callable[..., Any]
Save = Callable[..., Path]
Rows = Callable[..., list[dict[str, str]]]


def _table() -> tuple[str, str]:
    """Twenty words with a yield, one of them mistyped, and candidates; and the mistyped word."""
    words = np.random.default_rng(0).permutation(["".join(w) for w in product("abcd", repeat=3)]).tolist()
    yields = [str(20 * w.count("a") + 7 * w.count("b")) if i < 20 else "" for i, w in enumerate(words)]
    yields[7] = "8971"
    return "word,yield\n" + "".join(f"{w},{y}\n" for w, y in zip(words, yields, strict=True)), words[7]


def test_a_suspect_is_named_by_its_row_and_asked_for_again(run: Run, save: Save, rows: Rows) -> None:
    text, word = _table()
    table = save(text)
    answer = run("suggest", table, "-n", 2, "--similarity", "hamming", "--out", "next.csv", "--json")
    assert answer.code == 0
    assert any(note.startswith(f"row 9: 8971 for '{word}'") for note in answer.data["notes"])
    assert "bad measurement" in answer.data["verdict"]
    assert answer.data["suggestions"][0]["object"] == word
    first, second = rows(Path("next.csv"))
    assert (first["word"], first["yield"], second["yield"]) == (word, "", "")

    results = save(f"word,yield\n{word},27\n", "results.csv")
    assert "another in" in run("tell", table, results).err
    assert run("tell", table, results, "--on-conflict", "add").code == 0
    again = run("suggest", table, "-n", 2, "--similarity", "hamming", "--json")
    assert word not in [s["object"] for s in again.data["suggestions"]]
    found = run("diagnose", table, "--similarity", "hamming", "--json").data
    assert [one["value"] for one in found["suspects"]] == [8971.0]


def test_a_far_result_is_remarked_on_when_it_is_told(run: Run, save: Save) -> None:
    text, _ = _table()
    table = save(text.replace("8971", "89"))
    candidate = next(line.split(",")[0] for line in text.splitlines() if line.endswith(","))
    answer = run("tell", table, save(f"word,yield\n{candidate},4500\n", "results.csv"))
    assert answer.code == 0
    assert f"4500 for {candidate} (row 2 of " in answer.err
    assert "correct it in the table" in answer.err
