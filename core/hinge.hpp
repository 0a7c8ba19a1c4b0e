// The hinge max(0, 1 + u), smoothed where it bends: a = clip((1 + u) / smoothing, 0, 1), curvature 1 / smoothing
// between.
//
// On the band 0 < 1 + u < smoothing it is (1 + u)^2 / (2 smoothing), beyond it 1 + u - smoothing / 2. That is the
// maximum of a (1 + u) - smoothing a^2 / 2 over 0 <= a <= 1, and so below the hinge. H(a) = a is the entropy of the
// hinge itself, so that bounds hold for it whatever the smoothing.
#pragma once

#include "squared_hinge.hpp"

namespace shortlist {

struct Hinge : TwoClasses<Hinge> {
  static constexpr bool is_curved = false, is_bent = true, entropy_is_lost = false;
  static constexpr double balance = 1.0, furthest = 600.0;

  static double value(double margin) { return margin < 1.0 ? 1.0 - margin : 0.0; }
  static double best_intercept(double positive, double negative) {
    return positive > negative ? 1.0 : positive < negative ? -1.0 : 0.0;
  }

  static LossRow row(Lanes u, double smoothing) {
    const Lanes zero = broadcast(0.0), one = broadcast(1.0), s = 1.0 + u;
    const Lanes a = least(most(s / smoothing, zero), one);
    const Lanes curvature = select((a > 0.0) & (a < 1.0), one / smoothing, zero);
    return {a * (s - 0.5 * smoothing * a), a, a, zero, curvature};
  }

  template <bool>
  static MovedRow moved(const RowsAt& rows, const FixedDual& dual, Index m, Lanes step) {
    const Lanes zero = broadcast(0.0), a = load(dual.a + m);
    const Lanes change = select((a > at_end) & (a < 1.0 - at_end), step / rows.smoothing, zero);
    const Lanes moved = least(most(a + change, zero), broadcast(1.0));
    return {moved, moved, zero};
  }

  static void bound_curvature(const RowsAt& rows, const FixedDual&, double* d) {
    for (Index m = 0; m < rows.n; ++m) d[m] = rows.w[m] / rows.smoothing;
  }
};

}  // namespace shortlist
