"""Optuna's distributions as parts of a space: choices are known by their numbers, and stand for objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from likewise.errors import SimilarityError, SpaceError
from likewise.similarity.auto.recognise import Recognised
from likewise.similarity.base import Function, Similarity
from likewise.similarity.combine.wrapper import Through
from likewise.similarity.encodings.arrays import Encoding
from likewise.similarity.from_distance import from_distance
from likewise.similarity.from_function import as_similarity
from likewise.spaces.base import Generator, Space
from likewise.spaces.categorical import Categorical
from likewise.spaces.numbers.scalar import Float, Int


def number_of(distribution: BaseDistribution, choice: Any) -> str:
    """The number of a choice, as a text."""
    return str(int(distribution.to_internal_repr(choice)))


def choice_of(distribution: BaseDistribution, value: Any) -> Any:
    """The choice of a number; other values as they are."""
    return distribution.choices[int(value)] if isinstance(distribution, CategoricalDistribution) else value


@dataclass(frozen=True)
class Compared(Categorical):
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
        for what, one in (("similarity", similarity), ("distance", distance), ("objects", objects)):
            if not isinstance(one, Mapping):
                raise SimilarityError(
                    f"`{what}` is by parameter, as in {what}={{'solvent': …}}, not {one!r}; name the parameter"
                )
        both = sorted(set(similarity) & set(distance))
        if both:
            raise SimilarityError(f"parameter {both[0]!r} has a similarity and a distance; give one of them")
        lost = sorted(set(objects) - set(similarity) - set(distance))
        if lost:
            raise SimilarityError(f"parameter {lost[0]!r} has objects and nothing that compares them; add a similarity")
        compared = {name: as_similarity(one) for name, one in similarity.items()}
        return cls(compared | {name: from_distance(one) for name, one in distance.items()}, dict(objects))

    def part(self, name: str, distribution: BaseDistribution) -> Space:
        """The space of a parameter."""
        if isinstance(distribution, FloatDistribution):
            return Float(distribution.low, distribution.high, distribution.step, log=distribution.log)
        if isinstance(distribution, IntDistribution):
            return Int(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
        assert isinstance(distribution, CategoricalDistribution)
        numbers = [str(i) for i in range(len(distribution.choices))]
        if name not in self.similarities:
            return Categorical(numbers)
        objects = self.objects.get(name, distribution.choices)
        if len(objects) != len(numbers):
            raise SpaceError(
                f"parameter {name!r} has {len(numbers)} choices and {len(objects)} objects; give one for each choice"
            )
        return Compared(numbers, similarity=StandsFor(self.similarities[name], tuple(objects)))
