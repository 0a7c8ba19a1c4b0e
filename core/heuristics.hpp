// Incumbents: greedy buying, swaps, and rounding of a relaxation.
#pragma once

#include "newton.hpp"

namespace shortlist {

class Worker;

class Heuristics {
 public:
  explicit Heuristics(Worker& worker);

  /// Buy by descending share z, ties by v, what is affordable, and fit it.
  void round_relaxation();
  /// Extend the bought predictors one by one, each time by the largest gain per price, and fit.
  ///
  /// The worker's fit holds a fitted model of what is bought. The selection ends with no free predictor.
  void buy_greedily(Decisions& selection, double intercept);
  /// Drop each predictor of the incumbent in turn and buy greedily instead, while that helps.
  void swap();

 private:
  Index most_promising(const Decisions& selection);
  double useful_slope(Index j) const;
  double share_not_explained(Index n, Index g, double total);

  Worker& worker_;
  Decisions trial_;
  Buffer<double> gain_;  // first estimate of what a purchase gains
};

}  // namespace shortlist
