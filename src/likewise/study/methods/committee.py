"""The default method: spread out at first, then where the acquisition of a committee is highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from likewise.acquisition.base import Acquisition
from likewise.acquisition.feasibility import chance
from likewise.acquisition.improvement import LogExpectedImprovement
from likewise.acquisition.scorer import Scorer
from likewise.errors import StudyError
from likewise.model.fit import Settings
from likewise.model.schedule import Data, Model
from likewise.model.spectrum import Spectrum
from likewise.search.base import Search, SearchState
from likewise.search.batch import Sequential, Strategy
from likewise.search.choose import choose_search, choose_strategy
from likewise.search.resuming import Resuming
from likewise.search.spread import spread
from likewise.similarity.auto.given import Given
from likewise.similarity.base import Similarity
from likewise.spaces.base import Enumerable, Generator, Space
from likewise.study.checks import check_parts
from likewise.study.methods.base import Beliefs, Known, Method, Proposal, Proposer
from likewise.study.methods.batches import complete, is_used_up, search_state
from likewise.study.similarities import similarities, with_fixed
from likewise.study.suspicion import REPEAT, to_repeat

INITIAL = 5


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
        if not self.spectra:
            raise StudyError("an empty list of spectra leaves no model; give 'krein', or several to choose from")

    def similarities(self, given: Given, space: Space, rng: Generator) -> tuple[Similarity, ...]:
        return tuple(space.differentiate(space.view(one)) for one in similarities(given, space, rng))

    def start(self, space: Space, similarities: tuple[Similarity, ...]) -> Proposer:
        model = Model(with_fixed(similarities), Settings(spectra=self.spectra))
        acquisition = self.acquisition or LogExpectedImprovement()
        return CommitteeProposer(space, model, acquisition, self.strategy, self.search, max(1, self.initial))

    def describe(self) -> dict[str, Any]:
        return {"spectrum": list(self.spectra)}


def choose_method(given: Method | None, default: CommitteeMethod) -> Method:
    """The method that is given, or the default one with its options, which no other takes."""
    if given is None:
        return default
    if not isinstance(given, Method):
        raise StudyError(f"method={given!r} is no Method; give None for the default, a committee")
    if default != CommitteeMethod():
        raise StudyError(
            "acquisition, strategy, search, spectrum and initial are options of the default method; "
            f"give those of {given!r} to the method itself"
        )
    return given


@dataclass(eq=False)
class _Memory:
    """What was learnt and found at the first attempt of an ask."""

    scorer: Scorer
    search: Resuming


@dataclass(eq=False)
class CommitteeProposer(Proposer):
    """The committee at work: it keeps its Gram matrices, and the scores of a whole pool."""

    space: Space
    model: Model
    acquisition: Acquisition
    strategy: Strategy | None
    search: Search | None
    initial: int

    def believe(self, told: Data) -> Beliefs:
        committee, selection = self.model.committee(told)
        return Beliefs(committee, selection.conditioned, self.model.settings)

    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        self.model.check(objects, known)

    def propose(self, n: int, known: Known, before: Proposal | None = None) -> Proposal:
        beliefs = self.believe(known.told) if known.told.objects else None
        again = [] if beliefs is None else to_repeat(beliefs.committee, known, self.space)[:n]
        found = self._propose_new(n - len(again), replace(known, pending=[*known.pending, *again]), before)
        notes = [*({"stage": REPEAT} for _ in again), *found.notes]
        return Proposal([*again, *found.objects], beliefs, notes, found.memory)

    def _propose_new(self, n: int, known: Known, before: Proposal | None) -> Proposal:
        """Objects that were not measured yet, or may be measured again."""
        first = len(known.told.objects) < self.initial
        state = search_state(self.space, known)
        if n == 0 or is_used_up(state):
            return Proposal([])
        memory = None if first else self._memory(known, before)
        picks = self._spread(n, known, state) if memory is None else self._pick(n, known, memory, state)
        objects = complete(picks, n, state)
        return Proposal(objects, None, [{"stage": "initial"} if first else {} for _ in objects], memory)

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
        similarities = self.model.similarities
        if isinstance(self.space, Enumerable):
            # An object that cannot be compared is an error before anything is measured; the encodings are needed later.
            self.search_for(differentiable=False).ready(similarities)
        return spread(n, similarities[0], [*known.told.objects, *self._comparable(known), *known.pending], state)

    def _pick(self, n: int, known: Known, memory: _Memory, state: SearchState) -> list[Any]:
        # On a plate each pick may bind the next ones, so that they are made one by one.
        chosen = None if state.plate is None else Sequential()
        strategy = chosen or self.strategy or choose_strategy(self.space, self.acquisition)
        return strategy.pick(n, memory.scorer, memory.search, state, known.pending)

    def _memory(self, known: Known, before: Proposal | None) -> _Memory:
        if before is not None and before.memory is not None:
            return _Memory(before.memory.scorer, before.memory.search.resume())
        scorer = self._scorer(known)
        feasible = scorer.feasibility
        differentiable = feasible is None or feasible.committee.differentiable
        return _Memory(scorer, Resuming(self.search_for(scorer.committee.differentiable and differentiable)))

    def _scorer(self, known: Known) -> Scorer:
        committee, failed = self.believe(known.told).committee, self._comparable(known)
        feasible = chance(committee, self.model.grams, known.told, failed) if failed else None
        return Scorer.on(committee, self.acquisition, feasible)

    def _comparable(self, known: Known) -> Sequence[Any]:
        """The failures without those that the pool excludes, which may have failed because they cannot be compared."""
        excluded = self.space.excluded
        return [x for x in known.failed if self.space.key(x) not in excluded] if excluded else known.failed
