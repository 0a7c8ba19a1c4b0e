"""What a search does when memory gets short."""

import numpy as np
import pytest

import shortlist as sl
from shortlist.native import proof, search


@pytest.fixture(scope="module")
def problem():
    """A tree of many nodes: weak ridge and little signal."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 60))
    y = X[:, :6].sum(axis=1) + 3 * rng.logistic(size=100) > 0
    return sl.SubsetProblem(X, y, ridge=1e-3, max_features=12)


@pytest.mark.filterwarnings("ignore::shortlist.ShortlistWarning")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_ends_at_its_memory_limit_with_model_and_bound(problem, threads):
    free = sl.solve(problem, node_limit=20_000, threads=threads)
    solution = sl.solve(problem, node_limit=20_000, memory_limit=1e6, threads=threads)
    assert free.status is sl.Status.NODE_LIMIT
    assert solution.status is sl.Status.MEMORY_LIMIT
    assert 0 < solution.lower_bound < solution.objective
    assert solution.lower_bound <= free.objective
    verdict = sl.verify(problem, solution.certificate)
    assert verdict.valid, verdict.reason
    assert solution.lower_bound * (1 - 1e-8) <= verdict.lower_bound <= free.objective


def test_the_record_goes_to_files_first_and_the_search_then_depth_first(problem):
    """At three times as much memory the tree stays small, whatever the number of nodes."""
    solution = sl.solve(problem, node_limit=20_000, memory_limit=3e6)
    assert solution.status is sl.Status.NODE_LIMIT
    assert solution.prover.recorded.record.n_bytes > 3e6
    assert 0 < solution.lower_bound < solution.objective


def test_a_record_for_which_the_disk_has_no_room_is_given_up(problem, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(proof, "TemporaryFile", full)
    with pytest.warns(sl.ShortlistWarning, match="exceed the memory or the disk"):
        solution = sl.solve(problem, node_limit=20_000, memory_limit=3e6)
    assert solution.status is sl.Status.NODE_LIMIT
    assert solution.certificate is None
    assert 0 < solution.lower_bound < solution.objective


def test_depth_first_is_as_exact_and_leaves_fewer_nodes_open(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 22))
    y = X[:, :4].sum(axis=1) + 2 * rng.logistic(size=60) > 0
    problem = sl.SubsetProblem(X, y, ridge=1e-3, max_features=6)
    monkeypatch.setattr(search, "_FIRST_SLICE", 0)
    monkeypatch.setattr(search, "_SLICE_SECONDS", 0.0)
    n_open, supports = [], set()
    for share in (0.5, 0.0):
        monkeypatch.setattr(search, "_SMALL_TREE", share)
        seen = []
        solution = sl.solve(problem, memory_limit=1e9, callback=seen.append)
        n_open.append(max(progress.open_nodes for progress in seen))
        supports.add(solution.support)
        bounds = [progress.lower_bound for progress in seen]
        assert bounds == sorted(bounds)
        assert solution.status is sl.Status.OPTIMAL
        assert sl.verify(problem, solution.certificate).valid
    assert len(supports) == 1
    assert n_open[1] < n_open[0]


def test_running_out_of_memory_keeps_the_answer(problem, monkeypatch):
    class Starved:
        """A search whose memory ends after some nodes."""

        def __init__(self, *given):
            self._search, self._calls = search_of(*given), 0

        def __getattr__(self, name):
            return getattr(self._search, name)

        def run(self, *given):
            self._calls += 1
            if self._calls == 3:
                raise MemoryError
            return self._search.run(*given)

    search_of = search.core.Search
    monkeypatch.setattr(search.core, "Search", Starved)
    solution = sl.solve(problem)
    assert solution.status is sl.Status.MEMORY_LIMIT
    assert solution.objective < problem.n_rows
    assert solution.support


@pytest.fixture
def priced(monkeypatch):
    """A problem whose searches take several slices, and no free memory for any tree."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 25)) + 0.8 * rng.normal(size=(120, 1))
    y = X[:, :8] @ rng.normal(size=8) + 2 * rng.normal(size=120) > 0
    monkeypatch.setattr(search, "_FIRST_SLICE", 1)
    costs = rng.integers(1, 10, 25)
    return sl.SubsetProblem(X, y, ridge=0.3, costs=costs, budget=30)


def starve(monkeypatch):
    monkeypatch.setattr(search, "_LITTLE", 0)
    monkeypatch.setattr(search, "_SHARE_OF_FREE", 0)


def test_a_path_claims_no_proof_that_memory_has_ended(priced, monkeypatch):
    whole = sl.solve_path(priced)
    assert whole.is_certified
    starve(monkeypatch)
    found = sl.solve_path(priced)
    for step in found:
        best = whole.at(step.limit).solution.objective
        assert step.solution.lower_bound <= best * (1 + 1e-9)
        if step.solution.status is sl.Status.OPTIMAL:
            assert step.solution.objective == pytest.approx(best, rel=1e-6)
    assert not found.is_certified


def test_a_list_that_memory_has_ended_is_not_complete(priced, monkeypatch):
    starve(monkeypatch)
    found = sl.near_optimal(priced, 0.02)
    assert not found.is_complete
    assert len(found) >= 1
    with pytest.raises(sl.InvalidProblemError, match="memory ran out"):
        sl.price_ranges(priced)


def test_ctrl_c_while_a_proof_is_checked_keeps_the_model(monkeypatch):
    from shortlist import verification

    def interrupted(*_):
        raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = X[:, 0] + rng.normal(size=60) > 0
    far = sl.SubsetProblem(X + 1e6, y, ridge=0.5, max_features=3)
    best = sl.solve(far)
    monkeypatch.setattr(verification, "verify", interrupted)
    solution = sl.solve(far)
    assert solution.status is sl.Status.INTERRUPTED
    assert solution.support == best.support
    assert solution.lower_bound == 0
