"""Treated matrices that outcomes share: where several were measured of the same objects, each is made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise.model.gram import Gram
from likewise.model.spectrum import Spectrum, Treatment, treat
from likewise.similarity.base import Matrix
from likewise.similarity.combine.mix import Mix


@dataclass(eq=False)
class Treatments:
    """The treatments that were made so far, by the Gram matrices and the mix that they are of.

    They are large: keep it no longer than the outcomes are fitted one after another.
    """

    # The matrices are kept beside the answer, so that none of another place in memory takes their name.
    _made: dict[Any, tuple[list[Matrix], Treatment]] = field(default_factory=dict)

    def of(self, grams: Sequence[Gram], mix: Mix, kind: Spectrum, *, psd: bool) -> Treatment:
        """The treatment of the mix's scores.

        >>> import likewise as lw
        >>> grams, made = [Gram.of(lw.RBF(1.0), [[0.0], [1.0]])], Treatments()
        >>> one, other = (made.of(grams, Mix((1.0,)), "krein", psd=True) for _ in range(2))
        >>> one is other
        True
        """
        compared = [grams[k].scores for k in mix.used]
        key = tuple(map(id, compared)), mix, kind, psd
        if key not in self._made:
            self._made[key] = compared, treat(mix_scores(grams, mix), kind, psd=psd)
        return self._made[key][1]


def mix_scores(grams: Sequence[Gram], mix: Mix) -> Matrix:
    """The mix's scores of the objects of these Gram matrices."""
    return np.asarray(mix.scores([gram.scores for gram in grams]))
