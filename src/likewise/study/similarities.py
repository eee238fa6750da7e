"""From what a user gives as `similarity` to the similarities of a committee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from likewise.errors import SimilarityError, did_you_mean
from likewise.similarity.auto.given import Given, as_similarities
from likewise.similarity.base import Similarity
from likewise.similarity.combine.fixed import Fixed, fixed
from likewise.similarity.combine.parts import compared_fields
from likewise.spaces.base import Space


def similarities(given: Given, space: Space, rng: np.random.Generator) -> tuple[Similarity, ...]:
    """One similarity, a plain function, a list of either, or "auto" for those that the space names itself."""
    named = as_similarities(given)
    if named is None:
        return space.recognise(rng).similarities
    check_fields(named, space.parts)
    return named


def check_fields(given: Sequence[Similarity], fields: Mapping[str, Space]) -> None:
    """A complaint about similarities of fields that records of these fields lack, or that leave out one that varies.

    >>> from likewise.similarity.combine.parts import Parts
    >>> from likewise.similarity.kinds.categories import Equal
    >>> from likewise.spaces.record import Record
    >>> check_fields([Parts(base=Equal(), solvnt=Equal())], Record(base=["KOAc"], solvent=["DMF", "THF"]).parts)
    Traceback (most recent call last):
    likewise.errors.SimilarityError: records have no field 'solvnt', which Parts compares; did you mean 'solvent'?
    """
    looked_at = [compared_fields(one) for one in given]
    named = {name for names in looked_at if names is not None for name in names}
    if not fields:
        return
    for name in sorted(named - set(fields)):
        raise SimilarityError(f"records have no field {name!r}, which Parts compares; {did_you_mean(name, fields)}")
    missing = [name for name, part in fields.items() if name not in named and part.size > 1]
    if missing and None not in looked_at:
        raise SimilarityError(
            f"nothing compares the field {missing[0]!r}, so all its values would be the same; "
            f"give Parts a similarity for it: if they truly are alike, {missing[0]}=lambda x, y: 1.0"
        )


def with_fixed(given: Sequence[Similarity]) -> tuple[Similarity, ...]:
    """Similarities that all learn are joined by themselves as given: with few observations what is learnt fits noise.

    >>> from likewise.similarity.kinds.strings import Hamming, Levenshtein
    >>> [one.name for one in with_fixed([Hamming()])], len(with_fixed([Hamming(), Levenshtein()]))
    (['Hamming', 'fixed Hamming'], 2)
    """
    return (*given, *map(fixed, given)) if all(map(_learns, given)) else tuple(given)


def _learns(similarity: Similarity) -> bool:
    if isinstance(similarity, Fixed):
        return False
    own = type(similarity).parameters is not Similarity.parameters
    return own or any(map(_learns, similarity.parts))
