"""When machine code is announced, and when it is dropped because the source has changed."""

import logging
import os
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace

import pytest
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from shortlist.solver import compilation, kernels
from shortlist.solver.kernels.search import run_search


class Workplace:
    """A folder of sources and one of machine code, and `ready_kernels` working on them."""

    def __init__(self, root, caplog):
        self.sources, self.machine_code = root / "kernels", root / "cache"
        self.caplog = caplog
        self.sources.mkdir()
        for name in ("rows.py", "search.py"):
            (self.sources / name).write_text("x = 1\n")

    def start(self):
        """Do what the first solve of a process does; return how often it said that it compiles."""
        self.caplog.clear()
        compilation.ready_kernels.__wrapped__()
        return sum("Compiling" in record.message for record in self.caplog.records)

    def compile(self):
        """Do what numba does: leave an index and machine code per function."""
        for name in ("search.run_search-7.py311", "rows.dot-3.py311"):
            (self.machine_code / f"{name}.nbi").write_text("index")
            (self.machine_code / f"{name}.1.nbc").write_text("code")

    def compiled(self):
        return len(list(self.machine_code.glob("*.nb[ic]")))


@pytest.fixture
def workplace(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.WARNING, logger="shortlist")
    place = Workplace(tmp_path, caplog)
    cache = SimpleNamespace(cache_path=str(place.machine_code))
    monkeypatch.setattr(compilation, "run_search", SimpleNamespace(_cache=cache))
    monkeypatch.setattr(compilation, "kernels", SimpleNamespace(__path__=[str(place.sources)]))
    return place


def test_the_first_run_says_that_it_compiles(workplace):
    assert workplace.start() == 1


def test_later_runs_are_silent_and_keep_the_machine_code(workplace):
    workplace.start()
    workplace.compile()
    assert [workplace.start() for _ in range(2)] == [0, 0]
    assert workplace.compiled() == 4


def test_an_interrupted_compilation_is_announced_again_and_goes_on(workplace):
    workplace.start()
    workplace.compile()
    for file in workplace.machine_code.glob("search.*"):
        file.unlink()
    assert workplace.start() == 1
    assert workplace.compiled() == 2


def touch(sources):
    path = sources / "rows.py"
    changed = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(changed, changed))


def lengthen_unnoticed(sources):
    path = sources / "rows.py"
    unchanged = path.stat().st_mtime_ns
    path.write_text("x = 12\n")
    os.utime(path, ns=(unchanged, unchanged))


CHANGES = {
    "touched": touch,
    "longer": lengthen_unnoticed,
    "new file": lambda sources: (sources / "gram.py").write_text("x = 1\n"),
    "renamed": lambda sources: (sources / "rows.py").rename(sources / "row.py"),
    "removed": lambda sources: (sources / "rows.py").unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_any_change_of_the_sources_drops_all_machine_code(workplace, change):
    workplace.start()
    workplace.compile()
    change(workplace.sources)
    assert workplace.start() == 1
    assert workplace.compiled() == 0
    workplace.compile()
    assert workplace.start() == 0
    assert workplace.compiled() == 4


def test_other_files_of_the_folder_are_left_alone(workplace):
    workplace.start()
    workplace.compile()
    others = [workplace.machine_code / name for name in ("rows.cpython-311.pyc", "notes.txt")]
    for path in others:
        path.write_text("keep")
    touch(workplace.sources)
    workplace.start()
    assert all(path.read_text() == "keep" for path in others)


def test_files_that_are_not_sources_do_not_count(workplace):
    workplace.start()
    workplace.compile()
    (workplace.sources / "notes.txt").write_text("x")
    assert workplace.start() == 0


def test_a_process_checks_once():
    compilation.ready_kernels()
    before = compilation.ready_kernels.cache_info().misses
    compilation.ready_kernels()
    assert compilation.ready_kernels.cache_info().misses == before


def dispatchers():
    for module in iter_modules(kernels.__path__):
        for name, value in vars(import_module(f"{kernels.__name__}.{module.name}")).items():
            if isinstance(value, Dispatcher):
                yield f"{module.name}.{name}", value


def test_all_kernels_are_kept_on_disk_in_the_folder_that_is_watched():
    """A kernel without `cache=True` would be compiled by every process, one elsewhere get stale."""
    found = dict(dispatchers())
    assert len(found) > 20
    folder = Path(run_search._cache.cache_path)
    for name, dispatcher in found.items():
        assert isinstance(dispatcher._cache, FunctionCache), name
        assert Path(dispatcher._cache.cache_path) == folder, name
        assert Path(dispatcher.py_func.__code__.co_filename).parent == Path(kernels.__path__[0])
