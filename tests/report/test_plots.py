"""Pictures of a study, and what they are computed from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise import plots
from likewise.errors import StudyError
from likewise.report import plot_data

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module", params=["maximize", "minimize"])
def study(request: Any) -> lw.Study:
    rng = np.random.default_rng(0)
    made = lw.Study(lw.Box([0.0, 0.0], [1.0, 1.0]), lw.RBF(), direction=request.param)
    for x in rng.random((14, 2)):
        made.tell(x, float(np.sin(3 * x[0]) + x[1] + 0.05 * rng.standard_normal()))
    return made


@pytest.mark.parametrize("study", ["minimize"], indirect=True)
def test_every_picture_is_a_figure_of_its_own(study: lw.Study) -> None:
    from matplotlib.figure import Figure

    from likewise import plots

    suggestions = study.ask(3)
    study.abandon()
    figures = [
        plots.progress(study, suggestions),
        plots.predictions(study),
        plots.calibration(study),
        plots.object_map(study, suggestions, most=60),
        plots.weights(study),
    ]
    assert all(isinstance(figure, Figure) and figure.axes for figure in figures)


def test_pictures_say_what_they_need() -> None:
    from likewise import plots

    empty = lw.Study(lw.Box([0.0], [1.0]), lw.RBF())
    for picture in (plots.progress, plots.predictions, plots.calibration, plots.object_map, plots.weights):
        with pytest.raises(StudyError, match="0 observations"):
            picture(empty)


def test_the_course_is_that_of_the_best_value(study: lw.Study) -> None:
    course = plot_data.course(study)
    best = min if study.direction == "minimize" else max
    assert course.best.tolist() == [best(course.values[: i + 1]) for i in range(len(course.values))]
    assert course.best[-1] == study.best.value


def test_predictions_are_those_of_the_diagnosis(study: lw.Study) -> None:
    found = study.diagnose()
    check = found.left_out
    assert check.error == found.committee.rmse
    assert np.mean(check.inside()) == found.committee.inside[2]
    assert np.all(check.low <= check.high)
    assert sorted(check.values.tolist()) == pytest.approx(sorted(t.value for t in study.trials if t.value is not None))
    # The interval on the user's scale and the rank in the predictive distribution say the same of almost all values.
    within = (check.low <= check.values) & (check.values <= check.high)
    assert np.mean(within == check.inside()) >= 0.9


@pytest.mark.parametrize(
    ("space", "as_object"),
    [
        (lw.Box([0.0], [1.0]), lambda x: [x]),
        (lw.Record(a=lw.Box([0.0], [1.0]), b=["u", "v"]), lambda x: {"a": [x], "b": "u"}),
    ],
)
def test_known_noise_counts_in_the_calibration_picture(space: lw.Space, as_object: Any) -> None:
    from likewise import plots

    rng = np.random.default_rng(0)
    study = lw.Study(space, seed=0)
    for x in rng.random(20).tolist():
        study.tell(as_object(x), np.sin(6.0 * x) + 0.3 * rng.standard_normal(), std=0.3)
    (axes,) = plots.calibration(study).axes
    (drawn,) = (line for line in axes.lines if line.get_label() == "found")
    at, share = (np.asarray(values) for values in drawn.get_data())
    assert share[np.isclose(at, 95.0)] == pytest.approx(100.0 * study.diagnose().committee.inside[2])
    assert share[np.isclose(at, 95.0)] >= 85.0


@given(st.integers(2, 12), st.integers(0, 5))
def test_points_in_the_plane_are_found_again_from_their_distances(n: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(n, 2)) * 0.1
    distances = np.linalg.norm(x[:, None] - x[None], axis=2)
    points, share = plot_data.embedding(1.0 - distances)
    assert np.allclose(np.linalg.norm(points[:, None] - points[None], axis=2), distances, atol=1e-6)
    assert share == pytest.approx(1.0)


def test_large_maps_are_those_of_the_full_decomposition() -> None:
    x = np.random.default_rng(0).normal(size=(350, 2)) * 0.1
    distances = np.linalg.norm(x[:, None] - x[None], axis=2)
    points, _ = plot_data.embedding(1.0 - distances)
    assert np.allclose(np.linalg.norm(points[:, None] - points[None], axis=2), distances, atol=1e-4)


def test_maps_mark_what_was_measured_and_suggested(study: lw.Study) -> None:
    suggestions = study.ask(2)
    study.abandon()
    found = plot_data.object_map(study, suggestions, most=100)
    assert len(found.objects) <= 100
    assert np.isfinite(found.values).sum() == 14
    assert [found.objects[i] is s.object for i, s in zip(found.picks, suggestions, strict=True)] == [True, True]


def test_figures_show_themselves_in_a_notebook() -> None:
    study = lw.Study(lw.Pool(["AC", "AG", "AT"]), lw.Hamming())
    study.tell("AC", 1.0)
    assert plots.progress(study)._repr_png_().startswith(b"\x89PNG")
