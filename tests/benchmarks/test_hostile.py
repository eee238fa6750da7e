"""A slice of the random studies that `python -m benchmarks.calibration --studies 5000` asks for answers."""

from __future__ import annotations

import pytest
from benchmarks.calibration.hostile import attack


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_studies_have_an_answer(first: int) -> None:
    found = {seed: attack(seed, most=30) for seed in range(first, first + 20)}
    assert {seed: text for seed, text in found.items() if text is not None} == {}
