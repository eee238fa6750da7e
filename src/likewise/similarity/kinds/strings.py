"""Similarities of strings: by edits, by the n-grams they share, and by common subsequences."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.errors import SimilarityError
from likewise.similarity.base import (
    LogNormal,
    Matrix,
    Normalised,
    Parameter,
    Sensitivity,
    Similarity,
    Vector,
    check_whole,
    check_widths,
)
from likewise.similarity.features import (
    GOLDEN,
    Codes,
    Hashes,
    Integers,
    Sparse,
    check_sequences,
    code_matrix,
    counted,
    flat_codes,
    mixed,
    products,
    unary,
)

# Similarities of strings by edits: Levenshtein, indel, Damerau, Jaro–Winkler, Hamming.
#
# All lie in [0, 1] and give 1 for equal strings (two empty ones included). A string may also be a tuple of tokens: the
# words of a sentence, the layers of an architecture. RapidFuzz does the work, except for Hamming.

WEIGHT_PRIOR = LogNormal(0.0, 1.0)
Text = str | tuple[Any, ...]
# Below this many pairs starting threads costs more than it saves.
THREADED_PAIRS = 100_000
# Scores of a block that stays in cache while one position after another is added.
BLOCK = 1 << 15


class EditSimilarity(Normalised):
    """A normalised similarity of strings that RapidFuzz computes; the encoding is the list of the strings."""

    kind = "strings"

    @property
    @abstractmethod
    def _scorer(self) -> str:
        """The name of RapidFuzz's module for it."""

    @property
    def _options(self) -> dict[str, Any]:
        """The options of RapidFuzz's function."""
        return {}

    def encode(self, objects: Sequence[Any]) -> list[Text]:
        check_sequences(objects)
        texts: list[Text] = [x if isinstance(x, str) else tuple(x) for x in objects]
        for number, x in enumerate(texts):
            try:
                hash(x)
            except TypeError:
                raise SimilarityError(
                    f"object {number} has a token that is not hashable: {objects[number]!r}; use text or numbers"
                ) from None
        return texts

    def between(self, a: list[Text], b: list[Text]) -> Matrix:
        from rapidfuzz import distance, process

        if len(a) > len(b):
            # RapidFuzz prepares each query once, so the shorter list asks.
            return self.between(b, a).T
        scorer = getattr(distance, self._scorer).normalized_similarity
        workers = -1 if len(a) * len(b) >= THREADED_PAIRS else 1
        return process.cdist(a, b, scorer=scorer, scorer_kwargs=self._options, dtype=np.float64, workers=workers)


@dataclass(frozen=True)
class Levenshtein(EditSimilarity):
    """1 − (insertions, deletions and substitutions) / length of the longer string. Not PSD.

    >>> round(Levenshtein()("kitten", "sitting"), 4)
    0.5714
    """

    compares = "insertions, deletions and substitutions"
    _scorer = "Levenshtein"


@dataclass(frozen=True)
class Indel(EditSimilarity):
    """2 · longest common subsequence / (|x| + |x'|): edits by insertion and deletion alone. Not PSD.

    >>> Indel()("ACGT", "AGGT")
    0.75
    """

    compares = "longest common subsequence, over the mean length"
    _scorer = "Indel"


@dataclass(frozen=True)
class Damerau(EditSimilarity):
    """Levenshtein with the swap of two neighbours as one more edit. Not PSD.

    `restricted` edits no piece twice (optimal string alignment), which is fifty times faster and seldom differs.

    >>> Damerau()("abcd", "acbd")
    0.75
    """

    compares = "Levenshtein with swaps of neighbours"
    restricted: bool = True

    @property
    def _scorer(self) -> str:
        return "OSA" if self.restricted else "DamerauLevenshtein"


@dataclass(frozen=True)
class JaroWinkler(EditSimilarity):
    """Letters in common at nearly the same place, with a bonus for a common beginning of up to four. Not PSD.

    prefix_weight: how much each letter of a common beginning adds, from 0 to 0.25; 0.1 by default, as Winkler's.

    >>> round(JaroWinkler()("MARTHA", "MARHTA"), 4)
    0.9611
    """

    compares = "letters at nearly the same place; for names"
    _scorer = "JaroWinkler"
    prefix_weight: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 <= self.prefix_weight <= 0.25:
            raise SimilarityError(
                f"JaroWinkler needs a prefix_weight from 0 to 0.25 for scores up to 1, not {self.prefix_weight}"
            )

    @property
    def _options(self) -> dict[str, Any]:
        return {"prefix_weight": self.prefix_weight}


@dataclass(frozen=True, eq=False)
class Hamming(Similarity):
    """Share of the positions at which two strings of one length agree: Σ_k w_k 1[x_k = x'_k] / Σ_k w_k. PSD.

    The weights are learnt in a study: some positions of a binding site matter more than others. Strings may be text or
    sequences of tokens (tuples, lists, arrays of numbers).

    weights: one positive number for each position; None (default) begins with equal ones.

    >>> Hamming()("ACGT", "AGGT")
    0.75
    """

    kind = "strings"
    compares = "share of positions that agree; strings of one length"
    weights: Sequence[float] | Vector | None = None

    def __post_init__(self) -> None:
        if self.weights is None:
            return
        values = np.asarray(self.weights, dtype=float)
        if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values) & (values > 0)):
            raise SimilarityError(f"Hamming needs one positive weight for each position, not {self.weights}")

    psd = True

    def encode(self, objects: Sequence[Any]) -> NDArray[Any]:
        return code_matrix(objects)

    def _weights(self, length: int) -> Vector:
        values = np.ones(length) if self.weights is None else np.asarray(self.weights, dtype=float)
        if len(values) != length:
            raise SimilarityError(
                f"Hamming has {len(values)} weights for sequences of length {length}; give {length}, or none"
            )
        return values

    def _shares(self, length: int) -> Vector:
        """w_k / Σ w."""
        weights = self._weights(length)
        return weights / weights.sum() if length else weights

    def between(self, a: NDArray[Any], b: NDArray[Any]) -> Matrix:
        check_widths(a.shape[1], b.shape[1], "sequences", "letters", "use Levenshtein or Indel for different lengths")
        shares, columns = self._shares(a.shape[1]), np.ascontiguousarray(b.T)
        scores = np.zeros((len(a), len(b))) if len(shares) else np.ones((len(a), len(b)))
        step = max(1, BLOCK // max(1, len(b)))
        for start in range(0, len(a), step):
            rows, block = a[start : start + step], scores[start : start + step]
            for k, share in enumerate(shares):
                block += np.multiply(rows[:, k, None] == columns[k], share)
        return scores

    def within(self, a: NDArray[Any]) -> Vector:
        self._weights(a.shape[1])
        return np.ones(len(a))

    def parameters(self, a: NDArray[Any]) -> dict[str, Parameter]:
        length = a.shape[1]
        return {"weights": Parameter(self._weights(length), WEIGHT_PRIOR)} if length > 1 else {}

    def with_parameters(self, values: Mapping[str, Vector]) -> Similarity:
        return Hamming(values["weights"]) if values else self

    def sensitivity(self, a: NDArray[Any]) -> Sensitivity:
        scores, shares = self.between(a, a), self._shares(a.shape[1])

        def pull(weights: Matrix) -> dict[str, Vector]:
            # ∂S/∂log w_k = w_k / Σw · (1[x_k = x'_k] − S)
            if len(shares) < 2:
                return {}
            agree = [np.sum(weights, where=a[:, k, None] == a[:, k]) for k in range(len(shares))]
            return {"weights": shares * (np.array(agree) - np.vdot(weights, scores))}

        return scores, pull


# Similarities of strings by the pieces they share: n-grams, and subsequences with gaps.
#
# Both are PSD, and say nothing of strings too short to have a piece: such a string is like itself alone.


def _ngrams(codes: Codes, lengths: Integers, size: Integers) -> tuple[Integers, Hashes]:
    """Row and hash of every window of `size` letters (one size per row) over strings written one after another."""
    windows = np.maximum(lengths - size + 1, 0)
    rows = np.repeat(np.arange(len(lengths)), windows)
    within_row = np.arange(len(rows)) - np.repeat(np.cumsum(windows) - windows, windows)
    start = within_row + np.repeat(np.cumsum(lengths) - lengths, windows)
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for k in range(int(size.max(initial=0))):
        inside: Any = k < size[rows]
        inside = slice(None) if inside.all() else inside
        hashes[inside] = mixed(hashes[inside] + codes[start[inside] + k] + GOLDEN)
    return rows, hashes


@dataclass(frozen=True)
class NGrams(Normalised):
    """How alike the counts c of two strings' n-grams are. PSD.

    `cosine`: ⟨c, c'⟩ / (‖c‖ ‖c'‖). `minmax`: Σ min(c, c') / Σ max(c, c'). With `up_to`, all grams of 1 to n letters.
    A string shorter than n counts as one gram. Strings may be text or tuples of tokens.

    n: the length of the grams; 3 by default.
    how: "cosine" (default) or "minmax", as above.

    >>> round(NGrams(2)("ABAB", "ABBA"), 4)
    0.7746
    >>> NGrams(2, how="minmax")("ABAB", "ABBA")
    0.5
    """

    kind = "strings"
    compares = "runs of n letters in common"
    n: int = 3
    how: Literal["cosine", "minmax"] = "cosine"
    up_to: bool = False

    def __post_init__(self) -> None:
        check_whole("NGrams", "n", self.n)
        if self.how not in ("cosine", "minmax"):
            raise SimilarityError(f"n-gram counts are compared by 'cosine' or 'minmax', not by {self.how!r}")

    psd = True

    @property
    def name(self) -> str:
        return f"NGrams({'1–' if self.up_to else ''}{self.n}, {self.how})"

    def encode(self, objects: Sequence[Any]) -> tuple[Sparse, Vector]:
        codes, lengths = flat_codes(objects)
        sizes = [np.minimum(lengths, 1 if self.up_to else self.n)]
        if self.up_to:
            sizes += [np.full_like(lengths, k) for k in range(2, self.n + 1)]
        found = [_ngrams(codes, lengths, size) for size in sizes]
        rows, hashes = (np.concatenate(part) for part in zip(*found, strict=True))
        counts = counted(rows, hashes, len(objects))
        if self.how == "cosine":
            return counts, np.sqrt(counts.astype(float).power(2).sum(axis=1))
        counts = unary(counts)
        return counts, np.diff(counts.indptr).astype(float)

    def between(self, a: tuple[Sparse, Vector], b: tuple[Sparse, Vector]) -> Matrix:
        return self._score(products(a[0], b[0]), a[1][:, None], b[1])

    def paired(self, a: tuple[Sparse, Vector], b: tuple[Sparse, Vector]) -> Vector:
        return self._score(a[0].multiply(b[0]).sum(axis=1).astype(float), a[1], b[1])

    def _score(self, common: Any, size: Any, other: Any) -> Any:
        if self.how == "cosine":
            common /= size
            common /= other
            return common
        return common / (size + other - common)
