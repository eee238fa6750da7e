"""What Optuna's trials measured: the values of a study's directions, and the constraints that were set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from likewise.model.schedule import Data
from likewise.study.goals import VALUE, AtMost, Direction, Goals
from likewise.study.methods.base import Told

DIRECTIONS: dict[StudyDirection, Direction] = {
    StudyDirection.MAXIMIZE: "maximize",
    StudyDirection.MINIMIZE: "minimize",
}


def is_measured(trial: FrozenTrial) -> bool:
    """Whether a trial has values that a model can use; infinite ones count as a failure."""
    return trial.state is TrialState.COMPLETE and all(map(math.isfinite, trial.values))


@dataclass(frozen=True)
class Outcomes:
    """The directions of a study, and the names of the constraints that its trials have set."""

    directions: tuple[StudyDirection, ...]
    constraints: tuple[str, ...]

    @classmethod
    def of(cls, study: Study, trials: Sequence[FrozenTrial]) -> Outcomes:
        """Those of a study."""
        return cls(tuple(study.directions), tuple(sorted({name for t in trials for name in t.constraints})))

    @cached_property
    def goals(self) -> Goals:
        """A constraint is kept where it is zero or less."""
        objectives = {name: DIRECTIONS[one] for name, one in zip(self._names, self.directions, strict=True)}
        limits = {_constraint(name): AtMost(0.0) for name in self.constraints}
        return Goals(objectives, limits)

    @property
    def _names(self) -> list[str]:
        several = len(self.directions) > 1
        return [f"{VALUE} {i}" for i in range(len(self.directions))] if several else [VALUE]

    def told(self, measured: Sequence[tuple[FrozenTrial, Any]]) -> Told:
        """What measured trials, each with its object, tell of each outcome."""
        rows = {name: [(x, t.values[i]) for t, x in measured] for i, name in enumerate(self._names)}
        for name in self.constraints:
            set_there = [(x, t.constraints[name]) for t, x in measured if name in t.constraints]
            rows[_constraint(name)] = [(x, value) for x, value in set_there if math.isfinite(value)]
        found = {name: _data(each, self.goals.sign(name)) for name, each in rows.items() if each}
        return Told(found, _data([(x, 0.0) for _, x in measured]))


def _constraint(name: str) -> str:
    return f"constraint {name}"


def _data(rows: Sequence[tuple[Any, float]], sign: float = 1.0) -> Data:
    return Data([x for x, _ in rows], sign * np.array([value for _, value in rows]), None)
