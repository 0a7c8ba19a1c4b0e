"""A function of time that changes at some times only, such as a survival function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Float, floats
from ..errors import InvalidProblemError


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A step function, called like scikit-survival's: each value holds until the next time.

    Attributes
    ----------
    x : ndarray of shape (n_times,)
        Times, ascending.
    y : ndarray of shape (n_times,)
        The value from each time on.
    start : float
        The value from 0 to the first time.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.estimator import StepFunction
    >>> survival = StepFunction(np.array([1.0, 3.0]), np.array([0.8, 0.5]), start=1.0)
    >>> survival(2), survival([0.5, 3.0]).tolist()
    (0.8, [1.0, 0.5])
    """

    x: Float
    y: Float
    start: float

    @property
    def domain(self) -> tuple[float, float]:
        """The times that the function knows: from 0 to the last one."""
        return 0.0, float(self.x[-1])

    def __call__(self, t: ArrayLike) -> Any:
        """Return the value at a time, or at each of several.

        Parameters
        ----------
        t : float or array-like
            Times from 0 to the last of `x`: nothing is known beyond.

        Returns
        -------
        float or ndarray
            One value per time.
        """
        times = floats("t", t)
        first, last = self.domain
        known = (times >= first) & (times <= last)
        if not known.all():
            raise InvalidProblemError(
                f"t: {times[~known][0]:g} is not from 0 to {last:g}, the last time of the fit; "
                "ask within."
            )
        values = np.append(self.start, self.y)[np.searchsorted(self.x, times, side="right")]
        return float(values) if times.ndim == 0 else values
