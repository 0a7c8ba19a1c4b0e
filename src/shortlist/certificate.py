"""The proof of a solution, to be kept, sent and checked by `verify`.

A certificate holds the model, and a tree of decisions whose leaves cover every affordable
selection. Each leaf refers to a primal point (coefficients and an intercept). Weak duality turns
that point into a lower bound on all selections of the leaf: docs/certificate.md says how, and
describes the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    FailFast,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from .errors import InvalidCertificateError
from .files import unique_names, write_whole

FORMAT, VERSION = "shortlist certificate", 1
# What a file may be at most: lists for its letters, and how much larger it is when unpacked.
_LETTERS_OF_LIST, _FEW_LISTS = 10, 10_000
_LARGEST_RATIO = 20  # numbers of proofs hardly compress, and a point of zeros takes much memory


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
_KINDS = list(_NAMES.values())
_A_STEP = f"a step: one of {', '.join(_NAMES.values())} and its fields"


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

    problem: Annotated[str, Field(strict=True)]
    objective: Real
    lower_bound: Real
    support: Indices
    model: Annotated[Point, BeforeValidator(partial(_point, most=3)), AfterValidator(_consistent)]
    points: Annotated[
        tuple[Annotated[Point, BeforeValidator(_point), AfterValidator(_consistent)], ...],
        FailFast(),
    ]
    steps: Annotated[tuple[_AnyStep, ...], FailFast()]

    def save(self, path: str | os.PathLike[str], attached: Mapping[str, Any] | None = None) -> None:
        """Write the certificate; the file appears whole or not at all.

        It is JSON, or for a path that ends in `.npz` compressed arrays of the same content, which
        take a fraction of the space.

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
        is_packed = Path(path).suffix == ".npz"
        write_whole(Path(path), _packed(content) if is_packed else _text(content))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate, or raise `InvalidCertificateError`.

        Loading checks the form only: whether the proof holds is for `verify` to say.
        """
        return cls.load_attached(path)[0]

    @classmethod
    def load_attached(cls, path: str | os.PathLike[str]) -> tuple[Certificate, dict[str, Any]]:
        """Read a certificate as `load` does, and the fields that `save` attached."""
        found = Path(path).read_bytes()
        try:
            content = _unpacked(found) if found[:2] == b"PK" else _read_text(found.decode())
        # Not UTF-8, not JSON, a name twice, an endless number, or whatever an archive may hold.
        except Exception:
            raise InvalidCertificateError(
                f"path: {Path(path).name} is not JSON, nor packed as .npz; pass a proof, as "
                "Certificate.save or `shortlist fit --certificate` wrote it."
            ) from None
        certificate = _parse(content)
        own = {"format", "version", *cls.__dataclass_fields__}
        return certificate, {key: value for key, value in content.items() if key not in own}


def _text(content: Mapping[str, Any]) -> str:
    """Return the content as JSON, one field a line, so that the file can be looked at."""
    lines = ",\n".join(
        f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'), allow_nan=False)}"
        for key, value in content.items()
    )
    return f"{{\n{lines}\n}}\n"


def _read_text(text: str) -> Any:
    # An empty list of two letters takes 64 bytes of memory. A proof has numbers in its lists.
    if text.count("[") + text.count("{") > len(text) / _LETTERS_OF_LIST + _FEW_LISTS:
        raise ValueError("more lists than a proof of that length has")
    return json.loads(text, object_pairs_hook=unique_names)


def _packed(content: dict[str, Any]) -> bytes:
    """Return the content as an archive of arrays: the points and the steps, and JSON for the rest.

    Lists stand one after the other in one array, their lengths in another.
    """
    points, steps = content["points"], content["steps"]
    rest = content | {"points": [], "steps": []}
    numbers = [_numbers(step) for step in steps]
    arrays: dict[str, NDArray[Any]] = {
        "rest": np.frombuffer(_text(rest).encode(), dtype=np.uint8),
        "intercepts": np.array([point[0] for point in points], dtype=np.float64),
        "lengths": np.array([len(point[1]) for point in points], dtype=np.int64),
        "columns": np.array([n for point in points for n in point[1]], dtype=np.int64),
        "values": np.array([t for point in points for t in point[2]], dtype=np.float64),
        "corrected": np.array([bool(p[3:] and p[3]) for p in points], dtype=np.uint8),
        "corrections": np.array([t for p in points if p[3:] for t in p[3]], dtype=np.float64),
        "smoothings": np.array([p[4] if p[4:] else 0.0 for p in points], dtype=np.float64),
        "kinds": np.array([_KINDS.index(step[0]) for step in steps], dtype=np.uint8),
        "sizes": np.array([len(of_step) for of_step in numbers], dtype=np.int64),
        "numbers": np.array([n for of_step in numbers for n in of_step], dtype=np.int64),
    }
    file = BytesIO()
    with ZipFile(file, "w") as archive:  # as np.savez_compressed does, without the time of day
        for name, array in arrays.items():
            entry = BytesIO()
            np.lib.format.write_array(entry, _smallest(array), allow_pickle=False)
            archive.writestr(ZipInfo(f"{name}.npy"), entry.getvalue(), ZIP_DEFLATED)
    return file.getvalue()


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers as the smallest type that holds them."""
    if array.dtype != np.int64 or array.size == 0:
        return array
    return array.astype(np.min_scalar_type(int(array.max())))


def _numbers(step: Sequence[Any]) -> list[int]:
    """Return the numbers of a step; of a `fix` also how many it forbids, before these."""
    if step[0] == "fix":
        _, node, point, forbidden, bought = step
        return [node, point, len(forbidden), *forbidden, *bought]
    return [*step[1:-1], *step[-1]] if step[0] == "one" else list(step[1:])


def _unpacked(found: bytes) -> Any:
    """Return what was packed; other archives raise whatever they lead to."""
    with ZipFile(BytesIO(found)) as archive:
        if sum(file.file_size for file in archive.infolist()) > _LARGEST_RATIO * len(found):
            raise ValueError("an archive that is larger than it can be")
    with np.load(BytesIO(found), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    content = _read_text(arrays["rest"].astype(np.uint8).tobytes().decode())
    columns, values = _split(arrays, "columns", "lengths"), _split(arrays, "values", "lengths")
    corrected = arrays["corrected"].astype(bool)
    arrays["with_intercept"] = (arrays["lengths"].astype(np.int64) + 1)[corrected]
    corrections = iter(_split(arrays, "corrections", "with_intercept"))
    intercepts, smoothings = arrays["intercepts"].tolist(), arrays["smoothings"].tolist()
    of_points = (intercepts, columns, values, corrected.tolist(), smoothings)
    content["points"] = []
    for intercept, of_columns, of_values, is_corrected, smoothing in zip(*of_points, strict=True):
        correction = next(corrections) if is_corrected else []
        point = [intercept, of_columns, of_values, correction, smoothing]
        content["points"].append(point[: 5 if smoothing else 4 if is_corrected else 3])
    content["steps"] = [
        _step(_KINDS[kind], numbers)
        for kind, numbers in zip(
            arrays["kinds"].tolist(), _split(arrays, "numbers", "sizes"), strict=True
        )
    ]
    return content


def _split(arrays: Mapping[str, NDArray[Any]], name: str, lengths: str) -> list[Any]:
    """Return the lists that stand one after the other in an array."""
    ends = np.cumsum(arrays[lengths].astype(np.int64))
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != arrays[name].size:
        raise ValueError("lengths other than the lists'")
    everything = arrays[name].tolist()
    return [everything[start:end] for start, end in pairwise([0, *ends.tolist()])]


def _step(kind: str, numbers: list[int]) -> list[Any]:
    """Return a step as JSON has it."""
    if kind == "fix":
        node, point, n, *members = numbers
        return [kind, node, point, members[:n], members[n:]]
    return [kind, *numbers[:2], numbers[2:]] if kind == "one" else [kind, *numbers]


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
    try:
        certificate = _form().validate_python(content)
    except ValidationError as error:
        raise _damaged(error) from None
    for i, step in enumerate(certificate.steps):
        if getattr(step, "point", -1) >= len(certificate.points):
            expected = f"a step that refers to one of the {len(certificate.points)} points"
            raise _malformed(f"steps[{i}]", expected)
    return certificate


@cache
def _form() -> TypeAdapter[Certificate]:
    return TypeAdapter(Certificate)


def _damaged(error: ValidationError) -> InvalidCertificateError:
    """Return the first thing that is wrong, as a sentence that names the entry of the file."""
    first = error.errors(include_url=False, include_input=False)[0]
    field, *rest = first["loc"]
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
