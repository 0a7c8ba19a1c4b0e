// The squared hinge max(0, 1 + u)^2: a = 2 max(0, 1 + u), H(a) = a - a^2 / 4, curvature 2 where a > 0.
#pragma once

#include "two_classes.hpp"

namespace shortlist {

/// An a this close to the end of what is allowed does not move. Rows at the kink, which whole numbers lead to, are
/// within rounding of the end, and whoever checks a proof must come to the same side.
inline constexpr double at_end = 0x1p-20;

struct SquaredHinge : TwoClasses<SquaredHinge> {
  static constexpr bool is_curved = false, is_bent = false, entropy_is_lost = false;
  // To move the intercept alone might raise a piecewise quadratic loss.
  static constexpr double balance = 1.0, furthest = 600.0;

  static double value(double margin) { return margin < 1.0 ? (1.0 - margin) * (1.0 - margin) : 0.0; }
  static double best_intercept(double positive, double negative) {
    return (positive - negative) / (positive + negative);
  }

  static LossRow row(Lanes u, double) {
    const Lanes zero = broadcast(0.0), s = most(1.0 + u, zero);
    return {s * s, s * (2.0 - s), 2.0 * s, zero, select(s > 0.0, broadcast(2.0), zero)};
  }

  template <bool>
  static MovedRow moved(const RowsAt&, const FixedDual& dual, Index m, Lanes step) {
    const Lanes a = load(dual.a + m);
    const Lanes moved = select(a > at_end, most(a + 2.0 * step, broadcast(0.0)), a);
    return {moved, moved * (1.0 - 0.25 * moved), broadcast(0.0)};
  }

  static void bound_curvature(const RowsAt& rows, const FixedDual&, double* d) {
    for (Index m = 0; m < rows.n; ++m) d[m] = 2.0 * rows.w[m];
  }
};

}  // namespace shortlist
