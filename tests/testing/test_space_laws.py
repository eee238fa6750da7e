"""The law of gradients: it holds where numbers are rounded coarsely, and fails where a gradient is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from likewise.similarity.base import Matrix
from likewise.spaces.distributions import Gaussians
from likewise.spaces.numbers import Box
from likewise.spaces.simplex import Simplex
from likewise.testing.spaces import check_space


def stretched(space: Any, factor: float) -> Any:
    """The space with every gradient multiplied by the factor."""

    class Stretched(type(space)):  # type: ignore[misc]
        def pull(self, vectors: Matrix, gradient: Matrix) -> Matrix:
            return factor * super().pull(vectors, gradient)

    made = object.__new__(Stretched)
    made.__dict__.update(space.__dict__)
    return made


SPACES: dict[str, Any] = {
    "box": Box([0.0, 1.0], [1.0, 100.0], log=[1]),
    "box far from nought": Box(1e6, 1e6 + 10.0),
    "box of tiny numbers": Box(-1e-20, 1e-20),
    "box about nought": Box(-5.0, 1e-9),
    "simplex": Simplex(4, total=100.0),
    "gaussians": Gaussians((-3.0, 3.0), (0.01, 4.0), 2),
}


@pytest.mark.parametrize("name", SPACES)
def test_a_gradient_wrong_by_a_hundredth_is_caught(name: str) -> None:
    check_space(stretched(SPACES[name], 1.0))
    for factor in (0.99, 1.01):
        with pytest.raises(AssertionError, match="pull does not agree"):
            check_space(stretched(SPACES[name], factor))


@pytest.mark.parametrize("width", [1e-5, 1e-7, 1e-9, 1e-11, 1e-13])
@pytest.mark.parametrize("at", [-4.7, 1e12])
def test_narrow_ranges_keep_the_law(at: float, width: float) -> None:
    check_space(Box(at, at + abs(at) * width))


@pytest.mark.parametrize("width", [1e-5, 1e-7, 1e-9, 1e-11])
@pytest.mark.parametrize("at", [1e-30, 0.3, 1e12])
def test_narrow_ranges_on_a_log_scale_keep_the_law(at: float, width: float) -> None:
    check_space(Box(at, at * (1.0 + width), log=[0]))


def test_a_gradient_wrong_by_a_tenth_is_caught_in_a_narrow_range() -> None:
    with pytest.raises(AssertionError, match="pull does not agree"):
        check_space(stretched(Box(4.7, 4.7 + 1e-7), 1.1))
