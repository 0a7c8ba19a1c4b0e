"""A report on patients with factors, missing values and centres, recomputed by other code.

Preparation, imputation, fit, selection, measures and their summary are written down here from what
the documentation says of them; numbers are those of the JSON file.
"""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from by_hand import draws, ends, scores, summary, with_errors
from scipy.special import expit, logit
from scipy.stats import binomtest
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

import shortlist as sl
from shortlist.report import validate_centres, validate_model, write_report

N_RESAMPLES = 6
MOST, RIDGE = 2, 1.0
NUMBERS, CANDIDATES = ("age", "marker"), ("age", "marker", "stage", "smoker")
SUBGROUPS = {
    "sex: f": lambda table: table["sex"] == "f",
    "sex: m": lambda table: table["sex"] == "m",
    "age > 60": lambda table: table["age"] > 60,
    "age <= 60": lambda table: table["age"] <= 60,
    "age>60: missing": lambda table: table["age"].isna(),
}


def make_patients():
    rng = np.random.default_rng(5)
    n = 420
    age = rng.normal(60, 10, n).round()
    stage = rng.choice(["I", "II", "III"], n, p=[0.5, 0.3, 0.2])
    table = pd.DataFrame(
        {
            "age": age,
            "marker": (0.1 * age + rng.normal(0, 1, n)).round(2),
            "stage": stage,
            "smoker": (rng.random(n) < 0.4).astype(float),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    centre = rng.choice(["Basel", "Bern", "Chur", "Genf", "Zug"], n, p=[0.3, 0.25, 0.22, 0.2, 0.03])
    shift = pd.Series(centre).map({"Basel": 0, "Bern": 0.6, "Chur": -0.7, "Genf": 0.2, "Zug": 0})
    risk = 0.05 * (age - 60) + 0.5 * (table["marker"] - 6) + 1.2 * (stage == "III") - 0.6 + shift
    y = (risk + rng.logistic(size=n) > 0).astype(int).rename("dead")
    for name, share in (("age", 0.08), ("marker", 0.15), ("stage", 0.05)):
        table.loc[rng.random(n) < share, name] = None if name == "stage" else np.nan
    return table, y, centre


class ByHand:
    """A model of some predictors, fitted to some rows."""

    def __init__(self, table, y, rows, predictors):
        self.train, self.predictors = table.iloc[rows], predictors
        columns = self.columns(table.iloc[rows], CANDIDATES)
        fit = LogisticRegression(C=1 / RIDGE, tol=1e-12, max_iter=10_000)
        self.fit = fit.fit(columns, y[rows])
        loss = np.logaddexp(0, (1 - 2 * y[rows]) * self.fit.decision_function(columns)).sum()
        self.objective = loss + RIDGE / 2 * (self.fit.coef_**2).sum()

    def stand_in(self, name):
        """The median, or the most frequent level."""
        return self.train[name].median() if name in NUMBERS else self.train[name].mode()[0]

    def inputs(self, part, names):
        """Other predictors in numbers, as equations have them."""
        columns = []
        for name in names:
            values = part[name].fillna(self.stand_in(name))
            levels = sorted(self.train[name].dropna().unique()) if name == "stage" else [None]
            columns += [values if level is None else values == level for level in levels]
        return np.column_stack(columns).astype(float)

    def imputed(self, part, name, known):
        """Missing values are imputed from the other known predictors."""
        others = [other for other in known if other != name]
        has = self.train[name].notna().to_numpy()
        own, X = self.train[name][has].to_numpy(), self.inputs(self.train, others)[has]
        if not others:
            return part[name].fillna(self.stand_in(name)).to_numpy()
        centre, scale = X.mean(axis=0), X.std(axis=0)
        equation = BayesianRidge().fit((X - centre) / scale, (own - own.mean()) / own.std())
        expected = equation.predict((self.inputs(part, others) - centre) / scale)
        expected = np.clip(own.mean() + own.std() * expected, own.min(), own.max())
        return np.where(part[name].isna(), expected, part[name])

    def columns(self, part, known):
        columns = []
        for name in self.predictors:
            if name in NUMBERS:
                observed = self.train[name]
                centred = self.imputed(part, name, known) - observed.mean()
                columns.append(centred / (2 * observed.std(ddof=0)))
            elif name == "stage":
                filled = part[name].fillna(self.stand_in(name))
                columns += [filled == level for level in sorted(self.train[name].dropna().unique())]
            else:
                columns.append(part[name])
        return np.column_stack(columns).astype(float)

    def log_odds(self, part):
        """Predictions know what was bought alone."""
        return self.fit.decision_function(self.columns(part, self.predictors))


def best_by_hand(table, y, rows):
    """The best of all selections, by trying them all."""
    sets = [s for size in range(1, MOST + 1) for s in combinations(CANDIDATES, size)]
    return min((ByHand(table, y, rows, s) for s in sets), key=lambda model: model.objective)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    table, y, centre = make_patients()
    model = sl.PrognosticModel(max_features=MOST, ridge=RIDGE, exclude=["sex"]).fit(table, y)
    evaluation = validate_model(model, table, y, n_resamples=N_RESAMPLES)
    path = tmp_path_factory.mktemp("gaps") / "report.html"
    write_report(
        path,
        model,
        table,
        y,
        evaluation=evaluation,
        centres=validate_centres(model, table, y, centre),
        subgroups=["sex,age>60"],
        thresholds=[0.3, 0.5],
    )
    content = json.loads(path.with_suffix(".json").read_text())
    return table, y.to_numpy(), centre, evaluation, content


def near(value):
    return pytest.approx(value, rel=1e-3, abs=1e-4)


def test_selection_and_model(study):
    table, y, _, _, content = study
    best = best_by_hand(table, y, np.arange(len(y)))
    bought = [row["predictor"] for row in content["purchase"]["bought"]]
    assert set(best.predictors) == set(bought)
    assert content["proof"]["objective"] == pytest.approx(best.objective, rel=1e-7)
    assert content["alternatives"]["models"][0]["predictors"] == bought
    added = sum(term["adds"] for term in content["example"]["terms"])
    typical = {name: [best.stand_in(name)] for name in CANDIDATES}
    assert content["example"]["intercept"] + added == near(best.log_odds(pd.DataFrame(typical))[0])
    slopes = {
        name: coef / (2 * table[name].std(ddof=0))
        for name, coef in zip(best.predictors, best.fit.coef_[0], strict=False)
        if name in NUMBERS
    }
    for part in content["equation"]["parts"]:
        if part["what"] == "times":
            assert part["coefficient"] == near(slopes[part["predictor"]])


def test_performance(study):
    table, y, _, _, content = study
    everyone, optimism, outside = np.arange(len(y)), [], []
    best = best_by_hand(table, y, everyone)
    whole = best.log_odds(table)
    apparent, share = scores(y, whole), y.mean()
    for resample in range(1, N_RESAMPLES + 1):
        rows = draws(len(y), resample)
        log_odds = best_by_hand(table, y, rows).log_odds(table)
        here, there = scores(y[rows], log_odds[rows]), scores(y, log_odds)
        optimism.append({name: here[name] - there[name] for name in here})
        left = np.setdiff1d(everyone, rows)
        risk = expit(log_odds[left])
        outside.append([roc_auc_score(y[left], risk), brier_score_loss(y[left], risk)])
    beyond = dict(zip(("auc", "brier"), np.mean(outside, axis=0), strict=True))
    risk = expit(whole)
    by_chance = share * np.mean((1 - risk) ** 2) + (1 - share) * np.mean(risk**2)
    for row in content["performance"]["corrected"]:
        name = row["metric"]
        expected = apparent[name] - np.mean([each[name] for each in optimism])
        if name in beyond:
            chance = 0.5 if name == "auc" else by_chance
            overfit = np.clip((apparent[name] - beyond[name]) / (apparent[name] - chance), 0, 1)
            weight = 0.632 / (1 - 0.368 * overfit)
            expected = (1 - weight) * apparent[name] + weight * beyond[name]
        assert row["apparent"] == near(apparent[name]), name
        assert row["corrected"] == near(expected), name


def test_centres(study):
    table, y, centre, _, content = study
    found = {row["centre"]: row for row in content["centres"]["rows"]}
    assert list(found) == sorted(set(centre))
    values = {name: [] for name in ("auc", "calibration_slope", "observed_expected")}
    for name, row in found.items():
        inside = centre == name
        own = y[inside]
        assert (row["n"], row["events"]) == (inside.sum(), own.sum())
        if min(own.sum(), (1 - own).sum()) < 10:
            assert row["measures"] == []
            assert row["reason"].startswith("fewer than 10 with")
            continue
        model = best_by_hand(table, y, np.flatnonzero(~inside))
        assert set(row["predictors"]) == set(model.predictors)
        expected = with_errors(own, model.log_odds(table[inside]))
        assert [each["metric"] for each in row["measures"]] == list(expected)
        for each in row["measures"]:
            value, error = expected[each["metric"]]
            assert each["estimate"] == near(value)
            assert each["error"] == near(error)
            assert [each["lower"], each["upper"]] == near(ends(each["metric"], value, error, own))
            values[each["metric"]].append((value, error))
    assert len(values["auc"]) == 4
    assert found["Zug"]["reason"]
    for row in content["centres"]["pooled"]:
        value, error = np.array(values[row["metric"]]).T
        back = float
        if row["metric"] == "auc":
            value, error, back = logit(value), error / (value * (1 - value)), expit
        elif row["metric"] == "observed_expected":
            value, error, back = np.log(value), error / value, np.exp
        expected = summary(value, error)
        assert row["n_centres"] == 4
        assert row["tau"] == pytest.approx(expected.pop("tau"), abs=1e-3)
        for part, number in expected.items():
            assert row[part] == pytest.approx(back(number), rel=3e-3), (row["metric"], part)


def test_subgroups(study):
    table, y, _, evaluation, content = study
    log_odds = evaluation.predictions["log_odds"].to_numpy()
    assert [row["group"] for row in content["subgroups"]] == list(SUBGROUPS)
    for row in content["subgroups"]:
        inside = SUBGROUPS[row["group"]](table).to_numpy()
        own = y[inside]
        assert (row["n"], row["events"]) == (inside.sum(), own.sum())
        expected = with_errors(own, log_odds[inside])
        for each in row["measures"]:
            value, error = expected[each["metric"]]
            assert each["estimate"] == near(value)
            assert [each["lower"], each["upper"]] == near(ends(each["metric"], value, error, own))


def test_characteristics(study):
    table, y, _, _, content = study
    groups = {"all": y >= 0, "event": y == 1, "no_event": y == 0}
    rows = content["baseline"]
    assert [(row["predictor"], row["level"]) for row in rows] == [
        ("age", None), ("marker", None), ("stage", "I"), ("stage", "II"), ("stage", "III"),
        ("smoker", None),
    ]  # fmt: skip
    for row in rows:
        for group, inside in groups.items():
            column, part = table[row["predictor"]][inside], row[group]
            assert part["n"] == inside.sum()
            assert part["missing"] == column.isna().sum()
            assert part["missing_share"] == pytest.approx(column.isna().mean())
            if row["predictor"] in NUMBERS:
                quartiles = column.quantile([0.25, 0.5, 0.75]).tolist()
                assert [part["q1"], part["median"], part["q3"]] == pytest.approx(quartiles)
            else:
                counts = column.value_counts()
                level = row["level"] or 1.0
                assert part["count"] == counts[level]
                assert part["share"] == pytest.approx(counts[level] / counts.sum())


def test_thresholds(study):
    _, y, _, evaluation, content = study
    risk = evaluation.predictions["probability"].to_numpy()
    curves = content["performance"]["curves"]
    assert curves["thresholds_are_given"]

    def wilson(count):
        return binomtest(count, len(y)).proportion_ci(0.95, method="wilson")

    assert [row["threshold"] for row in curves["thresholds"]] == [0.3, 0.5]
    for row in curves["thresholds"]:
        odds = row["threshold"] / (1 - row["threshold"])
        tp, fp, fn, tn = (
            int(((risk >= row["threshold"]) == above)[y == event].sum())
            for above, event in ((1, 1), (1, 0), (0, 1), (0, 0))
        )
        sensitivity, specificity = tp / (tp + fn), tn / (tn + fp)
        worth = np.where(y == 1, 1.0, -odds)
        model = np.where(risk >= row["threshold"], worth, 0.0)
        gain = (model - worth).mean()
        # Wilson's ends of the shares spared and missed, combined as Newcombe and Zou do.
        spared, missed = tn / len(y), fn / len(y)
        r = -np.sqrt(spared * missed / ((1 - spared) * (1 - missed)))
        (spared_low, spared_high), (missed_low, missed_high) = wilson(tn), wilson(fn)

        def far(a, b, odds=odds, r=r):
            return np.sqrt((odds * a) ** 2 + b**2 - 2 * r * odds * a * b)

        expected = {
            "positive_likelihood_ratio": sensitivity / (1 - specificity),
            "negative_likelihood_ratio": (1 - sensitivity) / specificity,
            "share_above": (tp + fp) / len(y),
            "model": model.mean(),
            "everyone": worth.mean(),
            "gain": gain,
            "gain_lower": gain - far(spared - spared_low, missed_high - missed),
            "gain_upper": gain + far(spared_high - spared, missed - missed_low),
        }
        shares = {
            "sensitivity": (tp, tp + fn),
            "specificity": (tn, tn + fp),
            "predictive_value": (tp, tp + fp),
            "negative_predictive_value": (tn, tn + fn),
        }
        for name, (count, total) in shares.items():
            ends = binomtest(count, total).proportion_ci(0.95, method="wilson")
            found = [row[name][part] for part in ("value", "lower", "upper")]
            assert row[name]["n"] == total
            assert found == pytest.approx([count / total, ends.low, ends.high]), name
        for name, value in expected.items():
            assert row[name] == pytest.approx(value), name
