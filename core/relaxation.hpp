// The perspective relaxation of a node: proximal Newton steps, each of which proves a bound.
#pragma once

#include "limits.hpp"
#include "quadratic_model.hpp"
#include "trace.hpp"

namespace shortlist {

/// The bound of a node is base - value.
struct NodeBound {
  double base;   // the entropy less what is bought
  double value;  // the most that free predictors can take off
  double intercept, mu;

  double bound() const { return base - value; }
};

class Relaxation {
 public:
  Relaxation(const Problem& problem, Index max_columns);

  Rows rows;
  Values values;
  QuadraticModel model;  // the point is model.theta
  Buffer<double> z;      // the share of each predictor that is bought
  /// Whether the point that proves the bound is that before the last step, moved along it.
  bool is_moved = false;
  /// How many relaxations there were, and how many of them the limit on their steps ended.
  std::int64_t n_calls = 0, n_unfinished = 0;

  /// Improve the point for a node until its bound decides, or cannot decide, the node.
  ///
  /// model.theta may hold predictors that are out at this node (it comes from the parent, where they were not): it then
  /// serves as expansion point of the first model only. If that point is evaluated, its rows and slopes are known
  /// already. If the bound is below the cutoff, the bounds with a free predictor g forced in or out are
  /// base - values.value_in[g] and base - values.value_out[g].
  NodeBound relax(Oracle& oracle, const Decisions& decisions, const Remaining& remaining, double intercept, double mu,
                  double cutoff, bool is_evaluated);
  /// The relaxation of a node at which everything is affordable: fit all of it.
  NodeBound relax_all_affordable(Oracle& oracle, Fit& fit, const Decisions& decisions, const Remaining& remaining,
                                 double intercept, double mu, double cutoff);
  /// Write down the point that proves the last bound; return its number.
  std::int64_t record(Trace& trace, double intercept) const;
  /// The loss of the point plus the perspective penalty, ridge / 2 times the sum of ||theta_g||^2 / z_g.
  double primal_value() const;

 private:
  struct Course;

  void evaluate(const Decisions& decisions, double& intercept);
  bool retreat(Course& course, double primal);
  void return_to_origin(Course& course);
  bool is_settled(Course& course, double primal, double bound, double cutoff);
  bool step(Course& course, const Decisions& decisions, const Remaining& remaining);
  void move(const Course& course, const Decisions& decisions);
  void start_from_null(double& intercept);
  double base_of(double entropy, const Decisions& decisions) const;
  bool is_inside(const Decisions& decisions, const Remaining& remaining) const;
  double stepped_intercept(double intercept) const;
  double first_multiplier(const Decisions& decisions, double budget);

  const Problem& problem_;
  const double stale_;                // how far the curvatures of the model may be off
  Buffer<double> u_old_, theta_old_;  // the point before the last step
  MovedPoint moved_;                  // along the last step
  Buffer<double> safe_d_;             // curvatures that bound the loss from above
  Decisions bought_;                  // the decisions of a node that buys everything
  double loss_ = 0.0, entropy_ = 0.0, mismatch_ = 0.0, moved_entropy_ = 0.0;
  bool is_loose_ = false;
  double intercept_old_ = 0.0, intercept_step_ = 0.0;  // of the moved point
  std::vector<Index> order_;
};

}  // namespace shortlist
