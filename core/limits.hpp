// What is affordable, and the selection oracle that bounds rest on.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "data.hpp"

namespace shortlist {

/// An amount of money in exact units: a whole number of up to 255 bits, so that sums do not depend on their order.
class Money {
 public:
  constexpr Money(std::int64_t units = 0) {
    words_.fill(units < 0 ? ~std::uint64_t{0} : 0);
    words_[0] = static_cast<std::uint64_t>(units);
  }
  /// From words of 64 bits, the lowest first.
  explicit Money(std::span<const std::uint64_t, 4> words) { std::copy(words.begin(), words.end(), words_.begin()); }

  constexpr Money& operator+=(const Money& other) { return add(other, 0, 0); }
  constexpr Money& operator-=(const Money& other) { return add(other, ~std::uint64_t{0}, 1); }
  friend constexpr Money operator+(Money a, const Money& b) { return a += b; }
  friend constexpr Money operator-(Money a, const Money& b) { return a -= b; }
  friend constexpr bool operator==(const Money&, const Money&) = default;
  friend constexpr std::strong_ordering operator<=>(const Money& a, const Money& b) {
    if (a.words_[3] != b.words_[3]) {
      return static_cast<std::int64_t>(a.words_[3]) <=> static_cast<std::int64_t>(b.words_[3]);
    }
    for (std::size_t i = 2; i > 0; --i) {
      if (a.words_[i] != b.words_[i]) return a.words_[i] <=> b.words_[i];
    }
    return a.words_[0] <=> b.words_[0];
  }

  /// The nearest double: the first 64 bits, the last of which stands for all that follow.
  explicit operator double() const {
    if (*this < 0) return -static_cast<double>(Money() - *this);
    std::size_t top = 3;
    while (top > 0 && words_[top] == 0) --top;
    if (top == 0) return static_cast<double>(words_[0]);
    const int shift = std::countl_zero(words_[top]);
    const std::uint64_t next = words_[top - 1];
    const std::uint64_t leading = shift == 0 ? words_[top] : (words_[top] << shift) | (next >> (64 - shift));
    const bool is_more =
        (next << shift) != 0 || std::any_of(words_.begin(), words_.begin() + (top - 1), std::identity());
    return std::ldexp(static_cast<double>(leading | (is_more ? 1 : 0)), 64 * static_cast<int>(top) - shift);
  }
  /// The number itself, where it is known to be small.
  explicit operator Index() const { return static_cast<Index>(words_[0]); }

 private:
  /// Add a number whose bits are flipped by a mask, and a carry.
  constexpr Money& add(const Money& other, std::uint64_t mask, std::uint64_t carry) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint64_t before = words_[i] + carry;
      words_[i] = before + (other.words_[i] ^ mask);
      carry = (before < carry) + (words_[i] < before);
    }
    return *this;
  }

  std::array<std::uint64_t, 4> words_;  // the lowest first; a negative number is its complement
};

/// Prices and limits. What is affordable is decided in exact units; the doubles beside them are for bounds. They are
/// the same numbers where a double has all totals, and otherwise never stricter.
struct Limits {
  std::vector<Money> exact_cost, exact_fee;
  Money exact_budget;                       // 0, as are all prices, if there is none
  bool is_integral;                         // whether a double has all totals
  double unit;                              // in the amounts of the doubles: a power of two
  Buffer<double> cost;                      // of each predictor
  std::vector<double> fee;                  // paid once if any member is bought
  std::vector<std::vector<Index>> fees_of;  // the fees that each predictor incurs
  std::vector<Index> charged;               // the one of these that the oracle charges, or -1
  std::vector<Index> order;                 // predictors sorted by that fee
  double budget;                            // infinite if there is none
  Index max_features;
  std::vector<Index> include, exclude;

  Limits(std::vector<Money> costs, std::vector<Money> fees, const std::vector<std::vector<Index>>& members,
         std::optional<Money> budget, Index max_features, std::vector<Index> include, std::vector<Index> exclude);

  Index n_predictors() const { return cost.size(); }
  bool has_budget() const { return budget < infinity; }
  /// An amount as a double, rounded downwards or upwards.
  double below(const Money& amount) const;
  double above(const Money& amount) const;
};

/// What is left of the limits at a node.
struct Remaining {
  Money exact;      // of the budget
  double budget;    // the same or a little more
  Index count;      // predictors left to buy
  double capacity;  // the one of these two that the relaxation uses: it is tighter on average
  Index n_free;
  bool is_all_affordable;  // all free predictors together

  bool is_overspent() const { return exact < 0 || count < 0; }
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
  Money budget;

  /// The budget and the number of predictors that are left after what the node has bought.
  Remaining remaining(const Decisions& decisions);
  /// What is left, with free predictors that are not affordable forbidden.
  Remaining forbid_unaffordable(Decisions& decisions);
  /// The same; fills the prices that the relaxation charges, and the capacity that goes with them.
  Remaining forbid_unaffordable(Decisions& decisions, Buffer<double>& price);
  /// The price of a predictor at the node last asked about: its cost and the fees that are not paid yet.
  Money price(Index g) const;
  /// The same at another node.
  Money price_at(const Decisions& decisions, Index g);
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
