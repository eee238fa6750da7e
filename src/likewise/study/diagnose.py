"""A study's diagnosis: is the similarity any good here?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.influence.committee import Committee
from likewise.influence.diagnosis import Diagnosis
from likewise.influence.diagnosis import diagnose as diagnosis
from likewise.influence.fitting import DEFAULT, Settings
from likewise.study.trial import Trial


def diagnose(
    committee: Committee, told: Sequence[Trial], *, minimising: bool = False, settings: Settings = DEFAULT
) -> Diagnosis:
    """The diagnosis of a committee by the observations it is conditioned on."""
    sign = -1.0 if minimising else 1.0
    values = np.array([np.nan if trial.value is None else sign * trial.value for trial in told])
    stds = np.array([trial.std or 0.0 for trial in told])
    return diagnosis(committee, values, stds**2 if stds.any() else None, settings=settings, sign=sign)
