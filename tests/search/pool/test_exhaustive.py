"""A pool is searched as if every object were scored: whatever is bounded, kept, divided or lost."""

from __future__ import annotations

import gc
import itertools
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.acquisition.acquisitions import Acquisition, Care, Slopes, Spread
from likewise.acquisition.feasibility import chance
from likewise.acquisition.scorer import Scorer
from likewise.errors import SpaceError
from likewise.model.committee import Committee, Member
from likewise.model.model import Data, Model
from likewise.model.regression import regress
from likewise.model.scores import Gram
from likewise.model.spectrum import SPECTRA, treat
from likewise.model.transforms import Standardised
from likewise.search.base import SearchState
from likewise.search.pool import exhaustive
from likewise.search.pool import exhaustive as partitions
from likewise.search.pool.bounds import PoolBeliefs
from likewise.search.pool.exhaustive import ExhaustiveSearch, Partition
from likewise.search.pool.scores import Compared, Contenders, Query, ScoreColumns, join_entries, merge
from likewise.similarity import parallel
from likewise.similarity.algebra import Mix
from likewise.similarity.features import packed, packed_sizes
from likewise.spaces import pool_encodings as spaces_encoded

N = 600


class Odd(Acquisition):
    """Worth that falls with doubt, and has no bound."""

    def score(self, mean: Any, std: Any, best: float) -> Any:
        return mean - std

    def slopes(self, mean: Any, std: Any, best: float) -> Slopes:
        return Slopes(mean - std, np.ones_like(mean), -np.ones_like(mean))


ACQUISITIONS: list[Acquisition] = [
    lw.LogExpectedImprovement(),
    lw.UpperConfidence(1.5),
    lw.ProbabilityOfImprovement(),
    lw.Mean(),
    Spread(),
    Odd(),
]


class Indefinite(lw.Similarity):
    """exp(−|x − y|) dented by a cosine: symmetric, in [0, 1], far from PSD."""

    def encode(self, objects: Sequence[Any]) -> Any:
        return np.array(objects, dtype=float)

    def between(self, a: Any, b: Any) -> Any:
        apart = np.abs(a[:, None, :] - b[None, :, :]).sum(axis=2)
        return np.exp(-apart) * (0.5 + 0.5 * np.cos(6.0 * apart))

    def within(self, a: Any) -> Any:
        return np.ones(len(a))


SIMILARITIES: list[lw.Similarity] = [lw.RBF(0.4), lw.Matern(0.7), Indefinite()]


def committee(
    rng: np.random.Generator, objects: Sequence[Any], values: Any, size: int, spectra: Sequence[str] = SPECTRA
) -> Committee:
    grams = tuple(Gram.of(similarity, objects) for similarity in SIMILARITIES)
    members = []
    for share in rng.dirichlet(np.ones(size)):
        weights = tuple(float(w) for w in rng.choice([(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.3, 0.0, 0.7)]))
        mix = Mix(weights, float(rng.choice([0.5, 1.0, 2.0])), float(rng.choice([0.0, 0.2])))
        ratio, amplitude, psd = float(rng.choice([1e-3, 1e-1])), float(rng.uniform(0.5, 2.0)), mix.psd(SIMILARITIES)
        scores = mix.scores([gram.scores for gram in grams])
        treatment = treat(scores, str(rng.choice(spectra)), psd=psd)  # type: ignore[arg-type]
        noise = np.full(len(values), ratio * amplitude)
        regression = regress(treatment, values, noise, amplitude, float(rng.normal()), psd=psd)
        members.append(Member(mix, regression, float(share), ratio))
    return Committee(grams, tuple(members), Standardised(0.0, 1.0))


def lone(mix: Mix, grams: Sequence[Gram], values: Any, ratio: float) -> Member:
    """A member that is all of its committee."""
    psd = mix.psd([gram.similarity for gram in grams])
    treatment = treat(mix.scores([gram.scores for gram in grams]), psd=psd)
    return Member(mix, regress(treatment, values, np.full(len(values), ratio), psd=psd), 1.0, ratio)


def problem(seed: int, observed: int = 12) -> tuple[np.random.Generator, lw.Pool, list[Any], Any]:
    rng = np.random.default_rng(seed)
    pool = lw.Pool([tuple(x) for x in rng.random((N, 2)).tolist()])
    some = [pool.objects[i] for i in rng.choice(N, size=observed, replace=False)]
    return rng, pool, some, rng.normal(size=observed)


def query(scorer: Scorer, taken: Sequence[int] = (), seed: int = 0, versions: int = 0) -> Query:
    t = len(scorer.committee)
    pending = tuple(range(t, len(next(iter(scorer.committee.waiting.values()), scorer.committee.grams[0]))))
    failures = () if scorer.feasibility is None else tuple(range(1000, 1000 + len(scorer.feasibility.committee)))
    held = np.array(sorted(taken), dtype=np.intp)
    known = dict.fromkeys(range(3), versions)
    chance = () if scorer.feasibility is None else (Compared(failures, (), known),)
    return Query(scorer, (Compared(tuple(range(t)), pending, known), *chance), held, seed)


def check(found: Contenders, direct: Any, taken: Sequence[int], most: int, *, close: float = 1e-6) -> None:
    free = np.setdiff1d(np.arange(len(direct)), taken)
    best = np.sort(direct[free])[::-1][:most]
    np.testing.assert_allclose(found.scores, best, rtol=close, atol=close)
    np.testing.assert_allclose(direct[found.rows], found.scores, rtol=close, atol=close)
    assert len(set(found.rows.tolist())) == len(found.rows)
    assert not set(found.rows.tolist()) & set(taken)
    others = np.setdiff1d(free, found.rows)
    assert found.rest >= direct[others].max(initial=-np.inf) - close * (1.0 + abs(found.rest))


@given(
    seed=st.integers(0, 10_000),
    acquisition=st.sampled_from(ACQUISITIONS),
    members=st.integers(1, 4),
    pending=st.integers(0, 2),
    precise=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_the_best_rows_are_those_of_scoring_all(
    seed: int, acquisition: Acquisition, members: int, pending: int, precise: bool
) -> None:
    rng, pool, objects, values = problem(seed)
    # Single precision is for what is well-conditioned; the search looks at contenders in double precision again.
    spectra = SPECTRA if precise else ("clip", "flip")
    scorer = Scorer.on(committee(rng, objects, values, members, spectra), acquisition)
    flying = rng.choice(N, size=pending, replace=False).tolist()
    scorer = scorer.with_pending([pool.objects[i] for i in flying])
    taken = rng.choice(N, size=20, replace=False).tolist()
    if not precise:
        # What is in flight is never proposed; next to no variance is left to it, which single precision cannot tell.
        taken += flying
    one = Partition.of(pool.objects, total=N if precise else 10**6)
    found = one.contenders(query(scorer, taken), 16)
    check(found, scorer.score(pool.objects), taken, 16, close=1e-6 if precise else 2e-3)


@given(seed=st.integers(0, 10_000), acquisition=st.sampled_from(ACQUISITIONS), similarity=st.integers(0, 2))
@settings(max_examples=15, deadline=None)
def test_what_is_kept_from_earlier_asks_changes_no_answer(seed: int, acquisition: Acquisition, similarity: int) -> None:
    _rng, pool, objects, values = problem(seed, observed=20)
    one = Partition.of(pool.objects)
    weights = tuple(float(k == similarity) for k in range(3))
    for t, ratio in ((5, 1e-2), (9, 1e-2), (14, 1e-3), (20, 1e-2)):
        grams = tuple(Gram.of(similarity, objects[:t]) for similarity in SIMILARITIES)
        member = lone(Mix(weights), grams, values[:t], ratio)
        scorer = Scorer.on(Committee(grams, (member,), Standardised(0.0, 1.0)), acquisition)
        check(one.contenders(query(scorer), 8), scorer.score(pool.objects), [], 8)
        # As after an ask that needed tight bounds, whatever rows it scored.
        one._likely = np.arange(0, N, 5 + t)


@given(seed=st.integers(0, 10_000), members=st.integers(1, 3), precise=st.booleans())
@settings(max_examples=25, deadline=None)
def test_tight_bounds_are_bounds(seed: int, members: int, precise: bool) -> None:
    rng, pool, objects, values = problem(seed, observed=30)
    spectra = SPECTRA if precise else ("clip", "flip")
    # Twice the same object is twice its number.
    objects, values = [*objects, *objects[:3]], np.concatenate([values, values[:3] + 0.1])
    scorer = Scorer.on(committee(rng, objects, values, members, spectra), lw.LogExpectedImprovement())
    compared = Compared((*range(30), 0, 1, 2), (), dict.fromkeys(range(3), 0))
    asked = replace(query(scorer), compared=(compared,))
    one = Partition.of(pool.objects, total=N if precise else 10**6)
    check(one.contenders(asked, 16), scorer.score(pool.objects), [], 16, close=1e-6 if precise else 2e-3)
    direct = scorer.score(pool.objects)
    fresh = Partition.of(pool.objects, total=N if precise else 10**6)
    fresh._prepare(asked)
    fresh.bounds.prepare(asked)
    (chunk,) = fresh.chunks
    loose = fresh.bounds.scores(asked, chunk, {}, 0, Care.FAIR)
    for fine in (False, True):
        made = fresh._projections(asked, np.arange(N), fine=fine)
        tight = fresh.bounds.scores(asked, chunk, made, 0, Care.FAIR)
        assert np.all(tight >= direct - 2e-3 * (1.0 + np.abs(direct)))
        assert np.all(tight <= loose + 2e-3 * (1.0 + np.abs(loose)))
        assert np.all(fresh.bounds.scores(asked, chunk, made, 0, Care.ROUGH) >= tight)
        loose = tight


@pytest.mark.parametrize("on_disk", [False, True])
def test_columns_of_objects_that_no_longer_count_are_forgotten(tmp_path: Path, on_disk: bool) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((100, 7))
    columns = ScoreColumns(7, np.float64)
    for start in range(0, 100, 9):
        columns.append(range(start, min(start + 9, 100)), scores[start : start + 9])
        if on_disk:
            columns.spill(tmp_path / "x.columns")
    for _ in range(2):
        columns = columns.only(range(99, -1, -3))
        columns.append([200], scores[:1])
        numbers = [99, 3, 6, 30, 200]
        np.testing.assert_array_equal(columns.of(numbers), scores[[99, 3, 6, 30, 0]])
        weights = rng.normal(size=(2, 5))
        np.testing.assert_allclose(columns.sums(numbers, weights), weights @ scores[[99, 3, 6, 30, 0]])
        columns = columns.only(numbers[:4])
    assert len(list(tmp_path.iterdir())) == on_disk


@given(seed=st.integers(0, 10_000), cuts=st.lists(st.integers(1, N - 1), min_size=1, max_size=4, unique=True))
@settings(max_examples=10, deadline=None)
def test_a_divided_pool_answers_as_a_whole_one(seed: int, cuts: list[int]) -> None:
    rng, pool, objects, values = problem(seed)
    scorer = Scorer.on(committee(rng, objects, values, 2), ACQUISITIONS[seed % 5])
    asked = query(scorer, rng.choice(N, size=5, replace=False).tolist(), seed)
    whole = Partition.of(pool.objects)
    edges = [0, *sorted(cuts), N]
    parts = [Partition.of(pool.objects[a:b], a, total=N) for a, b in itertools.pairwise(edges)]
    sent = pickle.loads(pickle.dumps(asked.lean()))
    expected = whole.contenders(asked, 32)
    found = merge([part.contenders(sent, 32) for part in parts], asked, 32)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-9)
    places = [np.flatnonzero((found.rows >= p.first) & (found.rows < p.first + p.size)) for p in parts]
    pieces = [(at, p.entries(sent, found.rows[at])) for at, p in zip(places, parts, strict=True) if len(at)]
    for k, scores in whole.entries(asked, expected.rows).scores.items():
        np.testing.assert_allclose(join_entries(pieces).scores[k], scores, rtol=1e-9)


def test_a_partition_that_lost_everything_answers_the_same() -> None:
    rng, pool, objects, values = problem(3, observed=20)
    scorers = [Scorer.on(committee(rng, objects[:t], values[:t], 3), ACQUISITIONS[0]) for t in (10, 20)]
    old, new = Partition.of(pool.objects), Partition.of(pool.objects)
    old.contenders(query(scorers[0], versions=0), 16)
    a, b = (p.contenders(query(scorers[1], versions=1), 16) for p in (old, new))
    np.testing.assert_array_equal(a.rows, b.rows)


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_few_variances_are_computed_when_the_bounds_hold(monkeypatch: pytest.MonkeyPatch, offset: float) -> None:
    rng = np.random.default_rng(0)
    pool = lw.Pool([tuple(x) for x in rng.random((20_000, 2)).tolist()])
    objects = [pool.objects[i] for i in range(30)]
    values = np.array([np.sin(6 * x) + y for x, y in objects])
    one, seen, score = Partition.of(pool.objects), list[int](), PoolBeliefs.scores

    def counted(beliefs: PoolBeliefs, scorer: Scorer, most: int, before: Any) -> Any:
        seen.append(beliefs.moments[0][0].shape[1])
        return score(beliefs, scorer, most, before)

    monkeypatch.setattr(PoolBeliefs, "scores", counted)
    for t in (28, 30):
        gram = Gram.of(lw.RBF(0.3), objects[:t])
        member = lone(Mix((1.0,), 1.0, offset), [gram], values[:t], 1e-2)
        scorer = Scorer.on(Committee((gram,), (member,), Standardised(0.0, 1.0)), ACQUISITIONS[0])
        seen.clear()
        found = one.contenders(query(scorer), 16)
        check(found, scorer.score(pool.objects), [], 16, close=1e-4)
    assert sum(seen) < len(pool) / 10


def test_few_rows_are_scored_though_none_was_bounded_before() -> None:
    rng = np.random.default_rng(0)
    pool = lw.Pool([tuple(x) for x in rng.random((2000, 2)).tolist()])
    objects = [pool.objects[i] for i in range(30)]
    gram = Gram.of(lw.RBF(0.3), objects)
    member = lone(Mix((1.0,)), [gram], np.array([np.sin(6 * x) + y for x, y in objects]), 1e-2)
    scorer = Scorer.on(Committee((gram,), (member,), Standardised(0.0, 1.0)), ACQUISITIONS[0])
    entries = Partition.of(pool.objects).entries(query(scorer), np.arange(30, 2000))
    beliefs = PoolBeliefs.of(scorer, entries)
    scores, ceilings = beliefs.scores(scorer, 16, np.zeros(0))
    exact, scored = beliefs.exact_scores(scorer), np.isfinite(scores)
    assert scored.sum() < 200
    np.testing.assert_allclose(scores[scored], exact[scored], rtol=1e-12)
    np.testing.assert_array_equal(np.argsort(-scores)[:16], np.argsort(-exact)[:16])
    assert np.all(ceilings >= exact - 1e-9)


def test_equal_objects_are_drawn_by_the_seed() -> None:
    pool = lw.Pool(list(range(400)))
    data = Data([0, 1], np.array([0.0, 1.0]), None)
    same = lw.from_function(lambda x, y: 1.0 if x == y else 0.1, psd=True)
    model = Model((same,))
    fitted = model.committee(data)[0]
    scorer = Scorer.on(fitted, ACQUISITIONS[0])
    picks = set()
    for seed in range(8):
        search = ExhaustiveSearch.over(pool, pool.key)
        state = SearchState(pool, [], {pool.key(0), pool.key(1)}, np.random.default_rng(seed))
        batch = lw.Sequential().pick(4, scorer, search, state, [])
        assert len({0, 1, *batch}) == 6
        picks.add(tuple(batch))
    assert len(picks) == 8


@pytest.mark.parametrize("failed", [False, True])
def test_a_batch_is_that_of_scoring_the_whole_pool_for_each_pick(failed: bool) -> None:
    rng, pool, _, _ = problem(5)
    told = Data([pool.objects[i] for i in range(12)], rng.normal(size=12), None)
    model = Model((lw.RBF(0.3), lw.Matern(0.5)))
    fitted = model.committee(told)[0]
    feasible = chance(fitted, model.grams, told, [pool.objects[i] for i in (20, 30, 40)]) if failed else None
    for acquisition in ACQUISITIONS:
        scorer = Scorer.on(fitted, acquisition, feasible)
        taken = {pool.key(pool.objects[i]) for i in range(12)}
        state = SearchState(pool, [], taken, np.random.default_rng(0))
        picks = lw.Sequential().pick(5, scorer, ExhaustiveSearch.over(pool, pool.key), state, [])
        direct: list[Any] = []
        for _ in range(5):
            scores = scorer.with_pending(direct).score(pool.objects)
            scores[[i for i, x in enumerate(pool.objects) if pool.key(x) in taken or x in direct]] = -np.inf
            direct.append(pool.objects[int(np.argmax(scores))])
        assert picks == direct


@given(seed=st.integers(0, 10_000), spectrum=st.sampled_from(SPECTRA), pending=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_what_is_pending_explains_a_sum_over_columns(seed: int, spectrum: str, pending: int) -> None:
    rng, pool, objects, values = problem(seed)
    believed = committee(rng, objects, values, 2, [spectrum])
    flying = believed.with_pending([pool.objects[i] for i in rng.choice(N, size=pending, replace=False)])
    encodings = flying.encode(pool.objects)
    rows = flying.rows(encodings)
    selves = flying.selves(encodings)
    before, after = believed.moments(believed.rows(encodings), selves)[1], flying.moments(rows, selves)[1]
    for i, member in enumerate(flying.members):
        assert member.pending is not None
        fall = member.regression.amplitude * ((member.mix.scores(rows) @ member.pending.factor.T) ** 2).sum(axis=1)
        least = member.regression.amplitude * member.regression.treatment.floor
        np.testing.assert_allclose(np.maximum(before[i] - fall, least), after[i], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("precise", [True, False])
@pytest.mark.parametrize("similarity", [lw.RBF(0.3), Indefinite()])
def test_picks_that_no_shortlist_holds_are_found_in_the_pool(
    monkeypatch: pytest.MonkeyPatch, precise: bool, similarity: lw.Similarity
) -> None:
    """One contender for each pick: the pool is searched anew whenever another row may be better."""
    monkeypatch.setattr(exhaustive, "EACH", 1)
    monkeypatch.setattr(exhaustive, "CONTENDERS", 1)
    if not precise:
        monkeypatch.setattr(exhaustive, "PRECISE", 0)
    rng, pool, _, _ = problem(8)
    told = Data([pool.objects[i] for i in range(12)], rng.normal(size=12), None)
    fitted = Model((similarity,)).committee(told)[0]
    scorer = Scorer.on(fitted, lw.LogExpectedImprovement())
    state = SearchState(pool, [], {pool.key(x) for x in told.objects}, np.random.default_rng(0))
    search = ExhaustiveSearch.over(pool, pool.key)
    # Again with others in flight, as when another worker was faster: nothing that was kept for the first may mislead.
    for flying in ([], [pool.objects[100]], [pool.objects[101], pool.objects[102]]):
        picks = lw.Sequential().pick(5, scorer, search, state, flying)
        before = list(flying)
        for pick in picks:
            scores = scorer.with_pending(before).score(pool.objects)
            scores[[pool.index(x) for x in (*told.objects, *before[len(flying) :])]] = -np.inf
            assert scores[pool.index(pick)] >= scores.max() - 1e-5 * abs(scores.max())
            before.append(pick)


@pytest.mark.parametrize("cached", [False, True])
def test_a_pool_beyond_its_memory_answers_from_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    monkeypatch.setattr(parallel, "PIECE", 64)
    for module in (partitions, spaces_encoded):
        monkeypatch.setattr(module, "CHUNK", 128)
    rng = np.random.default_rng(0)
    points = [tuple(x) for x in rng.random((700, 2)).tolist()]

    def asked(**options: Any) -> tuple[list[Any], Any]:
        study = lw.Study(lw.Pool(points, **options), [lw.RBF(0.3), lw.Matern(0.5)], seed=1)
        found = []
        for _ in range(4):
            for s in study.ask(3):
                found.append(s.object)
                study.tell(s, float(np.sin(5 * s.object[0]) + s.object[1]))
        return found, study._proposer.inner.search

    cache = {"cache": tmp_path / "cache"} if cached else {}
    small, search = asked(memory=100_000, **cache)
    assert small == asked()[0]
    kept = search.partitions
    assert sum(chunk.nbytes for chunk in kept.chunks) <= 100_000
    assert any(column.path for chunk in kept.chunks for column in chunk.columns.values())
    folder = kept._folder
    assert folder.exists()
    del kept, search
    gc.collect()
    assert not folder.exists()


def test_too_little_memory_is_named() -> None:
    study = lw.Study(lw.Pool([(i / 10, 0.0) for i in range(100)], memory=1000), lw.RBF(0.3), initial=1)
    study.tell((0.1, 0.0), 1.0)
    with pytest.raises(SpaceError, match=r"memory=1000 bytes is too little for 100 objects.*at least 1 MB"):
        study.ask()


@pytest.mark.parametrize("seed", range(6))
def test_large_pools_suggest_what_scoring_all_of_them_would(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Five thousand objects, with the single precision and the chunks of larger pools.
    monkeypatch.setattr(exhaustive, "PRECISE", 0)
    for module in (partitions, spaces_encoded):
        monkeypatch.setattr(module, "CHUNK", 2048)
    rng = np.random.default_rng(seed)
    bits = rng.random((5000, 64)) < rng.uniform(0.1, 0.4, size=64)
    pool, worth = lw.Pool(range(5000)), bits @ np.linspace(-1, 1, 64)
    model = Model((Stored(bits),))
    told = Data(list(pool.objects[:25]), worth[:25], None)
    fitted = model.committee(told)[0]
    scorer = Scorer.on(fitted, lw.LogExpectedImprovement())
    state = SearchState(pool, [], {pool.key(x) for x in told.objects}, np.random.default_rng(seed))
    search = ExhaustiveSearch.over(pool, pool.key)
    found = search.equilibria(scorer, state)
    direct = scorer.score(pool.objects)
    direct[:25] = -np.inf
    np.testing.assert_allclose(found.scores, np.sort(direct)[::-1][: len(found.scores)], rtol=1e-4)
    picks = lw.Sequential().pick(3, scorer, search, state, [])
    expected: list[Any] = []
    for pick in picks:
        scores = scorer.with_pending(expected).score(pool.objects)
        scores[[pool.index(x) for x in (*told.objects, *expected)]] = -np.inf
        assert scores[pool.index(pick)] >= scores.max() - 1e-6 * abs(scores.max())
        expected.append(pick)


class Stored(lw.Jaccard):
    """Jaccard of rows of bits; an object is the number of its row."""

    def __init__(self, bits: Any) -> None:
        object.__setattr__(self, "words", packed(bits))

    def encode(self, objects: Sequence[Any]) -> Any:
        found = self.words[np.array(objects, dtype=np.intp)]  # type: ignore[attr-defined]
        return found, packed_sizes(found)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.5])
def test_a_score_that_is_none_is_named_by_its_objects(wrong: float) -> None:
    def alike(x: int, y: int) -> float:
        return wrong if 77 in (x, y) and x != y else float(np.exp(-abs(x - y)))

    study = lw.Study(lw.Pool(range(100)), alike, initial=1, seed=1)
    for x in (3, 5):
        study.tell(x, float(x))
    with pytest.raises(lw.SimilarityError, match=rf"S\((77, [35]|[35], 77)\) = {wrong}"):
        study.ask()


def test_a_pool_in_which_nothing_is_worth_anything_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["".join(letters) for letters in itertools.product("abcd", repeat=5)]
    worth = np.random.default_rng(0).normal(size=(5, 4))
    values = {x: float(sum(worth[i, "abcd".index(c)] for i, c in enumerate(x))) for x in words}
    asked: list[str] = []
    contenders = Partition.contenders

    def count(partition: Partition, query: Query, most: int) -> Contenders:
        asked.append(type(query.scorer.acquisition).__name__)
        return contenders(partition, query, most)

    def picks() -> list[str]:
        asked.clear()
        study = lw.Study(lw.Pool(words), lw.Hamming(), seed=0)
        study.tell_many([(x, values[x]) for x in dict.fromkeys([*words[::7], max(words, key=values.__getitem__)])])
        return [s.object for s in study.ask(4)]

    monkeypatch.setattr(Partition, "contenders", count)
    found = picks()
    assert asked.count("LogExpectedImprovement") == 1
    assert asked.count("LeastKnown") > 0
    monkeypatch.setattr(ExhaustiveSearch, "_vain", property(lambda search: None, lambda search, query: None))
    assert picks() == found
    assert asked.count("LogExpectedImprovement") == 4
