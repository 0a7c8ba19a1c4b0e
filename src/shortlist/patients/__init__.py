"""Tables of patients, and prognostic models that are fitted to them, saved and proven."""

from ..lazy import public_names

__getattr__, __all__ = public_names(__name__, __file__)
