"""MOSEK's task and the meaning of its answers, as far as they can be seen without a licence.

With one, `test_catalogue` solves the catalogue.
"""

import sys

import numpy as np
import pytest
from catalogue import CATALOGUE
from scipy import sparse

import shortlist as sl
from shortlist.backends import mosek as backend
from shortlist.conic.model import conic_model, point_of
from shortlist.errors import MissingDependencyError

KNOWN = CATALOGUE["overlapping fees"]


@pytest.fixture
def package():
    return pytest.importorskip("mosek", reason="needs shortlist[mosek]")


def test_without_the_package_a_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mosek", None)
    with pytest.raises(MissingDependencyError, match=r"install 'shortlist\[mosek\]'.*'native'"):
        sl.solve(KNOWN.problem(), "mosek")


def test_without_a_licence_a_sentence_says_so(package, monkeypatch, tmp_path):
    monkeypatch.setenv("MOSEKLM_LICENSE_FILE", str(tmp_path / "none.lic"))
    with pytest.raises(MissingDependencyError, match=r"no valid licence .* 'native'.*needs none"):
        sl.solve(KNOWN.problem(), "mosek")


@pytest.mark.parametrize("name", ["tiny", "groups", "overlapping fees", "include and exclude"])
def test_the_task_is_the_model(package, name):
    model = conic_model(CATALOGUE[name].problem(), scaled=True)
    with package.Task() as task:
        backend.fill_task(task, model)
        shape = model.rows.matrix.shape
        i, j, value = task.getatrip()
        assert (sparse.coo_array((value, (i, j)), shape) != model.rows.matrix).nnz == 0
        _, _, upper = task.getconboundslice(0, len(model.rows))
        assert (np.array(upper) == -model.rows.offset).all()
        i, j, value = task.getafeftrip()
        shape = model.conic.matrix.shape
        assert (sparse.coo_array((value, (i, j)), shape) != model.conic.matrix).nnz == 0
        assert (np.array(task.getc()) == model.cost).all()
        assert task.getnumacc() == len(model.cones)
        assert [task.getaccn(k) for k in range(task.getnumacc())] == [n for _, n in model.cones]
        _, lower, upper = task.getvarboundslice(0, model.n_variables)
        assert (np.clip(model.lower, -1e30, 1e30) == lower).all()
        assert (np.clip(model.upper, -1e30, 1e30) == upper).all()
        assert task.getnumintvar() == model.integer.sum()


@pytest.mark.parametrize(
    ("ending", "bound", "status"),
    [
        ("ok", KNOWN.objective, sl.Status.OPTIMAL),
        ("ok", 0.99 * KNOWN.objective, sl.Status.STALLED),
        ("trm_max_time", 10.0, sl.Status.TIME_LIMIT),
        ("trm_mio_num_relaxs", 10.0, sl.Status.NODE_LIMIT),
    ],
)
def test_how_answers_are_read(package, monkeypatch, ending, bound, status):
    problem = KNOWN.problem()
    best = sl.solve(problem, "enumeration")
    model = conic_model(problem, scaled=True)
    x = point_of(problem, model, best.support, best.coef, best.intercept)
    monkeypatch.setattr(backend, "_optimise", lambda task: backend.SolverRun(ending, x, bound, 7))
    solution = sl.solve(problem, "mosek")
    assert solution.status is status
    assert solution.support == best.support
    assert solution.objective == best.objective
    assert bound - 1e-6 < solution.lower_bound < bound
    assert solution.nodes == 7


def test_an_unknown_ending_is_no_answer(package, monkeypatch):
    outcome = backend.SolverRun("trm_stall", None, 0.0, 0)
    monkeypatch.setattr(backend, "_optimise", lambda task: outcome)
    with pytest.raises(RuntimeError, match="trm_stall"):
        sl.solve(KNOWN.problem(), "mosek")
