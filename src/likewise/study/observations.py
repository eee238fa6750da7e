"""The told trials of a study as the data of a model, and the best of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.model.censoring import SIDES
from likewise.model.model import EVERY_EVENT_UNTIL, Data
from likewise.model.outliers import NONE
from likewise.model.scores import same_objects
from likewise.study.goals import Goals
from likewise.study.log import Ledger
from likewise.study.methods.base import Told
from likewise.study.trial import VALUE, Outcome, State, Trial


def observations(ledger: Ledger, goals: Goals) -> Told:
    """What was told, by outcome; larger is better.

    As long as the committee is fitted after every tell, observations are in an order that belongs to the objects, so
    that permuting the tells changes nothing, to the last digit. Then they are in the order in which they became known,
    so that Gram matrices only grow.
    """
    outcomes = {}
    for name in goals.outcomes:
        if trials := trials_of(ledger, name, goals):
            events = [trial.outcomes[name].told for trial in trials]
            outcomes[name] = _data(ledger, trials, events, goals.sign(name), name)
    return Told(outcomes, next(iter(outcomes.values())) if len(outcomes) == 1 else _whole(ledger))


def trials_of(ledger: Ledger, name: str, goals: Goals) -> list[Trial]:
    """The trials behind the observations of an outcome, in their order."""
    trials = ledger.measured(name)
    return _arrange(
        ledger, trials, lambda trial: (goals.sign(name) * trial.outcomes[name].value, trial.outcomes[name].std or 0.0)
    )


def failures(ledger: Ledger) -> list[Any]:
    """The objects that failed: few in an order of their own, of many the latest last."""
    return [trial.object for trial in _arrange(ledger, ledger.within(State.FAILED), lambda trial: (trial.id,))]


def _arrange(ledger: Ledger, trials: list[Trial], measured: Callable[[Trial], tuple[float, ...]]) -> list[Trial]:
    """Few of them in an order of their own: by their objects, and of one object by what was measured.

    A committee is fitted on all of these, whenever each was told.
    """
    if len(trials) > EVERY_EVENT_UNTIL:
        return trials
    return sorted(trials, key=lambda trial: (ledger.lot(trial.id), ledger.key_of(trial.id), *measured(trial)))


def _data(ledger: Ledger, told: Sequence[Trial], events: Sequence[int], sign: float, name: str) -> Data:
    stds = np.array([trial.outcomes[name].std or 0.0 for trial in told])
    sides = np.array([SIDES[trial.outcomes[name].limit] for trial in told])
    return Data(
        [trial.object for trial in told],
        sign * np.array([trial.outcomes[name].value for trial in told]),
        stds**2 if stds.any() else None,
        np.array([ledger.lot(trial.id) for trial in told]),
        _events(events),
        sign * sides if sides.any() else None,
        _blocks([trial.outcomes[name].block for trial in told]),
    )


def _blocks(labels: Sequence[str | None]) -> NDArray[np.intp] | None:
    """The number of each block, in an order of their own; None where there are not two of them."""
    number = {label: i for i, label in enumerate(sorted({label for label in labels if label is not None}))}
    if len(number) < 2:
        return None
    return np.array([NONE if label is None else number[label] for label in labels], dtype=np.intp)


def _whole(ledger: Ledger) -> Data:
    """All measured objects, by when their first outcome was told."""
    trials = ledger.within(State.TOLD)
    first = {trial.id: min(outcome.told for outcome in trial.outcomes.values()) for trial in trials}
    is_small = len(trials) <= EVERY_EVENT_UNTIL
    trials = sorted(trials, key=lambda trial: (0 if is_small else first[trial.id], ledger.lot(trial.id), trial.id))
    events = _events([first[trial.id] for trial in trials])
    lots = np.array([ledger.lot(trial.id) for trial in trials])
    return Data([trial.object for trial in trials], np.arange(float(len(trials))), None, lots, events)


def _events(numbers: Sequence[int]) -> NDArray[np.intp]:
    """The events of observations; those of few, which are in an order of their own, are as one."""
    events = np.array(numbers, dtype=np.intp)
    return events if len(events) > EVERY_EVENT_UNTIL else np.zeros_like(events)


def average_replicates(told: Sequence[Trial]) -> list[Trial]:
    """One trial for each object, the first of it, with the mean of all its values and of its stds what is left.

    >>> from likewise.study.trial import State
    >>> two = [Trial(i, "CCO", State.TOLD, {"value": Outcome(value, 0.1)}) for i, value in enumerate([1.0, 2.0])]
    >>> [(trial.id, trial.value, round(trial.std, 3)) for trial in average_replicates(two)]
    [(0, 1.5, 0.071)]
    """
    groups = same_objects([trial.object for trial in told])
    return [_average([told[i] for i in group.tolist()]) for group in groups]


def best_of(told: Sequence[Trial], sign: float, name: str = VALUE) -> Trial:
    """The object of the best value, its replicates averaged; of equal ones the first.

    One that is only known to be worse than a limit is the best only where there are no others.
    """
    worse = "below" if sign > 0 else "above"
    return max(
        average_replicates(told),
        key=lambda trial: (trial.outcomes[name].limit != worse, sign * trial.outcomes[name].value),
    )


def _average(replicates: Sequence[Trial]) -> Trial:
    first, n = replicates[0], len(replicates)
    if n == 1:
        return first
    names = dict.fromkeys(name for trial in replicates for name in trial.outcomes)
    measured = {name: [trial.outcomes[name] for trial in replicates if name in trial.outcomes] for name in names}
    return replace(first, outcomes={name: _mean(outcomes) for name, outcomes in measured.items()})


def _mean(measured: Sequence[Outcome]) -> Outcome:
    """The mean of several measurements of one object, and of their stds what is left.

    With upper limits among them their mean is one, too. Where some are upper and some are lower limits, these do not
    count.
    """
    sides = {outcome.limit for outcome in measured if outcome.limit is not None}
    if len(sides) > 1:
        measured = [outcome for outcome in measured if outcome.limit is None] or measured[:1]
        sides = {outcome.limit for outcome in measured if outcome.limit is not None}
    if len(measured) == 1:
        return measured[0]
    n, stds = len(measured), [outcome.std for outcome in measured if outcome.std is not None]
    std = float(np.sqrt(np.sum(np.square(stds)))) / n if len(stds) == n else None
    mean = float(np.mean([outcome.value for outcome in measured]))
    return Outcome(mean, std, next(iter(sides), None), told=measured[0].told)
