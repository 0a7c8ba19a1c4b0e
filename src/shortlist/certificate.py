"""The proof of a solution, to be kept, sent and checked by `verify`.

A certificate holds the model, and a tree of decisions whose leaves cover every affordable
selection. Each leaf refers to a primal point (coefficients and an intercept). Weak duality turns
that point into a lower bound on all selections of the leaf: docs/certificate.md says how, and
describes the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from sys import float_info
from typing import Any, NamedTuple, TypeVar

from .errors import InvalidCertificateError
from .files import unique_names, write_whole

FORMAT, VERSION = "shortlist certificate", 1


class Point(NamedTuple):
    """An intercept, and the coefficients that are not 0.

    A correction is a step from there (of the intercept, then of each column), along which the dual
    point is moved to first order: see docs/certificate.md. An empty one is none. The smoothing is
    that of the hinge, see `shortlist.losses`; other losses have none.
    """

    intercept: float
    columns: tuple[int, ...]
    values: tuple[float, ...]
    correction: tuple[float, ...] = ()
    smoothing: float = 0.0


class Fix(NamedTuple):
    """The point bounds all selections of the node that decide any of these otherwise."""

    node: int
    point: int
    forbidden: tuple[int, ...]
    bought: tuple[int, ...]


class Bound(NamedTuple):
    """The point bounds all selections of the node."""

    node: int
    point: int


class Branch(NamedTuple):
    """The selections without the predictor are those of one node, those with it of another."""

    node: int
    predictor: int
    without: int
    including: int


class One(NamedTuple):
    """No two open predictors are affordable: the point bounds those that add one of these."""

    node: int
    point: int
    predictors: tuple[int, ...]


class Unaffordable(NamedTuple):
    """What the node has bought exceeds a limit."""

    node: int


Step = Fix | Bound | Branch | One | Unaffordable
_STEPS: dict[str, type[Step]] = {
    "fix": Fix,
    "bound": Bound,
    "branch": Branch,
    "one": One,
    "unaffordable": Unaffordable,
}
Item = TypeVar("Item")
_NAMES = {step: name for name, step in _STEPS.items()}


@dataclass(frozen=True)
class Certificate:
    """A model, what it claims, and the proof.

    Attributes
    ----------
    problem : str
        Digest of the problem it belongs to, see `SubsetProblem.digest`.
    objective, lower_bound : float
        The claims: the model's objective, and that no affordable model has one below the bound.
    support : tuple of int
        The predictors that the model buys.
    model : Point
        Its intercept and coefficients.
    points : tuple of Point
        The primal points that the steps refer to by position.
    steps : tuple of Step
        Why the bound holds. Node 0 is the whole problem.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, max_features=1)
    >>> certificate = sl.solve(problem).certificate
    >>> sl.verify(problem, certificate).valid
    True
    """

    problem: str
    objective: float
    lower_bound: float
    support: tuple[int, ...]
    model: Point
    points: tuple[Point, ...]
    steps: tuple[Step, ...]

    def save(self, path: str | os.PathLike[str], attached: Mapping[str, Any] | None = None) -> None:
        """Write the certificate as JSON; the file appears whole or not at all.

        `attached` are more fields, of JSON values, for other readers of the file: `load` ignores
        them.
        """
        content = dict(attached or {}) | {
            "format": FORMAT,
            "version": VERSION,
            **vars(self),
            "model": _entries(self.model),
            "points": [_entries(point) for point in self.points],
            "steps": [[_NAMES[type(step)], *step] for step in self.steps],
        }
        # One field a line, so that the file can be looked at.
        lines = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'), allow_nan=False)}"
            for key, value in content.items()
        )
        write_whole(Path(path), f"{{\n{lines}\n}}\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate; what is not one raises `InvalidCertificateError`.

        Loading checks the form only: whether the proof holds is for `verify` to say.
        """
        return cls.load_attached(path)[0]

    @classmethod
    def load_attached(cls, path: str | os.PathLike[str]) -> tuple[Certificate, dict[str, Any]]:
        """Read a certificate as `load` does, and the fields that `save` attached."""
        try:
            text = Path(path).read_text(encoding="utf-8")
            content = json.loads(text, object_pairs_hook=unique_names)
        except (ValueError, RecursionError):  # not UTF-8, not JSON, a name twice, an endless number
            raise InvalidCertificateError(
                f"path: {Path(path).name} is not JSON; pass a proof, as Certificate.save or "
                "`shortlist fit --certificate` wrote it."
            ) from None
        certificate = _parse(content)
        own = {"format", "version", *cls.__dataclass_fields__}
        return certificate, {key: value for key, value in content.items() if key not in own}


def _parse(content: Any) -> Certificate:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidCertificateError(
            f"path: does not say that it is a {FORMAT!r}; pass a proof, as Certificate.save or "
            "`shortlist fit --certificate` wrote it."
        )
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise InvalidCertificateError(
            f"path: the certificate's version is not {VERSION}, the one that this release reads; "
            "use the release that wrote it."
        )
    missing = sorted(set(Certificate.__dataclass_fields__) - set(content))
    if missing:
        raise InvalidCertificateError(
            f"path: the certificate lacks {missing[0]!r}; it is incomplete, so save it again."
        )
    points = _each("points", content["points"], _point)
    if not isinstance(content["problem"], str):
        raise _malformed("problem", "a text")
    return Certificate(
        problem=content["problem"],
        objective=_real("objective", content["objective"]),
        lower_bound=_real("lower_bound", content["lower_bound"]),
        support=_indices("support", content["support"]),
        model=_point("model", content["model"], is_of_proof=False),
        points=points,
        steps=_each("steps", content["steps"], partial(_step, n_points=len(points))),
    )


def _malformed(where: str, expected: str) -> InvalidCertificateError:
    return InvalidCertificateError(
        f"path: {where} of the certificate should be {expected}; the file was changed or damaged."
    )


def _each(where: str, values: Any, parse: Callable[[str, Any], Item]) -> tuple[Item, ...]:
    if not isinstance(values, list):
        raise _malformed(where, "a list")
    return tuple(parse(f"{where}[{i}]", value) for i, value in enumerate(values))


def _real(where: str, value: Any) -> float:
    # An integer too large for a float is no less damaged than a word.
    if type(value) not in (int, float) or not abs(value) <= float_info.max:
        raise _malformed(where, "a finite number")
    return float(value)


def _index(where: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise _malformed(where, "a whole number of at least 0")
    return value


def _indices(where: str, values: Any) -> tuple[int, ...]:
    indices = _each(where, values, _index)
    if len(set(indices)) < len(indices):
        raise _malformed(where, "a list without repetitions")
    return indices


def _point(where: str, value: Any, is_of_proof: bool = True) -> Point:
    if not isinstance(value, list) or len(value) not in ((3, 4, 5) if is_of_proof else (3,)):
        raise _malformed(where, "[intercept, [columns], [values]]")
    columns, values = _indices(f"{where}[1]", value[1]), _each(f"{where}[2]", value[2], _real)
    if len(columns) != len(values):
        raise _malformed(where, "as many values as columns")
    correction = _each(f"{where}[3]", value[3], _real) if len(value) > 3 else ()
    if len(correction) != len(columns) + 1 and (correction or len(value) == 4):
        raise _malformed(where, "a point whose correction has one value more than columns")
    smoothing = _real(where, value[4]) if len(value) > 4 else 0.0
    if len(value) > 4 and not smoothing > 0.0:
        raise _malformed(where, "a point whose smoothing is greater than 0")
    return Point(_real(where, value[0]), columns, values, correction, smoothing)


def _step(where: str, value: Any, n_points: int) -> Step:
    known = isinstance(value, list) and value and isinstance(value[0], str)
    kind = _STEPS.get(value[0]) if known else None
    if kind is None or len(value) - 1 != len(kind._fields):
        raise _malformed(where, f"a step: one of {', '.join(_STEPS)} and its fields")
    fields: list[Any] = []
    for i, (name, field) in enumerate(zip(kind._fields, value[1:], strict=True), start=1):
        is_list = name in ("forbidden", "bought", "predictors")
        fields.append((_indices if is_list else _index)(f"{where}[{i}]", field))
        if name == "point" and field >= n_points:
            raise _malformed(where, f"a step that refers to one of the {n_points} points")
    step: Step = kind(*fields)
    return step


def _entries(point: Point) -> tuple[Any, ...]:
    """Return a point as the file has it: without a correction and a smoothing if it has none."""
    if point.smoothing:
        return point
    return point[:4] if point.correction else point[:3]
