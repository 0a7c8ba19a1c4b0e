"""Best-subset selection as scikit-learn estimators."""

from .classifier import BestSubsetClassifier
from .cox import BestSubsetCox
from .regressor import BestSubsetRegressor
from .step_function import StepFunction

__all__ = ["BestSubsetClassifier", "BestSubsetCox", "BestSubsetRegressor", "StepFunction"]
