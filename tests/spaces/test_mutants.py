"""Mutants: never more substitutions than allowed, every mutant within reach."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import SpaceError


@given(st.text("ACGT", min_size=1, max_size=5), st.integers(1, 4))
def test_the_size_is_the_number_of_members(parent: str, most: int) -> None:
    space = lw.Mutants(parent, most)
    assert space.size == sum("".join(x) in space for x in product("ACGT", repeat=len(parent)))


@given(st.integers(1, 4), st.integers(0, 999))
def test_samples_moves_and_children_have_few_substitutions(most: int, seed: int) -> None:
    space, rng = lw.Mutants("MKTAYIAKQR", most, positions=[0, 2, 3, 8]), np.random.default_rng(seed)
    x, other = space.sample(2, rng)
    for y in [x, other, *space.moves(x, rng), *(space.crossover(x, other, rng) for _ in range(5))]:
        changed = [i for i, (a, b) in enumerate(zip("MKTAYIAKQR", y, strict=True)) if a != b]
        assert len(changed) <= most
        assert set(changed) <= {0, 2, 3, 8}


def test_every_mutant_is_reached_by_moves() -> None:
    space, rng = lw.Mutants("ACG", 2), np.random.default_rng(0)
    met, new = {"ACG"}, {"ACG"}
    while new:
        new = {y for x in new for _ in range(5) for y in space.moves(x, rng)} - met
        met |= new
    assert len(met) == space.size


def test_a_study_climbs_to_the_best_mutant() -> None:
    parent, best = "MKTAYIAK", "MWTAYIWK"
    study = lw.Study(lw.Mutants(parent, 2), lw.Hamming(), seed=0)
    study.tell(parent, -2.0)
    for _ in range(6):
        for s in study.ask(4):
            study.tell(s, -float(sum(a != b for a, b in zip(s.object, best, strict=True))))
    assert study.best.value is not None
    assert study.best.value >= -1
    assert len(lw.Study(lw.Mutants(parent, 2), seed=0).ask(3)) == 3


def test_the_alphabet_is_that_of_the_parent() -> None:
    assert "".join(lw.Mutants("GATTACA").letters) == "ACGT"
    assert "".join(lw.Mutants("GAUUACA").letters) == "ACGU"
    assert len(lw.Mutants("GATTACA", alphabet="protein").letters) == 20
    assert lw.Mutants("MKTAYIAK").recognise(np.random.default_rng(0)).kind == "proteins"
    with pytest.raises(SpaceError, match="'X', which is in none of the alphabets dna, rna, protein; give alphabet"):
        lw.Mutants("MKXA")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.Mutants(""), "at least one letter"),
        (lambda: lw.Mutants(12), "the parent of Mutants is a string"),
        (lambda: lw.Mutants("ACGT", 0), "at least 1"),
        (lambda: lw.Mutants("ACGT", 1.5), "whole number"),
        (lambda: lw.Mutants("ACGT", positions=[4]), "places from 0 to 3"),
        (lambda: lw.Mutants("ACGT", positions=[]), "some places"),
        (lambda: lw.Mutants("ACGT", alphabet="A"), "at least two"),
        (lambda: lw.Mutants("ACGT", 1).fit("TTGT"), "2 substitutions, and at most 1"),
        (lambda: lw.Mutants("ACGT").fit("ACG"), "3 letters, and the parent has 4"),
        (lambda: lw.Mutants("ACGT").fit("ACGX"), "'X' at position 3, which is not in the alphabet"),
        (lambda: lw.Mutants("ACGT", positions=[0]).fit("ACGA"), "position 3, which is not one of the positions"),
    ],
)
def test_what_is_no_mutant_is_refused(make: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        make()
