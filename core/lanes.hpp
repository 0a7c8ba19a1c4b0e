// Four doubles at a time, and sums over rows in the order of the source.
//
// Rows come in multiples of four, padded with rows of weight 0, so that no loop has a remainder. Compilers do not
// split a sum into lanes by themselves: these loops do, and so give the same bits however the compiler vectorises.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "memory.hpp"

namespace shortlist {

inline constexpr Index lane_count = 4;

/// The next multiple of four.
constexpr Index padded(Index n) { return (n + lane_count - 1) / lane_count * lane_count; }

#if defined(__GNUC__)

typedef double Lanes __attribute__((vector_size(32), may_alias));
typedef double UnalignedLanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef std::int64_t Bits __attribute__((vector_size(32), may_alias));

inline Lanes load(const double* values) { return *reinterpret_cast<const Lanes*>(values); }
inline Lanes load_unaligned(const double* values) { return *reinterpret_cast<const UnalignedLanes*>(values); }
inline void store(double* values, Lanes lanes) { *reinterpret_cast<Lanes*>(values) = lanes; }
inline Lanes broadcast(double value) { return Lanes{value, value, value, value}; }
inline Lanes select(Bits condition, Lanes yes, Lanes no) { return condition ? yes : no; }
/// 2^k for lanes that hold k in their low bits.
inline Lanes power_of_two(Lanes lanes) { return (Lanes)(((Bits)lanes + 1023) << 52); }

#else

struct Bits {
  std::array<bool, 4> lane;
};
struct Lanes {
  std::array<double, 4> lane;
  Lanes(double value = 0.0) : lane{value, value, value, value} {}  // so that operators take a number too
  double operator[](int i) const { return lane[static_cast<std::size_t>(i)]; }
};

template <class Operation>
Lanes by_lane(Lanes a, Lanes b, Operation operation) {
  for (std::size_t i = 0; i < 4; ++i) a.lane[i] = operation(a.lane[i], b.lane[i]);
  return a;
}
inline Lanes broadcast(double value) { return value; }
inline Lanes operator+(Lanes a, Lanes b) {
  return by_lane(a, b, [](double x, double y) { return x + y; });
}
inline Lanes operator-(Lanes a, Lanes b) {
  return by_lane(a, b, [](double x, double y) { return x - y; });
}
inline Lanes operator*(Lanes a, Lanes b) {
  return by_lane(a, b, [](double x, double y) { return x * y; });
}
inline Lanes operator/(Lanes a, Lanes b) {
  return by_lane(a, b, [](double x, double y) { return x / y; });
}
inline Lanes operator-(Lanes a) { return 0.0 - a; }
inline Lanes& operator+=(Lanes& a, Lanes b) { return a = a + b; }
inline Lanes& operator-=(Lanes& a, Lanes b) { return a = a - b; }
inline Lanes& operator*=(Lanes& a, Lanes b) { return a = a * b; }
inline Bits operator<(Lanes a, Lanes b) { return {{a[0] < b[0], a[1] < b[1], a[2] < b[2], a[3] < b[3]}}; }
inline Bits operator>(Lanes a, Lanes b) { return b < a; }
inline Bits operator&(Bits a, Bits b) {
  for (std::size_t i = 0; i < 4; ++i) a.lane[i] = a.lane[i] && b.lane[i];
  return a;
}
inline Lanes load(const double* values) {
  Lanes lanes;
  std::copy(values, values + 4, lanes.lane.begin());
  return lanes;
}
inline Lanes load_unaligned(const double* values) { return load(values); }
inline void store(double* values, Lanes lanes) {
  for (int i = 0; i < 4; ++i) values[i] = lanes[i];
}
inline Lanes select(Bits condition, Lanes yes, Lanes no) {
  for (std::size_t i = 0; i < 4; ++i) yes.lane[i] = condition.lane[i] ? yes.lane[i] : no.lane[i];
  return yes;
}
inline Lanes power_of_two(Lanes lanes) {
  for (double& value : lanes.lane) {
    value = std::bit_cast<double>((std::bit_cast<std::uint64_t>(value) + 1023u) << 52);
  }
  return lanes;
}

#endif

inline Lanes least(Lanes a, Lanes b) { return select(a < b, a, b); }
inline Lanes most(Lanes a, Lanes b) { return select(a > b, a, b); }
inline Lanes magnitude(Lanes a) { return most(a, -a); }
inline double sum(Lanes lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

/// Inner products of x with C others over n padded rows, with U accumulators for each.
template <int C, int U>
inline std::array<double, C> dots(const double* x, const std::array<const double*, C>& others, Index n) {
  Lanes sums[C][U] = {};
  Index m = 0;
  for (; m + lane_count * U <= n; m += lane_count * U) {
    for (int k = 0; k < U; ++k) {
      const Lanes t = load(x + m + lane_count * k);
      for (int c = 0; c < C; ++c) sums[c][k] += t * load(others[static_cast<std::size_t>(c)] + m + lane_count * k);
    }
  }
  for (; m < n; m += lane_count) {
    for (int c = 0; c < C; ++c) sums[c][0] += load(x + m) * load(others[static_cast<std::size_t>(c)] + m);
  }
  std::array<double, C> totals;
  for (int c = 0; c < C; ++c) {
    Lanes total = sums[c][0];
    for (int k = 1; k < U; ++k) total += sums[c][k];
    totals[static_cast<std::size_t>(c)] = sum(total);
  }
  return totals;
}

/// Inner products of each of four columns with V vectors over n padded rows, which share their loads.
template <int V>
inline std::array<std::array<double, V>, 4> slopes_of(const std::array<const double*, V>& vectors,
                                                      const std::array<const double*, 4>& columns, Index n) {
  std::array<std::array<double, V>, 4> slopes;
  if constexpr (V == 1) {
    const auto products = dots<4, 2>(vectors[0], columns, n);
    for (std::size_t c = 0; c < 4; ++c) slopes[c][0] = products[c];
  } else {
    Lanes sums[4][V] = {};
    for (Index m = 0; m < n; m += lane_count) {
      Lanes loaded[V];
      for (int k = 0; k < V; ++k) loaded[k] = load(vectors[static_cast<std::size_t>(k)] + m);
      for (std::size_t c = 0; c < 4; ++c) {
        const Lanes column = load(columns[c] + m);
        for (int k = 0; k < V; ++k) sums[c][k] += column * loaded[k];
      }
    }
    for (std::size_t c = 0; c < 4; ++c) {
      for (std::size_t k = 0; k < V; ++k) slopes[c][k] = sum(sums[c][k]);
    }
  }
  return slopes;
}

/// The inner product over n padded rows.
inline double dot(const double* x, const double* y, Index n) { return dots<1, 4>(x, {y}, n)[0]; }

/// The sum of n padded rows.
inline double total_of(const double* x, Index n) {
  Lanes first = broadcast(0.0), second = broadcast(0.0);
  Index m = 0;
  for (; m + 2 * lane_count <= n; m += 2 * lane_count) {
    first += load(x + m);
    second += load(x + m + lane_count);
  }
  if (m < n) first += load(x + m);
  return sum(first + second);
}

/// The inner product of n values at any address.
inline double short_dot(const double* x, const double* y, Index n) {
  Lanes total = broadcast(0.0);
  Index k = 0;
  for (; k + lane_count <= n; k += lane_count) total += load_unaligned(x + k) * load_unaligned(y + k);
  double rest = 0.0;
  for (; k < n; ++k) rest += x[k] * y[k];
  return sum(total) + rest;
}

}  // namespace shortlist
