"""Other methods beside the optimum, on the same data."""

from __future__ import annotations

import pandas as pd
from scipy.stats import sem, t

from .plan import HEURISTICS

# What the figures and the page call the methods.
METHOD_NAMES = {
    "optimal": "optimal",
    "univariable": "greedy",
    "correlation": "by correlation",
    "forward": "forward",
    "backward": "backward",
    "stepwise": "stepwise",
    "swap": "forward and swaps",
    "lasso": "lasso",
    "stabilised": "most frequent optimum",
}
_RUN = ["seed", "study", "n_samples", "n_features", "label_noise", "run"]


def differences(summary: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Return how methods differ from the optimum in AUC and informative fraction.

    All are compared on the data as they are of the same seeds and runs. A seed's difference is the
    mean over its runs; the interval is Student's, over seeds, since runs of a seed are not
    independent.

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
    others = summary[summary["arm"] == "methods"]
    own = summary[(summary["arm"] == "aucs")]
    lines = []
    for method in ("univariable", *HEURISTICS):
        source = own if method == "univariable" else others
        for measure in ("auc", "informative", "uninformative"):
            values = source[source["method"] == method].set_index(_RUN)[measure]
            values = values[values.index.isin(others.set_index(_RUN).index)]
            optimum = own[own["method"] == "optimal"].set_index(_RUN)[measure]
            paired = (values - optimum.reindex(values.index)).dropna()
            by_seed = paired.groupby("seed").mean().to_numpy()
            if len(by_seed) < 2:
                continue
            lower, upper = t.interval(level, len(by_seed) - 1, by_seed.mean(), sem(by_seed))
            lines.append(
                {
                    "method": method,
                    "measure": measure,
                    "value": values.mean(),
                    "estimate": by_seed.mean(),
                    "lower": lower,
                    "upper": upper,
                    "n_seeds": len(by_seed),
                }
            )
    return pd.DataFrame(lines)
