"""Files written for other solvers, read back."""

import sys

import numpy as np
import pytest
from catalogue import CATALOGUE, LIMITED
from scipy import sparse

import shortlist as sl
from shortlist.conic import export as module
from shortlist.conic.loss import Cone
from shortlist.conic.model import conic_model
from shortlist.errors import MissingDependencyError

KINDS = {"EXP": Cone.EXPONENTIAL, "QR": Cone.ROTATED}


class Cbf:
    """A reader of the parts of the Conic Benchmark Format that a mixed-integer model has."""

    def __init__(self, text):
        lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
        self.lines = iter([line for line in lines if line])
        self.cost = self.offset = None
        for (section,) in self.lines:
            getattr(self, f"read_{section.lower()}")()
        assert self.version == 3
        assert self.sense == "MIN"

    def read_ver(self):
        self.version = int(next(self.lines)[0])

    def read_objsense(self):
        self.sense = next(self.lines)[0]

    def read_domains(self):
        total, n_domains = map(int, next(self.lines))
        domains = [(kind, int(size)) for kind, size in (next(self.lines) for _ in range(n_domains))]
        assert sum(size for _, size in domains) == total
        return total, domains

    def read_var(self):
        self.n_variables, self.variables = self.read_domains()

    def read_con(self):
        self.n_functions, self.domains = self.read_domains()

    def read_int(self):
        self.whole = [int(next(self.lines)[0]) for _ in range(int(next(self.lines)[0]))]

    def read_vector(self, size):
        vector = np.zeros(size)
        for _ in range(int(next(self.lines)[0])):
            i, value = next(self.lines)
            vector[int(i)] = float(value)
        return vector

    def read_objacoord(self):
        self.cost = self.read_vector(self.n_variables)

    def read_bcoord(self):
        self.offset = self.read_vector(self.n_functions)

    def read_acoord(self):
        entries = [next(self.lines) for _ in range(int(next(self.lines)[0]))]
        i, j, value = zip(*entries, strict=True)
        place = (np.array(i, dtype=int), np.array(j, dtype=int))
        shape = (self.n_functions, self.n_variables)
        self.matrix = sparse.csr_array((np.array(value, dtype=float), place), shape)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_cbf_file_says_what_the_model_says(tmp_path, name):
    problem = CATALOGUE[name].problem()
    path = tmp_path / "problem.cbf"
    sl.export(problem, path)
    file, model = Cbf(path.read_text()), conic_model(problem)
    assert (file.cost == model.cost).all()
    assert file.whole == np.flatnonzero(model.integer).tolist()
    assert file.variables == [("F", model.n_variables)]
    # Linear constraints come first: rows, then bounds.
    assert file.domains[0][0] == "L-"
    assert tuple((KINDS[kind], size) for kind, size in file.domains[1:]) == model.cones
    n_rows, n_linear = len(model.rows), file.domains[0][1]
    assert (file.matrix[:n_rows] != model.rows.matrix).nnz == 0
    assert (file.offset[:n_rows] == model.rows.offset).all()
    assert (file.matrix[n_linear:] != model.conic.matrix).nnz == 0
    assert (file.offset[n_linear:] == model.conic.offset).all()
    lower, upper = np.full(model.n_variables, -np.inf), np.full(model.n_variables, np.inf)
    for i in range(n_rows, n_linear):
        ((j,), (factor,)) = file.matrix[[i]].indices, file.matrix[[i]].data
        assert abs(factor) == 1
        side = upper if factor > 0 else lower
        side[j] = -factor * file.offset[i]
    assert (lower == model.lower).all()
    assert (upper == model.upper).all()


@pytest.mark.parametrize("name", ["tiny", "groups", "fees"])
def test_mosek_reads_a_cbf_file(tmp_path, name):
    mosek = pytest.importorskip("mosek", reason="needs shortlist[mosek]; no licence is needed")
    problem = CATALOGUE[name].problem()
    sl.export(problem, tmp_path / "problem.cbf")
    model = conic_model(problem)
    with mosek.Task() as task:
        task.readdata(str(tmp_path / "problem.cbf"))
        assert task.getnumvar() == model.n_variables
        assert task.getnumintvar() == model.integer.sum()
        assert task.getnumacc() == 1 + len(model.cones)
        kinds = {
            Cone.EXPONENTIAL: mosek.domaintype.primal_exp_cone,
            Cone.ROTATED: mosek.domaintype.rquadratic_cone,
        }
        for k, (kind, size) in enumerate(model.cones, start=1):
            assert task.getdomaintype(task.getaccdomain(k)) == kinds[kind]
            assert task.getaccn(k) == size


@pytest.mark.parametrize("name", ["tiny", "groups", "fees", "weights", "largest coefficient"])
def test_scip_reads_and_solves_an_nl_file(tmp_path, name):
    pyscipopt = pytest.importorskip("pyscipopt", reason="needs shortlist[scip]")
    known = (CATALOGUE | LIMITED)[name]
    path = tmp_path / "problem.nl"
    sl.export(known.problem(), path)
    scip = pyscipopt.Model()
    scip.hideOutput()
    scip.readProblem(str(path))
    scip.optimize()
    assert scip.getStatus() == "optimal"
    # Up to SCIP's own tolerance, which a user of the file may tighten.
    assert scip.getObjVal() == pytest.approx(known.objective, rel=1e-4)
    values = {variable.name: scip.getVal(variable) for variable in scip.getVars()}
    bought = tuple(g for g in range(9) if values.get(f"z[{g}]", 0.0) > 0.5)
    assert bought in known.supports


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_a_cbf_file_of_another_loss_has_quadratic_cones_alone(tmp_path, loss):
    known = CATALOGUE["tiny"]
    problem = sl.SubsetProblem(**known.arguments(), loss=loss)
    sl.export(problem, tmp_path / "problem.cbf")
    text = (tmp_path / "problem.cbf").read_text()
    assert text.startswith(f"# Best-subset selection, {loss} loss")
    assert "EXP" not in text
    file, model = Cbf(text), conic_model(problem)
    assert tuple((KINDS[kind], size) for kind, size in file.domains[1:]) == model.cones
    n_cones = problem.n_predictors + (problem.n_rows if loss == "squared_hinge" else 0)
    assert len(model.cones) == n_cones


@pytest.mark.parametrize("name", ["problem.mps", "problem", "cbf"])
def test_an_unknown_format_is_named(tmp_path, name):
    with pytest.raises(sl.InvalidProblemError, match=r"path: .* use one of .cbf, .nl\."):
        sl.export(CATALOGUE["tiny"].problem(), tmp_path / name)


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(sl.InvalidProblemError, match="path: there is no folder"):
        sl.export(CATALOGUE["tiny"].problem(), str(tmp_path / "none" / "problem.cbf"))


def test_an_old_file_survives_a_failure(tmp_path, monkeypatch):
    path = tmp_path / "problem.cbf"
    path.write_text("old")

    def fail(problem, path):
        path.write_text("half")
        raise OSError

    monkeypatch.setitem(sys.modules[module.__module__]._WRITERS, ".cbf", fail)
    with pytest.raises(OSError):
        sl.export(CATALOGUE["tiny"].problem(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_without_scip_a_sentence_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(MissingDependencyError, match=r"install 'shortlist\[scip\]"):
        sl.export(CATALOGUE["tiny"].problem(), tmp_path / "problem.nl")
    assert list(tmp_path.iterdir()) == []
