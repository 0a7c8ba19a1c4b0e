"""Forged certificates by the thousand: random edits of real ones, each determined by a seed.

A forgery changes fields, points and steps of the certificate of a small random problem, and every
tenth goes through a file, as JSON or as an archive. Whatever it says, a verdict that is valid must
be true: its bounds enclose the optimum, and what the certificate claims.

Run as a script it prints how many there were: `python tests/support/forgeries.py 0 48000 poisson`.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from random_problems import random_problem

import shortlist as sl
from shortlist.certificate import Bound, Branch, Certificate, Fix, One, Point, Unaffordable

_N_PROBLEMS = 60  # per family
_ROUNDING = {"hinge": 2e-7}  # of the optimum according to enumeration; else 1e-9
_FOLDER = Path(tempfile.gettempdir())


@cache
def proven(seed: int, loss: str) -> tuple[sl.SubsetProblem, Certificate, float]:
    """A random problem, its certificate, and the optimum according to enumeration."""
    problem = random_problem(seed, loss)
    certificate = sl.solve(problem).certificate
    assert certificate is not None
    return problem, certificate, sl.solve(problem, "enumeration").objective


def forged(seed: int, loss: str) -> tuple[sl.SubsetProblem, Certificate, float]:
    """Return a problem, a forged certificate and the optimum."""
    rng = np.random.default_rng([seed, 7])
    problem, certificate, optimum = proven(int(rng.integers(_N_PROBLEMS)), loss)
    for _ in range(int(rng.integers(1, 4))):
        edit = _EDITS[rng.integers(len(_EDITS))]
        certificate = edit(rng, problem, certificate)
    return problem, certificate, optimum


def _number(rng: np.random.Generator, value: float) -> float:
    """Return a number like another, or one that is far away."""
    changes: list[Callable[[float], float]] = [
        lambda v: v * (1 + rng.normal() * 10.0 ** rng.integers(-12, 1)),
        lambda v: v + rng.normal(),
        lambda v: -v,
        lambda v: float(rng.choice([0.0, 1e-300, 1e300, 1e9, -1e9, 700.0])),
    ]
    return float(changes[rng.integers(len(changes))](value))


def _claim(rng: Any, problem: sl.SubsetProblem, certificate: Certificate) -> Certificate:
    field = rng.choice(["lower_bound", "objective"])
    return replace(certificate, **{field: abs(_number(rng, getattr(certificate, field)))})


def _raise(rng: Any, problem: sl.SubsetProblem, certificate: Certificate) -> Certificate:
    share = 10.0 ** rng.uniform(-8, 0)
    return replace(certificate, lower_bound=problem.scale.above(certificate.lower_bound, share))


def _model(rng: Any, problem: sl.SubsetProblem, certificate: Certificate) -> Certificate:
    return replace(certificate, model=_edited(rng, problem, certificate.model))


def _support(rng: Any, problem: sl.SubsetProblem, certificate: Certificate) -> Certificate:
    chosen = set(certificate.support) ^ {int(rng.integers(-1, problem.n_predictors + 1))}
    return replace(certificate, support=tuple(sorted(chosen)))


def _edited(rng: Any, problem: sl.SubsetProblem, point: Point) -> Point:
    kind = rng.integers(6)
    if kind == 0 or not point.columns:
        return point._replace(intercept=_number(rng, point.intercept))
    i = int(rng.integers(len(point.columns)))
    if kind == 1:
        column = int(rng.integers(problem.n_columns))
        return point._replace(columns=(*point.columns[:i], column, *point.columns[i + 1 :]))
    if kind == 2 and point.correction:
        j = int(rng.integers(len(point.correction)))
        step = _number(rng, point.correction[j])
        return point._replace(correction=(*point.correction[:j], step, *point.correction[j + 1 :]))
    if kind == 3:
        steps = rng.normal(size=len(point.columns) + 1) * 10.0 ** rng.integers(-6, 3)
        return point._replace(correction=tuple(steps.tolist()))
    if kind == 4 and point.smoothing:
        return point._replace(smoothing=abs(_number(rng, point.smoothing)))
    value = _number(rng, point.values[i])
    return point._replace(values=(*point.values[:i], value, *point.values[i + 1 :]))


def _point(rng: Any, problem: sl.SubsetProblem, certificate: Certificate) -> Certificate:
    points = list(certificate.points)
    i = int(rng.integers(len(points)))
    points[i] = _edited(rng, problem, points[i])
    return replace(certificate, points=tuple(points))


def _step(rng: Any, problem: sl.SubsetProblem, certificate: Certificate) -> Certificate:
    steps, n = list(certificate.steps), problem.n_predictors
    if not steps:
        return certificate
    i, kind = int(rng.integers(len(steps))), rng.integers(4)
    step, g = steps[i], int(rng.integers(n))
    point = int(rng.integers(len(certificate.points)))
    if kind == 0:
        del steps[i]
    elif kind == 1:
        others = [
            Bound(step.node, point), Unaffordable(step.node),
            One(step.node, point, tuple(range(n))),
            Fix(step.node, point, (g,), ()), Fix(step.node, point, (), (g,)),
        ]  # fmt: skip
        steps[i] = others[rng.integers(len(others))]
    elif kind == 2 and not isinstance(step, Branch | Unaffordable):
        steps[i] = step._replace(point=point)
    elif isinstance(step, Branch):
        steps[i] = step._replace(predictor=g) if kind == 2 else step._replace(
            without=step.including, including=step.without
        )  # fmt: skip
    elif isinstance(step, Fix):
        steps[i] = step._replace(forbidden=step.bought, bought=step.forbidden)
    else:
        steps[i] = step._replace(node=int(rng.integers(len(steps) + 1)))
    return replace(certificate, steps=tuple(steps))


_EDITS = (_claim, _raise, _model, _support, _point, _point, _step, _step)


def through_file(seed: int, certificate: Certificate) -> Certificate | None:
    """Return what a file says of a certificate; None if it is refused."""
    ending = "json" if seed % 20 else "npz"
    path = _FOLDER / f"forged-{seed}.{ending}"
    try:
        certificate.save(path)
        return sl.Certificate.load(path)
    except sl.InvalidCertificateError:
        return None
    finally:
        path.unlink(missing_ok=True)


def outcome_of(seed: int, loss: str) -> str:
    """Return "refused", "true" if what a forgery says still holds, or "FALSE"."""
    problem, certificate, optimum = forged(seed, loss)
    if seed % 10 == 0:
        read = through_file(seed, certificate)
        if read is None:
            return "refused"
        certificate = read
    verdict = sl.verify(problem, certificate)
    if not verdict.valid:
        return "refused"
    rounding, scale = _ROUNDING.get(loss, 1e-9), problem.scale
    holds = verdict.lower_bound <= scale.above(optimum, rounding)
    holds &= verdict.upper_bound >= scale.below(optimum, rounding)
    holds &= certificate.lower_bound <= verdict.lower_bound
    holds &= certificate.objective >= scale.below(verdict.upper_bound, 2e-9)
    return "true" if holds else "FALSE"


def main(first: int, stop: int, loss: str) -> None:
    """Print how many forgeries were refused, still true, and false but accepted."""
    warnings.simplefilter("ignore")
    outcomes = Counter()
    for seed in range(first, stop):
        outcome = outcome_of(seed, loss)
        outcomes[outcome] += 1
        if outcome == "FALSE":
            print(f"{loss}: seed {seed} is accepted and false")
    print(loss, dict(outcomes))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
