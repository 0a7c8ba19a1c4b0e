"""The model in the report: the purchase, the equation, an example, and effects.

Effects are followed over resamples on which the selection is repeated (Heinze, Wallisch and Dunkler
2018). They are compared with the coefficients of the full model, which has all candidates and the
same ridge. A predictor that a resample does not select has the coefficient 0 there.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import exp, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone

from ..arguments import Float
from ..errors import ShortlistWarning
from ..evaluation import Evaluation, percentile_interval
from ..evaluation.metric import percentile_ends
from ..limits import given_limits
from ..patients import ModelCard, PrognosticModel
from ..patients.record import SharedFee
from ..patients.table import PlainTable
from ..patients.term import NumericTerm, Term
from .content import (
    LEVEL,
    EffectRow,
    Equation,
    FeeRow,
    PricedPredictor,
    Purchase,
    SplineRow,
    WorkedExample,
)
from .performance import histogram

_N_POINTS = 40  # along a spline


def describe_purchase(card: ModelCard) -> Purchase:
    """Return the predictors bought and not bought, with prices."""

    def predictors(bought: bool) -> list[PricedPredictor]:
        return [
            {"predictor": item.name, "kind": item.kind, "cost": item.cost}
            for item in card.candidates
            if item.bought == bought
        ]

    return Purchase(
        bought=predictors(True),
        not_bought=predictors(False),
        fees=[_fee_row(fee) for fee in card.paid_fees],
        not_bought_fees=[
            _fee_row(fee)
            for fee in card.limits.fees
            if not set(card.bought).intersection(fee.members)
        ],
        n_bought=len(card.terms),
        n_candidates=len(card.candidates),
        cost=card.cost,
        **card.limits.model_dump(include={"budget", "max_features", "include"}),
    )


def _fee_row(fee: SharedFee) -> FeeRow:
    return {"amount": fee.amount, "members": [*fee.members]}


def describe_equation(card: ModelCard) -> Equation:
    """Return the intercept and everything that is added to it."""
    return Equation(
        intercept=card.intercept,
        parts=[
            {"predictor": term.name, "coefficient": coefficient, "what": what, "level": level}
            for term in card.terms
            for coefficient, what, level in term.parts()
        ],
        splines=[
            {"predictor": term.name, "knots": list(term.knots)}
            for term in card.terms
            if isinstance(term, NumericTerm) and term.knots
        ],
    )


def describe_example(card: ModelCard) -> WorkedExample:
    """Return the worked example: a made-up patient, typical in every predictor.

    It has the median of every number and the most frequent value of everything else, so that the
    report shows no real patient.
    """
    values = {term.name: term.typical for term in card.terms}
    patient = pd.DataFrame({name: [value] for name, value in values.items()}, index=[0])
    added = card.contributions(patient)
    log_odds = float(card.log_odds(patient)[0])
    return WorkedExample(
        terms=[
            {"predictor": name, "value": value, "adds": float(added[name].iloc[0])}
            for name, value in values.items()
        ],
        intercept=card.intercept,
        log_odds=log_odds,
        probability=float(card.probability(patient)[0]),
        odds=exp(log_odds) if log_odds < 700 else None,
    )


def fit_full_model(model: PrognosticModel, plain: PlainTable) -> PrognosticModel:
    """Return a fitted model's counterpart that buys every candidate, with the same ridge."""
    everything = [item.name for item in model.card_.candidates]
    unlimited = given_limits(PrognosticModel()) | {"include": everything}
    full: PrognosticModel = clone(model).set_params(
        **unlimited,
        ridge=model.ridge_,
        stable=False,
        backend="native",
        time_limit=None,
        node_limit=None,
    )
    with warnings.catch_warnings(action="ignore", category=ShortlistWarning):
        # `fit` of the model has warned already
        return full.fit(plain, plain.labels)


def make_probes(full: PrognosticModel) -> pd.DataFrame:
    """Return made-up patients with typical values of all else: two per contrast, then splines."""
    terms = full.card_.terms
    typical: dict[str, float | str | None] = {term.name: term.typical for term in terms}
    patients = [
        typical | {term.name: end}
        for term in terms
        for contrast in full.card_.contrasts(term)
        for end in (contrast.value, contrast.reference)
    ]
    patients += [
        typical | {term.name: value} for term in _splines(terms) for value in _spline_values(term)
    ]
    table = pd.DataFrame(patients, columns=list(typical), dtype=object)
    kinds = full.kinds_
    return table.astype({name: object if kinds[name] == "categorical" else float for name in kinds})


def describe_effects(
    model: PrognosticModel, full: PrognosticModel, plain: PlainTable, evaluation: Evaluation
) -> list[EffectRow]:
    """Return every contrast of every candidate: in the model, in the full one, on resamples."""
    bought = {effect[:2]: effect.coefficient for effect in model.card_.effects()}
    errors = _standard_errors(full, plain).tolist()
    log_odds = _on_resamples(evaluation, full)
    selection = evaluation.selection
    rows: list[EffectRow] = []
    for number, (effect, error) in enumerate(zip(full.card_.effects(), errors, strict=True)):
        own = bought.get(effect[:2], nan)
        row: EffectRow = {
            "predictor": effect.predictor,
            "contrast": effect.contrast,
            "is_bought": effect[:2] in bought,
            "coefficient": own,
            "odds_ratio": _ratio(own),
            "full_coefficient": effect.coefficient,
            "full_error": error,
        }
        if log_odds is not None:
            chosen = selection[effect.predictor].to_numpy()
            found = log_odds[:, 2 * number] - log_odds[:, 2 * number + 1]
            row |= _describe_values(found, chosen, effect.coefficient, error)  # type: ignore[typeddict-item]
        rows.append(row)
    return rows


def _splines(terms: Sequence[Term]) -> list[NumericTerm]:
    return [term for term in terms if isinstance(term, NumericTerm) and term.knots]


def _spline_values(term: NumericTerm) -> list[float]:
    """Return the values at which a spline is shown, then its knots, then its reference."""
    return [*np.linspace(*term.range, _N_POINTS).tolist(), *term.knots, term.fill]


def describe_splines(
    model: PrognosticModel, full: PrognosticModel, plain: PlainTable, evaluation: Evaluation
) -> list[SplineRow]:
    """Return the odds along each spline, relative to those at the median.

    Bands are percentiles over the resamples that select the predictor, as in `describe_effects`;
    the histogram has the observed values.
    """
    splines = _splines(model.card_.terms)
    if not splines:
        return []
    on_resamples = _on_resamples(evaluation, full)
    start = 2 * len(full.card_.effects())
    followed = {}
    for term in _splines(full.card_.terms):
        followed[term.name] = slice(start, start + len(_spline_values(term)))
        start = followed[term.name].stop
    curves: list[SplineRow] = []
    for term in splines:
        values = _spline_values(term)
        log_odds = term.contribution(pd.Series(values)).log_odds
        facts = {"value": values, "odds_ratio": np.exp(log_odds - log_odds[-1]).tolist()}
        if on_resamples is not None:
            chosen = evaluation.selection[term.name].to_numpy()
            along = on_resamples[chosen, followed[term.name]]
            band = np.exp(percentile_ends(along - along[:, -1:], LEVEL)).tolist()
            facts |= {"lower": band[0], "upper": band[1]}
        points: list[Any] = pd.DataFrame(facts).to_dict("records")
        observed = plain.frame[term.name].to_numpy()
        curves.append(
            {
                "predictor": term.name,
                "reference": term.fill,
                "points": points[:_N_POINTS],
                "at_knots": points[_N_POINTS:-1],
                "histogram": histogram(plain.labels, observed, *term.range),
            }
        )
    return curves


def _describe_values(
    values: Float, chosen: NDArray[np.bool_], full: float, error: float
) -> dict[str, Any]:
    lower, upper = percentile_interval(values, LEVEL)
    of_chosen = values[chosen]
    range_when_selected = percentile_interval(of_chosen, LEVEL)
    return {
        "lower": lower,
        "upper": upper,
        "odds_ratio_lower": _ratio(lower),
        "odds_ratio_upper": _ratio(upper),
        "selected_lower": _ratio(range_when_selected[0]),
        "selected_upper": _ratio(range_when_selected[1]),
        "frequency": chosen.mean(),
        "rmsd_ratio": sqrt(float(np.mean((values - full) ** 2))) / error if error > 0 else None,
        # Relative to a coefficient that could as well be 0 it would be any number.
        "relative_conditional_bias": (
            float(of_chosen.mean()) / full - 1 if len(of_chosen) and abs(full) > error else None
        ),
    }


def _on_resamples(evaluation: Evaluation, full: PrognosticModel) -> Float | None:
    """Return the log-odds of the probes by the model of each resample.

    None for fewer than two, and for an evaluation of a model with other probes.
    """
    probes = evaluation.probes
    if probes is None or len(evaluation.resamples) < 2 or probes.shape[1] != len(make_probes(full)):
        return None
    log_odds: Float = probes.to_numpy()[1:]
    return log_odds


def _standard_errors(full: PrognosticModel, plain: PlainTable) -> Float:
    """Return the errors of the contrasts of the full model, from its penalised information."""
    design = full.design_of(plain)
    columns = design.matrix
    ends = design.transform(make_probes(full))[: 2 * len(full.card_.effects())]
    contrasts = np.diff(ends.reshape(-1, 2, columns.shape[1]), axis=1)
    probability = expit(columns @ full.solution_.coef + full.solution_.intercept)
    rows = np.column_stack([columns, np.ones(len(columns))])
    penalty = np.diag([full.ridge_] * columns.shape[1] + [0.0])
    weights = len(plain.labels) / len(columns)  # of the rows of imputations
    information = weights * (rows.T * (probability * (1 - probability))) @ rows + penalty
    directions = np.column_stack([contrasts[:, 0], np.zeros(len(contrasts))]).T
    variances = (directions * np.linalg.solve(information, directions)).sum(axis=0)
    errors: Float = np.sqrt(np.maximum(variances, 0.0))
    return errors


def _ratio(coefficient: float) -> float:
    return exp(coefficient) if abs(coefficient) < 700 else nan
