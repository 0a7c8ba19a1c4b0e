"""Answers to many random problems, as one number: the same in every process, or something is wrong.

`python many_answers.py` prints it.
"""

from __future__ import annotations

import warnings
from hashlib import sha256

import numpy as np
from answers import bits
from random_problems import limited_problem, random_problem

import shortlist as sl
from shortlist.families import FAMILIES
from shortlist.native.core import core, prepare


def many_answers(n_seeds: int = 20) -> str:
    """Return a digest of all bits of optima, lists, staircases, samples, fits and relaxations."""
    digest = sha256()

    def add(*values: object) -> None:
        arrays = (v.tobytes() if isinstance(v, np.ndarray) else repr(v).encode() for v in values)
        digest.update(b"|".join(arrays))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(n_seeds):
            for problem in (
                *(random_problem(seed, loss) for loss in FAMILIES),
                limited_problem(seed),
            ):
                solution = sl.solve(problem)
                add(*bits(solution))
                prepared = prepare(problem)
                add(*core.fit(prepared.problem, solution.support))
                add(*core.relax_root(prepared.problem, prepared.limits))
                add(*bits(sl.solve(problem, warm_start=solution.support, node_limit=2)))
            for problem in (random_problem(seed, "cox"), random_problem(seed)):
                for model in sl.near_optimal(problem, 0.05):
                    add(model.support, model.objective, model.coef)
                for step in sl.solve_path(problem):
                    add(*bits(step.solution))
            add(*bits(sl.solve(problem, sample=max(2, problem.n_rows // 4), threads=2)))
        rng = np.random.default_rng(0)
        X, y = rng.random((2000, 60)), rng.random(2000) > 0.5
        hard = sl.SubsetProblem(X, y, ridge=0.01, max_features=5)
        add(*bits(sl.solve(hard, node_limit=200, threads=3)))  # in rounds, after 163 nodes
    return digest.hexdigest()


if __name__ == "__main__":
    print(many_answers())
