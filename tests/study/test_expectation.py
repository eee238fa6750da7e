"""Expectations: the mean with an honest standard error, reproducible, with clear errors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from likewise.errors import StudyError
from likewise.similarity.kinds.gaussians import Gaussian
from likewise.study.expectation import Expectation
from likewise.study.trial import Measurement


def square(omega: Any, x: Any) -> Any:
    return np.sum(omega**2, axis=1)


def test_the_standard_error_is_honest() -> None:
    """E‖ω‖² = ‖μ‖² + Σσ; over seeds the error in units of the standard error is standard normal."""
    x = Gaussian([1.0, -2.0], [0.5, 3.0])
    measured = [Expectation(square, samples=400, seed=seed)(x) for seed in range(300)]
    z = [(m.value - 8.5) / m.std for m in measured]
    assert abs(np.mean(z)) < 4.5 / np.sqrt(300)
    assert np.std(z) == pytest.approx(1.0, abs=0.2)


def test_the_same_object_and_seed_give_the_same_value() -> None:
    x = Gaussian(0.5, 2.0)
    assert Expectation(square, seed=3)(x) == Expectation(square, seed=3)(Gaussian([0.5], [2.0]))
    assert Expectation(square, seed=3)(x) != Expectation(square, seed=4)(x)


def test_differences_share_their_noise() -> None:
    x, near = Gaussian(0.0, 1.0), Gaussian(0.05, 1.0)

    def changes(offset: int) -> list[float]:
        return [
            float(Expectation(square, seed=seed)(near)) - float(Expectation(square, seed=seed + offset)(x))
            for seed in range(60)
        ]

    assert np.std(changes(0)) < 0.1 * np.std(changes(1000))
    assert np.mean(changes(0)) == pytest.approx(0.05**2, abs=5 * np.std(changes(0)) / np.sqrt(60))


def test_any_distribution_and_an_integrand_that_depends_on_x() -> None:
    calls = []

    def f(omega: Any, x: float) -> Any:
        calls.append(omega.shape)
        return x * omega

    measured = Expectation(f, lambda x, n, rng: rng.poisson(x, n), samples=4000)(3.0)
    assert measured.value == pytest.approx(9.0, abs=5 * measured.std)
    assert measured.std == pytest.approx(3.0 * np.sqrt(3.0 / 4000), rel=0.1)
    assert calls == [(4000,)]


def test_the_integrand_may_leave_out_x_and_have_options_of_its_own() -> None:
    x = Gaussian([1.0, 2.0], [0.5, 3.0])
    expected = Expectation(square)(x)
    forms = [
        lambda omega: square(omega, None),
        lambda omega, power=2: np.sum(omega**power, axis=1),
        lambda *given: square(*given),
        functools.partial(square, x=None),
    ]
    assert all(Expectation(f)(x) == expected for f in forms)
    for wrong in (lambda: 1.0, lambda omega, x, y: omega, "x²"):
        with pytest.raises(StudyError, match=r"calls it as f\(omega, x\) or as f\(omega\)"):
            Expectation(wrong)  # type: ignore[arg-type]


def test_a_full_covariance() -> None:
    x = Gaussian([0.0, 0.0], [[1.0, 0.8], [0.8, 1.0]])
    measured = Expectation(lambda omega, x: omega[:, 0] * omega[:, 1], samples=20_000)(x)
    assert measured.value == pytest.approx(0.8, abs=5 * measured.std)


def test_a_measurement_is_a_number() -> None:
    measured = Expectation(lambda omega, x: np.ones(len(omega)))(Gaussian(0.0, 1.0))
    assert measured == Measurement(1.0, 0.0)
    assert float(measured) == 1.0


@pytest.mark.parametrize(
    ("expectation", "x", "message"),
    [
        (Expectation(lambda w, x: w), Gaussian(0.0, 1.0), r"f gave shape \(512, 1\).*shape \(512,\)"),
        (Expectation(lambda w, x: 1.0), Gaussian(0.0, 1.0), r"f gave shape \(\)"),
        (Expectation(square), [0.0, 1.0], r"cannot sample from \[0.0, 1.0\]; pass distribution="),
        (Expectation(square, lambda x, n, rng: rng.random(7)), 0.0, r"gave shape \(7,\); it needs 512 rows"),
    ],
)
def test_what_does_not_fit_is_named(expectation: Expectation, x: Any, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        expectation(x)


def test_one_sample_has_no_standard_error() -> None:
    with pytest.raises(StudyError, match="at least 2 samples"):
        Expectation(square, samples=1)
