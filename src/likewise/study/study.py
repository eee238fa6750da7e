"""The running optimisation: ask what to try, tell what was measured, and nothing told is lost."""

from __future__ import annotations

import json
import os
import platform
import secrets
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import RLock
from traceback import format_exception
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from likewise.acquisition.base import Acquisition
from likewise.acquisition.improvement import LogExpectedImprovement
from likewise.errors import StudyError
from likewise.model.blas import one_thread
from likewise.model.committee import Committee
from likewise.model.diagnosis import Diagnosis, diagnose
from likewise.model.fit import Settings
from likewise.model.regression import Prediction
from likewise.model.schedule import Data, Model
from likewise.model.spectrum import Spectrum
from likewise.search.base import Search
from likewise.search.batch import Strategy
from likewise.similarity.auto.given import SimilarityLike
from likewise.spaces.base import Space
from likewise.spaces.codec.copies import copied
from likewise.study import explanation
from likewise.study.asking import Asking
from likewise.study.checks import at_least_one, check_parts, check_setting
from likewise.study.heartbeat import Heartbeat
from likewise.study.ledger import Ledger
from likewise.study.measurement import Measurement, read_value
from likewise.study.proposal import Proposal, Proposer
from likewise.study.similarities import similarities
from likewise.study.storage.address import without_password
from likewise.study.storage.base import NewRow, NoTrial, OpenStudy, Storage, Taken, open_storage
from likewise.study.storage.memory import Memory
from likewise.study.suggestion import Analogue, Suggestion
from likewise.study.trial import State, Trial

if TYPE_CHECKING:
    from likewise.run.optimize import Result
    from likewise.run.options import RunOptions

Direction = Literal["maximize", "minimize"]
INITIAL = 5
# Of 16 workers that ask at the same moment, the last loses 15 times.
RETRIES = 200
ANALOGUES = 5


class Study:
    """Ask, tell, remember.

    `storage` keeps it: `"sqlite:///study.db"`, `"postgresql://…"`, or in memory when left out. A stored study of this
    `name` is resumed, by any number of processes and machines at once; its space and direction must be the same, its
    seed and similarity may be new. `initial` observations are spread out before the model chooses. In a long study the
    model is conditioned on about a thousand observations, the best ones among them, so that asking stays quick. Of
    several objects asked for at once, each is picked with those before it in mind (`Sequential`); in a box of thirty
    dimensions or more objects are picked by `TwoStage`, unless a `strategy` or another `acquisition` is given.

    With a `lease`, in seconds, suggestions that nobody settles return to the pool: this process renews its own from a
    thread in the background for as long as it lives. Without one they stay open until told, failed or abandoned.

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
        similarity: SimilarityLike | Sequence[SimilarityLike] | Literal["auto"] = "auto",
        *,
        direction: Direction = "maximize",
        seed: int = 0,
        storage: str | Storage | None = None,
        name: str = "study",
        acquisition: Acquisition | None = None,
        strategy: Strategy | None = None,
        search: Search | None = None,
        spectrum: Spectrum | Sequence[Spectrum] = "clip",
        initial: int = INITIAL,
        lease: float | None = None,
        worker: str | None = None,
    ) -> None:
        check_setting(space, direction, seed, lease)
        check_parts(acquisition, strategy, search)
        self.space = space
        self.direction = direction
        self.seed = int(seed)
        self.storage = _shown(storage)
        self.worker = str(worker or "") or f"{platform.node()}-{os.getpid()}-{secrets.token_hex(2)}"
        self._lock = RLock()
        found = similarities(similarity, space, np.random.default_rng(seed))
        spectra = (spectrum,) if isinstance(spectrum, str) else tuple(spectrum)
        if not spectra:
            raise StudyError("an empty list of spectra leaves no model; give 'clip', or several to choose from")
        views, chosen = tuple(space.view(s) for s in found), (acquisition or LogExpectedImprovement())

        def fresh() -> Proposer:
            model = Model(views, Settings(spectra=spectra))
            return Proposer(space, model, chosen, strategy, search, max(1, initial))

        self._fresh = fresh
        self._proposer = fresh()
        owner = storage if isinstance(storage, Storage) else open_storage(storage)
        self._store: OpenStudy = owner.open(name, {"space": space.describe(), "direction": direction})
        self._ledger = Ledger(self._store, space.from_json)
        self._lease = lease
        self._heartbeat = Heartbeat(self._store, lease or 1.0)
        weakref.finalize(self, self._heartbeat.stop)
        self._note({"seed": self.seed, "similarity": [one.name for one in found], "spectrum": list(spectra)})
        self._ledger.sync()

    def __repr__(self) -> str:
        kept = "" if self.storage is None else f", storage={self.storage!r}"
        return f"Study({self.space!r}, direction={self.direction!r}, name={self.name!r}{kept})"

    def __reduce__(self) -> Any:
        raise StudyError(
            f"{self!r} cannot be copied or sent elsewhere: open it there, by its storage and name, or use `export`"
        )

    @property
    def name(self) -> str:
        """The study's name in its storage."""
        return self._store.name

    @property
    def trials(self) -> list[Trial]:
        """Every trial, in the order of creation."""
        with self._lock:
            self._ledger.sync()
            return [_handed(trial) for trial in self._ledger.trials]

    @property
    def best(self) -> Trial:
        """The best observation; of equal ones the first."""
        told = self._synced(State.TOLD)
        if not told:
            raise StudyError(f"study {self.name!r} has no observation yet; tell it one first")
        return _handed(max(told, key=lambda t: self._sign * _known(t)))

    def count(self, state: State) -> int:
        """How many trials are in a state."""
        return len(self._synced(State(state)))

    def ask(self, n: int = 1, *, replicates: bool = False) -> list[Suggestion]:
        """The next `n` objects to try; fewer, or none, only where the space has no more.

        An object that is measured or failed is not proposed again unless `replicates` allows it; one in flight never.
        """
        at_least_one("the number of suggestions", n)
        with self._lock:
            self._ledger.sync()
            self._expire()
            asking = Asking(self._ledger, self._proposal(), self.seed, replicates)
            for _ in range(RETRIES):
                found, committee = self._suggestions(asking, n)
                known = self._ledger.keys() if replicates else set()
                rows = [self._new_row(s, committee, known) for s in found]
                try:
                    ids = self._claim(rows)
                except Taken as taken:
                    self._ledger.sync()
                    asking.lose(found, taken.keys)
                    continue
                if self._lease is not None:
                    self._heartbeat.keep(ids)
                return [
                    replace(s, id=i, object=copied(s.object), key=row.key)
                    for s, i, row in zip(found, ids, rows, strict=True)
                ]
        raise StudyError(f"other workers took the suggestions of {RETRIES} attempts; ask again")

    def tell(
        self,
        what: Suggestion | Trial | Any = None,
        value: float | Measurement | None = None,
        *,
        std: float | None = None,
        id: int | None = None,
    ) -> None:
        """Record a value: of a suggestion, of a trial's `id`, or of any object that was measured anyway.

        An object that is measured again is a replicate, which is welcome: it tells how noisy the values are.
        """
        _check_single(what)
        about = what.object if isinstance(what, Suggestion | Trial) else what if id is None else f"trial {id}"
        number, spread = read_value(about, value, std)
        self._settle(what, id, NewRow("", "", State.TOLD, number, spread))

    def fail(
        self, what: Suggestion | Trial | Any = None, reason: str | BaseException = "", *, id: int | None = None
    ) -> None:
        """Record that an object could not be measured, and why; objects like it are avoided."""
        error = "".join(format_exception(reason)) if isinstance(reason, BaseException) else str(reason)
        self._settle(what, id, NewRow("", "", State.FAILED, error=error.rstrip() or "failed"))

    def abandon(self, what: Suggestion | Trial | Any = None, *, id: int | None = None) -> None:
        """Give a suggestion back, so that it may be asked again; without arguments every open one of this worker."""
        if what is not None or id is not None:
            self._settle(what, id, NewRow("", "", State.ABANDONED))
            return
        for trial in self._synced(State.ASKED):
            if trial.worker == self.worker:
                self._settle(None, trial.id, NewRow("", "", State.ABANDONED))

    def predict(self, objects: Sequence[Any]) -> Prediction:
        """Expected value and standard deviation of each object."""
        fitted = [self.space.fit(x) for x in objects]
        mean, std = self.committee().predict(fitted)
        return Prediction(self._sign * mean, std)

    def explain(self, x: Any, most: int = ANALOGUES) -> tuple[Analogue, ...]:
        """The observations with the most influence on the prediction at an object, signed."""
        fitted = self.space.fit(x)
        with self._lock:
            committee, conditioned = self._believed()
            return explanation.analogues([fitted], committee, conditioned, most)[0]

    def committee(self) -> Committee:
        """The models behind the predictions, with their weights; values are negated when minimising."""
        with self._lock:
            return self._believed()[0]

    def diagnose(self, *, each: bool = True) -> Diagnosis:
        """Is this similarity any good here? Leave-one-out errors, calibration, spectrum, weights, and a verdict.

        each: judge each similarity of the committee alone too, which takes a fit of each; True by default.
        """
        with self._lock:
            return diagnose(self._believed()[0], each=each, settings=self._model.settings, sign=self._sign)

    def optimize(self, f: Callable[[Any], Any], **options: Unpack[RunOptions]) -> Result:
        """Evaluate f at suggestions of this study until an end is reached.

        f: takes an object and returns a number, or a `Measurement` with its standard deviation. If it raises, the trial
            has failed, with the traceback: objects like it are avoided, and the run goes on.

        Where f is evaluated:

        executor: any `concurrent.futures.Executor`, or a Dask `Client`; None (default): no executor.
        workers: a number of processes; threads where f cannot be sent to processes (a lambda, where processes are not
            forked). Processes that are stuck or die are replaced. None (default): here, one after the other.
        batch: how many suggestions are out at once. Default: as many as there are workers, or processors for an
            executor that does not say; 1 here.
        synchronous: True waits for whole batches, as for plates; False tells each value as it arrives and asks the
            next. Default: True here, False elsewhere.
        timeout: seconds after which an evaluation is recorded as failed and given up; None (default): never.

        When it ends:

        budget: evaluations that may begin in this call; 60 by default.
        target: a value that is good enough, in the units of the values; None by default.
        wall_clock: seconds that the run may take; None by default.
        min_improvement: the smallest expected gain that is worth an evaluation, in the units of the values; None (no
            such limit) by default. `patience` suggestions in a row below it end the run; 3 by default, as one low
            expectation may be an accident.
        most_failures: failures in a row that end the run with an error; 10 by default, as then f is broken.
        callbacks: a function of (study, trial), or several, called after each evaluation. One that returns True, or
            raises StopIteration, ends the run.

        progress: whether a bar is shown on stderr; by default where that is a terminal.

        The run also ends when every object has been tried, and by Ctrl-C: what is in flight is given back, and the
        result so far is returned; pressed three times it ends the run at once. `Result.stopped` says which it was.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF(), direction="minimize", acquisition=lw.UpperConfidence())
        >>> study.optimize(lambda x: (x[0] - 0.7) ** 2, budget=20, target=1e-2).stopped
        'the target 0.01 is reached'
        """
        # Above this room: this is its public door.
        from likewise.run.optimize import optimize
        from likewise.run.options import Settings

        return optimize(f, self, Settings(**options))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write every trial to a .csv, .parquet or .json file."""
        from likewise.study.trial_tables import export

        export(self._store.since(0)[0], path)

    def read(
        self,
        path: str | os.PathLike[str],
        *,
        object: str | Sequence[str] | None = None,
        value: str = "value",
        std: str = "std",
    ) -> int:
        """Tell what a .csv, .parquet or .json file holds, as `export` writes it or with columns of your own.

        `object` is the column of the objects, or the columns that are the fields of a record. Values of objects that
        are open suggestions are told to those; values and failures that the study has already are passed over, so that
        a file may be read again when it has grown. Returns how many trials were told or failed.
        """
        from likewise.study.reading import read
        from likewise.study.trial_tables import read_entries

        with self._lock:
            self._ledger.sync()
            entries = read_entries(path, object=object, value=value, std=std)
            added = read(self._store, self._ledger, self.space, self.worker, str(path), entries, self._check_comparable)
            self._ledger.sync()
            return added

    @property
    def _model(self) -> Model:
        return self._proposer.model

    @contextmanager
    def _thinking(self) -> Iterator[None]:
        """What was computed before is kept, and forgotten when a thought is cut short: it may be half done."""
        try:
            with one_thread():
                yield
        except BaseException:
            self._proposer = self._fresh()
            raise

    @property
    def _sign(self) -> float:
        return 1.0 if self.direction == "maximize" else -1.0

    def _synced(self, state: State) -> list[Trial]:
        with self._lock:
            self._ledger.sync()
            return self._ledger.within(state)

    def _note(self, opening: dict[str, Any]) -> None:
        """Record what this opening uses, unless the last one used the same."""
        notes, text = self._store.notes(), json.dumps(opening, sort_keys=True)
        if not notes or notes[-1] != text:
            self._store.note(text)

    def _expire(self) -> None:
        # Whose lease has ended is for the storage to say, which has one clock for all workers.
        if any(t.lease is not None for t in self._ledger.within(State.ASKED)) and self._store.expire():
            self._ledger.sync()

    def _data(self) -> Data:
        """The observations in the order they became known, so that Gram matrices only grow."""
        told = self._ledger.within(State.TOLD)
        stds = np.array([t.std or 0.0 for t in told])
        values = self._sign * np.array([_known(t) for t in told])
        return Data([t.object for t in told], values, stds**2 if stds.any() else None)

    def _believed(self) -> tuple[Committee, list[Trial]]:
        """The committee, and the observations it is conditioned on."""
        self._ledger.sync()
        told = self._ledger.within(State.TOLD)
        if not told:
            raise StudyError(f"study {self.name!r} has no observation to predict from; tell it one first")
        return self._learnt(self._data(), told)

    def _learnt(self, data: Data, told: Sequence[Trial]) -> tuple[Committee, list[Trial]]:
        with self._thinking():
            committee, selection = self._model.committee(data)
        return committee, [told[i] for i in selection.conditioned.tolist()]

    def _proposal(self) -> Proposal:
        return Proposal(self._proposer, self._data(), [t.object for t in self._ledger.within(State.FAILED)])

    def _suggestions(self, asking: Asking, n: int) -> tuple[list[Suggestion], Committee | None]:
        """Suggestions without ids, and the committee behind them, if there is one yet."""
        with self._thinking():
            objects = asking.objects(n)
        notes = {"stage": "initial"} if len(asking.told) < self._proposer.initial else {}
        if not objects or not asking.told:
            return [Suggestion(-1, x, notes=notes) for x in objects], None
        committee, conditioned = self._learnt(asking.proposal.told, asking.told)
        best = max(self._sign * _known(t) for t in conditioned)
        found = explanation.suggestions(objects, committee, conditioned, best, self._sign, ANALOGUES)
        return [replace(s, notes=notes) for s in found], committee

    def _claim(self, rows: Sequence[NewRow]) -> list[int]:
        """The ids of the new trials; `Taken` where another worker evaluates one of the objects."""
        ids = self._store.add(rows)
        self._ledger.sync()
        doubled = [row.key for i, row in zip(ids, rows, strict=True) if row.replicate and self._is_second(i, row.key)]
        if doubled:
            # A storage lets replicates in, so two workers may measure the same object again: the later one gives way.
            for i in ids:
                # Unless it has been told meanwhile, as that object's result.
                with suppress(StudyError):
                    self._store.settle(i, state=State.ABANDONED)
            raise Taken(self.name, doubled)
        return ids

    def _is_second(self, id: int, key: str) -> bool:
        first = self._ledger.open_for(key)
        return first is not None and first < id

    def _new_row(self, s: Suggestion, committee: Committee | None, known: Collection[str]) -> NewRow:
        row = self._row_of(s.object)
        return replace(
            row,
            lease=self._lease,
            summary=json.dumps(explanation.summary(s, committee)),
            replicate=row.key in known,
        )

    def _row_of(self, x: Any) -> NewRow:
        return NewRow(self.space.key(x), json.dumps(self.space.to_json(x)), worker=self.worker)

    def _settle(self, what: Any, id: int | None, end: NewRow) -> None:
        """End the trial that is meant, or add one for an object that was not asked for."""
        _check_single(what)
        with self._lock:
            self._ledger.sync()
            if id is None and isinstance(what, Suggestion | Trial):
                id = what.id
            if id is not None:
                self._check_same(what, id)
            else:
                x = self.space.fit(what)
                row = self._row_of(x)
                id = self._ledger.open_for(row.key)
            if id is None and end.state is State.ABANDONED:
                raise StudyError(f"{what!r} is not being evaluated in study {self.name!r}, so it cannot be given back")
            if id is None:
                self._check_comparable([x])
                added = replace(end, key=row.key, payload=row.payload, worker=self.worker, replicate=True)
                self._store.add([added])
            else:
                self._end(id, end)
            self._ledger.sync()

    def _end(self, id: int, end: NewRow) -> None:
        self._heartbeat.drop(id)
        try:
            self._store.settle(id, state=end.state, value=end.value, std=end.std, error=end.error)
        except NoTrial:
            # If its row was deleted, or set aside, what was measured is kept all the same.
            trial = self._ledger.forget(id)
            if trial is None:
                raise
            if end.state is not State.ABANDONED:
                row = self._row_of(trial.object)
                self._store.add([replace(end, key=row.key, payload=row.payload, worker=self.worker, replicate=True)])

    def _check_comparable(self, objects: Sequence[Any]) -> None:
        """A complaint about objects that no model could learn from: told, they could not be taken back."""
        self._model.check(objects, [trial.object for trial in self._ledger.within(State.TOLD)[:1]])

    def _check_same(self, what: Any, id: int) -> None:
        """A suggestion, a trial or an object given with an id is what that trial is about."""
        known = self._ledger.key_of(id)
        if what is None or known is None:
            return
        about = what.object if isinstance(what, Suggestion | Trial) else self.space.fit(what)
        key = what.key if isinstance(what, Suggestion) and what.key else self.space.key(about)
        if key != known:
            raise StudyError(
                f"trial {id} of study {self.name!r} is about {known}, not about {key}, which another study may have "
                "asked; tell the object itself, without an id"
            )


def _handed(trial: Trial) -> Trial:
    """The trial for a user, who may do with its object what he likes."""
    x = copied(trial.object)
    return trial if x is trial.object else replace(trial, object=x)


def _known(trial: Trial) -> float:
    assert trial.value is not None
    return trial.value


def _shown(storage: str | Storage | None) -> str | None:
    """Where the study is kept, without a password."""
    if storage is None or isinstance(storage, Memory):
        return None
    return without_password(storage) if isinstance(storage, str) else repr(storage)


def _check_single(what: Any) -> None:
    if isinstance(what, list | tuple) and any(isinstance(x, Suggestion | Trial) for x in what):
        raise StudyError(
            f"this is a list of {len(what)} suggestions, as `ask` returns it; tell them one by one: "
            "for s in study.ask(8): study.tell(s, measure(s.object))"
        )
