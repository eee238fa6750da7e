"""Reactions by what they make, break and are helped by."""

from __future__ import annotations

import numpy as np
import pytest

import likewise as lw
from likewise.errors import SimilarityError
from likewise.similarity.auto import recognise
from likewise.similarity.kinds.molecules import canonical_reaction

pytest.importorskip("rdkit")

REACTIONS = [
    "CCO>[Pd]>CC=O",
    "CCCO>[Pd]>CCC=O",
    "CCO>[Cu]>CC=O",
    "CC=O>>CCO",
    "c1ccccc1Br.OB(O)c1ccccc1>[Pd].CCO>c1ccc(-c2ccccc2)cc1",
]


def test_scores_are_a_kernel_of_normalised_scores() -> None:
    similarity = lw.Reactions()
    a = similarity.encode(REACTIONS)
    scores = similarity.between(a, a)
    assert np.allclose(scores, scores.T)
    assert np.allclose(np.diag(scores), 1.0)
    assert np.linalg.eigvalsh(scores).min() > -1e-9


def test_agents_count_unless_they_are_left_out_and_direction_does() -> None:
    assert lw.Reactions()(REACTIONS[0], REACTIONS[2]) < 1.0
    assert lw.Reactions(agents=False)(REACTIONS[0], REACTIONS[2]) == 1.0
    assert lw.Reactions(agents=False)("CCO>>CC=O", "CC=O>>CCO") == 0.0


def test_the_order_of_molecules_and_their_spelling_do_not_count() -> None:
    one, other = "OCC.Cl>O>CCCl.O", "Cl.C(C)O>O>O.ClCC"
    assert lw.Reactions()(one, other) == 1.0
    assert canonical_reaction(one) == canonical_reaction(other)


def test_reactions_are_recognised_and_others_named() -> None:
    assert recognise(REACTIONS).kind == "reactions"
    with pytest.raises(SimilarityError, match="object 1 is not a reaction: 'CCO>'"):
        lw.Reactions().encode(["CCO>>CC=O", "CCO>"])
