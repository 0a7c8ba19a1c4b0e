// What is affordable, and the selection oracle that bounds rest on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data.hpp"

namespace shortlist {

/// Prices and limits in exact units: sums of prices do not depend on their order.
struct Limits {
  Buffer<double> cost;                      // of each predictor
  std::vector<double> fee;                  // paid once if any member is bought
  std::vector<std::vector<Index>> fees_of;  // the fees that each predictor incurs
  std::vector<Index> charged;               // the one of these that the oracle charges, or -1
  std::vector<Index> order;                 // predictors sorted by that fee
  double budget;                            // infinite if there is none
  Index max_features;
  bool is_integral;  // whether all prices are whole numbers of units
  std::vector<Index> include, exclude;

  Limits(Buffer<double> costs, std::vector<double> fees, const std::vector<std::vector<Index>>& members, double budget,
         Index max_features, bool is_integral, std::vector<Index> include, std::vector<Index> exclude);

  Index n_predictors() const { return cost.size(); }
  bool has_budget() const { return budget < infinity; }
};

/// What is left of the limits at a node.
struct Remaining {
  double budget;
  Index count;      // predictors left to buy
  double capacity;  // the one of these two that the relaxation uses: it is tighter on average
  Index n_free;
  bool is_all_affordable;  // all free predictors together

  bool is_overspent() const { return budget < 0.0 || count < 0; }
};

/// What each predictor is worth to a dual point, and what the node is with it forced.
struct Values {
  explicit Values(Index n_predictors) : v(n_predictors), value_in(n_predictors), value_out(n_predictors) {}

  Buffer<double> v, value_in, value_out;
};

/// Answers questions about affordable selections of a node.
///
/// `complete` returns an upper bound on max { sum z_g v_g : z affordable } over the free predictors, and
/// `complete_forced` the same with each free predictor g forced in (value_in) or out (value_out). An upper bound is
/// enough for validity; the largest values and the knapsack table are exact.
class Oracle {
 public:
  explicit Oracle(const Limits& limits);

  /// The budget in force, which a staircase changes from node to node.
  double budget;

  /// The budget and the number of predictors that are left after what the node has bought.
  Remaining remaining(const Decisions& decisions);
  /// What is left, with free predictors that are not affordable forbidden.
  Remaining forbid_unaffordable(Decisions& decisions);
  /// The same; fills the prices that the relaxation charges, and the capacity that goes with them.
  Remaining forbid_unaffordable(Decisions& decisions, Buffer<double>& price);
  /// The price of a predictor at the node last asked about: its cost and the fees that are not paid yet.
  double price(Index g) const;
  /// The same at another node.
  double price_at(const Decisions& decisions, Index g);
  /// How many free predictors are affordable together at most: 1, 2, or 3 for all above.
  Index most_purchases(const Decisions& decisions, const Remaining& remaining) const;

  double complete(const Values& values, const Decisions& decisions, const Remaining& remaining);
  void complete_forced(Values& values, const Decisions& decisions, const Remaining& remaining);
  /// The best value for every whole amount up to the budget, without the predictor `skipped` (-1: none).
  std::span<const double> value_table(const Buffer<double>& v, const Decisions& decisions, Index budget,
                                      Index skipped = -1);

 private:
  struct Item {
    Index predictor, group, fee;
  };

  void note_paid_fees(const Decisions& decisions);
  bool has_table(const Decisions& decisions, double left) const;
  double most_valuable(const Buffer<double>& v, const Decisions& decisions, Index count);
  void force_most_valuable(Values& values, const Decisions& decisions, Index count, double total) const;
  void force_in_table(Values& values, const Decisions& decisions, Index budget);
  double best_multiplier(const Buffer<double>& v, const Decisions& decisions, double left);
  double spending(const Buffer<double>& v, const Decisions& decisions, double multiplier);
  double priced_value(const Buffer<double>& v, const Decisions& decisions, double left, double multiplier) const;
  void force_priced(Values& values, const Decisions& decisions, double left);
  Index unpaid_fee(Index g) const;
  double charged_fee(Index g) const;

  const Limits& limits_;
  std::vector<char> is_paid_;           // of each fee, at the node last asked about
  Buffer<double> ranked_;               // the largest v
  std::vector<double> worth_, inside_;  // of each fee group
  std::vector<double> best_, entered_;  // knapsack tables
  std::vector<double> before_, after_;
  std::vector<Item> items_;
};

}  // namespace shortlist
