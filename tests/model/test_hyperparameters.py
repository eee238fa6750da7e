"""Learning: gradients are right, and plausible parameters are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_t

import likewise as lw
from likewise.model.evidence import (
    AMPLITUDE_STRENGTH,
    NOISE_PRIOR,
    evidences,
    marginal_likelihood,
    spectral_evidence,
    tridiagonal_evidence,
)
from likewise.model.fit import _objective, learn, learn_mix, tabulate
from likewise.model.spectrum import treat
from likewise.similarity.base import LogNormal
from likewise.similarity.kinds.vectors import lengthscale_prior


def data(seed=0, t=14, d=2):
    rng = np.random.default_rng(seed)
    x = rng.random((t, d))
    y = np.sin(4 * x[:, 0]) + 0.05 * rng.standard_normal(t)
    return x, (y - y.mean()) / y.std()


def records(seed=0, t=14):
    x, y = data(seed, t)
    return [{"a": row[:1], "b": row[1:]} for row in x], y


@pytest.mark.parametrize(
    "similarity",
    [
        lw.RBF(0.5),
        lw.Matern([0.4, 0.9], 0.5),
        lw.Matern(0.5, 1.5),
        lw.Matern(0.5, 2.5),
        lw.RBF(0.3) + 2.0 * lw.Matern(0.8),
        lw.RBF(0.3) * lw.Matern(0.8),
        lw.warped(lw.RBF(0.5), 2.0),
        lw.warped(lw.Matern(0.5, 0.5) + lw.Linear(0.1), 1.0),
    ],
)
def test_the_gradient_of_the_log_posterior_is_a_finite_difference(similarity):
    x, y = data()
    check_gradient(similarity, similarity.encode(x), y)


@pytest.mark.parametrize("how", ["product", "sum"])
def test_the_gradient_for_records(how):
    objects, y = records()
    similarity = lw.Parts(how, [0.7, 1.4], a=lw.RBF(0.4), b=lw.Matern(0.7))
    check_gradient(similarity, similarity.encode(objects), y)


def test_the_gradient_through_the_clip_of_an_indefinite_similarity():
    objects, y = records(t=10)
    raw = np.random.default_rng(1).random((10, 10))
    scores = 0.5 * (raw + raw.T) + 0.5 * np.eye(10)
    names = [str(i) for i in range(10)]
    similarity = lw.Parts("sum", [0.6, 1.1], a=lw.RBF(0.4), name=lw.Precomputed(names, scores))
    encodings = similarity.encode([{**o, "name": n} for o, n in zip(objects, names, strict=True)])
    assert not similarity.psd
    check_gradient(similarity, encodings, y)


def check_gradient(similarity, encodings, y):
    parameters = similarity.parameters(encodings)
    objective = _objective(tabulate(similarity, encodings), parameters, encodings, y, np.zeros(len(y)))
    at = np.log(np.concatenate([*(p.value for p in parameters.values()), [0.05]]))
    _, gradient = objective(at)
    h = 1e-5
    numeric = [(objective(at + h * e)[0] - objective(at - h * e)[0]) / (2 * h) for e in np.eye(len(at))]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)


def test_the_evidence_is_a_multivariate_t_density():
    """Integrating the amplitude out of N(0, aM) with an inverse-gamma prior leaves a Student-t."""
    x, y = data(t=6)
    matrix = lw.RBF(0.5).between(x, x) + 0.1 * np.eye(6)
    quadratic = float(y @ np.linalg.solve(matrix, y))
    evidence = marginal_likelihood(quadratic, float(np.linalg.slogdet(matrix)[1]), 6)
    reference = multivariate_t.logpdf(y, shape=matrix, df=AMPLITUDE_STRENGTH)
    np.testing.assert_allclose(evidence.log, reference, rtol=1e-10)


def test_the_spectral_evidence_is_the_same_for_every_noise():
    x, y = data(t=8)
    scores = lw.RBF(0.5).between(x, x)
    levels, basis = np.linalg.eigh(scores)
    for ratio in (1e-3, 1e-1, 1.0):
        matrix = scores + ratio * np.eye(8)
        direct = marginal_likelihood(float(y @ np.linalg.solve(matrix, y)), float(np.linalg.slogdet(matrix)[1]), 8)
        spectral = spectral_evidence(np.maximum(levels, 0), y @ basis, [ratio])[0]
        np.testing.assert_allclose(spectral.log, direct.log, rtol=1e-8)
        np.testing.assert_allclose(spectral.amplitude, direct.amplitude, rtol=1e-8)


@pytest.mark.parametrize("t", [2, 8, 40])
def test_a_tridiagonal_form_has_the_evidence_of_all_noises(t):
    x, y = data(t=t)
    scores, ratios = lw.RBF(0.5).between(x, x) + 1.0, [1e-6, 1e-2, 0.5]
    levels, basis = np.linalg.eigh(scores)
    for values in (y, np.zeros(t)):
        found = tridiagonal_evidence(scores, values, ratios)
        for one, other in zip(found, spectral_evidence(levels, values @ basis, ratios), strict=True):
            np.testing.assert_allclose([one.log, one.amplitude], [other.log, other.amplitude], rtol=1e-8)


def test_a_matrix_that_was_promised_to_be_psd_and_is_not_has_evidence_all_the_same():
    treatment, y = treat(np.array([[1.0, 2.0], [2.0, 1.0]]), psd=True), np.array([1.0, -1.0])
    assert tridiagonal_evidence(treatment.matrix, y, [1e-6, 0.5]) is None
    assert all(np.isfinite(one.log) for one in evidences(treatment, [1e-6, 0.5], y, np.zeros(2)))


def test_an_irrelevant_dimension_gets_a_long_lengthscale():
    x, y = data(t=30)
    found = learn(lw.RBF(), x, y)
    assert found.similarity.lengthscale[1] > 3 * found.similarity.lengthscale[0]
    assert found.ratio < 0.1


def test_learning_climbs_from_where_it_starts():
    x, y = data(t=20)
    encodings = lw.RBF(5.0).encode(x)
    start = lw.RBF(5.0)
    objective = _objective(start, start.parameters(encodings), encodings, y, np.zeros(20))
    before = -objective(np.log(np.array([5.0, 5.0, NOISE_PRIOR.mode])))[0]
    assert learn(start, encodings, y).log_posterior > before


def test_an_offset_keeps_crowded_observations_from_raising_the_mean_far_away():
    """Twenty observations near one good spot, two poor ones elsewhere: far away nothing good is known."""
    x = np.vstack([np.random.default_rng(0).normal(0.5, 0.01, (20, 1)), [[0.0], [1.0]]])
    y = np.append(np.full(20, 1.0), [-1.0, -1.0])
    far = [[9.0]]
    # A very long lengthscale is the constant 1.
    with_offset = lw.condition(lw.RBF(0.1) + lw.RBF(1e9), x, (y - y.mean()) / y.std(), 1e-3)
    without = lw.condition(lw.RBF(0.1), x, (y - y.mean()) / y.std(), 1e-3)
    assert with_offset.mean(far)[0] < without.mean(far)[0] - 0.5


def test_known_noise_is_not_learnt_twice():
    """With the measurement variances given, little noise is left to learn."""
    rng = np.random.default_rng(3)
    x = rng.random((40, 1))
    y = np.sin(6 * x[:, 0]) + 0.5 * rng.standard_normal(40)
    y = (y - y.mean()) / y.std()
    blind, told = learn(lw.RBF(), x, y), learn(lw.RBF(), x, y, np.full(40, 0.25))
    assert told.ratio < 0.5 * blind.ratio


def test_learnt_mixes_prefer_the_likeness_that_explains():
    rng = np.random.default_rng(4)
    x = rng.random((40, 2))
    y = np.sin(6 * x[:, 0])
    good, bad = lw.RBF(0.3).between(x[:, :1], x[:, :1]), lw.RBF(0.3).between(x[:, 1:], x[:, 1:])
    weights = learn_mix([good, bad], (y - y.mean()) / y.std(), np.zeros(40))
    np.testing.assert_allclose(weights.sum(), 1.0)
    assert weights[0] > 0.7


def test_the_lengthscale_prior_is_the_dimension_scaled_log_normal():
    prior = lengthscale_prior(9)
    np.testing.assert_allclose([prior.location, prior.scale], [np.sqrt(2) + 0.5 * np.log(9), np.sqrt(3)])


def test_a_priors_slope_is_its_derivative_in_the_logarithm():
    prior, at, h = LogNormal(0.3, 0.8), np.array([0.4, 2.0]), 1e-6
    numeric = [
        (prior.log_density(np.exp(np.log(at) + h * e)) - prior.log_density(np.exp(np.log(at) - h * e))) / (2 * h)
        for e in np.eye(2)
    ]
    np.testing.assert_allclose(prior.log_slope(at), numeric, rtol=1e-6)


def test_powers_of_a_psd_product_may_be_indefinite_and_are_treated():
    """A product of PSD parts is PSD with whole weights; on the way to learnt ones it need not be."""
    rng = np.random.default_rng(5)
    raw = rng.random((30, 2)).round(1)
    objects = [{"a": row[:1], "b": row[1:]} for row in raw]
    sets = lw.from_function(lambda x, y: float(min(x[0], y[0])), psd=True)
    similarity = lw.Parts(a=sets, b=lw.RBF(0.5))
    assert similarity.psd
    found = learn(similarity, similarity.encode(objects), rng.standard_normal(30))
    assert np.isfinite(found.log_posterior)
    assert not found.similarity.psd
