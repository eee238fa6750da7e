"""Mean, variance, gradients, leave-one-out and growth of the posterior."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as SklearnRBF
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import likewise as lw
from likewise.model.spectrum import SPECTRA

SEEDS = st.integers(0, 10_000)


def indefinite(seed, t):
    raw = np.random.default_rng(seed).random((t, t))
    return 0.5 * (raw + raw.T) + 0.3 * np.eye(t)


@given(seed=SEEDS, d=st.integers(1, 4), t=st.integers(1, 20), noise=st.floats(1e-4, 1.0))
@settings(max_examples=50, deadline=None)
def test_a_psd_similarity_reproduces_gaussian_process_regression(seed, d, t, noise):
    rng = np.random.default_rng(seed)
    x, y, new = rng.random((t, d)), rng.standard_normal(t), rng.random((5, d))
    lengthscale = rng.uniform(0.2, 2.0, d)
    reference = GaussianProcessRegressor(SklearnRBF(lengthscale), alpha=noise, optimizer=None).fit(x, y)
    mean, covariance = reference.predict(new, return_cov=True)
    post = lw.condition(lw.RBF(lengthscale), x, y, noise=noise)
    np.testing.assert_allclose(post.mean(new), mean, atol=1e-8)
    np.testing.assert_allclose(post.covariance(new), covariance, atol=1e-8)
    np.testing.assert_allclose(post.variance(new), np.diag(covariance), atol=1e-8)


@pytest.mark.parametrize("smoothness", [0.5, 1.5, 2.5])
def test_matern_and_amplitude_agree_with_scikit_learn(smoothness):
    rng = np.random.default_rng(0)
    x, y, new = rng.random((12, 3)), rng.standard_normal(12), rng.random((6, 3))
    kernel = ConstantKernel(2.5) * Matern([0.3, 0.7, 1.1], nu=smoothness)
    reference = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(x, y)
    mean, std = reference.predict(new, return_std=True)
    post = lw.condition(lw.Matern([0.3, 0.7, 1.1], smoothness), x, y, noise=0.1, amplitude=2.5)
    np.testing.assert_allclose(post.mean(new), mean, atol=1e-8)
    np.testing.assert_allclose(post.std(new), std, atol=1e-8)


def test_covariance_is_signed_and_psd():
    """Errata 11: absolute values off the diagonal would be wrong."""
    rng = np.random.default_rng(4)
    post = lw.condition(lw.RBF(0.3), rng.random((6, 2)), rng.standard_normal(6), noise=1e-3)
    covariance = post.covariance(rng.random((30, 2)))
    assert covariance.min() < 0
    assert np.linalg.eigvalsh(covariance)[0] > -1e-10
    assert np.linalg.eigvalsh(np.abs(covariance))[0] < -1e-6


def test_variance_grows_away_from_the_data():
    """Errata 4."""
    post = lw.condition(lw.RBF(0.2), [[0.0]], [1.0], noise=1e-6)
    variance = post.variance([[0.0], [0.1], [0.3], [5.0]])
    assert np.all(np.diff(variance) > 0)
    np.testing.assert_allclose(variance[-1], 1.0)


@given(seed=SEEDS, t=st.integers(2, 9))
@settings(max_examples=50, deadline=None)
def test_permuting_observations_changes_nothing(seed, t):
    rng = np.random.default_rng(seed)
    objects, y = list(range(t)), rng.standard_normal(t)
    similarity = lw.Precomputed(list(range(t + 1)), indefinite(seed, t + 1))
    order = rng.permutation(t)
    for spectrum in SPECTRA:
        one = lw.condition(similarity, objects, y, 0.1, spectrum)
        other = lw.condition(similarity, [objects[i] for i in order], y[order], 0.1, spectrum)
        scale = np.linalg.cond(one.regression.treatment.matrix + 0.1 * np.eye(t))
        np.testing.assert_allclose(one.mean([t]), other.mean([t]), atol=1e-9 * scale)
        np.testing.assert_allclose(one.variance([t]), other.variance([t]), atol=1e-9 * scale)


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("similarity", [lw.RBF(0.5), lw.Linear(1.0), lw.Cosine(), lw.warped(lw.Matern(0.4), 1.5)])
def test_gradients_are_finite_differences(spectrum, similarity):
    rng = np.random.default_rng(7)
    post = lw.condition(similarity, rng.random((6, 3)) + 0.2, rng.standard_normal(6), 0.05, spectrum)
    x, h = rng.random((4, 3)) + 0.2, 1e-6
    mean_slope, variance_slope = post.gradients(x)
    for k in range(3):
        step = h * np.eye(3)[k]
        mean = (post.mean(x + step) - post.mean(x - step)) / (2 * h)
        variance = (post.variance(x + step) - post.variance(x - step)) / (2 * h)
        np.testing.assert_allclose(mean_slope[:, k], mean, atol=1e-5)
        np.testing.assert_allclose(variance_slope[:, k], variance, atol=1e-5)


def test_gradient_of_an_unsymmetric_solution():
    """With the basic solution of a singular matrix D ≠ Dᵀ, and the variance's gradient has D + Dᵀ."""
    x = np.array([[0.1], [0.1], [0.9]])
    post = lw.condition(lw.RBF(0.5), x, [1.0, 2.0, 0.0], 0.0, "as_is", singular="basic")
    h = 1e-6
    at = np.array([[0.4]])
    numeric = (post.variance(at + h) - post.variance(at - h)) / (2 * h)
    np.testing.assert_allclose(post.gradients(at)[1][:, 0], numeric, atol=1e-5)


def test_a_similarity_without_gradient_says_so():
    post = lw.condition(lambda a, b: 1.0 if a == b else 0.5, ["a", "b"], [0.0, 1.0])
    with pytest.raises(lw.SimilarityError, match="no gradient"):
        post.gradients(["a"])


def refitted(similarity, objects, y, noise, spectrum):
    """Leave-one-out by conditioning t times."""
    out = []
    for i in range(len(objects)):
        rest = [j for j in range(len(objects)) if j != i]
        post = lw.condition(similarity, [objects[j] for j in rest], y[rest], noise, spectrum)
        out.append((post.mean([objects[i]])[0], post.variance([objects[i]])[0]))
    return np.array(out).T


@given(seed=SEEDS, t=st.integers(2, 10))
@settings(max_examples=50, deadline=None)
def test_leave_one_out_equals_refitting(seed, t):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(t)
    cases = [
        (lw.RBF(0.4), list(rng.random((t, 2))), "clip"),
        (lw.Precomputed(list(range(t)), indefinite(seed, t)), list(range(t)), "as_is"),
    ]
    for similarity, objects, spectrum in cases:
        post = lw.condition(similarity, objects, y, 0.1, spectrum)
        matrix = post.regression.treatment.matrix + 0.1 * np.eye(t)
        # Each leave-out has its own condition number: the closed form can be no better than the refit itself.
        conditions = [np.linalg.cond(np.delete(np.delete(matrix, i, 0), i, 1)) for i in range(t)]
        scale = max(np.linalg.cond(matrix), *conditions) ** 2
        mean, variance = refitted(similarity, objects, y, 0.1, spectrum)
        loo = post.leave_one_out()
        np.testing.assert_allclose(loo.mean, mean, rtol=1e-10 * scale, atol=1e-10 * scale)
        np.testing.assert_allclose(loo.std**2, variance, rtol=1e-10 * scale, atol=1e-10 * scale)


@pytest.mark.parametrize("spectrum", ["krein", "clip", "flip"])
def test_leave_one_out_of_a_treated_matrix_withholds_the_value_and_keeps_the_treatment(spectrum):
    rng = np.random.default_rng(11)
    t = 8
    post = lw.condition(
        lw.Precomputed(list(range(t)), indefinite(5, t)), range(t), rng.standard_normal(t), 0.2, spectrum
    )
    matrix = post.regression.treatment.matrix + 0.2 * np.eye(t)
    loo = post.leave_one_out()
    for i in range(t):
        rest = [j for j in range(t) if j != i]
        weights = matrix[i, rest] @ np.linalg.inv(matrix[np.ix_(rest, rest)])
        np.testing.assert_allclose(loo.mean[i], weights @ post.regression.values[rest], atol=1e-9)
        variance = max(
            post.regression.treatment.matrix[i, i] - weights @ matrix[rest, i], post.regression.treatment.floor
        )
        np.testing.assert_allclose(loo.std[i] ** 2, variance, atol=1e-9)


def test_an_almost_singular_leave_out_is_refitted():
    """Without observation 0, M is diag(0, 1, 1): D_00 is next to zero and the closed form has no digits left."""
    scores = np.diag([0.0, 0.0, 1.0, 1.0])
    scores[0, 1] = scores[1, 0] = 1.0
    y = np.array([1.0, 2.0, 3.0, 4.0])
    post = lw.condition(lw.Precomputed(list(range(4)), scores), range(4), y, 0.0, "as_is")
    mean, variance = refitted(lw.Precomputed(list(range(4)), scores), list(range(4)), y, 0.0, "as_is")
    np.testing.assert_allclose(post.leave_one_out().mean, mean, atol=1e-9)
    np.testing.assert_allclose(post.leave_one_out().std ** 2, variance, atol=1e-9)


@pytest.mark.parametrize("spectrum", SPECTRA)
@given(seed=SEEDS)
@settings(max_examples=20, deadline=None)
def test_appending_equals_conditioning_at_once(spectrum, seed):
    rng = np.random.default_rng(seed)
    t = 7
    y = rng.standard_normal(t)
    for similarity, objects in [
        (lw.RBF(0.4), list(rng.random((t + 1, 2)))),
        (lw.Precomputed(list(range(t + 1)), indefinite(seed, t + 1)), list(range(t + 1))),
    ]:
        once = lw.condition(similarity, objects[:t], y, 0.1, spectrum)
        grown = lw.condition(similarity, objects[:3], y[:3], 0.1, spectrum).given_all(objects[3:t], y[3:], 0.1)
        scale = np.linalg.cond(once.regression.treatment.matrix + 0.1 * np.eye(t)) ** 2
        np.testing.assert_allclose(grown.mean(objects), once.mean(objects), rtol=1e-10 * scale, atol=1e-10 * scale)
        np.testing.assert_allclose(
            grown.variance(objects), once.variance(objects), rtol=1e-10 * scale, atol=1e-10 * scale
        )


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_no_observation_and_one_observation(spectrum):
    none = lw.condition(lw.RBF(1.0), [], [], spectrum=spectrum)
    np.testing.assert_allclose(none.std([[0.0], [1.0]]), 1.0)
    np.testing.assert_allclose(none.mean([[0.0]]), 0.0)
    assert none.influence([[0.0]]).shape == (1, 0)
    one = none.given([0.0], 2.0, 1e-8)
    np.testing.assert_allclose(one.mean([[0.0]]), 2.0, rtol=1e-6)
    assert len(one.leave_one_out().mean) == 1
    assert np.isfinite(one.leave_one_out().std).all()


def test_replicates_each_carry_their_own_noise():
    """Errata 12: two measurements of one object are worth one with half the noise."""
    twice = lw.condition(lw.RBF(1.0), [[0.0], [0.0]], [1.0, 3.0], noise=0.5)
    once = lw.condition(lw.RBF(1.0), [[0.0]], [2.0], noise=0.25)
    np.testing.assert_allclose(twice.mean([[0.3]]), once.mean([[0.3]]))
    np.testing.assert_allclose(twice.std([[0.3]]), once.std([[0.3]]))


def test_duplicates_without_noise_do_not_crash():
    post = lw.condition(lw.RBF(1.0), [[0.0], [0.0], [1.0]], [1.0, 3.0, 0.0], noise=0.0)
    np.testing.assert_allclose(post.mean([[0.0]]), 2.0, atol=1e-6)


def test_bad_input_is_named():
    with pytest.raises(lw.LikewiseError, match="3 objects need 3 values"):
        lw.condition(lw.RBF(1.0), [[0.0], [1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(lw.LikewiseError, match=r"the value of \[1.0\] is nan"):
        lw.condition(lw.RBF(1.0), [[0.0], [1.0]], [1.0, np.nan])
    with pytest.raises(lw.LikewiseError, match="it is a variance"):
        lw.condition(lw.RBF(1.0), [[0.0]], [1.0], noise=-1.0)
    with pytest.raises(lw.LikewiseError, match="amplitude must be positive"):
        lw.condition(lw.RBF(1.0), [[0.0]], [1.0], amplitude=0.0)
    with pytest.raises(lw.SimilarityError, match="not symmetric"):
        lw.condition(lambda a, b: 1.0 if a < b else 0.5, [1, 2], [0.0, 1.0])
    with pytest.raises(lw.SimilarityError, match="negative"):
        lw.condition(lambda a, b: 1.0 - abs(a - b), [1, 4], [0.0, 1.0])
    with pytest.raises(lw.SimilarityError, match="not a finite number"):
        lw.condition(lambda a, b: float("nan") if a != b else 1.0, [1, 4], [0.0, 1.0])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_further_value_that_is_not_finite_is_named(value):
    post = lw.condition(lw.Indel(), ["CC", "CCC"], [0.0, 1.0])
    with pytest.raises(lw.LikewiseError, match=f"the value of 'CO' is {value}"):
        post.given("CO", value)
    with pytest.raises(lw.LikewiseError, match=f"the value of 'CO' is {value}"):
        post.given_all(["C", "CO"], [1.0, value])
    with pytest.raises(lw.LikewiseError, match="the noise of 'CO' is -1"):
        post.given("CO", 1.0, noise=-1.0)


def test_a_signed_kernel_may_be_negative():
    post = lw.condition(lw.Linear(), [[1.0], [-1.0]], [1.0, -1.0])
    assert post.mean([[2.0]])[0] > 1.5
