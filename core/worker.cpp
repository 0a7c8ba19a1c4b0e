#include "worker.hpp"

#include <tuple>

#include "deadline.hpp"

namespace shortlist {

namespace {

// How often the relaxation is rounded: always at first, then now and then.
constexpr std::int64_t eager_nodes = 3, round_every = 16;
// The search looks for swaps once it has proven to be more than trivial, and again each time it has grown as much. A
// beam takes the time of dozens of nodes.
constexpr std::int64_t swap_growth = 4, beam_node = 256;
// A bound that lacks this share of the cutoff is hardly raised to it by one more relaxation.
constexpr double far_below = 0.1;
// Where two purchases are left, a child that buys one is closed by the endgame, which takes less time than a
// relaxation. So a node is relaxed once for several branches, one for each such share of the cutoff that its bound
// lacks. At weak ridge bounds lack half of it; shares of 1/10 to 1/20 take about the same time.
constexpr double branch_share = 1.0 / 15.0;
constexpr Index most_branches = 12;
// Accuracy of the models that are listed, and of the one that is returned.
constexpr double listed = 1e-13, polished = 1e-15;
// A fit that is less accurate than objectives are told apart has failed: its model may have another objective.
constexpr double listed_enough = 1e-9, listed_hinge = 1e-6;
constexpr double node_entries = 1e4;   // that processing a node reads at least
constexpr Index largest_model = 4000;  // columns that a working set may hold

/// Columns of the largest support, and of a batch of the endgame on top of it.
Index max_fit_columns(const Problem& problem, const Limits& limits) {
  Index widest = 1;
  for (Index g = 0; g < problem.n_predictors(); ++g) widest = std::max(widest, problem.end(g) - problem.start(g));
  return std::min(problem.n_columns(), widest * (limits.max_features + Endgame::largest_batch));
}

}  // namespace

Worker::Worker(const Problem& problem_, const Limits& limits_, double gap_)
    : problem(problem_),
      limits(limits_),
      gap(gap_),
      oracle(limits),
      relaxation(problem, std::min(problem.n_columns(), largest_model)),
      fit(problem, max_fit_columns(problem, limits)),
      incumbent(problem),
      root(problem.n_predictors(), Decision::free),
      decisions(problem.n_predictors()),
      heuristics_(*this),
      endgame_(*this) {
  for (Index g = 0; g < root.size(); ++g) {
    if (problem.data().is_constant(g)) root[g] = Decision::out;
  }
  for (const Index g : limits.exclude) root[g] = Decision::out;
  for (const Index g : limits.include) root[g] = Decision::in;
}

void Worker::start(const std::vector<Index>& warm) {
  tree.n_created = 1;
  if (staircase) return staircase->start();
  double intercept = fit.start_from_null();
  if (!listing) {
    settle(root);
    try {
      find_first_model(warm, intercept);
    } catch (const Deadline::Passed&) {
    }
    if (incumbent.objective < infinity) intercept = incumbent.intercept;
  }
  const Buffer<double>& theta = listing ? fit.theta : incumbent.theta;
  const std::int64_t point = trace.record_point(theta, intercept, fit.rows.smoothing);
  tree.push(Node(0, -infinity, point, root, theta, intercept, 0.0));
}

void Worker::find_first_model(const std::vector<Index>& warm, double intercept) {
  Decisions trial = root;
  for (const Index g : warm) trial[g] = Decision::in;
  if (oracle.remaining(trial).is_overspent()) trial.copy(root);
  if (std::find(trial.begin(), trial.end(), Decision::in) != trial.end()) {
    intercept = try_selection(trial, intercept, infinity, coarse, Start::model).intercept;
  }
  if (warm.empty()) {
    heuristics_.buy_greedily(trial, intercept);
  } else {
    try_selection(trial, intercept, infinity, fine, Start::model);
  }
}

bool Worker::run(std::int64_t max_nodes) {
  const std::int64_t stop = tree.n_processed + max_nodes;
  while (tree.n_open() > 0) {
    // However late it is, the root gets the bound of its first point.
    if (tree.n_processed >= stop || (tree.n_processed > 0 && Deadline::is_over(node_entries))) return false;
    try {
      if (staircase) {
        staircase->process_node();
      } else {
        process_node();
      }
    } catch (const Deadline::Passed&) {
      return false;
    } catch (...) {
      tree.close_leaf(-infinity);  // the node is lost, so nothing is proven
      throw;
    }
  }
  return true;
}

/// Take a node from the tree; close it or branch.
void Worker::process_node() {
  // 1. Take the child of the last node (a dive), or the node of lowest bound.
  const bool is_dive = tree.has_dive();
  Node node = tree.take();
  if (node.bound >= cutoff()) return close_node(node.number, node.bound, node.point);
  load(node);
  ++tree.n_processed;
  before_ = now();
  try {
    close_or_branch(node, is_dive);
  } catch (const Deadline::Passed&) {
    trace.cut(before_.trace);
    tree.n_created = before_.n_created;
    tree.closed = before_.closed;
    tree.push(std::move(node));
    throw;
  }
}

void Worker::close_or_branch(Node& node, bool is_dive) {
  // 2. Relax, unless nothing is left to decide, or one purchase that a bound so low leaves open anyway.
  Remaining remaining = settle(decisions);
  if (0 < remaining.n_free && remaining.n_free <= Endgame::few && node.bound < problem.below(cutoff(), far_below) &&
      oracle.most_purchases(decisions, remaining) == 1) {
    return endgame_.buy_one(node.number, is_dive ? Start::rows : Start::predictor, node.intercept);
  }
  NodeBound found{0.0, 0.0, node.intercept, node.mu};
  double base_then = 0.0;
  std::int64_t point = no_point;
  const bool is_relaxed = remaining.n_free > 0;
  if (is_relaxed) {
    const bool is_evaluated = is_dive && !relaxation.is_moved;
    std::tie(found, point) = relax_node(remaining, node.intercept, node.mu, cutoff(), is_evaluated);
    if (found.bound() >= node.bound) node.bound = found.bound(), node.point = point;
    before_ = now();
    Deadline::check(infinity);
    // 3. Look for better incumbents.
    if (node.bound < cutoff() && !listing && is_heuristic_turn()) {
      heuristics_.round_relaxation();
      if (is_swap_due()) improve_incumbent();
    }
    if (node.bound >= cutoff()) return close_node(node.number, node.bound, node.point);
    // 4. Fix what the bound decides.
    if (fix(found.base, cutoff(), node.number, point, base_then) > 0) {
      remaining = settle(decisions);
      // What must be bought is not affordable together: nothing here is better.
      if (remaining.is_overspent()) return trace.record_step(StepKind::none, node.number, no_point);
    }
  }
  // 5. Close the node if at most two purchases are left, else branch.
  if (remaining.n_free == 0) {
    if (is_relaxed) {
      fit.start_from(relaxation.rows);
    } else {
      problem.linear_predictor(relaxation.model.theta, found.intercept, fit.rows.u.data());
    }
    const Start start = is_relaxed ? Start::rows : Start::predictor;
    const FitScore score = keep_selection(decisions, found.intercept, cutoff(), start);
    return close_node(node.number, score.bound, trace.record_fit(fit, score.intercept));
  }
  const Index n_left = oracle.most_purchases(decisions, remaining);
  if (n_left == 1) {
    endgame_.buy_one(node.number, Start::rows, 0.0);
  } else if (n_left == 2 && endgame_.are_pairs_few(base_then, cutoff(), remaining.n_free)) {
    endgame_.buy_two(node.number, remaining, base_then, point);
  } else {
    const double missing = std::min(1.0, (cutoff() - node.bound) / problem.scale(cutoff()));
    const Index n_branches = n_left > 2 ? 1 : std::max<Index>(1, static_cast<Index>(missing / branch_share));
    branch(node, found, point, std::min({n_branches, most_branches, remaining.n_free}));
  }
}

void Worker::load(const Node& node) {
  decisions.copy(node.decisions);
  Buffer<double>& theta = relaxation.model.theta;
  theta.fill(0.0);
  for (const auto& [column, value] : node.theta) theta[column] = value;
}

std::pair<NodeBound, std::int64_t> Worker::relax_node(const Remaining& remaining, double intercept, double mu,
                                                      double stop_at, bool is_evaluated) {
  const NodeBound found =
      remaining.is_all_affordable
          ? relaxation.relax_all_affordable(oracle, fit, decisions, remaining, intercept, mu, stop_at)
          : relaxation.relax(oracle, decisions, remaining, intercept, mu, stop_at, is_evaluated);
  return {found, relaxation.record(trace, found.intercept)};
}

/// Forbid what is not affordable; for the best model, buy all that is left if all of it is.
Remaining Worker::settle(Decisions& node) {
  Remaining remaining = oracle.forbid_unaffordable(node, relaxation.model.price);
  if (remaining.n_free > 0 && remaining.is_all_affordable && !listing) {
    std::replace(node.begin(), node.end(), Decision::free, Decision::in);
    remaining = oracle.forbid_unaffordable(node, relaxation.model.price);
  }
  return remaining;
}

/// Decide the predictors whose other value cannot beat the incumbent; return how many.
///
/// base_then becomes the base of the point once they are decided.
Index Worker::fix(double base, double stop_at, std::int64_t node, std::int64_t point, double& base_then) {
  const Values& values = relaxation.values;
  Index n_fixed = 0;
  base_then = base;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free) continue;
    const double bound_in = base - values.value_in[g], bound_out = base - values.value_out[g];
    const bool fix_out = bound_in >= stop_at;
    if (!fix_out && !(bound_out >= stop_at)) continue;
    if (n_fixed++ == 0) trace.record_step(StepKind::fix, node, point);
    trace.record_member(fix_out ? g : ~g);
    tree.close_leaf(fix_out ? bound_in : bound_out);
    decisions[g] = fix_out ? Decision::out : Decision::in;
    if (!fix_out) base_then -= values.v[g];
  }
  return n_fixed;
}

/// Branch, then branch the child that forbids, `n_branches` times in all; dive into the first child that buys.
///
/// Each child has the better bound of the node's and its own.
void Worker::branch(const Node& node, const NodeBound& found, std::int64_t point, Index n_branches) {
  const auto child_node = [&](std::int64_t number, double bound) {
    const bool is_better = bound >= node.bound;
    return Node(number, is_better ? bound : node.bound, is_better ? point : node.point, decisions,
                relaxation.model.theta, found.intercept, found.mu);
  };
  std::int64_t out = node.number;
  double bound_out = -infinity;
  for (Index i = 0; i < n_branches; ++i) {
    const Index predictor = pick_predictor();
    out = tree.create_children(trace, out, predictor);
    decisions[predictor] = Decision::in;
    Node child = child_node(out + 1, found.base - relaxation.values.value_in[predictor]);
    if (i == 0) {
      tree.dive_into(std::move(child));
    } else {
      tree.push(std::move(child));
    }
    decisions[predictor] = Decision::out;
    const double bound = found.base - relaxation.values.value_out[predictor];
    if (bound > bound_out) bound_out = bound;
  }
  tree.push(child_node(out, bound_out));
}

Index Worker::pick_predictor() const {
  Index pick = -1;
  double score = -1.0;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free) continue;
    const double gain = relaxation.z[g] * relaxation.values.v[g];
    // The first one is as good as any where none has a value that is a number.
    if (pick < 0 || gain > score) pick = g, score = gain >= 0.0 ? gain : -1.0;
  }
  return pick;
}

void Worker::close_node(std::int64_t node, double bound, std::int64_t point) {
  tree.close_leaf(bound);
  trace.record_step(StepKind::bound, node, point);
}

bool Worker::is_heuristic_turn() const {
  return tree.n_processed <= eager_nodes || tree.n_processed % round_every == 0;
}

void Worker::improve_incumbent() {
  bool is_beam_turn = false;
  for (; next_swap <= tree.n_processed; next_swap *= swap_growth) is_beam_turn |= next_swap == beam_node;
  if (is_beam_turn) heuristics_.search_beam();
  heuristics_.swap();
}

FitScore Worker::try_selection(const Decisions& selection, double intercept, double stop_at, double tolerance,
                               Start start) {
  const FitScore score = fit.fit(selection, intercept, stop_at, tolerance, start);
  offer(selection, score);
  return score;
}

void Worker::offer(const Decisions& selection, const FitScore& score) {
  if (!(score.objective < incumbent.objective)) return;
  incumbent.objective = score.objective;
  incumbent.intercept = score.intercept;
  incumbent.theta.copy(fit.theta);
  for (Index g = 0; g < selection.size(); ++g) {
    incumbent.decisions[g] = selection[g] == Decision::in ? Decision::in : Decision::out;
  }
}

FitScore Worker::keep_selection(const Decisions& selection, double intercept, double stop_at, Start start) {
  if (!listing) return try_selection(selection, intercept, stop_at, fine, start);
  const FitScore score = fit.fit(selection, intercept, stop_at, listed, start);
  if (score.objective < stop_at) list_model(selection, score);
  const double accuracy = problem.family == FamilyKind::hinge ? listed_hinge : listed_enough;
  const bool is_fitted = score.objective - score.bound <= accuracy * problem.scale(score.objective);
  if (!is_fitted && !(score.bound >= stop_at)) ++listing->n_doubtful;
  return score;
}

/// Give the model a place; when there are more than places, the best are kept, and the threshold falls to the worst.
void Worker::list_model(const Decisions& selection, const FitScore& score) {
  auto& models = listing->models;
  Model model{selection, fit.theta, score.intercept, score.objective};
  if (static_cast<Index>(models.size()) < listing->n_places) {
    models.push_back(std::move(model));
    return;
  }
  ++listing->n_left_out;
  const auto is_better = [](const Model& a, const Model& b) { return a.objective < b.objective; };
  const auto worst = std::max_element(models.begin(), models.end(), is_better);
  if (is_better(model, *worst)) *worst = std::move(model);
  incumbent.objective = std::max_element(models.begin(), models.end(), is_better)->objective;
}

void Worker::polish() {
  if (!(incumbent.objective < infinity)) return;
  problem.linear_predictor(incumbent.theta, incumbent.intercept, fit.rows.u.data());
  const FitScore score = fit.fit(incumbent.decisions, incumbent.intercept, infinity, polished, Start::predictor);
  if (!(score.objective <= problem.above(incumbent.objective, 1e-12))) return;
  incumbent.objective = std::min(score.objective, incumbent.objective);
  incumbent.theta.copy(fit.theta);
  incumbent.intercept = score.intercept;
}

}  // namespace shortlist
