"""Selection rules in common use, to compare with: they buy what is affordable and prove nothing.

Each rule is a function from a problem to a support, and a backend of `shortlist.solve`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Float, Int, Support
from ..errors import InvalidProblemError
from ..limits import Limits
from ..native.core import core, prepare
from ..problem import SubsetProblem
from ..solution import Options, Solution, Status
from .backend import Backend, conclude, uninterrupted
from .native import NativeBackend
from .ranking import correlations, order_of_entry, univariable_magnitudes
from .support_fit import SupportFits, SupportModel

_LEVEL = 0.05  # of significance, in hierarchical selection
# Relative to the loss: differences below it are ties, and ties go to the lower index.
_TIE = 1e-9


@dataclass(frozen=True)
class HeuristicBackend(Backend):
    """A backend that buys by a rule.

    It proves nothing, so the lower bound is the infimum of the loss. A rule runs to its end
    whatever the limits of the options. Rules that rank predictors before any fit take no notice of
    limits on coefficients; the fits of the others, and the model, respect them.
    """

    rule: Callable[[SubsetProblem], Support]
    ignores_ridge: bool = False  # whether the rule buys the same at every ridge

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best model on the support that the rule chooses."""
        return self._fitted(problem, [problem.ridge])[0]

    def solve_ridges(
        self, problem: SubsetProblem, ridges: Sequence[float], options: Options
    ) -> list[Solution]:
        """Return the model of each ridge; the time of a choice made once counts for the first."""
        if not self.ignores_ridge:
            return super().solve_ridges(problem, ridges, options)
        return self._fitted(problem, ridges)

    def _fitted(self, problem: SubsetProblem, ridges: Sequence[float]) -> list[Solution]:
        """Return the best model at each ridge on the support that the rule chooses."""
        started = perf_counter()
        support = self.rule(problem)
        others = set(range(problem.n_predictors)).difference(support)
        alone = problem.with_limits(include=support, exclude=sorted(others))
        solutions = []
        for ridge in ridges:
            solutions.append(_fitted(alone.with_ridge(ridge), started))
            started = perf_counter()
        return solutions


def _fitted(problem: SubsetProblem, started: float) -> Solution:
    """Return the best model of a problem whose only affordable support is what it includes.

    The native backend fits it several times faster than numpy, which fits where that one stalls: at
    columns that are nearly dependent and large.
    """
    solution = uninterrupted(NativeBackend().solve(problem, Options(gap=0.0)))
    is_exact = solution.status is Status.OPTIMAL
    return conclude(
        problem,
        solution if is_exact else SupportFits(problem).fit(problem.limits.include)[0],
        lower_bound=-inf,  # nothing is known
        stopped=Status.HEURISTIC,
        gap=0.0,
        nodes=0,
        started=started,
    )


def univariable_support(problem: SubsetProblem) -> Support:
    """Buy by the univariable rule.

    Predictors are bought by decreasing magnitude; when there is a budget, by decreasing magnitude
    per price, which is the predictor's cost and the fees that it incurs. Free predictors come
    first. One that no longer fits is skipped, and cheaper ones after it may still be bought.
    """
    return _buy_by_value(problem.limits, univariable_magnitudes(problem))


def correlation_support(problem: SubsetProblem) -> Support:
    """Buy by the correlation filter.

    Predictors are bought by decreasing correlation; when there is a budget, by decreasing
    correlation per price, which is the predictor's cost and the fees that it incurs. One that no
    longer fits is skipped, and cheaper ones after it may still be bought.
    """
    return _buy_by_value(problem.limits, correlations(problem))


def lasso_support(problem: SubsetProblem) -> Support:
    """Buy in the order of the lasso.

    A regression with an L1 penalty is fitted to standardised columns, for penalties that fall from
    the one that allows no coefficient to a ten-thousandth of it, 20 for each factor of 10. A
    predictor enters with its first coefficient that is not zero; those that enter at the same
    penalty come in the order of the penalty on their largest coefficient. When there is a budget,
    the penalty on a coefficient is proportional to the price, which is the predictor's cost and the
    fees that it incurs. Predictors that are free or must be included are hardly penalised.

    Free predictors are bought first, then the others in the order of entry; one that no longer fits
    is skipped. It ends when nothing is affordable, or with the last penalty.
    """
    return _buy_in_order(problem.limits, order_of_entry(problem))


def forward_support(problem: SubsetProblem) -> Support:
    """Buy by forward selection.

    Each purchase is the affordable predictor that lowers the penalised loss of the refitted model
    most; when there is a budget, most per price, which is the predictor's cost and the fees that it
    incurs. Free predictors come first. It ends when nothing affordable lowers the loss.
    """
    fits = ComparedFits(problem)
    model = fits.fit(problem.limits.include)
    return _extend(fits, model).support


def backward_support(problem: SubsetProblem) -> Support:
    """Buy by backward elimination.

    It starts with all predictors that are not excluded. Each step drops the one whose removal
    raises the penalised loss of the refitted model least; when there is a budget, least per price
    saved, which is the predictor's cost and the fees that no other one incurs. Predictors
    of `include` are never dropped. When the rest is affordable, forward selection spends the money
    that the last removals freed.
    """
    limits = problem.limits
    support = tuple(g for g in range(problem.n_predictors) if g not in limits.exclude)
    if limits.is_affordable(support):
        return support
    fits = ComparedFits(problem)
    model: SupportModel | None = fits.fit(support)
    while model is not None and not limits.is_affordable(model.support):
        model = _remove_best(fits, model)
    assert model is not None  # `include`, if nothing else, is affordable
    return _extend(fits, model).support


def stepwise_support(problem: SubsetProblem) -> Support:
    """Buy by stepwise selection.

    After each purchase of forward selection, predictors are removed as in backward elimination, as
    long as that leads to a model with a lower penalised loss than every model seen so far that has
    no more predictors and costs no more. Of all models seen, the one with the lowest loss is kept.
    This is the floating search of Pudil, Novovicova and Kittler (1994), with costs.
    """
    fits = ComparedFits(problem)
    model = fits.fit(problem.limits.include)
    seen = [model]
    while (larger := _add_best(fits, model)) is not None:
        model = larger
        seen.append(model)
        # A removal leads to a support not seen before, so there is an end to removals.
        while (smaller := _remove_best(fits, model)) is not None and _is_improvement(
            fits, smaller, seen
        ):
            model = smaller
            seen.append(model)
    return min(seen, key=lambda model: model.objective).support


def swap_support(problem: SubsetProblem) -> Support:
    """Buy by forward selection and exchanges.

    Starting from forward selection, each step exchanges one predictor for the affordable one that
    lowers the penalised loss of the refitted model most, over all exchanges, and spends the
    rest by forward selection. It ends when no exchange lowers the loss.
    """
    fits = ComparedFits(problem)
    model = fits.fit(problem.limits.include)
    model = _extend(fits, model)
    while (exchanged := _best_exchange(fits, model)) is not None:
        model = _extend(fits, exchanged)
    return model.support


def hierarchical_support(problem: SubsetProblem) -> Support:
    """Buy by hierarchical selection.

    Clinical studies put the answers of history-taking into the model first, and then test whether
    a physical examination adds to them (Kuijpers et al. 2006; Scheele et al. 2013). This rule stops
    when no predictor is significant, and may leave money unspent.

    Predictors that cost the same, with all fees that they incur, are a tier. From the cheapest tier
    to the dearest, the affordable predictor that lowers the penalised loss most is bought as long
    as it is significant; predictors of cheaper tiers stay in the model. At the end,
    predictors that are no longer significant are removed one by one, the least missed first.
    A predictor is significant if twice the difference in penalised loss exceeds the 95% quantile
    of the chi-squared distribution with one degree of freedom for each of its columns.
    """
    from scipy.stats import chi2  # slow to import

    if not problem.family.gives_risks:
        raise InvalidProblemError(
            "backend: 'hierarchical' tests the likelihood of logistic regressions; use "
            "loss='logistic' or a backend such as 'forward' or 'swap'."
        )
    limits = problem.limits
    n_columns = np.bincount(problem.column_predictor, minlength=problem.n_predictors)
    thresholds = 0.5 * np.asarray(chi2.ppf(1 - _LEVEL, n_columns))
    fits = ComparedFits(problem)
    model = fits.fit(limits.include)
    tiers = np.array([limits.cost_of((g,)) for g in range(problem.n_predictors)])
    for tier in np.unique(tiers):
        while True:
            wanted = [g for g in limits.addable(model.support) if tiers[g] == tier]
            longer = best_addition(fits, model, wanted, least_gain=thresholds[wanted])
            if longer is None:
                break
            model = longer
    while True:
        held = [g for g in model.support if g not in limits.include]
        shorter = best_removal(fits, model, held, most_loss=thresholds[held])
        if shorter is None:
            return model.support
        model = shorter


# The backends that the registry describes by these names.
HEURISTICS = {
    "univariable": HeuristicBackend(univariable_support, ignores_ridge=True),
    "correlation": HeuristicBackend(correlation_support, ignores_ridge=True),
    "forward": HeuristicBackend(forward_support),
    "backward": HeuristicBackend(backward_support),
    "stepwise": HeuristicBackend(stepwise_support),
    "hierarchical": HeuristicBackend(hierarchical_support),
    "lasso": HeuristicBackend(lasso_support, ignores_ridge=True),
    "swap": HeuristicBackend(swap_support),
}


def _buy_by_value(limits: Limits, values: Float) -> Support:
    """Buy the predictor of the largest value per price, while one is affordable.

    Free predictors come first; ties go to the larger value, then to the lower index. Predictors
    without value are not bought. Members of `include` are bought before all others.
    """
    support, value_of = limits.include, values.tolist()
    while True:
        best, best_rank = None, (0.0, 0.0)
        for g in limits.addable(support):
            value, price = value_of[g], limits.added_price(support, g)
            rank = (value / price if price > 0 else inf, value)
            if value > 0 and rank > best_rank:
                best, best_rank = g, rank
        if best is None:
            return tuple(sorted(support))
        support = (*support, best)


def _buy_in_order(limits: Limits, order: Iterable[int]) -> Support:
    """Buy each predictor in turn that is still affordable, after those that must be included.

    The order is not read on when nothing is affordable any more.
    """
    support = limits.include
    left = limits.addable(support)
    for g in order if left else ():
        if g in left:
            support = (*support, g)
            left = limits.addable(support)
            if not left:
                break
    return tuple(sorted(support))


def _extend(fits: ComparedFits, model: SupportModel) -> SupportModel:
    """Add predictors to a model by forward selection until nothing affordable helps."""
    while (longer := _add_best(fits, model)) is not None:
        model = longer
    return model


def _add_best(fits: ComparedFits, model: SupportModel) -> SupportModel | None:
    """Return the model after the next purchase of forward selection, or None if there is none."""
    limits = fits.problem.limits
    predictors = limits.addable(model.support)
    prices = [limits.added_price(model.support, g) for g in predictors]
    return best_addition(fits, model, predictors, prices)


def _remove_best(fits: ComparedFits, model: SupportModel) -> SupportModel | None:
    """Return the model after the next removal, or None if everything must be included."""
    limits = fits.problem.limits
    predictors = [g for g in model.support if g not in limits.include]
    rests = (tuple(h for h in model.support if h != g) for g in predictors)
    savings = [limits.added_price(rest, g) for g, rest in zip(predictors, rests, strict=True)]
    return best_removal(fits, model, predictors, savings)


def _is_improvement(fits: ComparedFits, model: SupportModel, seen: list[SupportModel]) -> bool:
    """Whether the model is better than all that have no more predictors and cost no more."""
    price = fits.problem.limits.units_of
    return all(
        model.objective < fits.problem.scale.below(other.objective, fits.tie)
        for other in seen
        if len(other.support) <= len(model.support) and price(other.support) <= price(model.support)
    )


def _best_exchange(fits: ComparedFits, model: SupportModel) -> SupportModel | None:
    limits = fits.problem.limits
    below = fits.problem.scale.below
    best, limit = None, below(model.objective, fits.tie)
    for dropped in model.support:
        if dropped in limits.include:
            continue
        rest = fits.fit(g for g in model.support if g != dropped)
        others = [g for g in limits.addable(rest.support) if g != dropped]
        exchanged = best_addition(fits, rest, others, least_gain=rest.objective - limit)
        if exchanged is not None:
            best, limit = exchanged, below(exchanged.objective, fits.tie)
    return best


class ComparedFits:
    """Fits on the supports of one problem, each as accurate as a comparison needs.

    `tie` is the difference of two objectives, relative to them, that counts as none.
    """

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem
        self.tie = max(_TIE, 5 * problem.family.rounding)
        self._prepared = prepare(problem)

    def fit(self, support: Iterable[int]) -> SupportModel:
        """Return the best model with this support."""
        support = tuple(sorted(support))
        coef, intercept, objective, _ = core.fit(self._prepared.problem, support)
        return SupportModel(support, *self._prepared.model(coef, intercept), objective)

    def best_of(
        self,
        model: SupportModel,
        supports: Sequence[tuple[int, ...]],
        limits: Float,
        prices: Float | None = None,
    ) -> SupportModel | None:
        """Return the fit with the lowest objective, relative to the model's, per price.

        Its objective is below its limit; None if there is none.
        """
        best, best_merit = None, -np.inf
        for i, support in enumerate(supports):
            fitted, price = self.fit(support), 1.0 if prices is None else float(prices[i])
            merit = (model.objective - fitted.objective) / price
            tie = self.tie * self.problem.scale.of(model.objective)
            is_better = (merit - best_merit) * price > tie
            if fitted.objective < limits[i] and is_better:
                best, best_merit = fitted, merit
        return best


def best_addition(
    fits: ComparedFits,
    model: SupportModel,
    predictors: Sequence[int],
    prices: ArrayLike = 1.0,
    least_gain: ArrayLike = 0.0,
) -> SupportModel | None:
    """Return the model with one more predictor that has the largest gain per price.

    Parameters
    ----------
    fits : ComparedFits
        The fits of the problem.
    model : SupportModel
        A fitted model, to which one of `predictors` is added.
    predictors : sequence of int
        Candidates, in ascending order.
    prices : array-like
        The price of each; those that cost nothing come first, by their gain alone.
    least_gain : array-like
        The least fall of the penalised loss; never less than a tie.

    Returns
    -------
    SupportModel or None
        None if no candidate gains enough.
    """
    added, price, gain = _arrays(predictors, prices, least_gain)
    tie = fits.tie * fits.problem.scale.of(model.objective)
    limits = model.objective - np.maximum(gain, tie)
    is_free = price == 0
    larger = fits.best_of(
        model, [(*model.support, g) for g in added[is_free].tolist()], limits[is_free]
    )
    if larger is not None:
        return larger
    supports = [(*model.support, g) for g in added[~is_free].tolist()]
    return fits.best_of(model, supports, limits[~is_free], price[~is_free])


def best_removal(
    fits: ComparedFits,
    model: SupportModel,
    predictors: Sequence[int],
    savings: ArrayLike = 1.0,
    most_loss: ArrayLike = np.inf,
) -> SupportModel | None:
    """Return the model with one predictor less that has the smallest loss per saving.

    Parameters
    ----------
    fits : ComparedFits
        The fits of the problem.
    model : SupportModel
        A fitted model, from which one of `predictors` is removed.
    predictors : sequence of int
        Candidates, in ascending order.
    savings : array-like
        The price that removing each saves; those that save nothing are candidates only if all do.
    most_loss : array-like
        The rise of the penalised loss that is too much.

    Returns
    -------
    SupportModel or None
        None if every removal loses too much.
    """
    removed, saving, loss = _arrays(predictors, savings, most_loss)
    if (saving == 0).all():
        saving = np.ones(len(removed))
    saves = saving > 0
    supports = [tuple(h for h in model.support if h != g) for g in removed[saves].tolist()]
    return fits.best_of(model, supports, model.objective + loss[saves], saving[saves])


def _arrays(predictors: Sequence[int], *values: ArrayLike) -> tuple[Int, Float, Float]:
    chosen = np.array(predictors, dtype=np.int64)
    first, second = (np.broadcast_to(np.asarray(v, dtype=np.float64), chosen.shape) for v in values)
    return chosen, first, second
