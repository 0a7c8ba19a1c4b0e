#include "relaxation.hpp"

#include <cmath>

namespace shortlist {

namespace {

constexpr int max_steps = 60, max_halvings = 5;
// A step that improves primal value and bound by less, relatively, is idle; after a few rounding lets nothing improve.
constexpr double idle = 1e-10;
constexpr int max_idle_steps = 3;
// No model that is worth its loss has a linear predictor beyond this, where exp(-u) is a number.
constexpr double furthest = 600.0, tiny = 1e-100;
// How well the classes' dual mass is balanced before the rest is scaled away.
constexpr double class_balance = 1e-4;
// The bound of a point is loose when it is below its primal value by this share.
constexpr double loose = 0.05;
// The curvatures of the model are renewed when they are off by this share of their total; by less where there are fewer
// rows, as the Gram matrix then takes less of the time.
constexpr double largest_stale = 0.2, stale_of_row = 2e-4;
// After this many steps the curvatures are renewed at each: stale ones make convergence linear.
constexpr int usual_steps = 4;
// A predictor enters the working set when it is worth this share of its price.
constexpr double worth_entering = 0.9;
// Accuracy of the fit that bounds a node at which everything is affordable.
constexpr double all_bought = 1e-6;

void average(Buffer<double>& values, const Buffer<double>& others) {
  for (Index i = 0; i < values.size(); ++i) values[i] = 0.5 * (values[i] + others[i]);
}

double more_cautious(double caution) { return caution == 0.0 ? 0.01 : std::min(1.0, 10.0 * caution); }
double less_cautious(double caution) { return caution > 1e-4 ? 0.2 * caution : 0.0; }

/// Whether no row is further out on the wrong side than numbers reach.
bool is_moderate(const Problem& problem, const Buffer<double>& u) {
  for (Index m = 0; m < u.size(); ++m) {
    if (problem.weights()[m] > 0.0 && !(u[m] <= furthest && u[m] > -1.0 / tiny)) return false;
  }
  return true;
}

}  // namespace

Relaxation::Relaxation(const Problem& problem, Index max_columns)
    : rows(problem),
      values(problem.n_predictors()),
      model(problem, max_columns),
      z(problem.n_predictors()),
      problem_(problem),
      stale_(std::min(largest_stale, stale_of_row * static_cast<double>(problem.n_rows()))),
      u_old_(problem.n_rows()),
      theta_old_(problem.n_columns()),
      moved_(problem),
      safe_d_(problem.n_rows()),
      bought_(problem.n_predictors()) {}

// A Newton step at a point whose rows have next to no curvature goes anywhere. So a step must not raise the primal
// value of the relaxation: it is halved, towards the model without coefficients if it started outside the node. If that
// does not help, the next quadratic model has curvatures that bound the loss from above, whose minimum cannot be worse.
NodeBound Relaxation::relax(Oracle& oracle, const Decisions& decisions, const Remaining& remaining, double intercept,
                            double mu, double cutoff, bool is_evaluated) {
  Buffer<double>& theta = model.theta;
  rows.smoothing = problem_.smoothing;
  if (!is_evaluated) problem_.linear_predictor(theta, intercept, rows.u.data());
  bool inside = is_inside(decisions, remaining);
  bool has_origin = inside;  // whether the point before the last step is one of the node
  double caution = 0.0;      // how far the model's curvatures are on the way from those of the loss to bounds of it
  bool is_stuck = false;     // whether even the bounds were no help
  double primal = infinity, old_intercept = intercept;
  double base, value;
  int n_halvings = 0, n_steps = 0, n_idle_steps = 0;
  double best_bound = -infinity;
  is_moved = false;
  ++n_calls;
  while (true) {
    // 1. Bound and primal value of the current point.
    if (!is_evaluated) {
      const Evaluation here = evaluate_rows(problem_, rows, intercept, class_balance);
      intercept = here.intercept;
      loss_ = here.loss, entropy_ = here.entropy, mismatch_ = here.mismatch;
      evaluate_predictors(problem_, rows, decisions, model.gradient, values.v.data());
    }
    is_evaluated = false;
    base = base_of(entropy_, decisions);
    value = oracle.complete(values, decisions, remaining);
    const double bound = base - value;
    model.fill_shares(decisions, remaining.capacity, z);
    if (bound >= cutoff || is_stuck) break;
    if (n_steps == max_steps) {
      ++n_unfinished;
      break;
    }
    const double new_primal = inside ? primal_value() : infinity;
    // 2. Go half-way back if the last step overshot, and all the way if that does not help.
    if (n_steps > 0 && !has_origin && !(new_primal <= problem_.null_objective)) {
      start_from_null(old_intercept);
      has_origin = true;
      primal = problem_.null_objective;
    }
    if (!(new_primal <= primal * (1.0 + 1e-9))) {
      const bool is_last = ++n_halvings > max_halvings;
      if (is_last) {
        rows.u.copy(u_old_);
        theta.copy(theta_old_);
        n_halvings = 0;
        is_stuck = caution == 1.0;
        caution = more_cautious(caution);
      } else {
        average(rows.u, u_old_);
        average(theta, theta_old_);
      }
      intercept = is_last ? old_intercept : 0.5 * (intercept + old_intercept);
      continue;
    }
    const bool is_idle = !(new_primal < primal * (1.0 - idle)) && !(bound - best_bound > idle * std::abs(bound));
    n_idle_steps = is_idle && caution == 0.0 ? n_idle_steps + 1 : 0;
    best_bound = std::max(best_bound, bound);
    primal = new_primal;
    caution = n_halvings == 0 ? less_cautious(caution) : caution;
    // 3. Stop when the relaxation is solved, or when it is known not to reach the cutoff: its optimum lies below the
    //    primal value, and the bound is most of the way there.
    if (inside && (primal - bound <= 1e-9 * primal || n_idle_steps == max_idle_steps)) break;
    if (inside && n_steps > 0 && primal < cutoff && bound > 2.0 * primal - cutoff) break;
    if (inside) is_loose_ = primal - bound > loose * primal;
    // 4. Renew the model and find its minimiser.
    if (mu <= 0.0) mu = first_multiplier(decisions, remaining.capacity);
    const bool is_difficult = n_halvings > 1 || caution > 0.0 || n_steps >= usual_steps;
    if (caution > 0.0) {
      bound_curvatures(problem_, rows, safe_d_);
      for (Index m = 0; m < safe_d_.size(); ++m) safe_d_[m] = rows.d[m] + caution * (safe_d_[m] - rows.d[m]);
    }
    const Buffer<double>& d = caution > 0.0 ? safe_d_ : rows.d;
    model.gram.update(theta, d, decisions, values.v, model.price, worth_entering * mu, is_difficult ? 0.0 : stale_);
    n_halvings = 0;
    theta_old_.copy(theta);
    u_old_.copy(rows.u);
    old_intercept = intercept;
    has_origin = inside;
    mu = model.minimise(decisions, remaining.capacity, mu, mismatch_);
    intercept = stepped_intercept(intercept);
    ++n_steps;
    inside = true;  // to rounding, with which a test would refuse good steps
    problem_.linear_predictor(theta, intercept, moved_.t.data());
    if (!is_moderate(problem_, moved_.t)) {
      // The step leads nowhere: begin anew where it started, or where the rows have most curvature.
      if (!has_origin) start_from_null(old_intercept);
      rows.u.copy(u_old_);
      theta.copy(theta_old_);
      intercept = old_intercept, mu = 0.0;
      is_stuck = caution == 1.0;
      caution = more_cautious(caution);
      continue;
    }
    // 5. Where the bounds of points are far below the optimum, move the dual point along the step: that bound is exact
    //    to second order.
    if (is_loose_ && caution == 0.0) {
      for (Index m = 0; m < rows.u.size(); ++m) moved_.t[m] -= rows.u[m];
      const double entropy = move_rows(problem_, rows, moved_);
      predictor_values(problem_, moved_.q.data(), decisions, values.v.data());
      const double moved_base = base_of(entropy, decisions);
      const double moved_value = oracle.complete(values, decisions, remaining);
      const double moved_bound = moved_base - moved_value;
      if (moved_bound >= cutoff ||
          (has_origin && moved_bound > bound && primal < cutoff && moved_bound > 2.0 * primal - cutoff)) {
        model.fill_shares(decisions, remaining.capacity, z);
        base = moved_base, value = moved_value;
        is_moved = true;
        intercept_step_ = intercept - old_intercept;
        intercept_old_ = old_intercept;
        break;
      }
      problem_.linear_predictor(theta, intercept, moved_.t.data());
    }
    rows.u.copy(moved_.t);
  }
  if (base - value < cutoff) oracle.complete_forced(values, decisions, remaining);
  return {base, value, intercept, mu};
}

/// Make the point before the last step the model without coefficients.
void Relaxation::start_from_null(double& intercept) {
  theta_old_.fill(0.0);
  intercept = problem_.null_intercept;
  problem_.linear_predictor(theta_old_, intercept, u_old_.data());
}

NodeBound Relaxation::relax_all_affordable(Oracle& oracle, Fit& fit, const Decisions& decisions,
                                           const Remaining& remaining, double intercept, double mu, double cutoff) {
  is_moved = false;
  for (Index g = 0; g < decisions.size(); ++g) {
    bought_[g] = decisions[g] == Decision::out ? Decision::out : Decision::in;
  }
  problem_.linear_predictor(model.theta, intercept, fit.rows.u.data());
  intercept = fit.fit(bought_, intercept, cutoff, all_bought, Start::predictor).intercept;
  model.theta.copy(fit.theta);
  rows.u.copy(fit.rows.u);
  rows.smoothing = fit.rows.smoothing;
  const Evaluation here = evaluate_rows(problem_, rows, intercept, class_balance);
  loss_ = here.loss, entropy_ = here.entropy, mismatch_ = here.mismatch;
  evaluate_predictors(problem_, rows, decisions, model.gradient, values.v.data());
  z.fill(1.0);
  oracle.complete_forced(values, decisions, remaining);
  const double value = oracle.complete(values, decisions, remaining);
  return {base_of(here.entropy, decisions), value, here.intercept, mu};
}

std::int64_t Relaxation::record(Trace& trace, double intercept) const {
  if (!is_moved) return trace.record_point(model.theta, intercept, rows.smoothing);
  return trace.record_difference(theta_old_, model.theta, intercept_old_, intercept_step_, rows.smoothing);
}

double Relaxation::primal_value() const {
  double total = loss_;
  for (Index g = 0; g < z.size(); ++g) {
    if (!(z[g] > 0.0)) continue;
    const double size = problem_.norm(model.theta, g);
    total += 0.5 * problem_.ridge * size * size / z[g];
  }
  return total;
}

/// The bound of a node before the free predictors are counted.
double Relaxation::base_of(double entropy, const Decisions& decisions) const {
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::in) entropy -= values.v[g];
  }
  return entropy;
}

/// Whether the point is one of the node: the coefficients of forbidden predictors are 0, and the others affordable.
///
/// The point of a parent is not where a child buys a predictor as a whole that its parent bought in part: within the
/// limits of its coefficients it may spend more than is left. Its primal value would be that of no point of the node.
bool Relaxation::is_inside(const Decisions& decisions, const Remaining& remaining) const {
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::out && problem_.norm(model.theta, g) > 0.0) return false;
  }
  return model.least_spending(decisions) <= remaining.capacity * (1.0 + 1e-9);
}

/// The intercept that minimises the model, given the coefficients before and after.
double Relaxation::stepped_intercept(double intercept) const {
  const Gram& gram = model.gram;
  intercept -= mismatch_ / gram.total;
  for (Index i = 0; i < gram.n_columns; ++i) {
    const Index j = gram.member[i];
    intercept -= gram.mean[i] * (model.theta[j] - theta_old_[j]);
  }
  return intercept;
}

/// A first price per unit of budget: that of the last predictor which the budget buys.
double Relaxation::first_multiplier(const Decisions& decisions, double budget) {
  order_.clear();
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::free && model.price[g] > 0.0 && values.v[g] / model.price[g] > 0.0)
      order_.push_back(g);
  }
  const auto ratio = [&](Index g) { return values.v[g] / model.price[g]; };
  std::sort(order_.begin(), order_.end(),
            [&](Index g, Index h) { return ratio(g) != ratio(h) ? ratio(g) > ratio(h) : g < h; });
  double mu = 0.0, spent = 0.0;
  for (const Index g : order_) {
    if (spent < budget) {
      mu = ratio(g);
      spent += model.price[g];
    }
  }
  return std::max(mu, 1e-12);
}

}  // namespace shortlist
