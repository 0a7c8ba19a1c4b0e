// Dual points of models: the a of a primal point, exactly feasible, and the parts of its bound.
#pragma once

#include "problem.hpp"

namespace shortlist {

/// A point as the rows see it.
struct Rows {
  explicit Rows(const Problem& problem)
      : u(problem.n_rows()),
        a(problem.n_rows()),
        b(problem.n_rows()),
        d(problem.n_rows()),
        q(problem.n_rows()),
        dual(problem.n_rows()),
        by_time(problem.n_time_numbers()) {}

  Buffer<double> u;        // linear predictor
  Buffer<double> a;        // derivative of the loss at u
  Buffer<double> b;        // what the family keeps beside a
  Buffer<double> d;        // w times the curvature of the loss
  Buffer<double> q;        // w a, whose slopes are the gradient of the loss
  Buffer<double> dual;     // w a of the dual point near it, whose slopes make its bound
  Buffer<double> by_time;  // what a family keeps of each time
  Sums sums;
  double smoothing = 0.0;

  CurvatureAt curvature() const { return {d.data(), b.data(), by_time.data()}; }
  /// Take the rows of another point.
  void copy(const Rows& other);
};

/// What `evaluate_rows` finds.
struct Evaluation {
  double intercept;
  double loss;
  double entropy;   // of the dual point, sum_m w_m H(a_m), or less
  double mismatch;  // the loss's derivative in the intercept
};

/// Evaluate the rows at the linear predictor in rows.u, and make a dual point of them.
///
/// The intercept is moved on its own until the mismatch is within the relative `tolerance`. What is left of it the
/// family removes.
Evaluation evaluate_rows(const Problem& problem, Rows& rows, double intercept, double tolerance);

/// Fill d with curvatures of quadratics that touch the loss at the point and are nowhere below it, where there are any.
void bound_curvatures(const Problem& problem, const Rows& rows, Buffer<double>& d);

/// The share of a Newton step to the linear predictor u_then that cannot overshoot, where no curvatures prevent that.
double damping_of(const Problem& problem, const Rows& rows, const double* u_then);

/// A dual point that was moved along a step.
struct MovedPoint {
  explicit MovedPoint(const Problem& problem)
      : t(problem.n_rows()), q(problem.n_rows()), by_time(problem.n_time_numbers()) {}

  Buffer<double> t;        // what the step adds to u
  Buffer<double> q;        // w a', feasible
  Buffer<double> by_time;  // for numbers of each time
};

/// Move the dual point of `rows` along moved.t: a' = a + curvature t, where that is allowed; return the entropy.
///
/// If t is the change of u that a Newton step makes, the slopes of a' equal the slopes of the model at the end of the
/// step, and its bound is exact to second order. The bound holds for every t.
double move_rows(const Problem& problem, const Rows& rows, MovedPoint& moved);

/// The sum of the curvatures d; a number of its scale if every row is where its loss is linear.
double total_curvature(const Problem& problem, const Buffer<double>& d);

/// The sum of s q, the derivative in the intercept.
double mismatch_of(const Problem& problem, const double* q);

/// The inner product of column j with q.
inline double column_slope(const Problem& problem, Index j, const double* q) {
  return dot(problem.column(j), q, problem.n_rows());
}

/// v_g at a dual point.
double predictor_value(const Problem& problem, const double* q, Index g);

/// Fill the v_g of all that is not out, at a dual point.
void predictor_values(const Problem& problem, const double* q, const Decisions& decisions, double* v);

/// Fill the gradient and v_g of all that is not out.
void evaluate_predictors(const Problem& problem, const Rows& rows, const Decisions& decisions, Buffer<double>& gradient,
                         double* v);

/// Fill the gradient of n listed columns from q.
void fill_gradient(const Problem& problem, const double* q, const Index* columns, Index n, Buffer<double>& gradient);

/// Fill the gradient of n listed columns; return the sum of their values.
double evaluate_columns(const Problem& problem, const Rows& rows, const Index* columns, Index n,
                        Buffer<double>& gradient);

}  // namespace shortlist
