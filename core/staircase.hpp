// The best model for every whole budget at once, in one tree.
//
// A dual point bounds a node at every budget, because the knapsack table has the best value for every amount. A node is
// alive for a range of budgets. It is relaxed at the highest of them, loses those at which it is bounded away, and is
// relaxed again at the next highest, until the highest stays alive.
#pragma once

#include <vector>

#include "newton.hpp"
#include "tree.hpp"

namespace shortlist {

class Worker;

/// What one amount buys.
struct Stair {
  double upper = infinity;   // objective of the best model found
  double closed = infinity;  // smallest bound of the closed leaves
  Decisions decisions;
  Buffer<double> theta;
  double intercept = 0.0;
};

class Staircase {
 public:
  /// Stairs for every whole amount from 0 to n_budgets - 1.
  Staircase(Worker& worker, Index n_budgets);

  std::vector<Stair> stairs;

  /// Put the root on the tree, and buy greedily at every budget.
  void start();
  /// Take a node from the tree; close it or branch.
  void process_node();

 private:
  /// What a point says about a node: base - table[b - spent] bounds it at budget b.
  struct BudgetBound {
    double base;
    std::vector<double> table;
    Index spent;
    double at(Index budget) const { return base - table[static_cast<std::size_t>(budget - spent)]; }
  };

  Stair& stair(Index budget) { return stairs[static_cast<std::size_t>(budget)]; }
  void close(Index budget, double bound);
  double cutoff(Index budget);
  Index spent(const Decisions& decisions);
  void close_budgets(const BudgetBound& found, Index& low, Index& high, std::int64_t node, std::int64_t point);
  bool is_closed(const BudgetBound& found, Index budget);
  void record_bound(std::int64_t node, std::int64_t point, Index first, Index last);
  void offer_incumbent();
  void keep(const Decisions& decisions, const Buffer<double>& theta, const FitScore& score, Index price);
  bool fix(const BudgetBound& found, Index low, Index high, std::int64_t node, std::int64_t point);

  Worker& worker_;
  Decisions decided_;  // the decisions of a node once all predictors are judged
};

}  // namespace shortlist
