"""First batches cover the levels of every factor, and are spread by all similarities."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.search.initial_design import Coverage

LIGANDS = [f"ligand {i}" for i in range(12)]
FACTORS = {"ligand": LIGANDS, "base": ["KOAc", "CsOAc", "KOPiv", "CsOPiv"], "solvent": ["DMAc", "BuCN", "xylene"]}


def _grid(**factors: Any) -> list[dict[str, Any]]:
    return [dict(zip(factors, values, strict=True)) for values in product(*factors.values())]


def _spaces() -> dict[str, lw.Space]:
    return {
        "pool": lw.Pool(_grid(**FACTORS, temperature=[90.0, 105.0, 120.0])),
        "record": lw.Record(**FACTORS, temperature=lw.Float(90, 120)),
    }


def _counts(objects: list[Any], name: str, levels: Any) -> list[int]:
    found = Counter(x[name] for x in objects)
    return [found[level] for level in levels]


def _asked(study: lw.Study, n: int) -> list[Any]:
    return [suggestion.object for suggestion in study.ask(n)]


@pytest.mark.parametrize("name", ["pool", "record"])
@pytest.mark.parametrize("n", [3, 12, 30])
def test_each_level_once_before_any_twice(name: str, n: int) -> None:
    asked = _asked(lw.Study(_spaces()[name], seed=n), n)
    for factor, levels in FACTORS.items():
        counts = _counts(asked, factor, levels)
        assert max(counts) - min(counts) <= 1, (factor, counts)


@pytest.mark.parametrize("name", ["pool", "record"])
def test_what_is_measured_is_continued(name: str) -> None:
    study = lw.Study(_spaces()[name], seed=1)
    for ligand in LIGANDS[:3]:
        study.tell({"ligand": ligand, "base": "KOAc", "solvent": "DMAc", "temperature": 90.0}, 1.0)
    asked = _asked(study, 9)
    assert sorted(x["ligand"] for x in asked) == sorted(LIGANDS[3:])
    assert _counts(asked, "base", FACTORS["base"]) == [0, 3, 3, 3]


@pytest.mark.parametrize("name", ["pool", "record"])
def test_one_by_one_covers_as_a_batch_does(name: str) -> None:
    study = lw.Study(_spaces()[name], seed=2, initial=20)
    asked = []
    for _ in range(12):
        (suggestion,) = study.ask(1)
        asked.append(suggestion.object)
        study.tell(suggestion, float(len(asked)))
    assert _counts(asked, "ligand", LIGANDS) == [1] * 12
    assert _counts(asked, "base", FACTORS["base"]) == [3] * 4


@pytest.mark.parametrize("name", ["pool", "record"])
def test_the_seed_decides(name: str) -> None:
    first, again, other = (_asked(lw.Study(_spaces()[name], seed=seed), 6) for seed in (3, 3, 4))
    assert first == again != other


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12))
def test_a_pool_with_gaps_covers_a_level_with_every_pick_while_one_is_left(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    grid = _grid(a=list("uvwxyz"), b=list("pqrs"))
    objects = [grid[i] for i in rng.choice(len(grid), 12, replace=False)]
    study = lw.Study(lw.Pool(objects), seed=seed)
    known: dict[str, set[str]] = {"a": set(), "b": set()}
    levels = {name: {x[name] for x in objects} for name in known}
    for x in _asked(study, n):
        assert known == levels or any(x[name] not in known[name] for name in known)
        for name in known:
            known[name].add(x[name])


def test_a_condition_of_a_record_is_kept_and_the_rest_is_covered() -> None:
    space = lw.Record(lambda x: x["base"] != "KOAc" or x["solvent"] == "DMAc", **FACTORS)
    asked = _asked(lw.Study(space, seed=0), 12)
    assert all(x in space for x in asked)
    assert _counts(asked, "ligand", LIGANDS) == [1] * 12


def test_numbers_in_few_steps_are_covered_after_names() -> None:
    asked = _asked(lw.Study(lw.Pool(_grid(ligand=list("ABCDEF"), t=[20, 40, 60])), seed=0), 6)
    assert _counts(asked, "ligand", "ABCDEF") == [1] * 6
    assert _counts(asked, "t", [20, 40, 60]) == [2] * 3


def test_branches_are_levels() -> None:
    space = lw.OneOf(svm=lw.Record(c=lw.Float(0, 1)), forest=lw.Record(depth=lw.Int(1, 9)))
    asked = _asked(lw.Study(space, seed=0), 6)
    assert Counter(next(iter(x)) for x in asked) == {"svm": 3, "forest": 3}


def test_a_plate_is_covered_as_far_as_it_allows() -> None:
    asked = [s.object for s in lw.Study(_spaces()["pool"], seed=0).ask(12, fix={"base": "KOAc"}, same=["temperature"])]
    assert {x["base"] for x in asked} == {"KOAc"}
    assert len({x["temperature"] for x in asked}) == 1
    assert _counts(asked, "ligand", LIGANDS) == [1] * 12


def test_all_similarities_spread() -> None:
    """Texts that the first similarity cannot tell apart are told apart by the second."""
    pool = lw.Pool([f"{letter}{number:02d}" for letter in "ab" for number in range(30)])
    blind = lw.from_function(lambda x, y: 1.0 if x == y else 0.5)
    sees = lw.from_function(lambda x, y: 1.0 if x == y else 0.9 if x[0] == y[0] else 0.0)
    for seed in range(6):
        asked = _asked(lw.Study(pool, [blind, sees], seed=seed), 2)
        assert {x[0] for x in asked} == {"a", "b"}


def test_values_without_a_hash_are_no_levels() -> None:
    objects = [{"curve": np.array([float(i), 1.0]), "who": "AB"[i % 2]} for i in range(10)]
    cover = Coverage.of(objects, known=[{"curve": np.zeros(2), "who": "A"}])
    assert [factor.path for factor in cover.factors] == [("who",)]
    assert cover.best(np.arange(10)).tolist() == [1, 3, 5, 7, 9]


def test_a_known_object_may_lack_a_part() -> None:
    cover = Coverage.of(_grid(a=["x", "y"], b=["p", "q"]), known=[{"a": "x"}, {}, "text"])
    assert len(cover.best(np.arange(4))) == 2
