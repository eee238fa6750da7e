"""Similarities of biological sequences: alignment, and symmetry under reverse complement.

An alignment scores each pair of letters by a substitution matrix and each gap by its length; here it is divided by the
sequences' scores with themselves, s(x, x') / √(s(x, x) s(x', x')), and what is below 0 counts as 0. Biopython gives the
matrices and the scores; where parasail is installed it gives the same scores faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np

from likewise.errors import SimilarityError, import_extra
from likewise.similarity.algebra import Wrapper
from likewise.similarity.base import Function, Matrix, Normalised, Sensitivity, Similarity, Vector, numbered
from likewise.similarity.encoding import Encoding, count_rows, join

Mode = Literal["global", "local"]
Aligned = tuple[list[str], Vector]
COMPLEMENT = str.maketrans("ACGTUNRYSWKMBDHVacgtunryswkmbdhv", "TGCAANYRSWMKVHDBtgcaanyrswmkvhdb")


@lru_cache(maxsize=32)
def _substitutions(name: str) -> Any:
    """The substitution matrix of this name."""
    matrices = import_extra("Bio.Align.substitution_matrices", "sequence alignment", "biopython", "sequences")
    if name not in matrices.load():
        raise SimilarityError(f"there is no substitution matrix {name!r}; there are {', '.join(matrices.load())}")
    return matrices.load(name)


def _biopython_row(
    mode: Mode, matrix: str, gap_open: float, gap_extend: float
) -> Callable[[str, list[str]], list[float]]:
    """Scores of one sequence with each of several, by Biopython."""
    aligner = import_module("Bio.Align").PairwiseAligner(mode=mode)
    aligner.substitution_matrix = _substitutions(matrix)
    aligner.open_gap_score, aligner.extend_gap_score = -gap_open, -gap_extend
    return lambda x, others: [aligner.score(x, other) for other in others]


def _parasail_row(
    parasail: ModuleType, mode: Mode, matrix: str, gap_open: float, gap_extend: float
) -> Callable[[str, list[str]], list[float]]:
    """The same scores by parasail, for whole-number scores; its `sat` variants never overflow."""
    given = _substitutions(matrix)
    table = parasail.matrix_create(str(given.alphabet), 0, 0)
    for i, row in enumerate(np.asarray(given)):
        for j, score in enumerate(row):
            table[i, j] = int(score)
    align = parasail.nw_striped_profile_sat if mode == "global" else parasail.sw_striped_profile_sat

    def row_of_scores(x: str, others: list[str]) -> list[float]:
        profile = parasail.profile_create_sat(x, table)
        return [align(profile, other, int(gap_open), int(gap_extend)).score for other in others]

    return row_of_scores


@lru_cache(maxsize=32)
def _row(mode: Mode, matrix: str, gap_open: float, gap_extend: float) -> Callable[[str, list[str]], list[float]]:
    whole = (
        np.all(np.asarray(_substitutions(matrix)) % 1 == 0)
        and gap_open == int(gap_open)
        and gap_extend == int(gap_extend)
    )
    if whole and find_spec("parasail"):
        return _parasail_row(import_module("parasail"), mode, matrix, gap_open, gap_extend)
    return _biopython_row(mode, matrix, gap_open, gap_extend)


@dataclass(frozen=True)
class GlobalAlignment(Normalised):
    """Needleman–Wunsch score of whole sequences, normalised to [0, 1]. Not PSD.

    The first letter of a gap costs `gap_open`, each further one `gap_extend`, at the ends as well. Use "BLOSUM62" or
    another of Biopython's matrices for proteins and "NUC.4.4" for DNA. Unrelated sequences score 0.
    The encoding is the sequences and their scores with themselves.

    matrix: the name of a matrix of substitution scores in Biopython; "BLOSUM62" by default, for proteins.

    >>> GlobalAlignment("NUC.4.4")("ACGT", "ACGT")
    1.0
    """

    kind = "sequences"
    compares = "Needleman–Wunsch score of whole sequences"
    # Of a dozen letters; longer ones take more.
    pair_price = 5.0
    matrix: str = "BLOSUM62"
    gap_open: float = 11.0
    gap_extend: float = 1.0
    mode: ClassVar[Mode] = "global"

    @property
    def name(self) -> str:
        return f"{type(self).__name__}({self.matrix})"

    def __post_init__(self) -> None:
        for what, value in (("gap_open", self.gap_open), ("gap_extend", self.gap_extend)):
            if not (np.isfinite(value) and value >= 0):
                raise SimilarityError(f"{self.name} needs a non-negative {what}, the cost of a gap, not {value}")

    def _scores(self, x: str, others: list[str]) -> list[float]:
        return _row(self.mode, self.matrix, self.gap_open, self.gap_extend)(x, others)

    def encode(self, objects: Sequence[Any]) -> Aligned:
        alphabet = set(str(_substitutions(self.matrix).alphabet))
        sequences = [_checked(number, x, alphabet, self.matrix) for number, x in enumerate(objects)]
        own = np.array([self._scores(x, [x])[0] for x in sequences], dtype=float)
        for number, score in enumerate(own):
            if score <= 0:
                raise SimilarityError(
                    f"sequence {number} scores {score:g} with itself under {self.matrix}: {objects[number]!r}; "
                    "it has too few letters that are known"
                )
        return sequences, own

    def between(self, a: Aligned, b: Aligned) -> Matrix:
        if a is b:
            scores = np.zeros((len(a[0]), len(a[0])))
            for i, x in enumerate(a[0]):
                scores[i, i:] = scores[i:, i] = self._scores(x, a[0][i:])
        elif len(a[0]) > len(b[0]):
            return self.between(b, a).T
        else:
            scores = np.array([self._scores(x, b[0]) for x in a[0]], dtype=float).reshape(len(a[0]), len(b[0]))
        return np.clip(scores / np.sqrt(np.multiply.outer(a[1], b[1])), 0.0, 1.0)


def _checked(number: int, x: Any, alphabet: set[str], matrix: str) -> str:
    """The sequence in capitals; a SimilarityError where it is empty or has a letter that the matrix lacks."""
    if not isinstance(x, str) or not x:
        raise SimilarityError(f"sequence {number} is not a text of at least one letter: {x!r}")
    unknown = [letter for letter in x.upper() if letter not in alphabet]
    if unknown:
        raise SimilarityError(
            f"sequence {number} has the letter {unknown[0]!r}, which {matrix} does not know: {x!r}; "
            f"its letters are {''.join(sorted(alphabet))}"
        )
    return x.upper()


def reverse_complement(x: str) -> str:
    """The other strand of DNA, read in its own direction.

    >>> reverse_complement("AACGT")
    'ACGTT'
    """
    return x.translate(COMPLEMENT)[::-1]


@dataclass(frozen=True)
class ReverseComplement(Wrapper):
    """A similarity of DNA that does not care which strand was written down.

    With rc the reverse complement, `mean`: ¼ (S(x, x') + S(x, rc x') + S(rc x, x') + S(rc x, rc x')), PSD if the inner
    one is; `max`: the largest of the four, not PSD. Both are symmetric for any symmetric inner similarity. A sequence's
    similarity to itself is ½ (S(x, x) + S(x, rc x)) under `mean`, less than 1 unless it is its own reverse complement.

    how: "mean" (default) or "max", as above.

    >>> from likewise.similarity.kinds.strings import Hamming
    >>> either = ReverseComplement(Hamming())
    >>> either("AACG", "AACG") == either("AACG", "CGTT")
    True
    """

    kind = "sequences"
    compares = "a similarity of DNA, whichever strand is given"
    inner: Similarity | Function
    how: Literal["mean", "max"] = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.how not in ("mean", "max"):
            raise SimilarityError(f"strands are combined by 'mean' or 'max', not by {self.how!r}")

    @property
    def psd(self) -> bool:
        return self.wrapped.psd and self.how == "mean"

    @property
    def name(self) -> str:
        return f"{self.wrapped.name} on either strand"

    def part_encoding(self, a: Encoding, i: int) -> Encoding:
        return a[0]

    def encode(self, objects: Sequence[Any]) -> Encoding:
        for number, x in enumerate(objects):
            if not isinstance(x, str):
                raise SimilarityError(f"object {number} is not DNA written as text: {x!r}")
            unknown = [letter for letter in x if ord(letter) not in COMPLEMENT]
            if unknown:
                raise SimilarityError(
                    f"object {number} has the letter {unknown[0]!r}, which has no complement: {x!r}; use A, C, G and T"
                )
        return self.wrapped.encode(objects), self.wrapped.encode([reverse_complement(x) for x in objects])

    def _four(self, scores: Matrix) -> Matrix:
        """The scores of both strands with both strands, as (4, n, m)."""
        n, m = scores.shape[0] // 2, scores.shape[1] // 2
        return scores.reshape(2, n, 2, m).transpose(0, 2, 1, 3).reshape(4, n, m)

    def _combined(self, four: Matrix) -> Matrix:
        return four.mean(axis=0) if self.how == "mean" else four.max(axis=0)

    def between(self, a: Encoding, b: Encoding) -> Matrix:
        if a is b:
            both = join(a)
            return self._combined(self._four(self.wrapped.between(both, both)))
        # The longer side may be a whole pool, which is not copied.
        if count_rows(a) < count_rows(b):
            return self.between(b, a).T
        strands = join(b)
        return self._combined(self._four(np.concatenate([self.wrapped.between(one, strands) for one in a])))

    def within(self, a: Encoding) -> Vector:
        crossed = self.wrapped.paired(*a)
        return self._combined(np.stack([self.wrapped.within(a[0]), crossed, crossed, self.wrapped.within(a[1])]))

    def sensitivity(self, a: Encoding) -> Sensitivity:
        scores, pull = self.wrapped.sensitivity(join(a))
        four = self._four(scores)

        def pull_four(weights: Matrix) -> dict[str, Vector]:
            shares = np.full_like(four, 0.25) if self.how == "mean" else _tied(four)
            n = len(weights)
            spread = (shares * weights).reshape(2, 2, n, n).transpose(0, 2, 1, 3).reshape(2 * n, 2 * n)
            return numbered(pull(spread))

        return self._combined(four), pull_four


def _tied(four: Matrix) -> Matrix:
    """The share of each score in the largest of the four, which several may be at once."""
    largest = four >= four.max(axis=0) - 1e-12
    return largest / largest.sum(axis=0)
