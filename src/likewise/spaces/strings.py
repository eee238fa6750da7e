"""Strings over an alphabet: DNA, peptides, codes; all of some lengths, or the mutants of a parent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

from likewise.errors import SpaceError
from likewise.similarity.auto import Recognised, of_kind, of_texts
from likewise.spaces.base import (
    MOVES,
    Edits,
    Generator,
    Texts,
    checked_text,
    checked_where,
    checked_whole,
    child,
    edits,
    higher,
    lower,
    more,
    neighbours,
    some,
)

# Strings over an alphabet: DNA, peptides, codes.

DOUBLES = 8
# Alphabets that have a name.
ALPHABETS = {"dna": "ACGT", "rna": "ACGU", "protein": "ACDEFGHIKLMNPQRSTVWY"}


def letters_of(alphabet: Any) -> tuple[str, ...]:
    """The letters of an alphabet that is given by its name, as one text or as a list.

    >>> letters_of("dna"), letters_of("xy")
    (('A', 'C', 'G', 'T'), ('x', 'y'))
    """
    if isinstance(alphabet, str):
        return tuple(ALPHABETS.get(alphabet, alphabet))
    if not isinstance(alphabet, Iterable):
        raise SpaceError(
            f"an alphabet is a text or a list of letters, or one of {', '.join(ALPHABETS)}, not {alphabet!r}"
        )
    return tuple(alphabet)


@dataclass(frozen=True)
class Strings(Texts):
    """Strings of letters of an alphabet.

    - `alphabet`: the letters, as one text or a list, or "dna", "rna" or "protein".
    - `length`: how many letters each string has; or else
    - `min_length`, `max_length`: how many at least, by default 1, and at most.
    - `where`: a function that says whether a string is allowed; by default all are.

    Where the length varies, every length is sampled as often as every other. Moves substitute a letter, swap two
    neighbours, and insert or delete a letter where the length varies; a few substitute two letters at once.

    >>> import numpy as np
    >>> dna = Strings("ACGT", length=8)
    >>> dna.size, "ACGTACGT" in dna, "ACGU" in dna
    (65536, True, False)
    >>> len(Strings("ACGT", length=1).moves("A", np.random.default_rng(0)))
    3
    """

    short = "strings:ACGT:8"
    grows = MappingProxyType({"alphabet": more, "min_length": lower, "max_length": higher})
    alphabet: str | Sequence[str]
    length: int | None = None
    _: KW_ONLY
    min_length: int | None = None
    max_length: int | None = None
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        wrong = [letter for letter in self.letters if not isinstance(letter, str) or len(letter) != 1]
        if wrong:
            raise SpaceError(
                f"an alphabet consists of single letters, and {wrong[0]!r} is none; for longer tokens use a Grammar"
            )
        if not self.letters or len(set(self.letters)) < len(self.letters):
            raise SpaceError(f"an alphabet needs at least one letter, and each once: {self.alphabet!r}")
        if (self.length is None) == (self.min_length is None and self.max_length is None):
            raise SpaceError("Strings needs a length, or a max_length with or without a min_length, and not both")
        if self.length is None and self.max_length is None:
            raise SpaceError(f"Strings with min_length={self.min_length} needs a max_length too")
        for name in ("length", "min_length", "max_length"):
            checked_whole(f"the {name} of Strings", getattr(self, name))
        checked_where(self.where)
        if not 0 <= self.shortest <= self.longest or self.longest == 0:
            raise SpaceError(f"no string has between {self.shortest} and {self.longest} letters; give other lengths")

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Letters and a length, or two lengths: `ACGT:4-8`."""
        alphabet, _, length = text.rpartition(":")
        low, dash, high = length.partition("-")
        if not dash:
            return cls(alphabet, length=int(low))
        return cls(alphabet, min_length=int(low), max_length=int(high))

    def to_text(self) -> str | None:
        """The short form, whole: `dna:8`; None where there is none."""
        letters = "".join(self.letters)
        named = next((name for name, each in ALPHABETS.items() if each == letters), None)
        if named is None and re.fullmatch(r"\w+", letters) is None:
            return None
        length = str(self.longest) if self.shortest == self.longest else f"{self.shortest}-{self.longest}"
        return f"{named or f'strings:{letters}'}:{length}"

    def _recognised(self, objects: Sequence[str]) -> Recognised:
        return of_texts(objects, molecules=False)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        return letters_of(self.alphabet)

    @cached_property
    def _rank(self) -> dict[str, int]:
        return {letter: rank for rank, letter in enumerate(self.letters)}

    @property
    def shortest(self) -> int:
        if self.length is not None:
            return self.length
        return 1 if self.min_length is None else self.min_length

    @property
    def longest(self) -> int:
        return self.length if self.length is not None else self.max_length or 0

    @property
    def size(self) -> int:
        """How many strings there are, before `where` is asked."""
        return sum(len(self.letters) ** length for length in range(self.shortest, self.longest + 1))

    def _draw(self, n: int, rng: Generator) -> list[str]:
        lengths = rng.integers(self.shortest, self.longest + 1, size=n)
        codes = rng.integers(len(self.letters), size=(n, self.longest)).tolist()
        letters = self.letters
        return ["".join([letters[c] for c in row[:length]]) for row, length in zip(codes, lengths, strict=True)]

    def _fit(self, x: Any) -> str:
        x = checked_text(x)
        for position, letter in enumerate(x):
            if letter not in self._rank:
                raise SpaceError(
                    f"{x!r} has the letter {letter!r} at position {position}, "
                    f"which is not in the alphabet {''.join(self.letters)!r}"
                )
        if not self.shortest <= len(x) <= self.longest:
            fixed = self.shortest == self.longest
            needed = self.longest if fixed else f"between {self.shortest} and {self.longest}"
            raise SpaceError(f"{x!r} has {len(x)} letters, but strings of this space have {needed}")
        return x

    def moves(self, x: str, rng: Generator) -> list[str]:
        """Strings one edit away, all of them when they are few, and some with two substitutions."""
        return neighbours(self, x, [*edits(self._edits(x), MOVES - DOUBLES, rng), *self._doubles(x, rng)])

    def _edits(self, x: str) -> list[Edits]:
        """For each kind of edit, how many there are and the i-th one."""
        k, n, letters = len(self.letters), len(x), self.letters

        def substitute(i: int) -> str:
            at, step = divmod(i, k - 1)
            return x[:at] + letters[(self._rank[x[at]] + 1 + step) % k] + x[at + 1 :]

        def insert(i: int) -> str:
            at, letter = divmod(i, k)
            return x[:at] + letters[letter] + x[at:]

        return [
            (n * (k - 1), substitute),
            (max(n - 1, 0), lambda i: x[:i] + x[i + 1] + x[i] + x[i + 2 :]),
            ((n + 1) * k if n < self.longest else 0, insert),
            (n if n > self.shortest else 0, lambda i: x[:i] + x[i + 1 :]),
        ]

    def _doubles(self, x: str, rng: Generator) -> list[str]:
        if len(x) < 2 or len(self.letters) < 2:
            return []
        made = []
        for _ in range(DOUBLES):
            letters = list(x)
            for at in rng.choice(len(x), size=2, replace=False):
                letters[at] = self.letters[int(rng.integers(len(self.letters)))]
            made.append("".join(letters))
        return made

    def crossover(self, x: str, other: str, rng: Generator) -> str:
        """x with a segment from the same place in the other."""

        def mixed() -> str:
            start, end = sorted(rng.integers(min(len(x), len(other)) + 1, size=2).tolist())
            return x[:start] + other[start:end] + x[end:]

        return child(self, mixed, x)

    def _describe(self) -> dict[str, Any]:
        return {
            "space": "Strings",
            "alphabet": "".join(self.letters),
            "min_length": self.shortest,
            "max_length": self.longest,
        }


# Mutants of a parent: strings that differ from it in a few places, as in protein engineering.

KINDS = {"dna": "DNA", "rna": "RNA", "protein": "proteins"}


@dataclass(frozen=True)
class Mutants(Texts):
    """Strings that differ from a parent by a few substitutions; the parent is one of them.

    - `parent`: the string that is mutated.
    - `most`: how many letters may be substituted, at most; 3 by default.
    - `alphabet`: the letters that may stand in a mutated place: one text or a list, or "dna", "rna" or "protein". By
      default the first of these three that has all letters of the parent.
    - `positions`: the places that may be mutated, counted from 0; by default all.
    - `where`: a function that says whether a string is allowed; by default all are.

    Every number of substitutions from 1 to `most` is sampled as often as every other. Moves substitute a letter, take a
    substitution back, or put it elsewhere.

    >>> variants = Mutants("MKTAYIAK", most=2)
    >>> variants.size, "MKTAYIAK" in variants, "MKTWYIAW" in variants, "AAAAYIAK" in variants
    (10261, True, True, False)
    >>> variants.mutations("MKTWYIAW")
    ['A4W', 'K8W']
    """

    short = "mutants:MKTAYIAK:3"
    grows = MappingProxyType({"most": higher, "alphabet": more, "positions": more})
    parent: str
    most: int = 3
    _: KW_ONLY
    alphabet: str | Sequence[str] | None = None
    positions: Sequence[int] | None = None
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        if not isinstance(self.parent, str) or not self.parent:
            raise SpaceError(f"the parent of Mutants is a string with at least one letter, not {self.parent!r}")
        if checked_whole("`most` of Mutants", self.most) is None or self.most < 1:
            raise SpaceError(f"most={self.most!r}: give the number of substitutions, at least 1")
        wrong = [letter for letter in self.letters if not isinstance(letter, str) or len(letter) != 1]
        if wrong or len(set(self.letters)) < max(len(self.letters), 2):
            raise SpaceError(f"an alphabet has at least two single letters, and each once: {self.alphabet!r}")
        outside = [place for place in self.places if not 0 <= place < len(self.parent)]
        if outside or not self.places or len(set(self.places)) < len(self.places):
            raise SpaceError(
                f"positions={list(self.places)!r}: give some places from 0 to {len(self.parent) - 1}, each once"
            )

    @classmethod
    def from_text(cls, text: str) -> Self:
        parent, _, most = text.rpartition(":")
        return cls(parent, int(most))

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters that may stand in a mutated place."""
        if self.alphabet is not None:
            return letters_of(self.alphabet)
        for letters in ALPHABETS.values():
            if set(self.parent) <= set(letters):
                return tuple(letters)
        odd = next(letter for letter in self.parent if letter not in ALPHABETS["protein"])
        raise SpaceError(
            f"the parent has {odd!r}, which is in none of the alphabets {', '.join(ALPHABETS)}; give alphabet=…"
        )

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The places that may be mutated."""
        given = range(len(self.parent)) if self.positions is None else self.positions
        return tuple(checked_whole("a position of Mutants", place) for place in given)

    @property
    def _most(self) -> int:
        return min(self.most, len(self.places))

    @cached_property
    def _others(self) -> dict[int, tuple[str, ...]]:
        """For each place the letters that the parent does not have there."""
        return {place: tuple(x for x in self.letters if x != self.parent[place]) for place in self.places}

    @property
    def size(self) -> int:
        """How many strings there are, before `where` is asked."""
        # Σ over sets of places of the product of their letters, by the number of places.
        ways = [1] + [0] * self._most
        for place in self.places:
            for k in range(self._most, 0, -1):
                ways[k] += ways[k - 1] * len(self._others[place])
        return sum(ways)

    def mutations(self, x: str) -> list[str]:
        """What is different from the parent, as it is usually written: A4W is W for A in the fourth place."""
        return [f"{self.parent[i]}{i + 1}{x[i]}" for i in self._mutated(x)]

    def _mutated(self, x: str) -> list[int]:
        return [i for i, (a, b) in enumerate(zip(self.parent, x, strict=True)) if a != b]

    def _draw(self, n: int, rng: Generator) -> list[str]:
        counts = rng.integers(1, self._most + 1, size=n).tolist()
        return [self._mutate(self.parent, rng.choice(self.places, size=k, replace=False).tolist(), rng) for k in counts]

    def _mutate(self, x: str, places: Sequence[int], rng: Generator) -> str:
        letters = list(x)
        for place in places:
            others = self._others[place]
            letters[place] = others[int(rng.integers(len(others)))]
        return "".join(letters)

    def _fit(self, x: Any) -> str:
        x = checked_text(x)
        if len(x) != len(self.parent):
            raise SpaceError(f"{x!r} has {len(x)} letters, and the parent has {len(self.parent)}; only substitute")
        mutated = self._mutated(x)
        for i in mutated:
            if i not in self._others:
                raise SpaceError(f"{x!r} is mutated at position {i}, which is not one of the positions")
            if x[i] not in self._others[i]:
                raise SpaceError(f"{x!r} has the letter {x[i]!r} at position {i}, which is not in the alphabet")
        if len(mutated) > self.most:
            raise SpaceError(f"{x!r} has {len(mutated)} substitutions, and at most {self.most} are allowed")
        return x

    def moves(self, x: str, rng: Generator) -> list[str]:
        """Strings one substitution away: new ones, changed ones, some taken back, and some put elsewhere."""
        mutated = self._mutated(x)
        back = [self._put(x, i, self.parent[i]) for i in mutated]
        bases = [x] if len(mutated) < self._most else []
        near = [self._put(base, i, letter) for base in bases for i in self.places for letter in self._others[i]]
        near += [self._put(x, i, letter) for i in mutated for letter in self._others[i]]
        near += [self._mutate(base, [int(rng.choice(self.places))], rng) for base in back for _ in range(MOVES // 4)]
        return neighbours(self, x, [*back, *(near[i] for i in some(len(near), MOVES - len(back), rng))])

    @staticmethod
    def _put(x: str, place: int, letter: str) -> str:
        return x[:place] + letter + x[place + 1 :]

    def crossover(self, x: str, other: str, rng: Generator) -> str:
        """Substitutions of both, of each place one or the other; as many as are allowed."""

        def mixed() -> str:
            found = {i: parent[i] for parent in (x, other) for i in self._mutated(parent) if rng.random() < 0.5}
            kept = [list(found)[i] for i in some(len(found), self._most, rng)]
            letters = list(self.parent)
            for i in kept:
                letters[i] = found[i]
            return "".join(letters)

        return child(self, mixed, x)

    def _recognised(self, objects: Sequence[str]) -> Recognised:
        """By the alphabet where it has a name, else by the strings."""
        name = next((name for name, letters in ALPHABETS.items() if tuple(letters) == self.letters), None)
        if name is None or not set(self.parent) <= set(self.letters):
            return of_texts(objects, molecules=False)
        return of_kind(KINDS[name], f"they are mutants over the alphabet {name}", objects)  # type: ignore[arg-type]

    def _describe(self) -> dict[str, Any]:
        places = {} if self.positions is None else {"positions": list(self.places)}
        found = {"parent": self.parent, "most": self.most, "alphabet": "".join(self.letters)}
        return {"space": "Mutants", **found, **places}
