"""What a condition consists of: terms that have a value for a record, and are linear in its numbers or not."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from likewise.errors import SpaceError

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
class Sum(Term):
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
class Product(Term):
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
class Comparison(Term):
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
