"""`likewise.plots.front` and `.hypervolume`: what they draw is what the study has found."""

from __future__ import annotations

import numpy as np
import pytest

import likewise as lw
from likewise import plots
from likewise.errors import StudyError
from likewise.report import plot_data


def study(objectives: dict[str, str]) -> lw.Study:
    made = lw.Study(lw.Box([0.0, 0.0], [1.0, 1.0]), objectives=objectives, constraints={"c": lw.AtMost(1.4)}, seed=1)  # type: ignore[arg-type]
    for x in made.space.sample(9, np.random.default_rng(3)):
        made.tell(x, {"a": float(x[0]), "b": float(x[1] * x[0]), "c": float(x.sum())})
    made.tell(np.array([0.5, 0.5]), {"a": 1.0})
    return made


@pytest.mark.parametrize(
    "objectives", [{"a": "maximize", "b": "minimize"}, {"a": "maximize", "b": "minimize", "c": "minimize"}]
)
def test_the_front_that_is_drawn_is_that_of_the_study(objectives: dict[str, str]) -> None:
    found = study(objectives)
    asked = found.ask(2)
    data = plot_data.front(found, asked)
    assert data.best.sum() == len(found.front)
    assert (len(data.values), len(data.mean)) == (9, 2)
    assert np.all(data.low <= data.mean)
    assert np.all(data.mean <= data.high)
    volumes = plot_data.volumes(found).values
    assert np.all(np.diff(volumes) >= 0)
    assert volumes[-1] == pytest.approx(found.hypervolume)
    for figure in (plots.front(found, asked), plots.hypervolume(found)):
        assert figure.axes


def test_one_objective_has_no_front_to_draw() -> None:
    single = lw.Study(lw.Pool(["a", "b"]), lw.Hamming())
    with pytest.raises(StudyError, match="for several"):
        plots.front(single)
    with pytest.raises(StudyError, match="no observation with every objective"):
        plots.front(lw.Study(lw.Pool(["a", "b"]), lw.Hamming(), objectives={"x": "maximize", "y": "minimize"}))
