#include "point.hpp"

#include <cmath>
#include <utility>

namespace shortlist {

namespace {

constexpr int max_intercept_steps = 8;

DualRows dual_of(Rows& rows) { return {rows.a.data(), rows.b.data(), rows.q.data(), rows.d.data()}; }
FixedDual dual_of(const Rows& rows) { return {rows.a.data(), rows.b.data(), rows.q.data(), rows.d.data()}; }

/// Calls a function with the inner products of columns and V vectors, four columns at a time.
template <int V, class Function>
class SlopeSweep {
 public:
  SlopeSweep(const Problem& problem, const std::array<const double*, V>& vectors, Function function)
      : problem_(problem), vectors_(vectors), function_(std::move(function)) {}

  void add(Index j) {
    columns_[count_] = j;
    if (++count_ == 4) flush();
  }

  void flush() {
    if (count_ == 0) return;
    std::array<const double*, 4> columns;
    for (std::size_t c = 0; c < 4; ++c) columns[c] = problem_.column(columns_[c < count_ ? c : 0]);
    const auto slopes = slopes_of<V>(vectors_, columns, problem_.n_rows());
    for (std::size_t c = 0; c < count_; ++c) function_(columns_[c], slopes[c]);
    count_ = 0;
  }

 private:
  const Problem& problem_;
  std::array<const double*, V> vectors_;
  Function function_;
  std::array<Index, 4> columns_;
  std::size_t count_ = 0;
};

template <int V, class Function>
SlopeSweep<V, Function> sweep_over(const Problem& problem, const std::array<const double*, V>& vectors,
                                   Function function) {
  return {problem, vectors, std::move(function)};
}

/// Add the columns of all that is not out, whose v become 0.
void add_open(const Problem& problem, const Decisions& decisions, double* v, auto& sweep) {
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::out) continue;
    v[g] = 0.0;
    for (Index j = problem.start(g); j < problem.end(g); ++j) sweep.add(j);
  }
  sweep.flush();
}

}  // namespace

void Rows::copy(const Rows& other) {
  u.copy(other.u);
  a.copy(other.a);
  b.copy(other.b);
  d.copy(other.d);
  q.copy(other.q);
  dual.copy(other.dual);
  by_time.copy(other.by_time);
  sums = other.sums;
  smoothing = other.smoothing;
}

Evaluation evaluate_rows(const Problem& problem, Rows& rows, double intercept, double tolerance) {
  const RowsAt at = problem.rows_at(rows.u.data(), rows.smoothing, rows.by_time.data());
  const double entropy = with_family(problem.family, [&](auto family) {
    for (int trial = 1;; ++trial) {
      rows.sums = family.evaluate(at, dual_of(rows));
      const bool is_balanced = std::abs(rows.sums.mismatch) <= tolerance * rows.sums.size;
      if (is_balanced || trial == max_intercept_steps) break;
      const double step = family.intercept_step(rows.sums);
      if (!(std::abs(step) > 0.0)) break;
      intercept += step;
      for (Index m = 0; m < at.n; ++m) rows.u[m] += step * at.s[m];
    }
    return family.make_feasible(at, dual_of(std::as_const(rows)), rows.sums, rows.dual.data());
  });
  return {intercept, rows.sums.loss, entropy, rows.sums.mismatch};
}

void bound_curvatures(const Problem& problem, const Rows& rows, Buffer<double>& d) {
  const RowsAt at = problem.rows_at(rows.u.data(), rows.smoothing);
  with_family(problem.family, [&](auto family) { family.bound_curvature(at, dual_of(rows), d.data()); });
}

double damping_of(const Problem& problem, const Rows& rows, const double* u_then) {
  return problem.is_coupled() ? Cox::damping(problem.rows_at(rows.u.data(), rows.smoothing), u_then) : 1.0;
}

double move_rows(const Problem& problem, const Rows& rows, MovedPoint& moved) {
  const RowsAt at = problem.rows_at(rows.u.data(), rows.smoothing, moved.by_time.data());
  return with_family(problem.family, [&](auto family) {
    return family.move(at, dual_of(rows), rows.sums, moved.t.data(), moved.q.data());
  });
}

double total_curvature(const Problem& problem, const Buffer<double>& d) {
  const double total = total_of(d.data(), problem.n_rows());
  return total == 0.0 && !problem.is_curved ? problem.null_objective : total;
}

double mismatch_of(const Problem& problem, const double* q) {
  return dot(problem.intercept_column(), q, problem.n_rows());
}

double predictor_value(const Problem& problem, const double* q, Index g) {
  double total = 0.0;
  for (Index j = problem.start(g); j < problem.end(g); ++j) {
    total += problem.value_of_slope(j, column_slope(problem, j, q));
  }
  return total;
}

void predictor_values(const Problem& problem, const double* q, const Decisions& decisions, double* v) {
  auto sweep = sweep_over<1>(problem, {q}, [&](Index j, const std::array<double, 1>& slope) {
    v[problem.owner(j)] += problem.value_of_slope(j, slope[0]);
  });
  add_open(problem, decisions, v, sweep);
}

void evaluate_predictors(const Problem& problem, const Rows& rows, const Decisions& decisions, Buffer<double>& gradient,
                         double* v) {
  const std::array<const double*, 2> vectors{rows.q.data(), rows.dual.data()};
  auto sweep = sweep_over<2>(problem, vectors, [&](Index j, const std::array<double, 2>& slope) {
    gradient[j] = slope[0];
    v[problem.owner(j)] += problem.value_of_slope(j, slope[1]);
  });
  add_open(problem, decisions, v, sweep);
}

void fill_gradient(const Problem& problem, const double* q, const Index* columns, Index n, Buffer<double>& gradient) {
  auto sweep =
      sweep_over<1>(problem, {q}, [&](Index j, const std::array<double, 1>& slope) { gradient[j] = slope[0]; });
  for (Index i = 0; i < n; ++i) sweep.add(columns[i]);
  sweep.flush();
}

double evaluate_columns(const Problem& problem, const Rows& rows, const Index* columns, Index n,
                        Buffer<double>& gradient) {
  double total = 0.0;
  const std::array<const double*, 2> vectors{rows.q.data(), rows.dual.data()};
  auto sweep = sweep_over<2>(problem, vectors, [&](Index j, const std::array<double, 2>& slope) {
    gradient[j] = slope[0];
    total += problem.value_of_slope(j, slope[1]);
  });
  for (Index i = 0; i < n; ++i) sweep.add(columns[i]);
  sweep.flush();
  return total;
}

}  // namespace shortlist
