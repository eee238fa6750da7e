"""Alignments against a plain recursion, and the symmetry of the two strands of DNA."""

from __future__ import annotations

import sys
from functools import lru_cache

import numpy as np
import pytest
from examples.similarities.local_alignment import LocalAlignment
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import MissingExtra, SimilarityError
from likewise.similarity.base import Similarity
from likewise.similarity.kinds import sequences
from likewise.similarity.kinds.sequences import GlobalAlignment, ReverseComplement, reverse_complement
from likewise.similarity.kinds.strings import Hamming, Levenshtein, NGrams

pytest.importorskip("Bio")
matrices = pytest.importorskip("Bio.Align.substitution_matrices")

proteins = st.lists(st.text(alphabet="ARNDWY", min_size=1, max_size=8), min_size=1, max_size=4)
strands = st.text(alphabet="ACGT", min_size=6, max_size=6)
far = float("-inf")
substitutions = lru_cache(matrices.load)


def alignment(x: str, y: str, matrix: str, gap_open: float, gap_extend: float, local: bool) -> float:
    """Gotoh's recursion with one table for pairs and one for each kind of gap."""
    score = substitutions(matrix)
    shape = (len(x) + 1, len(y) + 1)
    pair, up, left = np.full(shape, far), np.full(shape, far), np.full(shape, far)
    pair[0, 0] = 0.0
    for i in range(shape[0]):
        for j in range(shape[1]):
            if i:
                best = max(pair[i - 1, j], left[i - 1, j]) - gap_open
                up[i, j] = max(best, up[i - 1, j] - gap_extend)
            if j:
                best = max(pair[i, j - 1], up[i, j - 1]) - gap_open
                left[i, j] = max(best, left[i, j - 1] - gap_extend)
            if i and j:
                before = max(pair[i - 1, j - 1], up[i - 1, j - 1], left[i - 1, j - 1], 0.0 if local else far)
                pair[i, j] = before + score[x[i - 1], y[j - 1]]
    return max(0.0, float(pair.max())) if local else float(max(t[-1, -1] for t in (pair, up, left)))


@pytest.mark.parametrize(("gap_open", "gap_extend"), [(11.0, 1.0), (3.0, 2.0), (2.5, 0.5)])
@pytest.mark.parametrize("kind", [GlobalAlignment, LocalAlignment])
@given(objects=proteins)
@settings(max_examples=15)
def test_alignment_is_the_textbook_recursion(
    kind: type[GlobalAlignment], gap_open: float, gap_extend: float, objects: list[str]
) -> None:
    like = kind("BLOSUM62", gap_open, gap_extend)

    def raw(x: str, y: str) -> float:
        return alignment(x, y, "BLOSUM62", gap_open, gap_extend, kind is LocalAlignment)

    expected = [[raw(x, y) / np.sqrt(raw(x, x) * raw(y, y)) for y in objects] for x in objects]
    a = like.encode(objects)
    np.testing.assert_allclose(like.between(a, a), np.clip(expected, 0.0, 1.0), atol=1e-12)
    np.testing.assert_allclose(like.between(a, (list(a[0]), a[1])), like.between(a, a), atol=1e-12)


@pytest.mark.parametrize("mode", ["global", "local"])
@pytest.mark.parametrize(("matrix", "letters"), [("BLOSUM62", "ARNDCQEGHILKMFPSTWYVBZX"), ("NUC.4.4", "ACGTN")])
def test_both_libraries_give_the_same_scores(mode: sequences.Mode, matrix: str, letters: str) -> None:
    parasail = pytest.importorskip("parasail")
    rng = np.random.default_rng(0)
    objects = ["".join(rng.choice(list(letters), rng.integers(1, 60))) for _ in range(20)]
    one = sequences._biopython_row(mode, matrix, 11.0, 1.0)
    other = sequences._parasail_row(parasail, mode, matrix, 11.0, 1.0)
    assert [one(x, objects) for x in objects] == [other(x, objects) for x in objects]


def test_long_sequences_do_not_overflow() -> None:
    x = "W" * 4000
    assert GlobalAlignment()(x, x) == 1.0
    assert GlobalAlignment()(x, x[:3999]) == pytest.approx((11 * 3999 - 11) / (11 * np.sqrt(4000 * 3999)))


def test_case_does_not_matter() -> None:
    assert LocalAlignment("NUC.4.4")("acgt", "ACGT") == 1.0


@pytest.mark.parametrize(
    ("wrong", "why"),
    [("", "at least one letter"), ("ACJ", "letter 'J'"), (7, "text"), ("NNNN", "scores -4 with itself")],
)
def test_a_sequence_that_cannot_be_aligned_is_named(wrong: object, why: str) -> None:
    with pytest.raises(SimilarityError, match=rf"sequence 1 .*{why}"):
        GlobalAlignment("NUC.4.4").encode(["ACGT", wrong])


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(SimilarityError, match="no substitution matrix 'BLOSUM63'"):
        GlobalAlignment("BLOSUM63")("A", "A")
    with pytest.raises(SimilarityError, match="gap_open"):
        LocalAlignment(gap_open=-1.0)
    with pytest.raises(SimilarityError, match="'mean' or 'max'"):
        ReverseComplement(Hamming(), "min")  # type: ignore[arg-type]


def test_without_biopython_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Bio", None)
    sequences._substitutions.cache_clear()
    with pytest.raises(MissingExtra, match=r"likewise\[sequences\]"):
        GlobalAlignment("BLOSUM45").encode(["A"])


@given(st.text(alphabet="ACGTNRYacgt", max_size=12))
def test_reverse_complement_undoes_itself(x: str) -> None:
    assert reverse_complement(reverse_complement(x)) == x


@pytest.mark.parametrize("how", ["mean", "max"])
@pytest.mark.parametrize("inner", [Hamming([1, 2, 3, 4, 5, 6]), NGrams(2), Levenshtein()])
@given(objects=st.lists(strands, min_size=1, max_size=5))
@settings(max_examples=20)
def test_either_strand_is_the_four_scores_combined(how: str, inner: Similarity, objects: list[str]) -> None:
    like = ReverseComplement(inner, how)  # type: ignore[arg-type]
    combine = np.mean if how == "mean" else np.max
    expected = [
        [
            combine([inner(p, q) for p in (x, reverse_complement(x)) for q in (y, reverse_complement(y))])
            for y in objects
        ]
        for x in objects
    ]
    a, other_strands = like.encode(objects), like.encode([reverse_complement(x) for x in objects])
    np.testing.assert_allclose(like.between(a, a), expected, atol=1e-12)
    np.testing.assert_allclose(like.between(other_strands, a), expected, atol=1e-12)


def test_many_sequences_have_the_diagonal_within() -> None:
    rng = np.random.default_rng(0)
    objects = ["".join(rng.choice(list("ACGT"), 8)) for _ in range(50)]
    like = ReverseComplement(Hamming())
    a = like.encode(objects)
    np.testing.assert_allclose(like.within(a), np.diagonal(like.between(a, a)), atol=1e-12)


@pytest.mark.parametrize("wrong", [5, ("A", "C"), "ACGX"])
def test_what_has_no_other_strand_is_named(wrong: object) -> None:
    with pytest.raises(SimilarityError, match="object 1"):
        ReverseComplement(Levenshtein()).encode(["ACGT", wrong])
