"""From what a user gives as `similarity` to the similarities of a committee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.auto import catalogue
from likewise.similarity.auto.catalogue import Kind
from likewise.similarity.auto.recognise import Recognised, of_field, of_kind, of_records, of_texts, recognise
from likewise.similarity.auto.text_kind import writing
from likewise.similarity.base import Similarity
from likewise.similarity.combine.fixed import Fixed, fixed
from likewise.similarity.from_function import as_similarity
from likewise.similarity.kinds.vectors import VectorSimilarity
from likewise.spaces.base import Enumerable, Space

SimilarityLike = Similarity | Callable[[Any, Any], float]
Given = SimilarityLike | Sequence[SimilarityLike] | Literal["auto"]
SAMPLE = 100


def similarities(given: Given, space: Space, rng: np.random.Generator) -> tuple[Similarity, ...]:
    """One similarity, a plain function, a list of either, or "auto" for the catalogue that fits the objects."""
    named = named_similarities(given)
    return tuple(seen(one, space.view) for one in (recognised(space, rng).similarities if named is None else named))


def named_similarities(given: Given) -> tuple[Similarity, ...] | None:
    """The similarities that are given; None for "auto"."""
    if isinstance(given, str):
        if given != "auto":
            raise SimilarityError(f"unknown similarity {given!r}; give a similarity, a list of them, or 'auto'")
        return None
    several = cast(Sequence[SimilarityLike], given if isinstance(given, Sequence) else [given])
    if not several:
        raise SimilarityError("an empty list of similarities compares nothing; give at least one, or 'auto'")
    return tuple(as_similarity(one) for one in several)


def seen(similarity: Similarity, view: Callable[[Similarity], Similarity]) -> Similarity:
    """A similarity that is fixed as a whole, with what is inside as a space sees it; others are left to the space."""
    if isinstance(similarity, Fixed) and not isinstance(similarity, VectorSimilarity):
        return fixed(view(similarity.inner))
    return similarity


def recognised(space: Space, rng: np.random.Generator) -> Recognised:
    """The kind of a space's objects and the similarities that suit it: by the space itself, or by a sample.

    >>> from likewise.spaces.box import Box
    >>> recognised(Box([0.0, 0.0], [1.0, 2.0]), np.random.default_rng(0)).why
    'the space is a box of 2 dimensions'
    """
    from likewise.spaces.record import Record

    if isinstance(space, Enumerable) and not len(space.objects):
        return of_kind("nothing", "the space has no objects", [])
    if isinstance(space, Record):
        fields = {name: _field(part, rng) for name, part in space.parts.items() if not _single(part)}
        return of_records(fields or {name: _field(part, rng) for name, part in space.parts.items()})
    objects = _sample(space, rng)
    return _by_space(space, objects) or recognise(objects)


def _sample(space: Space, rng: np.random.Generator) -> list[Any]:
    """Some objects, of a short list each once."""
    return space.sample(min(SAMPLE, len(space.objects)) if isinstance(space, Enumerable) else SAMPLE, rng)


def _single(space: Space) -> bool:
    return isinstance(space, Enumerable) and len(space.objects) == 1


def _field(space: Space, rng: np.random.Generator) -> Recognised:
    """A record's field: by its space where that knows, else by the values it takes."""
    from likewise.spaces.pools.pool import Pool
    from likewise.spaces.record import Record

    if isinstance(space, Pool):
        return of_field(space.sample(SAMPLE, rng))
    found = recognised(space, rng)
    if isinstance(space, Record):
        return found
    repeats = isinstance(space, Enumerable) and 2 * len(space.objects) <= SAMPLE
    return replace(found, similarities=catalogue.as_field(found.kind, found.similarities, repeats=repeats))


def _by_space(space: Space, objects: Sequence[Any]) -> Recognised | None:
    from likewise.spaces.categorical import Categorical
    from likewise.spaces.strings import Strings

    for home, kind, what in _known_spaces():
        if isinstance(space, home):
            return of_kind(kind, f"the space is {what.format(space)}", objects)
    if isinstance(space, Strings):
        return of_texts(objects, molecules=False)
    return _categorical(list(space.objects)) if isinstance(space, Categorical) else None


def _known_spaces() -> list[tuple[type[Space], Kind, str]]:
    from likewise.spaces.box import Box
    from likewise.spaces.gaussians import Gaussians
    from likewise.spaces.graphs import Graphs
    from likewise.spaces.molecules import Molecules
    from likewise.spaces.permutations import Permutations
    from likewise.spaces.simplex import Simplex
    from likewise.spaces.subsets import Subsets

    return [
        (Box, "vectors", "a box of {0.dimension} dimensions"),
        (Simplex, "compositions", "a simplex of {0.n} parts"),
        (Gaussians, "Gaussians", "one of Gaussians"),
        (Permutations, "permutations", "one of permutations"),
        (Subsets, "sets", "one of subsets"),
        (Graphs, "graphs", "one of graphs"),
        (Molecules, "molecules", "one of molecules"),
    ]


def _categorical(values: list[Any]) -> Recognised:
    """Values to choose from: numbers and molecules as such, other texts and truth values as categories."""
    texts = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(values) or (len(texts) == len(values) and _molecules(texts)):
        return recognise(values)
    return of_kind("categories", f"the space has {len(values)} values to choose from", values)


def _molecules(texts: list[str]) -> bool:
    try:
        return writing(texts)[0] == "molecules"
    except SimilarityError:
        # Numbers written as text.
        return False
