"""A ladder of ridges, from strong to weak, on the paper's data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import shortlist as sl

from . import ladder
from .ladder import Rung
from .measure import Row
from .settings import Settings

TITLE = "From a strong ridge to a weak one"
ABOUT = (
    "The paper's data with 53 columns and 5% label noise, at most 5 predictors. The weaker the "
    f"ridge, the weaker are all bounds that come from the relaxation. {ladder.HOW_TO_READ}"
)
MAX_FEATURES = 5
STEPS = (10.0, 1.0, 0.1, 0.02, 0.004, 0.001, 0.0003, 0.0001, 0.00003, 0.00001)
SHORT_STEPS = STEPS[:5]
summarise = ladder.summarise


def run(settings: Settings) -> Iterator[Row]:
    """Climb one ladder for each data set."""
    steps = STEPS if settings.full else SHORT_STEPS
    for data in sl.datasets.paper_datasets(n_informative=5, random_state=0):
        if data.X.shape[1] != 53 or data.parameters["label_noise"] == 0:
            continue
        rungs = (
            Rung(
                {
                    "ladder": f"{data.X.shape[0]} x {data.X.shape[1]}",
                    "step": ridge,
                    "rows": data.X.shape[0],
                    "columns": data.X.shape[1],
                    "label_noise": data.parameters["label_noise"],
                    "ridge": ridge,
                    "max_features": MAX_FEATURES,
                },
                partial(
                    sl.SubsetProblem,
                    data.X.to_numpy(),
                    data.y,
                    ridge=ridge,
                    max_features=MAX_FEATURES,
                ),
            )
            for ridge in (steps[:1] if settings.quick else steps)
        )
        yield from ladder.climb(settings, rungs)
