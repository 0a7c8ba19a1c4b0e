"""Best-subset selection as a scikit-learn classifier."""

from .best_subset import BestSubsetClassifier

__all__ = ["BestSubsetClassifier"]
