#include "quadratic_model.hpp"

#include <cmath>

#include "cholesky.hpp"
#include "deadline.hpp"

namespace shortlist {

namespace {

constexpr int max_corrections = 60;
// After this many corrections of the zones they change one by one, and a step stops at the first coefficient that
// reaches zero: dependent columns would send several far beyond it.
constexpr int free_corrections = 4;
constexpr Index fewest_activated = 4;
constexpr double zone_tolerance = 1e-9;
// A column leaves its limit when its slope points inwards by more than this share.
constexpr double release_tolerance = 1e-9;
// A predictor that is bought to this share is not bought: the direction of a group that small is noise, and its
// curvature, which grows as it shrinks, would hold everything else in place.
constexpr double negligible = 1e-10;
// Where a predictor is steep, coefficients are not linear in sqrt(mu): it is accurate to this share.
constexpr double root_tolerance = 1e-7;
// What is added to the diagonal of the system, relative to it.
constexpr double smallest_slack = 1e-11, largest_slack = 1e-3;
constexpr double tiny = 1e-300;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

QuadraticModel::QuadraticModel(const Problem& problem, Index max_columns)
    : gram(problem, max_columns),
      theta(problem.n_columns()),
      gradient(problem.n_columns()),
      price(problem.n_predictors(), 0.0),
      problem_(problem),
      root_price_(problem.n_predictors()),
      zone_(problem.n_predictors()),
      is_held_(at(problem.n_columns())),
      entry_(problem.n_predictors()),
      linear_(max_columns),
      slope_(max_columns),
      place_(max_columns),
      system_(max_columns, max_columns),
      solution_(max_columns),
      response_(max_columns),
      steadiness_(at(max_columns)) {
  active_.reserve(at(problem.n_predictors()));
}

// Each predictor is in a zone of its penalty: zero, linear or quadratic. For given zones and directions u_g of the
// linear ones, theta = K^-1 b - sqrt(mu) K^-1 (sqrt(2 ridge c) u) is linear in sqrt(mu), and so the mu that spends the
// budget has a closed form: one factorisation gives both. The zones, and what is held at limits, are corrected until
// they are consistent. Predictors that are likely to change zone stand last, so that most of the factor can be kept.
double QuadraticModel::minimise(const Decisions& decisions, double budget, double mu, double mismatch) {
  const Index n = gram.n_columns;
  fill_linear_term(n, mismatch);
  double root = std::sqrt(mu);
  find_zones(decisions, n, root);
  Index n_kept = 0;  // rows of the factor that are still right
  slack_ = smallest_slack;
  for (int trial = 0; trial < max_corrections; ++trial) {
    Deadline::check(entries_of(n, static_cast<Index>(active_.size())));
    // 1. Factorise, and solve for the fixed part and the part that grows with sqrt(mu).
    const Index n_active = fill_system(n_kept, root);
    if (n_active < 0) break;
    if (!factorise(system_, n_kept, n_active)) {
      // Columns are dependent: more curvature tells them apart, at the price of shorter steps.
      if (slack_ >= largest_slack) break;
      slack_ *= 100.0;
      n_kept = 0;
      continue;
    }
    substitute(system_, n_active, solution_.data());
    substitute(system_, n_active, response_.data());
    // 2. The multiplier that spends the budget.
    const double old_root = root;
    Spending spending = spend(decisions, budget, root);
    root = spending.root;
    for (Index r = 0; r < n_active; ++r) solution_[r] -= root * response_[r];
    if (trial >= free_corrections) {
      const double share = first_change();
      if (share < 1.0) {
        spending.is_settled = false;
        root = old_root + share * (root - old_root);
        for (Index r = 0; r < n_active; ++r) {
          const double t = theta[gram.member[place_[r]]];
          solution_[r] = t + share * (solution_[r] - t);
        }
      }
    }
    // 3. Correct the zones of the active predictors.
    bool is_corrected = correct_zones(decisions, root, n_kept);
    // 4. Activate what is worth more than its price: many at a time at first, then one by one, as more columns than
    //    rows would be dependent.
    const double strongest_root = fill_slopes(decisions, n);
    const Index most = trial < free_corrections ? std::max(static_cast<Index>(active_.size()), fewest_activated) : 1;
    if (!is_corrected && problem_.is_limited && release(decisions, root)) {
      n_kept = 0;
      is_corrected = true;
    }
    if (!is_corrected) {
      if (strongest_root > root * (1.0 + 1e-9)) {
        activate(decisions, root, most);
        is_corrected = true;
      } else if (spending.is_settled && spending.left > 1e-9 * budget && strongest_root > 0.0) {
        // Nothing is in the linear zone and money is left: mu falls to the next entry.
        root = strongest_root * (1.0 - 1e-6);
        activate(decisions, root, most);
        is_corrected = true;
      }
    }
    if (spending.is_settled && !is_corrected) break;
  }
  return root * root;
}

// With s = 1 / sqrt(mu) the spending of the free predictors, whose share is z_g = min(1, ||theta_g|| sqrt(ridge /
// (2 mu c_g))), is concave and piecewise linear in s: Newton from the left. With limits z_g is at least the share of
// its limit that a coefficient reaches, the spending is not concave, and Newton is kept between what spends too little
// and what spends too much.
void QuadraticModel::fill_shares(const Decisions& decisions, double budget, Buffer<double>& z) {
  double total = 0.0, slope = 0.0;
  sharing_.clear();
  for (Index g = 0; g < decisions.size(); ++g) {
    z[g] = decisions[g] == Decision::in ? 1.0 : 0.0;
    if (decisions[g] != Decision::free) continue;
    const double size = problem_.norm(theta, g);
    if (size > 0.0) {
      z[g] = price[g] > 0.0 ? size * std::sqrt(0.5 * problem_.ridge / price[g]) : infinity;
      total += price[g];
      if (price[g] > 0.0) {
        slope += price[g] * z[g];
        sharing_.push_back(g);
      }
    }
  }
  if (total <= budget || slope == 0.0) {
    for (double& share : z) share = share > 0.0 ? 1.0 : 0.0;
    return;
  }
  double s = budget / slope;
  double too_small = 0.0, too_large = infinity;
  for (int trial = 0; trial < 60; ++trial) {
    double spent = 0.0;
    slope = 0.0;
    for (const Index g : sharing_) {
      const double least = least_share(g);
      if (std::max(s * z[g], least) >= 1.0) {
        spent += price[g];
      } else if (least > s * z[g]) {
        spent += price[g] * least;
      } else {
        spent += price[g] * s * z[g];
        slope += price[g] * z[g];
      }
    }
    if (std::abs(spent - budget) <= 1e-12 * budget) break;
    (spent < budget ? too_small : too_large) = s;
    s = slope > 0.0 ? s + (budget - spent) / slope : infinity;
    if (!(too_small < s && s < too_large)) {
      s = too_large < infinity ? 0.5 * (too_small + too_large) : 2.0 * too_small;
    }
  }
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::free) z[g] = std::min(1.0, std::max(s * z[g], least_share(g)));
  }
}

double QuadraticModel::least_spending(const Decisions& decisions) const {
  if (!problem_.is_limited) return 0.0;
  double total = 0.0;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::free) total += price[g] * least_share(g);
  }
  return total;
}

/// Fill b = H theta - gradient, the linear term of the model.
void QuadraticModel::fill_linear_term(Index n, double mismatch) {
  for (Index i = 0; i < n; ++i) linear_[i] = mismatch * gram.mean[i] - gradient[gram.member[i]];
  for (Index k = 0; k < n; ++k) {
    const double t = theta[gram.member[k]];
    if (t == 0.0) continue;
    const double* row = gram.matrix[k];
    for (Index i = 0; i < n; ++i) linear_[i] += t * row[i];
  }
}

/// Zones of the expansion point; list the active predictors, steadiest first.
void QuadraticModel::find_zones(const Decisions& decisions, Index n, double root) {
  const double ridge = problem_.ridge;
  active_.clear();
  for (Index i = 0; i < n;) {
    const Index g = problem_.owner(gram.member[i]);
    const Index first = problem_.start(g), last = problem_.end(g);
    i += last - first;
    root_price_[g] = std::sqrt(2.0 * ridge * price[g]);
    double size = problem_.norm(theta, g);
    zone_[g] = Zone::zero;
    if (decisions[g] == Decision::out ||
        (decisions[g] == Decision::free && ridge * size < negligible * root * root_price_[g])) {
      for (Index j = first; j < last; ++j) theta[j] = 0.0;
    } else if (decisions[g] == Decision::in) {
      zone_[g] = Zone::quadratic;
      size = infinity;
    } else if (size > 0.0) {
      zone_[g] = ridge * size >= root * root_price_[g] ? Zone::quadratic : Zone::linear;
    }
    for (Index j = first; j < last; ++j) {
      is_held_[at(j)] = theta[j] == problem_.lower[j] || theta[j] == problem_.upper[j];
    }
    if (last - first == 1 && is_held_[at(first)] && zone_[g] == Zone::linear) zone_[g] = Zone::quadratic;
    if (zone_[g] == Zone::zero) continue;
    const double steady = size / (tiny + root_price_[g]);
    std::size_t place = active_.size();
    active_.push_back(g);
    for (; place > 0 && steadiness_[place - 1] < steady; --place) {
      steadiness_[place] = steadiness_[place - 1];
      active_[place] = active_[place - 1];
    }
    steadiness_[place] = steady;
    active_[place] = g;
  }
}

/// Write rows n_kept and later of K, and both right-hand sides; return the number of rows, -1 if they are too many.
Index QuadraticModel::fill_system(Index n_kept, double root) {
  Index n_rows = 0;
  bool is_any_held = false;
  for (const Index g : active_) {
    const Index first = problem_.start(g), last = problem_.end(g);
    if (n_rows + last - first > place_.size()) return -1;
    const bool is_linear = zone_[g] == Zone::linear;
    const double size = problem_.norm(theta, g);
    const Slope slope = linear_slope(g, root);
    for (Index j = first; j < last; ++j) {
      const Index r = n_rows++;
      place_[r] = gram.position[j];
      is_any_held = is_any_held || is_held_[at(j)];
      solution_[r] = linear_[place_[r]];
      response_[r] = is_linear ? root_price_[g] * theta[j] / size : 0.0;
      if (is_linear && slope.is_steep) {
        // The tangent of the slope at this root: it grows with the square of root.
        const double growth = 2.0 * slope.size / root - problem_.ridge * reach(g) / root;
        response_[r] = growth * theta[j] / size;
        solution_[r] -= (slope.size - growth * root) * theta[j] / size;
      }
      if (r < n_kept) continue;
      const double* source = gram.matrix[place_[r]];
      double* row = system_[r];
      for (Index k = 0; k <= r; ++k) row[k] = source[place_[k]];
      row[r] += slack_ * row[r];
      if (!is_linear) {
        row[r] += problem_.ridge;
      } else if (last - first > 1) {
        // Curvature of the norm: only across its direction.
        const double weight = root * root_price_[g] / size;
        row[r] += weight;
        for (Index k = first; k <= j; ++k) row[r - (j - k)] -= weight * theta[j] / size * theta[k] / size;
      }
    }
  }
  if (is_any_held) hold_rows(n_rows, n_kept, root);
  return n_rows;
}

/// Make the rows of held columns say that they stay, and take them from the other rows.
void QuadraticModel::hold_rows(Index n_active, Index n_kept, double root) {
  for (Index h = 0; h < n_active; ++h) {
    const Index j = gram.member[place_[h]];
    if (!is_held_[at(j)]) continue;
    const Index g = problem_.owner(j);
    double across = 0.0;  // of the norm's curvature, as in `fill_system`
    if (zone_[g] == Zone::linear) across = root * root_price_[g] / std::pow(problem_.norm(theta, g), 3);
    for (Index r = 0; r < n_active; ++r) {
      const Index k = gram.member[place_[r]];
      if (is_held_[at(k)]) continue;
      solution_[r] -= theta[j] * gram.matrix[place_[r]][place_[h]];
      if (problem_.owner(k) == g) solution_[r] += theta[j] * across * theta[j] * theta[k];
    }
    for (Index r = std::max(h + 1, n_kept); r < n_active; ++r) system_[r][h] = 0.0;
    if (h >= n_kept) {
      std::fill(system_[h], system_[h] + h, 0.0);
      system_[h][h] = 1.0;
    }
    solution_[h] = theta[j];
    response_[h] = 0.0;
  }
}

QuadraticModel::Spending QuadraticModel::spend(const Decisions& decisions, double budget, double root) const {
  double left = budget;
  double fixed = 0.0, grows = 0.0, steep_fixed = 0.0, steep_grows = 0.0;
  bool is_any_linear = false, is_any_steep = false;
  Index weakest = -1;
  double weakest_root = infinity;
  Index r = 0;
  for (const Index g : active_) {
    const Index first = problem_.start(g), last = problem_.end(g);
    if (zone_[g] == Zone::linear) {
      is_any_linear = true;
      if (linear_slope(g, root).is_steep) {
        is_any_steep = true;
        const double scale = price[g] / reach(g) / problem_.norm(theta, g);
        steep_fixed += scale * theta[first] * solution_[r];
        steep_grows += scale * theta[first] * response_[r];
      } else {
        const double scale = 0.5 * root_price_[g] / problem_.norm(theta, g);
        for (Index j = first; j < last; ++j) {
          fixed += scale * theta[j] * solution_[r + j - first];
          grows += scale * theta[j] * response_[r + j - first];
        }
      }
    } else if (decisions[g] == Decision::free) {
      left -= price[g];
      double size = 0.0;
      for (Index j = first; j < last; ++j) size += solution_[r + j - first] * solution_[r + j - first];
      if (root_price_[g] > 0.0) {
        const bool is_at_limit = last - first == 1 && is_held_[at(first)];
        const double entry = is_at_limit ? leaving_root(g) : problem_.ridge * std::sqrt(size) / root_price_[g];
        if (entry < weakest_root) weakest = g, weakest_root = entry;
      }
    }
    r += last - first;
  }
  bool is_settled = true;
  if (is_any_steep) {
    // root (left - what the steep spend) = what the others spend, times root.
    const double excess = left - steep_fixed + grows;
    const double square = excess * excess + 4.0 * steep_grows * fixed;
    double new_root = 0.0;
    if (square >= 0.0 && excess + std::sqrt(square) > 0.0 && fixed > 0.0) {
      new_root = 2.0 * fixed / (excess + std::sqrt(square));
    } else if (steep_grows > 0.0) {
      new_root = -excess / steep_grows;
    }
    new_root = std::min(std::max(new_root, 0.5 * root), 2.0 * root);
    is_settled = std::abs(new_root - root) <= root_tolerance * root;
    root = new_root;
  } else if (is_any_linear) {
    if (left + grows > 0.0 && fixed > 0.0) {
      root = fixed / (left + grows);
    } else {
      root *= fixed > 0.0 ? 1.5 : 0.7;
      is_settled = false;
    }
  } else if (left < -1e-9 * budget && weakest >= 0) {
    // Too much is in the quadratic zone: mu rises until the weakest leaves it.
    root = weakest_root * (1.0 + 1e-6);
    is_settled = false;
  }
  return {root, is_any_linear ? 0.0 : left, is_settled};
}

// The sqrt(mu) at which predictor g, of one column held at a limit, leaves it. For that nothing is in the linear zone,
// and the solution does not depend on mu.
double QuadraticModel::leaving_root(Index g) const {
  const Index j = problem_.start(g);
  const double* row = gram.matrix[gram.position[j]];
  double slope = linear_[gram.position[j]];
  Index r = 0;
  for (const Index other : active_) {
    for (Index k = problem_.start(other); k < problem_.end(other); ++k) slope -= solution_[r++] * row[gram.position[k]];
  }
  return std::sqrt(squared_slope(j, slope)) / root_price_[g];
}

/// The share of the step at which the first linear predictor reaches zero, or a coefficient a limit; at most 1.
double QuadraticModel::first_change() const {
  double share = 1.0;
  Index r = 0;
  for (const Index g : active_) {
    const Index first = problem_.start(g), last = problem_.end(g);
    if (zone_[g] == Zone::linear) {
      double along = 0.0, size = 0.0;
      for (Index j = first; j < last; ++j) {
        along += solution_[r + j - first] * theta[j];
        size += theta[j] * theta[j];
      }
      if (along < 0.0) share = std::min(share, size / (size - along) * (1.0 + 1e-9));
    }
    for (Index j = first; j < last; ++j) {
      const double t = solution_[r + j - first], limit = problem_.within(j, t);
      if (limit != t) share = std::min(share, std::max((limit - theta[j]) / (t - theta[j]), 0.0) * (1.0 + 1e-9));
    }
    r += last - first;
  }
  return share;
}

/// Adopt the solution and move predictors to the zones it is in; return whether any zone changed.
///
/// n_kept becomes the number of rows of the factor that stay right.
bool QuadraticModel::correct_zones(const Decisions& decisions, double root, Index& n_kept) {
  bool is_corrected = false;
  std::size_t n_left = 0;
  Index r = 0;
  n_kept = -1;
  for (const Index g : active_) {
    const Index first = problem_.start(g), last = problem_.end(g);
    double along = 0.0, size = 0.0;
    const bool is_free = decisions[g] == Decision::free;
    bool is_changed = false;
    for (Index j = first; j < last; ++j) {
      double& t = solution_[r + j - first];
      const double limit = problem_.within(j, t);
      if (limit != t) {
        is_changed = is_changed || !is_held_[at(j)];
        is_held_[at(j)] = true;
        t = limit;
        // It is bought as a whole, unless it went beyond zero.
        if (is_free && last - first == 1) zone_[g] = t * theta[j] <= 0.0 ? Zone::zero : Zone::quadratic;
      }
      along += t * theta[j];
      size += t * t;
    }
    size = std::sqrt(size);
    if (is_free) {
      // The penalty is smooth where the zones meet: a tolerance there keeps rounding from sending a predictor to and
      // fro.
      const double ratio = problem_.ridge * size / (tiny + root * root_price_[g]);
      if (zone_[g] == Zone::linear) {
        if (!(along > 0.0) || ratio < negligible) {
          zone_[g] = Zone::zero;
          is_changed = true;
        } else if (ratio > 1.0 + zone_tolerance) {
          zone_[g] = Zone::quadratic;
          is_changed = true;
        } else if (last - first > 1) {
          const bool is_turned = along < (1.0 - 1e-7) * size * problem_.norm(theta, g);
          is_changed = is_changed || is_turned;
          if (n_kept < 0) n_kept = r;
        }
      } else if (zone_[g] == Zone::quadratic && ratio < 1.0 - zone_tolerance) {
        if (last - first > 1 || !is_held_[at(first)]) {
          zone_[g] = Zone::linear;
          is_changed = true;
        }
      }
    }
    if (is_changed) {
      is_corrected = true;
      if (n_kept < 0) n_kept = r;
    }
    for (Index j = first; j < last; ++j) theta[j] = zone_[g] == Zone::zero ? 0.0 : solution_[r + j - first];
    if (zone_[g] != Zone::zero) active_[n_left++] = g;
    r += last - first;
  }
  active_.resize(n_left);
  if (n_kept < 0) n_kept = r;
  return is_corrected;
}

/// Release what would rather leave its limit; return whether anything does.
bool QuadraticModel::release(const Decisions& decisions, double root) {
  bool is_any = false;
  for (const Index g : active_) {
    const bool has_one = problem_.has_one_column(g);
    for (Index j = problem_.start(g); j < problem_.end(g); ++j) {
      if (!is_held_[at(j)]) continue;
      // Slopes of the model and of the penalty, inwards if the limit is to be left.
      const double slope = slope_[gram.position[j]];
      double penalty = problem_.ridge * theta[j];
      bool is_steep = false;
      if (decisions[g] == Decision::free && (has_one || zone_[g] == Zone::linear)) {
        const Slope linear = linear_slope(g, root);
        is_steep = linear.is_steep;
        if (is_steep || zone_[g] == Zone::linear) penalty = linear.size * theta[j] / problem_.norm(theta, g);
      }
      const double inward = theta[j] == problem_.lower[j] ? slope - penalty : penalty - slope;
      if (inward > release_tolerance * std::abs(slope)) {
        is_held_[at(j)] = false;
        is_any = true;
        if (is_steep) zone_[g] = Zone::linear;
      }
    }
  }
  return is_any;
}

/// Fill the model's downhill slopes and where each zero predictor enters; return the first.
double QuadraticModel::fill_slopes(const Decisions& decisions, Index n) {
  std::copy(linear_.begin(), linear_.begin() + n, slope_.begin());
  for (const Index g : active_) {
    for (Index j = problem_.start(g); j < problem_.end(g); ++j) {
      const double t = theta[j];
      const double* row = gram.matrix[gram.position[j]];
      for (Index i = 0; i < n; ++i) slope_[i] -= t * row[i];
    }
  }
  double strongest_root = 0.0;
  for (Index i = 0; i < n;) {
    const Index g = problem_.owner(gram.member[i]);
    double size = 0.0;
    for (Index j = problem_.start(g); j < problem_.end(g); ++j) size += squared_slope(j, slope_[i++]);
    if (zone_[g] == Zone::zero && decisions[g] == Decision::free) {
      entry_[g] = std::sqrt(size) / (tiny + root_price_[g]);
      strongest_root = std::max(strongest_root, entry_[g]);
    }
  }
  return strongest_root;
}

/// Move zero predictors that enter above root into the linear zone, a little way along: the `most` strongest.
void QuadraticModel::activate(const Decisions& decisions, double root, Index most) {
  above_.clear();
  for (Index i = 0; i < gram.n_columns; ++i) {
    const Index g = problem_.owner(gram.member[i]);
    const bool is_first = gram.member[i] == problem_.start(g);
    if (is_first && zone_[g] == Zone::zero && decisions[g] == Decision::free && entry_[g] > root) above_.push_back(g);
  }
  double threshold = root;
  if (static_cast<Index>(above_.size()) > most) {
    const auto nth = above_.end() - most - 1;
    std::nth_element(above_.begin(), nth, above_.end(), [&](Index g, Index h) { return entry_[g] < entry_[h]; });
    threshold = entry_[*nth];
  }
  for (Index i = 0; i < gram.n_columns;) {
    const Index g = problem_.owner(gram.member[i]);
    const Index first = problem_.start(g), size = problem_.end(g) - first;
    if (zone_[g] == Zone::zero && decisions[g] == Decision::free && entry_[g] > threshold) {
      zone_[g] = Zone::linear;
      active_.push_back(g);
      double curvature = problem_.ridge;
      for (Index k = 0; k < size; ++k) curvature += gram.matrix[i + k][i + k];
      const double gain = std::max(1.0 - root / entry_[g], 1e-9);
      for (Index k = 0; k < size; ++k) {
        const Index j = first + k;
        const double t = gain * slope_[i + k] / curvature;
        theta[j] = std::min(std::max(t, 0.5 * problem_.lower[j]), 0.5 * problem_.upper[j]);
        is_held_[at(j)] = theta[j] == 0.0 && t != 0.0;
      }
    }
    i += size;
  }
}

/// How far a predictor of one column can go on the side where it is.
double QuadraticModel::reach(Index g) const {
  if (!problem_.has_one_column(g)) return infinity;
  const Index j = problem_.start(g);
  return theta[j] > 0.0 ? problem_.upper[j] : -problem_.lower[j];
}

/// The share of its limit that a predictor of one column reaches.
double QuadraticModel::least_share(Index g) const {
  if (!problem_.is_limited) return 0.0;
  const double size = std::abs(theta[problem_.start(g)]);
  return size > 0.0 ? size / reach(g) : 0.0;
}

/// The slope of the penalty of a free predictor in the linear zone, and whether it is steep.
QuadraticModel::Slope QuadraticModel::linear_slope(Index g, double root) const {
  const double plain = root * root_price_[g];
  if (!problem_.is_limited) return {plain, false};
  const double furthest = problem_.ridge * reach(g);
  if (plain > furthest) return {0.5 * (furthest + plain * plain / furthest), true};
  return {plain, false};
}

// Not inlined: whether the square becomes part of a fused sum would depend on the branch, and limits that are never
// reached would change the last bits.
#if defined(__GNUC__)
__attribute__((noinline))
#endif
double QuadraticModel::squared_slope(Index j, double slope) const {
  const double free = slope / problem_.ridge;
  const bool is_limited = problem_.is_limited && !(problem_.lower[j] < free && free < problem_.upper[j]);
  return is_limited ? 2.0 * problem_.ridge * problem_.value_of_slope(j, -slope) : slope * slope;
}

}  // namespace shortlist
