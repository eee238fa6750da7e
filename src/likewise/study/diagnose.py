"""A study's diagnosis: is the similarity any good here?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from likewise.model.committee import Committee
from likewise.model.diagnosis.diagnosis import Diagnosis
from likewise.model.diagnosis.diagnosis import diagnose as diagnosis
from likewise.model.fit import DEFAULT, Settings, recondition
from likewise.model.gram_cache import picked
from likewise.study.trial import Trial

# Judging takes time in the cube of the observations; these many tell similarities apart.
MOST = 400


def diagnose(
    committee: Committee, told: Sequence[Trial], *, minimising: bool = False, settings: Settings = DEFAULT
) -> Diagnosis:
    """The diagnosis of a committee by the observations it is conditioned on, or by some of them if they are many."""
    sign = -1.0 if minimising else 1.0
    values = np.array([np.nan if trial.value is None else sign * trial.value for trial in told])
    stds = np.array([trial.std or 0.0 for trial in told])
    extra = stds**2 if stds.any() else None
    if len(told) <= MOST:
        return diagnosis(committee, values, extra, settings=settings, sign=sign)
    some = np.linspace(0, len(told) - 1, MOST).round().astype(np.intp)
    part = None if extra is None else extra[some]
    smaller = recondition(committee, [picked(gram, some) for gram in committee.grams], values[some], part)
    found = diagnosis(smaller, values[some], part, settings=settings, sign=sign)
    return replace(found, notes=(*found.notes, f"judged by {MOST} of {len(told)} observations"))
