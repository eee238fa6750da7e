"""Members side by side say what each of them says alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.model.regression import Pending, PendingPanel, Regression, known_values, regress
from likewise.model.spectrum import Spectrum, treat

T, M, P = 9, 5, 2


def case(seed: int, kind: Spectrum, psd: bool, decompose: bool) -> tuple[list[Regression], Any, Any, Any]:
    """Regressions of three noises on one treated matrix, and the scores of new objects and of two in flight."""
    rng = np.random.default_rng(seed)
    x = rng.random((T + M + P, 2))
    scores = lw.RBF(0.4).between(x, x)
    if not psd:
        noise = 0.3 * rng.standard_normal(scores.shape)
        scores = np.clip(scores + noise + noise.T, 0.0, 1.0)
        np.fill_diagonal(scores, 1.0)
    treatment = treat(scores[:T, :T], kind, psd=psd)
    treatment = treatment.decomposed if decompose else treatment
    values = rng.standard_normal(T)
    each = [
        regress(treatment, values, np.full(T, a * r), a, 0.1, psd=psd) for a, r in ((1.0, 0.1), (2.0, 0.01), (0.5, 1))
    ]
    new, flying = slice(T, T + M), slice(T + M, None)
    wide = np.hstack([scores[new, :T], scores[new, flying]])
    return each, wide, scores[flying, :T], scores[flying, flying]


CASES = [
    ("krein", True, True),
    ("krein", True, False),
    ("krein", False, False),
    ("clip", False, False),
    ("as_is", False, False),
]


@pytest.mark.parametrize(("kind", "psd", "decompose"), CASES)
@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_several_say_what_each_says_alone(kind: Any, psd: bool, decompose: bool, seed: int) -> None:
    regressions, wide, rows, among = case(seed, kind, psd, decompose)
    own, selves = wide[:, :T], np.ones(M)
    means, variances = PendingPanel(regressions, [None] * 3).moments(own, selves)
    for i, one in enumerate(regressions):
        np.testing.assert_allclose(means[i], one.mean(own), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(variances[i], one.variance(own, selves), rtol=1e-7, atol=1e-10)
    pending = [Pending.on(one, rows, among, known_values(one, [i])) for i, one in enumerate(regressions)]
    lower = PendingPanel(regressions, pending).lower(variances, wide)
    for i, (one, own_pending) in enumerate(zip(regressions, pending, strict=True)):
        alone = PendingPanel([one], [own_pending])
        np.testing.assert_allclose(lower[i], alone.lower(variances[i][None], wide)[0], rtol=1e-9, atol=1e-12)
        fall = one.spread * np.sum((wide @ own_pending.factor.T) ** 2, axis=1)
        np.testing.assert_allclose(lower[i], np.maximum(variances[i] - fall, own_pending.floor), rtol=1e-7, atol=1e-10)
        assert np.all(lower[i] >= own_pending.floor)


@pytest.mark.parametrize("waiting", [False, True])
@pytest.mark.parametrize(("kind", "psd", "decompose"), CASES)
def test_the_chain_rule_is_a_finite_difference(kind: Any, psd: bool, decompose: bool, waiting: bool) -> None:
    regressions, wide, rows, among = case(1, kind, psd, decompose)
    pending = [Pending.on(one, rows, among) if waiting else None for one in regressions]
    panel, scores = PendingPanel(regressions, pending), wide if waiting else wide[:, :T]
    in_mean, in_variance = np.random.default_rng(2).standard_normal((2, 3, M))
    means, variances, pull = panel.linearise(scores, np.ones(M))
    plain = panel.moments(scores[:, :T], np.ones(M))
    np.testing.assert_allclose(means, plain[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(variances, panel.lower(plain[1], scores), rtol=1e-7, atol=1e-10)
    on_rows, on_selves = pull(in_mean, in_variance)

    def total(change: float, i: int, j: int | None) -> float:
        moved, selves = scores.copy(), np.ones(M)
        if j is None:
            selves[i] += change
        else:
            moved[i, j] += change
        m, v, _ = panel.linearise(moved, selves)
        return float(np.sum(in_mean * m) + np.sum(in_variance * v))

    step = 1e-6
    for i in range(M):
        for j in (None, 0, scores.shape[1] - 1):
            numeric = (total(step, i, j) - total(-step, i, j)) / (2 * step)
            found = on_selves[i] if j is None else on_rows[i, j]
            np.testing.assert_allclose(found, numeric, rtol=1e-4, atol=1e-5)
