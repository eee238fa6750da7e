"""The running optimisation: ask what to try, tell what was measured, and nothing told is lost."""

from __future__ import annotations

import json
import logging
import os
import platform
import secrets
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from traceback import format_exception
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from likewise.acquisition.acquisitions import Acquisition
from likewise.acquisition.hypervolume import hypervolume, is_nondominated
from likewise.errors import LikewiseError, SimilarityError, StudyError
from likewise.forks import ForkLock, watch
from likewise.model.committee import Committee
from likewise.model.diagnosis import Diagnosis, diagnose
from likewise.model.prediction import Prediction
from likewise.model.spectrum import Spectrum
from likewise.search.base import Plate, Search
from likewise.search.batch import Strategy
from likewise.similarity.auto import Given
from likewise.similarity.base import Matrix, Vector
from likewise.spaces.base import Space
from likewise.spaces.codec import copied
from likewise.spaces.description import rebuild
from likewise.study import explanation
from likewise.study.ask import Asking, Effort, make_plate
from likewise.study.explanation import Gain, Recommendation, expected_best, joint_gain, recommend, single_gain
from likewise.study.frames import frame_findings
from likewise.study.goals import (
    Bounds,
    Computed,
    Direction,
    Limits,
    Preference,
    Price,
    at_least_one,
    check_preference,
    check_setting,
    goal_options,
    goals,
)
from likewise.study.log import History, Ledger, open_log, plain_text, stored_options
from likewise.study.methods.base import AllBeliefs, Beliefs, Method, Restarting
from likewise.study.methods.committee import INITIAL, CommitteeMethod, JointGoals, choose_method
from likewise.study.observations import average_replicates, best_of, observations, trials_of
from likewise.study.recording import (
    Finding,
    Recorder,
    Suspicion,
    amended,
    check_single,
    far_trials,
    read_notes,
    refuse_limits,
    told,
    told_row,
)
from likewise.study.storage.base import Storage, open_storage
from likewise.study.storage.heartbeat import Heartbeat
from likewise.study.storage.memory import shown
from likewise.study.trial import (
    Analogue,
    Measurement,
    State,
    Suggestion,
    Suggestions,
    Trial,
    Trials,
    trials_html,
    with_block,
    with_limits,
)
from likewise.tables.cells import as_objects, brief, is_frame

if TYPE_CHECKING:
    import polars

    from likewise.run.loop import RunOptions
    from likewise.run.optimize import Result


def for_user(trial: Trial) -> Trial:
    """The trial for a user, who may do with its object and notes what he likes."""
    x, notes = copied(trial.object), dict(trial.notes)
    return trial if x is trial.object and not notes else replace(trial, object=x, notes=notes)


def _one(x: Any) -> Any:
    """The object of a frame of one row, or what is no frame as it is."""
    if not is_frame(x):
        return x
    rows = as_objects(x)
    if len(rows) != 1:
        raise StudyError(f"the frame has {len(rows)} rows, and one object is meant; give one row of it")
    return rows[0]


# The running optimisation: ask what to try, tell what was measured, and nothing told is lost.

LOG = logging.getLogger("likewise")


class Study:
    """Ask, tell, remember.

    space: where the objects come from: `Pool`, `Box`, `Strings`, `Record` …
    similarity: how alike two objects are: a similarity, a plain function, a list of either to weigh by evidence, or
        "auto" (default), which chooses by the kind of the objects.
    direction: "maximize" (default) or "minimize".
    objectives: what is to be optimised, by name, instead of a direction: `{"yield": "maximize", "cost": "minimize"}`.
        An objective that needs no measurement is `Computed(…)`. None (default): one objective without a name.
    constraints: outcomes that have to keep to limits, by name: `{"impurity": AtMost(2.0)}`; also `AtLeast`, `Between`.
    reference: of some objectives a value by name; what is worse in one of them adds nothing to the front. By default
        the worst that was measured.
    preference: what `best` is, of several objectives: `Weighted({…})` or `Desirability({…})`. None by default.
    seed: a whole number, 0 by default. The same seed and the same tells give the same asks. None draws one, which
        `study.seed` has.
    storage: where the study is kept: `"sqlite:///study.db"`, `"postgresql://…"`, a `Storage`, or None (default) for in
        memory. A stored study of this name is resumed, by any number of processes and machines at once; its space and
        direction must be the same, its seed and similarity may be new.
    name: the study's name in its storage, "study" by default.
    method: how objects are chosen. None (default) is a committee of models, weighted by evidence, with the next five
        options; `Paper()` is the paper's method as printed, which has options of its own.
    acquisition: what an object is worth; `LogExpectedImprovement()` by default.
    strategy: how several objects are picked together. Default: `Sequential()`, where each is picked with those before
        it in mind; `TwoStage()` in a box of 30 dimensions or more, most of which is corners, unless an acquisition is
        given.
    search: how the best objects are found; by default the one that suits the space.
    spectrum: what is done about negative eigenvalues of the similarity, one treatment or several to choose from;
        "krein" by default, which the measurements in docs/decisions.md are for.
    bounds: between which values are known to lie: `(0, 100)` for a yield in percent, `(0, None)` for a concentration.
        Predictions and their intervals stay inside, and no gain beyond is hoped for in the choice; what is measured
        outside is taken as it is. With named outcomes a mapping, by name. None by default.
    initial: observations before the model chooses; until then suggestions are spread out. 5 by default, as fewer tell
        a model next to nothing.
    lease: seconds after which suggestions that nobody settles return to the pool. This process renews its own from a
        thread in the background for as long as it lives. None (default): they stay open until told, failed or
        abandoned.
    worker: the name of this process in the record; by default the machine's name, the process's number and a random
        text.

    In a long study the model is conditioned on about a thousand observations, the best ones among them, so that asking
    stays quick.

    >>> import likewise as lw
    >>> study = lw.Study(lw.Box([0.0], [1.0]), similarity=lw.RBF(), seed=1)
    >>> for _ in range(12):
    ...     for s in study.ask():
    ...         study.tell(s, -(float(s.object[0]) - 0.3) ** 2)
    >>> bool(abs(study.best.object[0] - 0.3) < 0.05)
    True
    """

    def __init__(
        self,
        space: Space,
        similarity: Given = "auto",
        *,
        direction: Direction | None = None,
        objectives: Mapping[str, Direction | Computed] | None = None,
        constraints: Mapping[str, Limits] | None = None,
        reference: Mapping[str, float] | None = None,
        preference: Preference | None = None,
        seed: int | None = 0,
        storage: str | Storage | None = None,
        name: str = "study",
        method: Method | None = None,
        acquisition: Acquisition | None = None,
        strategy: Strategy | None = None,
        search: Search | None = None,
        spectrum: Spectrum | Sequence[Spectrum] = "krein",
        bounds: Bounds | Mapping[str, Bounds] | None = None,
        initial: int = INITIAL,
        lease: float | None = None,
        worker: str | None = None,
    ) -> None:
        check_setting(space, seed, lease, storage)
        self.goals = wanted = goals(direction, objectives, constraints, reference, bounds)
        self.preference = check_preference(preference, wanted.objectives)
        spectra = (spectrum,) if isinstance(spectrum, str) else tuple(spectrum)
        chosen = choose_method(method, CommitteeMethod(acquisition, strategy, search, spectra, initial))
        self.space = space
        self.method = chosen
        self.seed = secrets.randbelow(2**32) if seed is None else int(seed)
        self.storage = shown(storage)
        self.worker = str(worker or "") or f"{platform.node()}-{os.getpid()}-{secrets.token_hex(2)}"
        self._lock = ForkLock(long=True)
        self._effort: Effort | None = None
        similarities = chosen.similarities(similarity, space, np.random.default_rng(self.seed))
        self._kind = next((similarity_.kind for similarity_ in similarities if similarity_.kind), "")
        self._proposer = Restarting(lambda: chosen.start(space, similarities, wanted))
        described = {"space": space.describe(), **wanted.describe()}
        ledger = Ledger(space.from_json, wanted.objective)
        self._log = open_log(open_storage(storage), name, described, ledger, self.worker, space.includes)
        self._lease = lease
        self._heartbeat = Heartbeat(self._log.storage, self._log.study, lease or 1.0)
        weakref.finalize(self, self._heartbeat.stop)
        self._recorder = Recorder(self._log, space, self._proposer, self._heartbeat)
        self._suspicion = Suspicion()
        watch(self)
        opening = {
            "seed": self.seed,
            "similarity": [similarity_.name for similarity_ in similarities],
            **chosen.describe(),
        }
        self._note(opening | wanted.describe_bounds())

    def __repr__(self) -> str:
        storage = "" if self.storage is None else f", storage={self.storage!r}"
        aims = f"objectives={dict(self.goals.objectives)!r}" if self.goals.named else f"direction={self.direction!r}"
        return f"Study({brief(self.space)}, {aims}, name={self.name!r}{storage}: {self._glance()})"

    def _repr_html_(self) -> str:
        several = self.goals.objective is None
        best: list[Trial] = []
        with suppress(LikewiseError):
            best = self.front if several else [self.best]
        took = "" if self.effort is None else f"; the last ask took {self.effort}"
        return trials_html(repr(self) + took, best)

    def _glance(self) -> str:
        """How many trials there are and the best value, as far as this process knows and a storage can say."""
        with suppress(LikewiseError):
            self._log.sync()
        parts = [f"{len(self._ledger)} trials"]
        with suppress(LikewiseError):
            several = self.goals.objective is None
            parts.append(f"{len(self.front)} on the front" if several else f"best {self.best_value:.6g}")
        return ", ".join(parts)

    def __reduce__(self) -> Any:
        raise StudyError(
            f"{self!r} cannot be copied or sent elsewhere: open it there, by its storage and name, or use `export`"
        )

    @property
    def direction(self) -> Direction:
        """The direction of the one objective; a StudyError where there are several, which `goals` has."""
        if self.goals.objective is None:
            raise StudyError(
                f"study {self.name!r} has several objectives; `study.goals.objectives` has their directions"
            )
        return self.goals.objectives[self.goals.objective]

    def ask(
        self,
        n: int = 1,
        *,
        replicates: bool = False,
        same: Sequence[str] = (),
        groups: int = 1,
        at_most: Mapping[str, int] | None = None,
        fix: Mapping[str, Any] | None = None,
        where: str | Callable[[Any], bool] | None = None,
        cost: Any = None,
        budget: float | None = None,
    ) -> Suggestions:
        """The next objects to try.

        n: how many, 1 by default; there are fewer, or none, only where the space has no more.
        replicates: whether an object that is measured or failed may be proposed again; False by default. A measured one
            is proposed where one more noisy measurement of it is worth more than one of the best new object. Objects
            being measured are never proposed.
        same: parts of a record that have one value in the whole batch, or in each group: `same=["temperature"]`.
        groups: how many groups the batch has, 1 by default; the first suggestions are the first group.
        at_most: how many different values a part may have in the batch: `at_most={"ligand": 3}`.
        fix: the values of some parts: `fix={"base": "KOAc"}`.
        where: a condition on each object, as text (`"cost < 20 and solvent != 'DMF'"`) or as a function.
        cost: what an object costs: a function of it, the name of one of its fields, or a mapping. Objects are then
            chosen by their expected gain per cost. It may be another at every ask: of a pool, each ask computes the
            costs of all objects. None (default): all cost the same.
        budget: how much the objects may cost together; there are fewer than `n` where no more can be afforded.

        `same` to `where` are for records and pools of records; docs/study.md has the rules. With them the objects are
        picked one by one.
        """
        at_least_one("the number of suggestions", n)
        plate, price = make_plate(self.space, n, same, groups, at_most, fix, where), Price.of(cost, budget)
        if replicates and not self.goals.single:
            raise StudyError(
                "replicates=True is for one objective without constraints; tell a repeat of your own choice"
            )
        began = perf_counter()
        with self._lock:
            self._log.sync()
            self._log.expire()
            asking = self._asking(replicates, plate, price)
            suggestions = asking.suggestions(n, self._lease)
            self._suspicion.warn(self._log.ledger, self.goals, level=3)
            if self._lease is not None:
                self._heartbeat.keep(s.id for s in suggestions)
            self._effort = Effort(perf_counter() - began)
            LOG.info(
                "asked %d of study %r, %d trials: %s", len(suggestions), self.name, len(self._ledger), self._effort
            )
            return Suggestions(replace(s, kind=self._kind) for s in suggestions)

    @property
    def effort(self) -> Effort | None:
        """What the last ask of this process took, in seconds on the clock; None before the first.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Pool(["ab", "ac", "bc"]), lw.Hamming())
        >>> _ = study.ask(2)
        >>> study.effort.seconds > 0
        True
        """
        return self._effort

    def expected_gain(self, n: int = 1, *, of: Sequence[Suggestion] | None = None) -> Gain:
        """What is still expected to be gained over the best observation by the next ask, and the chance of any gain.

        n: how many suggestions are meant together, 1 by default: those that `ask(n)` would give now.
        of: suggestions at hand, which are not searched for again, instead of `n`; None by default.

        Nothing is asked by it. `stop_when=` of `optimize` uses the same number. docs/study.md says what it means.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF())
        >>> study.tell_many([([x], -(x - 0.3) ** 2) for x in (0.0, 0.2, 0.5, 0.7, 1.0)])
        >>> gain = study.expected_gain()
        >>> bool(0 < gain.expected < 0.1), gain.expected == study.ask()[0].improvement
        (True, True)
        """
        at_least_one("the number of suggestions", n)
        with self._lock:
            self._log.sync()
            self._log.expire()
            objects = self._asking().preview(n) if of is None else list(of)
            alone = single_gain(objects)
            if not self.goals.single or len(objects) < 2 or alone.expected is None:
                return alone
            name = self._outcome(None)
            best = self.goals.sign(name) * self.best.outcomes[name].value
            return joint_gain(objects, self.committee(), best, self.seed)

    def optimize(self, f: Callable[[Any], Any], **options: Unpack[RunOptions]) -> Result:
        """Evaluate f at suggestions of this study until an end is reached.

        f: takes an object and returns a number, or a `Measurement` with its standard deviation; with named outcomes a
            mapping of such, by name. If it raises, the trial has failed, with the traceback: objects like it are
            avoided, and the run goes on.

        The `options`; first where f is evaluated:

        executor: any `concurrent.futures.Executor`, or a Dask `Client`; None (default): no executor.
        workers: a number of processes; threads where f cannot be sent to processes (a lambda, where processes are not
            forked). Processes that are stuck or die are replaced. None (default): here, one after the other.
        batch: how many suggestions are out at once. Default: as many as there are workers, or processors for an
            executor that does not say; 1 here.
        synchronous: True waits for whole batches, as for plates; False tells each value as it arrives and asks the
            next. Default: True here, False elsewhere.
        evaluation_timeout: seconds after which an evaluation is recorded as failed and given up; None (default): never.

        When it ends:

        budget: evaluations that may begin in this call; 60 by default.
        target: a value that is good enough, in the units of the values; None by default.
        timeout: seconds that the whole run may take; None by default.
        stop_when: the smallest gain that is worth another ask, in the units of the values, or a function that takes a
            `Gain` and says whether it is too little; None (no such limit) by default. It is the `expected_gain` of what
            was asked. `patience` asks in a row below it end the run; 3 by default, as one low expectation may be an
            accident.
        most_failures: failures in a row that end the run with an error; 10 by default, as then f is broken.
        callbacks: a function of (study, trial), or several, called after each evaluation. One that returns True, or
            raises StopIteration, ends the run.

        progress: whether a bar is shown, on stderr or below the cell of a notebook; by default where that is a notebook
            or a terminal.

        The run also ends when every object has been tried, and by Ctrl-C: what is in flight is given back, and the
        result so far is returned; pressed three times it ends the run at once. `Result.stopped` says which it was.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF(), direction="minimize", acquisition=lw.UpperConfidence())
        >>> study.optimize(lambda x: (x[0] - 0.7) ** 2, budget=20, target=1e-2).stopped
        'the target 0.01 is reached'
        """
        # Above this room: this is its public door.
        from likewise.run.loop import RunOptions, RunSettings, check_options
        from likewise.run.optimize import run

        check_options(options, RunOptions)
        return run(f, self, RunSettings(**options))

    def begin_in_child(self) -> None:
        """In a forked child: another worker, and nothing that a thread of the parent was in the middle of."""
        self.worker = f"{self.worker}-{os.getpid()}"
        self._log.who = plain_text(self.worker)
        if not self._lock.free():
            self._proposer.restart()
            self._log.restart()

    def _note(self, opening: dict[str, Any]) -> None:
        """Record what this opening uses, unless the last one used the same."""
        self._log.sync()
        text = json.dumps(opening, sort_keys=True)
        if not self._log.openings or json.dumps(self._log.openings[-1], sort_keys=True) != text:
            self._log.note("open", opening)

    def _asking(self, replicates: bool = False, plate: Plate | None = None, price: Price | None = None) -> Asking:
        return Asking(self._log, self.space, self._proposer, self.seed, self.goals, replicates, plate, price)

    # What a user tells: values, failures, what is being measured, and what to ask next.

    def tell(
        self,
        what: Suggestion | Trial | Any = None,
        value: float | Measurement | Mapping[str, float | Measurement] | None = None,
        *,
        std: float | Mapping[str, float] | None = None,
        below: float | None = None,
        above: float | None = None,
        block: str | None = None,
        id: int | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Record a value. An object that is measured again is a replicate, which tells how noisy the values are.

        A value that is far from all others is recorded with a `SuspectWarning`, and counts like any other. Do not tell
        a wrong value again: `amend` corrects it.

        what: a suggestion, a trial, or any object that was measured anyway.
        value: a finite number, or a `Measurement` with its standard deviation; with named outcomes one for each that
            was measured, by name. Those still to come are told later, to the same suggestion or object.
        std: the standard deviation of the measurement, in the units of the values, where it is known; with named
            outcomes by name.
        below: instead of a value, a limit that it lies below, such as the limit of detection. It counts as what it
            is: any value below is possible. Among several outcomes tell `{"yield": Below(0.1)}`.
        above: instead of a value, a limit that it lies above; among several outcomes `Above(99)`.
        block: what it was measured together with, such as a day or a plate. Values of one block may be shifted alike;
            predictions are those of a mean block. None by default.
        id: the trial's number, instead of `what` or to make sure.
        notes: your own remarks, by name: `notes={"by": "Ann", "vial": 3}`; `Trial.notes` and `to_frame` have them.
        """
        check_single(what)
        measured = with_block(with_limits(value, below, above), block)
        self._record([replace(told(self.goals, what, measured, std, id), notes=read_notes(notes))])

    def tell_many(self, rows: Iterable[Sequence[Any]] | Any) -> None:
        """Record many values at once: all of them, or none if one is refused. Quicker than one by one.

        rows: of each measurement what was measured, as in `tell`, its value, and its standard deviation if known. The
            value may be a limit: `Below(0.1)`, `Above(99)`. Or a data frame of pandas or polars: the objects in the
            column "object", or the fields of records in columns of their own; values in the column "value", or in
            columns of the outcomes' names; standard deviations, if they are known, in "std", or in "yield std" for
            "yield". A row without a value is passed over. `to_frame` gives such a frame.

        >>> import likewise as lw, polars
        >>> study = lw.Study(lw.Pool(["CCO", "CCN", "CCC"]), lw.Levenshtein())
        >>> study.tell_many([("CCO", 0.3), ("CCN", 0.5, 0.1)])
        >>> study.count(lw.State.TOLD), study.best.std
        (2, 0.1)
        >>> study.tell_many(polars.DataFrame({"object": ["CCC"], "value": [0.7]}))
        >>> study.best_value
        0.7
        """
        if is_frame(rows):
            self._record(frame_findings(rows, self.space, self.goals))
        else:
            self._record([told_row(self.goals, row) for row in rows])

    def amend(
        self,
        what: Suggestion | Trial | Any = None,
        value: float | Measurement | Mapping[str, float | Measurement] | None = None,
        *,
        std: float | Mapping[str, float] | None = None,
        below: float | None = None,
        above: float | None = None,
        block: str | None = None,
        id: int | None = None,
        why: str = "",
    ) -> None:
        """Correct a value that was told wrongly; `Trial.corrections` keeps what it was, why, when and by whom.

        what: a trial, a suggestion, or an object that was measured once.
        value: the right value, or `Measurement`; with named outcomes those that are wrong, by name.
        std: its standard deviation; None (default) keeps the one that was told.
        below, above: instead of a value, a limit that it lies below or above, as in `tell`.
        block: what it was measured together with; None (default) keeps what was told.
        id: the trial's number, instead of `what` or to make sure.
        why: the reason, for the record.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Pool(["CCO", "CCN"]), lw.Levenshtein())
        >>> study.tell("CCO", 8971.0)
        >>> study.amend("CCO", 89.71, why="typo")
        >>> study.best_value, study.trials[0].corrections[0].outcomes["value"].value
        (89.71, 8971.0)
        """
        check_single(what)
        measured = with_block(with_limits(value, below, above), block)
        with self._lock:
            trial = self._recorder.settled(what, id, {State.TOLD})
            self._correct(trial, amended(self.goals, trial, measured, std), why)

    def withdraw(self, what: Suggestion | Trial | Any = None, *, id: int | None = None, why: str = "") -> None:
        """Take a result back, as if it had not been told; the trial stays on record, with what it said and why.

        Its object may be asked again. A failure can be withdrawn, too.

        what: a trial, a suggestion, or an object that has one result.
        id: the trial's number, instead of `what` or to make sure.
        why: the reason, for the record.
        """
        check_single(what)
        with self._lock:
            trial = self._recorder.settled(what, id, {State.TOLD, State.FAILED})
            self._correct(trial, Finding(trial, State.ABANDONED), why)

    def _correct(self, trial: Trial, finding: Finding, why: str) -> None:
        if not self.method.takes_limits:
            refuse_limits([finding], self.method)
        self._recorder.correct(trial, finding, str(why))
        self._look([finding])

    def fail(
        self,
        what: Suggestion | Trial | Any = None,
        reason: str | BaseException = "",
        *,
        id: int | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        """Record that an object could not be measured; objects like it are avoided.

        A suggestion that was told some outcomes may still fail: no others are waited for. The trial keeps what was
        told, but it no longer counts: the run has failed as a whole.

        what: a suggestion, a trial, or any object.
        reason: a text, or the exception that was raised.
        id: the trial's number, instead of `what` or to make sure.
        notes: your own remarks, by name, as in `tell`.
        """
        check_single(what)
        error = "".join(format_exception(reason)) if isinstance(reason, BaseException) else str(reason)
        noted = read_notes(notes)
        self._record([Finding(what, State.FAILED, error=error.rstrip() or "failed", id=id, notes=noted)])

    def enqueue(self, *objects: Any, replicate: bool = False, notes: Mapping[str, Any] | None = None) -> None:
        """Put objects at the head of the line: the next asks return them first, in this order.

        They are kept with the study: other workers and a resumed study see them, and each is asked once. Their
        suggestions have the note "enqueued". Asks with `same`, `groups`, `at_most`, `fix`, `where`, `cost` or `budget`
        leave them for the next plain ask. `abandon(x)` takes one out of the line.

        objects: of the study's space; several, or one.
        replicate: whether an object that was measured already may be measured again; False by default.
        notes: your own remarks, by name, as in `tell`.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Strings("ACGT", 4), lw.Hamming())
        >>> study.enqueue("ACGT", "AAAA")
        >>> [s.object for s in study.ask(3)][:2]
        ['ACGT', 'AAAA']
        """
        fitted, noted = [self.space.fit(x) for x in objects], read_notes(notes)
        with self._lock:
            self._recorder.enqueue(fitted, replicate=replicate, notes=noted)

    def mark_running(self, objects: Iterable[Any]) -> None:
        """Record that objects are being measured already: they are not proposed, and asks take them into account.

        objects: of the study's space, also as a data frame or a series. Tell, fail or abandon each of them later, as a
            suggestion.
        """
        with self._lock:
            self._recorder.run([self.space.fit(x) for x in as_objects(objects)])

    def abandon(self, what: Suggestion | Trial | Any = None, *, id: int | None = None) -> None:
        """Give a suggestion back, so that it may be asked again; without arguments every open one of this worker.

        what: a suggestion, a trial, or an object that is being measured.
        id: the trial's number, instead of `what` or to make sure.
        """
        check_single(what)
        with self._lock:
            if what is not None or id is not None:
                self._record([Finding(what, State.ABANDONED, id=id)])
            else:
                mine = [t for t in self._trials_in(State.ASKED) if t.worker == self.worker]
                self._recorder.record([Finding(None, State.ABANDONED, id=t.id) for t in mine])

    def _record(self, findings: Sequence[Finding]) -> None:
        if not self.method.takes_limits:
            refuse_limits(findings, self.method)
        with self._lock:
            self._recorder.record(findings)
            self._look(findings)

    def _look(self, findings: Sequence[Finding]) -> None:
        self._suspicion.look(findings, self._log.ledger, self.goals)

    # What the study believes of any object of its space.

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
            unmeasured = expected_best(n, self.space, committee, observed, failed, rng) if anywhere else []
            return recommend(n, committee, observed, self.goals.sign(self._outcome(None)), unmeasured)

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
            remedy = "give outcome=…" if name is None else f"there is no outcome {name!r}"
            raise StudyError(f"study {self.name!r} has the outcomes {', '.join(map(repr, names))}; {remedy}")
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
        observed = observations(self._ledger, self.goals)
        return self._proposer.believe(observed) if observed.outcomes else {}

    # What the study has found, as far as it can be read without a model.

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

    @property
    def history(self) -> History:
        """Every event of the study in order: who did what, when, and why where it was said.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Pool(["CCO", "CCN"]), lw.Levenshtein(), worker="Ann")
        >>> study.tell("CCO", 8971.0)
        >>> study.amend("CCO", 89.71, why="typo")
        >>> [(event.kind, event.who, event.why) for event in study.history[-2:]]
        [('tell', 'Ann', ''), ('amend', 'Ann', 'typo')]
        """
        with self._lock:
            return self._log.events

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
        feasible = [trial for trial in observed if self.objectives_of(trial) and self.goals.feasible(trial.outcomes)]
        if not feasible:
            raise StudyError(
                f"no observation of study {self.name!r} has its objective and keeps to its constraints yet; "
                "`study.trials` has all of them"
            )
        return for_user(best_of(feasible, self.goals.sign(self.goals.objective), self.goals.objective))

    def reaches(self, trial: Trial) -> bool:
        """Whether an observation is at least as good as its value: none of its objectives is limited to what is worse.

        "Below 0.1" is not where values are maximised.

        trial: an observation of this study.
        """
        told = [(name, trial.outcomes[name]) for name in self.goals.measured if name in trial.outcomes]
        return all(outcome.limit != self.goals.worse(name) for name, outcome in told)

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
        feasible, values = self._complete()
        if not feasible:
            raise StudyError(
                f"no observation of study {self.name!r} has every objective and keeps to the constraints yet"
            )
        return for_user(feasible[int(np.argmax(chosen.scores(values, self.goals.objectives)))])

    @property
    def front(self) -> Trials:
        """The observations that no other beats in every objective, of those that keep to all constraints.

        Values of one object are averaged. Objects of which an objective is still missing, or known to be worse than a
        limit, are not among them.
        """
        feasible, values = self._complete()
        better = is_nondominated(self._signed(values), equal=True) if len(self.goals.objectives) > 1 else None
        if better is None:
            return Trials([self.best] if feasible else [])
        return Trials(for_user(trial) for trial, good in zip(feasible, better.tolist(), strict=True) if good)

    @property
    def hypervolume(self) -> float:
        """The volume between the front and the reference, in the units of the objectives multiplied.

        The reference is the study's `reference`; an objective that it does not name counts from the worst value that
        was measured. It falls only if a value is corrected, by a repeat or by a failure.
        """
        feasible, values = self._complete()
        if not feasible:
            return 0.0
        signed, every = self._signed(values), self._signed(self._complete(feasible=False)[1])
        worst = every.min(axis=0)
        reference_values, goals = self.goals.reference, self.goals
        reference = [
            goals.sign(n) * reference_values[n] if n in reference_values else w
            for n, w in zip(goals.objectives, worst, strict=True)
        ]
        return hypervolume(signed, np.array(reference, dtype=float))

    def objectives_of(self, trial: Trial) -> dict[str, float]:
        """The values of a trial's objectives by name, computed ones among them; those that are missing are left out.

        trial: of this study.
        """
        goals = self.goals
        computed = {
            name: float(computed_value.values([trial.object])[0]) for name, computed_value in goals.computed.items()
        }
        values = {**trial.values, **computed}
        return {name: values[name] for name in goals.objectives if name in values}

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
        from likewise.study.frames import to_frame

        return to_frame(self._plain(), self.goals.named_outcomes if self.goals.named else ())

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write every trial to a file; each named outcome, and each name of your notes, has columns of its own.

        path: of a .csv, .parquet or .json file; one that is there is replaced.
        """
        from likewise.study.frames import export

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
        from likewise.study.frames import new_findings, read_entries

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
        trials = sorted(self._trials_in(State.TOLD), key=lambda trial: trial.id)
        every = [(trial, self.objectives_of(trial)) for trial in average_replicates(trials)]
        complete = [
            (trial, values)
            for trial, values in every
            if len(values) == len(self.goals.objectives) and (not feasible or self._counts(trial))
        ]
        return [trial for trial, _ in complete], [values for _, values in complete]

    def _counts(self, trial: Trial) -> bool:
        """Whether it keeps to the constraints, and is as good as its values say."""
        return self.goals.feasible(trial.outcomes) and self.reaches(trial)

    def _signed(self, values: Sequence[Mapping[str, float]]) -> Matrix:
        """Objectives as rows of numbers of which more is better."""
        goals = self.goals
        rows = [[goals.sign(name) * value[name] for name in goals.objectives] for value in values]
        return np.array(rows, dtype=float).reshape(-1, len(goals.objectives))


def open_study(storage: str | Storage, name: str = "study", similarity: Given = "auto", **options: Any) -> Study:
    """A stored study, with the space, the goals, the seed and the bounds that it has in its storage.

    storage: its URL, such as "sqlite:///study.db", or a `Storage`.
    name: the study's, "study" by default.
    similarity: as in `Study`, "auto" by default: what was used before is not stored.
    options: others of `Study`, in place of what is stored, or of the defaults.

    A pool, a function `where` and what a computed objective is are not stored. Such a study is opened by `Study`.

    >>> import likewise as lw
    >>> storage = open_storage()
    >>> lw.Study(lw.Strings("ACGT", 8), storage=storage, direction="minimize").tell("ACGTACGT", 0.3)
    >>> again = lw.open_study(storage)
    >>> again.space.size, again.direction, again.best_value
    (65536, 'minimize', 0.3)
    """
    settings, opening = stored_options(storage, name)
    try:
        space = rebuild(settings["space"])
    except (LikewiseError, KeyError) as error:
        where = shown(storage) if isinstance(storage, str) else storage
        raise StudyError(
            f"the space of study {name!r} cannot be made from its storage alone: {error}; "
            f"open the study with its space: Study(space, storage={where!r}, name={name!r})"
        ) from error
    stored = {"seed": opening.get("seed", 0), "bounds": opening.get("bounds"), **goal_options(settings, options)}
    return Study(space, similarity, storage=storage, name=name, **{**stored, **options})
