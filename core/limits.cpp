#include "limits.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shortlist {

namespace {

constexpr double max_table_cells = 30'000;
// Of a total, from which a large part is taken off again: what rounding may have lost, and more.
constexpr double rounding = 1e-14;
constexpr double two_roundings = 0x1p-50;               // and more, relatively
constexpr Money largest_whole = std::int64_t{1} << 53;  // up to here doubles have every whole number

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

double larger(double a, double b) { return a > b ? a : b; }

}  // namespace

Limits::Limits(std::vector<Money> costs, std::vector<Money> fees, const std::vector<std::vector<Index>>& members,
               std::optional<Money> most_money, Index most_features, std::vector<Index> included,
               std::vector<Index> excluded)
    : exact_cost(std::move(costs)),
      exact_fee(std::move(fees)),
      exact_budget(most_money.value_or(0)),
      is_integral(false),
      unit(1.0),
      cost(static_cast<Index>(exact_cost.size())),
      fees_of(at(cost.size())),
      charged(at(cost.size()), -1),
      order(at(cost.size())),
      budget(infinity),
      max_features(most_features),
      include(std::move(included)),
      exclude(std::move(excluded)) {
  if (most_money) {
    const Money total = std::accumulate(exact_cost.begin(), exact_cost.end(),
                                        std::accumulate(exact_fee.begin(), exact_fee.end(), Money{0}));
    is_integral = total <= largest_whole && exact_budget <= largest_whole;
    if (!is_integral) unit = std::exp2(20 - std::ilogb(std::max(static_cast<double>(exact_budget), 1.0)));
    budget = above(exact_budget);
  } else {
    std::fill(exact_cost.begin(), exact_cost.end(), 0);
    std::fill(exact_fee.begin(), exact_fee.end(), 0);
  }
  std::transform(exact_cost.begin(), exact_cost.end(), cost.begin(), [&](Money amount) { return below(amount); });
  for (const Money amount : exact_fee) fee.push_back(below(amount));
  for (std::size_t f = 0; f < fee.size(); ++f) {
    for (const Index g : members[f]) {
      fees_of[at(g)].push_back(static_cast<Index>(f));
      // A predictor in several groups is charged the largest fee: without the others the oracle is still an upper
      // bound.
      Index& dearest = charged[at(g)];
      if (dearest < 0 || exact_fee[at(dearest)] < exact_fee[f]) dearest = static_cast<Index>(f);
    }
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index g, Index h) { return charged[at(g)] < charged[at(h)]; });
}

double Limits::below(const Money& amount) const {
  const double nearest = unit * static_cast<double>(amount);
  return is_integral ? nearest : nearest - two_roundings * std::abs(nearest);
}

double Limits::above(const Money& amount) const {
  const double nearest = unit * static_cast<double>(amount);
  return is_integral ? nearest : nearest + two_roundings * std::abs(nearest);
}

Oracle::Oracle(const Limits& limits)
    : budget(limits.exact_budget),
      limits_(limits),
      is_paid_(limits.fee.size()),
      ranked_(limits.n_predictors() + 1),
      worth_(limits.fee.size()),
      inside_(limits.fee.size()) {}

void Oracle::note_paid_fees(const Decisions& decisions) {
  if (is_paid_.empty()) return;
  std::fill(is_paid_.begin(), is_paid_.end(), false);
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::in) continue;
    for (const Index f : limits_.fees_of[at(g)]) is_paid_[at(f)] = true;
  }
}

Remaining Oracle::remaining(const Decisions& decisions) {
  note_paid_fees(decisions);
  Remaining left{budget, infinity, limits_.max_features, 0.0, 0, false};
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::in) {
      left.exact -= limits_.exact_cost[at(g)];
      --left.count;
    }
  }
  for (std::size_t f = 0; f < is_paid_.size(); ++f) {
    if (is_paid_[f]) left.exact -= limits_.exact_fee[f];
  }
  if (limits_.has_budget()) left.budget = limits_.above(left.exact);
  return left;
}

Money Oracle::price(Index g) const {
  Money price = limits_.exact_cost[at(g)];
  if (!is_paid_.empty()) {
    for (const Index f : limits_.fees_of[at(g)])
      if (!is_paid_[at(f)]) price += limits_.exact_fee[at(f)];
  }
  return price;
}

Money Oracle::price_at(const Decisions& decisions, Index g) {
  note_paid_fees(decisions);
  return price(g);
}

Remaining Oracle::forbid_unaffordable(Decisions& decisions) {
  Remaining left = remaining(decisions);
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free) continue;
    if (left.count <= 0 || price(g) > left.exact) {
      decisions[g] = Decision::out;
    } else {
      ++left.n_free;
    }
  }
  return left;
}

Remaining Oracle::forbid_unaffordable(Decisions& decisions, Buffer<double>& prices) {
  Remaining left = forbid_unaffordable(decisions);
  Money exact_total = 0;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free) continue;
    const Money exact_price = price(g);
    exact_total += exact_price;
    prices[g] = limits_.below(exact_price);
  }
  left.is_all_affordable = left.n_free <= left.count && exact_total <= left.exact;
  const double total = limits_.below(exact_total);
  left.capacity = left.budget;
  const double count = static_cast<double>(left.count);
  if (!limits_.has_budget() || count * total < left.budget * static_cast<double>(left.n_free)) {
    left.capacity = count;
    prices.fill(1.0);
  }
  return left;
}

Index Oracle::most_purchases(const Decisions& decisions, const Remaining& left) const {
  Index most = 3;
  if (limits_.has_budget()) {
    // Without fees: a fee may be paid by another one.
    double least = infinity, second = infinity, third = infinity;
    for (Index g = 0; g < decisions.size(); ++g) {
      if (decisions[g] != Decision::free) continue;
      const double cost = limits_.cost[g];
      if (cost < least) {
        third = second, second = least, least = cost;
      } else if (cost < second) {
        third = second, second = cost;
      } else if (cost < third) {
        third = cost;
      }
    }
    most = least + second > left.budget ? 1 : least + second + third > left.budget ? 2 : 3;
  }
  return std::min(left.count, most);
}

double Oracle::complete(const Values& values, const Decisions& decisions, const Remaining& left) {
  double value = most_valuable(values.v, decisions, left.count);
  if (!limits_.has_budget()) return value;
  note_paid_fees(decisions);
  if (has_table(decisions, left.budget)) {
    const auto whole = static_cast<Index>(left.budget);
    return std::min(value, value_table(values.v, decisions, whole)[at(whole)]);
  }
  const double multiplier = best_multiplier(values.v, decisions, left.budget);
  return std::min(value, priced_value(values.v, decisions, left.budget, multiplier));
}

void Oracle::complete_forced(Values& values, const Decisions& decisions, const Remaining& left) {
  force_most_valuable(values, decisions, left.count, most_valuable(values.v, decisions, left.count));
  if (!limits_.has_budget()) return;
  note_paid_fees(decisions);
  if (has_table(decisions, left.budget)) {
    force_in_table(values, decisions, static_cast<Index>(left.budget));
  } else {
    force_priced(values, decisions, left.budget);
  }
}

bool Oracle::has_table(const Decisions& decisions, double left) const {
  const auto n_free = static_cast<double>(std::count(decisions.begin(), decisions.end(), Decision::free));
  const double n_cells = n_free * (left + 1.0);
  return limits_.is_integral && 0.0 < n_cells && n_cells <= max_table_cells;
}

/// The largest values, whatever the budget. Leaves the count + 1 largest v in ranked_, largest first.
double Oracle::most_valuable(const Buffer<double>& v, const Decisions& decisions, Index count) {
  Index n = 0;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free || (n > count && !(v[g] > ranked_[count]))) continue;
    Index i = n <= count ? n : count;
    for (; i > 0 && ranked_[i - 1] < v[g]; --i) ranked_[i] = ranked_[i - 1];
    ranked_[i] = v[g];
    n = std::min(n + 1, count + 1);
  }
  for (Index i = n; i < std::min(count + 1, ranked_.size()); ++i) ranked_[i] = 0.0;
  return std::accumulate(ranked_.begin(), ranked_.begin() + std::min(n, count), 0.0);
}

void Oracle::force_most_valuable(Values& values, const Decisions& decisions, Index count, double total) const {
  total += rounding * total;
  const double last = ranked_[count - 1];
  const double following = count < decisions.size() ? ranked_[count] : 0.0;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free) continue;
    const bool is_among = values.v[g] >= last;
    values.value_in[g] = is_among ? total : total - last + values.v[g];
    values.value_out[g] = is_among ? total - values.v[g] + following : total;
  }
}

// Exact for whole-number prices. Fees: each group is entered with and without its fee. Of the items before i, layer 0
// or 1 of before_ is the best value at a price of at most b with none or some of the items of i's own fee group, whose
// fee is not charged yet; after_ is the total of the items after i.
void Oracle::force_in_table(Values& values, const Decisions& decisions, Index whole) {
  items_.clear();
  for (const Index g : limits_.order) {
    if (decisions[g] == Decision::free) items_.push_back({g, unpaid_fee(g), static_cast<Index>(charged_fee(g))});
  }
  const Index n = static_cast<Index>(items_.size()), width = whole + 1;
  before_.resize(at((n + 1) * 2 * width));
  after_.resize(at((n + 1) * 2 * width));
  const auto layer = [width](std::vector<double>& tables, Index i, Index some) {
    return tables.data() + (2 * i + some) * width;
  };
  const auto add_item = [&](std::vector<double>& tables, Index from, Index to, const Item& item) {
    const double *none = layer(tables, from, 0), *some = layer(tables, from, 1);
    double *new_none = layer(tables, to, 0), *new_some = layer(tables, to, 1);
    const auto cost = static_cast<Index>(limits_.cost[item.predictor]);
    const double value = values.v[item.predictor];
    for (Index b = 0; b < width; ++b) {
      new_none[b] = none[b];
      new_some[b] = b < cost ? some[b] : larger(some[b], larger(none[b - cost], some[b - cost]) + value);
    }
  };
  // Close a fee group: layer 0 becomes the better of none, and some with the fee charged.
  const auto charge_fee = [&](std::vector<double>& tables, Index i, Index fee) {
    double *none = layer(tables, i, 0), *some = layer(tables, i, 1);
    for (Index b = width - 1; b >= fee; --b) none[b] = larger(none[b], some[b - fee]);
    std::fill(some, some + width, -infinity);
  };
  std::fill(layer(before_, 0, 0), layer(before_, 0, 1), 0.0);
  std::fill(layer(before_, 0, 1), layer(before_, 1, 0), -infinity);
  std::fill(layer(after_, n, 0), layer(after_, n, 1), 0.0);
  std::fill(layer(after_, n, 1), layer(after_, n, 1) + width, -infinity);
  for (Index i = 0; i < n; ++i) {
    add_item(before_, i, i + 1, items_[at(i)]);
    if (i + 1 == n || items_[at(i + 1)].group != items_[at(i)].group) charge_fee(before_, i + 1, items_[at(i)].fee);
  }
  for (Index i = n - 1; i >= 0; --i) {
    if (i + 1 < n && items_[at(i + 1)].group != items_[at(i)].group) charge_fee(after_, i + 1, items_[at(i + 1)].fee);
    add_item(after_, i + 1, i, items_[at(i)]);
  }
  for (Index i = 0; i < n; ++i) {
    const auto [g, group, fee] = items_[at(i)];
    const double *none_before = layer(before_, i, 0), *some_before = layer(before_, i, 1);
    const double *none_after = layer(after_, i + 1, 0), *some_after = layer(after_, i + 1, 1);
    const Index left_in = whole - static_cast<Index>(limits_.cost[g]) - fee, left_fee = whole - fee;
    double best_in = -infinity, best_out = -infinity;
    for (Index b = 0; b <= left_in; ++b) {
      const Index c = left_in - b;
      best_in = larger(best_in, larger(none_before[b], some_before[b]) + larger(none_after[c], some_after[c]));
    }
    for (Index b = 0; b <= whole; ++b) best_out = larger(best_out, none_before[b] + none_after[whole - b]);
    for (Index b = 0; b <= left_fee; ++b) {
      const Index c = left_fee - b;
      best_out = larger(best_out, none_before[b] + some_after[c]);
      best_out = larger(best_out, some_before[b] + larger(none_after[c], some_after[c]));
    }
    values.value_in[g] = std::min(values.value_in[g], best_in + values.v[g]);
    values.value_out[g] = std::min(values.value_out[g], best_out);
  }
}

// Each fee group is entered with its fee paid first.
std::span<const double> Oracle::value_table(const Buffer<double>& v, const Decisions& decisions, Index whole,
                                            Index skipped) {
  note_paid_fees(decisions);
  best_.assign(at(whole + 1), 0.0);
  entered_.assign(at(whole + 1), 0.0);
  Index group = -2;
  const auto leave_group = [&] {
    for (std::size_t b = 0; b < best_.size(); ++b) best_[b] = larger(best_[b], entered_[b]);
  };
  for (const Index g : limits_.order) {
    if (decisions[g] != Decision::free || g == skipped) continue;
    if (const Index f = unpaid_fee(g); f != group) {
      leave_group();
      const Index fee = static_cast<Index>(charged_fee(g));
      for (Index b = 0; b <= whole; ++b) entered_[at(b)] = b >= fee ? best_[at(b - fee)] : -infinity;
      group = f;
    }
    const Index cost = static_cast<Index>(limits_.cost[g]);
    for (Index b = whole; b >= cost; --b) entered_[at(b)] = larger(entered_[at(b)], entered_[at(b - cost)] + v[g]);
  }
  leave_group();
  return best_;
}

// Prices that are not whole numbers: with the budget priced at a multiplier per unit, multiplier * left plus what each
// predictor or fee group is worth above its price is an upper bound for every multiplier of at least 0. It is convex in
// the multiplier; bisection finds where it is least.
double Oracle::best_multiplier(const Buffer<double>& v, const Decisions& decisions, double left) {
  double low = 0.0, high = 0.0;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free) continue;
    const double price = limits_.cost[g] + charged_fee(g);
    if (price > 0.0) high = std::max(high, v[g] / price);
  }
  for (int halving = 0; halving < 50; ++halving) {
    const double multiplier = 0.5 * (low + high);
    (spending(v, decisions, multiplier) > left ? low : high) = multiplier;
  }
  spending(v, decisions, high);
  return high;
}

/// The price of everything worth more than its price; fills the worth of each fee group.
double Oracle::spending(const Buffer<double>& v, const Decisions& decisions, double multiplier) {
  std::fill(worth_.begin(), worth_.end(), 0.0);
  std::fill(inside_.begin(), inside_.end(), 0.0);
  double spent = 0.0;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free) continue;
    const double margin = v[g] - multiplier * limits_.cost[g];
    if (!(margin > 0.0)) continue;
    if (charged_fee(g) > 0.0) {
      worth_[at(limits_.charged[at(g)])] += margin;
      inside_[at(limits_.charged[at(g)])] += limits_.cost[g];
    } else {
      spent += limits_.cost[g];
    }
  }
  for (std::size_t f = 0; f < worth_.size(); ++f) {
    if (worth_[f] > multiplier * limits_.fee[f]) spent += inside_[f] + limits_.fee[f];
  }
  return spent;
}

double Oracle::priced_value(const Buffer<double>& v, const Decisions& decisions, double left, double multiplier) const {
  double total = multiplier * left;
  for (std::size_t f = 0; f < worth_.size(); ++f) total += std::max(0.0, worth_[f] - multiplier * limits_.fee[f]);
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::free && charged_fee(g) == 0.0) {
      total += std::max(0.0, v[g] - multiplier * limits_.cost[g]);
    }
  }
  return total;
}

void Oracle::force_priced(Values& values, const Decisions& decisions, double left) {
  const double multiplier = best_multiplier(values.v, decisions, left);
  double total = priced_value(values.v, decisions, left, multiplier);
  total += rounding * total;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] != Decision::free) continue;
    const double margin = values.v[g] - multiplier * limits_.cost[g], surplus = std::max(0.0, margin);
    double forced_in = total - surplus + margin, forced_out = total - surplus;
    if (charged_fee(g) != 0.0) {
      const auto f = at(limits_.charged[at(g)]);
      const double fee = multiplier * limits_.fee[f];
      const double others = total - std::max(0.0, worth_[f] - fee);
      forced_in = others + worth_[f] - surplus + margin - fee;
      forced_out = others + std::max(0.0, worth_[f] - surplus - fee);
    }
    values.value_in[g] = std::min(values.value_in[g], forced_in);
    values.value_out[g] = std::min(values.value_out[g], forced_out);
  }
}

/// The fee that the oracle charges for a predictor, -1 if it is paid or there is none.
Index Oracle::unpaid_fee(Index g) const {
  const Index f = limits_.charged[at(g)];
  return f >= 0 && !is_paid_[at(f)] ? f : -1;
}

double Oracle::charged_fee(Index g) const {
  const Index f = unpaid_fee(g);
  return f >= 0 ? limits_.fee[at(f)] : 0.0;
}

}  // namespace shortlist
