"""Everything that a report says, as JSON values: the report is rendered from these alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from ..errors import ShortlistWarning
from ..evaluation import Evaluation
from ..patients import PrognosticModel, check_fit
from .checks import describe_checks, describe_missing
from .choices import describe_alternatives, describe_proof, describe_staircase
from .comparison import describe_comparison
from .effects import describe_effects, describe_splines
from .equation import describe_equation, describe_example, describe_purchase
from .methods import AUTHORS_ITEMS, describe_methods, describe_versions
from .performance import describe_performance, describe_stability, json_value
from .sample_size import describe_persons, describe_sample_size


def describe_model(
    model: PrognosticModel,
    X: Any,
    y: ArrayLike,
    evaluation: Evaluation,
    persons: ArrayLike | None = None,
    rivals: Mapping[str, Evaluation] | None = None,
    announce: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Return the content of a report.

    Parameters
    ----------
    model : PrognosticModel
        Fitted.
    X, y
        What it was fitted to.
    evaluation : Evaluation
        Of this model, as `validate_model` gives it.
    persons : array-like of shape (n_rows,), optional
        Whom each row belongs to, as for `fit` and `validate_model`.
    rivals : mapping, optional
        Evaluations of the usual rules, as `compare_rules` gives them.
    announce : callable
        Called with a sentence on the progress.

    Returns
    -------
    dict
        JSON values.
    """
    card = model.card_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortlistWarning)  # `fit` has warned already
        plain = model.check(X, y)
        problem = model.problem(plain, plain.labels)
    content: dict[str, Any] = {
        "format": "shortlist report",
        "format_version": 1,
        "versions": describe_versions(),
        "model": card.model_dump(mode="json"),
        "purchase": describe_purchase(card),
        "equation": describe_equation(card),
        "example": describe_example(card),
        "persons": describe_persons(plain.labels, persons),
    }
    announce("Checking the proof")
    content["proof"] = describe_proof(model, problem)
    announce("Finding what other budgets buy")
    limits = (model.time_limit, model.threads)
    content["staircase"] = describe_staircase(card, problem, *limits)
    announce("Listing alternatives")
    content["alternatives"] = describe_alternatives(card, problem, *limits)
    announce("Describing performance")
    performance = describe_performance(evaluation)
    findings = check_fit(model, plain, plain.labels, persons)
    content |= {
        "performance": performance,
        "comparison": describe_comparison(evaluation, rivals or {}),
        "evaluated": list(evaluation.selected),
        "stability": describe_stability(card, evaluation),
        "effects": describe_effects(model, plain, evaluation),
        "splines": describe_splines(card.terms),
        "sample_size": describe_sample_size(problem, performance["log_loss"], content["persons"]),
        "missing": describe_missing(card, plain.frame),
        "findings": [finding._asdict() for finding in findings],
    }
    content = {name: json_value(value) for name, value in content.items()}
    content["checks"] = describe_checks(content)
    content["methods"] = describe_methods(content)
    content["authors_items"] = AUTHORS_ITEMS
    return content
