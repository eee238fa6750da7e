"""A condition on the fields of a record, as text: `cost < 20 and solvent != 'DMF'`.

There are numbers, texts in quotes, names of fields, + − * /, the signs = != < <= > >=, `in [a, b]`, `and`, `or`, `not`
and parentheses. Names with spaces or other signs stand between backquotes. Nothing else can be said, and nothing is
executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from likewise.errors import SpaceError
from likewise.spaces.conditions.terms import Among, Comparison, Constant, Every, Name, Not, Product, Sum, Term
from likewise.spaces.conditions.tokens import Token, fault, tokens

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
        if not isinstance(term, Comparison | Among | Every | Not):
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
        if not isinstance(term, Comparison | Among | Every | Not):
            raise self.fault("a comparison on both sides of `and`, `or` and after `not`")
        return term

    def comparison(self) -> Term:
        left = self.sum()
        pairs: list[Term] = []
        while (sign := self.take(*COMPARED)) is not None:
            right = self.sum()
            pairs.append(Comparison(left, sign.text, right))
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
        return terms[0][1] if len(terms) == 1 else Sum(tuple(terms))

    def product(self) -> Term:
        term, many = self.factor(), 0
        while (sign := self.take("*", "/")) is not None:
            many += 1
            if many > DEEPEST:
                raise fault(self.text, sign.at, f"more than {DEEPEST} factors; use fewer")
            term = Product(term, self.factor(), sign.text == "/")
        return term

    def factor(self) -> Term:
        token = self.here
        if sign := self.take("-", "+"):
            inner = self.deeper(self.factor)
            return inner if sign.text == "+" else Product(Constant(-1.0), inner, False)
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
