"""The paper's method as printed, beside the default one, which `docs/paper.md` compares with it line by line.

Its trajectories to equilibria, and its geometry: projection and rejection in feature space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from likewise.acquisition.acquisitions import Acquisition, Mean, Spread, UpperConfidence
from likewise.acquisition.scorer import Scorer
from likewise.errors import StudyError
from likewise.model.committee import Committee, Member
from likewise.model.fit import FitSettings
from likewise.model.model import Data
from likewise.model.regression import regress
from likewise.model.scores import Gram, GramCache
from likewise.model.solvers import Singular
from likewise.model.spectrum import treat
from likewise.model.transforms import Standardised
from likewise.search.base import Search, SearchState, best_distinct
from likewise.search.choose import choose_search
from likewise.search.climbing import climb_moves, free_scores
from likewise.search.gradient import Indices, Step, ascend, distinct, iterate
from likewise.search.initial_design import spread
from likewise.similarity.algebra import Mix
from likewise.similarity.auto import Given, as_similarities
from likewise.similarity.base import Function, Matrix, Similarity, Vector
from likewise.similarity.functions import as_similarity
from likewise.spaces.base import Enumerable, Generator, Moves, OwnNumbers, Space
from likewise.study.goals import Goals
from likewise.study.methods.base import AllBeliefs, Beliefs, Known, Method, Proposal, Proposer, Told
from likewise.study.methods.committee import INITIAL, complete, first_free, is_used_up, search_state

if TYPE_CHECKING:
    from likewise.study.study import Study

# The geometric view: projection and rejection in feature space (Theorems 1 and 3 of the paper).
#
# For a PSD kernel K̃ = K + σ²·1[same observation] has a feature map Φ̃. The influence p(x) holds the coefficients of
# the projection of Φ̃(x) onto the span of the observed Φ̃(x_i), the mean is ⟨p, y⟩, and the variance is ‖R(x)‖² − σ²
# with the rejection R(x) = Φ̃(x) − P(x). The paper prints ‖R‖ − σ and σ·1[·]; the squares are right (errata 1, 2).
#
# For any symmetric S the *empirical* feature map Φ_e(x_i) = row i of S + σ²I takes the place of Φ̃, and the influence
# is again the projection's coefficients (Theorem 3).


def feature_map(kernel: Matrix) -> Matrix:
    """Features whose inner products are the entries of a PSD matrix: one row per object.

    >>> k = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> bool(np.allclose(feature_map(k) @ feature_map(k).T, k))
    True
    """
    levels, basis = np.linalg.eigh(kernel)
    return basis * np.sqrt(np.maximum(levels, 0.0))


def coefficients(features: Vector | Matrix, observed: Matrix) -> Vector | Matrix:
    """p with P(x) = Σ_i p_i(x) Φ(x_i): the shortest least-squares solution, for one feature vector or one in each row.

    For the features of a PSD kernel p(x) = K_x K_σ⁻¹ (Theorem 1), for empirical ones it is the influence (Theorem 3).
    """
    rows = np.atleast_2d(np.asarray(features, dtype=float))
    solution = np.linalg.lstsq(np.asarray(observed, dtype=float).T, rows.T, rcond=None)[0].T
    return np.asarray(solution if np.ndim(features) == 2 else solution[0], dtype=np.float64)


def project(features: Vector | Matrix, observed: Matrix) -> Vector | Matrix:
    """P(x) = Σ_i p_i(x) Φ(x_i), the projection of Φ(x) onto the span of the observed Φ(x_i) (Theorems 1 and 3).

    `features` is Φ(x), or one in each row; `observed` has a Φ(x_i) in each row, by `empirical_features` for instance.

    >>> project(np.array([2.0, 3.0]), np.array([[1.0, 0.0]])).tolist()
    [2.0, 0.0]
    """
    return np.asarray(coefficients(features, observed) @ np.asarray(observed, dtype=float))


def reject(features: Vector | Matrix, observed: Matrix) -> Vector | Matrix:
    """R(x) = Φ(x) − P(x), what of Φ(x) the observed Φ(x_i) do not span (Theorem 1).

    For a PSD kernel with Φ̃ the variance is V(x) = ‖R(x)‖² − σ².

    features: Φ(x), or one in each row.
    observed: has a Φ(x_i) in each row.

    >>> reject(np.array([2.0, 3.0]), np.array([[1.0, 0.0]])).tolist()
    [0.0, 3.0]
    """
    return np.asarray(np.asarray(features, dtype=float) - project(features, observed))


def geometric_posterior(kernel: Matrix, values: Vector, noise: float) -> tuple[float, float]:
    """Mean ⟨p, y⟩ and variance ‖R‖² − σ² at the last object of a kernel matrix, from the others' values (Theorem 1).

    >>> k = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> mean, variance = geometric_posterior(k, np.array([2.0]), noise=1.0)
    >>> round(mean, 6), round(variance, 6)
    (0.5, 0.875)
    """
    features = feature_map(kernel + noise * np.eye(len(kernel)))
    rejection = reject(features[-1], features[:-1])
    return float(coefficients(features[-1], features[:-1]) @ values), float(rejection @ rejection - noise)


def empirical_features(
    similarity: Similarity | Function,
    observed: Sequence[Any],
    objects: Sequence[Any] | None = None,
    noise: float = 1e-2,
) -> Matrix:
    """Φ_e(x) = [S(x, x_i) + σ²·1[x is observation i]]_i, one row for each object.

    `similarity` is a similarity, or a plain function of two objects.
    `observed` are the observed objects x_i.
    `objects` are new ones, whose features are S_x; by default the observed ones, with the rows of S + σ²I.
    `noise` is the variance σ², in squared units of the values.

    >>> empirical_features(lambda x, y: min(x, y), [1.0, 2.0], noise=0.5).tolist()
    [[1.5, 1.0], [1.0, 2.5]]
    >>> empirical_features(lambda x, y: min(x, y), [1.0, 2.0], [3.0]).tolist()
    [[1.0, 2.0]]
    """
    gram = Gram.of(as_similarity(similarity), list(observed))
    if objects is None:
        return gram.scores + noise * np.eye(len(gram))
    return gram.rows(gram.similarity.encode(list(objects)))


# The paper's trajectories: one from every observation, to the point where it rests, equi(x_i).
#
# - Where the space has numbers and the similarity gradients, x ← x + ∇u(x) in the object's own numbers and units, each
#   step projected onto the space.
# - Where the space has moves, from neighbour to neighbour as long as that is better, and off measured objects at once.
# - Where objects can only be listed or drawn, each is every other's neighbour: the trajectories end at the best free
#   objects, the best observation's at the best of them, the second's at the second, and so on.

# The paper names no end of its iteration: a trajectory has at most so many steps.
STEPS = 200
# As shares of the range of each number: a trajectory rests when it moves by less, and ends that are closer are one.
REST, SAME = 1e-10, 1e-4


@dataclass(frozen=True, eq=False)
class Followed:
    """Trajectories, one from each start: where each went, whether it came to rest, and the distinct ends, best first.

    Paths are whole where they were asked for, and otherwise the start and the end.
    """

    paths: list[list[Any]]
    converged: NDArray[np.bool_]
    equilibria: list[Any]


def follow(
    scorer: Scorer,
    state: SearchState,
    starts: Sequence[Any],
    step: Step,
    *,
    search: Search | None = None,
    whole: bool = False,
) -> Followed:
    """The trajectories of a score from these starts, in the way that suits the space.

    `search` is that of a pool, where it is at hand; `whole` asks for whole paths.
    """
    if has_own_numbers(state.space, differentiable=scorer.committee.differentiable):
        return _by_gradients(scorer, state, starts, step, whole)
    if isinstance(state.space, Moves) and not isinstance(state.space, Enumerable):
        climbed = climb_moves(scorer, state, starts, free_scores(scorer, state, list(starts)), STEPS)
        ends = [path[-1] for path in climbed.paths]
        return Followed(climbed.paths, climbed.rested, _different(scorer, state, ends))
    return _by_listing(scorer, state, starts, search or choose_search(state.space, differentiable=False))


def has_own_numbers(space: Space, *, differentiable: bool) -> bool:
    """Whether trajectories follow gradients: whole numbers do not, as a step below one half would be undone."""
    return differentiable and isinstance(space, OwnNumbers) and not space.stepped


def _by_gradients(scorer: Scorer, state: SearchState, starts: Sequence[Any], step: Step, whole: bool) -> Followed:
    space = cast(OwnNumbers, state.space)
    visited: list[Matrix] = []
    # Those of the last projection, which are compared next.
    objects: list[Any] = []

    def linearise(numbers: Matrix, which: Indices) -> tuple[Vector, Callable[[], Matrix]]:
        return scorer.linearise(objects)

    def project(numbers: Matrix) -> Matrix:
        objects[:] = space.from_numbers(numbers)
        return space.to_numbers(objects)

    begin = space.to_numbers(list(starts))
    visit, rest = visited.append if whole else None, REST * space.spans
    if step == "unit":
        ended = iterate(linearise, begin, project, most_steps=STEPS, tolerance=rest, visit=visit)
    else:
        # The first step is the printed one; as it has to raise u, none is too long.
        options: dict[str, Any] = {"most_steps": STEPS, "tolerance": rest, "visit": visit}
        ended = ascend(linearise, begin, project, first=1.0, largest=np.inf, **options)
    ends = space.from_numbers(ended.vectors)
    paths = _paths(space, visited) if whole else [[x, y] for x, y in zip(starts, ends, strict=True)]
    allowed = np.flatnonzero(state.space.allowed(ends))
    apart = distinct(ended.vectors[allowed] / space.spans, ended.scores[allowed], SAME)
    return Followed(paths, ended.converged, [ends[i] for i in allowed[apart].tolist()])


def _paths(space: OwnNumbers, visited: list[Matrix]) -> list[list[Any]]:
    """The objects along each trajectory, up to the last that moved."""
    places = np.stack(visited, axis=1)
    moving = np.any(np.diff(places, axis=1) != 0, axis=2)
    steps = [int(row.nonzero()[0][-1]) + 1 if row.any() else 0 for row in moving]
    return [space.from_numbers(path[: last + 1]) for path, last in zip(places, steps, strict=True)]


def _by_listing(scorer: Scorer, state: SearchState, starts: Sequence[Any], search: Search) -> Followed:
    best = search.equilibria(scorer, state).objects[: len(starts)]
    rank = np.argsort(np.argsort(-scorer.score(list(starts)), kind="stable"), kind="stable").tolist()
    paths = [[x, best[i]] if i < len(best) else [x] for x, i in zip(starts, rank, strict=True)]
    return Followed(paths, np.ones(len(paths), dtype=bool), best)


def _different(scorer: Scorer, state: SearchState, ends: list[Any]) -> list[Any]:
    """The different ends, best first, without those that are taken."""
    return best_distinct(ends, scorer.score(ends), state).objects if ends else []


# The paper's method as printed, beside the default one, which `docs/paper.md` compares with it line by line.

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
        for name, choice in CHOICES.items():
            if getattr(self, name) not in choice:
                raise StudyError(f"{name}={getattr(self, name)!r} is unknown; choose {choice[0]!r} or {choice[1]!r}")

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
        followed = self.follow(committee, state, whole=True)
        u1, u2, std = (self._score(committee, u, followed.equilibria) for u in (EXPLOIT, self._bound, EXPLORE))
        starts, ends = [path[0] for path in followed.paths], [path[-1] for path in followed.paths]
        return PaperTrajectories(starts, followed.paths, ends, followed.converged, followed.equilibria, u1, u2, std**2)

    def follow(
        self, committee: Committee, state: SearchState, search: Search | None = None, *, whole: bool = False
    ) -> Followed:
        """The trajectories from every observation, and EQ in the order in which a batch takes them."""
        first, second = (EXPLOIT, EXPLORE) if self.strategy == "two_stage" else (self._bound, self._bound)
        scorer = Scorer(committee, first, np.zeros(1), novel=False)
        followed = follow(scorer, state, committee.objects, self.step, search=search, whole=whole)
        order = np.argsort(-self._score(committee, second, followed.equilibria), kind="stable").tolist()
        return Followed(followed.paths, followed.converged, [followed.equilibria[i] for i in order])

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


def _settings(method: Paper) -> FitSettings:
    """The default method's settings, for judgements that fit a model anew: nothing learnt, mixed or rescaled."""
    return FitSettings((1.0,), (method.noise,), ("as_is",), mixes=False, learn=False, offset=0.0, rescale=False)


def _is_open(similarity: Similarity) -> bool:
    """Whether a lengthscale is left open, here or in a part; const − d has none."""
    without = getattr(similarity, "lengthscale", 1.0) is None and getattr(similarity, "constant", None) is None
    return without or any(map(_is_open, similarity.parts))
