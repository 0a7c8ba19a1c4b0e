"""The data sets in the wheel of scikit-survival, as matrices without missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

DATA_SETS = ("aids", "flchain", "gbsg2", "veterans_lung_cancer", "whas500")
_COMPLETE = 0.9  # columns with a larger share of known values are kept
_RAREST = 10  # events that a level must have, so that no coefficient is infinite
_ALIKE = 0.99  # the correlation from which a column repeats another


def load_survival(name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return columns of mean 0 and standard deviation 1, and times with events."""
    from sksurv import datasets
    from sksurv.column import encode_categorical

    X, y = getattr(datasets, f"load_{name}")()
    event, time = y.dtype.names
    X = encode_categorical(X).astype(float)
    X = X.loc[:, X.notna().mean() > _COMPLETE]
    used = X.notna().all(axis=1).to_numpy() & (y[time] > 0)
    X, y = X[used].reset_index(drop=True), y[used]
    n_events = (X.eq(X.max()) & y[event][:, np.newaxis]).sum()
    X = X.loc[:, (X.nunique() > 2) | (n_events >= _RAREST)]
    repeats = np.triu(X.corr().abs().to_numpy() > _ALIKE, 1).any(axis=0)
    X = X.loc[:, ~repeats & (X.nunique() > 1).to_numpy()]
    return (X - X.mean()) / X.std(), y
