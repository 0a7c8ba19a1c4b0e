"""The equation: coefficients of a problem's matrix as terms in the units of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .design import Design, n_dummy_columns, n_spline_columns
from .term import BooleanTerm, CategoricalTerm, NumericTerm, Term

Float = NDArray[np.float64]
Part = tuple[Term, float]  # a term, and what it adds to the intercept


class _Block(NamedTuple):
    """The columns of one kind: their fitted transformer, names and coefficients."""

    fitted: Any
    names: list[str]
    entries: Float


class _Context(NamedTuple):
    """The rows, the coefficients of missing values, and the predictors that get a term."""

    table: pd.DataFrame
    missing: dict[str, float]
    bought: Sequence[str]


def write_equation(
    design: Design, table: pd.DataFrame, coef: Float, intercept: float, bought: Sequence[str]
) -> tuple[tuple[Term, ...], float]:
    """Return the terms of the predictors bought, in the order of the table, and the intercept.

    Parameters
    ----------
    design : Design
        The preprocessing that made the matrix.
    table : DataFrame
        The rows that it was fitted to, in plain form.
    coef : ndarray of shape (n_columns,)
        One coefficient per column of the matrix.
    intercept : float
        The intercept for the matrix.
    bought : sequence of str
        The predictors that get a term.
    """
    blocks = {
        kind: _Block(fitted, names, design.entries_of(kind, coef))
        for kind, fitted, names in design.transformer.transformers_
    }
    missing: dict[str, float] = {}
    if "missing" in blocks:
        indicator, names, entries = blocks.pop("missing")
        missing = dict(zip([names[i] for i in indicator.features_], entries.tolist(), strict=True))
    context = _Context(table, missing, bought)
    parts: dict[str, Part] = {}
    for kind, block in blocks.items():
        for term, shift in _READERS[kind](block, context):
            parts[term.name] = term, shift
    chosen = [parts[name] for name in design.names if name in parts]
    for _, shift in chosen:
        intercept += shift
    return tuple(term for term, _ in chosen), intercept


def _numeric(block: _Block, context: _Context) -> Iterator[Part]:
    steps = block.fitted.named_steps
    slopes, means = block.entries / steps["scale"].scale_, steps["scale"].mean_
    start = 0
    for name, fill, knots in zip(
        block.names, steps["impute"].statistics_, steps["spline"].knots_, strict=True
    ):
        own = slice(start, start + n_spline_columns(knots))
        start = own.stop
        if name not in context.bought:
            continue
        values = context.table[name].dropna().to_numpy()
        low, q1, q3, high = np.quantile(values if len(values) else [0.0], [0, 0.25, 0.75, 1])
        term = NumericTerm(
            name=name,
            fill=float(fill),
            quartiles=(float(q1), float(q3)),
            range=(float(low), float(high)),
            knots=knots,
            coefficients=tuple(slopes[own].tolist()),
            missing_coefficient=context.missing.get(name),
        )
        yield term, -float(slopes[own] @ means[own])


def _boolean(block: _Block, context: _Context) -> Iterator[Part]:
    fills = block.fitted.statistics_
    for name, fill, coefficient in zip(block.names, fills, block.entries, strict=True):
        if name not in context.bought:
            continue
        term = BooleanTerm(
            name=name,
            fill=bool(fill == 1),
            coefficient=float(coefficient),
            missing_coefficient=context.missing.get(name),
        )
        yield term, 0.0


def _categorical(block: _Block, context: _Context) -> Iterator[Part]:
    steps = block.fitted.named_steps
    start = 0
    for name, levels, most_frequent in zip(
        block.names, steps["encode"].categories_, steps["impute"].statistics_, strict=True
    ):
        stop = start + n_dummy_columns(levels)
        effects = block.entries[start:stop].tolist()
        start = stop
        if name not in context.bought:
            continue
        if len(levels) == 2:  # the first of two levels has no column
            effects.insert(0, 0.0)
        by_level = dict(zip(map(str, levels), effects, strict=True))
        reference = str(most_frequent) if str(most_frequent) in by_level else str(levels[0])
        base = by_level[reference]
        term = CategoricalTerm(
            name=name,
            reference=reference,
            coefficients={level: effect - base for level, effect in by_level.items()},
            missing_coefficient=context.missing.get(name),
        )
        yield term, base


_READERS = {"numeric": _numeric, "boolean": _boolean, "categorical": _categorical}
