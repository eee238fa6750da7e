"""Batches within a budget: what they promise, and what is left unspent."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections import Counter
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.acquisitions import LogExpectedImprovement
from likewise.acquisition.scorer import Priced, Scorer
from likewise.search.base import Found
from likewise.search.batch import NEGLIGIBLE, pick_within

PLACES = [{"a": float(a), "b": float(b)} for a, b in np.random.default_rng(0).random((200, 2)).round(3)]


def height(x: Any) -> float:
    return float(10 * np.exp(-20 * ((x["a"] - 0.7) ** 2 + (x["b"] - 0.3) ** 2)) + 3 * x["a"])


def price(x: Any) -> float:
    return float(1 + 80 * x["a"] ** 2)


def prices(objects: Any) -> np.ndarray:
    return np.array([price(x) for x in objects])


def told(seed: int) -> lw.Study:
    study = lw.Study(lw.Pool(PLACES), lw.Matern(), seed=seed)
    some = np.random.default_rng(seed).permutation(len(PLACES))[:12].tolist()
    study.tell_many([(PLACES[i], height(PLACES[i])) for i in some])
    return study


def gains(study: lw.Study, objects: list[Any]) -> list[float]:
    """What each object promises with those before it in flight."""
    scorer, found = Scorer.on(study.committee(), LogExpectedImprovement()), []
    for x in objects:
        found.append(float(np.exp(scorer.score([x])[0])))
        scorer = scorer.with_pending([x])
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("budget", [20.0, 60.0, 500.0])
def test_nothing_is_bought_that_adds_next_to_nothing(seed: int, budget: float) -> None:
    study = told(seed)
    asked = [s.object for s in study.ask(8, cost=price, budget=budget)]
    assert sum(map(price, asked)) <= budget
    each = gains(study, asked)
    assert all(own >= 0.99 * NEGLIGIBLE * sum(each[:i]) for i, own in enumerate(each))


def test_without_a_budget_there_are_as_many_as_asked_for() -> None:
    assert len(told(0).ask(40, cost=price)) == 40


@pytest.mark.parametrize("seed", range(4))
def test_a_large_budget_buys_what_promises_most_and_not_what_is_cheap(seed: int) -> None:
    """As much as an ask without a price, for which the budget is enough."""
    study = told(seed)
    bought = sum(gains(study, [s.object for s in study.ask(4, cost=price, budget=1000.0)]))
    asked = [s.object for s in told(seed).ask(4)]
    assert sum(map(price, asked)) <= 1000.0
    assert bought >= 0.97 * sum(gains(study, asked))


def as_function(prices: dict[int, float]) -> Any:
    return lambda x: prices[PLACES.index(x)]


def as_computed(prices: dict[int, float]) -> Any:
    return lw.Computed(as_function(prices))


@pytest.mark.parametrize("form", [as_function, as_computed])
@pytest.mark.parametrize("budget", [5.0, 20.0])
def test_prices_are_those_of_the_ask(form: Any, budget: float) -> None:
    """The same function, whose prices have changed: what has become dear is not bought."""
    study, prices = told(0), dict.fromkeys(range(len(PLACES)), 1.0)
    cost = form(prices)
    first = [s.object for s in study.ask(3, cost=cost, budget=budget)]
    assert first
    study.abandon()
    prices.update({PLACES.index(x): 100.0 for x in first})
    second = [s.object for s in study.ask(3, cost=cost, budget=budget)]
    assert second
    assert not any(x in first for x in second)


def test_prices_by_a_mapping_are_those_of_the_ask() -> None:
    words = ["".join(letters) for letters in itertools.product("ACGT", repeat=3)]
    study, prices = lw.Study(lw.Pool(words), lw.Hamming()), dict.fromkeys(words, 1.0)
    study.tell_many([(word, float(word.count("A"))) for word in words[5:60:7]])
    (first,) = study.ask(1, cost=prices, budget=2.0)
    study.abandon()
    prices[first.object] = 3.0
    (second,) = study.ask(1, cost=prices, budget=2.0)
    assert second.object != first.object


def test_a_price_is_computed_once_for_each_object_of_an_ask_and_then_forgotten() -> None:
    study, alive = told(0), []
    for number in range(6):
        calls = Counter[int]()

        def cost(x: Any, calls: Counter[int] = calls, share: float = 1.0 + number) -> float:
            calls[PLACES.index(x)] += 1
            return share * price(x)

        alive.append(weakref.ref(cost))
        bought = study.ask(2, cost=cost, budget=300.0)
        # Those that are bought, or nearly, are paid for as well.
        assert sum(calls.values()) <= len(PLACES) + 8 * (len(bought) + 1)
        del cost
    gc.collect()
    assert sum(reference() is not None for reference in alive) <= 1


def test_of_a_cheap_trifle_and_a_dear_prize_the_prize_is_bought() -> None:
    """By gain for cost alone the trifle comes first, and then there is not enough left for the prize."""

    class Fixed(Priced):
        def score(self, objects: Any) -> Any:
            return self._per_cost(np.log([{"trifle": 0.1, "prize": 5.0}[x] for x in objects]), self.costs(objects))

        def with_pending(self, objects: Any) -> Any:
            return self

    class Every:
        def equilibria(self, scorer: Any, state: Any, *, last: Any = None, most: Any = None) -> Any:
            objects = [x for x in ("trifle", "prize") if x not in state.bought]
            scores = scorer.score(objects) if objects else np.zeros(0)
            order = [i for i in np.argsort(-scores).tolist() if np.isfinite(scores[i])]
            return Found([objects[i] for i in order], scores[order])

    class State:
        def __init__(self, bought: tuple[str, ...] = ()) -> None:
            self.bought = bought

        def without(self, objects: Any) -> State:
            return State((*self.bought, *objects))

    costs = {"trifle": 1.0, "prize": 100.0}
    scorer = Fixed(None, lambda objects: np.array([costs[x] for x in objects]), 100.0)  # type: ignore[arg-type]
    assert pick_within(2, scorer, Every(), State()) == ["prize"]  # type: ignore[arg-type]
