// Best-bound branch and bound with dives on open nodes of its own: for the best model, for all models below a
// threshold, or for the best model at every budget.
#pragma once

#include <optional>

#include "endgame.hpp"
#include "heuristics.hpp"
#include "limits.hpp"
#include "relaxation.hpp"
#include "staircase.hpp"
#include "tree.hpp"

namespace shortlist {

/// The best model found so far. In a listing, its objective is the threshold.
struct Incumbent {
  explicit Incumbent(const Problem& problem)
      : decisions(problem.n_predictors(), Decision::free), theta(problem.n_columns(), 0.0) {}

  Decisions decisions;
  Buffer<double> theta;
  double objective = infinity;
  double intercept = 0.0;
};

/// A selection and its fit.
struct Model {
  Decisions decisions;
  Buffer<double> theta;
  double intercept, objective;
};

/// The models found below a threshold: the best, where there are more than places.
struct Listing {
  Index n_places;
  std::vector<Model> models;
  std::int64_t n_left_out = 0;
  std::int64_t n_doubtful = 0;  // fits that have failed, and whose bounds are below the threshold
};

class Worker {
 public:
  Worker(const Problem& problem, const Limits& limits, double gap);
  Worker(const Worker&) = delete;

  const Problem& problem;
  const Limits& limits;
  const double gap;
  Oracle oracle;
  Relaxation relaxation;
  Fit fit;
  Incumbent incumbent;
  std::optional<Listing> listing;
  std::optional<Staircase> staircase;
  Tree tree;
  Trace trace;
  Decisions root;       // what is decided from the start
  Decisions decisions;  // of the node that is processed

  /// Put the root on the tree; for the best model, also fit a first one: on `warm`, or greedily.
  void start(const std::vector<Index>& warm);
  /// Process at most `max_nodes` nodes; return whether none is open any more. At a deadline the node that is processed
  /// stays open, with the bound that it has by then.
  bool run(std::int64_t max_nodes);
  /// The number of nodes at which the search looks for swaps next; the parts of a round do not.
  std::int64_t next_swap = 16;
  bool is_swap_due() const { return tree.n_processed >= next_swap; }
  void improve_incumbent();
  /// Refit the incumbent to the last digits of its coefficients, which its objective hides.
  void polish();

  double cutoff() const { return problem.below(incumbent.objective, gap); }
  /// Whether to look for incumbents at the node that is processed.
  bool is_heuristic_turn() const;
  /// Fit the bought predictors and keep the model if it is the best.
  FitScore try_selection(const Decisions& selection, double intercept, double stop_at, double tolerance, Start start);
  /// Keep the model that was just fitted if it is the best.
  void offer(const Decisions& selection, const FitScore& score);
  /// Fit a complete selection; keep the model as incumbent, or list it.
  FitScore keep_selection(const Decisions& selection, double intercept, double stop_at, Start start);
  /// Relax the node that is processed; return its bound and the number of the point that proves it.
  std::pair<NodeBound, std::int64_t> relax_node(const Remaining& remaining, double intercept, double mu, double stop_at,
                                                bool is_evaluated);
  /// Make a node the one that is processed.
  void load(const Node& node);
  /// The predictor to branch on, of largest z v: the most that the relaxation gains from one.
  Index pick_predictor() const;
  /// Close a node that a point bounds.
  void close_node(std::int64_t node, double bound, std::int64_t point);

 private:
  /// What a node that is broken off falls back to.
  struct Before {
    Trace::Mark trace;
    std::int64_t n_created;
    double closed;
  };

  Heuristics heuristics_;
  Endgame endgame_;
  Before before_{};

  friend class Staircase;

  void find_first_model(const std::vector<Index>& warm, double intercept);
  void process_node();
  void close_or_branch(Node& node, bool is_dive);
  Before now() const { return {trace.mark(), tree.n_created, tree.closed}; }
  Remaining settle(Decisions& node);
  Index fix(double base, double stop_at, std::int64_t node, std::int64_t point, double& base_then);
  void branch(const Node& node, const NodeBound& found, std::int64_t point, Index n_branches);
  void list_model(const Decisions& selection, const FitScore& score);
};

}  // namespace shortlist
