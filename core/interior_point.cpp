#include "interior_point.hpp"

#include <cmath>
#include <limits>

#include "cholesky.hpp"

namespace shortlist {

namespace {

// Relative accuracy of fits. A band narrow enough for more is so narrow that the a of a model depends on the last
// digits of its coefficients, which no proof could rest on.
constexpr double finest = 1e-7, narrowest_band = 1e-7;
// The width of a band like mu, relative to it: a has the same slope in the middle of both.
constexpr double band_of_mu = 8.0;
constexpr int max_steps = 60;
// How far a step goes towards the first row that reaches a limit.
constexpr double step_share = 0.995;
// The least gap that is of use to the end, relative to the accuracy of fits.
constexpr double close_gap = 1e-3;
// A step that lowers mu by less is the last: rounding does not let it be lower.
constexpr double least_progress = 0.99;
// What a careful step lowers mu to, of mu.
constexpr double careful = 0.3;
constexpr int max_corrections = 12, max_halvings = 20;
// Relative gaps that will do for a coarse fit, and when nothing better is to be had.
constexpr double coarse_gap = 0.1, last_gap = 5e-7;
// Where many rows meet at the kink, a wider band may succeed where the narrowest has not; that one is the last resort.
constexpr int max_ends = 4;
constexpr double widening = 10.0;

double hinge_loss(const Problem& problem, const double* u) {
  Lanes total = broadcast(0.0);
  for (Index m = 0; m < problem.n_rows(); m += lane_count) {
    total += load(problem.weights() + m) * most(1.0 + load(u + m), broadcast(0.0));
  }
  return sum(total);
}

/// The a, x and p of the rows, and their changes.
class InteriorPoint {
 public:
  InteriorPoint(Fit& fit, Index n)
      : fit_(fit),
        problem_(fit.problem()),
        n_(n),
        a(problem_.n_rows(), 0.5),
        x(problem_.n_rows(), 2.0),
        p(problem_.n_rows(), 1.0),
        da(problem_.n_rows(), 0.0),
        dx(problem_.n_rows(), 0.0),
        dp(problem_.n_rows(), 0.0),
        ds(problem_.n_rows()),
        best_theta_(problem_.n_columns()) {}

  FitScore solve(double cutoff, double tolerance, bool is_coarse);
  FitScore better_of(const FitScore& score, double cutoff);

 private:
  double weigh();
  double complementarity(double length) const;
  void linearise(double mu, double second);
  double direction(double total, double mu, double second);
  double longest() const;
  void advance(double length);
  FitScore end(double intercept, double smoothing, double cutoff, double tolerance);
  void choose_band(double smoothing);

  Fit& fit_;
  const Problem& problem_;
  Index n_;
  Buffer<double> a, x, p, da, dx, dp, ds;
  Buffer<double> best_theta_;  // of the best model on the way
  double best_intercept_ = 0.0, best_objective_ = infinity;
};

FitScore InteriorPoint::solve(double cutoff, double tolerance, bool is_coarse) {
  Rows& rows = fit_.rows;
  Buffer<double>& theta = fit_.theta;
  const Buffer<Index>& columns = fit_.hessian.columns;
  tolerance = std::max(tolerance, finest);
  theta.fill(0.0);
  double intercept = 0.0;
  Buffer<double> held(n_);
  const double weight = total_of(problem_.weights(), problem_.n_rows());
  double last_mu = infinity;
  bool is_careful = false;
  for (int trial = 0; trial < max_steps; ++trial) {
    // 1. Objective and bound; a model with that bound, if it is good enough.
    problem_.linear_predictor(theta, intercept, rows.u.data());
    const double objective = hinge_loss(problem_, rows.u.data()) + 0.5 * problem_.ridge * fit_.squares(n_);
    if (objective < best_objective_) {
      best_theta_.copy(theta);
      best_intercept_ = intercept, best_objective_ = objective;
    }
    const double entropy = weigh();
    const double bound = entropy - evaluate_columns(problem_, rows, columns.data(), n_, fit_.gradient);
    const double mu = complementarity(0.0) / (2.0 * weight);
    const double gap = objective - bound;
    const bool is_near = gap <= tolerance * objective || (is_coarse && band_of_mu * mu <= problem_.smoothing);
    const bool is_last =
        trial == max_steps - 1 || !(gap > close_gap * finest * objective) || (is_near && mu > least_progress * last_mu);
    is_careful = is_careful || mu > least_progress * last_mu;
    last_mu = mu;
    if (bound >= cutoff || is_near || is_last) {
      for (Index i = 0; i < n_; ++i) held[i] = theta[columns[i]];
      const double narrowest = std::max(band_of_mu * mu, narrowest_band);
      double enough = is_coarse ? coarse_gap : tolerance;
      if (is_last) enough = std::max(enough, last_gap);
      const int n_ends = is_last ? max_ends : 1;
      for (int trial_end = 0; trial_end < n_ends; ++trial_end) {
        const bool is_last_resort = trial_end == max_ends - 1;
        const double smoothing = is_last_resort ? narrowest : narrowest * std::pow(widening, trial_end);
        const FitScore score = end(intercept, smoothing, cutoff, tolerance);
        const bool is_enough = score.bound >= cutoff || score.objective - score.bound <= enough * score.objective;
        if (is_enough || (is_last && is_last_resort)) return score;
        for (Index i = 0; i < n_; ++i) theta[columns[i]] = held[i];
        problem_.linear_predictor(theta, intercept, rows.u.data());
      }
    }
    // 2. The step to mu = 0 says how far mu can be lowered; then the step to that. Its products may lead in a circle:
    //    once mu is not lowered, steps are those to a share of mu, without them.
    linearise(0.0, 0.0);
    const double total = total_of(rows.d.data(), problem_.n_rows());
    fit_.hessian.fill(problem_, rows.curvature(), n_, total);
    double step = std::numeric_limits<double>::quiet_NaN();
    if (factorise(fit_.hessian.matrix, 0, n_)) step = direction(total, 0.0, 0.0);
    if (!(std::abs(step) < infinity)) return end(intercept, narrowest_band, cutoff, tolerance);
    const double ahead = complementarity(longest()) / (2.0 * weight);
    const double goal = mu * (is_careful ? careful : std::pow(ahead / mu, 3)), second = is_careful ? 0.0 : 1.0;
    linearise(goal, second);
    step = direction(total, goal, second);
    const double length = std::min(1.0, step_share * longest());
    advance(length);
    for (Index i = 0; i < n_; ++i) theta[columns[i]] += length * fit_.hessian.step[i];
    intercept += length * step;
  }
  return {intercept, infinity, -infinity};
}

/// The score, or the best model's score on the way if it is better by far: rounding may lead the end astray.
FitScore InteriorPoint::better_of(const FitScore& score, double cutoff) {
  if (score.objective <= best_objective_ * (1.0 + last_gap) || score.bound >= cutoff) return score;
  Rows& rows = fit_.rows;
  fit_.theta.copy(best_theta_);
  problem_.linear_predictor(fit_.theta, best_intercept_, rows.u.data());
  const Evaluation here = evaluate_rows(problem_, rows, best_intercept_, 1.0);
  const double bound = here.entropy - evaluate_columns(problem_, rows, fit_.hessian.columns.data(), n_, fit_.gradient);
  const double penalty = 0.5 * problem_.ridge * fit_.squares(n_);
  return {here.intercept, hinge_loss(problem_, rows.u.data()) + penalty, bound};
}

/// Fill q = w a and the dual point near it; return its entropy.
double InteriorPoint::weigh() {
  Rows& rows = fit_.rows;
  const RowsAt at = problem_.rows_at(rows.u.data(), 0.0);
  ClassSum mass;
  for (Index m = 0; m < at.n; m += lane_count) {
    const Lanes q = load(at.w + m) * load(a.data() + m);
    store(rows.q.data() + m, q);
    mass.add(load(at.s + m) < 0.0, q);
  }
  return balance_classes(at, mass.total(), mass.total(), rows.q.data(), rows.dual.data());
}

/// Twice mu, times the weights, at the end of a step of this length.
double InteriorPoint::complementarity(double length) const {
  Lanes total = broadcast(0.0);
  for (Index m = 0; m < problem_.n_rows(); m += lane_count) {
    const Lanes b = load(a.data() + m) + length * load(da.data() + m);
    total += load(problem_.weights() + m) * (b * (load(p.data() + m) + length * load(dp.data() + m)) +
                                             (1.0 - b) * (load(x.data() + m) + length * load(dx.data() + m)));
  }
  return sum(total);
}

// Fill q and d with w (a + e) and w c, where the step changes a by c ds + e. That follows from a dp + p da = mu - a p
// and (1 - a) dx - x da = mu - (1 - a) x, with dp = dx - ds. With second = 1 the products of the last step are taken
// off the right-hand sides.
void InteriorPoint::linearise(double mu, double second) {
  Rows& rows = fit_.rows;
  for (Index m = 0; m < problem_.n_rows(); ++m) {
    const double w = problem_.weights()[m], b = 1.0 - a[m];
    const double one = mu - a[m] * p[m] - second * da[m] * dp[m];
    const double other = mu - b * x[m] + second * da[m] * dx[m];
    const double scale = w / (b * p[m] + a[m] * x[m]);
    rows.d[m] = scale * a[m] * b;
    rows.q[m] = w * a[m] + scale * (b * one - a[m] * other);
  }
}

/// Fill hessian.step and the changes of the rows; return the step of the intercept.
double InteriorPoint::direction(double total, double mu, double second) {
  Hessian& hessian = fit_.hessian;
  const double* q = fit_.rows.q.data();
  const double mismatch = mismatch_of(problem_, q);
  for (Index i = 0; i < n_; ++i) {
    const Index j = hessian.columns[i];
    const double slope = column_slope(problem_, j, q) - mismatch * hessian.mean[i];
    hessian.step[i] = -(slope + problem_.ridge * fit_.theta[j]);
  }
  substitute(hessian.matrix, n_, hessian.step.data());
  const double step = hessian.intercept_step(hessian.step.data(), n_, mismatch, total);
  problem_.add_columns(hessian.columns.data(), hessian.step.data(), n_, step, ds.data());
  for (Index m = 0; m < problem_.n_rows(); ++m) {
    const double b = 1.0 - a[m];
    const double one = mu - a[m] * p[m] - second * da[m] * dp[m];
    const double other = mu - b * x[m] + second * da[m] * dx[m];
    // Not from w (a + e), whose rounding would be as large as a's.
    da[m] = (a[m] * b * ds[m] + b * one - a[m] * other) / (b * p[m] + a[m] * x[m]);
    dx[m] = (other + x[m] * da[m]) / b;
    dp[m] = dx[m] - ds[m];
  }
  return step;
}

/// The share of the step at which the first a, 1 - a, x or p reaches 0, at most 1.
double InteriorPoint::longest() const {
  double ratio = 1.0;
  for (Index m = 0; m < problem_.n_rows(); ++m) {
    if (problem_.weights()[m] == 0.0) continue;  // padding
    ratio = std::max({ratio, -da[m] / a[m], da[m] / (1.0 - a[m]), -dx[m] / x[m], -dp[m] / p[m]});
  }
  return 1.0 / ratio;
}

void InteriorPoint::advance(double length) {
  for (Index m = 0; m < problem_.n_rows(); ++m) {
    if (problem_.weights()[m] == 0.0) continue;  // padding
    a[m] += length * da[m];
    x[m] += length * dx[m];
    p[m] += length * dp[m];
  }
}

// Make theta the optimum on a band. On it are the rows of which neither a nor 1 - a is going to 0, by what goes
// with them.
FitScore InteriorPoint::end(double intercept, double smoothing, double cutoff, double tolerance) {
  Rows& rows = fit_.rows;
  rows.smoothing = smoothing;
  choose_band(smoothing);
  evaluate_columns(problem_, rows, fit_.hessian.columns.data(), n_, fit_.gradient);
  double smoothed = infinity, objective = infinity, bound = -infinity;
  NewtonStep step = fit_.find_step(n_, mismatch_of(problem_, rows.q.data()));
  for (int correction = 0; correction < max_corrections && step.exists; ++correction) {
    const double last_intercept = intercept;
    intercept = fit_.take_step(n_, intercept, step.intercept);
    Evaluation here{};
    double penalty = 0.0;
    for (int halving = 0; halving < max_halvings; ++halving) {
      here = evaluate_rows(problem_, rows, intercept, 1.0);
      intercept = here.intercept;
      penalty = 0.5 * problem_.ridge * fit_.squares(n_);
      if (here.loss + penalty <= smoothed || halving == max_halvings - 1) break;
      intercept = fit_.halve_step(n_, intercept, last_intercept);
    }
    smoothed = here.loss + penalty;
    objective = hinge_loss(problem_, rows.u.data()) + penalty;
    bound = here.entropy - evaluate_columns(problem_, rows, fit_.hessian.columns.data(), n_, fit_.gradient);
    if (bound >= cutoff || objective - bound <= tolerance * objective) break;
    step = fit_.find_step(n_, here.mismatch);
  }
  return {intercept, objective, bound};
}

/// Fill q and d as if the rows were on the band, or beyond it, that belong there.
void InteriorPoint::choose_band(double smoothing) {
  Rows& rows = fit_.rows;
  for (Index m = 0; m < problem_.n_rows(); ++m) {
    const double w = problem_.weights()[m];
    const bool is_on_band = a[m] > p[m] && 1.0 - a[m] > x[m];
    rows.d[m] = is_on_band ? w / smoothing : 0.0;
    rows.q[m] = is_on_band ? w * (1.0 + rows.u[m]) / smoothing : a[m] > 0.5 ? w : 0.0;
  }
}

}  // namespace

FitScore fit_hinge(Fit& fit, Index n, double cutoff, double tolerance, bool is_coarse) {
  InteriorPoint point(fit, n);
  return point.better_of(point.solve(cutoff, tolerance, is_coarse), cutoff);
}

}  // namespace shortlist
