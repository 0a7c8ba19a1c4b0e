#include "heuristics.hpp"

#include <numeric>

#include "cholesky.hpp"
#include "deadline.hpp"
#include "worker.hpp"

namespace shortlist {

namespace {

constexpr double greedy_accuracy = 1e-2;
constexpr int close_looks = 8;
// A beam keeps the best few selections of each size, and tries the most promising purchases of each.
constexpr std::size_t beam_width = 8, beam_tries = 6;

/// The loss's second derivative in column j, intercept eliminated, given the column times W.
double curvature_of(const Problem& problem, Index j, const double* weighted_column, double total) {
  const double *x = problem.column(j), *s = problem.intercept_column();
  Lanes square = broadcast(0.0), mean = square;
  for (Index m = 0; m < problem.n_rows(); m += lane_count) {
    const Lanes weighted = load(weighted_column + m);
    mean += load(s + m) * weighted;
    square += weighted * load(x + m);
  }
  return std::max(sum(square) - sum(mean) * sum(mean) / total, 0.0);
}

bool is_same(const Decisions& selection, const Decisions& other) {
  return std::equal(selection.begin(), selection.end(), other.begin(),
                    [](Decision a, Decision b) { return (a == Decision::in) == (b == Decision::in); });
}

}  // namespace

Heuristics::Heuristics(Worker& worker)
    : worker_(worker), trial_(worker.problem.n_predictors()), gain_(worker.problem.n_predictors()) {}

void Heuristics::round_relaxation() {
  const Buffer<double>&z = worker_.relaxation.z, &v = worker_.relaxation.values.v;
  trial_.copy(worker_.decisions);
  while (worker_.oracle.forbid_unaffordable(trial_).n_free > 0) {
    Index best = -1;
    for (Index g = 0; g < trial_.size(); ++g) {
      if (trial_[g] != Decision::free) continue;
      if (best < 0 || z[g] > z[best] || (z[g] == z[best] && v[g] > v[best])) best = g;
    }
    trial_[best] = Decision::in;
  }
  if (is_same(trial_, worker_.incumbent.decisions)) return;
  worker_.fit.start_from(worker_.relaxation.rows);
  worker_.try_selection(trial_, 0.0, infinity, fine, Start::rows);
}

void Heuristics::buy_greedily(Decisions& selection, double intercept) {
  while (worker_.oracle.forbid_unaffordable(selection).n_free > 0) {
    rank_purchases(selection);
    selection[promising_[0].predictor] = Decision::in;
    intercept = worker_.try_selection(selection, intercept, infinity, greedy_accuracy, Start::model).intercept;
  }
  worker_.try_selection(selection, intercept, infinity, fine, Start::model);
}

/// List free predictors by their Newton decrement per price, given the bought ones, the largest first.
void Heuristics::rank_purchases(const Decisions& selection) {
  const Problem& problem = worker_.problem;
  Fit& fit = worker_.fit;
  const double total = total_curvature(problem, fit.rows.d);
  const Index n = fit.hessian.list_columns(problem, selection);
  fit.hessian.fill(problem, fit.rows.curvature(), n, total);
  const bool is_conditional = n > 0 && factorise(fit.hessian.matrix, 0, n);
  // A first estimate ignores what the bought columns explain; only the best are looked at closely.
  std::vector<Index> free_columns;
  for (Index g = 0; g < selection.size(); ++g) {
    gain_[g] = 0.0;
    for (Index k = problem.start(g); k < problem.end(g) && selection[g] == Decision::free; ++k)
      free_columns.push_back(k);
  }
  const Index n_free = static_cast<Index>(free_columns.size());
  fit.hessian.for_each_weighted(
      problem, fit.rows.curvature(), free_columns.data(), n_free, [&](Index k, const double* x) {
        const Index j = free_columns[static_cast<std::size_t>(k)];
        Deadline::check(entries_of(problem.n_rows(), 1));
        const double slope = useful_slope(j);
        gain_[problem.owner(j)] += slope * slope / (curvature_of(problem, j, x, total) + problem.ridge);
      });
  for (Index g = 0; g < selection.size(); ++g) {
    if (selection[g] != Decision::free) continue;
    const Limits& limits = worker_.limits;
    const double price = limits.has_budget() ? limits.below(worker_.oracle.price(g)) : 1.0;
    gain_[g] = price > 0.0 ? gain_[g] / price : infinity;
  }
  promising_.clear();
  for (int look = 0; look < close_looks; ++look) {
    Index pick = -1, first = -1;
    for (Index g = 0; g < selection.size(); ++g) {
      if (selection[g] != Decision::free) continue;
      if (first < 0) first = g;
      if (gain_[g] >= 0.0 && (pick < 0 || gain_[g] > gain_[pick])) pick = g;
    }
    if (pick < 0) {  // the first one is as good as any where no gain is a number
      if (promising_.empty()) promising_.push_back({first, 0.0});
      break;
    }
    promising_.push_back({pick, is_conditional ? gain_[pick] * share_not_explained(n, pick, total) : gain_[pick]});
    gain_[pick] = -1.0;
  }
  std::stable_sort(promising_.begin(), promising_.end(),
                   [](const Purchase& a, const Purchase& b) { return a.gain > b.gain; });
}

/// The slope of a column that is not bought, 0 if only a coefficient of the wrong sign gains.
double Heuristics::useful_slope(Index j) const {
  const Problem& problem = worker_.problem;
  const double slope = column_slope(problem, j, worker_.fit.rows.q.data());
  const bool is_useless = (slope < 0.0 && problem.upper[j] == 0.0) || (slope > 0.0 && problem.lower[j] == 0.0);
  return is_useless ? 0.0 : slope;
}

/// The Newton decrement of predictor g given the n bought columns, relative to it without them.
double Heuristics::share_not_explained(Index n, Index g, double total) {
  const Problem& problem = worker_.problem;
  Hessian& hessian = worker_.fit.hessian;
  double alone = 0.0, given = 0.0;
  std::vector<Index> own(static_cast<std::size_t>(problem.end(g) - problem.start(g)));
  std::iota(own.begin(), own.end(), problem.start(g));
  const CurvatureAt curvature_at = worker_.fit.rows.curvature();
  hessian.for_each_weighted(
      problem, curvature_at, own.data(), static_cast<Index>(own.size()), [&](Index k, const double* x) {
        const Index j = own[static_cast<std::size_t>(k)];
        Deadline::check(entries_of(problem.n_rows(), n));
        const double slope = useful_slope(j), product = mismatch_of(problem, x);
        double curvature = dot(x, problem.column(j), problem.n_rows()) - product * product / total;
        alone += slope * slope / (std::max(curvature, 0.0) + problem.ridge);
        hessian.cross_products(problem, x, n, hessian.step.data());
        for (Index i = 0; i < n; ++i) hessian.step[i] -= product * hessian.mean[i];
        forward(hessian.matrix, 0, n, hessian.step.data());
        for (Index i = 0; i < n; ++i) curvature -= hessian.step[i] * hessian.step[i];
        given += slope * slope / (std::max(curvature, 0.0) + problem.ridge);
      });
  return alone > 0.0 ? given / alone : 1.0;
}

void Heuristics::swap() {
  Incumbent& incumbent = worker_.incumbent;
  bool is_improved = true;
  while (is_improved) {
    is_improved = false;
    const double objective = incumbent.objective;
    const Decisions held = incumbent.decisions;
    for (Index dropped = 0; dropped < held.size() && !is_improved; ++dropped) {
      if (held[dropped] != Decision::in || worker_.root[dropped] == Decision::in) continue;
      for (Index g = 0; g < held.size(); ++g) {
        trial_[g] = held[g] == Decision::in ? Decision::in : worker_.root[g];
      }
      trial_[dropped] = Decision::out;
      const double intercept = incumbent.intercept;
      worker_.problem.linear_predictor(incumbent.theta, intercept, worker_.fit.rows.u.data());
      const FitScore score = worker_.try_selection(trial_, intercept, infinity, coarse, Start::predictor);
      buy_greedily(trial_, score.intercept);
      is_improved = incumbent.objective < worker_.problem.below(objective, 1e-12);
    }
  }
}

void Heuristics::search_beam() {
  Fit& fit = worker_.fit;
  const Decisions& start = worker_.root;
  const FitScore score = worker_.try_selection(start, fit.start_from_null(), infinity, coarse, Start::model);
  std::vector<Partial> beam{{start, fit.theta, score.intercept, 0.0}}, longer;
  while (!beam.empty()) {
    longer.clear();
    for (const Partial& partial : beam) extend(partial, longer);
    std::stable_sort(longer.begin(), longer.end(), [](const Partial& a, const Partial& b) { return a.gain > b.gain; });
    if (longer.size() > beam_width) longer.erase(longer.begin() + beam_width, longer.end());
    beam.swap(longer);
  }
}

/// Add what a selection becomes with each of its most promising purchases.
void Heuristics::extend(const Partial& partial, std::vector<Partial>& longer) {
  const Problem& problem = worker_.problem;
  const Limits& limits = worker_.limits;
  Fit& fit = worker_.fit;
  const auto fit_from_partial = [&](const Decisions& selection, double accuracy) {
    problem.linear_predictor(partial.theta, partial.intercept, fit.rows.u.data());
    return worker_.try_selection(selection, partial.intercept, infinity, accuracy, Start::predictor);
  };
  Decisions selection = partial.selection;
  if (worker_.oracle.forbid_unaffordable(selection).n_free == 0) return;
  fit_from_partial(selection, coarse);
  rank_purchases(selection);
  const std::size_t n_tries = std::min(beam_tries, promising_.size());
  for (std::size_t i = 0; i < n_tries; ++i) {
    trial_.copy(selection);
    trial_[promising_[i].predictor] = Decision::in;
    const bool is_known = std::any_of(longer.begin(), longer.end(),
                                      [&](const Partial& other) { return is_same(other.selection, trial_); });
    if (is_known) continue;
    const FitScore score = fit_from_partial(trial_, greedy_accuracy);
    double gain = problem.null_objective - score.objective;
    if (limits.has_budget()) {
      const double budget = limits.below(limits.exact_budget);
      const double spent = limits.below(limits.exact_budget - worker_.oracle.remaining(trial_).exact);
      gain /= std::max(spent, 1e-3 * budget);
    }
    longer.push_back({trial_, fit.theta, score.intercept, gain});
  }
}

}  // namespace shortlist
