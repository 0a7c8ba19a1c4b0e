"""Findings about patients and the model fitted to them; each names the columns it is about.

`fit`, the report and the explorer show the findings of `check_fit`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from sklearn.metrics import roc_auc_score

from ..arguments import Float, Int
from ..errors import ShortlistWarning, shown
from ..problem import SubsetProblem
from .card import ModelCard
from .model import PrognosticModel
from .table import PlainTable

Level = Literal["good", "note", "warning"]

NEARLY_COLLINEAR = 0.95  # correlation
NEARLY_PERFECT = 0.99  # AUC on the same patients
LARGE_RATIO = 100.0  # odds ratio between the quartiles, or of a level
MANY_LEVELS = 10
MANY_MISSING = 0.3  # of a predictor that was not bought
_SAME = 1 - 1e-7  # correlation of copies
_MOST_ROWS = 20_000  # of the linear program; above that, separation is not looked for
_CODES = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)  # often written for a missing value
_SOLVED = 0  # the status of scipy's linear programs


class Finding(NamedTuple):
    """A finding about data or model: its level, its topic, and a sentence or two.

    `check_fit` has none of the level "good"; a report has some.
    """

    level: Level
    topic: str
    text: str


def check_fit(
    model: PrognosticModel, X: Any, y: ArrayLike, persons: ArrayLike | None = None
) -> list[Finding]:
    """Return possible problems of a fitted model and its patients.

    Parameters
    ----------
    model : PrognosticModel
        Fitted.
    X, y, persons
        The data of the fit.

    Returns
    -------
    list of Finding
        The `level` ("note" or "warning"), the `topic` and the `text` of each; empty if all is well.

    Examples
    --------
    >>> import pandas as pd, shortlist as sl
    >>> from shortlist.patients import check_fit
    >>> age = [40, 62, 50, 70, 66, 45]
    >>> patients = pd.DataFrame({"age": age, "years": age})
    >>> model = sl.PrognosticModel(max_features=2, ridge=0.1).fit(patients, [0, 0, 0, 1, 1, 1])
    >>> check_fit(model, patients, [0, 0, 0, 1, 1, 1])[0].topic
    'Copies'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortlistWarning)  # `fit` has warned already
        plain = model.check(X, y)
        problem = model.problem(plain, plain.labels)
    card = model.card_
    return [
        *_check_copies(problem, {term.name for term in card.terms}),
        *_check_rows(plain, persons),
        *_check_codes(plain),
        *_check_levels(plain),
        *_check_separation(separating_predictors(problem, model.solution_.support)),
        *_check_strength(card, plain),
        *_check_ridge(card),
        *_check_imputed(card, plain),
    ]


def separating_predictors(problem: SubsetProblem, support: Sequence[int]) -> list[str] | None:
    """Return the predictors bought that separate some patients perfectly.

    Separation, complete or not, is a direction in which no patient's prediction gets worse and
    some patient's gets better; without a ridge its coefficients would be infinite (Albert and
    Anderson 1984). A linear program finds one. Those that separate alone are named, or else a
    smallest set that separates together. None if it was not decided: there are too many rows to
    look, or the linear program failed.
    """
    if problem.n_rows > _MOST_ROWS:
        return None
    culprits = list(support)
    separates = _separates(problem, culprits)
    if not separates:
        return None if separates is None else []
    alone = [g for g in culprits if _separates(problem, [g])]
    if not alone:
        for g in support:
            fewer = [other for other in culprits if other != g]
            if _separates(problem, fewer):
                culprits = fewer
    return [problem.name_of(g) for g in alone or culprits]


def _separates(problem: SubsetProblem, support: Sequence[int]) -> bool | None:
    """Return whether some predictors separate; None if it was not decided."""
    block = problem.X[:, problem.columns_of(tuple(support))]
    signed = problem.signs[:, None] * np.column_stack(
        [block - block.mean(axis=0), np.ones(problem.n_rows)]
    )
    found = linprog(
        -signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(problem.n_rows), bounds=(-1.0, 1.0)
    )
    if found.status != _SOLVED or found.fun is None:
        return None
    return bool(found.fun < -1e-6)


def similar_predictors(problem: SubsetProblem) -> list[tuple[str, str, float]]:
    """Return pairs of predictors that are nearly collinear, with their correlation.

    Factors and splines, which have several columns, are paired only if they say exactly the same.
    """
    gram, owners = _gram(problem, range(problem.n_predictors))
    starts = np.searchsorted(owners, range(problem.n_predictors + 1))
    pairs = []
    for g, h in combinations(range(problem.n_predictors), 2):
        block = gram[starts[g] : starts[g + 1], starts[h] : starts[h + 1]]
        size = len(block)
        if block.shape != (size, size) or size == 0:
            continue
        same = abs(block[0, 0]) if size == 1 else np.linalg.svd(block, compute_uv=False).min()
        if same >= (NEARLY_COLLINEAR if size == 1 else _SAME):
            pairs.append((problem.name_of(g), problem.name_of(h), float(same)))
    return pairs


def determined_predictors(problem: SubsetProblem, apart_from: frozenset[str]) -> list[str]:
    """Return predictors that are exact sums of others, as subscores and their total are."""
    kept = [g for g in range(problem.n_predictors) if problem.name_of(g) not in apart_from]
    gram, owners = _gram(problem, kept)
    if len(owners) >= problem.n_rows:
        return []  # with more columns than rows every column is such a sum
    values, vectors = np.linalg.eigh(gram)
    null = vectors[:, values < 1e-10]
    involved = np.abs(null).max(axis=1, initial=0.0) > 1e-6
    return [problem.name_of(int(g)) for g in np.unique(owners[involved])]


def _gram(problem: SubsetProblem, predictors: Sequence[int]) -> tuple[Float, Int]:
    """Return the products of orthonormal bases of predictors, and the owner of each column."""
    bases = []
    for g in predictors:
        block = problem.X[:, problem.columns_of((g,))]
        left, values, _ = np.linalg.svd(block - block.mean(axis=0), full_matrices=False)
        bases.append(left[:, values > 1e-9 * max(1e-300, values.max(initial=0.0))])
    columns = np.column_stack(bases)
    return columns.T @ columns, np.repeat(predictors, [basis.shape[1] for basis in bases])


def _check_copies(problem: SubsetProblem, bought: set[str]) -> Iterator[Finding]:
    pairs = similar_predictors(problem)
    copies = [pair for pair in pairs if pair[2] >= _SAME]
    for first, second, _ in copies:
        text = f"{shown(first)} and {shown(second)} carry the same information."
        if {first, second} <= bought:
            text += (
                " Both were bought, because the ridge favours sharing a coefficient; exclude one."
            )
        yield Finding("warning" if {first, second} <= bought else "note", "Copies", text)
    for first, second, correlation in pairs:
        if correlation < _SAME:
            yield Finding(
                "warning" if {first, second} <= bought else "note",
                "Nearly collinear",
                f"{shown(first)} and {shown(second)} have a correlation of {correlation:.3f}: the "
                "data can hardly separate their effects, so do not interpret their odds ratios "
                "separately.",
            )
    sums = determined_predictors(problem, frozenset(second for _, second, _ in copies))
    if sums:
        yield Finding(
            "warning" if bought.issuperset(sums) else "note",
            "Sums",
            f"{_listed(sums)} determine each other, as subscores and their total do; "
            "exclude one of them.",
        )


def _check_rows(plain: PlainTable, persons: ArrayLike | None) -> Iterator[Finding]:
    table = plain.frame.assign(**{"": plain.labels})
    if persons is not None:
        table = table.assign(**{" ": np.asarray(persons).astype(str)})
    n_copies = int(table.duplicated().sum())
    if n_copies and plain.frame.nunique().max() > 20:
        yield Finding(
            "warning",
            "Duplicated rows",
            f"{n_copies} row(s) repeat another in every column; if patients were entered twice, "
            "remove the duplicates: they make the model look more certain than it is.",
        )


def _check_codes(plain: PlainTable) -> Iterator[Finding]:
    """Flag numbers such as -9 or 999 that lie far from all others."""
    for name, kind in plain.kinds.items():
        if kind != "numeric":
            continue
        values = plain.frame[name].dropna().to_numpy(dtype=np.float64)
        for code in _CODES:
            others = values[values != code]
            count = len(values) - len(others)
            if count == 0 or len(others) < 2:
                continue
            low, high = float(others.min()), float(others.max())
            is_apart = (code < low and low >= 0) if code < 0 else code > high + 2 * (high - low)
            if is_apart:
                yield Finding(
                    "warning",
                    "Codes for missing values",
                    f"{shown(name)} is {code} in {count} row(s), and otherwise between {low:g} and "
                    f"{high:g}; if {code} stands for a missing value, leave the cell empty.",
                )


def _check_levels(plain: PlainTable) -> Iterator[Finding]:
    for name, kind in plain.kinds.items():
        if kind != "categorical":
            continue
        counts = plain.frame[name].value_counts()
        if len(counts) > MANY_LEVELS:
            yield Finding(
                "warning",
                "Many levels",
                f"{shown(name)} has {len(counts)} levels, {int((counts < 10).sum())} of them with "
                "fewer than 10 patients; each takes a parameter, so merge levels that belong "
                "together.",
            )


def _check_separation(names: list[str] | None) -> Iterator[Finding]:
    if names is None:
        yield Finding(
            "note",
            "Separation",
            "Not checked: there are too many rows, or the linear program failed.",
        )
    elif names:
        yield Finding(
            "warning",
            "Separation",
            f"Some patients are separated perfectly by {_listed(names)}. Without the ridge the "
            "coefficients would be infinite; the ridge alone determines their size, so do not take "
            "the odds ratios literally.",
        )


def _check_strength(card: ModelCard, plain: PlainTable) -> Iterator[Finding]:
    if not card.terms:
        return
    events = plain.labels
    added = card.contributions(plain.frame)
    auc = float(roc_auc_score(events, added.sum(axis=1)))
    if auc >= NEARLY_PERFECT:
        alone = [
            name for name in added.columns if roc_auc_score(events, added[name]) >= NEARLY_PERFECT
        ]
        alone_text = f" {_listed(alone)} alone would almost suffice." if alone else ""
        yield Finding(
            "warning",
            "Nearly perfect",
            f"The apparent AUC is {auc:.3f}.{alone_text} Make sure that no predictor contains the "
            "outcome or was measured after it.",
        )
    large = [
        f"{shown(effect.predictor)} ({effect.contrast})"
        for effect in card.effects()
        if abs(effect.coefficient) > np.log(LARGE_RATIO)
    ]
    if large:
        yield Finding(
            "warning",
            "Large odds ratios",
            f"Over {LARGE_RATIO:g}, or under {1 / LARGE_RATIO:g}: {', '.join(large)}. Check for "
            "small groups, wrong values, or a predictor that contains the outcome.",
        )


def _check_ridge(card: ModelCard) -> Iterator[Finding]:
    ridges = [entry.ridge for entry in card.search.tuning]
    if len(ridges) > 1 and card.search.ridge in (min(ridges), max(ridges)):
        which = "weakest" if card.search.ridge == min(ridges) else "strongest"
        yield Finding(
            "warning",
            "Ridge",
            f"{card.search.ridge:g} is the {which} of those tried "
            f"({', '.join(f'{ridge:g}' for ridge in ridges)}), so a {which[:-3]}er one may be "
            "better.",
        )


def _check_imputed(card: ModelCard, plain: PlainTable) -> Iterator[Finding]:
    bought = {term.name for term in card.terms}
    shares = plain.frame.isna().mean()
    lost = [name for name in plain.kinds if name not in bought and shares[name] >= MANY_MISSING]
    if lost:
        several = ", ".join(f"{shown(name)} ({shares[name]:.0%} missing)" for name in lost)
        yield Finding(
            "warning",
            "Handicapped by missing values",
            f"Not bought, but the comparison was not fair: {several}. Missing values were "
            "replaced, which hides the information in these predictors.",
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names))
