"""Numbers that are tied by linear constraints: they hold exactly, and nothing inside is out of reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import SpaceError, StudyError
from likewise.spaces.constraints import Polytope
from likewise.testing.spaces import check_space


@st.composite
def polytopes(draw: st.DrawFn) -> Polytope:
    d, rng = draw(st.integers(2, 5)), np.random.default_rng(draw(st.integers(0, 999)))
    inside = rng.random(d)
    sides, planes = rng.normal(size=(draw(st.integers(0, 3)), d)), rng.normal(size=(draw(st.integers(0, 1)), d))
    return Polytope(sides, sides @ inside + rng.random(len(sides)), planes, planes @ inside, np.ones(d))


def holds(polytope: Polytope, z: Any) -> bool:
    sides = np.all(z @ polytope.at_most.T <= polytope.bounds + 1e-9)
    return bool(sides and np.allclose(z @ polytope.equal.T, polytope.values) and np.all((z >= 0) & (z <= 1)))


@settings(max_examples=30)
@given(polytopes())
def test_what_is_projected_is_inside_and_about_nearest(polytope: Polytope) -> None:
    rng = np.random.default_rng(1)
    far = rng.normal(0.5, 1.0, (20, len(polytope.widths)))
    found, others = polytope.project(far), polytope.sample(200, rng)
    assert holds(polytope, found)
    assert holds(polytope, others)
    np.testing.assert_allclose(polytope.project(found), found, atol=1e-9)
    mine = np.linalg.norm(far - found, axis=1)
    assert np.all(mine <= np.linalg.norm(far[:, None] - others[None], axis=2).min(axis=1) + 0.02)


def test_samples_are_spread_evenly() -> None:
    triangle = lw.Record("x + y <= 1", x=lw.Float(0, 1), y=lw.Float(0, 1))
    drawn = np.array([[p["x"], p["y"]] for p in triangle.sample(3000, np.random.default_rng(0))])
    np.testing.assert_allclose(drawn.mean(axis=0), 1 / 3, atol=0.02)
    np.testing.assert_allclose(np.mean(drawn[:, 0] > 0.5), 0.25, atol=0.03)


@settings(max_examples=15)
@given(st.sampled_from([1, 2.5, 5, 10, 20]), st.integers(2, 4), st.integers(0, 99))
def test_percentages_in_steps_add_up(step: float, n: int, seed: int) -> None:
    parts = {f"x{i}": lw.Float(0, 100, step=step) for i in range(n)}
    space = lw.Record(f"{' + '.join(parts)} = 100", **parts)
    rng = np.random.default_rng(seed)
    x = space.sample(1, rng)[0]
    for each in [x, *space.moves(x, rng), *space.with_vector([x] * 5, rng.normal(size=(5, n)))]:
        assert sum(each.values()) == 100.0
        assert all(value % step == 0 for value in each.values())
    assert space.moves(x, rng)


def test_many_vectors_are_put_on_their_steps_together_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {"x": 1, "y": 2.5, "z": None, "t": 5}
    parts = {name: lw.Float(0, 100, step=step) for name, step in steps.items()}
    tie = lw.Record("x + y + z + t = 100 and x >= 2*y and z <= t", **parts).tie
    assert tie is not None
    vectors = np.random.default_rng(0).normal(0.4, 0.5, (60, 4))
    alone = [tie.from_vector(vector[None])[0] for vector in vectors]
    calls: list[int] = []
    from_numbers = lw.Float.from_numbers

    def counted(space: lw.Float, numbers: Any) -> list[Any]:
        calls.append(len(numbers))
        return from_numbers(space, numbers)

    monkeypatch.setattr(lw.Float, "from_numbers", counted)
    for x, y in zip(tie.from_vector(vectors), alone, strict=True):
        assert x == pytest.approx(y, abs=1e-6)
    assert len(calls) <= 4 * len(steps)


def test_a_study_climbs_along_a_constraint() -> None:
    space = lw.Record("x + y + z = 1", x=lw.Float(0, 1), y=lw.Float(0, 1), z=lw.Float(0, 1))
    study = lw.Study(space, lw.Parts(x=lw.RBF(0.4), y=lw.RBF(0.4), z=lw.RBF(0.4)), seed=0)
    for _ in range(3):
        for s in study.ask(3):
            assert abs(sum(s.object.values()) - 1) < 1e-12
            study.tell(s, -((s.object["x"] - 0.2) ** 2) - (s.object["y"] - 0.7) ** 2)
    assert study.best.value is not None
    assert study.best.value > -0.1
    assert {s.object["x"] for s in study.ask(2, fix={"x": 0.25})} == {0.25}
    with pytest.raises(StudyError, match="fix"):
        study.ask(1, fix={"x": 1.5})


def test_what_is_not_linear_is_kept_to_as_well() -> None:
    parts = {"t": lw.Float(1, 20), "x": lw.Float(0, 5), "s": list("abc"), "c": lw.Float(0.1, 3, log=True)}
    space = lw.Record(where="t * x <= 10 and s != 'b' and c + x <= 4", **parts)
    check_space(space)
    assert all(x["t"] * x["x"] <= 10 and x["c"] + x["x"] <= 4 for x in space.sample(50, np.random.default_rng(0)))
    assert isinstance(lw.Record(where=["here", "there"]).parts["where"], lw.Categorical)


@pytest.mark.parametrize(
    ("where", "parts", "message"),
    [
        ("x + y = 3", {"x": lw.Float(0, 1), "y": lw.Float(0, 1)}, r"x \+ y = 3: no settings satisfy"),
        ("x + y = 1.03", {"x": lw.Float(0, 1, step=0.1), "y": lw.Float(0, 1, step=0.1)}, "no settings on their steps"),
        ("x + q = 1", {"x": lw.Float(0, 1)}, "position 5: there is no field 'q'"),
    ],
)
def test_constraints_that_nothing_satisfies_are_refused(where: str, parts: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        lw.Record(where, **parts)


def test_no_share_is_almost_nothing() -> None:
    space = lw.Record("x + y + z = 1", x=lw.Float(0, 1), y=lw.Float(0, 1), z=lw.Float(0, 1))
    x = space.sample(1, np.random.default_rng(0))
    far = space.with_vector(x * 40, np.random.default_rng(0).normal(size=(40, 3)))
    for each in far:
        assert all(value == 0 or value > 1e-9 for value in each.values())
        assert abs(sum(each.values()) - 1) < 1e-12
