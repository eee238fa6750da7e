"""The running optimisation: ask what to try, tell what was measured, and nothing told is lost."""

from __future__ import annotations

import json
import logging
import os
import platform
import secrets
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from likewise.acquisition.base import Acquisition
from likewise.errors import LikewiseError, StudyError
from likewise.forks import ForkLock, watch
from likewise.model.spectrum import Spectrum
from likewise.search.base import Search
from likewise.search.batch import Strategy
from likewise.search.plate import Plate
from likewise.similarity.auto.given import Given
from likewise.similarity.effort import tallied
from likewise.spaces.base import Space
from likewise.study.asking import Asking
from likewise.study.checks import at_least_one, check_setting
from likewise.study.gain import Gain, joint_gain, single_gain
from likewise.study.goals import Bounds, Computed, Direction, Limits, Price, goals
from likewise.study.log import Ledger, open_log, plain_text
from likewise.study.methods.base import Method, Restarting
from likewise.study.methods.committee import INITIAL, CommitteeMethod, choose_method
from likewise.study.plates import make_plate
from likewise.study.preferences import Preference, check_preference
from likewise.study.record.effort import Effort
from likewise.study.record.recorder import Recorder
from likewise.study.record.suspicion import Suspicion
from likewise.study.record.telling import Telling
from likewise.study.storage.address import shown
from likewise.study.storage.base import Storage, open_storage
from likewise.study.storage.heartbeat import Heartbeat
from likewise.study.suggestion import Suggestion, Suggestions
from likewise.study.trial import Trial, trials_html
from likewise.tables.brief import brief

if TYPE_CHECKING:
    from likewise.run.optimize import Result
    from likewise.run.options import RunOptions

LOG = logging.getLogger("likewise")


class Study(Telling):
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
        found = chosen.similarities(similarity, space, np.random.default_rng(self.seed))
        self._kind = next((one.kind for one in found if one.kind), "")
        self._proposer = Restarting(lambda: chosen.start(space, found, wanted))
        described = {"space": space.describe(), **wanted.describe()}
        self._log = open_log(open_storage(storage), name, described, Ledger(space.from_json), self.worker)
        self._lease = lease
        self._heartbeat = Heartbeat(self._log.storage, self._log.study, lease or 1.0)
        weakref.finalize(self, self._heartbeat.stop)
        self._recorder = Recorder(self._log, space, self._proposer, self._heartbeat)
        self._suspicion = Suspicion()
        watch(self)
        opening = {"seed": self.seed, "similarity": [one.name for one in found], **chosen.describe()}
        self._note(opening | wanted.describe_bounds())

    def __repr__(self) -> str:
        kept = "" if self.storage is None else f", storage={self.storage!r}"
        aims = f"objectives={dict(self.goals.objectives)!r}" if self.goals.named else f"direction={self.direction!r}"
        return f"Study({brief(self.space)}, {aims}, name={self.name!r}{kept}: {self._glance()})"

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
        found = [f"{len(self._ledger)} trials"]
        with suppress(LikewiseError):
            several = self.goals.objective is None
            found.append(f"{len(self.front)} on the front" if several else f"best {self.best_value:.6g}")
        return ", ".join(found)

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
        with self._lock, tallied() as tally:
            self._log.sync()
            self._log.expire()
            asking = self._asking(replicates, plate, price)
            found = asking.suggestions(n, self._lease)
            self._suspicion.warn(self._log.ledger, self.goals, level=3)
            if self._lease is not None:
                self._heartbeat.keep(s.id for s in found)
            self._effort = Effort.of(perf_counter() - began, tally)
            LOG.info("asked %d of study %r, %d trials: %s", len(found), self.name, len(self._ledger), self._effort)
            return Suggestions(replace(s, kind=self._kind) for s in found)

    @property
    def effort(self) -> Effort | None:
        """What the last ask of this process took: seconds, objects scored, comparisons; None before the first.

        >>> import likewise as lw
        >>> study = lw.Study(lw.Pool(["ab", "ac", "bc"]), lw.Hamming())
        >>> _ = study.ask(2)
        >>> study.effort.comparisons > 0
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
            found = self._asking().preview(n) if of is None else list(of)
            alone = single_gain(found)
            if not self.goals.single or len(found) < 2 or alone.expected is None:
                return alone
            name = self._outcome(None)
            best = self.goals.sign(name) * self.best.outcomes[name].value
            return joint_gain(found, self.committee(), best, self.seed)

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
        from likewise.run.optimize import run
        from likewise.run.options import RunOptions, Settings, check_options

        check_options(options, RunOptions)
        return run(f, self, Settings(**options))

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
