"""Best-subset selection as scikit-learn estimators."""

from .classifier import BestSubsetClassifier
from .regressor import BestSubsetRegressor

__all__ = ["BestSubsetClassifier", "BestSubsetRegressor"]
