"""A condition on the fields of a record, as text: `cost < 20 and solvent != 'DMF'`.

There are numbers, texts in quotes, names of fields, + − * /, the signs = != < <= > >=, `in [a, b]`, `and`, `or`, `not`
and parentheses. Names with spaces or other signs stand between backquotes. Python reads and calculates it, and sees
nothing of it but these signs, and placeholders such as _3 for names, numbers and texts: nothing else can be said.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, partialmethod
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import SpaceError

# Whoever needs more writes a function.
LONGEST = 2_000
# Numbers that differ by a smaller share are equal: 0.1 + 0.2 = 0.3.
EQUAL = 1e-9
PYTHON = {"≤": "<=", "≥": ">=", "≠": "!=", "=": "==", "<>": "!=", "−": "-", "·": "*"}
SIGNS = {ast.Eq: "=", ast.LtE: "<=", ast.GtE: ">="}
WORD = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | '(?P<text>[^']*)' | "(?P<quote>[^"]*)"
  | `(?P<name>[^`]+)`
  | (?P<sign>(?i:not\s+in|and|or|not|in)(?!\w)|<=|>=|!=|<>|==|[-+*/()<>=\[\],≤≥≠−·])
  | (?P<word>[^\W\d]\w*)
    )""",
    re.VERBOSE,
)
# Each word takes so many columns of what Python reads, so that a column tells the word.
COLUMNS = 16
BEFORE, AFTER = "a name, a number or a text in quotes", "`and`, `or` or nothing more"
TOO_DEEP = "too many signs or parentheses within one another; use fewer, or a function"
COMPARISON = "a comparison on both sides of `and`, `or` and after `not`"


class Word(NamedTuple):
    """What a part of the text means: a number, a Name, a sign in Python, a text; where it stands; how it is written."""

    kind: str
    value: Any
    at: int
    text: str

    @property
    def begins(self) -> bool:
        """Whether an operand begins with it."""
        return self.kind != "sign" or self.value in ("(", "[", "not")

    @property
    def ends(self) -> bool:
        """Whether an operand ends with it."""
        return self.kind != "sign" or self.value in (")", "]")


@dataclass(frozen=True)
class LinearForm:
    """Σ c x + k; a TypeError where something calculated with it is not linear."""

    coefficients: Mapping[str, float]
    constant: float = 0.0

    @property
    def finite(self) -> bool:
        """Whether no number in it is infinite."""
        return all(map(math.isfinite, (self.constant, *self.coefficients.values())))

    def _plus(self, sign: float, other: LinearForm) -> LinearForm:
        c = dict.fromkeys([*self.coefficients, *other.coefficients], 0.0)
        c = {x: self.coefficients.get(x, 0.0) + sign * other.coefficients.get(x, 0.0) for x in c}
        return LinearForm({x: value for x, value in c.items() if value}, self.constant + sign * other.constant)

    __add__, __sub__ = partialmethod(_plus, 1.0), partialmethod(_plus, -1.0)

    def __mul__(self, other: LinearForm) -> LinearForm:
        if other.coefficients and self.coefficients:
            raise TypeError("the product is not linear")
        form, factor = (other, self.constant) if other.coefficients else (self, other.constant)
        return LinearForm({x: factor * c for x, c in form.coefficients.items() if factor * c}, factor * form.constant)

    def __truediv__(self, other: LinearForm) -> LinearForm:
        if other.coefficients or not other.constant:
            raise TypeError("the ratio is not linear")
        return self * LinearForm({}, 1.0 / other.constant)

    def __neg__(self) -> LinearForm:
        return self * LinearForm({}, -1.0)

    def __pos__(self) -> LinearForm:
        return self


def _calculation(calculate: Callable[..., Any], grow: Callable[..., Any]) -> Callable[[Quantity, Quantity], Quantity]:
    """A method that calculates with two values, and with their sizes."""

    def calculated(a: Quantity, b: Quantity) -> Quantity:
        for operand in (a, b):
            if operand.value is not None and not operand.is_number:
                raise SpaceError(f"{operand.value!r} is no number to calculate with; compare it with a text in quotes")
        if a.value is None or b.value is None or (calculate is operator.truediv and not b.value):
            return Quantity(None)
        return Quantity(calculate(a.value, b.value), grow(a.size, b.size))

    return calculated


def _order(before: Callable[..., Any], equal: bool) -> Callable[[Quantity, Any], bool]:
    """A method that says whether two values are in order; what is missing is in no order to anything."""

    def ordered(a: Quantity, other: Any) -> bool:
        b = other if isinstance(other, Quantity) else Quantity(other)
        if a.value is None or b.value is None:
            return False
        if a.is_number != b.is_number:
            raise SpaceError(f"{a.value!r} and {b.value!r} are in no order; compare values of one kind")
        return equal if a == b else bool(before(a.value, b.value))

    return ordered


class Quantity:
    """A value, which may be missing, and the size of what it was calculated from, of which its rounding is a share."""

    __slots__ = ("is_number", "size", "value")

    def __init__(self, value: Any, size: float | None = None) -> None:
        self.value = value.item() if isinstance(value, np.generic) else value
        self.is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        self.size: float = size if size is not None else abs(self.value) if self.is_number else 0.0

    __add__ = _calculation(operator.add, operator.add)
    __sub__ = _calculation(operator.sub, operator.add)
    __mul__ = _calculation(operator.mul, operator.mul)
    __truediv__ = _calculation(operator.truediv, operator.truediv)
    __lt__, __le__ = _order(operator.lt, equal=False), _order(operator.lt, equal=True)
    __gt__, __ge__ = _order(operator.gt, equal=False), _order(operator.gt, equal=True)
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Quantity:
        return Quantity(0.0) - self

    def __pos__(self) -> Quantity:
        return Quantity(0.0) + self

    def __eq__(self, other: object) -> bool:
        b = other if isinstance(other, Quantity) else Quantity(other)
        if self.is_number and b.is_number:
            return math.isclose(self.value, b.value, rel_tol=0.0, abs_tol=EQUAL * max(self.size, b.size))
        return type(self.value) is type(b.value) and bool(np.all(self.value == b.value))

    def __contains__(self, other: object) -> bool:
        """`x in (3)`, which Python takes for no list."""
        return self == other


@dataclass(frozen=True)
class Condition:
    """A condition that is read from text; called with a record, it says whether the record satisfies it.

    >>> cheap = Condition.read("cost < 20 and solvent != 'DMF'")
    >>> cheap({"cost": 12.0, "solvent": "THF"}), cheap({"cost": 12.0, "solvent": "DMF"})
    (True, False)
    """

    text: str

    @classmethod
    def read(cls, text: str, names: Iterable[str] | None = None) -> Condition:
        """The condition of a text; `names` are the fields there are, None where any may be."""
        condition, fields = cls(text), None if names is None else list(names)
        condition._code  # noqa: B018
        for word in condition._words:
            if fields is not None and word.kind == "name" and word.value not in fields:
                near = get_close_matches(word.value, fields, 1)
                there = f"did you mean {near[0]!r}? There" if near else "there"
                raise condition._fault(
                    word.at,
                    f"there is no field {word.value!r}; {there} are {', '.join(fields)}. "
                    f"If it is a text, put it in quotes: '{word.value}'",
                )
        return condition

    def __reduce__(self) -> Any:
        return Condition, (self.text,)

    def __call__(self, record: Any) -> bool:
        if not isinstance(record, Mapping):
            raise SpaceError(f"the condition {self.text!r} is about fields, and {record!r} has none; give a function")
        try:
            return bool(self._calculate(self._code, Quantity, lambda name: Quantity(record[name])))
        except NameError as error:
            name = self._words[int(str(error.name)[1:])].value
            raise SpaceError(f"the condition {self.text!r} needs {name!r}, which {record!r} does not have") from None
        except (SpaceError, OverflowError, TypeError) as error:
            raise SpaceError(f"the condition {self.text!r}: {error}") from None

    @property
    def names(self) -> list[str]:
        """The names in it, each once."""
        return list(dict.fromkeys(word.value for word in self._words if word.kind == "name"))

    @cached_property
    def comparisons(self) -> list[tuple[LinearForm | None, str]]:
        """What must all hold: left − right, where it is linear, and the sign =, <= or >=, empty for all else."""
        return list(self._comparisons(self._tree))

    def _comparisons(self, node: ast.expr) -> Iterator[tuple[LinearForm | None, str]]:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for part in node.values:
                yield from self._comparisons(part)
        elif not isinstance(node, ast.Compare):
            yield None, ""
        else:
            for left, sign, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                yield self._difference(left, right) if type(sign) in SIGNS else None, SIGNS.get(type(sign), "")

    def _difference(self, left: ast.expr, right: ast.expr) -> LinearForm | None:
        code = self._compiled(ast.copy_location(ast.BinOp(left, ast.Sub(), right), left))
        try:
            form = self._calculate(code, lambda number: LinearForm({}, number), lambda name: LinearForm({name: 1.0}))
        except TypeError:
            return None
        return form if isinstance(form, LinearForm) and form.finite else None

    def _calculate(self, code: CodeType, value: Callable[[Any], Any], field: Callable[[str], Any]) -> Any:
        """What Python makes of the code; `value` and `field` say what numbers, texts and names stand for."""
        return eval(code, {"__builtins__": {}}, _Values(self._words, value, field))

    @cached_property
    def _words(self) -> list[Word]:
        """The words of the text, and its end."""
        if len(self.text) > LONGEST:
            raise SpaceError(
                f"a condition has at most {LONGEST} characters, and this one {len(self.text)}; use a function"
            )
        words: list[Word] = []
        at, end = 0, len(self.text.rstrip())
        while at < end:
            match = WORD.match(self.text, at)
            if match is None:
                at = end - len(self.text[at:].strip())
                raise self._fault(at, _unreadable(self.text[at]))
            at, kind = match.end(), str(match.lastgroup)
            text: str = match[kind]
            value: Any = text
            if kind == "number":
                value = float(text)
                if math.isinf(value):
                    raise self._fault(match.start(kind), f"{text} is too large; write a number below 1e308")
            elif kind == "sign":
                value = " ".join(PYTHON.get(text, text).lower().split())
            kind = {"quote": "text", "word": "name"}.get(kind, kind)
            words.append(Word(kind, value, match.start() + len(match[0]) - len(match[0].lstrip()), text))
            if len(words) > 1 and words[-2].ends and words[-1].begins:
                raise self._unexpected(words[-1], AFTER)
        return [*words, Word("end", None, end, "")]

    @cached_property
    def _tree(self) -> ast.expr:
        """What Python's parser makes of the words."""
        words = self._words
        shown = [word.value if word.kind == "sign" else f"_{i}" for i, word in enumerate(words[:-1])]
        try:
            return ast.parse("".join(text.ljust(COLUMNS) for text in shown), mode="eval").body
        except (RecursionError, MemoryError):
            raise self._fault(0, TOO_DEEP) from None
        except SyntaxError as error:
            # Python gives no place where the text ends too early.
            i = min((error.offset - 1) // COLUMNS if error.offset else len(shown), len(shown))
            if "never closed" in error.msg:
                raise self._fault(
                    words[i].at, f"{words[i].text!r} is never closed; close it, or leave it out"
                ) from None
            if "too many" in error.msg:
                raise self._fault(words[i].at, TOO_DEEP) from None
            raise self._unexpected(words[i], AFTER if i and words[i - 1].ends else BEFORE) from None

    @cached_property
    def _code(self) -> CodeType:
        """The tree for Python to calculate, where each part of it stands in its place."""
        if not _is_truth(self._tree):
            raise self._unexpected(self._after(self._tree), "a comparison such as < 20")
        lists = set()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Compare):
                for sign, right in zip(node.ops, node.comparators, strict=True):
                    if isinstance(sign, ast.In | ast.NotIn):
                        i = right.col_offset // COLUMNS
                        if not getattr(right, "elts", self._words[i - 1].value == "("):
                            raise self._unexpected(self._words[i], "a list such as ['THF', 'DMF']")
                        lists.add(right)
            elif isinstance(node, ast.BoolOp | ast.BinOp | ast.UnaryOp):
                for part in ast.iter_child_nodes(node):
                    if not isinstance(part, ast.expr) or _is_truth(part) == _is_truth(node):
                        continue
                    if _is_truth(node):
                        raise self._unexpected(self._after(part), COMPARISON)
                    at = self._words[part.col_offset // COLUMNS].at
                    raise self._fault(at, "a comparison is no number to calculate with; put `and` or `or` between")
            elif isinstance(node, ast.expr) and not isinstance(node, ast.Name) and node not in lists:
                raise self._unexpected(
                    self._words[node.col_offset // COLUMNS], f"{BEFORE}, and lists after `in` alone,"
                )
        return self._compiled(self._tree)

    def _compiled(self, tree: ast.expr) -> CodeType:
        try:
            return compile(ast.Expression(tree), "<condition>", "eval")
        except RecursionError:
            raise self._fault(0, TOO_DEEP) from None

    def _after(self, node: ast.expr) -> Word:
        return self._words[-(-(node.end_col_offset or 0) // COLUMNS)]

    def _fault(self, at: int, what: str) -> SpaceError:
        """The error about a place, which is counted from 1."""
        return SpaceError(f"the condition {self.text!r} cannot be read at position {at + 1}: {what}")

    def _unexpected(self, word: Word, wanted: str) -> SpaceError:
        what = "it ends here" if word.kind == "end" else f"{word.text!r} is not expected"
        return self._fault(word.at, f"{what}; write {wanted} here")


class _Values(dict[str, Any]):
    """What the placeholders stand for; Python asks when it comes to one."""

    def __init__(self, words: list[Word], value: Callable[[Any], Any], field: Callable[[str], Any]) -> None:
        self.words, self.value, self.field = words, value, field

    def __missing__(self, placeholder: str) -> Any:
        word = self.words[int(placeholder[1:])]
        return (self.field if word.kind == "name" else self.value)(word.value)


def _is_truth(node: ast.expr) -> bool:
    """Whether it is true or false: a comparison, or several, or the contrary of one."""
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _unreadable(letter: str) -> str:
    if letter in "'\"`":
        return f"the quote {letter} is not closed"
    if letter.isdigit():
        return "this is no number; put names that begin with a digit between `…`, as in `2nd base`"
    return f"{letter!r} means nothing here; put names with such signs between `…`, as in `cost (EUR)`"
