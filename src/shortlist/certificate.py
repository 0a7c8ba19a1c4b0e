"""The proof of a solution, to be kept, sent and checked by `verify`.

A certificate holds the model, and a tree of decisions whose leaves cover every affordable
selection. Each leaf refers to a primal point (coefficients and an intercept). Weak duality turns
that point into a lower bound on all selections of the leaf: docs/certificate.md says how, and
describes the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    FailFast,
    Field,
    GetPydanticSchema,
    Tag,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from .archive import Listed, read_archive, write_archive
from .errors import InvalidCertificateError
from .files import unique_names, writing_whole

FORMAT, VERSION = "shortlist certificate", 1
# How many lists a file may have for its letters.
_LETTERS_OF_LIST, _FEW_LISTS = 10, 10_000


def _unique(values: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(values)) < len(values):
        raise _other_form("a list without repetitions")
    return values


def _other_form(expected: str) -> PydanticCustomError:
    return PydanticCustomError("form", "{expected}", {"expected": expected})


# These types are the form of a file; pydantic checks it when a certificate is loaded.
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Reals = Annotated[tuple[Real, ...], FailFast()]
Index = Annotated[int, Field(strict=True, ge=0, lt=2**62)]
Indices = Annotated[tuple[Index, ...], FailFast(), AfterValidator(_unique)]


class Point(NamedTuple):
    """An intercept, and the coefficients that are not 0.

    A correction is a step from there (of the intercept, then of each column), along which the dual
    point is moved to first order: see docs/certificate.md. An empty one is none. The smoothing is
    the hinge's, see `shortlist.families`; other losses have none.
    """

    intercept: Real
    columns: Indices
    values: Reals
    correction: Reals = ()
    smoothing: Real = 0.0


class Fix(NamedTuple):
    """The point bounds all selections of the node that decide any of these otherwise."""

    node: Index
    point: Index
    forbidden: Indices
    bought: Indices


class Bound(NamedTuple):
    """The point bounds all selections of the node."""

    node: Index
    point: Index


class Branch(NamedTuple):
    """One node has the selections without the predictor, another one those with it."""

    node: Index
    predictor: Index
    without: Index
    including: Index


class One(NamedTuple):
    """No two open predictors are affordable: the point bounds those that add one of these."""

    node: Index
    point: Index
    predictors: Indices


class Unaffordable(NamedTuple):
    """The predictors that the node has bought exceed a limit."""

    node: Index


def _point(value: Any, most: int = 5) -> Any:
    """Check how many entries a point has; one that may be left out must not be empty."""
    if not isinstance(value, list) or not 3 <= len(value) <= most:
        raise _other_form("[intercept, [columns], [values]]")
    if value[3:] == [[]]:
        raise _other_form("a point whose correction has one value more than columns")
    if value[4:] == [0]:
        raise _other_form("a point whose smoothing is greater than 0")
    return value


def _consistent(point: Point) -> Point:
    if len(point.values) != len(point.columns):
        raise _other_form("as many values as columns")
    if point.correction and len(point.correction) != len(point.columns) + 1:
        raise _other_form("a point whose correction has one value more than columns")
    if point.smoothing < 0.0:
        raise _other_form("a point whose smoothing is greater than 0")
    return point


def _kind(value: Any) -> str | None:
    """Return the name of a step, which is its first entry."""
    return value[0] if isinstance(value, list) and value and isinstance(value[0], str) else None


_FIELDS = BeforeValidator(lambda value: value[1:6])  # no step has more than four
Step = Fix | Bound | Branch | One | Unaffordable
_AnyStep = Annotated[
    Annotated[Fix, _FIELDS, Tag("fix")]
    | Annotated[Bound, _FIELDS, Tag("bound")]
    | Annotated[Branch, _FIELDS, Tag("branch")]
    | Annotated[One, _FIELDS, Tag("one")]
    | Annotated[Unaffordable, _FIELDS, Tag("unaffordable")],
    Discriminator(_kind),
]
# The form that an entry should have, by the first word of the type of pydantic's error.
_EXPECTED = {
    "string": "a text",
    "tuple": "a list",
    "float": "a finite number",
    "finite": "a finite number",
    "int": "a whole number of at least 0",
    "greater": "a whole number of at least 0",
    "less": "a whole number of at least 0",
}
_NAMES = {step: step.__name__.lower() for step in (Fix, Bound, Branch, One, Unaffordable)}
_A_STEP = f"a step: one of {', '.join(_NAMES.values())} and its fields"
_Points = Annotated[
    tuple[Annotated[Point, BeforeValidator(_point), AfterValidator(_consistent)], ...], FailFast()
]
_Steps = Annotated[tuple[_AnyStep, ...], FailFast()]


def _read_as(form: Any) -> GetPydanticSchema:
    """Read a field of a file in this form."""
    return GetPydanticSchema(lambda _, handler: handler(form))


@dataclass(frozen=True)
class Certificate:
    """A model, its claims, and the proof.

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
    points : sequence of Point
        The primal points that the steps refer to by position.
    steps : sequence of Step
        Why the bound holds. Node 0 is the whole problem.

    Points and steps are tuples. Those of a proof too long for memory stay in a file, and each is
    made when it is asked for.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=0.1, max_features=1)
    >>> certificate = sl.solve(problem).certificate
    >>> sl.verify(problem, certificate).valid
    True
    """

    problem: Annotated[str, Field(strict=True)]
    objective: Real
    lower_bound: Real
    support: Indices
    model: Annotated[Point, BeforeValidator(partial(_point, most=3)), AfterValidator(_consistent)]
    points: Annotated[Sequence[Point], _read_as(_Points)]
    steps: Annotated[Sequence[Step], _read_as(_Steps)]

    def save(self, path: str | os.PathLike[str], attached: Mapping[str, Any] | None = None) -> None:
        """Write the certificate; the file appears whole or not at all.

        It is JSON, or for a path that ends in `.npz` arrays of the same content, which take a
        fraction of the space. Those of a proof too long for memory are not compressed, so that
        `load` and `verify` need not have all of it in memory either.

        `attached` are more fields, of JSON values, for other readers of the file: `load` ignores
        them.
        """
        content = dict(attached or {}) | {
            "format": FORMAT,
            "version": VERSION,
            **vars(self),
            "model": _entries(self.model),
        }
        points = map(_entries, self.points)
        steps = ([_NAMES[type(step)], *step] for step in self.steps)
        with writing_whole(Path(path)) as part, part.open("wb") as file:
            if part.suffix != ".npz":
                for text in _text(content | {"points": points, "steps": steps}):
                    file.write(text.encode())
                return
            rest = "".join(_text(content | {"points": [], "steps": []}))
            is_long = isinstance(self.points, Listed)
            write_archive(file, part.parent, rest, points, steps, is_long=is_long)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate, or raise `InvalidCertificateError`.

        Loading checks the form only: whether the proof holds is for `verify` to say.
        """
        return cls.load_attached(path)[0]

    @classmethod
    def load_attached(cls, path: str | os.PathLike[str]) -> tuple[Certificate, dict[str, Any]]:
        """Read a certificate as `load` does, and the fields that `save` attached."""
        source = Path(path)
        with source.open("rb") as file:
            is_packed = file.read(2) == b"PK"
        try:
            content = _unpacked(source) if is_packed else _read_text(source.read_text("utf-8"))
            certificate = _parse(content)
        except InvalidCertificateError:
            raise
        # Not UTF-8, not JSON, a name twice, an endless number, or whatever an archive may hold.
        except Exception:
            raise InvalidCertificateError(
                f"path: {source.name} is not JSON, nor packed as .npz; pass a proof, as "
                "Certificate.save or `shortlist fit --certificate` wrote it."
            ) from None
        own = {"format", "version", *cls.__dataclass_fields__}
        return certificate, {key: value for key, value in content.items() if key not in own}


def _text(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the content as JSON, one field a line, so that the file can be looked at."""
    encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
    before = "{\n"
    for key, value in content.items():
        yield f"{before}{json.dumps(key)}: "
        before = ",\n"
        if isinstance(value, Iterator):  # of entries, which need not be in memory together
            yield "["
            for i, entry in enumerate(value):
                yield f",{encode(entry)}" if i else encode(entry)
            yield "]"
        else:
            yield encode(value)
    yield "\n}\n"


def _read_text(text: str) -> Any:
    # An empty list of two letters takes 64 bytes of memory. A proof has numbers in its lists.
    if text.count("[") + text.count("{") > len(text) / _LETTERS_OF_LIST + _FEW_LISTS:
        raise ValueError("more lists than a proof of that length has")
    return json.loads(text, object_pairs_hook=unique_names)


def _unpacked(path: Path) -> Any:
    """Return what was packed; points and steps that stay in the file are made when asked for."""
    rest, packed, is_long = read_archive(path)
    points, steps = Listed(packed.n_points, packed.points), Listed(packed.n_steps, packed.steps)
    read = (lambda entries: entries) if is_long else list
    return _read_text(rest) | {"points": read(points), "steps": read(steps)}


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
    long = {name: value for name, value in content.items() if isinstance(value, Listed)}
    try:
        certificate = _form().validate_python(content | dict.fromkeys(long, ()))
    except ValidationError as error:
        raise _damaged(error) from None
    if long:
        points, steps = (
            Listed(len(long[name]), partial(_formed, name, long[name].between))
            for name in ("points", "steps")
        )
        certificate = replace(certificate, points=points, steps=steps)
        for _ in certificate.points:
            pass  # reading one checks its form
    for i, step in enumerate(certificate.steps):
        if getattr(step, "point", -1) >= len(certificate.points):
            expected = f"a step that refers to one of the {len(certificate.points)} points"
            raise _malformed(f"steps[{i}]", expected)
    return certificate


@cache
def _form() -> TypeAdapter[Certificate]:
    return TypeAdapter(Certificate)


@cache
def _form_of(name: str) -> TypeAdapter[Any]:
    return TypeAdapter({"points": _Points, "steps": _Steps}[name])


def _formed(
    name: str, between: Callable[[int, int], Sequence[Any]], start: int, stop: int
) -> Sequence[Any]:
    """Return some points or steps of a file in their form."""
    entries: Sequence[Any]
    try:
        entries = _form_of(name).validate_python(between(start, stop))
    except ValidationError as error:
        raise _damaged(error, name, start) from None
    return entries


def _damaged(error: ValidationError, name: str = "", start: int = 0) -> InvalidCertificateError:
    """Return the first thing that is wrong, as a sentence that names the entry of the file.

    The error is about all of the content, or about entries of a field from the start on.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    field, *rest = first["loc"]
    if name:
        field, rest = name, [int(field) + start, *rest]
    places = [place for place in rest if isinstance(place, int)]
    kinds = [words for kind, words in _EXPECTED.items() if first["type"].startswith(kind)]
    expected = first["msg"] if first["type"] == "form" else next(iter(kinds), _A_STEP)
    if field == "steps":  # its name comes before the fields of a step
        places = places[:1] if expected == _A_STEP else [p + (i == 1) for i, p in enumerate(places)]
    return _malformed("".join([str(field), *(f"[{place}]" for place in places)]), expected)


def _malformed(where: str, expected: str) -> InvalidCertificateError:
    return InvalidCertificateError(
        f"path: {where} of the certificate should be {expected}; the file was changed or damaged."
    )


def _entries(point: Point) -> tuple[Any, ...]:
    """Return the entries of a point in a file: no correction and no smoothing if it has none."""
    if point.smoothing:
        return point
    return point[:4] if point.correction else point[:3]
