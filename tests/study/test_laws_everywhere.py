"""Laws of asking over every kind of space, with several outcomes and with one: boxes, records, pools, strings."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw

WORDS = ["".join(word) for word in product("ACGT", repeat=4)]
SPACES: dict[str, Any] = {
    "box": lw.Box([0.0, 0.0], [1.0, 1.0]),
    "record": lw.Record(solvent=["water", "DMF", "THF"], T=lw.Float(20, 120), n=lw.Int(1, 8)),
    "pool": lw.Pool(WORDS),
    "strings": lw.Strings("ACGT", length=6),
}
GOALS = {"height": "maximize", "price": "minimize"}
FEW = settings(max_examples=2, deadline=None, derandomize=True)
kinds = pytest.mark.parametrize("kind", SPACES)


def height(x: Any) -> float:
    if isinstance(x, str):
        return x.count("A") + 0.5 * x.count("AC") - 0.3 * x.count("G")
    if isinstance(x, Mapping):
        return {"water": 0.0, "DMF": 0.4, "THF": 0.2}[x["solvent"]] - (x["T"] / 100 - 0.7) ** 2 - 0.02 * (x["n"] - 3)
    return float(np.sin(6 * x[0]) + x[1] ** 2)


def price(x: Any) -> float:
    if isinstance(x, str):
        return 1.0 + x.count("C") + 0.1 * x.count("T")
    return 1.0 + (x["T"] / 100) ** 2 if isinstance(x, Mapping) else float(1 + x[0] + 0.5 * x[1])


def objects(kind: str, n: int, seed: int) -> list[Any]:
    space = SPACES[kind]
    return list({space.key(x): x for x in space.sample(n, np.random.default_rng(seed))}.values())


def outcomes(x: Any) -> dict[str, float]:
    return {"height": height(x), "price": price(x)}


def asked(study: lw.Study, n: int = 2) -> list[tuple[str, Any, Any, Any]]:
    """What is asked, and everything that is said of it, to the last digit."""
    found = study.ask(n)
    return [(study.space.key(s.object), s.chance, s.improvement, tuple(s.means.items()) or s.mean) for s in found]


def close(study: lw.Study, one: Any, other: Any) -> bool:
    """Whether two objects are the same, up to where searches that begin or round otherwise end."""
    if isinstance(one, str):
        return bool(one == other)
    vectors = study.space.to_vector([one, other])
    same = not isinstance(one, Mapping) or one["solvent"] == other["solvent"]
    return same and bool(np.abs(vectors[0] - vectors[1]).max() <= 10 * np.max(study.space.resolution))  # type: ignore[attr-defined]


def events(kind: str, named: bool) -> list[tuple[Any, Any]]:
    """Objects and what is told of each, None for a failure; of several outcomes each by itself, and one repeat last."""
    some = objects(kind, 9, 5)
    found: list[tuple[Any, Any]] = [(x, None) for x in some[7:]]
    for x in some[:7]:
        found += [(x, {name: y}) for name, y in outcomes(x).items()] if named else [(x, height(x))]
    again = {name: y + 0.1 for name, y in outcomes(some[3]).items()}
    return [*found, (some[3], again if named else again["height"])]


def told_one_by_one(kind: str, named: bool, told: list[tuple[Any, Any]]) -> lw.Study:
    study = lw.Study(SPACES[kind], seed=1, objectives=GOALS if named else None)  # type: ignore[arg-type]
    for x, value in told:
        if value is None:
            study.fail(x, "no")
        else:
            study.tell(x, value, std=0.05)
    return study


@kinds
@pytest.mark.parametrize("named", [False, True])
def test_permuting_the_tells_changes_nothing_to_the_last_digit(kind: str, named: bool) -> None:
    """One by one, with a replicate, stds and failures among them; partial results in any order."""
    *told, again = events(kind, named)
    plain = asked(told_one_by_one(kind, named, [*told, again]), 1 if named else 2)

    @given(st.permutations(told))
    @FEW
    def law(shuffled: list[tuple[Any, Any]]) -> None:
        # A repeat comes last, so that it is not taken for the rest of the first measurement.
        assert asked(told_one_by_one(kind, named, [*shuffled, again]), 1 if named else 2) == plain

    law()


@kinds
def test_minimising_is_maximising_the_negative_to_the_last_digit(kind: str) -> None:
    rows = [(x, height(x)) for x in objects(kind, 9, 2)]
    rows += [(rows[0][0], rows[0][1] + 0.2)]
    found = []
    for sign in (1.0, -1.0):
        study = lw.Study(SPACES[kind], seed=1, direction="maximize" if sign > 0 else "minimize")
        study.tell_many([(x, sign * y) for x, y in rows])
        found.append([(key, chance, gain, sign * mean) for key, chance, gain, mean in asked(study)])
    assert found[0] == found[1]


@kinds
@pytest.mark.parametrize("named", [False, True])
def test_units_change_no_suggestion(kind: str, named: bool) -> None:
    some = objects(kind, 9, 3)
    found = []
    for a, b in ((1.0, 0.0), (1000.0, -7.0), (0.03, 40.0)):
        study = lw.Study(SPACES[kind], seed=1, objectives=GOALS if named else None)  # type: ignore[arg-type]
        values = [a * height(x) + b for x in some]
        told = [{"height": y, "price": price(x)} if named else y for x, y in zip(some, values, strict=True)]
        study.tell_many(list(zip(some, told, strict=True)))
        found.append([s.object for s in study.ask(2)])
    for other in found[1:]:
        assert all(close(study, x, y) for x, y in zip(found[0], other, strict=True)), found


@kinds
def test_one_named_outcome_is_the_study_of_one_to_the_last_digit(kind: str) -> None:
    studies = [lw.Study(SPACES[kind], seed=2, objectives=named) for named in (None, {"height": "maximize"})]  # type: ignore[list-item]
    for study in studies:
        study.tell_many([(x, height(x)) for x in objects(kind, 8, 4)])
    plain, named = (study.ask(2) for study in studies)
    for s, t in zip(plain, named, strict=True):
        assert SPACES[kind].key(s.object) == SPACES[kind].key(t.object)
        assert (s.mean, s.std, s.chance, s.improvement) == (t.mean, t.std, t.chance, t.improvement)
        assert t.means == {"height": s.mean}


@kinds
def test_permuting_outcomes_changes_nothing(kind: str) -> None:
    found = []
    for names in (("height", "price"), ("price", "height")):
        study = lw.Study(SPACES[kind], seed=1, objectives={name: GOALS[name] for name in names})  # type: ignore[misc]
        study.tell_many([(x, {name: outcomes(x)[name] for name in names}) for x in objects(kind, 8, 6)])
        found.append([(key, chance, gain, dict(means)) for key, chance, gain, means in asked(study)])
    assert found[0] == found[1]


@kinds
def test_a_batch_asked_at_once_begins_as_one_asked_one_by_one(kind: str) -> None:
    """What is in flight counts alike, whether it was asked a moment ago or an hour ago."""
    studies = [lw.Study(SPACES[kind], seed=1) for _ in range(2)]
    for study in studies:
        study.tell_many([(x, height(x)) for x in objects(kind, 9, 7)])
    at_once = [s.object for s in studies[0].ask(3)]
    one_by_one = [studies[1].ask()[0].object for _ in range(3)]
    assert all(close(studies[0], x, y) for x, y in zip(at_once, one_by_one, strict=True)), (at_once, one_by_one)


@kinds
def test_nothing_measured_is_asked_again_but_where_replicates_allow_it(kind: str) -> None:
    study = lw.Study(SPACES[kind], seed=1)
    rng = np.random.default_rng(0)
    some = objects(kind, 8, 8)
    study.tell_many([(x, height(x) + 0.3 * float(rng.normal())) for x in some for _ in range(2)])
    for _ in range(2):
        for s in study.ask(2):
            assert not any(near(study.space, s.object, x) for x in some)
            some.append(s.object)
            study.tell(s, height(s.object) + 0.3 * float(rng.normal()))
    repeats = study.ask(3, replicates=True)
    assert all(
        any(study.space.key(s.object) == study.space.key(x) for x in some)
        or not any(near(study.space, s.object, x) for x in some)
        for s in repeats
    )


def near(space: Any, one: Any, other: Any) -> bool:
    """Whether two objects are closer than what the space can set."""
    if space.key(one) == space.key(other):
        return True
    if isinstance(one, str):
        return False
    same = not isinstance(one, Mapping) or (one["solvent"], one["n"]) == (other["solvent"], other["n"])
    vectors = space.to_vector([one, other])
    gap = np.abs(vectors[0] - vectors[1])
    return same and bool(np.all(gap <= 0.999 * np.broadcast_to(space.resolution, gap.shape)))
