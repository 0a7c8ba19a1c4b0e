#include "staircase.hpp"

#include <tuple>

#include "worker.hpp"

namespace shortlist {

namespace {

// Predictors that the relaxation buys to this share are tested for being indispensable.
constexpr double likely = 0.5;

}  // namespace

Staircase::Staircase(Worker& worker, Index n_budgets)
    : stairs(static_cast<std::size_t>(n_budgets)), worker_(worker), decided_(worker.problem.n_predictors()) {
  for (Stair& stair : stairs) {
    stair.decisions = Decisions(worker.problem.n_predictors(), Decision::free);
    stair.theta = Buffer<double>(worker.problem.n_columns(), 0.0);
  }
}

void Staircase::start() {
  Fit& fit = worker_.fit;
  const Index n_budgets = static_cast<Index>(stairs.size());
  for (Index budget = 0; budget < n_budgets; ++budget) {
    Decisions trial = worker_.root;
    worker_.oracle.budget = budget;
    if (worker_.oracle.remaining(trial).exact < 0) continue;
    double intercept = fit.start_from_null();
    worker_.incumbent.objective = infinity;
    intercept = worker_.try_selection(trial, intercept, infinity, coarse, Start::predictor).intercept;
    worker_.heuristics_.buy_greedily(trial, intercept);
    offer_incumbent();
  }
  const double intercept = fit.start_from_null();
  Node root(0, -infinity, no_point, worker_.root, fit.theta, intercept, 0.0);
  root.high = n_budgets - 1;
  worker_.tree.push(std::move(root));
}

void Staircase::process_node() {
  Oracle& oracle = worker_.oracle;
  Relaxation& relaxation = worker_.relaxation;
  Decisions& decisions = worker_.decisions;
  const Node node = worker_.tree.take();
  worker_.load(node);
  BudgetBound found{0.0, {0.0}, spent(decisions)};
  Index low = std::max(node.low, found.spent), high = node.high;
  double intercept = node.intercept, mu = node.mu;
  ++worker_.tree.n_processed;
  // 1. Relax at the highest budget, until that one stays alive.
  Remaining remaining{};
  std::int64_t point = no_point;
  while (low <= high) {
    oracle.budget = high;
    remaining = oracle.forbid_unaffordable(decisions, relaxation.model.price);
    if (remaining.n_free == 0) break;
    NodeBound bound;
    std::tie(bound, point) = worker_.relax_node(remaining, intercept, mu, cutoff(high), false);
    intercept = bound.intercept, mu = bound.mu;
    const auto left = static_cast<Index>(remaining.exact);
    const auto table = oracle.value_table(relaxation.values.v, decisions, left);
    found.base = bound.base;
    found.table.assign(table.begin(), table.end());
    close_budgets(found, low, high, node.number, point);
    if (high == left + found.spent) break;
  }
  if (low > high) return;
  if (remaining.n_free > 0) {
    // 2. Look for better models, and decide what the bounds decide.
    oracle.budget = high;
    if (worker_.is_heuristic_turn()) {
      worker_.incumbent.objective = infinity;
      worker_.heuristics_.round_relaxation();
      offer_incumbent();
    }
    if (fix(found, low, high, node.number, point)) {
      found.spent = spent(decisions);
      low = std::max(low, found.spent);
      remaining = oracle.forbid_unaffordable(decisions, relaxation.model.price);
      if (low > high || remaining.count < 0) {
        return worker_.trace.record_step(StepKind::none, node.number, no_point);
      }
    }
  }
  // 3. Close the node if nothing is left to buy, else branch.
  if (remaining.n_free == 0) {
    Fit& fit = worker_.fit;
    worker_.problem.linear_predictor(relaxation.model.theta, intercept, fit.rows.u.data());
    const FitScore score = fit.fit(decisions, intercept, cutoff(low), fine, Start::predictor);
    keep(decisions, fit.theta, score, found.spent);
    for (Index budget = low; budget <= high; ++budget) close(budget, score.bound);
    return record_bound(node.number, worker_.trace.record_fit(fit, score.intercept), low, high);
  }
  const Index predictor = worker_.pick_predictor();
  const std::int64_t child = worker_.tree.create_children(worker_.trace, node.number, predictor);
  const bool is_in_table = high - found.spent < static_cast<Index>(found.table.size());
  const double key = is_in_table ? found.at(high) : found.base;
  const auto child_node = [&](std::int64_t number, Decision decision) {
    decisions[predictor] = decision;
    Node made(number, key, no_point, decisions, relaxation.model.theta, intercept, mu);
    made.low = low, made.high = high;
    return made;
  };
  worker_.tree.push(child_node(child, Decision::out));
  worker_.tree.dive_into(child_node(child + 1, Decision::in));
}

/// The bound of a leaf counts for a budget for ever; a NaN is ignored.
void Staircase::close(Index budget, double bound) {
  double& closed = stair(budget).closed;
  if (!(bound >= closed)) closed = bound == bound ? bound : -infinity;
}

double Staircase::cutoff(Index budget) { return worker_.problem.below(stair(budget).upper, worker_.gap); }

Index Staircase::spent(const Decisions& decisions) {
  Oracle& oracle = worker_.oracle;
  return static_cast<Index>(oracle.budget - oracle.remaining(decisions).exact);
}

/// Close the highest and the lowest budgets that the bound reaches.
void Staircase::close_budgets(const BudgetBound& found, Index& low, Index& high, std::int64_t node,
                              std::int64_t point) {
  const Index first = low, last = high;
  while (low <= high && is_closed(found, high)) --high;
  if (high < last) record_bound(node, point, high + 1, last);
  while (low <= high && is_closed(found, low)) ++low;
  if (low > first) record_bound(node, point, first, low - 1);
}

bool Staircase::is_closed(const BudgetBound& found, Index budget) {
  const double bound = found.at(budget);
  if (!(bound >= cutoff(budget))) return false;
  close(budget, bound);
  return true;
}

/// The point bounds the node at budgets first to last.
void Staircase::record_bound(std::int64_t node, std::int64_t point, Index first, Index last) {
  worker_.trace.record_step(StepKind::bound, node, point);
  worker_.trace.record_member(first);
  worker_.trace.record_member(last);
}

/// Keep the incumbent wherever it is the best so far.
void Staircase::offer_incumbent() {
  const Incumbent& incumbent = worker_.incumbent;
  const FitScore score{incumbent.intercept, incumbent.objective, -infinity};
  keep(incumbent.decisions, incumbent.theta, score, spent(incumbent.decisions));
}

void Staircase::keep(const Decisions& decisions, const Buffer<double>& theta, const FitScore& score, Index price) {
  for (Index budget = price; budget < static_cast<Index>(stairs.size()); ++budget) {
    Stair& here = stair(budget);
    if (!(score.objective < worker_.problem.below(here.upper, 1e-12))) break;
    here.upper = score.objective;
    here.decisions.copy(decisions);
    here.theta.copy(theta);
    here.intercept = score.intercept;
  }
}

/// Decide the predictors whose other value helps at no budget that is alive; return whether there are any.
bool Staircase::fix(const BudgetBound& found, Index low, Index high, std::int64_t node, std::int64_t point) {
  Decisions& decisions = worker_.decisions;
  const Buffer<double>& v = worker_.relaxation.values.v;
  bool is_any = false;
  for (Index g = 0; g < decisions.size(); ++g) {
    decided_[g] = decisions[g];
    if (decisions[g] != Decision::free) continue;
    // Bought, at the least possible price; the table may count g a second time.
    const Index cost = static_cast<Index>(worker_.limits.cost[g]), least = std::max(low, found.spent + cost);
    const auto bound_in = [&](Index budget) { return found.at(budget - cost) - v[g]; };
    bool fix_out = true;
    for (Index budget = least; budget <= high && fix_out; ++budget) fix_out = bound_in(budget) >= cutoff(budget);
    BudgetBound others{found.base, {}, found.spent};
    bool fix_in = false;
    if (!fix_out && worker_.relaxation.z[g] > likely) {
      const auto table = worker_.oracle.value_table(v, decisions, high - found.spent, g);
      others.table.assign(table.begin(), table.end());
      fix_in = true;
      for (Index budget = low; budget <= high && fix_in; ++budget) fix_in = others.at(budget) >= cutoff(budget);
    }
    if (!fix_out && !fix_in) continue;
    if (!is_any) worker_.trace.record_step(StepKind::fix, node, point);
    is_any = true;
    worker_.trace.record_member(fix_out ? g : ~g);
    for (Index budget = fix_out ? least : low; budget <= high; ++budget) {
      close(budget, fix_out ? bound_in(budget) : others.at(budget));
    }
    decided_[g] = fix_out ? Decision::out : Decision::in;
  }
  // All were judged by the same table, and only now is anything decided.
  decisions.copy(decided_);
  return is_any;
}

}  // namespace shortlist
