"""The parser against the language computed as a fixed point, on random grammars."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.spaces.grammar import Failure, Node, Productions, leaves, parse, places, replaced

SYMBOLS = ("S", "A", "B")
LONGEST = 4

production = st.lists(st.sampled_from([*SYMBOLS, "a", "b"]), max_size=3).map(tuple)
grammars = st.fixed_dictionaries({s: st.lists(production, min_size=1, max_size=3).map(tuple) for s in SYMBOLS})


def language(productions: Productions) -> dict[str, set[str]]:
    """All texts of at most LONGEST letters of each symbol: the least sets that the productions map into themselves."""
    texts: dict[str, set[str]] = {symbol: set() for symbol in productions}
    while True:
        more = {
            symbol: {
                "".join(parts)
                for p in choices
                for parts in product(*(texts.get(part, {part}) for part in p))
                if sum(map(len, parts)) <= LONGEST
            }
            for symbol, choices in productions.items()
        }
        if more == texts:
            return texts
        texts = more


def read(productions: Productions, text: str) -> Node | Failure:
    return parse(productions, "S", lambda t, i: i + len(t) if text.startswith(t, i) else None, len(text))


@settings(max_examples=150, deadline=None)
@given(grammars)
def test_a_text_is_read_exactly_when_it_is_in_the_language(productions: Productions) -> None:
    texts = language(productions)["S"]
    for n in range(LONGEST + 1):
        for letters in product("ab", repeat=n):
            text = "".join(letters)
            tree = read(productions, text)
            assert isinstance(tree, Node) == (text in texts), text
            if isinstance(tree, Node):
                assert "".join(leaves(tree)) == text
                assert derived(productions, tree)


def derived(productions: Productions, tree: Node) -> bool:
    """Whether every node of the tree follows its production."""
    return all(
        tuple(c if isinstance(c, str) else c.symbol for c in node.children) == productions[node.symbol][node.production]
        for _, node in places(tree)
    )


def test_a_failure_says_how_far_it_came_and_what_could_have_followed() -> None:
    sums: Productions = {"S": (("S", "+", "T"), ("T",)), "T": (("x",), ("(", "S", ")"))}
    assert read(sums, "x+)") == Failure(2, ("(", "x"))
    assert read(sums, "(x") == Failure(2, (")", "+"))
    assert read(sums, "") == Failure(0, ("(", "x"))


def test_every_node_can_be_replaced_by_itself() -> None:
    tree = read({"S": (("S", "+", "S"), ("x",))}, "x+x+x")
    assert isinstance(tree, Node)
    for path, node in places(tree):
        assert replaced(tree, path, node) == tree


def test_long_texts_are_read() -> None:
    left: Productions = {"S": (("S", "a"), ("a",))}
    tree = read(left, "a" * 3000)
    assert isinstance(tree, Node)
    assert len(leaves(tree)) == 3000
