// The partial likelihood of Cox: its negative logarithm, with ties as Efron or Breslow have them.
//
// Each term is wt log S, S = sum_j c_j exp(u_j) over the rows at risk, less the weighted u of the events. With l of n
// tied events gone, c_j is w_j (1 - [j has the event] l / n), and wt the weight of the events over n (Efron); with
// Breslow there is one term, l = 0. A dual point is a distribution pi over the rows at risk for each term, with the
// entropy sum_j pi_j log(c_j / pi_j); then q = sum wt pi - the weights of the events. Any u gives one, pi = c exp(u) /
// S, so that u may be clipped. q adds up to 0 in each stratum: nothing has to be balanced, and there is no intercept.
//
// All sums over rows at risk are cumulated, so that everything here takes a time proportional to the rows and the
// terms.
#pragma once

#include <algorithm>
#include <cmath>

#include "elementary.hpp"
#include "family.hpp"

namespace shortlist {

struct Cox {
  static constexpr bool is_curved = true, is_bent = false;
  static constexpr double balance = 1.0, furthest = 600.0;

  /// Numbers that are kept of each time: of the terms, the sums of wt / S, wt c / S, wt r^2, wt c r^2 and wt c^2 r^2,
  /// where c is the share of the events that is gone and r = S_0 / S, relative to the first term; and 1 / S_0, whose
  /// square may be beyond the range of doubles.
  static constexpr Index n_numbers = 6;

  /// a becomes u less its maximum, b the weighted exponential of that, and d the sum of wt pi.
  static Sums evaluate(const RowsAt& rows, const DualRows& dual) {
    const auto [low, top] = std::minmax_element(rows.u, rows.u + rows.risk_sets->n_rows());
    const bool is_too_wide = !(*top - *low <= furthest);
    const Lanes highest = broadcast(*top), end = broadcast(-furthest);
    for (Index m = 0; m < rows.n; m += lane_count) {
      const Lanes h = most(least(load(rows.u + m) - highest, broadcast(0.0)), end);
      store(dual.a + m, h);
      store(dual.b + m, load(rows.w + m) * exp_of(h));
    }
    double loss = 0.0, entropy = 0.0, total = 0.0;
    AtRisk<2> at_risk;  // of e and e h
    double* number = rows.by_time;
    for (const EventTime& time : rows.risk_sets->times) {
      at_risk.add(time, [&](Index m) { return std::array{dual.b[m], dual.b[m] * dual.a[m]}; });
      const double wt = time.weight_of_term();
      std::fill(number, number + n_numbers, 0.0);
      number[5] = 1.0 / at_risk.all[0];
      for (Index term = 0; term < time.n_terms; ++term) {
        const double gone = time.share_gone(term);
        const auto [sum, of_h] = at_risk.left(gone);
        const double log_sum = std::log(sum), inverse = 1.0 / sum, ratio = at_risk.all[0] * inverse;
        const double first = wt * inverse, second = wt * ratio * ratio;
        loss += wt * log_sum;
        entropy += wt * (log_sum - of_h * inverse);
        number[0] += first, number[1] += gone * first;
        number[2] += second, number[3] += gone * second, number[4] += gone * gone * second;
      }
      for (Index m = time.events; m < time.end; ++m) loss -= rows.w[m] * dual.a[m];
      total += time.weight;
      number += n_numbers;
    }
    double cumulated = 0.0;
    for (auto time = rows.risk_sets->times.rbegin(); time != rows.risk_sets->times.rend(); ++time) {
      number -= n_numbers;
      cumulated += number[0];
      for (Index m = time->begin; m < time->events; ++m) dual.q[m] = dual.d[m] = dual.b[m] * cumulated;
      for (Index m = time->events; m < time->end; ++m) {
        dual.d[m] = dual.b[m] * (cumulated - number[1]);
        dual.q[m] = dual.d[m] - rows.w[m];
      }
      if (time->opens_stratum) cumulated = 0.0;
    }
    for (Index m = rows.risk_sets->n_rows(); m < rows.n; ++m) dual.q[m] = dual.d[m] = 0.0;
    return {is_too_wide ? infinity : loss, total, 0.0, total, {total, 0.0}, {entropy, 0.0}};
  }

  static double make_feasible(const RowsAt& rows, const FixedDual& dual, const Sums& sums, double* q) {
    std::copy(dual.q, dual.q + rows.n, q);
    return sums.entropy[0];
  }

  /// pi' = pi (1 + s (t - mean of t)), with s at most 1 such that pi' >= 0.
  ///
  /// With x = s (t - mean) >= -r and f as for the logistic loss, H(pi') = H(pi) - s cov(t, u) - sum_j pi_j f(x_j), and
  /// f(x) <= x^2 / 2 - x^3 / 6 + (1/12 + r / 4) x^4 as r <= 1: four moments of t. No exponential, no logarithm.
  static double move(const RowsAt& rows, const FixedDual& dual, const Sums& sums, const double* t, double* q) {
    double lost = 0.0, lowest = infinity, centre = 0.0;
    AtRisk<7> at_risk;  // of e, e t, ..., e t^4, e h and e t h
    double* number = rows.by_time;
    for (const EventTime& time : rows.risk_sets->times) {
      // Moments about a row of the stratum cancel less.
      if (time.opens_stratum) lowest = infinity, centre = t[time.begin];
      at_risk.add(time, [&](Index m) {
        const double e = dual.b[m], x = t[m] - centre, x2 = x * x, h = dual.a[m];
        lowest = std::min(lowest, x);
        return std::array{e, e * x, e * x2, e * x2 * x, e * x2 * x2, e * h, e * h * x};
      });
      const double wt = time.weight_of_term();
      std::fill(number, number + 4, 0.0);
      for (Index term = 0; term < time.n_terms; ++term) {
        const double gone = time.share_gone(term);
        auto sum = at_risk.left(gone);
        const double inverse = 1.0 / sum[0];
        for (double& moment : sum) moment *= inverse;
        const auto [one, m1, m2, m3, m4, of_h, of_product] = sum;
        const double reach = m1 - lowest, s = 1.0 / std::max(reach, 1.0);
        const double square = m1 * m1;
        const double k2 = std::max(m2 - square, 0.0), k3 = m3 - 3.0 * m1 * m2 + 2.0 * m1 * square;
        const double k4 = std::max(m4 - 4.0 * m1 * m3 + 6.0 * square * m2 - 3.0 * square * square, 0.0);
        const double fourth = k4 * (1.0 / 12.0 + 0.25 * s * reach);
        lost += wt * s * (of_product - m1 * of_h + s * (0.5 * k2 + s * (s * fourth - k3 / 6.0)));
        const double share = wt * s * inverse;
        number[0] += share, number[1] += gone * share;
        number[2] += share * (m1 + centre), number[3] += gone * share * (m1 + centre);
      }
      number += 4;
    }
    double slope = 0.0, mean = 0.0;
    for (auto time = rows.risk_sets->times.rbegin(); time != rows.risk_sets->times.rend(); ++time) {
      number -= 4;
      slope += number[0], mean += number[2];
      for (Index m = time->begin; m < time->events; ++m) q[m] = dual.q[m] + dual.b[m] * (t[m] * slope - mean);
      const double own_slope = slope - number[1], own_mean = mean - number[3];
      for (Index m = time->events; m < time->end; ++m) {
        q[m] = dual.q[m] + dual.b[m] * (t[m] * own_slope - own_mean);
      }
      if (time->opens_stratum) slope = mean = 0.0;
    }
    for (Index m = rows.risk_sets->n_rows(); m < rows.n; ++m) q[m] = 0.0;
    return sums.entropy[0] - lost;
  }

  static double intercept_step(const Sums&) { return 0.0; }

  /// Steps are damped instead (`damping`).
  static void bound_curvature(const RowsAt& rows, const FixedDual& dual, double* d) {
    std::copy(dual.d, dual.d + rows.n, d);
  }

  /// The third derivative along a step is at most r times the second, r being the range of what the step adds to u; so
  /// log(1 + r) / r of a Newton step cannot raise the objective.
  static double damping(const RowsAt& rows, const double* u_then) {
    double low = infinity, high = -infinity;
    for (Index m = 0; m < rows.risk_sets->n_rows(); ++m) {
      low = std::min(low, u_then[m] - rows.u[m]);
      high = std::max(high, u_then[m] - rows.u[m]);
    }
    const double range = high - low;
    return range > 1e-8 ? std::log1p(range) / range : 1.0;
  }

  static double least_loss(const RowsAt&) { return 0.0; }

  static double unit(const RowsAt& rows) { return rows.risk_sets->total_weight(); }

  static NullModel null_model(const RowsAt& rows) {
    double loss = 0.0;
    AtRisk<1> at_risk;
    for (const EventTime& time : rows.risk_sets->times) {
      at_risk.add(time, [&](Index m) { return std::array{rows.w[m]}; });
      for (Index term = 0; term < time.n_terms; ++term) {
        loss += time.weight_of_term() * std::log(at_risk.left(time.share_gone(term))[0]);
      }
    }
    return {0.0, loss};
  }

  /// Fill `out` with W x for C columns x, W being the second derivative of the loss in u: d x less e times cumulated
  /// means of x. `scratch` takes 2 C numbers of each time.
  template <std::size_t C>
  static void weigh(const RiskSets& risk_sets, const CurvatureAt& at, const std::array<const double*, C>& x,
                    const std::array<double*, C>& out, double* scratch) {
    AtRisk<C> at_risk;  // of e x
    const double* number = at.by_time;
    for (const EventTime& time : risk_sets.times) {
      at_risk.add(time, [&](Index m) {
        std::array<double, C> row;
        for (std::size_t c = 0; c < C; ++c) row[c] = at.e[m] * x[c][m];
        return row;
      });
      for (std::size_t c = 0; c < C; ++c) {
        const double all = at_risk.all[c] * number[5], events = at_risk.events[c] * number[5];
        scratch[c] = (number[2] * all - number[3] * events) * number[5];
        scratch[C + c] = (number[3] * all - number[4] * events) * number[5];
      }
      number += n_numbers, scratch += 2 * C;
    }
    std::array<double, C> mean{}, own;
    for (auto time = risk_sets.times.rbegin(); time != risk_sets.times.rend(); ++time) {
      scratch -= 2 * C;
      for (std::size_t c = 0; c < C; ++c) mean[c] += scratch[c], own[c] = mean[c] - scratch[C + c];
      for (Index m = time->begin; m < time->events; ++m) {
        for (std::size_t c = 0; c < C; ++c) out[c][m] = at.d[m] * x[c][m] - at.e[m] * mean[c];
      }
      for (Index m = time->events; m < time->end; ++m) {
        for (std::size_t c = 0; c < C; ++c) out[c][m] = at.d[m] * x[c][m] - at.e[m] * own[c];
      }
      if (time->opens_stratum) mean.fill(0.0);
    }
    for (Index m = risk_sets.n_rows(); m < padded(risk_sets.n_rows()); ++m) {
      for (std::size_t c = 0; c < C; ++c) out[c][m] = 0.0;
    }
  }

 private:
  /// Sums over the rows at risk, and over the rows with the event now.
  template <std::size_t n>
  struct AtRisk {
    std::array<double, n> all{}, events{};

    /// Go on to the next time; `of_row` has what a row adds.
    template <class Function>
    void add(const EventTime& time, Function of_row) {
      if (time.opens_stratum) all.fill(0.0);
      events.fill(0.0);
      for (Index m = time.begin; m < time.events; ++m) {
        const auto row = of_row(m);
        for (std::size_t k = 0; k < n; ++k) all[k] += row[k];
      }
      for (Index m = time.events; m < time.end; ++m) {
        const auto row = of_row(m);
        for (std::size_t k = 0; k < n; ++k) events[k] += row[k];
      }
      for (std::size_t k = 0; k < n; ++k) all[k] += events[k];
    }
    /// The sums with a share of the events gone.
    std::array<double, n> left(double gone) const {
      std::array<double, n> sum;
      for (std::size_t k = 0; k < n; ++k) sum[k] = all[k] - gone * events[k];
      return sum;
    }
  };
};

}  // namespace shortlist
