"""Models with an L1 penalty: the conditions of an optimum, and other packages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import random_problem
from sklearn.linear_model import Lasso, LogisticRegression

import shortlist as sl
from shortlist.backends.ranking import L1Path
from shortlist.backends.support_fit import SupportFits

pytestmark = pytest.mark.filterwarnings("ignore:(budget|strata)")

SMOOTH = ("logistic", "squared_error", "poisson", "cox")
DATA = sl.datasets.make_prognostic(n_samples=200, label_noise=0.05, random_state=2)


def path_of(problem: sl.SubsetProblem, scale: float | np.ndarray = 1.0) -> L1Path:
    """The path of centred columns."""
    fits = SupportFits(problem)
    intercept = fits.null_intercept if problem.family.has_intercept else None
    return L1Path(fits.of_rows, fits.X / scale, intercept)


@pytest.mark.parametrize("loss", SMOOTH)
@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_no_slope_exceeds_the_penalty_and_coefficients_have_their_sign(loss, seed):
    problem = random_problem(seed, loss)
    scale = np.maximum(np.abs(problem.X).max(axis=0), 1e-300)
    path = path_of(problem, scale)
    largest = np.abs(path.slopes()).max()
    assert not path.fit(1.001 * largest)[0].any()
    for share in (0.5, 0.1, 0.02):
        coef, _ = path.fit(share * largest)
        slopes, penalty = path.slopes(), share * largest
        assert np.abs(slopes).max() <= penalty * (1 + 1e-4)
        bought = coef != 0
        np.testing.assert_allclose(slopes[bought], -penalty * np.sign(coef[bought]), rtol=1e-4)


def test_coefficients_are_those_of_scikit_learn():
    X, y = DATA.X.to_numpy(), DATA.y
    path = path_of(sl.SubsetProblem(X, y, ridge=1.0))
    for penalty in (5.0, 2.0, 0.3):
        coef, intercept = path.fit(penalty)
        # Its penalty on the intercept is next to none.
        model = LogisticRegression(
            C=1 / penalty, l1_ratio=1, solver="liblinear", intercept_scaling=1e4, tol=1e-9
        )
        model.fit(X, y)
        np.testing.assert_allclose(coef, model.coef_[0], atol=2e-3)
        assert intercept - X.mean(axis=0) @ coef == pytest.approx(model.intercept_[0], abs=2e-3)
    numbers = X @ np.arange(X.shape[1]) + y
    path = path_of(sl.SubsetProblem(X, numbers, ridge=1.0, loss="squared_error"))
    for penalty in (100.0, 5.0):
        model = Lasso(alpha=penalty / len(X), tol=1e-12, max_iter=100_000).fit(X, numbers)
        np.testing.assert_allclose(path.fit(penalty)[0], model.coef_, atol=1e-4)


def test_coefficients_of_cox_are_those_of_scikit_survival():
    linear_model = pytest.importorskip("sksurv.linear_model")
    rng, X = np.random.default_rng(0), DATA.X.to_numpy()
    time = rng.exponential(np.exp(-3 * X[:, 0] + 2 * X[:, 1]))
    y = sl.survival(np.minimum(time, 1.0), time <= 1.0)
    path = path_of(sl.SubsetProblem(X, y, ridge=1.0, loss="cox", ties="breslow"))
    shares = [0.05, 0.01]
    model = linear_model.CoxnetSurvivalAnalysis(
        alphas=shares, l1_ratio=1.0, tol=1e-12, max_iter=1_000_000
    ).fit(X, y)
    for share, expected in zip(shares, model.coef_.T, strict=True):
        np.testing.assert_allclose(path.fit(share * len(X))[0], expected, atol=1e-5)


def test_copies_of_a_column_are_no_obstacle():
    X = np.repeat(DATA.X.to_numpy()[:, :3], 3, axis=1)
    path = path_of(sl.SubsetProblem(X, DATA.y, ridge=1.0))
    once = path_of(sl.SubsetProblem(X[:, ::3], DATA.y, ridge=1.0))
    for penalty in (10.0, 0.1):
        together = path.fit(penalty)[0].reshape(3, 3).sum(axis=1)
        np.testing.assert_allclose(together, once.fit(penalty)[0], rtol=1e-3, atol=1e-5)
