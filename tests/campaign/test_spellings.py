"""One object in several spellings is one object, in every command, and the table keeps its own spelling."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.campaign.objects import fold_molecule, spellings, twins

Run = Callable[..., Any]
Save = Callable[..., Path]
Rows = Callable[..., list[dict[str, str]]]

MOLECULES = "smiles,yield\nCCO,1\nCCN,2\nc1ccccc1,9\nCCCO,4\nCC(=O)O,5\nCCCl,6\n"


def test_a_measured_molecule_is_not_suggested_in_another_spelling(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    table = save(MOLECULES + "C1=CC=CC=C1,\nOCCC,\nCCBr,\n")
    answer = run("suggest", table, "-n", 5, "--json")
    assert [each["object"] for each in answer.data["suggestions"]] == ["CCBr"]
    assert "'C1=CC=CC=C1' (row 8) as 'c1ccccc1'" in " ".join(answer.data["notes"])


def test_results_are_matched_by_the_molecule_and_the_table_keeps_its_spelling(run: Run, save: Save, rows: Rows) -> None:
    pytest.importorskip("rdkit")
    table = save(MOLECULES + "C1=CC=CC=C1C,\n")
    results = save("smiles,yield\nCc1ccccc1,7.5\n", "results.csv")
    assert run("tell", table, results).code == 0
    assert rows(table)[-1] == {"smiles": "C1=CC=CC=C1C", "yield": "7.5"}


def test_replicates_in_two_spellings_are_replicates(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    table = save(MOLECULES + "C1=CC=CC=C1,7\nCCBr,\n")
    answer = run("explain", table, "c1ccccc1", "--json")
    assert [each["value"] for each in answer.data["measurements"]] == [9.0, 7.0]


def test_a_ligand_is_one_in_capitals_and_with_blanks(run: Run, save: Save, rows: Rows) -> None:
    table = save(
        "ligand,temp,yield\nXPhos,80,10\nXPhos,60,12\nXphos,90,20\nxphos ,80,30\nSPhos,80,\nK₂CO₃,70,3\nK2CO3,60,1\n"
    )
    answer = run("suggest", table, "-o", "ligand", "-o", "temp", "--json")
    notes = " ".join(answer.data["notes"])
    assert "'Xphos' (row 4) as 'XPhos', 'xphos' (row 5) as 'XPhos'" in notes
    results = save("ligand,temp,yield\nsphos,80,55\n", "results.csv")
    assert run("tell", table, results, "-o", "ligand", "-o", "temp").code == 0
    assert [(row["ligand"], row["yield"]) for row in rows(table)][3:5] == [("xphos ", "30"), ("SPhos", "55")]
    apart = run("suggest", table, "-o", "ligand", "-o", "temp", "--text", "ligand", "--json")
    assert "several spellings" not in " ".join(apart.data["notes"])


def test_capitals_of_smiles_and_sequences_count(run: Run, save: Save) -> None:
    """Benzene is not cyclohexane."""
    assert spellings(["c1ccccc1", "C1CCCCC1", "CCO", "CCN"], "x").of(["c1ccccc1", "C1CCCCC1"]) == {}
    assert spellings(["ACGTT", "acgtt", "GGCAT"], "x").of(["acgtt"]) == {}


@settings(max_examples=40)
@given(
    st.sampled_from(["CC(=O)Oc1ccccc1C(=O)O", "CN1CCC[C@H]1c1cccnc1", "[O-][N+](=O)c1ccc(Cl)cc1", "O=C1CCC%12CC1C%12"])
)
def test_twins_are_found_in_any_spelling(smiles: str) -> None:
    """The letters by which most molecules are left unread are the same in every spelling of a molecule."""
    chem = pytest.importorskip("rdkit.Chem")
    molecule = chem.MolFromSmiles(smiles)
    kekule = chem.MolToSmiles(molecule, kekuleSmiles=True)
    spelled = [chem.MolToSmiles(molecule, doRandom=True) for _ in range(5)]
    spelled += [
        kekule,
        chem.MolToSmiles(molecule, allHsExplicit=True),
        chem.MolToSmiles(molecule, allBondsExplicit=True),
    ]
    others = [
        text for text in dict.fromkeys(spelled) if text != smiles and fold_molecule(text) == fold_molecule(smiles)
    ]
    assert twins([smiles], polars.Series(["CCO", *others])) == dict.fromkeys(others, smiles)
