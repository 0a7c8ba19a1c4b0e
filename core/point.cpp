#include "point.hpp"

#include <cmath>

namespace shortlist {

namespace {

constexpr double max_intercept_step = 4.0;
constexpr int max_intercept_steps = 8;

ClassRows rows_of_class(const Problem& problem, const Rows& rows, bool is_positive) {
  const Index first = is_positive ? 0 : problem.n_positive();
  const Index n = is_positive ? problem.n_positive() : problem.n_rows() - problem.n_positive();
  return {n, problem.weights() + first, rows.u.data() + first, rows.smoothing};
}

ClassDual dual_of_class(const Problem& problem, Rows& rows, bool is_positive) {
  const Index first = is_positive ? 0 : problem.n_positive();
  return {rows.a.data() + first, rows.b.data() + first, rows.q.data() + first, rows.d.data() + first};
}

/// Calls a function with the slopes of columns, by class, four columns at a time.
template <class Function>
class SlopeSweep {
 public:
  SlopeSweep(const Problem& problem, const double* q, Function function)
      : problem_(problem), q_(q), function_(std::move(function)) {}

  void add(Index j) {
    columns_[count_] = j;
    if (++count_ == 4) flush();
  }

  void flush() {
    if (count_ == 0) return;
    const Index n_positive = problem_.n_positive();
    std::array<const double*, 4> positive, negative;
    for (std::size_t c = 0; c < 4; ++c) {
      positive[c] = problem_.column(columns_[c < count_ ? c : 0]);
      negative[c] = positive[c] + n_positive;
    }
    const auto of_positive = dots<4, 2>(q_, positive, n_positive);
    const auto of_negative = dots<4, 2>(q_ + n_positive, negative, problem_.n_rows() - n_positive);
    for (std::size_t c = 0; c < count_; ++c) function_(columns_[c], of_positive[c], of_negative[c]);
    count_ = 0;
  }

 private:
  const Problem& problem_;
  const double* q_;
  Function function_;
  std::array<Index, 4> columns_;
  std::size_t count_ = 0;
};

}  // namespace

Evaluation evaluate_rows(const Problem& problem, Rows& rows, double intercept, double tolerance) {
  const ClassRows positive_rows = rows_of_class(problem, rows, true);
  const ClassRows negative_rows = rows_of_class(problem, rows, false);
  ClassSums positive, negative;
  double mismatch = 0.0;
  for (int trial = 0; trial < max_intercept_steps; ++trial) {
    with_loss(problem.loss, [&](auto loss) {
      positive = loss.evaluate(positive_rows, dual_of_class(problem, rows, true));
      negative = loss.evaluate(negative_rows, dual_of_class(problem, rows, false));
    });
    mismatch = negative.mass - positive.mass;
    if (std::abs(mismatch) <= tolerance * (negative.mass + positive.mass) || trial == max_intercept_steps - 1) break;
    const double curvature = positive.curvature + negative.curvature;
    if (!(curvature > 0.0)) break;
    const double step = std::min(std::max(-mismatch / curvature, -max_intercept_step), max_intercept_step);
    intercept += step;
    for (Index m = 0; m < problem.n_positive(); ++m) rows.u[m] -= step;
    for (Index m = problem.n_positive(); m < problem.n_rows(); ++m) rows.u[m] += step;
  }
  rows.entropy = {positive.entropy, negative.entropy};
  const double entropy = balance(rows.rho, {positive.mass, negative.mass}, rows.entropy);
  return {intercept, positive.loss + negative.loss, entropy, mismatch};
}

double balance(ByClass& rho, ByClass mass, ByClass entropy) {
  rho.positive = mass.positive > mass.negative ? mass.negative / mass.positive : 1.0;
  rho.negative = mass.negative > mass.positive ? mass.positive / mass.negative : 1.0;
  return rho.positive * entropy.positive + rho.negative * entropy.negative;
}

void bound_curvatures(const Problem& problem, const Rows& rows, Buffer<double>& d) {
  const Index n_positive = problem.n_positive();
  with_loss(problem.loss, [&](auto loss) {
    loss.bound_curvature(rows_of_class(problem, rows, true), rows.a.data(), rows.b.data(), d.data());
    loss.bound_curvature(rows_of_class(problem, rows, false), rows.a.data() + n_positive, rows.b.data() + n_positive,
                         d.data() + n_positive);
  });
}

double move_rows(const Problem& problem, const Rows& rows, MovedPoint& moved) {
  const Index n_positive = problem.n_positive();
  MovedSums positive, negative;
  with_loss(problem.loss, [&](auto loss) {
    positive = loss.move(rows_of_class(problem, rows, true), rows.a.data(), rows.b.data(), moved.t.data(),
                         moved.q.data(), rows.entropy.positive);
    negative = loss.move(rows_of_class(problem, rows, false), rows.a.data() + n_positive, rows.b.data() + n_positive,
                         moved.t.data() + n_positive, moved.q.data() + n_positive, rows.entropy.negative);
  });
  ByClass rho;
  const double entropy = balance(rho, {positive.mass, negative.mass}, {positive.entropy, negative.entropy});
  if (rho.positive != 1.0) {
    for (Index m = 0; m < n_positive; ++m) moved.q[m] *= rho.positive;
  }
  if (rho.negative != 1.0) {
    for (Index m = n_positive; m < problem.n_rows(); ++m) moved.q[m] *= rho.negative;
  }
  return entropy;
}

double total_curvature(const Problem& problem, const Buffer<double>& d) {
  const double total = total_of(d.data(), problem.n_rows());
  const bool is_curved = with_loss(problem.loss, [](auto loss) { return loss.is_curved; });
  return total == 0.0 && !is_curved ? problem.null_objective : total;
}

double mismatch_of(const Problem& problem, const double* q) {
  const Index n_positive = problem.n_positive();
  return total_of(q + n_positive, problem.n_rows() - n_positive) - total_of(q, n_positive);
}

double predictor_value(const Problem& problem, const double* q, Index g) {
  double total = 0.0;
  for (Index j = problem.start(g); j < problem.end(g); ++j) {
    total += problem.value_of_slope(j, column_slope(problem, j, q));
  }
  return total;
}

void predictor_values(const Problem& problem, const double* q, const Decisions& decisions, double* v) {
  SlopeSweep sweep(problem, q, [&](Index j, double positive, double negative) {
    v[problem.owner(j)] += problem.value_of_slope(j, positive + negative);
  });
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::out) continue;
    v[g] = 0.0;
    for (Index j = problem.start(g); j < problem.end(g); ++j) sweep.add(j);
  }
  sweep.flush();
}

void evaluate_predictors(const Problem& problem, const Rows& rows, const Decisions& decisions, Buffer<double>& gradient,
                         double* v) {
  SlopeSweep sweep(problem, rows.q.data(), [&](Index j, double positive, double negative) {
    gradient[j] = positive + negative;
    v[problem.owner(j)] += problem.value_of_slope(j, rows.rho.positive * positive + rows.rho.negative * negative);
  });
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::out) continue;
    v[g] = 0.0;
    for (Index j = problem.start(g); j < problem.end(g); ++j) sweep.add(j);
  }
  sweep.flush();
}

double evaluate_columns(const Problem& problem, const Rows& rows, const Index* columns, Index n,
                        Buffer<double>& gradient) {
  double total = 0.0;
  SlopeSweep sweep(problem, rows.q.data(), [&](Index j, double positive, double negative) {
    gradient[j] = positive + negative;
    total += problem.value_of_slope(j, rows.rho.positive * positive + rows.rho.negative * negative);
  });
  for (Index i = 0; i < n; ++i) sweep.add(columns[i]);
  sweep.flush();
  return total;
}

}  // namespace shortlist
