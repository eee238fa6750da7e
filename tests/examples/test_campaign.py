"""The campaign of `examples/campaign.py`: a few rounds of it always, the whole of it with the long tests."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "campaign.py"


@pytest.mark.parametrize("rounds", [3, pytest.param(6, marks=pytest.mark.soak)])
def test_a_campaign_in_a_workbook_loses_nothing(rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("openpyxl", "python_calamine", "xlsxwriter", "matplotlib"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    campaign = runpy.run_path(str(EXAMPLE))["play"](rounds)
    assert len(campaign.typed) == 4 * rounds
    assert len(list(Path().glob("coupling.xlsx.bak*"))) <= 6
