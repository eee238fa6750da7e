"""Earley's parser: one derivation tree of a text in any context-free grammar, ambiguous and left-recursive included."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

Production = tuple[str, ...]
Productions = Mapping[str, tuple[Production, ...]]
Match = Callable[[str, int], int | None]


class Node(NamedTuple):
    """A symbol, which of its productions was taken, and what each symbol of the production became."""

    symbol: str
    production: int
    children: tuple[Node | str, ...]


class _Item(NamedTuple):
    """A production of a symbol begun at `origin`, recognised up to `dot`."""

    symbol: str
    production: int
    dot: int
    origin: int

    def advanced(self) -> _Item:
        return _Item(self.symbol, self.production, self.dot + 1, self.origin)


@dataclass(frozen=True)
class Failure:
    """How far a text could be read, and which terminals could have followed."""

    position: int
    expected: tuple[str, ...]


def empty_trees(productions: Productions) -> dict[str, Node]:
    """A tree of the empty text for each symbol that has one.

    >>> sorted(empty_trees({"S": (("A", "A"),), "A": (("a",), ())}))
    ['A', 'S']
    """
    trees: dict[str, Node] = {}
    while True:
        found = {
            symbol: Node(symbol, number, tuple(trees[part] for part in production))
            for symbol, choices in productions.items()
            if symbol not in trees
            for number, production in enumerate(choices)
            if all(part in trees for part in production)
        }
        if not found:
            return trees
        trees |= found


def parse(productions: Productions, start: str, match: Match, length: int) -> Node | Failure:
    """The tree of a text of `length` positions, in which `match(terminal, i)` is where a terminal read at i ends.

    >>> sums = {"S": (("S", "+", "S"), ("x",))}
    >>> text = "x+x"
    >>> tree = parse(sums, "S", lambda t, i: i + 1 if text[i : i + 1] == t else None, len(text))
    >>> [symbol if isinstance(symbol, str) else symbol.symbol for symbol in tree.children]
    ['S', '+', 'S']
    """
    empty = empty_trees(productions)
    chart: list[dict[_Item, tuple[Node | str, ...]]] = [{} for _ in range(length + 1)]
    agendas: list[list[_Item]] = [[] for _ in range(length + 1)]
    waiting: list[dict[str, list[_Item]]] = [defaultdict(list) for _ in range(length + 1)]

    def add(position: int, item: _Item, children: tuple[Node | str, ...]) -> None:
        if item not in chart[position]:
            chart[position][item] = children
            agendas[position].append(item)

    def predict(position: int, symbol: str) -> None:
        for number in range(len(productions[symbol])):
            add(position, _Item(symbol, number, 0, position), ())

    predict(0, start)
    for position in range(length + 1):
        for item in agendas[position]:  # grows while it is read
            production, children = productions[item.symbol][item.production], chart[position][item]
            if item.dot == len(production):
                node = Node(item.symbol, item.production, children)
                if item.symbol == start and item.origin == 0 and position == length:
                    return node
                for parent in waiting[item.origin][item.symbol]:
                    add(position, parent.advanced(), (*chart[item.origin][parent], node))
            elif (wanted := production[item.dot]) in productions:
                waiting[position][wanted].append(item)
                predict(position, wanted)
                # A symbol that may be empty is complete where it begins, perhaps before this item waited for it.
                if wanted in empty:
                    add(position, item.advanced(), (*children, empty[wanted]))
            elif (end := match(wanted, position)) is not None:
                add(end, item.advanced(), (*children, wanted))
    return _failure(productions, agendas)


def _failure(productions: Productions, agendas: list[list[_Item]]) -> Failure:
    furthest = max(position for position, agenda in enumerate(agendas) if agenda)
    ahead = (productions[i.symbol][i.production][i.dot :] for i in agendas[furthest])
    return Failure(furthest, tuple(sorted({rest[0] for rest in ahead if rest and rest[0] not in productions})))


def leaves(tree: Node) -> list[str]:
    """The terminals of a tree, from left to right."""
    found: list[str] = []
    stack: list[Node | str] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            found.append(node)
        else:
            stack.extend(reversed(node.children))
    return found


def places(tree: Node) -> Iterator[tuple[tuple[int, ...], Node]]:
    """Every node of a tree, with the children to follow to it from the root."""
    stack: list[tuple[tuple[int, ...], Node]] = [((), tree)]
    while stack:
        path, node = stack.pop()
        yield path, node
        stack.extend(((*path, i), child) for i, child in enumerate(node.children) if isinstance(child, Node))


def replaced(tree: Node, path: tuple[int, ...], new: Node) -> Node:
    """The tree with another node at the end of the path."""
    above: list[Node] = []
    node: Node | str = tree
    for i in path:
        assert isinstance(node, Node)
        above.append(node)
        node = node.children[i]
    for i, parent in zip(reversed(path), reversed(above), strict=True):
        new = parent._replace(children=(*parent.children[:i], new, *parent.children[i + 1 :]))
    return new
