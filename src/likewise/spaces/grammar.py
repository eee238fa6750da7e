"""The texts of a context-free grammar: formulas, pipelines, architectures."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import SpaceError
from likewise.similarity.base import Vector
from likewise.spaces.base import (
    Generator,
    Texts,
    checked_text,
    checked_where,
    checked_whole,
    child,
    higher,
    more,
    neighbours,
    some,
)

# Earley's parser: one derivation tree of a text in any context-free grammar, ambiguous and left-recursive included.

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


# The texts of a context-free grammar: formulas, pipelines, architectures.

REGROWN = 48
EXCHANGED = 32
HOISTED = 16


@dataclass(frozen=True)
class Grammar(Texts):
    """Texts of a context-free grammar.

    - `rules`: each symbol's productions, texts of symbols separated by spaces, or lists of symbols. What has no rule of
      its own stands for itself; "" is the empty production.
    - `start`: the symbol that all derivations start from; by default "S".
    - `max_depth`: how deep derivations may be that are sampled and grown, by default 12; a deeper text of the language
      is still a member.
    - `separator`: what stands between the terminals of a text; by default a space.
    - `where`: a function that says whether a text is allowed; by default all are.

    Moves grow a part of the derivation anew, exchange a production for one with the same symbols (an operator), or put
    a part in the place of one that contains it. Crossover puts in a part of the other derivation.

    >>> import numpy as np
    >>> formulas = Grammar({"S": ["S + S", "( S )", "f S", "x"], "f": ["sin", "exp"]})
    >>> "sin ( x + x )" in formulas, "x +" in formulas
    (True, False)
    >>> "exp x" in formulas.moves("sin x", np.random.default_rng(0))
    True
    """

    described_by = MappingProxyType({"rules": "productions"})
    grows = MappingProxyType({"rules": more, "max_depth": higher})
    rules: Mapping[str, Sequence[str | Sequence[str]]]
    start: str = "S"
    _: KW_ONLY
    max_depth: int = 12
    separator: str = " "
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        checked_whole("the max_depth of a Grammar", self.max_depth)
        if not isinstance(self.rules, Mapping):
            raise SpaceError(f"the rules of a Grammar are a mapping, as in {{'S': ['S + x', 'x']}}, not {self.rules!r}")
        if self.start not in self.rules:
            raise SpaceError(f"the grammar has no rule for its start symbol {self.start!r}; add one, or give another")
        for symbol, productions in self.rules.items():
            if isinstance(productions, str) or not len(productions):
                raise SpaceError(
                    f"the rule of {symbol!r} is a list of productions, as in {{{symbol!r}: ['{symbol} + x', 'x']}}, "
                    f"not {productions!r}"
                )
        self._check_terminals()
        endless = sorted(symbol for symbol, heights in self._heights.items() if math.isinf(heights.min()))
        if endless:
            raise SpaceError(f"no derivation from {endless[0]!r} ever ends; give it a production without itself")
        if self.max_depth < self._least(self.start):
            raise SpaceError(
                f"the shallowest derivation from {self.start!r} has depth {self._least(self.start)}, "
                f"but max_depth is {self.max_depth}; raise it"
            )

    def _check_terminals(self) -> None:
        terminals = {part for choices in self.productions.values() for p in choices for part in p} - set(self.rules)
        wrong = [t for t in terminals if not t or (self.separator and self.separator in t)]
        if wrong:
            raise SpaceError(f"the terminal {wrong[0]!r} is empty or has the separator {self.separator!r} in it")

    @cached_property
    def productions(self) -> dict[str, tuple[Production, ...]]:
        """Each symbol's productions as tuples of symbols."""
        return {
            symbol: tuple(tuple(p.split()) if isinstance(p, str) else tuple(p) for p in choices)
            for symbol, choices in self.rules.items()
        }

    @cached_property
    def _heights(self) -> dict[str, Vector]:
        """For each production the least height of a derivation that begins with it: 1 + that of its highest symbol."""
        least = dict.fromkeys(self.rules, math.inf)
        while True:
            heights = {
                symbol: np.array([1.0 + max((least.get(part, 0.0) for part in p), default=0.0) for p in choices])
                for symbol, choices in self.productions.items()
            }
            lower = {symbol: float(values.min()) for symbol, values in heights.items()}
            if lower == least:
                return heights
            least = lower

    def _least(self, symbol: str) -> int:
        return int(self._heights[symbol].min())

    @cached_property
    def _known_chances(self) -> dict[tuple[str, int], list[float]]:
        return {}

    def _chances(self, symbol: str, depth: int) -> list[float]:
        """The cumulative chances of a symbol's productions with so much depth left, the last one left out."""
        if (symbol, depth) not in self._known_chances:
            heights = self._heights[symbol]
            haste = 4.0 * (1.0 - depth / self.max_depth)
            steps = np.where(heights <= depth, 2.0 ** (-haste * (heights - heights.min())), 0.0).cumsum()
            self._known_chances[symbol, depth] = (steps / steps[-1])[:-1].tolist()
        return self._known_chances[symbol, depth]

    def _grow(self, symbol: str, depth: int, rng: Generator) -> Node:
        """A random tree of at most this depth; the less depth is left, the likelier are productions that end soon."""
        number = bisect_right(self._chances(symbol, depth), rng.random())
        return Node(
            symbol,
            number,
            tuple(
                self._grow(part, depth - 1, rng) if part in self.rules else part
                for part in self.productions[symbol][number]
            ),
        )

    def _text(self, tree: Node) -> str:
        return self.separator.join(leaves(tree))

    def _draw(self, n: int, rng: Generator) -> list[str]:
        return [self._text(self._grow(self.start, self.max_depth, rng)) for _ in range(n)]

    def parsed(self, x: str) -> Node:
        """A derivation tree of the text; a SpaceError that says where it cannot be read on."""
        tokens: Sequence[str] = x
        if self.separator:
            tokens = x.split(self.separator) if x else []

        def match(terminal: str, at: int) -> int | None:
            if self.separator:
                return at + 1 if at < len(tokens) and tokens[at] == terminal else None
            return at + len(terminal) if x.startswith(terminal, at) else None

        tree = parse(self.productions, self.start, match, len(tokens))
        if isinstance(tree, Failure):
            there = f"{tokens[tree.position]!r}" if tree.position < len(tokens) else "the end"
            raise SpaceError(
                f"{x!r} is not derived by the grammar: {there} at position {tree.position}, "
                f"where one of {', '.join(map(repr, tree.expected)) or 'no further symbol'} is expected"
            )
        return tree

    def _fit(self, x: Any) -> str:
        text = checked_text(x)
        self.parsed(text)
        return text

    def moves(self, x: str, rng: Generator) -> list[str]:
        """Texts whose derivations differ from x's in one part."""
        tree = self.parsed(x)
        nodes = list(places(tree))
        made = [*self._regrown(nodes, rng), *self._exchanged(nodes, rng), *self._hoisted(nodes, rng)]
        return neighbours(self, x, [self._text(replaced(tree, path, new)) for path, new in made])

    def _regrown(self, nodes: Sequence[tuple[tuple[int, ...], Node]], rng: Generator) -> list[tuple[Any, Node]]:
        chosen = [nodes[i] for i in rng.integers(len(nodes), size=REGROWN)]
        return [
            (path, self._grow(node.symbol, max(self.max_depth - len(path), self._least(node.symbol)), rng))
            for path, node in chosen
        ]

    def _exchanged(self, nodes: Sequence[tuple[tuple[int, ...], Node]], rng: Generator) -> list[tuple[Any, Node]]:
        options = [
            (path, node, number)
            for path, node in nodes
            for number, production in enumerate(self.productions[node.symbol])
            if number != node.production
            and self._symbols(production) == self._symbols(self.productions[node.symbol][node.production])
        ]
        return [
            (path, self._with_production(node, number))
            for path, node, number in (options[i] for i in some(len(options), EXCHANGED, rng))
        ]

    def _symbols(self, production: Production) -> list[str]:
        return [part for part in production if part in self.rules]

    def _with_production(self, node: Node, number: int) -> Node:
        """The same subtrees under another production with the same symbols."""
        kept = iter([part for part in node.children if isinstance(part, Node)])
        parts = self.productions[node.symbol][number]
        return Node(node.symbol, number, tuple(next(kept) if part in self.rules else part for part in parts))

    def _hoisted(self, nodes: Sequence[tuple[tuple[int, ...], Node]], rng: Generator) -> list[tuple[Any, Node]]:
        """Each part in the place of the nearest part around it that has the same symbol."""
        by_path = dict(nodes)
        options = [
            (path[:end], node)
            for path, node in nodes
            if (end := next((e for e in range(len(path) - 1, -1, -1) if by_path[path[:e]].symbol == node.symbol), -1))
            >= 0
        ]
        return [options[i] for i in some(len(options), HOISTED, rng)]

    def crossover(self, x: str, other: str, rng: Generator) -> str:
        """x with one part replaced by a part of the other with the same symbol."""
        tree, donor = self.parsed(x), list(places(self.parsed(other)))
        offered: dict[str, list[Node]] = {}
        for _, node in donor:
            offered.setdefault(node.symbol, []).append(node)
        open_places = [(path, node) for path, node in places(tree) if node.symbol in offered]

        def mixed() -> str:
            path, node = open_places[int(rng.integers(len(open_places)))]
            shallow = [part for part in offered[node.symbol] if len(path) + _height(part) <= self.max_depth]
            if not shallow:
                return x
            return self._text(replaced(tree, path, shallow[int(rng.integers(len(shallow)))]))

        return child(self, mixed, x)


def _height(tree: Node) -> int:
    return 1 + max(len(path) for path, _ in places(tree))
