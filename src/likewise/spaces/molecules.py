"""Molecules around a start set, as canonical SMILES; new ones come from edits of their SELFIES tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from likewise.errors import SpaceError, import_extra
from likewise.similarity.kinds.molecules import canonical_text
from likewise.spaces.base import (
    Edits,
    Generator,
    Texts,
    checked_text,
    checked_where,
    checked_whole,
    child,
    edits,
    higher,
    more,
    neighbours,
)

TRIED = 64
EDITS = 4
ORGANIC = (
    *("[C]", "[=C]", "[#C]", "[N]", "[=N]", "[#N]", "[O]", "[=O]", "[S]", "[=S]", "[F]", "[Cl]", "[Br]"),
    *("[Branch1]", "[=Branch1]", "[Branch2]", "[Ring1]", "[=Ring1]", "[Ring2]"),
)

Tokens = list[str]


def _selfies() -> Any:
    return import_extra("selfies", "Molecules", "selfies", "molecules")


@dataclass(frozen=True)
class Molecules(Texts):
    """Molecules near some start molecules.

    - `start`: a list of SMILES. New molecules come from these by replacing, inserting and deleting SELFIES tokens.
    - `max_tokens`: the most SELFIES tokens of a new molecule; by default half as many again as the longest start
      molecule has, and at least ten.
    - `alphabet`: the tokens of new molecules; by default those of the start molecules and of the organic elements.
    - `where`: a function that says whether a SMILES is allowed; by default all are.

    Objects are canonical SMILES, and every valid one is a member. Samples are start molecules with up to three edits.

    >>> molecules = Molecules(["OCC", "c1ccccc1"])
    >>> molecules.fit("OCC"), "C1CC" in molecules
    ('CCO', False)
    """

    kind = "molecules"
    grows = MappingProxyType({"start": more, "max_tokens": higher, "alphabet": more})
    start: Sequence[str]
    _: KW_ONLY
    max_tokens: int | None = None
    alphabet: Sequence[str] | None = None
    where: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        checked_where(self.where)
        checked_whole("the max_tokens of Molecules", self.max_tokens)
        if isinstance(self.start, str) or not isinstance(self.start, Sized) or not len(self.start):
            raise SpaceError(f"Molecules needs a list of at least one SMILES to start from, not {self.start!r}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise SpaceError(f"Molecules needs max_tokens of at least 1, not {self.max_tokens}")
        self._known  # noqa: B018

    @cached_property
    def _known(self) -> tuple[str, ...]:
        """The start molecules in canonical form."""
        known: dict[str, None] = {}
        for number, smiles in enumerate(self.start):
            try:
                known[self._fit(smiles)] = None
            except SpaceError as error:
                raise SpaceError(f"start molecule {number}: {error}") from None
        return tuple(known)

    @cached_property
    def _start(self) -> list[tuple[str, Tokens]]:
        return [(smiles, _tokens(smiles)) for smiles in self._known]

    @cached_property
    def limit(self) -> int:
        """The most tokens that a new molecule has."""
        if self.max_tokens is not None:
            return self.max_tokens
        return max(10, 3 * max(len(tokens) for _, tokens in self._start) // 2)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The SELFIES tokens of which new molecules are made."""
        if self.alphabet is not None:
            return tuple(self.alphabet)
        used = {token for _, tokens in self._start for token in tokens}
        return tuple(dict.fromkeys((*ORGANIC, *sorted(used))))

    def _draw(self, n: int, rng: Generator) -> list[str]:
        return [self._random(rng) for _ in range(n)]

    def _random(self, rng: Generator) -> str:
        smiles, tokens = self._start[int(rng.integers(len(self._start)))]
        for _ in range(int(rng.integers(EDITS))):
            tokens = self._edited(tokens, 1, rng)[0] if tokens else tokens
        return _smiles(tokens) or smiles

    def _fit(self, x: Any) -> str:
        smiles = canonical_text(checked_text(x, "a SMILES string"))
        if smiles is None:
            raise SpaceError(f"{x!r} is not a valid SMILES; correct its rings, brackets and valences")
        return smiles

    def moves(self, x: str, rng: Generator) -> list[str]:
        """Molecules one SELFIES token away."""
        tokens = _tokens(x)
        if not tokens:
            return []
        made = [_smiles(edited) for edited in self._edited(tokens, TRIED, rng)]
        return neighbours(self, x, [smiles for smiles in made if smiles is not None])

    def _edited(self, tokens: Tokens, count: int, rng: Generator) -> list[Tokens]:
        """Up to `count` versions of the tokens, each with one replaced, inserted or deleted."""
        n, k = len(tokens), len(self.tokens)

        def replace(i: int) -> Tokens:
            return [*tokens[: i // k], self.tokens[i % k], *tokens[i // k + 1 :]]

        def insert(i: int) -> Tokens:
            return [*tokens[: i // k], self.tokens[i % k], *tokens[i // k :]]

        kinds: list[Edits] = [
            (n * k, replace),
            ((n + 1) * k if n < self.limit else 0, insert),
            (n if n > 1 else 0, lambda i: [*tokens[:i], *tokens[i + 1 :]]),
        ]
        if count == 1:
            possible = [kind for kind in kinds if kind[0]]
            size, edit = possible[int(rng.integers(len(possible)))]
            return [edit(int(rng.integers(size)))]
        return edits(kinds, count, rng)

    def crossover(self, x: str, other: str, rng: Generator) -> str:
        """The first tokens of x and the last of the other."""
        head, tail = _tokens(x), _tokens(other)

        def mixed() -> str:
            i, j = int(rng.integers(len(head) + 1)), int(rng.integers(len(tail) + 1))
            mix = [*head[:i], *tail[j:]]
            return (_smiles(mix) if len(mix) <= self.limit else None) or x

        return child(self, mixed, x)

    def _describe(self) -> dict[str, Any]:
        return {
            "space": "Molecules",
            "start": sorted(self._known),
            "max_tokens": self.limit,
            "alphabet": list(self.tokens),
        }


def _smiles(tokens: Tokens) -> str | None:
    """The molecule of the tokens; None where there is none."""
    return canonical_text(_selfies().decoder("".join(tokens)))


def _tokens(smiles: str) -> Tokens:
    """The SELFIES tokens of a molecule; none where SELFIES cannot express it, which then has no moves."""
    selfies = _selfies()
    try:
        return list(selfies.split_selfies(selfies.encoder(smiles, strict=False)))
    except selfies.EncoderError:
        return []
