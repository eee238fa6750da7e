"""Many workers ask at once: none gets what another evaluates, and who loses a race does not begin anew."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.model.model import Model
from likewise.search.base import Found, Search, SearchState
from likewise.search.gradient import GradientSearch
from likewise.study.ask import Asking

WORDS = ["".join(letters) for letters in itertools.product("ab", repeat=6)]
BOX = lw.Box([0.0, -1.0], [1.0, 1.0])


def alike(x: str, y: str) -> float:
    return sum(a == b for a, b in zip(x, y, strict=True)) / 6


def score(word: str) -> float:
    return word.count("a") - 0.3 * word.count("ab")


def hill(x: Any) -> float:
    return -float((x[0] - 0.3) ** 2 + 0.5 * (x[1] - 0.2) ** 2)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


def of_words(**options: Any) -> lw.Study:
    return lw.Study(lw.Pool(WORDS), alike, **{"seed": 1, **options})


def of_vectors(**options: Any) -> lw.Study:
    return lw.Study(BOX, lw.RBF(), **{"seed": 1, **options})


def tell_words(study: lw.Study) -> None:
    for word in WORDS[3:40:3]:
        study.tell(word, score(word))


def tell_vectors(study: lw.Study) -> None:
    for x in BOX.sample(8, np.random.default_rng(0)):
        study.tell(x, hill(x))


def overtake(
    study: lw.Study, times: int, meanwhile: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> list[Any]:
    """So many times, something else happens between this study's proposal and its writing it down."""
    claim, seen = Asking._claim, []

    def late(asking: Asking, suggestions: Any, *rest: Any) -> Any:
        if asking.log is study._log and len(seen) < times:
            seen.append(meanwhile(suggestions))
        return claim(asking, suggestions, *rest)

    monkeypatch.setattr(Asking, "_claim", late)
    return seen


def in_flight(study: lw.Study) -> list[Any]:
    return [t.object for t in study.trials if t.state is lw.State.ASKED]


@pytest.mark.parametrize("replicates", [False, True])
def test_who_loses_races_gets_what_one_gets_who_asks_for_as_many(
    replicates: bool, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, one, two = of_words(), of_words(storage=url), of_words(storage=url)
    for study in (alone, one):
        tell_words(study)
    taken = overtake(one, 3, lambda _: two.ask(replicates=replicates)[0].object, monkeypatch)
    (s,) = one.ask(replicates=replicates)
    assert [*taken, s.object] == [s.object for s in alone.ask(4, replicates=replicates)]
    assert sorted(in_flight(one)) == sorted([*taken, s.object])


@pytest.mark.parametrize("make", [of_words, of_vectors])
def test_who_loses_races_neither_fits_nor_searches_from_the_start_again(
    make: Callable[..., lw.Study], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if what the others took is told by then."""
    one, two = make(storage=url), make(storage=url)
    (tell_words if make is of_words else tell_vectors)(one)
    work: Counter[str] = Counter()

    def take(suggestions: Any) -> Any:
        x = suggestions[0].object
        two.tell(x, 0.5)
        return x

    taken = overtake(one, 4, take, monkeypatch)
    model = one._proposer.inner.models["value"]
    fit = model._fit_now
    search = GradientSearch() if make is of_vectors else one._proposer.inner.search_for(differentiable=False)
    monkeypatch.setattr(
        one._proposer.inner.models["value"], "_fit_now", lambda *data: work.update(["fit"]) or fit(*data)
    )
    one._proposer.inner.search = Counted(search, work)
    (s,) = one.ask()
    assert len(taken) == 4
    assert work["fit"] == work["search"] == 1
    assert work["again"] == 4
    assert one.space.key(s.object) not in {one.space.key(x) for x in taken}


class Counted(Search):
    """A search that counts how often it begins anew and goes on."""

    def __init__(self, search: Search, work: Counter[str]) -> None:
        self.search, self.work = search, work

    def equilibria(
        self, scorer: Any, state: SearchState, *, last: Found | None = None, most: int | None = None
    ) -> Found:
        self.work["search" if last is None else "again"] += 1
        return self.search.equilibria(scorer, state, last=last, most=most)


def test_an_ask_fits_once_whatever_is_told_meanwhile(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = of_words(storage=url), of_words(storage=url)
    tell_words(one)
    fitted: list[int] = []
    fit, propose = Model._fit_now, one._proposer.inner.search_for

    def counted(model: Model, grams: Any, data: Any, treatments: Any) -> Any:
        fitted.append(len(data.values))
        return fit(model, grams, data, treatments)

    def slow(differentiable: bool) -> Any:
        two.tell("bbbbbb", 0.0)
        return propose(differentiable)

    monkeypatch.setattr(Model, "_fit_now", counted)
    monkeypatch.setattr(one._proposer.inner, "search_for", slow)
    one.ask()
    assert fitted == [13]


def test_of_a_batch_only_what_was_lost_is_chosen_anew(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = of_words(storage=url), of_words(storage=url)
    tell_words(one)
    wanted = [s.object for s in two.ask(3)]
    two.abandon()
    overtake(one, 1, lambda _: two.tell(wanted[1], 1.0), monkeypatch)
    got = [s.object for s in one.ask(3)]
    assert got[:2] == [wanted[0], wanted[2]]
    assert got[2] not in wanted
    assert in_flight(one) == got


def test_replicates_of_several_workers_are_never_of_an_object_in_flight(url: str) -> None:
    """Four workers, on their own connections, ask as quickly as they can, in a pool that is measured but for a few."""
    first = of_words(storage=url)
    for word in WORDS[:60]:
        first.tell(word, score(word))
    workers = [of_words(storage=url) for _ in range(4)]
    ready = threading.Barrier(4)
    handed: list[str] = []

    def work(study: lw.Study) -> None:
        ready.wait()
        for _ in range(5):
            handed.extend(s.object for s in study.ask(replicates=True))

    threads = [threading.Thread(target=work, args=(study,)) for study in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(handed) == len(set(handed)) == 20
    assert sorted(in_flight(first)) == sorted(handed)


def test_a_pool_of_replicates_that_are_all_in_flight_has_nothing_to_ask(url: str) -> None:
    one, two = (lw.Study(lw.Pool(WORDS[:3]), alike, storage=url) for _ in range(2))
    for word in WORDS[:3]:
        one.tell(word, score(word))
    assert sorted(s.object for s in one.ask(5, replicates=True)) == sorted(WORDS[:3])
    assert two.ask(replicates=True) == []
