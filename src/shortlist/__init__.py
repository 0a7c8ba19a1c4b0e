"""Cost-sensitive best-subset selection for logistic regression, to certified optimality.

Start with `SubsetProblem` and `solve`, with the scikit-learn estimator `BestSubsetClassifier`, or
with `PrognosticModel` for a table of patients as it is.
"""

from .lazy import public_names

__version__ = "0.1.0"

__getattr__, _names = public_names(__name__, __file__)
__all__ = sorted(["__version__", *_names])


def __dir__() -> list[str]:
    return __all__
