"""What users say became of objects: read, added to the log in one event, and named where a value is far off."""

from __future__ import annotations

import json
import reprlib
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

import numpy as np

from likewise.errors import SimilarityError, StudyError, SuspectWarning
from likewise.model.outliers import describe, far_values
from likewise.spaces.base import Space, key_of
from likewise.study.goals import Goals
from likewise.study.log import AMEND, WITHDRAW, Ledger, Log, lot, plain_text, why_final
from likewise.study.methods.base import Proposer
from likewise.study.storage.heartbeat import Heartbeat
from likewise.study.trial import VALUE, Measurement, Outcome, State, Suggestion, Trial, read_value

# What a user says became of an object, checked before anything is written down.


@dataclass(frozen=True)
class Finding:
    """What became of a suggestion, of a trial, of the trial with an `id`, or of any object."""

    what: Any
    state: State
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    error: str | None = None
    id: int | None = None
    notes: Mapping[str, Any] | None = None

    @property
    def entry(self) -> dict[str, Any]:
        """What the log says of it, beside the trial."""
        outcomes = {name: outcome.to_dict() for name, outcome in self.outcomes.items()}
        error = None if self.error is None else plain_text(self.error)
        return {"state": self.state, "outcomes": outcomes or None, "error": error, "notes": self.notes}

    def value_of(self, name: str) -> float | None:
        """The value of an outcome, if this is one, and no limit."""
        outcome = self.outcomes.get(name)
        return None if outcome is None or outcome.limit is not None else outcome.value


def told(goals: Goals, what: Any, value: Any, std: Any = None, id: int | None = None) -> Finding:
    """A value, or values by outcome, refused if one is no finite number."""
    about = what.object if isinstance(what, Suggestion | Trial) else what if id is None else f"trial {id}"
    if not goals.named:
        if isinstance(value, Mapping):
            raise StudyError(
                f"the value of {reprlib.repr(about)} is {reprlib.repr(value)}, but the study has one objective without "
                "a name; tell a number, or make the study with objectives={…}"
            )
        return Finding(what, State.TOLD, {VALUE: read_value(about, value, std)}, id=id)
    return Finding(what, State.TOLD, read_outcomes(goals, about, value, std), id=id)


def read_outcomes(goals: Goals, about: Any, value: Any, std: Any = None) -> dict[str, Outcome]:
    """The outcomes of an object by name, refused where a name is unknown or a value is no finite number.

    >>> read_outcomes(Goals({"yield": "maximize"}, named=True), "CCO", {"yield": 71})
    {'yield': Outcome(value=71.0, std=None, limit=None, block=None)}
    """
    names = goals.outcomes
    if not isinstance(value, Mapping):
        if len(names) > 1:
            limit = value.limit if isinstance(value, Measurement) else None
            said = reprlib.repr(value) if limit is None else f"{limit.capitalize()}({value.value})"
            raise StudyError(
                f"the value of {reprlib.repr(about)} is {said}, but there are {len(names)} outcomes; "
                f"tell them by name, as in {{{names[0]!r}: {'1.5' if limit is None else said}}}"
            )
        value = {names[0]: value}
    stds = std if isinstance(std, Mapping) else dict.fromkeys(value, std)
    for name in [*value, *stds]:
        if name not in names:
            listed = ", ".join(map(repr, names))
            computed = ", which is computed and not told" if name in goals.computed else ""
            raise StudyError(f"the study has no outcome {name!r}{computed}; its outcomes are {listed}")
    if not value:
        raise StudyError(f"no outcome of {reprlib.repr(about)} was given; tell some of {', '.join(map(repr, names))}")
    if missing := [name for name in stds if name not in value]:
        raise StudyError(f"the standard deviation of {missing[0]!r} is given without its value; tell both")
    return {name: read_value(about, number, stds.get(name), outcome=name) for name, number in value.items()}


def amended(goals: Goals, trial: Trial, value: Any, std: Any = None) -> Finding:
    """Other values for a told trial; a standard deviation or a block that is not said again stays."""
    new, before = told(goals, trial, value, std), trial.outcomes
    if missing := [name for name in new.outcomes if name not in before]:
        raise StudyError(f"trial {trial.id} has no {missing[0]!r} to amend; tell it")
    full = {
        name: replace(own, std=before[name].std if own.std is None else own.std, block=own.block or before[name].block)
        for name, own in new.outcomes.items()
    }
    return replace(new, outcomes=full)


def read_notes(notes: Any) -> dict[str, Any] | None:
    """A user's remarks as they are stored, refused where they are no JSON.

    >>> read_notes({"by": "Ann", "vial": 3})
    {'by': 'Ann', 'vial': 3}
    """
    if notes is None:
        return None
    if not isinstance(notes, Mapping) or not all(isinstance(name, str) for name in notes):
        raise StudyError(f"notes={reprlib.repr(notes)} are no names with remarks; give a mapping, as {{'by': 'Ann'}}")
    try:
        return json.loads(json.dumps(dict(notes), allow_nan=False, default=_plain)) if notes else None
    except (TypeError, ValueError) as error:
        raise StudyError(f"notes={reprlib.repr(notes)} are not JSON: {error}; give texts, numbers or lists") from error


def _plain(content: Any) -> Any:
    """A number or an array of NumPy as Python's own."""
    if hasattr(content, "tolist"):
        return content.tolist()
    raise TypeError(f"{type(content).__name__} is no text, number or list")


def told_row(goals: Goals, row: Any) -> Finding:
    """A value from a row of what was measured, its value and perhaps its standard deviation."""
    if isinstance(row, str | bytes) or not isinstance(row, Sequence) or not 2 <= len(row) <= 3:
        raise StudyError(f"{row!r} is no row to tell; give (object, value) or (object, value, std)")
    return told(goals, *row)


def refuse_limits(findings: Sequence[Finding], method: Any) -> None:
    """A complaint about a value that is only a limit, or of a block, where a method takes numbers alone."""
    for outcome in (outcome for finding in findings for outcome in finding.outcomes.values()):
        if outcome.limit is not None:
            raise StudyError(f"{outcome} is only a limit, but {method!r} takes numbers alone; use the default method")
        if outcome.block is not None:
            raise StudyError(f"block={outcome.block!r} is nothing {method!r} knows of; use the default method")


def check_single(what: Any) -> None:
    """A complaint about a list of suggestions where one is meant."""
    if isinstance(what, list | tuple) and any(isinstance(x, Suggestion | Trial) for x in what):
        raise StudyError(
            f"this is a list of {len(what)} suggestions, as `ask` returns it; tell them one by one: "
            "for s in study.ask(8): study.tell(s, measure(s.object))"
        )


# What became of objects, written down: each finding changes the trial that is meant, or adds one.


class Stated(NamedTuple):
    """An object as the log has it: its JSON data, its key, and the instance that stands for it from now on."""

    data: Any
    key: str
    object: Any

    @classmethod
    def of(cls, space: Space, x: Any) -> Stated:
        data = space.to_json(x)
        # As it is when it is read again, so that a study in memory and a resumed one have the same objects.
        return cls(data, key_of(data), space.from_json(json.loads(json.dumps(data))))


@final
@dataclass(eq=False)
class Recorder:
    """Adds findings to the log, all of them or none."""

    log: Log
    space: Space
    proposer: Proposer
    heartbeat: Heartbeat

    def record(self, findings: Sequence[Finding]) -> None:
        """One event, however many findings there are."""
        self.log.sync()
        stated = [self._stated(finding) for finding in findings]
        meant = self._meant(self.log.ledger, findings, stated)
        self._check_comparable([x.object for x, id in zip(stated, meant, strict=True) if x is not None and id is None])
        kinds = {finding.state for finding in findings}
        with self.log.change("abandon" if kinds == {State.ABANDONED} else "tell") as draft:
            meant = self._meant(draft.ledger, findings, stated)
            for finding, x, id in zip(findings, stated, meant, strict=True):
                if id is not None:
                    draft.change(id, **finding.entry)
                elif x is not None:
                    draft.add(x.data, x.object, **finding.entry)
        for id in meant:
            if id is not None:
                self.heartbeat.drop(id)

    def correct(self, trial: Trial, finding: Finding, why: str) -> None:
        """Amend a trial by what was found, or withdraw it; what it said before is kept."""
        with self.log.change(WITHDRAW if finding.state is State.ABANDONED else AMEND) as draft:
            draft.change(trial.id, **{**finding.entry, "why": plain_text(why)})

    def settled(self, what: Any, id: int | None, states: Collection[State]) -> Trial:
        """The trial in one of these states that is meant by a trial, a suggestion, a number, or an object of one."""
        self.log.sync()
        ledger, of = self.log.ledger, f"of study {self.log.name!r}"
        if id is None and isinstance(what, Suggestion | Trial):
            id = what.id
        if id is None:
            results = ledger.results_of(self.space.key(self.space.fit(what)))
            if len(results) != 1:
                which = f"say which by id=…: {'; '.join(map(repr, results))}" if results else "tell it one"
                raise StudyError(f"{what!r} has {len(results) or 'no'} results in study {self.log.name!r}; {which}")
            id = results[0].id
        self._check_same(ledger, what, id)
        trial = ledger.get(id)
        if trial is None:
            raise StudyError(f"study {self.log.name!r} has no trial {id!r}; `study.trials` has those that there are")
        if trial.state not in states:
            raise StudyError(f"trial {id} {of} {why_final(trial)}")
        if isinstance(what, Trial) and (what.state, what.outcomes) != (trial.state, trial.outcomes):
            raise StudyError(
                f"trial {id} {of} is {trial!r} and not {what!r}: it was corrected meanwhile, or this is the mean of "
                "several values; take it from `study.trials`"
            )
        return trial

    def enqueue(self, objects: Sequence[Any], *, replicate: bool, notes: Mapping[str, Any] | None) -> None:
        """Objects that are to be asked next, all of them or none.

        Raises where one waits already, or was measured and is not to be again.
        """
        stated = [Stated.of(self.space, x) for x in objects]
        self.log.sync()
        self._check_comparable([x.object for x in stated])
        with self.log.change("enqueue") as draft:
            finished = draft.ledger.held({State.TOLD, State.FAILED})
            seen = set[str]()
            for x in stated:
                if x.key in seen or draft.ledger.open_for(x.key) is not None:
                    raise StudyError(
                        f"{x.object!r} is enqueued or being measured in study {self.log.name!r}; "
                        "tell it, or abandon it first"
                    )
                if x.key in finished and not replicate:
                    raise StudyError(
                        f"{x.object!r} was measured in study {self.log.name!r}; enqueue(…, replicate=True) measures "
                        "it again"
                    )
                seen.add(x.key)
                draft.add(x.data, x.object, state=State.QUEUED, notes=notes)

    def run(self, objects: Sequence[Any]) -> None:
        """Objects that are being measured already."""
        stated = [Stated.of(self.space, x) for x in objects]
        with self.log.change("run") as draft:
            for x in stated:
                draft.add(x.data, x.object, state=State.ASKED)

    def _stated(self, finding: Finding) -> Stated | None:
        """The object of a finding that names no trial."""
        if finding.id is not None or isinstance(finding.what, Suggestion | Trial):
            return None
        return Stated.of(self.space, self.space.fit(finding.what))

    def _meant(self, ledger: Ledger, findings: Sequence[Finding], stated: Sequence[Stated | None]) -> list[int | None]:
        """The trial that each finding changes; None for a new one. Raises where one would be changed twice."""
        ids: list[int | None] = []
        besides = set[int]()
        for finding, x in zip(findings, stated, strict=True):
            id = self._trial_of(ledger, finding) if x is None else self._trial_for(ledger, finding, x, besides)
            if id is not None and id in besides:
                raise StudyError(f"trial {id} of study {self.log.name!r} is told twice; tell its object once more")
            ids.append(id)
            if id is not None:
                besides.add(id)
        return ids

    def _trial_of(self, ledger: Ledger, finding: Finding) -> int:
        """The trial that a finding names, which is about its object, if that is given as well."""
        id = finding.what.id if finding.id is None else finding.id
        self._check_same(ledger, finding.what, id)
        return int(id)

    def _check_same(self, ledger: Ledger, what: Any, id: int) -> None:
        """Raises if a suggestion, a trial or an object that is given with an id is not what that trial is about."""
        known = ledger.key_of(id)
        if what is None or known is None:
            return
        about = what.object if isinstance(what, Suggestion | Trial) else self.space.fit(what)
        key = what.key if isinstance(what, Suggestion) and what.key else self.space.key(about)
        if key != known:
            raise StudyError(
                f"trial {id} of study {self.log.name!r} is about {known}, not about {key}, which another study may "
                "have asked; tell the object itself, without an id"
            )

    def _trial_for(self, ledger: Ledger, finding: Finding, x: Stated, besides: Collection[int]) -> int | None:
        """The trial that is open for an object, or still lacks these outcomes; None if there is none."""
        id = ledger.open_for(x.key, besides) if ledger.some_open else None
        if id is None and finding.state is State.TOLD:
            id = ledger.partly_told(x.key, finding.outcomes, besides)
        if id is None and finding.state is State.ABANDONED:
            raise StudyError(
                f"{finding.what!r} is not being evaluated in study {self.log.name!r}, so it cannot be given back"
            )
        return id

    def _check_comparable(self, objects: Sequence[Any]) -> None:
        """Raises if no model could learn from an object: told, it could not be taken back.

        All at once, in an order of their own, and one by one only to find the one that is wrong.
        """
        if not objects:
            return
        measured = [trial.object for trial in self.log.ledger.within(State.TOLD)[:1]]
        try:
            ordered = sorted(objects, key=lambda x: lot(self.space.key(x))) if len(objects) > 1 else objects
            self.proposer.check(ordered, measured)
        except SimilarityError:
            for x in objects if len(objects) > 1 else []:
                try:
                    self.proposer.check([x], measured)
                except SimilarityError as error:
                    raise SimilarityError(f"{x!r} cannot be compared: {error}") from error
            raise


# Values far from all others: who is told of them. They stay in the model until the user amends or withdraws them.

REMEDY = "amend or withdraw a slip (`study.amend`, `study.withdraw`), and measure a hit once more"


def far_places(measured: Sequence[Measurement | Outcome]) -> list[int]:
    """The places of the values that are far from all others; one told with its standard deviation is none."""
    values = np.array([each.value for each in measured], dtype=float)
    return far_values(values, np.array([each.std is not None for each in measured], dtype=bool)).tolist()


def far_trials(told: Sequence[Trial], name: str) -> list[Trial]:
    """The told trials whose value of an outcome is far from all others."""
    measured = [(t, own) for t in told if (own := t.outcomes.get(name)) is not None and own.limit is None]
    return [measured[i][0] for i in far_places([own for _, own in measured])]


@final
@dataclass(eq=False)
class Suspicion:
    """Warns once of each value that is far from all others."""

    _named: set[tuple[int, str, float]] = field(default_factory=set)

    def look(self, findings: Sequence[Finding], ledger: Ledger, goals: Goals) -> None:
        """Warn of what was recorded, which the ledger has.

        A value that lies between two others is not far from all, which costs next to nothing to see.
        """
        data = ledger.within(State.TOLD)
        if any(_some_far(findings, data, name) for name in goals.outcomes):
            self.warn(ledger, goals, level=6)

    def warn(self, ledger: Ledger, goals: Goals, level: int) -> None:
        """Warn of all that were not warned of before; `level` as warnings have it."""
        for name in goals.outcomes:
            for trial in far_trials(ledger.within(State.TOLD), name):
                value = trial.outcomes[name].value
                if (trial.id, name, value) not in self._named:
                    self._named.add((trial.id, name, value))
                    of = f"{name} " if goals.named else ""
                    text = f"{of}{describe(trial.object, value)} (trial {trial.id}); {REMEDY}"
                    warnings.warn(text, SuspectWarning, stacklevel=level)


def _some_far(findings: Sequence[Finding], told: Sequence[Trial], name: str) -> bool:
    """Whether one of the values of an outcome that were just told is far from all others."""
    new = {value for finding in findings if (value := finding.value_of(name)) is not None}
    if not any(_may_be_far(value, told, name) for value in new):
        return False
    return any(trial.outcomes[name].value in new for trial in far_trials(told, name))


def _may_be_far(value: float, told: Sequence[Trial], name: str) -> bool:
    """Whether a value lies between no two others."""
    above = below = False
    for trial in told:
        if name in trial.outcomes:
            other = trial.outcomes[name].value
            above, below = above or other > value, below or other < value
            if above and below:
                return False
    return True
