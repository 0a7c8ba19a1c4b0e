"""The public names, the registry of backends, and the options of `solve`."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.backends import Backend, solve_ridges
from shortlist.solution import Options

X = pd.DataFrame(np.random.default_rng(0).random((40, 4)), columns=["a", "b", "c", "d"])
Y = (X["a"] - X["b"] + X["c"] ** 2 > 0.4).to_numpy()


@pytest.fixture
def problem():
    return sl.SubsetProblem(X, Y, ridge=0.1, max_features=2)


def test_every_public_name_is_there():
    assert dir(sl) == sorted(sl.__all__)
    for name in sl.__all__:
        assert getattr(sl, name) is not None
    with pytest.raises(AttributeError, match="'shortlist' has no attribute 'nonsense'"):
        _ = sl.nonsense


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(sl.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    lines = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert all(alias.name == alias.asname for line in lines for alias in line.names)
    names = {alias.name for line in lines for alias in line.names}
    assert names | {"__version__"} == set(sl.__all__)


def test_import_loads_nothing_heavy():
    heavy = ("numpy", "scipy", "sklearn", "pandas")
    code = f"import sys, shortlist; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_solving_by_enumeration_loads_neither_the_estimators_nor_the_solver():
    code = (
        "import sys, shortlist as sl;"
        "sl.solve(sl.SubsetProblem([[0], [1]], [0, 1], ridge=1), 'enumeration');"
        "print([name for name in ('sklearn', 'shortlist.native') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_backends_are_described():
    backends = sl.available_backends()
    assert {"native", "enumeration"} <= set(backends)
    assert all(description and "\n" not in description for description in backends.values())


BAD = {
    "unknown backend": ({"backend": "magic"}, "backend: there is no 'magic'; use one of 'native'"),
    "backend is a list": ({"backend": ["native"]}, "backend: there is no"),
    "negative gap": ({"gap": -1e-3}, "gap: must be a number of at least 0, not -0.001"),
    "NaN gap": ({"gap": float("nan")}, "gap: must be a number of at least 0, not nan"),
    "infinite gap": ({"gap": float("inf")}, "gap: must be a number of at least 0"),
    "gap in words": ({"gap": "small"}, "gap: must be a number of at least 0, not 'small'"),
    "no gap": ({"gap": None}, "gap: must be a number of at least 0, not None"),
    "bool gap": ({"gap": True}, "gap: must be a number of at least 0, not True"),
    "negative time": ({"time_limit": -1}, "time_limit: must be a number of seconds of at least 0"),
    "NaN time": ({"time_limit": float("nan")}, "time_limit: must be a number of seconds"),
    "time in words": ({"time_limit": "1s"}, "time_limit: must be a number of seconds"),
    "no nodes": ({"node_limit": 0}, "node_limit: must be an integer of at least 1 or None"),
    "float nodes": ({"node_limit": 10.0}, "node_limit: must be an integer of at least 1"),
    "bool nodes": ({"node_limit": True}, "node_limit: must be an integer of at least 1"),
    "no memory": ({"memory_limit": 0}, "memory_limit: must be a number of bytes above 0 or None"),
    "memory in words": ({"memory_limit": "1 GB"}, "memory_limit: must be a number of bytes"),
    "endless nodes": ({"node_limit": 2**70}, "node_limit: must be at most 9223372036854775807"),
    "endless threads": ({"threads": 2**70}, "threads: must be at most 2147483647"),
    "no threads": ({"threads": 0}, "threads: must be an integer of at least 1 or None, not 0"),
    "float threads": ({"threads": 2.0}, "threads: must be an integer of at least 1 or None"),
    "bool threads": ({"threads": True}, "threads: must be an integer of at least 1 or None"),
    "callback": ({"callback": "print"}, "callback: must be a function of one argument or None"),
    "unknown start": ({"warm_start": ["z"]}, "warm_start: there is no predictor 'z'; use one of"),
    "start as text": ({"warm_start": "a"}, "warm_start: expected a list of predictors"),
    "start as number": ({"warm_start": 1}, "warm_start: expected a list of predictors"),
}


@pytest.mark.parametrize("options, expected", BAD.values(), ids=BAD.keys())
def test_bad_option_gives_one_sentence_that_names_it(problem, options, expected):
    with pytest.raises(sl.InvalidProblemError) as caught:
        sl.solve(problem, **options)
    assert str(caught.value).startswith(expected)
    assert str(caught.value).endswith(".")


def test_data_in_place_of_a_problem():
    with pytest.raises(sl.InvalidProblemError, match="problem: must be a SubsetProblem"):
        sl.solve(X, "enumeration")


@pytest.mark.parametrize("backend", ["native", "enumeration"])
@pytest.mark.parametrize("warm_start", [["a", "d"], [3, 0], [], ["a", "b", "c"], np.array([0])])
def test_warm_start_never_changes_the_optimum(problem, backend, warm_start):
    """Three predictors are one too many: that start is ignored."""
    solution = sl.solve(problem, backend, warm_start=warm_start)
    assert solution.status is sl.Status.OPTIMAL
    assert solution.support == sl.solve(problem, "enumeration").support


def test_numpy_numbers_are_numbers(problem):
    options = {
        "gap": np.float32(1e-3), "time_limit": np.int64(100), "node_limit": np.int64(1000),
        "threads": np.int64(2),
    }  # fmt: skip
    assert sl.solve(problem, "enumeration", **options).status is sl.Status.OPTIMAL


class Stub(Backend):
    """A backend that is interrupted at the second ridge."""

    def __init__(self):
        self.ridges = []

    def solve(self, problem, options):
        self.ridges.append(problem.ridge)
        solution = sl.solve(problem)
        if len(self.ridges) < 2:
            return solution
        return replace(solution, status=sl.Status.INTERRUPTED)


def test_an_interruption_ends_a_sequence_of_ridges(problem):
    stub = Stub()
    with pytest.raises(KeyboardInterrupt):
        stub.solve_ridges(problem, [0.3, 0.2, 0.1], Options())
    assert stub.ridges == [0.3, 0.2]


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "scip" else name
        for name in sl.available_backends()
        if name != "mosek"
    ],
)
def test_ridges_are_solved_as_one_by_one(backend):
    if backend == "scip":
        pytest.importorskip("pyscipopt")
    data = sl.datasets.make_prognostic(82, 8, 3, label_noise=0.05, random_state=3)
    problem = sl.SubsetProblem(data.X, data.y, ridge=5.0, costs=data.costs, budget=12)
    ridges = [1.0, 0.1, 0.02]
    together = solve_ridges(problem, ridges, backend)
    for ridge, solution in zip(ridges, together, strict=True):
        alone = sl.solve(problem.with_ridge(ridge), backend)
        assert solution.support == alone.support
        assert solution.objective == alone.objective
        assert solution.status is alone.status


def test_a_problem_with_another_ridge_is_a_new_problem(problem):
    other = sl.SubsetProblem(X, Y, ridge=0.02, max_features=2)
    assert problem.digest != other.digest
    assert problem.with_ridge(0.02).digest == other.digest
    with pytest.raises(sl.InvalidProblemError, match="ridge: must be"):
        problem.with_ridge(0.0)
