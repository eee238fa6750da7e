"""The told trials of a study as the data of a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.model.schedule import Data
from likewise.study.trial import Trial


def observations(told: Sequence[Trial], sign: float) -> Data:
    """Told trials in the order they became known, so that Gram matrices only grow; larger values are better."""
    stds = np.array([trial.std or 0.0 for trial in told])
    values = sign * np.array([value_of(trial) for trial in told])
    return Data([trial.object for trial in told], values, stds**2 if stds.any() else None)


def value_of(trial: Trial) -> float:
    """The value of a told trial."""
    assert trial.value is not None
    return trial.value
