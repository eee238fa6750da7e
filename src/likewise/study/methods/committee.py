"""The default method: spread out at first, then where the acquisition of a committee is highest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from likewise.acquisition.base import Acquisition
from likewise.acquisition.cost import Priced
from likewise.acquisition.feasibility import chance
from likewise.acquisition.improvement import LogExpectedImprovement
from likewise.acquisition.scorer import Scorer
from likewise.acquisition.scoring import Scoring
from likewise.errors import StudyError
from likewise.model.fit import Settings
from likewise.model.schedule import Model
from likewise.model.spectrum import Spectrum
from likewise.model.treatments import Treatments
from likewise.search.base import Search, SearchState
from likewise.search.batch import Sequential, Strategy
from likewise.search.budget import affordable, pick_within
from likewise.search.choose import choose_search, choose_strategy
from likewise.search.resuming import Resuming
from likewise.search.spread import spread
from likewise.similarity.auto.given import Given
from likewise.similarity.base import Similarity
from likewise.spaces.base import Enumerable, Generator, Space
from likewise.study.checks import at_least_one, check_part, check_parts, check_spectra
from likewise.study.goals import Goals
from likewise.study.methods.base import AllBeliefs, Beliefs, Known, Method, Proposal, Proposer, Told
from likewise.study.methods.batches import complete, is_used_up, search_state
from likewise.study.methods.outcomes import JointGoals
from likewise.study.similarities import similarities, with_fixed

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
        return tuple(space.differentiate(space.view(one)) for one in similarities(given, space, rng))

    def start(self, space: Space, similarities: tuple[Similarity, ...], goals: Goals) -> Proposer:
        compared, models = with_fixed(similarities), dict[str, Model]()
        for name in goals.outcomes:
            # Objects are compared once for all outcomes.
            shared = models[goals.outcomes[0]].grams if models else None
            models[name] = Model(compared, Settings(spectra=self.spectra, bounds=goals.ends(name)), shared)
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
        whole = told.whole if len(self.models) > 1 else None
        found, treatments = {}, Treatments()
        for name, data in told.outcomes.items():
            committee, selection = self.models[name].committee(data, whole, treatments)
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
        found = spread(AFFORDABLE * n, similarities, tried, state)
        return affordable(found, price.costs(found), price.budget, n)

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
