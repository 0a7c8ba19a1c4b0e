"""The model card: a fitted model in the units of the table, which predicts and can be saved."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import ceil, isclose, log2
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from .. import __version__
from ..arguments import Float, Int
from ..certificate import FORMAT as CERTIFICATE_FORMAT
from ..display import describe_proof, panel
from ..errors import InvalidFileError, InvalidProblemError, ShortlistWarning
from ..families import risk_of
from ..files import unique_names, write_whole
from ..limits import stated_limits
from .column import is_misspelt, mend, read_columns
from .record import (
    Candidate,
    Codebook,
    Draws,
    FittedData,
    NonNegative,
    Outcome,
    Preprocessing,
    RidgeScore,
    SearchRecord,
    SharedFee,
    StableRecord,
    StatedLimits,
    ThriftRecord,
    UpdateRecord,
)
from .term import (
    Contrast,
    Contribution,
    Effect,
    Finite,
    StrictModel,
    Term,
    describe_error,
)

if TYPE_CHECKING:
    from ..cross_validation import RidgeSearch
    from ..problem import SubsetProblem
    from ..solution import Solution
    from .design import Design
    from .table import PlainTable


FORMAT = "shortlist model"
_LARGEST_FILE = 5_000_000  # bytes; a model of 20 000 candidates has 3 million
_MOST_MARKED = 20_000  # rows whose bits a file holds
_FEWEST_MARKED = 10  # rows among which development patients are looked for
_STEPS = 1000  # of the range of a number, in which it is compared
_BETWEEN = 0.618034  # of a step, so that no step ends at a multiple of a half or a tenth of one
_ROUNDING = 0.1  # of a step, by which a number may have been rounded


class ModelCard(StrictModel):
    """A fitted prognostic model in original units: it predicts, and it can be saved.

    A fitted `PrognosticModel` has one as `card_` and predicts through it, so that a model read from
    a file predicts the same to the last bit.

    Attributes
    ----------
    outcome : Outcome
        `name`, `event` and `no_event`.
    intercept : float
        The log-odds of a patient whose terms are all 0.
    terms : tuple of NumericTerm, BooleanTerm or CategoricalTerm
        The contribution of each predictor bought to the log-odds.
    cost : float
        The price of the predictors bought, fees included.
    candidates : tuple of Candidate
        All predictors that could be bought, with their costs.
    limits : StatedLimits
        `budget`, `max_features`, `fees`, `include` and `exclude`.
    preprocessing, search, data
        The preparation of the columns, the search for the model, and the data of the fit.
    update : UpdateRecord or None
        How it was adapted to other patients since, as `shortlist validate` does.
    codebook : Codebook
        Title, labels, units and references, which change no prediction.

    Examples
    --------
    >>> import pandas as pd, shortlist as sl
    >>> patients = pd.DataFrame({"age": [40, 50, 60, 70], "smoker": [True, False, True, True]})
    >>> model = sl.PrognosticModel(max_features=1, ridge=0.1).fit(patients, [0, 0, 1, 1])
    >>> card = model.card_
    >>> [term.name for term in card.terms], card.search.status
    (['age'], 'optimal')
    >>> bool((card.probability(patients) == model.predict_proba(patients)[:, 1]).all())
    True
    """

    format: Literal["shortlist model"]
    format_version: Literal[1]
    shortlist_version: str
    outcome: Outcome
    intercept: Finite
    terms: tuple[Annotated[Term, Field(discriminator="kind")], ...]
    cost: NonNegative
    candidates: tuple[Candidate, ...]
    limits: StatedLimits
    preprocessing: Preprocessing
    search: SearchRecord
    data: FittedData
    update: UpdateRecord | None = None
    codebook: Codebook = Field(default_factory=Codebook)

    @model_serializer(mode="wrap")
    def _leave_out_no_codebook(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = serialize(self)
        return {k: value for k, value in content.items() if k != "codebook" or value}

    @model_validator(mode="after")
    def _check(self) -> ModelCard:
        if len({item.name for item in self.candidates}) < len(self.candidates):
            raise ValueError("two candidates have the same name")
        bought = [item for item in self.candidates if item.bought]
        terms = [(term.name, term.kind) for term in self.terms]
        if [(item.name, item.kind) for item in bought] != terms:
            raise ValueError("the terms are not those of the candidates bought")
        price = sum(item.cost for item in bought) + sum(fee.amount for fee in self.paid_fees)
        if not isclose(self.cost, price, rel_tol=1e-9, abs_tol=1e-9):
            raise ValueError("the cost does not match the candidates bought and their fees")
        search = self.search
        if search.lower_bound > search.objective:
            raise ValueError("the lower bound is above the objective")
        if not isclose(search.gap * search.objective, search.objective - search.lower_bound):
            raise ValueError("the gap does not match the objective and the lower bound")
        self._check_counts()
        self._check_levels()
        if self.data.events > self.data.rows:
            raise ValueError("there are more events than rows")
        return self

    def _check_levels(self) -> None:
        """Raise unless equations and the codebook name levels that the terms have."""
        levels = {t.name: t.coefficients if t.kind == "categorical" else {None} for t in self.terms}
        for term in self.terms:
            for part in term.imputation.weights if term.imputation else ():
                if part.predictor == term.name or part.level not in levels.get(part.predictor, ()):
                    raise ValueError(f"the equation of {term.name} uses what the model lacks")
        for name, reference in self.codebook.references.items():
            if name in levels and reference not in levels[name]:
                raise ValueError(f"the reference of {name} is none of its levels")

    def _check_counts(self) -> None:
        """Raise unless counts of selections match the candidates, and are possible."""
        stable, draws, imputed = self.search.stable, self.preprocessing.draws, self.search.imputed
        if (draws is None) != (imputed is None):
            raise ValueError("draws and counts of selections in them do not go together")
        counted = [] if stable is None else [(stable.times, stable.resamples)]
        if draws is not None and imputed is not None:
            counted.append((imputed, draws.number))
        for times, most in counted:
            if {*times} != {item.name for item in self.candidates}:
                raise ValueError("selections are counted of other predictors than candidates")
            if max(times.values(), default=0) > most:
                raise ValueError("a predictor is selected more often than there are searches")
        if {*self.left_out}.intersection(self.bought):
            raise ValueError("a predictor is bought that too few resamples select")

    @property
    def bought(self) -> list[str]:
        """The names of the predictors bought."""
        return [term.name for term in self.terms]

    @property
    def costs(self) -> dict[str, float]:
        """The price of each candidate."""
        return {item.name: item.cost for item in self.candidates}

    @property
    def paid_fees(self) -> list[SharedFee]:
        """The fees that are paid, each with those of its members that are bought."""
        shared = (
            SharedFee(amount=fee.amount, members=tuple(m for m in fee.members if m in self.bought))
            for fee in self.limits.fees
        )
        return [fee for fee in shared if fee.members]

    @property
    def left_out(self) -> tuple[str, ...]:
        """The candidates that fewer than half of the resamples of `stable` select."""
        stable = self.search.stable
        return (
            ()
            if stable is None
            else tuple(
                item.name
                for item in self.candidates
                if 2 * stable.times[item.name] < stable.resamples
                and item.name not in self.limits.include
            )
        )

    @property
    def among(self) -> str:
        """The predictors among which the model is the best, in words."""
        stable, n = self.search.stable, len(self.candidates) - len(self.left_out)
        predictors = "predictor" if n == 1 else f"{n} predictors"
        if stable is None:
            return f"the {predictors}"
        required = ", or that are required" if self.limits.include else ""
        half = f"at least half of {stable.resamples} resamples select"
        return f"the {predictors} that {half}{required}"

    @property
    def lowered(self) -> str:
        """From where the limit was lowered, in words and in brackets; empty if it was not."""
        within = self.search.within
        if within is None or within.stated is None:
            return ""
        return f" (lowered from {within.stated:g})"

    @property
    def scope(self) -> str:
        """The selections that the proof is about, in words that follow "no selection"."""
        most, budget = self.limits.max_features, self.limits.budget
        text = f"of {self.among}" if most is None else f"of at most {most} of {self.among}"
        return f"{text}{'' if budget is None else f' within a budget of {budget:g}'}{self.lowered}"

    def log_odds(self, table: pd.DataFrame) -> Float:
        """Return the log-odds of the event for each row.

        Parameters
        ----------
        table : DataFrame
            At least the columns that were bought, in any order. A missing value is replaced as
            the term says; so is a level that was not in the data, with a warning.

        Returns
        -------
        ndarray of shape (n_rows,)
            Log-odds.
        """
        total = np.full(len(table), self.intercept)
        for name, contribution in self._contributions(table).items():
            total = total + contribution.log_odds
            if contribution.unknown:
                known = next(t.levels for t in self.terms if t.name == name)  # type: ignore[union-attr]
                warnings.warn(
                    f"column {name!r}: the model does not know "
                    f"{_unknown(sorted(contribution.unknown), known)}, and takes it for missing.",
                    ShortlistWarning,
                    stacklevel=2,
                )
        return total

    def probability(self, table: pd.DataFrame) -> Float:
        """Return the probability of the event for each row; `table` as in `log_odds`."""
        return risk_of(self.log_odds(table))

    def contributions(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the contribution of each predictor bought to the log-odds of each row."""
        return self._parts(table, "log_odds")

    def imputed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return where a value was missing or unknown, for each row and predictor bought."""
        return self._parts(table, "imputed")

    def outside(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return where a number is below or above all of the data, as `imputed` does."""
        return self._parts(table, "outside")

    @property
    def outcome_label(self) -> str:
        """The label or else the name of the outcome."""
        return self.codebook.label(self.outcome.name) if self.outcome.name else "the outcome"

    def effects(self) -> list[Effect]:
        """Return differences between patients with their coefficients and odds ratios."""
        return [effect for term in self.terms for effect in term.effects(self.contrasts(term))]

    def contrasts(self, term: Term) -> list[Contrast]:
        """Return the differences between patients in a predictor, with its unit and reference."""
        book = self.codebook
        return term.contrasts(book.units.get(term.name, ""), book.references.get(term.name))

    def _repr_html_(self) -> str:
        budget = self.limits.budget
        price = "" if budget is None else f" for {self.cost:g} of {budget:g}"
        return panel(
            f"{describe_proof(self.search.status, self.search.gap)}: "
            f"{len(self.terms)} of {len(self.candidates)} predictors{price}",
            is_proven=self.search.status == "optimal",
            header=["predictor", *([] if budget is None else ["cost"]), "difference", "odds ratio"],
            rows=(
                (
                    self.codebook.label(effect.predictor),
                    *([] if budget is None else [self.costs[effect.predictor]]),
                    effect.contrast,
                    float(f"{effect.odds_ratio:.4g}"),
                )
                for effect in self.effects()
            ),
            note=f"{self.data.rows} rows, {self.data.events} with "
            f"{self.outcome_label} = {self.outcome.event}; "
            f"ridge {self.search.ridge:g}.",
        )

    def save(self, path: str | Path) -> None:
        """Write the model as JSON, whole or not at all.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        write_whole(Path(path), self.model_dump_json(indent=2) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> ModelCard:
        """Read a model that `save` wrote; nothing in it is executed, and all of it is checked.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        ModelCard
            The model.

        Raises
        ------
        InvalidFileError
            If anything in it is missing, unknown or wrong; the message is one sentence.
        """
        path = Path(path)
        return cls.parse(_read(path), str(path))

    @classmethod
    def parse(cls, text: str, source: str) -> ModelCard:
        """Return the model in a text; messages call the text `source`."""
        wrong = f"{source}: is not a model file; pass a file of `shortlist fit --model`."
        try:
            content = json.loads(text, object_pairs_hook=unique_names)
            kind = content.get("format") if isinstance(content, dict) else None
            if kind == CERTIFICATE_FORMAT:
                wrong = (
                    f"{source}: is a proof; pass the model, as `shortlist fit --model` wrote it."
                )
            if kind != FORMAT:
                raise InvalidFileError(wrong)
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise InvalidFileError(f"{source}: {_sentence(error)}") from None
        except (ValueError, RecursionError):
            raise InvalidFileError(wrong) from None

    def given_limits(self) -> dict[str, Any]:
        """Return prices and limits as the parameters of `PrognosticModel` that state them."""
        items = self.candidates
        return {
            "budget": self.limits.budget,
            "costs": self.costs,
            "max_features": self.limits.max_features,
            "fees": [(fee.amount, fee.members) for fee in self.limits.fees],
            "include": self.limits.include,
            "max_coefficient": {i.name: i.max_coefficient for i in items if i.max_coefficient},
            "signs": {item.name: item.sign for item in items if item.sign},
        }

    def _parts(self, table: pd.DataFrame, part: str) -> pd.DataFrame:
        contributions = self._contributions(table).items()
        return pd.DataFrame(
            {name: getattr(entry, part) for name, entry in contributions}, index=table.index
        )

    def _contributions(self, table: pd.DataFrame) -> dict[str, Contribution]:
        absent = [name for name in self.bought if name not in table.columns]
        if absent:
            raise InvalidProblemError(
                f"The model needs the column{'' if len(absent) == 1 else 's'} "
                f"{', '.join(map(repr, absent))}, which the table "
                "does not have; add what is missing, empty where unknown."
            )
        columns = {term.name: self._mended(table, term) for term in self.terms}
        used = {w.predictor for t in self.terms if t.imputation for w in t.imputation.weights}
        inputs = {t.name: t.inputs(columns[t.name]) for t in self.terms if t.name in used}
        return {
            term.name: term.contribution(
                columns[term.name],
                None if term.imputation is None else term.imputation.values(inputs),
            )
            for term in self.terms
        }

    def _mended(self, table: pd.DataFrame, term: Term) -> pd.Series[Any]:
        """Return the column of a term without codes for missing values and synonyms of levels."""
        codes = self.preprocessing.missing_codes.get(term.name, ())
        return mend(table[term.name], codes, self.preprocessing.synonyms.get(term.name, {}))

    def development_share(self, table: pd.DataFrame, events: Int) -> float:
        """Return the estimated share of rows that the model was fitted to.

        Parameters
        ----------
        table : DataFrame
            As for `log_odds`.
        events : ndarray of shape (n_rows,)
            1 for the event, else 0.

        Returns
        -------
        float
            0 if it cannot be told, as where many patients have the same values.
        """
        marks, rows = self.data.marks, self.data.rows
        columns = {term.name: self._mended(table, term) for term in self.terms}
        if not marks or len(table) < _FEWEST_MARKED or not columns:
            return 0.0
        kinds = {term.name: term.kind for term in self.terms}
        plain = read_columns(pd.DataFrame(columns), kinds)[1]
        n_bits, bits = 4 * len(marks), int(marks, 16)
        codes = _codes_of_rows(self.terms, plain, events)
        hit = [any(bits >> (code % n_bits) & 1 for code in row) for row in codes]
        n_set, n_codes = bits.bit_count(), float(np.mean([len(row) for row in codes]))
        # A stranger hits a bit by chance, or because he has the values of another patient.
        chance = n_codes * n_set / n_bits + 2 * (1 - n_set / rows)
        return max(0.0, (float(np.mean(hit)) - chance) / (1 - chance)) if chance < 1 else 0.0


def _unknown(levels: list[str], known: list[str]) -> str:
    """Return unknown levels with those that may be meant."""
    texts = []
    for level in levels[:3]:
        close = [other for other in known if is_misspelt(level, other)]
        texts.append(repr(level) + (f" (did you mean {close[0]!r}?)" if close else ""))
    return ", ".join(texts)


def _codes_of_rows(
    terms: Sequence[Term], columns: Mapping[str, NDArray[Any]], events: Int
) -> list[set[int]]:
    """Return the hashes that each row may have had before one of its numbers was rounded."""
    shifts = [(t.name, by) for t in terms if t.kind == "numeric" for by in (-_ROUNDING, _ROUNDING)]
    found = (_row_codes(terms, columns, events, *shift) for shift in (("", 0.0), *shifts))
    return [set(codes) for codes in zip(*found, strict=True)]


def _row_codes(
    terms: Sequence[Term],
    columns: Mapping[str, NDArray[Any]],
    events: Int,
    shifted: str = "",
    by: float = 0.0,
) -> list[int]:
    """Return a hash of each row of the columns of terms in plain form, and of its outcome.

    Numbers are counted in steps of their range, after one of them was shifted by a part of a step.
    """

    def in_steps(term: Term) -> NDArray[Any]:
        values = columns[term.name]
        if term.kind != "numeric":
            return values
        moved = by if term.name == shifted else 0.0
        steps = (values - term.range[0]) / (np.ptp(term.range) or 1.0) * _STEPS
        return np.floor(steps + _BETWEEN + moved)

    rows = zip(events.tolist(), *(in_steps(term).tolist() for term in terms), strict=True)
    texts = (repr([None if value != value else value for value in row]) for row in rows)
    return [int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) for text in texts]


def marks_of(plain: PlainTable, terms: tuple[Term, ...]) -> str:
    """Return the bits that the rows of a fit set, as `FittedData` describes them."""
    if len(plain.labels) > _MOST_MARKED or not terms:
        return ""
    n_bits = 2 ** ceil(log2(10 * len(plain.labels)))
    columns = {term.name: plain.frame[term.name].to_numpy() for term in terms}
    bits = 0
    for code in _row_codes(terms, columns, plain.labels):
        bits |= 1 << (code % n_bits)
    return f"{bits:0{n_bits // 4}x}"


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise InvalidFileError(f"{path}: is too large to be a model file.")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidFileError(f"{path}: is not a model file (not UTF-8 text).") from None
    except OSError as error:
        raise InvalidFileError(f"{path}: cannot be read ({error.strerror}).") from None


def _sentence(error: ValidationError) -> str:
    if error.errors(include_url=False, include_input=False)[0]["loc"] == ("format_version",):
        return "was written by a newer version of shortlist, or is damaged; update shortlist."
    return f"is damaged ({describe_error(error)}); save the model again."


class Making(NamedTuple):
    """How a model came about.

    The solver and the gap that it was asked for; the choice of the ridge and its measure, unless it
    was given; how the limit was lowered or candidates were left out; how many single imputations
    select each candidate; and what the columns mean.
    """

    backend: str = "native"
    gap_target: float = 1e-6
    tuning: RidgeSearch | None = None
    scoring: str | None = None
    within: ThriftRecord | None = None
    stable: StableRecord | None = None
    imputed: dict[str, int] | None = None
    codebook: Codebook = Codebook()


def make_card(
    plain: PlainTable,
    design: Design,
    problem: SubsetProblem,
    solution: Solution,
    outcome: Outcome,
    max_features: int | None,
    made: Making,
) -> ModelCard:
    """Describe the model that a search found, in the units of the table.

    Parameters
    ----------
    plain, design
        The patients, and their preprocessing.
    problem, solution
        The problem that they make, and the model.
    outcome : Outcome
        The outcome in words.
    max_features : int or None
        The limit on the number of predictors, as it was given.
    made : Making
        How the model came about.
    """
    bought = [problem.name_of(g) for g in solution.support]
    terms, intercept = design.equation(plain.frame, solution.coef, solution.intercept, bought)
    limits, names, tuning = problem.limits, design.names, made.tuning
    stated = stated_limits(limits, problem.predictors)
    return ModelCard(
        format="shortlist model",
        format_version=1,
        shortlist_version=__version__,
        outcome=outcome,
        intercept=intercept,
        terms=terms,
        cost=solution.cost,
        candidates=tuple(
            Candidate(
                name=name,
                kind=plain.kinds[name],
                cost=float(cost),
                bought=name in bought,
                max_coefficient=stated["max_coefficient"][g],
                sign=stated["signs"][g],
            )
            for g, (name, cost) in enumerate(zip(names, limits.costs, strict=True))
        ),
        limits=StatedLimits(
            budget=stated["budget"],
            max_features=None if max_features is None else limits.max_features,
            fees=tuple(
                SharedFee(amount=fee.amount, members=tuple(names[g] for g in fee.members))
                for fee in limits.fees
            ),
            include=tuple(names[g] for g in limits.include),
            exclude=tuple(name for name in plain.names if name not in plain.kinds),
        ),
        preprocessing=Preprocessing(
            spline_knots=design.n_knots,  # type: ignore[arg-type]
            missing_indicator=bool(design.missing_indicator),
            imputation=design.imputation,
            draws=None
            if made.imputed is None
            else Draws(number=design.n_imputations_, seed=int(design.seed)),
            missing_codes=dict(plain.missing_codes),
            synonyms=dict(plain.synonyms),
        ),
        search=SearchRecord(
            ridge=problem.ridge,
            folds=0 if tuning is None else tuning.n_folds // tuning.n_repeats,
            repeats=1 if tuning is None else tuning.n_repeats,
            status=solution.status.value,
            objective=solution.objective,
            lower_bound=solution.lower_bound,
            gap=solution.gap,
            nodes=solution.nodes,
            backend=made.backend,
            gap_target=made.gap_target,
            scoring=made.scoring,
            within=made.within,
            stable=made.stable,
            imputed=made.imputed,
            tuning=() if tuning is None else _ridge_scores(tuning),
        ),
        data=FittedData(
            rows=len(plain.labels),
            events=int(plain.labels.sum()),
            sha256=plain.sha256,
            marks=marks_of(plain, terms),
        ),
        codebook=made.codebook.of({*names, outcome.name}),
    )


def _ridge_scores(tuning: RidgeSearch) -> tuple[RidgeScore, ...]:
    scores = [*tuning.results["mean_test_score"].tolist(), *[np.nan] * len(tuning.untried)]
    return tuple(
        RidgeScore(ridge=ridge, score=None if np.isnan(score) else score)
        for ridge, score in zip([*tuning.ridges, *tuning.untried], scores, strict=True)
    )
