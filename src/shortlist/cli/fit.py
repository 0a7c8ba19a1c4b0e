"""`shortlist costs-template` and `shortlist fit`: from patients and prices to a model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ..errors import InvalidFileError, InvalidProblemError, ShortlistWarning, shown
from .option import (
    AsJson,
    CentreColumn,
    DataFile,
    LossName,
    OutcomeColumn,
    OutputFile,
    PersonColumn,
    ProblemOptions,
    ReportFile,
    Stable,
    Subgroups,
    Thresholds,
    Verbose,
    Within,
    risks,
    with_problem_options,
)
from .terminal import (
    check_paths,
    make_table,
    noting,
    plain,
    plain_console,
    print_json,
    working,
    write_or_print,
)

if TYPE_CHECKING:
    from rich.table import Table

    from ..patients import Finding, ModelCard, PrognosticModel
    from ..patients.table import Patients
    from ..patients.term import Effect

_RESAMPLES = 199
_HINTS = {
    "model": "Predict with: shortlist predict {} NEW.csv",
    "certificate": "Verify it with: shortlist verify {} DATA.csv",
}


def costs_template(
    data: DataFile,
    outcome: OutcomeColumn,
    person: PersonColumn = None,
    centre: CentreColumn = None,
    output: OutputFile = None,
) -> None:
    """Write a price list with all predictors of a table, to fill in costs, labels and units.

    Kinds and reference levels are filled in. Columns that look wrong (patient numbers, dates,
    copies, what tells the outcome) have a note.
    """
    check_paths([data], [output])
    if output is not None and output.exists():
        raise InvalidFileError(
            f"{output}: exists already, perhaps filled in; choose another name or delete it."
        )
    with noting(), working("Reading"):
        from ..patients.suspicion import price_list_of
        from ..patients.table import split_columns
        from ..tables import PRICE_LIST, csv_text, read_table, write_workbook

        table = read_table(data)
        predictors = split_columns(data, table, outcome, person, centre)
        found = price_list_of(predictors, table[outcome])
        for text in dict.fromkeys(row["note"] for row in found if row["note"]):
            about = ", ".join(shown(row["predictor"]) for row in found if row["note"] == text)
            warnings.warn(f"{about}: {text}", ShortlistWarning, stacklevel=2)
    header, rows = PRICE_LIST, [[row.get(name) or None for name in PRICE_LIST] for row in found]
    hint = (
        "Fill in a cost of at least 0 in every row, and labels and units as you like; what is not "
        "to be bought is for --exclude."
    )
    if output is not None and output.suffix.lower() in (".xlsx", ".xlsm"):
        write_workbook(output, header, rows)
        typer.echo(f"{output} written. {hint}", err=True)
    else:
        write_or_print(csv_text(header, rows), output, hint)


@with_problem_options()
def fit(
    options: ProblemOptions,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the model, as JSON.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write the proof, as JSON, for `shortlist verify`."
        ),
    ] = None,
    report: ReportFile = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of resamples of the report, which measure optimism and stability: "
            f"default {_RESAMPLES}; 999 for a paper.",
        ),
    ] = None,
    subgroups: Subgroups = None,
    thresholds: Thresholds = None,
    unfold: Annotated[
        bool, typer.Option("--unfold", help="Unfold all of the report, to print all of it.")
    ] = False,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The scheduler of a Dask cluster that runs the resamples of the report.",
        ),
    ] = None,
    within: Within = None,
    stable: Stable = False,
    loss: LossName = "logistic",
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Fit a model on the best predictors that are affordable, and prove that none are better.

    Missing values may be left empty. Numbers are standardised, text becomes levels, and a column is
    bought as a whole. Rows of one person stay together when the ridge is tuned.
    """
    _check_options(loss, stable, within)
    of_report = {"--resamples": resamples, "--subgroups": subgroups, "--thresholds": thresholds}
    of_report |= {"--unfold": unfold or None, "--dask": dask}
    _refuse_options(report, of_report, options.weights)
    settings: dict[str, Any] = {
        "subgroups": subgroups or (),
        "thresholds": risks(thresholds),
        "unfold": unfold,
        "dask": dask,
    }
    numbers = check_paths(options.inputs, [model, certificate], report)
    require_report(report)
    options.check_limits()
    started = perf_counter()
    with noting() as notes, working("Reading") as announce:
        # Slow to import, so after the first checks.
        from sklearn.metrics import roc_auc_score

        from ..patients import save_proof

        patients, estimator = options.read()
        estimator.set_params(within=within, stable=stable)
        if report is not None:
            _check_for_report(patients, settings["subgroups"])
        announce("Preparing")
        with redirect_stdout(sys.stderr):  # of the log
            estimator.fit(
                *patients.data,
                announce,
                sample_weight=patients.weights,
                outcome=patients.outcome,
                verbose=verbose,
            )
        card = estimator.card_
        found = _sentences(estimator.findings_)
        log_odds = card.log_odds(patients.predictors)
        auc = float(roc_auc_score(patients.events, log_odds, sample_weight=patients.weights))
        if model is not None:
            card.save(model)
        proof = None if certificate is None else estimator.certificate_
        if certificate is not None and proof is not None:
            save_proof(certificate, card, proof)
        elif certificate is not None:
            text = f"{certificate}: was not written, because the proof is too long."
            warnings.warn(text, ShortlistWarning, stacklevel=2)
            certificate = None
    seconds = perf_counter() - started
    later = [text for text in found if text not in notes]  # `fit` has warned of mistakes
    files = {"model": model, "certificate": certificate, "report": report}
    if as_json:
        _print_record(card, auc, files, seconds, [*notes, *later])
    else:
        _print_model(card, patients, auc, files)
    for text in later:
        typer.echo(f"Note: {text}", err=True)
    if report is not None:
        sys.stdout.flush()
        n_resamples = _RESAMPLES if resamples is None else resamples
        _make_report(report, estimator, patients, n_resamples, settings | {"numbers": numbers})
    if card.search.status != "optimal":
        raise typer.Exit(3)


def _sentences(findings: Sequence[Finding]) -> list[str]:
    """Return findings in words, those about rare levels in one sentence."""
    rare = [finding.text.partition("; ") for finding in findings if finding.topic == "Rare levels"]
    texts = [f"{f.topic}: {f.text}" for f in findings if f.topic != "Rare levels"]
    if rare:
        texts.append(f"Rare levels: {'; '.join(first for first, _, _ in rare)}; {rare[0][2]}")
    return texts


def _check_options(loss: str, stable: bool, within: float | str | None) -> None:
    """Raise if a model with this loss predicts no risks, or options contradict each other."""
    from ..families import family_of

    if not family_of(loss).gives_risks:
        raise InvalidProblemError(
            f"--loss: {loss} has no risks, which a model file predicts; use `shortlist path` or "
            "`alternatives`, or BestSubsetClassifier in Python."
        )
    if stable and within is not None:
        raise InvalidProblemError("--stable: does not go with --within; give one of them.")


def _refuse_options(
    report: Path | None, of_report: Mapping[str, object], weights: str | None
) -> None:
    """Raise if an option that only a report takes is given without one, or weights with one."""
    if report is not None:
        if weights is not None:
            raise InvalidProblemError("--weights: a report counts rows alike; leave one out.")
        return
    for option, value in of_report.items():
        if value is not None:
            raise InvalidProblemError(f"{option}: has no effect without --report; give one.")


def _check_for_report(patients: Patients, subgroups: Sequence[str]) -> None:
    """Raise if a report of these patients cannot be made, before they are fitted."""
    from ..report import check_centres, check_enough, split_subgroups

    check_enough(patients.events, patients.persons)
    if patients.centres is not None:
        check_centres(patients.centres, patients.events, patients.persons)
    split_subgroups(subgroups, patients.predictors)


def require_report(path: Path | None) -> None:
    """Raise if a report is asked for and cannot be made, before any work."""
    if path is not None:
        with working("Preparing"):
            from ..report import report_data_path, require_packages

            report_data_path(path)
            require_packages()


def _make_report(
    path: Path,
    model: PrognosticModel,
    patients: Patients,
    n_resamples: int,
    settings: dict[str, Any],
) -> None:
    """Evaluate the model and the usual rules, on all cores if it takes long; write the report."""
    from ..report import write_report

    console = Console(stderr=True)
    write_report(
        path,
        model,
        patients.predictors,
        patients.events,
        persons=patients.persons,
        centres=patients.centres,
        n_resamples=n_resamples,
        n_jobs="auto",
        progress=True,
        announce=lambda news: console.print(f"Report: {news[0].lower()}{news[1:]}."),
        **settings,
    )
    numbers = settings["numbers"]
    beside = "" if numbers == path.with_suffix(".json") else f" Its numbers are in {numbers}."
    console.print(f"{path} written. Open it in a browser.{beside}", soft_wrap=True, highlight=False)


def _print_record(
    card: ModelCard,
    auc: float,
    files: dict[str, Path | None],
    seconds: float,
    notes: list[str],
) -> None:
    record = {
        "model": card.model_dump(mode="json"),
        "effects": [
            effect._asdict()
            | {"odds_ratio": effect.odds_ratio if isfinite(effect.odds_ratio) else None}
            for effect in card.effects()
        ],
        "apparent_auc": auc,
        "seconds": seconds,
        "notes": notes,
    }
    names = {f"{name}_file": None if path is None else str(path) for name, path in files.items()}
    print_json(record | names)


def _print_model(
    card: ModelCard, patients: Patients, auc: float, files: dict[str, Path | None]
) -> None:
    """Print the purchase, the odds ratios and the proof."""
    console = plain_console()
    console.print()
    console.print(_introduction(card, patients))
    if card.terms:
        console.print(_odds_table(card))
    for sentence in _conclusions(card, auc):
        console.print(Text(sentence))
    for name, hint in _HINTS.items():
        if files[name] is not None:
            line = Text(f"{files[name]} written. {hint.format(files[name])}")
            console.print(line, soft_wrap=True)


def _introduction(card: ModelCard, patients: Patients) -> Text:
    outcome, data, budget = card.outcome, card.data, card.limits.budget
    spent = "" if budget is None else f" for {card.cost:g} of {budget:g}"
    word = "selected" if budget is None else "bought"
    bought = f"{len(card.terms)} of {len(card.candidates)} predictors {word}{spent}"
    n_persons = data.rows if patients.persons is None else patients.persons.nunique()
    several = n_persons < data.rows
    who = f"{data.rows} rows of {n_persons} persons" if several else f"{data.rows} patients"
    return Text(bought, style="bold").append(
        f"\n{who}, {data.events} {'rows ' if several else ''}with "
        f"{plain(card.outcome_label)} = {plain(outcome.event)}.",
        style="not bold",
    )


def _odds_table(card: ModelCard) -> Table:
    has_prices = card.limits.budget is not None
    columns = ["predictor", *(["cost"] if has_prices else []), "difference", "odds ratio"]
    table = make_table(columns, numbers=["cost", "odds ratio"])
    for term in card.terms:
        name, cost = plain(card.codebook.heading(term.name)), f"{card.costs[term.name]:g}"
        for effect in term.effects(card.contrasts(term)):
            cells = [Text(name), Text(cost)] if has_prices else [Text(name)]
            table.add_row(*cells, Text(plain(effect.contrast)), _odds_ratio(effect))
            name = cost = ""
    if has_prices:
        for fee in card.paid_fees:
            sharing = ", ".join(plain(card.codebook.label(name)) for name in fee.members)
            table.add_row("fee", f"{fee.amount:g}", Text(f"for {sharing}"), "")
        table.add_section()
        table.add_row("total", f"{card.cost:g}", f"of {card.limits.budget:g}{card.lowered}", "")
    return table


def _odds_ratio(effect: Effect) -> str:
    if effect.odds_ratio > 1e6:
        return "over a million"
    if effect.odds_ratio < 1e-6:
        return "under a millionth"
    return f"{effect.odds_ratio:.3f}" if effect.odds_ratio >= 0.01 else f"{effect.odds_ratio:.2g}"


def _counts(times: dict[str, int]) -> str:
    """Return how often predictors were selected, the most frequent first."""
    ordered = sorted(times.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{plain(name)} {count}" for name, count in ordered if count) or "none"


def _conclusions(card: ModelCard, auc: float) -> list[str]:
    search, thrift = card.search, card.search.within
    first = []
    if thrift is not None:
        best = f", against the best for {thrift.best_cost:g}"
        against = best if thrift.limit == "budget" else ""
        cheapest = "Enough by cross-validation, to a standard error"
        if thrift.share is not None:
            found = "Proven cheapest" if thrift.is_proven else "Cheapest found"
            cheapest = f"{found} within {100 * thrift.share:g} % of the best"
            if thrift.of_gain:
                cheapest = f"{found} with {100 - 100 * thrift.share:g} % of the gain of the best"
        first = [f"{cheapest}: it gives up {thrift.given_up(search.objective)}{against}."]
    if search.stable is not None:
        given_up = search.objective / search.stable.best_objective - 1
        first = [
            f"The best among {card.among} ({_counts(search.stable.times)}). Its loss is "
            f"{given_up:.2%} above that of the best of all {len(card.candidates)}."
        ]
    if search.imputed is not None and card.preprocessing.draws is not None:
        number = card.preprocessing.draws.number
        first.append(
            f"{number} imputations were drawn; how many select each: {_counts(search.imputed)}."
        )
    if search.status == "optimal":
        proof = (
            f"Proven: no selection {card.scope} has a penalised loss below "
            f"{search.lower_bound:.4f}; this one has {search.objective:.4f}."
        )
    else:
        proof = (
            f"Not proven, the search stopped ({search.status.replace('_', ' ')}): this selection "
            f"has a penalised loss of {search.objective:.4f}, and none can be below "
            f"{search.lower_bound:.4f}, {search.gap:.1%} less."
        )
    ridge = f"Ridge {search.ridge:g}"
    if search.tuning:
        tried = ", ".join(f"{value:g}" for value in search.tried)
        ridge += f", the best of {tried} by {search.cross_validation}"
        if search.untried:
            weaker = ", ".join(f"{value:g}" for value in search.untried)
            ridge += f" ({weaker} left out: the score was falling)"
    return [
        *first,
        proof,
        f"{ridge}. AUC {auc:.3f} (apparent, so optimistic).",
    ]
