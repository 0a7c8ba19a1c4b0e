#include "data.hpp"

#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "lanes.hpp"

namespace shortlist {

namespace {

constexpr double far = 32.0;  // spreads from zero at which a column is centred

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

template <class T>
Table::Table(const Given<T>& given, const double* signs, const std::int64_t* owner, Index n_predictors)
    : columns_(at(given.n_columns)),
      start_(at(n_predictors + 1)),
      owner_(at(given.n_columns)),
      rows_(at(given.n_rows)),
      place_(at(given.n_rows)) {
  std::iota(columns_.begin(), columns_.end(), 0);
  std::stable_sort(columns_.begin(), columns_.end(), [&](Index i, Index j) { return owner[i] < owner[j]; });
  for (Index j = 0; j < given.n_columns; ++j) {
    owner_[at(j)] = owner[columns_[at(j)]];
    start_[at(owner_[at(j)]) + 1] = j + 1;
  }
  for (std::size_t g = 1; g < start_.size(); ++g) start_[g] = std::max(start_[g], start_[g - 1]);
  std::iota(rows_.begin(), rows_.end(), 0);
  const auto negatives = std::stable_partition(rows_.begin(), rows_.end(), [&](Index m) { return signs[m] > 0.0; });
  n_positive_given_ = n_positive_ = negatives - rows_.begin();
  n_negative_ = given.n_rows - n_positive_;
  pack(given, signs);
  merge_rows();
}

template <class T>
void Table::pack(const Given<T>& given, const double* signs) {
  const Index n_positive = padded(n_positive_), n_rows = n_positive + padded(n_negative_);
  X_ = std::make_shared<Matrix>(given.n_columns, n_rows);
  Matrix& X = *X_;
  const auto place = [&](Index m) { return m < n_positive_ ? m : m - n_positive_ + n_positive; };
  const auto entry = [&](Index m, Index j) {
    const Index row = rows_[at(m)];
    return -signs[row] * static_cast<double>(given.values[row * given.row_step + columns_[at(j)] * given.column_step]);
  };
  if (std::abs(given.row_step) >= std::abs(given.column_step)) {  // read memory in its order
    for (Index m = 0; m < given.n_rows; ++m) {
      for (Index j = 0; j < given.n_columns; ++j) X[j][place(m)] = entry(m, j);
    }
  } else {
    for (Index j = 0; j < given.n_columns; ++j) {
      for (Index m = 0; m < given.n_rows; ++m) X[j][place(m)] = entry(m, j);
    }
  }
  for (Index j = 0; j < given.n_columns; ++j) {
    std::fill(X[j] + n_positive_, X[j] + n_positive, 0.0);
    std::fill(X[j] + n_positive + n_negative_, X[j] + n_rows, 0.0);
  }
}

bool Table::are_equal(Index row, Index other) const {
  for (Index j = 0; j < n_columns(); ++j) {
    if ((*X_)[j][row] != (*X_)[j][other]) return false;
  }
  return true;
}

// Rows are found by a hash table on a weighted sum of their entries, which is computed in the same order for every
// row, so that equal rows have equal sums. Then they are compared in full.
void Table::merge_rows() {
  const Index n_rows = X_->n_columns(), n_positive = padded(n_positive_);
  Buffer<double> sums(n_rows, 0.0);
  for (Index j = 0; j < n_columns(); ++j) {
    const double* x = (*X_)[j];
    const double scale = 1.0 + std::fmod(static_cast<double>(j) * 0.6180339887498949, 1.0);
    for (Index m = 0; m < n_rows; ++m) sums[m] += scale * x[m];
  }
  std::size_t size = 16;
  while (size < 2 * at(n_rows)) size *= 2;
  std::vector<Index> slots(size);
  std::vector<Index> kept;  // the row of X of each place, by class
  const auto merge_class = [&](Index first, Index count, Index first_given) {
    std::fill(slots.begin(), slots.end(), -1);
    const Index n_before = static_cast<Index>(kept.size());
    for (Index m = first; m < first + count; ++m) {
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
      place_[at(first_given + m - first)] = found;
    }
    return static_cast<Index>(kept.size()) - n_before;
  };
  const Index positive_kept = merge_class(0, n_positive_, 0);
  const Index negative_kept = merge_class(n_positive, n_negative_, n_positive_);
  // Places become rows of X, which has padding between the classes.
  const Index shift = padded(positive_kept) - positive_kept;
  for (Index& place : place_) place += place < positive_kept ? 0 : shift;
  if (positive_kept == n_positive_ && negative_kept == n_negative_) return;
  auto merged = std::make_shared<Matrix>(n_columns(), padded(positive_kept) + padded(negative_kept));
  for (Index j = 0; j < n_columns(); ++j) {
    const double* x = (*X_)[j];
    double* out = (*merged)[j];
    std::fill(out, out + merged->n_columns(), 0.0);
    for (Index k = 0; k < positive_kept + negative_kept; ++k) out[k < positive_kept ? k : k + shift] = x[kept[at(k)]];
  }
  X_ = std::move(merged);
  n_positive_ = positive_kept;
  n_negative_ = negative_kept;
}

template Table::Table(const Given<double>&, const double*, const std::int64_t*, Index);
template Table::Table(const Given<float>&, const double*, const std::int64_t*, Index);

Data::Data(std::shared_ptr<const Table> table, const double* weights) : table_(std::move(table)) {
  weigh(weights);
  centre_columns();
  find_constant_predictors();
}

// Rows come in the order of the first given row that counts, as if the others were not there.
void Data::weigh(const double* weights) {
  const Table& table = *table_;
  const Index n_table_rows = table.X_->n_columns();
  std::vector<Index> position(at(n_table_rows), -1), kept;
  std::vector<double> totals;
  for (Index m = 0; m < table.n_given_rows(); ++m) {
    const double weight = weights[table.rows_[at(m)]];
    if (!(weight > 0.0)) continue;
    Index& place = position[at(table.place_[at(m)])];
    if (place >= 0) {
      totals[at(place)] += weight;
    } else {
      place = static_cast<Index>(kept.size());
      kept.push_back(table.place_[at(m)]);
      totals.push_back(weight);
      ++(m < table.n_positive_given_ ? n_positive_kept_ : n_negative_kept_);
    }
  }
  if (n_positive_kept_ == 0 || n_negative_kept_ == 0) {
    throw std::invalid_argument("weights: both classes need rows of weight above 0.");
  }
  n_positive_ = padded(n_positive_kept_);
  n_rows_ = n_positive_ + padded(n_negative_kept_);
  const auto row_of = [&](Index k) { return k < n_positive_kept_ ? k : k - n_positive_kept_ + n_positive_; };
  w_ = Buffer<double>(n_rows_, 0.0);
  bool is_whole = n_rows_ == n_table_rows;
  for (Index k = 0; k < static_cast<Index>(kept.size()); ++k) {
    w_[row_of(k)] = totals[at(k)];
    is_whole = is_whole && kept[at(k)] == row_of(k);
  }
  if (is_whole) {
    X_ = table.X_;
  } else {
    auto X = std::make_shared<Matrix>(n_columns(), n_rows_);
    for (Index j = 0; j < n_columns(); ++j) {
      const double* x = (*table.X_)[j];
      double* out = (*X)[j];
      std::fill(out, out + n_rows_, 0.0);
      for (Index k = 0; k < static_cast<Index>(kept.size()); ++k) out[row_of(k)] = x[kept[at(k)]];
    }
    X_ = std::move(X);
  }
  positive_weight_ = total_of(w_.data(), n_positive_);
  negative_weight_ = total_of(w_.data() + n_positive_, n_rows_ - n_positive_);
  if (!(positive_weight_ + negative_weight_ < infinity)) throw std::invalid_argument("weights: must be finite.");
}

void Data::centre_columns() {
  centre_ = Buffer<double>(n_columns(), 0.0);
  std::shared_ptr<Matrix> centred;
  double largest = 0.0;
  for (Index j = 0; j < n_columns(); ++j) {
    const double* x = column(j);
    const double first = -x[0], last = x[n_positive_ + n_negative_kept_ - 1];
    // Most columns are not far even from their first value to their last.
    if (std::abs(last - first) * (far - 1.0) < std::abs(first)) {
      double low = first, high = first;
      for (Index m = 0; m < n_positive_kept_; ++m) low = std::min(low, -x[m]), high = std::max(high, -x[m]);
      for (Index m = n_positive_; m < n_positive_ + n_negative_kept_; ++m) {
        low = std::min(low, x[m]), high = std::max(high, x[m]);
      }
      const double spread = high - low;
      if (spread > 0.0 && std::max(-low, high) > far * spread) {
        if (!centred) centred = std::make_shared<Matrix>(*X_);
        const double centre = centre_[j] = low + spread / 2.0;
        double* out = (*centred)[j];
        for (Index m = 0; m < n_positive_kept_; ++m) out[m] += centre;
        for (Index m = n_positive_; m < n_positive_ + n_negative_kept_; ++m) out[m] -= centre;
        distance_ = std::max(distance_, std::abs(centre / spread));
      }
    }
    const double* shifted = centred ? (*centred)[j] : x;
    Lanes reach = broadcast(0.0);
    for (Index m = 0; m < n_rows_; m += lane_count) reach += load(weights() + m) * magnitude(load(shifted + m));
    largest = std::max(largest, sum(reach));
  }
  if (centred) X_ = std::move(centred);
  rounding_ = std::ldexp(largest, -53) * std::sqrt(positive_weight_ + negative_weight_);
}

void Data::find_constant_predictors() {
  is_constant_.assign(at(n_predictors()), true);
  for (Index j = 0; j < n_columns(); ++j) {
    const double* x = column(j);
    const double first = -x[0];
    bool is_constant = true;
    for (Index m = 0; is_constant && m < n_positive_kept_; ++m) is_constant = -x[m] == first;
    for (Index m = n_positive_; is_constant && m < n_positive_ + n_negative_kept_; ++m) is_constant = x[m] == first;
    if (!is_constant) is_constant_[at(owner(j))] = false;
  }
}

}  // namespace shortlist
