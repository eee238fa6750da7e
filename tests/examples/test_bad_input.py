"""What a user is told who gives a wrong object: by the space at `tell`, by the similarity at `condition`.

Every message names the object or its place, and says what would do instead; the study is left as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest

import likewise as lw

NAN = float("nan")
LABELLED = nx.Graph()
LABELLED.add_nodes_from([(0, {"label": "C"}), (1, {}), (2, {"label": "N"})])
LABELLED.add_edges_from([(0, 1), (1, 2)])
PIECES = nx.Graph([(0, 1), (2, 3)])

DNA = lw.Strings("ACGT", length=8)
MOLECULES = lw.Molecules(["CCO", "CCN", "CCC"])
ORDERS = lw.Permutations(5)
SETS = lw.Subsets(["a", "b", "c"], min_size=1)
GRAPHS = lw.Graphs(4, connected=True)
BLENDS = lw.Simplex(3)
BOX = lw.Box([0.0, 0.0], [1.0, 1.0])
RECIPES = lw.Record(solvent=["CCO", "CCN"], temperature=lw.Box(20, 120))
CURVES = lw.Pool([(0.0, 1.0), (1.0, 2.0, 3.0), (2.0, 0.0)])


@pytest.mark.parametrize(
    ("space", "wrong", "words"),
    [
        (DNA, "", ["''", "0 letters", "8"]),
        (DNA, "ACGTACGU", ["'U'", "position 7", "ACGT"]),
        (DNA, None, ["None", "string"]),
        (MOLECULES, "C1CC", ["'C1CC'", "SMILES"]),
        (MOLECULES, "", ["''", "SMILES"]),
        (ORDERS, (0, 1, 2), ["(0, 1, 2)", "3 entries", "5"]),
        (ORDERS, (0, 1, 2, 3, 3), ["3", "more than once"]),
        (ORDERS, (0, 1, 2, 3, 9), ["9", "not one of the items"]),
        (SETS, {"z"}, ["'z'", "'a', 'b', 'c'"]),
        (SETS, set(), ["0 items", "1 to 3"]),
        (GRAPHS, PIECES, ["not connected"]),
        (GRAPHS, nx.path_graph(3), ["3 nodes", "4"]),
        (GRAPHS, [(0, 1)], ["networkx.Graph"]),
        (BLENDS, [0.5, 0.6, 0.6], ["1.7", "rescale"]),
        (BLENDS, [-0.2, 0.6, 0.6], ["part 0", "-0.2"]),
        (BLENDS, [NAN, 0.5, 0.5], ["part 0", "nan"]),
        (BOX, [0.5, NAN], ["dimension 1", "nan"]),
        (BOX, [0.5], ["2 dimensions"]),
        (RECIPES, {"solvent": "CCO"}, ["'temperature'"]),
        (RECIPES, {"solvent": "CCO", "temperature": 500}, ["'temperature'", "500", "120"]),
        (RECIPES, {"solvent": "C1C", "temperature": 50}, ["'solvent'", "'C1C'"]),
        (CURVES, (NAN, 1.0), ["nan", "pool"]),
    ],
    ids=str,
)
def test_an_object_outside_the_space_is_refused_and_nothing_is_recorded(
    space: lw.Space, wrong: Any, words: list[str]
) -> None:
    study = lw.Study(space, lambda x, other: 1.0)
    with pytest.raises(lw.SpaceError) as raised:
        study.tell(wrong, 1.0)
    assert not [word for word in words if word not in str(raised.value)], str(raised.value)
    assert study.trials == []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lw.Pool([(0.0, 1.0), (NAN, 1.0)]), ["object 1", "nan"]),
        (lambda: lw.Molecules(["CCO", "C1CC"]), ["start molecule 1", "'C1CC'"]),
        (lambda: lw.Strings("", length=8), ["alphabet"]),
        (lambda: lw.Permutations(0), ["at least 1"]),
        (lambda: lw.Graphs(0), ["nodes"]),
    ],
)
def test_a_space_that_cannot_be_is_refused(make: Callable[[], lw.Space], words: list[str]) -> None:
    with pytest.raises(lw.SpaceError) as raised:
        make()
    assert not [word for word in words if word not in str(raised.value)], str(raised.value)


STRINGS = ["ACGTA", "ACGAA"]
SMILES = ["CCO", "CCN"]
TWO = [(0, 1, 2), (1, 0, 2)]
SERIES = [np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0])]
TREES = [nx.path_graph(4), nx.star_graph(3)]
SHARES = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
MIXED = [{0.0: 1.0, 1.0: 2.0}, {2.0: 1.0}]
PARTS = lw.Parts(solvent=lw.Tanimoto(), temperature=lw.RBF())
RECORDS = [{"solvent": "CCO", "temperature": 30.0}, {"solvent": "CCN", "temperature": 40.0}]


@pytest.mark.parametrize(
    ("similarity", "good", "wrong", "words"),
    [
        (lw.Hamming(), STRINGS, "", ["''", "0", "one length"]),
        *((s, STRINGS, None, ["object 2", "None"]) for s in (lw.Hamming(), lw.Indel(), lw.NGrams(3))),
        (lw.GlobalAlignment("NUC.4.4"), STRINGS, "", ["sequence 2", "''"]),
        (lw.GlobalAlignment("NUC.4.4"), STRINGS, "ACGTX", ["sequence 2", "'X'", "NUC.4.4"]),
        (lw.ReverseComplement(lw.Hamming()), STRINGS, "ACGTX", ["object 2", "'X'", "complement"]),
        *(
            (s, SMILES, x, ["row 2", repr(x)])
            for s in (lw.Tanimoto(), lw.TanimotoCounts(), lw.CanonicalSMILES(lw.Indel()), lw.Descriptors())
            for x in ("C1CC", "", "C(C)(C)(C)(C)C")
        ),
        (lw.Tanimoto(), SMILES, "C(C)(C)(C)(C)C", ["valence"]),
        *(
            (s, TWO, x, ["permutation 2", str(x)])
            for s in (lw.Positions(), lw.Kendall(), lw.Mallows(), lw.Tours())
            for x in ((0, 1), (0, 1, 1), (0, 1, 7), (), "012")
        ),
        *((s, TREES, LABELLED, ["node 1", "graph 2", "label"]) for s in (lw.WeisfeilerLehman(), lw.ShortestPath())),
        (lw.WeisfeilerLehman(), TREES, [(0, 1)], ["object 2", "networkx"]),
        *(
            (s, SERIES, x, ["series 2", word])
            for s in (lw.DTW(), lw.SoftDTW(), lw.GlobalAlignmentKernel())
            for x, word in (([1.0, NAN, 2.0], "position 1"), ([], "shape (0,)"), (np.ones((3, 2)), "2 channels"))
        ),
        *(
            (s, SHARES, x, ["2", str(x)])
            for s in (lw.Hellinger(), lw.Aitchison())
            for x in ([-0.2, 0.6, 0.6], [0, 0, 0], [NAN, 0.5, 0.5], [0.5, 0.5])
        ),
        *(
            (s, MIXED, x, ["2", word])
            for s in (lw.MeanEmbedding(lw.RBF()), lw.MaximumMeanDiscrepancy(lw.RBF()))
            for x, word in (({0.0: -1.0}, "-1"), ({0.0: NAN}, "nan"), ({}, "{}"), (None, "None"))
        ),
        *((s, [{"a"}, {"b"}], 3, ["object 2", "3"]) for s in (lw.Jaccard(), lw.Dice(), lw.Overlap())),
        (lw.MinMax(), [{"a": 1}, {"b": 2}], {"a": -1}, ["object 2", "'a'", "-1"]),
        (PARTS, RECORDS, {"solvent": "CCO"}, ["record 2", "'temperature'"]),
        (PARTS, RECORDS, {"solvent": "C1C", "temperature": 30.0}, ["'C1C'"]),
        (lw.RBF(), [[0.0, 1.0], [1.0, 0.0]], [NAN, 0.0], ["object 2", "nan"]),
        (lw.Embedded(lambda x: [1.0] * len(x)), ["a", "b"], "cc", ["'cc'", "2 numbers"]),
        (lw.Precomputed(["a", "b"], np.eye(2)), ["a", "b"], "c", ["'c'", "matrix"]),
        (lambda x, other: float(x < other), [1, 2], 3, ["S(1, 2) = 1", "S(2, 1) = 0", "symmetrised"]),
        (lambda x, other: -1.0, [1, 2], 3, ["negative", "S(1, 1) = -1"]),
        (lambda x, other: NAN, [1, 2], 3, ["finite", "S(1, 1) = nan"]),
    ],
)
def test_an_object_that_cannot_be_compared_is_refused_by_name(
    similarity: Any, good: list[Any], wrong: Any, words: list[str]
) -> None:
    with pytest.raises(lw.SimilarityError) as raised:
        lw.condition(similarity, [*good, wrong], [1.0, 2.0, 3.0])
    assert not [word for word in words if word not in str(raised.value)], str(raised.value)


def test_a_broken_molecule_in_a_pool_is_named_by_the_first_ask() -> None:
    study = lw.Study(lw.Pool(["CCO", "CCN", "C1CC"]), lw.Tanimoto())
    study.tell("CCO", 1.0)
    with pytest.raises(lw.SimilarityError, match="C1CC"):
        study.ask()
    assert len(study.trials) == 1
