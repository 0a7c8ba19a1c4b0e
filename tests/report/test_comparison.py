"""The usual rules at the same budget, on the same resamples and folds."""

import numpy as np
import pytest

import shortlist as sl
from shortlist.report import compare_rules, validate_model
from shortlist.report.performance import describe_comparison
from shortlist.report.validation import RULES


@pytest.fixture(scope="module")
def compared():
    data = sl.datasets.make_prognostic(n_samples=120, label_noise=0.05, random_state=3)
    model = sl.PrognosticModel(budget=8, costs=dict(zip(data.X.columns, data.costs, strict=True)))
    model.set_params(ridge=0.1).fit(data.X, data.y)
    evaluation = validate_model(model, data.X, data.y, n_resamples=6)
    rivals = compare_rules(model, data.X, data.y, n_resamples=4)
    return model, evaluation, rivals, describe_comparison(evaluation, rivals)


def test_no_rule_has_a_smaller_loss_or_a_larger_cost(compared):
    model, _, _, rows = compared
    assert [row["rule"] for row in rows] == ["proven best", *RULES.values()]
    for row in rows:
        assert row["excess"] >= -1e-6
        assert row["mean_excess"] >= -1e-6
        assert row["cost"] <= model.budget
        assert row["n_resamples"] == 4
    assert rows[0]["predictors"] == model.selected_features_
    assert rows[0]["same_share"] == 1


def test_differences_are_paired_resample_by_resample(compared):
    _, evaluation, rivals, rows = compared
    for row, (name, rival) in zip(rows[1:], rivals.items(), strict=True):
        assert row["rule"] == RULES[name]
        if rival.selected == evaluation.selected:
            assert row["differences"] == []
            continue
        (auc,) = [line for line in row["differences"] if line["metric"] == "auc"]
        own, other = (e.rows[e.rows["resample"] <= 4] for e in (evaluation, rival))
        gap = other["data_auc"].iloc[0] - own["data_auc"].iloc[0]
        optimism = (other["resample_auc"] - other["data_auc"]) - (
            own["resample_auc"] - own["data_auc"]
        )
        assert auc["estimate"] == pytest.approx(gap - np.mean(optimism[1:]))
        assert auc["n_resamples"] == 4


def test_without_rivals_there_is_nothing_to_say(compared):
    assert describe_comparison(compared[1], {}) == []
