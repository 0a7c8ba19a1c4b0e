// Nodes at which one or two more predictors can be bought: closed without branching.
//
// Nearly all nodes are of this kind. What is bought already is fitted once; call that the base. The base's dual point,
// moved along the Newton step in the columns bought and the columns of some candidates, bounds what the candidates can
// gain, exactly to second order and without an exponential (see `Logistic::move`). Candidates of small predicted gain
// share a step, because the bound has to allow for only one of them. What cannot be closed that way is fitted.
#pragma once

#include "limits.hpp"
#include "newton.hpp"

namespace shortlist {

class Worker;

class Endgame {
 public:
  explicit Endgame(Worker& worker);

  static constexpr Index largest_batch = 16;
  /// Free predictors that can be looked at one by one.
  static constexpr Index few = 128;

  /// Close a node at which no two free predictors are affordable together.
  ///
  /// What is bought is fitted from the rows of the last relaxation, or from the linear predictor of its point.
  void buy_one(std::int64_t node, Start start, double intercept);
  /// Whether few pairs of free predictors are not closed by the node's own point.
  bool are_pairs_few(double base, double cutoff, Index n_free) const;
  /// Close a node at which no three free predictors are affordable together.
  ///
  /// One after the other, strongest first, a free predictor is bought, which leaves a node with one more purchase, and
  /// then forbidden, until the node's own point bounds what is left. `base` and `point` come from its relaxation.
  void buy_two(std::int64_t node, const Remaining& remaining, double base, std::int64_t point);

 private:
  void fit_base(Start start, double intercept);
  bool note_slope(Index j);
  Index load_predictor(Index n, Index g);
  bool solve_rows(Index first, Index n);
  double fall(Index first, Index n) const;
  void close_candidates(std::int64_t node, Index n);
  double bound_batch(Index n, Index first, Index last, double cutoff, Index& size);
  FitScore fit_trial(double cutoff, std::int64_t& point);
  void close_selection(std::int64_t node);

  Worker& worker_;
  const Problem& problem_;
  Decisions trial_;  // what is bought, plus candidates
  std::vector<Index> candidates_, free_columns_;
  Rows base_;
  Buffer<double> theta_;   // of the base
  Buffer<double> slope_;   // downhill, intercept eliminated
  Matrix cross_;           // Hessian entries of each column with the bought columns
  Buffer<double> square_;  // Hessian entries with itself
  Buffer<double> mean_;    // weighted means
  Hessian hessian_;        // on what is bought and a batch, factorised
  Buffer<double> gain_;    // predicted for each candidate
  Buffer<double> step_;    // of the last batch
  double intercept_step_ = 0.0;
  MovedPoint moved_;
  double intercept_ = 0.0, objective_ = 0.0, mismatch_ = 0.0, total_ = 0.0;  // of the base
  Index n_bought_ = 0;                                                       // columns
  bool is_solved_ = false;                                                   // whether they are independent
};

}  // namespace shortlist
