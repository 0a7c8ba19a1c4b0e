"""The nomogram: reading it with a ruler gives the risk of `predict`."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import shortlist as sl
from shortlist.deployment.nomogram import nomogram_scales, plot_nomogram


def test_the_points_of_labelled_values_add_up_to_the_risk(any_card):
    # "Not measured" stands at the typical value; equations have no place on a line.
    plain = tuple(term.model_copy(update={"imputation": None}) for term in any_card.terms)
    any_card = any_card.model_copy(update={"terms": plain})
    points, *lines, totals, risks = nomogram_scales(any_card)
    assert points.places.max() == 100
    assert max(line.places.max() for line in lines) == pytest.approx(100)
    # The risk is linear in the log-odds along its line.
    chance = logit([float(label) for label in risks.labels])
    slope, start = np.polyfit(risks.places, chance, 1)
    rng = np.random.default_rng(0)
    for _ in range(50):
        picks = [rng.integers(len(line.labels)) for line in lines]
        total = sum(line.places[pick] for line, pick in zip(lines, picks, strict=True))
        values = {
            term.name: [None if label == "not measured" else {"no": 0, "yes": 1}.get(label, label)]
            for term, label in zip(
                any_card.terms,
                (line.labels[pick] for line, pick in zip(lines, picks, strict=True)),
                strict=True,
            )
        }
        expected = any_card.probability(pd.DataFrame(values, dtype=object))[0]
        assert expit(start + slope * total) == pytest.approx(expected, abs=1e-6)
    assert totals.places.max() >= sum(line.places.max() for line in lines) - 1e-9


@pytest.mark.filterwarnings("ignore:Glyph")
def test_it_is_drawn(any_card, tmp_path):
    figure = plot_nomogram(any_card).figure
    figure.savefig(tmp_path / "nomogram.svg")
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"Points", "Total points", "Risk of dead"} <= texts
    figure.clear()


def test_a_model_without_predictors_is_refused():
    X, y = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]}), [0, 1, 0, 1]
    card = sl.PrognosticModel(max_features=0, ridge=1.0).fit(X, y).card_
    with pytest.raises(sl.InvalidProblemError, match="no predictor with an effect"):
        plot_nomogram(card)


def test_a_risk_below_all_marks_is_read_at_the_ends(card):
    rare = card.model_copy(update={"intercept": card.intercept - 40.0})
    *_, risks = nomogram_scales(rare)
    assert len(risks.labels) == 2
    assert 0 < float(risks.labels[0]) < float(risks.labels[1]) < 0.001
    plot_nomogram(rare)


def test_axes_run_over_the_range_and_few_values_have_ticks():
    rng = np.random.default_rng(0)
    bilirubin = np.exp(rng.normal(0.5, 1, 300)).round(3).clip(0.3, 28)
    bilirubin[:2] = 0.3, 28.0
    table = pd.DataFrame({"bilirubin": bilirubin, "nodes": rng.choice([0, 1, 4], 300)})
    y = bilirubin / 3 + table["nodes"] + rng.logistic(size=300) > 3
    card = sl.PrognosticModel(ridge=1.0, include=list(table)).fit(table, y).card_
    lines = {scale.name: scale for scale in nomogram_scales(card)}
    values = [float(label) for label in lines["bilirubin"].labels]
    assert (values[0], values[-1]) == (0.3, 28.0)
    assert values == sorted(set(values))
    assert len(values) <= 14
    assert lines["nodes"].labels == ["0", "1", "4"]
