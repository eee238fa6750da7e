"""The sampler: it reads Optuna's trials, and answers with what the committee would ask for."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from likewise.errors import StudyError
from likewise.integrations.optuna.outcomes import Outcomes, is_measured
from likewise.integrations.optuna.parts import Parts
from likewise.integrations.optuna.tree import Node, grow
from likewise.similarity.base import Function, Similarity
from likewise.spaces.base import Space
from likewise.study.methods.base import Known, Restarting
from likewise.study.methods.committee import CommitteeMethod

LISTED = 20_000


class LikewiseSampler(BaseSampler):
    """A sampler for `optuna.create_study(sampler=…)` that compares choices by what they stand for.

    similarity: how alike two choices of a categorical parameter are, by the parameter's name: a similarity, or a plain
        function of two choices. Parameters without one are compared as likewise does by default.
    distance: the same by how far apart two choices are: a plain function of two choices.
    objects: what the choices stand for, by the parameter's name, in the order of the choices: molecules, graphs,
        anything that the similarity compares. By default the choices themselves.
    seed: a whole number that makes runs repeatable; None (default) draws one.
    independent_sampler: for the first trial, and for parameters whose presence no choice explains; Optuna's
        `RandomSampler` by default.

    Studies may have several directions, and trials constraints by `trial.set_constraint`. Failed trials count: what is
    like them is avoided. Running ones are taken into account. Pruned ones are left out.

    >>> import math, optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> solvents = {"THF": 7.6, "MeTHF": 7.0, "DMF": 36.7, "DMSO": 46.7, "MeCN": 37.5, "water": 80.1}
    >>> polar = lambda a, b: abs(math.log(solvents[a] / solvents[b]))
    >>> study = optuna.create_study(sampler=LikewiseSampler(distance={"solvent": polar}, seed=0))
    >>> study.optimize(lambda trial: abs(solvents[trial.suggest_categorical("solvent", list(solvents))] - 40), 5)
    >>> study.best_params["solvent"] in ("DMF", "MeCN")
    True
    """

    def __init__(
        self,
        similarity: Mapping[str, Similarity | Function] | None = None,
        distance: Mapping[str, Function] | None = None,
        *,
        objects: Mapping[str, Sequence[Any]] | None = None,
        seed: int | None = None,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        self._parts = Parts.given(
            {} if similarity is None else similarity, {} if distance is None else distance, objects or {}
        )
        whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
        if seed is not None and not (whole and 0 <= seed < 2**32):
            raise StudyError(f"a seed is a whole number from 0 to 2³² − 1, or None to draw one, not {seed!r}")
        if not isinstance(independent_sampler, BaseSampler | None):
            raise StudyError(
                f"independent_sampler={independent_sampler!r} is no sampler of Optuna's; give RandomSampler()"
            )
        self._seed = secrets.randbits(32) if seed is None else int(seed)
        self._independent = independent_sampler or RandomSampler(seed=self._seed)
        self._forget()

    def _forget(self) -> None:
        self._lock = Lock()
        self._working: _Working | None = None

    def __getstate__(self) -> dict[str, Any]:
        # What is at work is made anew of the trials.
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_working")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    def reseed_rng(self) -> None:
        self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        latest = {name: one for t in done for name, one in t.distributions.items()}
        if latest:
            self._parts.check(latest)
        several = {name: one for name, one in latest.items() if not one.single()}
        names = grow(several, [t.params for t in done]).names
        return {name: one for name, one in sorted(several.items()) if name in names}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        if not search_space:
            return {}
        trials = [t for t in study.get_trials(deepcopy=False) if t.number != trial.number]
        done = [t.params for t in trials if t.state is TrialState.COMPLETE]
        # Trials of another search space, before the code was changed, say nothing of this one's branches.
        node = grow(search_space, [p for p in done if set(search_space) & set(p)])
        outcomes = Outcomes.of(study, trials)
        with self._lock:
            if self._working is None or (self._working.node, self._working.outcomes) != (node, outcomes):
                self._working = _Working(node, self._parts, outcomes)
            return self._working.propose(trial, trials, np.random.default_rng([self._seed, trial.number]))

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._independent.sample_independent(study, trial, param_name, param_distribution)


@dataclass(eq=False)
class _Working:
    """The default method at work on one search space. A trial's object stays the same: nothing is compared twice."""

    node: Node
    parts: Parts
    outcomes: Outcomes
    space: Space = field(init=False)
    proposer: Restarting = field(init=False)
    objects: dict[int, Any] = field(default_factory=dict, init=False)
    proposed: dict[int, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        whole, method = self.node.space(self.parts), CommitteeMethod()
        # What the kinds of parts are recognised by is the same for every worker.
        similarities = method.similarities("auto", whole, np.random.default_rng(0))
        # What can be listed is compared as a whole, and not searched.
        self.space = whole.grid() if whole.size <= LISTED else whole
        self.proposer = Restarting(lambda: method.start(self.space, similarities, self.outcomes.goals))

    def propose(self, trial: FrozenTrial, trials: Sequence[FrozenTrial], rng: np.random.Generator) -> dict[str, Any]:
        """Parameters for a trial, given all the others."""
        known = self._known(trials, rng)
        # Where everything has been tried, Optuna's users expect a repeat.
        found = self.proposer.propose(1, known).objects or self.proposer.propose(1, replace(known, taken=set())).objects
        self.proposed[trial.number] = found[0]
        return self.node.to_params(found[0])

    def _known(self, trials: Sequence[FrozenTrial], rng: np.random.Generator) -> Known:
        ended = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.FAIL)]
        measured = self._within(t for t in ended if is_measured(t))
        failed = [x for _, x in self._within(t for t in ended if not is_measured(t))]
        pending = [x for _, x in self._within(t for t in trials if t.state is TrialState.RUNNING)]
        taken = {self.space.key(x) for x in [*(x for _, x in measured), *failed, *pending]}
        return Known(self.outcomes.told(measured), failed, pending, taken, rng)

    def _within(self, trials: Iterable[FrozenTrial]) -> list[tuple[FrozenTrial, Any]]:
        """Trials of this search space with their objects."""
        each = ((t, self._object(t)) for t in trials)
        return [(t, x) for t, x in each if x is not None]

    def _object(self, trial: FrozenTrial) -> Any:
        found = self.objects.get(trial.number)
        if found is None:
            found = self.node.to_object(trial.params)
            if found is not None:
                found = self.objects[trial.number] = self.space.fit(found)
            elif trial.state is TrialState.RUNNING:
                # It has not got its parameters yet.
                return self.proposed.get(trial.number)
        return found
