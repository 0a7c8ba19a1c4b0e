"""Synthetic prognostic data in the manner of MADELON, as Knauer and Rodner (2023) set it up.

scikit-learn's `make_classification` draws the features. Its class counts and its label noise are
only approximate, so both are made exact here: a setting then has the events per variable (EPV) it
is named after, and a noise level of 5% flips 5% of the labels.

Matrix products differ from machine to machine in their last digits. Features are therefore rounded
to 6 decimals: the same seed gives the same bytes on any machine with the same streams of random
numbers, which numpy and scikit-learn change rarely, if ever. A value would have to lie within 1e-15
of the middle between two decimals to be rounded either way.

The module imports nothing else of shortlist.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from io import BytesIO
from numbers import Integral, Real
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_classification

__all__ = ["PrognosticData", "make_prognostic", "paper_datasets", "sample_prognostic"]

ROLES = ("informative", "redundant", "uninformative")
OUTCOME = "outcome"  # the name of y in an exported table
_LARGEST_COST = 10
_DECIMALS = 6
_LARGEST_SEED = 2**32 - 1
_PAPER_SHAPES = ((82, 53), (82, 14), (1090, 53), (1090, 14))
_PAPER_NOISE = (0.0, 0.05)
# The ranges of `sample_prognostic`.
_SAMPLES_RANGE = (82, 1090)
_FEATURES_RANGE = (14, 53)
_INFORMATIVE_RANGE = (2, 5)
_NOISE_RANGE = (0.0, 0.05)
_POSITIVE_RANGE = (0.23, 0.5)


@dataclass(frozen=True)
class PrognosticData:
    """A synthetic prognostic study: predictors, outcomes, prices, and the truth about each column.

    Attributes
    ----------
    X : DataFrame of shape (n_samples, n_features)
        Features scaled to [0, 1], with 6 decimals. Columns are in the order informative, redundant,
        uninformative and are named after their role: `informative_1`, `redundant_1`, ...
    y : ndarray of shape (n_samples,)
        Outcomes, 1 for an event and 0 for none, label noise included.
    costs : ndarray of shape (n_features,)
        Integer cost of each column, 1 to 10; the paper reads it as minutes to collect it.
    roles : ndarray of shape (n_features,)
        "informative", "redundant" or "uninformative" for each column.
    flipped : ndarray of shape (n_samples,)
        Whether label noise flipped the outcome of a row.
    parameters : dict
        The arguments that give this data again.
    """

    X: pd.DataFrame
    y: NDArray[np.int64]
    costs: NDArray[np.int64]
    roles: NDArray[np.str_]
    flipped: NDArray[np.bool_]
    parameters: dict[str, Any]

    @property
    def epv(self) -> float:
        """Events per variable as the paper counts them.

        The nominal share of the smaller class times rows per column, so neither rounding to whole
        rows nor label noise changes it: 23% of 1090 rows by 14 columns has 17.91.
        """
        share = self.parameters["positive_fraction"]
        n_samples, n_features = self.X.shape
        return float(min(share, 1 - share) * n_samples / n_features)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table of features and outcome as CSV, and its description beside it.

        Parameters
        ----------
        path : path-like
            The CSV file: a column per feature, then `outcome`. Parameters, events per variable,
            costs and roles go to a JSON file of the same name with `.json` appended.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from shortlist.datasets import make_prognostic
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     make_prognostic(82, 14).to_csv(pathlib.Path(folder) / "study.csv")
        ...     sorted(path.name for path in pathlib.Path(folder).iterdir())
        ['study.csv', 'study.csv.json']
        """
        target = Path(path)
        table = self._table().to_csv(index=False, lineterminator="\n")
        description = json.dumps(self._description(), indent=2) + "\n"
        # The table last: where it is, its description is too.
        _write_whole(target.with_name(f"{target.name}.json"), description.encode())
        _write_whole(target, table.encode())

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table of features and outcome as Parquet, with its description in the metadata.

        Needs the extra `parquet`.

        Parameters
        ----------
        path : path-like
            The Parquet file: a column per feature, then `outcome`. Parameters, events per variable,
            costs and roles are JSON in the file's metadata, under the key `shortlist`.
        """
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError:
            raise ImportError(
                "to_parquet: pyarrow is not installed; pip install 'shortlist[parquet]' brings it."
            ) from None
        table = pa.Table.from_pandas(self._table(), preserve_index=False)
        description = json.dumps(self._description()).encode()
        metadata = {**(table.schema.metadata or {}), b"shortlist": description}
        buffer = BytesIO()
        parquet.write_table(table.replace_schema_metadata(metadata), buffer)
        _write_whole(Path(path), buffer.getvalue())

    def _table(self) -> pd.DataFrame:
        return self.X.assign(**{OUTCOME: self.y})

    def _description(self) -> dict[str, Any]:
        return {
            "parameters": self.parameters,
            "epv": self.epv,
            "costs": dict(zip(self.X.columns, self.costs.tolist(), strict=True)),
            "roles": dict(zip(self.X.columns, self.roles.tolist(), strict=True)),
        }


def make_prognostic(
    n_samples: int = 1090,
    n_features: int = 14,
    n_informative: int = 5,
    n_redundant: int = 1,
    label_noise: float = 0.0,
    positive_fraction: float = 0.23,
    class_sep: float = 1.0,
    random_state: int = 0,
) -> PrognosticData:
    """Draw a synthetic prognostic study.

    Each class is one Gaussian cluster around a vertex of a hypercube in the informative features.
    Redundant features are random linear combinations of the informative ones, uninformative
    features are Gaussian noise, and every feature is min-max scaled. Costs are drawn uniformly
    from 1 to 10. The same arguments give the same data. An argument changes only what it names:
    `label_noise` changes nothing but labels (a higher level flips all that a lower one
    does), and the costs depend on nothing but the seed and the number of columns.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_features : int
        Number of columns, at least `n_informative + n_redundant`; the others are uninformative.
    n_informative : int
        Number of columns that form the clusters.
    n_redundant : int
        Number of linear combinations of the informative columns.
    label_noise : float
        Fraction of labels to flip, in [0, 0.5]: exactly `round(label_noise * n_samples)` labels.
    positive_fraction : float
        Fraction of events before label noise: exactly `round(positive_fraction * n_samples)`.
    class_sep : float
        Half the side of the hypercube; a larger value makes the classes easier to tell apart.
    random_state : int
        Seed.

    Returns
    -------
    PrognosticData
        Features, outcomes, costs and the role of each column.

    Raises
    ------
    ValueError
        If an argument is out of range, or the flips leave a single class.

    Examples
    --------
    >>> from shortlist.datasets import make_prognostic
    >>> data = make_prognostic(n_samples=82, n_features=14, label_noise=0.05, random_state=1)
    >>> data.X.shape, int(data.flipped.sum()), round(data.epv, 2)
    ((82, 14), 4, 1.35)
    >>> data.roles[4:7].tolist()
    ['informative', 'redundant', 'uninformative']
    """
    parameters = {
        "n_samples": _integer("n_samples", n_samples, 2),
        "n_features": _integer("n_features", n_features, 1),
        "n_informative": _integer("n_informative", n_informative, 1),
        "n_redundant": _integer("n_redundant", n_redundant, 0),
        "label_noise": _fraction("label_noise", label_noise, 0.5),
        "positive_fraction": _fraction("positive_fraction", positive_fraction, 1.0),
        "class_sep": _positive("class_sep", class_sep),
        "random_state": _integer("random_state", random_state, 0, _LARGEST_SEED),
    }
    n_uninformative = n_features - n_informative - n_redundant
    if n_uninformative < 0:
        raise ValueError(
            f"n_features: {n_features} columns cannot hold {n_informative} informative and "
            f"{n_redundant} redundant ones; ask for more columns or fewer of those."
        )
    n_positive = round(positive_fraction * n_samples)
    if not 0 < n_positive < n_samples:
        raise ValueError(
            f"positive_fraction: {positive_fraction} of {n_samples} rows rounds to {n_positive} "
            "events, but both classes need at least 1 row."
        )

    features, outcomes = make_classification(
        n_samples=n_samples,
        n_features=n_features,
        n_informative=n_informative,
        n_redundant=n_redundant,
        n_clusters_per_class=1,
        # Its counts are weights * n_samples rounded down: half a row more makes them exact.
        weights=[(n_samples - n_positive + 0.5) / n_samples, (n_positive + 0.5) / n_samples],
        flip_y=0.0,
        class_sep=class_sep,
        shuffle=False,
        random_state=random_state,
    )
    rng = np.random.default_rng(random_state)
    costs = rng.integers(1, _LARGEST_COST, size=n_features, endpoint=True)
    rows = rng.permutation(n_samples)
    flipped = np.zeros(n_samples, dtype=np.bool_)
    flipped[rng.permutation(n_samples)[: round(label_noise * n_samples)]] = True
    y = outcomes[rows].astype(np.int64) ^ flipped
    if y.min() == y.max():
        raise ValueError(
            f"label_noise: flipping {flipped.sum()} of {n_samples} labels left a single class; "
            "use less noise, more rows or another random_state."
        )
    counts = (n_informative, n_redundant, n_uninformative)
    names = [f"{role}_{i + 1}" for role, n in zip(ROLES, counts, strict=True) for i in range(n)]
    features = features[rows]
    low, high = features.min(axis=0), features.max(axis=0)
    scaled = np.round((features - low) / (high - low), _DECIMALS)
    return PrognosticData(
        X=pd.DataFrame(scaled, columns=names),
        y=y,
        costs=costs,
        roles=np.repeat(np.array(ROLES), counts),
        flipped=flipped,
        parameters=parameters,
    )


def paper_datasets(n_informative: int = 5, random_state: int = 0) -> list[PrognosticData]:
    """Draw the eight settings of Knauer and Rodner (2023).

    Parameters
    ----------
    n_informative : int
        Number of informative columns; the paper has 2, 3, 4 and 5.
    random_state : int
        Seed of all eight.

    Returns
    -------
    list of PrognosticData
        82 or 1090 rows by 53 or 14 columns in the order of increasing events per variable, each
        without and then with 5% label noise.

    Examples
    --------
    >>> from shortlist.datasets import paper_datasets
    >>> [data.X.shape for data in paper_datasets()[::2]]
    [(82, 53), (82, 14), (1090, 53), (1090, 14)]
    """
    return [
        make_prognostic(
            n_samples, n_features, n_informative, label_noise=noise, random_state=random_state
        )
        for n_samples, n_features in _PAPER_SHAPES
        for noise in _PAPER_NOISE
    ]


def sample_prognostic(random_state: int | np.random.Generator = 0) -> PrognosticData:
    """Draw a synthetic prognostic study whose parameters are drawn too.

    The ranges are those that Knauer and Rodner (2023) found in studies on the prognosis of pain: 82
    to 1090 patients, 14 to 53 candidate predictors, label noise up to 5%, and an imbalance of 23 to
    77, from which they draw the extremes. Between the extremes the number of patients is drawn
    uniformly on a logarithmic scale, as its effect is one of proportion, and the rest uniformly.
    The smaller class has at least 23% of the patients and at most half. As in the paper, 2 to 5
    predictors are informative and one is redundant.

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
    fewest, most = _SAMPLES_RANGE
    return make_prognostic(
        n_samples=round(fewest * (most / fewest) ** rng.random()),
        n_features=int(rng.integers(*_FEATURES_RANGE, endpoint=True)),
        n_informative=int(rng.integers(*_INFORMATIVE_RANGE, endpoint=True)),
        label_noise=round(rng.uniform(*_NOISE_RANGE), 3),
        positive_fraction=round(rng.uniform(*_POSITIVE_RANGE), 3),
        random_state=int(rng.integers(2**32)),
    )


def _write_whole(path: Path, content: bytes) -> None:
    """Write beside the final place, then rename, so that no half of a file is ever seen."""
    with TemporaryDirectory(prefix=".shortlist-", dir=path.parent) as folder:
        draft = Path(folder) / path.name
        draft.write_bytes(content)
        draft.replace(path)


def _integer(argument: str, value: int, low: int, high: float = np.inf) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not low <= value <= high:
        limits = f"of at least {low}" if high == np.inf else f"from {low} to {high}"
        raise ValueError(f"{argument}: must be an integer {limits}, not {value!r}.")
    return int(value)


def _fraction(argument: str, value: float, high: float) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value <= high:
        raise ValueError(f"{argument}: must be a number from 0 to {high:g}, not {value!r}.")
    return float(value)


def _positive(argument: str, value: float) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < np.inf:
        raise ValueError(f"{argument}: must be a finite number above 0, not {value!r}.")
    return float(value)
