"""Methods that the paper does not have, compared with the optimum on the same data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import sem, t

from shortlist.evaluation import FittedModel, Procedure, Sample

from .plan import MOST_FREQUENT, OTHER_METHODS

N_RESAMPLES = 19  # of every training part, for the most frequent optimum

# The names of the methods in figures and on the page.
METHOD_NAMES = {
    "optimal": "optimal",
    "univariable": "greedy",
    "correlation": "by correlation",
    "forward": "forward",
    "backward": "backward",
    "stepwise": "stepwise",
    "swap": "forward and swaps",
    "lasso": "lasso",
    MOST_FREQUENT: "most frequent optimum",
}
_RUN_KEYS = ["seed", "study", "n_samples", "n_features", "label_noise", "run"]


class MostFrequentOptimum(Procedure):
    """Takes the selection that is optimal on most bootstrap resamples, and fits it on all rows.

    Of several selections that are equally frequent, the one that was found first is taken.
    """

    def fit(self, sample: Sample, ridges: Sequence[float]) -> list[FittedModel]:
        """Select and fit on the rows of a sample, with each ridge."""
        rng = np.random.default_rng(self.experiment.seed)
        counters: list[Counter[tuple[int, ...]]] = [Counter() for _ in ridges]
        for _ in range(N_RESAMPLES):
            copies = rng.choice(sample.copies, len(sample.copies))
            while np.ptp(self.experiment.y[copies]) == 0:  # one class alone
                copies = rng.choice(sample.copies, len(sample.copies))
            optima = super().fit(Sample.of_copies(copies), ridges)
            for counter, model in zip(counters, optima, strict=True):
                counter[model.solution.support] += 1
        problem = self.problem(sample)
        models = []
        for ridge, counter in zip(ridges, counters, strict=True):
            support = counter.most_common(1)[0][0]
            others = set(range(problem.n_predictors)).difference(support)
            alone = problem.with_limits(include=support, exclude=sorted(others))
            models += self.solve(alone, [ridge])
        return models


def differences(summary: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Return how methods differ from the optimum in AUC and informative fraction.

    All are compared on the data as they are, of the seeds that all methods have. A seed counts with
    the mean over its runs, which are not independent; the interval is Student's, over seeds.

    Parameters
    ----------
    summary : DataFrame
        As `read_summary` returns it.
    level : float
        Coverage of the intervals.

    Returns
    -------
    DataFrame
        Columns `method`, `measure` ("auc", "informative" or "uninformative"), `value` (the mean of
        the method itself), `estimate`, `lower`, `upper` and `n_seeds`.
    """
    measures = ["auc", "informative", "uninformative"]
    rows = summary[summary["arm"].isin(["aucs", "methods"])]
    if not (rows["arm"] == "methods").any():
        return pd.DataFrame()
    table = rows.pivot(index=_RUN_KEYS, columns="method", values=measures).dropna()
    n_runs = table.groupby("seed").size()
    table = table.loc[n_runs.index[n_runs == n_runs.max()]]  # seeds of which all runs are finished
    lines = []
    for method in ("univariable", *OTHER_METHODS):
        for measure in measures if method in table["auc"] else ():
            values = table[measure]
            by_seed = (values[method] - values["optimal"]).groupby("seed").mean().to_numpy()
            if len(by_seed) < 2:
                continue
            half = t.isf((1 - level) / 2, len(by_seed) - 1) * sem(by_seed)
            lines.append(
                {
                    "method": method,
                    "measure": measure,
                    "value": values[method].mean(),
                    "estimate": by_seed.mean(),
                    "lower": by_seed.mean() - half,
                    "upper": by_seed.mean() + half,
                    "n_seeds": len(by_seed),
                }
            )
    return pd.DataFrame(lines)
