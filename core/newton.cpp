#include "newton.hpp"

#include "cholesky.hpp"
#include "deadline.hpp"
#include "interior_point.hpp"

namespace shortlist {

namespace {

constexpr int max_steps = 200;
constexpr int max_halvings = 40;
// Steps after which a fit that no longer improves is as good as rounding lets it be.
constexpr int patient_steps = 8;
// Corrections of what a step holds at limits. After a few, columns change one by one.
constexpr int max_pivots = 50, free_pivots = 6;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

Index Hessian::list_columns(const Problem& problem, const Decisions& decisions) {
  Index n = 0;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::in) continue;
    for (Index j = problem.start(g); j < problem.end(g); ++j) columns[n++] = j;
  }
  return n;
}

void Hessian::cross_products(const Problem& problem, const double* weighted_column, Index n, double* out) const {
  Index i = 0;
  for (; i + 4 <= n; i += 4) {
    const auto products = dots<4, 2>(weighted_column,
                                     {problem.column(columns[i]), problem.column(columns[i + 1]),
                                      problem.column(columns[i + 2]), problem.column(columns[i + 3])},
                                     problem.n_rows());
    std::copy(products.begin(), products.end(), out + i);
  }
  for (; i < n; ++i) out[i] = dot(weighted_column, problem.column(columns[i]), problem.n_rows());
}

void Hessian::fill(const Problem& problem, const CurvatureAt& curvature, Index n, double total) {
  for_each_weighted(problem, curvature, columns.data(), n, [&](Index i, double* weighted_column) {
    Deadline::check(entries_of(problem.n_rows(), i + 1));
    const double product = mismatch_of(problem, weighted_column);
    mean[i] = product / total;
    double* row = matrix[i];
    // The curvatures of the hinge differ by many orders, which the difference below would not survive.
    if (problem.is_bent) {
      const double* s = problem.intercept_column();
      for (Index m = 0; m < problem.n_rows(); ++m) weighted_column[m] -= curvature.d[m] * (s[m] * mean[i]);
    }
    cross_products(problem, weighted_column, i + 1, row);
    if (!problem.is_bent) {
      for (Index k = 0; k <= i; ++k) row[k] -= product * mean[k];
    }
    // The slack keeps rounding from making the matrix indefinite.
    row[i] = std::max(row[i], 0.0) * (1.0 + 1e-13) + problem.ridge;
  });
}

double Hessian::intercept_step(const double* steps, Index n, double mismatch, double total) const {
  double result = -mismatch / total;
  for (Index i = 0; i < n; ++i) result -= steps[i] * mean[i];
  return result;
}

void Hessian::exchange(Index i, Index k) {
  std::swap(columns[i], columns[k]);
  std::swap(step[i], step[k]);
  std::swap(mean[i], mean[k]);
}

Fit::Fit(const Problem& problem, Index max_columns)
    : rows(problem),
      hessian(problem, max_columns),
      theta(problem.n_columns()),
      gradient(problem.n_columns()),
      moved(problem),
      problem_(problem),
      target_(problem.n_rows()),
      is_wrong_(at(max_columns)) {}

FitScore Fit::fit(const Decisions& decisions, double intercept, double cutoff, double tolerance, Start start) {
  const Problem& problem = problem_;
  const Index n = hessian.list_columns(problem, decisions);
  is_moved = false;
  if (problem.is_bent) return fit_hinge(*this, n, cutoff, tolerance, tolerance >= coarse);
  const double balance = problem.balance;
  if (start == Start::predictor) intercept = evaluate_rows(problem, rows, intercept, balance).intercept;
  double mismatch;
  if (start == Start::model) {
    mismatch = mismatch_of(problem, rows.q.data());
    fill_gradient(problem, rows.q.data(), hessian.columns.data(), n, gradient);
  } else {
    theta.fill(0.0);
    intercept = 0.0;
    mismatch = least_squares_slopes(n);
  }
  double last_intercept = intercept;
  NewtonStep step = find_step(n, mismatch);
  if (step.exists) {
    intercept = take_step(n, intercept, step.intercept);
  } else if (start != Start::model) {
    return {intercept, infinity, -infinity};
  }
  double objective = infinity, bound = -infinity;
  int n_halvings = 0;
  bool may_restart = true;
  for (int trial = 0; trial < max_steps; ++trial) {
    const bool is_last = trial == max_steps - 1;
    Deadline::check(entries_of(problem.n_rows(), n));
    // 1. Objective and bound of the current model.
    const Evaluation here = evaluate_rows(problem, rows, intercept, balance);
    intercept = here.intercept;
    mismatch = here.mismatch;
    bound = here.entropy - evaluate_columns(problem, rows, hessian.columns.data(), n, gradient);
    const double new_objective = here.loss + 0.5 * problem.ridge * squares(n);
    if (bound >= cutoff) return {intercept, new_objective, bound};
    // 2. Go half-way back if the last step overshot.
    if (!(new_objective <= problem.above(objective, 1e-13))) {
      if (++n_halvings == max_halvings || is_last) {
        if (new_objective < infinity || objective == infinity) return {intercept, new_objective, bound};
        return take_back(n, last_intercept, objective);
      }
      intercept = halve_step(n, intercept, last_intercept);
      continue;
    }
    // 3. A least-squares start that is worse than no model at all: start from none.
    if (may_restart && objective == infinity && new_objective > problem.above(problem.null_objective, 1.0)) {
      may_restart = false;
      theta.fill(0.0);
      intercept = 0.0;
      problem.linear_predictor(theta, intercept, rows.u.data());
      continue;
    }
    // 4. Stop when the model is good enough, or as good as rounding lets it be.
    n_halvings = 0;
    const bool is_stalled = objective - new_objective <= 1e-15 * problem.scale(objective) && trial >= patient_steps;
    objective = new_objective;
    const double enough = tolerance * problem.scale(objective);
    if (objective - bound <= enough || is_stalled || is_last) break;
    // 5. The minimum of the quadratic model. The dual point moved along the step may say enough.
    step = find_step(n, mismatch);
    if (!step.exists) break;
    if (objective - 0.5 * step.decrement >= cutoff || step.decrement <= enough) {
      const double ahead = moved_bound(problem, rows, moved, hessian, hessian.step.data(), n, step.intercept, n);
      if (ahead >= cutoff || objective - ahead <= enough) {
        is_moved = true;
        n_step_columns = n;
        intercept_step = step.intercept;
        return {intercept, objective, ahead};
      }
    }
    last_intercept = intercept;
    intercept = take_step(n, intercept, step.intercept);
  }
  return {intercept, objective, bound};
}

double Fit::start_from_null() {
  theta.fill(0.0);
  rows.smoothing = problem_.smoothing;
  problem_.linear_predictor(theta, problem_.null_intercept, rows.u.data());
  evaluate_rows(problem_, rows, problem_.null_intercept, 1.0);
  return problem_.null_intercept;
}

void Fit::start_from(const Rows& other) {
  rows.u.copy(other.u);
  rows.b.copy(other.b);
  rows.q.copy(other.q);
  rows.d.copy(other.d);
  rows.by_time.copy(other.by_time);
}

// The start need not be in the span of the columns: the gradient of the weighted least-squares fit to the linear
// predictor makes the first step a step of iteratively reweighted least squares. Returns the slope of the intercept.
double Fit::least_squares_slopes(Index n) {
  const double* u = rows.u.data();
  problem_.weigh(rows.curvature(), &u, 1, hessian.weighted, hessian.scratch.data());
  for (Index m = 0; m < problem_.n_rows(); ++m) target_[m] = rows.q[m] - hessian.weighted[0][m];
  fill_gradient(problem_, target_.data(), hessian.columns.data(), n, gradient);
  return mismatch_of(problem_, target_.data());
}

NewtonStep Fit::find_step(Index n, double mismatch) {
  const double total = total_curvature(problem_, rows.d);
  if (!(total > 0.0)) return {};
  const auto& columns = hessian.columns;
  auto& step = hessian.step;
  Index n_moving = hold_outward(n);
  for (int pivot = 0; pivot < max_pivots; ++pivot) {
    hessian.fill(problem_, rows.curvature(), n, total);
    for (Index i = 0; i < n_moving; ++i) {
      const Index j = columns[i];
      step[i] = -(gradient[j] - mismatch * hessian.mean[i] + problem_.ridge * theta[j]);
      step[i] -= held_slope(n_moving, n, i);
    }
    if (!factorise(hessian.matrix, 0, n_moving)) return {};
    substitute(hessian.matrix, n_moving, step.data());
    if (correct_held(mismatch, n_moving, n, pivot >= free_pivots)) break;
  }
  NewtonStep found{hessian.intercept_step(step.data(), n, mismatch, total), 0.0, true};
  found.decrement = -found.intercept * mismatch;
  for (Index i = 0; i < n; ++i) {
    found.decrement -= step[i] * (gradient[columns[i]] + problem_.ridge * theta[columns[i]]);
  }
  return found;
}

double Fit::take_step(Index n, double intercept, double step) {
  for (Index i = 0; i < n; ++i) {
    const Index j = hessian.columns[i];
    theta[j] = problem_.within(j, theta[j] + hessian.step[i]);
  }
  problem_.linear_predictor(theta, intercept + step, rows.u.data());
  return intercept + step;
}

double Fit::halve_step(Index n, double intercept, double last_intercept) {
  for (Index i = 0; i < n; ++i) {
    const Index j = hessian.columns[i];
    hessian.step[i] *= 0.5;
    theta[j] = problem_.within(j, theta[j] - hessian.step[i]);
  }
  intercept = 0.5 * (intercept + last_intercept);
  problem_.linear_predictor(theta, intercept, rows.u.data());
  return intercept;
}

FitScore Fit::take_back(Index n, double last_intercept, double objective) {
  for (Index i = 0; i < n; ++i) theta[hessian.columns[i]] -= hessian.step[i];
  problem_.linear_predictor(theta, last_intercept, rows.u.data());
  const Evaluation last = evaluate_rows(problem_, rows, last_intercept, problem_.balance);
  const double values = evaluate_columns(problem_, rows, hessian.columns.data(), n, gradient);
  return {last.intercept, objective, last.entropy - values};
}

double Fit::squares(Index n) const {
  double total = 0.0;
  for (Index i = 0; i < n; ++i) total += theta[hessian.columns[i]] * theta[hessian.columns[i]];
  return total;
}

/// Hold what is at a limit and would get better beyond it; return how many columns move.
Index Fit::hold_outward(Index n) {
  if (!problem_.is_limited) return n;
  Index n_moving = n;
  for (Index i = n - 1; i >= 0; --i) {
    const Index j = hessian.columns[i];
    const double slope = gradient[j] + problem_.ridge * theta[j];
    if ((theta[j] == problem_.upper[j] && slope < 0.0) || (theta[j] == problem_.lower[j] && slope > 0.0)) {
      hessian.exchange(i, --n_moving);
      hessian.step[n_moving] = 0.0;
    }
  }
  return n_moving;
}

/// What the steps of the held columns add to the slope of column i, which moves.
double Fit::held_slope(Index n_moving, Index n, Index i) const {
  double total = 0.0;
  for (Index k = n_moving; k < n; ++k) total += hessian.matrix[k][i] * hessian.step[k];
  return total;
}

// Hold what the step takes beyond a limit, release what would rather come back from one; return whether the step was
// right. Rows of held columns belong to the Hessian, not to a factor. If only the last column in the order of the
// data changes, pivoting comes to an end (Murty's rule).
bool Fit::correct_held(double mismatch, Index& n_moving, Index n, bool only_last) {
  if (!problem_.is_limited) return true;
  const auto &lower = problem_.lower, &upper = problem_.upper;
  const auto& columns = hessian.columns;
  auto& step = hessian.step;
  Index last = -1, last_column = -1;
  for (Index i = 0; i < n; ++i) {
    const Index j = columns[i];
    const double t = theta[j] + step[i];
    bool is_wrong;
    if (i < n_moving) {
      is_wrong = t > upper[j] || t < lower[j];
    } else {
      double slope = gradient[j] - mismatch * hessian.mean[i] + problem_.ridge * theta[j];
      for (Index k = 0; k < i; ++k) slope += hessian.matrix[i][k] * step[k];
      for (Index k = i; k < n; ++k) slope += hessian.matrix[k][i] * step[k];
      const bool is_upper = upper[j] - t < t - lower[j];
      is_wrong = is_upper ? slope > 0.0 : slope < 0.0;
    }
    is_wrong_[at(i)] = is_wrong;
    if (is_wrong && j > last_column) last = i, last_column = j;
  }
  if (last < 0) return true;
  for (Index i = 0; i < n; ++i) {
    is_wrong_[at(i)] = is_wrong_[at(i)] && (i == last || !only_last);
    if (is_wrong_[at(i)] && i < n_moving) {
      const Index j = columns[i];
      step[i] = (theta[j] + step[i] > upper[j] ? upper[j] : lower[j]) - theta[j];
    }
  }
  // Those that move now come first.
  Index n_then = 0;
  for (Index i = 0; i < n; ++i) {
    if ((i < n_moving) != static_cast<bool>(is_wrong_[at(i)])) hessian.exchange(i, n_then++);
  }
  n_moving = n_then;
  return false;
}

double moved_bound(const Problem& problem, const Rows& rows, MovedPoint& moved, const Hessian& hessian,
                   const double* steps, Index n_moving, double intercept_step, Index n) {
  problem.add_columns(hessian.columns.data(), steps, n_moving, intercept_step, moved.t.data());
  double bound = move_rows(problem, rows, moved);
  for (Index i = 0; i < n; ++i) {
    const Index j = hessian.columns[i];
    bound -= problem.value_of_slope(j, column_slope(problem, j, moved.q.data()));
  }
  return bound;
}

}  // namespace shortlist
