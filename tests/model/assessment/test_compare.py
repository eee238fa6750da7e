"""Comparing similarities without a study: the ranking is a property of the data, and what is given wrong is named."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from likewise.errors import LikewiseError, SimilarityError
from likewise.model.diagnosis import compare
from likewise.similarity.algebra import fixed
from likewise.similarity.functions import from_function
from likewise.similarity.kinds.strings import Indel
from likewise.similarity.kinds.vectors import RBF

X = np.random.default_rng(0).uniform(0.0, 30.0, 30)
Y = np.sin(0.25 * X)
NEAR, COARSE = fixed(RBF(0.2)), fixed(RBF(5.0))
PARITY = from_function(lambda a, b: 1.0 if int(1e6 * a) % 2 == int(1e6 * b) % 2 else 0.2, psd=True)


def test_the_ranking_does_not_depend_on_the_order_given() -> None:
    rankings = {
        tuple(id(one) for one in compare(list(X), Y, list(given)).similarities)
        for given in list(permutations([NEAR, COARSE, PARITY]))[::2]
    }
    assert len(rankings) == 1
    assert next(iter(rankings))[-1] == id(PARITY)


def test_rows_are_sorted_by_log_density_and_belong_to_their_similarities() -> None:
    found = compare(list(X), Y, [PARITY, NEAR])
    assert [row.log_density for row in found.rows] == sorted((row.log_density for row in found.rows), reverse=True)
    assert found.best is NEAR
    assert [row.name for row in found.rows] == [one.name for one in found.similarities]
    assert found.rows[0].explained > 0.9 > 0.2 > found.rows[1].explained
    assert "explain the values" in found.verdict


def test_the_unit_of_the_objects_does_not_matter() -> None:
    one, other = compare(list(X), Y, NEAR), compare(list(1000.0 * X + 5.0), Y, NEAR)
    assert one.rows[0].rmse == pytest.approx(other.rows[0].rmse)


def test_auto_recognises_the_objects_and_says_so() -> None:
    found = compare(list(X), Y)
    assert found.recognised is not None
    assert found.recognised.kind == "numbers"
    assert str(found).startswith("numbers: every one of 30 objects is a number\n")


def test_records_are_compared_field_by_field() -> None:
    records = [{"x": float(x), "lab": "north" if i % 2 else "south"} for i, x in enumerate(X)]
    found = compare(records, Y)
    assert found.diagnosis.committee.explained > 0.8


def test_known_noise_is_taken_into_account() -> None:
    noise = np.where(np.arange(30) % 3 == 0, 2.0, 0.01)
    values = Y + noise * np.random.default_rng(1).standard_normal(30)
    known, unknown = compare(list(X), values, NEAR, std=noise), compare(list(X), values, NEAR)
    assert known.rows[0].log_density > unknown.rows[0].log_density


def test_one_function_is_enough() -> None:
    found = compare(list(X), Y, lambda a, b: float(np.exp(-abs(a - b))))
    assert len(found.rows) == 1
    assert found.verdict.startswith("this similarity explains")
    assert "committee" not in str(found)


def test_it_prints_every_row_and_writes_itself_as_json() -> None:
    found = compare(list(X), Y, [NEAR, COARSE])
    text = str(found)
    assert all(name in text for name in ("fixed RBF", "fixed RBF (2)", "committee", "the mean", found.verdict))
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert [row["name"] for row in data["rows"]] == [row.name for row in found.rows]
    assert data["recognised"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1.0], [1.0], NEAR), "two objects or more"),
        (([1.0, 2.0], [1.0], NEAR), "2 objects and values of shape"),
        (([1.0, 2.0], [1.0, np.nan], NEAR), "the value of 2.0 is nan"),
        (([1.0, 2.0], [1.0, 2.0], []), "empty list of similarities"),
        (([1.0, 2.0], [1.0, 2.0], "tanimoto"), "unknown similarity 'tanimoto'"),
        (([1.0, "x"], [1.0, 2.0]), "different kinds"),
    ],
)
def test_what_is_given_wrong_is_named(arguments: Any, words: str) -> None:
    with pytest.raises((LikewiseError, SimilarityError), match=words):
        compare(*arguments)


def test_negative_standard_deviations_are_refused() -> None:
    with pytest.raises(LikewiseError, match="standard deviations"):
        compare(list(X), Y, NEAR, std=-1.0)


def test_molecules_are_explained_by_their_similarities() -> None:
    pytest.importorskip("rdkit")
    # Chains with a group at one end, written from either end, and a made-up solubility that adds up.
    groups = {"O": 3.0, "N": 2.5, "Cl": -0.5, "Br": -0.8, "F": 0.2, "S": 0.4, "C(=O)O": 4.0, "C#N": 2.0, "C(=O)N": 3.5}
    first = {"C(=O)O": "OC(=O)", "C#N": "N#C", "C(=O)N": "NC(=O)"}
    pairs = [(i, group) for i in range(2, 8) for group in groups]
    objects = ["C" * i + g if (i + len(g)) % 2 else first.get(g, g) + "C" * i for i, g in pairs]
    values = [groups[g] - 0.6 * i for i, g in pairs]
    found = compare(objects, values)
    assert found.recognised is not None
    assert found.recognised.kind == "molecules"
    assert "explain the values" in found.verdict
    assert found.diagnosis.committee.rmse < compare(objects, values, Indel()).rows[0].rmse
