"""Findings are written down in one step: all or none, one look at the storage, one transaction, however many."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.study.methods.base import AllBeliefs, Known, Method, Proposal, Proposer

WORDS = [a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT"]
ROWS = [(word, float(word.count("A")), 0.1) for word in WORDS[:40]]


def study_of(**options: Any) -> lw.Study:
    return lw.Study(lw.Pool(WORDS), lw.Hamming(), **options)


def results(study: lw.Study) -> list[Any]:
    return [(t.object, t.state, t.value, t.std, t.error) for t in study.trials]


def test_telling_many_is_telling_each() -> None:
    one, many = study_of(), study_of()
    for word, value, std in ROWS:
        one.tell(word, value, std=std)
    many.tell_many(ROWS)
    assert results(many) == results(one)
    for a, b in zip(many.ask(3), one.ask(3), strict=True):
        assert (a.id, a.object) == (b.id, b.object)
        assert (a.mean, a.std) == pytest.approx((b.mean, b.std), abs=1e-9)


@pytest.mark.parametrize("rows", [1, 40])
def test_telling_is_one_transaction_and_one_synchronisation(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, calls = study_of(storage=f"sqlite:///{tmp_path / 's.db'}"), Counter[str]()
    for name in ("reading", "writing"):
        method = getattr(study._log.storage._database, name)  # type: ignore[attr-defined]
        monkeypatch.setattr(
            study._log.storage._database,  # type: ignore[attr-defined]
            name,
            lambda name=name, method=method: (calls.update([name]), method())[1],
        )
    study.tell_many(ROWS[:rows])
    assert calls == {"reading": 1, "writing": 1}


def test_reading_a_table_is_one_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, study = study_of(), study_of()
    told.tell_many(ROWS)
    told.export(tmp_path / "t.csv")
    open_words = [s.object for s in study.ask(2)]
    before = study._log.ledger.revision
    assert study.read(tmp_path / "t.csv") == 40
    assert study._log.ledger.revision == before + 1
    assert study.count(lw.State.TOLD) == 40
    assert study.count(lw.State.ASKED) == len([word for word in open_words if word not in dict.fromkeys(WORDS[:40])])


def test_many_are_told_all_or_none() -> None:
    study = study_of()
    (s,) = study.ask()
    study.tell("AAA" if s.object != "AAA" else "CCC", 1.0)
    before = study.trials
    for bad in ([(s, 1.0), ("CCG", np.nan)], [(s, 1.0), ("no word", 1.0)], [(s, 1.0), (study.trials[1], 2.0)]):
        with pytest.raises(lw.LikewiseError):
            study.tell_many(bad)
        assert study.trials == before
    for row in ("AB", 3.0, ("AAA",), ("AAA", 1.0, 0.1, 4)):
        with pytest.raises(lw.StudyError, match=r"give \(object, value\)"):
            study.tell_many([row])  # type: ignore[list-item]
    with pytest.raises(lw.StudyError, match="twice"):
        study.tell_many([(s, 1.0), (s, 2.0)])


def test_of_an_open_object_told_twice_at_once_the_second_is_a_replicate() -> None:
    study = study_of()
    (s,) = study.ask()
    study.tell_many([(s.object, 1.0), (s.object, 2.0), ("TTT" if s.object != "TTT" else "GGG", 3.0)])
    assert [(t.id, t.value) for t in study.trials] == [(0, 1.0), (1, 2.0), (2, 3.0)]


def test_one_of_many_that_cannot_be_compared_is_named() -> None:
    pytest.importorskip("rdkit")
    study = lw.Study(lw.Custom(lambda rng: "C" * int(rng.integers(1, 6)) + "O"), lw.Tanimoto())
    with pytest.raises(lw.SimilarityError, match="'not a molecule' cannot be compared"):
        study.tell_many([("CCO", 1.0), ("not a molecule", 2.0)])
    assert study.trials == []


class Alphabetical(Method):
    """The first free words, and no committee until there is something to believe."""

    def similarities(self, given: Any, space: Any, rng: Any) -> tuple[lw.Similarity, ...]:
        return (given,)

    def start(self, space: Any, similarities: Any, goals: Any) -> Proposer:
        inner = lw.Study(space, similarities[0])._proposer.inner

        class First(Proposer):
            def propose(self, n: int, known: Known, before: Proposal | None = None) -> Proposal:
                free = [x for x in sorted(space.objects) if space.key(x) not in known.taken]
                beliefs = self.believe(known.told) if known.told.objects else None
                notes = {"told": len(known.told.objects), "pending": len(known.pending)}
                return Proposal(free[:n], beliefs, [notes] * len(free[:n]))

            def believe(self, told: Any) -> AllBeliefs:
                return inner.believe(told)

            def check(self, objects: Any, known: Any) -> None:
                inner.check(objects, known)

        return First()

    def describe(self) -> dict[str, Any]:
        return {"method": "alphabetical"}


def test_a_study_needs_nothing_of_a_method_but_its_protocol() -> None:
    best = lw.maximize(
        lambda word: float(word.count("C")), lw.Pool(WORDS), lw.Hamming(), method=Alphabetical(), budget=8
    )
    study = best.study
    assert [t.object for t in study.trials] == sorted(WORDS)[:8]
    assert [t.summary["told"] for t in study.trials] == list(range(8))
    assert study._log.openings == [{"method": "alphabetical", "seed": 0, "similarity": ["Hamming"]}]
    assert "mean" in study.trials[-1].summary
    assert len(study.predict(["TTT"]).mean) == 1


def test_a_method_and_options_of_the_default_one_do_not_go_together() -> None:
    with pytest.raises(lw.StudyError, match="options of the default method"):
        study_of(method=Alphabetical(), initial=3)
    with pytest.raises(lw.StudyError, match="no Method"):
        study_of(method="paper")


class Counted(lw.Similarity):
    """The similarity of words by their letters, which counts how often each word is encoded."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def encode(self, objects: Any) -> Any:
        self.counts.update(objects)
        return np.array([[word.count(letter) for letter in "ACGT"] for word in objects], dtype=float)

    def between(self, a: Any, b: Any) -> Any:
        return np.exp(-np.abs(a[:, None] - b[None]).sum(axis=2))

    def within(self, a: Any) -> Any:
        return np.ones(len(a))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_what_is_told_is_encoded_once(one_by_one: bool) -> None:
    similarity = Counted()
    study = lw.Study(lw.Strings("ACGT", 3), similarity)
    for some in [[row] for row in ROWS] if one_by_one else [ROWS]:
        study.tell_many(some)
    study.committee()
    study.diagnose()
    study.tell("TTT", 0.0)
    study.committee()
    assert set(similarity.counts) == {*WORDS[:40], "TTT"}
    assert set(similarity.counts.values()) == {1}


def test_an_ask_encodes_the_pool_once_and_its_picks_once_more() -> None:
    similarity = Counted()
    study = lw.Study(lw.Pool(WORDS), similarity)
    study.tell_many(ROWS)
    found = study.ask(4)
    assert len(WORDS) + len(ROWS) + 2 * len(found) - 1 >= similarity.counts.total()
    before = similarity.counts.total()
    study.tell_many([(s, 1.0) for s in found])
    study.ask(4)
    assert similarity.counts.total() - before <= 3 * len(found)


def test_an_object_is_written_out_only_where_its_value_is_refused() -> None:
    class Shy(str):
        def __repr__(self) -> str:
            raise AssertionError("nobody has to read this")

    study = lw.Study(lw.Pool(["ab", "ac", "bc"]), lw.Hamming())
    study.tell(Shy("ab"), 1.0, std=0.1)
    assert study.best_value == 1.0
