"""Batches: distinct, full, and each strategy picks what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.acquisitions import Mean, Spread
from likewise.acquisition.scorer import Scorer
from likewise.model.fit import fit
from likewise.model.scores import Gram
from likewise.search.base import SearchState
from likewise.search.batch import fill_up
from likewise.search.gradient import GradientSearch
from likewise.search.pool.exhaustive import ExhaustiveSearch

STRATEGIES = [lw.Sequential(), lw.TwoStage(), lw.TopScore(), lw.Thompson()]


def setting(d=2, seed=0, t=12):
    rng = np.random.default_rng(seed)
    box = lw.Box(np.zeros(d), np.ones(d))
    x = rng.random((t, d))
    y = np.sin(5 * x).sum(axis=1)
    committee = fit([Gram.of(box.view(lw.RBF()), list(x))], y)
    scorer = Scorer.on(committee, lw.LogExpectedImprovement())
    best_first = [x[i] for i in np.argsort(-y)]
    return scorer, SearchState(box, best_first, {box.key(v) for v in x}, rng)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("n", [1, 5, 30])
def test_a_batch_is_full_and_holds_no_object_twice(strategy, n):
    scorer, state = setting()
    picks = strategy.pick(n, scorer, GradientSearch(), state, [])
    keys = {state.space.key(x) for x in picks}
    assert len(picks) == len(keys) == n
    assert not keys & state.taken
    assert all(x in state.space for x in picks)


def test_two_stage_takes_the_equilibria_of_the_mean_with_the_most_variance():
    scorer, state = setting(seed=4)
    search = GradientSearch()
    twin = replace(state, rng=np.random.default_rng(1))
    found = search.thorough().equilibria(replace(scorer.with_pending([]), acquisition=Mean()), twin)
    n = min(3, len(found.objects))
    spread = replace(scorer, acquisition=Spread()).score(found.objects)
    expected = [found.objects[i] for i in np.argsort(-spread, kind="stable")[:n]]
    picks = lw.TwoStage().pick(n, scorer, search, replace(state, rng=np.random.default_rng(1)), [])
    np.testing.assert_allclose(np.array(picks), np.array(expected))


def test_top_score_takes_the_equilibria_of_the_upper_bound_with_the_highest_bound():
    scorer, state = setting(seed=5)
    picks = lw.TopScore(kappa=2.0).pick(3, scorer, GradientSearch(), state, [])
    bound = replace(scorer, acquisition=lw.UpperConfidence(2.0))
    scores = bound.score(picks)
    assert np.all(np.diff(scores) <= 1e-12)
    random = np.random.default_rng(0).random((2000, 2))
    assert scores[0] >= bound.score(list(random)).max() - 1e-3


def test_sequential_picks_spread_out_where_the_best_points_crowd():
    scorer, state = setting(seed=6)
    picks = np.array(lw.Sequential().pick(4, scorer, GradientSearch(), state, []))
    gaps = np.abs(picks[:, None] - picks[None]).max(axis=2)[np.triu_indices(4, 1)]
    assert gaps.min() > 0.002


def test_pending_objects_are_not_suggested_and_push_others_away():
    scorer, state = setting(seed=7)
    first = lw.Sequential().pick(1, scorer, GradientSearch(), state, [])[0]
    second = lw.Sequential().pick(
        1, scorer, GradientSearch(), replace(state, taken=state.taken | {state.space.key(first)}), [first]
    )[0]
    assert np.abs(first - second).max() > 1e-2


def test_filling_a_space_that_is_used_up_gives_what_there_is():
    pool = lw.Pool(["a", "b", "c"])
    state = SearchState(pool, [], {pool.key("a")}, np.random.default_rng(0))
    assert sorted(fill_up([], 5, state)) == ["b", "c"]


def test_rescoring_contenders_equals_rescoring_the_pool():
    rng = np.random.default_rng(2)
    x = [tuple(v) for v in rng.random((1500, 2))]
    pool = lw.Pool(x)
    y = np.sin(5 * np.array(x[:15])).sum(axis=1)
    committee = fit([Gram.of(lw.RBF(0.3), x[:15])], y)
    scorer = Scorer.on(committee, lw.LogExpectedImprovement())
    state = SearchState(pool, x[:15], {pool.key(v) for v in x[:15]}, np.random.default_rng(0))
    picks = lw.Sequential().pick(6, scorer, ExhaustiveSearch.over(pool, pool.key), state, [])
    taken, slow = set(state.taken), []
    for _ in range(6):
        free = [v for v in x if pool.key(v) not in taken]
        slow.append(free[int(np.argmax(scorer.with_pending(slow).score(free)))])
        taken.add(pool.key(slow[-1]))
    assert [pool.key(v) for v in picks] == [pool.key(v) for v in slow]


def test_wide_boxes_are_searched_in_two_stages_unless_one_says_otherwise(monkeypatch):
    """Which strategy picks, by dimension and by what was given by hand."""
    used = []
    for strategy in (lw.Sequential, lw.TwoStage):
        pick = strategy.pick
        monkeypatch.setattr(
            strategy, "pick", lambda self, *given, pick=pick: (used.append(self), pick(self, *given))[1]
        )

    def strategy_of(d, n, **options):
        used.clear()
        study = lw.Study(lw.Box(np.zeros(d), np.ones(d)), seed=0, initial=2, **options)
        for x in np.random.default_rng(0).random((4, d)):
            study.tell(x, float(x.sum()))
        assert len(study.ask(n)) == n
        return used

    assert strategy_of(30, 3) == [lw.TwoStage()]
    assert strategy_of(30, 1) == [lw.TwoStage()]
    assert strategy_of(10, 3) == [lw.Sequential()]
    assert strategy_of(30, 3, strategy=lw.Sequential()) == [lw.Sequential()]
    assert strategy_of(30, 3, acquisition=lw.UpperConfidence()) == [lw.Sequential()]
