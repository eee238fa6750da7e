"""A value far from all others is named, once, and stays: what is told is believed."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import likewise as lw

WORDS = [a + b + c for a in "abcd" for b in "abcd" for c in "abcd"]


def _yield(word: str) -> float:
    return 20.0 * word.count("a") + 7.0 * word.count("b") + 3.0 * (word[0] == "c")


def _study(n: int = 20, bad: float | None = 8971.0, **options: Any) -> tuple[lw.Study, list[str]]:
    study = lw.Study(lw.Pool(WORDS), **options)
    words = np.random.default_rng(0).permutation(WORDS)[: n + 1].tolist()
    study.tell_many([(word, _yield(word)) for word in words[:n]])
    if bad is not None:
        with pytest.warns(lw.SuspectWarning, match="far from all other values.*amend"):
            study.tell(words[n], bad)
    return study, words


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_it_is_named_and_counts(direction: Any) -> None:
    study, words = _study(direction=direction)
    assert [trial.object for trial in study.suspects()] == [words[20]]
    note = " ".join(study.diagnose().notes)
    assert "8971" in note
    assert repr(words[20]) in note
    assert len(study.committee()) == 21
    assert study.count(lw.State.TOLD) == 21
    assert (study.best.object == words[20]) is (direction == "maximize")


def test_the_warning_comes_once_and_again_for_another() -> None:
    study, words = _study()
    others = [word for word in WORDS if word not in words]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.tell(others[0], _yield(others[0]))
        study.tell(words[0], _yield(words[0]))
        assert words[20] not in [s.object for s in study.ask(3)]
    with pytest.warns(lw.SuspectWarning, match="-4000") as warned:
        study.tell(others[1], -4000.0)
    assert [one.filename for one in warned] == [__file__]


def test_a_process_that_resumes_names_it_at_its_first_ask(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study, words = _study(storage=url)
    again = lw.Study(lw.Pool(WORDS), storage=url)
    assert [trial.object for trial in again.suspects()] == [words[20]]
    with pytest.warns(lw.SuspectWarning, match="8971") as warned:
        again.ask()
    assert [one.filename for one in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.ask()
    assert np.allclose(study.predict(WORDS[:5]), again.predict(WORDS[:5]))


def test_what_later_values_make_far_is_said_at_the_next_ask() -> None:
    words = np.random.default_rng(2).permutation(WORDS).tolist()
    study = lw.Study(lw.Pool(WORDS), lw.Hamming(), seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.tell_many([*((word, _yield(word)) for word in words[:5]), (words[7], 8971.0)])
        study.tell_many([(word, _yield(word)) for word in words[8:30]])
    with pytest.warns(lw.SuspectWarning, match="8971"):
        study.ask()


def test_a_hit_whose_error_is_told_is_believed_without_a_word() -> None:
    study = lw.Study(lw.Pool([[float(i)] for i in range(20)]), lw.RBF())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.tell_many([([float(i)], 0.01 + 0.001 * np.sin(i), 0.001) for i in range(0, 20, 2)])
        study.tell([7.0], 5.3, std=0.001)
    assert study.predict([[7.0]]).mean[0] > 2.5


def test_no_function_is_evaluated_twice_because_of_a_far_value() -> None:
    seen: list[str] = []

    def f(word: str) -> float:
        seen.append(word)
        return 5000.0 if word == "dcb" else _yield(word)

    study = lw.Study(lw.Pool(WORDS), lw.Hamming())
    study.enqueue("dcb")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.SuspectWarning)
        study.optimize(f, budget=20)
    assert len(seen) == len({*seen}) == 20


@pytest.mark.parametrize("seed", range(3))
def test_a_measured_violation_is_believed(seed: int) -> None:
    space = lw.Record(solvent=["water", "EtOH", "MeOH", "DMF"], T=lw.Float(20, 120, step=5))
    constraints = {"tox": lw.AtMost(5)}
    study = lw.Study(space, objectives={"yield": "maximize"}, constraints=constraints, seed=seed)
    rng, usual = np.random.default_rng(seed), {"water": 0.5, "EtOH": 1.0, "MeOH": 2.0}
    for i in range(12):
        solvent, t = [*usual][i % 3], float(20 + 5 * rng.integers(21))
        study.tell({"solvent": solvent, "T": t}, {"yield": 40 + 0.2 * t, "tox": usual[solvent]})
    bad = {"solvent": "DMF", "T": 80.0}
    with pytest.warns(lw.SuspectWarning, match="tox 9 for"):
        study.tell(bad, {"yield": 75.0, "tox": 9.0})
    assert study.chance_feasible([bad])[0] < 0.01
    assert [s.object["solvent"] for s in study.ask(4)].count("DMF") <= 2


def test_a_tell_fits_and_compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    study, words = _study()
    monkeypatch.setattr(type(study._proposer), "believe", lambda *_: pytest.fail("a tell asked the model"))
    with pytest.warns(lw.SuspectWarning, match="-4000"):
        study.tell(next(word for word in WORDS if word not in words), -4000.0)


@pytest.mark.parametrize("named", [False, True])
def test_workers_tell_far_values_at_once(tmp_path: Any, named: bool) -> None:
    """Whatever other workers told, amended or withdrew meanwhile, no tell stumbles over it, nor a study opened anew."""
    url, errors = f"sqlite:///{tmp_path / 'study.db'}", []
    aims: dict[str, Any] = {"objectives": {"c": "maximize"}, "constraints": {"d": lw.AtMost(50)}} if named else {}

    def value(word: str, number: float) -> Any:
        return {"c": number, "d": _yield(word)} if named else number

    def work(k: int) -> None:
        try:
            study = lw.Study(lw.Pool(WORDS), lw.Hamming(), storage=url, worker=str(k), **aims)
            for i, word in enumerate(WORDS[k::4]):
                study.tell(word, value(word, 1000.0 * 7**i if i % 5 == 4 else _yield(word)))
                if i % 5 == 4:
                    study.amend(word, value(word, _yield(word)))
                    study.tell(WORDS[k], value(word, 3.0))
                    study.withdraw(study.trials[-1])
        except Exception as error:
            errors.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lw.SuspectWarning)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        study = lw.Study(lw.Pool(WORDS), lw.Hamming(), storage=url, **aims)
        study.suspects("c") if named else study.suspects()
        study.ask()
    assert [error for error in errors if not isinstance(error, lw.StudyError)] == []
