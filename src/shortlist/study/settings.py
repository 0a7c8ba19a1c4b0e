"""The paper's set-up in sections 5.1 to 5.3, beside that of what runs here."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from .parkinson import N_PREDICTORS, PAPER_VARIANT, splines
from .plan import SHAPES, Run
from .saved import rows_of


def settings(summary: pd.DataFrame, variants: pd.DataFrame | None) -> list[tuple[str, ...]]:
    """Return section, setting, the paper's and ours, of each number of the set-up.

    Parameters
    ----------
    summary : DataFrame
        As in `summary.csv`.
    variants : DataFrame, optional
        As in `parkinson_summary.csv`.

    Returns
    -------
    list of tuple of str
        No verdicts: most of these are constants that were taken from the paper.
    """
    own = rows_of(summary[summary["method"] == "optimal"])
    cardinality, budget = (
        Run(study, 0, "paper", *SHAPES[1], 0.0, 2, "optimal").experiment()
        for study in ("cardinality", "budget")
    )
    pipeline = splines()
    n_columns = pipeline.fit_transform(np.linspace(0, 1, 9)[:, None]).shape[1]
    sizes = own.loc[own["study"] == "cardinality", "run"]
    n_data_sets = len(own.drop_duplicates(["n_samples", "n_features", "label_noise"]))
    resamples: Iterable[int] = []
    if variants is not None:
        resamples = variants.loc[variants["variant"] == PAPER_VARIANT, "n_resamples"]
    return [
        ("5.1", "predictors to select", "4", str(N_PREDICTORS)),
        ("5.1", "spline columns of each measure", "4", str(n_columns)),
        (
            "5.1",
            "knots of the splines",
            "3, along the quartiles",
            f"{pipeline[0].n_knots}, at minimum, median and maximum",
        ),
        ("5.1", "bootstrap resamples", "399", _listed(resamples)),
        ("5.1", "strengths of the penalty", "0.1, 0.02, 0.004", _listed(cardinality.ridges)),
        ("5.1", "folds of either loop", "3", str(cardinality.n_folds)),
        ("5.2", "synthetic data sets", "8", str(n_data_sets)),
        ("5.2", "informative features, and how many are selected", "2, 3, 4, 5", _listed(sizes)),
        ("5.2", "bootstrap resamples", "399", _listed(own["n_resamples"])),
        ("5.3", "budget", "10", f"{budget.budget:g}"),
    ]


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in dict.fromkeys(values)) or "not run"
