"""Best-subset selection as scikit-learn estimators."""

from ..lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
