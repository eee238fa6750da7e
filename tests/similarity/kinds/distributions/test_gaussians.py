"""Closed forms for Gaussians: against integrals and matrix functions, with gradients against central differences."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from examples.similarities.jensen_shannon import GeometricJensenShannon, JensenShannon
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import integrate, linalg

from likewise.errors import SimilarityError
from likewise.similarity.algebra import warped
from likewise.similarity.base import is_differentiable
from likewise.similarity.encoding import join, take
from likewise.similarity.functions import DistanceSimilarity
from likewise.similarity.kinds.gaussians import (
    Bhattacharyya,
    Gaussian,
    SymmetricKL,
    Wasserstein2,
    covariance_from_numbers,
    covariance_to_numbers,
    diagonal_gaussians,
)
from likewise.similarity.kinds.vectors import RBF
from likewise.testing.similarities import check_similarity

CLOSED = [SymmetricKL(lengthscale=3.0), Bhattacharyya(), GeometricJensenShannon(lengthscale=2.0), Wasserstein2(4.0)]
EVERY = [*CLOSED, JensenShannon(lengthscale=0.5, points=16), SymmetricKL(constant=1e4), Wasserstein2(constant=1e3)]
WITH_FULL = [
    SymmetricKL(lengthscale=3.0, full=True),
    Bhattacharyya(full=True),
    GeometricJensenShannon(lengthscale=2.0, full=True),
    Wasserstein2(lengthscale=4.0, full=True),
]


def name(similarity: DistanceSimilarity) -> str:
    return f"{similarity.name}-{'full' if similarity.full else 'diagonal'}"  # type: ignore[attr-defined]


def rows(n: int, d: int) -> st.SearchStrategy[np.ndarray]:
    """n Gaussians of d dimensions as rows (μ, σ)."""
    means = arrays.arrays(float, (n, d), elements=st.floats(-3.0, 3.0))
    logs = arrays.arrays(float, (n, d), elements=st.floats(-3.0, 2.0))
    return st.tuples(means, logs).map(lambda both: np.hstack([both[0], np.exp(both[1])]))


def some_rows(n: int, low: int = 1, high: int = 4) -> st.SearchStrategy[np.ndarray]:
    return st.integers(low, high).flatmap(lambda d: rows(n, d))


def objects(array: np.ndarray) -> list[Gaussian]:
    d = array.shape[1] // 2
    return diagonal_gaussians(array[:, :d], array[:, d:])


def moved(x: Gaussian, step: np.ndarray) -> Gaussian:
    """The Gaussian with its mean and its log-Cholesky coordinates moved."""
    d = x.dimension
    return Gaussian(x.mean + step[:d], covariance_from_numbers(covariance_to_numbers(x.covariance[None]) + step[d:])[0])


def random_full(n: int, d: int, seed: int) -> list[Gaussian]:
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(n, d, d))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(d)
    return [Gaussian(m, c) for m, c in zip(rng.normal(size=(n, d)), covariances, strict=True)]


def distance(similarity: DistanceSimilarity, x: Gaussian, y: Gaussian) -> float:
    return float(similarity.distances(similarity.encode([x]), similarity.encode([y]))[0, 0])


def density(x: Gaussian):  # type: ignore[no-untyped-def]
    return lambda omega: float(np.exp(x.log_density(np.array([[omega]]))[0]))


def integral(function, x: Gaussian, y: Gaussian) -> float:  # type: ignore[no-untyped-def]
    """∫ over the line where either of two one-dimensional Gaussians has mass."""
    ends = [g.mean[0] + k * np.sqrt(g.variance[0]) for g in (x, y) for k in (-12.0, 0.0, 12.0)]
    return float(integrate.quad(function, min(ends), max(ends), points=sorted(ends)[1:-1], limit=500)[0])


def kl(p, q):  # type: ignore[no-untyped-def]
    return lambda omega: p(omega) * np.log(p(omega) / q(omega)) if p(omega) > 1e-290 and q(omega) > 1e-290 else 0.0


def mixture(p, q):  # type: ignore[no-untyped-def]
    return lambda omega: 0.5 * (p(omega) + q(omega))


PAIRS = [(Gaussian(0.3, 0.5), Gaussian(1.1, 2.0)), (Gaussian(-1.0, 1.0), Gaussian(1.0, 1.0)), (Gaussian(0.0, 0.2),) * 2]


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_symmetric_kl_is_its_integral(x: Gaussian, y: Gaussian) -> None:
    p, q = density(x), density(y)
    expected = 0.5 * integral(kl(p, q), x, y) + 0.5 * integral(kl(q, p), x, y)
    assert distance(SymmetricKL(), x, y) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_bhattacharyya_is_its_integral(x: Gaussian, y: Gaussian) -> None:
    p, q = density(x), density(y)
    assert Bhattacharyya()(x, y) == pytest.approx(integral(lambda w: np.sqrt(p(w) * q(w)), x, y), abs=1e-8)


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_jensen_shannon_is_its_integral(x: Gaussian, y: Gaussian) -> None:
    p, q = density(x), density(y)
    m = mixture(p, q)
    expected = 0.5 * integral(kl(p, m), x, y) + 0.5 * integral(kl(q, m), x, y)
    assert distance(JensenShannon(), x, y) == pytest.approx(expected, abs=0.01)
    assert distance(JensenShannon(points=4096), x, y) == pytest.approx(expected, abs=3e-4)


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_geometric_jensen_shannon_is_its_integral(x: Gaussian, y: Gaussian) -> None:
    p, q = density(x), density(y)
    overlap = integral(lambda w: np.sqrt(p(w) * q(w)), x, y)
    expected = sum(0.5 * integral(kl(r, lambda w: np.sqrt(p(w) * q(w)) / overlap), x, y) for r in (p, q))
    assert distance(GeometricJensenShannon(), x, y) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_wasserstein_is_the_integral_of_quantiles(x: Gaussian, y: Gaussian) -> None:
    from scipy.stats import norm

    one, two = (norm(g.mean[0], np.sqrt(g.variance[0])) for g in (x, y))
    expected = integrate.quad(lambda u: (one.ppf(u) - two.ppf(u)) ** 2, 0.0, 1.0)[0]
    assert distance(Wasserstein2(), x, y) == pytest.approx(expected, abs=1e-6)


def test_jensen_shannon_error_is_as_documented() -> None:
    rng = np.random.default_rng(0)
    for d, error in ((1, 0.003), (2, 0.008), (5, 0.02)):
        a = np.hstack([rng.uniform(-3, 3, (12, d)) / np.sqrt(d), np.exp(rng.uniform(-3, 1.4, (12, d)))])
        gap = JensenShannon().distances(a, a) - JensenShannon(points=4096).distances(a, a)
        assert np.sqrt(np.mean(gap**2)) < error


@pytest.mark.parametrize("seed", range(3))
def test_full_covariances_against_matrix_functions(seed: int) -> None:
    x, y = random_full(2, 3, seed)
    A, B, away = x.covariance, y.covariance, x.mean - y.mean
    kl_ = [
        0.5 * (np.trace(linalg.solve(Q, P)) - 3 + away @ linalg.solve(Q, away) + np.log(linalg.det(Q) / linalg.det(P)))
        for P, Q in ((A, B), (B, A))
    ]
    assert distance(SymmetricKL(full=True), x, y) == pytest.approx(np.mean(kl_), rel=1e-10)
    root = linalg.sqrtm(B)
    bures = away @ away + np.trace(A + B - 2.0 * linalg.sqrtm(root @ A @ root).real)
    assert distance(Wasserstein2(full=True), x, y) == pytest.approx(bures, rel=1e-9)
    M = 0.5 * (A + B)
    overlap = 0.125 * away @ linalg.solve(M, away) + 0.5 * np.log(
        linalg.det(M) / np.sqrt(linalg.det(A) * linalg.det(B))
    )
    assert distance(Bhattacharyya(full=True), x, y) == pytest.approx(overlap, rel=1e-10)


@given(some_rows(5))
@settings(max_examples=30, deadline=None)
def test_full_forms_of_diagonal_gaussians_are_the_diagonal_forms(array: np.ndarray) -> None:
    xs, weights = objects(array), np.random.default_rng(0).normal(size=(3, 2))
    for diagonal, full in zip(CLOSED, WITH_FULL, strict=True):
        (s, pull), (t, pull_full) = (
            S.linearise(S.encode(xs[:3]), S.encode(xs[3:]))  # type: ignore[attr-defined]
            for S in (diagonal, full)
        )
        np.testing.assert_allclose(s, t, rtol=1e-7, atol=1e-9)
        # By the logarithm of a root of a variance: ∂/∂log L_kk = 2σ ∂/∂σ.
        d = xs[0].dimension
        in_variance = pull_full(weights)[:, d : 2 * d] / np.array([2.0 * x.variance for x in xs[:3]])
        found = np.hstack([pull_full(weights)[:, :d], in_variance])
        np.testing.assert_allclose(pull(weights), found, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("similarity", EVERY, ids=name)
@given(array=some_rows(6))
@settings(max_examples=25, deadline=None)
def test_symmetric_and_non_negative_and_largest_for_equal_ones(
    similarity: DistanceSimilarity, array: np.ndarray
) -> None:
    a = similarity.encode(objects(array))
    S = similarity.between(a, a)
    scale = similarity.scores(0.0)
    np.testing.assert_allclose(S, S.T, atol=1e-9 * scale)
    np.testing.assert_allclose(np.diag(S), similarity.within(a), atol=1e-9 * scale)
    assert np.all(S >= 0)
    assert S.max() <= scale * (1 + 1e-12)
    if similarity.psd:
        assert np.linalg.eigvalsh(S)[0] > -1e-9


@pytest.mark.parametrize("similarity", [*EVERY, RBF(2.0)], ids=lambda s: s.name)
@given(array=some_rows(4), data=st.data())
@settings(max_examples=25, deadline=None)
def test_gradient_is_the_central_difference(similarity, array: np.ndarray, data: st.DataObject) -> None:  # type: ignore[no-untyped-def]
    assert is_differentiable(similarity)
    weights = np.random.default_rng(data.draw(st.integers(0, 99))).normal(size=(2, 2))
    b = similarity.encode(objects(array[2:]))

    def value(shift: np.ndarray) -> np.ndarray:
        return np.sum(weights * similarity.between(similarity.encode(objects(array[:2] + shift)), b), axis=1)

    _, pull = similarity.linearise(similarity.encode(objects(array[:2])), b)
    gradient = pull(weights)
    d = array.shape[1] // 2
    for k in range(2 * d):
        step = np.zeros((2, 2 * d))
        step[:, k] = 1e-5 if k < d else 1e-5 * array[:2, k]
        numeric = (value(step) - value(-step)) / (2.0 * step[:, k])
        scale = (
            1.0 + np.abs(gradient[:, k]) + np.abs(similarity.within(b)[0]) * 1e-4 / array[:2, k if k >= d else k + d]
        )
        np.testing.assert_array_less(np.abs(gradient[:, k] - numeric) / scale, 2e-5)


@pytest.mark.parametrize("similarity", WITH_FULL, ids=name)
def test_full_gradient_is_the_central_difference(similarity) -> None:  # type: ignore[no-untyped-def]
    xs = random_full(5, 3, 7)
    weights = np.random.default_rng(1).normal(size=(2, 3))
    b = similarity.encode(xs[2:])
    gradient = similarity.linearise(similarity.encode(xs[:2]), b)[1](weights)
    assert gradient.shape == (2, 9)
    for k in range(9):
        shifted = [[moved(x, e * np.eye(9)[k]) for x in xs[:2]] for e in (1e-5, -1e-5)]
        up, down = (np.sum(weights * similarity.between(similarity.encode(s), b), axis=1) for s in shifted)
        np.testing.assert_allclose(gradient[:, k], (up - down) / 2e-5, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("similarity", [*EVERY, *WITH_FULL], ids=name)
def test_the_score_with_itself_does_not_move(similarity) -> None:  # type: ignore[no-untyped-def]
    a = similarity.encode(objects(np.array([[0.0, 1.0, 0.5, 2.0], [1.0, 0.0, 1.0, 1.0]])))
    scores, pull = similarity.linearise_within(a)
    np.testing.assert_array_equal(scores, similarity.within(a))
    np.testing.assert_array_equal(pull(np.ones(2)), np.zeros((2, 5 if similarity.full else 4)))


@pytest.mark.parametrize("similarity", [*EVERY, *WITH_FULL], ids=name)
def test_encodings_are_taken_and_joined(similarity) -> None:  # type: ignore[no-untyped-def]
    xs = objects(np.array([[0.0, 0.5], [1.0, 1.0], [-1.0, 2.0]]))
    a = similarity.encode(xs)
    joined = join([take(a, slice(0, 1)), take(a, np.array([2, 1]))])
    expected = similarity.between(similarity.encode([xs[0], xs[2], xs[1]]), a)
    np.testing.assert_allclose(similarity.between(joined, a), expected, rtol=1e-12)


@pytest.mark.parametrize("similarity", [*EVERY, *WITH_FULL], ids=name)
def test_no_objects(similarity) -> None:  # type: ignore[no-untyped-def]
    a, none = similarity.encode(objects(np.array([[0.0, 0.5], [1.0, 1.0]]))), similarity.encode([])
    assert similarity.between(none, none).shape == (0, 0)
    assert similarity.between(a, none).shape == (2, 0)
    assert similarity.linearise(a, none)[1](np.zeros((2, 0))).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("similarity", [*EVERY, *WITH_FULL], ids=name)
def test_laws_of_similarities(similarity: DistanceSimilarity) -> None:
    rng = np.random.default_rng(3)
    xs = objects(np.hstack([rng.normal(size=(6, 2)), rng.uniform(0.5, 2.0, (6, 2))]))
    check_similarity(
        similarity,
        xs,
        wrong=["x", [0.0, 1.0], Gaussian(0.0, 1.0)],
        perturb=moved if similarity.full else lambda x, v: Gaussian(x.mean + v[:2], x.variance + v[2:]),  # type: ignore[attr-defined]
    )


def test_errata_7_the_sign_of_the_last_term_is_plus() -> None:
    """∇_σ S = −¼(1/σ' − σ'/σ²) + ¼(μ − μ')²/σ²; the printed minus is not the derivative."""
    mean, variance, mean_b, variance_b = 0.4, 0.7, 1.5, 1.3
    S = SymmetricKL(constant=10.0)
    a, b = S.encode([Gaussian(mean, variance)]), S.encode([Gaussian(mean_b, variance_b)])
    gradient = S.linearise(a, b)[1](np.ones((1, 1)))[0, 1]
    first, last = -0.25 * (1 / variance_b - variance_b / variance**2), 0.25 * (mean - mean_b) ** 2 / variance**2
    assert gradient == pytest.approx(first + last)
    up, down = (S(Gaussian(mean, variance + e), Gaussian(mean_b, variance_b)) for e in (1e-6, -1e-6))
    assert (up - down) / 2e-6 == pytest.approx(first + last, rel=1e-6)
    assert abs((up - down) / 2e-6 - (first - last)) > 0.5


@pytest.mark.parametrize("d", [1, 3])
def test_errata_9_and_13_the_printed_divergence_of_equal_gaussians_is_half_the_dimension(d: int) -> None:
    x, far = Gaussian([0.0] * d, [1.0] * d), Gaussian([100.0] * d, [1.0] * d)
    printed = 0.25 * np.sum(x.variance / x.variance + x.variance / x.variance)
    assert printed == 0.5 * d
    assert distance(SymmetricKL(), x, x) == 0.0
    assert SymmetricKL(constant=2.0)(x, far) < 0 < SymmetricKL(lengthscale=1e4)(x, far)


def test_bhattacharyya_has_no_scale_and_a_warp_gives_it_one() -> None:
    x, y = Gaussian(0.0, 1.0), Gaussian(2.0, 1.0)
    overlap = Bhattacharyya()
    assert overlap.fitted(overlap.encode([x, y])) is overlap
    assert warped(overlap, 4.0)(x, y) == pytest.approx(overlap(x, y) ** 4)
    settled = SymmetricKL().fitted(SymmetricKL().encode([x, y]))
    assert settled(x, y) == pytest.approx(np.exp(-1.0))


def test_jensen_shannon_is_bounded_by_log_2() -> None:
    assert JensenShannon(constant=np.log(2.0))(Gaussian(0.0, 1e-3), Gaussian(50.0, 1e-3)) == pytest.approx(
        0.0, abs=1e-12
    )


@given(some_rows(1))
@settings(max_examples=20, deadline=None)
def test_sampling_density_and_score_belong_together(array: np.ndarray) -> None:
    x = objects(array)[0]
    omega = x.sample(400, np.random.default_rng(0))
    z = (omega - x.mean) / np.sqrt(x.variance)
    assert np.all(np.abs(z.mean(axis=0)) < 5 / 20)
    np.testing.assert_array_equal(z.round(9), np.random.default_rng(0).standard_normal((400, x.dimension)).round(9))
    for k in range(array.shape[1]):
        e = 1e-5 * (1.0 if k < x.dimension else array[0, k])
        up, down = (objects(array + s * e * np.eye(array.shape[1])[k])[0].log_density(omega) for s in (1, -1))
        np.testing.assert_allclose(x.score(omega)[:, k], (up - down) / (2 * e), rtol=1e-4, atol=1e-4 / x.variance.min())


def test_the_score_of_a_full_covariance_is_the_central_difference_in_its_numbers() -> None:
    x = random_full(1, 3, 4)[0]
    omega = x.sample(5, np.random.default_rng(0))
    for k in range(9):
        up, down = (moved(x, e * np.eye(9)[k]).log_density(omega) for e in (1e-5, -1e-5))
        np.testing.assert_allclose(x.score(omega)[:, k], (up - down) / 2e-5, rtol=1e-5, atol=1e-8)
    assert len(np.asarray(x)) == x.score(omega).shape[1]


def test_density_of_full_covariances_is_that_of_scipy() -> None:
    from scipy.stats import multivariate_normal

    x = random_full(1, 3, 0)[0]
    omega = x.sample(50_000, np.random.default_rng(0))
    np.testing.assert_allclose(x.log_density(omega), multivariate_normal(x.mean, x.covariance).logpdf(omega))
    np.testing.assert_allclose(np.cov(omega.T), x.covariance, rtol=0.1, atol=0.1)
    assert np.all(np.abs(x.score(omega).mean(axis=0)) < 5 * x.score(omega).std(axis=0) / np.sqrt(50_000))


def test_equal_gaussians_are_equal_objects() -> None:
    x = Gaussian([0.0, 1.0], [2.0, 3.0])
    same = [
        Gaussian([-0.0, 1], np.diag([2.0, 3.0])),
        pickle.loads(pickle.dumps(x)),
        Gaussian.from_json(x.to_json()),
        *diagonal_gaussians(np.array([[-0.0, 1.0]]), np.array([[2.0, 3.0]])),
    ]
    assert all(y == x and hash(y) == hash(x) for y in same)
    assert x != Gaussian([0.0, 1.0], [2.0, 3.5])
    assert x != Gaussian([0.0, 1.0], [[2.0, 0.5], [0.5, 3.0]])
    assert x != "x"
    assert Gaussian([0.0, 1.0], 2.0) == Gaussian([0.0, 1.0], [2.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        x.mean[0] = 1.0


@pytest.mark.parametrize(
    ("mean", "variance", "message"),
    [
        ([0.0, 1.0], [1.0], r"needs 2 variances"),
        ([0.0], [0.0], r"positive variances, not \[0.0\]"),
        ([0.0], [-1.0], r"positive variances"),
        ([np.nan], [1.0], r"finite mean"),
        ([0.0], [np.inf], r"finite variance"),
        ([0.0, 0.0], [[1.0, 0.5], [0.2, 1.0]], r"symmetric covariance"),
        ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], r"has the eigenvalue -1"),
        ([0.0, 0.0], [[1.0, 0.0], [0.0, -1.0]], r"positive variances"),
        ("a", [1.0], r"mean is made of numbers, not 'a'"),
        ([[0.0]], [1.0], r"one row of numbers"),
        ([], [], r"one row of numbers"),
    ],
)
def test_what_is_no_gaussian_is_refused(mean: object, variance: object, message: str) -> None:
    with pytest.raises(SimilarityError, match=message):
        Gaussian(mean, variance)  # type: ignore[arg-type]


def test_rows_that_are_no_gaussians_are_refused() -> None:
    with pytest.raises(SimilarityError, match="positive variances"):
        diagonal_gaussians(np.zeros((2, 1)), np.array([[1.0], [0.0]]))


def test_what_cannot_be_compared_is_refused() -> None:
    x, full = Gaussian([0.0, 0.0], 1.0), Gaussian([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
    with pytest.raises(SimilarityError, match="object 1 is 3"):
        SymmetricKL().encode([x, 3])
    with pytest.raises(SimilarityError, match="object 1 is a Gaussian of 1 dimensions where the first one has 2"):
        Bhattacharyya().encode([x, Gaussian(0.0, 1.0)])
    with pytest.raises(SimilarityError, match=r"use Wasserstein2\(full=True\)"):
        Wasserstein2().encode([x, full])
    with pytest.raises(SimilarityError, match=r"use GeometricJensenShannon\(full=True\)"):
        JensenShannon().encode([full])
    with pytest.raises(SimilarityError, match="not both"):
        SymmetricKL(lengthscale=1.0, constant=1.0)
    with pytest.raises(SimilarityError, match="points"):
        JensenShannon(points=0)
    assert 0 < Wasserstein2(lengthscale=1.0, full=True)(x, full) < 1
