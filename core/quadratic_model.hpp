// Active-set minimisation of the quadratic model with the perspective penalty.
//
// At multiplier mu a free predictor of price c costs the reverse Huber function of t = ||theta_g||:
// sqrt(2 ridge mu c) t up to t = sqrt(2 mu c / ridge), then ridge/2 t^2 + mu c. A bought one costs ridge/2 t^2. The
// multiplier is moved to where the budget is just spent.
//
// A free predictor of one column whose coefficient reaches as far as M is bought to the share t / M at least. Where
// sqrt(2 mu c / ridge) > M that makes it steep: it costs (ridge M / 2 + mu c / M) t up to M, where it is bought as a
// whole. A column at a limit of its coefficient is held: it keeps its row in the linear system, which then says that it
// stays. In a free predictor of several columns only the limits themselves hold, and not that it is bought to a larger
// share.
#pragma once

#include <vector>

#include "gram.hpp"

namespace shortlist {

class QuadraticModel {
 public:
  QuadraticModel(const Problem& problem, Index max_columns);

  Gram gram;
  Buffer<double> theta;     // the point, then the minimiser
  Buffer<double> gradient;  // of the loss at the point
  Buffer<double> price;     // of each predictor

  /// Minimise the quadratic model around theta over the working set; return mu.
  ///
  /// On entry theta is the expansion point; columns of forbidden predictors may be nonzero there and end at 0. On exit
  /// it is the minimiser.
  double minimise(const Decisions& decisions, double budget, double mu, double mismatch);

  /// Fill the share z_g that is bought of each predictor at the mu at which theta spends the budget.
  void fill_shares(const Decisions& decisions, double budget, Buffer<double>& z);
  /// What free predictors cost at least, because of the limits of their coefficients.
  double least_spending(const Decisions& decisions) const;

 private:
  enum class Zone : std::int8_t { zero, linear, quadratic };  // not bought, bought in part, bought as a whole
  struct Slope {
    double size;
    bool is_steep;
  };
  struct Spending {
    double root;      // the sqrt(mu) that spends the budget
    double left;      // of the budget; something only if no predictor is in the linear zone
    bool is_settled;  // whether the budget could be met
  };

  void fill_linear_term(Index n, double mismatch);
  void find_zones(const Decisions& decisions, Index n, double root);
  Index fill_system(Index n_kept, double root);
  void hold_rows(Index n_active, Index n_kept, double root);
  Spending spend(const Decisions& decisions, double budget, double root) const;
  double leaving_root(Index g) const;
  double first_change() const;
  bool correct_zones(const Decisions& decisions, double root, Index& n_kept);
  bool release(const Decisions& decisions, double root);
  double fill_slopes(const Decisions& decisions, Index n);
  void activate(const Decisions& decisions, double root, Index most);
  double reach(Index g) const;
  double least_share(Index g) const;
  Slope linear_slope(Index g, double root) const;
  /// The square of a downhill slope, or where the limits count, what has the same value.
  double squared_slope(Index j, double slope) const;

  const Problem& problem_;
  Buffer<double> root_price_;      // sqrt(2 ridge price)
  Buffer<Zone> zone_;              // of the penalty
  std::vector<char> is_held_;      // whether the coefficient of a column stays at a limit
  std::vector<Index> active_;      // active predictors, steadiest first
  Buffer<double> entry_;           // sqrt(mu) below which a predictor becomes active
  Buffer<double> linear_, slope_;  // linear term and downhill slope, by place in the Gram matrix
  Buffer<Index> place_;            // the place in the Gram matrix of each row of the system
  Matrix system_;                  // of the active columns, then its factor
  Buffer<double> solution_;        // at root = 0, then at root
  Buffer<double> response_;        // what the solution loses per unit of root
  double slack_ = 0.0;             // added to its diagonal, relatively
  std::vector<double> steadiness_;
  std::vector<Index> above_, sharing_;
};

}  // namespace shortlist
