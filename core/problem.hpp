// Rows, ridge, family and the intervals of the coefficients: all that a fit needs to know.
#pragma once

#include <memory>
#include <stdexcept>

#include "cox.hpp"
#include "data.hpp"
#include "hinge.hpp"
#include "logistic.hpp"
#include "poisson.hpp"
#include "squared_error.hpp"

namespace shortlist {

/// Call a function with the family of a kind, as a type.
template <class Function>
decltype(auto) with_family(FamilyKind kind, Function&& function) {
  switch (kind) {
    case FamilyKind::logistic:
      return function(Logistic{});
    case FamilyKind::squared_hinge:
      return function(SquaredHinge{});
    case FamilyKind::hinge:
      return function(Hinge{});
    case FamilyKind::squared_error:
      return function(SquaredError{});
    case FamilyKind::poisson:
      return function(Poisson{});
    case FamilyKind::cox:
      return function(Cox{});
  }
  throw std::logic_error("a family without a case");
}

class Problem {
 public:
  /// Intervals of the coefficients are by given column; without pointers there are none.
  Problem(std::shared_ptr<const Data> data, double ridge, FamilyKind family, const double* lower, const double* upper);

  const Data& data() const { return *data_; }
  Index n_rows() const { return data_->n_rows(); }
  Index n_columns() const { return data_->n_columns(); }
  Index n_predictors() const { return data_->n_predictors(); }
  const double* column(Index j) const { return data_->column(j); }
  const double* weights() const { return data_->weights(); }
  const double* intercept_column() const { return data_->intercept_column(); }
  Index start(Index g) const { return data_->start(g); }
  Index end(Index g) const { return data_->start(g + 1); }
  Index owner(Index j) const { return data_->owner(j); }
  bool has_one_column(Index g) const { return end(g) - start(g) == 1; }

  const double ridge;
  const FamilyKind family;
  /// Of the hinge, where fits and relaxations need not be accurate; 0 for other losses.
  double smoothing = 0.0;
  /// What the family says of itself.
  bool is_curved = false, is_bent = false;
  double balance = 0.0, furthest = 0.0, least_loss = 0.0, unit = 0.0;
  /// Intervals of the coefficients, by column.
  Buffer<double> lower, upper;
  bool is_limited = false;  // whether any of them is finite
  /// The model without coefficients.
  double null_intercept = 0.0, null_objective = 0.0;

  /// What accuracies of an objective are relative to: the objective, unless the family has a unit.
  double scale(double objective) const { return unit > 0.0 ? unit : objective; }
  /// An objective that is lower, or higher, by a share of that.
  double below(double objective, double share) const {
    return unit > 0.0 ? objective - share * unit : objective * (1.0 - share);
  }
  double above(double objective, double share) const {
    return unit > 0.0 ? objective + share * unit : objective * (1.0 + share);
  }

  /// The coefficient of column j nearest to t that is allowed; close to a limit is at it.
  double within(Index j, double t) const {
    constexpr double at = 1.0 - 1e-15;
    if (t >= upper[j] * at) return upper[j];
    if (t <= lower[j] * at) return lower[j];
    return t;
  }

  /// The share of column j in v: -min over theta_j of slope theta_j + ridge/2 theta_j^2, which is
  /// slope^2 / (2 ridge) where the coefficient has no limits.
  double value_of_slope(Index j, double slope) const {
    double theta = -slope / ridge;
    theta = theta < lower[j] ? lower[j] : theta;
    theta = theta > upper[j] ? upper[j] : theta;
    const double value = -theta * (slope + 0.5 * ridge * theta);
    return value >= 0.0 ? value : infinity;  // of a slope that is NaN or infinite
  }

  /// The norm of the coefficients of predictor g.
  double norm(const Buffer<double>& theta, Index g) const;

  /// The rows at a linear predictor.
  RowsAt rows_at(const double* u, double width, double* by_time = nullptr) const {
    return {n_rows(),           weights(), intercept_column(), data_->outcomes(), u, width, least_loss,
            data_->risk_sets(), by_time};
  }
  /// Whether the rows' curvatures are coupled: else W is diagonal.
  bool is_coupled() const { return data_->risk_sets() != nullptr; }
  /// How many numbers of times a point keeps.
  Index n_time_numbers() const { return Cox::n_numbers * data_->n_times(); }
  /// Fill the first rows of `out`, which has four, with W x of up to four vectors x.
  ///
  /// `scratch` takes 8 numbers of each time where rows are coupled.
  void weigh(const CurvatureAt& curvature, const double* const* x, Index n, Matrix& out, double* scratch) const;
  /// Fill u = X theta + s * intercept.
  void linear_predictor(const Buffer<double>& theta, double intercept, double* u) const;
  /// Fill t = X step + s * intercept, where step has an entry for each of n listed columns.
  void add_columns(const Index* columns, const double* step, Index n, double intercept, double* t) const;

 private:
  std::shared_ptr<const Data> data_;
};

}  // namespace shortlist
