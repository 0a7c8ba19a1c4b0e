"""CPU time around a solve, and resamples per CPU minute, here and in another version.

    python -m benchmarks.throughput
    python -m benchmarks.throughput --against OTHER/.venv/bin/python --rounds 5 --most 1.25

Prints JSON. The versions take turns, each round in a new process on one thread, so that what slows
the machine down slows both; medians of the rounds are compared. The other version is the one that
an interpreter has installed. With `--most`, the exit code is 1 if the geometric mean of the ratios
of times is above it: `make regression` compares a branch with what it starts from.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean, median
from time import process_time

import shortlist as sl
from shortlist.backends import solve_ridges
from shortlist.evaluation import evaluate_resample

PROJECT = Path(__file__).resolve().parents[1]
RIDGES = (0.1, 0.02, 0.004)
SHAPES = ((82, 14), (1090, 14), (82, 53))


def measure() -> dict[str, float]:
    """Return microseconds of CPU of solves of 82 x 14, and resamples per CPU minute."""
    data = sl.datasets.make_prognostic(n_samples=82, n_features=14, random_state=0)
    X = data.X.to_numpy()
    problem = sl.SubsetProblem(X, data.y, ridge=0.1, max_features=5)
    found = {
        "make_us": 1e6 * _seconds(lambda: sl.SubsetProblem(X, data.y, ridge=0.1, max_features=5)),
        "solve_us": 1e6 * _seconds(lambda: sl.solve(problem)),
        "three_ridges_us": 1e6 * _seconds(lambda: solve_ridges(problem, RIDGES)),
    }
    hard = sl.datasets.make_prognostic(
        n_samples=82, n_features=53, label_noise=0.05, random_state=0
    )
    problem = sl.SubsetProblem(hard.X, hard.y, ridge=0.001, max_features=5)
    found["search_us"] = 1e6 * _seconds(lambda: sl.solve(problem, threads=1), repeats=3)
    for n_samples, n_features in SHAPES:
        data = sl.datasets.make_prognostic(
            n_samples=n_samples, n_features=n_features, label_noise=0.05, random_state=0
        )
        problem = sl.SubsetProblem(data.X, data.y, ridge=1.0, max_features=5)
        experiment = sl.Experiment(problem, ridges=RIDGES)
        evaluate_resample(experiment, 1)
        started = process_time()
        for resample in range(1, 13):
            evaluate_resample(experiment, resample)
        per_minute = 60 * 12 / (process_time() - started)
        found[f"resamples_per_minute_{n_samples}x{n_features}"] = per_minute
    return found


def _seconds(task: Callable[[], object], repeats: int = 200) -> float:
    """Return the CPU seconds of a task: the median of five batches."""
    task()
    batches = []
    for _ in range(5):
        started = process_time()
        for _ in range(repeats):
            task()
        batches.append((process_time() - started) / repeats)
    return median(batches)


def _measure_in_new_process(interpreter: str) -> dict[str, float]:
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [interpreter, "-m", "benchmarks.throughput", "--once"],
        cwd=PROJECT,  # the same measurements for both
        env=os.environ | one_thread,
        check=True,
        stdout=subprocess.PIPE,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def times_slower(this: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """Return the ratio of each time, this version's over the other's."""
    return {
        key: other[key] / this[key] if "per_minute" in key else this[key] / other[key]
        for key in this
    }


def main() -> None:
    """Measure one version or two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--against", help="the interpreter of another version")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=float, help="fail if times grow by more than this factor")
    parser.add_argument("--once", action="store_true", help="measure in this process, one round")
    options = parser.parse_args()
    if options.once:
        print(json.dumps(measure()))
        return
    versions = {"this": sys.executable}
    if options.against is not None:
        versions["other"] = str(Path(options.against).absolute())
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in versions}
    for _ in range(options.rounds):
        for name, interpreter in versions.items():
            rounds[name].append(_measure_in_new_process(interpreter))
    result = {
        name: {key: median(row[key] for row in rows) for key in rows[0]}
        for name, rows in rounds.items()
    }
    mean = 1.0
    if "other" in result:
        ratios = times_slower(result["this"], result["other"])
        mean = geometric_mean(ratios.values())
        result["times_slower"] = ratios | {"mean": mean}
    print(json.dumps(result, indent=2))
    sys.exit(options.most is not None and mean > options.most)


if __name__ == "__main__":
    main()
