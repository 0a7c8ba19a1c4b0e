"""Performance in the report: measures, curves and stability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_curve

from ..arguments import Float, Int
from ..errors import InvalidProblemError
from ..evaluation import (
    Evaluation,
    Measure,
    inclusion_frequencies,
    interval,
    model_frequencies,
    net_benefit,
    share_interval,
    smooth_calibration,
    stability,
)
from ..evaluation.metric import HIGHEST
from ..patients import ModelCard
from .content import (
    LEVEL,
    Bar,
    CalibrationGroup,
    Curves,
    IndividualRisks,
    ModelFrequency,
    NetBenefit,
    Performance,
    RocPoint,
    Stability,
    ThresholdRow,
    json_rows,
)

_THRESHOLDS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
)  # fmt: skip
_FEWEST_ROWS, _FEWEST_SHARE = 5, 0.02  # on both sides of a threshold that is worth a line
_MOST_GROUPS = 10
_SMALLEST_GROUP, _EVENTS_PER_GROUP = 20, 5
_N_BINS = 30
_N_POINTS = 60
_MOST_ROC_POINTS = 400
_MOST_MODELS = 5
_N_RISK_GROUPS = 5
_MOST_DRAWN = 200  # patients whose ranges of risks can be told apart in a figure


def describe_performance(evaluation: Evaluation, thresholds: Sequence[float] = ()) -> Performance:
    """Return measures with and without optimism, and curves."""
    known = evaluation.predictions.dropna() if evaluation.predictions is not None else None
    curves = None
    if known is not None and known["y"].nunique() == 2:
        curves = describe_curves(
            known["y"].to_numpy(),
            known["log_odds"].to_numpy(),
            known["person"].to_numpy(),
            thresholds,
        )
    return Performance(
        n_resamples=len(evaluation.resamples),
        n_folds=evaluation.rows["test_folds"].iloc[0],
        corrected=json_rows(evaluation.optimism(LEVEL)),
        log_loss=float(evaluation.summary(LEVEL)["estimate"]["log_loss"]),
        n_unproven=int(evaluation.rows["unproven"].sum()),
        n_solves=int(evaluation.rows["solves"].sum()),
        curves=curves,
    )


def describe_stability(card: ModelCard, evaluation: Evaluation) -> Stability | None:
    """Return the frequencies of predictors and models on resamples; None for fewer than two."""
    selection = evaluation.selection
    if len(selection) < 2:
        return None
    frequencies = model_frequencies(selection)
    own = {*card.bought}
    overall = stability(selection, LEVEL)
    models: list[ModelFrequency] = [
        {"predictors": list(model), "frequency": frequency, "is_chosen": set(model) == own}
        for model, frequency in zip(frequencies["model"], frequencies["frequency"], strict=True)
    ]
    return Stability(
        n_resamples=len(selection),
        stability=overall.value,
        lower=overall.lower,
        upper=min(overall.upper, 1.0),  # of stability, which is 1 at most
        inclusion=[
            row | {"is_bought": row["predictor"] in own}
            for row in json_rows(inclusion_frequencies(selection, LEVEL), "predictor")
        ],
        models=models[:_MOST_MODELS],
        n_models=len(models),
        own_frequency=sum((row["frequency"] for row in models if row["is_chosen"]), 0.0),
    )


def describe_risks(evaluation: Evaluation) -> IndividualRisks | None:
    """Return how much the risks of patients vary over the models of resamples.

    None for fewer than two. Groups have about as many patients each, the lowest risks first; the
    range of a group is the mean of its patients' ranges.
    """
    n_resamples = len(evaluation.resamples)
    if evaluation.followed is None or n_resamples < 2:
        return None
    found = evaluation.individual_risks(LEVEL).sort_values("risk", kind="stable")
    groups: list[Any] = [
        {"n": len(rows), **found.iloc[rows].mean()}
        for rows in np.array_split(np.arange(len(found)), min(_N_RISK_GROUPS, len(found)))
    ]
    drawn = np.linspace(0, len(found) - 1, min(len(found), _MOST_DRAWN)).round().astype(np.int64)
    return IndividualRisks(
        n_resamples=n_resamples,
        n_patients=len(found),
        difference=found["difference"].mean(),
        groups=groups,
        patients=json_rows(found.iloc[drawn].set_index("risk"), "risk"),  # without their rows
    )


def describe_curves(
    y: Int, log_odds: Float, persons: Int | None, given: Sequence[float] = ()
) -> Curves:
    """Return the points of the curves; all axes and thresholds follow the risks.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        1 for an event, else 0; both occur.
    log_odds : ndarray of shape (n_rows,)
        Predicted.
    persons : ndarray of shape (n_rows,), optional
        The person of each row, numbered from 0.
    given : sequence of float
        Thresholds; by default `choose_thresholds` has them.
    """
    probability: Float = expit(log_odds)
    smooth = smooth_calibration(y, log_odds, persons, LEVEL)
    thresholds = check_thresholds(given) or choose_thresholds(probability)
    highest = max(thresholds[-1], min(0.99, 1.25 * thresholds[-1]))
    steps = highest * np.arange(1, _N_POINTS + 1) / _N_POINTS
    return Curves(
        roc=roc_points(y, log_odds),
        thresholds=[_at_threshold(y, probability, persons, t) for t in thresholds],
        thresholds_are_given=len(given) > 0,
        calibration=calibration_groups(y, probability),
        smooth=[]
        if smooth is None
        else json_rows(smooth.curve.set_index("predicted"), "predicted"),
        ici=None if smooth is None else smooth.ici,
        e90=None if smooth is None else smooth.e90,
        histogram=histogram(y, probability, 0.0, float(np.quantile(probability, HIGHEST))),
        decision_curve=[_net_benefit(y, probability, persons, t) for t in steps.tolist()],
    )


def check_thresholds(thresholds: Sequence[float]) -> list[float]:
    """Return the thresholds that a user gives, in order; raise if one is not a risk to act at."""
    for threshold in thresholds:
        if not 0 < threshold < 1:
            raise InvalidProblemError(
                f"thresholds: must be risks between 0 and 1, not {threshold!r}; write 0.1 or 10%."
            )
    return sorted({float(threshold) for threshold in thresholds})


def choose_thresholds(probability: Float) -> list[float]:
    """Return round risks that have enough patients above and below; or else the median risk."""
    fewest = max(_FEWEST_ROWS, _FEWEST_SHARE * len(probability))
    chosen = [
        threshold
        for threshold in _THRESHOLDS
        if fewest <= int((probability >= threshold).sum()) <= len(probability) - fewest
    ]
    return chosen or [float(np.clip(np.median(probability), 1e-6, 0.99))]


def roc_points(y: Int, log_odds: Float) -> list[RocPoint]:
    """Return the ROC curve, thinned to as many points as can be seen."""
    points = np.column_stack(roc_curve(y, log_odds)[:2])
    n_kept = min(len(points), _MOST_ROC_POINTS)
    kept = np.unique(np.linspace(0, len(points) - 1, n_kept).astype(np.int64))
    return [
        {"false_positive_rate": false_positive, "true_positive_rate": true_positive}
        for false_positive, true_positive in points[kept].tolist()
    ]


def _at_threshold(
    y: Int, probability: Float, persons: Int | None, threshold: float
) -> ThresholdRow:
    """Return the accuracy and the net benefit of acting above a threshold.

    What divides by 0, such as the predictive value if no risk is above, is None.
    """
    acted, event = probability >= threshold, y == 1
    sensitivity, specificity = acted[event].mean(), (~acted)[~event].mean()
    return {
        **_net_benefit(y, probability, persons, threshold),
        "share_above": acted.mean(),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "predictive_value": event[acted].mean() if acted.any() else None,
        "negative_predictive_value": None if acted.all() else (~event)[~acted].mean(),
        "positive_likelihood_ratio": sensitivity / (1 - specificity) if specificity < 1 else None,
        "negative_likelihood_ratio": (1 - sensitivity) / specificity if specificity > 0 else None,
    }


def _net_benefit(y: Int, probability: Float, persons: Int | None, threshold: float) -> NetBenefit:
    """Return the net benefit, and by how much acting on everyone has less.

    Acting on no one has 0, so that the first is the difference to that.
    """
    benefit = net_benefit(y, probability, threshold)
    everyone = net_benefit(y, np.ones(len(y)), threshold)
    gain = Measure(benefit.value - everyone.value, benefit.influence - everyone.influence)
    lower, upper = interval("net_benefit", benefit.value, benefit, y, persons, LEVEL)
    gain_lower, gain_upper = interval("net_benefit", gain.value, gain, y, persons, LEVEL)
    return {
        "threshold": threshold,
        "model": benefit.value,
        "lower": lower,
        "upper": upper,
        "everyone": everyone.value,
        "gain": gain.value,
        "gain_lower": gain_lower,
        "gain_upper": gain_upper,
    }


def calibration_groups(y: Int, probability: Float) -> list[CalibrationGroup]:
    """Return predicted and observed shares of groups of about equal size, the lowest risk first."""
    rarer = int(min(y.sum(), len(y) - y.sum()))
    most = min(len(y) // _SMALLEST_GROUP, rarer // _EVENTS_PER_GROUP)
    n_groups = max(2, min(_MOST_GROUPS, most))
    order = np.argsort(probability, kind="stable")
    groups: list[CalibrationGroup] = []
    for rows in np.array_split(order, n_groups):
        events = int(y[rows].sum())
        lower, upper = share_interval(events, len(rows), LEVEL)
        groups.append(
            {
                "n": len(rows),
                "events": events,
                "predicted": float(probability[rows].mean()),
                "observed": events / len(rows),
                "lower": lower,
                "upper": upper,
            }
        )
    return groups


def histogram(y: Int, values: Float, lowest: float, highest: float) -> list[Bar]:
    """Count the patients with and without the event by a value; those beyond are in the last bars.

    Missing values are not counted.
    """
    edges = np.linspace(lowest, max(highest, lowest + 1e-9), _N_BINS + 1)
    shown = np.clip(values, edges[0], edges[-1])
    known = ~np.isnan(shown)
    counts = [np.histogram(shown[known & (y == label)], edges)[0].tolist() for label in (1, 0)]
    return [
        {"from": start, "to": stop, "events": events, "others": others}
        for start, stop, events, others in zip(
            edges[:-1].tolist(), edges[1:].tolist(), *counts, strict=True
        )
    ]
