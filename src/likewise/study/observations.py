"""The told trials of a study as the data of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from likewise.model.gram import same_objects
from likewise.model.schedule import Data
from likewise.study.ledger import Ledger
from likewise.study.trial import State, Trial


def observations(ledger: Ledger, sign: float) -> Data:
    """Told trials in the order they became known, so that Gram matrices only grow; larger values are better."""
    told = ledger.within(State.TOLD)
    stds = np.array([trial.std or 0.0 for trial in told])
    return Data(
        [trial.object for trial in told],
        sign * np.array([value_of(trial) for trial in told]),
        stds**2 if stds.any() else None,
        np.array([ledger.lot(trial.id) for trial in told]),
        np.array([ledger.event(trial.id) for trial in told], dtype=np.intp),
    )


def value_of(trial: Trial) -> float:
    """The value of a told trial."""
    assert trial.value is not None
    return trial.value


def average_replicates(told: Sequence[Trial]) -> list[Trial]:
    """One trial for each object, the first of it, with the mean of all its values and of its stds what is left.

    >>> from likewise.study.trial import State
    >>> two = [Trial(i, "CCO", State.TOLD, value=value, std=0.1) for i, value in enumerate([1.0, 2.0])]
    >>> [(trial.id, trial.value, round(trial.std, 3)) for trial in average_replicates(two)]
    [(0, 1.5, 0.071)]
    """
    groups = same_objects([trial.object for trial in told])
    return [_average([told[i] for i in group.tolist()]) for group in groups]


def best_of(told: Sequence[Trial], sign: float) -> Trial:
    """The object of the best value, its replicates averaged; of equal ones the first."""
    return max(average_replicates(told), key=lambda trial: sign * value_of(trial))


def _average(replicates: Sequence[Trial]) -> Trial:
    first, n = replicates[0], len(replicates)
    if n == 1:
        return first
    stds = [trial.std for trial in replicates if trial.std is not None]
    std = float(np.sqrt(np.sum(np.square(stds)))) / n if len(stds) == n else None
    return replace(first, value=float(np.mean([value_of(trial) for trial in replicates])), std=std)
