"""Each treatment does what the table says, to the matrix and to new objects alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.model.spectrum import SPECTRA, negative_share, treat

NOISE = 0.05


def table(scores, row, own, spectrum):
    """Matrix, row and self of the design's table, written out plainly."""
    levels, u = np.linalg.eigh(scores)
    if spectrum == "as_is":
        return scores, row, own
    if spectrum == "clip":
        keep = levels > 1e-12
        return (u * np.where(keep, levels, 0)) @ u.T, row @ u @ np.diag(keep.astype(float)) @ u.T, own
    if spectrum == "krein":
        keep, ridge = levels > 1e-12, 0.25 * max(0.0, -levels[0])
        shrunk = np.where(keep, levels / (levels + ridge), 0.0)
        least = max(ridge, 0.01 * np.mean(np.abs(np.diag(scores))))
        energy = sum((row @ u[:, k]) ** 2 / (abs(levels[k]) + least) for k in np.flatnonzero(~keep))
        return (u * np.where(keep, levels, 0)) @ u.T, row @ (u * shrunk) @ u.T, own + energy
    return (u * np.abs(levels)) @ u.T, row @ u @ np.diag(np.sign(levels)) @ u.T, own


def indefinite(seed, t=6):
    raw = np.random.default_rng(seed).random((t, t))
    return 0.5 * (raw + raw.T)


@pytest.mark.parametrize("spectrum", SPECTRA)
@given(seed=st.integers(0, 10_000), heteroscedastic=st.booleans())
@settings(max_examples=40, deadline=None)
def test_mean_and_variance_follow_the_table(spectrum, seed, heteroscedastic):
    rng = np.random.default_rng(seed)
    full = indefinite(seed, 7)
    scores, row, own = full[:6, :6], full[6, :6], full[6, 6]
    y = rng.standard_normal(6)
    noise = NOISE * (1 + rng.random(6)) if heteroscedastic else np.full(6, NOISE)
    similarity = lw.Precomputed(list(range(7)), full)
    post = lw.condition(similarity, list(range(6)), y, noise, spectrum)
    matrix, treated, self_ = table(scores, row, own, spectrum)
    inverse = np.linalg.inv(matrix + np.diag(noise))
    signed = self_ - treated @ inverse @ treated
    variance = abs(signed) if spectrum == "as_is" else max(signed, post.regression.treatment.floor)
    if spectrum == "krein" and signed < 0:
        variance = min(-signed, np.mean(np.diag(matrix)))
    scale = np.linalg.cond(matrix + np.diag(noise))
    np.testing.assert_allclose(post.mean([6])[0], treated @ inverse @ y, rtol=1e-9 * scale, atol=1e-9 * scale)
    np.testing.assert_allclose(post.variance([6])[0], variance, rtol=1e-9 * scale, atol=1e-9 * scale)
    np.testing.assert_allclose(post.influence([6])[0] @ y, post.mean([6])[0], atol=1e-9 * scale)


@pytest.mark.parametrize("spectrum", ["krein", "clip", "flip"])
def test_a_psd_similarity_is_left_alone(spectrum):
    x = np.random.default_rng(0).random((5, 2))
    scores = lw.RBF(1.0).between(x, x)
    assert treat(scores, spectrum, psd=True).matrix is scores
    np.testing.assert_allclose(treat(scores, spectrum).matrix, scores, atol=1e-12)
    assert treat(scores, spectrum).rotation is None


@pytest.mark.parametrize("spectrum", ["krein", "clip", "flip"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_treated_matrices_are_psd(spectrum, seed):
    levels = np.linalg.eigvalsh(treat(indefinite(seed), spectrum).matrix)
    assert levels[0] >= -1e-10 * levels[-1]


def test_the_row_of_an_observed_object_is_its_row_in_the_treated_matrix():
    """Consistency: treating a row of S gives the row of the treated S."""
    scores = indefinite(3)
    for spectrum in ("clip", "flip"):
        treatment = treat(scores, spectrum)
        np.testing.assert_allclose(scores @ treatment.rotation, treatment.matrix, atol=1e-10)


def test_negative_share():
    assert negative_share(np.array([1.0, 2.0])) == 0.0
    assert negative_share(np.array([-1.0, 1.0])) == 0.5


def test_unknown_treatment_is_named():
    with pytest.raises(lw.LikewiseError, match="'polish'"):
        treat(np.eye(2), "polish")


@pytest.mark.parametrize("spectrum", ["krein", "clip", "flip"])
def test_what_is_promised_to_be_psd_is_not_treated_however_singular(spectrum):
    """Rounding leaves tiny negative eigenvalues in smooth kernels, and they are no reason to change anything."""
    x = np.linspace(0.0, 1.0, 40)[:, None]
    scores = lw.RBF(2.0).between(x, x)
    treatment = treat(scores, spectrum, psd=True).decomposed
    assert treatment.matrix is scores
    assert treatment.plain
    assert (treatment.eigen.signs == 1.0).all()


def test_a_row_too_large_for_any_kernel_is_uncertain_and_not_certain():
    """Where the observed matrix is positive and a new object contradicts it, −v is the variance, up to a usual self."""
    treatment = treat(np.array([[1.0, 0.9], [0.9, 1.0]]), "krein")
    signed = np.array([0.3, -0.2, -50.0, 0.0])
    assert treatment.variance(signed) == pytest.approx([0.3, 0.2, 1.0, treatment.floor])
    step = 1e-6
    slopes = (treatment.variance(signed + step) - treatment.variance(signed - step)) / (2 * step)
    assert treatment.variance_slope(signed[:3]) == pytest.approx(slopes[:3])


def test_small_eigenvalues_are_doubted_where_other_objects_show_negative_ones():
    scores = np.array([[1.0, 0.999], [0.999, 1.0]])
    doubted = treat(scores, "krein", doubt=0.4)
    assert doubted.doubt == pytest.approx(0.4)
    row = np.array([1.0, 0.5])
    assert abs(row @ doubted.rotation @ np.array([1.0, -1.0])) < 0.02 * abs(row @ np.array([1.0, -1.0]))
