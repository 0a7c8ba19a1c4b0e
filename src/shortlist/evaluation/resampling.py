"""Resamples as weights, and their folds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import Int
from ..choice.stable import draw_counts
from ..classifier.tuning import shuffled_folds
from ..errors import InvalidProblemError
from .experiment import Experiment

_MAX_DRAWS = 10_000


class Sample(NamedTuple):
    """Rows that count, in ascending order, and how often each of them does."""

    rows: Int
    weights: Int

    @property
    def copies(self) -> Int:
        """The rows, each repeated as often as it counts."""
        return np.repeat(self.rows, self.weights)

    def units(self, persons: Int | None) -> Int | None:
        """The unit that each copy belongs to, drawn as a whole, if rows belong to persons."""
        if persons is None:
            return None
        starts = np.cumsum(self.weights) - self.weights
        numbers = np.arange(self.weights.sum()) - np.repeat(starts, self.weights)
        pairs = np.column_stack([persons[self.copies], numbers])  # a person drawn twice is two
        return np.unique(pairs, axis=0, return_inverse=True)[1].ravel()

    def counts(self, n_rows: int) -> Int:
        """How often each of all rows counts."""
        counts = np.zeros(n_rows, dtype=np.int64)
        counts[self.rows] = self.weights
        return counts

    def part(self, positions: Int | NDArray[np.bool_]) -> Sample:
        """Return some of the rows with all their copies."""
        return Sample(self.rows[positions], self.weights[positions])

    @classmethod
    def of_counts(cls, counts: Int) -> Sample:
        """Keep the rows that count."""
        rows = np.flatnonzero(counts)
        return cls(rows, counts[rows])

    @classmethod
    def of_copies(cls, copies: Int) -> Sample:
        """Count repeated rows."""
        return cls(*np.unique(copies, return_counts=True))


def draw(experiment: Experiment, resample: int) -> tuple[Sample, np.random.Generator]:
    """Return a resample, and the generator that its folds continue with.

    Resample 0 is the data as they are. A resample that has too few rows (clean protocol: too few
    different ones, or persons) of a class for every fold to get one is drawn again.
    """
    rng = np.random.default_rng((experiment.seed, resample))
    if resample == 0:
        sample = Sample.of_copies(np.arange(experiment.n_rows))
        if not _has_enough(experiment, sample):
            raise InvalidProblemError(
                f"n_folds: a class has fewer than {experiment.n_folds} rows or persons; "
                "use fewer folds."
            )
        return sample, rng
    for _ in range(_MAX_DRAWS):
        sample = Sample.of_counts(draw_counts(rng, experiment.n_rows, experiment.persons))
        if _has_enough(experiment, sample):
            return sample, rng
    raise InvalidProblemError(
        f"n_folds: hardly any resample has {experiment.n_folds} rows or persons of each class; "
        "use fewer folds."
    )


def split(
    experiment: Experiment, sample: Sample, rng: np.random.Generator
) -> list[tuple[Sample, Sample]]:
    """Return training and test part of each of `n_folds` stratified folds.

    Paper protocol: the copies of rows are distributed, those of each class evenly. Clean protocol:
    the different rows are, so that the folds' total weights are equal on average only; or the
    persons are, the classes being as even as whole persons allow.
    """
    seed = int(rng.integers(2**31))
    keeps_persons = experiment.persons is not None
    keeps_copies = experiment.protocol == "clean" and not keeps_persons
    units = sample.rows if keeps_copies else sample.copies
    labels = experiment.y[units]
    if np.bincount(labels).max() < experiment.n_folds:
        return []  # a handful of rows
    persons = experiment.persons[units] if keeps_persons else None
    parts = shuffled_folds(labels, experiment.n_folds, seed, persons)
    if keeps_copies:
        return [(sample.part(train), sample.part(test)) for train, test in parts]
    return [
        (Sample.of_copies(units[train]), Sample.of_copies(units[test])) for train, test in parts
    ]


def scorable_folds(
    experiment: Experiment, sample: Sample, rng: np.random.Generator
) -> list[tuple[Sample, Sample]]:
    """Return those folds whose training and test part have rows of both classes."""

    def has_both_classes(part: Sample) -> bool:
        labels = experiment.y[part.rows]
        return bool(labels.min(initial=1) < labels.max(initial=0))

    return [fold for fold in split(experiment, sample, rng) if all(map(has_both_classes, fold))]


def _has_enough(experiment: Experiment, sample: Sample) -> bool:
    """Whether every fold can get something of each class."""
    for label in (0, 1):
        of_class = sample.part(experiment.y[sample.rows] == label)
        units = of_class.copies if experiment.protocol == "paper" else of_class.rows
        if experiment.persons is not None:
            units = np.unique(experiment.persons[units])
        if len(units) < experiment.n_folds:
            return False
    return True
