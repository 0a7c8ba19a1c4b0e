// The rows of a problem as the search reads them.
//
// Rows are stored with the factor s of their response: column j holds s_m x_mj and the column of the intercept s_m, so
// that u = X theta + s theta_0. With two classes s is -1 for positive rows and +1 for negative ones, so that u is minus
// the margin, else 1. Rows that are equal, outcome included, are merged, and padded to a multiple of four with rows of
// 0. Columns are ordered by predictor: predictor g owns columns start[g] to start[g + 1].
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "memory.hpp"
#include "risk_sets.hpp"

namespace shortlist {

/// The state of a predictor at a node.
enum class Decision : std::int8_t { free, in, out };
using Decisions = Buffer<Decision>;

/// A table of numbers in any layout, as it is given.
template <class T>
struct Given {
  const T* values;
  Index n_rows, n_columns;
  Index row_step, column_step;
};

/// What each given row has beside its features.
struct Outcomes {
  const double* factor;  // of the row, -1 or 1
  const double* value;   // what its loss needs to know; 0 where the factor says it all
};

/// When given rows are at risk, if they have times; their outcome is 1 with an event, else 0.
struct Times {
  const std::int64_t* block;  // of `RiskSets`, from 0 on through all strata; -1 for rows that are never at risk
  const std::int64_t* stratum;
  bool is_efron;
};

/// Features, outcomes and groups, without weights.
class Table {
 public:
  /// `owner` is the predictor of each given column.
  template <class T>
  Table(const Given<T>& given, const Outcomes& outcomes, const std::optional<Times>& times, const std::int64_t* owner,
        Index n_predictors);

  Index n_columns() const { return static_cast<Index>(columns_.size()); }
  Index n_predictors() const { return static_cast<Index>(start_.size()) - 1; }
  Index n_given_rows() const { return static_cast<Index>(place_.size()); }
  /// The given column at each place.
  const std::vector<Index>& columns() const { return columns_; }

 private:
  friend class Data;

  template <class T>
  void pack(const Given<T>& given);
  void merge_rows();
  bool are_equal(Index row, Index other) const;

  std::vector<Index> columns_;
  std::vector<Index> start_, owner_;
  std::vector<Index> place_;  // of each given row among the rows of X
  Buffer<double> s_, y_;      // of the rows of X, with padding
  // Of the rows of X, if they have times.
  bool has_times_ = false, is_efron_ = false;
  std::vector<std::int64_t> block_, stratum_;
  std::shared_ptr<Matrix> X_;  // a row per column
};

/// A table with weights: the rows that count. Columns far from zero are centred; with times all are, in each stratum.
class Data {
 public:
  Data(std::shared_ptr<const Table> table, const double* weights);

  const std::shared_ptr<const Table>& table() const { return table_; }
  Index n_rows() const { return n_rows_; }
  Index n_columns() const { return table_->n_columns(); }
  Index n_predictors() const { return table_->n_predictors(); }
  const double* column(Index j) const { return (*X_)[j]; }
  const double* weights() const { return w_.data(); }
  const double* intercept_column() const { return s_.data(); }
  const double* outcomes() const { return y_.data(); }
  /// Of rows with times, which come in its order.
  const RiskSets* risk_sets() const { return risk_sets_ ? &*risk_sets_ : nullptr; }
  /// How many times there are at which rows have an event.
  Index n_times() const { return risk_sets_ ? risk_sets_->n_times() : 0; }
  Index start(Index g) const { return table_->start_[static_cast<std::size_t>(g)]; }
  Index owner(Index j) const { return table_->owner_[static_cast<std::size_t>(j)]; }
  double total_weight() const { return total_weight_; }

  /// What was taken off each column: 0, unless it is far from zero.
  const Buffer<double>& centre() const { return centre_; }
  /// How far these columns are from zero, in spreads, at most.
  double distance() const { return distance_; }
  /// How much rounding may change a bound at a ridge of 1, at most.
  double rounding() const { return rounding_; }
  /// Whether all columns of a predictor are constant: it is not worth buying.
  bool is_constant(Index g) const { return is_constant_[static_cast<std::size_t>(g)]; }

 private:
  void weigh(const double* weights);
  std::vector<Index> order_by_time(const std::vector<Index>& kept) const;
  void find_risk_sets(const std::vector<Index>& kept, const std::vector<Index>& n_given);
  void centre_columns();
  void centre_strata();
  void find_constant_predictors();

  std::shared_ptr<const Table> table_;
  std::shared_ptr<const Matrix> X_;
  Buffer<double> w_, s_, y_;
  std::optional<RiskSets> risk_sets_;
  Index n_rows_ = 0, n_kept_ = 0;  // with padding and without
  double total_weight_ = 0.0;
  Buffer<double> centre_;
  double distance_ = 0.0, rounding_ = 0.0;
  std::vector<bool> is_constant_;
};

}  // namespace shortlist
