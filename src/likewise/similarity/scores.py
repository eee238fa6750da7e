"""What scores must be, whoever is compared: finite, symmetric, not negative, and no distances.

The same rule holds for every block of scores that is computed, with observed objects and with candidates. It costs a
minimum and a maximum of the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, Vector

# A share of the largest score: rounding leaves as much of a distance of zero.
SYMMETRISE = "wrap it in likewise.symmetrised"
NO_LIKENESS = 1e-6
# Sums of squares of larger scores are no numbers.
LARGEST = 1e140
# Rounding may leave a score a hair below zero; that is no reason to stop.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Named:
    """Stands for an object in a message, where the object itself is not at hand."""

    text: str

    def __repr__(self) -> str:
        return self.text


OBSERVED, NEW = Named("an observed object"), Named("a new object")


def check_scores(scores: Matrix, rows: Sequence[Any], columns: Sequence[Any], *, signed: bool = False) -> None:
    """Refuse scores that are no matrix, not finite, or negative where they may not be, naming the pair."""
    check_shape("between", scores, (len(rows), len(columns)))
    if not _good(scores, signed):
        i, j = map(int, np.argwhere(_wrong(scores, signed))[0])
        raise refusal(rows[i], columns[j], float(scores[i, j]))


def check_shape(method: str, scores: Any, shape: tuple[int, ...]) -> None:
    """Refuse what a method of a similarity gave, where it is no array of this shape of real numbers.

    >>> check_shape("between", np.ones((2, 3)), (3, 2))
    Traceback (most recent call last):
    likewise.errors.SimilarityError: `between` of the similarity gave an array of shape (2, 3) and of float64, ...
    """
    right = isinstance(scores, np.ndarray) and scores.shape == shape and scores.dtype.kind in "fiub"
    if not right:
        array = isinstance(scores, np.ndarray)
        shown = f"an array of shape {scores.shape} and of {scores.dtype}" if array else f"{scores!r:.80}"
        each = "a row for each first and a column for each second object" if len(shape) == 2 else "one for each object"
        raise SimilarityError(
            f"`{method}` of the similarity gave {shown}, not an array of numbers of shape {shape}; return {each}"
        )


def check_selves(selves: Vector, objects: Sequence[Any], *, signed: bool = False) -> None:
    """Refuse such scores of objects with themselves, naming the object."""
    check_shape("within", selves, (len(objects),))
    if not _good(selves, signed):
        i = int(np.argmax(_wrong(selves, signed)))
        raise refusal(objects[i], objects[i], float(selves[i]))


def _good(scores: Any, signed: bool) -> bool:
    # A NaN among them is their minimum.
    least = float(np.minimum.reduce(scores, axis=None, initial=0.0))
    most = float(np.maximum.reduce(scores, axis=None, initial=0.0))
    return bool(-least <= LARGEST and most <= LARGEST) and (signed or least >= _limit(least, most))


def _limit(least: float, most: float) -> float:
    return -ROUNDING * max(1.0, most, -least)


def _wrong(scores: Any, signed: bool) -> Any:
    finite = np.abs(scores) <= LARGEST
    if signed:
        return ~finite
    least, most = (float(end(scores, initial=0.0, where=finite)) for end in (np.min, np.max))
    return ~finite | (scores < _limit(least, most))


def refusal(x: Any, other: Any, score: float) -> SimilarityError:
    """The error for a score that is not finite, too large or negative."""
    if not np.isfinite(score):
        kind, remedy = "not a finite number", "return a finite score for every pair of objects"
    elif abs(score) > LARGEST:
        kind, remedy = "too large to compute with", f"divide all scores, so that none is above {LARGEST:g}"
    else:
        kind, remedy = "negative", "add a constant, use exp(−distance), or write a Similarity that is `signed`"
    return SimilarityError(f"similarity is {kind}: S({x!r}, {other!r}) = {score:.6g}; {remedy}")


def asymmetry(x: Any, y: Any, score: float, mirrored: float, remedy: str = SYMMETRISE) -> SimilarityError:
    """The error for S(x, y) ≠ S(y, x)."""
    return SimilarityError(
        f"similarity is not symmetric: S({x!r}, {y!r}) = {score:.6g} but S({y!r}, {x!r}) = {mirrored:.6g}; {remedy}"
    )


def check_symmetric(scores: Matrix, objects: Sequence[Any], remedy: str = SYMMETRISE) -> None:
    """Refuse a square matrix of scores that is not symmetric, naming the pair."""
    gap = np.abs(scores - scores.T)
    limit = 1e-6 * max(1.0, float(np.max(np.abs(scores), initial=0.0)))
    if gap.size and gap.max() > limit:
        i, j = map(int, np.unravel_index(int(gap.argmax()), gap.shape))
        raise asymmetry(objects[i], objects[j], float(scores[i, j]), float(scores[j, i]), remedy)


def check_no_distance(scores: Matrix, selves: Vector, objects: Sequence[Any], others: Sequence[Any]) -> None:
    """Refuse scores in which objects are like others and none, by `selves`, is like itself, naming a pair."""
    largest = float(np.max(scores, initial=0.0))
    if largest > 0 and np.max(selves) <= NO_LIKENESS * largest:
        i, j = map(int, np.unravel_index(int(scores.argmax()), scores.shape))
        raise SimilarityError(
            f"similarity looks like a distance: S({objects[i]!r}, {others[j]!r}) = {largest:.6g}, but "
            f"S({objects[i]!r}, {objects[i]!r}) = {selves[i]:.6g}, and no object is more like itself; "
            "of a distance d use exp(−d/ℓ), with ℓ a typical distance"
        )
