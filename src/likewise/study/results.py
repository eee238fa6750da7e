"""What a study has found: its trials, the best of them, and where there are several objectives the front."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.acquisition.fronts import hypervolume, is_nondominated
from likewise.errors import SimilarityError, StudyError
from likewise.forks import ForkLock
from likewise.similarity.base import Matrix
from likewise.spaces.base import Space
from likewise.spaces.codec.copies import copied
from likewise.study.goals import Goals
from likewise.study.log import Ledger, Log
from likewise.study.observations import average_replicates, best_of
from likewise.study.preferences import Preference, check_preference
from likewise.study.record.recorder import Recorder
from likewise.study.trial import State, Trial, Trials

if TYPE_CHECKING:
    import polars


class Results:
    """The record of a study, as far as it can be read without a model."""

    space: Space
    goals: Goals
    preference: Preference | None
    _log: Log
    _recorder: Recorder
    _lock: ForkLock

    @property
    def name(self) -> str:
        """The study's name in its storage."""
        return self._log.name

    @property
    def trials(self) -> Trials:
        """Every trial, in the order of creation."""
        with self._lock:
            self._log.sync()
            return Trials(for_user(trial) for trial in self._ledger.trials)

    def __len__(self) -> int:
        """How many trials there are, whatever became of them."""
        with self._lock:
            self._log.sync()
            return len(self._ledger)

    def __bool__(self) -> bool:
        """True: a study without trials is a study."""
        return True

    def count(self, state: State) -> int:
        """How many trials are in a state.

        state: a `State`, or its name: "queued", "asked", "told", "failed" or "abandoned".
        """
        return len(self._trials_in(State(state)))

    @property
    def best(self) -> Trial:
        """The best observation: values of one object are averaged, and of equal objects the first is taken.

        Where values are maximised, one above a limit counts as the limit, and one below a limit is the best only where
        there are no others; `measured` shows them as ">99" and "<0.1".

        It may be the luckiest; `recommend` says what all observations together speak for. With constraints it is the
        best of those that keep to them. With several objectives it is the one that the study's `preference` prefers.
        """
        observed = self._observed()
        if self.goals.objective is None:
            return self.best_by(self.preference)
        kept = [trial for trial in observed if self.objectives_of(trial) and self.goals.feasible(trial.outcomes)]
        if not kept:
            raise StudyError(
                f"no observation of study {self.name!r} has its objective and keeps to its constraints yet; "
                "`study.trials` has all of them"
            )
        return for_user(best_of(kept, self.goals.sign(self.goals.objective), self.goals.objective))

    def reaches(self, trial: Trial) -> bool:
        """Whether an observation is at least as good as its value: none of its objectives is limited to what is worse.

        "Below 0.1" is not where values are maximised.

        trial: an observation of this study.
        """
        return all(trial.outcomes[name].limit != self.goals.worse(name) for name in self.goals.measured)

    @property
    def best_value(self) -> float:
        """The value of the best observation, as `best` has it; a StudyError where there are several objectives."""
        if self.goals.objective is None:
            raise StudyError(f"study {self.name!r} has several objectives; `study.front` has the best trade-offs")
        return self.best.outcomes[self.goals.objective].value

    def best_by(self, preference: Preference | None) -> Trial:
        """The observation that a preference prefers, of those that keep to all constraints.

        preference: `Weighted({"yield": 2.0, "cost": 1.0})` or `Desirability({"yield": (50, 90), "cost": (10, 2)})`.
        """
        self._observed()
        chosen = check_preference(preference, self.goals.objectives)
        if chosen is None:
            names = ", ".join(self.goals.objectives)
            raise StudyError(
                f"which is best of {names} is for you to say: read `study.front`, or make the study with "
                "preference=likewise.Weighted({…}) or preference=likewise.Desirability({…})"
            )
        kept, values = self._complete()
        if not kept:
            raise StudyError(
                f"no observation of study {self.name!r} has every objective and keeps to the constraints yet"
            )
        return for_user(kept[int(np.argmax(chosen.scores(values, self.goals.objectives)))])

    @property
    def front(self) -> Trials:
        """The observations that no other beats in every objective, of those that keep to all constraints.

        Values of one object are averaged. Objects of which an objective is still missing, or known to be worse than a
        limit, are not among them.
        """
        kept, values = self._complete()
        better = is_nondominated(self._signed(values), equal=True) if len(self.goals.objectives) > 1 else None
        if better is None:
            return Trials([self.best] if kept else [])
        return Trials(for_user(trial) for trial, good in zip(kept, better.tolist(), strict=True) if good)

    @property
    def hypervolume(self) -> float:
        """The volume between the front and the reference, in the units of the objectives multiplied.

        The reference is the study's `reference`; an objective that it does not name counts from the worst value that
        was measured. It falls only if a value is corrected, by a repeat or by a failure.
        """
        kept, values = self._complete()
        if not kept:
            return 0.0
        signed, every = self._signed(values), self._signed(self._complete(feasible=False)[1])
        worst = every.min(axis=0)
        given, goals = self.goals.reference, self.goals
        reference = [
            goals.sign(n) * given[n] if n in given else w for n, w in zip(goals.objectives, worst, strict=True)
        ]
        return hypervolume(signed, np.array(reference, dtype=float))

    def objectives_of(self, trial: Trial) -> dict[str, float]:
        """The values of a trial's objectives by name, computed ones among them; those that are missing are left out.

        trial: of this study.
        """
        goals = self.goals
        computed = {name: float(one.values([trial.object])[0]) for name, one in goals.computed.items()}
        found = {**trial.values, **computed}
        return {name: found[name] for name in goals.objectives if name in found}

    def to_frame(self) -> polars.DataFrame:
        """Every trial as a row of a polars data frame, in the order of creation.

        `.to_pandas()` of the answer makes one of pandas, where pyarrow is installed, and
        `pandas.DataFrame(frame.to_dict(as_series=False))` without it.

        The fields of records have columns of their own, other objects the column "object". Then come the value, or the
        values of named outcomes, standard deviations, the state, the error, the worker, when it was created and last
        changed, and a column for each name of your notes: "notes.by".

        >>> import likewise as lw
        >>> study = lw.Study(lw.Pool([{"T": 20, "base": "KOAc"}, {"T": 80, "base": "KOPiv"}]))
        >>> study.tell({"T": 80, "base": "KOPiv"}, 71.0, notes={"by": "Ann"})
        >>> study.to_frame().select("T", "base", "value", "state", "notes.by").row(0)
        (80, 'KOPiv', 71.0, 'told', 'Ann')
        """
        from likewise.study.record.frames import to_frame

        return to_frame(self._plain(), self.goals.named_outcomes if self.goals.named else ())

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write every trial to a file; each named outcome, and each name of your notes, has columns of its own.

        path: of a .csv, .parquet or .json file; one that is there is replaced.
        """
        from likewise.study.record.trial_tables import export

        export(self._plain(), path, self.goals.named_outcomes if self.goals.named else ())

    def read(
        self,
        path: str | os.PathLike[str],
        *,
        object: str | Sequence[str] | None = None,
        value: str | Mapping[str, str] = "value",
        std: str = "std",
    ) -> int:
        """Tell what a file holds, as `export` writes it or with columns of your own; how many trials that were.

        path: a .csv, .parquet or .json file.
        object: the column of the objects, or the columns that are the fields of a record. Default: as `export` writes.
        value: the column of the values, "value" by default. With named outcomes a mapping from outcomes to columns;
            by default each outcome is in the column of its name. Cells may be empty.
        std: the column of the standard deviations, "std" by default; it need not be there. With named outcomes the
            deviation of "yield" is in the column "yield std". Where a column "value limit" or "yield limit" has below
            or above, the value is only a limit.

        Values of objects that are open suggestions are told to those; values and failures that the study has already
        are passed over, so that a file may be read again when it has grown. All rows are told, or none.
        """
        from likewise.study.record.reading import new_findings
        from likewise.study.record.trial_tables import read_entries

        with self._lock:
            self._log.sync()
            columns = self._columns(value)
            entries = read_entries(path, object=object, value=value, std=std, outcomes=columns)
            findings = new_findings(str(path), entries, self.space, self._ledger, self.goals)
            try:
                self._recorder.record(findings)
            except SimilarityError as error:
                raise SimilarityError(f"{path}: {error}") from error
            self._look(findings)
            return len(findings)

    @property
    def _ledger(self) -> Ledger:
        return self._log.ledger

    def _plain(self) -> list[Trial]:
        """Every trial, its object as JSON data."""
        return [replace(trial, object=self.space.to_json(trial.object)) for trial in self.trials]

    def _look(self, findings: Sequence[Any]) -> None:
        """Look at what was recorded."""
        raise NotImplementedError

    def _columns(self, value: Any) -> dict[str, str]:
        """The column of each named outcome."""
        if not self.goals.named:
            return {}
        if isinstance(value, str):
            only = self.goals.named_outcomes
            return {only[0]: value} if len(only) == 1 and value != "value" else {name: name for name in only}
        if unknown := [name for name in value if name not in self.goals.outcomes]:
            raise StudyError(f"value={value!r} names {unknown[0]!r}; the outcomes are {', '.join(self.goals.outcomes)}")
        return dict(value)

    def _trials_in(self, state: State) -> list[Trial]:
        with self._lock:
            self._log.sync()
            return self._ledger.within(state)

    def _observed(self) -> list[Trial]:
        """The told trials in the order they were told; a complaint where there is none."""
        observed = self._trials_in(State.TOLD)
        if not observed:
            raise StudyError(f"study {self.name!r} has no observation yet; tell it one first")
        return sorted(observed, key=lambda trial: (self._ledger.event(trial.id), trial.id))

    def _complete(self, *, feasible: bool = True) -> tuple[list[Trial], list[dict[str, float]]]:
        """The observations that have every objective, and keep to the constraints, with their objectives."""
        told = sorted(self._trials_in(State.TOLD), key=lambda trial: trial.id)
        every = [(trial, self.objectives_of(trial)) for trial in average_replicates(told)]
        kept = [
            (trial, values)
            for trial, values in every
            if len(values) == len(self.goals.objectives) and (not feasible or self._counts(trial))
        ]
        return [trial for trial, _ in kept], [values for _, values in kept]

    def _counts(self, trial: Trial) -> bool:
        """Whether it keeps to the constraints, and is as good as its values say."""
        return self.goals.feasible(trial.outcomes) and self.reaches(trial)

    def _signed(self, values: Sequence[Mapping[str, float]]) -> Matrix:
        """Objectives as rows of numbers of which more is better."""
        goals = self.goals
        rows = [[goals.sign(name) * one[name] for name in goals.objectives] for one in values]
        return np.array(rows, dtype=float).reshape(-1, len(goals.objectives))


def for_user(trial: Trial) -> Trial:
    """The trial for a user, who may do with its object and notes what he likes."""
    x, notes = copied(trial.object), dict(trial.notes)
    return trial if x is trial.object and not notes else replace(trial, object=x, notes=notes)
