"""Performance in the report: measures, curves and stability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import roc_curve

from ..arguments import Float, Int
from ..errors import InvalidProblemError
from ..evaluation import (
    Evaluation,
    inclusion_frequencies,
    model_frequencies,
    net_benefit,
    share_interval,
    share_of,
    smooth_calibration,
    stability,
    worth_interval,
)
from ..evaluation.metric import HIGHEST
from ..patients import ModelCard
from .content import (
    LEVEL,
    TUNING_FOLDS,
    Bar,
    CalibrationGroup,
    Curves,
    IndividualRisks,
    ModelFrequency,
    NetBenefit,
    Performance,
    RocPoint,
    ShareOf,
    Stability,
    ThresholdRow,
    json_rows,
)

_THRESHOLDS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
)  # fmt: skip
_FEWEST_ROWS, _FEWEST_SHARE = 5, 0.02  # on both sides of a threshold that is worth a line
_MOST_THRESHOLDS = 5
_MOST_GROUPS = 10
_SMALLEST_GROUP, _EVENTS_PER_GROUP = 20, 5
_N_BINS = 30
_N_POINTS = 60
_MOST_ROC_POINTS = 400
_MOST_MODELS = 5
_N_RISK_GROUPS = 5
_MOST_DRAWN = 200  # patients whose ranges of risks can be told apart in a figure


def describe_performance(
    card: ModelCard, evaluation: Evaluation, thresholds: Sequence[float] = ()
) -> Performance:
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
        tuning_folds=TUNING_FOLDS if card.search.tuning else 0,
        corrected=json_rows(evaluation.optimism(LEVEL)),
        log_loss=float(evaluation.summary(LEVEL)["estimate"]["log_loss"]),
        n_unproven=int(evaluation.rows["unproven"].sum()),
        n_solves=int(evaluation.rows["solves"].sum()),
        curves=curves,
    )


def describe_stability(card: ModelCard, evaluation: Evaluation) -> Stability | None:
    """Return the frequencies of predictors and models on resamples; None for fewer than two.

    What is free or required is always bought, and does not count.
    """
    selection = evaluation.selection
    if len(selection) < 2:
        return None
    competing = competing_predictors(card)
    selection = selection[competing]
    frequencies = model_frequencies(selection)
    own = {*card.bought}.intersection(competing)
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
        n_not_competing=len(evaluation.names) - len(competing),
        inclusion=[
            row | {"is_bought": row["predictor"] in own}
            for row in json_rows(inclusion_frequencies(selection, LEVEL), "predictor")
        ],
        models=models[:_MOST_MODELS],
        n_models=len(models),
        own_frequency=sum((row["frequency"] for row in models if row["is_chosen"]), 0.0),
    )


def competing_predictors(card: ModelCard) -> list[str]:
    """Return the candidates that are neither required nor, where there is a budget, free."""
    by_fee = {name for fee in card.limits.fees for name in fee.members if fee.amount > 0}
    return [
        item.name
        for item in card.candidates
        if item.name not in card.limits.include
        and (card.limits.budget is None or item.cost > 0 or item.name in by_fee)
    ]


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
    if len(chosen) > _MOST_THRESHOLDS:
        kept = np.linspace(0, len(chosen) - 1, _MOST_THRESHOLDS).round().astype(np.int64)
        chosen = [chosen[i] for i in kept.tolist()]
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

    def share(has: NDArray[np.bool_], among: NDArray[np.bool_]) -> ShareOf:
        owners = None if persons is None else persons[among]
        value, lower, upper = share_of(has[among], owners, LEVEL)
        return {"n": int(among.sum()), "value": value, "lower": lower, "upper": upper}

    sensitivity, specificity = float(acted[event].mean()), float((~acted)[~event].mean())
    return {
        **_net_benefit(y, probability, persons, threshold),
        "share_above": acted.mean(),
        "sensitivity": share(acted, event),
        "specificity": share(~acted, ~event),
        "predictive_value": share(event, acted),
        "negative_predictive_value": share(~event, ~acted),
        "positive_likelihood_ratio": sensitivity / (1 - specificity) if specificity < 1 else None,
        "negative_likelihood_ratio": (1 - sensitivity) / specificity if specificity > 0 else None,
    }


def _net_benefit(y: Int, probability: Float, persons: Int | None, threshold: float) -> NetBenefit:
    """Return the net benefit, and by how much it exceeds that of acting on everyone.

    Acting on no one has 0, so that the first is the difference to that.
    """
    acted, event, harm = probability >= threshold, y == 1, threshold / (1 - threshold)
    benefit = net_benefit(y, probability, threshold)
    everyone = net_benefit(y, np.ones(len(y)), threshold)
    above = worth_interval((acted & event, 1.0), (acted & ~event, harm), persons, LEVEL)
    below = worth_interval((~acted & ~event, harm), (~acted & event, 1.0), persons, LEVEL)
    return {
        "threshold": threshold,
        "model": benefit,
        "lower": above[0],
        "upper": above[1],
        "everyone": everyone,
        "gain": benefit - everyone,
        "gain_lower": below[0],
        "gain_upper": below[1],
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
