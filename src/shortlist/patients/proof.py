"""The proof of a fitted model, which can be checked by anyone with the data.

The file is a certificate with the card of its model. The card states the problem: columns and their
kinds, preprocessing, ridge, prices and limits. The problem is built again from the card and the
patients; its digest has to be the certificate's.
"""

from __future__ import annotations

import json
from math import inf, isclose
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..certificate import Certificate
from ..errors import InvalidCertificateError, InvalidProblemError, shown
from ..problem import SubsetProblem
from ..solution import Status
from ..verification import Verdict, verify
from .card import ModelCard, marks_of
from .model import PrognosticModel
from .preparation import Preparation
from .table import PlainTable

_CARD = "card"  # the field of the certificate's file that holds the model
_TOLERANCE = 1e-6  # between numbers in original units and in the problem's matrix
_ROUNDING = 1e-8  # by which, relatively, a bound in floating point may exceed the proven one
_ZERO = 1e-12  # below which numbers count as equal


def save_proof(path: str | Path, card: ModelCard, certificate: Certificate) -> None:
    """Write a certificate that carries the card of its model.

    Parameters
    ----------
    path : str or Path
        The file, which `Certificate.load` reads too.
    card, certificate
        `card_` and `certificate_` of a fitted `PrognosticModel`.
    """
    certificate.save(path, {_CARD: card.model_dump(mode="json")})


def load_proof(path: str | Path) -> tuple[ModelCard, Certificate]:
    """Read a file of `save_proof`; raise `InvalidCertificateError` for any other."""
    try:
        certificate, attached = Certificate.load_attached(path)
    except InvalidCertificateError as error:
        message = str(error).removeprefix("path: ").removeprefix(f"{Path(path).name} ")
        raise InvalidCertificateError(f"{path}: {message}") from None
    if _CARD not in attached:
        raise InvalidCertificateError(
            f"{path}: carries no model, so it does not say which problem it is about; pass a file "
            "that `shortlist fit --certificate` wrote."
        )
    return ModelCard.parse(json.dumps(attached[_CARD]), str(path)), certificate


def problem_of(
    card: ModelCard, X: pd.DataFrame, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> SubsetProblem:
    """Return the problem that a card answers, for these patients.

    Parameters
    ----------
    card : ModelCard
        Of the model.
    X : DataFrame
        The columns that could be bought; others are ignored.
    y : array-like of shape (n_rows,)
        1 for the event, 0 otherwise.
    sample_weight : array-like of shape (n_rows,), optional
        As for `fit`.

    Returns
    -------
    SubsetProblem
        As `fit` solved it, if the patients are the same.
    """
    problem = _restated(card).problem(_candidates(card, X), y, sample_weight=sample_weight)
    return problem.with_limits(exclude=card.left_out)


def verify_model(
    card: ModelCard,
    certificate: Certificate,
    X: pd.DataFrame,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> Verdict:
    """Check a card and its certificate for these patients.

    Parameters
    ----------
    card, certificate
        As `load_proof` returns them.
    X, y, sample_weight
        As for `problem_of`; X has the columns that were left out too.

    Returns
    -------
    Verdict
        As `shortlist.verify` gives it. The card has to show the certificate's model too: the
        same terms, predictions, rows, events and objective, no higher a bound, and the status
        optimal only with a proven gap of at most the target. The tuning of the ridge, the number
        of nodes, the backend, the version, why a limit was lowered, how often resamples or single
        imputations select a predictor, and codes and synonyms that the data do not have cannot be
        checked.

    Examples
    --------
    >>> import pandas as pd, shortlist as sl
    >>> from shortlist.patients import verify_model
    >>> patients = pd.DataFrame({"age": [40, 50, 60, 70], "smoker": [True, False, True, True]})
    >>> model = sl.PrognosticModel(max_features=1, ridge=0.1).fit(patients, [0, 0, 1, 1])
    >>> verify_model(model.card_, model.certificate_, patients, [0, 0, 1, 1]).valid
    True
    >>> verify_model(model.card_, model.certificate_, patients, [0, 1, 0, 1]).reason
    'The patients are not those that the model was fitted to.'
    """
    if card.update is not None:
        return _refused("The model was updated to other patients, which no proof is about.")
    model = _restated(card)
    plain = model.check(_candidates(card, X), y).weighted(sample_weight)
    if plain.sha256 != card.data.sha256:
        return _refused("The patients are not those that the model was fitted to.")
    problem = model.problem(plain, plain.labels).with_limits(exclude=card.left_out)
    verdict = verify(problem, certificate)
    if not verdict.valid:
        return verdict
    coef = np.zeros(problem.n_columns)
    coef[list(certificate.model.columns)] = certificate.model.values
    bought = [problem.name_of(g) for g in certificate.support]
    design = model.design_of(plain)
    matrix = design.for_predicting(bought).transform(plain.frame)
    proven = matrix @ coef + certificate.model.intercept
    difference = np.abs(card.log_odds(plain.frame) - proven).max(initial=0.0)
    if difference > _TOLERANCE * (1.0 + np.abs(proven).max(initial=0.0)):
        return _refused("The model predicts otherwise than the one that the certificate proves.")
    # With the same terms and the same predictions the intercept is the same too.
    terms, _ = design.equation(plain.frame, coef, 0.0, bought)
    if not _agree([t.model_dump() for t in card.terms], [t.model_dump() for t in terms]):
        return _refused("The model describes its terms otherwise than the patients have them.")
    wrong = _wrong_about_patients(card, plain, X) or _wrong_about_search(card, certificate, verdict)
    return _refused(wrong) if wrong else verdict


def _wrong_about_patients(card: ModelCard, plain: PlainTable, X: pd.DataFrame) -> str:
    """Return what a card claims about the patients that is not so; empty if there is nothing."""
    if (card.data.rows, card.data.events) != (len(plain.labels), int(plain.labels.sum())):
        return "The model claims other numbers of rows or events than the patients have."
    if card.data.marks != marks_of(plain, card.terms):
        return "The model takes other patients for those that it was fitted to."
    left_out = card.limits.exclude
    if len({*left_out}) < len(left_out) or not {*left_out} <= {*X.columns} - {*plain.kinds}:
        return "The model claims to leave out columns that the table does not have."
    return ""


def _wrong_about_search(card: ModelCard, certificate: Certificate, verdict: Verdict) -> str:
    """Return what a card claims about the search that is not proven; empty if there is nothing."""
    search = card.search
    highest = certificate.lower_bound + _ROUNDING * certificate.objective
    if search.objective != certificate.objective or search.lower_bound > highest:
        return "The model claims another objective or bound than the certificate."
    if search.status == Status.OPTIMAL.value and not is_proven(card, verdict):
        return "The model claims to be optimal, but the proven gap is too large for that."
    return ""


def is_proven(card: ModelCard, verdict: Verdict) -> bool:
    """Return whether a verdict proves the optimality that a card asked for, not only bounds."""
    return verdict.valid and verdict.gap <= card.search.gap_target + _ROUNDING


def _agree(stated: Any, expected: Any) -> bool:
    """Return whether two JSON values are equal, numbers to a tolerance."""
    if isinstance(expected, dict):
        return stated.keys() == expected.keys() and all(
            _agree(stated[key], value) for key, value in expected.items()
        )
    if isinstance(expected, list | tuple):
        return len(stated) == len(expected) and all(map(_agree, stated, expected))
    if isinstance(expected, float) and isinstance(stated, float):
        return isclose(stated, expected, rel_tol=_TOLERANCE, abs_tol=_ZERO)
    return bool(stated == expected)


def _restated(card: ModelCard) -> PrognosticModel:
    draws = card.preprocessing.draws
    return PrognosticModel(
        preparation=Preparation.of(card),
        random_state=0 if draws is None else draws.seed,
        ridge=card.search.ridge,
        **card.given_limits(),
    )


def _candidates(card: ModelCard, X: pd.DataFrame) -> pd.DataFrame:
    names = [candidate.name for candidate in card.candidates]
    absent = [name for name in names if name not in X.columns]
    if absent:
        raise InvalidProblemError(
            f"X: there is no column {shown(absent[0])}, which could be bought; pass the patients "
            "that the model was fitted to."
        )
    return X[names]


def _refused(reason: str) -> Verdict:
    return Verdict(False, 0.0, inf, reason)
