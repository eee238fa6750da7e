"""What a study believes: predictions, reasons, recommendations, and whether its similarities are any good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.errors import StudyError
from likewise.model.assessment.diagnosis import Diagnosis, diagnose
from likewise.model.committee import Committee
from likewise.model.prediction import Prediction
from likewise.similarity.base import Vector
from likewise.study import explanation
from likewise.study.checks import at_least_one
from likewise.study.methods.base import AllBeliefs, Beliefs, Restarting
from likewise.study.methods.outcomes import JointGoals
from likewise.study.observations import observations, trials_of
from likewise.study.recommendation import Recommendation, expected_best, recommend
from likewise.study.record.suspicion import far_trials
from likewise.study.results import Results, for_user
from likewise.study.suggestion import Analogue
from likewise.study.trial import State, Trials
from likewise.tables.frames import as_objects, is_frame


class Answers(Results):
    """The beliefs of a study, about any object of its space."""

    seed: int
    _proposer: Restarting

    def predict(self, objects: Sequence[Any], *, measurement: bool = False, outcome: str | None = None) -> Prediction:
        """Expected value and standard deviation of each object; `interval(0.95)` of the answer gives intervals.

        objects: of the study's space: a list, an array, a series, or a data frame, whose rows are records.
        measurement: whether of a new measurement, noise included, and not of the true value; False by default.
        outcome: the name of the outcome; not needed where there is one.
        """
        fitted = [self.space.fit(x) for x in as_objects(objects)]
        believed = self.committee(outcome).predict(fitted, measurement=measurement)
        return believed if self.goals.sign(self._outcome(outcome)) > 0 else believed.negate()

    def recommend(self, n: int = 1, *, anywhere: bool = False) -> list[Recommendation]:
        """The objects with the largest expected value, best first.

        n: how many, 1 by default.
        anywhere: whether of all objects of the space, and not only of the measured ones; False by default.
        """
        at_least_one("the number of objects", n)
        with self._lock:
            if not self.goals.single:
                raise StudyError("recommend is for one objective without constraints; read `study.front` or `best_by`")
            committee, observed = self._beliefs().committee, trials_of(self._ledger, self._outcome(None), self.goals)
            failed, rng = [t.object for t in self._ledger.within(State.FAILED)], np.random.default_rng(self.seed)
            others = expected_best(n, self.space, committee, observed, failed, rng) if anywhere else []
            return recommend(n, committee, observed, self.goals.sign(self._outcome(None)), others)

    def explain(self, x: Any, most: int = explanation.ANALOGUES, *, outcome: str | None = None) -> tuple[Analogue, ...]:
        """The observations with the most influence on the prediction at an object, signed; the strongest first.

        x: an object of the study's space; a data frame of one row will do.
        most: how many, 5 by default.
        outcome: the name of the outcome; not needed where there is one.
        """
        fitted = self.space.fit(_one(x))
        with self._lock:
            name, beliefs = self._outcome(outcome), self._beliefs(outcome)
            return explanation.analogues(fitted, beliefs, trials_of(self._ledger, name, self.goals), most, name)

    def chance_feasible(self, objects: Sequence[Any]) -> Vector:
        """The chance of each object to keep to all constraints, as far as their outcomes were measured; 1 without any.

        objects: of the study's space: a list, an array, a series, or a data frame, whose rows are records.
        """
        fitted = [self.space.fit(x) for x in as_objects(objects)]
        with self._lock:
            return JointGoals(self.goals).chance_feasible(self._all_beliefs(), fitted)

    def committee(self, outcome: str | None = None) -> Committee:
        """The models behind the predictions, with their weights; values are negated when minimising.

        outcome: the name of the outcome; not needed where there is one.
        """
        with self._lock:
            return self._beliefs(outcome).committee

    def diagnose(self, *, each: bool = True, outcome: str | None = None) -> Diagnosis:
        """Is this similarity any good here? Leave-one-out errors, calibration, spectrum, weights, and a verdict.

        each: judge each similarity of the committee alone too, which takes a fit of each; True by default.
        outcome: the name of the outcome; not needed where there is one.
        """
        with self._lock:
            beliefs, sign = self._beliefs(outcome), self.goals.sign(self._outcome(outcome))
            return diagnose(beliefs.committee, each=each, settings=beliefs.settings, sign=sign)

    def suspects(self, outcome: str | None = None) -> Trials:
        """The observations whose value is far from all others: hits, or slips that `amend` and `withdraw` correct.

        They count like any other. Limits, and values that were told with a standard deviation, are not among them.

        outcome: the name of the outcome; not needed where there is one.
        """
        name = self._outcome(outcome)
        return Trials(map(for_user, far_trials(self._trials_in(State.TOLD), name)))

    def _outcome(self, name: str | None) -> str:
        """The outcome of this name, or the one that there is."""
        names = self.goals.outcomes
        if name is None and len(names) == 1:
            return names[0]
        if name not in names:
            given = "give outcome=…" if name is None else f"there is no outcome {name!r}"
            raise StudyError(f"study {self.name!r} has the outcomes {', '.join(map(repr, names))}; {given}")
        return name

    def _beliefs(self, outcome: str | None = None) -> Beliefs:
        name, found = self._outcome(outcome), self._all_beliefs()
        if name not in found:
            which = f" of {name!r}" if self.goals.named else ""
            raise StudyError(f"study {self.name!r} has no observation{which} to predict from; tell it one first")
        return found[name]

    def _all_beliefs(self) -> AllBeliefs:
        """The beliefs about each outcome that was measured; none while nothing was."""
        self._log.sync()
        told = observations(self._ledger, self.goals)
        return self._proposer.believe(told) if told.outcomes else {}


def _one(x: Any) -> Any:
    """The object of a frame of one row, or what is no frame as it is."""
    if not is_frame(x):
        return x
    rows = as_objects(x)
    if len(rows) != 1:
        raise StudyError(f"the frame has {len(rows)} rows, and one object is meant; give one row of it")
    return rows[0]
