"""Selection rules in common use to compare with: they buy what is affordable and prove nothing."""

from .univariable import greedy_support, univariable_magnitudes, univariable_order

__all__ = ["greedy_support", "univariable_magnitudes", "univariable_order"]
