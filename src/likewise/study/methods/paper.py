"""The paper's method as printed, beside the default one, which `docs/paper.md` compares with it line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.base import Acquisition
from likewise.acquisition.confidence import Mean, Spread, UpperConfidence
from likewise.acquisition.scorer import Scorer
from likewise.errors import StudyError
from likewise.model.committee import Committee, Member
from likewise.model.fit import Settings
from likewise.model.gram_cache import GramCache
from likewise.model.influence import Singular
from likewise.model.regression import regress
from likewise.model.schedule import Data
from likewise.model.spectrum import treat
from likewise.model.targets.transforms import Standardised
from likewise.search.base import Search, SearchState
from likewise.search.choose import choose_search
from likewise.search.equilibria import Followed, follow
from likewise.search.spread import spread
from likewise.search.trajectories import Step
from likewise.similarity.auto.given import Given, as_similarities
from likewise.similarity.base import Similarity, Vector
from likewise.similarity.combine.mix import Mix
from likewise.spaces.base import Enumerable, Generator, Space
from likewise.study.goals import Goals
from likewise.study.methods.base import AllBeliefs, Beliefs, Known, Method, Proposal, Proposer, Told
from likewise.study.methods.batches import complete, first_free, is_used_up, search_state
from likewise.study.methods.committee import INITIAL

if TYPE_CHECKING:
    from likewise.study.study import Study

CHOICES = {
    "strategy": ("two_stage", "top"),
    "step": ("unit", "safeguarded"),
    "singular": ("basic", "minimum_norm"),
}
EXPLOIT, EXPLORE = Mean(), Spread()


@dataclass(frozen=True)
class Paper(Method):
    """Analogical-based Bayesian optimisation as the paper prints it, with its slips put right (`docs/paper.md`).

    noise: the variance σ² of the measurements, in squared units of the values; 0.01 by default.
    kappa: the weight κ of doubt in u₂ = μ + κ√V; 2 by default.
    strategy: how a batch is chosen. "two_stage" (default) is the first strategy: the equilibria of u₁ = μ, and of those
        the n_b of highest variance. "top" is the second: the equilibria of u₂, and of those the n_b of highest u₂.
    step: "unit" (default) is the printed x ← x + ∇u(x). "safeguarded" shrinks a step until u rises, and lets it grow
        after that, so that no trajectory ends below its start.
    singular: the solution where S + σ²I is singular. "basic" (default) is the paper's, by independent rows B and zeros
        elsewhere; "minimum_norm" is the pseudo-inverse.
    initial: observations before the model chooses; until then suggestions are spread out. 5 by default; the paper
        begins with observations at hand.

    One similarity compares the objects, in their own units and with its parameters as given: `RBF(2.0)` has a
    lengthscale of 2 of the space's units here. With "auto" it is the first one that suits the objects, in the range of
    the space; so it is with a lengthscale that is left open, as in `RBF()`. Values are taken as they are, negated where
    they are minimised. Known standard deviations of values are not used, and neither are failures nor what is being
    measured, but that none of these objects is proposed again.

    A trajectory begins at every observation, in the object's own numbers (a `Box`, `Gaussians`, a `Simplex`, a
    `Family`), each step projected onto the space. A similarity without gradients has them by finite differences.
    A trajectory ends when no number moves by more than 1e-10 of its range, or after 200 steps. EQ are
    the distinct ends: those within 1e-4 of the range in every number are one, and the one of highest u stays. Ends that
    the space's `where` forbids are left out. Without gradients, and with whole numbers, trajectories go from neighbour
    to neighbour, drawn by the space's moves, while u rises. In a pool every object is a neighbour: EQ are as many of
    the best objects by u as there are observations.

    EQ may hold fewer than n_b objects that are not measured. The batch is then filled with random objects of the space,
    which come last; their suggestions have the note `filled`, those of equilibria the note `equilibrium`.

    >>> import likewise as lw
    >>> box, f = lw.Box([0.0, 0.0], [10.0, 10.0]), lambda x: -((x[0] - 3) ** 2 + (x[1] - 7) ** 2) / 50
    >>> best = lw.maximize(f, box, lw.RBF(4.0), method=lw.Paper(strategy="top", kappa=0.2), budget=20)
    >>> bool(best.value > -0.01)
    True
    """

    takes_limits: ClassVar[bool] = False

    noise: float = 1e-2
    kappa: float = 2.0
    strategy: Literal["two_stage", "top"] = "two_stage"
    step: Step = "unit"
    singular: Singular = "basic"
    initial: int = INITIAL

    def __post_init__(self) -> None:
        for name, number in (("noise", self.noise), ("kappa", self.kappa)):
            if not (isinstance(number, int | float | np.number) and np.isfinite(number) and number >= 0):
                raise StudyError(f"{name}={number!r} must be a finite number, not below 0")
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise StudyError(f"{name}={getattr(self, name)!r} is unknown; choose {known[0]!r} or {known[1]!r}")

    def similarities(self, given: Given, space: Space, rng: Generator) -> tuple[Similarity, ...]:
        named = as_similarities(given)
        if named is None:
            return (space.differentiate(space.view(space.recognise(rng).similarities[0])),)
        if len(named) > 1:
            raise StudyError(f"the paper compares objects by one similarity, and {len(named)} were given; give one")
        return (space.differentiate(space.view(named[0]) if _is_open(named[0]) else named[0]),)

    def start(self, space: Space, similarities: tuple[Similarity, ...], goals: Goals) -> Proposer:
        if not goals.single:
            raise StudyError(
                "the paper's method has one objective and no constraints; leave method out for several outcomes"
            )
        return PaperProposer(self, space, similarities, goals)

    def describe(self) -> dict[str, Any]:
        return {"method": "paper", **asdict(self)}

    def trajectories(self, study: Study) -> PaperTrajectories:
        """Every trajectory of the next ask of a study with this method, and where they end: EQ.

        They are those of u₁ for the strategy "two_stage", and of u₂ for "top".

        >>> import likewise as lw
        >>> method = lw.Paper()
        >>> study = lw.Study(lw.Box([0.0], [10.0]), lw.RBF(1.5), method=method)
        >>> study.tell_many([([1.0], 0.2), ([4.0], 1.0), ([9.0], 0.6)])
        >>> found = method.trajectories(study)
        >>> len(found.paths), [round(float(x[0]), 1) for x in found.equilibria]
        (3, [9.0, 4.0])
        """
        if study.method != self:
            raise StudyError(f"the study's method is {study.method!r}, not {self!r}; give a study with this method")
        committee, space = study.committee(), study.space
        taken = {space.key(x) for x in committee.objects} | space.excluded
        state = SearchState(space, (), taken, np.random.default_rng(study.seed))
        found = self.follow(committee, state, whole=True)
        u1, u2, std = (self._score(committee, u, found.equilibria) for u in (EXPLOIT, self._bound, EXPLORE))
        starts, ends = [path[0] for path in found.paths], [path[-1] for path in found.paths]
        return PaperTrajectories(starts, found.paths, ends, found.converged, found.equilibria, u1, u2, std**2)

    def follow(
        self, committee: Committee, state: SearchState, search: Search | None = None, *, whole: bool = False
    ) -> Followed:
        """The trajectories from every observation, and EQ in the order in which a batch takes them."""
        first, second = (EXPLOIT, EXPLORE) if self.strategy == "two_stage" else (self._bound, self._bound)
        scorer = Scorer(committee, first, np.zeros(1), novel=False)
        found = follow(scorer, state, committee.objects, self.step, search=search, whole=whole)
        order = np.argsort(-self._score(committee, second, found.equilibria), kind="stable").tolist()
        return Followed(found.paths, found.converged, [found.equilibria[i] for i in order])

    @property
    def _bound(self) -> Acquisition:
        return UpperConfidence(self.kappa)

    @staticmethod
    def _score(committee: Committee, acquisition: Acquisition, objects: Sequence[Any]) -> Vector:
        return Scorer(committee, acquisition, np.zeros(1), novel=False).score(objects) if len(objects) else np.zeros(0)


@dataclass(frozen=True, eq=False)
class PaperTrajectories:
    """The trajectories of the paper's method, on the scale of the values (negated where they are minimised).

    starts: the observations.
    paths: for each start the objects along its trajectory, the start and the end among them.
    ends: where each trajectory ended, equi(x_i).
    converged: whether it came to rest there.
    equilibria: EQ, the distinct ends, in the order in which a batch takes them.
    u1, u2, variance: u₁ = μ, u₂ = μ + κ√V and V at each of EQ.
    """

    starts: list[Any]
    paths: list[list[Any]]
    ends: list[Any]
    converged: NDArray[np.bool_]
    equilibria: list[Any]
    u1: Vector
    u2: Vector
    variance: Vector


@dataclass(eq=False)
class PaperProposer(Proposer):
    """The paper's method at work: it keeps its Gram matrix, and a pool's encodings."""

    method: Paper
    space: Space
    compared: tuple[Similarity, ...]
    goals: Goals
    _grams: GramCache = field(init=False)
    _search: Search | None = field(default=None, init=False)
    _known: tuple[Data, Beliefs] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._grams = GramCache(self.compared)

    def believe(self, told: Told) -> AllBeliefs:
        if self._known is None or not self._known[0].same(told.only):
            self._known = told.only, self._condition(told.only)
        return dict.fromkeys(told.outcomes, self._known[1])

    def check(self, objects: Sequence[Any], known: Sequence[Any]) -> None:
        self._grams.encodings.meet([*known, *objects])

    def propose(self, n: int, known: Known, before: Proposal | None = None) -> Proposal:
        state = search_state(self.space, known, self.goals)
        if is_used_up(state):
            return Proposal([])
        if known.price is not None:
            raise StudyError("the paper's method knows no cost; leave cost and budget out, or method")
        beliefs = self.believe(known.told) if known.told.objects else None
        if beliefs is None or len(known.told.objects) < self.method.initial:
            objects = complete(self._spread(n, known, state), n, state)
            return Proposal(objects, beliefs, [{"stage": "initial"} for _ in objects])
        memory = before.memory if before is not None and before.memory is not None else None
        reached = memory or self.method.follow(_committee(beliefs), state, self._pool_search()).equilibria
        # None is measured again; how near to another it may be is the iteration's business.
        picks = first_free(reached, n, state)
        objects = complete(picks, n, state)
        notes = [{"equilibrium": True}] * len(picks) + [{"filled": True}] * (len(objects) - len(picks))
        return Proposal(objects, beliefs, notes, reached)

    def _condition(self, told: Data) -> Beliefs:
        """S, σ² and y as they are; D by the paper's corollary, or by its row basis where S + σ²I is singular."""
        if told.limits is not None:
            raise StudyError(
                "some values are only limits, and the paper's method takes numbers alone; leave method out"
            )
        # In an order that is the observations' own, so that another order of telling changes nothing.
        order = sorted(range(len(told.objects)), key=lambda i: (self.space.key(told.objects[i]), told.values[i]))
        places = np.array(order, dtype=np.intp)
        used = told.part(places)
        # What a similarity leaves to the data is settled once, on the first observations.
        self._grams.settle(told.objects[: max(2, self.method.initial)])
        gram, noise = self._grams.of(used.objects)[0], np.full(len(order), float(self.method.noise))
        treated, psd = treat(gram.scores, "as_is"), gram.similarity.psd
        regression = regress(treated, used.values, noise, singular=self.method.singular, psd=psd)
        member, ends = Member(Mix((1.0,)), regression, weight=1.0, ratio=0.0), self.goals.ends(self.goals.outcomes[0])
        committee = Committee((gram,), (member,), Standardised(0.0, 1.0).within(*ends), used.values)
        return Beliefs(committee, places, replace(_settings(self.method), bounds=ends))

    def _spread(self, n: int, known: Known, state: SearchState) -> list[Any]:
        search = self._pool_search()
        if search is not None:
            # An object that cannot be compared is an error before anything is measured.
            search.ready(self.compared)
        return spread(n, self.compared, [*known.told.objects, *known.pending], state)

    def _pool_search(self) -> Search | None:
        """The search of a pool, which keeps the scores of all objects."""
        if self._search is None and isinstance(self.space, Enumerable):
            self._search = choose_search(self.space, differentiable=False)
        return self._search


def _committee(beliefs: AllBeliefs) -> Committee:
    (found,) = beliefs.values()
    return found.committee


def _settings(method: Paper) -> Settings:
    """The default method's settings, for judgements that fit a model anew: nothing learnt, mixed or rescaled."""
    return Settings((1.0,), (method.noise,), ("as_is",), mixes=False, learn=False, offset=0.0, rescale=False)


def _is_open(similarity: Similarity) -> bool:
    """Whether a lengthscale is left open, here or in a part; const − d has none."""
    without = getattr(similarity, "lengthscale", 1.0) is None and getattr(similarity, "constant", None) is None
    return without or any(map(_is_open, similarity.parts))
