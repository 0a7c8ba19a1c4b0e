// The core as Python sees it: Table, Data, Problem, Limits, Search, Trace, and a few functions.
//
// Arguments are checked here for shape and range, so that nothing that Python passes can make the core read or write
// where it should not. Their meaning is checked by the package.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <set>
#include <tuple>

#include "arrays.hpp"
#include "search.hpp"

#ifndef SHORTLIST_MODULE
#define SHORTLIST_MODULE _core
#endif

using namespace nb::literals;

namespace shortlist {

void bind_testing(nb::module_& m);  // testing.cpp

namespace {

constexpr double shortest = 0.1;  // seconds in which a search is not broken off inside of a node

std::vector<Index> support_of(const Decisions& decisions) {
  std::vector<Index> support;
  for (Index g = 0; g < decisions.size(); ++g) {
    if (decisions[g] == Decision::in) support.push_back(g);
  }
  return support;
}

template <class T>
std::shared_ptr<Table> make_table(const nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>& X,
                                  const InputVector<double>& factor, const InputVector<double>& outcome,
                                  const InputVector<std::int64_t>& owner, Index n_predictors,
                                  const std::optional<InputVector<std::int64_t>>& block,
                                  const std::optional<InputVector<std::int64_t>>& stratum, bool is_efron) {
  const Given<T> given{X.data(), static_cast<Index>(X.shape(0)), static_cast<Index>(X.shape(1)), X.stride(0),
                       X.stride(1)};
  require(length(factor) == given.n_rows && length(outcome) == given.n_rows,
          "factor and outcome: one per row of X is needed.");
  require(length(owner) == given.n_columns, "owner: one per column of X is needed.");
  require(n_predictors >= 0 && n_predictors <= given.n_columns, "n_predictors: must be at most the columns of X.");
  std::vector<bool> has_column(static_cast<std::size_t>(n_predictors));
  for (Index j = 0; j < given.n_columns; ++j) {
    const std::int64_t g = owner.data()[j];
    require(0 <= g && g < n_predictors, "owner: must be predictors from 0 to n_predictors - 1.");
    has_column[static_cast<std::size_t>(g)] = true;
  }
  require(std::find(has_column.begin(), has_column.end(), false) == has_column.end(),
          "owner: every predictor needs a column.");
  require(block.has_value() == stratum.has_value(), "block and stratum: give both or none.");
  std::optional<Times> times;
  if (block) {
    require(length(*block) == given.n_rows && length(*stratum) == given.n_rows,
            "block and stratum: one per row of X is needed.");
    times = Times{block->data(), stratum->data(), is_efron};
  }
  const nb::gil_scoped_release release;
  return std::make_shared<Table>(given, Outcomes{factor.data(), outcome.data()}, times, owner.data(), n_predictors);
}

std::shared_ptr<Data> make_data(const std::shared_ptr<Table>& table, const InputVector<double>& weights) {
  require(length(weights) == table->n_given_rows(), "weights: one per row of X is needed.");
  const nb::gil_scoped_release release;
  return std::make_shared<Data>(table, weights.data());
}

std::shared_ptr<Problem> make_problem(const std::shared_ptr<Data>& data, double ridge, const std::string& family,
                                      const std::optional<InputVector<double>>& lower,
                                      const std::optional<InputVector<double>>& upper) {
  require(ridge > 0.0 && ridge < infinity, "ridge: must be a number above 0.");
  require(lower.has_value() == upper.has_value(), "lower and upper: give both or none.");
  if (!lower) return std::make_shared<Problem>(data, ridge, family_of(family), nullptr, nullptr);
  require(length(*lower) == data->n_columns() && length(*upper) == data->n_columns(),
          "lower and upper: one per column of X is needed.");
  for (Index j = 0; j < data->n_columns(); ++j) {
    require(lower->data()[j] <= 0.0 && upper->data()[j] >= 0.0, "lower and upper: intervals must contain 0.");
  }
  return std::make_shared<Problem>(data, ridge, family_of(family), lower->data(), upper->data());
}

/// Amounts in exact units, each four words, the lowest first.
using Amounts = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<Money> money_of(const Amounts& words) {
  require(words.shape(1) == 4, "costs, fees and budget: four words each are needed.");
  std::vector<Money> amounts;
  for (std::size_t i = 0; i < words.shape(0); ++i) {
    const std::span<const std::uint64_t, 4> word(words.data() + 4 * i, 4);
    require(word[3] < std::uint64_t{1} << 58, "costs, fees and budget: must be below 2^250.");
    amounts.emplace_back(word);
  }
  return amounts;
}

std::shared_ptr<Limits> make_limits(const Amounts& given_costs, const Amounts& given_fees,
                                    const std::vector<std::vector<Index>>& members,
                                    const std::optional<Amounts>& given_budget, Index max_features,
                                    std::vector<Index> include, std::vector<Index> exclude) {
  std::vector<Money> costs = money_of(given_costs), fees = money_of(given_fees);
  const Index n_predictors = static_cast<Index>(costs.size());
  const auto is_predictor = [&](Index g) { return 0 <= g && g < n_predictors; };
  const auto are_predictors = [&](const std::vector<Index>& some) {
    return std::all_of(some.begin(), some.end(), is_predictor);
  };
  double total = 0.0;
  for (const auto* amounts : {&costs, &fees}) {
    for (const Money& amount : *amounts) total += static_cast<double>(amount);
  }
  require(total < 0x1p251, "costs and fees: their total must be below 2^251.");
  require(members.size() == fees.size() && std::all_of(members.begin(), members.end(), are_predictors),
          "members: predictors of each fee are needed.");
  std::optional<Money> budget;
  if (given_budget) {
    require(given_budget->shape(0) == 1, "budget: one amount is needed.");
    budget = money_of(*given_budget).front();
  }
  require(0 <= max_features && max_features <= n_predictors, "max_features: must be from 0 to the predictors.");
  require(are_predictors(include) && are_predictors(exclude), "include and exclude: must be predictors.");
  require(static_cast<Index>(std::set(include.begin(), include.end()).size()) <= max_features,
          "include: must not be more than max_features.");
  return std::make_shared<Limits>(std::move(costs), std::move(fees), members, budget, max_features, std::move(include),
                                  std::move(exclude));
}

std::shared_ptr<Search> make_search(const std::shared_ptr<Problem>& problem, const std::shared_ptr<Limits>& limits,
                                    double gap) {
  require(problem->n_predictors() == limits->n_predictors(), "limits: must be for the problem's predictors.");
  require(gap >= 0.0 && gap < infinity, "gap: must be at least 0.");
  return std::make_shared<Search>(problem, limits, gap);
}

/// A model as a tuple of its support, coefficients, intercept and numbers about it.
template <class... Numbers>
auto found(const Search& search, const auto& model, Numbers... numbers) {
  return std::make_tuple(support_of(model.decisions), by_given_column(search.problem().data(), model.theta),
                         model.intercept, numbers...);
}

auto incumbent_of(const Search& search) { return found(search, search.worker().incumbent); }

const Listing& listing_of(const Search& search) {
  require(search.worker().listing.has_value(), "list_models: was not called.");
  return *search.worker().listing;
}

auto models_of(const Search& search) {
  std::vector<decltype(incumbent_of(search))> models;
  for (const Model& model : listing_of(search).models) models.push_back(found(search, model));
  return models;
}

auto stairs_of(const Search& search) {
  require(search.worker().staircase.has_value(), "find_staircase: was not called.");
  std::vector<std::tuple<std::vector<Index>, Doubles, double, double>> stairs;
  for (const Stair& stair : search.worker().staircase->stairs) stairs.push_back(found(search, stair, stair.closed));
  return stairs;
}

/// The nodes that are still open, each with the point that bounds it.
std::vector<std::pair<std::int64_t, std::int64_t>> open_nodes_of(const Search& search) {
  const Tree& tree = search.worker().tree;
  std::vector<std::pair<std::int64_t, std::int64_t>> nodes;
  for (const Node& node : tree.heap()) nodes.emplace_back(node.number, node.point);
  if (tree.dive()) nodes.emplace_back(tree.dive()->number, tree.dive()->point);
  return nodes;
}

/// Say what to look for: not once it is looked for, and not two things at once.
void require_new(const Search& search) {
  const Worker& worker = search.worker();
  require(worker.tree.n_created == 0, "The search has begun.");
  require(!worker.listing && !worker.staircase, "list_models, find_staircase: one of them, once.");
}

void suggest(Search& search, std::vector<Index> support) {
  const Index n = search.problem().n_predictors();
  require(std::all_of(support.begin(), support.end(), [n](Index g) { return 0 <= g && g < n; }),
          "support: must be predictors.");
  search.suggest(std::move(support));
}

void list_models(Search& search, double threshold, Index n_places) {
  require_new(search);
  require(!std::isnan(threshold), "threshold: must be a number.");
  require(n_places >= 1, "n_places: must be at least 1.");
  search.list_models(threshold, n_places);
}

void find_staircase(Search& search, Index n_budgets) {
  constexpr Index most_budgets = 100'000, most_cells = 10'000'000;
  const Worker& worker = search.worker();
  require_new(search);
  require(1 <= n_budgets && n_budgets <= most_budgets, "n_budgets: must be from 1 to 100 000.");
  require(n_budgets <= most_cells / (1 + search.problem().n_columns()),
          "n_budgets: too many for this number of columns.");
  require(worker.limits.is_integral, "limits: prices must be whole for a staircase.");
  Oracle oracle(worker.limits);
  oracle.budget = n_budgets - 1;
  require(!oracle.remaining(worker.root).is_overspent(), "n_budgets: what must be bought costs more.");
  search.find_staircase(n_budgets);
}

/// Call a function with a deadline, at which it returns; also when a handler of a signal of Python raises an error,
/// which is raised then.
template <class Function>
auto until(double seconds, Function function) {
  constexpr double a_century = 3e9;
  const std::chrono::duration<double> left(seconds > shortest ? std::min(seconds, a_century) : shortest);
  std::exception_ptr error;
  const auto is_interrupted = [&error] {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) error = std::make_exception_ptr(nb::python_error());
    return error != nullptr;
  };
  Deadline deadline(Deadline::Clock::now() + std::chrono::duration_cast<Deadline::Clock::duration>(left),
                    is_interrupted);
  const auto result = [&] {
    const nb::gil_scoped_release release;
    return function(deadline);
  }();
  if (error) std::rethrow_exception(error);
  return result;
}

void polish_search(Search& search, double seconds) {
  until(seconds, [&](Deadline& deadline) {
    search.polish(deadline);
    return true;
  });
}

bool run_search(Search& search, std::int64_t max_nodes, std::int64_t max_total, int n_threads, double seconds) {
  require(max_nodes >= 0 && max_total >= 0, "max_nodes and max_total: must be at least 0.");
  return until(seconds, [&](Deadline& deadline) { return search.run(max_nodes, max_total, n_threads, deadline); });
}

/// The bytes of a list of structs, which live as long as the trace does.
template <auto list>
nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>> bytes_of(nb::handle trace) {
  const auto& values = nb::cast<Trace&>(trace).*list;
  return {reinterpret_cast<const std::uint8_t*>(values.data()), {values.size() * sizeof(values[0])}, trace};
}

/// The best model on a support: coefficients, intercept, objective and a lower bound.
std::tuple<Doubles, double, double, double> fit_support(const Problem& problem, const std::vector<Index>& support,
                                                        double tolerance) {
  const Decisions decisions = selection_of(problem, support);
  Index n_columns = 0;
  for (Index j = 0; j < problem.n_columns(); ++j) n_columns += decisions[problem.owner(j)] == Decision::in ? 1 : 0;
  Fit fit(problem, n_columns);
  const double start = fit.start_from_null();
  const FitScore score = fit.fit(decisions, start, infinity, tolerance, Start::model);
  return {by_given_column(problem.data(), fit.theta), score.intercept, score.objective, score.bound};
}

/// A lower and an upper bound of the optimum of the root's relaxation, and how many calls of `relax` it took.
std::tuple<double, double, int> relax_root(const Problem& problem, const Limits& limits, int max_rounds,
                                           double tolerance) {
  require(problem.n_predictors() == limits.n_predictors(), "limits: must be for the problem's predictors.");
  Worker worker(problem, limits, 0.0);
  const Remaining remaining = worker.oracle.forbid_unaffordable(worker.root, worker.relaxation.model.price);
  require(!remaining.is_overspent(), "limits: what must be bought is not affordable.");
  double intercept = worker.fit.start_from_null(), mu = 0.0;
  if (remaining.is_all_affordable) {
    std::replace(worker.root.begin(), worker.root.end(), Decision::free, Decision::in);
    const FitScore score = worker.fit.fit(worker.root, intercept, infinity, fine, Start::predictor);
    return {score.bound, score.objective, 1};
  }
  worker.relaxation.model.theta.fill(0.0);
  double lower = -infinity, upper = infinity;
  int n_rounds = 0;
  while (n_rounds == 0 || (n_rounds < max_rounds && !(upper - lower <= tolerance * problem.scale(upper)))) {
    // A cutoff of NaN decides nothing: the relaxation is solved to the end.
    const double no_cutoff = std::numeric_limits<double>::quiet_NaN();
    const NodeBound found =
        worker.relaxation.relax(worker.oracle, worker.root, remaining, intercept, mu, no_cutoff, false);
    intercept = found.intercept, mu = found.mu;
    lower = std::max(lower, found.bound());
    upper = worker.relaxation.primal_value();
    ++n_rounds;
  }
  return {lower, upper, n_rounds};
}

/// The most that selections of each leaf take off the entropy of their dual point.
///
/// That is what is bought, and the most valuable affordable completion by at most most[i] free predictors: infinite if
/// the point has no values, minus infinity if nothing is affordable. The values of predictors to the point of leaf i
/// are v[point[i]]; decisions[i] is the leaf, in which free predictors that are not affordable become forbidden.
Doubles price_leaves(const Limits& limits, const nb::ndarray<const double, nb::ndim<2>, nb::c_contig>& v,
                     const InputVector<std::int64_t>& point,
                     const nb::ndarray<std::int8_t, nb::ndim<2>, nb::c_contig>& decisions,
                     const InputVector<std::int64_t>& most) {
  const Index n_leaves = length(point), n = limits.n_predictors();
  require(static_cast<Index>(v.shape(1)) == n && static_cast<Index>(decisions.shape(1)) == n,
          "v and decisions: one per predictor is needed.");
  require(static_cast<Index>(decisions.shape(0)) == n_leaves && length(most) == n_leaves,
          "decisions and most: one per leaf is needed.");
  Oracle oracle(limits);
  Values values(n);
  Decisions leaf(n);
  Buffer<double> taken(n_leaves);
  for (Index i = 0; i < n_leaves; ++i) {
    require(0 <= point.data()[i] && point.data()[i] < length(v), "point: must be rows of v.");
    std::int8_t* given = decisions.data() + i * n;
    for (Index g = 0; g < n; ++g) {
      leaf[g] = decision_of(given[g]);
      values.v[g] = v.data()[point.data()[i] * n + g];
    }
    Remaining remaining = oracle.forbid_unaffordable(leaf);
    double total = 0.0;
    for (Index g = 0; g < n; ++g) {
      given[g] = static_cast<std::int8_t>(leaf[g]);
      if (leaf[g] == Decision::in) total += values.v[g];
    }
    remaining.count = std::min<Index>(remaining.count, most.data()[i]);
    if (remaining.is_overspent()) {
      total = -infinity;
    } else if (remaining.n_free > 0) {
      total += oracle.complete(values, leaf, remaining);
    }
    taken[i] = std::isnan(total) ? infinity : total;
  }
  return new_array(std::move(taken));
}

bool runs_v3() {
#if defined(SHORTLIST_HAS_V3)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
#else
  return false;
#endif
}

}  // namespace

NB_MODULE(SHORTLIST_MODULE, m) {
  nb::set_leak_warnings(false);  // problems that live until the interpreter ends keep their rows
  m.def("runs_v3", &runs_v3, "Whether this processor has the instructions of x86-64-v3.");
  nb::class_<Table> table(m, "Table", "Features, outcomes and groups: packed once, whatever the weights.");
  const auto def_table = [&table](auto make) {
    table.def(nb::new_(make), "X"_a.noconvert(), "factor"_a.noconvert(), "outcome"_a.noconvert(), "owner"_a.noconvert(),
              "n_predictors"_a, "block"_a = nb::none(), "stratum"_a = nb::none(), "is_efron"_a = false);
  };
  def_table(&make_table<double>);
  def_table(&make_table<float>);
  nb::class_<Data>(m, "Data", "A table with weights: the rows that count, centred where they are far from zero.")
      .def(nb::new_(&make_data), "table"_a, "weights"_a.noconvert())
      .def_prop_ro(
          "centre", [](const Data& data) { return by_given_column(data, data.centre()); }, nb::rv_policy::automatic)
      .def_prop_ro("distance", &Data::distance)
      .def_prop_ro("rounding", &Data::rounding)
      .def_prop_ro("n_rows", &Data::n_rows)
      .def_prop_ro("n_columns", &Data::n_columns)
      .def_prop_ro("columns", [](const Data& data) { return data.table()->columns(); });
  nb::class_<Problem>(m, "Problem", "Data, ridge, family and intervals of the coefficients.")
      .def(nb::new_(&make_problem), "data"_a, "ridge"_a, "family"_a, "lower"_a = nb::none(), "upper"_a = nb::none())
      .def_ro("null_intercept", &Problem::null_intercept)
      .def_ro("null_objective", &Problem::null_objective)
      .def_ro("unit", &Problem::unit);
  nb::class_<Limits>(m, "Limits", "Prices and limits in exact units.")
      .def(nb::new_(&make_limits), "costs"_a, "fees"_a, "members"_a, "budget"_a.none(), "max_features"_a, "include"_a,
           "exclude"_a);
  nb::class_<Trace>(m, "Trace", "The record of a search, from which its certificate is made.")
      .def_prop_ro("steps", &bytes_of<&Trace::steps>, nb::rv_policy::automatic)
      .def_prop_ro("members", &bytes_of<&Trace::members>, nb::rv_policy::automatic)
      .def_prop_ro("points", &bytes_of<&Trace::points>, nb::rv_policy::automatic)
      .def_prop_ro("columns", &bytes_of<&Trace::columns>, nb::rv_policy::automatic)
      .def_prop_ro("values", &bytes_of<&Trace::values>, nb::rv_policy::automatic)
      .def_ro("is_complete", &Trace::is_complete);
  nb::class_<Search>(m, "Search", "Branch and bound for the best model, a list of models, or every budget.")
      .def(nb::new_(&make_search), "problem"_a, "limits"_a, "gap"_a)
      .def("suggest", &suggest, "support"_a)
      .def("list_models", &list_models, "threshold"_a, "n_places"_a)
      .def("find_staircase", &find_staircase, "n_budgets"_a)
      .def("run", &run_search, "max_nodes"_a, "max_total"_a, "threads"_a, "seconds"_a)
      .def("polish", &polish_search, "seconds"_a)
      .def_prop_ro("nodes", [](const Search& search) { return search.worker().tree.n_processed; })
      .def_prop_ro("n_open", [](const Search& search) { return search.worker().tree.n_open(); })
      .def_prop_ro("lower_bound", [](const Search& search) { return search.worker().tree.lower_bound(); })
      .def_prop_ro("objective", [](const Search& search) { return search.worker().incumbent.objective; })
      .def_prop_ro("n_relaxations", &Search::n_relaxations)
      .def_prop_ro("n_unfinished", &Search::n_unfinished)
      .def_prop_ro("is_started", [](const Search& search) { return search.worker().tree.n_created > 0; })
      .def_prop_ro("n_left_out", [](const Search& search) { return listing_of(search).n_left_out; })
      .def_prop_ro("tree_bytes", [](const Search& search) { return search.worker().tree.n_bytes(); })
      .def_prop_ro("trace_bytes", [](Search& search) { return search.trace().n_bytes(); })
      .def("go_depth_first", &Search::go_depth_first, "Where memory is short: take the newest node first.")
      .def_prop_ro("n_doubtful", [](const Search& search) { return listing_of(search).n_doubtful; })
      .def("incumbent", &incumbent_of)
      .def("models", &models_of)
      .def("stairs", &stairs_of)
      .def("open_nodes", &open_nodes_of)
      .def(
          "take_trace",
          [](Search& search) {
            auto trace = std::make_shared<Trace>(search.trace().take());
            search.trace().limit_to(0);
            return trace;
          },
          "Hand the trace over; the search has none any more.")
      .def(
          "take_part_of_trace", [](Search& search) { return std::make_shared<Trace>(search.trace().take()); },
          "Hand over what is recorded by now; the search goes on with the record.")
      .def(
          "limit_trace", [](Search& search, std::size_t max_bytes) { search.trace().limit_to(max_bytes); },
          "max_bytes"_a, "Discard the trace once it exceeds this number of bytes; 0: record none.")
      .def_prop_ro("is_recording", [](Search& search) { return search.trace().is_complete; });
  m.def("fit", &fit_support, "problem"_a, "support"_a, "tolerance"_a = fine,
        "The best model on a support: coefficients and intercept of the centred columns, objective, lower bound.");
  m.def("relax_root", &relax_root, "problem"_a, "limits"_a, "max_rounds"_a = 50, "tolerance"_a = 1e-9,
        "Bounds of the optimum of the root's relaxation, and the number of rounds.");
  m.def("price_leaves", &price_leaves, "limits"_a, "v"_a.noconvert(), "point"_a.noconvert(), "decisions"_a.noconvert(),
        "most"_a.noconvert(), "What the selections of leaves take off the entropy of their points, at most.");
  nb::module_ testing = m.def_submodule("testing", "Inner steps of the search, for tests.");
  bind_testing(testing);
}

}  // namespace shortlist
