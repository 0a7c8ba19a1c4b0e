"""Performance and interpretability of a selection, on resamples of the data.

`Experiment` is the data, the limits and the protocol, `evaluate` runs it, and `Evaluation` has the
results. The functions on selections work on any bool matrix.
"""

from .bootstrap import Evaluation, evaluate, evaluate_all
from .experiment import Experiment, Sample, draw
from .heterogeneity import RandomEffects, random_effects
from .metric import (
    Measure,
    SmoothCalibration,
    interval,
    measure,
    net_benefit,
    percentile_interval,
    share_interval,
    share_of,
    smooth_calibration,
    worth_interval,
)
from .procedure import FittedModel, Procedure, evaluate_resample
from .stability import (
    Stability,
    co_selection,
    inclusion_frequencies,
    model_frequencies,
    stability,
)
from .task import Journal, read_journal, run_tasks

__all__ = [
    "Evaluation", "Experiment", "FittedModel", "Journal", "Measure", "Procedure", "RandomEffects",
    "Sample", "SmoothCalibration", "Stability", "co_selection", "draw", "evaluate", "evaluate_all",
    "evaluate_resample", "inclusion_frequencies", "interval", "measure", "model_frequencies",
    "net_benefit", "percentile_interval", "random_effects", "read_journal", "run_tasks",
    "share_interval", "share_of", "smooth_calibration", "stability", "worth_interval",
]  # fmt: skip
