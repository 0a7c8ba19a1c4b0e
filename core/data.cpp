#include "data.hpp"

#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "lanes.hpp"

namespace shortlist {

namespace {

constexpr double far = 32.0;  // spreads from zero at which a column is centred
constexpr Index rows_at_a_time = 32;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Some rows of a column, padded with 0.
Buffer<double> picked(const double* values, const std::vector<Index>& rows) {
  Buffer<double> some(padded(static_cast<Index>(rows.size())), 0.0);
  for (std::size_t k = 0; k < rows.size(); ++k) some[static_cast<Index>(k)] = values[rows[k]];
  return some;
}

/// Some rows of all columns, padded with 0.
Matrix picked(const Matrix& X, const std::vector<Index>& rows, Index n_columns) {
  const Index n_rows = padded(static_cast<Index>(rows.size()));
  Matrix some(n_columns, n_rows);
  for (Index j = 0; j < n_columns; ++j) {
    const double* x = X[j];
    double* out = some[j];
    for (std::size_t k = 0; k < rows.size(); ++k) out[k] = x[rows[k]];
    std::fill(out + rows.size(), out + n_rows, 0.0);
  }
  return some;
}

}  // namespace

template <class T>
Table::Table(const Given<T>& given, const Outcomes& outcomes, const std::optional<Times>& times,
             const std::int64_t* owner, Index n_predictors)
    : columns_(at(given.n_columns)),
      start_(at(n_predictors + 1)),
      owner_(at(given.n_columns)),
      place_(at(given.n_rows)),
      s_(padded(given.n_rows), 0.0),
      y_(padded(given.n_rows), 0.0) {
  std::iota(columns_.begin(), columns_.end(), 0);
  std::stable_sort(columns_.begin(), columns_.end(), [&](Index i, Index j) { return owner[i] < owner[j]; });
  for (Index j = 0; j < given.n_columns; ++j) {
    owner_[at(j)] = owner[columns_[at(j)]];
    start_[at(owner_[at(j)]) + 1] = j + 1;
  }
  for (std::size_t g = 1; g < start_.size(); ++g) start_[g] = std::max(start_[g], start_[g - 1]);
  std::copy(outcomes.factor, outcomes.factor + given.n_rows, s_.begin());
  std::copy(outcomes.value, outcomes.value + given.n_rows, y_.begin());
  if (times) {
    has_times_ = true, is_efron_ = times->is_efron;
    block_.assign(times->block, times->block + given.n_rows);
    stratum_.assign(times->stratum, times->stratum + given.n_rows);
  }
  pack(given);
  merge_rows();
}

template <class T>
void Table::pack(const Given<T>& given) {
  X_ = std::make_shared<Matrix>(given.n_columns, s_.size());
  Matrix& X = *X_;
  const auto entry = [&](Index m, Index j) {
    return s_[m] * static_cast<double>(given.values[m * given.row_step + columns_[at(j)] * given.column_step]);
  };
  if (std::abs(given.row_step) >= std::abs(given.column_step)) {  // some rows at a time, which the cache holds
    for (Index first = 0; first < given.n_rows; first += rows_at_a_time) {
      const Index last = std::min(first + rows_at_a_time, given.n_rows);
      for (Index j = 0; j < given.n_columns; ++j) {
        for (Index m = first; m < last; ++m) X[j][m] = entry(m, j);
      }
    }
  } else {
    for (Index j = 0; j < given.n_columns; ++j) {
      for (Index m = 0; m < given.n_rows; ++m) X[j][m] = entry(m, j);
    }
  }
  for (Index j = 0; j < given.n_columns; ++j) std::fill(X[j] + given.n_rows, X[j] + s_.size(), 0.0);
}

bool Table::are_equal(Index row, Index other) const {
  if (s_[row] != s_[other] || y_[row] != y_[other]) return false;
  if (has_times_ && (block_[at(row)] != block_[at(other)] || stratum_[at(row)] != stratum_[at(other)])) return false;
  for (Index j = 0; j < n_columns(); ++j) {
    if ((*X_)[j][row] != (*X_)[j][other]) return false;
  }
  return true;
}

// Rows are found by a hash table on a weighted sum of their entries, which is computed in the same order for every
// row, so that equal rows have equal sums. Then they are compared in full.
void Table::merge_rows() {
  const Index n_given = n_given_rows();
  Buffer<double> sums(n_given);
  for (Index m = 0; m < n_given; ++m) sums[m] = 3.0 * s_[m] + y_[m];
  for (std::size_t m = 0; m < block_.size(); ++m) sums[static_cast<Index>(m)] += 7.0 * static_cast<double>(block_[m]);
  for (Index j = 0; j < n_columns(); ++j) {
    const double* x = (*X_)[j];
    const double scale = 1.0 + std::fmod(static_cast<double>(j) * 0.6180339887498949, 1.0);
    for (Index m = 0; m < n_given; ++m) sums[m] += scale * x[m];
  }
  std::size_t size = 16;
  while (size < 2 * at(n_given)) size *= 2;
  std::vector<Index> slots(size, -1);
  std::vector<Index> kept;  // the given row of each place
  for (Index m = 0; m < n_given; ++m) {
    const auto bits = std::bit_cast<std::uint64_t>(sums[m]);
    std::size_t slot = static_cast<std::size_t>((bits * 0x9E3779B97F4A7C15u) >> 20) & (size - 1);
    Index found = -1;
    while (found < 0 && slots[slot] >= 0) {
      const Index other = kept[at(slots[slot])];
      if (sums[other] == sums[m] && are_equal(m, other)) found = slots[slot];
      slot = (slot + 1) & (size - 1);
    }
    if (found < 0) {
      found = static_cast<Index>(kept.size());
      slots[slot] = found;
      kept.push_back(m);
    }
    place_[at(m)] = found;
  }
  const Index n_kept = static_cast<Index>(kept.size());
  if (n_kept == n_given) return;
  X_ = std::make_shared<Matrix>(picked(*X_, kept, n_columns()));
  s_ = picked(s_.data(), kept);
  y_ = picked(y_.data(), kept);
  for (std::size_t k = 0; has_times_ && k < kept.size(); ++k) {
    block_[k] = block_[at(kept[k])], stratum_[k] = stratum_[at(kept[k])];
  }
}

template Table::Table(const Given<double>&, const Outcomes&, const std::optional<Times>&, const std::int64_t*, Index);
template Table::Table(const Given<float>&, const Outcomes&, const std::optional<Times>&, const std::int64_t*, Index);

Data::Data(std::shared_ptr<const Table> table, const double* weights) : table_(std::move(table)) {
  weigh(weights);
  if (risk_sets_) {
    centre_strata();
  } else {
    centre_columns();
  }
  find_constant_predictors();
}

// Rows come in the order of the first given row that counts, as if the others were not there, or in that of their
// times.
void Data::weigh(const double* weights) {
  const Table& table = *table_;
  std::vector<Index> position(at(table.s_.size()), -1), kept, n_given;
  std::vector<double> totals;
  for (Index m = 0; m < table.n_given_rows(); ++m) {
    const double weight = weights[m];
    if (!(weight > 0.0)) continue;
    Index& place = position[at(table.place_[at(m)])];
    if (place >= 0) {
      totals[at(place)] += weight;
      ++n_given[at(place)];
    } else {
      place = static_cast<Index>(kept.size());
      kept.push_back(table.place_[at(m)]);
      totals.push_back(weight);
      n_given.push_back(1);
    }
  }
  if (table.has_times_) {
    const std::vector<Index> order = order_by_time(kept);
    const auto in_order = [&](auto& values) {
      auto all = std::move(values);
      values.clear();
      for (const Index k : order) values.push_back(all[at(k)]);
    };
    in_order(kept), in_order(totals), in_order(n_given);
    if (kept.empty()) throw std::invalid_argument("weights: a row of weight above 0 with an event is needed.");
  }
  n_kept_ = static_cast<Index>(kept.size());
  n_rows_ = padded(n_kept_);
  if (n_kept_ == 0) throw std::invalid_argument("weights: a row of weight above 0 is needed.");
  w_ = Buffer<double>(n_rows_, 0.0);
  std::copy(totals.begin(), totals.end(), w_.begin());
  s_ = picked(table.s_.data(), kept);
  y_ = picked(table.y_.data(), kept);
  bool is_whole = n_rows_ == table.s_.size();
  for (Index k = 0; is_whole && k < n_kept_; ++k) is_whole = kept[at(k)] == k;
  X_ = is_whole ? table.X_ : std::make_shared<const Matrix>(picked(*table.X_, kept, n_columns()));
  total_weight_ = total_of(w_.data(), n_rows_);
  if (!(total_weight_ < infinity)) throw std::invalid_argument("weights: must be finite.");
  if (table.has_times_) find_risk_sets(kept, n_given);
}

/// The places among `kept` of the rows that are at risk at some time, in the order of `RiskSets`.
std::vector<Index> Data::order_by_time(const std::vector<Index>& kept) const {
  const Table& table = *table_;
  const auto stratum = [&](Index k) { return table.stratum_[at(kept[at(k)])]; };
  const auto block = [&](Index k) { return table.block_[at(kept[at(k)])]; };
  const auto event = [&](Index k) { return table.y_[kept[at(k)]]; };
  std::vector<Index> order;
  for (Index k = 0; k < static_cast<Index>(kept.size()); ++k) {
    if (block(k) >= 0) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index k) {
    if (stratum(i) != stratum(k)) return stratum(i) < stratum(k);
    return block(i) != block(k) ? block(i) < block(k) : event(i) < event(k);
  });
  // Of each stratum, those up to its last event.
  std::vector<Index> at_risk;
  std::size_t begin = 0, end = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && stratum(order[i]) != stratum(order[i - 1])) begin = end = i;
    if (event(order[i]) > 0.0) {
      end = i + 1;
      at_risk.insert(at_risk.end(), order.begin() + static_cast<Index>(begin), order.begin() + static_cast<Index>(end));
      begin = end;
    }
  }
  return at_risk;
}

/// Find the blocks of rows that are in order; n_given is how many given rows each of them is.
void Data::find_risk_sets(const std::vector<Index>& kept, const std::vector<Index>& n_given) {
  const Table& table = *table_;
  risk_sets_.emplace();
  for (Index m = 0; m < n_kept_;) {
    if (!(y_[m] > 0.0)) {
      ++m;
      continue;
    }
    const Index last = risk_sets_->n_rows();
    EventTime time{last, m, m, 0.0, 0, false};
    const auto block = [&](Index k) { return table.block_[at(kept[at(k)])]; };
    const auto stratum = [&](Index k) { return table.stratum_[at(kept[at(k)])]; };
    time.opens_stratum = last == 0 || stratum(m) != stratum(last - 1);
    for (; time.end < n_kept_ && y_[time.end] > 0.0 && block(time.end) == block(m) && stratum(time.end) == stratum(m);
         ++time.end) {
      time.weight += w_[time.end];
      time.n_terms += n_given[at(time.end)];
    }
    if (!table.is_efron_) time.n_terms = 1;
    m = time.end;
    risk_sets_->times.push_back(time);
  }
}

/// Take the middle off each column, in each stratum: no loss notices, and sums over rows at risk cancel less.
void Data::centre_strata() {
  centre_ = Buffer<double>(n_columns(), 0.0);
  s_.fill(0.0);  // there is no intercept
  const auto centred = std::make_shared<Matrix>(n_columns(), n_rows_);
  double largest = 0.0;
  for (Index j = 0; j < n_columns(); ++j) {
    const double* x = column(j);
    double* out = (*centred)[j];
    std::fill(out, out + n_rows_, 0.0);
    const auto& times = risk_sets_->times;
    for (std::size_t first = 0, next; first < times.size(); first = next) {
      for (next = first + 1; next < times.size() && !times[next].opens_stratum;) ++next;
      const Index begin = times[first].begin, end = times[next - 1].end;
      const auto [low, high] = std::minmax_element(x + begin, x + end);
      const double half = (*high - *low) / 2.0, middle = *low + half;
      for (Index m = begin; m < end; ++m) out[m] = x[m] - middle;
      largest = std::max(largest, half);
    }
  }
  X_ = centred;
  rounding_ = std::ldexp(2.0 * largest * risk_sets_->total_weight(), -53);
}

void Data::centre_columns() {
  centre_ = Buffer<double>(n_columns(), 0.0);
  std::shared_ptr<Matrix> centred;
  double largest = 0.0;
  for (Index j = 0; j < n_columns(); ++j) {
    const double* x = column(j);
    const double first = s_[0] * x[0], last = s_[n_kept_ - 1] * x[n_kept_ - 1];
    // Most columns are not far even from their first value to their last.
    if (std::abs(last - first) * (far - 1.0) < std::abs(first)) {
      double low = first, high = first;
      for (Index m = 0; m < n_kept_; ++m) low = std::min(low, s_[m] * x[m]), high = std::max(high, s_[m] * x[m]);
      const double spread = high - low;
      if (spread > 0.0 && std::max(-low, high) > far * spread) {
        if (!centred) centred = std::make_shared<Matrix>(*X_);
        const double centre = centre_[j] = low + spread / 2.0;
        double* out = (*centred)[j];
        for (Index m = 0; m < n_kept_; ++m) out[m] -= s_[m] * centre;
        distance_ = std::max(distance_, std::abs(centre / spread));
      }
    }
    const double* shifted = centred ? (*centred)[j] : x;
    Lanes reach = broadcast(0.0);
    for (Index m = 0; m < n_rows_; m += lane_count) reach += load(weights() + m) * magnitude(load(shifted + m));
    largest = std::max(largest, sum(reach));
  }
  if (centred) X_ = std::move(centred);
  rounding_ = std::ldexp(largest, -53) * std::sqrt(total_weight_);
}

void Data::find_constant_predictors() {
  is_constant_.assign(at(n_predictors()), true);
  for (Index j = 0; j < n_columns(); ++j) {
    const double* x = column(j);
    const auto raw = [&](Index m) { return risk_sets_ ? x[m] : s_[m] * x[m]; };
    bool is_constant = true;
    for (Index m = 0; is_constant && m < n_kept_; ++m) is_constant = raw(m) == raw(0);
    if (!is_constant) is_constant_[at(owner(j))] = false;
  }
}

}  // namespace shortlist
