"""Best-subset selection as scikit-learn estimators."""

from .classifier import BestSubsetClassifier
from .classifier_cv import BestSubsetClassifierCV

__all__ = ["BestSubsetClassifier", "BestSubsetClassifierCV"]
