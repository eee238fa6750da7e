"""Scores that are no scores are refused wherever they are computed: among observed objects and with candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.model.scores import Gram
from likewise.similarity.algebra import Mix

BOX = lw.Box([0.0], [3.0])


def lines(x: Any, y: Any) -> float:
    return float(1.0 - abs(x[0] - y[0]))


def told(similarity: Any, space: lw.Space = BOX, **options: Any) -> lw.Study:
    study = lw.Study(space, similarity, **options)
    study.tell_many([([x], float(np.sin(5.0 * x))) for x in np.linspace(0.1, 0.9, 8)])
    return study


@pytest.mark.parametrize(
    "use",
    [
        lambda s: s.predict([[1.2], [2.5]]),
        lambda s: s.explain([2.5]),
        lambda s: s.ask(),
        lambda s: s.ask(3),
    ],
    ids=["predict", "explain", "ask", "a batch"],
)
def test_a_negative_score_with_a_candidate_is_refused(use: Callable[[lw.Study], Any]) -> None:
    study = told(lines)
    with pytest.raises(lw.SimilarityError, match=r"negative: S\(.*= -.*add a constant"):
        use(study)
    # The study is as it was.
    assert study.count(lw.State.TOLD) == 8
    assert np.all(np.isfinite(study.predict([[0.5]]).mean))


@pytest.mark.parametrize("strategy", [lw.Thompson(), lw.TwoStage(), lw.TopScore()])
def test_every_strategy_refuses_it(strategy: Any) -> None:
    with pytest.raises(lw.SimilarityError, match="negative"):
        told(lines, strategy=strategy).ask(2)


def test_the_first_batch_refuses_it() -> None:
    with pytest.raises(lw.SimilarityError, match="negative"):
        lw.Study(BOX, lines).ask(2)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_refused(wrong: float) -> None:
    def alike(x: Any, y: Any) -> float:
        return wrong if max(x[0], y[0]) > 2.0 else float(np.exp(-abs(x[0] - y[0])))

    with pytest.raises(lw.SimilarityError, match=r"not a finite number: S\(\[?.*2\.5"):
        told(alike).predict([[1.0], [2.5]])


def test_a_score_with_itself_is_looked_at_too() -> None:
    def alike(x: Any, y: Any) -> float:
        return -1.0 if x[0] == y[0] > 2.0 else float(np.exp(-abs(x[0] - y[0])))

    with pytest.raises(lw.SimilarityError, match="negative"):
        told(alike).predict([[2.5]])


def test_gradients_refuse_it() -> None:
    posterior = lw.condition(lw.SymmetricKL(constant=1.0), [lw.Gaussian(0.0, 1.0)], [1.0])
    far = [lw.Gaussian(9.0, 1.0)]
    for use in (posterior.predict, posterior.gradients, posterior.covariance):
        with pytest.raises(lw.SimilarityError, match="negative"):
            use(far)


def test_a_signed_kernel_may_be_negative() -> None:
    study = told(lw.Linear(), lw.Box([-3.0], [3.0]))
    assert np.all(np.isfinite(study.predict([[-2.0]]).mean))
    assert study.ask()


def test_a_hair_below_zero_is_rounding() -> None:
    scores = {0: np.array([[-1e-15, 0.25]])}
    assert Mix((1.0,), 0.5).scores(scores).tolist() == [[0.0, 0.5]]
    gram = Gram.of(lw.from_function(lambda x, y: 1.0 if x == y else -1e-12), ["a", "b"])
    assert np.all(np.isfinite(gram.rows(gram.similarity.encode(["c"]))))


def test_gaussians_keep_a_constant_that_dominates() -> None:
    space = lw.Gaussians((-3, 3), (0.01, 4))
    study = lw.Study(space, lw.SymmetricKL(constant=50), seed=3)
    for _ in range(7):
        (s,) = study.ask()
        study.tell(s, -float(s.object.mean[0] ** 2))
    assert all(t.summary is not None for t in study.trials)
    large = lw.SymmetricKL(constant=2.0 * space.divergence_bound())
    assert space.view(large) == large
    seen = space.view(lw.SymmetricKL(constant=50))
    objects = space.sample(200, np.random.default_rng(0))
    assert seen.between(seen.encode(objects), seen.encode(objects)).min() >= 0.0
