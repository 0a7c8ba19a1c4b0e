"""Patients with prices, prepared once per session; every problem is made from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..datasets import make_prognostic
from ..errors import InvalidProblemError
from ..evaluation.metrics import auc
from ..patients.card import Outcome, SharedFee
from ..patients.design import Design
from ..patients.table import Patients, PlainTable, check_table
from .state import MOST_AMOUNT, MOST_FEES, State, check_amounts

Fees = Sequence[tuple[float, Sequence[str]]]


@dataclass(frozen=True)
class PreparedPatients:
    """Patients with prices, and the matrix that their columns become.

    Attributes
    ----------
    name : str
        The name shown on the page: that of a file.
    patients : Patients
        Predictors, events, outcome and persons.
    plain, design
        The same in plain form, and prepared.
    costs, fees
        The prices that a session starts with; a predictor without one costs 1.
    spline_knots, missing_indicator
        As in `PrognosticModel`.
    n_bytes : int
        What the data take in memory.
    """

    name: str
    patients: Patients
    plain: PlainTable
    design: Design
    costs: dict[str, float]
    fees: tuple[SharedFee, ...]
    spline_knots: int | None
    missing_indicator: bool
    n_bytes: int

    @classmethod
    def prepare(
        cls,
        name: str,
        patients: Patients,
        *,
        costs: Mapping[str, float] | None = None,
        fees: Fees = (),
        exclude: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        spline_knots: int | None = None,
        missing_indicator: bool = False,
    ) -> PreparedPatients:
        """Check and prepare patients; columns in `exclude` are not predictors."""
        check_amounts("costs", (costs or {}).values())
        check_amounts("fees", (amount for amount, _ in fees))
        if len(fees) > MOST_FEES:
            raise InvalidProblemError(f"fees: there are more than {MOST_FEES}; join some of them.")
        plain = check_table(
            patients.predictors, patients.events, kinds=kinds, include=(), exclude=exclude
        )
        design = Design(plain.kinds, spline_knots, missing_indicator).fit(plain.frame)
        known = set(design.names)
        shared = (
            SharedFee(amount=float(amount), members=tuple(m for m in members if m in known))
            for amount, members in fees
        )
        return cls(
            name=name,
            patients=patients,
            plain=plain,
            design=design,
            costs={column: float((costs or {}).get(column, 1.0)) for column in design.names},
            fees=tuple(fee for fee in shared if fee.members),
            spline_knots=spline_knots,
            missing_indicator=missing_indicator,
            n_bytes=design.matrix.nbytes
            + n_bytes_of(patients.predictors)
            + n_bytes_of(plain.frame),
        )

    @cached_property
    def events(self) -> NDArray[np.int64]:
        """1 for each patient with the event, else 0."""
        return np.asarray(self.patients.events, dtype=np.int64)

    def auc(self, log_odds: NDArray[np.float64]) -> float:
        """Return the area under the ROC curve of a model on these patients."""
        return auc(self.events, log_odds, np.ones_like(self.events))

    @cached_property
    def persons(self) -> NDArray[np.int64] | None:
        """A number per row, the same for all rows of a person."""
        persons = self.patients.persons
        return None if persons is None else pd.factorize(persons)[0].astype(np.int64)

    @cached_property
    def digest(self) -> str:
        """Identifies these data and their preparation, for links and files."""
        digest = hashlib.sha256(self.plain.sha256.encode())
        digest.update(json.dumps([self.spline_knots, self.missing_indicator]).encode())
        if self.persons is not None:
            digest.update(self.persons.astype("<i8").tobytes())
        return digest.hexdigest()

    @property
    def left_out(self) -> list[str]:
        """The columns that are not predictors: they were excluded, or hold one value."""
        columns = self.patients.predictors.columns
        return [name for name in columns if name not in self.plain.kinds]

    def first_state(self, ridge: float = 1.0) -> State:
        """Return what a session starts with: a third of what everything costs."""
        has_prices = bool(self.fees) or any(cost != 1.0 for cost in self.costs.values())
        everything = round(sum(self.costs.values()) + sum(fee.amount for fee in self.fees), 9)
        return State(
            version=1,
            data=self.digest,
            limit="budget" if has_prices else "count",
            budget=min(float(np.ceil(everything / 3)), MOST_AMOUNT),
            count=min(5, len(self.design.names)),
            ridge=ridge,
            must=(),
            never=(),
            costs=self.costs,
            fees=self.fees,
            adopted=None,
        )

    def describe(self) -> dict[str, Any]:
        """Return what the page shows of the data, and what it needs to ask for a patient."""
        return {
            "name": self.name,
            "digest": self.digest,
            "rows": len(self.patients.events),
            "events": int(self.events.sum()),
            "outcome": self.patients.outcome.model_dump(),
            "left_out": self.left_out,
            "predictors": [self._describe_column(name) for name in self.design.names],
        }

    def _describe_column(self, name: str) -> dict[str, Any]:
        column, kind = self.plain.frame[name], self.plain.kinds[name]
        described: dict[str, Any] = {"name": name, "kind": kind}
        if kind == "categorical":
            described["levels"] = sorted(column.dropna().unique())
        elif kind == "numeric":
            low, middle, high = np.nanquantile(column.to_numpy(), [0, 0.5, 1]).tolist()
            described |= {"low": low, "median": middle, "high": high}
        return described


def n_bytes_of(table: pd.DataFrame) -> int:
    """Return what a table takes in memory."""
    return int(table.memory_usage(deep=True).sum())


def example_patients() -> PreparedPatients:
    """Return synthetic patients with prices, for a visit without data."""
    data = make_prognostic(1090, 14, 5, label_noise=0.05, random_state=11)
    patients = Patients(
        predictors=data.X,
        events=pd.Series(data.y, name="outcome"),
        outcome=Outcome(name="outcome", event="1", no_event="0"),
        persons=None,
    )
    costs = dict(zip(data.X.columns, data.costs.tolist(), strict=True))
    fees = [(2.0, ["informative_2", "informative_3"])]
    return PreparedPatients.prepare("synthetic patients", patients, costs=costs, fees=fees)
