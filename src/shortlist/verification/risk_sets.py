"""The partial likelihood of Cox and its dual points, in balls and in doubles with bounded rounding.

With ties as Efron or Breslow have them the loss is a sum over terms, wt log S less the weighted u
of the events, where S = sum_j c_j exp(u_j) over the rows at risk. A distribution pi over them for
each term is a dual point: its entropy is sum_j pi_j log(c_j / pi_j), and q = sum wt pi less the
weights of the events adds up to 0 in each stratum. With the shares l / n of a time's events gone,
c_j is w_j, or w_j (1 - l / n) for the events themselves. Any positive numbers E_j in the place of
w_j exp(u_j) make an exact pi; with h_j = log(E_j / w_j) the entropy is log S - mean of h.

A correction t moves pi to pi (1 + d), d = s (t - mean of t) >= -r, s <= 1, r <= 1. That costs
s cov(t, h) and the mean of (1 + d) log(1 + d), which is at most the mean of d + d^2 / 2 - d^3 / 6 +
(1/12 + r / 4) d^4: what is left of it, divided by d^4, is convex in d, 1/12 at 0 and 1/3 at -1.

Every sum here has terms of one sign, or is bounded by such a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..arguments import Float
from ..event_times import Survival
from ..problem import SubsetProblem

_Int = NDArray[np.intp]


class Term(NamedTuple):
    """The rows from `start` are at risk; those from `events` to `end` have the event."""

    start: int
    events: int
    end: int
    n_tied: int
    n_gone: int


class RiskSets:
    """Who is at risk at which time.

    Attributes
    ----------
    rows : ndarray of int
        The rows of the problem that are at risk at some time: by stratum, the latest first, and of
        one time those with the event last.
    has_event : ndarray of bool
        Of these rows.
    terms : list of Term
        In the order of the rows.
    strata : list of slice
        The rows of each stratum.
    """

    def __init__(self, problem: SubsetProblem) -> None:
        response = problem.response
        assert isinstance(response, Survival)
        times, events, stratum = response.values, response.events, response.stratum
        used = np.flatnonzero(problem.weights > 0)
        used = used[np.lexsort((events[used], -times[used], stratum[used]))]
        kept: list[int] = []
        self.terms: list[Term] = []
        self.strata: list[slice] = []
        for of_stratum in np.split(used, np.flatnonzero(np.diff(stratum[used])) + 1):
            with_event = np.flatnonzero(events[of_stratum])
            if not len(with_event):
                continue
            start = len(kept)
            kept += of_stratum[: with_event[-1] + 1].tolist()
            self.strata.append(slice(start, len(kept)))
            for tied in np.split(
                with_event, np.flatnonzero(np.diff(times[of_stratum[with_event]])) + 1
            ):
                n = len(tied) if response.ties == "efron" else 1
                first, last = start + int(tied[0]), start + int(tied[-1])
                self.terms += [Term(start, first, last + 1, n, gone) for gone in range(n)]
        self.rows = np.array(kept, dtype=np.intp)
        self.has_event = events[self.rows]


class Exact:
    """The loss and dual points in balls, of rows in the order of the risk sets."""

    def __init__(self, sets: RiskSets, weights: Sequence[arb]) -> None:
        self.sets, self.weights = sets, weights
        self.of_events = [
            w if event else arb(0)
            for w, event in zip(weights, sets.has_event.tolist(), strict=True)
        ]
        self.wt = [sum(self.of_events[term.events : term.end], arb(0)) for term in sets.terms]
        self.wt = [wt / term.n_tied for wt, term in zip(self.wt, sets.terms, strict=True)]

    def loss(self, u: Sequence[arb]) -> arb:
        """Return the negative log partial likelihood."""
        sums = self._sums([w * of_row.exp() for w, of_row in zip(self.weights, u, strict=True)])
        loss = sum((wt * S.log() for wt, S in zip(self.wt, sums, strict=True)), arb(0))
        return loss - sum((w * h for w, h in zip(self.of_events, u, strict=True)), arb(0))

    def least(self) -> arb:
        """Return the infimum of the loss: all of the weight at risk is on the tied events."""
        least = arb(0)
        for wt, term in zip(self.wt, self.sets.terms, strict=True):
            if term.n_gone == 0:
                n = arb(term.n_tied)
                least += wt * (n * (wt * n).log() + arb(factorial(term.n_tied)).log() - n * n.log())
        return least

    def dual(self, u: Sequence[arb], moves: Sequence[arb]) -> tuple[arb, list[arb]]:
        """Return the entropy of the dual point at u, moved, or less, and its q."""
        e = [w * of_row.exp() for w, of_row in zip(self.weights, u, strict=True)]
        powers = [e]
        for _ in range(4):
            powers.append([of_row * t for of_row, t in zip(powers[-1], moves, strict=True)])
        of_h = [[of_row * h for of_row, h in zip(x, u, strict=True)] for x in powers[:2]]
        sums = zip(*map(self._sums, (*powers, *of_h)), strict=True)
        lows = self._lowest(moves)
        entropy = arb(0)
        shares: list[list[arb]] = [[], [], []]
        for wt, low, (S, *moments) in zip(self.wt, lows, sums, strict=True):
            m1, m2, m3, m4, h, product = (moment / S for moment in moments)
            reach = m1 - low
            s = (1 / reach.max(arb(1))).lower()
            k2, k3 = m2 - m1**2, m3 - 3 * m1 * m2 + 2 * m1**3
            k4 = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
            lost = s * (product - m1 * h) + s**2 * k2 / 2 - s**3 * k3 / 6
            lost += s**4 * k4 * (arb(1) / 12 + s * reach / 4)
            entropy += wt * (S.log() - h - lost)
            for share, value in zip(shares, (1, s, s * m1), strict=True):
                share.append(wt * value / S)
        base, slope, mean = (self._to_rows(share) for share in shares)
        parts = zip(e, base, slope, mean, moves, self.of_events, strict=True)
        return entropy, [of_row * (a + t * b - c) - w for of_row, a, b, c, t, w in parts]

    def _sums(self, x: Sequence[arb]) -> list[arb]:
        """Return the sum of c_j x_j / w_j over the rows of each term."""
        sums, total, done = [], arb(0), 0
        for term in self.sets.terms:
            if term.start == done:
                total = arb(0)
            if term.n_gone == 0:
                total += sum(x[done : term.end], arb(0))
                done = term.end
                tied = sum(x[term.events : term.end], arb(0))
            sums.append(total - tied * term.n_gone / term.n_tied)
        return sums

    def _lowest(self, t: Sequence[arb]) -> list[arb]:
        """Return the lowest t of the rows at risk, for each term."""
        lowest, low, done = [], arb(0), 0
        for term in self.sets.terms:
            if term.start == done:
                low = t[done]
            for value in t[done : term.end]:
                low = low.min(value)
            done = term.end
            lowest.append(low)
        return lowest

    def _to_rows(self, of_terms: Sequence[arb]) -> list[arb]:
        """Return for each row the sum of a c_j / w_j over the terms that it is in."""
        of_rows = [arb(0)] * len(self.weights)
        total, tied, start = arb(0), arb(0), -1
        pairs = list(zip(self.sets.terms, of_terms, strict=True))
        for i in range(len(pairs) - 1, -1, -1):
            term, a = pairs[i]
            if term.start != start:
                total, start = arb(0), term.start
            if term.n_gone == term.n_tied - 1:
                tied = arb(0)
            total += a
            tied += a * term.n_gone / term.n_tied
            if term.n_gone == 0:
                begin = max(start, pairs[i - 1][0].end) if i else start
                for row in range(begin, term.end):
                    of_rows[row] = total - tied if row >= term.events else total
        return of_rows


class Rounded:
    """Dual points in doubles, of rows in the order of the risk sets, one column for each point.

    `logarithm` returns the logarithm of doubles, and its size, of which it is wrong by at most
    `unit`.
    """

    def __init__(
        self,
        sets: RiskSets,
        weights: Float,
        logarithm: Callable[[Float], tuple[Float, Float]],
        unit: float,
    ) -> None:
        self.sets, self.weights, self.logarithm = sets, weights[:, None], logarithm
        terms = np.array(sets.terms, dtype=np.int64).reshape(-1, 5)
        self.n_tied = terms[:, 3]
        self.gone = terms[:, 4] / terms[:, 3]
        firsts = np.flatnonzero(terms[:, 4] == 0)
        self.time = np.cumsum(terms[:, 4] == 0) - 1  # the time of each term
        self.first_term = firsts
        self.first_row, self.events, self.end = terms[firsts, :3].T
        self.begin = np.maximum(self.first_row, np.append(0, self.end[:-1]))
        self.time_of_row = np.repeat(np.arange(len(firsts)), self.end - self.begin)
        self.has_event = sets.has_event[:, None]
        self.of_events = np.where(self.has_event, self.weights, 0.0)
        totals = np.add.reduceat(self.of_events[:, 0], self.begin)
        self.wt = (totals[self.time] / self.n_tied)[:, None]
        opens = self.begin == self.first_row
        self.opening = np.append(np.flatnonzero(opens), len(firsts))
        # Each sum has at most that number of terms, and products of at most four are formed of
        # them.
        self.error = 1.01 * 8 * (len(weights) + len(terms) + 16) * 2.0**-53 + unit

    def dual(self, u: Float, moves: Float | None) -> tuple[Float, Float, Float, Float]:
        """Return entropies, or less, their errors, and q and what it is wrong by at most."""
        h = np.maximum(u - u.max(axis=0), -60.0)  # any u will do
        e = self.weights * np.exp(h)
        h = self.logarithm(e / self.weights)[0]
        largest = np.abs(h).max(axis=0) + 1.0
        S, of_h = self._sums(e), self._sums(e * h)
        log_S = self.logarithm(S)[0]
        mean_h = of_h / S
        entropy = log_S - mean_h
        size = np.abs(log_S) + largest
        a = self._to_rows(self.wt / S)
        q, size_of_q = e * a, e * a
        if moves is not None:
            moments = [self._sums(e * moves**k) / S for k in range(1, 5)]
            m1, m2, m3, m4 = moments
            product = self._sums(e * moves * h) / S
            low = self._lowest(moves)
            root = np.sqrt(m2)
            reach = (m1 - low) * (1.0 + 1e-9) + self.error * (root + np.abs(low))
            s = 1.0 / (np.maximum(reach, 1.0) * (1.0 + 1e-9))
            k2, k3 = m2 - m1**2, m3 - 3.0 * m1 * m2 + 2.0 * m1**3
            k4 = np.maximum(m4 - 4.0 * m1 * m3 + 6.0 * m1**2 * m2 - 3.0 * m1**4, 0.0)
            fourth = s**4 * k4 * (1.0 / 12.0 + 0.25 * s * np.maximum(reach, 0.0))
            entropy -= s * (product - m1 * mean_h) + s**2 * k2 / 2.0 - s**3 * k3 / 6.0 + fourth
            size += 2.0 * s * root * largest + 2.0 * s**2 * m2 + 8.0 * s**4 * m4
            b, c = self._to_rows(self.wt * s / S), self._to_rows(self.wt * s * m1 / S)
            size_of_c = self._to_rows(self.wt * s * root / S)
            q = q + e * (moves * b - c)
            size_of_q = size_of_q + e * (np.abs(moves) * b + size_of_c)
        entropy, size = ((self.wt * x).sum(axis=0) for x in (entropy, size))
        return (
            entropy,
            self.error * size,
            q - self.of_events,
            self.error * (size_of_q + self.of_events),
        )

    def _sums(self, x: Float) -> Float:
        """Return the sum of c_j x_j / w_j over the rows of each term."""
        before = np.where(self.has_event, 0.0, x)
        tied = np.add.reduceat(x - before, self.begin)
        others = np.add.reduceat(before, self.begin)
        for first, last in zip(self.opening[:-1], self.opening[1:], strict=True):
            # Those with an earlier place stay at risk, with the event or without.
            others[first + 1 : last] += np.cumsum((others + tied)[first : last - 1], axis=0)
        return np.asarray(others[self.time] + (1.0 - self.gone)[:, None] * tied[self.time])

    def _lowest(self, t: Float) -> Float:
        low = np.minimum.reduceat(t, self.begin)
        for first, last in zip(self.opening[:-1], self.opening[1:], strict=True):
            low[first:last] = np.minimum.accumulate(low[first:last])
        return np.asarray(low[self.time])

    def _to_rows(self, of_terms: Float) -> Float:
        """Return for each row the sum of a c_j / w_j over the terms that it is in."""
        own = np.add.reduceat(of_terms, self.first_term)
        tied = np.add.reduceat((1.0 - self.gone)[:, None] * of_terms, self.first_term)
        later = np.zeros_like(own)
        for first, last in zip(self.opening[:-1], self.opening[1:], strict=True):
            later[first : last - 1] = np.cumsum(own[last - 1 : first : -1], axis=0)[::-1]
        row = self.time_of_row
        return np.asarray(later[row] + np.where(self.has_event, tied[row], own[row]))
