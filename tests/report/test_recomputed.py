"""Every number of two reports on public data, recomputed by code that shares nothing with them."""

from math import exp, log

import numpy as np
import pytest
from by_hand import calibrate, draws, scores
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

import shortlist as sl
from shortlist.external import describe_external
from shortlist.report import describe_model, validate_model

N_RESAMPLES = 6


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:, :8], 1 - y


def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X[["alcohol", "ash", "magnesium", "hue"]], (y == 1).astype(int)


@pytest.fixture(scope="module", params=[breast_cancer, wine], ids=lambda load: load.__name__)
def study(request):
    X, y = request.param()
    model = sl.PrognosticModel(max_features=2, ridge=1.0).fit(X, y)
    evaluation = validate_model(model, X, y, n_resamples=N_RESAMPLES)
    content = describe_model(model, X, y, evaluation).model_dump()
    return X, y.to_numpy(), model, evaluation, content


def fit_by_hand(X, y, rows, predictors):
    """The ridge regression of some predictors, by scikit-learn, in original units."""
    part = X.iloc[rows][predictors]
    centre, scale = part.mean(), 2 * part.std(ddof=0)
    # The penalty is half the squared length; scikit-learn weighs the loss instead.
    fit = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    fit.fit(((part - centre) / scale).to_numpy(), y[rows])
    slopes = fit.coef_[0] / scale.to_numpy()
    return slopes, float(fit.intercept_[0] - slopes @ centre.to_numpy())


def selected(evaluation, resample):
    support = evaluation.rows["support"].iloc[resample]
    return [evaluation.names[int(g)] for g in support.split()]


def test_performance(study):
    X, y, _, evaluation, content = study
    everyone = np.arange(len(y))
    optimism, outside = [], []
    for resample in range(N_RESAMPLES + 1):
        rows = everyone if resample == 0 else draws(len(y), resample)
        predictors = selected(evaluation, resample)
        slopes, intercept = fit_by_hand(X, y, rows, predictors)
        log_odds = X[predictors].to_numpy() @ slopes + intercept
        if resample == 0:
            apparent = scores(y, log_odds)
            share, risk = y.mean(), 1 / (1 + np.exp(-log_odds))
            # As if every risk were given to every patient.
            chance = {
                "auc": 0.5,
                "brier": share * np.mean((1 - risk) ** 2) + (1 - share) * np.mean(risk**2),
            }
        else:
            here, there = scores(y[rows], log_odds[rows]), scores(y, log_odds)
            optimism.append({name: here[name] - there[name] for name in here})
            left_out = np.setdiff1d(everyone, rows)
            risk = 1 / (1 + np.exp(-log_odds[left_out]))
            outside.append(
                {
                    "auc": roc_auc_score(y[left_out], risk),
                    "brier": brier_score_loss(y[left_out], risk),
                }
            )
    for row in content["performance"]["corrected"]:
        name = row["metric"]
        expected = np.mean([resample[name] for resample in optimism])
        if name in chance:
            beyond = np.mean([resample[name] for resample in outside])
            overfitting = (apparent[name] - beyond) / (apparent[name] - chance[name])
            weight = 0.632 / (1 - 0.368 * np.clip(overfitting, 0, 1))
            expected = weight * (apparent[name] - beyond)
        assert row["apparent"] == pytest.approx(apparent[name], rel=2e-3, abs=2e-3)
        assert row["optimism"] == pytest.approx(expected, rel=0.02, abs=3e-3)
        assert row["corrected"] == pytest.approx(apparent[name] - expected, abs=5e-3)


def test_individual_risks(study):
    X, y, _, evaluation, content = study
    risks = []
    for resample in range(N_RESAMPLES + 1):
        rows = np.arange(len(y)) if resample == 0 else draws(len(y), resample)
        predictors = selected(evaluation, resample)
        slopes, intercept = fit_by_hand(X, y, rows, predictors)
        risks.append(1 / (1 + np.exp(-X[predictors].to_numpy() @ slopes - intercept)))
    differences = np.abs(np.array(risks[1:]) - risks[0]).mean(axis=0)
    found = content["individual_risks"]
    assert found["n_patients"] == len(y)
    assert found["difference"] == pytest.approx(differences.mean(), rel=0.01)
    order = np.argsort(risks[0])
    for row, rows in zip(found["groups"], np.array_split(order, 5), strict=True):
        assert row["n"] == len(rows)
        assert row["risk"] == pytest.approx(risks[0][rows].mean(), rel=0.01, abs=1e-4)
        assert row["difference"] == pytest.approx(differences[rows].mean(), rel=0.03, abs=1e-4)
        assert row["lower"] is None  # for which there are too few resamples


def test_the_model_and_its_odds_ratios(study):
    X, y, model, _, content = study
    predictors = model.selected_features_
    slopes, intercept = fit_by_hand(X, y, np.arange(len(y)), predictors)
    parts = content["equation"]["parts"]
    assert [part["predictor"] for part in parts] == predictors
    assert [part["coefficient"] for part in parts] == pytest.approx(slopes, rel=1e-3)
    assert content["equation"]["intercept"] == pytest.approx(intercept, rel=1e-3)
    for name, slope in zip(predictors, slopes, strict=True):
        rows = [row for row in content["effects"] if row["predictor"] == name]
        low, high = np.quantile(X[name], [0.25, 0.75])
        quartiles = [row for row in rows if " vs " in row["contrast"]]
        assert quartiles[0]["odds_ratio"] == pytest.approx(exp(slope * (high - low)), rel=2e-3)
        (step,) = [row for row in rows if row["contrast"].startswith("per ")]
        unit = float(step["contrast"].removeprefix("per ").split()[0].replace("unit", "1"))
        assert step["odds_ratio"] == pytest.approx(exp(slope * unit), rel=2e-3)


def test_net_benefit_and_its_interval(study):
    _, _, _, evaluation, content = study
    known = evaluation.predictions.dropna()
    y, probability = known["y"].to_numpy(), known["probability"].to_numpy()
    rows = content["performance"]["curves"]["thresholds"]
    assert len(rows) >= 3
    rng = np.random.default_rng(0)
    for row in rows[:: len(rows) // 3][:3]:
        t = row["threshold"]

        def benefit(y, p, t=t):
            return ((p >= t) & (y == 1)).mean() - t / (1 - t) * ((p >= t) & (y == 0)).mean()

        assert row["model"] == pytest.approx(benefit(y, probability))
        assert row["everyone"] == pytest.approx(y.mean() - t / (1 - t) * (1 - y.mean()))
        resampled = [
            benefit(y[rows], probability[rows]) for rows in rng.integers(len(y), size=(400, len(y)))
        ]
        width = 2 * norm.ppf(0.975) * np.std(resampled)
        assert row["upper"] - row["lower"] == pytest.approx(width, rel=0.2, abs=0.01)


def test_riley(study):
    X, y, _, _, content = study
    size = content["sample_size"]
    p, share = X.shape[1], y.mean()
    log_likelihood = share * log(share) + (1 - share) * log(1 - share)
    largest = 1 - exp(2 * log_likelihood)
    fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=100_000)
    columns = (X - X.mean()) / X.std()
    risk = fit.fit(columns, y).predict_proba(columns)[:, 1]
    ratio = 2 * (np.log(np.where(y == 1, risk, 1 - risk)).sum() - len(y) * log_likelihood)
    r2 = (1 - p / ratio) * (1 - exp(-ratio / len(y)))
    assert size["r2"] == pytest.approx(r2, rel=1e-3)
    r2 = size["r2"]
    shrinkage = r2 / (r2 + 0.05 * largest)
    rarer = min(share, 1 - share)
    needed = {
        "shrinkage": p / ((0.9 - 1) * log(1 - r2 / 0.9)),
        "r2_difference": p / ((shrinkage - 1) * log(1 - r2 / shrinkage)),
        "overall_risk": (1.96 / 0.05) ** 2 * share * (1 - share),
        "prediction_error": exp((-0.508 + 0.259 * log(rarer) + 0.504 * log(p) - log(0.05)) / 0.544),
    }
    assert size["needed"] == {name: int(np.ceil(value)) for name, value in needed.items()}
    assert size["needed_overall"] == max(size["needed"].values())
    assert size["events_per_parameter"] == min(y.sum(), len(y) - y.sum()) / p


def test_monte_carlo_errors(study):
    *_, evaluation, content = study
    for row in content["performance"]["corrected"]:
        name = row["metric"]
        if name not in ("auc", "brier"):
            rows = evaluation.resamples
            gaps = rows[f"resample_{name}"] - rows[f"data_{name}"]
            assert row["error"] == pytest.approx(gaps.std() / np.sqrt(gaps.count()))


def test_external_validation(study):
    X, y, *_ = study
    half = np.arange(len(y)) % 2 == 0
    card = sl.PrognosticModel(max_features=2, ridge=1.0).fit(X[half], y[half]).card_
    content = describe_external(card, X[~half], y[~half])
    log_odds = card.log_odds(X[~half])
    expected = scores(y[~half], log_odds)
    for row in content.measures:
        assert row["estimate"] == pytest.approx(expected[row["metric"]], rel=1e-4, abs=1e-5)
        assert row["lower"] < row["estimate"] < row["upper"]
    original, large, slope, refit = content.updates
    assert large["intercept"] == pytest.approx(
        card.intercept + expected["calibration_in_the_large"], abs=1e-4
    )
    a, b = calibrate(y[~half], log_odds)
    assert slope["intercept"] == pytest.approx(a + b * card.intercept, rel=1e-3, abs=1e-3)
    names = [term.name for term in card.terms]
    _, intercept = fit_by_hand(X, y, np.flatnonzero(~half), names)
    assert refit["intercept"] == pytest.approx(intercept, rel=1e-3)
    deviances = [row["deviance"] for row in (original, large, slope)]
    assert deviances == sorted(deviances, reverse=True)
    assert large["auc"] == slope["auc"] == original["auc"]


def test_the_smooth_curve_is_a_curve_of_probabilities(study):
    curves = study[4]["performance"]["curves"]
    for row in curves["smooth"]:
        assert 0 <= row["lower"] <= row["observed"] <= row["upper"] <= 1
    assert 0 < curves["ici"] <= curves["e90"] < 0.2
    counted = sum(row["events"] + row["others"] for row in curves["histogram"])
    assert counted == sum(row["n"] for row in curves["calibration"])
