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
