"""The order of the rows is none of the model's business: the same table, sorted otherwise, gives the same answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw

Case = tuple[lw.Space, list[Any], np.ndarray]


def _words(n: int) -> Case:
    rng = np.random.default_rng(3)
    parents = rng.integers(0, 4, (6, 12))
    codes = np.array(
        [np.where(rng.random(12) < 0.3, rng.integers(0, 4, 12), p) for p in parents[rng.integers(0, 6, n)]]
    )
    words = list(dict.fromkeys("".join("ACGT"[c] for c in code) for code in codes.tolist()))
    worth = rng.normal(size=(12, 4))
    values = [sum(worth[i, "ACGT".index(c)] for i, c in enumerate(word)) for word in words]
    return lw.Pool(words), words, np.array(values) + rng.normal(size=len(words))


def _points(n: int) -> Case:
    rng = np.random.default_rng(4)
    points = rng.random((n, 2))
    return lw.Box([0.0, 0.0], [1.0, 1.0]), list(points), np.sin(6 * points[:, 0]) + points[:, 1] ** 2


def _gaussians(n: int) -> Case:
    space, rng = lw.Gaussians((-3.0, 3.0), (0.1, 2.0)), np.random.default_rng(5)
    objects = space.sample(n, rng)
    means = np.array([float(np.ravel(x.mean)[0]) for x in objects])
    return space, list(objects), np.sin(2.0 * means) + 0.1 * rng.normal(size=n)


CASES = [_words, _points, _gaussians]


def _told(space: lw.Space, rows: Sequence[tuple[Any, float]]) -> lw.Study:
    study = lw.Study(space, seed=1)
    study.tell_many(rows)
    return study


@pytest.mark.parametrize(("case", "n"), [*((case, n) for case in CASES for n in (9, 60)), (_points, 320)])
def test_a_table_sorted_otherwise_gives_the_same_answers(case: Callable[[int], Case], n: int) -> None:
    space, objects, values = case(n + 20)
    told, others = range(len(objects) - 20), objects[-20:]
    answers = []
    for order in (told, reversed(told), np.argsort(values[: len(told)]).tolist()):
        study = _told(space, [(objects[i], float(values[i])) for i in order])
        answers.append((study.predict(others), [str(s.object) for s in study.ask(3)]))
    for prediction, picks in answers[1:]:
        np.testing.assert_allclose(prediction, answers[0][0], rtol=0, atol=1e-9)
        assert picks == answers[0][1]


@given(st.permutations(range(14)), st.sets(st.integers(0, 13), max_size=5))
@settings(max_examples=10, deadline=None)
def test_replicates_and_suggestions_are_sorted_with_the_rest(order: list[int], twice: set[int]) -> None:
    _, words, values = _words(40)
    rows = [(words[i], float(values[i])) for i in range(14)] + [(words[i], float(values[i]) + 0.1) for i in twice]
    plain, sorted_otherwise = lw.Study(lw.Pool(words), seed=2), lw.Study(lw.Pool(words), seed=2)
    for study, told in ((plain, rows), (sorted_otherwise, [rows[i] for i in order] + rows[14:][::-1])):
        study.ask(3)
        study.tell_many(told)
    np.testing.assert_allclose(sorted_otherwise.predict(words), plain.predict(words), rtol=0, atol=1e-9)
    assert [s.object for s in sorted_otherwise.ask(2)] == [s.object for s in plain.ask(2)]


def test_a_file_sorted_otherwise_gives_the_same_answers(tmp_path: Path) -> None:
    space, words, values = _words(90)
    path, found = tmp_path / "table.json", []
    for order in (1, -1):
        rows = [{"object": x, "value": y} for x, y in zip(words, values.tolist(), strict=True)][:64][::order]
        path.write_text(json.dumps(rows))
        study = lw.Study(space, seed=1, storage=f"sqlite:///{tmp_path}/{order}.db")
        study.read(path)
        found.append(lw.Study(space, seed=1, storage=f"sqlite:///{tmp_path}/{order}.db").predict(words))
    np.testing.assert_allclose(*found, rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", [40, 64, 107])
def test_telling_one_by_one_is_almost_telling_at_once(case: Callable[[int], Case], n: int) -> None:
    """Nothing is asked in between, as what was asked when does not count."""
    space, objects, values = case(n + 40)
    rows = [(x, float(y)) for x, y in zip(objects, values, strict=True)]
    at_once = _told(space, rows[:n]).predict(objects[n:])
    for order in (1, -1):
        study = lw.Study(space, seed=1)
        for x, y in rows[:n][::order]:
            study.tell(x, y)
        apart = np.abs(study.predict(objects[n:]).mean - at_once.mean)
        assert np.sqrt(np.mean(apart**2)) < 0.02 * values[:n].std()
        assert apart.max() < 0.05 * values[:n].std()


def test_of_equal_values_the_best_is_the_first_row() -> None:
    words = [f"word {i}" for i in range(30)]
    study = lw.Study(lw.Pool(words), lw.Levenshtein())
    study.tell("word 7", 0.0)
    study.tell_many([(word, 1.0) for word in words[10:]])
    assert study.best.object == "word 10"


def test_told_one_by_one_or_read_at_once_trials_stand_in_one_order(tmp_path: Any) -> None:
    """What is put in its place, trial by trial, stands where a study that reads all of them puts it."""
    url = f"sqlite:///{tmp_path / 'study.db'}"
    words = ["AC", "CA", "GT", "TG", "AA", "TT"]
    study = lw.Study(lw.Strings("ACGT", 2), lw.Hamming(), storage=url)
    handed = []
    for i, word in enumerate([*words, *words[:2]]):
        if i == 3:
            study.tell_many([(word, 1.0), ("CC", 2.0), ("GG", 0.0)])
        elif i == 5:
            study.fail(word)
        else:
            study.tell(word, float(i))
        told = study._ledger.within(lw.State.TOLD)
        handed.append((told, len(told)))
    again = lw.Study(lw.Strings("ACGT", 2), lw.Hamming(), storage=url)
    for state in (lw.State.TOLD, lw.State.FAILED):
        study._log.sync()
        again._log.sync()
        assert [t.id for t in study._ledger.within(state)] == [t.id for t in again._ledger.within(state)]
    assert all(len(told) == n for told, n in handed)
