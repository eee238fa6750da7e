"""A similarity of your own: of strings, by the subsequences that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.base import Matrix, Normalised, Vector, check_whole
from likewise.similarity.features import Codes, Integers, code_rows

# Numbers of a block of the subsequence recursion: what stays in cache.
RECURSION_BLOCK = 1 << 17


@dataclass(frozen=True)
class Subsequences(Normalised):
    """Subsequences of `length` letters that two strings share, gaps allowed and paid for. PSD.

    K(x, x') = Σ_u Σ_i Σ_i' λ^(span(i) + span(i')), over all words u of that length and all places i in x and i' in x'
    where u can be read off, λ the decay; S = K(x, x') / √(K(x, x) K(x', x')). The cost is |x| · |x'| · length per pair.
    Strings may be text or tuples of tokens.

    decay: what each letter of a span costs, λ, from 0 to 1; 0.5 by default.

    >>> round(Subsequences(length=2, decay=0.5)("cat", "car"), 4)
    0.4444
    """

    kind = "strings"
    compares = "subsequences in common, gaps allowed"
    length: int = 3
    decay: float = 0.5

    def __post_init__(self) -> None:
        check_whole("Subsequences", "length", self.length)
        if not 0.0 < self.decay <= 1.0:
            raise SimilarityError(f"Subsequences needs a decay above 0 and at most 1, not {self.decay}")

    psd = True

    @property
    def name(self) -> str:
        return f"Subsequences({self.length}, {self.decay:g})"

    def encode(self, objects: Sequence[Any]) -> tuple[list[Codes], Vector]:
        rows = code_rows(objects)
        each = np.arange(len(rows))
        return rows, self._kernel(rows, rows, each, each)

    def between(self, a: tuple[list[Codes], Vector], b: tuple[list[Codes], Vector]) -> Matrix:
        scores = np.zeros((len(a[0]), len(b[0])))
        i, j = np.nonzero(np.multiply.outer(a[1] > 0, b[1] > 0))
        if a is b:
            i, j = i[i <= j], j[i <= j]
        scores[i, j] = self._kernel(a[0], b[0], i, j) / np.sqrt(a[1][i] * b[1][j])
        if a is b:
            scores[j, i] = scores[i, j]
        for k, m in zip(*np.nonzero(np.multiply.outer(a[1] == 0, b[1] == 0)), strict=True):
            scores[k, m] = np.array_equal(a[0][k], b[0][m])
        return scores

    def _kernel(self, a: list[Codes], b: list[Codes], i: Integers, j: Integers) -> Vector:
        """K(a_i, b_j) for the pairs (i, j), in blocks that stay in cache."""
        left, right = _padded(a, np.uint64(0x110001)), _padded(b, np.uint64(0x110002))
        tall, wide = np.array([len(x) for x in a], dtype=int)[i], np.array([len(x) for x in b], dtype=int)[j]
        # Pairs of about the same lengths together, so that little is computed on fillers.
        order = np.lexsort((wide, tall))
        kernel = np.empty(len(i))
        step = max(1, RECURSION_BLOCK // max(1, len(left) * len(right)))
        for start in range(0, len(order), step):
            some = order[start : start + step]
            rows, columns = slice(tall[some].max()), slice(wide[some].max())
            kernel[some] = self._block(left[rows, i[some]], right[columns, j[some]])
        return kernel

    def _block(self, left: Codes, right: Codes) -> Vector:
        """K of each pair; letters along the first axis, pairs along the second.

        G_p(k, l) is the weight of the common subsequences of p letters that end at the letters k and l:
        G_p(k, l) = λ² 1[x_k = x'_l] Σ_{k' < k, l' < l} λ^(k − k' − 1 + l − l' − 1) G_{p−1}(k', l').
        """
        same = self.decay**2 * (left[:, None, :] == right[None, :, :])
        ending = same.copy()
        for _ in range(1, self.length):
            for k in range(1, len(ending)):
                ending[k] += self.decay * ending[k - 1]
            for k in range(1, ending.shape[1]):
                ending[:, k] += self.decay * ending[:, k - 1]
            ending[1:, 1:] = same[1:, 1:] * ending[:-1, :-1]
            ending[:1], ending[:, :1] = 0.0, 0.0
        return np.asarray(ending.sum(axis=(0, 1)))


def _padded(rows: list[Codes], filler: np.uint64) -> NDArray[np.uint64]:
    """The rows as the columns of a matrix, filled up with a code that no letter has."""
    width = max(map(len, rows), default=0)
    matrix = np.full((width, len(rows)), filler, dtype=np.uint64)
    for column, row in enumerate(rows):
        matrix[: len(row), column] = row
    return matrix
