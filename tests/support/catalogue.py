"""Problems with known optima: what every backend must pass.

Each is small enough for enumeration and for a general solver to take about a second. The optima
were computed by enumeration, which fits every selection; `test_catalogue` holds every backend,
enumeration included, to the figures written here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import shortlist as sl

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Known:
    """A problem, its optimum, and the selections that reach it: several if there are ties."""

    arguments: Callable[[], Arguments]
    objective: float
    supports: tuple[tuple[int, ...], ...]

    def problem(self) -> sl.SubsetProblem:
        """Make the problem."""
        return sl.SubsetProblem(**self.arguments())


def patients(
    n_rows: int = 40, n_columns: int = 8, *, ridge: float = 0.1, **limits: Any
) -> Arguments:
    """Columns between 0 and 1, labels that depend on the first four, with noise."""
    rng = np.random.default_rng(20)
    X = rng.random((n_rows, n_columns))
    score = X[:, :4] @ [2.0, -1.5, 1.0, 0.5] + 0.5 * rng.normal(size=n_rows)
    return {"X": X, "y": score > np.median(score), "ridge": ridge, **limits}


def weighted() -> Arguments:
    """A bootstrap sample as weights, some of them 0."""
    weights = np.random.default_rng(21).multinomial(40, np.full(40, 1 / 40)).astype(float)
    return patients(sample_weight=weights, max_features=3)


def duplicated() -> Arguments:
    """Columns 0 and 1 twice, and a constant one: selections tie, and one is worth nothing."""
    arguments = patients(max_features=3)
    X = arguments["X"]
    arguments["X"] = np.column_stack([X[:, :6], X[:, 0], X[:, 1], np.ones(len(X))])
    return arguments


def separable() -> Arguments:
    """Labels that a plane separates: without the ridge there would be no optimum."""
    arguments = patients(ridge=0.02, max_features=2)
    arguments["y"] = arguments["X"][:, 0] - arguments["X"][:, 1] > 0.1
    return arguments


def scales() -> Arguments:
    """Columns of different scales, far from 0."""
    arguments = patients(ridge=1.0, max_features=3)
    arguments["X"] = 5 + arguments["X"] * np.array([0.5, 1, 2, 4, 8, 10, 20, 50])
    return arguments


def wide() -> Arguments:
    """More columns than rows."""
    rng = np.random.default_rng(22)
    X = rng.normal(size=(12, 14))
    return {"X": X, "y": X[:, 0] + X[:, 1] + rng.normal(size=12) > 0, "ridge": 1.0} | {
        "max_features": 3
    }


TINY = {"X": [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], "y": [0, 0, 1, 1], "ridge": 0.1}
COSTS = [3, 4, 2, 1, 5, 2, 1, 1]
REAL_COSTS = [np.pi, np.e, np.sqrt(2), 0.3, 2.2, np.sqrt(3), 0.7, np.log(5)]
SPLINES = [0, 0, 1, 1, 2, 2, 3, 3]

# Limits on coefficients, which not every backend knows.
LIMITED: dict[str, Known] = {
    "largest coefficient": Known(
        lambda: patients(max_features=3, max_coefficient=2.0),
        objective=15.52565475,
        supports=((0, 1, 2),),
    ),
    "signs": Known(
        lambda: patients(
            max_features=3, signs=["positive", "positive", None, "negative", *[None] * 4]
        ),
        objective=15.09850648,
        supports=((0, 2, 6),),
    ),
    "limited groups within a budget": Known(
        lambda: patients(
            groups=SPLINES,
            costs=[3, 2, 2, 1],
            budget=4,
            max_coefficient=[1.5, 1.0, None, None],
            signs=[None, "positive", None, "negative"],
        ),
        objective=20.33661635,
        supports=((0, 3),),
    ),
    "limits at weak ridge": Known(
        lambda: patients(ridge=0.004, max_features=3, max_coefficient=5.0, signs={3: "negative"}),
        objective=9.946404128,
        supports=((0, 1, 2),),
    ),
}

CATALOGUE: dict[str, Known] = {
    "tiny": Known(
        lambda: TINY | {"max_features": 1},
        objective=0.859748481,
        supports=((0,),),
    ),
    "nothing to buy": Known(
        lambda: patients(max_features=0),
        objective=27.72588722,
        supports=((),),
    ),
    "everything to buy": Known(
        lambda: patients(ridge=0.5),
        objective=17.52145692,
        supports=((0, 1, 2, 3, 4, 5, 6, 7),),
    ),
    "cardinality": Known(
        lambda: patients(max_features=3),
        objective=12.74242835,
        supports=((0, 1, 2),),
    ),
    "cardinality, weak ridge": Known(
        lambda: patients(ridge=0.004, max_features=3),
        objective=8.929973909,
        supports=((0, 1, 2),),
    ),
    "cardinality, strong ridge": Known(
        lambda: patients(ridge=10.0, max_features=3),
        objective=26.23159945,
        supports=((0, 1, 2),),
    ),
    "budget": Known(
        lambda: patients(costs=COSTS, budget=7),
        objective=15.06642233,
        supports=((0, 2, 6, 7),),
    ),
    "budget, weak ridge": Known(
        lambda: patients(ridge=0.004, costs=COSTS, budget=7),
        objective=12.46763335,
        supports=((0, 2, 5),),
    ),
    "decimal prices": Known(
        lambda: patients(costs=np.array(COSTS) * 0.35, budget=2.45),
        objective=15.06642233,
        supports=((0, 2, 6, 7),),
    ),
    "real prices": Known(
        lambda: patients(costs=REAL_COSTS, budget=6.5),
        objective=15.09330573,
        supports=((0, 2, 3, 6),),
    ),
    "free predictors": Known(
        lambda: patients(costs=[3, 4, 0, 1, 5, 0, 1, 1], budget=4),
        objective=14.99450488,
        supports=((0, 2, 5, 6),),
    ),
    "both limits": Known(
        lambda: patients(costs=COSTS, budget=8, max_features=2),
        objective=15.30989591,
        supports=((0, 2),),
    ),
    "fees": Known(
        lambda: patients(costs=COSTS, budget=9, fees=[(2, [0, 1, 4]), (1, [2, 3])]),
        objective=15.09850648,
        supports=((0, 2, 6),),
    ),
    "overlapping fees": Known(
        lambda: patients(
            costs=COSTS, budget=9, fees=[(2, [0, 1, 2]), (1.5, [2, 3]), (0, [5])], max_features=4
        ),
        objective=15.30989591,
        supports=((0, 2),),
    ),
    "groups": Known(
        lambda: patients(groups=SPLINES, max_features=2),
        objective=12.73202381,
        supports=((0, 1),),
    ),
    "groups with prices": Known(
        lambda: patients(groups=SPLINES, costs=[3, 2, 2, 1], budget=4),
        objective=17.88528166,
        supports=((0, 3),),
    ),
    "include and exclude": Known(
        lambda: patients(max_features=3, include=[6], exclude=[0]),
        objective=16.52380233,
        supports=((1, 2, 6),),
    ),
    "include within a budget": Known(
        lambda: patients(costs=COSTS, budget=8, include=[4], exclude=[2]),
        objective=20.86355268,
        supports=((0, 4),),
    ),
    "weights": Known(
        weighted,
        objective=10.31380541,
        supports=((0, 1, 2),),
    ),
    "duplicated columns": Known(
        duplicated,
        objective=12.74242835,
        supports=(
            (0, 1, 2),
            (0, 2, 7),
            (1, 2, 6),
            (2, 6, 7),
        ),
    ),
    "separable": Known(
        separable,
        objective=5.625594312,
        supports=((0, 1),),
    ),
    "scales": Known(
        scales,
        objective=19.3331218,
        supports=((0, 1, 2),),
    ),
    "wide": Known(
        wide,
        objective=4.487463983,
        supports=((0, 1, 12),),
    ),
}
