#include "cholesky.hpp"

#include <cmath>

#include "deadline.hpp"
#include "lanes.hpp"

namespace shortlist {

namespace {

// A pivot that lost this many digits means that a column depends on earlier ones.
constexpr double smallest_pivot = 1e-14;
// From this row on, the deadline is looked at.
constexpr Index late_row = 128;

/// Inner products of R rows with C others over n values at any address.
template <int R, int C>
inline void tile(const double* const* rows, const double* const* others, Index n, double (&out)[R][C]) {
  Lanes sums[R][C] = {};
  Index k = 0;
  for (; k + lane_count <= n; k += lane_count) {
    Lanes loaded[C];
    for (int c = 0; c < C; ++c) loaded[c] = load_unaligned(others[c] + k);
    for (int r = 0; r < R; ++r) {
      const Lanes row = load_unaligned(rows[r] + k);
      for (int c = 0; c < C; ++c) sums[r][c] += row * loaded[c];
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) {
      double rest = 0.0;
      for (Index i = k; i < n; ++i) rest += rows[r][i] * others[c][i];
      out[r][c] = sum(sums[r][c]) + rest;
    }
  }
}

/// Replace R rows from `row` on by rows of the factor; the rows before them have been replaced already.
template <int R>
bool factorise_rows(Matrix& matrix, Index row) {
  double* rows[R];
  for (int r = 0; r < R; ++r) rows[r] = matrix[row + r];
  // Columns before the block, four at a time, then one by one.
  Index j = 0;
  for (; j + 4 <= row; j += 4) {
    const double* others[4] = {matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]};
    double products[R][4];
    tile<R, 4>(rows, others, j, products);
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < 4; ++c) {
        double t = rows[r][j + c] - products[r][c];
        for (int k = 0; k < c; ++k) t -= rows[r][j + k] * others[c][j + k];
        rows[r][j + c] = t * others[c][j + c];
      }
    }
  }
  for (; j < row; ++j) {
    const double* other = matrix[j];
    for (int r = 0; r < R; ++r) rows[r][j] = (rows[r][j] - short_dot(rows[r], other, j)) * other[j];
  }
  // The block itself.
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < r; ++c) {
      const Index column = row + c;
      rows[r][column] = (rows[r][column] - short_dot(rows[r], rows[c], column)) * rows[c][column];
    }
    double& diagonal = rows[r][row + r];
    const double pivot = diagonal - short_dot(rows[r], rows[r], row + r);
    if (!(pivot > smallest_pivot * diagonal)) return false;
    diagonal = 1.0 / std::sqrt(pivot);
  }
  return true;
}

}  // namespace

bool factorise(Matrix& matrix, Index first, Index n) {
  Index row = first;
  for (; row + 4 <= n; row += 4) {
    if (row >= late_row) Deadline::check(4.0 * entries_of(row, row));
    if (!factorise_rows<4>(matrix, row)) return false;
  }
  for (; row < n; ++row) {
    if (!factorise_rows<1>(matrix, row)) return false;
  }
  return true;
}

void forward(const Matrix& factor, Index first, Index n, double* b) {
  for (Index i = first; i < n; ++i) b[i] = (b[i] - short_dot(factor[i], b, i)) * factor[i][i];
}

void backward(const Matrix& factor, Index n, double* b) {
  for (Index i = n - 1; i >= 0; --i) {
    const double* row = factor[i];
    const double t = b[i] *= row[i];
    for (Index k = 0; k < i; ++k) b[k] -= row[k] * t;
  }
}

}  // namespace shortlist
