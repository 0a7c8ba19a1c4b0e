// The record of a search, from which its certificate is made.
//
// The trace is a list of steps, each about one node, and a list of primal points (coefficients and intercept). A node's
// steps say why no selection that agrees with its decisions beats the bound. What is written down may be taken away, to
// a file: points keep their numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "memory.hpp"
#include "newton.hpp"

namespace shortlist {

enum class StepKind : std::int64_t {
  fix,     // the reference is a point that bounds all selections which decide a member otherwise; member g >= 0 is
           // forbidden from here on, ~g is bought
  bound,   // the reference is a point that bounds the whole node (from the first member to the second, if there are
           // budgets)
  branch,  // the one member is forbidden in the node that is the reference, bought in the next
  one,     // no two free predictors are affordable together: the reference is a point that bounds the selections which
           // add one of the members, or none
  none,    // what is bought is not affordable
};

inline constexpr std::int64_t no_point = -1;

struct TraceStep {
  StepKind kind;
  std::int64_t node, reference, first_member;
};
struct TracePoint {
  double intercept, intercept_step, smoothing;  // the step is not a number if the point is not moved
  std::int64_t first_column;
};

class Trace {
 public:
  std::vector<TraceStep> steps;
  std::vector<std::int64_t> members;
  std::vector<TracePoint> points;
  std::vector<std::int32_t> columns;
  std::vector<double> values;  // of the columns of a point, then, if it is moved, their steps
  bool is_complete = true;

  std::size_t n_bytes() const {
    return steps.size() * sizeof(TraceStep) + members.size() * sizeof(std::int64_t) +
           points.size() * sizeof(TracePoint) + columns.size() * sizeof(std::int32_t) + values.size() * sizeof(double);
  }

  /// How much is written down.
  struct Mark {
    std::size_t n_steps, n_members, n_points, n_columns, n_values;
  };
  Mark mark() const { return {steps.size(), members.size(), points.size(), columns.size(), values.size()}; }
  /// Forget what was written down after a mark.
  void cut(const Mark& mark) {
    steps.resize(mark.n_steps);
    members.resize(mark.n_members);
    points.resize(mark.n_points);
    columns.resize(mark.n_columns);
    values.resize(mark.n_values);
  }

  void clear() {
    steps.clear();
    members.clear();
    points.clear();
    columns.clear();
    values.clear();
  }

  /// Take away what is written down; what follows has the numbers that it would have had.
  Trace take() {
    Trace taken;
    std::swap(taken.steps, steps);
    std::swap(taken.members, members);
    std::swap(taken.points, points);
    std::swap(taken.columns, columns);
    std::swap(taken.values, values);
    taken.is_complete = is_complete;
    n_points_taken_ += static_cast<std::int64_t>(taken.points.size());
    return taken;
  }
  /// The number of the point that is written down next.
  std::int64_t next_point() const { return n_points_taken_ + static_cast<std::int64_t>(points.size()); }

  /// Beyond this many bytes the trace is given up: the search goes on without a proof. With 0 there is none at all.
  void limit_to(std::size_t max_bytes) {
    max_bytes_ = max_bytes;
    is_complete = max_bytes > 0;
    limit();
  }

  /// Give the trace up if it is too long.
  void limit() {
    if (!is_complete || n_bytes() > max_bytes_) {
      is_complete = false;
      steps = {}, members = {}, points = {}, columns = {}, values = {};
    }
  }

  /// Write down a step; its members follow.
  void record_step(StepKind kind, std::int64_t node, std::int64_t reference) {
    steps.push_back({kind, node, reference, static_cast<std::int64_t>(members.size())});
  }
  void record_member(std::int64_t member) { members.push_back(member); }

  /// Write down a primal point; return its number.
  std::int64_t record_point(const Buffer<double>& theta, double intercept, double smoothing) {
    const std::int64_t point = begin_point(intercept, std::numeric_limits<double>::quiet_NaN(), smoothing);
    for (Index j = 0; j < theta.size(); ++j) {
      if (theta[j] != 0.0) record_value(j, theta[j]);
    }
    return point;
  }
  /// Write down a primal point and the step to other coefficients that moves its dual point; return its number.
  std::int64_t record_difference(const Buffer<double>& theta, const Buffer<double>& other, double intercept,
                                 double intercept_step, double smoothing) {
    const std::int64_t point = begin_point(intercept, intercept_step, smoothing);
    const auto first = columns.size();
    for (Index j = 0; j < theta.size(); ++j) {
      if (theta[j] != 0.0 || other[j] != 0.0) record_value(j, theta[j]);
    }
    for (std::size_t i = first; i < columns.size(); ++i) values.push_back(other[columns[i]] - theta[columns[i]]);
    return point;
  }
  /// The same where the step is given, and theta is 0 outside the listed columns.
  std::int64_t record_moved(const Buffer<double>& theta, double intercept, const Buffer<Index>& listed,
                            const double* steps_of_columns, Index n, double intercept_step, double smoothing) {
    const std::int64_t point = begin_point(intercept, intercept_step, smoothing);
    for (Index i = 0; i < n; ++i) record_value(listed[i], theta[listed[i]]);
    values.insert(values.end(), steps_of_columns, steps_of_columns + n);
    return point;
  }
  /// Write down the point that bounds the last fit; return its number.
  std::int64_t record_fit(const Fit& fit, double intercept) {
    if (!fit.is_moved) return record_point(fit.theta, intercept, fit.rows.smoothing);
    return record_moved(fit.theta, intercept, fit.hessian.columns, fit.hessian.step.data(), fit.n_step_columns,
                        fit.intercept_step, fit.rows.smoothing);
  }

 private:
  std::int64_t begin_point(double intercept, double intercept_step, double smoothing) {
    points.push_back({intercept, intercept_step, smoothing, static_cast<std::int64_t>(columns.size())});
    return next_point() - 1;
  }
  void record_value(Index column, double value) {
    columns.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }

  std::int64_t n_points_taken_ = 0;
  std::size_t max_bytes_ = std::size_t{1} << 30;
};

}  // namespace shortlist
