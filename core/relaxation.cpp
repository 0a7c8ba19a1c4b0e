#include "relaxation.hpp"

#include <cmath>

#include "deadline.hpp"

namespace shortlist {

namespace {

constexpr int max_steps = 60, max_halvings = 5;
// Relative improvement of primal value and bound below which a step counts as stalled; a few of these end a relaxation.
constexpr double idle = 1e-10;
constexpr int max_idle_steps = 3;
constexpr double tiny = 1e-100;
// The relative mismatch up to which the intercept is moved, before the family removes the rest.
constexpr double balanced = 1e-4;
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

/// Whether a relaxation between bound and primal value is known not to reach the cutoff, and the bound to be near it.
bool is_hopeless(double primal, double bound, double cutoff) {
  return primal < cutoff && bound > 2.0 * primal - cutoff;
}

/// Whether no row is further out on the wrong side than numbers reach.
bool is_moderate(const Problem& problem, const Buffer<double>& u) {
  for (Index m = 0; m < u.size(); ++m) {
    if (problem.weights()[m] > 0.0 && !(u[m] <= problem.furthest && u[m] > -1.0 / tiny)) return false;
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

/// The steps of one relaxation.
struct Relaxation::Course {
  double intercept, mu;
  bool is_inside;   // whether the point is one of the node
  bool has_origin;  // whether the point before the last step is
  double origin;    // the intercept of that point
  double primal = infinity, best_bound = -infinity;
  double caution = 0.0;   // how far the model's curvatures are on the way from the loss's own to upper bounds of them
  bool is_stuck = false;  // whether even the bounds were no help
  int n_steps = 0, n_halvings = 0, n_idle_steps = 0;
};

// A Newton step at a point whose rows have next to no curvature goes anywhere. So a step must not raise the primal
// value of the relaxation: it is halved, towards the model without coefficients if it started outside the node. If that
// does not help, the next quadratic model has curvatures that bound the loss from above, whose minimum cannot be worse.
NodeBound Relaxation::relax(Oracle& oracle, const Decisions& decisions, const Remaining& remaining, double intercept,
                            double mu, double cutoff, bool is_evaluated) {
  rows.smoothing = problem_.smoothing;
  if (!is_evaluated) problem_.linear_predictor(model.theta, intercept, rows.u.data());
  const bool starts_inside = is_inside(decisions, remaining);
  Course course{intercept, mu, starts_inside, starts_inside, intercept};
  NodeBound found{};
  is_moved = false;
  ++n_calls;
  while (true) {
    // 1. The bound of the current point.
    if (!is_evaluated) evaluate(decisions, course.intercept);
    is_evaluated = false;
    found.base = base_of(entropy_, decisions);
    found.value = oracle.complete(values, decisions, remaining);
    model.fill_shares(decisions, remaining.capacity, z);
    if (found.bound() >= cutoff || course.is_stuck) break;
    if (Deadline::is_over(entries_of(problem_.n_rows(), problem_.n_columns()))) break;
    if (course.n_steps == max_steps) {
      ++n_unfinished;
      break;
    }
    // 2. Go back if the last step overshot.
    const double primal = course.is_inside ? primal_value() : infinity;
    if (retreat(course, primal)) continue;
    // 3. Stop when the relaxation is solved, or when it is known not to reach the cutoff: its optimum lies below the
    //    primal value, and the bound is most of the way there.
    if (is_settled(course, primal, found.bound(), cutoff)) break;
    // 4. Renew the quadratic model and go to its minimiser.
    try {
      if (!step(course, decisions, remaining)) continue;
    } catch (const Deadline::Passed&) {  // the bound is the last point's
      model.theta.copy(theta_old_);
      break;
    }
    // 5. Where the bounds of points are far below the optimum, move the dual point along the step: that bound is exact
    //    to second order.
    if (is_loose_ && course.caution == 0.0) {
      const NodeBound before = found;
      move(course, decisions);
      found.base = base_of(moved_entropy_, decisions);
      found.value = oracle.complete(values, decisions, remaining);
      is_moved = found.bound() >= cutoff || (course.has_origin && found.bound() > before.bound() &&
                                             is_hopeless(course.primal, found.bound(), cutoff));
      if (is_moved) {
        model.fill_shares(decisions, remaining.capacity, z);
        break;
      }
      problem_.linear_predictor(model.theta, course.intercept, moved_.t.data());
    }
    rows.u.copy(moved_.t);
  }
  found.intercept = course.intercept, found.mu = course.mu;
  if (found.bound() < cutoff) oracle.complete_forced(values, decisions, remaining);
  return found;
}

/// Evaluate the point, with the best intercept for it.
void Relaxation::evaluate(const Decisions& decisions, double& intercept) {
  const Evaluation here = evaluate_rows(problem_, rows, intercept, balanced);
  intercept = here.intercept;
  loss_ = here.loss, entropy_ = here.entropy, mismatch_ = here.mismatch;
  evaluate_predictors(problem_, rows, decisions, model.gradient, values.v.data());
}

/// Go half-way back if the last step overshot, and all the way if that does not help; return whether it did.
bool Relaxation::retreat(Course& course, double primal) {
  if (course.n_steps > 0 && !course.has_origin && !(primal <= problem_.null_objective)) {
    start_from_null(course.origin);
    course.has_origin = true;
    course.primal = problem_.null_objective;
  }
  if (primal <= problem_.above(course.primal, 1e-9)) return false;
  if (++course.n_halvings > max_halvings) {
    return_to_origin(course);
    course.n_halvings = 0;
  } else {
    average(rows.u, u_old_);
    average(model.theta, theta_old_);
    course.intercept = 0.5 * (course.intercept + course.origin);
  }
  return true;
}

/// Begin anew where the last step started, with more cautious curvatures.
void Relaxation::return_to_origin(Course& course) {
  rows.u.copy(u_old_);
  model.theta.copy(theta_old_);
  course.intercept = course.origin;
  course.is_stuck = course.caution == 1.0;
  course.caution = more_cautious(course.caution);
}

/// Keep the point; return whether no further step is of use.
bool Relaxation::is_settled(Course& course, double primal, double bound, double cutoff) {
  const bool is_idle = !(primal < problem_.below(course.primal, idle)) &&
                       !(bound - course.best_bound > idle * problem_.scale(std::abs(bound)));
  course.n_idle_steps = is_idle && course.caution == 0.0 ? course.n_idle_steps + 1 : 0;
  course.best_bound = std::max(course.best_bound, bound);
  course.primal = primal;
  if (course.n_halvings == 0) course.caution = less_cautious(course.caution);
  if (!course.is_inside) return false;
  if (primal - bound <= 1e-9 * problem_.scale(primal) || course.n_idle_steps == max_idle_steps) return true;
  if (course.n_steps > 0 && is_hopeless(primal, bound, cutoff)) return true;
  is_loose_ = primal - bound > loose * problem_.scale(primal);
  return false;
}

/// Take a step to the minimum of the quadratic model, whose linear predictor becomes moved_.t; return false, from where
/// it started, if it leads nowhere.
bool Relaxation::step(Course& course, const Decisions& decisions, const Remaining& remaining) {
  if (course.mu <= 0.0) course.mu = first_multiplier(decisions, remaining.capacity);
  const bool is_difficult = course.n_halvings > 1 || course.caution > 0.0 || course.n_steps >= usual_steps;
  if (course.caution > 0.0) {
    bound_curvatures(problem_, rows, safe_d_);
    for (Index m = 0; m < safe_d_.size(); ++m) safe_d_[m] = rows.d[m] + course.caution * (safe_d_[m] - rows.d[m]);
  }
  CurvatureAt curvature = rows.curvature();
  if (course.caution > 0.0) curvature.d = safe_d_.data();
  theta_old_.copy(model.theta);
  u_old_.copy(rows.u);
  course.n_halvings = 0;
  course.origin = course.intercept;
  course.has_origin = course.is_inside;
  model.gram.update(model.theta, curvature, decisions, values.v, model.price, worth_entering * course.mu,
                    is_difficult ? 0.0 : stale_);
  course.mu = model.minimise(decisions, remaining.capacity, course.mu, mismatch_);
  course.intercept = stepped_intercept(course.intercept);
  ++course.n_steps;
  course.is_inside = true;  // to rounding, with which a test would refuse good steps
  problem_.linear_predictor(model.theta, course.intercept, moved_.t.data());
  if (course.caution > 0.0 && problem_.is_coupled()) {
    const double share = damping_of(problem_, rows, moved_.t.data());
    for (Index j = 0; j < theta_old_.size(); ++j) {
      model.theta[j] = theta_old_[j] + share * (model.theta[j] - theta_old_[j]);
    }
    problem_.linear_predictor(model.theta, course.intercept, moved_.t.data());
  }
  if (is_moderate(problem_, moved_.t)) return true;
  if (!course.has_origin) start_from_null(course.origin);  // where the rows have most curvature
  return_to_origin(course);
  course.mu = 0.0;
  return false;
}

/// Move the dual point along the last step; moved_.t is the linear predictor after it.
void Relaxation::move(const Course& course, const Decisions& decisions) {
  for (Index m = 0; m < rows.u.size(); ++m) moved_.t[m] -= rows.u[m];
  moved_entropy_ = move_rows(problem_, rows, moved_);
  predictor_values(problem_, moved_.q.data(), decisions, values.v.data());
  intercept_step_ = course.intercept - course.origin;
  intercept_old_ = course.origin;
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
  evaluate(decisions, intercept);
  z.fill(1.0);
  oracle.complete_forced(values, decisions, remaining);
  const double value = oracle.complete(values, decisions, remaining);
  return {base_of(entropy_, decisions), value, intercept, mu};
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
/// limits of its coefficients it may spend more than is left. No point of the node has its primal value.
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

/// A first price per unit of budget: what the last predictor pays that the budget buys.
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
  return std::max(mu, 1e-12 * problem_.scale(problem_.null_objective));
}

}  // namespace shortlist
