// The moment at which a search is to stop, looked at inside of whatever takes long.
//
// Long loops say how many entries they have read. Now and then that looks at the clock, and asks whether the user has
// interrupted the search. Nothing else depends on it: a search that reaches no limit is the same to the last bit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace shortlist {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// Thrown where work is broken off.
  struct Passed {};

  /// The thread that makes it asks `is_interrupted`, the others that watch it do not.
  Deadline(Clock::time_point end, std::function<bool()> is_interrupted)
      : end_(end), is_interrupted_(std::move(is_interrupted)), next_question_(Clock::now() + between_questions) {}
  Deadline(const Deadline&) = delete;

  bool has_passed() {
    const Clock::time_point now = Clock::now();
    if (std::this_thread::get_id() == owner_ && !has_passed_ && now >= next_question_) {
      has_passed_ = is_interrupted_();
      next_question_ = now + between_questions;
    }
    if (now >= end_) has_passed_ = true;
    return has_passed_;
  }

  /// As long as it lives, the deadline holds for this thread.
  class Watch {
   public:
    explicit Watch(Deadline& deadline) : before_(watched_) { watched_ = &deadline; }
    Watch(const Watch&) = delete;
    ~Watch() { watched_ = before_; }

   private:
    Deadline* before_;
  };

  /// Whether to stop, after that many more entries of a matrix were read.
  static bool is_over(double entries) {
    if (watched_ == nullptr) return false;
    entries_left_ -= entries;
    if (entries_left_ > 0.0) return watched_->has_passed_;
    entries_left_ = between_looks;
    return watched_->has_passed();
  }
  static void check(double entries) {
    if (is_over(entries)) throw Passed{};
  }

 private:
  static constexpr std::chrono::milliseconds between_questions{50};
  static constexpr double between_looks = 1e7;  // entries: some milliseconds

  const Clock::time_point end_;
  const std::function<bool()> is_interrupted_;
  const std::thread::id owner_ = std::this_thread::get_id();
  Clock::time_point next_question_;
  std::atomic<bool> has_passed_ = false;

  inline static thread_local Deadline* watched_ = nullptr;
  inline static thread_local double entries_left_ = 0.0;
};

/// The entries of a matrix, as a number that `Deadline::check` takes.
inline double entries_of(std::int64_t n_rows, std::int64_t n_columns) {
  return static_cast<double>(n_rows) * static_cast<double>(n_columns);
}

}  // namespace shortlist
