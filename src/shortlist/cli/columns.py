"""The columns that options and price lists name, checked against a table."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from ..errors import InvalidProblemError, ShortlistWarning, shown

if TYPE_CHECKING:
    from ..prognostic.patients import Patients

Names = Sequence[str] | None


class Columns:
    """The predictors of a table: all columns but the outcome and the person."""

    def __init__(self, patients: Patients, outcome: str, person: str | None) -> None:
        self.table = patients.predictors
        self.names = list(patients.predictors.columns)
        self._others = {outcome: "--outcome"} | ({} if person is None else {person: "--person"})
        self._all = [*self.names, *self._others]

    def named(self, option: str, values: Names) -> list[str]:
        """Return the predictors that an option names."""
        names = self._split(values)
        for name in names:
            if name in self._others:
                raise InvalidProblemError(
                    f"{option}: {shown(name)} is the {self._others[name]} column, not a "
                    "predictor; remove it."
                )
        return names

    def excluded(self, values: Names) -> list[str]:
        """Return the predictors to leave out; the outcome and persons are out already."""
        return [name for name in self._split(values) if name not in self._others]

    def marked(self, *options: tuple[str, Names, str]) -> dict[str, str]:
        """Return the predictors with the mark of the option that names them.

        Each of two options has a name, its values and a mark.
        """
        marks: dict[str, str] = {}
        for option, values, mark in options:
            names = self.named(option, values)
            both = marks.keys() & names
            if both:
                raise InvalidProblemError(
                    f"{' and '.join(name for name, *_ in options)}: {shown(min(both))} is in "
                    "both; remove it from one."
                )
            marks |= dict.fromkeys(names, mark)
        return marks

    def costs(self, path: Path) -> dict[str, float]:
        """Read a price list, which may also price the outcome and the person."""
        from ..tables import read_costs

        costs = read_costs(path, self._all)
        return {name: cost for name, cost in costs.items() if name not in self._others}

    def note_codes(self, settled: Collection[str]) -> None:
        """Warn of other numbers that may be codes: three to ten distinct ones, all whole."""
        from ..prognostic.columns import may_be_codes

        suspects = [
            name for name in self.names if name not in settled and may_be_codes(self.table[name])
        ]
        if suspects:
            warnings.warn(
                f"{', '.join(map(shown, suspects))}: few distinct whole numbers, treated as "
                f"amounts; if they are codes, add --categorical {quote(','.join(suspects))}, "
                "and --numeric for those that are not.",
                ShortlistWarning,
                stacklevel=2,
            )

    def _split(self, values: Names) -> list[str]:
        """Return the names in the values of an option: with commas between them, or one each.

        A name that contains a comma is known by being a column.
        """
        names: list[str] = []
        for value in values or ():
            names += [value] if value in self._all else [part.strip() for part in value.split(",")]
        return names
