"""The best observation and the best expectation: replicates count once, and luck is not recommended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw


def test_replicates_of_one_object_are_averaged() -> None:
    study = lw.Study(lw.Pool(["a", "b", "c"]), lw.Levenshtein())
    study.tell_many([("a", 1000.0), ("b", 600.0), ("a", 1.0)])
    assert (study.best.object, study.best.value) == ("b", 600.0)
    study.tell("b", 0.0)
    assert (study.best.object, study.best.value, study.best.id) == ("a", 500.5, 0)


def test_known_errors_of_replicates_shrink_together() -> None:
    study = lw.Study(lw.Pool(["a", "b"]), lw.Levenshtein())
    study.tell_many([("a", 1.0, 0.3), ("a", 3.0, 0.4)])
    assert (study.best.value, study.best.std) == (2.0, pytest.approx(0.25))


@given(values=st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 9)), min_size=1, max_size=12))
@settings(max_examples=30, deadline=None)
def test_the_best_depends_on_no_order_and_on_the_sign_as_it_should(values: list[tuple[str, int]]) -> None:
    up, down = (lw.Study(lw.Pool(list("abc")), lw.Levenshtein(), direction=way) for way in ("maximize", "minimize"))
    up.tell_many([(x, float(y)) for x, y in values])
    down.tell_many([(x, float(-y)) for x, y in reversed(values)])
    assert up.best.value == -(down.best.value or 0.0)


def noisy(direction: Any = "maximize") -> lw.Study:
    """Twenty places around a lucky one, all of them worse than a plateau that was measured often."""
    rng, sign = np.random.default_rng(0), 1.0 if direction == "maximize" else -1.0
    study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF(), direction=direction)
    x = np.linspace(0, 1, 40)
    y = np.exp(-(((x - 0.7) / 0.2) ** 2)) + 0.2 * rng.standard_normal(40)
    y[3] = 2.0
    study.tell_many([([float(a)], sign * float(b), 0.5) for a, b in zip(x, y, strict=True)])
    return study


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_a_lucky_measurement_is_the_best_but_is_not_recommended(direction: Any) -> None:
    study = noisy(direction)
    assert study.best.object[0] == pytest.approx(3 / 39)
    (one,) = study.recommend()
    assert abs(one.object[0] - 0.7) < 0.15
    assert one.value in {t.value for t in study.trials}
    assert one.low < one.mean < one.high


def test_recommended_objects_are_those_of_largest_mean() -> None:
    study = noisy()
    found = study.recommend(5)
    means = np.sort(study.predict([t.object for t in study.trials]).mean)[::-1]
    np.testing.assert_allclose([one.mean for one in found], means[:5])


def test_anywhere_is_at_least_as_good_as_among_the_measured() -> None:
    study = lw.Study(lw.Box([0.0], [1.0]), lw.RBF())
    study.tell_many([([x], -((x - 0.43) ** 2)) for x in (0.0, 0.2, 0.35, 0.5, 0.7, 1.0)])
    (measured,), (any_one,) = study.recommend(), study.recommend(anywhere=True)
    assert any_one.mean >= measured.mean
    assert any_one.value is None
    assert abs(any_one.object[0] - 0.43) < 0.02


def test_anywhere_in_a_pool_is_the_largest_mean_of_what_has_not_failed() -> None:
    pool = lw.Pool(["aaa", "aab", "abb", "bbb", "bba"])
    study = lw.Study(pool, lw.Hamming())
    study.tell_many([("aaa", 0.0), ("abb", 2.0), ("bbb", 2.5)])
    study.fail("bba")
    assert [one.object for one in study.recommend(9, anywhere=True)].count("bba") == 0
    assert {one.object for one in study.recommend(9, anywhere=True)} == {"aaa", "aab", "abb", "bbb"}


def test_a_study_without_observations_recommends_nothing() -> None:
    with pytest.raises(lw.StudyError, match="no observation"):
        lw.Study(lw.Pool(["a"]), lw.Levenshtein()).recommend()


def test_a_result_shows_both_where_they_differ() -> None:
    calm = lw.maximize(lambda x: -((x[0] - 0.7) ** 2), lw.Box([0.0], [1.0]), lw.RBF(), budget=8)
    assert "recommended" not in str(calm) or calm.recommended.object != pytest.approx(calm.object)
    study = noisy()
    result = study.optimize(lambda x: lw.Measurement(float(np.exp(-(((x[0] - 0.7) / 0.2) ** 2))), 0.5), budget=1)
    assert result.value == 2.0
    assert "recommended" in str(result)
    assert abs(result.recommended.object[0] - 0.7) < 0.2
