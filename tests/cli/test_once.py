"""One question is one piece of work: `suggest` fits its committee once and encodes each candidate once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from likewise.model import diagnosis, model
from likewise.similarity.kinds.strings import Hamming

Run = Callable[..., Any]


def test_the_committee_is_fitted_once(run: Run, words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    fits: list[int] = []

    def count(fit: Callable[..., Any]) -> Callable[..., Any]:
        def counted(grams: Any, *arguments: Any, **options: Any) -> Any:
            fits.append(len(grams))
            return fit(grams, *arguments, **options)

        return counted

    for module in (model, diagnosis):
        monkeypatch.setattr(module, "fit", count(module.fit))
    command = ("suggest", words, "-n", 3, "-o", "word", "-s", "hamming,ngrams(2)")
    assert run(*command, "--report", "r.html", "--out", "next.csv").code == 0
    assert fits == [2]


def test_candidates_are_encoded_once(run: Run, words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[str] = Counter()
    encode = Hamming.encode

    def counted(self: Any, objects: Any) -> Any:
        seen.update(objects)
        return encode(self, objects)

    monkeypatch.setattr(Hamming, "encode", counted)
    answer = run("suggest", words, "-n", 3, "-o", "word", "-s", "hamming", "--json").data
    picks = {s["object"] for s in answer["suggestions"]}
    candidates = [line.split(",")[1] for line in words.read_text().splitlines()[1:] if line.endswith(",")]
    # Hamming and Hamming as given share their encodings; whether they may, the first two objects say.
    first = [line.split(",")[1] for line in words.read_text().splitlines()[1:3]]
    assert {seen[word] for word in candidates if word not in [*picks, *first]} == {1}
