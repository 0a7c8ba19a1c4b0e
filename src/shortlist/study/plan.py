"""What a study runs: data sets, methods, protocols and numbers of resamples.

The paper has eight data sets, each with four runs of cardinality-constrained selection, for 2 to 5
informative features, and five runs of budget-constrained selection, for five draws of data and
costs. An arm of a study repeats these 72 runs with some methods on some seeds' data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..datasets import PrognosticData, make_prognostic
from ..evaluation.experiment import Experiment, Protocol

METHODS = ("optimal", "univariable")  # the paper's
BEYOND = ("forward", "lasso")  # not in the paper
# Who selects, by the name it has in results.
BACKENDS = {
    "optimal": "native",
    "univariable": "univariable",
    "forward": "forward",
    "lasso": "lasso",
}
SHAPES = ((82, 53), (82, 14), (1090, 53), (1090, 14))  # in the order of increasing EPV
LABEL_NOISE = (0.0, 0.05)
BUDGET = 10.0


@dataclass(frozen=True)
class Arm:
    """A part of a study: these methods, on data of these seeds, with this protocol.

    Parameters
    ----------
    methods : tuple of str
        Names of `BACKENDS`.
    n_resamples : int
        Number of bootstrap resamples of each run, beside the data as they are.
    seeds : tuple of int
        Seeds of the data; each is a whole set of 72 runs. 0 is the study's own.
    protocol : {"paper", "clean"}
        As in `Experiment`.
    """

    methods: tuple[str, ...]
    n_resamples: int
    seeds: tuple[int, ...] = (0,)
    protocol: Protocol = "paper"


@dataclass(frozen=True)
class Preset:
    """A study: arms by name in the order in which they run, and the data sets of all of them."""

    arms: Mapping[str, Arm]
    shapes: tuple[tuple[int, int], ...] = SHAPES


PRESETS = {
    # The paper, then what it leaves open: other draws of the data, folds without the leak, and
    # other heuristics, all with fewer resamples.
    "paper": Preset(
        {
            "paper": Arm(METHODS, 399),
            "seeds": Arm(METHODS, 9, seeds=tuple(range(1, 9))),
            "clean": Arm(METHODS, 39, protocol="clean"),
            "beyond": Arm(BEYOND, 9),
        }
    ),
    "quick": Preset(
        {
            "paper": Arm(METHODS, 3),
            "seeds": Arm(METHODS, 1, seeds=(1, 2)),
            "clean": Arm(METHODS, 2, protocol="clean"),
            "beyond": Arm(BEYOND, 1),
        }
    ),
}


@dataclass(frozen=True)
class Run:
    """One of the 72 runs, by one method.

    Parameters
    ----------
    study : {"cardinality", "budget"}
        What limits the selection.
    seed, protocol, method
        As in `Arm`.
    n_samples, n_features, label_noise
        The data set, as in `make_prognostic`.
    run : int
        With a cardinality constraint the number of informative features, which is also the limit;
        with a budget the number of the draw.
    """

    study: str
    seed: int
    protocol: Protocol
    n_samples: int
    n_features: int
    label_noise: float
    run: int
    method: str

    @property
    def name(self) -> str:
        """What identifies the run in a journal."""
        return " ".join(map(str, self.keys().values()))

    def keys(self) -> dict[str, Any]:
        """Return the columns that identify the run in a table of results."""
        return dict(vars(self))

    def data(self) -> PrognosticData:
        """Draw the data; runs that differ in label noise alone have the same features."""
        has_budget = self.study == "budget"
        return make_prognostic(
            self.n_samples,
            self.n_features,
            n_informative=5 if has_budget else self.run,
            label_noise=self.label_noise,
            random_state=10 * self.seed + self.run + (5 if has_budget else 0),
        )

    def experiment(self) -> Experiment:
        """Return the experiment; methods are compared on the same resamples and folds."""
        data = self.data()
        limits: dict[str, Any] = (
            {"costs": data.costs, "budget": BUDGET}
            if self.study == "budget"
            else {"max_features": self.run}
        )
        return Experiment(
            data.X,
            data.y,
            backend=BACKENDS[self.method],
            protocol=self.protocol,
            seed=self.seed,
            **limits,
        )


def runs_of(preset: Preset, arm: Arm) -> Iterator[Run]:
    """Yield the runs of an arm, in the order of the paper's figures.

    Examples
    --------
    >>> from shortlist.study import PRESETS, runs_of
    >>> preset = PRESETS["paper"]
    >>> len(list(runs_of(preset, preset.arms["paper"])))
    144
    """
    for seed in arm.seeds:
        for study, numbers in (("cardinality", range(2, 6)), ("budget", range(1, 6))):
            for n_samples, n_features in preset.shapes:
                for noise in LABEL_NOISE:
                    for number in numbers:
                        for method in arm.methods:
                            yield Run(
                                study,
                                seed,
                                arm.protocol,
                                n_samples,
                                n_features,
                                noise,
                                number,
                                method,
                            )
