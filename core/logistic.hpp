// The logistic loss log(1 + exp(u)): a = sigmoid(u), H(a) = -a log a - (1 - a) log(1 - a), curvature a (1 - a).
#pragma once

#include "elementary.hpp"
#include "two_classes.hpp"

namespace shortlist {

struct Logistic : TwoClasses<Logistic> {
  static constexpr bool is_curved = true, is_bent = false, entropy_is_lost = true;
  static constexpr double balance = 0.5, furthest = 600.0;

  static double value(double margin) { return std::log1p(std::exp(-std::abs(margin))) + std::max(-margin, 0.0); }
  static double best_intercept(double positive, double negative) { return std::log(positive / negative); }

  static LossRow row(Lanes u, double) {
    const Lanes size = least(magnitude(u), broadcast(700.0));
    const Lanes e = exp_of(-size);
    const Lanes log1p = log1p_of_share(e);
    const Lanes inverse = 1.0 / (1.0 + e), small = e * inverse;
    const Bits is_positive = u > 0.0;
    // The entropy, log(1 + exp(u)) - a u, is arranged so that nothing cancels when a is close to 0 or 1.
    return {log1p + most(u, broadcast(0.0)), log1p + size * e * inverse, select(is_positive, inverse, small),
            select(is_positive, small, inverse), e * inverse * inverse};
  }

  /// a' = a (1 + x) and 1 - a' = b (1 + y), with what H(a') loses against H(a) at most.
  ///
  /// H(a') = H(a) - a x u - a f(x) - b f(y) with f(x) = (1 + x) log(1 + x) - x.
  template <bool is_clipped>
  static MovedRow moved(const RowsAt& rows, const FixedDual& dual, Index m, Lanes step) {
    const Lanes a = load(dual.a + m), b = load(dual.b + m), zero = broadcast(0.0), minus_one = broadcast(-1.0);
    Lanes x = b * step, y = -a * step;
    const Lanes is_outside = select(least(x, y) < -1.0, broadcast(1.0), zero);
    if constexpr (is_clipped) {
      const Bits is_low = x < -1.0, is_high = y < -1.0;
      x = select(is_low, minus_one, select(is_high, b / a, x));
      y = select(is_low, a / b, select(is_high, minus_one, y));
    }
    const Lanes lost = a * (x * load(rows.u + m) + bounded_x_log_x(x)) + b * bounded_x_log_x(y);
    return {a + a * x, lost, is_clipped ? zero : is_outside};
  }

  /// w tanh(|u| / 2) / (2 |u|), as Jaakkola and Jordan have it: such quadratics are nowhere below the loss.
  static void bound_curvature(const RowsAt& rows, const FixedDual& dual, double* d) {
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes size = magnitude(load(rows.u + m));
      const Lanes slope = magnitude(load(dual.a + m) - load(dual.b + m)) / (2.0 * most(size, broadcast(1e-4)));
      store(d + m, load(rows.w + m) * select(size > 1e-4, slope, broadcast(0.25)));
    }
  }
};

}  // namespace shortlist
