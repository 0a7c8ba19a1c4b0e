"""The model in the report: the purchase, the equation, an example, and effects.

Effects are followed over resamples on which the selection is repeated; a range is that of the
resamples that select the predictor.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, nan
from typing import Any

import numpy as np
import pandas as pd

from ..arguments import Float
from ..evaluation import Evaluation, percentile_interval
from ..evaluation.metric import percentile_ends
from ..patients import ModelCard
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


def make_probes(card: ModelCard, plain: PlainTable) -> pd.DataFrame:
    """Return made-up patients with typical values of all else: two per contrast, then splines."""
    typical: dict[str, Any] = {
        name: plain.frame[name].median() if kind == "numeric" else plain.frame[name].mode()[0]
        for name, kind in plain.kinds.items()
    }
    patients = [
        typical | {term.name: end}
        for term in card.terms
        for contrast in card.contrasts(term)
        for end in (contrast.value, contrast.reference)
    ]
    patients += [
        typical | {term.name: value}
        for term in _splines(card.terms)
        for value in _spline_values(term)
    ]
    table = pd.DataFrame(patients, columns=list(typical), dtype=object)
    kinds = plain.kinds
    return table.astype({name: object if kinds[name] == "categorical" else float for name in kinds})


def _count_probes(card: ModelCard) -> int:
    splines = sum(len(_spline_values(term)) for term in _splines(card.terms))
    return 2 * len(card.effects()) + splines


def describe_effects(card: ModelCard, evaluation: Evaluation) -> list[EffectRow]:
    """Return every contrast of the predictors bought, and its percentiles over resamples."""
    log_odds, selection = _on_resamples(evaluation, card), evaluation.selection
    rows: list[EffectRow] = []
    for number, effect in enumerate(card.effects()):
        row: EffectRow = {
            "predictor": effect.predictor,
            "contrast": effect.contrast,
            "coefficient": effect.coefficient,
            "odds_ratio": _ratio(effect.coefficient),
        }
        if log_odds is not None:
            chosen = selection[effect.predictor].to_numpy()
            found = log_odds[chosen, 2 * number] - log_odds[chosen, 2 * number + 1]
            lower, upper = percentile_interval(found, LEVEL)
            row |= {"lower": _ratio(lower), "upper": _ratio(upper), "frequency": chosen.mean()}
        rows.append(row)
    return rows


def _splines(terms: Sequence[Term]) -> list[NumericTerm]:
    return [term for term in terms if isinstance(term, NumericTerm) and term.knots]


def _spline_values(term: NumericTerm) -> list[float]:
    """Return the values at which a spline is shown, then its knots, then its reference."""
    return [*np.linspace(*term.range, _N_POINTS).tolist(), *term.knots, term.fill]


def describe_splines(card: ModelCard, plain: PlainTable, evaluation: Evaluation) -> list[SplineRow]:
    """Return the odds along each spline, relative to those at the median.

    Bands are percentiles over the resamples that select the predictor, as in `describe_effects`;
    the histogram has the observed values.
    """
    on_resamples = _on_resamples(evaluation, card)
    start = 2 * len(card.effects())
    curves: list[SplineRow] = []
    for term in _splines(card.terms):
        values = _spline_values(term)
        log_odds = term.contribution(pd.Series(values)).log_odds
        facts = {"value": values, "odds_ratio": np.exp(log_odds - log_odds[-1]).tolist()}
        if on_resamples is not None:
            chosen = evaluation.selection[term.name].to_numpy()
            along = on_resamples[chosen, start : start + len(values)]
            band = np.exp(percentile_ends(along - along[:, -1:], LEVEL)).tolist()
            facts |= {"lower": band[0], "upper": band[1]}
        start += len(values)
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


def _on_resamples(evaluation: Evaluation, card: ModelCard) -> Float | None:
    """Return the log-odds of the probes by the model of each resample.

    None for fewer than two, and for an evaluation of a model with other probes.
    """
    probes = evaluation.probes
    if probes is None or len(evaluation.resamples) < 2 or probes.shape[1] != _count_probes(card):
        return None
    log_odds: Float = probes.to_numpy()[1:]
    return log_odds


def _ratio(coefficient: float) -> float:
    return exp(coefficient) if abs(coefficient) < 700 else nan
