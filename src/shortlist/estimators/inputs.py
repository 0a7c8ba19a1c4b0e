"""The arguments of `fit`, checked as scikit-learn expects it and made ready for a problem."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight

from ..arguments import Float
from ..errors import InvalidProblemError


def check_inputs(estimator: BaseEstimator, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
    """Return the features, a DataFrame (for its names) or a dense array, and the labels.

    No attribute of the estimator is set, so that a fit that fails later leaves it as it was.
    """
    table, labels = check_X_y(
        X, y, accept_sparse="csr", dtype=np.float64, y_numeric=False, estimator=estimator
    )
    if type_of_target(labels, input_name="y") != "binary":
        check_classification_targets(labels)  # numbers that are no labels at all
        raise InvalidProblemError(
            f"Only binary classification is supported, but y has {len(np.unique(labels))} classes; "
            "select or merge classes."
        )
    if hasattr(X, "columns"):
        return X, labels
    return table.toarray() if hasattr(table, "toarray") else table, labels


def weigh_classes(
    class_weight: Mapping[Any, float] | str | None,
    labels: NDArray[Any],
    sample_weight: ArrayLike | None,
) -> ArrayLike | None:
    """Return the weights of the rows, times those of their classes."""
    if class_weight is None:
        return sample_weight
    weights: Float = _check_sample_weight(sample_weight, labels, dtype=np.float64)
    classes = np.unique(labels).tolist()
    if isinstance(class_weight, Mapping):
        factors = dict.fromkeys(classes, 1.0)
        for label, factor in class_weight.items():
            if label not in factors:
                raise InvalidProblemError(
                    f"class_weight: there is no class {label!r} in y; use {classes!r}."
                )
            if not isinstance(factor, Real) or not 0 < factor < inf:
                raise InvalidProblemError(
                    f"class_weight: the weight of {label!r} must be a number greater than 0, "
                    f"not {factor!r}."
                )
            factors[label] = float(factor)
    elif class_weight == "balanced":
        totals = {label: weights[labels == label].sum() for label in classes}
        # A class without weight is an error, but the problem's to report.
        factors = {
            label: weights.sum() / (len(classes) * total) if total > 0 else 1.0
            for label, total in totals.items()
        }
    else:
        raise InvalidProblemError(
            f"class_weight: must be 'balanced', a dict or None, not {class_weight!r}."
        )
    row_factors: Float = np.array([factors[label] for label in labels.tolist()])
    return weights * row_factors
