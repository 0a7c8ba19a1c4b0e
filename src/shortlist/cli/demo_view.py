"""The demonstration on a terminal: one table and what it says in plain words."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from ..result import Solution, Status
from .comparison import Comparison, odds_ratio
from .demo import SHOWCASE_SEED

_NOTHING = "-"
_CAPTION = " * of the event, when the predictor rises by a tenth of its range\n"


def render(comparison: Comparison, console: Console) -> None:
    """Print the comparison."""
    console.print(_introduction(comparison), highlight=False)
    console.print(_table(comparison))
    for sentence in _conclusions(comparison):
        console.print(sentence, highlight=False)


def _introduction(comparison: Comparison) -> str:
    data, problem = comparison.data, comparison.problem
    seed, noise = data.parameters["random_state"], data.parameters["label_noise"]
    flips = f", {noise:.0%} of the outcomes flipped" if noise else ""
    return (
        f"\n[bold]Which predictors should {problem.constraints.budget:g} minutes buy?[/bold]\n"
        f"{problem.n_rows} synthetic patients (a setting of Knauer and Rodner 2023, seed "
        f"{seed}{flips}), {int(data.y.sum())} with the event. {problem.n_predictors} predictors, "
        f"{data.costs.min()} to {data.costs.max()} minutes each, named after what they are: "
        "informative, a redundant mix of those, or noise (uninformative)."
    )


def _table(comparison: Comparison) -> Table:
    best, greedy = comparison.best, comparison.greedy
    table = Table(box=box.SIMPLE, caption=_CAPTION, caption_justify="left")
    table.add_column("\npredictor", no_wrap=True)
    table.add_column("\nminutes", justify="right")
    for title in ("shortlist", "greedy"):
        table.add_column(f"{title}\ncoef.", justify="right")
        table.add_column("odds\nratio*", justify="right")
    for g in sorted({*best.support, *greedy.support}):
        table.add_row(
            comparison.problem.name_of(g),
            str(comparison.data.costs[g]),
            *_coefficient(best, g),
            *_coefficient(greedy, g),
        )
    table.add_section()
    for name, ours, theirs in (
        ("minutes spent", f"{best.cost:g}", f"{greedy.cost:g}"),
        ("penalised loss", f"{best.objective:.3f}", f"{greedy.objective:.3f}"),
        ("proven lower bound", f"{best.lower_bound:.3f}", "none"),
        ("gap", f"{best.gap:.1e}", "unknown"),
        ("AUC, same patients", f"{comparison.auc(best):.3f}", f"{comparison.auc(greedy):.3f}"),
    ):
        table.add_row(name, "", ours, "", theirs, "")
    return table


def _coefficient(solution: Solution, g: int) -> tuple[str, str]:
    if g not in solution.support:
        return _NOTHING, _NOTHING
    coefficient = float(solution.coef[g])
    return f"{coefficient:+.2f}", f"{odds_ratio(coefficient):.2f}"


def _conclusions(comparison: Comparison) -> list[str]:
    best, greedy = comparison.best, comparison.greedy
    found = "proved it" if best.status is Status.OPTIMAL else f"stopped ({best.status.value})"
    sentences = [
        f"shortlist {found} after {best.nodes} nodes in {best.seconds:.2f} s: no affordable "
        f"selection has a penalised loss below {best.lower_bound:.3f}."
    ]
    if greedy.support == best.support:
        sentences.append(
            "The greedy rule buys the same this time, but cannot tell; "
            f"with --seed {SHOWCASE_SEED} it does not."
        )
        return sentences
    noise = comparison.cost_of_noise(greedy)
    wasted = f" It spends {noise:g} of {greedy.cost:g} minutes on noise." if noise else ""
    sentences.append(
        f"The greedy rule (largest univariable coefficient per minute first) does "
        f"[bold]{comparison.excess:.1%} worse[/bold] with the same budget.{wasted}"
    )
    sentences.append(
        "This seed was chosen to show a difference; on others (--seed 1) the two agree."
        if comparison.data.parameters["random_state"] == SHOWCASE_SEED
        else "How much they differ depends on the data; try another --seed."
    )
    return sentences
