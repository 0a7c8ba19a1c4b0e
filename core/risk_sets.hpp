// Who is at risk when: the order of rows that have a time to an event or to the end of their observation.
//
// Rows come by stratum, and within it in a block for each time at which rows have an event, the latest time first:
// before those with the event the rows whose observation ends at this time or until the next later one. So the rows at
// risk at a time are the rows of its block and of the blocks before it in the stratum, and sums over them are
// cumulated. Rows whose observation ends before the first event of their stratum are at risk at no time: there are none
// of them.
#pragma once

#include <vector>

#include "memory.hpp"

namespace shortlist {

/// A time at which rows have an event.
struct EventTime {
  Index begin, events, end;  // of its block; rows from `events` on have the event
  double weight;             // of the events
  Index n_terms;             // of the likelihood: the number of tied events (Efron), or 1 (Breslow)
  bool opens_stratum;        // whether it is the latest time of its stratum

  /// What a term takes off the events, which leave the risk set one after the other: 0, 1 / n, 2 / n, ...
  double share_gone(Index term) const { return static_cast<double>(term) / static_cast<double>(n_terms); }
  double weight_of_term() const { return weight / static_cast<double>(n_terms); }
};

struct RiskSets {
  std::vector<EventTime> times;

  Index n_times() const { return static_cast<Index>(times.size()); }
  Index n_rows() const { return times.empty() ? 0 : times.back().end; }
  double total_weight() const {
    double total = 0.0;
    for (const EventTime& time : times) total += time.weight;
    return total;
  }
};

}  // namespace shortlist
