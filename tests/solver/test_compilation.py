"""When machine code is announced, and when it is dropped because the source has changed."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import FunctionCache

import shortlist as sl
from shortlist.solver import compilation, kernels, rounds
from shortlist.solver.kernels import pack, part, search, staircase

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


class Workplace:
    """A folder of sources and one of machine code, and `ready_kernels` working on them.

    search imports fit, fit imports rows; tree imports nothing.
    """

    FUNCTIONS = ("search.run_search", "search.polish", "fit.fit_selection", "rows.dot", "tree.pop")

    def __init__(self, root, monkeypatch, caplog):
        self.sources, self.machine_code = root / "kernels", root / "cache"
        self.sources.mkdir()
        self.machine_code.mkdir()
        (self.sources / "search.py").write_text("import math\n\nfrom .fit import fit_selection\n")
        (self.sources / "fit.py").write_text("from .rows import dot\n")
        (self.sources / "rows.py").write_text("x = 1\n")
        (self.sources / "tree.py").write_text("x = 1\n")
        self._caplog, self._monkeypatch = caplog, monkeypatch
        caplog.set_level(logging.WARNING, logger="shortlist")
        monkeypatch.setattr(compilation, "_sources", self._list)
        monkeypatch.setattr(compilation, "machine_code_folder", lambda: self.machine_code)
        monkeypatch.setattr(compilation, "dispatchers", lambda: iter(()))
        monkeypatch.setattr(compilation, "_run_all", self.compile)

    def _list(self):
        return {path.stem: path for path in self.sources.glob("*.py")}

    def start(self):
        """Do what the first solve of a process does; return how often it said that it compiles."""
        self._caplog.clear()
        self._monkeypatch.setattr(compilation, "_checked", False)
        compilation.ready_kernels()
        return sum("Compiling" in record.message for record in self._caplog.records)

    def compile(self):
        """Do what numba does: leave an index and machine code per function."""
        self.kept = self.compiled()
        for name in self.FUNCTIONS:
            (self.machine_code / f"{name}-7.py311.nbi").write_text("index")
            (self.machine_code / f"{name}-7.py311.1.nbc").write_text("code")

    def compiled(self):
        """The functions of which there is machine code."""
        return {path.name.split("-")[0] for path in self.machine_code.glob("*.nb[ic]")}


@pytest.fixture
def workplace(tmp_path, monkeypatch, caplog):
    return Workplace(tmp_path, monkeypatch, caplog)


def test_compilation_is_announced_once(workplace):
    assert [workplace.start() for _ in range(3)] == [1, 0, 0]
    assert workplace.compiled() == set(workplace.FUNCTIONS)


def test_an_interrupted_compilation_is_announced_again_and_goes_on(workplace, monkeypatch):
    def interrupted():
        (workplace.machine_code / "rows.dot-7.py311.nbi").write_text("index")
        raise KeyboardInterrupt

    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):
        context.setattr(compilation, "_run_all", interrupted)
        workplace.start()
    assert workplace.start() == 1
    assert workplace.kept == {"rows.dot"}
    assert workplace.start() == 0


def touch(path):
    changed = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(changed, changed))


def lengthen_unnoticed(path):
    unchanged = path.stat().st_mtime_ns
    path.write_text(path.read_text() + "y = 12\n")
    os.utime(path, ns=(unchanged, unchanged))


@pytest.mark.parametrize("change", [touch, lengthen_unnoticed])
@pytest.mark.parametrize(
    "name, kept",
    [
        ("rows", {"tree.pop"}),
        ("fit", {"tree.pop", "rows.dot"}),
        ("search", {"tree.pop", "rows.dot", "fit.fit_selection"}),
        ("tree", set(Workplace.FUNCTIONS) - {"tree.pop"}),
    ],
)
def test_a_changed_file_drops_the_machine_code_that_depends_on_it(workplace, name, kept, change):
    workplace.start()
    change(workplace.sources / f"{name}.py")
    assert workplace.start() == 1
    assert workplace.kept == kept
    assert workplace.start() == 0


def test_new_and_removed_files_are_changes(workplace):
    workplace.start()
    (workplace.sources / "gram.py").write_text("x = 1\n")
    (workplace.sources / "tree.py").unlink()
    assert workplace.start() == 1
    assert workplace.kept == set(workplace.FUNCTIONS) - {"tree.pop"}


def test_another_machine_compiles_for_itself_and_leaves_the_rest_alone(workplace, monkeypatch):
    """As on a cluster whose nodes differ and share a home folder."""
    workplace.start()
    with monkeypatch.context() as context:
        context.setattr("llvmlite.binding.get_host_cpu_name", lambda: "another one")
        assert [workplace.start(), workplace.start()] == [1, 0]
    assert workplace.kept == set(workplace.FUNCTIONS)
    assert workplace.start() == 0


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"sources": {}, "machines": []}'])
def test_machine_code_of_unknown_origin_goes(workplace, content):
    workplace.compile()
    (workplace.machine_code / "kernels.json").write_text(content)
    assert workplace.start() == 1
    assert workplace.kept == set()


def test_other_files_are_left_alone_and_do_not_count(workplace):
    workplace.start()
    others = [workplace.machine_code / name for name in ("rows.cpython-311.pyc", "notes.txt")]
    for path in others:
        path.write_text("keep")
    (workplace.sources / "notes.txt").write_text("x")
    assert workplace.start() == 0
    touch(workplace.sources / "rows.py")
    workplace.start()
    assert all(path.read_text() == "keep" for path in others)


def test_a_process_checks_once(workplace, monkeypatch):
    workplace.start()
    monkeypatch.setattr(compilation, "_State", None)
    assert compilation.ready_kernels() == 0


def test_all_kernels_are_kept_on_disk_in_the_folder_that_is_watched():
    """A kernel without `cache=True` would be compiled by every process, one elsewhere get stale."""
    found = list(compilation.dispatchers())
    assert len(found) > 100
    folder = compilation.machine_code_folder()
    for dispatcher in found:
        assert isinstance(dispatcher._cache, FunctionCache), dispatcher
        assert Path(dispatcher._cache.cache_path) == folder, dispatcher
        assert Path(dispatcher.py_func.__code__.co_filename).parent == Path(kernels.__path__[0])


def all_questions():
    """Ask for an optimum, a listing and a staircase, of tables and limits of all kinds."""
    rng = np.random.default_rng(0)
    X = rng.random((30, 6))
    y = rng.random(30) > 0.5
    frozen = X.copy()
    frozen.flags.writeable = False
    tables = [X, np.asfortranarray(X), frozen, X[::-1, ::-1], X.astype(np.float32), X.tolist()]
    for table in tables:
        sl.solve(sl.SubsetProblem(table, y, ridge=0.1, max_features=2))
    problem = sl.SubsetProblem(
        X, y.astype(int), ridge=1, budget=5, costs=[1, 2, 1, 1, 2, 3], fees=[(1, [0, 2])],
        groups=[0, 1, 2, 3, 4, 5], include=[1], sample_weight=rng.random(30),
    )  # fmt: skip
    limited = sl.solve(problem, warm_start=[1], node_limit=1, gap=0)
    assert limited.status is sl.Status.NODE_LIMIT
    sl.solve(sl.SubsetProblem(X, y, ridge=0.1, costs=np.sqrt(np.arange(1, 7)), budget=3.0))
    sl.solve(sl.SubsetProblem(X, y, ridge=0.1, groups=[0, 0, 1, 1, 2, 2], max_features=1))
    sl.near_optimal(problem, tolerance=0.5)
    sl.near_optimal(problem, tolerance=0.5, limit=1)
    sl.solve_path(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "_LONG_SEARCH", 0)
        patch.setattr(rounds, "_FIRST_NODE", 0)
        sl.solve(problem, threads=2)


def test_no_table_and_no_question_makes_an_entry_be_compiled_again():
    all_questions()
    entries = [
        pack.pack_table, pack.is_packed, pack.merge_rows, pack.constant_columns,
        search.run_search, search.polish, staircase.run_staircase, part.deal, part.collect,
    ]  # fmt: skip
    assert {entry.__name__: len(entry.signatures) for entry in entries} == {
        entry.__name__: 1 for entry in entries
    }


def print_signatures():
    all_questions()
    for kernel in compilation.dispatchers():
        print(kernel.__module__.split(".")[-1], kernel.__name__, len(kernel.signatures))


def run_in_new_process(function, **settings):
    """Call a function of this file in a new process; return what it prints on either stream."""
    code = f"import {__name__.split('.')[-1]} as tests; tests.{function.__name__}()"
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | {"PYTHONPATH": path} | settings,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.slow  # half a minute of compilation
def test_nothing_is_compiled_twice(tmp_path):
    """From an empty cache every kernel gets one signature; compilation is announced once."""
    run = run_in_new_process(print_signatures, NUMBA_CACHE_DIR=str(tmp_path))
    lines = [line.split() for line in run.stdout.splitlines()]
    counts = {f"{module}.{name}": int(count) for module, name, count in lines}
    assert len(counts) > 100
    # Copies of numbers and of states; what only `root_relaxation` uses is not compiled.
    expected = {"layout.copy": 2, "root.relax_root": 0}
    assert counts == dict.fromkeys(counts, 1) | expected
    assert run.stderr.count("Compiling") == 1
    assert run.stderr.count("\n") == 1


def small_answers():
    X = np.random.default_rng(0).random((20, 4))
    y = X[:, 0] + X[:, 1] ** 2 > 0.8
    problem = sl.SubsetProblem(X, y, ridge=0.1, budget=3, costs=[1, 2, 1, 1])
    listed = sl.near_optimal(problem, tolerance=0.3).to_frame()
    stairs = sl.solve_path(problem).to_frame()
    return [sl.solve(problem).objective, *listed["objective"], *stairs["objective"]]


def print_small_answers():
    assert compilation.ready_kernels() == 0
    print(*small_answers())


def test_kernels_run_as_plain_python():
    """With NUMBA_DISABLE_JIT=1 a debugger can step through them; the answers are the same."""
    run = run_in_new_process(print_small_answers, NUMBA_DISABLE_JIT="1")
    assert run.stderr == ""
    expected = small_answers()
    assert len(expected) > 5
    assert [float(word) for word in run.stdout.split()] == pytest.approx(expected, rel=1e-9)
