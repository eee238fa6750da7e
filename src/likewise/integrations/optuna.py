"""likewise inside Optuna: a sampler whose parameters are compared by what they stand for."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from likewise.errors import SimilarityError, SpaceError, StudyError, did_you_mean
from likewise.model.model import Data
from likewise.similarity.algebra import Through
from likewise.similarity.auto import Recognised
from likewise.similarity.base import Function, Similarity
from likewise.similarity.encoding import Encoding
from likewise.similarity.functions import as_similarity, from_distance
from likewise.spaces.base import Generator, Space
from likewise.spaces.categorical import Categorical
from likewise.spaces.numbers import Float, Int
from likewise.spaces.record import OneOf, Record
from likewise.study.goals import AtMost, Direction, Goals
from likewise.study.methods.base import Known, Restarting, Told
from likewise.study.methods.committee import CommitteeMethod
from likewise.study.trial import VALUE

# What Optuna's trials measured: the values of a study's directions, and the constraints that were set.

DIRECTIONS: dict[StudyDirection, Direction] = {
    StudyDirection.MAXIMIZE: "maximize",
    StudyDirection.MINIMIZE: "minimize",
}


def is_measured(trial: FrozenTrial) -> bool:
    """Whether a trial has values that a model can use; infinite ones count as a failure."""
    return trial.state is TrialState.COMPLETE and all(map(math.isfinite, trial.values))


@dataclass(frozen=True)
class StudyOutcomes:
    """The directions of a study, and the names of the constraints that its trials have set."""

    directions: tuple[StudyDirection, ...]
    constraints: tuple[str, ...]

    @classmethod
    def of(cls, study: Study, trials: Sequence[FrozenTrial]) -> StudyOutcomes:
        """Those of a study."""
        return cls(tuple(study.directions), tuple(sorted({name for t in trials for name in t.constraints})))

    @cached_property
    def goals(self) -> Goals:
        """A constraint is kept where it is zero or less."""
        objectives = {name: DIRECTIONS[direction] for name, direction in zip(self._names, self.directions, strict=True)}
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
        by_outcome = {name: _data(pairs, self.goals.sign(name)) for name, pairs in rows.items() if pairs}
        return Told(by_outcome, _data([(x, 0.0) for _, x in measured]))


def _constraint(name: str) -> str:
    return f"constraint {name}"


def _data(rows: Sequence[tuple[Any, float]], sign: float = 1.0) -> Data:
    return Data([x for x, _ in rows], sign * np.array([value for _, value in rows]), None)


# Optuna's distributions as parts of a space: choices are known by their numbers, and stand for objects.


class Number(str):
    """The number of a choice as a text, which messages show as the choice itself.

    >>> number = Number(1, "DMF")
    >>> number == "1", number
    (True, 'DMF')
    """

    def __new__(cls, number: int, choice: Any) -> Number:
        value = super().__new__(cls, number)
        value.choice = choice
        return value

    choice: Any

    def __repr__(self) -> str:
        return repr(self.choice)


def numbers_of(distribution: CategoricalDistribution) -> list[Number]:
    """The numbers of all choices, in their order."""
    return [Number(i, choice) for i, choice in enumerate(distribution.choices)]


def number_of(distribution: BaseDistribution, choice: Any) -> Number:
    """The number of a choice, as a text."""
    return Number(int(distribution.to_internal_repr(choice)), choice)


def choice_of(distribution: BaseDistribution, value: Any) -> Any:
    """The choice of a number; other values as they are."""
    return distribution.choices[int(value)] if isinstance(distribution, CategoricalDistribution) else value


@dataclass(frozen=True)
class NumberedChoices(Categorical):
    """Choices by their numbers, which are handed on as they are: to messages they are what was chosen."""

    @property
    def objects(self) -> tuple[Any, ...]:
        return tuple(self.values)

    def _fit(self, x: Any) -> Any:
        return self.values[int(super()._fit(x))]


@dataclass(frozen=True)
class ComparedChoices(NumberedChoices):
    """Choices that are compared by a similarity of the user's."""

    similarity: Similarity | None = None

    def recognise(self, rng: Generator) -> Recognised:
        assert self.similarity is not None
        return Recognised("categories", "their similarity is given", (self.similarity,))

    def recognise_part(self, rng: Generator) -> Recognised:
        return self.recognise(rng)

    def view(self, similarity: Similarity) -> Similarity:
        return similarity


@dataclass(frozen=True)
class StandsFor(Through):
    """The inner similarity, of what numbers stand for. PSD if that one is.

    >>> from likewise.similarity.kinds.strings import Levenshtein
    >>> StandsFor(Levenshtein(), ("THF", "MeTHF"))("0", "1") == Levenshtein()("THF", "MeTHF")
    True
    """

    inner: Similarity
    objects: Sequence[Any]

    def encode(self, objects: Sequence[Any]) -> Encoding:
        return self.inner.encode([self.objects[int(number)] for number in objects])


@dataclass(frozen=True)
class ComparedParameters:
    """How the choices of some parameters are compared, and what they stand for, by the parameter's name."""

    similarities: Mapping[str, Similarity] = field(default_factory=dict)
    objects: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @classmethod
    def given(
        cls,
        similarity: Mapping[str, Similarity | Function],
        distance: Mapping[str, Function],
        objects: Mapping[str, Sequence[Any]],
    ) -> ComparedParameters:
        """From what a user says."""
        for what, mapping in (("similarity", similarity), ("distance", distance), ("objects", objects)):
            if not isinstance(mapping, Mapping) or not all(isinstance(name, str) for name in mapping):
                raise SimilarityError(
                    f"`{what}` is by parameter, as in {what}={{'solvent': …}}, not {mapping!r}; name the parameter"
                )
        bare = next((name for name, these in objects.items() if not isinstance(these, Sequence | np.ndarray)), None)
        if bare is not None:
            raise SimilarityError(
                f"the objects of parameter {bare!r} are a list, one for each choice, not {objects[bare]!r}"
            )
        both = sorted(set(similarity) & set(distance))
        if both:
            raise SimilarityError(f"parameter {both[0]!r} has a similarity and a distance; give one of them")
        lost = sorted(set(objects) - set(similarity) - set(distance))
        if lost:
            raise SimilarityError(f"parameter {lost[0]!r} has objects and nothing that compares them; add a similarity")
        compared = {name: as_similarity(comparison) for name, comparison in similarity.items()}
        return cls(compared | {name: from_distance(comparison) for name, comparison in distance.items()}, dict(objects))

    def check(self, distributions: Mapping[str, BaseDistribution]) -> None:
        """Refuse a name that no trial has and that is near to one that trials have; and numbers, compared as such.

        A parameter may occur in later trials only, which is why other names that no trial has are left alone.
        """
        free = [name for name in distributions if name not in self.similarities]
        for name in self.similarities:
            distribution = distributions.get(name)
            if distribution is not None and not isinstance(distribution, CategoricalDistribution):
                raise SimilarityError(
                    f"parameter {name!r} is a number, {distribution}, and numbers are compared by how far apart they "
                    "are; leave it out, or suggest it by suggest_categorical"
                )
            if distribution is None and get_close_matches(name, free, cutoff=0.75):
                raise SimilarityError(
                    f"no trial has the parameter {name!r}, which is given a similarity; {did_you_mean(name, free)} "
                    "If later trials have both, give both a similarity"
                )

    def part(self, name: str, distribution: BaseDistribution) -> Space:
        """The space of a parameter."""
        if isinstance(distribution, FloatDistribution):
            return Float(distribution.low, distribution.high, distribution.step, log=distribution.log)
        if isinstance(distribution, IntDistribution):
            return Int(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
        assert isinstance(distribution, CategoricalDistribution)
        numbers = numbers_of(distribution)
        if name not in self.similarities:
            return NumberedChoices(numbers)
        objects = self.objects.get(name, distribution.choices)
        if len(objects) != len(numbers):
            raise SpaceError(
                f"parameter {name!r} has {len(numbers)} choices and {len(objects)} objects; give one for each choice"
            )
        return ComparedChoices(numbers, similarity=StandsFor(self.similarities[name], tuple(objects)))


# Which parameters occur together: some always, some only under certain choices of another one.
#
# Optuna's search spaces are written as code that runs, and known by the trials alone. A parameter that some trials lack
# belongs to the branches of a categorical parameter whose choice says whether it is there.

Params = Mapping[str, Any]


@dataclass(frozen=True)
class ParameterGroup:
    """Parameters that occur together; `branches` has, for a parameter and each of its choices, what else occurs then.

    >>> from optuna.distributions import FloatDistribution
    >>> model, C = CategoricalDistribution(["svm", "bayes"]), FloatDistribution(0.1, 10)
    >>> trials = [{"model": "svm", "C": 1.0}, {"model": "bayes"}]
    >>> found = grow({"model": model, "C": C}, trials)
    >>> found.to_object({"model": "svm", "C": 1.0}), found.to_object({"model": "bayes"})
    ({'model': {'svm': {'C': 1.0}}}, {'model': {'bayes': None}})
    """

    parameters: Mapping[str, BaseDistribution]
    branches: Mapping[str, tuple[ParameterGroup, ...]] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """All parameters, those of the branches too."""
        inside = (node.names for nodes in self.branches.values() for node in nodes)
        return set(self.parameters).union(*inside)

    def space(self, parts: ComparedParameters) -> Record:
        """The space of the parameters, each as `parts` makes it."""
        return Record(**{name: self._part(name, distribution, parts) for name, distribution in self.parameters.items()})

    def _part(self, name: str, distribution: BaseDistribution, parts: ComparedParameters) -> Space:
        if name not in self.branches:
            return parts.part(name, distribution)
        assert isinstance(distribution, CategoricalDistribution)
        nodes = zip(numbers_of(distribution), self.branches[name], strict=True)
        return OneOf(**{number: node.space(parts) if node.parameters else None for number, node in nodes})

    def to_object(self, params: Params) -> dict[str, Any] | None:
        """The parameters of a trial as an object of the space; None if it lacks one, or has one out of range."""
        parts: dict[str, Any] = {}
        for name, distribution in self.parameters.items():
            if name not in params or not contains(distribution, params[name]):
                return None
            parts[name] = self._value(name, distribution, params)
            if name in self.branches and parts[name] is None:
                return None
        return parts

    def _value(self, name: str, distribution: BaseDistribution, params: Params) -> Any:
        if not isinstance(distribution, CategoricalDistribution):
            return params[name]
        number = number_of(distribution, params[name])
        if name not in self.branches:
            return number
        node = self.branches[name][int(number)]
        if not node.parameters:
            return {number: None}
        inside = node.to_object(params)
        return None if inside is None else {number: inside}

    def to_params(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """An object of the space as the parameters of a trial."""
        params: dict[str, Any] = {}
        for name, distribution in self.parameters.items():
            if name in self.branches:
                ((number, inside),) = x[name].items()
                params |= self.branches[name][int(number)].to_params(inside or {})
            else:
                number = x[name]
            params[name] = choice_of(distribution, number)
        return params


def contains(distribution: BaseDistribution, value: Any) -> bool:
    """Whether a distribution has this value."""
    try:
        return bool(distribution._contains(distribution.to_internal_repr(value)))
    except ValueError:
        return False


def grow(search_space: Mapping[str, BaseDistribution], trials: Sequence[Params]) -> ParameterGroup:
    """The tree of these parameters in these trials; parameters whose presence nothing explains are left out."""
    always = {
        name: distribution for name, distribution in search_space.items() if all(name in params for params in trials)
    }
    rest = {name: distribution for name, distribution in search_space.items() if name not in always}
    branches: dict[str, tuple[ParameterGroup, ...]] = {}
    for parent, distribution in always.items():
        if not rest or not isinstance(distribution, CategoricalDistribution):
            continue
        by_choice = [
            [p for p in trials if number_of(distribution, p[parent]) == str(i)]
            for i in range(len(distribution.choices))
        ]
        conditional = {name: rest[name] for name in rest if _explained(name, by_choice)}
        if conditional:
            branches[parent] = tuple(_branch(conditional, group) for group in by_choice)
            rest = {name: left for name, left in rest.items() if name not in conditional}
    return ParameterGroup(always, branches)


def _branch(distributions: Mapping[str, BaseDistribution], trials: Sequence[Params]) -> ParameterGroup:
    """What occurs under one choice; under one that was never made, nothing is known to."""
    present = {
        name: distribution for name, distribution in distributions.items() if any(name in params for params in trials)
    }
    return grow(present, trials)


def _explained(name: str, by_choice: Iterable[Sequence[Params]]) -> bool:
    """Whether a choice can say that a parameter is absent, and is true to it: under some choice it never occurs."""
    shares = [sum(name in params for params in group) / len(group) for group in by_choice if group]
    return 0.0 in shares


# The sampler: it reads Optuna's trials, and answers with what the committee would ask for.

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
        self._parts = ComparedParameters.given(
            {} if similarity is None else similarity, {} if distance is None else distance, objects or {}
        )
        is_integer = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
        if seed is not None and not (is_integer and 0 <= seed < 2**32):
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
        latest = {name: distribution for t in done for name, distribution in t.distributions.items()}
        if latest:
            self._parts.check(latest)
        several = {name: distribution for name, distribution in latest.items() if not distribution.single()}
        names = grow(several, [t.params for t in done]).names
        return {name: distribution for name, distribution in sorted(several.items()) if name in names}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        if not search_space:
            return {}
        trials = [t for t in study.get_trials(deepcopy=False) if t.number != trial.number]
        done = [t.params for t in trials if t.state is TrialState.COMPLETE]
        # Trials of another search space, before the code was changed, say nothing of this one's branches.
        node = grow(search_space, [p for p in done if set(search_space) & set(p)])
        outcomes = StudyOutcomes.of(study, trials)
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

    node: ParameterGroup
    parts: ComparedParameters
    outcomes: StudyOutcomes
    space: Space = field(init=False)
    proposer: Restarting = field(init=False)
    objects: dict[int, Any] = field(default_factory=dict, init=False)
    proposed: dict[int, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        space, method = self.node.space(self.parts), CommitteeMethod()
        # What the kinds of parts are recognised by is the same for every worker.
        similarities = method.similarities("auto", space, np.random.default_rng(0))
        # What can be listed is compared as a whole, and not searched.
        self.space = space.grid() if space.size <= LISTED else space
        self.proposer = Restarting(lambda: method.start(self.space, similarities, self.outcomes.goals))

    def propose(self, trial: FrozenTrial, trials: Sequence[FrozenTrial], rng: np.random.Generator) -> dict[str, Any]:
        """Parameters for a trial, given all the others."""
        state = self._known(trials, rng)
        # Where everything has been tried, Optuna's users expect a repeat.
        objects = (
            self.proposer.propose(1, state).objects or self.proposer.propose(1, replace(state, taken=set())).objects
        )
        self.proposed[trial.number] = objects[0]
        return self.node.to_params(objects[0])

    def _known(self, trials: Sequence[FrozenTrial], rng: np.random.Generator) -> Known:
        ended = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.FAIL)]
        measured = self._within(t for t in ended if is_measured(t))
        failed = [x for _, x in self._within(t for t in ended if not is_measured(t))]
        pending = [x for _, x in self._within(t for t in trials if t.state is TrialState.RUNNING)]
        taken = {self.space.key(x) for x in [*(x for _, x in measured), *failed, *pending]}
        return Known(self.outcomes.told(measured), failed, pending, taken, rng)

    def _within(self, trials: Iterable[FrozenTrial]) -> list[tuple[FrozenTrial, Any]]:
        """Trials of this search space with their objects."""
        pairs = ((t, self._object(t)) for t in trials)
        return [(t, x) for t, x in pairs if x is not None]

    def _object(self, trial: FrozenTrial) -> Any:
        x = self.objects.get(trial.number)
        if x is None:
            x = self.node.to_object(trial.params)
            if x is not None:
                x = self.objects[trial.number] = self.space.fit(x)
            elif trial.state is TrialState.RUNNING:
                # It has not got its parameters yet.
                return self.proposed.get(trial.number)
        return x
