"""The core reads no memory that it has not written, and no other than its own."""

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest
from many_answers import many_answers

import shortlist

TESTS = Path(__file__).parents[1]
PACKAGE = Path(shortlist.__file__).parent
MINUTE = 60


def run(*arguments, package=PACKAGE, minutes=5, **environment):
    """Run Python in a new process that imports the package from a folder; return its output."""
    # Without `site`: the finder of an editable installation would come before the folder.
    packages = sysconfig.get_path("purelib")
    path = os.pathsep.join(
        [str(package.parent), str(TESTS / "support"), str(TESTS.parent), packages]
    )
    run = subprocess.run(
        [sys.executable, "-S", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=minutes * MINUTE,
        cwd=TESTS.parent,
    )
    assert run.returncode == 0, run.stdout[-10_000:]
    return run.stdout


def test_answers_do_not_depend_on_what_memory_held_before():
    """glibc fills new and freed memory with the bits of MALLOC_PERTURB_."""
    expected = many_answers()
    assert many_answers() == expected
    for bits in ("165", "90"):
        found = run(TESTS / "support" / "many_answers.py", MALLOC_PERTURB_=bits)
        assert found.strip() == expected


def tool(name):
    """Return the path of a program, which may be installed beside Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = shutil.which(name, path=path)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    """Copy the package to a folder, with a core that checks its addresses and its arithmetic."""
    folder = tmp_path_factory.mktemp("sanitized")
    compiler, cmake, sources = tool("g++"), tool("cmake"), TESTS.parent
    # The sanitizer must find the library that throws exceptions when it starts.
    preloaded = [
        subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libstdc++.so.6")
    ]
    if not all(Path(library).is_absolute() for library in preloaded):
        pytest.skip("the compiler has no address sanitizer")
    if find_spec("nanobind") is None or not (sources / "CMakeLists.txt").exists():
        pytest.skip("there is no nanobind, or there are no sources of the core")
    options = [
        "-DSHORTLIST_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={compiler}",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]  # fmt: skip
    for command in (
        [cmake, "-S", sources, "-B", folder / "build", *options],
        [cmake, "--build", folder / "build", "--target", "_core", "--parallel", "2"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    package = folder / "shortlist"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for module in (folder / "build").glob("_core*.so"):
        shutil.copy(module, package / "native")
    # The other variant would be the same sources with other options.
    (package / "native" / "_core_v3.py").write_text("from ._core import *\n")

    def run_sanitized(*arguments):
        checks = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
        preload = {"LD_PRELOAD": os.pathsep.join(preloaded), "PYTHONMALLOC": "malloc"}
        return run(*arguments, package=package, minutes=30, **checks, **preload)

    return run_sanitized


@pytest.mark.slow
def test_the_sanitized_core_is_the_one_that_is_used(sanitized):
    file = sanitized("-c", "from shortlist.native import _core; print(_core.__file__)").strip()
    assert b"__asan_report_load" in Path(file).read_bytes()


@pytest.mark.slow
def test_answers_under_sanitizers(sanitized):
    assert len(sanitized(TESTS / "support" / "many_answers.py").strip()) == 64


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bindings", "rounds", "pack", "limits_of_input", "endgame"])
def test_tests_under_sanitizers(sanitized, name):
    """Without the allocation of terabytes, at which the sanitizer ends the process itself."""
    file = TESTS / "native" / f"test_{name}.py"
    options = ["-q", "--capture=no", "-p", "no:cacheprovider", "-k", "not terabytes"]
    output = sanitized("-m", "pytest", *options, file)
    assert " passed" in output
