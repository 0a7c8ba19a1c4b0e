"""Prognostic studies of random size and difficulty: an endless stream for meta-learning.

The ranges are those that Knauer and Rodner (2023) found in studies on the prognosis of pain: 82 to
1090 patients, 14 to 53 candidate predictors, label noise up to 5%, and an imbalance of 23 to 77,
from which they draw the extremes. Between the extremes the number of patients is drawn uniformly on
a logarithmic scale, as its effect is one of proportion, and the rest uniformly. The smaller class
has at least 23% of the patients and at most half. As in the paper, 2 to 5 predictors are
informative and one is redundant.
"""

from __future__ import annotations

import numpy as np

from .prognostic import PrognosticData, make_prognostic

_N_SAMPLES = (82, 1090)
_N_FEATURES = (14, 53)
_N_INFORMATIVE = (2, 5)
_LABEL_NOISE = (0.0, 0.05)
_POSITIVE_FRACTION = (0.23, 0.5)
_DECIMALS = 3


def sample_prognostic(random_state: int | np.random.Generator = 0) -> PrognosticData:
    """Draw a synthetic prognostic study whose parameters are drawn too.

    Parameters
    ----------
    random_state : int or numpy.random.Generator
        A seed, which always gives the same study, so that 0, 1, 2, ... is a stream; or a generator,
        which gives the next one each time.

    Returns
    -------
    PrognosticData
        The study. `make_prognostic(**data.parameters)` gives it again.

    Examples
    --------
    >>> from shortlist.datasets import sample_prognostic
    >>> studies = [sample_prognostic(seed) for seed in range(3)]
    >>> [data.X.shape for data in studies]
    [(426, 34), (308, 44), (161, 18)]
    """
    if not isinstance(random_state, np.random.Generator):
        is_seed = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
        if not is_seed or random_state < 0:
            raise ValueError(
                "random_state: must be an integer of at least 0 or a numpy Generator, "
                f"not {random_state!r}."
            )
    rng = np.random.default_rng(random_state)
    fewest, most = _N_SAMPLES
    return make_prognostic(
        n_samples=round(fewest * (most / fewest) ** rng.random()),
        n_features=int(rng.integers(*_N_FEATURES, endpoint=True)),
        n_informative=int(rng.integers(*_N_INFORMATIVE, endpoint=True)),
        label_noise=round(rng.uniform(*_LABEL_NOISE), _DECIMALS),
        positive_fraction=round(rng.uniform(*_POSITIVE_FRACTION), _DECIMALS),
        random_state=int(rng.integers(2**32)),
    )
