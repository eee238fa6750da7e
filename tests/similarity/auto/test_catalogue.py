"""What "auto" takes for a kind of object is what the page on similarities recommends to begin with."""

from __future__ import annotations

import re

import networkx as nx
import pytest
from tools.house.source import ROOT

import likewise as lw
from likewise.similarity.catalogue import similarities

PAGE = (ROOT / "docs" / "similarities.md").read_text(encoding="utf-8")


def recommended(kind: str) -> list[lw.Similarity]:
    """The list that the page has for a kind of object."""
    found = re.search(rf"^\| {kind} \| `(.*?)` \|", PAGE, re.MULTILINE)
    assert found is not None
    return list(eval(found[1], {"lw": lw}))


def test_graphs_are_compared_as_the_page_recommends() -> None:
    assert list(similarities("graphs", [nx.path_graph(3)])) == recommended("graphs")


def test_graphs_in_pieces_are_compared_by_what_the_page_recommends() -> None:
    pieces = nx.Graph([(0, 1), (2, 3)])
    assert [one(pieces, pieces) for one in recommended("graphs")] == pytest.approx([1.0, 1.0])
