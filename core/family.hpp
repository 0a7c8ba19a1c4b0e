// What the search asks of a family of outcomes; `with_family` of problem.hpp chooses one.
//
// With u = s (x'theta + theta_0), s being the row's entry in the column of the intercept, the loss of a row is the
// maximum of H(a) + a u over the a that it allows; a is its derivative in u. A dual point is an a for every row with
// sum_m w_m a_m s_m = 0. A family is a struct of static members, one file each:
//
//   evaluate        the a, q = w a and d = w * curvature of all rows at u, and sums over the rows
//   make_feasible   fills q with w a' of a dual point a' near a; returns sum_m w_m H(a'_m), or less
//   move            the same for a + curvature * t, clipped to what is allowed
//   bound_curvature curvatures d of quadratics whose steps do not overshoot where steps by `evaluate` do
//   intercept_step  a step of the intercept alone towards sum_m w_m a_m s_m = 0
//   least_loss      what the loss of all rows is at least before it is taken off, so that no loss is below 0
//   unit            what relative accuracies are relative to; 0: to the objective, which then is at least 0
//   null_model      the best intercept without coefficients, and the objective of that model
//   is_curved       whether every row has curvature, so that Newton's method is all that a fit needs
//   furthest        the largest u of a model that is worth its loss
//   is_bent         whether the loss bends: fits then need an interior-point method and Hessians of centred columns
//   balance         the relative mismatch, the sum of w a s, that a fit may have before it moves the intercept alone
#pragma once

#include "lanes.hpp"
#include "risk_sets.hpp"

namespace shortlist {

/// Rows at a linear predictor u: weights, intercept column and outcomes.
struct RowsAt {
  Index n;
  const double *w, *s, *y, *u;
  double smoothing;                     // the width of the band on which the hinge is smoothed
  double least;                         // what `least_loss` says
  const RiskSets* risk_sets = nullptr;  // of rows with times
  double* by_time = nullptr;            // takes numbers of each time
};

/// A dual point as `evaluate` leaves it. b is what the family keeps beside a: 1 - a, or the mean of a count.
struct DualRows {
  double *a, *b, *q, *d;
};
struct FixedDual {
  const double *a, *b, *q, *d;
};

/// The second derivative of the loss at a point, W: the diagonal d, and of rows with times what couples them.
struct CurvatureAt {
  const double *d, *e, *by_time;
};

/// Numbers by class, positive and negative; without classes the first is the total over all rows.
using ByClass = std::array<double, 2>;

/// Sums over the rows.
struct Sums {
  double loss = 0.0;
  double curvature = 0.0;
  double mismatch = 0.0;  // of w a s, the derivative in the intercept
  double size = 0.0;      // of w |a|, which mismatches are relative to
  ByClass mass{};         // of w a
  ByClass entropy{};      // of w H(a)
};

struct NullModel {
  double intercept, objective;
};

/// The step to where quadratics that touch the loss here have no mismatch.
inline double newton_intercept_step(const Sums& sums) {
  constexpr double longest = 4.0;
  return sums.curvature > 0.0 ? std::min(std::max(-sums.mismatch / sums.curvature, -longest), longest) : 0.0;
}

enum class FamilyKind { logistic, squared_hinge, hinge, squared_error, poisson, cox };

}  // namespace shortlist
