"""Tables that are mapped from disk or float32 are used as they are."""

import numpy as np
import pytest

import shortlist as sl
from shortlist import sampling
from shortlist.blocks import is_on_disk, row_blocks


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((5000, 8)).astype(np.float32)
    return X, rng.random(5000) < 1 / (1 + np.exp(-(X[:, 0] - X[:, 3] + 0.5 * X[:, 6])))


def mapped(path, X):
    np.save(path, X)
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_mapped_file_is_not_copied(table, tmp_path, dtype):
    X, y = table
    on_disk = mapped(tmp_path / "X.npy", X.astype(dtype))
    problem = sl.SubsetProblem(on_disk, y, ridge=1.0, max_features=2)
    assert problem.X is on_disk
    assert is_on_disk(problem.X)
    solution = sl.solve(problem, sample=1000)
    reference = sl.SubsetProblem(X.astype(np.float64), y, ridge=1.0, max_features=2)
    assert solution.status is sl.Status.OPTIMAL
    assert solution.support == sl.solve(reference).support
    assert problem.digest == reference.digest
    assert problem.objective(solution.coef, solution.intercept) == solution.objective
    assert reference.objective(solution.coef, solution.intercept) == solution.objective


def test_certificates_of_mapped_files_hold(table, tmp_path):
    X, y = table
    problem = sl.SubsetProblem(
        mapped(tmp_path / "X.npy", X[:1500]), y[:1500], ridge=1.0, max_features=2
    )
    solution = sl.solve(problem, sample=500)
    verdict = sl.verify(problem, solution.certificate)
    assert verdict.valid, verdict.reason


def test_float32_is_not_copied_and_has_the_answer_of_float64(table):
    X, y = table
    problem = sl.SubsetProblem(X, y, ridge=1.0, max_features=2)
    assert problem.X is X or problem.X.base is X
    assert problem.X.dtype == np.float32
    reference = sl.solve(sl.SubsetProblem(X.astype(np.float64), y, ridge=1.0, max_features=2))
    for solution in (sl.solve(problem), sl.solve(problem, sample=1000)):
        assert solution.support == reference.support
        assert solution.objective == pytest.approx(reference.objective, rel=1e-9)


def test_what_stays_open_on_disk_is_said(table, tmp_path, monkeypatch):
    X, y = table
    problem = sl.SubsetProblem(mapped(tmp_path / "X.npy", X), y, ridge=1.0, max_features=2)
    best = sl.solve(problem).objective
    monkeypatch.setattr(sampling, "_MOST_PASSES", 2)
    solution = sl.solve(problem, sample=60)
    assert solution.status is sl.Status.STALLED
    assert solution.lower_bound <= best <= solution.objective


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_values_on_disk_are_refused(table, tmp_path, dtype, value):
    X, y = table
    X = X.astype(dtype)
    X[4321, 5] = value
    with pytest.raises(sl.InvalidProblemError, match=r"^X: column 5 contains NaN or infinity"):
        sl.SubsetProblem(mapped(tmp_path / "X.npy", X), y, ridge=1.0)
    with pytest.raises(sl.InvalidProblemError, match=r"^X: column 5 contains NaN or infinity"):
        sl.SubsetProblem(X, y, ridge=1.0)


def test_blocks_cover_all_rows(table, tmp_path):
    X, _ = table
    blocks = list(row_blocks(mapped(tmp_path / "X.npy", X), size=777))
    assert np.array_equal(np.concatenate([block for _, block in blocks]), X)
    assert [rows.stop for rows, _ in blocks][:-1] == [rows.start for rows, _ in blocks][1:]


def test_changes_of_a_copy_on_write_file_survive(table, tmp_path):
    X, _ = table
    np.save(tmp_path / "X.npy", X)
    changed = np.load(tmp_path / "X.npy", mmap_mode="c")
    changed[:] = 7.0
    for _ in row_blocks(changed, size=1000):
        pass
    assert (changed == 7.0).all()
