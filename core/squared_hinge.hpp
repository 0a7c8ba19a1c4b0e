// The squared hinge max(0, 1 + u)^2: a = 2 max(0, 1 + u), H(a) = a - a^2 / 4, curvature 2 where a > 0.
#pragma once

#include "loss.hpp"

namespace shortlist {

/// An a this close to the end of what is allowed does not move. Rows at the kink, which whole numbers lead to, are
/// within rounding of the end, and whoever checks a proof must come to the same side.
inline constexpr double at_end = 0x1p-20;

struct SquaredHinge {
  static constexpr bool is_curved = false;
  static constexpr double balance = 1.0;  // to move the intercept alone might raise a piecewise quadratic loss

  static double value(double margin) { return margin < 1.0 ? (1.0 - margin) * (1.0 - margin) : 0.0; }
  static double best_intercept(double positive, double negative) {
    return (positive - negative) / (positive + negative);
  }

  static ClassSums evaluate(const ClassRows& rows, const ClassDual& dual) {
    Lanes loss = broadcast(0.0), entropy = loss, mass = loss, curvature = loss;
    const Lanes zero = broadcast(0.0);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes w = load(rows.w + m), s = most(1.0 + load(rows.u + m), zero);
      const Lanes a = 2.0 * s, q = w * a, d = select(s > 0.0, 2.0 * w, zero);
      store(dual.a + m, a);
      store(dual.q + m, q);
      store(dual.d + m, d);
      loss += w * s * s;
      entropy += w * s * (2.0 - s);
      mass += q;
      curvature += d;
    }
    return {sum(loss), sum(entropy), sum(mass), sum(curvature)};
  }

  static void bound_curvature(const ClassRows& rows, const double*, const double*, double* d) {
    for (Index m = 0; m < rows.n; ++m) d[m] = 2.0 * rows.w[m];
  }

  static MovedSums move(const ClassRows& rows, const double* a_of, const double*, const double* t, double* q, double) {
    Lanes entropy = broadcast(0.0), mass = entropy;
    const Lanes zero = broadcast(0.0);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes a = load(a_of + m);
      const Lanes moved = select(a > at_end, most(a + 2.0 * load(t + m), zero), a);
      const Lanes weighted = load(rows.w + m) * moved;
      store(q + m, weighted);
      entropy += weighted * (1.0 - 0.25 * moved);
      mass += weighted;
    }
    return {sum(entropy), sum(mass)};
  }
};

}  // namespace shortlist
