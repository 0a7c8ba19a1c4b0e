#include "gram.hpp"

#include "deadline.hpp"

namespace shortlist {

namespace {

// Rows and columns of the blocks in which the matrix is computed: a block stays in the cache.
constexpr Index block_rows = 256, block_columns = 16;
// Products that share their loads.
constexpr int tile_rows = 4, tile_columns = 3;
// Columns that are weighted as a whole at a time.
constexpr Index coupled_columns = 64;

/// Inner products of R columns with C others over n padded rows.
template <int R, int C>
inline void tile(const double* const* columns, const double* const* others, Index n, double (&out)[R][C]) {
  Lanes sums[R][C] = {};
  for (Index m = 0; m < n; m += lane_count) {
    Lanes loaded[C];
    for (int c = 0; c < C; ++c) loaded[c] = load(others[c] + m);
    for (int r = 0; r < R; ++r) {
      const Lanes column = load(columns[r] + m);
      for (int c = 0; c < C; ++c) sums[r][c] += column * loaded[c];
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) out[r][c] = sum(sums[r][c]);
  }
}

}  // namespace

Gram::Gram(const Problem& problem, Index max_columns)
    : matrix(max_columns, max_columns),
      mean(max_columns),
      member(max_columns),
      position(problem.n_columns(), -1),
      problem_(problem),
      d_(problem.n_rows(), 0.0),
      e_(problem.is_coupled() ? problem.n_rows() : 0),
      by_time_(problem.n_time_numbers()),
      weighted_(problem.n_rows()),
      block_(block_columns, block_rows),
      coupled_(problem.is_coupled() ? coupled_columns : 0, problem.n_rows()),
      batch_(problem.is_coupled() ? 4 : 0, problem.n_rows()),
      scratch_(8 * problem.data().n_times()) {}

void Gram::update(const Buffer<double>& theta, const CurvatureAt& curvature, const Decisions& decisions,
                  const Buffer<double>& value, const Buffer<double>& price, double worth, double stale) {
  if (is_stale(curvature.d, stale)) reset(curvature);
  Index n = n_columns;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (position[problem_.start(g)] >= 0) continue;
    const bool is_needed = problem_.norm(theta, g) > 0.0 || decisions[g] == Decision::in ||
                           (decisions[g] == Decision::free && value[g] >= worth * price[g]);
    if (!is_needed) continue;
    if (n + problem_.end(g) - problem_.start(g) > member.size()) break;
    for (Index j = problem_.start(g); j < problem_.end(g); ++j) {
      position[j] = n;
      member[n++] = j;
    }
  }
  fill_rows(n_columns, n);
  n_columns = n;
}

bool Gram::is_stale(const double* d, double share) const {
  Lanes change = broadcast(0.0), sum_of_d = change;
  for (Index m = 0; m < problem_.n_rows(); m += lane_count) {
    const Lanes now = load(d + m);
    change += magnitude(now - load(d_.data() + m));
    sum_of_d += now;
  }
  return !(sum(change) <= share * sum(sum_of_d));
}

/// Forget all columns and adopt the curvatures.
void Gram::reset(const CurvatureAt& curvature) {
  for (Index i = 0; i < n_columns; ++i) position[member[i]] = -1;
  n_columns = 0;
  std::copy(curvature.d, curvature.d + d_.size(), d_.begin());
  std::copy(curvature.e, curvature.e + e_.size(), e_.begin());
  std::copy(curvature.by_time, curvature.by_time + by_time_.size(), by_time_.begin());
  const double* s = problem_.intercept_column();
  for (Index m = 0; m < d_.size(); ++m) weighted_[m] = d_[m] * s[m];
  total = total_curvature(problem_, d_);
}

/// Fill rows and columns first to last of the matrix.
void Gram::fill_rows(Index first, Index last) {
  for (Index i = first; i < last; ++i) std::fill(matrix[i], matrix[i] + i + 1, 0.0);
  const Index size = problem_.is_coupled() ? coupled_columns : std::max<Index>(last - first, 1);
  for (Index begin = first; begin < last; begin += size) {
    const Index end = std::min(begin + size, last);
    if (problem_.is_coupled()) weigh(begin, end);
    for (Index row = 0; row < problem_.n_rows(); row += block_rows) add_products(begin, end, row);
  }
  for (Index i = first; i < last; ++i) {
    const double product = dot(problem_.column(member[i]), weighted_.data(), problem_.n_rows());
    mean[i] = product / total;
    for (Index k = 0; k <= i; ++k) matrix[k][i] = matrix[i][k] -= product * mean[k];
  }
}

/// Weigh columns first to last as a whole, as rows are coupled.
void Gram::weigh(Index first, Index last) {
  for (Index i = first; i < last; i += 4) {
    const Index n = std::min<Index>(4, last - i);
    const double* columns[4];
    for (Index c = 0; c < n; ++c) columns[c] = problem_.column(member[i + c]);
    Deadline::check(entries_of(problem_.n_rows(), n));
    problem_.weigh({d_.data(), e_.data(), by_time_.data()}, columns, n, batch_, scratch_.data());
    for (Index c = 0; c < n; ++c) std::copy(batch_[c], batch_[c] + problem_.n_rows(), coupled_[i + c - first]);
  }
}

/// Add to rows first to last of the matrix what a block of the data's rows, from `row` on, contributes.
void Gram::add_products(Index first, Index last, Index row) {
  const Index n_rows = std::min(block_rows, problem_.n_rows() - row);
  for (Index begin = first; begin < last; begin += block_columns) {
    const Index end = std::min(begin + block_columns, last);
    Deadline::check(entries_of(n_rows * block_columns, end));
    for (Index i = begin; i < end && !problem_.is_coupled(); ++i) {
      const double* x = problem_.column(member[i]) + row;
      for (Index m = 0; m < n_rows; m += lane_count) {
        store(block_[i - begin] + m, load(d_.data() + row + m) * load(x + m));
      }
    }
    for (Index k = 0; k < end; k += tile_columns) {
      const Index n_others = std::min<Index>(tile_columns, end - k);
      const double* others[tile_columns];
      for (Index c = 0; c < tile_columns; ++c) {
        others[c] = problem_.column(member[k + (c < n_others ? c : 0)]) + row;
      }
      const Index first_needed = k > begin ? begin + (k - begin) / tile_rows * tile_rows : begin;
      for (Index i = first_needed; i < end; i += tile_rows) {
        const Index n_weighted = std::min<Index>(tile_rows, end - i);
        const double* weighted[tile_rows];
        for (Index r = 0; r < tile_rows; ++r) {
          const Index place = i + (r < n_weighted ? r : 0);
          weighted[r] = problem_.is_coupled() ? coupled_[place - first] + row : block_[place - begin];
        }
        double products[tile_rows][tile_columns];
        tile<tile_rows, tile_columns>(weighted, others, n_rows, products);
        for (Index r = 0; r < n_weighted; ++r) {
          for (Index c = 0; c < n_others && k + c <= i + r; ++c) matrix[i + r][k + c] += products[r][c];
        }
      }
    }
  }
}

}  // namespace shortlist
