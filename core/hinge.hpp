// The hinge max(0, 1 + u), smoothed where it bends: a = clip((1 + u) / smoothing, 0, 1), curvature 1 / smoothing
// between.
//
// On the band 0 < 1 + u < smoothing it is (1 + u)^2 / (2 smoothing), beyond it 1 + u - smoothing / 2. That is the
// maximum of a (1 + u) - smoothing a^2 / 2 over 0 <= a <= 1, and so below the hinge. H(a) = a is that of the hinge
// itself, so that bounds hold for it whatever the smoothing.
#pragma once

#include "loss.hpp"
#include "squared_hinge.hpp"

namespace shortlist {

struct Hinge {
  static constexpr bool is_curved = false;
  static constexpr double balance = 1.0;

  static double value(double margin) { return margin < 1.0 ? 1.0 - margin : 0.0; }
  static double best_intercept(double positive, double negative) {
    return positive > negative ? 1.0 : positive < negative ? -1.0 : 0.0;
  }

  static ClassSums evaluate(const ClassRows& rows, const ClassDual& dual) {
    Lanes loss = broadcast(0.0), mass = loss, curvature = loss;
    const Lanes zero = broadcast(0.0), one = broadcast(1.0);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes w = load(rows.w + m), s = 1.0 + load(rows.u + m);
      const Lanes a = least(most(s / rows.smoothing, zero), one);
      const Lanes q = w * a, d = select((a > 0.0) & (a < 1.0), w / rows.smoothing, zero);
      store(dual.a + m, a);
      store(dual.q + m, q);
      store(dual.d + m, d);
      loss += q * (s - 0.5 * rows.smoothing * a);
      mass += q;
      curvature += d;
    }
    return {sum(loss), sum(mass), sum(mass), sum(curvature)};
  }

  static void bound_curvature(const ClassRows& rows, const double*, const double*, double* d) {
    for (Index m = 0; m < rows.n; ++m) d[m] = rows.w[m] / rows.smoothing;
  }

  static MovedSums move(const ClassRows& rows, const double* a_of, const double*, const double* t, double* q, double) {
    Lanes mass = broadcast(0.0);
    const Lanes zero = broadcast(0.0), one = broadcast(1.0);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes a = load(a_of + m);
      const Lanes step = select((a > at_end) & (a < 1.0 - at_end), load(t + m) / rows.smoothing, zero);
      const Lanes weighted = load(rows.w + m) * least(most(a + step, zero), one);
      store(q + m, weighted);
      mass += weighted;
    }
    return {sum(mass), sum(mass)};
  }
};

}  // namespace shortlist
