#include "search.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace shortlist {

namespace {

// Work is counted in nodes times entries of X, plus what a node takes whatever the size of X. A search is long after
// about a fifth of a second, and once some nodes are open; a part of a round takes some milliseconds.
constexpr double node_entries = 2'000, long_search = 2e7, part_entries = 6e5;
constexpr std::int64_t first_round_at_least = 64, fewest_nodes = 4, most_nodes = 256;
constexpr Index most_parts = 16;
constexpr double most_memory = 536'870'912;  // bytes, of all parts

/// About what a worker takes: its matrices, then rows and columns.
double n_bytes(const Worker& worker) {
  const auto entries = [](Index n, Index m) { return static_cast<double>(n) * static_cast<double>(m); };
  const Index n_fit = worker.fit.hessian.columns.size(), n_model = worker.relaxation.model.gram.member.size();
  const Index n_columns = worker.problem.n_columns();
  return 8.0 * (2.0 * entries(n_model, n_model) + entries(n_columns, n_fit) + 2.0 * entries(n_fit, n_fit) +
                entries(worker.problem.n_rows(), 32) + entries(n_columns, 16));
}

/// Call a function with 0 to n - 1, from several threads. The first error is thrown when all have ended; until then
/// this thread looks at the deadline.
template <class Function>
void for_each_in_parallel(std::size_t n, std::size_t n_threads, Deadline& deadline, Function function) {
  constexpr std::chrono::milliseconds between_looks{50};
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  std::condition_variable has_ended;
  std::atomic<std::size_t> n_running = 0;
  const auto work = [&] {
    const Deadline::Watch watch(deadline);
    for (std::size_t i = next++; i < n; i = next++) {
      try {
        function(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(n_threads);
  for (std::size_t i = 1; i < std::min(n, n_threads); ++i) {
    try {
      ++n_running;
      threads.emplace_back([&] {
        work();
        const std::lock_guard guard(mutex);
        --n_running;
        has_ended.notify_one();
      });
    } catch (const std::system_error&) {
      --n_running;
      break;  // the system gives no more threads: those that run do the work
    }
  }
  work();
  std::unique_lock lock(mutex);
  while (!has_ended.wait_for(lock, between_looks, [&] { return n_running == 0; })) deadline.has_passed();
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

/// The number that a part has for a point of the whole, and back: those from 0 are its own.
std::int64_t mirrored(std::int64_t point) { return no_point - 1 - point; }

}  // namespace

Search::Search(std::shared_ptr<const Problem> problem, std::shared_ptr<const Limits> limits, double gap)
    : problem_(std::move(problem)),
      limits_(std::move(limits)),
      worker_(*problem_, *limits_, gap),
      n_parts_(static_cast<Index>(std::min<double>(most_parts, most_memory / n_bytes(worker_)))) {
  const double entries = static_cast<double>(problem_->n_rows()) * static_cast<double>(problem_->n_columns());
  const double of_node = entries + node_entries;
  first_round_ = std::max(static_cast<std::int64_t>(long_search / of_node), first_round_at_least);
  nodes_of_part_ = std::clamp(static_cast<std::int64_t>(part_entries / of_node), fewest_nodes, most_nodes);
}

void Search::list_models(double threshold, Index n_places) {
  worker_.incumbent.objective = threshold;
  worker_.listing = Listing{n_places, {}};
}

void Search::find_staircase(Index n_budgets) { worker_.staircase.emplace(worker_, n_budgets); }

std::int64_t Search::n_relaxations() const {
  std::int64_t total = worker_.relaxation.n_calls;
  for (const auto& part : parts_) total += part->relaxation.n_calls;
  return total;
}

std::int64_t Search::n_unfinished() const {
  std::int64_t total = worker_.relaxation.n_unfinished;
  for (const auto& part : parts_) total += part->relaxation.n_unfinished;
  return total;
}

bool Search::run(std::int64_t max_nodes, std::int64_t max_total, int n_threads, Deadline& deadline) {
  if (is_broken_off_) return false;
  const Deadline::Watch watch(deadline);
  if (!is_started_) {
    worker_.start(warm_);
    is_started_ = true;
  }
  max_nodes = std::min(max_nodes, max_total - worker_.tree.n_processed);
  if (has_rounds()) {
    const std::int64_t n_left = first_round_ - worker_.tree.n_processed;
    if (n_left <= 0 && worker_.tree.n_open() > 0 && max_nodes > 0) {
      improve_incumbent();
      play_round(max_total, n_threads, deadline);
      max_nodes = 0;
    } else {
      max_nodes = std::min(max_nodes, std::max<std::int64_t>(n_left, 0));
    }
  }
  const bool is_done = worker_.run(max_nodes);
  worker_.trace.limit();
  is_broken_off_ = !is_done && deadline.has_passed();
  if (is_done && !worker_.listing && !worker_.staircase) polish(deadline);
  return is_done;
}

void Search::improve_incumbent() {
  try {
    if (worker_.is_swap_due()) worker_.improve_incumbent();
  } catch (const Deadline::Passed&) {
  }
}

void Search::polish(Deadline& deadline) {
  const Deadline::Watch watch(deadline);
  try {
    worker_.polish();
  } catch (const Deadline::Passed&) {
  }
}

void Search::play_round(std::int64_t max_total, int n_threads, Deadline& deadline) {
  Tree& tree = worker_.tree;
  for (Index i = static_cast<Index>(parts_.size()); i < n_parts_; ++i) {
    parts_.push_back(std::make_unique<Worker>(*problem_, *limits_, worker_.gap));
    parts_.back()->root.copy(worker_.root);
    parts_.back()->next_swap = std::numeric_limits<std::int64_t>::max();
  }
  if (tree.has_dive()) tree.push(tree.take());
  // 1. Deal open nodes to the parts.
  const std::int64_t nodes_before = tree.n_processed, created_before = tree.n_created;
  std::vector<std::int64_t> shares;
  std::int64_t n_open = tree.n_open(), n_left = std::min(max_total - nodes_before, n_parts_ * nodes_of_part_);
  for (Index i = 0; i < n_parts_; ++i) {
    const std::int64_t n_parts_left = n_parts_ - i;
    const std::int64_t n_nodes = (n_left + n_parts_left - 1) / n_parts_left;
    const std::int64_t n_dealt = std::min((n_open + n_parts_left - 1) / n_parts_left, n_nodes);
    if (n_dealt == 0) break;
    deal(*parts_[static_cast<std::size_t>(i)], n_dealt);
    shares.push_back(n_nodes);
    n_open -= n_dealt;
    n_left -= n_nodes;
  }
  // 2. Work on them. A deadline leaves nodes open; an error loses the node that was processed, and nothing is proven.
  std::exception_ptr error;
  try {
    for_each_in_parallel(shares.size(), static_cast<std::size_t>(std::max(n_threads, 1)), deadline,
                         [&](std::size_t i) { parts_[i]->run(shares[i]); });
  } catch (...) {
    error = std::current_exception();
    tree.close_leaf(-infinity);
  }
  // 3. Bring together what the parts have done, in their order.
  for (std::size_t i = 0; i < shares.size(); ++i) collect(*parts_[i], nodes_before, created_before);
  if (error) std::rethrow_exception(error);
}

/// Move the nodes of lowest bound to an empty part, which learns the incumbent.
void Search::deal(Worker& part, Index n_nodes) {
  Tree& tree = worker_.tree;
  part.incumbent = worker_.incumbent;
  part.tree.n_processed = tree.n_processed;
  part.tree.n_created = tree.n_created;
  part.tree.closed = tree.closed;
  if (tree.is_depth_first()) part.tree.go_depth_first();
  for (Index i = 0; i < n_nodes; ++i) {
    Node node = tree.take();
    node.point = mirrored(node.point);
    part.tree.push(std::move(node));
  }
}

/// Move all that is in a part to the tree and the trace. Numbers that it gave to nodes and points become those of the
/// whole.
void Search::collect(Worker& part, std::int64_t nodes_before, std::int64_t created_before) {
  Tree& tree = worker_.tree;
  Trace& trace = worker_.trace;
  const std::int64_t shift = tree.n_created - created_before;
  const std::int64_t first_point = trace.next_point();
  const auto first_member = static_cast<std::int64_t>(trace.members.size());
  const auto first_column = static_cast<std::int64_t>(trace.columns.size());
  const auto node_of = [&](std::int64_t node) { return node >= created_before ? node + shift : node; };
  const auto point_of = [&](std::int64_t point) { return point >= 0 ? point + first_point : mirrored(point); };
  for (TraceStep step : part.trace.steps) {
    step.node = node_of(step.node);
    step.reference = step.kind == StepKind::branch ? step.reference + shift : point_of(step.reference);
    step.first_member += first_member;
    trace.steps.push_back(step);
  }
  trace.members.insert(trace.members.end(), part.trace.members.begin(), part.trace.members.end());
  for (TracePoint point : part.trace.points) {
    point.first_column += first_column;
    trace.points.push_back(point);
  }
  trace.columns.insert(trace.columns.end(), part.trace.columns.begin(), part.trace.columns.end());
  trace.values.insert(trace.values.end(), part.trace.values.begin(), part.trace.values.end());
  part.trace.clear();
  while (part.tree.n_open() > 0) {
    Node node = part.tree.take();
    node.number = node_of(node.number);
    node.point = point_of(node.point);
    tree.push(std::move(node));
  }
  tree.n_processed += part.tree.n_processed - nodes_before;
  tree.n_created += part.tree.n_created - created_before;
  tree.close_leaf(part.tree.closed);
  if (part.incumbent.objective < worker_.incumbent.objective) worker_.incumbent = part.incumbent;
}

}  // namespace shortlist
