"""BayBE on several objectives: it is asked within the task, in its directions, and left out where it does not apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are a package of their own")
pytest.importorskip("moocore", reason="fronts need moocore")

from benchmarks.objectives.methods import METHODS, suits
from benchmarks.objectives.tasks import Several
from benchmarks.tasks.base import Matrix
from benchmarks.tasks.box import Box
from benchmarks.tasks.pool import Part, Pool

pytestmark = pytest.mark.filterwarnings("ignore")
ALCOHOLS = ("CO", "CCO", "CCCO", "CC(C)O")
UPWARDS, DOWNWARDS = {"a": "maximize", "b": "minimize"}, {"a": "minimize", "b": "maximize"}
# Where the best of both objectives is in one place: a grows with x, and b falls.
REFERENCE = (-0.5, 1.5)


def both(x: Matrix) -> Matrix:
    return np.stack([x, 1 - x], axis=1)


def pool(objectives: dict[str, str]) -> Several:
    """Four molecules by eleven numbers, out of which the numbers alone matter."""
    numbers = np.tile(np.linspace(0, 1, 11), len(ALCOHOLS))
    molecules = tuple(np.repeat(ALCOHOLS, 11).tolist())
    parts = (Part("alcohol", "molecule", molecules), Part("x", "number", tuple(numbers.tolist())))
    base = Pool("alcohols", "reaction", parts, numbers)
    return Several(base, lambda rows: both(numbers[np.asarray(rows)]), objectives, given=REFERENCE)


def box(objectives: dict[str, str]) -> Several:
    base = Box("box", lambda x: x[:, 0], np.array([-2.0, 5.0]), np.array([3.0, 9.0]), 0.0, -1.0)
    return Several(base, lambda xs: both((np.asarray(xs)[:, 0] + 2) / 5), objectives, given=REFERENCE)


def begin(task: Several, objects: list[Any]) -> Any:
    pytest.importorskip("baybe", reason="BayBE is not installed")
    pytest.importorskip("skfp", reason="molecules need BayBE's extra `chem`")
    optimiser = METHODS["baybe"](task, 0)
    optimiser.tell(objects, task.outcomes(objects))
    return optimiser


def middle(task: Several) -> list[Any]:
    """Objects around the middle of what matters."""
    if isinstance(task.base, Pool):
        return [4, 5, 6, 15, 16, 17, 27]
    return [np.array([x, 7.0]) for x in (0.0, 0.5, 1.0, 1.5)]


@pytest.mark.parametrize("make", [pool, box])
@pytest.mark.parametrize("objectives", [UPWARDS, DOWNWARDS])
def test_asks_go_where_both_objectives_are_better(
    make: Callable[[dict[str, str]], Several], objectives: dict[str, str]
) -> None:
    # Worse than all, in either direction.
    task = replace(make(objectives), given=REFERENCE if objectives is UPWARDS else REFERENCE[::-1])
    told = middle(task)
    found = begin(task, told).ask(1)
    assert (task.signed(task.outcomes(found)) > task.signed(task.outcomes(told)).max(axis=0)).all()


def test_a_pool_is_asked_for_rows_that_are_not_measured_until_none_is_left() -> None:
    task = pool(UPWARDS)
    seen = [row for row in range(44) if row % 4]
    optimiser = begin(task, seen)
    for n in (3, 1, 7):
        found = optimiser.ask(n)
        assert len(set(found)) == n
        assert not set(found) & set(seen)
        optimiser.tell(found, task.outcomes(found))
        seen += found
    assert sorted(seen) == list(range(44))


def test_the_told_row_is_the_campaign_s_own() -> None:
    task = pool(UPWARDS)
    campaign = begin(task, [13, 40]).campaign
    told = campaign.measurements[["alcohol", "x", "a", "b"]].to_numpy().tolist()
    assert told == [["CCO", 0.2, 0.2, 0.8], ["CC(C)O", pytest.approx(0.7), pytest.approx(0.7), pytest.approx(0.3)]]
    assert campaign.searchspace.discrete.exp_rep.loc[13].to_list() == ["CCO", 0.2]


def test_a_batch_in_a_box_is_within_its_bounds_and_repeats_with_its_seed() -> None:
    task = box(UPWARDS)
    first, again = (np.array(begin(task, middle(task)).ask(3)) for _ in range(2))
    assert first.shape == (3, 2)
    assert ((task.base.lower <= first) & (first <= task.base.upper)).all()
    assert np.array_equal(first, again)


def test_constraints_on_outcomes_do_not_suit_it_alone() -> None:
    task = pool(UPWARDS)
    assert all(suits(name, task) for name in METHODS)
    assert [name for name in METHODS if not suits(name, replace(task, constraints=1))] == ["baybe"]


def test_it_refuses_constraints_on_outcomes() -> None:
    limited = replace(pool(UPWARDS), constraints=1)
    with pytest.raises(ValueError, match="alcohols has constraints on outcomes"):
        begin(limited, [0])
