"""Batches that a person can run together: shared settings, few kinds, fixed parts and conditions hold exactly."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.errors import StudyError

LIGANDS = ["XPhos", "SPhos", "dppf", "PPh3", "PCy3", "BINAP", "none"]
ROWS = [
    {"ligand": ligand, "T": T, "base": base, "cost": cost}
    for (ligand, cost), T, base in product(zip(LIGANDS, (30, 25, 12, 3, 18, 40, 0), strict=True), (60, 80, 100), "abc")
]


def value(x: dict[str, Any]) -> float:
    return LIGANDS.index(x["ligand"]) + "abc".index(x["base"]) - ((x["T"] - 83) / 20) ** 2


def pool() -> lw.Pool:
    return lw.Pool(ROWS)


def record() -> lw.Record:
    return lw.Record(ligand=LIGANDS, T=lw.Float(40, 120), base=list("abc"), cost=list(range(0, 40, 5)))


def quick() -> lw.Parts:
    return lw.Parts(ligand=lw.Equal(), T=lw.RBF(0.5), base=lw.Equal(), cost=lw.Equal())


def told(space: Any, n: int, **options: Any) -> lw.Study:
    study = lw.Study(space, quick(), seed=2, **options)
    xs = space.sample(n, np.random.default_rng(5))
    study.tell_many([(x, value(x)) for x in xs])
    return study


@pytest.mark.parametrize("space", [pool, record])
@pytest.mark.parametrize(
    ("n", "options"), [(0, {}), (12, {"strategy": lw.TwoStage()}), (12, {"method": lw.Paper(initial=3)})]
)
def test_what_is_asked_of_a_batch_holds_exactly(space: Any, n: int, options: Any) -> None:
    study = told(space(), n, **options)
    asked = {"same": ["T"], "groups": 2, "at_most": {"ligand": 3}, "fix": {"base": "c"}}
    found = [s.object for s in study.ask(6, **asked, where="cost < 35 and ligand != 'none'")]
    # Rows that are measured may be missing in a group; it is left as it is then.
    assert 4 <= len(found) <= 6
    assert {x["base"] for x in found} == {"c"}
    assert len({x["ligand"] for x in found}) <= 3
    assert len({x["T"] for x in found[:3]}) == len({x["T"] for x in found[3:]}) == 1
    assert all(x["cost"] < 35 and x["ligand"] != "none" for x in found)
    assert len({study.space.key(x) for x in found}) == len(found)


@pytest.mark.parametrize("space", [pool, record])
def test_groups_share_a_value_and_picks_are_spread(space: Any) -> None:
    study = told(space(), 10)
    found = [s.object for s in study.ask(4, same=["T"], groups=2)]
    for k in range(0, 4, 2):
        assert len({x["T"] for x in found[k : k + 2]}) == 1
    assert len({study.space.key(x) for x in found}) == 4


def test_a_group_begins_with_a_value_that_enough_objects_have() -> None:
    rows = [{"T": 10 * k, "s": s} for k, many in enumerate([1, 2, 5]) for s in "abcde"[:many]]
    study = lw.Study(lw.Pool(rows), seed=0)
    study.tell({"T": 20, "s": "a"}, 0.0)
    assert {s.object["T"] for s in study.ask(4, same=["T"])} == {20}
    # None has six, so that the one with most is taken, and there are fewer suggestions.
    found = [s.object["T"] for s in lw.Study(lw.Pool(rows)).ask(6, same=["T"])]
    assert found == [20] * 5
    # A group that no more objects fit in is left as it is, and the next one begins.
    assert len([s.object["T"] for s in lw.Study(lw.Pool(rows)).ask(8, same=["T"], groups=2)]) == 6


@pytest.mark.parametrize("space", [pool])
def test_without_conditions_the_answers_are_those_of_a_plain_ask(space: Any) -> None:
    plain, plate = told(space(), 10), told(space(), 10)
    same: Any = plate.ask(4, same=[], groups=1, at_most={}, fix={}, where=None)
    assert [s.object for s in plain.ask(4)] == [s.object for s in same]


def test_a_condition_that_all_objects_satisfy_changes_no_answer_of_a_pool() -> None:
    plain, plate = told(pool(), 10), told(pool(), 10)
    found = [s.object for s in plate.ask(4, where="cost >= 0")]
    assert [s.object for s in plain.ask(4)] == found


def test_the_best_of_what_is_allowed_is_found() -> None:
    """Conditions on a pool give what the pool of the allowed rows alone gives."""
    narrow = told(pool(), 14)
    allowed = [x for x in ROWS if x["base"] == "b" and x["cost"] < 20]
    (found,) = narrow.ask(1, fix={"base": "b"}, where=lambda x: x["cost"] < 20)
    beliefs = narrow.committee()
    best = max(beliefs.predict(allowed)[0])
    assert beliefs.predict([found.object])[0][0] > best - 2 * beliefs.predict([found.object])[1][0]
    assert found.object in allowed


def test_a_fixed_number_of_a_record_is_exact_while_the_others_are_climbed() -> None:
    study = told(record(), 20)
    for s in study.ask(2, fix={"T": 71.3}):
        assert s.object["T"] == 71.3
    at_most = [s.object["T"] for s in study.ask(3, at_most={"T": 2})]
    assert len(set(at_most)) == 2


def test_conditions_are_kept_over_rounds_with_suggestions_in_flight() -> None:
    study = told(record(), 6)
    for _ in range(2):
        found = study.ask(2, same=["T", "base"], where="T + cost <= 110")
        assert len({(s.object["T"], s.object["base"]) for s in found}) == 1
        assert all(s.object["T"] + s.object["cost"] <= 110 + 1e-9 for s in found)
        for s in found[:1]:
            study.tell(s, value(s.object))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"same": ["temp"]}, "no part 'temp'; they have ligand, T, base, cost"),
        ({"groups": 2}, "needs same="),
        ({"same": ["T"], "groups": 5}, "4 suggestions make no 5 groups"),
        ({"at_most": {"ligand": 0}}, r"at_most\['ligand'\] must be at least 1"),
        ({"fix": {"base": "KOAc"}}, "'base'.*'KOAc'"),
        ({"where": "cost <"}, "position 7"),
        ({"where": "base = b"}, "no field 'b'.*in quotes: 'b'"),
        ({"where": 3}, "where=3 is no condition"),
    ],
)
@pytest.mark.parametrize("space", [pool, record])
def test_what_cannot_be_asked_is_refused_with_the_remedy(space: Any, options: Any, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        lw.Study(space()).ask(4, **options)


def test_objects_without_parts_take_a_function_alone() -> None:
    study = lw.Study(lw.Pool(["CCO", "CCN", "CCC"]), lw.Levenshtein())
    with pytest.raises(StudyError, match="are for records"):
        study.ask(same=["T"])
    with pytest.raises(StudyError, match="give a function"):
        study.ask(where="T < 3")
    assert [s.object for s in study.ask(2, where=lambda x: x.endswith("N"))] == ["CCN"]
    with pytest.raises(StudyError, match="no object of the space satisfies"):
        study.ask(where=lambda x: False)


def test_a_condition_over_generated_objects_is_kept() -> None:
    study = lw.Study(lw.Strings("ACGT", length=6), seed=0)
    for _ in range(3):
        for s in study.ask(3, where=lambda x: x.count("G") >= 2):
            assert s.object.count("G") >= 2
            study.tell(s, s.object.count("A"))
