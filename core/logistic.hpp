// The logistic loss log(1 + exp(u)): a = sigmoid(u), H(a) = -a log a - (1 - a) log(1 - a), curvature a (1 - a).
//
// exp and log1p are polynomials, so that they run in lanes; both are accurate to a few units in the last place.
#pragma once

#include <cmath>

#include "loss.hpp"

namespace shortlist {

/// exp(x) for -700 <= x <= 0.
inline Lanes exp_of_negative(Lanes x) {
  constexpr double log2_e = 1.4426950408889634;
  // ln 2 in two parts, so that k * high is exact for every exponent k that occurs.
  constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  constexpr double round = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves an integer in the low bits
  const Lanes rounded = x * log2_e + round;
  const Lanes k = rounded - round;
  const Lanes r = (x - k * ln2_high) - k * ln2_low;
  constexpr double inverse_factorials[] = {1.0 / 6227020800.0,
                                           1.0 / 479001600.0,
                                           1.0 / 39916800.0,
                                           1.0 / 3628800.0,
                                           1.0 / 362880.0,
                                           1.0 / 40320.0,
                                           1.0 / 5040.0,
                                           1.0 / 720.0,
                                           1.0 / 120.0,
                                           1.0 / 24.0,
                                           1.0 / 6.0,
                                           0.5,
                                           1.0,
                                           1.0};
  Lanes p = broadcast(inverse_factorials[0]);
  for (int i = 1; i < 14; ++i) p = p * r + inverse_factorials[i];
  return p * power_of_two(rounded);
}

/// log(1 + e) = 2 atanh(e / (2 + e)) for 0 <= e <= 1.
inline Lanes log1p_of_share(Lanes e) {
  const Lanes s = e / (2.0 + e);
  const Lanes square = s * s;
  Lanes p = broadcast(1.0 / 31.0);
  for (int k = 29; k >= 1; k -= 2) p = p * square + 1.0 / k;
  return 2.0 * s * p;
}

struct Logistic {
  static constexpr bool is_curved = true;
  static constexpr double balance = 0.5;

  static double value(double margin) { return std::log1p(std::exp(-std::abs(margin))) + std::max(-margin, 0.0); }
  static double best_intercept(double positive, double negative) { return std::log(positive / negative); }

  static ClassSums evaluate(const ClassRows& rows, const ClassDual& dual) {
    Lanes loss = broadcast(0.0), entropy = loss, mass = loss, curvature = loss;
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes u = load(rows.u + m), w = load(rows.w + m);
      const Lanes size = least(magnitude(u), broadcast(700.0));
      const Lanes e = exp_of_negative(-size);
      const Lanes log1p = log1p_of_share(e);
      const Lanes inverse = 1.0 / (1.0 + e), small = e * inverse;
      const Bits is_positive = u > 0.0;
      const Lanes a = select(is_positive, inverse, small);
      const Lanes q = w * a, d = w * e * inverse * inverse;
      store(dual.a + m, a);
      store(dual.b + m, select(is_positive, small, inverse));
      store(dual.q + m, q);
      store(dual.d + m, d);
      loss += w * (log1p + most(u, broadcast(0.0)));
      // log(1 + exp(u)) - a u, arranged so that nothing cancels when a is close to 0 or 1.
      entropy += w * (log1p + size * e * inverse);
      mass += q;
      curvature += d;
    }
    return {sum(loss), sum(entropy), sum(mass), sum(curvature)};
  }

  /// w tanh(|u| / 2) / (2 |u|), as Jaakkola and Jordan have it.
  static void bound_curvature(const ClassRows& rows, const double* a, const double* b, double* d) {
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes size = magnitude(load(rows.u + m));
      const Lanes slope = magnitude(load(a + m) - load(b + m)) / (2.0 * most(size, broadcast(1e-4)));
      store(d + m, load(rows.w + m) * select(size > 1e-4, slope, broadcast(0.25)));
    }
  }

  static MovedSums move(const ClassRows& rows, const double* a_of, const double* b_of, const double* t, double* q,
                        double entropy) {
    Lanes lost = broadcast(0.0), mass = lost, outside = lost;
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes a = load(a_of + m), b = load(b_of + m), w = load(rows.w + m), step = load(t + m);
      const Lanes x = b * step, y = -a * step;
      outside += select(least(x, y) < -1.0, broadcast(1.0), broadcast(0.0));
      lost += w * lost_entropy(load(rows.u + m), a, b, x, y);
      const Lanes moved = w * (a + a * x);
      store(q + m, moved);
      mass += moved;
    }
    if (sum(outside) > 0.0) return move_clipped(rows, a_of, b_of, t, q, entropy);
    return {entropy - sum(lost), sum(mass)};
  }

 private:
  static MovedSums move_clipped(const ClassRows& rows, const double* a_of, const double* b_of, const double* t,
                                double* q, double entropy) {
    Lanes lost = broadcast(0.0), mass = lost;
    const Lanes one = broadcast(1.0);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes a = load(a_of + m), b = load(b_of + m), w = load(rows.w + m), step = load(t + m);
      const Lanes x = b * step, y = -a * step;
      const Bits is_low = x < -1.0, is_high = y < -1.0;
      const Lanes x_clipped = select(is_low, -one, select(is_high, b / a, x));
      const Lanes y_clipped = select(is_low, a / b, select(is_high, -one, y));
      lost += w * lost_entropy(load(rows.u + m), a, b, x_clipped, y_clipped);
      const Lanes moved = w * (a + a * x_clipped);
      store(q + m, moved);
      mass += moved;
    }
    return {entropy - sum(lost), sum(mass)};
  }

  /// What H(a') loses against H(a) at most, for a' = a (1 + x) and 1 - a' = b (1 + y).
  ///
  /// H(a') = H(a) - a x u - a f(x) - b f(y) with f(x) = (1 + x) log(1 + x) - x, and f is bounded by its Taylor
  /// polynomial: f(x) <= x^2 (1/2 - x/6 + x^2/12) for x >= 0, and that plus |x|^5 / 4 for -1 <= x < 0, 1/4 being
  /// the sum of 1 / (k (k - 1)) over k >= 5. No exponential, no logarithm.
  static Lanes lost_entropy(Lanes u, Lanes a, Lanes b, Lanes x, Lanes y) {
    return a * (x * u + bounded(x)) + b * bounded(y);
  }
  static Lanes bounded(Lanes x) {
    const Lanes low = most(-x, broadcast(0.0));
    return x * x * (0.5 - x / 6.0 + x * x / 12.0 + 0.25 * low * low * low);
  }
};

}  // namespace shortlist
