"""The partial likelihood of Cox, written out: every term has its risk set as a list of rows.

Numbers are floats or balls: their kind, `log` and `exp` come from the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import shortlist as sl


class Term(NamedTuple):
    """wt log(sum of c exp(u) over the rows at risk)."""

    wt: Any
    rows: list[int]
    c: list[Any]


def terms_of(problem: sl.SubsetProblem, number: Callable[..., Any]) -> list[Term]:
    """Return the terms, one for each time (Breslow) or each event (Efron)."""
    response, w = problem.response, [number(x) for x in problem.weights.tolist()]
    time, event = response.values.tolist(), response.events.tolist()
    stratum = response.stratum.tolist()
    used = [m for m in range(problem.n_rows) if w[m] > 0]
    terms = []
    for s, t in sorted({(stratum[m], time[m]) for m in used if event[m]}):
        at_risk = [m for m in used if stratum[m] == s and time[m] >= t]
        tied = [m for m in at_risk if event[m] and time[m] == t]
        n = len(tied) if response.ties == "efron" else 1
        for gone in range(n):
            c = [w[m] * (n - gone) / n if m in tied else w[m] for m in at_risk]
            terms.append(Term(sum(w[m] for m in tied) / n, at_risk, c))
    return terms


def weight_of_events(problem: sl.SubsetProblem) -> list[float]:
    """Return the weight of each row with the event, else 0."""
    return (problem.weights * problem.response.events).tolist()


def negative_log_likelihood(
    problem: sl.SubsetProblem,
    u: Sequence[Any],
    exp: Callable[..., Any],
    log: Callable[..., Any],
    number: Callable[..., Any] = float,
) -> Any:
    """Return the loss of linear predictors."""
    total = 0
    for wt, rows, c in terms_of(problem, number):
        total += wt * log(sum(of_row * exp(u[m]) for m, of_row in zip(rows, c, strict=True)))
    return total - sum(w * u[m] for m, w in enumerate(weight_of_events(problem)))


def dual_point(
    problem: sl.SubsetProblem,
    e: Sequence[Any],
    log: Callable[..., Any],
    t: Sequence[Any] | None = None,
    number: Callable[..., Any] = float,
) -> tuple[Any, list[Any]]:
    """Return the entropy and q of the distributions c e / S, moved along t as far as they may."""
    entropy, q = 0, [-w for w in weight_of_events(problem)]
    for wt, rows, c in terms_of(problem, number):
        parts = [of_row * e[m] for m, of_row in zip(rows, c, strict=True)]
        total = sum(parts)
        pi = [part / total for part in parts]
        if t is not None:
            mean = sum(p * t[m] for p, m in zip(pi, rows, strict=True))
            s = 1 / max(number(1), *(mean - t[m] for m in rows))
            pi = [p * (1 + s * (t[m] - mean)) for p, m in zip(pi, rows, strict=True)]
        for m, p, of_row in zip(rows, pi, c, strict=True):
            q[m] += wt * p
            if p > 0:
                entropy += wt * p * log(of_row / p)
    return entropy, q
