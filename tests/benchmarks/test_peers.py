"""Every peer on problems with known optima: what it answers is affordable and never below them.

A peer that is not installed, or has no licence, is skipped with the reason. Those that need an
environment of their own are tested where the benchmarks have made it.
"""

import pytest
from catalogue import CATALOGUE

import shortlist as sl
from benchmarks.peers import environment
from benchmarks.peers.answer import Answer, PeerError, score
from benchmarks.peers.comparison import NATIVE, compare
from benchmarks.peers.registry import EXACT, IN_PROCESS, MACHINES, NAMES, PEERS, load, package_of
from shortlist.errors import MissingDependencyError

PROBLEMS = ("cardinality", "budget", "fees", "groups", "include and exclude", "weights")
# Our own backends have tests of their own: one problem tells that they are asked.
CASES = [
    (name, problem)
    for name in IN_PROCESS
    for problem in (PROBLEMS[:1] if PEERS[name].backend else PROBLEMS)
]


def ask(name, problem):
    try:
        return load(name)(problem, 30.0)
    except MissingDependencyError as reason:
        pytest.skip(str(reason))  # an optional package or its licence; the message names it


def check(name, known):
    problem = known.problem()
    answer = ask(name, problem)
    if answer is None:  # it has no words for the problem
        return None
    assert problem.limits.is_affordable(answer.support)
    objective = score(problem, answer)
    assert objective >= known.objective * (1 - 1e-8)
    assert answer.lower_bound <= known.objective * (1 + 1e-6)
    if name in EXACT and answer.status != "between_penalties":  # El0ps, which penalises
        assert answer.status == "optimal"
        assert objective == pytest.approx(known.objective, rel=1e-6)
    elif name not in EXACT:
        assert answer.status == "heuristic"
    return answer


@pytest.mark.parametrize(("name", "problem"), CASES)
def test_peer_in_this_process(name, problem):
    answer = check(name, CATALOGUE[problem])
    assert answer is not None or problem != "cardinality"


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (name, problem)
        for name in MACHINES
        for problem in (PROBLEMS[:1] if PEERS[name].backend else PROBLEMS[:2])
    ],
)
def test_peer_for_support_vector_machines(name, problem, loss):
    machine = sl.SubsetProblem(**CATALOGUE[problem].arguments(), loss=loss)
    answer = ask(name, machine)
    if answer is None:
        assert (name, problem) == ("LinearSVC, RFE", "budget")
        return
    optimum = sl.solve(machine, "enumeration").objective
    assert machine.limits.is_affordable(answer.support)
    assert answer.lower_bound <= optimum * (1 + 1e-6)
    assert score(machine, answer) >= optimum * (1 - 1e-8)
    if name in EXACT:
        assert answer.status == "optimal"
        assert score(machine, answer) == pytest.approx(optimum, rel=2e-6)


@pytest.mark.slow  # compiles and starts processes
@pytest.mark.parametrize("name", [name for name in NAMES if name not in IN_PROCESS])
def test_peer_in_an_environment_of_its_own(name):
    package = package_of(name).split()[0]
    if not list(environment.ENVIRONMENTS.glob(f"{package}-*/installed")):
        pytest.skip(f"{name}: `make bench-full` makes its environment.")
    answers = [check(name, CATALOGUE[problem]) for problem in PROBLEMS]
    assert any(answers)


def test_what_cannot_be_afforded_scores_infinity():
    problem = CATALOGUE["cardinality"].problem()
    assert score(problem, Answer((0, 1, 2, 3))) == float("inf")


def test_a_peer_that_is_absent_or_fails_is_a_row_with_a_reason(monkeypatch):
    def absent(name):
        raise MissingDependencyError(f"{name}: nowhere.")

    def broken(name):
        def solve(problem, time_limit):
            raise ValueError("cannot")

        return solve

    problem = CATALOGUE["cardinality"].problem()
    for loader, status in ((absent, "not_installed"), (broken, "failed")):
        monkeypatch.setattr("benchmarks.peers.comparison.load", loader)
        native, row = compare(problem, {"time_limit": 10.0}, ["abess"])
        assert (native["peer"], native["status"]) == (NATIVE, "optimal")
        assert row["status"] == status
        assert row["reason"]
        assert "seconds" not in row


def test_an_environment_that_cannot_be_made_is_a_missing_dependency(monkeypatch, tmp_path):
    (tmp_path / "nothing.txt").write_text("there is no such package ==1\n")
    monkeypatch.setattr(environment, "WORKERS", tmp_path)
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path / "made")
    monkeypatch.setattr(environment.sys, "executable", str(tmp_path / "no python"))
    with pytest.raises(MissingDependencyError, match="could not be made"):
        environment._python_of("nothing")


def test_a_worker_answers_fails_and_is_started_again(monkeypatch, tmp_path):
    (tmp_path / "echo_worker.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    if request['ridge'] > 1: sys.exit(1)\n"
        "    answer = {'support': [2, 0], 'seconds': 0.5}\n"
        "    print(json.dumps(answer if request['ridge'] < 1 else {'error': 'one'}), flush=True)\n"
    )
    monkeypatch.setattr(environment, "WORKERS", tmp_path)
    monkeypatch.setattr(environment, "_python_of", lambda name: environment.sys.executable)

    def problem(ridge):
        return sl.SubsetProblem([[0.0], [1.0]], [0, 1], ridge=ridge)

    assert environment.ask("echo", problem(0.5), 1.0) == Answer((0, 2), seconds=0.5)
    with pytest.raises(PeerError, match="one"):
        environment.ask("echo", problem(1.0), 1.0)
    with pytest.raises(PeerError, match="without an answer"):
        environment.ask("echo", problem(2.0), 1.0)
    assert environment.ask("echo", problem(0.5), 1.0).support == (0, 2)
