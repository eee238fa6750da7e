"""What is to be improved on belongs to each member: what it believes is the best measured, or in flight."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.acquisition.acquisitions import Acquisition
from likewise.acquisition.scorer import Scorer
from likewise.model.fit import FitSettings, fit
from likewise.model.scores import Gram

IMPROVEMENTS = [lw.LogExpectedImprovement(), lw.ProbabilityOfImprovement()]


def made(seed: int, acquisition: Acquisition = IMPROVEMENTS[0], spectrum: str = "clip", t: int = 12) -> Scorer:
    rng = np.random.default_rng(seed)
    x = rng.random((t, 2))
    y = np.sin(5 * x[:, 0]) + x[:, 1] + 0.3 * rng.standard_normal(t)
    # The last similarity is indefinite, so that there is something to treat.
    close = lw.from_function(lambda a, b: float(abs(a[0] - b[0]) < 0.3))
    grams = [Gram.of(similarity, list(x)) for similarity in (lw.RBF(0.4), lw.Matern(0.6), close)]
    standing = FitSettings(spectra=(spectrum,), ratios=(1e-3, 1e-2, 1e-1, 5e-1))  # type: ignore[arg-type]
    return Scorer.on(fit(grams, y, settings=standing), acquisition)


def means(scorer: Scorer, objects: Any) -> Any:
    committee = scorer.committee
    encodings = committee.encode(list(objects))
    return committee.moments(committee.rows(encodings), committee.selves(encodings))[0]


@given(seed=st.integers(0, 10_000), spectrum=st.sampled_from(["clip", "flip"]))
@settings(max_examples=25, deadline=None)
def test_an_incumbent_is_the_largest_mean_of_its_member_at_the_observed_objects(seed: int, spectrum: str) -> None:
    scorer = made(seed, spectrum=spectrum)
    np.testing.assert_allclose(scorer.incumbents, means(scorer, scorer.committee.objects).max(axis=1), atol=1e-6)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_what_is_in_flight_raises_each_members_incumbent_to_its_own_mean(seed: int) -> None:
    scorer = made(seed)
    pending = list(np.random.default_rng(seed + 1).random((3, 2)))
    expected = np.maximum(scorer.incumbents, means(scorer, pending).max(axis=1))
    np.testing.assert_allclose(scorer.with_pending(pending).incumbents, expected, atol=1e-9)
    one_by_one = scorer.with_pending(pending[:1]).with_pending(pending[1:])
    np.testing.assert_allclose(one_by_one.incumbents, expected, atol=1e-9)


@pytest.mark.parametrize("acquisition", IMPROVEMENTS)
def test_no_member_sees_an_improvement_where_something_is_in_flight(acquisition: Acquisition) -> None:
    """One incumbent for all let a member that expects more than the others suggest the same place again."""
    for seed in range(10):
        scorer = made(seed, acquisition)
        x = np.random.default_rng(seed).random((200, 2))
        best = x[int(np.argmax(scorer.score(list(x))))]
        waiting = scorer.with_pending([best])
        at = means(waiting, [best])[:, 0]
        assert np.all(at <= waiting.incumbents + 1e-9)
        # Half a chance to beat it by nothing is left of a probability; of an improvement nothing to speak of is.
        left = np.exp(waiting.score([best]) - scorer.score([best]))
        assert acquisition is not IMPROVEMENTS[0] or left < 0.05


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_an_object_in_flight_lowers_the_worth_of_others_as_telling_its_own_mean_would(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.random((10, 2)), rng.standard_normal(10)
    gram = Gram.of(lw.RBF(0.3), list(x))
    standing = FitSettings(learn=False, ratios=(1e-2,), warps=(1.0,), offset=0.0)
    # Of improvements that count however small they are.
    scorer = replace(Scorer.on(fit([gram], y, settings=standing), IMPROVEMENTS[0]), margins=0.0)
    (member,) = scorer.committee.members
    flying, others = rng.random(2), list(rng.random((30, 2)))
    mean, best = float(means(scorer, [flying])[0, 0]), int(np.argmax(member.regression.fitted))
    # What is in flight is about to be known, and the best so far is what to compare with: doubt of it is no hope.
    hair, grown = 1e-6 * member.regression.amplitude, gram.grow([flying, x[best]])
    after = member.regression.given(grown.scores[:-1, :-1], mean, hair)
    after = after.given(grown.scores, float(member.regression.fitted[best]), hair)
    rows, selves = grown.rows(gram.similarity.encode(others)), np.ones(30)
    # One measurement moves the mean by V/√(V + σ²).
    variances, noise = after.variance(rows, selves), 1e-2 * member.regression.spread
    spreads = variances / np.sqrt(variances + noise)
    expected = IMPROVEMENTS[0].score(after.mean(rows), spreads, max(after.fitted))
    found = scorer.with_pending([flying]).score(others)
    near = expected > -20
    np.testing.assert_allclose(found[near], expected[near], rtol=1e-3, atol=1e-3)


def test_one_lucky_measurement_is_no_incumbent() -> None:
    """Twenty noisy values around 0 at one place and one of 3 at another like it: nobody believes in 3."""
    rng = np.random.default_rng(0)
    x = [np.array([0.5 + 1e-3 * i]) for i in range(21)]
    y = np.append(0.3 * rng.standard_normal(20), 3.0)
    x += [np.array([v]) for v in np.linspace(0, 1, 10)]
    y = np.append(y, 0.3 * rng.standard_normal(10))
    scorer = Scorer.on(fit([Gram.of(lw.RBF(0.3), x)], y, settings=FitSettings(ratios=(1e-1, 5e-1))), IMPROVEMENTS[0])
    assert scorer.incumbents.max() < 0.7 * scorer.committee.targets.max()
