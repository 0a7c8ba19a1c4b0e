// Half the Poisson deviance of a count y with mean mu = exp(u): mu - y u less its least value y - y log y.
// a = mu - y, curvature mu, H(a) = mu - mu log mu - (y - y log y).
//
// A dual point has sum_m w_m mu_m = sum_m w_m y_m: the means are scaled. Beyond `furthest` u has no mean that is a
// number: the loss is infinite, and the dual point is taken at the largest one.
#pragma once

#include <cmath>

#include "elementary.hpp"
#include "family.hpp"

namespace shortlist {

struct Poisson {
  static constexpr bool is_curved = true, is_bent = false;
  static constexpr double balance = 0.5, furthest = 600.0;

  static Sums evaluate(const RowsAt& rows, const DualRows& dual) {
    Lanes loss = broadcast(0.0), mean = loss, count = loss, entropy = loss;
    const Lanes end = broadcast(furthest);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes w = load(rows.w + m), y = load(rows.y + m), given = load(rows.u + m);
      const Lanes u = most(least(given, end), -end);
      const Lanes mu = exp_of(u), d = w * mu, a = mu - y;
      store(dual.a + m, a);
      store(dual.b + m, mu);
      store(dual.q + m, w * a);
      store(dual.d + m, d);
      loss += select((given > end) & (w > 0.0), broadcast(infinity), w * (mu - y * given));
      mean += d;
      count += w * y;
      entropy += d * u;
    }
    const double total = sum(mean), counts = sum(count), mismatch = total - counts;
    return {sum(loss) - rows.least, total, mismatch, total + counts, {total, 0.0}, {-sum(entropy), 0.0}};
  }

  static double make_feasible(const RowsAt& rows, const FixedDual& dual, const Sums& sums, double* q) {
    return scale(rows, dual.b, sums.mass[0], sums.entropy[0], q);
  }

  /// mu' = mu (1 + t), at least 0. With f as for the logistic loss, -mu' log mu' = -mu' u - mu (f(t) + t).
  static double move(const RowsAt& rows, const FixedDual& dual, const Sums&, const double* t, double* q) {
    Lanes mean = broadcast(0.0), entropy = mean;
    const Lanes end = broadcast(furthest);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes step = most(load(t + m), broadcast(-1.0)), old = load(dual.b + m), w = load(rows.w + m);
      const Lanes mu = old + old * step;
      store(q + m, mu);
      mean += w * mu;
      entropy -= w * (mu * most(least(load(rows.u + m), end), -end) + old * (bounded_x_log_x(step) + step));
    }
    return scale(rows, q, sum(mean), sum(entropy), q);
  }

  /// Exact: all means are multiplied by one number.
  static double intercept_step(const Sums& sums) { return std::log1p(-sums.mismatch / sums.curvature); }

  /// Of quadratics whose minimum, for a row on its own, is at u = log y, as far as that is above u.
  static void bound_curvature(const RowsAt& rows, const FixedDual& dual, double* d) {
    for (Index m = 0; m < rows.n; ++m) {
      const double away = rows.y[m] > 0.0 ? std::log(rows.y[m]) - rows.u[m] : 0.0;
      d[m] = away > 1e-4 ? std::max(dual.d[m], -dual.q[m] / away) : dual.d[m];
    }
  }

  static double least_loss(const RowsAt& rows) {
    double total = 0.0;
    for (Index m = 0; m < rows.n; ++m) {
      const double y = rows.y[m];
      if (y > 0.0) total += rows.w[m] * (y - y * std::log(y));
    }
    return total;
  }

  static double unit(const RowsAt&) { return 0.0; }

  static NullModel null_model(const RowsAt& rows) {
    const double counts = dot(rows.w, rows.y, rows.n), intercept = std::log(counts / total_of(rows.w, rows.n));
    return {intercept, counts - counts * intercept - rows.least};
  }

 private:
  /// Fill q with w (rho mu - y), rho making the means add up to the counts; return the entropy.
  ///
  /// `entropy` is the sum of -w mu log mu, or less.
  static double scale(const RowsAt& rows, const double* mean, double total, double entropy, double* q) {
    const double counts = dot(rows.w, rows.y, rows.n), rho = counts / total;
    for (Index m = 0; m < rows.n; m += lane_count) {
      store(q + m, load(rows.w + m) * (rho * load(mean + m) - load(rows.y + m)));
    }
    return rho * entropy - counts * std::log(rho) + counts - rows.least;
  }
};

}  // namespace shortlist
