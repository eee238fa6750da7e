"""Strings over an alphabet: DNA, peptides, codes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Self

from likewise.errors import SpaceError
from likewise.similarity.auto.recognise import Recognised, of_texts
from likewise.spaces.base import Generator, checked_where, checked_whole
from likewise.spaces.drawing import MOVES, Edits, child, edits, neighbours
from likewise.spaces.texts import Texts, checked_text

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

    def describe(self) -> dict[str, Any]:
        return {
            "space": "Strings",
            "alphabet": "".join(self.letters),
            "min_length": self.shortest,
            "max_length": self.longest,
        }
