"""Studies of several outcomes: laws, workflows and bad input."""

from __future__ import annotations

import warnings
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.study.frames import export as write_trials
from likewise.study.trial import State

rng = np.random.default_rng(0)
WORDS = sorted({"".join(rng.choice(list("ACGT"), 7)) for _ in range(300)})
GOALS = {"rich": "maximize", "cost": "minimize"}


def measure(word: str) -> dict[str, float]:
    return {
        "rich": word.count("A") + 0.5 * word.count("AC"),
        "cost": 1.0 + word.count("G") + 0.2 * word.count("A"),
        "odd": float(word.count("T")),
    }


def told(study: lw.Study, n: int = 24, names: Any = ("rich", "cost")) -> lw.Study:
    study.tell_many([(word, {name: measure(word)[name] for name in names}) for word in WORDS[:n]])
    return study


def make(**options: Any) -> lw.Study:
    return lw.Study(lw.Pool(WORDS), lw.Hamming(), **{"objectives": GOALS, "seed": 3, **options})


def values_of(study: lw.Study) -> dict[str, dict[str, float]]:
    return {trial.object: trial.values for trial in study.trials if trial.values}


def run(study: lw.Study, rounds: int, names: Any, batch: int = 4) -> lw.Study:
    for _ in range(rounds):
        for s in study.ask(batch):
            study.tell(s, {name: measure(s.object)[name] for name in names})
    return study


def test_one_named_objective_is_the_study_of_one_to_the_last_digit() -> None:
    named, plain = make(objectives={"rich": "maximize"}), lw.Study(lw.Pool(WORDS), lw.Hamming(), seed=3)
    for _ in range(4):
        ours, theirs = named.ask(5), plain.ask(5)
        numbers = ("object", "mean", "std", "chance", "improvement", "low", "high")
        assert [[getattr(s, n) for n in numbers] for s in ours] == [[getattr(s, n) for n in numbers] for s in theirs]
        for s, t in zip(ours, theirs, strict=True):
            assert s.means == ({} if t.mean is None else {"rich": t.mean})
            assert (s.analogues["rich"] if s.analogues else ()) == t.analogues
            named.tell(s, measure(s.object)["rich"])
            plain.tell(t, measure(t.object)["rich"])
    assert (named.best.object, named.best.value) == (plain.best.object, plain.best.value)
    np.testing.assert_array_equal(named.predict(WORDS[:9]).mean, plain.predict(WORDS[:9]).mean)
    assert [named.front[0].object, named.recommend()[0].object] == [plain.best.object, plain.recommend()[0].object]


def test_the_order_of_goals_changes_nothing() -> None:
    goals = {"rich": "maximize", "cost": "minimize", "odd": "maximize"}
    asked = []
    for order in list(permutations(goals))[::2]:
        study = told(make(objectives={name: goals[name] for name in order}), names=goals)
        asked.append([(s.object, s.chance, s.improvement) for s in study.ask(4)])
    assert asked[0] == asked[1] == asked[2]


def test_minimising_is_maximising_the_negative() -> None:
    plain = told(make())
    mirrored = make(objectives={"rich": "minimize", "cost": "minimize"})
    rows = [(word, measure(word)) for word in WORDS[:24]]
    mirrored.tell_many([(word, {"rich": -one["rich"], "cost": one["cost"]}) for word, one in rows])
    assert [s.object for s in plain.ask(4)] == [s.object for s in mirrored.ask(4)]


def test_units_change_nothing() -> None:
    plain, other = told(make()), make()
    rows = [(word, measure(word)) for word in WORDS[:24]]
    other.tell_many([(word, {"rich": 1e3 * one["rich"] - 7.0, "cost": 1e-2 * one["cost"]}) for word, one in rows])
    assert [s.object for s in plain.ask(4)] == [s.object for s in other.ask(4)]


def test_partial_results_in_any_order_give_the_same_beliefs() -> None:
    """Outcomes told together, or one after the other, in whatever order, to suggestions or to objects."""
    together = told(make())
    later = make()
    for name in ("cost", "rich"):
        later.tell_many([(word, {name: measure(word)[name]}) for word in WORDS[23::-1]])
    mixed = make()
    for i, word in enumerate(WORDS[:24]):
        first, second = ("rich", "cost") if i % 3 else ("cost", "rich")
        mixed.tell(word, {first: measure(word)[first]})
        mixed.tell(word, {second: measure(word)[second]})
    for other in (later, mixed):
        assert other.count(State.TOLD) == 24
        for name in GOALS:
            for a, b in zip(together.predict(WORDS, outcome=name), other.predict(WORDS, outcome=name), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)
        assert {trial.object: trial.values for trial in other.front} == {t.object: t.values for t in together.front}


def test_each_outcome_learns_from_what_it_has() -> None:
    study = told(make(), 12)
    before = study.predict(WORDS[40:50], outcome="cost")
    (s,) = study.ask()
    study.tell(s, {"rich": measure(s.object)["rich"]})
    np.testing.assert_array_equal(before.mean, study.predict(WORDS[40:50], outcome="cost").mean)
    assert s.object not in [trial.object for trial in study.front]
    assert s.object not in [other.object for other in study.ask(3)]
    study.tell(s, {"cost": measure(s.object)["cost"]})
    assert study.trials[s.id].values == {name: measure(s.object)[name] for name in GOALS}
    with pytest.raises(lw.StudyError, match=rf"trial {s.id} .*already told.*'cost'"):
        study.tell(s, {"cost": 1.0})


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json", "frame"])
@pytest.mark.parametrize("n", [12, 110])
def test_a_run_may_fail_after_its_first_outcome_was_told(tmp_path: Path, n: int, suffix: str) -> None:
    """As on the command line: no other outcome is waited for, what was told is kept, and no longer counts."""
    study, other = (told(make(storage=url), n) for url in (f"sqlite:///{tmp_path / 'study.db'}", None))
    (s,), _ = study.ask(), other.fail(WORDS[290], "decomposed")
    study.tell(s, {"cost": 4.75})
    study.ask()
    study.fail(s, "decomposed", notes={"by": "Ann"})
    trial = make(storage=study.storage).trials[s.id]
    assert (trial.state, trial.values, trial.error) == (State.FAILED, {"cost": 4.75}, "decomposed")
    assert trial.notes == {"by": "Ann"}
    assert s.object not in [other.object for other in study.ask(3)]
    np.testing.assert_array_equal(*(each.predict(WORDS[:5], outcome="cost").mean for each in (study, other)))
    for call in (lambda: study.fail(s), lambda: study.tell(s, {"rich": 1.0}), lambda: study.fail(study.trials[0])):
        with pytest.raises(lw.StudyError, match="already"):
            call()
    again = make()
    if suffix == "frame":
        again.tell_many(study.to_frame())
    else:
        study.export(tmp_path / f"trials{suffix}")
        assert again.read(tmp_path / f"trials{suffix}") == n + 1
        assert again.read(tmp_path / f"trials{suffix}") == 0
    (failed,) = [trial for trial in again.trials if trial.state is State.FAILED]
    assert (failed.object, failed.values, failed.error) == (s.object, {"cost": 4.75}, "decomposed")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", "frame"])
@pytest.mark.parametrize("std", [None, {"rich": 0.5}])
def test_fields_of_objects_may_have_the_names_of_outcomes(tmp_path: Path, suffix: str, std: Any) -> None:
    """Also those of columns that an export has only where they are needed."""
    names = ("rich", "rich std", "rich limit", "rich block", "state", "object", "value")
    space = lw.Record(**{name: ["a", "b"] for name in names})  # type: ignore[arg-type]
    study, again = (lw.Study(space, objectives=GOALS) for _ in range(2))
    x = {name: "ab"[i % 2] for i, name in enumerate(names)}
    study.tell(x, {"rich": 1.0, "cost": 2.0}, std=std)
    if suffix == "frame":
        again.tell_many(study.to_frame())
    else:
        study.export(tmp_path / f"trials{suffix}")
        again.read(tmp_path / f"trials{suffix}")
    assert [(trial.object, trial.values) for trial in again.trials] == [(x, {"rich": 1.0, "cost": 2.0})]


def test_nobody_knows_whether_a_limit_is_kept_that_was_never_measured() -> None:
    study = told(make(constraints={"odd": lw.AtMost(2.0)}))
    (s,) = study.ask()
    assert (s.chance_feasible, s.outcomes.keys()) == (None, {"rich", "cost"})
    assert 0 < s.chance <= 1
    study.tell_many([(word, {"odd": measure(word)["odd"]}) for word in WORDS[:8]])
    assert 0 < study.ask()[0].chance_feasible <= 1


@pytest.mark.parametrize("value", [None, {"cost": 1.0}])
def test_a_limit_without_a_name_is_refused_with_the_remedy(value: Any) -> None:
    study = told(make())
    with pytest.raises(lw.StudyError, match=r"by name.*'cost': Below\(0.5\)"):
        study.tell(WORDS[40], value, below=0.5)
    assert len(study) == 24


@pytest.mark.parametrize("constraints", [{}, {"odd": lw.AtMost(2.0)}])
def test_a_stored_study_goes_on_where_it_was(tmp_path: Path, constraints: Any) -> None:
    url, names = f"sqlite:///{tmp_path / 'study.db'}", [*GOALS, *constraints]
    stored, memory = make(storage=url, constraints=constraints), make(constraints=constraints)
    for study in (stored, memory):
        run(study, 3, names)
        study.tell(WORDS[5], {"rich": 1.0})
    again = make(storage=url, constraints=constraints)
    assert again.hypervolume == stored.hypervolume == memory.hypervolume
    numbers = [[(s.object, s.means, s.chance, s.chance_feasible) for s in each.ask(3)] for each in (again, memory)]
    assert numbers[0] == numbers[1]
    with pytest.raises(lw.StudyError, match="objectives"):
        make(storage=url, objectives={"rich": "maximize", "cost": "maximize"}, constraints=constraints)
    with pytest.raises(lw.StudyError, match="other settings"):
        lw.Study(lw.Pool(WORDS), lw.Hamming(), storage=url)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_what_is_exported_is_read_again(tmp_path: Path, suffix: str) -> None:
    study = told(make(), 8)
    study.tell(WORDS[20], {"cost": 2.5}, std={"cost": 0.25})
    study.ask(2)
    study.fail(WORDS[30], "broke")
    path = tmp_path / f"trials{suffix}"
    # Also by one who does not know the study's goals, as the command line is.
    write_trials(study._plain(), path)
    assert make().read(path) == 10
    study.export(path)
    other = make()
    assert other.read(path) == 10
    assert other.read(path) == 0
    assert [t.values for t in other.front] == [t.values for t in study.front]
    (partial,) = (t for t in other.trials if t.object == WORDS[20])
    assert partial.outcomes == {"cost": lw.Outcome(2.5, 0.25)}
    study.tell(WORDS[20], {"rich": 1.0})
    study.export(path)
    assert other.read(path) == 1
    assert {t.object: t.values for t in other.trials if t.values} == {
        t.object: t.values for t in study.trials if t.values
    }


def test_the_front_is_what_no_other_beats() -> None:
    study = told(make(), 60)
    values = {word: measure(word) for word in WORDS[:60]}
    points = {(one["rich"], one["cost"]) for one in values.values()}
    best = {p for p in points if not any(q != p and q[0] >= p[0] and q[1] <= p[1] for q in points)}
    assert {(trial.values["rich"], trial.values["cost"]) for trial in study.front} == best
    with pytest.raises(lw.StudyError, match=r"for you to say.*front.*Weighted"):
        _ = study.best
    rich = study.best_by(lw.Weighted({"rich": 1.0}))
    assert rich.values["rich"] == max(one["rich"] for one in values.values())
    wanted = lw.Desirability({"rich": (0.0, 3.0), "cost": (5.0, 2.0)})
    assert make(preference=wanted).preference == wanted
    assert study.best_by(wanted).object in [trial.object for trial in study.front]


def test_hypervolume_never_falls_and_beats_random() -> None:
    study, blind = make(), make()
    course = []
    for _ in range(6):
        run(study, 1, GOALS)
        course.append(study.hypervolume)
    assert course == sorted(course)
    drawn = np.random.default_rng(0).choice(WORDS, 24, replace=False).tolist()
    blind.tell_many([(word, {name: measure(word)[name] for name in GOALS}) for word in drawn])
    given = {"reference": {"rich": 0.0, "cost": 6.0}}
    ours, theirs = make(**given), make(**given)
    for one, other in ((study, ours), (blind, theirs)):
        other.tell_many([(t.object, t.values) for t in one.trials])
    assert ours.hypervolume > theirs.hypervolume


def test_constraints_are_kept_and_best_keeps_to_them() -> None:
    study = make(objectives={"rich": "maximize"}, constraints={"odd": lw.Between(1.0, 2.0), "cost": lw.AtMost(2.5)})
    run(study, 7, ["rich", "cost", "odd"])
    kept = [t for t in study.trials if 1.0 <= t.values["odd"] <= 2.0 and t.values["cost"] <= 2.5]
    assert study.best.value == max(t.values["rich"] for t in kept)
    later = [t for t in study.trials if t.id >= 16]
    assert np.mean([t in kept for t in later]) > np.mean([t in kept for t in study.trials[:8]])
    (s,) = study.ask()
    assert 0.0 <= s.chance_feasible <= 1.0
    assert set(s.means) == {"rich", "cost", "odd"}


@pytest.mark.parametrize("limit", [lw.AtMost(1e3), lw.AtLeast(-1e3), lw.Between(-1e3, 1e3)])
def test_what_is_certain_has_a_chance_of_one_and_no_more(limit: Any) -> None:
    """Votes add up to one but for rounding, which is seen with some of these seeds."""
    for seed in range(5, 8):
        rng = np.random.default_rng(seed)
        study = lw.Study(lw.Box([0.0, 0.0], [1.0, 1.0]), objectives={"a": "maximize"}, constraints={"b": limit})
        points = rng.random((8 + seed % 5, 2)).tolist()
        study.tell_many([([x, y], {"a": x, "b": float(np.sin(5 * x) + y**2)}) for x, y in points])
        chances = study.chance_feasible(rng.random((20, 2)).tolist())
        assert np.all(chances <= 1.0)
        assert chances == pytest.approx(1.0)


def test_before_anything_keeps_to_the_constraints() -> None:
    study = told(make(constraints={"odd": lw.AtLeast(5.0)}), 20, ["rich", "cost", "odd"])
    assert study.front == []
    assert study.hypervolume == 0.0
    asked = study.ask(6)
    assert np.mean([measure(s.object)["odd"] for s in asked]) > np.mean([measure(w)["odd"] for w in WORDS]) + 0.5
    alone = told(make(objectives={"rich": "maximize"}, constraints={"odd": lw.AtLeast(9.0)}), 9, ["rich", "odd"])
    with pytest.raises(lw.StudyError, match="keeps to its constraints"):
        _ = alone.best


def test_a_computed_objective_is_never_asked_for() -> None:
    price = lw.Computed(lambda word: 1.0 + word.count("G"))
    study = make(objectives={"rich": "maximize", "price": price})
    for s in [*study.ask(8), *study.ask(4)]:
        study.tell(s, {"rich": measure(s.object)["rich"]})
    (s,) = study.ask()
    assert set(s.means) == {"rich"}
    assert all(study.objectives_of(t)["price"] == 1.0 + t.object.count("G") for t in study.front)
    with pytest.raises(lw.StudyError, match=r"'price'.*computed and not told"):
        study.tell(s, {"rich": 1.0, "price": 2.0})


@pytest.mark.parametrize("objectives", [None, GOALS])
def test_a_budget_is_kept_and_bought_well(objectives: Any) -> None:
    study = lw.Study(lw.Pool(WORDS), lw.Hamming(), objectives=objectives, seed=1)
    price = {word: 1.0 + 3.0 * word.count("C") for word in WORDS}
    spent = []
    for _ in range(4):
        asked = study.ask(6, cost=price, budget=12.0)
        spent.append(sum(price[s.object] for s in asked))
        for s in asked:
            values = measure(s.object)
            study.tell(s, values["rich"] if objectives is None else {name: values[name] for name in GOALS})
    assert max(spent) <= 12.0
    assert min(spent) > 0.0
    assert study.ask(3, cost=price, budget=0.5) == []
    with pytest.raises(lw.StudyError, match="needs cost"):
        study.ask(3, budget=5.0)
    with pytest.raises(lw.StudyError, match="must be positive"):
        study.ask(3, cost=lambda word: 0.0, budget=5.0)


@pytest.mark.parametrize("space", [lw.Box([0.0, 0.0], [1.0, 1.0]), lw.Strings("ACGT", length=7)])
@pytest.mark.parametrize("many", [2, 4])
def test_every_kind_of_space_and_many_objectives(space: lw.Space, many: int) -> None:
    names = ["a", "b", "c", "d"][:many]

    def f(x: Any) -> dict[str, float]:
        if isinstance(x, str):
            return {name: float(x.count(letter)) for name, letter in zip(names, "ACGT", strict=False)}
        return {name: float(np.sin(3.0 * x[0] + i) - x[1] ** 2) for i, name in enumerate(names)}

    found = lw.optimize(f, space, objectives=dict.fromkeys(names, "maximize"), budget=9, batch=3, seed=2)
    assert found.front
    assert len(found.study.trials) == 9


def test_a_function_that_fails_or_forgets_does_not_stop_a_run() -> None:
    def f(word: str) -> dict[str, float]:
        values = measure(word)
        if word.startswith("A"):
            raise ValueError("broke")
        return {"rich": values["rich"], "cost": float("nan") if word.startswith("C") else values["cost"]}

    study = make()
    study.optimize(f, budget=24, batch=4, most_failures=30)
    failed = [t for t in study.trials if t.state is State.FAILED]
    # What else was measured is kept with the failure.
    assert any("'cost' of" in (t.error or "") and "is nan" in (t.error or "") for t in failed)
    assert all("'rich': " in (t.error or "") for t in failed if "nan" in (t.error or ""))
    assert all(t.object[0] in "GT" for t in study.front)


BAD_GOALS = {
    "nothing": ({"objectives": {}}, "name nothing"),
    "direction": ({"objectives": {"a": "up"}}, "'a'.*'maximize' or 'minimize'.*'up'"),
    "both": ({"objectives": {"a": "maximize"}, "direction": "minimize"}, "not both"),
    "limits": ({"constraints": {"odd": 2.0}}, "'odd'.*AtMost"),
    "contradiction": ({"constraints": {"rich": lw.AtMost(3.0)}}, "'rich' is to maximize"),
    "reference": ({"reference": {"odd": 1.0}}, "'odd'.*no objective"),
    "preference": ({"preference": lw.Weighted({"odd": 1.0})}, "'odd'.*no objective"),
    "without a name": ({"objectives": None, "constraints": {"odd": lw.AtMost(1.0)}}, "named objectives"),
    "all computed": ({"objectives": {"a": lw.Computed(len)}}, "nothing to measure"),
    "paper": ({"method": lw.Paper()}, "one objective"),
    "strategy": ({"strategy": lw.TwoStage()}, "one objective"),
    "bounds": ({"bounds": (0, 100)}, "of which outcome"),
    "bounds of nothing": ({"bounds": {"odd": (0, 1)}}, "'odd'"),
}


@pytest.mark.parametrize("case", BAD_GOALS)
def test_goals_that_cannot_be_are_refused(case: str) -> None:
    options, words = BAD_GOALS[case]
    with pytest.raises(lw.StudyError, match=words):
        make(**options)


BAD_VALUES: dict[str, tuple[Any, str]] = {
    "unknown": ({"rich": 1.0, "yeild": 2.0}, "no outcome 'yeild'.*'cost', 'rich'"),
    "nan": ({"rich": 1.0, "cost": float("nan")}, "'cost' of 'AAA.*nan.*leave 'cost' out"),
    "bool": ({"rich": True, "cost": 1.0}, "'rich' of .*no number: True.*leave 'rich' out"),
    "text": ({"rich": "high", "cost": 1.0}, "'rich' of .*no number"),
    "nothing": ({}, "no outcome"),
    "number": (1.5, "2 outcomes.*by name"),
    "none": (None, "by name"),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_values_that_cannot_be_are_refused_and_nothing_is_lost(case: str) -> None:
    study = told(make(), 6)
    before = study.trials
    value, words = BAD_VALUES[case]
    with pytest.raises(lw.StudyError, match=words):
        study.tell("AAA" + WORDS[50][3:] if "AAA" + WORDS[50][3:] in WORDS else WORDS[0], value)
    with pytest.raises(lw.StudyError):
        study.tell_many([(WORDS[60], {"rich": 1.0}), (WORDS[61], value)])
    assert study.trials == before


def test_questions_that_need_an_outcome_say_so() -> None:
    study = told(make(), 8)
    for ask in (lambda: study.predict(WORDS[:2]), lambda: study.committee(), lambda: study.explain(WORDS[0])):
        with pytest.raises(lw.StudyError, match=r"'cost', 'rich'.*outcome="):
            ask()
    with pytest.raises(lw.StudyError, match="no outcome 'odd'"):
        study.predict(WORDS[:2], outcome="odd")
    with pytest.raises(lw.StudyError, match="several objectives"):
        _ = study.direction
    with pytest.raises(lw.StudyError, match="one objective"):
        study.recommend()
    with pytest.raises(lw.StudyError, match="replicates"):
        study.ask(replicates=True)
    with pytest.raises(lw.StudyError, match="one objective"):
        study.optimize(measure, budget=1, target=3.0)
    assert study.diagnose(outcome="cost", each=False).committee.rmse >= 0.0
    assert len(study.explain(WORDS[0], 2, outcome="rich")) == 2


def test_a_bad_measurement_of_one_outcome_is_named() -> None:
    study = told(make(), 20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study.tell(WORDS[40], {"rich": 1.0, "cost": 5e5})
    assert any("cost" in str(one.message) and "500000" in str(one.message) for one in caught)
    assert study.ask(2)


def test_the_best_is_one_whose_objective_is_known() -> None:
    study = lw.Study(lw.Pool(["a", "b"]), lambda x, y: float(x == y), objectives={"y": "maximize"},
                     constraints={"c": lw.AtMost(1.0)})  # fmt: skip
    study.tell("a", {"c": 0.5})
    with pytest.raises(lw.StudyError, match="has its objective"):
        study.best  # noqa: B018
    study.tell("b", {"y": 2.0, "c": 0.5})
    assert (study.best.object, len(study.front)) == ("b", 1)
