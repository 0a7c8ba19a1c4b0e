"""Findings about patients and the model fitted to them; each names the columns it is about.

`PrognosticModel.fit` keeps them as `findings_`; the command line, the report and the explorer show
the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from sklearn.metrics import roc_auc_score

from ..arguments import Float, Int
from ..backends import solve
from ..backends.heuristics import ComparedFits
from ..cross_validation import end_of, make_folds
from ..errors import shown
from ..problem import SubsetProblem
from ..sample_size import judge_sample_size, persons_by_outcome
from ..solution import Solution
from .card import ModelCard
from .suspicion import Finding, suspicious_columns
from .table import PlainTable

NEARLY_COLLINEAR = 0.95  # correlation
NEARLY_PERFECT = 0.99  # AUC on the same patients
LARGE_RATIO = 100.0  # odds ratio between the quartiles, or of a level
MANY_MISSING = 0.3  # of a predictor that was not bought
SOME_MISSING = 0.05  # of a predictor that was bought
NEGLIGIBLE = 0.001  # of the loss
_N_FOLDS = 10
_SAME = 1 - 1e-7  # correlation of copies
_MOST_ROWS = 20_000  # of the linear program; above that, separation is not looked for
_SOLVED = 0  # the status of scipy's linear programs


def findings_of(
    card: ModelCard,
    plain: PlainTable,
    problem: SubsetProblem,
    solution: Solution,
    persons: ArrayLike | None = None,
) -> list[Finding]:
    """Return the findings about a fit, from what it has made: notes and warnings.

    Examples
    --------
    >>> import warnings, pandas as pd, shortlist as sl
    >>> age = [40, 62, 50, 70, 66, 45]
    >>> patients = pd.DataFrame({"age": age, "years": age})
    >>> with warnings.catch_warnings(action="ignore"):
    ...     model = sl.PrognosticModel(max_features=2, ridge=0.1).fit(patients, [0, 0, 0, 1, 1, 1])
    >>> [finding.topic for finding in model.findings_][:2]
    ['Sample size', 'Copies']
    """
    return [
        *_check_search(card),
        *_check_stable(card),
        *_check_size(plain, problem, persons),
        *_check_copies(problem, {*card.bought}),
        *_check_rows(plain, persons),
        *suspicious_columns(plain.frame, plain.kinds, plain.labels),
        *_check_separation(separating_predictors(problem, solution.support)),
        *_check_strength(card, plain),
        *_check_ridge(card),
        *_check_free(card, plain, problem, solution, persons),
        *_check_gains(card, problem, solution),
        *_check_knots(card),
        *_check_missing(card, plain),
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
    signed = problem.response.values[:, None] * np.column_stack(
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
    """Return predictors that are exact sums of others, as subscores and their total are.

    All columns of a predictor must be: indicators of values that are missing together are not
    enough.
    """
    kept = [g for g in range(problem.n_predictors) if problem.name_of(g) not in apart_from]
    gram, owners = _gram(problem, kept)
    if len(owners) >= problem.n_rows:
        return []  # with more columns than rows every column is such a sum
    values, vectors = np.linalg.eigh(gram)
    null = vectors[:, values < 1e-10]
    return [
        problem.name_of(g)
        for g in np.unique(owners).tolist()
        if np.linalg.matrix_rank(null[owners == g], tol=1e-6) == (owners == g).sum()
    ]


def _gram(problem: SubsetProblem, predictors: Sequence[int]) -> tuple[Float, Int]:
    """Return the products of orthonormal bases of predictors, and the owner of each column."""
    bases = []
    for g in predictors:
        block = problem.X[:, problem.columns_of((g,))]
        left, values, _ = np.linalg.svd(block - block.mean(axis=0), full_matrices=False)
        bases.append(left[:, values > 1e-9 * max(1e-300, values.max(initial=0.0))])
    columns = np.column_stack(bases)
    return columns.T @ columns, np.repeat(predictors, [basis.shape[1] for basis in bases])


def _check_search(card: ModelCard) -> Iterator[Finding]:
    search = card.search
    if search.status != "optimal":
        yield Finding(
            "warning",
            "Search",
            f"It stopped ({search.status.replace('_', ' ')}) before the proof was complete: a "
            f"better selection may exist, by at most {search.gap:.2%} of the loss.",
        )


def _check_stable(card: ModelCard) -> Iterator[Finding]:
    stable = card.search.stable
    if stable is None:
        return
    kept = [item.name for item in card.candidates if item.name not in card.left_out]
    if not {*kept}.difference(card.limits.include):
        yield Finding(
            "warning",
            "Stable predictors",
            f"No candidate is selected by half of {stable.resamples} resamples, so "
            f"{'nothing but what is required' if kept else 'nothing'} is bought. Predictors that "
            "stand in for each other share the resamples: exclude some of them, or fit without "
            "the rule.",
        )


def _check_size(
    plain: PlainTable, problem: SubsetProblem, persons: ArrayLike | None
) -> Iterator[Finding]:
    """Compare the number of patients with what the criteria of Riley require."""
    labels, found = plain.labels, judge_sample_size(problem)
    n_persons = len(labels) if persons is None else len(pd.unique(np.asarray(persons)))
    unit = "patients" if n_persons == len(labels) else "persons"
    rarer = min(persons_by_outcome(labels, persons))
    if n_persons >= found.needed_overall:
        return
    origin = "the full model's, adjusted"
    if found.is_default:
        origin = "assumed, as the full model has none that holds for new patients"
    yield Finding(
        "warning",
        "Sample size",
        f"Riley's criteria, applied post hoc, require {found.needed_overall} {unit} for a "
        f"Cox-Snell R² of {found.r2:.2f} ({origin}); there are {n_persons}, {rarer} of them with "
        f"the rarer outcome, {rarer / found.n_parameters:.1f} for each of {found.n_parameters} "
        "candidate parameters. Offer fewer candidates, or collect more patients.",
    )


def _check_gains(card: ModelCard, problem: SubsetProblem, solution: Solution) -> Iterator[Finding]:
    """Name predictors that cost something and lower the loss by next to nothing."""
    limits = problem.limits
    if card.limits.budget is None:
        return
    kept, negligible = list(solution.support), []
    while True:
        rivals = []
        for g in kept:
            rest = tuple(h for h in kept if h != g)
            saved = limits.cost_of(tuple(kept)) - limits.cost_of(rest)
            if g not in limits.include and saved > 0:
                others = [h for h in range(problem.n_predictors) if h not in rest]
                smaller = solve(problem.with_limits(include=rest, exclude=others)).objective
                rivals.append((solution.scale.excess(smaller, solution.objective), g))
        if not rivals or min(rivals)[0] >= NEGLIGIBLE:
            break
        gain, worst = min(rivals)
        kept.remove(worst)
        negligible.append((gain, worst))
    if negligible:
        names = [problem.name_of(g) for _, g in sorted(negligible, key=lambda entry: entry[1])]
        without = limits.cost_of(tuple(kept))
        yield Finding(
            "note",
            "Negligible predictors",
            f"{card.cost - without:g} of {card.cost:g} buys {_listed(names)}, which "
            f"{'lowers' if len(names) == 1 else 'lower'} the loss by "
            f"{_small_share(negligible[-1][0])}; the model would cost {without:g} without "
            f"{'it' if len(names) == 1 else 'them'}. --within (in Python "
            "within) finds the cheapest selection within a share of the best.",
            tuple(names),
        )


def _check_free(
    card: ModelCard,
    plain: PlainTable,
    problem: SubsetProblem,
    solution: Solution,
    persons: ArrayLike | None,
) -> Iterator[Finding]:
    """Name free predictors, which are bought whatever they add, that cross-validation rejects.

    The other predictors bought are kept, and their columns as all patients have prepared them.
    """
    limits, labels = problem.limits, plain.labels
    free = [g for g in solution.support if limits.cost_of((g,)) == 0 and g not in limits.include]
    if card.limits.budget is None or not free or min(persons_by_outcome(labels, persons)) < 2:
        return
    supports = [solution.support, *(tuple(h for h in solution.support if h != g) for g in free)]
    owners = None if persons is None else np.asarray(persons)
    losses = np.zeros((len(labels), len(supports)))
    for train, test in make_folds(_N_FOLDS, None, labels, owners, 0):
        kept = np.zeros((problem.n_rows // len(labels), len(labels)))
        kept[:, train] = 1.0
        fits = ComparedFits(problem.with_weights(kept.ravel() * problem.weights))
        for number, support in enumerate(supports):
            model = fits.fit(support)
            log_odds = problem.X[test] @ model.coef + model.intercept
            losses[test, number] = np.logaddexp(0.0, (1 - 2 * labels[test]) * log_odds)
    counts = np.ones(len(labels)) if plain.weights is None else plain.weights
    means = counts @ losses / counts.sum()
    unwanted = [
        problem.name_of(g) for g, mean in zip(free, means[1:], strict=True) if mean < means[0]
    ]
    if unwanted:
        yield Finding(
            "note",
            "Free predictors",
            f"{_listed(unwanted)} {'is' if len(unwanted) == 1 else 'are'} free and so always "
            "bought, but the cross-validated log loss is lower without "
            f"{'it' if len(unwanted) == 1 else 'each of them'}: exclude what does not help.",
            tuple(unwanted),
        )


def _small_share(share: float) -> str:
    return f"{share:.2%}" if share >= 1e-4 else "less than 0.01%"


def _check_knots(card: ModelCard) -> Iterator[Finding]:
    asked = card.preprocessing.spline_knots
    if asked is None:
        return
    fewer = {
        term.name: f"{shown(term.name)} ({f'{len(term.knots)} knots' if term.knots else 'linear'})"
        for term in card.terms
        if term.kind == "numeric" and len(term.knots) < asked
    }
    if fewer:
        yield Finding(
            "note",
            "Knots",
            f"Fewer than {asked}, because quantiles of the observed values coincide: "
            f"{', '.join(fewer.values())}.",
            tuple(fewer),
        )


def _check_missing(card: ModelCard, plain: PlainTable) -> Iterator[Finding]:
    gaps = plain.frame[card.bought].isna()
    shares = gaps.mean()
    shares = shares[shares > 0]
    if len(shares) == 0:
        return
    few = "predictor" if len(shares) == 1 else "predictors"
    yield Finding(
        "warning" if shares.max() > SOME_MISSING else "note",
        "Missing values",
        f"{len(shares)} {few} bought {'has' if len(shares) == 1 else 'have'} missing values, up to "
        f"{shares.max():.1%}, {_stand_in(card)}; {int((~gaps.any(axis=1)).sum())} of {len(gaps)} "
        f"rows have {'it' if len(shares) == 1 else 'all predictors bought'}.",
        tuple(shares.index),
    )


def _stand_in(card: ModelCard) -> str:
    draws = card.preprocessing.draws
    if draws is not None:
        return f"imputed {draws.number} times; predictions impute from the predictors bought"
    kind = "imputed from the other predictors"
    if card.preprocessing.imputation == "median":
        kind = "imputed by medians and most frequent values"
    return f"{kind} once, which hides their uncertainty (--imputations shows it)"


def _check_copies(problem: SubsetProblem, bought: set[str]) -> Iterator[Finding]:
    pairs = similar_predictors(problem)
    copies = [pair for pair in pairs if pair[2] >= _SAME]
    for first, second, correlation in (*copies, *(p for p in pairs if p not in copies)):
        both = {first, second} <= bought
        topic, text = "Copies", f"{shown(first)} and {shown(second)} carry the same information."
        if correlation < _SAME:
            topic = "Nearly collinear"
            text = (
                f"{shown(first)} and {shown(second)} have a correlation of {correlation:.3f}: the "
                "data can hardly separate their effects, so do not interpret their odds ratios "
                "separately."
            )
        elif both:
            text += (
                " Both were bought, because the ridge favours sharing a coefficient; exclude one."
            )
        yield Finding("warning" if both else "note", topic, text, (first, second))
    sums = determined_predictors(problem, frozenset(second for _, second, _ in copies))
    if sums:
        yield Finding(
            "warning" if bought.issuperset(sums) else "note",
            "Sums",
            f"{_listed(sums)} determine each other, as subscores and their total do; "
            "exclude one of them."
            if len(sums) > 1
            else f"{_listed(sums)} is determined by other predictors; exclude it.",
            tuple(sums),
        )


def _check_rows(plain: PlainTable, persons: ArrayLike | None) -> Iterator[Finding]:
    table = plain.frame.assign(**{"": plain.labels})
    if persons is not None:
        table = table.assign(**{" ": np.asarray(persons).astype(str)})
    n_copies = int(table.duplicated().sum())
    uncompared = " (columns that were left out were not compared)" if plain.absent else ""
    if n_copies and plain.frame.nunique().max() > 20:
        yield Finding(
            "warning",
            "Duplicated rows",
            f"{n_copies} {'row repeats' if n_copies == 1 else 'rows repeat'} another in outcome "
            f"and all {len(plain.kinds)} candidates{uncompared}; if patients were entered twice, "
            "remove the duplicates: they make the model look more certain than it is.",
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
            f"{_listed(names)} separate{'s' if len(names) == 1 else ''} some patients perfectly: "
            "without the ridge coefficients would be infinite, so do not take the odds ratios "
            "literally.",
            tuple(names),
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
    tuning = card.search.tuning
    scores = [np.nan if entry.score is None else entry.score for entry in tuning]
    end = end_of([entry.ridge for entry in tuning], scores)
    if end is not None:
        yield Finding(
            "warning",
            "Ridge",
            f"{card.search.ridge:g} is the {end} of those tried and predicts best, so a "
            f"{end[:-3]}er one may predict better; without a list, fit looks for it.",
        )


def _check_imputed(card: ModelCard, plain: PlainTable) -> Iterator[Finding]:
    shares = plain.frame.drop(columns=card.bought).isna().mean()
    lost = [name for name in shares.index if shares[name] >= MANY_MISSING]
    if lost:
        several = ", ".join(f"{shown(name)} ({shares[name]:.0%} missing)" for name in lost)
        yield Finding(
            "warning",
            "Excess missingness",
            f"Not bought: {several}. Imputation dilutes what they would add.",
            tuple(lost),
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names))
