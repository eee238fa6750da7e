"""Parameters that count something are whole numbers, and are refused at once where they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples.similarities.jensen_shannon import JensenShannon
from examples.similarities.samples import SlicedWasserstein
from examples.similarities.subsequences import Subsequences

import likewise as lw
from likewise.errors import SimilarityError
from likewise.similarity.base import Similarity


@pytest.mark.parametrize(
    "make",
    [
        lw.NGrams,
        Subsequences,
        lw.WeisfeilerLehman,
        lambda n: JensenShannon(points=n),
        lambda n: SlicedWasserstein(directions=n),
        lambda n: SlicedWasserstein(quantiles=n),
        lambda n: SlicedWasserstein(seed=n),
        lambda n: lw.GlobalAlignmentKernel(shift=n),
        lambda n: lw.MonteCarloKL(lw.Gaussian.sample, lambda omega, x: x.log_density(omega), samples=n),
        lambda n: lw.MonteCarloJS(lw.Gaussian.sample, lambda omega, x: x.log_density(omega), seed=n),
    ],
)
def test_parameters_that_count_are_whole_numbers(make: Callable[[Any], Similarity]) -> None:
    make(2), make(np.int64(3))
    for wrong in (2.5, 2.0, "2", -1):
        with pytest.raises(SimilarityError, match=f"whole number for .*, not {wrong!r}"):
            make(wrong)
