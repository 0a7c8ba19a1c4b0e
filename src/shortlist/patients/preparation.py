"""How a table of patients is read, and how its columns become columns of a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from sklearn.base import BaseEstimator

from ..arguments import check_choice, check_integer
from ..errors import InvalidProblemError
from .column import ColumnKind
from .design import Design
from .term import KNOT_QUANTILES, ImputationKind

if TYPE_CHECKING:
    from .card import ModelCard


@dataclass(eq=False, repr=False)
class Preparation(BaseEstimator):  # type: ignore[misc]
    """How a table of patients is read, and how its columns become columns of a problem.

    A column is a predictor as a whole: a number, the curves of a spline, the levels of a factor, an
    indicator of missing values. Missing numbers and binary values are imputed: replaced by what is
    expected given the other columns, levels of factors by the most frequent one. Numbers are
    divided by two standard deviations, binary values are 0 and 1, and a factor has a column per
    level.

    Parameters
    ----------
    kinds : mapping from column to "numeric", "boolean" or "categorical", optional
        The kinds of columns. By default 0 and 1 are binary values, other numbers are numbers, and
        text is a factor.
    spline_knots : {3, 4, 5}, optional
        Knots of a natural cubic spline for every number; None is linear.
    missing_indicator : bool
        Whether missing values of a column get an indicator, which may itself predict.
    imputation : {"conditional", "median"}
        How missing numbers and binary values are imputed: by equations that are linear in the other
        columns, or by median and most frequent value. The search knows all columns; the equations
        of a model card, which predict, use those that were bought.
    imputations : int, optional
        Fit to this number of copies of the rows, each of weight 1 over it, in which missing
        values of all kinds are drawn from the observed ones, given the other columns and the
        outcome. There is one selection, proven for all copies together; the card counts the single
        copies that select each column. Predictions impute as without.
    missing_codes : mapping from column to codes, optional
        Values that stand for missing ones, such as `{"glucose": [0], "*": [-9, -99]}`; `*` is every
        column. The card keeps them for predictions.
    synonyms : mapping from column to a mapping from level to level, optional
        Levels that stand for others, such as `{"smoking": {"ex": "former"}}`.
    merge_levels : bool
        Whether levels that differ in case, blanks or one letter only are taken for one.

    Examples
    --------
    >>> import pandas as pd, shortlist as sl
    >>> patients = pd.DataFrame({"age": [41, -9, 60, 70], "sex": ["f", "m", "m", "f"]})
    >>> preparation = sl.Preparation(missing_codes={"age": [-9]})
    >>> model = sl.PrognosticModel(max_features=1, ridge=0.1, preparation=preparation)
    >>> int(model.fit(patients, [0, 0, 1, 1]).card_.imputed(patients)["age"].sum())
    1
    """

    kinds: Mapping[str, str] | None = None
    spline_knots: int | None = None
    missing_indicator: bool = False
    imputation: str = "conditional"
    imputations: int | None = None
    missing_codes: Mapping[str, Any] | None = None
    synonyms: Mapping[str, Mapping[str, str]] | None = None
    merge_levels: bool = False

    @classmethod
    def of(cls, card: ModelCard, names: Sequence[str] | None = None) -> Preparation:
        """Return the preparation that a card states, for its candidates or some of them."""
        stated = card.preprocessing
        kinds = {item.name: item.kind for item in card.candidates}
        names = list(kinds) if names is None else names
        return cls(
            kinds={name: kinds[name] for name in names},
            spline_knots=stated.spline_knots,
            missing_indicator=stated.missing_indicator,
            imputation=stated.imputation,
            imputations=None if stated.draws is None else stated.draws.number,
            missing_codes={name: stated.missing_codes.get(name, ()) for name in names},
            synonyms={name: stated.synonyms.get(name, {}) for name in names},
        )

    def check(self) -> None:
        """Raise if a parameter other than the mappings of columns is invalid."""
        if self.spline_knots not in (None, *KNOT_QUANTILES):
            raise InvalidProblemError(
                f"spline_knots: must be 3, 4, 5 or None, not {self.spline_knots!r}."
            )
        check_choice("imputation", self.imputation, get_args(ImputationKind))
        check_integer("imputations", self.imputations, 1, or_none=True)
        if self.imputations is not None and self.imputation != "conditional":
            raise InvalidProblemError(
                "imputations: are drawn given the other columns; use imputation='conditional'."
            )

    def design(self, kinds: Mapping[str, ColumnKind], seed: int = 0) -> Design:
        """Return what makes the columns of a problem, to be fitted to rows of a plain table."""
        return Design(
            kinds,
            self.spline_knots,
            bool(self.missing_indicator),
            self.imputation,
            self.imputations,
            seed,
        )
