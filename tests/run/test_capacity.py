"""What users hand to a study: nothing of it may corrupt what is kept, and nothing unusable is kept."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw

WORDS = [a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT"]


def study_of(seed: int = 0, **options: Any) -> lw.Study:
    return lw.Study(lw.Pool(WORDS), lw.Hamming(), seed=seed, **options)


@pytest.mark.parametrize("end", ["tell", "fail", "abandon"])
def test_a_suggestion_of_another_study_is_refused(end: str) -> None:
    mine, other = study_of(0), study_of(5)
    (ours,), (theirs,) = mine.ask(), other.ask()
    assert ours.id == theirs.id
    assert ours.object != theirs.object
    arguments = (1.0,) if end == "tell" else ()
    with pytest.raises(lw.StudyError, match=rf"trial 0 .*{ours.object}.*{theirs.object}.*another study"):
        getattr(mine, end)(theirs, *arguments)
    with pytest.raises(lw.StudyError, match="another study"):
        getattr(mine, end)(other.trials[0], *arguments)
    with pytest.raises(lw.StudyError, match="another study"):
        getattr(mine, end)(theirs.object, *arguments, id=ours.id)
    assert mine.trials[0].state == "asked"
    getattr(mine, end)(ours.object, *arguments, id=ours.id)
    assert mine.trials[0].state != "asked"


def test_a_suggestion_is_told_whatever_became_of_its_object() -> None:
    study = lw.Study(lw.Record(solvent=["water", "DMF"], base=["KOH", "DBU"]))
    (s,) = study.ask()
    kept = dict(s.object)
    s.object.clear()
    study.tell(s, 1.0)
    assert study.best.object == kept


def test_an_objective_may_do_what_it_likes_with_its_argument() -> None:
    points = np.random.default_rng(0).random((20, 2))

    def shifted(x: Any) -> float:
        x -= 0.5
        return -float((x**2).sum())

    best = lw.maximize(shifted, lw.Pool(points), lw.RBF(), budget=20)
    nearest = points[np.argmin(((points - 0.5) ** 2).sum(axis=1))]
    np.testing.assert_array_equal(best.object, nearest)

    def taken_apart(x: Any) -> float:
        solvent = x.pop("solvent")
        return float(x["t"]) * (solvent == "DMF")

    rows = [{"solvent": solvent, "t": t} for solvent in ("water", "DMF", "THF") for t in (20, 40, 60, 80)]
    for space in (lw.Pool(rows), lw.Record(solvent=["water", "DMF", "THF"], t=[20, 40, 60, 80]).grid()):
        best = lw.maximize(taken_apart, space, budget=12)
        assert best.object == {"solvent": "DMF", "t": 80}


def test_trials_and_analogues_are_the_users_to_change() -> None:
    points = np.random.default_rng(0).random((20, 2))
    pool = lw.Pool(points)
    study = lw.Study(pool, lw.RBF())
    for s in study.ask(6):
        study.tell(s, float(s.object.sum()))
    (before,) = study.ask()
    for trial in [*study.trials, study.best, *before.analogues]:
        trial.object[:] = 7.0
    points *= 1000.0
    assert all(np.all(trial.object < 1.0) for trial in study.trials)
    study.abandon()
    (after,) = study.ask()
    assert after.mean == pytest.approx(before.mean, rel=1e-9)


BROKEN = [f"{'C' * i}{x}" for i in range(1, 30) for x in ("O", "N", "F", "Cl", "Br", "S", "C(=O)O", "C#N", "OC", "NC")]
BROKEN.insert(200, "xx")


@pytest.mark.parametrize("seed", range(3))
def test_an_object_that_cannot_be_compared_comes_out_at_the_first_ask(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    url = f"sqlite:///{tmp_path / 's.db'}"
    study = lw.Study(lw.Pool(BROKEN), lw.Tanimoto(), storage=url, seed=seed)
    with pytest.raises(lw.SimilarityError, match=r"row 200.*'xx'.*exclude="):
        study.ask()
    assert study.trials == []
    study = lw.Study(lw.Pool(BROKEN, exclude=["xx"]), lw.Tanimoto(), storage=url, seed=seed)
    for _ in range(7):
        (s,) = study.ask()
        study.tell(s, float(len(s.object)))


MOLECULES = lw.Custom(lambda rng: "C" * int(rng.integers(1, 6)) + "O")


def test_objects_that_cannot_be_compared_are_not_told(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    study = lw.Study(MOLECULES, lw.Tanimoto())
    study.tell("CCO", 1.0)
    for end in (lambda: study.tell("not a molecule", 3.0), lambda: study.fail("not a molecule")):
        with pytest.raises(lw.SimilarityError, match="not a molecule"):
            end()
    path = tmp_path / "lab.csv"
    path.write_text('object,value\n"""CCCO""",1.0\n"""not a molecule""",2.0\n')
    with pytest.raises(lw.SimilarityError, match=r"lab.csv.*not a molecule"):
        study.read(path)
    assert len(study.trials) == 1
    study.ask()


def test_vectors_of_another_width_are_not_told() -> None:
    study = lw.Study(lw.Custom(lambda rng: rng.random(2).tolist()), lw.RBF())
    study.tell([0.1, 0.2], 1.0)
    with pytest.raises(lw.SimilarityError):
        study.tell([0.1, 0.2, 0.3], 1.0)
    assert len(study.trials) == 1


@pytest.mark.parametrize("value", [1e300, -sys.float_info.max, 10**400, "abc", 1j, np.zeros(2), None])
def test_values_that_cannot_be_modelled_are_refused(value: Any) -> None:
    study = study_of()
    with pytest.raises(lw.StudyError, match=r"the value of 'AAA' is"):
        study.tell("AAA", value)
    with pytest.raises(lw.StudyError, match=r"standard deviation of 'AAA'"):
        study.tell("AAA", 1.0, std=-1.0 if value is None else value)
    assert study.trials == []


def test_a_table_with_such_a_value_changes_nothing(tmp_path: Path) -> None:
    study, path = study_of(), tmp_path / "lab.csv"
    path.write_text("object,value\nAAA,1.0\nAAC,1e300\n")
    with pytest.raises(lw.StudyError, match=r"data row 2: the value of 'AAC' is 1e\+300"):
        study.read(path)
    assert study.trials == []


def test_a_penalty_too_large_for_a_value_is_a_failure() -> None:
    best = lw.maximize(lambda x: -1e300 if x[0] == "T" else float(x.count("A")), lw.Pool(WORDS), budget=20)
    assert best.object == "AAA"
    assert all(t.object[0] == "T" for t in best.study.trials if t.state == "failed")


def test_values_of_any_size_below_are_modelled() -> None:
    for size in (1e-69, 1e69):
        best = lw.maximize(lambda x, size=size: size * x.count("A"), lw.Pool(WORDS), lw.Hamming(), budget=25)
        assert best.object == "AAA"


def test_one_element_is_a_number() -> None:
    assert lw.maximize(lambda x: -((x - 0.7) ** 2), lw.Box(0, 1), budget=5).value <= 0.0


def test_an_error_holds_the_study() -> None:
    count = 0

    def f(x: str) -> float:
        nonlocal count
        count += 1
        if count > 20:
            raise RuntimeError("robot offline")
        return 1.0

    with pytest.raises(lw.StudyError, match="robot offline") as caught:
        lw.maximize(f, lw.Pool(WORDS), lw.Hamming(), budget=60)
    assert caught.value.study.count("told") == 20  # type: ignore[attr-defined]
    assert "20 values were told" in caught.value.__notes__[0]

    def wrong(study: Any, trial: Any) -> None:
        raise ValueError("a callback's own")

    with pytest.raises(ValueError, match="own") as raised:
        lw.maximize(len, lw.Pool(WORDS), lw.Hamming(), budget=60, callbacks=wrong)
    assert raised.value.study.best.value == 3.0  # type: ignore[attr-defined]


def test_a_failure_may_be_an_exception() -> None:
    study = study_of()
    (s,) = study.ask()
    try:
        raise ValueError("no product")
    except ValueError as error:
        study.fail(s, error)
    assert str(study.trials[0].error).endswith("ValueError: no product")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"acquisition": "ei"}, "acquisition='ei' is no Acquisition; give LogExpectedImprovement"),
        ({"strategy": 4}, "strategy=4 is no Strategy; give .*ask"),
        ({"search": "all"}, "search='all'"),
        ({"spectrum": []}, "empty list of spectra"),
    ],
)
def test_parts_of_the_wrong_kind_are_refused_at_once(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(lw.StudyError, match=message):
        study_of(**wrong)


@pytest.mark.parametrize(
    ("option", "wrong"),
    [("budget", 2.5), ("batch", 2.5), ("workers", "2"), ("evaluation_timeout", "2"), ("patience", None)],
)
def test_numbers_of_the_wrong_kind_are_refused_before_the_run(option: str, wrong: Any) -> None:
    called = []
    with pytest.raises(lw.StudyError, match=f"{option} must be .*{wrong}"):
        lw.maximize(called.append, lw.Pool(WORDS), lw.Hamming(), **{option: wrong})
    assert not called


@pytest.mark.parametrize("n", [0, -1, 2.5, "3", None])
def test_a_wrong_number_of_suggestions_is_refused(n: Any) -> None:
    with pytest.raises(lw.StudyError, match="number of suggestions must be at least 1"):
        study_of().ask(n)


def test_seeds_of_numpy_are_seeds(tmp_path: Path) -> None:
    study = study_of(np.int64(3), storage=f"sqlite:///{tmp_path / 's.db'}")
    assert study.ask()[0].object == study_of(3).ask()[0].object


def test_a_study_says_what_it_is_and_that_it_cannot_be_copied() -> None:
    study = study_of(name="mine")
    assert all(part in repr(study) for part in ("Pool", "'maximize'", "'mine'"))
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(lw.StudyError, match="storage and name"):
            copied(study)
