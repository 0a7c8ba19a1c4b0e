// The open nodes: a heap by lower bound, ties by age, and the node that a dive goes on with. Where memory is short, the
// newest node comes first.
#pragma once

#include <optional>
#include <vector>

#include "trace.hpp"

namespace shortlist {

struct Node {
  struct Coefficient {
    Index column;
    double value;
  };

  std::int64_t number = 0;  // in order of creation
  double bound = -infinity;
  std::int64_t point = no_point;  // the recorded point that proves the bound
  Decisions decisions;
  std::vector<Coefficient> theta;  // of the parent's relaxation, without zeros
  double intercept = 0.0, mu = 0.0;
  Index low = 0, high = 0;  // the budgets at which the node is alive, in a staircase

  Node() = default;
  Node(std::int64_t number_, double bound_, std::int64_t point_, const Decisions& decisions_,
       const Buffer<double>& theta_, double intercept_, double mu_)
      : number(number_), bound(bound_), point(point_), decisions(decisions_), intercept(intercept_), mu(mu_) {
    for (Index j = 0; j < theta_.size(); ++j) {
      if (theta_[j] != 0.0) theta.push_back({j, theta_[j]});
    }
  }

  std::size_t n_bytes() const {
    return sizeof(Node) + static_cast<std::size_t>(decisions.size()) * sizeof(Decision) +
           theta.capacity() * sizeof(Coefficient);
  }
};

class Tree {
 public:
  std::int64_t n_processed = 0;
  std::int64_t n_created = 0;
  double closed = infinity;  // the lowest bound of the closed leaves

  Index n_open() const { return static_cast<Index>(heap_.size()) + (dive_ ? 1 : 0); }
  bool has_dive() const { return dive_.has_value(); }
  const std::vector<Node>& heap() const { return heap_; }
  const std::optional<Node>& dive() const { return dive_; }

  void push(Node node) {
    n_bytes_ += node.n_bytes();
    heap_.push_back(std::move(node));
    std::push_heap(heap_.begin(), heap_.end(), order());
  }
  /// The child that is processed next stays outside the heap.
  void dive_into(Node node) { dive_ = std::move(node); }
  /// Take the child of the last node, or the node of lowest bound.
  Node take() {
    if (dive_) {
      Node node = std::move(*dive_);
      dive_.reset();
      return node;
    }
    std::pop_heap(heap_.begin(), heap_.end(), order());
    Node node = std::move(heap_.back());
    heap_.pop_back();
    n_bytes_ -= node.n_bytes();
    return node;
  }
  /// From here on take the newest node, which keeps the heap small.
  void go_depth_first() {
    if (is_depth_first_) return;
    is_depth_first_ = true;
    std::make_heap(heap_.begin(), heap_.end(), order());
  }
  bool is_depth_first() const { return is_depth_first_; }
  /// The memory that the heap takes.
  std::size_t n_bytes() const { return n_bytes_; }

  /// The bound of a leaf counts for the global lower bound for ever; a NaN is ignored.
  void close_leaf(double bound) {
    if (!(bound >= closed)) closed = bound == bound ? bound : -infinity;
  }
  /// The minimum over closed leaves and open nodes.
  double lower_bound() const {
    if (n_created == 0) return -infinity;  // not even the root was looked at
    double bound = closed;
    if (is_depth_first_) {
      for (const Node& node : heap_) bound = std::min(bound, node.bound);
    } else if (!heap_.empty()) {
      bound = std::min(bound, heap_.front().bound);
    }
    if (dive_) bound = std::min(bound, dive_->bound);
    return bound;
  }
  /// Branch on a predictor; return the number of the child that forbids it, after which comes the other.
  std::int64_t create_children(Trace& trace, std::int64_t node, Index predictor) {
    const std::int64_t child = n_created;
    n_created += 2;
    trace.record_step(StepKind::branch, node, child);
    trace.record_member(predictor);
    return child;
  }

 private:
  using Order = bool (*)(const Node&, const Node&);

  static bool is_after(const Node& a, const Node& b) {
    return a.bound != b.bound ? a.bound > b.bound : a.number > b.number;
  }
  static bool is_older(const Node& a, const Node& b) { return a.number < b.number; }
  Order order() const { return is_depth_first_ ? is_older : is_after; }

  std::vector<Node> heap_;
  std::optional<Node> dive_;
  std::size_t n_bytes_ = 0;
  bool is_depth_first_ = false;
};

}  // namespace shortlist
