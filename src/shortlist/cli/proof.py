"""`shortlist verify` and `shortlist export`: a proof to check, a problem for other solvers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidFileError, shown
from .option import (
    AsJson,
    DataFile,
    LossName,
    ProblemOptions,
    WeightsColumn,
    with_problem_options,
)
from .terminal import check_paths, noting, plain, print_json, working

if TYPE_CHECKING:
    from ..patients import ModelCard
    from ..patients.table import Patients


def verify(
    proof: Annotated[
        Path,
        typer.Argument(metavar="PROOF", help="A proof that `shortlist fit --certificate` wrote."),
    ],
    data: DataFile,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A model file: check that this model, not only that in PROOF, is the proven one.",
        ),
    ] = None,
    weights: WeightsColumn = None,
    as_json: AsJson = False,
) -> None:
    """Check a proof against the data, trusting neither the solver nor the file.

    PROOF carries the model and the problem that was posed: columns, preprocessing, ridge, prices,
    limits. The problem is built again from that and from DATA, its digest has to be that of the
    proof, and an independent checker computes bounds that hold in spite of rounding. The
    output restates the problem: check that it is yours. Exit code 1: the proof does not hold, or
    not for --model; 3: its bounds hold, but do not prove the model optimal.
    """
    check_paths([proof, data, model], [])
    with noting() as notes, working("Checking the proof"):
        from ..patients import ModelCard, is_proven, load_proof, verify_model

        card, certificate = load_proof(proof)
        other = card if model is None else ModelCard.load(model)
        patients = _read_patients(card, proof, data, weights)
        given = (patients.predictors, patients.events, patients.weights)
        verdict = verify_model(card, certificate, *given)
        wrong = "" if verdict.valid else f"The proof does not hold: {verdict.reason}"
        if verdict.valid and other != card:
            wrong = _difference(other, card)
            if not wrong:
                about = verify_model(other, certificate, *given)
                wrong = about.reason or _other_statement(other, card)
                card = other
            if wrong:
                wrong = f"The proof holds, but {model} is not the model that it proves: {wrong}"
                verdict = replace(verdict, valid=False, reason=wrong)
        optimal = is_proven(card, verdict)
    if as_json:
        record = {
            "valid": verdict.valid,
            "optimal": optimal,
            "reason": verdict.reason,
            "lower_bound": verdict.lower_bound if verdict.valid else None,
            "upper_bound": verdict.upper_bound if verdict.valid else None,
            "gap": verdict.gap if verdict.valid else None,
            "gap_target": card.search.gap_target,
            "outcome": card.outcome.model_dump(),
            "data": card.data.model_dump(),
            "ridge": card.search.ridge,
            "preprocessing": card.preprocessing.model_dump(),
            "bought": card.bought,
            "cost": card.cost,
            "limits": card.limits.model_dump(mode="json"),
            "left_out": list(card.left_out),
            "within": None if card.search.within is None else card.search.within.model_dump(),
            "not_checked": _not_checked(card),
            "costs": card.costs,
            "kinds": {candidate.name: candidate.kind for candidate in card.candidates},
            "notes": notes,
        }
        print_json(record)
    elif verdict.valid:
        typer.echo(
            ("The proof holds" if optimal else "The bounds hold, but optimality is not proven")
            + f": no selection {card.scope} has a penalised loss below {verdict.lower_bound:.6f}, "
            f"and the model has at most {verdict.upper_bound:.6f} (relative gap "
            f"{verdict.gap:.1e}, tolerance {card.search.gap_target:.0e})."
        )
        typer.echo("The proof is about this problem; check that it is yours:")
        for topic, text in _restate(card, patients):
            typer.echo(f"  {topic + ':':<17} {text}")
    else:
        typer.echo(wrong)
    if not optimal:
        raise typer.Exit(3 if verdict.valid else 1)


def _difference(other: ModelCard, card: ModelCard) -> str:
    """Return why another model is clearly not a card's; empty if that is not clear."""
    if other.data.sha256 != card.data.sha256:
        return "It was fitted to other data."
    bought, proven = (", ".join(map(shown, item.bought)) or "nothing" for item in (other, card))
    return "" if bought == proven else f"It buys {bought}, and the proven model {proven}."


def _other_statement(other: ModelCard, card: ModelCard) -> str:
    """Return what another model states otherwise, though the data do not tell which is right."""
    for field in ("outcome", "candidates", "limits", "preprocessing"):
        if getattr(other, field) != getattr(card, field):
            return f"It states other {field} than the proof."
    for field in ("within", "stable", "imputed"):
        if getattr(other.search, field) != getattr(card.search, field):
            return f"It states another search ({field}) than the proof."
    return ""


def _not_checked(card: ModelCard) -> list[str]:
    """Return what a card states and neither the data nor the proof determine."""
    from ..patients import Codebook

    search = card.search
    found = ["number of nodes", "solver", "version of shortlist"]
    if card.codebook != Codebook():
        found.append("title, labels, units and the levels that others are compared with")
    if search.tuning:
        found.append("how the ridge was chosen")
    if search.within is not None:
        found.append("why the limit was lowered")
    if search.stable is not None:
        found.append("how many resamples select each predictor")
    if search.imputed is not None:
        found.append("how many imputations select each predictor")
    return found


def _read_patients(card: ModelCard, source: Path, data: Path, weights: str | None) -> Patients:
    """Return the patients of DATA; raise if it lacks a column or a value of the proof."""
    from ..patients.column import level_of
    from ..patients.table import split_patients
    from ..tables import read_table

    outcome = card.outcome
    if outcome.name is None:
        raise InvalidFileError(f"{source}: does not say which column is the outcome.")
    table = read_table(data)
    advice = "which the proof is about; pass the data that the model was fitted to."
    for name in (outcome.name, *card.costs):
        if name not in table.columns:
            raise InvalidFileError(f"{data}: has no column {shown(name)}, {advice}")
    values = {level_of(value) for value in table[outcome.name].dropna()}
    column = f"column {shown(outcome.name)}"
    for value in (outcome.event, outcome.no_event):
        if value not in values:
            raise InvalidFileError(f"{data}: {column} has no value {shown(value)}, {advice}")
    return split_patients(data, table, outcome.name, outcome.event, None, None, weights, drop=True)


def _restate(card: ModelCard, patients: Patients) -> Iterator[tuple[str, str]]:
    """Yield the problem that was solved, by topic, and its answer."""
    outcome, limits = card.outcome, card.limits
    yield "outcome", plain(f"{outcome.name} = {outcome.event}, otherwise {outcome.no_event}")
    yield "rows", f"{card.data.rows}, {card.data.events} of them with the event"
    candidates = (
        plain(item.name)
        + (f" {item.cost:g}" if limits.budget is not None else "")
        + ("" if item.kind == "numeric" else f" ({item.kind})")
        for item in card.candidates
    )
    yield "candidates", f"{len(card.candidates)}: {', '.join(candidates)}"
    yield from _restate_limits(card)
    if limits.exclude:
        yield "excluded", _listed(limits.exclude)
    known = {*limits.exclude, *card.costs}
    others = _listed(name for name in patients.predictors.columns if name not in known)
    if others:
        yield "not covered", f"{others} (in the data, but not in the proof)"
    yield from _restate_preparation(card)
    yield "ridge", f"{card.search.ridge:g}"
    cost = f", for {card.cost:g}" if limits.budget is not None else ""
    yield "bought", (_listed(card.bought) or "nothing") + cost
    yield "not checked", _listed(_not_checked(card))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(plain, names))


def _restate_limits(card: ModelCard) -> Iterator[tuple[str, str]]:
    """Yield the limits on selections and coefficients."""
    limits = card.limits
    for fee in limits.fees:
        yield "fee", f"{fee.amount:g} for any of {_listed(fee.members)}"
    if limits.budget is not None:
        yield "budget", f"{limits.budget:g}{card.lowered}"
    if limits.max_features is not None:
        yield "at most", f"{limits.max_features} predictors{card.lowered}"
    if limits.include:
        yield "required", _listed(limits.include)
    for sign, topic in (("positive", "only raises risk"), ("negative", "only lowers risk")):
        signed = _listed(item.name for item in card.candidates if item.sign == sign)
        if signed:
            yield topic, signed
    bounds = ", ".join(
        f"{item.max_coefficient:g} ({plain(item.name)})"
        for item in card.candidates
        if item.max_coefficient is not None
    )
    if bounds:
        yield "coefficients", f"at most {bounds}"
    if card.left_out:
        yield "not stable", f"{_listed(card.left_out)} (selected by few resamples; not checked)"


def _restate_preparation(card: ModelCard) -> Iterator[tuple[str, str]]:
    """Yield how columns became those of the problem, where it is not the usual way."""
    preparation = card.preprocessing
    if preparation.spline_knots is not None:
        yield "splines", f"{preparation.spline_knots} knots for every number"
    if preparation.imputation == "median":
        yield "imputation", "medians and most frequent values"
    if preparation.draws is not None:
        yield "imputations", f"{preparation.draws.number} draws, seed {preparation.draws.seed}"
    if preparation.missing_indicator:
        yield "missing", "a missing value may itself predict"
    for name, codes in preparation.missing_codes.items():
        yield "taken for missing", f"{plain(name)}: {_listed(codes)}"
    for name, words in preparation.synonyms.items():
        meant = (f"{level} for {other}" for other, level in words.items())
        yield "read as", f"{plain(name)}: {_listed(meant)}"


@with_problem_options()
def export(
    options: ProblemOptions,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Where to write: .cbf for conic solvers, .nl for nonlinear ones.",
            show_default=False,
        ),
    ],
    loss: LossName = "logistic",
) -> None:
    """Write the problem that `fit` solves as a mixed-integer model, for another solver to check."""
    check_paths(options.inputs, [output])
    options.check_limits()
    with noting(), working("Reading") as announce:
        from ..conic import export as write_model

        problem = options.problem(announce, loss)
        announce("Writing")
        write_model(problem, output)
    typer.echo(
        f"{output} written: {problem.n_rows} rows, {problem.n_columns} columns of "
        f"{problem.n_predictors} predictors, ridge {problem.ridge:g}.",
        err=True,
    )
