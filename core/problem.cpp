#include "problem.hpp"

#include <cmath>

namespace shortlist {

namespace {

constexpr double usual_smoothing = 0.2;

/// Adds columns times numbers to rows, four at a time.
class ColumnSum {
 public:
  ColumnSum(const Problem& problem, double intercept, double* out) : problem_(problem), out_(out) {
    const double* s = problem.intercept_column();
    for (Index m = 0; m < problem.n_rows(); ++m) out[m] = s[m] * intercept;
  }

  void add(Index j, double factor) {
    columns_[count_] = problem_.column(j);
    factors_[count_] = factor;
    if (++count_ == 4) flush();
  }

  void flush() {
    if (count_ == 0) return;
    for (std::size_t c = count_; c < 4; ++c) columns_[c] = columns_[0], factors_[c] = 0.0;
    const auto [x0, x1, x2, x3] = columns_;
    const auto [t0, t1, t2, t3] = factors_;
    for (Index m = 0; m < problem_.n_rows(); m += lane_count) {
      const Lanes first = t0 * load(x0 + m) + t1 * load(x1 + m), second = t2 * load(x2 + m) + t3 * load(x3 + m);
      store(out_ + m, load(out_ + m) + (first + second));
    }
    count_ = 0;
  }

 private:
  const Problem& problem_;
  double* out_;
  std::array<const double*, 4> columns_;
  std::array<double, 4> factors_;
  std::size_t count_ = 0;
};

}  // namespace

Problem::Problem(std::shared_ptr<const Data> rows, double strength, FamilyKind kind, const double* given_lower,
                 const double* given_upper)
    : ridge(strength),
      family(kind),
      lower(rows->n_columns(), -infinity),
      upper(rows->n_columns(), infinity),
      data_(std::move(rows)) {
  if (given_lower != nullptr && given_upper != nullptr) {
    const auto& columns = data_->table()->columns();
    for (Index j = 0; j < n_columns(); ++j) {
      lower[j] = given_lower[columns[static_cast<std::size_t>(j)]];
      upper[j] = given_upper[columns[static_cast<std::size_t>(j)]];
      is_limited = is_limited || lower[j] > -infinity || upper[j] < infinity;
    }
  }
  if ((family == FamilyKind::cox) != is_coupled()) throw std::invalid_argument("family: 'cox' goes with times.");
  with_family(family, [&](auto chosen) {
    is_curved = chosen.is_curved, is_bent = chosen.is_bent;
    balance = chosen.balance, furthest = chosen.furthest;
    smoothing = is_bent ? usual_smoothing : 0.0;
    least_loss = chosen.least_loss(rows_at(nullptr, smoothing));
    unit = chosen.unit(rows_at(nullptr, smoothing));
    const NullModel model = chosen.null_model(rows_at(nullptr, smoothing));
    null_intercept = model.intercept, null_objective = model.objective;
  });
  if (!(std::abs(null_intercept) < infinity)) {
    throw std::invalid_argument("weights: the outcomes of the rows that count have no model without coefficients.");
  }
}

double Problem::norm(const Buffer<double>& theta, Index g) const {
  if (has_one_column(g)) return std::abs(theta[start(g)]);
  double total = 0.0;
  for (Index j = start(g); j < end(g); ++j) total += theta[j] * theta[j];
  return std::sqrt(total);
}

void Problem::linear_predictor(const Buffer<double>& theta, double intercept, double* u) const {
  ColumnSum sum(*this, intercept, u);
  for (Index j = 0; j < n_columns(); ++j) {
    if (theta[j] != 0.0) sum.add(j, theta[j]);
  }
  sum.flush();
}

void Problem::weigh(const CurvatureAt& curvature, const double* const* x, Index n, Matrix& out, double* scratch) const {
  if (is_coupled()) {
    std::array<const double*, 4> columns;
    for (Index c = 0; c < 4; ++c) columns[static_cast<std::size_t>(c)] = x[c < n ? c : 0];
    Cox::weigh<4>(*data_->risk_sets(), curvature, columns, {out[0], out[1], out[2], out[3]}, scratch);
    return;
  }
  for (Index c = 0; c < n; ++c) {
    double* weighted = out[c];
    for (Index m = 0; m < n_rows(); m += lane_count) store(weighted + m, load(curvature.d + m) * load(x[c] + m));
  }
}

void Problem::add_columns(const Index* columns, const double* step, Index n, double intercept, double* t) const {
  ColumnSum sum(*this, intercept, t);
  for (Index i = 0; i < n; ++i) sum.add(columns[i], step[i]);
  sum.flush();
}

}  // namespace shortlist
