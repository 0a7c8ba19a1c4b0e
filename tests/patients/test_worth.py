"""The cross-validated loss of every limit, against a plain computation, and what `fit` does."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import shortlist as sl
from shortlist.cross_validation import make_folds
from shortlist.patients.worth import (
    N_FOLDS,
    N_REPEATS,
    OutOfFold,
    cross_validate_limits,
    cross_validate_selections,
    loss_differences,
)


@pytest.fixture(scope="module")
def data():
    return sl.datasets.make_prognostic(n_samples=150, n_features=14, random_state=4)


def test_losses_are_those_of_models_fitted_by_hand(data):
    X, y = data.X.iloc[:, :4], np.asarray(data.y)
    model = sl.PrognosticModel(max_features=2, ridge=1.0)
    plain = model.check(X, y)
    path = sl.solve_path(model.problem(X, y))
    curve = cross_validate_limits(model, plain, path, None)
    losses = np.zeros((len(y), len(path)))
    for seed in range(N_REPEATS):
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
        for train, test in folds.split(X, y):
            part = X.iloc[train]
            scaled = (X - part.mean()) / (2 * part.std(ddof=0))
            for i, step in enumerate(path):
                problem = sl.SubsetProblem(
                    scaled.iloc[train], y[train], ridge=1.0, max_features=int(step.limit)
                )
                bought = list(sl.solve(problem, "enumeration").support)
                if bought:
                    fit = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000)
                    fit.fit(scaled.iloc[train, bought], y[train])
                    risk = fit.predict_proba(scaled.iloc[test, bought])[:, 1]
                else:
                    risk = np.full(len(test), y[train].mean())
                losses[test, i] -= np.log(np.where(y[test] == 1, risk, 1 - risk)) / N_REPEATS
    means = losses.mean(axis=0)
    assert curve.table["limit"].tolist() == [0, 1, 2]
    assert curve.table["log_loss"].tolist() == pytest.approx(means.tolist(), abs=1e-4)
    paired = losses - losses[:, [means.argmin()]]
    errors = paired.std(axis=0) / np.sqrt(len(y))
    assert curve.table["error"].tolist() == pytest.approx(errors.tolist(), abs=1e-4)
    assert curve.is_proven


def test_weights_and_persons_count_as_copies_and_sums():
    rng = np.random.default_rng(0)
    losses = rng.random((6, 3))
    twice = loss_differences(np.repeat(losses, 2, axis=0), persons=np.repeat(np.arange(6), 2))
    weighted = loss_differences(losses, np.full(6, 2.0))
    once = loss_differences(losses)
    for table in (twice, weighted):
        assert table.to_numpy() == pytest.approx(once.to_numpy())


def test_fit_buys_no_more_than_is_enough(data):
    costs = dict(zip(data.X.columns, data.costs, strict=True))
    plain_model = sl.PrognosticModel(budget=20, costs=costs, ridge=1.0)
    plain = plain_model.check(data.X, data.y)
    path = sl.solve_path(plain_model.problem(data.X, data.y))
    curve = cross_validate_limits(plain_model, plain, path, None)
    model = sl.PrognosticModel(budget=20, costs=costs, ridge=1.0, within="1se")
    model.fit(data.X, data.y)
    assert curve.enough <= curve.best
    record = model.card_.search.within
    assert (record.share, record.stated, record.limit) == (None, 20, "budget")
    assert model.cost_ <= curve.enough == model.card_.limits.budget
    names = [path.names[g] for g in path.at(curve.enough).solution.support]
    assert model.selected_features_ == names


def test_it_is_said_if_a_search_has_no_proof(data, monkeypatch):
    def measure(*arguments):
        return replace(cross_validate_limits(*arguments), is_proven=False)

    monkeypatch.setattr("shortlist.patients.model.cross_validate_limits", measure)
    model = sl.PrognosticModel(max_features=1, ridge=1.0, within="1se")
    with pytest.warns(sl.ShortlistWarning, match="within: a search ended without a proof"):
        model.fit(data.X.iloc[:, :3], data.y)
    assert not model.card_.search.within.is_proven


@pytest.mark.parametrize("within", ["2se", True, -0.1, 1, np.nan])
def test_another_within_is_refused(data, within):
    model = sl.PrognosticModel(max_features=1, ridge=1.0, within=within)
    with pytest.raises(sl.InvalidProblemError, match=r"^within: must be a share .* or '1se', not"):
        model.fit(data.X, data.y)


def test_a_share_of_the_gain_is_one_of_what_the_best_model_gains(data):
    table, y = data.X, data.y
    best = sl.PrognosticModel(max_features=len(table.columns), ridge=1.0).fit(table, y)
    null = -sum(n * np.log(n / len(y)) for n in np.unique(y, return_counts=True)[1])
    gain = null - best.objective_
    sizes = []
    for share in (0.05, 0.3, 0.9):
        model = clone(best).set_params(within=f"{share}-of-gain").fit(table, y)
        record = model.card_.search.within
        assert model.objective_ - best.objective_ <= share * gain * (1 + 1e-9)
        assert (
            record.of_gain
            and record.share == share
            and record.null_objective == pytest.approx(null)
        )
        assert f"{(model.objective_ - best.objective_) / gain:.1%} of the gain over no model" in (
            record.given_up(model.objective_)
        )
        sizes.append(len(model.selected_features_))
        if sizes[-1] > 1:  # one predictor fewer gives up more
            fewer = sl.PrognosticModel(max_features=sizes[-1] - 1, ridge=1.0).fit(table, y)
            assert fewer.objective_ - best.objective_ > share * gain
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]


def test_the_test_tradeoff_is_one_over_the_difference_of_net_benefits():
    plain = SimpleNamespace(labels=np.array([1, 1, 0, 0, 1, 0, 0, 1]), weights=None)
    before = np.full((1, 8), -9.0)  # acts on none
    after = np.array([[2.0, 2.0, -3.0, 2.0, -3.0, -3.0, -3.0, 2.0]])
    found = OutOfFold(plain, None, np.stack([before, after], axis=-1))
    gain = np.array([1, 1, 0, -0.25, 0, 0, 0, 1])  # at a threshold of 20 %
    tests = found.test_tradeoff(0, 1, 0.2)
    width = 1.959964 * gain.std() / np.sqrt(8)
    assert tests["tests"] == pytest.approx(1 / gain.mean())
    assert tests["tests_lower"] == pytest.approx(1 / (gain.mean() + width))
    assert tests["tests_upper"] == np.inf or gain.mean() > width
    back = found.test_tradeoff(1, 0, 0.2)
    assert back["tests"] == np.inf  # measuring less finds no one more


def test_selections_are_validated_by_fits_to_the_other_folds():
    data = sl.datasets.make_prognostic(n_samples=90, label_noise=0.1, random_state=4)
    model = sl.PrognosticModel(max_features=2, ridge=1.0).fit(data.X, data.y)
    plain = model.check(data.X, data.y)
    problem = model.problem(plain, plain.labels)
    supports = [model.solution_.support, (0,)]
    table = cross_validate_selections(model, plain, problem, supports, None)
    folds = make_folds(10, None, plain.labels, None, 0, N_REPEATS)
    losses = np.zeros((len(data.y), 2))
    for train, test in folds:
        for number, support in enumerate(supports):
            names = [data.X.columns[g] for g in support]
            centre, scale = (
                data.X[names].iloc[train].mean(),
                2 * data.X[names].iloc[train].std(ddof=0),
            )
            fit = LogisticRegression(tol=1e-10, max_iter=1000)
            fit.fit((data.X[names].iloc[train] - centre) / scale, plain.labels[train])
            u = fit.decision_function((data.X[names].iloc[test] - centre) / scale)
            losses[test, number] += np.logaddexp(0, (1 - 2 * plain.labels[test]) * u) / N_REPEATS
    assert table["log_loss"].tolist() == pytest.approx(losses.mean(axis=0), rel=1e-4)
