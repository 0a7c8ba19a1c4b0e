#include "endgame.hpp"

#include "cholesky.hpp"
#include "deadline.hpp"
#include "worker.hpp"

namespace shortlist {

namespace {

// A batch may be predicted to gain this share of what separates its node from the cutoff.
constexpr double batch_share = 0.8;
// Pairs are closed one by one where there are at most this many per free predictor, of which there are few.
// Each takes a point of the proof; branching then needs fewer, and less time.
constexpr Index most_pairs = 4;
// A curvature at which nothing moves, for a coefficient that its slope holds at a limit.
constexpr double held_curvature = 1e300;

}  // namespace

Endgame::Endgame(Worker& worker)
    : worker_(worker),
      problem_(worker.problem),
      trial_(problem_.n_predictors()),
      base_(problem_),
      theta_(problem_.n_columns()),
      slope_(problem_.n_columns()),
      cross_(problem_.n_columns(), worker.fit.hessian.columns.size()),
      square_(problem_.n_columns()),
      mean_(problem_.n_columns()),
      hessian_(problem_, worker.fit.hessian.columns.size()),
      gain_(problem_.n_predictors()),
      step_(worker.fit.hessian.columns.size()),
      moved_(problem_) {}

void Endgame::buy_one(std::int64_t node, Start start, double intercept) {
  candidates_.clear();
  for (Index g = 0; g < worker_.decisions.size(); ++g) {
    if (worker_.decisions[g] == Decision::free) candidates_.push_back(g);
  }
  fit_base(start, intercept);
  close_candidates(node, n_bought_);
  if (worker_.listing) close_selection(node);
}

bool Endgame::are_pairs_few(double base, double cutoff, Index n_free) const {
  if (n_free > few) return false;
  const Decisions& decisions = worker_.decisions;
  const Buffer<double>& v = worker_.relaxation.values.v;
  Index n_open = 0;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free) continue;
    for (Index h = 0; h < g; ++h) {
      if (decisions[h] == Decision::free && base - v[g] - v[h] < cutoff) ++n_open;
    }
    if (n_open > most_pairs * n_free) return false;
  }
  return true;
}

void Endgame::buy_two(std::int64_t node, const Remaining& remaining, double base, std::int64_t point) {
  Decisions& decisions = worker_.decisions;
  Oracle& oracle = worker_.oracle;
  Trace& trace = worker_.trace;
  const Buffer<double>& v = worker_.relaxation.values.v;
  fit_base(Start::rows, 0.0);
  while (true) {
    // 1. Let the node's point bound all that is left.
    const double cutoff = worker_.cutoff();
    const double bound = base - oracle.complete(worker_.relaxation.values, decisions, remaining);
    if (bound >= cutoff) return worker_.close_node(node, bound, point);
    Index first = -1;
    for (Index g = 0; g < decisions.size(); ++g) {
      if (decisions[g] == Decision::free && (first < 0 || v[g] > v[first])) first = g;
    }
    if (first < 0) return close_selection(node);
    // 2. Buy the strongest, and close that node.
    const std::int64_t child = worker_.tree.create_children(trace, node, first);
    const Money left = remaining.exact - oracle.price_at(decisions, first);
    decisions[first] = Decision::in;
    oracle.price_at(decisions, first);  // notes the fees that it pays
    candidates_.clear();
    Index n_closed = 0;
    double strongest = 0.0;
    for (Index g = 0; g < decisions.size(); ++g) {
      if (decisions[g] != Decision::free || oracle.price(g) > left) continue;
      if (base - v[first] - v[g] < cutoff) {
        candidates_.push_back(g);
      } else {
        if (n_closed++ == 0) trace.record_step(StepKind::one, child + 1, point);
        trace.record_member(g);
        strongest = std::max(strongest, v[g]);
      }
    }
    if (n_closed > 0) worker_.tree.close_leaf(base - v[first] - strongest);
    trial_[first] = Decision::in;
    const bool is_any_open = !candidates_.empty();
    if (is_any_open) close_candidates(child + 1, load_predictor(n_bought_, first));
    if (worker_.listing || (!is_any_open && n_closed == 0)) close_selection(child + 1);
    trial_[first] = Decision::out;
    // 3. Forbid it.
    decisions[first] = Decision::out;
    node = child;
  }
}

/// Fit what is bought, and note how the free columns relate to it.
void Endgame::fit_base(Start start, double intercept) {
  const Decisions& decisions = worker_.decisions;
  Fit& fit = worker_.fit;
  for (Index g = 0; g < decisions.size(); ++g) {
    trial_[g] = decisions[g] == Decision::in ? Decision::in : Decision::out;
  }
  if (start == Start::rows) {
    fit.start_from(worker_.relaxation.rows);
  } else {
    problem_.linear_predictor(worker_.relaxation.model.theta, intercept, fit.rows.u.data());
  }
  const FitScore score = fit.fit(trial_, intercept, infinity, coarse, start);
  if (!worker_.listing) worker_.offer(trial_, score);
  base_.copy(fit.rows);
  theta_.copy(fit.theta);
  intercept_ = score.intercept;
  objective_ = score.objective;
  mismatch_ = mismatch_of(problem_, base_.q.data());
  total_ = total_curvature(problem_, base_.d);
  n_bought_ = hessian_.list_columns(problem_, trial_);
  hessian_.fill(problem_, base_.curvature(), n_bought_, total_);
  for (Index i = 0; i < n_bought_; ++i) {
    const Index j = hessian_.columns[i];
    mean_[j] = hessian_.mean[i];
    if (note_slope(j)) hessian_.matrix[i][i] = held_curvature;
  }
  free_columns_.clear();
  for (Index g = 0; g < decisions.size(); ++g) {
    for (Index j = problem_.start(g); j < problem_.end(g) && decisions[g] == Decision::free; ++j) {
      free_columns_.push_back(j);
    }
  }
  const Index n_free = static_cast<Index>(free_columns_.size());
  hessian_.for_each_weighted(problem_, base_.curvature(), free_columns_.data(), n_free, [&](Index k, const double* x) {
    const Index j = free_columns_[static_cast<std::size_t>(k)];
    Deadline::check(entries_of(problem_.n_rows(), n_bought_));
    const double product = mismatch_of(problem_, x);
    mean_[j] = product / total_;
    double* row = cross_[j];
    hessian_.cross_products(problem_, x, n_bought_, row);
    for (Index i = 0; i < n_bought_; ++i) row[i] -= product * hessian_.mean[i];
    const double square = dot(x, problem_.column(j), problem_.n_rows()) - product * mean_[j];
    square_[j] = std::max(square, 0.0) * (1.0 + 1e-13) + problem_.ridge;
    if (note_slope(j)) square_[j] = held_curvature;
  });
  is_solved_ = objective_ < infinity && solve_rows(0, n_bought_);
}

/// Note the downhill slope of a column; return whether it points beyond a limit that the column is at.
bool Endgame::note_slope(Index j) {
  const double gradient = column_slope(problem_, j, base_.q.data());
  slope_[j] = mismatch_ * mean_[j] - gradient - problem_.ridge * theta_[j];
  return (theta_[j] == problem_.upper[j] && slope_[j] > 0.0) || (theta_[j] == problem_.lower[j] && slope_[j] < 0.0);
}

/// Add the columns of predictor g to the n rows of the Hessian; return how many there are.
Index Endgame::load_predictor(Index n, Index g) {
  for (Index j = problem_.start(g); j < problem_.end(g); ++j) {
    double* row = hessian_.matrix[n];
    hessian_.columns[n] = j;
    hessian_.mean[n] = mean_[j];
    std::copy(cross_[j], cross_[j] + n_bought_, row);
    if (n > n_bought_) {
      hessian_.for_each_weighted(problem_, base_.curvature(), &j, 1, [&](Index, const double* x) {
        const double product = mismatch_of(problem_, x);
        for (Index i = n_bought_; i < n; ++i) {
          row[i] = dot(x, problem_.column(hessian_.columns[i]), problem_.n_rows()) - product * hessian_.mean[i];
        }
      });
    }
    row[n++] = square_[j];
  }
  return n;
}

/// Factorise rows first to n of the Hessian, and substitute forward; return whether that can be done.
///
/// hessian.step[:n] becomes y with L y = downhill slope: the model falls by y_i^2 / 2 per column.
bool Endgame::solve_rows(Index first, Index n) {
  if (!factorise(hessian_.matrix, first, n)) return false;
  for (Index i = first; i < n; ++i) hessian_.step[i] = slope_[hessian_.columns[i]];
  forward(hessian_.matrix, first, n, hessian_.step.data());
  return true;
}

/// What the model falls by in rows first to n.
double Endgame::fall(Index first, Index n) const {
  double total = 0.0;
  for (Index i = first; i < n; ++i) total += 0.5 * hessian_.step[i] * hessian_.step[i];
  return total;
}

/// Bound or fit, for each candidate, the trial plus that one. The n columns of the trial are the first of the Hessian.
void Endgame::close_candidates(std::int64_t node, Index n) {
  Trace& trace = worker_.trace;
  // 1. Sort the candidates by predicted gain; unknown gains are infinite.
  const bool is_solved = is_solved_ && solve_rows(n_bought_, n);
  const double predicted = is_solved ? objective_ - fall(0, n) : -infinity;
  for (const Index g : candidates_) {
    Deadline::check(entries_of(n, n));
    const Index size = load_predictor(n, g);
    gain_[g] = is_solved && solve_rows(n, size) ? fall(n, size) : infinity;
    if (!(gain_[g] >= 0.0)) gain_[g] = infinity;
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [&](Index g, Index h) { return gain_[g] != gain_[h] ? gain_[g] < gain_[h] : g < h; });
  const Index n_candidates = static_cast<Index>(candidates_.size());
  const auto candidate = [&](Index i) { return candidates_[static_cast<std::size_t>(i)]; };
  Index largest = largest_batch;
  for (Index first = 0; first < n_candidates;) {
    Deadline::check(entries_of(problem_.n_rows(), n));
    // 2. Gather a batch, weakest first.
    const double cutoff = worker_.cutoff();
    Index last = first + 1;
    double total = gain_[candidate(first)];
    for (; last < std::min(n_candidates, first + largest); ++last) {
      total += gain_[candidate(last)];
      if (total > batch_share * (predicted - cutoff)) break;
    }
    // 3. Close it by the moved point, or else try fewer; what remains is fitted.
    Index size = n;
    double bound = bound_batch(n, first, last, cutoff, size);
    std::int64_t point;
    if (bound >= cutoff) {
      point = trace.record_moved(theta_, intercept_, hessian_.columns, step_.data(), size, intercept_step_,
                                 base_.smoothing);
    } else if (last - first > 1) {
      largest = (last - first) / 2;
      continue;
    } else {
      trial_[candidate(first)] = Decision::in;
      bound = fit_trial(cutoff, point).bound;
      trial_[candidate(first)] = Decision::out;
    }
    // 4. Write down what closed it.
    worker_.tree.close_leaf(bound);
    trace.record_step(StepKind::one, node, point);
    for (; first < last; ++first) trace.record_member(candidate(first));
    largest = largest_batch;
  }
}

/// Bound on the trial plus any one of the batch: the base's dual point, moved by a Newton step.
///
/// Returns -infinity if it is predicted not to reach the cutoff. `size` becomes the number of columns of the step.
double Endgame::bound_batch(Index n, Index first, Index last, double cutoff, Index& size) {
  const auto candidate = [&](Index i) { return candidates_[static_cast<std::size_t>(i)]; };
  if (gain_[candidate(last - 1)] == infinity) return -infinity;
  for (Index i = first; i < last; ++i) size = load_predictor(size, candidate(i));
  if (!solve_rows(n, size) || objective_ - fall(0, size) < cutoff) return -infinity;
  std::copy(hessian_.step.begin(), hessian_.step.begin() + size, step_.begin());
  backward(hessian_.matrix, size, step_.data());
  intercept_step_ = hessian_.intercept_step(step_.data(), size, mismatch_, total_);
  const double bound = moved_bound(problem_, base_, moved_, hessian_, step_.data(), size, intercept_step_, n);
  double largest = 0.0;
  for (Index i = first; i < last; ++i) {
    largest = std::max(largest, predictor_value(problem_, moved_.q.data(), candidate(i)));
  }
  return bound - largest;
}

/// Fit the trial from the base, keep the model, and record its point.
FitScore Endgame::fit_trial(double cutoff, std::int64_t& point) {
  Fit& fit = worker_.fit;
  fit.start_from(base_);
  fit.theta.copy(theta_);
  const FitScore score = worker_.keep_selection(trial_, intercept_, cutoff, Start::model);
  point = worker_.trace.record_fit(fit, score.intercept);
  return score;
}

/// Close the node whose only selection is the trial.
void Endgame::close_selection(std::int64_t node) {
  std::int64_t point;
  const FitScore score = fit_trial(worker_.cutoff(), point);
  worker_.close_node(node, score.bound, point);
}

}  // namespace shortlist
