"""The influence is the least-squares solution, whatever the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

import likewise as lw
from likewise.model.solvers import Cholesky, Explicit, basic_solution, minimum_norm_solution, numerical_rank, solve


@st.composite
def problems(draw):
    """A symmetric matrix M, singular in many ways, and rows S_x."""
    t = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["indefinite", "low_rank", "duplicated", "scaled", "zero"]))
    raw = rng.random((t, t))
    matrix = 0.5 * (raw + raw.T)
    if kind == "low_rank":
        few = rng.standard_normal((t, max(1, t // 2)))
        matrix = (few * rng.choice([-1.0, 1.0], few.shape[1])) @ few.T
    elif kind == "duplicated" and t > 1:
        order = rng.integers(t - 1, size=t)
        matrix = matrix[np.ix_(order, order)]
    elif kind == "scaled":
        scale = 10.0 ** rng.uniform(-2, 2, t)
        matrix = matrix * np.outer(scale, scale)
    elif kind == "zero":
        matrix = np.zeros((t, t))
    return matrix, rng.random((3, t))


def residual(matrix, rows, influence):
    return np.linalg.norm(rows - influence @ matrix, axis=1)


@given(problems())
@settings(max_examples=200, deadline=None)
def test_both_solutions_reach_the_least_squares_residual(problem):
    matrix, rows = problem
    best = np.array([np.linalg.norm(r - np.linalg.lstsq(matrix, r, rcond=1e-11)[0] @ matrix) for r in rows])
    slack = 1e-6 * (1 + np.linalg.norm(rows))
    assert np.all(residual(matrix, rows, rows @ basic_solution(matrix)[0]) <= best + slack)
    assert np.all(residual(matrix, rows, rows @ minimum_norm_solution(matrix)) <= best + slack)


@given(problems())
@settings(max_examples=200, deadline=None)
def test_both_solutions_give_one_projection(problem):
    """Theorem 3: I(x) M is the projection of Φ_e(x) onto the rows of M, whichever solution is taken."""
    matrix, rows = problem
    basic, rows_kept = basic_solution(matrix)
    projection = rows @ basic @ matrix
    np.testing.assert_allclose(projection, rows @ minimum_norm_solution(matrix) @ matrix, atol=1e-6)
    basis = linalg.orth(matrix, rcond=1e-11)
    np.testing.assert_allclose(projection, rows @ basis @ basis.T, atol=1e-6)
    assert len(rows_kept) == basis.shape[1]


@given(problems())
@settings(max_examples=100, deadline=None)
def test_basic_solution_has_zeros_outside_its_rows_and_solves_the_small_problem(problem):
    """Theorem 2: J(x) solves min ‖S_x − J B‖ for r_t independent rows B, and zeros fill the rest."""
    matrix, rows = problem
    solution, chosen = basic_solution(matrix)
    others = np.setdiff1d(np.arange(len(matrix)), chosen)
    assert not np.any(solution[:, others])
    if len(chosen):
        b = matrix[chosen]
        assert np.linalg.matrix_rank(b @ b.T, tol=1e-20 * np.linalg.norm(b) ** 2) == len(chosen)
        j = np.linalg.lstsq(b.T, rows.T, rcond=None)[0].T
        np.testing.assert_allclose((rows @ solution)[:, chosen] @ b, j @ b, atol=1e-6)


def test_corollary_an_invertible_matrix_has_its_inverse():
    rng = np.random.default_rng(1)
    raw = rng.random((6, 6))
    matrix = raw + raw.T
    inverse = np.linalg.inv(matrix)
    np.testing.assert_allclose(basic_solution(matrix)[0], inverse, atol=1e-8)
    np.testing.assert_allclose(minimum_norm_solution(matrix), inverse, atol=1e-8)
    np.testing.assert_allclose(solve(matrix, definite=False).influence(np.eye(6)), inverse, atol=1e-8)


def test_a_tiny_eigenvalue_leaves_no_residual():
    """QR of Bᵀ keeps the digits that forming BBᵀ would lose."""
    rng = np.random.default_rng(2)
    basis = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    matrix = (basis * np.array([1.0, 0.5, -0.3, 0.2, -0.1, 1e-8])) @ basis.T
    rows = rng.random((2, 6))
    assert residual(matrix, rows, rows @ basic_solution(matrix)[0]).max() < 1e-6
    squared = matrix @ matrix
    formed = rows @ matrix @ np.linalg.inv(squared)
    assert residual(matrix, rows, formed).max() > 1e-4


def test_solutions_of_a_singular_matrix_differ_but_say_so():
    matrix = np.ones((3, 3))
    rows = np.ones((1, 3))
    basic = solve(matrix, definite=False, singular="basic")
    shared = solve(matrix, definite=False, singular="minimum_norm")
    assert not basic.exact
    assert not shared.exact
    np.testing.assert_allclose(shared.influence(rows), np.full((1, 3), 1 / 3))
    assert np.count_nonzero(basic.influence(rows)) == 1
    np.testing.assert_allclose(basic.influence(rows).sum(), 1.0)


def test_rank_of_nothing_is_zero():
    assert numerical_rank(np.zeros(0)) == 0
    assert numerical_rank(np.zeros(3)) == 0


def test_the_first_rows_of_a_solution_are_the_solution_of_the_first_rows():
    raw = np.random.default_rng(4).random((7, 7))
    matrix = raw @ raw.T + 0.1 * np.eye(7)
    whole, alone = solve(matrix, definite=True), solve(matrix[:4, :4], definite=True)
    cut = whole.first(4)
    assert cut is not None
    np.testing.assert_allclose(cut.diagonal, alone.diagonal)
    np.testing.assert_allclose(cut.operator, alone.operator)
    np.testing.assert_allclose(whole.operator, np.linalg.inv(matrix))
    np.testing.assert_allclose(cut.solve(raw[0, :4]), alone.solve(raw[0, :4]))


@pytest.mark.parametrize("kind", [Cholesky, Explicit])
def test_growing_equals_solving_anew(kind):
    rng = np.random.default_rng(3)
    raw = rng.random((7, 7))
    matrix = raw @ raw.T + 0.1 * np.eye(7) if kind is Cholesky else raw + raw.T
    grown = solve(matrix[:6, :6], definite=kind is Cholesky).grow(matrix[6, :6], matrix[6, 6])
    assert isinstance(grown, kind)
    np.testing.assert_allclose(grown.influence(np.eye(7)), np.linalg.inv(matrix), atol=1e-8)


def test_growing_into_a_singular_matrix_is_refused():
    assert Cholesky(np.ones((1, 1))).grow(np.ones(1), 1.0) is None
    assert Explicit(np.ones((1, 1))).grow(np.ones(1), 1.0) is None


def test_unknown_solution_is_named():
    with pytest.raises(lw.LikewiseError, match="'best'"):
        solve(np.eye(2), definite=True, singular="best")


@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_factor_says_its_inverse_and_the_diagonal_of_that(n):
    rng = np.random.default_rng(n)
    half = rng.standard_normal((n, n))
    matrix = half @ half.T + np.eye(n)
    solution = solve(matrix, definite=True)
    assert np.allclose(solution.operator @ matrix, np.eye(n))
    assert np.array_equal(solution.operator, solution.operator.T)
    assert np.allclose(solution.diagonal, np.diag(solution.operator))
