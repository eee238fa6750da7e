"""Molecules: canonical form, valid moves, and broken SMILES."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import selfies
from rdkit import Chem

from likewise.errors import MissingExtra, SpaceError
from likewise.spaces.molecules import Molecules

START = ["OCC", "c1ccccc1C(=O)NCC", "CC(=O)Oc1ccccc1C(=O)O", "C[C@H](N)C(=O)O"]


def tokens(smiles: str) -> int:
    return int(selfies.len_selfies(selfies.encoder(smiles)))


def test_the_same_molecule_is_the_same_object() -> None:
    space = Molecules(START)
    ways = ["CCO", "OCC", "C(O)C", "[CH3][CH2][OH]"]
    assert {space.fit(smiles) for smiles in ways} == {"CCO"}


def test_moves_are_other_canonical_molecules_and_keep_the_number_of_tokens() -> None:
    space = Molecules(START, max_tokens=20)
    rng = np.random.default_rng(0)
    for x in space.sample(4, rng):
        moves = space.moves(x, rng)
        assert len(moves) > 5
        assert x not in moves
        assert all(Chem.MolToSmiles(Chem.MolFromSmiles(y)) == y for y in moves)
        # Canonical SMILES may need some tokens more than the edited text did.
        assert np.mean([tokens(y) <= 20 for y in moves]) > 0.9


def test_samples_have_the_start_set_and_what_is_near_it() -> None:
    space = Molecules(START)
    drawn = set(space.sample(100, np.random.default_rng(0)))
    assert {space.fit(smiles) for smiles in START} <= drawn
    assert len(drawn) > 20


def test_new_molecules_are_made_of_the_alphabet() -> None:
    space = Molecules(["CCCC"], alphabet=["[C]", "[O]"])
    atoms = {
        a.GetSymbol() for x in space.sample(60, np.random.default_rng(0)) for a in Chem.MolFromSmiles(x).GetAtoms()
    }
    assert atoms == {"C", "O"}


def test_a_molecule_that_is_too_long_can_shrink() -> None:
    space = Molecules(["CCO"], max_tokens=5)
    moves = space.moves("C" * 12, np.random.default_rng(0))
    assert "C" * 11 in moves
    assert max(map(tokens, moves)) <= 12


def test_a_molecule_that_selfies_cannot_express_is_a_member_without_moves() -> None:
    space = Molecules(["CCO", "*CC"])
    assert "*CC" in space
    assert space.moves(space.fit("*CC"), np.random.default_rng(0)) == []
    assert len(space.sample(20, np.random.default_rng(0))) == 20


@pytest.mark.parametrize("x", ["C1CC", "C(C", "CX", "c1ccc1c", "C(C)(C)(C)(C)C", "", "not a molecule"])
def test_broken_smiles_are_named(x: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SpaceError, match="not a valid SMILES") as caught:
        Molecules(["CCO"]).fit(x)
    assert repr(x) in str(caught.value)
    assert capfd.readouterr().err == ""


def test_a_broken_start_molecule_is_named_with_its_row() -> None:
    with pytest.raises(SpaceError, match="start molecule 1: 'C1CC'"):
        Molecules(["CCO", "C1CC"])


@pytest.mark.parametrize("start", [[], "CCO"])
def test_a_start_set_is_a_list(start: Any) -> None:
    with pytest.raises(SpaceError, match="list of at least one SMILES"):
        Molecules(start)


def test_other_objects_are_refused() -> None:
    assert 5 not in Molecules(["CCO"])
    with pytest.raises(SpaceError, match="max_tokens"):
        Molecules(["CCO"], max_tokens=0)


@pytest.mark.parametrize("library", ["rdkit", "selfies"])
def test_without_its_libraries_the_extra_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"{library}.*likewise\[molecules\]"):
        Molecules(["CCO"]).sample(1, np.random.default_rng(0))
