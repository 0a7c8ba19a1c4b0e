"""The file of a proof: exact when written, trusted in nothing when read; and who has a proof."""

from __future__ import annotations

import copy
import doctest
import json
import pickle
from dataclasses import replace
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_problems import random_arguments, random_problem
from sample_data import make_data, make_long_search
from tampering import check_sound, corrected, proven, with_newton_step

import shortlist as sl
from shortlist import archive, verification
from shortlist.archive import Listed
from shortlist.certificate import FORMAT, VERSION, Certificate
from shortlist.errors import InvalidFileError
from shortlist.native import proof, search
from shortlist.native.proof import make_certificate

DOCUMENT = Path(__file__).parents[1] / "docs" / "certificate.md"

pytestmark = pytest.mark.filterwarnings("ignore:budget")


@pytest.fixture
def problem():
    X, y = make_data(n_columns=6)
    return sl.SubsetProblem(X, y, ridge=0.05, max_features=3)


@pytest.fixture
def certificate(problem):
    """A proof whose first point has a correction."""
    certificate = sl.solve(problem).certificate
    first, *others = certificate.points
    return replace(certificate, points=(with_newton_step(problem, first), *others))


def content_of(certificate: Certificate) -> dict:
    """What the file says."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.json"
        certificate.save(path)
        return json.loads(path.read_text(encoding="utf-8"))


def load_content(content: object) -> Certificate:
    return load_text(json.dumps(content))


def load_text(text: str) -> Certificate:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.json"
        path.write_text(text, encoding="utf-8")
        return Certificate.load(path)


def check_refused(text: str, message: str | None = None) -> None:
    with pytest.raises(sl.InvalidCertificateError, match=message) as caught:
        load_text(text)
    said = str(caught.value)
    assert said.startswith("path: ")
    assert said.endswith(".")
    assert "\n" not in said
    assert len(said) < 200


# --- the file ---


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("source", [proven, corrected])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_saved_is_loaded(seed, source, ending, tmp_path):
    problem, certificate, _ = source(seed)
    path = tmp_path / f"proof.{ending}"
    certificate.save(path)
    loaded = Certificate.load(str(path))
    assert loaded == certificate
    assert repr(loaded) == repr(certificate)  # every digit, and every type
    assert sl.verify(problem, loaded) == sl.verify(problem, certificate)
    loaded.save(tmp_path / f"again.{ending}")
    assert (tmp_path / f"again.{ending}").read_bytes() == path.read_bytes()


def test_a_file_appears_whole_or_not_at_all(certificate, tmp_path, monkeypatch):
    path = tmp_path / "proof.json"
    certificate.save(path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("no space left")

    with pytest.raises(ValueError, match="JSON compliant"):
        replace(certificate, objective=inf).save(path)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        with pytest.raises(InvalidFileError, match="cannot be written"):
            certificate.save(path)
    with pytest.raises(InvalidFileError, match="No such file"):
        certificate.save(tmp_path / "nowhere" / "proof.json")
    assert [file.name for file in tmp_path.iterdir()] == ["proof.json"]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    ["", "no", "{", "[1, 2", '{"format": }', "9" * 5000, "[" * 100_000, '{"a": ' + "[" * 100_000],
)
def test_what_is_not_json(text):
    check_refused(text, "is not JSON")


def test_what_is_not_text(tmp_path):
    (tmp_path / "proof.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sl.InvalidCertificateError, match=r"^path: proof.json is not JSON"):
        Certificate.load(tmp_path / "proof.json")


@pytest.mark.parametrize("content", [None, 3, [], "text", {}, {"format": "other"}, {"format": []}])
def test_what_is_no_certificate(content):
    check_refused(json.dumps(content), "does not say that it is")


@pytest.mark.parametrize("version", [None, 0, 2, "1", 1.0, True, [1], {"a": 1}, 10**300])
def test_other_versions(certificate, version):
    check_refused(json.dumps(content_of(certificate) | {"version": version}), "version is not 1")


def test_a_missing_field(certificate):
    content = content_of(certificate)
    assert (content["format"], content["version"]) == (FORMAT, VERSION)
    for field in content:
        rest = {key: value for key, value in content.items() if key != field}
        check_refused(json.dumps(rest), "does not say" if field == "format" else field)


BAD_NUMBERS = [None, True, "1.0", [], {}, float("nan"), inf, -inf, 10**400]
BAD_INDICES = [None, False, "1", 1.0, [], -1, 2**62, 10**400, inf]


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize(
    "where",
    [
        ["objective"],
        ["lower_bound"],
        ["model", 0],
        ["points", 0, 0],
        ["points", 0, 3, 0],
        ["points", 0, 3, -1],
    ],
)
def test_what_is_no_number(certificate, where, bad):
    check_refused(json.dumps(changed(content_of(certificate), where, bad)), where[0])


@pytest.mark.parametrize("bad", BAD_INDICES)
@pytest.mark.parametrize("where", [["support", 0], ["model", 1, 0], ["steps", 0, 1]])
def test_what_is_no_index(certificate, where, bad):
    check_refused(json.dumps(changed(content_of(certificate), where, bad)), where[0])


@pytest.mark.parametrize(
    ("where", "bad"),
    [
        (["problem"], 3),
        (["support"], {}),
        (["support"], [1, 1]),
        (["model"], [0.0, [1, 2], [0.5]]),
        (["model"], [0.0, [1, 1], [0.5, 0.5]]),
        (["model"], [0.0, [1], 0.5]),
        (["model"], {"intercept": 0.0}),
        (["model"], [0.0, [1], [0.5], [0.0, 0.0]]),
        (["points"], {}),
        (["points", 0, 3], []),
        (["points", 0, 3], None),
        (["points", 0, 3], 0.5),
        (["points", 0, 3], [0.0]),
        (["points", 0], [0.0, [1], [0.5], [0.1, 0.2], []]),
        (["points", 0], []),
        (["points"], []),
        (["steps"], "bound"),
        (["steps", 0], []),
        (["steps", 0], "bound"),
        (["steps", 0], ["guess", 0, 0]),
        (["steps", 0], [["bound"], 0, 0]),
        (["steps", 0], ["bound", 0]),
        (["steps", 0], ["bound", 0, 0, 0]),
        (["steps", 0], ["bound", 0, 10**6]),
        (["steps", 0], ["fix", 0, 0, [1, 1], []]),
        (["steps", 0], ["fix", 0, 0, 1, []]),
        (["steps", 0], ["one", 0, 0, [0, [1]]]),
    ],
)
def test_what_has_another_form(certificate, where, bad):
    check_refused(json.dumps(changed(content_of(certificate), where, bad)))


def changed(content, where, value):
    """A copy in which one place has another value."""
    content = copy.deepcopy(content)
    inner = content
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    return content


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(0, 20) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def damaged(draw):
    """A file of which one place is replaced, removed or repeated, and the seed of its problem."""
    seed = draw(st.integers(0, 19))
    # Nothing that the file claims, so that more of it is looked at.
    source = corrected if draw(st.booleans()) else proven
    content = content_of(replace(source(seed)[1], objective=1e300, lower_bound=0.0))
    inner = content
    while True:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = draw(st.sampled_from(keys))
        if not isinstance(inner[key], list) or not inner[key] or draw(st.integers(0, 3)) == 0:
            break
        inner = inner[key]
    action = draw(st.sampled_from(["replace", "remove", "repeat"]))
    if action == "replace":
        inner[key] = draw(json_values)
    elif action == "remove":
        del inner[key]
    elif isinstance(inner, list):
        inner.insert(key, copy.deepcopy(inner[key]))
    return seed, content


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(damaged())
def test_a_damaged_file_is_refused_or_proves_nothing_false(case):
    seed, content = case
    problem, _, optimum = proven(seed)
    try:
        loaded = load_content(content)
    except sl.InvalidCertificateError as error:
        assert str(error).startswith("path: ")
        assert str(error).endswith(".")
    else:
        check_sound(problem, loaded, optimum)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_proofs_of_other_losses_are_packed_too(loss, tmp_path):
    problem = random_problem(4, loss=loss)
    certificate = sl.solve(problem).certificate
    certificate.save(tmp_path / "proof.npz")
    assert Certificate.load(tmp_path / "proof.npz") == certificate


def pack(path, arrays, save=np.savez_compressed):
    save(path, **arrays)
    return path


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_damaged_archive_is_refused_or_proves_nothing_false(data):
    """Bytes that are flipped, arrays that are changed, of another type or form, or missing."""
    seed = data.draw(st.integers(0, 19))
    problem, certificate, optimum = corrected(seed)
    certificate = replace(certificate, objective=1e300, lower_bound=0.0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        certificate.save(path)
        if data.draw(st.booleans()):
            content = bytearray(path.read_bytes())
            content[data.draw(st.integers(2, len(content) - 1))] ^= data.draw(st.integers(1, 255))
            path.write_bytes(content)
        else:
            with np.load(path) as archive:
                arrays = {name: archive[name] for name in archive.files}
            name = data.draw(st.sampled_from(sorted(arrays)))
            array = arrays.pop(name)
            changes = [None, array.astype(float), array[:, None], array[:-1], -array.astype(float)]
            changes += [array.astype(complex), array.astype("datetime64[s]"), np.array([[]])]
            if array.size:
                other = array.copy()
                place = data.draw(st.integers(0, array.size - 1))
                other[place] = other[place] + data.draw(st.sampled_from([1, 7]))
                changes.append(other)
            change = data.draw(st.sampled_from(changes))
            save = data.draw(st.sampled_from([np.savez_compressed, np.savez]))
            pack(path, arrays if change is None else arrays | {name: change}, save)
        try:
            loaded = Certificate.load(path)
        except sl.InvalidCertificateError as error:
            assert str(error).startswith("path: ")
            assert str(error).endswith(".")
        else:
            check_sound(problem, loaded, optimum)


def test_files_that_would_take_far_more_memory_than_they_are_long(certificate, tmp_path):
    content = content_of(certificate)
    check_refused(json.dumps(content | {"padding": [[]] * 100_000}, separators=(",", ":")))
    with np.load(certificate_archive(certificate, tmp_path)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    empty, whole = np.zeros(20_000), np.zeros(20_000, dtype=np.uint8)
    arrays |= {"intercepts": empty, "smoothings": empty, "lengths": whole, "corrected": whole}
    arrays |= dict.fromkeys(("columns", "values", "corrections"), empty[:0])
    bomb = pack(tmp_path / "bomb.npz", arrays)
    with pytest.raises(sl.InvalidCertificateError, match="nor packed"):
        Certificate.load(bomb)


def certificate_archive(certificate, folder):
    certificate.save(folder / "proof.npz")
    return folder / "proof.npz"


# --- who has a certificate ---


def test_heuristics_and_enumeration_have_none(problem):
    heuristics = [name for name, about in sl.available_backends().items() if "heuristic" in about]
    assert len(heuristics) >= 8
    for backend in ["enumeration", *heuristics]:
        assert sl.solve(problem, backend).certificate is None


def test_a_certificate_says_what_its_solution_says(problem):
    solution = sl.solve(problem)
    certificate = solution.certificate
    assert certificate is solution.certificate
    assert certificate.problem == problem.digest
    assert certificate.support == solution.support
    assert certificate.objective == solution.objective
    assert certificate.lower_bound == pytest.approx(solution.lower_bound, rel=2e-9)
    assert certificate.lower_bound <= solution.lower_bound
    used = {step.point for step in certificate.steps if hasattr(step, "point")}
    assert used == set(range(len(certificate.points)))


@pytest.mark.parametrize(
    "copied", [lambda s: pickle.loads(pickle.dumps(s)), copy.copy, copy.deepcopy]
)
def test_a_copy_keeps_the_proof_and_not_the_data(problem, copied):
    solution = sl.solve(problem)
    again = copied(solution)
    assert again.prover is None
    assert again.certificate == solution.certificate
    assert sl.verify(problem, again.certificate).valid
    np.testing.assert_array_equal(again.coef, solution.coef)
    assert len(pickle.dumps(solution)) < problem.X.nbytes + len(pickle.dumps(again.certificate))


def test_a_proof_that_would_be_too_long_is_not_kept(monkeypatch):
    problem = make_long_search()
    whole = sl.solve(problem)
    assert whole.prover is not None
    monkeypatch.setattr(search, "_PART_OF_TRACE", 1)
    monkeypatch.setattr(proof, "_SHARE_OF_DISK", 0.0)
    with pytest.warns(sl.ShortlistWarning, match="no certificate") as warned:
        limited = sl.solve(problem)
    assert len(warned) == 1
    assert limited.certificate is None
    assert limited.status is sl.Status.OPTIMAL
    assert (limited.support, limited.objective) == (whole.support, whole.objective)
    assert (limited.lower_bound, limited.nodes) == (whole.lower_bound, whole.nodes)


@pytest.fixture
def long_proof(monkeypatch):
    """A problem, and a solution whose record went to files in many parts."""
    monkeypatch.setattr(search, "_PART_OF_TRACE", 2**13)
    monkeypatch.setattr(search, "_FIRST_SLICE", 1e5)
    monkeypatch.setattr(search, "_SLICE_SECONDS", 1e-4)
    problem = make_long_search()
    return problem, sl.solve(problem)


def test_a_record_that_outgrows_memory_goes_to_files(long_proof):
    problem, solution = long_proof
    certificate = solution.certificate
    assert isinstance(solution.prover.recorded.record.points, np.memmap)
    assert len(certificate.points) > 50
    verdict = sl.verify(problem, certificate)
    assert (verdict.valid, verdict.gap < 1.1e-6) == (True, True), verdict.reason
    whole = make_certificate(problem, solution, certificate.steps, certificate.points)
    assert whole.steps != ()
    assert sl.verify(problem, whole) == verdict


@pytest.mark.parametrize("threads", [1, 3])
def test_a_long_proof_of_a_search_that_is_broken_off_holds(long_proof, threads):
    problem, solution = long_proof
    for node_limit in (20, 70, solution.nodes - 1):
        part = sl.solve(problem, node_limit=node_limit, threads=threads)
        verdict = sl.verify(problem, part.certificate)
        assert verdict.valid, verdict.reason
        assert 0 < verdict.lower_bound <= solution.objective


def test_a_long_proof_is_read_where_it_lies(long_proof, tmp_path, monkeypatch):
    problem, solution = long_proof
    certificate = solution.certificate
    monkeypatch.setattr(archive, "_BLOCK", 7)
    certificate.save(tmp_path / "proof.npz", {"card": 1})
    certificate.save(tmp_path / "proof.json")
    loaded, attached = Certificate.load_attached(tmp_path / "proof.npz")
    assert attached == {"card": 1}
    assert isinstance(loaded.points, Listed) and isinstance(loaded.steps, Listed)
    whole = Certificate.load(tmp_path / "proof.json")
    assert (tuple(loaded.points), tuple(loaded.steps)) == (whole.points, whole.steps)
    assert replace(loaded, points=whole.points, steps=whole.steps) == whole
    monkeypatch.setattr(verification, "_KNOWN_VALUES", 1)
    verdict = sl.verify(problem, loaded)
    assert verdict.valid
    assert verdict == sl.verify(problem, whole)
    whole.save(tmp_path / "whole.npz")
    assert Certificate.load(tmp_path / "whole.npz") == whole


def test_a_damaged_place_of_a_long_proof_is_named(long_proof, tmp_path):
    _, solution = long_proof
    path = tmp_path / "proof.npz"
    solution.certificate.save(path)
    with np.load(path) as found:
        arrays = {name: found[name] for name in found.files}
    n = len(arrays["intercepts"])
    for name, place, value, told in (
        ("intercepts", n - 1, np.nan, rf"points\[{n - 1}\]\[0\] .* a finite number"),
        ("numbers", -1, n, "refers to one of the"),
        ("kinds", 0, 9, "not JSON, nor packed"),
    ):
        changed = arrays[name].copy()
        changed[place] = value
        pack(path, arrays | {name: changed}, np.savez)
        with pytest.raises(sl.InvalidCertificateError, match=told):
            Certificate.load(path)


def test_a_long_proof_travels_without_the_data(long_proof):
    problem, solution = long_proof
    again = pickle.loads(pickle.dumps(solution))
    assert again.prover is None
    assert tuple(again.certificate.points) == tuple(solution.certificate.points)
    assert sl.verify(problem, again.certificate).valid
    n_bytes = solution.prover.recorded.record.n_bytes
    assert len(pickle.dumps(solution)) < n_bytes + problem.X.nbytes


# --- the digest of a problem ---


@pytest.mark.parametrize("seed", range(10))
def test_the_digest_does_not_depend_on_the_layout_of_x(seed):
    arguments = random_arguments(seed)
    X = arguments["X"]
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    digests = {
        sl.SubsetProblem(**arguments | {"X": same}).digest
        for same in (X, np.asfortranarray(X), wide, X.tolist(), frame, X.astype(">f8"))
    }
    assert len(digests) == 1
    assert random_problem(seed).digest in digests


def test_the_digest_of_a_large_table_does_not_depend_on_its_layout():
    X = np.random.default_rng(0).normal(size=(1500, 1500))
    y = X[:, 0] > 0
    digests = {sl.SubsetProblem(A, y, ridge=1.0).digest for A in (X, np.asfortranarray(X))}
    assert len(digests) == 1


def test_whatever_defines_the_problem_changes_its_digest():
    X, y = make_data(n_columns=4)
    given = {
        "X": X,
        "y": y,
        "ridge": 0.1,
        "budget": 5.0,
        "costs": [1.0, 2.0, 3.0, 4.0],
        "max_features": 3,
        "groups": [0, 1, 2, 3],
        "fees": [(1.0, [0, 1])],
        "include": [0],
        "exclude": [3],
        "sample_weight": np.ones(len(y)),
    }
    first = np.arange(len(y)) == 0
    nudged = X.copy()
    nudged[7, 2] = np.nextafter(nudged[7, 2], inf)
    others = [
        {"X": nudged},
        {"X": X[:, [1, 0, 2, 3]]},
        {"y": np.where(first, 1 - y, y)},
        {"ridge": np.nextafter(0.1, 1.0)},
        {"budget": 5.5},
        {"budget": None},
        {"costs": [1.0, 2.0, 3.0, 4.5]},
        {"max_features": 2},
        {"groups": [1, 0, 2, 3]},
        {"fees": []},
        {"fees": [(1.5, [0, 1])]},
        {"fees": [(1.0, [0, 2])]},
        {"include": []},
        {"include": [1]},
        {"exclude": []},
        {"sample_weight": np.where(first, 2.0, 1.0)},
    ]
    digests = {sl.SubsetProblem(**given | other).digest for other in [{}, *others]}
    assert len(digests) == len(others) + 1


# --- docs/certificate.md ---


def test_the_example_of_the_documentation_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(DOCUMENT), module_relative=False, encoding="utf-8")
    assert result.attempted > 6
    assert result.failed == 0


def test_the_file_in_the_documentation_is_a_proof():
    text = DOCUMENT.read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    data = sl.datasets.make_prognostic(n_samples=82, n_features=14, random_state=0)
    problem = sl.SubsetProblem(data.X, data.y, ridge=0.1, max_features=2)
    verdict = sl.verify(problem, load_text(text))
    assert verdict.valid, verdict.reason
    assert verdict.gap < 1e-6


def test_attached_fields_come_back_and_cannot_replace_its_own(certificate, tmp_path):
    path = tmp_path / "proof.json"
    certificate.save(path, {"card": {"a": [1, None]}, "objective": 0.0})
    assert Certificate.load_attached(path) == (certificate, {"card": {"a": [1, None]}})
    assert Certificate.load(path) == certificate
