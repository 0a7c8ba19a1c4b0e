"""Patients with prices, prepared once; every problem is made from them. Uploads become such."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..datasets import make_prognostic
from ..errors import InvalidFileError, InvalidProblemError
from ..evaluation.metric import auc
from ..patients.column import level_of
from ..patients.design import Design
from ..patients.preparation import Preparation
from ..patients.record import Codebook, Outcome, SharedFee
from ..patients.table import (
    Patients,
    PlainTable,
    check_codebook,
    check_table,
    split_patients,
)
from ..patients.term import StrictModel
from ..problem import SubsetProblem
from ..response import obvious_event
from ..solution import Solution
from ..tables import read_costs, read_table_and_notes
from .state import MOST_AMOUNT, MOST_FEES, State, check_amounts

Fees = Sequence[tuple[float, Sequence[str]]]
MOST_UPLOAD_BYTES = 10_000_000
_MOST_COLUMNS = 1000
_FEW_VALUES = 10
_BINARY = (b"PK\x03\x04", b"PAR1", b"\xd0\xcf\x11\xe0")  # workbooks and Parquet files
_ENDINGS = (".xlsx", ".xlsm", ".xls", ".parquet", ".tsv", ".tab")


@dataclass(frozen=True)
class PreparedPatients:
    """Patients with prices, and the matrix that their columns become.

    Attributes
    ----------
    name : str
        The name shown on the page: a file's.
    patients : Patients
        Predictors, events, outcome and persons.
    preparation, plain, design
        How they are read, what they are in plain form, and the columns of the problem.
    costs, fees
        The prices that a session starts with; a predictor without one costs 1.
    codebook : Codebook
        What the columns mean.
    budget : float or None
        The budget that a session starts with; None is a third of the price of everything.
    n_bytes : int
        The bytes that the data take in memory.
    """

    name: str
    patients: Patients
    preparation: Preparation
    plain: PlainTable
    design: Design
    costs: dict[str, float]
    fees: tuple[SharedFee, ...]
    codebook: Codebook
    budget: float | None
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
        preparation: Preparation | None = None,
        codebook: Codebook | None = None,
        budget: float | None = None,
    ) -> PreparedPatients:
        """Check and prepare patients; columns in `exclude` are not predictors."""
        check_amounts("costs", (costs or {}).values())
        check_amounts("fees", (amount for amount, _ in fees))
        if len(fees) > MOST_FEES:
            raise InvalidProblemError(f"fees: there are more than {MOST_FEES}; join some of them.")
        preparation = preparation or Preparation()
        plain = check_table(patients.predictors, patients.events, preparation, exclude=exclude)
        design = preparation.design(plain.kinds).fit(plain.frame)
        known = set(design.names)
        shared = (
            SharedFee(amount=float(amount), members=tuple(m for m in members if m in known))
            for amount, members in fees
        )
        return cls(
            name=name,
            patients=patients,
            preparation=preparation,
            plain=plain,
            design=design,
            costs={column: float((costs or {}).get(column, 1.0)) for column in design.names},
            fees=tuple(fee for fee in shared if fee.members),
            codebook=check_codebook(codebook, plain, patients.outcome.name),
            budget=budget,
            n_bytes=design.matrix.nbytes
            + n_bytes_of(patients.predictors)
            + n_bytes_of(plain.frame),
        )

    def log_odds(self, problem: SubsetProblem, solution: Solution) -> NDArray[np.float64]:
        """Return what a model predicts for these patients, from what it has bought alone."""
        design = self.design.for_predicting([problem.name_of(g) for g in solution.support])
        if design is self.design:
            return problem.decision_function(solution.coef, solution.intercept)
        found: NDArray[np.float64] = design.transform(self.plain.frame) @ solution.coef
        return found + solution.intercept

    def auc(self, log_odds: NDArray[np.float64]) -> float:
        """Return the area under the ROC curve of a model on these patients."""
        return auc(self.plain.labels, log_odds, np.ones_like(self.plain.labels))

    @cached_property
    def persons(self) -> NDArray[np.int64] | None:
        """A number per row, the same for all rows of a person."""
        persons = self.patients.persons
        return None if persons is None else pd.factorize(persons)[0].astype(np.int64)

    @cached_property
    def digest(self) -> str:
        """Identifies these data and their preparation, for links and files."""
        digest = hashlib.sha256(self.plain.sha256.encode())
        design = self.design
        settings = [design.n_knots, design.missing_indicator, design.imputation]
        digest.update(json.dumps(settings).encode())
        if self.persons is not None:
            digest.update(self.persons.astype("<i8").tobytes())
        return digest.hexdigest()

    def first_state(self, ridge: float = 1.0) -> State:
        """Return the settings of a new session."""
        has_prices = self.budget is not None or bool(self.fees)
        has_prices = has_prices or any(cost != 1.0 for cost in self.costs.values())
        everything = round(sum(self.costs.values()) + sum(fee.amount for fee in self.fees), 9)
        return State(
            version=1,
            data=self.digest,
            limit="budget" if has_prices else "count",
            budget=min(
                float(np.ceil(everything / 3)) if self.budget is None else self.budget, MOST_AMOUNT
            ),
            count=min(5, len(self.design.names)),
            ridge=ridge,
            must=(),
            never=(),
            costs=self.costs,
            fees=self.fees,
            adopted=None,
        )

    def describe(self) -> dict[str, Any]:
        """Return the description of the data that the page shows and makes its forms from."""
        return {
            "name": self.name,
            "digest": self.digest,
            "rows": len(self.plain.labels),
            "events": int(self.plain.labels.sum()),
            "outcome": self.patients.outcome.model_dump(),
            "title": self.codebook.title,
            "left_out": [name for name in self.plain.names if name in self.plain.absent],
            "predictors": [self._describe_column(name) for name in self.design.names],
        }

    def _describe_column(self, name: str) -> dict[str, Any]:
        column, kind = self.plain.frame[name], self.plain.kinds[name]
        described: dict[str, Any] = {"name": name, "label": self.codebook.heading(name)}
        described["kind"] = kind
        if kind == "categorical":
            described["levels"] = sorted(column.dropna().unique())
        elif kind == "numeric":
            low, middle, high = np.nanquantile(column.to_numpy(), [0, 0.5, 1]).tolist()
            described |= {"low": low, "median": middle, "high": high}
        return described


def n_bytes_of(table: pd.DataFrame) -> int:
    """Return the bytes that a table takes in memory."""
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


@dataclass(frozen=True)
class Upload:
    """A table from a page, before it is known which column is the outcome."""

    name: str
    table: pd.DataFrame
    n_bytes: int
    notes: tuple[str, ...] = ()


class UploadChoice(StrictModel):
    """The outcome and the predictors of an upload."""

    outcome: str
    event: str
    exclude: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()


def read_upload(name: str, content: bytes) -> Upload:
    """Read a table that a page sent; messages call it by the name on the page."""
    n_columns = 0
    if not content.startswith(_BINARY):
        first_line = content.split(b"\n", 1)[0]
        n_columns = max(first_line.count(delimiter) for delimiter in (b",", b";", b"\t", b"|"))
    if n_columns <= _MOST_COLUMNS:
        with _stored(name, content) as path:
            table, notes = read_table_and_notes(path)
        n_columns = len(table.columns)
    if n_columns > _MOST_COLUMNS:
        raise InvalidFileError(
            f"{name}: has more than {_MOST_COLUMNS} columns; keep those you need."
        )
    if n_columns < 2:
        raise InvalidFileError(f"{name}: has one column; it needs an outcome and predictors.")
    notes_of_page = tuple(note.replace(str(path), name) for note in notes)
    return Upload(name, table, n_bytes_of(table), notes_of_page)


def read_prices(name: str, content: bytes, prepared: PreparedPatients) -> dict[str, float]:
    """Read a price list; prices of columns that are not predictors are left out."""
    columns = list(prepared.patients.predictors.columns)
    with _stored(name, content) as path:
        costs = read_costs(path, columns)
    check_amounts(name, costs.values())
    return {column: cost for column, cost in costs.items() if column in prepared.costs}


def describe_upload(upload: Upload) -> dict[str, Any]:
    """Return the columns of an upload: few different values, and the event among them."""
    columns = []
    for name in upload.table.columns:
        known = upload.table[name].dropna()
        values = sorted({level_of(value) for value in known.unique()[: _FEW_VALUES + 1]})
        columns.append(
            {
                "name": name,
                "values": values if len(values) <= _FEW_VALUES else None,
                "event": obvious_event(values),
                "complete": len(known) == len(upload.table),
            }
        )
    return {
        "name": upload.name,
        "rows": len(upload.table),
        "columns": columns,
        "notes": upload.notes,
    }


def prepare_upload(upload: Upload, choice: UploadChoice) -> PreparedPatients:
    """Return the patients of an upload, given its outcome and event."""
    try:
        patients = split_patients(
            Path(upload.name), upload.table, choice.outcome, choice.event, None
        )
        kinds = {name: "categorical" for name in choice.categorical if name in patients.predictors}
        gone = [name for name in choice.exclude if name in patients.predictors]
        return PreparedPatients.prepare(
            upload.name, patients, exclude=gone, preparation=Preparation(kinds=kinds)
        )
    except (InvalidFileError, InvalidProblemError) as error:
        raise InvalidProblemError(_in_words_of_page(str(error), upload.name)) from None


def _in_words_of_page(message: str, name: str) -> str:
    """Return a message of the command line or the library in the words of the page."""
    for prefix, said in (("--positive: ", "Event: "), ("X: ", f"{name}: ")):
        if message.startswith(prefix):
            return said + message.removeprefix(prefix)
    return message.replace(" for --outcome;", " for the outcome;")


@contextmanager
def _stored(name: str, content: bytes) -> Iterator[Path]:
    """Store a file in a folder of its own, under a fixed name with a known ending."""
    ending = Path(name).suffix.lower()
    with TemporaryDirectory(prefix="shortlist-") as folder:
        path = Path(folder) / f"upload{ending if ending in _ENDINGS else '.csv'}"
        path.write_bytes(content)
        try:
            yield path
        except InvalidFileError as error:
            raise InvalidFileError(str(error).replace(str(path), name)) from None
