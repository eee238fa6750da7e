"""Values of which only a limit is known, told to a study: storage, tables, the best, diagnosis, and asking on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import likewise as lw

OBJECTS = [[float(i)] for i in range(24)]


def study(storage: str | None = None, **options: object) -> lw.Study:
    return lw.Study(lw.Pool(OBJECTS), lw.RBF(), storage=storage, **options)  # type: ignore[arg-type]


def tell_some(one: lw.Study) -> lw.Study:
    one.tell_many([([float(i)], 50.0 + 40.0 * np.sin(i / 4.0)) for i in range(0, 16, 2)])
    one.tell([18.0], below=10.0)
    one.tell([20.0], lw.Below(12.0, std=1.0))
    one.tell([7.0], above=80.0)
    return one


def known(one: lw.Study) -> list[tuple[object, ...]]:
    return sorted((t.object, t.value, t.std, t.limit) for t in one.trials if t.state is lw.State.TOLD)


def test_limits_are_kept_and_come_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    first, stored = tell_some(study()), tell_some(study(url))
    again = study(url)
    assert known(first) == known(stored) == known(again)
    at = [[5.0], [17.0], [19.0]]
    assert np.array_equal(first.predict(at).mean, again.predict(at).mean)
    assert [s.object for s in first.ask(2)] == [s.object for s in again.ask(2)]


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_limits_are_exported_and_read(ending: str, tmp_path: Path) -> None:
    first, path = tell_some(study()), tmp_path / f"trials.{ending}"
    first.export(path)
    other = study()
    assert (other.read(path), other.read(path)) == (11, 0)
    assert known(other) == known(first)


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_limits_of_named_outcomes_are_exported_and_read(ending: str, tmp_path: Path) -> None:
    aims = {"objectives": {"yield": "maximize"}, "constraints": {"impurity": lw.AtMost(2.0)}}
    first, path = study(**aims), tmp_path / f"trials.{ending}"
    first.tell([1.0], {"yield": 71.0, "impurity": lw.Below(0.1)})
    first.tell([2.0], {"yield": lw.Above(99.0), "impurity": lw.Above(1.0)})
    first.tell([3.0], {"yield": 70.0, "impurity": lw.Below(5.0)})
    # Above 1 and below 5 may be more than 2.
    assert first.best.object == [1.0]
    first.export(path)
    other = study(**aims)
    assert (other.read(path), other.read(path)) == (3, 0)
    assert [t.outcomes for t in other.trials] == [t.outcomes for t in first.trials]
    assert str(other.trials[1].outcomes["yield"]) == ">99"


@pytest.mark.parametrize(
    ("direction", "side", "other"), [("maximize", "below", "above"), ("minimize", "above", "below")]
)
def test_what_is_worse_than_a_limit_is_never_the_best(direction: str, side: str, other: str) -> None:
    one, sign = study(direction=direction), 1.0 if direction == "maximize" else -1.0
    one.tell([1.0], **{side: sign * 100.0})
    assert one.best.limit == side
    one.tell([2.0], sign * 1.0)
    assert one.best.value == sign * 1.0
    assert one.best.limit is None
    one.tell([3.0], **{other: sign * 2.0})
    assert (one.best.limit, one.best.measured) == (other, f"{'>' if other == 'above' else '<'}{sign * 2.0:.6g}")


def test_replicates_with_a_limit_have_a_mean_that_is_a_limit() -> None:
    one = study()
    one.tell_many([([1.0], 4.0), ([1.0], lw.Below(1.0)), ([2.0], 2.0)])
    assert one.best.object == [2.0]
    one.tell_many([([3.0], 4.0), ([3.0], lw.Above(6.0))])
    assert (one.best.object, one.best.measured) == ([3.0], ">5")


def test_the_front_has_nothing_that_is_worse_than_a_limit() -> None:
    one = study(objectives={"yield": "maximize", "cost": "minimize"})
    one.tell_many([([1.0], {"yield": 50.0, "cost": 5.0}), ([2.0], {"yield": lw.Below(90.0), "cost": 1.0})])
    assert [t.object for t in one.front] == [[1.0]]


def test_predictions_know_the_limits() -> None:
    one = tell_some(study())
    low, high = one.predict([[18.0], [20.0], [7.0]]).interval(0.9)
    assert high[0] < 20.0
    assert high[1] < 25.0
    assert low[2] > 80.0


def test_a_diagnosis_counts_no_error_at_a_limit() -> None:
    one = tell_some(study())
    found = one.diagnose()
    assert len(found.left_out.values) == 8
    assert found.observations == 11
    assert "3 values are only limits" in str(found)
    nothing = study()
    nothing.tell_many([([float(i)], lw.Below(0.1)) for i in range(5)])
    with pytest.raises(lw.StudyError, match="only a limit"):
        nothing.diagnose()


def test_analogues_show_limits() -> None:
    one = tell_some(study())
    assert {a.measured for a in one.explain([19.0], most=11)} & {"<10", "<12"}


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_tells_changes_nothing(order: int) -> None:
    rows = [([1.0], 4.0), ([1.0], lw.Below(3.0)), ([5.0], 2.0), ([9.0], lw.Above(6.0)), ([7.0], 5.0), ([3.0], 4.5)]
    one, other = study(), study()
    one.tell_many(rows)
    other.tell_many(rows[::order])
    assert np.array_equal(one.predict(OBJECTS).mean, other.predict(OBJECTS).mean)


def test_units_and_direction_change_nothing() -> None:
    one, other = study(), study(direction="minimize")
    for i in range(0, 20, 2):
        y = float(np.sin(i / 3.0))
        one.tell([float(i)], **({"below": -0.5} if y < -0.5 else {"value": y}))
        other.tell([float(i)], **({"above": 0.5e3 + 7.0} if y < -0.5 else {"value": 7.0 - 1e3 * y}))
    a, b = one.predict(OBJECTS), other.predict(OBJECTS)
    assert np.allclose(7.0 - 1e3 * a.mean, b.mean, atol=1e-3)
    assert np.allclose(1e3 * a.std, b.std, rtol=1e-5)


def test_a_function_may_return_limits() -> None:
    found = lw.maximize(
        lambda x: lw.Below(1.0) if x[0] < 0.5 else float(x[0] + 1.0), lw.Box([0.0], [1.0]), budget=12, seed=2
    )
    assert found.value is not None
    assert found.value > 1.9
    assert any(t.limit == "below" for t in found.study.trials)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"value": 1.0, "below": 2.0}, "one of"),
        ({"below": 1.0, "above": 2.0}, "one of"),
        ({"below": float("nan")}, "number up to"),
        ({"above": "much"}, "no number"),
        ({}, "no number"),
    ],
)
def test_limits_that_are_none_are_refused(told: dict[str, float], message: str) -> None:
    one = study()
    with pytest.raises(lw.StudyError, match=message):
        one.tell([1.0], **told)
    assert not one.trials


def test_the_papers_method_takes_numbers_alone() -> None:
    one = study(method=lw.Paper())
    with pytest.raises(lw.StudyError, match=r"<0\.1 is only a limit"):
        one.tell([1.0], below=0.1)
    with pytest.raises(lw.StudyError, match="block='monday'"):
        one.tell([1.0], 0.1, block="monday")
    assert not one.trials


def test_a_run_does_not_reach_its_target_by_an_upper_limit() -> None:
    found = study().optimize(lambda x: lw.Below(100.0), budget=6, target=50.0)
    assert "target" not in found.stopped


def test_a_round_of_asking_with_limits() -> None:
    one = study()
    for _ in range(8):
        for s in one.ask(2):
            y = 50.0 + 40.0 * np.sin(s.object[0] / 4.0)
            one.tell(s, **({"below": 20.0} if y < 20.0 else {"value": float(y)}))
    assert one.best.value > 88.0
