"""Systems solved by their Cholesky factor, against numpy."""

import numpy as np
import pytest

from shortlist.native.core import core

solve_system = core.testing.solve_system


def positive_definite(size, seed=0, condition=1e3):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return basis * np.geomspace(1.0, condition, size) @ basis.T


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 8, 13, 40, 103])
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e9])
def test_solution(size, condition):
    matrix = positive_definite(size, seed=size, condition=condition)
    x = np.random.default_rng(size).normal(size=size)
    assert solve_system(matrix, matrix @ x, 0) == pytest.approx(x, abs=1e-13 * condition)


@pytest.mark.parametrize("n_first", range(14))
def test_rows_can_be_added_to_a_factor(n_first):
    """The endgame factorises what is bought once, and then adds rows for each candidate."""
    matrix, b = positive_definite(13), np.arange(13.0)
    expected = np.linalg.solve(matrix, b)
    assert solve_system(matrix, b, n_first) == pytest.approx(expected, rel=1e-10)


def test_only_the_lower_triangle_is_read():
    matrix, b = positive_definite(13), np.arange(13.0)
    expected = solve_system(matrix, b, 5)
    before = matrix.copy()
    matrix[np.triu_indices(13, 1)] = np.nan
    assert np.array_equal(solve_system(matrix, b, 5), expected)
    assert np.array_equal(np.tril(matrix), np.tril(before))


@pytest.mark.parametrize("last", [-1.0, 0.0, 1.0, 1.0 + 1e-16, np.nan])
def test_no_factor_of_what_is_not_positive_definite(last):
    matrix = np.array([[1.0, 1.0, 0.5], [1.0, last, 0.5], [0.5, 0.5, 3.0]])
    assert solve_system(matrix, np.ones(3), 0) is None


def test_no_factor_of_dependent_columns():
    X = np.random.default_rng(0).normal(size=(20, 9))
    X = np.column_stack([X, X[:, :3] @ [1.0, -2.0, 0.5]])
    assert solve_system(X.T @ X, np.ones(10), 0) is None
