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
  /// Buy greedily from the root, with several selections of each size at a time.
  void search_beam();

 private:
  /// A predictor that may be bought, and its Newton decrement per price.
  struct Purchase {
    Index predictor;
    double gain;
  };
  /// A selection of the beam: its model, and what it gains over none, per price if there is a budget.
  struct Partial {
    Decisions selection;
    Buffer<double> theta;
    double intercept, gain;
  };

  void rank_purchases(const Decisions& selection);
  void extend(const Partial& partial, std::vector<Partial>& longer);
  double useful_slope(Index j) const;
  double share_not_explained(Index n, Index g, double total);

  Worker& worker_;
  Decisions trial_;
  std::vector<Purchase> promising_;
  Buffer<double> gain_;  // first estimate of what a purchase gains
};

}  // namespace shortlist
