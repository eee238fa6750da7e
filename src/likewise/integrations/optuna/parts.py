"""Optuna's distributions as parts of a space: choices are known by their numbers, and stand for objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from likewise.errors import SimilarityError, SpaceError, did_you_mean
from likewise.similarity.auto.recognise import Recognised
from likewise.similarity.base import Function, Similarity
from likewise.similarity.combine.wrapper import Through
from likewise.similarity.encodings.arrays import Encoding
from likewise.similarity.from_distance import from_distance
from likewise.similarity.from_function import as_similarity
from likewise.spaces.base import Generator, Space
from likewise.spaces.categorical import Categorical
from likewise.spaces.numbers.scalar import Float, Int


class Number(str):
    """The number of a choice as a text, which messages show as the choice itself.

    >>> number = Number(1, "DMF")
    >>> number == "1", number
    (True, 'DMF')
    """

    def __new__(cls, number: int, choice: Any) -> Number:
        made = super().__new__(cls, number)
        made.choice = choice
        return made

    choice: Any

    def __repr__(self) -> str:
        return repr(self.choice)


def numbers_of(distribution: CategoricalDistribution) -> list[Number]:
    """The numbers of all choices, in their order."""
    return [Number(i, choice) for i, choice in enumerate(distribution.choices)]


def number_of(distribution: BaseDistribution, choice: Any) -> Number:
    """The number of a choice, as a text."""
    return Number(int(distribution.to_internal_repr(choice)), choice)


def choice_of(distribution: BaseDistribution, value: Any) -> Any:
    """The choice of a number; other values as they are."""
    return distribution.choices[int(value)] if isinstance(distribution, CategoricalDistribution) else value


@dataclass(frozen=True)
class Choices(Categorical):
    """Choices by their numbers, which are handed on as they are: to messages they are what was chosen."""

    @property
    def objects(self) -> tuple[Any, ...]:
        return tuple(self.values)

    def _fit(self, x: Any) -> Any:
        return self.values[int(super()._fit(x))]


@dataclass(frozen=True)
class Compared(Choices):
    """Choices that are compared by a similarity of the user's."""

    similarity: Similarity | None = None

    def recognise(self, rng: Generator) -> Recognised:
        assert self.similarity is not None
        return Recognised("categories", "their similarity is given", (self.similarity,))

    def recognise_part(self, rng: Generator) -> Recognised:
        return self.recognise(rng)

    def view(self, similarity: Similarity) -> Similarity:
        return similarity


@dataclass(frozen=True)
class StandsFor(Through):
    """The inner similarity, of what numbers stand for. PSD if that one is.

    >>> from likewise.similarity.kinds.strings import Levenshtein
    >>> StandsFor(Levenshtein(), ("THF", "MeTHF"))("0", "1") == Levenshtein()("THF", "MeTHF")
    True
    """

    inner: Similarity
    objects: Sequence[Any]

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.inner.encode([self.objects[int(number)] for number in objects])


@dataclass(frozen=True)
class Parts:
    """How the choices of some parameters are compared, and what they stand for, by the parameter's name."""

    similarities: Mapping[str, Similarity] = field(default_factory=dict)
    objects: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @classmethod
    def given(
        cls,
        similarity: Mapping[str, Similarity | Function],
        distance: Mapping[str, Function],
        objects: Mapping[str, Sequence[Any]],
    ) -> Parts:
        """From what a user says."""
        for what, mapping in (("similarity", similarity), ("distance", distance), ("objects", objects)):
            if not isinstance(mapping, Mapping) or not all(isinstance(name, str) for name in mapping):
                raise SimilarityError(
                    f"`{what}` is by parameter, as in {what}={{'solvent': …}}, not {mapping!r}; name the parameter"
                )
        bare = next((name for name, these in objects.items() if not isinstance(these, Sequence | np.ndarray)), None)
        if bare is not None:
            raise SimilarityError(
                f"the objects of parameter {bare!r} are a list, one for each choice, not {objects[bare]!r}"
            )
        both = sorted(set(similarity) & set(distance))
        if both:
            raise SimilarityError(f"parameter {both[0]!r} has a similarity and a distance; give one of them")
        lost = sorted(set(objects) - set(similarity) - set(distance))
        if lost:
            raise SimilarityError(f"parameter {lost[0]!r} has objects and nothing that compares them; add a similarity")
        compared = {name: as_similarity(one) for name, one in similarity.items()}
        return cls(compared | {name: from_distance(one) for name, one in distance.items()}, dict(objects))

    def check(self, distributions: Mapping[str, BaseDistribution]) -> None:
        """Refuse a name that no trial has and that is near to one that trials have; and numbers, compared as such.

        A parameter may occur in later trials only, which is why other names that no trial has are left alone.
        """
        free = [name for name in distributions if name not in self.similarities]
        for name in self.similarities:
            distribution = distributions.get(name)
            if distribution is not None and not isinstance(distribution, CategoricalDistribution):
                raise SimilarityError(
                    f"parameter {name!r} is a number, {distribution}, and numbers are compared by how far apart they "
                    "are; leave it out, or suggest it by suggest_categorical"
                )
            if distribution is None and get_close_matches(name, free, cutoff=0.75):
                raise SimilarityError(
                    f"no trial has the parameter {name!r}, which is given a similarity; {did_you_mean(name, free)} "
                    "If later trials have both, give both a similarity"
                )

    def part(self, name: str, distribution: BaseDistribution) -> Space:
        """The space of a parameter."""
        if isinstance(distribution, FloatDistribution):
            return Float(distribution.low, distribution.high, distribution.step, log=distribution.log)
        if isinstance(distribution, IntDistribution):
            return Int(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
        assert isinstance(distribution, CategoricalDistribution)
        numbers = numbers_of(distribution)
        if name not in self.similarities:
            return Choices(numbers)
        objects = self.objects.get(name, distribution.choices)
        if len(objects) != len(numbers):
            raise SpaceError(
                f"parameter {name!r} has {len(numbers)} choices and {len(objects)} objects; give one for each choice"
            )
        return Compared(numbers, similarity=StandsFor(self.similarities[name], tuple(objects)))
