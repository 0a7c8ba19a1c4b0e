"""The factor and the two triangular solves against numpy."""

import numpy as np
import pytest
from compiled import compiled

from shortlist.solver.kernels import cholesky as kernels

factorise, substitute, substitute_both = map(
    compiled, (kernels.factorise, kernels.substitute, kernels.substitute_both)
)


def factor_in(a):
    """The factor in the lower triangle of a, whose diagonal holds the inverses of the pivots."""
    factor = np.tril(a)
    np.fill_diagonal(factor, 1.0 / np.diag(a))
    return factor


def positive_definite(size, seed=0, condition=1e3):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return basis * np.geomspace(1.0, condition, size) @ basis.T


@pytest.mark.parametrize("size", [1, 2, 3, 8, 40])
def test_factor(size):
    matrix = positive_definite(size)
    a = matrix.copy()
    assert factorise(a, 0, size)
    assert factor_in(a) == pytest.approx(np.linalg.cholesky(matrix), rel=1e-9, abs=1e-9)


def test_only_the_lower_triangle_of_the_leading_block_is_touched():
    matrix = positive_definite(6)
    a = matrix.copy()
    a[np.triu_indices(6, 1)] = np.nan
    a[4:] = np.nan
    assert factorise(a, 0, 4)
    assert factor_in(a[:4, :4]) == pytest.approx(np.linalg.cholesky(matrix[:4, :4]))
    assert np.isnan(a[4:]).all()
    assert np.isnan(a[np.triu_indices(6, 1)]).all()
    b = np.ones(6)
    substitute(a, 4, b)
    assert b[:4] == pytest.approx(np.linalg.solve(matrix[:4, :4], np.ones(4)))
    assert b[4:].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("first", range(7))
def test_rows_can_be_added_to_a_factor(first):
    """The endgame factorises what is bought once, and then adds rows for each candidate."""
    matrix = positive_definite(6)
    whole = matrix.copy()
    factorise(whole, 0, 6)
    a = matrix.copy()
    assert factorise(a, 0, first)
    for _ in range(2):  # the rows after `first` can be replaced and factorised again
        a[first:] = matrix[first:]
        assert factorise(a, first, 6)
        assert np.tril(a) == pytest.approx(np.tril(whole), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e9])
def test_solution(size, condition):
    matrix = positive_definite(size, seed=size, condition=condition)
    x = np.random.default_rng(size).normal(size=size)
    b = matrix @ x
    assert factorise(matrix, 0, size)
    substitute(matrix, size, b)
    assert b == pytest.approx(x, abs=1e-13 * condition)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 8, 40])
def test_two_right_hand_sides_at_once(size):
    a = positive_definite(size, seed=size)
    assert factorise(a, 0, size)
    b, c = np.random.default_rng(size).normal(size=(2, size))
    x, y = b.copy(), c.copy()
    substitute_both(a, size, x, y)
    substitute(a, size, b)
    substitute(a, size, c)
    assert x == pytest.approx(b, rel=1e-10)
    assert y == pytest.approx(c, rel=1e-10)


@pytest.mark.parametrize("last", [-1.0, 0.0, 1.0, 1.0 + 1e-16])
def test_no_factor_of_what_is_not_positive_definite(last):
    a = np.array([[1.0, 1.0, 0.5], [1.0, last, 0.5], [0.5, 0.5, 3.0]])
    assert not factorise(a, 0, 3)


def test_no_factor_of_dependent_columns():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X = np.column_stack([X, X @ [1.0, -2.0, 0.5]])
    assert not factorise(X.T @ X, 0, 4)


def test_no_factor_of_not_a_number():
    a = np.array([[1.0, np.nan], [np.nan, 1.0]])
    assert not factorise(a, 0, 2)


def test_nothing_to_factorise():
    assert factorise(np.empty((0, 0)), 0, 0)
    b = np.ones(2)
    substitute(np.eye(2), 0, b)
    assert b.tolist() == [1.0, 1.0]
