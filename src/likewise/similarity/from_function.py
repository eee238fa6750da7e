"""Similarities without an encoding: a plain function of two objects, a matrix that is already there, an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise.errors import SimilarityError
from likewise.similarity.base import Function, Matrix, Similarity, Vector, assign
from likewise.similarity.encodings.arrays import Indices
from likewise.similarity.pairs import Entries, Pairs, object_key
from likewise.similarity.scores import asymmetry, check_no_distance, check_scores, check_symmetric

CHECKED_PAIRS = 64


@dataclass(frozen=True, eq=False)
class FunctionSimilarity(Similarity):
    """A plain function of two objects. Not assumed PSD.

    It is called once for each pair of objects that are observed or in a pool; scores with objects that a search merely
    visited are kept for a while. The first pairs are called in both orders, to notice a function that is not symmetric.
    """

    # A copy would number its objects anew.
    portable = False
    function: Function
    declared_psd: bool = False
    check_symmetry: bool = True
    _pairs: Pairs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise SimilarityError(f"a similarity is a Similarity or a function of two objects, not {self.function!r}")
        assign(self, _pairs=Pairs(directed=not self.check_symmetry))

    @property
    def psd(self) -> bool:
        return self.declared_psd

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def encode(self, objects: Sequence[Any]) -> Entries:
        return self._pairs.entries(objects)

    def between(self, a: Entries, b: Entries) -> Matrix:
        return self._pairs.scores(a, b, self._checked)

    def within(self, a: Entries) -> Vector:
        return np.array([self._pairs.score(x, x, self._checked) for x in a], dtype=float)

    def _checked(self, x: Any, y: Any) -> float:
        score = self._called(x, y)
        if self.check_symmetry and x is not y and self._pairs.added < CHECKED_PAIRS:
            mirrored = self._called(y, x)
            if not np.isclose(score, mirrored, rtol=1e-9, atol=1e-12, equal_nan=True):
                raise asymmetry(x, y, score, mirrored)
        return score

    def _called(self, x: Any, y: Any) -> float:
        try:
            given = self.function(x, y)
        except Exception as error:
            raise SimilarityError(
                f"{self._call(x, y)} raised {type(error).__name__}: {error}; "
                "a similarity has a score for every pair of objects"
            ) from error
        try:
            return float(given)
        except (TypeError, ValueError):
            raise SimilarityError(
                f"{self._call(x, y)} did not give a number but {given!r}; return a score of 0 or more"
            ) from None

    def _call(self, x: Any, y: Any) -> str:
        return f"{self.name}({x!r}, {y!r})"


def from_function(function: Function, *, psd: bool = False) -> Similarity:
    """A similarity from a plain function of two objects.

    >>> same_length = from_function(lambda x, y: 1.0 / (1 + abs(len(x) - len(y))))
    >>> same_length("ab", "abc")
    0.5
    """
    return FunctionSimilarity(function, declared_psd=psd)


def as_similarity(given: Similarity | Function) -> Similarity:
    """A similarity as it is, a plain function wrapped."""
    return given if isinstance(given, Similarity) else from_function(given)


@dataclass(frozen=True, eq=False, init=False)
class Precomputed(Similarity):
    """Objects and the matrix of their similarities, computed elsewhere. Not assumed PSD.

    >>> Precomputed(["a", "b"], [[1.0, 0.2], [0.2, 1.0]])("a", "b")
    0.2
    """

    # Objects are known by their identity here.
    portable = False
    matrix: Matrix
    # Held, so that an identity stays theirs.
    _objects: tuple[Any, ...] = field(repr=False)
    _rows: dict[Any, int] = field(repr=False)

    def __init__(self, objects: Sequence[Any], matrix: Any) -> None:
        scores = np.asarray(matrix, dtype=float)
        if scores.shape != (len(objects), len(objects)):
            raise SimilarityError(
                f"Precomputed has {len(objects)} objects but a matrix of shape {scores.shape}; "
                f"it needs ({len(objects)}, {len(objects)})"
            )
        rows: dict[Any, int] = {}
        for row, x in enumerate(objects):
            if rows.setdefault(object_key(x), row) != row:
                raise SimilarityError(f"Precomputed has the object {x!r} twice (row {row}); give each object once")
        check_scores(scores, objects, objects)
        check_symmetric(scores, objects)
        check_no_distance(scores, np.diagonal(scores), objects, objects)
        assign(self, matrix=scores, _objects=tuple(objects), _rows=rows)

    def encode(self, objects: Sequence[Any]) -> Indices:
        found = [self._rows.get(object_key(x)) for x in objects]
        for x, row in zip(objects, found, strict=True):
            if row is None:
                raise SimilarityError(
                    f"{x!r} is not among the {len(self.matrix)} objects of this precomputed similarity; "
                    "add its row and column to the matrix"
                )
        return np.array(found, dtype=np.intp)

    def between(self, a: Indices, b: Indices) -> Matrix:
        return self.matrix[np.ix_(a, b)]

    def within(self, a: Indices) -> Vector:
        return self.matrix[a, a]
