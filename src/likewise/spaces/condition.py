"""A condition on the fields of a record, as text: `cost < 20 and solvent != 'DMF'`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import SpaceError

# The words of a condition: numbers, names, texts in quotes and signs, each with its place.

# Whoever needs more writes a function.
LONGEST = 2_000
SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "==": "=", "<>": "!=", "−": "-", "·": "*"}
TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | (?P<text>'[^']*'|"[^"]*")
  | (?P<quoted>`[^`]+`)
  | (?P<name>[^\W\d]\w*)
  | (?P<sign><=|>=|!=|<>|==|[-+*/()<>=\[\],≤≥≠−·])
    )""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A word of a kind (number, text, name, sign or end), and where it begins."""

    kind: str
    text: str
    at: int


def tokens(condition: str) -> Iterator[Token]:
    """The words of a condition, and its end.

    >>> [t.text for t in tokens("cost <= 20")]
    ['cost', '<=', '20', '']
    """
    if len(condition) > LONGEST:
        raise SpaceError(f"a condition has at most {LONGEST} characters, and this one {len(condition)}; use a function")
    at, end = 0, len(condition.rstrip())
    while at < end:
        found = TOKEN.match(condition, at)
        if found is None:
            start = at + len(condition[at:]) - len(condition[at:].lstrip())
            raise fault(condition, start, _unreadable(condition[start]))
        kind, text = str(found.lastgroup), found[str(found.lastgroup)]
        begin = found.start(str(found.lastgroup))
        at = found.end()
        if kind == "quoted":
            kind, text = "name", text[1:-1]
        elif kind == "text":
            text = text[1:-1]
        elif kind == "name" and text.lower() in ("and", "or", "not", "in"):
            kind, text = "sign", text.lower()
        yield Token(kind, SIGNS.get(text, text) if kind == "sign" else text, begin)
    yield Token("end", "", end)


def _unreadable(letter: str) -> str:
    if letter in "'\"`":
        return f"the quote {letter} is not closed"
    if letter.isdigit():
        return "this is no number; put names that begin with a digit between `…`, as in `2nd base`"
    return f"{letter!r} means nothing here; put names with such signs between `…`, as in `cost (EUR)`"


def fault(condition: str, at: int, what: str) -> SpaceError:
    """The error about a place in a condition, which is counted from 1."""
    return SpaceError(f"the condition {condition!r} cannot be read at position {at + 1}: {what}")


# What a condition consists of: terms that have a value for a record, and are linear in its numbers or not.

# Numbers that differ by a smaller share are equal: 0.1 + 0.2 = 0.3.
EQUAL = 1e-9
Linear = tuple[dict[str, float], float]


class Term:
    """A part of a condition."""

    def of(self, record: Mapping[str, Any]) -> Any:
        """The value for this record."""
        raise NotImplementedError

    def names(self) -> Iterator[str]:
        """The names in it."""
        yield from ()

    def linear(self) -> Linear | None:
        """Its coefficients and its constant, where it is linear in its names."""
        return None


@dataclass(frozen=True)
class Constant(Term):
    value: Any

    def of(self, record: Mapping[str, Any]) -> Any:
        return self.value

    def linear(self) -> Linear | None:
        return ({}, float(self.value)) if is_number(self.value) else None


@dataclass(frozen=True)
class Name(Term):
    name: str

    def of(self, record: Mapping[str, Any]) -> Any:
        value = record[self.name]
        return value.item() if isinstance(value, np.generic) else value

    def names(self) -> Iterator[str]:
        yield self.name

    def linear(self) -> Linear:
        return {self.name: 1.0}, 0.0


@dataclass(frozen=True)
class SumTerm(Term):
    """Σ sign · term: flat, so that a long sum is no deep one."""

    terms: tuple[tuple[float, Term], ...]

    def of(self, record: Mapping[str, Any]) -> Any:
        values = [number_of(term, record) for _, term in self.terms]
        if any(value is None for value in values):
            return None
        return sum(sign * value for (sign, _), value in zip(self.terms, values, strict=True))

    def names(self) -> Iterator[str]:
        for _, term in self.terms:
            yield from term.names()

    def linear(self) -> Linear | None:
        total: Linear = ({}, 0.0)
        for sign, term in self.terms:
            form = term.linear()
            if form is None:
                return None
            total = _added(total, form, sign)
        return total


@dataclass(frozen=True)
class ProductTerm(Term):
    """left · right, or left / right."""

    left: Term
    right: Term
    divided: bool

    def of(self, record: Mapping[str, Any]) -> Any:
        left, right = number_of(self.left, record), number_of(self.right, record)
        if left is None or right is None:
            return None
        if self.divided:
            return left / right if right else None
        return left * right

    def names(self) -> Iterator[str]:
        yield from self.left.names()
        yield from self.right.names()

    def linear(self) -> Linear | None:
        left, right = self.left.linear(), self.right.linear()
        if left is None or right is None:
            return None
        if not right[0] and not (self.divided and right[1] == 0):
            return _scaled(left, 1.0 / right[1] if self.divided else right[1])
        return _scaled(right, left[1]) if not left[0] and not self.divided else None


@dataclass(frozen=True)
class Relation(Term):
    """left ⋄ right, with a sign such as <= between; what is missing is in no order to anything."""

    left: Term
    sign: str
    right: Term

    def of(self, record: Mapping[str, Any]) -> bool:
        form = self.difference
        if form is not None and len(form[0]) > 1:
            return self._compare_sum(form, record)
        left, right = self.left.of(record), self.right.of(record)
        if self.sign in ("=", "!="):
            return _equal(left, right) == (self.sign == "=")
        if left is None or right is None:
            return False
        if is_number(left) != is_number(right):
            raise SpaceError(f"{left!r} {self.sign} {right!r} compares a number and a text; compare values of one kind")
        return _ORDERS[self.sign](left, right) or (self.sign in ("<=", ">=") and _equal(left, right))

    def _compare_sum(self, form: Linear, record: Mapping[str, Any]) -> bool:
        """Sums of several numbers, whose rounding is that of the largest of them."""
        values = {name: number_of(Name(name), record) for name in form[0]}
        if any(value is None for value in values.values()):
            return self.sign == "!="
        terms = [c * values[name] for name, c in form[0].items()]
        total, size = sum(terms) + form[1], sum(map(abs, terms)) + abs(form[1])
        if abs(total) <= EQUAL * size:
            return self.sign in ("=", "<=", ">=")
        return self.sign == "!=" or (self.sign != "=" and _ORDERS[self.sign](total, 0.0))

    def names(self) -> Iterator[str]:
        yield from self.left.names()
        yield from self.right.names()

    @cached_property
    def difference(self) -> Linear | None:
        """left − right, where both are linear."""
        left, right = self.left.linear(), self.right.linear()
        return None if left is None or right is None else _added(left, right, -1.0)


@dataclass(frozen=True)
class Among(Term):
    """left in [a, b, …], or not in it."""

    left: Term
    options: tuple[Any, ...]
    inside: bool

    def of(self, record: Mapping[str, Any]) -> bool:
        value = self.left.of(record)
        return any(_equal(value, option) for option in self.options) == self.inside

    def names(self) -> Iterator[str]:
        yield from self.left.names()


@dataclass(frozen=True)
class Every(Term):
    """All of them hold, or with `some` at least one."""

    terms: tuple[Term, ...]
    some: bool = False

    def of(self, record: Mapping[str, Any]) -> bool:
        return (any if self.some else all)(term.of(record) for term in self.terms)

    def names(self) -> Iterator[str]:
        for term in self.terms:
            yield from term.names()


@dataclass(frozen=True)
class Not(Term):
    term: Term

    def of(self, record: Mapping[str, Any]) -> bool:
        return not self.term.of(record)

    def names(self) -> Iterator[str]:
        yield from self.term.names()


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def is_number(value: Any) -> bool:
    """Whether it is a number; a truth value is none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def number_of(term: Term, record: Mapping[str, Any]) -> Any:
    """The number that a term is for a record; None where it is missing."""
    value = term.of(record)
    if value is not None and not is_number(value):
        what = f"{term.name} is {value!r}" if isinstance(term, Name) else repr(value)
        raise SpaceError(f"{what}, which is no number to calculate with; compare it with a text in quotes")
    return value


def _equal(left: Any, right: Any) -> bool:
    if is_number(left) and is_number(right):
        return bool(abs(left - right) <= EQUAL * max(abs(left), abs(right)))
    return type(left) is type(right) and bool(np.all(left == right))


def _added(left: Linear, right: Linear, sign: float) -> Linear:
    names = dict.fromkeys([*left[0], *right[0]])
    found = {name: left[0].get(name, 0.0) + sign * right[0].get(name, 0.0) for name in names}
    return {name: c for name, c in found.items() if c}, left[1] + sign * right[1]


def _scaled(form: Linear, factor: float) -> Linear:
    return {name: factor * c for name, c in form[0].items() if factor * c}, factor * form[1]


# A condition on the fields of a record, as text: `cost < 20 and solvent != 'DMF'`.
#
# There are numbers, texts in quotes, names of fields, + − * /, the signs = != < <= > >=, `in [a, b]`, `and`, `or`,
# `not` and parentheses. Names with spaces or other signs stand between backquotes. Nothing else can be said, and
# nothing is executed.

COMPARED = ("=", "!=", "<", "<=", ">", ">=")
# Parentheses and `not` within one another: more than anybody writes, and far from what Python can follow.
DEEPEST = 50


@dataclass(frozen=True)
class Condition:
    """A condition that was read from text; called with a record, it says whether the record satisfies it.

    >>> cheap = Condition.read("cost < 20 and solvent != 'DMF'")
    >>> cheap({"cost": 12.0, "solvent": "THF"}), cheap({"cost": 12.0, "solvent": "DMF"})
    (True, False)
    """

    text: str
    term: Term = field(repr=False)

    @classmethod
    def read(cls, text: str, names: Iterable[str] | None = None) -> Condition:
        """The condition of a text; `names` are the fields there are, None where any may be."""
        return cls(text, _Reader(text, None if names is None else list(names)).read())

    def __call__(self, record: Any) -> bool:
        if not isinstance(record, Mapping):
            raise SpaceError(f"the condition {self.text!r} is about fields, and {record!r} has none; give a function")
        try:
            return bool(self.term.of(record))
        except KeyError as error:
            raise SpaceError(f"the condition {self.text!r} needs {error}, which {record!r} does not have") from None
        except SpaceError as error:
            raise SpaceError(f"the condition {self.text!r}: {error}") from None

    @property
    def names(self) -> list[str]:
        """The names in it, each once."""
        return list(dict.fromkeys(self.term.names()))

    @property
    def conjuncts(self) -> tuple[Term, ...]:
        """The terms that must all hold."""
        return self.term.terms if isinstance(self.term, Every) and not self.term.some else (self.term,)


class _Reader:
    """Reads a condition from the left to the right, the loosest sign first."""

    def __init__(self, text: str, known: list[str] | None) -> None:
        self.text, self.known, self.depth = text, known, 0
        self.tokens = list(tokens(text))
        self.place = 0

    @property
    def here(self) -> Token:
        return self.tokens[self.place]

    def take(self, *signs: str) -> Token | None:
        """The next word where it is one of these signs."""
        if self.here.kind != "sign" or self.here.text not in signs:
            return None
        self.place += 1
        return self.tokens[self.place - 1]

    def fault(self, wanted: str) -> SpaceError:
        found = "it ends here" if self.here.kind == "end" else f"{self.here.text!r} is not expected"
        return fault(self.text, self.here.at, f"{found}; write {wanted} here")

    def read(self) -> Term:
        term = self.either()
        if self.here.kind != "end":
            raise self.fault("`and`, `or` or nothing more")
        if not isinstance(term, Relation | Among | Every | Not):
            raise self.fault("a comparison such as < 20")
        return term

    def either(self) -> Term:
        terms = [self.both()]
        while self.take("or"):
            terms.append(self.both())
        return terms[0] if len(terms) == 1 else Every(tuple(map(self.truth, terms)), some=True)

    def both(self) -> Term:
        terms = [self.negated()]
        while self.take("and"):
            terms.append(self.negated())
        if len(terms) == 1:
            return terms[0]
        flat = (t.terms if isinstance(t, Every) and not t.some else (self.truth(t),) for t in terms)
        return Every(tuple(term for each in flat for term in each))

    def negated(self) -> Term:
        if not self.take("not"):
            return self.comparison()
        return Not(self.truth(self.deeper(self.negated)))

    def truth(self, term: Term) -> Term:
        if not isinstance(term, Relation | Among | Every | Not):
            raise self.fault("a comparison on both sides of `and`, `or` and after `not`")
        return term

    def comparison(self) -> Term:
        left = self.sum()
        pairs: list[Term] = []
        while (sign := self.take(*COMPARED)) is not None:
            right = self.sum()
            pairs.append(Relation(left, sign.text, right))
            left = right
        if pairs:
            return pairs[0] if len(pairs) == 1 else Every(tuple(pairs))
        negated = self.take("not")
        if self.take("in"):
            return Among(left, self.options(), negated is None)
        if negated is not None:
            raise self.fault("`in`")
        return left

    def options(self) -> tuple[Any, ...]:
        close = "]" if self.take("[") else ")" if self.take("(") else None
        if close is None:
            raise self.fault("a list such as ['THF', 'DMF']")
        found = [self.constant()]
        while self.take(","):
            found.append(self.constant())
        if not self.take(close):
            raise self.fault(f"{close!r} or a comma")
        return tuple(found)

    def constant(self) -> Any:
        term = self.factor()
        form = term.linear()
        if isinstance(term, Constant):
            return term.value
        if form is None or form[0]:
            raise self.fault("numbers and texts in quotes alone in a list")
        return form[1]

    def sum(self) -> Term:
        terms = [(1.0, self.product())]
        while (sign := self.take("+", "-")) is not None:
            terms.append((1.0 if sign.text == "+" else -1.0, self.product()))
        return terms[0][1] if len(terms) == 1 else SumTerm(tuple(terms))

    def product(self) -> Term:
        term, many = self.factor(), 0
        while (sign := self.take("*", "/")) is not None:
            many += 1
            if many > DEEPEST:
                raise fault(self.text, sign.at, f"more than {DEEPEST} factors; use fewer")
            term = ProductTerm(term, self.factor(), sign.text == "/")
        return term

    def factor(self) -> Term:
        token = self.here
        if sign := self.take("-", "+"):
            inner = self.deeper(self.factor)
            return inner if sign.text == "+" else ProductTerm(Constant(-1.0), inner, False)
        if self.take("("):
            term = self.deeper(self.either)
            if not self.take(")"):
                raise self.fault("')'")
            return term
        if token.kind in ("number", "text", "name"):
            self.place += 1
            if token.kind == "name":
                return self.name(token)
            return Constant(token.text if token.kind == "text" else float(token.text))
        raise self.fault("a name, a number or a text in quotes")

    def deeper(self, read: Any) -> Term:
        self.depth += 1
        if self.depth > DEEPEST:
            raise fault(self.text, self.here.at, f"more than {DEEPEST} parentheses within one another; use fewer")
        term: Term = read()
        self.depth -= 1
        return term

    def name(self, token: Token) -> Name:
        if self.known is not None and token.text not in self.known:
            near = get_close_matches(token.text, self.known, 1)
            there = f"did you mean {near[0]!r}? There" if near else "there"
            raise fault(
                self.text,
                token.at,
                f"there is no field {token.text!r}; {there} are {', '.join(self.known)}. "
                f"If it is a text, put it in quotes: '{token.text}'",
            )
        return Name(token.text)
