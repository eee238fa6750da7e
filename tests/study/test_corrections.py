"""What was told wrongly is amended or withdrawn: everything follows, nothing is forgotten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import likewise as lw

pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.SuspectWarning")

WORDS = [a + b + c for a in "abcd" for b in "abcd" for c in "abcd"]
FRONT: dict[str, Any] = {"objectives": {"yield": "maximize", "cost": "minimize"}, "constraints": {"tox": lw.AtMost(5)}}


def _yield(word: str) -> float:
    return 20.0 * word.count("a") + 7.0 * word.count("b") + 3.0 * (word[0] == "c")


def _several(word: str) -> dict[str, float]:
    return {"yield": _yield(word), "cost": 1.0 + word.count("d"), "tox": 2.0 * word.count("c")}


def _study(**options: Any) -> lw.Study:
    return lw.Study(lw.Pool(WORDS), lw.Hamming(), **options)


@pytest.fixture(params=["memory", "sqlite"])
def storage(request: Any, tmp_path: Any) -> Any:
    return None if request.param == "memory" else f"sqlite:///{tmp_path / 'study.db'}"


def test_a_slip_is_amended_and_everything_follows(storage: Any) -> None:
    study, right = _study(storage=storage, worker="lab"), _study()
    study.tell_many([(word, 8971.0 if word == "abd" else _yield(word), 0.5) for word in WORDS[5:30]])
    right.tell_many([(word, _yield(word), 0.5) for word in WORDS[5:30]])
    study.amend("abd", _yield("abd"), why="typo")
    others = [study] if storage is None else [study, _study(storage=storage)]
    for each in others:
        (trial,) = [trial for trial in each.trials if trial.object == "abd"]
        (correction,) = trial.corrections
        assert (correction.did, correction.why, correction.worker) == ("amended", "typo", "lab")
        assert correction.outcomes["value"].value == 8971.0
        assert correction.at == trial.updated
        assert trial.std == 0.5
        assert each.best_value == right.best_value == 47.0
        assert np.array_equal(each.predict(WORDS).mean, right.predict(WORDS).mean)
        assert each.expected_gain(2) == right.expected_gain(2)
        assert "8971" in each.to_frame()["corrections"].drop_nulls()[0]
        assert "amended, was 8971 (typo)" in repr(trial)


def test_a_withdrawn_result_counts_nowhere(storage: Any) -> None:
    study, without = _study(storage=storage), _study()
    study.tell_many([(word, _yield(word)) for word in WORDS[5:20]])
    study.fail("ddd", "clogged")
    without.tell_many([(word, _yield(word)) for word in WORDS[6:20]])
    study.withdraw(study.trials[0], why="wrong vial")
    study.withdraw("ddd")
    first, failed = study.trials[0], study.trials[-1]
    assert (first.state, first.value) == (failed.state, failed.error) == (lw.State.ABANDONED, None)
    assert first.corrections[0].outcomes["value"].value == _yield(WORDS[5])
    assert failed.corrections[0].error == "clogged"
    assert study.count("told") == 14
    assert np.array_equal(study.predict(WORDS).mean, without.predict(WORDS).mean)
    study.tell(first, 12.0)
    assert study.trials[0].value == 12.0
    assert study.trials[0].corrections[0].did == "withdrawn"


@pytest.mark.parametrize("n", [12, 60])
def test_several_outcomes_are_amended_one_by_one(storage: Any, n: int) -> None:
    study, right = _study(storage=storage, **FRONT), _study(**FRONT)
    told = {word: _several(word) for word in WORDS[:n]}
    right.tell_many(list(told.items()))
    told[WORDS[3]] = {"yield": 9999.0, "cost": 2.0, "tox": 0.01}
    study.tell_many(list(told.items()))
    study.tell(WORDS[-1], {"yield": 5.0})
    study.amend(WORDS[3], {"yield": _yield(WORDS[3]), "tox": _several(WORDS[3])["tox"]}, why="swapped")
    study.withdraw(WORDS[-1])
    each = study if storage is None else _study(storage=storage, **FRONT)
    assert each.trials[3].values == _several(WORDS[3])
    assert each.trials[3].corrections[0].outcomes["yield"].value == 9999.0
    assert [trial.object for trial in each.front] == [trial.object for trial in right.front]
    assert each.hypervolume == right.hypervolume
    for name in ("yield", "cost", "tox"):
        assert np.allclose(each.predict(WORDS, outcome=name).mean, right.predict(WORDS, outcome=name).mean)


def test_a_long_study_is_as_if_told_rightly() -> None:
    """Beyond a hundred observations, where Gram matrices grow in the order in which values were told."""
    study, right = _study(), _study()
    values = {word: _yield(word) + 0.1 * i for i, word in enumerate(2 * WORDS)}
    for word in WORDS:
        study.tell(word, values[word])
        study.tell(word, values[word] + 1.0)
    study.committee()
    study.amend(id=6, value=3.25)
    study.withdraw(id=7)
    study.tell(WORDS[0], 2.0)
    for trial in study.trials:
        if trial.state is lw.State.TOLD:
            right.tell(trial.object, trial.value)
    assert np.allclose(study.predict(WORDS).mean, right.predict(WORDS).mean, atol=0.2)


def test_limits_deviations_and_blocks() -> None:
    study = _study()
    study.tell("aaa", 5.0, std=0.5, block="Monday")
    study.amend("aaa", below=0.1)
    assert (study.trials[0].measured, study.trials[0].std, study.trials[0].outcomes["value"].block) == (
        "<0.1",
        0.5,
        "Monday",
    )
    study.amend("aaa", lw.Measurement(3.0, std=0.2))
    assert (study.trials[0].value, study.trials[0].std, study.trials[0].limit) == (3.0, 0.2, None)
    assert [str(each) for each in study.trials[0].corrections] == ["amended, was 5", "amended, was <0.1"]


def test_what_cannot_be_corrected_is_refused_and_nothing_changes() -> None:
    study, several = _study(), _study(**FRONT)
    asked = study.ask()[0]
    free = [word for word in WORDS if word != asked.object]
    study.tell_many([(free[0], 1.0), (free[1], 2.0), (free[0], 3.0)])
    study.fail(free[2], "broke")
    several.tell("aaa", {"yield": 1.0})
    other = _study()
    other.tell("abc", 1.0)
    before = study.trials, several.trials
    for correct, said in (
        (lambda: study.amend(id=99, value=1.0), "no trial 99"),
        (lambda: study.amend(asked, 1.0), "is asked and has no value yet; tell it"),
        (lambda: study.withdraw(asked), "abandon"),
        (lambda: study.amend(free[2], 1.0), "failed and has no value to amend; withdraw it"),
        (lambda: study.amend(free[3], 1.0), "has no results.*tell it"),
        (lambda: study.amend(free[0], 1.0), r"has 2 results.*id=.*Trial\(1.*Trial\(3"),
        (lambda: study.amend(free[1], float("nan")), "not a number"),
        (lambda: study.amend(free[1]), "no number"),
        (lambda: study.amend(free[1], 1.0, std=-1.0), "standard deviation"),
        (lambda: study.amend(free[1], 1.0, below=2.0), "one of"),
        (lambda: study.amend(study.best, 5.0), "mean of several values"),
        (lambda: study.amend(free[0], 1.0, id=2), "trial 2 .* is about"),
        (lambda: study.amend(study.trials[:2], 1.0), "one by one"),
        (lambda: several.amend("aaa", {"cost": 2.0}), "no 'cost' to amend; tell it"),
        (lambda: several.amend("aaa", {"price": 2.0}), "no outcome 'price'"),
        (lambda: several.amend("aaa", 2.0), "by name"),
    ):
        with pytest.raises(lw.StudyError, match=said):
            correct()
    study.amend(free[1], 2.5)
    with pytest.raises(lw.StudyError, match="corrected meanwhile"):
        study.amend(before[0][2], 7.0)
    study.amend(study.trials[2], 2.0)
    study.withdraw(free[1])
    with pytest.raises(lw.StudyError, match="is withdrawn; tell its object"):
        study.amend(id=2, value=1.0)
    assert several.trials == before[1]
    assert [trial.measured for trial in study.trials] == ["", "1", "", "3", ""]


def test_a_method_without_limits_refuses_an_amended_one() -> None:
    study = lw.Study(lw.Pool(WORDS), lw.Hamming(), method=lw.Paper(noise=0.1))
    study.tell("aaa", 1.0)
    with pytest.raises(lw.StudyError, match="takes numbers alone"):
        study.amend("aaa", below=0.1)


def test_an_older_table_does_not_bring_a_slip_back(tmp_path: Any) -> None:
    for study, value in ((_study(), lambda word: 8971.0), (_study(**FRONT), _several)):
        study.tell_many([(word, value(word)) for word in WORDS[:4]])
        study.fail("ddd", "broke")
        study.export(tmp_path / "old.csv")
        study.amend(WORDS[0], value(WORDS[1]))
        study.withdraw(WORDS[1])
        study.withdraw("ddd")
        assert study.read(tmp_path / "old.csv") == 0
        study.export(tmp_path / "new.json")
        again = _study(**(FRONT if study.goals.named else {}))
        assert again.read(tmp_path / "new.json") == 3


_steps = st.lists(
    st.tuples(st.sampled_from(["tell", "amend", "withdraw"]), st.integers(0, 8), st.integers(-50, 50)), max_size=25
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(_steps)
def test_the_study_says_what_a_list_would(tmp_path_factory: Any, steps: Any) -> None:
    """Whatever is told, amended and withdrawn in a database: trials are those of a list, in every process."""
    url = f"sqlite:///{tmp_path_factory.mktemp('law') / 'study.db'}"
    study, model = _study(storage=url), []
    for step, place, number in steps:
        if step == "tell":
            study.tell(WORDS[place], float(number))
            model.append((WORDS[place], [float(number)]))
        elif place < len(model) and model[place][1][-1] is not None:
            if step == "amend":
                study.amend(id=place, value=float(number))
            else:
                study.withdraw(id=place)
            model[place][1].append(float(number) if step == "amend" else None)
    for each in (study, _study(storage=url)):
        assert [(trial.object, trial.value) for trial in each.trials] == [(word, said[-1]) for word, said in model]
        before = [[own.outcomes["value"].value for own in trial.corrections] for trial in each.trials]
        assert before == [said[:-1] for _, said in model]
        assert each.count("told") == sum(said[-1] is not None for _, said in model)
