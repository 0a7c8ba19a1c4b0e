// Inner steps of the search, for tests: packed rows, families, dual points, the oracle, fits, a relaxation, a linear
// system, rounds.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "cholesky.hpp"
#include "search.hpp"

using namespace nb::literals;

namespace shortlist {

namespace {

Buffer<double> padded_copy(const InputVector<double>& values) {
  Buffer<double> copy(padded(length(values)), 0.0);
  std::copy(values.data(), values.data() + length(values), copy.begin());
  return copy;
}

/// The rows as the search reads them: a row per column, times the factor of the response, with padding.
nb::dict packed_rows(const Data& data) {
  Buffer<double> X(data.n_columns() * data.n_rows());
  for (Index j = 0; j < data.n_columns(); ++j) {
    std::copy(data.column(j), data.column(j) + data.n_rows(), X.data() + j * data.n_rows());
  }
  std::vector<bool> is_constant;
  for (Index g = 0; g < data.n_predictors(); ++g) is_constant.push_back(data.is_constant(g));
  nb::dict result;
  result["X"] = new_array(std::move(X));
  result["w"] = new_array(data.weights(), data.n_rows());
  result["factor"] = new_array(data.intercept_column(), data.n_rows());
  result["outcome"] = new_array(data.outcomes(), data.n_rows());
  result["is_constant"] = is_constant;
  return result;
}

/// Rows at u, and at the point moved along t: both dual points are feasible.
nb::dict evaluate_rows_of(const std::string& family, const InputVector<double>& given_u,
                          const InputVector<double>& given_w, const InputVector<double>& given_s,
                          const InputVector<double>& given_y, const InputVector<double>& given_t, double smoothing) {
  const Index n = length(given_u);
  require(family != "cox", "family: rows with times are coupled; ask for the dual point of a problem.");
  for (const auto* given : {&given_w, &given_s, &given_y, &given_t}) require(length(*given) == n, "One per row.");
  const Buffer<double> u = padded_copy(given_u), w = padded_copy(given_w), s = padded_copy(given_s),
                       y = padded_copy(given_y), t = padded_copy(given_t);
  Buffer<double> a(u.size()), b(u.size(), 0.0), q(u.size()), d(u.size()), dual(u.size()), moved(u.size());
  RowsAt rows{u.size(), w.data(), s.data(), y.data(), u.data(), smoothing, 0.0};
  nb::dict result;
  with_family(family_of(family), [&](auto chosen) {
    rows.least = chosen.least_loss(rows);
    const Sums sums = chosen.evaluate(rows, {a.data(), b.data(), q.data(), d.data()});
    const FixedDual fixed{a.data(), b.data(), q.data(), d.data()};
    result["loss"] = sums.loss;
    result["curvature"] = sums.curvature;
    result["mismatch"] = sums.mismatch;
    result["size"] = sums.size;
    result["mass"] = sums.mass;
    result["class_entropy"] = sums.entropy;
    result["entropy"] = chosen.make_feasible(rows, fixed, sums, dual.data());
    result["moved_entropy"] = chosen.move(rows, fixed, sums, t.data(), moved.data());
    const NullModel null = chosen.null_model(rows);
    result["null_intercept"] = null.intercept;
    result["null_objective"] = null.objective;
  });
  result["a"] = new_array(a.data(), n);
  result["b"] = new_array(b.data(), n);
  result["q"] = new_array(q.data(), n);
  result["d"] = new_array(d.data(), n);
  result["dual"] = new_array(dual.data(), n);
  result["moved_q"] = new_array(moved.data(), n);
  return result;
}

Decisions decisions_of(const InputVector<std::int8_t>& given, Index n_predictors) {
  require(length(given) == n_predictors, "decisions: one per predictor is needed.");
  Decisions decisions(n_predictors);
  std::transform(given.data(), given.data() + n_predictors, decisions.begin(), decision_of);
  return decisions;
}

Doubles as_numbers(const Decisions& decisions) {
  Buffer<double> numbers(decisions.size());
  std::transform(decisions.begin(), decisions.end(), numbers.begin(),
                 [](Decision d) { return static_cast<double>(d); });
  return new_array(std::move(numbers));
}

Buffer<double> by_place(const Problem& problem, const InputVector<double>& coefficients) {
  require(length(coefficients) == problem.n_columns(), "coef: one per column is needed.");
  Buffer<double> theta(problem.n_columns());
  const auto& columns = problem.data().table()->columns();
  for (Index j = 0; j < theta.size(); ++j) theta[j] = coefficients.data()[columns[static_cast<std::size_t>(j)]];
  return theta;
}

/// The dual point of a model on centred columns, and that moved along a step: entropies, balanced w a of the packed
/// rows, and the values of predictors.
nb::dict dual_point(const Problem& problem, const InputVector<double>& coef, double intercept,
                    const InputVector<double>& step, double intercept_step, double tolerance, double smoothing) {
  const Decisions all(problem.n_predictors(), Decision::free);
  Rows rows(problem);
  rows.smoothing = smoothing;
  problem.linear_predictor(by_place(problem, coef), intercept, rows.u.data());
  const Evaluation here = evaluate_rows(problem, rows, intercept, tolerance);
  Buffer<double> gradient(problem.n_columns()), v(problem.n_predictors()), moved_v(problem.n_predictors());
  evaluate_predictors(problem, rows, all, gradient, v.data());
  MovedPoint moved(problem);
  problem.linear_predictor(by_place(problem, step), intercept_step, moved.t.data());
  const double moved_entropy = move_rows(problem, rows, moved);
  predictor_values(problem, moved.q.data(), all, moved_v.data());
  nb::dict result;
  result["q"] = new_array(std::move(rows.dual));
  result["moved_q"] = new_array(std::move(moved.q));
  result["intercept"] = here.intercept;
  result["loss"] = here.loss;
  result["entropy"] = here.entropy;
  result["mismatch"] = here.mismatch;
  result["gradient"] = by_given_column(problem.data(), gradient);
  result["v"] = new_array(std::move(v));
  result["moved_entropy"] = moved_entropy;
  result["moved_v"] = new_array(std::move(moved_v));
  return result;
}

/// What the oracle says about a node.
nb::dict ask_oracle(const Limits& limits, const InputVector<double>& v, const InputVector<std::int8_t>& given) {
  const Index n = limits.n_predictors();
  require(length(v) == n, "v: one per predictor is needed.");
  Oracle oracle(limits);
  Decisions decisions = decisions_of(given, n);
  Values values(n);
  Buffer<double> price(n, 0.0);
  std::copy(v.data(), v.data() + n, values.v.begin());
  const Remaining remaining = oracle.forbid_unaffordable(decisions, price);
  nb::dict result;
  result["budget"] = remaining.budget;
  result["count"] = remaining.count;
  result["capacity"] = remaining.capacity;
  result["n_free"] = remaining.n_free;
  result["is_all_affordable"] = remaining.is_all_affordable;
  result["decisions"] = as_numbers(decisions);
  if (remaining.n_free > 0 && !remaining.is_overspent()) {
    result["most_purchases"] = oracle.most_purchases(decisions, remaining);
    result["value"] = oracle.complete(values, decisions, remaining);
    oracle.complete_forced(values, decisions, remaining);
    result["value_in"] = new_array(values.value_in);
    result["value_out"] = new_array(values.value_out);
  }
  result["price"] = new_array(std::move(price));
  return result;
}

/// The best value of the free predictors for every whole amount up to a budget, without one of them (-1: with all).
Doubles value_table(const Limits& limits, const InputVector<double>& v, const InputVector<std::int8_t>& given,
                    Index budget, Index skipped) {
  require(length(v) == limits.n_predictors(), "v: one per predictor is needed.");
  require(limits.is_integral && limits.has_budget(), "limits: a budget and whole prices are needed.");
  require(0 <= budget && budget <= 1'000'000, "budget: must be from 0 to 1 000 000.");
  Oracle oracle(limits);
  Decisions decisions = decisions_of(given, limits.n_predictors());
  oracle.budget += budget - oracle.remaining(decisions).exact;
  oracle.forbid_unaffordable(decisions);
  Buffer<double> values(limits.n_predictors());
  std::copy(v.data(), v.data() + length(v), values.begin());
  const auto table = oracle.value_table(values, decisions, budget, skipped);
  return new_array(table.data(), static_cast<Index>(table.size()));
}

/// Fit a support from a model on centred columns: of its linear predictor, of its rows too, or of no coefficients.
nb::dict fit_from(const Problem& problem, const std::vector<Index>& support, const InputVector<double>& coef,
                  double intercept, const std::string& start, double cutoff, double tolerance) {
  require(start == "predictor" || start == "rows" || start == "model", "start: must be predictor, rows or model.");
  const Decisions decisions = selection_of(problem, support);
  Fit fit(problem, problem.n_columns());
  const double null_intercept = fit.start_from_null();
  FitScore score;
  if (start == "model") {
    score = fit.fit(decisions, null_intercept, cutoff, tolerance, Start::model);
  } else {
    problem.linear_predictor(by_place(problem, coef), intercept, fit.rows.u.data());
    if (start == "rows") evaluate_rows(problem, fit.rows, intercept, 0.5);
    score = fit.fit(decisions, intercept, cutoff, tolerance, start == "rows" ? Start::rows : Start::predictor);
  }
  nb::dict result;
  result["coef"] = by_given_column(problem.data(), fit.theta);
  result["intercept"] = score.intercept;
  result["objective"] = score.objective;
  result["bound"] = score.bound;
  result["is_moved"] = fit.is_moved;
  return result;
}

/// Relax a node from a point of the centred columns; None if nothing is free or it is not affordable.
nb::object relax(const Problem& problem, const Limits& limits, const InputVector<std::int8_t>& given,
                 const InputVector<double>& coef, double intercept, double mu, double cutoff) {
  require(problem.n_predictors() == limits.n_predictors(), "limits: must be for the problem's predictors.");
  Worker worker(problem, limits, 0.0);
  Decisions decisions = decisions_of(given, problem.n_predictors());
  Relaxation& relaxation = worker.relaxation;
  const Remaining remaining = worker.oracle.forbid_unaffordable(decisions, relaxation.model.price);
  if (remaining.n_free == 0 || remaining.is_overspent() || remaining.is_all_affordable) return nb::none();
  relaxation.model.theta.copy(by_place(problem, coef));
  const NodeBound found = relaxation.relax(worker.oracle, decisions, remaining, intercept, mu, cutoff, false);
  nb::dict result;
  result["base"] = found.base;
  result["value"] = found.value;
  result["intercept"] = found.intercept;
  result["mu"] = found.mu;
  result["primal"] = relaxation.primal_value();
  result["is_moved"] = relaxation.is_moved;
  result["decisions"] = as_numbers(decisions);
  result["coef"] = by_given_column(problem.data(), relaxation.model.theta);
  result["z"] = new_array(relaxation.z);
  result["v"] = new_array(relaxation.values.v);
  result["value_in"] = new_array(relaxation.values.value_in);
  result["value_out"] = new_array(relaxation.values.value_out);
  return result;
}

/// Solve a system by its Cholesky factor, the first rows of which are made beforehand; None if there is none.
std::optional<Doubles> solve_system(const nb::ndarray<const double, nb::ndim<2>, nb::c_contig>& matrix,
                                    const InputVector<double>& right, Index n_first) {
  const Index n = length(right);
  require(length(matrix) == n && static_cast<Index>(matrix.shape(1)) == n, "matrix: must be square, as right is long.");
  require(0 <= n_first && n_first <= n, "n_first: must be from 0 to the number of rows.");
  Matrix factor(n, n);
  std::copy(matrix.data(), matrix.data() + n * n, factor[0]);
  if (!factorise(factor, 0, n_first) || !factorise(factor, n_first, n)) return std::nullopt;
  Buffer<double> solution(n);
  std::copy(right.data(), right.data() + n, solution.begin());
  substitute(factor, n, solution.data());
  return new_array(std::move(solution));
}

void plan_rounds(Search& search, std::int64_t first_node, std::int64_t nodes_of_part, Index n_parts) {
  require(first_node >= 0, "first_node: must be at least 0.");
  require(1 <= nodes_of_part && nodes_of_part <= 1'000'000, "nodes_of_part: must be from 1 to 1 000 000.");
  require(1 <= n_parts && n_parts <= 64, "n_parts: must be from 1 to 64.");
  require(search.worker().tree.n_created == 0, "The search has begun.");
  search.plan_rounds(first_node, nodes_of_part, n_parts);
}

}  // namespace

void bind_testing(nb::module_& m) {
  m.def("packed_rows", &packed_rows, "data"_a);
  m.def("evaluate_rows", &evaluate_rows_of, "family"_a, "u"_a, "w"_a, "s"_a, "y"_a, "t"_a, "smoothing"_a);
  m.def("dual_point", &dual_point, "problem"_a, "coef"_a, "intercept"_a, "step"_a, "intercept_step"_a, "tolerance"_a,
        "smoothing"_a);
  m.def("ask_oracle", &ask_oracle, "limits"_a, "v"_a, "decisions"_a);
  m.def("value_table", &value_table, "limits"_a, "v"_a, "decisions"_a, "budget"_a, "skipped"_a);
  m.def("fit_from", &fit_from, "problem"_a, "support"_a, "coef"_a, "intercept"_a, "start"_a, "cutoff"_a, "tolerance"_a);
  m.def("plan_rounds", &plan_rounds, "search"_a, "first_node"_a, "nodes_of_part"_a, "n_parts"_a);
  m.def("relax", &relax, "problem"_a, "limits"_a, "decisions"_a, "coef"_a, "intercept"_a, "mu"_a, "cutoff"_a);
  m.def("solve_system", &solve_system, "matrix"_a, "right"_a, "n_first"_a);
}

}  // namespace shortlist
