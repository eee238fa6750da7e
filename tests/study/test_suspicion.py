"""What a user hears of a bad measurement, and that a true winner is not overlooked."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.errors import SuspectWarning
from likewise.study.record.suspicion import REPEAT

WORDS = [a + b + c for a in "abcd" for b in "abcd" for c in "abcd"]


def _yield(word: str) -> float:
    return 20.0 * word.count("a") + 7.0 * word.count("b") + 3.0 * (word[0] == "c")


def _study(n: int = 20, bad: float | None = 8971.0, **options: Any) -> tuple[lw.Study, list[str]]:
    study = lw.Study(lw.Pool(WORDS), **options)
    words = np.random.default_rng(0).permutation(WORDS)[: n + 1].tolist()
    study.tell_many([(word, _yield(word)) for word in words[:n]])
    if bad is not None:
        with pytest.warns(SuspectWarning, match="bad measurement.*once more"):
            study.tell(words[n], bad)
    return study, words


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_typo_leads_nobody_astray(direction: Any) -> None:
    study, words = _study(direction=direction)
    found = study.predict(WORDS)
    assert np.all((found.mean > -20.0) & (found.mean < 80.0))
    assert np.all(found.std < 40.0)
    assert study.count(lw.State.TOLD) == 21
    note = " ".join(study.diagnose().notes)
    assert "8971" in note
    assert repr(words[20]) in note


def test_the_warning_comes_once_and_again_for_another() -> None:
    study, words = _study()
    others = [word for word in WORDS if word not in words]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.tell(others[0], _yield(others[0]))
        study.tell(words[0], _yield(words[0]))
    with pytest.warns(SuspectWarning, match="-4000"):
        study.tell(others[1], -4000.0)


def test_what_would_be_the_best_is_asked_for_again_and_then_believed_or_not() -> None:
    for again, believed in ((8960.0, True), (31.0, False)):
        study, words = _study()
        first, second = study.ask(2)
        assert first.object == words[20]
        assert first.notes["stage"] == REPEAT
        assert second.object not in words
        assert words[20] not in [s.object for s in study.ask(2)]
        study.tell(first, again)
        assert (study.predict([words[20]]).mean[0] > 1000.0) == believed
        assert words[20] not in [s.object for s in study.ask(2)]
        assert bool(study.committee().suspects) is not believed


def test_what_would_be_the_worst_is_not_asked_for_again() -> None:
    study, words = _study(bad=-4000.0)
    assert words[20] not in [s.object for s in study.ask(3)]


def test_a_needle_is_found_and_confirmed() -> None:
    def f(word: str) -> float:
        return 5000.0 if word == "dcb" else _yield(word)

    study = lw.Study(lw.Pool(WORDS), lw.Hamming())
    study.tell_many([(word, f(word)) for word in WORDS[::4]])
    with pytest.warns(SuspectWarning):
        study.tell("dcb", f("dcb"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspectWarning)
        study.optimize(f, budget=3)
    assert study.committee().suspects == ()
    assert study.recommend()[0].object == "dcb"


def test_a_stored_study_and_another_worker_think_the_same(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study, words = _study(storage=url)
    again = lw.Study(lw.Pool(WORDS), storage=url)
    assert [one.object for one in again.committee().suspects] == [words[20]]
    assert again.ask()[0].object == words[20]
    assert study.ask()[0].object != words[20]
    assert np.allclose(study.predict(WORDS[:5]), again.predict(WORDS[:5]))


def test_the_papers_method_takes_every_value_as_it_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study, words = _study(bad=None, similarity=lw.Hamming(), method=lw.Paper(noise=0.1))
        study.tell(words[20], 8971.0)
    assert study.committee().suspects == ()


def test_a_tell_fits_no_committee_and_suspects_whom_the_committee_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from likewise.model.schedule import Model
    from likewise.study.observations import observations

    fits: list[int] = []
    fit_now = Model._fit_now

    def count(model: Model, *given: Any) -> Any:
        fits.append(1)
        return fit_now(model, *given)

    monkeypatch.setattr(Model, "_fit_now", count)
    study, words = _study()
    others = [word for word in WORDS if word not in words]
    with pytest.warns(SuspectWarning, match="-4000"):
        study.tell(others[0], -4000.0)
    assert not fits
    told = observations(study._ledger, study.goals)
    suspected = study._proposer.suspects(told)["value"]
    assert sorted(told.outcomes["value"].values[suspected]) == [-4000.0, 8971.0]
    assert suspected == [one.place for one in study.committee().suspects]
    assert fits


def test_a_far_value_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    study, words = _study()
    looked: list[Any] = []
    monkeypatch.setattr(type(study._proposer), "suspects", lambda proposer, told: looked.append(told) or {"value": []})
    others = [word for word in WORDS if word not in words]
    study.tell(others[0], _yield(others[0]))
    assert not looked
    study.tell(others[1], -4000.0)
    assert looked


def test_what_later_values_make_suspect_is_said_at_the_next_ask() -> None:
    words = np.random.default_rng(2).permutation(WORDS).tolist()
    study = lw.Study(lw.Pool(WORDS), lw.Hamming(), seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.tell_many([*((word, _yield(word)) for word in words[:7]), (words[7], 300.0)])
        assert study.committee().suspects == ()
        study.tell_many([(word, _yield(word)) for word in words[8:30]])
    with pytest.warns(SuspectWarning, match="300.*once more") as warned:
        study.ask()
    assert [one.filename for one in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.ask()
