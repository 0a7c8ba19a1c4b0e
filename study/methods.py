"""Methods that the paper does not have, compared with the optimum on the same data."""

from __future__ import annotations

import pandas as pd

from .draws import mean_of
from .plan import FULL, GREEDY, KEYS, OPTIMAL, OTHER_METHODS

# The names of the methods in figures and on the page.
METHOD_NAMES = {
    OPTIMAL: "optimal",
    GREEDY: "greedy",
    "correlation": "by correlation",
    "forward": "forward",
    "stepwise": "stepwise",
    "swap": "forward and swaps",
    "lasso": "lasso",
    FULL: "all candidates, ridge",
}
_RUN_KEYS = [key for key in KEYS if key != "method"]


def differences(runs: pd.DataFrame) -> pd.DataFrame:
    """Return how methods differ from the optimum in AUC and in what they select.

    All are compared on the data as they are, on the runs that all methods have. A seed counts with
    the mean over its runs, which are not independent; the interval is Student's, over seeds.

    Parameters
    ----------
    runs : DataFrame
        As `Tables` describes it.

    Returns
    -------
    DataFrame
        Columns `study` (also "all"), `method`, `measure` ("auc", "informative_data" or
        "uninformative_data"), `value` (the mean of the method itself), `estimate`, `lower`, `upper`
        and `n_draws`; none if other methods were not run.
    """
    measures = ["auc", "informative_data", "uninformative_data"]
    others = (GREEDY, *OTHER_METHODS)
    table = runs.pivot(index=_RUN_KEYS, columns="method", values=measures)
    if not set(others) <= set(table["auc"]):
        return pd.DataFrame()
    table = table.dropna()
    n_runs = table.groupby("seed").size()
    table = table.loc[table.index.isin(n_runs.index[n_runs == n_runs.max()], level="seed")]
    lines = []
    for study in ("all", "cardinality", "budget"):
        part = table if study == "all" else table.xs(study, level="study")
        for method in others:
            for measure in measures:
                own = part[measure, method]
                by_seed = (own - part[measure, OPTIMAL]).groupby("seed").mean()
                lines.append(
                    {"study": study, "method": method, "measure": measure, "value": own.mean()}
                    | mean_of(by_seed.to_numpy())._asdict()
                    | {"n_draws": len(by_seed)}
                )
    return pd.DataFrame(lines)
