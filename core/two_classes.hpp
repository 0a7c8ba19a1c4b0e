// What the losses of two classes share. s is -1 for positive rows and +1 for negative ones, so that u is minus the
// margin, and a >= 0. In a dual point the sum of w a is the same for both classes: the class with the larger sum is
// scaled down.
//
// A loss says what its rows are in lanes (`Loss::row`, `Loss::moved`); the sums, by class, are here.
#pragma once

#include <cmath>

#include "family.hpp"

namespace shortlist {

/// Four rows at a point.
struct LossRow {
  Lanes loss, entropy, a, b, curvature;
};

/// Four rows of a moved point: H(a') is at least entropy, or H(a) less entropy if `Loss::entropy_is_lost`.
struct MovedRow {
  Lanes a, entropy, is_outside;  // 1 where an a that is not clipped would have to be
};

/// Sums by class of a quantity that is 0 in padded rows.
class ClassSum {
 public:
  void add(Bits is_positive, Lanes value) {
    positive_ += select(is_positive, value, broadcast(0.0));
    negative_ += select(is_positive, broadcast(0.0), value);
  }
  ByClass total() const { return {sum(positive_), sum(negative_)}; }

 private:
  Lanes positive_ = broadcast(0.0), negative_ = broadcast(0.0);
};

/// Scale the heavier class down, from q to `out`; return the entropy, by H(rho a) >= rho H(a).
inline double balance_classes(const RowsAt& rows, const ByClass& mass, const ByClass& entropy, const double* q,
                              double* out) {
  const double positive = mass[0] > mass[1] ? mass[1] / mass[0] : 1.0;
  const double negative = mass[1] > mass[0] ? mass[0] / mass[1] : 1.0;
  for (Index m = 0; m < rows.n; m += lane_count) {
    const Lanes rho = select(load(rows.s + m) < 0.0, broadcast(positive), broadcast(negative));
    store(out + m, rho * load(q + m));
  }
  return positive * entropy[0] + negative * entropy[1];
}

template <class Loss>
struct TwoClasses {
  static Sums evaluate(const RowsAt& rows, const DualRows& dual) {
    Lanes loss = broadcast(0.0), curvature = loss;
    ClassSum mass, entropy;
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes w = load(rows.w + m);
      const LossRow row = Loss::row(load(rows.u + m), rows.smoothing);
      const Lanes q = w * row.a, d = w * row.curvature;
      store(dual.a + m, row.a);
      if constexpr (Loss::is_curved) store(dual.b + m, row.b);
      store(dual.q + m, q);
      store(dual.d + m, d);
      loss += w * row.loss;
      curvature += d;
      const Bits is_positive = load(rows.s + m) < 0.0;
      mass.add(is_positive, q);
      entropy.add(is_positive, w * row.entropy);
    }
    const ByClass total = mass.total();
    return {sum(loss), sum(curvature), total[1] - total[0], total[1] + total[0], total, entropy.total()};
  }

  static double make_feasible(const RowsAt& rows, const FixedDual& dual, const Sums& sums, double* q) {
    return balance_classes(rows, sums.mass, sums.entropy, dual.q, q);
  }

  static double move(const RowsAt& rows, const FixedDual& dual, const Sums& sums, const double* t, double* q) {
    ByClass mass, entropy;
    if (!move_rows<false>(rows, dual, t, q, mass, entropy)) move_rows<true>(rows, dual, t, q, mass, entropy);
    if constexpr (Loss::entropy_is_lost) {
      for (std::size_t c = 0; c < 2; ++c) entropy[c] = sums.entropy[c] - entropy[c];
    }
    return balance_classes(rows, mass, entropy, q, q);
  }

  static double intercept_step(const Sums& sums) { return newton_intercept_step(sums); }

  static double least_loss(const RowsAt&) { return 0.0; }

  static double unit(const RowsAt&) { return 0.0; }

  static NullModel null_model(const RowsAt& rows) {
    ClassSum weights;
    for (Index m = 0; m < rows.n; m += lane_count) weights.add(load(rows.s + m) < 0.0, load(rows.w + m));
    const auto [positive, negative] = weights.total();
    const double intercept = Loss::best_intercept(positive, negative);
    return {intercept, positive * Loss::value(intercept) + negative * Loss::value(-intercept)};
  }

 private:
  /// Fill q with w a'; return whether every a' is one that is allowed.
  template <bool is_clipped>
  static bool move_rows(const RowsAt& rows, const FixedDual& dual, const double* t, double* q, ByClass& mass,
                        ByClass& entropy) {
    ClassSum mass_sum, entropy_sum;
    Lanes outside = broadcast(0.0);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes w = load(rows.w + m);
      const MovedRow row = Loss::template moved<is_clipped>(rows, dual, m, load(t + m));
      const Lanes moved = w * row.a;
      store(q + m, moved);
      const Bits is_positive = load(rows.s + m) < 0.0;
      mass_sum.add(is_positive, moved);
      entropy_sum.add(is_positive, w * row.entropy);
      outside += row.is_outside;
    }
    mass = mass_sum.total();
    entropy = entropy_sum.total();
    return !(sum(outside) > 0.0);
  }
};

}  // namespace shortlist
