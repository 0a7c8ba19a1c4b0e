// What the search asks of a loss; `with_loss` of problem.hpp chooses one.
//
// With u = -y (x'theta + theta_0), minus the margin, a loss of a row is the maximum of H(a) + a u over the a that it
// allows; a is its derivative in u. A loss is a struct of static members, one file each:
//
//   evaluate        the a, q = w a and d = w * curvature of rows at u, and their sums
//   bound_curvature curvatures d of quadratics that touch the loss at u and are nowhere below it
//   move            the same rows at a' = a + curvature * t, clipped to what is allowed: q = w a' and its sums
//   value           the loss of a margin
//   best_intercept  of the model without coefficients, given the weight of each class
//   is_curved       whether every row has curvature, so that Newton's method is all that a fit needs
//   balance         how far the classes' dual masses may differ before a fit moves the intercept alone
#pragma once

#include "lanes.hpp"

namespace shortlist {

/// The rows of one class at a point; `smoothing` is the width of the band on which the hinge is smoothed.
struct ClassRows {
  Index n;
  const double *w, *u;
  double smoothing;
};

/// Where `evaluate` writes the dual point of these rows; b = 1 - a is of the logistic loss alone.
struct ClassDual {
  double *a, *b, *q, *d;
};

/// Sums over the rows of a class.
struct ClassSums {
  double loss, entropy, mass, curvature;
};

/// Sums over the rows of a class that was moved.
struct MovedSums {
  double entropy, mass;
};

enum class LossKind { logistic, squared_hinge, hinge };

}  // namespace shortlist
