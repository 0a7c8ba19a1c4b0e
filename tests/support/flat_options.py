"""A prognostic model, or an experiment, from flat options."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sklearn.base import clone

import shortlist as sl


def prognostic_model(**options: Any) -> sl.PrognosticModel:
    """A model, the options of whose preparation and tuning stand beside its own."""
    for name, kind in (("preparation", sl.Preparation), ("tuning", sl.Tuning)):
        own = kind().get_params().keys() & options.keys()
        if own:
            options[name] = kind(**{each: options.pop(each) for each in own})
    return sl.PrognosticModel(**options)


def experiment_of(X: Any, y: Any, **options: Any) -> sl.Experiment:
    """An experiment, whose prices and limits stand beside its own options."""
    own = {field.name for field in fields(sl.Experiment)}
    limits = {name: options.pop(name) for name in options.keys() - own}
    preprocessor = options.get("preprocessor")
    if preprocessor is None:
        return sl.Experiment(sl.SubsetProblem(X, y, ridge=1.0, **limits), **options)
    fitted = clone(preprocessor).fit(X, y)
    groups = getattr(fitted, "predictors_", limits.pop("groups", None))
    problem = sl.SubsetProblem(fitted.transform(X), y, ridge=1.0, groups=groups, **limits)
    return sl.Experiment(problem, table=X, **options)
