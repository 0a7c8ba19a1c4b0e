"""Hierarchical selection: what is easy to measure first, the rest only for what it adds to that.

Clinical studies put the answers of history-taking into the model first, and then ask what the tests
of a physical examination add when those are controlled for (Kuijpers et al. 2006; Scheele et al.
2013). Unlike the other rules, this one stops at what is significant and may leave money unspent.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from ..backends.support_fit import SupportFits
from ..problem import SubsetProblem
from .affordable import addable
from .heuristic import check_logistic
from .single_step import best_addition, best_removal

_LEVEL = 0.05


def hierarchical_support(problem: SubsetProblem) -> tuple[int, ...]:
    """Return what hierarchical selection buys.

    Predictors that cost the same, with all fees that they incur, are a tier. From the cheapest tier
    to the dearest, the affordable predictor that lowers the penalised loss most is bought as long
    as it is significant; what was bought in cheaper tiers stays in the model. At the end,
    predictors that are no longer significant are removed one by one, the least missed first.
    A predictor is significant if twice the difference in penalised loss exceeds the 95% quantile
    of the chi-squared distribution with one degree of freedom for each of its columns.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.

    Returns
    -------
    tuple of int
        Sorted predictors.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.baselines import hierarchical_support
    >>> data = sl.datasets.make_prognostic(random_state=2)
    >>> problem = sl.SubsetProblem(data.X, data.y, ridge=0.02, budget=10, costs=data.costs)
    >>> [int(data.costs[g]) for g in hierarchical_support(problem)]
    [3, 2, 3]
    """
    check_logistic(problem, "hierarchical", "tests the likelihood of")
    limits = problem.limits
    n_columns = np.bincount(problem.column_predictor, minlength=problem.n_predictors)
    thresholds = 0.5 * np.asarray(chi2.ppf(1 - _LEVEL, n_columns))
    fits = SupportFits(problem)
    model = fits.fit_to_compare(limits.include)
    tiers = np.array([limits.cost_of((g,)) for g in range(problem.n_predictors)])
    for tier in np.unique(tiers):
        while True:
            wanted = [g for g in addable(limits, model.support) if tiers[g] == tier]
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
