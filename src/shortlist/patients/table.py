"""Tables of patients: read from a file and split, or given to `fit`; checked and in plain form."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..arguments import Float, Int, check_column_names
from ..errors import InvalidFileError, InvalidProblemError, ShortlistWarning, nearest, shown
from ..response import Response, obvious_event
from .column import (
    ColumnKind,
    as_levels,
    as_numbers,
    folded,
    infer_kind,
    is_constant,
    level_of,
    mend,
    read_columns,
    similar_levels,
    words_for_missing,
)
from .record import Codebook, Outcome

if TYPE_CHECKING:
    from .preparation import Preparation


@dataclass(frozen=True)
class Patients:
    """The predictors of each row, whether it has the event, its person, centre and weight."""

    predictors: pd.DataFrame
    events: pd.Series[int]
    outcome: Outcome
    persons: pd.Series[Any] | None
    centres: pd.Series[Any] | None = None
    weights: Float | None = None

    @property
    def data(self) -> tuple[pd.DataFrame, pd.Series[int], pd.Series[Any] | None]:
        """The first arguments of `PrognosticModel.fit`: predictors, events and persons."""
        return self.predictors, self.events, self.persons


def split_patients(
    path: Path,
    table: pd.DataFrame,
    outcome: str,
    positive: str | None,
    person: str | None,
    centre: str | None = None,
    weights: str | None = None,
    *,
    drop: bool = False,
) -> Patients:
    """Split a table that was read from a file, which messages name.

    `positive` is the value of the outcome that is the event; with `drop` rows without an outcome
    are left out, and counted in a warning.
    """
    predictors = split_columns(path, table, outcome, person, centre, weights)
    missing = np.flatnonzero(table[outcome].isna())
    if len(missing) and not drop:
        raise InvalidFileError(
            f"{path}: {_rows_have(len(missing))} no outcome, the first is row {missing[0] + 1}; "
            "remove those rows, or leave them out with --drop-missing-outcome."
        )
    if len(missing):
        warnings.warn(
            f"{path}: {_rows_have(len(missing))} no outcome and {len(table) - len(missing)} are "
            "left.",
            ShortlistWarning,
            stacklevel=2,
        )
        table = table.drop(index=table.index[missing]).reset_index(drop=True)
        predictors = predictors.drop(index=predictors.index[missing]).reset_index(drop=True)
    labels = [level_of(value) for value in table[outcome]]
    event, no_event = _event_of_file(path, outcome, sorted(set(labels)), positive)
    owners = {"person": person, "centre": centre}
    for owner, name in owners.items():
        if name is not None and table[name].isna().any():
            raise InvalidFileError(
                f"{path}: column {shown(name)} is empty in row "
                f"{int(np.argmax(table[name].isna())) + 1}; name the {owner} of that row."
            )
    return Patients(
        predictors=predictors,
        events=pd.Series([int(label == event) for label in labels], name=outcome),
        outcome=Outcome(name=outcome, event=event, no_event=no_event),
        persons=None if person is None else table[person],
        centres=None if centre is None else table[centre],
        weights=None if weights is None else as_numbers(table[weights]),
    )


def split_columns(
    path: Path,
    table: pd.DataFrame,
    outcome: str,
    person: str | None,
    centre: str | None = None,
    weights: str | None = None,
) -> pd.DataFrame:
    """Return the predictors of a table."""
    given = {"--outcome": outcome, "--person": person, "--centre": centre, "--weights": weights}
    others = {option: name for option, name in given.items() if name is not None}
    for option, name in others.items():
        if name not in table.columns:
            names = list(table.columns)
            hint = nearest(name, names, f"there are {_some(names)}.")
            raise InvalidFileError(f"{path}: there is no column {shown(name)} for {option}; {hint}")
        same = [other for other, used in others.items() if used == name and other != option]
        if same:
            raise InvalidFileError(f"{same[0]}: must be another column than {option}.")
    predictors = table.drop(columns=list(others.values()))
    if predictors.shape[1] == 0:
        raise InvalidFileError(f"{path}: has no column to predict from.")
    return predictors


def _event_of_file(
    path: Path, outcome: str, values: list[str], positive: str | None
) -> tuple[str, str]:
    """Return the event and the other value."""
    if len(values) != 2:
        raise InvalidFileError(
            f"{path}: the outcome {shown(outcome)} must have 2 different values, not {len(values)} "
            f"({_some(values)}); {_same_but_for_case(values)}make a column that is 1 for the event "
            "and 0 for all else."
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


def _same_but_for_case(values: Sequence[str]) -> str:
    """Return words on values of an outcome that differ in case or blanks only."""
    seen: dict[str, str] = {}
    for value in values:
        first = seen.setdefault(folded(value), value)
        if first != value:
            return f"{shown(first)} and {shown(value)} differ in case or blanks only; "
    return ""


def _rows_have(count: int) -> str:
    return "1 row has" if count == 1 else f"{count} rows have"


def _some(names: Sequence[str]) -> str:
    some = ", ".join(map(shown, names[:10]))
    return some if len(names) <= 10 else f"{some} and {len(names) - 10} more"


@dataclass(frozen=True)
class PlainTable:
    """Patients that were checked, in plain form.

    Attributes
    ----------
    frame : DataFrame
        The candidates: float64 with NaN, or objects that are text or None.
    kinds : dict from str to str
        The kind of each candidate.
    labels : ndarray of shape (n_rows,)
        1 for the event, else 0.
    names : list of str
        The columns of the table as it was given, excluded ones too.
    classes : ndarray of shape (2,)
        The two values of the outcome as it was given, sorted.
    event : object
        The one of them that is the event.
    weights : ndarray of shape (n_rows,) or None
        The weights of the rows, if they have any; all are above 0.
    missing_codes, synonyms
        The codes for missing values that were removed, and the levels that were replaced.
    """

    frame: pd.DataFrame
    kinds: dict[str, ColumnKind]
    labels: Int
    names: list[str]
    classes: NDArray[Any]
    event: Any
    weights: Float | None = None
    missing_codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    synonyms: Mapping[str, dict[str, str]] = field(default_factory=dict)

    def rows(self, indices: Int) -> PlainTable:
        """Return some of the rows."""
        return replace(
            self,
            frame=self.frame.iloc[indices],
            labels=self.labels[indices],
            weights=None if self.weights is None else self.weights[indices],
        )

    def weighted(self, sample_weight: ArrayLike | None) -> PlainTable:
        """Return the rows with their weights; a row without weight is left out."""
        if sample_weight is None:
            return self
        response = Response("labels", np.where(self.labels == 1, 1.0, -1.0))
        weights = response.weights(sample_weight)
        return replace(self, weights=weights).rows(np.flatnonzero(weights > 0))

    @property
    def absent(self) -> frozenset[str]:
        """The columns of the table as it was given that cannot be bought."""
        return frozenset(self.names).difference(self.kinds)

    def outcome(self, name: Any) -> Outcome:
        """Return the outcome in words."""
        other = next(label for label in self.classes if label != self.event)
        return Outcome(
            name=None if name is None else str(name),
            event=level_of(self.event),
            no_event=level_of(other),
        )

    @cached_property
    def sha256(self) -> str:
        """The hash of the candidates and the outcome; the format of their file does not matter."""
        digest = hashlib.sha256()
        for name, kind in self.kinds.items():
            digest.update(f"{json.dumps(name)} {kind}\n".encode())
            column = self.frame[name]
            if kind == "categorical":
                digest.update(json.dumps(column.tolist()).encode())
            else:
                values = column.to_numpy(dtype="<f8")
                digest.update(np.where(np.isnan(values), np.nan, values).tobytes())
        digest.update(self.labels.astype(np.uint8).tobytes())
        if self.weights is not None:
            digest.update(self.weights.astype("<f8").tobytes())
        return digest.hexdigest()


def as_table(X: Any) -> pd.DataFrame:
    """Return X as a DataFrame whose columns have names: its own, or else x0, x1, ..."""
    if isinstance(X, pd.DataFrame):
        table = X
    elif hasattr(X, "columns"):  # another kind of data frame
        table = pd.DataFrame({name: X[name].to_numpy() for name in X.columns}).infer_objects()
    else:
        table = pd.DataFrame(check_array(X, dtype=None, ensure_all_finite=False)).infer_objects()
    if not any(isinstance(name, str) for name in table.columns):
        return table.set_axis([f"x{i}" for i in range(table.shape[1])], axis="columns")
    for name in table.columns:
        if not isinstance(name, str) or not name:
            raise InvalidProblemError(f"X: the column name {shown(name)} must be text; rename it.")
    check_column_names(table)
    return table


def check_table(
    X: Any,
    y: ArrayLike,
    preparation: Preparation,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    positive: Any = None,
) -> PlainTable:
    """Return the patients of a fit, without the columns that are excluded or hold one value.

    Codes for missing values and synonyms of levels are replaced first. A table that was checked
    already is returned as it is. `PrognosticModel` has the parameters.
    """
    preparation.check()
    if isinstance(X, PlainTable):
        return X
    table = as_table(X)
    labels, classes = _labels(y, len(table))
    event = _event_of_labels(classes, positive)
    kinds, synonyms = preparation.kinds or {}, preparation.synonyms or {}
    for argument, names in (("include", include), ("exclude", exclude), ("kinds", kinds)):
        _check_names(argument, names, table)
    both = sorted(set(include).intersection(exclude))
    if both:
        raise InvalidProblemError(
            f"include and exclude: {shown(both[0])} is in both; remove it from one."
        )
    given = {name: kind for name, kind in kinds.items() if name not in exclude}
    offered = table.drop(columns=list(exclude))
    codes = _codes_by_column(preparation.missing_codes or {}, offered)
    _check_names("synonyms", synonyms, table)
    meant = {name: dict(own) for name, own in synonyms.items() if name in offered}
    offered = mended(offered, codes, meant)
    if preparation.merge_levels:
        alike = _levels_alike(offered, given)
        offered = mended(offered, {}, alike)
        meant = {name: meant.get(name, {}) | alike.get(name, {}) for name in {**meant, **alike}}
    candidate_kinds, columns = read_columns(offered, given)
    constant = [name for name, kind in candidate_kinds.items() if is_constant(columns[name], kind)]
    for name in constant:
        if name in include:
            raise InvalidProblemError(
                f"include: {shown(name)} has the same value in every row; include another."
            )
        del columns[name], candidate_kinds[name]
    gaps = [name for name in columns if candidate_kinds[name] != "categorical"]
    words = {name: found for name in gaps if (found := words_for_missing(offered[name]))}
    if words:
        named = ", ".join(f"{shown(name)} ({', '.join(found)})" for name, found in words.items())
        warnings.warn(
            f"{named}: words in a column of numbers are read as missing values.",
            ShortlistWarning,
            stacklevel=3,
        )
    if constant:
        warnings.warn(
            f"{', '.join(map(shown, constant))} cannot be bought: the same value in every row, or "
            "none.",
            ShortlistWarning,
            stacklevel=3,
        )
    if not columns:
        raise InvalidProblemError(
            "X: no predictor is left to buy; exclude fewer columns or add some that vary."
        )
    events = (labels == event).astype(np.int64)
    names = list(table.columns)
    # The type is given, because pandas would convert text to a type of its own.
    series = {name: pd.Series(values, dtype=values.dtype) for name, values in columns.items()}
    return PlainTable(
        pd.DataFrame(series),
        candidate_kinds,
        events,
        names,
        classes,
        event,
        missing_codes={name: codes[name] for name in columns if name in codes},
        synonyms={name: meant[name] for name in columns if name in meant},
    )


def _codes_by_column(
    missing_codes: Mapping[str, Any], table: pd.DataFrame
) -> dict[str, tuple[str, ...]]:
    """Return the codes for missing values of each column as text; `*` stands for all columns."""
    _check_names("missing_codes", [name for name in missing_codes if name != "*"], table)
    found: dict[str, tuple[str, ...]] = {}
    for name in table.columns:
        codes: list[str] = []
        for given in (missing_codes.get(name, ()), missing_codes.get("*", ())):
            several = given if isinstance(given, list | tuple | set | frozenset) else [given]
            codes += [level_of(code) for code in several]
        if codes:
            found[name] = tuple(dict.fromkeys(codes))
    return found


def mended(
    table: pd.DataFrame,
    codes: Mapping[str, tuple[str, ...]],
    synonyms: Mapping[str, dict[str, str]],
) -> pd.DataFrame:
    """Return a table with codes for missing values removed and synonyms of levels replaced."""
    changed = {*codes, *synonyms}
    return table.assign(
        **{
            name: mend(table[name], codes.get(name, ()), synonyms.get(name, {})).infer_objects()
            for name in table.columns
            if name in changed
        }
    )


def _levels_alike(table: pd.DataFrame, kinds: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the levels of each factor that look like another one, with that one."""
    found = {}
    for name in table.columns:
        try:
            kind = kinds.get(name) or infer_kind(table[name])
        except InvalidProblemError:
            continue  # `read_columns` says so
        if kind == "categorical":
            counts = pd.Series(as_levels(table[name])).value_counts()
            alike = similar_levels({str(level): int(n) for level, n in counts.items()})
            if alike:
                found[name] = alike
    return found


def check_limits(
    given: dict[str, Any], kinds: Mapping[str, ColumnKind], spline_knots: int | None
) -> None:
    """Raise unless prices and signs go by the names of columns, which can have a sign."""
    costs, signs = given["costs"], given["signs"]
    if not isinstance(costs, Mapping | None):
        raise InvalidProblemError(
            f"costs: must be a mapping from column to cost, not {type(costs).__name__}."
        )
    if not isinstance(signs, Mapping | None):
        raise InvalidProblemError(
            f"signs: must be a mapping from column to 'positive' or 'negative', not {signs!r}."
        )
    for name, sign in (signs or {}).items():
        if sign is not None and kinds.get(name) == "categorical":
            raise InvalidProblemError(
                f"signs: {shown(name)} is a factor, whose levels have no common direction; give "
                "signs to numbers and binary values."
            )
        if sign is not None and kinds.get(name) == "numeric" and spline_knots is not None:
            raise InvalidProblemError(
                f"signs: {shown(name)} is bent by a spline, which may rise and fall; leave out the "
                "sign or spline_knots."
            )


def check_codebook(codebook: Codebook | None, plain: PlainTable, outcome: str | None) -> Codebook:
    """Return a codebook that is about the columns of a table and its outcome, and their levels."""
    if codebook is None:
        return Codebook()
    if not isinstance(codebook, Codebook):
        raise InvalidProblemError(
            f"codebook: must be a `shortlist.Codebook`, not {type(codebook).__name__}."
        )
    known = [*plain.names, *([] if outcome is None else [outcome])]
    labelled = {} if outcome is None else codebook.labels  # it may be the outcome's
    for name in {**labelled, **codebook.units, **codebook.references}:
        if name not in known:
            hint = nearest(name, known, "correct the name.")
            raise InvalidProblemError(f"codebook: there is no column {shown(name)}; {hint}")
    references = dict(codebook.references)
    for name in references.keys() & plain.kinds:
        reference = plain.synonyms.get(name, {}).get(references[name], references[name])
        references[name] = reference
        if plain.kinds[name] != "categorical":
            raise InvalidProblemError(
                f"codebook: {shown(name)} has no levels, so it has no reference; remove it, or "
                "declare the column categorical."
            )
        levels = sorted(plain.frame[name].dropna().unique())
        if reference not in levels:
            raise InvalidProblemError(
                f"codebook: {shown(reference)} is no level of {shown(name)}; use one of "
                f"{_some(levels)}."
            )
    return codebook.model_copy(update={"references": references})


def check_persons(persons: ArrayLike | None, n_rows: int) -> NDArray[Any] | None:
    """Return the person of each row, or None."""
    if persons is None:
        return None
    owners: NDArray[Any] = np.asarray(persons)
    if owners.shape != (n_rows,):
        raise InvalidProblemError(
            f"persons: expected {n_rows} values, one per row, but got shape {owners.shape}."
        )
    return owners


def _labels(y: ArrayLike, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the outcomes and their two values, sorted."""
    labels = column_or_1d(y, warn=True)
    if len(labels) != n_rows:
        raise InvalidProblemError(
            f"y: expected {n_rows} outcomes, one per row of X, but got {len(labels)}."
        )
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise InvalidProblemError(
            f"y: {_rows_have(len(missing))} no outcome, the first is row {missing[0] + 1}; "
            "remove those rows."
        )
    check_classification_targets(labels)
    classes = np.unique(labels)
    if len(classes) < 2:
        raise InvalidProblemError("y: has only 1 class but exactly 2 are needed; add the other.")
    if len(classes) > 2:
        raise InvalidProblemError(
            f"Only binary classification is supported, but y has {len(classes)} classes; "
            f"{_same_but_for_case([level_of(value) for value in classes[:50]])}"
            "select or merge classes."
        )
    return labels, classes


def _event_of_labels(classes: NDArray[Any], positive: Any) -> Any:
    """Return the event: the one that is named or obvious, or else the last in sorted order."""
    by_text = {level_of(value): value for value in classes}
    if positive is not None:
        if level_of(positive) not in by_text:
            raise InvalidProblemError(
                f"positive: {shown(positive)} is not a value of y; use {' or '.join(by_text)}."
            )
        return by_text[level_of(positive)]
    obvious = obvious_event(list(by_text))
    if obvious is not None:
        return by_text[obvious]
    warnings.warn(
        f"y: {shown(level_of(classes[1]))} is taken for the event, as the last in sorted order; "
        "name the event with `positive`.",
        ShortlistWarning,
        stacklevel=5,
    )
    return classes[1]


def _check_names(argument: str, names: Iterable[str], table: pd.DataFrame) -> None:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidProblemError(
            f"{argument}: expected a list of columns, such as [{names!r}], not {names!r}."
        )
    for name in names:
        if name not in table.columns:
            hint = nearest(str(name), table.columns, "correct the name.")
            raise InvalidProblemError(f"{argument}: there is no column {shown(name)}; {hint}")
