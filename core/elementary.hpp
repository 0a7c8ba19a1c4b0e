// Elementary functions in lanes, as polynomials, accurate to a few units in the last place.
#pragma once

#include "lanes.hpp"

namespace shortlist {

/// exp(x) for -700 <= x <= 700.
inline Lanes exp_of(Lanes x) {
  constexpr double log2_e = 1.4426950408889634;
  // ln 2 in two parts, so that k * high is exact for every exponent k that occurs.
  constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  constexpr double round = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves an integer in the low bits
  const Lanes rounded = x * log2_e + round;
  const Lanes k = rounded - round;
  const Lanes r = (x - k * ln2_high) - k * ln2_low;
  constexpr double inverse_factorials[] = {1.0 / 6227020800.0,
                                           1.0 / 479001600.0,
                                           1.0 / 39916800.0,
                                           1.0 / 3628800.0,
                                           1.0 / 362880.0,
                                           1.0 / 40320.0,
                                           1.0 / 5040.0,
                                           1.0 / 720.0,
                                           1.0 / 120.0,
                                           1.0 / 24.0,
                                           1.0 / 6.0,
                                           0.5,
                                           1.0,
                                           1.0};
  Lanes p = broadcast(inverse_factorials[0]);
  for (int i = 1; i < 14; ++i) p = p * r + inverse_factorials[i];
  return p * power_of_two(rounded);
}

/// log(1 + e) = 2 atanh(e / (2 + e)) for 0 <= e <= 1.
inline Lanes log1p_of_share(Lanes e) {
  const Lanes s = e / (2.0 + e);
  const Lanes square = s * s;
  Lanes p = broadcast(1.0 / 31.0);
  for (int k = 29; k >= 1; k -= 2) p = p * square + 1.0 / k;
  return 2.0 * s * p;
}

/// A bound on f(x) = (1 + x) log(1 + x) - x for x >= -1, without a logarithm.
///
/// It is the Taylor polynomial x^2 (1/2 - x/6 + x^2/12), plus |x|^5 / 4 where x < 0, 1/4 being the sum of
/// 1 / (k (k - 1)) over k >= 5.
inline Lanes bounded_x_log_x(Lanes x) {
  const Lanes low = most(-x, broadcast(0.0));
  return x * x * (0.5 - x / 6.0 + x * x / 12.0 + 0.25 * low * low * low);
}

}  // namespace shortlist
