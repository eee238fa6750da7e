"""A similarity of your own: of sequences, by the two stretches that are most alike. It needs Biopython."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.similarity.kinds.sequences import GlobalAlignment


@dataclass(frozen=True)
class LocalAlignment(GlobalAlignment):
    """Smith–Waterman score of the two most alike stretches, normalised to [0, 1]. Not PSD.

    The first letter of a gap costs `gap_open`, each further one `gap_extend`. Use "BLOSUM62" or another of Biopython's
    matrices for proteins and "NUC.4.4" for DNA.

    matrix: the name of a matrix of substitution scores in Biopython; "BLOSUM62" by default, for proteins.

    >>> LocalAlignment("NUC.4.4")("ACGTTT", "CCACGT") == 4 / 6
    True
    """

    compares = "Smith–Waterman score of the most alike stretches"
    mode = "local"
