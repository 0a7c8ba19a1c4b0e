"""Best-subset selection as scikit-learn estimators."""

from .classifier import BestSubsetClassifier, BestSubsetClassifierCV

__all__ = ["BestSubsetClassifier", "BestSubsetClassifierCV"]
