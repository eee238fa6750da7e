"""Scores above those of the objects with themselves are brought down to what a kernel may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.errors import SimilarityError
from likewise.similarity.algebra import SelfBounded, self_bounded
from likewise.similarity.kinds.vectors import RBF
from likewise.testing.similarities import check_parameters


@dataclass(frozen=True)
class Lopsided(RBF):
    """Some objects are more like others than like themselves."""

    @property
    def psd(self) -> bool:
        return False

    def between(self, a: Any, b: Any) -> Any:
        return 1.7 * super().between(a, b)

    def linearise(self, a: Any, b: Any) -> Any:
        scores, pull = super().linearise(a, b)
        return 1.7 * scores, lambda weights: 1.7 * pull(weights)


def test_what_keeps_the_bound_is_left_alone() -> None:
    for one in (lw.RBF(), lw.Levenshtein(), lw.SymmetricKL(), lw.RBF() + lw.Matern(), lw.Hamming() * lw.JaroWinkler()):
        assert self_bounded(one) is one
    plain = lw.from_function(lambda x, y: float(x * y))
    kept, found = plain, self_bounded(plain)
    x = [1.0, 2.0, 30.0]
    np.testing.assert_array_equal(found.between(*2 * (found.encode(x),)), kept.between(*2 * (kept.encode(x),)))


def test_no_score_is_above_the_root_and_selves_stay() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.uniform(0.0, 9.0, (20, 20))
    matrix = matrix + matrix.T
    found = SelfBounded(lw.Precomputed(range(20), matrix))
    a = found.encode(range(20))
    scores, own = found.between(a, a), np.diag(matrix)
    assert np.all(scores <= np.sqrt(np.outer(own, own)) * (1.0 + 1e-9))
    np.testing.assert_array_equal(found.within(a), own)
    kept = matrix <= np.sqrt(np.outer(own, own))
    np.testing.assert_array_equal(scores[kept], matrix[kept])


def test_derivatives_go_through_the_root() -> None:
    found = SelfBounded(Lopsided(0.4))
    rng = np.random.default_rng(1)
    x, others, weights = rng.random((3, 2)), rng.random((4, 2)), rng.standard_normal((3, 4))
    _, pull = found.linearise(found.encode(list(x)), found.encode(list(others)))
    step, slopes = 1e-6, np.zeros_like(x)
    for k in range(2):
        moved = [
            np.sum(
                weights * found.between(found.encode(list(x + s * np.eye(2)[k])), found.encode(list(others))), axis=1
            )
            for s in (step, -step)
        ]
        slopes[:, k] = (moved[0] - moved[1]) / (2.0 * step)
    np.testing.assert_allclose(pull(weights), slopes, atol=1e-6)


def test_a_distance_is_still_refused_by_name() -> None:
    study = lw.Study(lw.Box([0.0], [1.0]), lambda a, b: abs(float(a[0] - b[0])))
    study.tell_many([([0.1 * i], float(i)) for i in range(6)])
    with pytest.raises(SimilarityError, match="looks like a distance"):
        study.ask()


def test_what_is_learnt_of_a_score_that_is_cut_off_is_a_finite_difference() -> None:
    """Weights of fields are learnt, also where one of them is compared by a function that exceeds its bound."""
    odd = SelfBounded(lw.Parts("sum", a=lambda x, y: 1.0 + 0.5 * abs(x - y), b=lw.RBF(0.5)))
    records = [{"a": x, "b": y} for x, y in np.random.default_rng(0).random((6, 2)).tolist()]
    a = odd.encode(records)
    assert np.any(odd.between(a, a) < odd.wrapped.between(a, a))
    check_parameters(odd, a, np.random.default_rng(0))
