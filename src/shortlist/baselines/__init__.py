"""Selection rules in common use to compare with: they buy what is affordable and prove nothing.

Each rule is a function from a problem to a support, and a backend of `shortlist.solve`.
"""

from .backward import backward_support
from .correlation import correlation_support, correlations
from .forward import forward_support
from .heuristic import Heuristic
from .hierarchical import hierarchical_support
from .lasso import lasso_support
from .stepwise import stepwise_support
from .swap import swap_support
from .univariable import univariable_magnitudes, univariable_support

__all__ = [
    "HEURISTICS",
    "backward_support",
    "correlation_support",
    "correlations",
    "forward_support",
    "hierarchical_support",
    "lasso_support",
    "stepwise_support",
    "swap_support",
    "univariable_magnitudes",
    "univariable_support",
]

# The backends that `shortlist.backends` describes by these names.
HEURISTICS = {
    "univariable": Heuristic(univariable_support, ignores_ridge=True),
    "correlation": Heuristic(correlation_support, ignores_ridge=True),
    "forward": Heuristic(forward_support),
    "backward": Heuristic(backward_support),
    "stepwise": Heuristic(stepwise_support),
    "hierarchical": Heuristic(hierarchical_support),
    "lasso": Heuristic(lasso_support, ignores_ridge=True),
    "swap": Heuristic(swap_support),
}
