// Half the squared error (y - u)^2 / 2: a = u - y, H(a) = -a y - a^2 / 2, curvature 1.
//
// A dual point has sum_m w_m a_m = 0, so a loses its mean. Moved points are exact.
#pragma once

#include <algorithm>

#include "family.hpp"

namespace shortlist {

struct SquaredError {
  static constexpr bool is_curved = true, is_bent = false;
  static constexpr double balance = 1.0, furthest = infinity;

  static Sums evaluate(const RowsAt& rows, const DualRows& dual) {
    Lanes loss = broadcast(0.0), mass = loss, size = loss, weight = loss;
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes w = load(rows.w + m), a = load(rows.u + m) - load(rows.y + m), q = w * a;
      store(dual.a + m, a);
      store(dual.q + m, q);
      store(dual.d + m, w);
      loss += 0.5 * q * a;
      mass += q;
      size += magnitude(q);
      weight += w;
    }
    const double total = sum(mass);
    return {sum(loss), sum(weight), total, sum(size), {total, 0.0}, {}};
  }

  static double make_feasible(const RowsAt& rows, const FixedDual& dual, const Sums& sums, double* q) {
    return centre(rows, dual.a, sums.mismatch / sums.curvature, q);
  }

  static double move(const RowsAt& rows, const FixedDual& dual, const Sums& sums, const double* t, double* q) {
    Lanes mass = broadcast(0.0);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes a = load(dual.a + m) + load(t + m);
      store(q + m, a);
      mass += load(rows.w + m) * a;
    }
    return centre(rows, q, sum(mass) / sums.curvature, q);
  }

  static double intercept_step(const Sums& sums) { return -sums.mismatch / sums.curvature; }

  static void bound_curvature(const RowsAt& rows, const FixedDual&, double* d) {
    std::copy(rows.w, rows.w + rows.n, d);
  }

  static double least_loss(const RowsAt&) { return 0.0; }

  static double unit(const RowsAt&) { return 0.0; }

  static NullModel null_model(const RowsAt& rows) {
    const double mean = dot(rows.w, rows.y, rows.n) / total_of(rows.w, rows.n);
    double objective = 0.0;
    for (Index m = 0; m < rows.n; ++m) objective += 0.5 * rows.w[m] * (rows.y[m] - mean) * (rows.y[m] - mean);
    return {mean, objective};
  }

 private:
  /// Fill q with w (a - mean); return the entropy.
  static double centre(const RowsAt& rows, const double* a_of, double mean, double* q) {
    Lanes entropy = broadcast(0.0);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes a = load(a_of + m) - mean, weighted = load(rows.w + m) * a;
      store(q + m, weighted);
      entropy -= weighted * (load(rows.y + m) + 0.5 * a);
    }
    return sum(entropy);
  }
};

}  // namespace shortlist
