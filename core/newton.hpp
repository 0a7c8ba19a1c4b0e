// A model on a fixed support, and Newton steps of it.
//
// Each step is the minimum of the quadratic model within the limits of the coefficients. Listed columns are ordered:
// those that move come first, those that the step takes to a limit, or leaves there, come last.
#pragma once

#include "point.hpp"

namespace shortlist {

/// The Hessian on listed columns, intercept eliminated, ridge included; then its Cholesky factor.
struct Hessian {
  Hessian(const Problem& problem, Index n_columns)
      : columns(n_columns),
        matrix(n_columns, n_columns),
        mean(n_columns),
        step(n_columns),
        weighted(batch, problem.n_rows()),
        scratch(2 * batch * problem.data().n_times()) {}

  static constexpr Index batch = 4;  // columns that are weighted at a time

  Buffer<Index> columns;
  Matrix matrix;
  Buffer<double> mean;     // weighted means of the columns
  Buffer<double> step;     // right-hand side, then solution
  Matrix weighted;         // some columns times W
  Buffer<double> scratch;  // numbers of each time

  /// List the columns of the bought predictors; return how many.
  Index list_columns(const Problem& problem, const Decisions& decisions);
  /// Fill the rows of the n listed columns; total is the sum of the curvatures d.
  void fill(const Problem& problem, const CurvatureAt& curvature, Index n, double total);
  /// Call a function with the place of each of n columns x and with W x.
  template <class Function>
  void for_each_weighted(const Problem& problem, const CurvatureAt& curvature, const Index* some, Index n,
                         Function function) {
    for (Index first = 0; first < n; first += batch) {
      const Index size = std::min(batch, n - first);
      std::array<const double*, batch> x{};
      for (Index c = 0; c < size; ++c) x[static_cast<std::size_t>(c)] = problem.column(some[first + c]);
      problem.weigh(curvature, x.data(), size, weighted, scratch.data());
      for (Index c = 0; c < size; ++c) function(first + c, weighted[c]);
    }
  }
  /// Fill out with the inner products of a weighted column and the first n listed columns.
  void cross_products(const Problem& problem, const double* weighted_column, Index n, double* out) const;
  /// The step of the intercept that goes with steps of the first n listed columns.
  double intercept_step(const double* steps, Index n, double mismatch, double total) const;
  void exchange(Index i, Index k);
};

/// A Newton step of the intercept; the step of the columns is in Hessian::step.
struct NewtonStep {
  double intercept = 0.0;
  double decrement = 0.0;  // twice what the model falls by if no limit is met
  bool exists = false;     // there is none where all curvatures vanish or columns are dependent
};

/// How well a model fits, and what bounds it.
struct FitScore {
  double intercept;
  double objective;
  double bound;
};

/// What a fit may rely on.
enum class Start {
  predictor,  // rows.u is some linear predictor
  rows,       // rows.q and rows.d belong to it
  model,      // and so does theta, which is 0 outside the support
};

/// Relative accuracy of fits that may be the answer, and of those on the way to one.
inline constexpr double fine = 1e-10, coarse = 1e-3;

/// The model that is fitted, and the point that bounds it.
class Fit {
 public:
  /// Supports have up to `max_columns` columns.
  Fit(const Problem& problem, Index max_columns);

  Rows rows;
  Hessian hessian;
  Buffer<double> theta;
  Buffer<double> gradient;
  MovedPoint moved;  // along the next step
  /// Whether the point that bounds the last fit is moved by a step, on how many columns, and its intercept.
  bool is_moved = false;
  Index n_step_columns = 0;
  double intercept_step = 0.0;

  const Problem& problem() const { return problem_; }

  /// Fit theta on the bought predictors, starting from what is known.
  ///
  /// Stops when the bound reaches `cutoff`, as the support cannot matter any more, or when it is within
  /// tolerance * objective of the objective. The bound belongs to the model in theta, after a step if is_moved.
  FitScore fit(const Decisions& decisions, double intercept, double cutoff, double tolerance, Start start);
  /// Make the point the model without coefficients; return its intercept.
  double start_from_null();
  /// Evaluate the rows at another point.
  void start_from(const Rows& other);

  /// The Newton step from theta, whose gradient is known, on the n listed columns.
  NewtonStep find_step(Index n, double mismatch);
  /// Add the step to the model; return the intercept.
  double take_step(Index n, double intercept, double step);
  /// Take back half of the last step; return the intercept.
  double halve_step(Index n, double intercept, double last_intercept);
  /// Take back all that is left of the last step, beyond which the loss is infinite; score the model before it.
  FitScore take_back(Index n, double last_intercept, double objective);
  /// The sum of squares of the listed coefficients.
  double squares(Index n) const;

 private:
  double least_squares_slopes(Index n);
  Index hold_outward(Index n);
  double held_slope(Index n_moving, Index n, Index i) const;
  bool correct_held(double mismatch, Index& n_moving, Index n, bool only_last);

  const Problem& problem_;
  Buffer<double> target_;  // working response of the least-squares start
  std::vector<char> is_wrong_;
};

/// The bound, on the first n columns listed in a Hessian, of the dual point moved along steps of n_moving columns.
double moved_bound(const Problem& problem, const Rows& rows, MovedPoint& moved, const Hessian& hessian,
                   const double* steps, Index n_moving, double intercept_step, Index n);

}  // namespace shortlist
