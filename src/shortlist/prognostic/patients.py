"""Patients read from a file, split into predictors, outcome and persons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidFileError, shown
from ..tables import read_table
from .card import Outcome
from .columns import level_of
from .event import obvious_event


@dataclass(frozen=True)
class Patients:
    """The predictors of each row, whether it has the event, and its person."""

    predictors: pd.DataFrame
    events: pd.Series[int]
    outcome: Outcome
    persons: pd.Series[Any] | None

    @property
    def data(self) -> tuple[pd.DataFrame, pd.Series[int], pd.Series[Any] | None]:
        """The first arguments of `PrognosticModel.fit`: predictors, events and persons."""
        return self.predictors, self.events, self.persons


def read_patients(path: Path, outcome: str, positive: str | None, person: str | None) -> Patients:
    """Read a table and split it; `positive` is the value of the outcome that is the event."""
    return split_patients(path, read_table(path), outcome, positive, person)


def split_patients(
    path: Path, table: pd.DataFrame, outcome: str, positive: str | None, person: str | None
) -> Patients:
    """Split a table that was read from a file, which messages name."""
    predictors = split_columns(path, table, outcome, person)
    missing = np.flatnonzero(table[outcome].isna())
    if len(missing):
        raise InvalidFileError(
            f"{path}: {len(missing)} row(s) have no outcome, the first is row {missing[0] + 1}; "
            "remove those rows."
        )
    labels = [level_of(value) for value in table[outcome]]
    event, no_event = _event(path, outcome, sorted(set(labels)), positive)
    persons = None if person is None else table[person]
    if persons is not None and persons.isna().any():
        raise InvalidFileError(
            f"{path}: column {shown(person)} is empty in row {int(np.argmax(persons.isna())) + 1}; "
            "name the person of that row."
        )
    return Patients(
        predictors=predictors,
        events=pd.Series([int(label == event) for label in labels], name=outcome),
        outcome=Outcome(name=outcome, event=event, no_event=no_event),
        persons=persons,
    )


def split_columns(
    path: Path, table: pd.DataFrame, outcome: str, person: str | None
) -> pd.DataFrame:
    """Return the predictors of a table."""
    others = {"--outcome": outcome} | ({} if person is None else {"--person": person})
    for option, name in others.items():
        if name not in table.columns:
            names = list(table.columns)
            close = get_close_matches(name, names, n=1)
            hint = f"is it {shown(close[0])}?" if close else f"there are {_some(names)}."
            raise InvalidFileError(f"{path}: there is no column {shown(name)} for {option}; {hint}")
    if outcome == person:
        raise InvalidFileError("--person: must be another column than --outcome.")
    predictors = table.drop(columns=list(others.values()))
    if predictors.shape[1] == 0:
        raise InvalidFileError(f"{path}: has no column to predict from.")
    return predictors


def _event(path: Path, outcome: str, values: list[str], positive: str | None) -> tuple[str, str]:
    """Return the event and the other value."""
    if len(values) != 2:
        raise InvalidFileError(
            f"{path}: the outcome {shown(outcome)} must have 2 different values, not {len(values)} "
            f"({_some(values)}); make a column that is 1 for the event and 0 for all else."
        )
    if positive is not None and positive not in values:
        raise InvalidFileError(
            f"--positive: {shown(positive)} is not a value of {shown(outcome)}; use one of "
            f"{_some(values)}."
        )
    event = positive or obvious_event(values)
    if event is None:
        raise InvalidFileError(
            f"{path}: the outcome {shown(outcome)} is {shown(values[0])} or {shown(values[1])}; "
            "name the event with --positive."
        )
    return event, next(value for value in values if value != event)


def _some(names: Sequence[str]) -> str:
    some = ", ".join(map(shown, names[:10]))
    return some if len(names) <= 10 else f"{some} and {len(names) - 10} more"
