"""Pools of studies with several outcomes: the answer is that of scoring every row, whole, in parts, on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.acquisition.joint_scorer import JointScorer
from likewise.acquisition.scorer import Certain, Priced, ScoredOutcome
from likewise.model.fit import FitSettings, fit
from likewise.model.scores import GramCache
from likewise.search.pool import exhaustive as partitions
from likewise.search.pool.bounds import PoolBeliefs
from likewise.search.pool.exhaustive import Partition
from likewise.search.pool.scores import Compared, Query, merge

rng = np.random.default_rng(0)
WORDS = sorted({"".join(rng.choice(list("ACGT"), 7)) for _ in range(1500)})
N = len(WORDS)


def price(objects: Any) -> Any:
    return -np.array([float(word.count("G")) for word in objects])


def values(word: str, seed: int) -> float:
    weights = np.random.default_rng(seed).normal(size=(7, 4))
    return float(sum(weights[i, "ACGT".index(c)] for i, c in enumerate(word)))


def outcomes(count: int, partial: bool, high: float = np.inf) -> list[ScoredOutcome]:
    """Outcomes that share similarities, or, where they are partial, have some objects of their own."""
    grams = GramCache((lw.Hamming(), lw.NGrams()))
    observed, made = WORDS[:: N // 25], []
    for j in range(count):
        objects = observed[j:] if partial else observed
        data = np.array([values(word, j) for word in objects])
        limits = FitSettings(learn=False, bounds=(-np.inf, high))
        made.append(ScoredOutcome(fit(grams.of(objects), data, settings=limits), j < 2))
    return made[:2] + [ScoredOutcome(one.committee, False, (-0.5, np.inf)) for one in made[2:]]


def query(scorer: JointScorer, seed: int = 0, words: Sequence[str] = WORDS) -> Query:
    place = {id(word): i for i, word in enumerate(words)}

    def compared(committee: Any) -> Compared:
        objects = next(iter(committee.waiting.values()), committee.grams[0]).objects
        numbers = tuple(place[id(word)] for word in objects)
        return Compared(numbers[: len(committee)], numbers[len(committee) :], {0: 0, 1: 0})

    known = tuple(function(words) for function in scorer.known)
    taken = np.array(sorted(place[id(x)] for x in scorer.committees[0].objects), dtype=np.intp)
    return Query(scorer, tuple(map(compared, scorer.committees)), taken, seed, known)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("certain", [False, True])
@pytest.mark.parametrize("high", [np.inf, 4.5])
def test_the_best_rows_are_those_of_scoring_all(count: int, partial: bool, certain: bool, high: float) -> None:
    facts = [Certain(price, 1.0)] if certain else []
    scorer = JointScorer.on(outcomes(count, partial, high), facts)
    whole = Partition.of(WORDS, total=10**6)
    halves = [Partition.of(WORDS[:600], 0, total=10**6), Partition.of(WORDS[600:], 600, total=10**6)]
    for pending in ([], WORDS[3:5], WORDS[700:701]):
        scorer = scorer.with_pending(pending)
        asked = query(scorer)
        direct = scorer.score(WORDS)
        direct[asked.taken] = -np.inf
        found = whole.contenders(asked, 16)
        np.testing.assert_allclose(np.sort(found.scores)[::-1], np.sort(direct)[::-1][:16], rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(direct[found.rows], found.scores, rtol=2e-3, atol=2e-3)
        assert np.delete(direct, found.rows).max() <= found.rest + 2e-3
        parts = merge([half.contenders(asked, 16) for half in halves], asked, 16)
        assert set(parts.rows.tolist()) == set(found.rows.tolist())


@pytest.mark.parametrize("memory", [None, 3_000_000])
def test_few_rows_of_all_combinations_are_scored_for_each_pick(
    monkeypatch: pytest.MonkeyPatch, memory: int | None
) -> None:
    """Where nearly everything is known, scores are so low that all but tight bounds exceed them."""
    words = ["".join(letters) for letters in product("ACGT", repeat=7)]
    truth = np.array([[values(word, j) for word in words] for j in range(2)])
    truth += np.random.default_rng(2).normal(0.0, 0.1, truth.shape)
    ends = [int(np.argmax((1.0 - share) * truth[0] + share * truth[1])) for share in np.linspace(0.0, 1.0, 21)]
    rows = np.union1d(np.random.default_rng(1).choice(len(words), 60, replace=False), ends).tolist()
    grams, observed = GramCache((lw.Hamming(),)), [words[i] for i in rows]
    made = [ScoredOutcome(fit(grams.of(observed), own[rows], settings=FitSettings(learn=False)), True) for own in truth]
    scorer, whole = JointScorer.on(made), Partition.of(words, total=10**6, memory=memory)
    halves = [Partition.of(words[:9000], 0, total=10**6), Partition.of(words[9000:], 9000, total=10**6)]
    seen, score, picks = list[int](), PoolBeliefs.scores, list[int]()

    def counted(beliefs: PoolBeliefs, *about: Any) -> Any:
        seen.append(beliefs.moments[0][0].shape[1])
        return score(beliefs, *about)

    for _ in range(5):
        asked = query(scorer, words=words)
        asked = replace(asked, taken=np.union1d(asked.taken, picks).astype(np.intp))
        direct = scorer.score(words)
        direct[asked.taken] = -np.inf
        monkeypatch.setattr(PoolBeliefs, "scores", counted)
        found = whole.contenders(asked, 16)
        monkeypatch.setattr(PoolBeliefs, "scores", score)
        best = int(np.argmax(direct))
        np.testing.assert_allclose(found.scores[0], direct[best], rtol=2e-3)
        np.testing.assert_allclose(np.sort(direct)[::-1][:16], direct[found.rows], rtol=2e-3)
        np.testing.assert_array_equal(
            merge([half.contenders(asked, 16) for half in halves], asked, 16).rows, found.rows
        )
        picks.append(best)
        scorer = scorer.with_pending([words[best]])

    assert sum(seen) < len(words) / 2


@pytest.mark.parametrize("how", ["disk", "cost"])
def test_a_study_answers_the_same_however_its_pool_is_kept(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Single precision, on disk beyond a budget of memory, with a budget of money."""
    monkeypatch.setattr(partitions, "PRECISE", 0)
    options: dict[str, Any] = {"cost": lambda word: 1.0 + word.count("A"), "budget": 9.0} if how == "cost" else {}

    def asked(pool: lw.Pool) -> Any:
        goals: dict[str, Any] = {"a": "maximize", "b": "minimize"}
        study = lw.Study(
            pool, [lw.Hamming(), lw.NGrams()], objectives=goals, constraints={"c": lw.AtLeast(0.0)}, seed=2
        )
        study.tell_many([(w, {name: values(w, j) for j, name in enumerate("abc")}) for w in WORDS[::60]])
        found = []
        for _ in range(2):
            batch = study.ask(5, **options)
            found += [s.object for s in batch]
            for s in batch:
                study.tell(s, {name: values(s.object, j) for j, name in enumerate("abc")})
        return found

    plain = asked(lw.Pool(WORDS))
    if how == "disk":
        assert asked(lw.Pool(WORDS, memory=1_000_000)) == plain
    monkeypatch.setattr(partitions, "PRECISE", 1 << 14)
    assert asked(lw.Pool(WORDS)) == plain


def test_committees_that_share_a_similarity_share_its_columns() -> None:
    scorer = JointScorer.on(outcomes(3, partial=True))
    one = Partition.of(WORDS, total=10**6)
    one.contenders(query(scorer), 16)
    (chunk,) = one.chunks
    assert set(chunk.columns) <= {(0, 0), (1, 0)}
    assert all(len(columns.places) == 26 for columns in chunk.columns.values())


@pytest.mark.parametrize("priced", [False, True])
def test_a_query_that_was_sent_is_answered_the_same(priced: bool) -> None:
    """As over a network: without objects and matrices, and what is certain comes with the rows."""
    pickling = pytest.importorskip("distributed.protocol.pickle", reason="distributed is not installed")
    joint = JointScorer.on(outcomes(3, partial=True), [Certain(price, 1.0)]).with_pending(WORDS[3:5])
    asked = query(joint)
    if priced:
        scorer = Priced(joint, lambda objects: 1.0 - price(objects), 3.0)
        asked = Query(scorer, asked.compared, asked.taken, 0, tuple(known(WORDS) for known in scorer.known))
    here = Partition.of(WORDS, total=10**6).contenders(asked, 16)
    sent = pickling.loads(pickling.dumps(asked.lean()))
    there = Partition.of(WORDS, total=10**6).contenders(sent, 16)
    np.testing.assert_array_equal(here.rows, there.rows)
    np.testing.assert_array_equal(here.scores, there.scores)
    assert np.all(asked.known[-1][here.rows] <= 3.0) or not priced
