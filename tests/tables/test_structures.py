"""Files of molecules as tables and as pools."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.errors import TableError
from likewise.tables.reading import read

Run = Callable[..., Any]
Save = Callable[..., Path]

SMI = "CCO ethanol\nCCN\tethyl amine\n\nc1ccccc1\n"


@pytest.mark.parametrize("text", [SMI, f"smiles name\n{SMI}", f"\ufeff{SMI}".replace("\n", "\r\n")])
def test_lines_of_smiles_with_names(save: Save, text: str) -> None:
    table = read(save(text, "library.smi"))
    assert table.frame["smiles"].to_list() == ["CCO", "CCN", "c1ccccc1"]
    assert table.frame["name"].to_list() == ["ethanol", "ethyl amine", None]


def test_a_gzipped_library_is_a_pool_and_a_table(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    path = save(gzip.compress(SMI.encode()), "library.smi.gz")
    assert list(lw.Pool(path).objects) == ["CCO", "CCN", "c1ccccc1"]
    answer = run("suggest", path, "-o", "smiles", "-v", "value", "-n", 2, "--json")
    assert answer.code == 0
    assert len(answer.data["suggestions"]) == 2


def test_drawn_molecules_have_their_properties(save: Save) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    blocks = []
    for smiles, name, cost in (("CCO", "ethanol", 1.5), ("c1ccccc1", "benzene", 2)):
        molecule = chem.MolFromSmiles(smiles)
        molecule.SetProp("_Name", name)
        blocks.append(f"{chem.MolToMolBlock(molecule)}> <cost>\n{cost}\n\n$$$$\n")
    blocks.insert(1, "rubbish\n\n\n  1  0  0\nM  END\n$$$$\n")
    table = read(save("".join(blocks), "library.sdf"))
    assert table.frame["smiles"].to_list() == ["CCO", "c1ccccc1"]
    assert table.frame["name"].to_list() == ["ethanol", "benzene"]
    assert table.frame["cost"].to_list() == ["1.5", "2"]
    assert "left out: number 2" in table.notes[0]


def test_files_without_molecules_are_refused(save: Save) -> None:
    with pytest.raises(TableError, match="holds no molecule"):
        read(save("smiles name\n", "a.smi"))


def test_a_campaign_on_a_library_has_a_table_of_its_own(run: Run, save: Save) -> None:
    pytest.importorskip("rdkit")
    path = save(SMI, "library.smi")
    refused = run("suggest", path, "--out", "next.csv")
    assert "likewise init" in " ".join(refused.err.split())
    assert path.read_text() == SMI
    assert run("init", path).code == 0
    assert run("suggest", "-n", 2).code == 0
    assert Path("library.csv").read_text().startswith("smiles,name,value")
    assert path.read_text() == SMI
