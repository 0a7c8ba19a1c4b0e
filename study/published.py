"""What the paper shows of its own draw: how often each feature is selected, and every AUC."""

from __future__ import annotations

import os

import pandas as pd
from scipy.stats import binomtest

from .draws import Draws
from .methods import METHOD_NAMES
from .plan import LABEL_NOISE, METHODS, NUMBERS, SHAPES, Run
from .tables import FILES, Bool, read_table

ARM = "published"  # all runs of one seed, with resamples that are cross-validated and select


def is_published(folder: str | os.PathLike[str]) -> bool:
    """Whether a study follows the paper's own protocol, on a single draw."""
    arms = read_table(folder, FILES["intervals"], ("arm",))["arm"]
    return bool(len(arms)) and set(arms) == {ARM}


def frequencies(selections: dict[Run, Bool]) -> pd.DataFrame:
    """Return how often the resamples of each run select each feature, with Wilson's interval.

    Parameters
    ----------
    selections : mapping from Run to ndarray of bool, shape (n_resamples, n_features)
        What each resample selects.

    Returns
    -------
    DataFrame
        The attributes of the run, `feature`, its `role`, `estimate`, `lower` and `upper`.
    """
    lines = []
    for run, matrix in selections.items():
        for feature, count in enumerate(matrix.sum(axis=0).tolist()):
            ends = binomtest(count, len(matrix)).proportion_ci(method="wilson")
            role = "informative" if feature < run.n_informative else "uninformative"
            lines.append(
                vars(run)
                | {"feature": feature}
                | {"role": "redundant" if feature == run.n_informative else role}
                | {"estimate": count / len(matrix), "lower": ends.low, "upper": ends.high}
            )
    return pd.DataFrame(lines)


def auc_rows(draws: Draws, study: str) -> list[list[str]]:
    """Return a row for each data set and method: the AUC of every run with its interval."""
    keys = ["n_samples", "n_features", "label_noise", "method"]
    groups = dict(list(draws.intervals.set_index("run").groupby(keys)))
    rows = []
    for noise in LABEL_NOISE:
        for n, p in SHAPES:
            for method in METHODS:
                own = groups[n, p, noise, method].loc[list(NUMBERS[study])]
                ends = own[["auc", "lower", "upper"]].to_numpy()
                cells = [f"{auc:.2f} [{low:.2f}, {high:.2f}]" for auc, low, high in ends]
                data = f"{n} x {p}, {100 * noise:.0f} % noise"
                rows.append([data, METHOD_NAMES[method], *cells])
    return rows
