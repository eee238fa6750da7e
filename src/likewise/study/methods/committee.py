"""The default method: spread out at first, then where the acquisition of a committee is highest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np

from likewise.acquisition.acquisitions import Acquisition, LogExpectedImprovement
from likewise.acquisition.feasibility import chance
from likewise.acquisition.hypervolume import EXACT, Promise, layers, spread_directions
from likewise.acquisition.joint_scorer import JointScorer
from likewise.acquisition.scorer import Certain, Priced, ScoredOutcome, Scorer, Scoring, wait
from likewise.errors import SimilarityError, StudyError, did_you_mean
from likewise.model.committee import Committee
from likewise.model.fit import FitSettings
from likewise.model.model import Model
from likewise.model.scores import ObjectScores, Treatments
from likewise.model.spectrum import Spectrum
from likewise.search.base import NearDuplicates, Search, SearchState
from likewise.search.batch import Sequential, Strategy, affordable, fill_up, pick_within
from likewise.search.choose import Resuming, choose_search, choose_strategy
from likewise.search.initial_design import spread
from likewise.similarity.algebra import Fixed, fixed
from likewise.similarity.auto import Given, as_similarities
from likewise.similarity.base import Matrix, Similarity, Vector
from likewise.similarity.records import compared_fields
from likewise.spaces.base import Enumerable, Generator, Space
from likewise.study.goals import Computed, Goals, at_least_one, check_part, check_parts, check_spectra
from likewise.study.methods.base import AllBeliefs, Beliefs, Known, Method, Proposal, Proposer, Told

# From what a user gives as `similarity` to the similarities of a committee.


def similarities(given: Given, space: Space, rng: np.random.Generator) -> tuple[Similarity, ...]:
    """One similarity, a plain function, a list of either, or "auto" for those that the space names itself."""
    named = as_similarities(given)
    if named is None:
        return space.recognise(rng).similarities
    check_fields(named, space.parts)
    return named


def check_fields(given: Sequence[Similarity], fields: Mapping[str, Space]) -> None:
    """A complaint about similarities of fields that records of these fields lack, or that leave out one that varies.

    >>> from likewise.similarity.records import Parts
    >>> from likewise.similarity.kinds.sets import Equal
    >>> from likewise.spaces.record import Record
    >>> check_fields([Parts(base=Equal(), solvnt=Equal())], Record(base=["KOAc"], solvent=["DMF", "THF"]).parts)
    Traceback (most recent call last):
    likewise.errors.SimilarityError: records have no field 'solvnt', which Parts compares; did you mean 'solvent'?
    """
    looked_at = [compared_fields(one) for one in given]
    named = {name for names in looked_at if names is not None for name in names}
    if not fields:
        return
    for name in sorted(named - set(fields)):
        raise SimilarityError(f"records have no field {name!r}, which Parts compares; {did_you_mean(name, fields)}")
    missing = [name for name, part in fields.items() if name not in named and part.size > 1]
    if missing and None not in looked_at:
        raise SimilarityError(
            f"nothing compares the field {missing[0]!r}, so all its values would be the same; "
            f"give Parts a similarity for it: if they truly are alike, {missing[0]}=lambda x, y: 1.0"
        )


def with_fixed(given: Sequence[Similarity]) -> tuple[Similarity, ...]:
    """Similarities that all learn are joined by themselves as given: with few observations what is learnt fits noise.

    >>> from likewise.similarity.kinds.strings import Hamming, Levenshtein
    >>> [one.name for one in with_fixed([Hamming()])], len(with_fixed([Hamming(), Levenshtein()]))
    (['Hamming', 'fixed Hamming'], 2)
    """
    return (*given, *map(fixed, given)) if all(map(_learns, given)) else tuple(given)


def _learns(similarity: Similarity) -> bool:
    if isinstance(similarity, Fixed):
        return False
    has_parameters = type(similarity).parameters is not Similarity.parameters
    return has_parameters or any(map(_learns, similarity.parts))


# From goals and beliefs to a score: what is worth most where there are several outcomes.

# So many objects whose other outcomes are still to come count as in flight for these, the latest ones.
AWAITED = 64


@dataclass(frozen=True, eq=False)
class Signed:
    """A computed objective of which more is better; the same instance for a whole study, as pools keep its values."""

    computed: Computed

    def __call__(self, objects: Sequence[Any]) -> Vector:
        sign = 1.0 if self.computed.direction == "maximize" else -1.0
        return sign * self.computed.values(objects)


@dataclass(frozen=True, eq=False)
class JointGoals:
    """The goals of a study as a score."""

    goals: Goals
    signed: dict[str, Signed] = field(init=False)

    def __post_init__(self) -> None:
        signed = {name: Signed(computed) for name, computed in sorted(self.goals.computed.items())}
        object.__setattr__(self, "signed", signed)

    def scorer(self, beliefs: AllBeliefs, told: Told, rng: Generator, feasibility: Scorer | None = None) -> JointScorer:
        """The score by these beliefs; outcomes that were never measured do not count yet."""
        return JointScorer.on(*self._parts(beliefs, told), feasibility, self._directions(beliefs, rng))

    def judge(self, beliefs: AllBeliefs, told: Told, comparison: ObjectScores) -> Promise:
        """What is to be said of objects by these beliefs."""
        directions = self._directions(beliefs, np.random.default_rng(0))
        return JointScorer.on(*self._parts(beliefs, told), directions=directions, settle=False).judge(comparison)

    def _parts(self, beliefs: AllBeliefs, told: Told) -> tuple[list[ScoredOutcome], list[Certain]]:
        """What is measured and what is computed."""
        outcomes = [
            wait(self._outcome(name, part.committee), awaited(told, name)) for name, part in sorted(beliefs.items())
        ]
        return outcomes, [self._certain(name, function, told) for name, function in self.signed.items()]

    def _directions(self, beliefs: AllBeliefs, rng: Generator) -> Matrix | None:
        objectives = sum(name in self.goals.objectives for name in beliefs) + len(self.signed)
        return spread_directions(objectives, rng) if objectives > EXACT else None

    def chance_feasible(self, beliefs: AllBeliefs, objects: Sequence[Any]) -> Vector:
        """The chance of each object to keep to all limits; those of outcomes that were never measured do not count."""
        limited = [name for name in sorted(beliefs) if name in self.goals.constraints]
        if not limited:
            return np.ones(len(objects))
        outcomes = tuple(self._outcome(name, beliefs[name].committee) for name in limited)
        # Without a front the chance leads, and no objective is looked at.
        return JointScorer(outcomes, (), (), None).judge(ObjectScores(objects)).feasible

    def _outcome(self, name: str, committee: Committee) -> ScoredOutcome:
        goals, sign, scale = self.goals, self.goals.sign(name), committee.transform
        limits = reference = None
        if name in goals.constraints:
            # A limit that no value can be beyond is none.
            (low, high), (least, most) = goals.constraints[name].signed(sign), scale.bounds
            low = -np.inf if low <= least else float(scale.forward(low))
            high = np.inf if high >= most else float(scale.forward(high))
            limits = None if np.isinf(low) and np.isinf(high) else (low, high)
        if name in goals.reference:
            reference = float(scale.forward(sign * goals.reference[name]))
        return ScoredOutcome(committee, name in goals.objectives, limits, reference)

    def _certain(self, name: str, function: Signed, told: Told) -> Certain:
        values = function(told.objects)
        scale = float(np.std(values)) or max(1.0, float(np.max(np.abs(values), initial=0.0)))
        reference = self.goals.reference.get(name)
        sign = self.goals.sign(name)
        return Certain(function, scale, None if reference is None else sign * reference / scale)


def awaited(told: Told, name: str) -> list[Any]:
    """The latest objects of which other outcomes were told, and this one was not."""
    here = {id(x) for x in told.outcomes[name].objects}
    return [x for x in told.objects if id(x) not in here][-AWAITED:]


def best_first(told: Told, goals: Goals) -> list[Any]:
    """The measured objects, best first: by value, or by how many fronts lie before theirs."""
    measured = [name for name in goals.measured if name in told.outcomes]
    if not measured:
        return list(told.objects)
    if len(measured) == 1 and not goals.computed:
        data = told.outcomes[measured[0]]
        order = np.argsort(-data.values, kind="stable").tolist()
        met = {id(x) for x in data.objects}
        return [*(data.objects[i] for i in order), *(x for x in told.objects if id(x) not in met)]
    values, objects = _values(told, measured, goals)
    order = np.argsort(layers(values), kind="stable").tolist()
    met = {id(x) for x in objects}
    return [*(objects[i] for i in order), *(x for x in told.objects if id(x) not in met)]


def _values(told: Told, measured: Sequence[str], goals: Goals) -> tuple[Matrix, list[Any]]:
    """The objects of which all these outcomes were measured, and their values; larger is better."""
    by_object = [
        dict(zip(map(id, told.outcomes[n].objects), told.outcomes[n].values.tolist(), strict=True)) for n in measured
    ]
    objects = [x for x in told.objects if all(id(x) in values for values in by_object)]
    columns = [[values[id(x)] for x in objects] for values in by_object]
    columns += [Signed(computed)(objects).tolist() for _, computed in sorted(goals.computed.items())]
    return np.array(columns, dtype=float).T, objects


# What every method does with a batch: it looks where there is something left, and never answers with too few.


def search_state(space: Space, known: Known, goals: Goals) -> SearchState:
    """Where to search: the observations best first, and what may not be proposed."""
    observed, taken = best_first(known.told, goals), known.taken | space.excluded
    tried = NearDuplicates.of(space, [*known.told.objects, *known.failed, *known.pending])
    # What may be measured again is no new object; it is proposed where a repeat is worth more.
    repeats = frozenset(map(space.key, observed)) - taken
    state = SearchState(space, observed, taken | repeats, known.rng, tried, repeats)
    return state if known.plate is None else state.on(known.plate)


def is_used_up(state: SearchState) -> bool:
    """Whether nothing is left to propose."""
    return isinstance(state.space, Enumerable) and len(state.taken) - len(state.repeats) >= len(state.space.objects)


def complete(picks: list[Any], n: int, state: SearchState) -> list[Any]:
    """`n` of the picks, and random free objects where they are fewer; fewer still in a space that is used up.

    What is new comes first, then what may be measured again.
    """
    space = state.space
    if len(picks) >= n or state.plate is not None or not isinstance(space, Enumerable):
        return picks[:n] if len(picks) >= n else fill_up(picks, n, state)
    objects, state = space.objects, state.without(picks)
    drawn = state.rng.permutation(len(objects)).tolist()
    fresh = (objects[i] for i in drawn if space.key(objects[i]) not in state.taken)
    again = (objects[i] for i in drawn if space.key(objects[i]) in state.repeats)
    return picks + list(islice(chain(fresh, again), n - len(picks)))


def first_free(found: Sequence[Any], n: int, state: SearchState) -> list[Any]:
    """The first `n` of the objects that may be proposed, each with those before it picked."""
    picks: list[Any] = []
    for x in found:
        if len(picks) < n and state.space.key(x) not in state.taken and state.permits(x):
            picks.append(x)
            state = state.without([x])
    return picks


# The default method: spread out at first, then where the acquisition of a committee is highest.

INITIAL = 5
# So many times as many objects as are wanted are spread out, of which those are taken that can be afforded.
AFFORDABLE = 4


@dataclass(frozen=True)
class CommitteeMethod(Method):
    """A committee of models, weighted by evidence, and an acquisition; `Study` says what the settings are."""

    acquisition: Acquisition | None = None
    strategy: Strategy | None = None
    search: Search | None = None
    spectra: tuple[Spectrum, ...] = ("krein",)
    initial: int = INITIAL

    def __post_init__(self) -> None:
        check_parts(self.acquisition, self.strategy, self.search)
        check_spectra(self.spectra)
        at_least_one("initial", self.initial)

    def similarities(self, given: Given, space: Space, rng: Generator) -> tuple[Similarity, ...]:
        return tuple(space.differentiate(space.view(similarity)) for similarity in similarities(given, space, rng))

    def start(self, space: Space, similarities: tuple[Similarity, ...], goals: Goals) -> Proposer:
        compared, models = with_fixed(similarities), dict[str, Model]()
        for name in goals.outcomes:
            # Objects are compared once for all outcomes.
            shared = models[goals.outcomes[0]].grams if models else None
            models[name] = Model(compared, FitSettings(spectra=self.spectra, bounds=goals.ends(name)), shared)
        if not goals.single and (self.acquisition is not None or not isinstance(self.strategy, Sequential | None)):
            raise StudyError(
                "acquisition and strategy are for one objective without constraints; leave them out otherwise"
            )
        acquisition = self.acquisition or LogExpectedImprovement()
        return CommitteeProposer(space, goals, models, acquisition, self.strategy, self.search, self.initial)

    def describe(self) -> dict[str, Any]:
        return {"spectrum": list(self.spectra)}


def choose_method(given: Method | None, default: CommitteeMethod) -> Method:
    """The method that is given, or the default one with its options, which no other takes."""
    if given is None:
        return default
    check_part("method", given, Method, "None for the default, a committee, or Paper()")
    if default != CommitteeMethod():
        raise StudyError(
            "acquisition, strategy, search, spectrum and initial are options of the default method; "
            f"give those of {given!r} to the method itself"
        )
    return given


@dataclass(eq=False)
class _Memory:
    """What was learnt and found at the first attempt of an ask."""

    scorer: Scoring
    search: Resuming


@dataclass(eq=False)
class CommitteeProposer(Proposer):
    """The committees at work, one for each outcome: they keep their Gram matrices, and the scores of a whole pool."""

    space: Space
    goals: Goals
    models: Mapping[str, Model]
    acquisition: Acquisition
    strategy: Strategy | None
    search: Search | None
    initial: int
    joint: JointGoals = field(init=False)

    def __post_init__(self) -> None:
        self.joint = JointGoals(self.goals)

    @property
    def similarities(self) -> tuple[Similarity, ...]:
        """What objects are compared by, whatever the outcome."""
        return next(iter(self.models.values())).similarities

    def believe(self, told: Told) -> AllBeliefs:
        union = told.whole if len(self.models) > 1 else None
        found, treatments = {}, Treatments()
        for name, data in told.outcomes.items():
            committee, selection = self.models[name].committee(data, union, treatments)
            found[name] = Beliefs(committee, selection.conditioned, self.models[name].settings)
        return found

    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        next(iter(self.models.values())).check(objects, known)

    def propose(self, n: int, known: Known, before: Proposal | None = None) -> Proposal:
        beliefs = self.believe(known.told) if known.told.objects else None
        first = known.told.most(self.goals.measured) < self.initial
        state = search_state(self.space, known, self.goals)
        if n == 0 or is_used_up(state):
            return Proposal([], beliefs)
        memory = None if first else self._memory(known, before)
        picks = self._spread(n, known, state) if memory is None else self._pick(n, known, memory, state)
        objects = complete(picks, n, state) if known.price is None else picks
        return Proposal(objects, beliefs, [{"stage": "initial"} if first else {} for _ in objects], memory)

    def search_for(self, differentiable: bool) -> Search:
        """The search that was given, or that the space's abilities choose."""
        if self.search is not None:
            return self.search
        chosen = choose_search(self.space, differentiable=differentiable)
        if isinstance(self.space, Enumerable):
            # It remembers the scores of the whole pool.
            self.search = chosen
        return chosen

    def _spread(self, n: int, known: Known, state: SearchState) -> list[Any]:
        similarities, price = self.similarities, known.price
        if isinstance(self.space, Enumerable):
            # An object that cannot be compared is an error before anything is measured; the encodings are needed later.
            self.search_for(differentiable=False).ready(similarities)
        tried = [*known.told.objects, *self._comparable(known), *known.pending]
        if price is None:
            return spread(n, similarities, tried, state)
        candidates = spread(AFFORDABLE * n, similarities, tried, state)
        return affordable(candidates, price.costs(candidates), price.budget, n)

    def _pick(self, n: int, known: Known, memory: _Memory, state: SearchState) -> list[Any]:
        if known.price is not None:
            scorer = memory.scorer.with_pending(known.pending)
            return pick_within(n, Priced(scorer, known.price.costs, known.price.budget), memory.search, state)
        # On a plate each pick may bind the next ones, so that they are made one by one.
        usual = self.goals.single and self.strategy is None and state.plate is None
        given = None if state.plate is not None else self.strategy
        strategy = choose_strategy(self.space, self.acquisition) if usual else given or Sequential()
        return strategy.pick(n, memory.scorer, memory.search, state, known.pending)

    def _memory(self, known: Known, before: Proposal | None) -> _Memory:
        if before is not None and before.memory is not None:
            return _Memory(before.memory.scorer, before.memory.search.resume())
        scorer = self._scorer(known)
        return _Memory(scorer, Resuming(self.search_for(scorer.differentiable and known.price is None)))

    def _scorer(self, known: Known) -> Scoring:
        told, failed = known.told, self._comparable(known)
        beliefs = self.believe(told)
        first = beliefs[next(name for name in self.goals.measured if name in beliefs)].committee
        grams = next(iter(self.models.values())).grams
        observed = told.only if self.goals.single else told.whole
        feasible = chance(first, grams, observed, failed) if failed else None
        if self.goals.single:
            return Scorer.on(first, self.acquisition, feasible)
        return self.joint.scorer(beliefs, told, known.rng, feasible)

    def _comparable(self, known: Known) -> Sequence[Any]:
        """The failures without those that the pool excludes, which may have failed because they cannot be compared."""
        excluded = self.space.excluded
        return [x for x in known.failed if self.space.key(x) not in excluded] if excluded else known.failed
