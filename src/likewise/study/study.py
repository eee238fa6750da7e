"""The running optimisation: ask what to try, tell what was measured, and nothing told is lost."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from likewise.acquisition.base import Acquisition
from likewise.acquisition.improvement import LogExpectedImprovement
from likewise.acquisition.scorer import Scorer
from likewise.errors import StudyError
from likewise.influence.committee import Committee
from likewise.influence.fitting import Settings
from likewise.influence.posterior import Prediction
from likewise.influence.spectrum import Spectrum
from likewise.search.base import Ground, Search
from likewise.search.batch import Batch, Sequential
from likewise.search.choose import choose_search
from likewise.search.spread import spread
from likewise.similarity.base import Similarity
from likewise.spaces.base import Space
from likewise.study.likenesses import Likeness, likenesses
from likewise.study.measurement import Measurement
from likewise.study.model import Model
from likewise.study.storage import NewRow, OpenStudy, Row, Storage, Taken, open_storage
from likewise.study.suggestion import Analogue, Suggestion
from likewise.study.trial import State, Trial

Direction = Literal["maximize", "minimize"]
INITIAL = 5
RETRIES = 20
ANALOGUES = 5


class Study:
    """Ask, tell, remember.

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
        similarity: Likeness | Sequence[Likeness] | Literal["auto"] = "auto",
        *,
        direction: Direction = "maximize",
        seed: int = 0,
        storage: str | Storage | None = None,
        name: str = "study",
        acquisition: Acquisition | None = None,
        batch: Batch | None = None,
        search: Search | None = None,
        spectrum: Spectrum | Sequence[Spectrum] = "clip",
        initial: int = INITIAL,
        lease: float | None = None,
        worker: str | None = None,
    ) -> None:
        if direction not in ("maximize", "minimize"):
            raise StudyError(f"a study's direction is 'maximize' or 'minimize', not {direction!r}")
        if not isinstance(space, Space):
            raise StudyError(f"a study needs a space such as Pool, Box or Strings, not {space!r}")
        self.space = space
        self.direction = direction
        self.seed = seed
        self._given = similarity
        self._acquisition = acquisition or LogExpectedImprovement()
        self._batch = batch or Sequential()
        self._search = search
        self._initial = max(1, initial)
        self._lease = lease
        self._worker = worker
        spectra = (spectrum,) if isinstance(spectrum, str) else tuple(spectrum)
        self._settings = Settings(spectra=spectra)
        self._model: Model | None = None
        self._trials: dict[int, Trial] = {}
        self._keys: dict[int, str] = {}
        self._order: dict[int, int] = {}
        self._revision = 0
        settings = {"space": space.describe(), "direction": direction}
        owner = storage if isinstance(storage, Storage) else open_storage(storage)
        self._store: OpenStudy = owner.open(name, settings)
        self._sync()

    @property
    def name(self) -> str:
        """The study's name in its storage."""
        return self._store.name

    @property
    def trials(self) -> list[Trial]:
        """Every trial, in the order of creation."""
        self._sync()
        return [self._trials[i] for i in sorted(self._trials)]

    @property
    def best(self) -> Trial:
        """The best observation."""
        told = [t for t in self.trials if t.state is State.TOLD]
        if not told:
            raise StudyError(f"study {self.name!r} has no observation yet; tell it one first")
        return max(told, key=lambda t: self._sign * _known(t.value))

    def ask(self, n: int = 1, *, replicates: bool = False) -> list[Suggestion]:
        """The next `n` objects to try; fewer only where the space has no more.

        An object that is measured, failed or in flight is not proposed again unless `replicates` allows it.
        """
        if n < 1:
            raise StudyError(f"ask for at least one suggestion, not {n}")
        self._sync()
        self._expire()
        for attempt in range(RETRIES):
            objects, committee = self._propose(n, attempt, replicates)
            if not objects:
                return []
            suggestions = self._described(objects, committee)
            try:
                ids = self._store.add([self._new_row(s, replicates) for s in suggestions])
            except Taken:
                # Another worker was faster; with its trials known, ask again.
                self._sync()
                continue
            self._sync()
            return [replace(s, id=i) for s, i in zip(suggestions, ids, strict=True)]
        raise StudyError(
            f"other workers took every suggestion of {RETRIES} attempts; ask again, or ask for more at a time"
        )

    def tell(
        self,
        what: Suggestion | Trial | Any = None,
        value: float | Measurement | None = None,
        *,
        std: float | None = None,
        id: int | None = None,
    ) -> None:
        """Record a value: of a suggestion, of a trial's `id`, or of any object that was measured anyway."""
        measured, spread_ = _measured(what, value, std)
        self._sync()
        trial = self._addressed(what, id)
        if trial is not None:
            self._store.settle(trial, state=State.TOLD, value=measured, std=spread_)
        else:
            self._add_known(what, NewRow("", "", State.TOLD, measured, spread_))
        self._sync()

    def fail(self, what: Suggestion | Trial | Any = None, reason: str = "", *, id: int | None = None) -> None:
        """Record that an object could not be measured, and why; it is not proposed again."""
        self._sync()
        trial = self._addressed(what, id)
        if trial is not None:
            self._store.settle(trial, state=State.FAILED, error=reason or "failed")
        else:
            self._add_known(what, NewRow("", "", State.FAILED, error=reason or "failed"))
        self._sync()

    def predict(self, objects: Sequence[Any]) -> Prediction:
        """Expected value and standard deviation of each object."""
        fitted = [self.space.fit(x) for x in objects]
        mean, std = self._committee().predict(fitted)
        return Prediction(self._sign * mean, std)

    def explain(self, x: Any, most: int = ANALOGUES) -> tuple[Analogue, ...]:
        """The observations with the most influence on the prediction at an object, signed."""
        return self._analogues([self.space.fit(x)], self._committee(), most)[0]

    def committee(self) -> Committee:
        """The models behind the predictions, with their weights; values are negated when minimising."""
        return self._committee()

    @property
    def _sign(self) -> float:
        return 1.0 if self.direction == "maximize" else -1.0

    def _sync(self) -> None:
        """Read what has changed in the storage."""
        rows, self._revision = self._store.since(self._revision)
        for row in rows:
            self._trials[row.id] = self._trial(row)
            self._keys[row.id], self._order[row.id] = row.key, row.revision

    def _trial(self, row: Row) -> Trial:
        known = self._trials.get(row.id)
        # The same object stays the same instance, so that Gram matrices recognise what they have.
        x = known.object if known is not None else self.space.from_json(json.loads(row.payload))
        return Trial(
            row.id,
            x,
            row.state,
            row.value,
            row.std,
            row.error,
            row.worker,
            row.created,
            row.updated,
            row.lease,
            json.loads(row.summary),
        )

    def _expire(self) -> None:
        if any(t.state is State.ASKED and t.lease is not None for t in self._trials.values()):
            self._store.expire(time.time())
            self._sync()

    def _told(self) -> list[Trial]:
        """Observations in the order they became known, so that Gram matrices only grow."""
        told = [t for t in self._trials.values() if t.state is State.TOLD]
        return sorted(told, key=lambda t: self._order[t.id])

    def _pending(self) -> list[Any]:
        return [self._trials[i].object for i in sorted(self._trials) if self._trials[i].state is State.ASKED]

    def _taken(self, replicates: bool) -> set[str]:
        barred = {State.ASKED} if replicates else {State.ASKED, State.TOLD, State.FAILED}
        return {self._keys[i] for i, t in self._trials.items() if t.state in barred}

    def _likenesses(self) -> tuple[Similarity, ...]:
        return self._models().likenesses

    def _models(self) -> Model:
        if self._model is None:
            found = likenesses(self._given, self.space, np.random.default_rng(self.seed))
            self._model = Model(tuple(self.space.view(s) for s in found), self._settings)
        return self._model

    def _committee(self) -> Committee:
        self._sync()
        told = self._told()
        if not told:
            raise StudyError(f"study {self.name!r} has no observation to predict from; tell it one first")
        values = self._sign * np.array([_known(t.value) for t in told])
        stds = np.array([t.std or 0.0 for t in told])
        return self._models().committee([t.object for t in told], values, stds**2 if stds.any() else None)

    def _propose(self, n: int, attempt: int, replicates: bool) -> tuple[list[Any], Committee | None]:
        told, pending = self._told(), self._pending()
        rng = np.random.default_rng([self.seed, len(self._trials), attempt])
        sign = self._sign
        order = sorted(told, key=lambda t: -sign * _known(t.value))
        ground = Ground(self.space, [t.object for t in order], self._taken(replicates), rng)
        if len(told) < self._initial or not told:
            known = [t.object for t in told] + pending
            return spread(n, self._likenesses()[0], known, ground), self._committee() if told else None
        committee = self._committee()
        best = float(committee.members[0].posterior.values.max())
        scorer = Scorer(committee, self._acquisition, best)
        if self._search is None:
            self._search = choose_search(self.space, differentiable=committee.differentiable)
        return self._batch.pick(n, scorer, self._search, ground, pending), committee

    def _described(self, objects: Sequence[Any], committee: Committee | None) -> list[Suggestion]:
        if committee is None:
            return [Suggestion(-1, x, notes={"stage": "initial"}) for x in objects]
        prediction = committee.predict(objects)
        means, best = self._sign * prediction.mean, float(self._sign * _known(self.best.value))
        chance = ndtr((prediction.mean - best) / np.maximum(prediction.std, 1e-300))
        analogues = self._analogues(objects, committee, ANALOGUES)
        return [
            Suggestion(-1, x, float(m), float(s), float(c), a)
            for x, m, s, c, a in zip(objects, means, prediction.std, chance, analogues, strict=True)
        ]

    def _analogues(self, objects: Sequence[Any], committee: Committee, most: int) -> list[tuple[Analogue, ...]]:
        told = self._told()
        influences = committee.influence(objects)
        return [
            tuple(
                Analogue(told[i].object, _known(told[i].value), float(row[i]))
                for i in np.argsort(-np.abs(row), kind="stable")[:most].tolist()
            )
            for row in influences
        ]

    def _new_row(self, s: Suggestion, replicates: bool) -> NewRow:
        lease = None if self._lease is None else time.time() + self._lease
        summary = {k: v for k, v in (("mean", s.mean), ("std", s.std), ("chance", s.chance)) if v is not None}
        return NewRow(
            self.space.key(s.object),
            json.dumps(self.space.to_json(s.object)),
            lease=lease,
            worker=self._worker,
            summary=json.dumps({**summary, **s.notes}),
            replicate=replicates,
        )

    def _addressed(self, what: Any, id: int | None) -> int | None:
        """The trial that a tell or fail is about, or None where it is about an object that was not asked for."""
        if id is not None:
            return id
        if isinstance(what, Suggestion | Trial):
            return what.id
        key = self.space.key(self.space.fit(what))
        return next((i for i, t in self._trials.items() if t.state is State.ASKED and self._keys[i] == key), None)

    def _add_known(self, what: Any, row: NewRow) -> None:
        x = self.space.fit(what)
        payload = json.dumps(self.space.to_json(x))
        self._store.add([replace(row, key=self.space.key(x), payload=payload, worker=self._worker, replicate=True)])


def _known(value: float | None) -> float:
    assert value is not None
    return value


def _measured(what: Any, value: Any, std: float | None) -> tuple[float, float | None]:
    """The value and its standard deviation, refused when they are no finite numbers."""
    if isinstance(value, Measurement):
        value, std = value.value, value.std if std is None else std
    name = repr(what.object if isinstance(what, Suggestion | Trial) else what)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise StudyError(f"the value of {name} is no number: {value!r}; tell a float, or use fail") from None
    if not math.isfinite(number):
        raise StudyError(f"the value of {name} is {number}; if it could not be measured, use fail(…, reason)")
    if std is not None and not (math.isfinite(float(std)) and float(std) >= 0):
        raise StudyError(f"the standard deviation of {name} is {std}; it must be a non-negative number")
    return number, None if std is None else float(std)
