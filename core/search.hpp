// A whole search: one worker, and for a long one rounds of workers that run side by side.
//
// A search that has proved to be long deals its open nodes of lowest bound to a fixed number of workers. Each processes
// a fixed number of nodes. Then all of them are collected in order, and the next round begins. Nothing of that depends
// on the clock or on the number of threads, so neither does any bit of the result.
#pragma once

#include <memory>

#include "deadline.hpp"
#include "worker.hpp"

namespace shortlist {

class Search {
 public:
  Search(std::shared_ptr<const Problem> problem, std::shared_ptr<const Limits> limits, double gap);

  /// A selection to fit first.
  void suggest(std::vector<Index> support) { warm_ = std::move(support); }
  /// Look for all models below a threshold, at most `n_places`, instead of the best.
  void list_models(double threshold, Index n_places);
  /// Look for the best model at every whole budget from 0 to n_budgets - 1.
  void find_staircase(Index n_budgets);

  /// Begin rounds at another node, with other parts. For tests; one part: no rounds.
  void plan_rounds(std::int64_t first_node, std::int64_t nodes_of_part, Index n_parts) {
    first_round_ = first_node, nodes_of_part_ = nodes_of_part, n_parts_ = n_parts;
  }

  /// Process at most `max_nodes` nodes, or a round; return whether the search has come to its end.
  ///
  /// No more nodes than max_total are processed in all. At the deadline the search is broken off, and does not go on.
  bool run(std::int64_t max_nodes, std::int64_t max_total, int n_threads, Deadline& deadline);
  /// From here on take the newest node instead of the one of lowest bound.
  void go_depth_first() { worker_.tree.go_depth_first(); }
  /// Refit the incumbent of a search that has not come to its end, if there is time.
  void polish(Deadline& deadline);

  const Problem& problem() const { return *problem_; }
  const Worker& worker() const { return worker_; }
  Trace& trace() { return worker_.trace; }
  /// How many nodes were relaxed, and how many of these relaxations ended before they had converged.
  std::int64_t n_relaxations() const;
  std::int64_t n_unfinished() const;

 private:
  bool has_rounds() const { return !worker_.listing && !worker_.staircase && n_parts_ > 1; }
  void improve_incumbent();
  void play_round(std::int64_t max_total, int n_threads, Deadline& deadline);
  void deal(Worker& part, Index n_nodes);
  void collect(Worker& part, std::int64_t nodes_before, std::int64_t created_before);

  std::shared_ptr<const Problem> problem_;
  std::shared_ptr<const Limits> limits_;
  Worker worker_;
  std::vector<Index> warm_;
  bool is_started_ = false, is_broken_off_ = false;
  Index n_parts_;
  std::int64_t first_round_;    // the node at which rounds begin
  std::int64_t nodes_of_part_;  // in a round
  std::vector<std::unique_ptr<Worker>> parts_;
};

}  // namespace shortlist
