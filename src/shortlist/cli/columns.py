"""The columns that options and price lists name, checked against a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from ..errors import InvalidProblemError, ShortlistWarning, shown
from .parameter import split_names

if TYPE_CHECKING:
    from ..prognostic.patients import Patients

Names = Sequence[str] | None


class Columns:
    """The predictors of a table: all columns but the outcome and the person."""

    def __init__(self, patients: Patients, outcome: str, person: str | None) -> None:
        self.table = patients.predictors
        self.names = list(patients.predictors.columns)
        self._others = {outcome: "--outcome"} | ({} if person is None else {person: "--person"})

    def named(self, option: str, values: Names) -> list[str]:
        """Return the predictors that an option names."""
        names = split_names(values, [*self.names, *self._others])
        for name in names:
            if name in self._others:
                raise InvalidProblemError(
                    f"{option}: {shown(name)} is the {self._others[name]} column, not a "
                    "predictor; remove it."
                )
        return names

    def excluded(self, values: Names) -> list[str]:
        """Return the predictors to leave out; the outcome and persons are out already."""
        names = split_names(values, [*self.names, *self._others])
        return [name for name in names if name not in self._others]

    def kinds(self, categorical: Names, numeric: Names) -> dict[str, str]:
        """Return the kinds of the columns that options name."""
        return self._either(
            {"--categorical": categorical, "--numeric": numeric}, ("categorical", "numeric")
        )

    def signs(self, increasing: Names, decreasing: Names) -> dict[str, str] | None:
        """Return the signs of the columns that options name, None if they name none."""
        options = {"--increasing": increasing, "--decreasing": decreasing}
        return self._either(options, ("positive", "negative")) or None

    def _either(self, options: dict[str, Names], words: tuple[str, str]) -> dict[str, str]:
        first, second = (self.named(option, values) for option, values in options.items())
        both = set(first).intersection(second)
        if both:
            raise InvalidProblemError(
                f"{' and '.join(options)}: {shown(min(both))} is in both; remove it from one."
            )
        return dict.fromkeys(first, words[0]) | dict.fromkeys(second, words[1])

    def costs(self, path: Path) -> dict[str, float]:
        """Read a price list, which may also price the outcome and the person."""
        from ..tables import read_costs

        costs = read_costs(path, [*self.names, *self._others])
        return {name: cost for name, cost in costs.items() if name not in self._others}

    def note_codes(self, excluded: Sequence[str], categorical: Names, numeric: Names) -> None:
        """Warn of numbers that may be codes: three to ten distinct ones, all whole."""
        from ..prognostic.columns import may_be_codes

        said = {*excluded, *self.kinds(categorical, numeric)}
        suspects = [
            name for name in self.names if name not in said and may_be_codes(self.table[name])
        ]
        if suspects:
            warnings.warn(
                f"{', '.join(map(shown, suspects))}: few distinct whole numbers, treated as "
                f"amounts; if they are codes, add --categorical {quote(','.join(suspects))}, "
                "and --numeric for those that are not.",
                ShortlistWarning,
                stacklevel=2,
            )
