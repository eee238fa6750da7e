"""The laws of a study: what it asks, what it accepts, what it remembers."""

from __future__ import annotations

import gc
import itertools
import json
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.model.model import CONDITIONED_ON, LEARNT_FROM, Data, choose, last_fit, select
from likewise.search.climbing import ClimbingSearch
from likewise.search.gradient import GradientSearch
from likewise.study.log import read_log, studies
from likewise.study.storage.base import open_storage

WORDS = ["".join(letters) for letters in itertools.product("ab", repeat=6)]
BOX = lw.Box([0.0, -1.0], [1.0, 1.0])


def alike(x: str, y: str) -> float:
    return sum(a == b for a, b in zip(x, y, strict=True)) / 6


def equal(x: str, y: str) -> float:
    return float(x == y)


def score(word: str) -> float:
    return word.count("a") - 0.3 * word.count("ab")


def hill(x: Any) -> float:
    return -float((x[0] - 0.3) ** 2 + 0.5 * (x[1] - 0.2) ** 2)


def of_words(**options: Any) -> lw.Study:
    return lw.Study(lw.Pool(WORDS), alike, **options)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


def told(study: lw.Study) -> list[lw.Trial]:
    return [t for t in study.trials if t.state is lw.State.TOLD]


def contents(study: lw.Study) -> list[Any]:
    return [(t.id, t.object, t.state, t.value, t.std, t.error) for t in study.trials]


def test_a_suggestion_is_told_and_remembered() -> None:
    study = of_words(seed=1)
    (s,) = study.ask()
    assert [(t.id, t.state) for t in study.trials] == [(s.id, lw.State.ASKED)]
    study.tell(s, 0.5, std=0.1)
    (trial,) = study.trials
    assert (trial.object, trial.value, trial.std, trial.state) == (s.object, 0.5, 0.1, lw.State.TOLD)
    assert study.best == trial


def test_by_suggestion_by_trial_by_id_by_object_and_by_measurement() -> None:
    study = of_words()
    a, b, c, d = study.ask(4)
    study.tell(a, 1.0)
    study.tell(study.trials[b.id], 2.0)
    study.tell(id=c.id, value=3.0)
    study.tell(d.object, lw.Measurement(4.0, std=0.5))
    assert [(t.id, t.value, t.std) for t in study.trials] == [
        (a.id, 1.0, None),
        (b.id, 2.0, None),
        (c.id, 3.0, None),
        (d.id, 4.0, 0.5),
    ]


def test_objects_measured_anyway_and_replicates_are_welcome() -> None:
    study = of_words()
    for value in (1.0, 1.2, 0.8):
        study.tell("aaaaaa", value)
    assert [t.value for t in study.trials] == [1.0, 1.2, 0.8]
    mean, std = study.predict(["aaaaaa"])
    assert abs(mean[0] - 1.0) < 0.2
    assert np.isfinite(std[0])


def test_known_noise_moves_the_prediction_less() -> None:
    means = []
    for std in (0.0, 3.0):
        study = of_words()
        for word in WORDS[:10]:
            study.tell(word, score(word))
        study.tell("bbbbbb", 10.0, std=std)
        means.append(study.predict(["bbbbbb"]).mean[0])
    assert means[1] < means[0] - 1.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), None, "high"])
def test_values_that_are_no_numbers_are_refused_and_change_nothing(value: Any) -> None:
    study = of_words()
    (s,) = study.ask()
    before = contents(study)
    with pytest.raises(lw.StudyError, match="fail"):
        study.tell(s, value)
    with pytest.raises(lw.StudyError, match="fail"):
        study.tell("aaaaaa", value)
    with pytest.raises(lw.StudyError, match=f"trial {s.id}"):
        study.tell(id=s.id, value=value)
    assert contents(study) == before
    study.tell(s, 1.0)


@pytest.mark.parametrize("std", [-1.0, float("nan"), float("inf")])
def test_a_bad_standard_deviation_is_refused(std: float) -> None:
    study = of_words()
    with pytest.raises(lw.StudyError, match="standard deviation"):
        study.tell("aaaaaa", 1.0, std=std)
    assert study.trials == []


def test_telling_twice_or_an_unknown_id_is_refused_and_changes_nothing() -> None:
    study = of_words()
    s, other = study.ask(2)
    study.tell(s, 1.0)
    study.fail(other, "precipitated")
    before = contents(study)
    for wrong in (lambda: study.tell(s, 2.0), lambda: study.fail(s), lambda: study.tell(other, 2.0)):
        with pytest.raises(lw.StudyError, match="already"):
            wrong()
    with pytest.raises(lw.StudyError, match="no trial 99; its trials are 0 to 1"):
        study.tell(id=99, value=1.0)
    assert contents(study) == before


def test_a_list_of_suggestions_is_told_one_by_one() -> None:
    study = of_words()
    asked = study.ask(2)
    before = contents(study)
    for wrong in (lambda: study.tell(asked, [1.0, 2.0]), lambda: study.fail(asked), lambda: study.abandon(asked)):
        with pytest.raises(lw.StudyError, match=r"list of 2 suggestions.*one by one"):
            wrong()
    assert contents(study) == before


def test_an_object_outside_the_space_is_refused() -> None:
    study = of_words()
    for act in (study.fail, study.explain, lambda x: study.tell(x, 1.0), lambda x: study.predict([x])):
        with pytest.raises(lw.SpaceError, match="zzz"):
            act("zzz")
    assert study.trials == []


def test_a_failed_object_is_kept_with_its_reason_and_not_asked_again() -> None:
    study = lw.Study(lw.Pool(["a", "b"]), lambda x, y: float(x == y))
    (s,) = study.ask()
    study.fail(s, "precipitated")
    assert study.trials[0].error == "precipitated"
    assert [x.object for x in study.ask(5)] == [({"a", "b"} - {s.object}).pop()]


def test_an_abandoned_suggestion_may_be_asked_again_and_told_late() -> None:
    study = lw.Study(lw.Pool(["a"]), lambda x, y: 1.0)
    (s,) = study.ask()
    assert study.ask() == []
    study.abandon(s)
    (again,) = study.ask()
    assert again.object == "a"
    study.tell(s, 1.0)
    study.tell(again, 1.1)
    assert [t.value for t in study.trials] == [1.0, 1.1]
    with pytest.raises(lw.StudyError, match="not being evaluated"):
        study.abandon("a")


def test_abandoning_everything_leaves_what_others_evaluate(url: str) -> None:
    mine, theirs = of_words(storage=url), of_words(storage=url)
    first, second = mine.ask(2), theirs.ask(2)
    mine.abandon()
    states = {t.id: t.state for t in mine.trials}
    assert [states[s.id] for s in first] == [lw.State.ABANDONED] * 2
    assert [states[s.id] for s in second] == [lw.State.ASKED] * 2


def test_an_empty_space_has_nothing_to_ask() -> None:
    space = lw.Pool(["a"], where=lambda x: False)
    assert lw.Study(space, lambda x, y: 1.0).ask(3) == []


@pytest.mark.parametrize("failures", [0, 3])
def test_a_pool_is_asked_to_its_last_object_and_then_nothing(failures: int) -> None:
    study, asked = lw.Study(lw.Pool(WORDS[:20]), alike, seed=2), []
    while suggestions := study.ask(3):
        asked += [s.object for s in suggestions]
        for s in suggestions:
            if len(asked) > 12 and study.count(lw.State.FAILED) < failures:
                study.fail(s)
            else:
                study.tell(s, score(s.object))
    assert sorted(asked) == sorted(WORDS[:20])
    assert study.ask(replicates=True)


def test_asking_for_more_than_there_is_gives_what_there_is() -> None:
    study = of_words()
    assert len(study.ask(1000)) == len(WORDS)
    study = of_words()
    for word in WORDS[:6]:
        study.tell(word, score(word))
    assert len({s.object for s in study.ask(1000)}) == len(WORDS) - 6


@pytest.mark.parametrize("n", [0, -1])
def test_asking_for_nothing_is_refused(n: int) -> None:
    with pytest.raises(lw.StudyError, match="at least 1"):
        of_words().ask(n)


def test_without_observations_there_is_nothing_to_say() -> None:
    study = of_words()
    (s,) = study.ask()
    assert (s.mean, s.std, s.chance, s.improvement, s.analogues) == (None, None, None, None, ())
    for wrong in (lambda: study.best, lambda: study.predict(["aaaaaa"]), lambda: study.explain("aaaaaa")):
        with pytest.raises(lw.StudyError, match="no observation"):
            wrong()


@pytest.mark.parametrize("values", [[1.0], [1.0] * 8, [0.0] * 8, [1e-300] * 8, [1e12, 1e12 + 1] * 4])
@pytest.mark.parametrize("space", ["words", "box"])
def test_few_or_constant_values_are_no_trouble(values: list[float], space: str) -> None:
    study = of_words(initial=1) if space == "words" else lw.Study(BOX, lw.RBF(), initial=1)
    for x, value in zip(study.space.sample(len(values), np.random.default_rng(0)), values, strict=True):
        study.tell(x, value)
    asked = study.ask(2)
    assert len({study.space.key(s.object) for s in asked}) == 2
    assert all(np.isfinite([s.mean, s.std, s.improvement]).all() for s in asked)
    # Where all are the same, nothing is known of the chance to beat them.
    assert {s.chance is None for s in asked} == {len(set(values)) == 1}


def test_a_suggestion_says_what_the_model_says() -> None:
    study = of_words(seed=4)
    for word in WORDS[::7]:
        study.tell(word, score(word))
    (s,) = study.ask()
    mean, std = study.predict([s.object])
    best = study.best.value
    assert best is not None
    draws = np.random.default_rng(0).normal(mean[0], std[0], 400_000)
    assert (s.mean, s.std) == (pytest.approx(mean[0]), pytest.approx(std[0]))
    assert s.chance == pytest.approx(np.mean(draws > best), abs=0.01)
    # The gain is that of the mixture, whose tails are heavier than a normal distribution's.
    assert s.improvement == pytest.approx(study.predict([s.object]).mixture.gain(best)[0])
    assert s.improvement >= np.mean(np.maximum(draws - best, 0.0)) - 0.01 * std[0]
    assert s.analogues == study.explain(s.object)
    values = {t.object: t.value for t in study.trials}
    assert all(a.value == values[a.object] for a in s.analogues)
    sizes = [abs(a.influence) for a in s.analogues]
    assert sizes == sorted(sizes, reverse=True)
    summary = study.trials[-1].summary
    assert summary["mean"] == s.mean
    assert summary["improvement"] == s.improvement
    assert summary["similarities"] == {"alike": 1.0}
    assert (summary["seed"], summary["likewise"]) == (study.seed, lw.__version__)
    objects = {str(t.id): t.object for t in study.trials}
    assert [objects[id] for id in summary["because"]] == [a.object for a in s.analogues]


def test_the_best_observation_is_found_in_few_evaluations() -> None:
    study = of_words(seed=5)
    for _ in range(25):
        (s,) = study.ask()
        study.tell(s, score(s.object))
    assert study.best.object == "aaaaaa"


def asked_keys(study: lw.Study, f: Callable[[Any], float], rounds: int, n: int) -> list[str]:
    keys = []
    for _ in range(rounds):
        for s in study.ask(n):
            keys.append(study.space.key(s.object))
            study.tell(s, f(s.object))
    return keys


def waves(x: Any) -> float:
    return float(np.sin(5 * x).sum())


QUICK = {"search": GradientSearch(observations=3, samples=32, fresh=2, most_steps=10)}
SETTINGS: dict[str, tuple[lw.Space, Any, Callable[[Any], float], dict[str, Any]]] = {
    "words": (lw.Pool(WORDS), alike, score, {}),
    "box": (BOX, lw.RBF(), hill, QUICK),
    "products": (lw.Box([0.0] * 5, [1.0] * 5), [lw.Cosine(), lw.Linear()], waves, QUICK),
    "strings": (lw.Strings("ab", length=6), alike, score, {"search": ClimbingSearch(samples=40, most_scored=200)}),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_minimising_mirrors_maximising(setting: str) -> None:
    space, similarity, f, options = SETTINGS[setting]
    up = lw.Study(space, similarity, seed=6, **options)
    down = lw.Study(space, similarity, seed=6, direction="minimize", **options)
    assert asked_keys(up, f, 4, 3) == asked_keys(down, lambda x: -f(x), 4, 3)
    assert up.best.value == -(down.best.value or 0.0)
    x = [up.best.object]
    np.testing.assert_array_equal(up.predict(x).mean, -down.predict(x).mean)
    np.testing.assert_array_equal(up.predict(x).std, down.predict(x).std)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("setting", SETTINGS)
def test_same_seed_same_tells_same_asks_in_memory_and_after_every_resume(setting: str, n: int, url: str) -> None:
    space, similarity, f, options = SETTINGS[setting]
    rounds = 12 // n
    expected = asked_keys(lw.Study(space, similarity, seed=7, **options), f, rounds, n)
    resumed = []
    for _ in range(rounds):
        resumed += asked_keys(lw.Study(space, similarity, seed=7, storage=url, **options), f, 1, n)
    assert resumed == expected
    assert asked_keys(lw.Study(space, similarity, seed=8, **options), f, 1, n) != expected[:n]


def test_a_long_study_resumes_between_two_seatings_and_after_failures(url: str) -> None:
    """Past fifty observations the committee is fitted by a schedule, which a resumed study must not miss."""
    expected, resumed = of_words(seed=9), of_words(seed=9, storage=url)
    for study in (expected, resumed):
        for word in WORDS[:53]:
            study.tell(word, score(word))
        study.fail(WORDS[60], "broken")
        study.ask(1)
    for _ in range(3):
        resumed = of_words(seed=9, storage=url)
        assert asked_keys(resumed, score, 1, 2) == asked_keys(expected, score, 1, 2)
        np.testing.assert_array_equal(resumed.predict(WORDS).mean, expected.predict(WORDS).mean)


def test_a_long_study_of_vectors_resumes_between_two_seatings(url: str) -> None:
    """Gradient trajectories would show the last bit of a score that was rounded differently."""
    expected, resumed = lw.Study(BOX, lw.RBF(), seed=4, **QUICK), lw.Study(BOX, lw.RBF(), seed=4, storage=url, **QUICK)
    for study in (expected, resumed):
        for x in BOX.sample(53, np.random.default_rng(1)):
            study.tell(x, hill(x))
    for _ in range(3):
        resumed = lw.Study(BOX, lw.RBF(), seed=4, storage=url, **QUICK)
        assert asked_keys(resumed, hill, 1, 1) == asked_keys(expected, hill, 1, 1)


class Alloy:
    """An object of the user's own, which JSON does not know."""

    def __init__(self, copper: int) -> None:
        self.copper = copper


def test_objects_of_ones_own_are_stored_by_two_functions(url: str) -> None:
    def opened() -> lw.Study:
        space = lw.Custom(
            lambda rng: Alloy(int(rng.integers(100))),
            contains=lambda x: isinstance(x, Alloy),
            to_json=lambda x: x.copper,
            from_json=Alloy,
        )
        return lw.Study(space, lambda x, y: 1.0 / (1.0 + abs(x.copper - y.copper)), storage=url)

    study = opened()
    for _ in range(7):
        (s,) = study.ask()
        study.tell(s, -abs(s.object.copper - 30.0))
    again = opened()
    assert all(isinstance(t.object, Alloy) for t in again.trials)
    assert [(t.object.copper, t.value) for t in again.trials] == [(t.object.copper, t.value) for t in study.trials]
    assert isinstance(again.ask()[0].object, Alloy)


def test_tells_out_of_order_are_the_same_after_a_resume(url: str) -> None:
    studies_ = [of_words(seed=3), of_words(seed=3, storage=url)]
    for study in studies_:
        asked = study.ask(8)
        for s in (asked[5], asked[0], asked[7], asked[2], asked[1], asked[6]):
            study.tell(s, score(s.object))
    again = of_words(seed=3, storage=url)
    np.testing.assert_array_equal(again.predict(WORDS).mean, studies_[0].predict(WORDS).mean)
    assert [s.object for s in again.ask(2)] == [s.object for s in studies_[0].ask(2)]


def test_a_new_seed_or_similarity_is_welcome_and_recorded(url: str) -> None:
    study = of_words(seed=1, storage=url)
    study.tell("aaaaaa", 1.0)
    of_words(seed=1, storage=url)
    again = lw.Study(lw.Pool(WORDS), [alike, equal], seed=2, storage=url)
    assert again.best.value == 1.0
    with open_storage(url) as storage:
        notes = read_log(storage, "study").openings
    assert [(note["seed"], note["similarity"]) for note in notes] == [(1, ["alike"]), (2, ["alike", "equal"])]


def test_another_space_or_direction_is_refused_and_named(url: str) -> None:
    lw.Study(lw.Strings("ab", length=6), alike, storage=url)
    with pytest.raises(lw.StudyError, match=r"space\.max_length is 6 .* but 7 was given"):
        lw.Study(lw.Strings("ab", length=7), alike, storage=url)
    with pytest.raises(lw.StudyError, match=r"objectives.value is 'maximize' .* but 'minimize' was given"):
        lw.Study(lw.Strings("ab", length=6), alike, storage=url, direction="minimize")


def test_studies_of_a_storage_are_listed(url: str) -> None:
    up, down = of_words(storage=url, name="up"), of_words(storage=url, name="down", direction="minimize")
    for study in (up, down):
        study.tell("aaaaaa", 6.0)
        study.tell("bbbbbb", 0.0)
        study.ask(2)
    found = {info.name: (info.direction, info.best, info.counts[lw.State.ASKED]) for info in studies(url)}
    assert found == {"down": ("minimize", 0.0, 2), "up": ("maximize", 6.0, 2)}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_what_is_exported_is_read_again_once(suffix: str, tmp_path: Path) -> None:
    study, path = of_words(), tmp_path / f"trials{suffix}"
    study.tell("aaaaaa", 0.1 + 0.2, std=0.1)
    study.tell("aaaaaa", 0.1 + 0.2, std=0.1)
    study.fail("bbbbbb", "it's\nbroken")
    study.ask(2)
    study.export(path)
    copy = of_words()
    assert copy.read(path) == 3
    assert copy.read(path) == 0
    assert [row[1:] for row in contents(copy)] == [row[1:] for row in contents(study)[:3]]
    assert len(of_words().trials) == 0


def test_a_users_table_fills_open_suggestions_and_adds_the_rest(tmp_path: Path) -> None:
    study, path = of_words(), tmp_path / "lab.csv"
    (s,) = study.ask()
    other = next(word for word in WORDS if word != s.object)
    path.write_text(f"word,yield,sd\n{s.object},0.5,0.1\n{other},0.25,\nbbbbbb,,\n")
    assert study.read(path, object="word", value="yield", std="sd") == 2
    assert [(t.object, t.value, t.std) for t in study.trials] == [(s.object, 0.5, 0.1), (other, 0.25, None)]


def test_a_table_with_a_foreign_object_changes_nothing(tmp_path: Path) -> None:
    study, path = of_words(), tmp_path / "lab.csv"
    path.write_text("object,value\naaaaaa,1.0\nzzz,2.0\n")
    with pytest.raises(lw.SpaceError, match=r"data row 2.*zzz"):
        study.read(path)
    assert study.trials == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"direction": "up"}, "'maximize' or 'minimize', not 'up'"),
        ({"seed": -1}, "whole number from 0, or None to draw one, not -1"),
        ({"seed": 0.5}, "whole number"),
        ({"lease": 0.0}, "lease must be positive"),
        ({"name": ""}, "name"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(lw.StudyError, match=message):
        of_words(**wrong)
    with pytest.raises(lw.StudyError, match="needs a space"):
        lw.Study(WORDS, alike)  # type: ignore[arg-type]


def test_an_asymmetric_similarity_is_named() -> None:
    study = lw.Study(lw.Pool(WORDS), lambda x, y: 1.0 if x <= y else 0.5)
    study.tell("aaaaaa", 1.0)
    study.tell("bbbbbb", 0.0)
    with pytest.raises(lw.SimilarityError, match="not symmetric"):
        study.ask()


class Lopsided(lw.Similarity):
    def encode(self, objects: Any) -> Any:
        return np.array([len(x.rstrip("b")) for x in objects], dtype=float)

    def between(self, a: Any, b: Any) -> Any:
        return np.exp(-np.abs(a[:, None] - 0.9 * b))

    def within(self, a: Any) -> Any:
        return np.exp(-0.1 * a)


def test_an_asymmetric_class_is_named_as_well() -> None:
    study = lw.Study(lw.Pool(WORDS), Lopsided())
    study.tell("aaaaaa", 1.0)
    study.ask()
    study.tell("bbbbbb", 0.0)
    with pytest.raises(lw.SimilarityError, match="not symmetric"):
        study.ask()


def test_workers_take_each_others_suggestions_into_account(url: str) -> None:
    one, two = (lw.Study(BOX, lw.RBF(), seed=1, storage=url) for _ in range(2))
    for x in BOX.sample(8, np.random.default_rng(0)):
        one.tell(x, hill(x))
    (first,), (second,) = one.ask(), two.ask()
    (alone,) = lw.Study(BOX, lw.RBF(), seed=1, storage=url, name="alone").ask()
    assert alone.id == 0
    assert np.abs(first.object - second.object).max() > 0.01


@pytest.mark.parametrize("failures", [0, 2])
def test_many_workers_ask_as_one_would(failures: int, url: str) -> None:
    """What others evaluate enters by its expected value: four workers get what one gets who asks for four."""
    one = of_words(seed=1)
    many = [of_words(seed=1, storage=url) for _ in range(4)]
    for study in (one, many[0]):
        for word in WORDS[3:40:3]:
            study.tell(word, score(word))
        for word in WORDS[:failures]:
            study.fail(word)
    assert [worker.ask()[0].object for worker in many] == [s.object for s in one.ask(4)]


def test_a_lost_race_is_run_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other worker takes the same object between this one's proposal and its writing it down."""
    one, two = of_words(storage=url, seed=1), of_words(storage=url, seed=1)
    transaction, overtaken = one._log.storage.transaction, []

    def slow(study: int) -> Any:
        if len(overtaken) < 2:
            overtaken.append(two.ask()[0].object)
        return transaction(study)

    monkeypatch.setattr(one._log.storage, "transaction", slow)
    (s,) = one.ask()
    assert len({s.object, *overtaken}) == len(one.trials) == 3


def eventually(holds: Callable[[], bool]) -> None:
    """Wait for what another thread does; the timeout of the tests ends a wait in vain."""
    while not holds():
        time.sleep(0.01)


def lease_of(study: lw.Study, id: int) -> float:
    return float(study._log.storage._logs[study._log.study].leases[id])  # type: ignore[attr-defined]


def test_leases_end_unless_their_process_renews_them(url: str) -> None:
    living, dead = of_words(storage=url, lease=600.0), of_words(storage=url, lease=0.05)
    (kept,), (lost,) = living.ask(), dead.ask()
    del dead
    gc.collect()
    other = of_words(storage=url)

    def returned() -> bool:
        other.ask()
        return other.trials[lost.id].state is lw.State.ABANDONED

    eventually(returned)
    assert other.trials[kept.id].state is lw.State.ASKED
    living.tell(kept, 1.0)
    other.tell(lost, 2.0)
    assert sorted(t.value or 0.0 for t in told(other)) == [1.0, 2.0]


def test_the_heart_beats_while_there_are_open_trials_and_no_longer() -> None:
    study = of_words(lease=0.9)
    hearts = [t for t in threading.enumerate() if t.name == "likewise heartbeat"]
    for _ in range(2):
        (s,) = study.ask()
        (heart,) = [t for t in threading.enumerate() if t.name == "likewise heartbeat" and t not in hearts]
        first = lease_of(study, s.id)
        eventually(lambda s=s, first=first: lease_of(study, s.id) > first)  # type: ignore[misc]
        # Whoever looks at the moment when the first lease would have ended finds it renewed.
        time.sleep(max(0.0, first - time.time()) + 1e-3)
        study._log.expire()
        assert study.trials[s.id].state is lw.State.ASKED
        study.tell(s, 1.0)
        heart.join()


def test_a_heart_goes_on_beating_when_the_storage_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    study, away = of_words(lease=0.3), iter([True, True])
    beat = study._log.storage.beat

    def flaky(*what: Any) -> None:
        if next(away, False):
            raise lw.StorageError("the server is restarting")
        beat(*what)

    monkeypatch.setattr(study._log.storage, "beat", flaky)
    (s,) = study.ask()
    first = lease_of(study, s.id)
    eventually(lambda: lease_of(study, s.id) > first)
    study.abandon()


def test_threads_share_one_study(url: str) -> None:
    study = of_words(storage=url, initial=100)

    def work() -> None:
        while suggestions := study.ask(2):
            for s in suggestions:
                study.tell(s, score(s.object))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(t.object for t in told(study)) == sorted(WORDS)


def test_the_file_is_a_sound_database(url: str, tmp_path: Path) -> None:
    study = of_words(storage=url)
    study.tell("aaaaaa", 1.0)
    with sqlite3.connect(tmp_path / "study.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@given(st.integers(1, 4000), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_the_selection_keeps_the_best_and_the_latest_and_is_bounded(t: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 500, t).astype(float)
    conditioned, learnt = select(Data([None] * t, values, None))
    fitted = last_fit(range(1, t + 1))
    assert len(conditioned) <= CONDITIONED_ON + 100
    assert len(learnt) == min(fitted, LEARNT_FROM)
    assert set(learnt.tolist()) <= set(conditioned.tolist())
    assert list(conditioned) == sorted(set(conditioned.tolist()))
    assert values.max() == values[conditioned].max()
    assert set(range(fitted, t)) <= set(conditioned.tolist())


@given(st.integers(1, 300), st.integers(1, 100), st.integers(2, 60), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_what_is_left_out_never_comes_back(before: int, more: int, most: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 50, before + more).astype(float)
    data = Data([None] * (before + more), values, None)
    kept = set(choose(data.part(np.arange(before)), most).tolist())
    assert {i for i in choose(data, most).tolist() if i < before} <= kept


def test_a_study_of_thousands_is_read_and_asks_well(tmp_path: Path) -> None:
    objects = BOX.sample(1500, np.random.default_rng(0))
    path = tmp_path / "many.json"
    path.write_text(json.dumps([{"object": x.tolist(), "value": hill(x)} for x in objects]))
    study = lw.Study(BOX, lw.RBF(), seed=1)
    assert study.read(path) == 1500
    (s,) = study.ask()
    assert hill(s.object) > -1e-3
