"""Mutants of a parent: strings that differ from it in a few places, as in protein engineering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Self

from likewise.errors import SpaceError
from likewise.similarity.auto.recognise import Recognised, of_kind, of_texts
from likewise.spaces.base import Generator, checked_where, checked_whole
from likewise.spaces.drawing import MOVES, child, neighbours, some
from likewise.spaces.strings import ALPHABETS, letters_of
from likewise.spaces.texts import Texts, checked_text

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

    def describe(self) -> dict[str, Any]:
        places = {} if self.positions is None else {"positions": list(self.places)}
        found = {"parent": self.parent, "most": self.most, "alphabet": "".join(self.letters)}
        return {"space": "Mutants", **found, **places}
