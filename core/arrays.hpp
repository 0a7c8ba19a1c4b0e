// Arrays between Python and the core, for the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <string>

#include "problem.hpp"

namespace nb = nanobind;

namespace shortlist {

template <class T>
using InputVector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

inline void require(bool condition, const char* message) {
  if (!condition) throw nb::value_error(message);
}

Index length(const auto& array) { return static_cast<Index>(array.shape(0)); }

/// A new numpy array that owns its values.
inline Doubles new_array(Buffer<double> values) {
  auto* owned = new Buffer<double>(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<Buffer<double>*>(pointer); });
  return {owned->data(), {static_cast<std::size_t>(owned->size())}, owner};
}

inline Doubles new_array(const double* values, Index n) {
  Buffer<double> copy(n);
  std::copy(values, values + n, copy.begin());
  return new_array(std::move(copy));
}

/// A number for each column in the order of the given columns.
inline Doubles by_given_column(const Data& data, const Buffer<double>& values) {
  Buffer<double> given(values.size());
  const auto& columns = data.table()->columns();
  for (Index j = 0; j < values.size(); ++j) given[columns[static_cast<std::size_t>(j)]] = values[j];
  return new_array(std::move(given));
}

inline Decision decision_of(std::int8_t given) {
  require(0 <= given && given <= 2, "decisions: must be 0, 1 or 2.");
  return static_cast<Decision>(given);
}

/// The decisions that buy a support and nothing else.
inline Decisions selection_of(const Problem& problem, const std::vector<Index>& support) {
  Decisions decisions(problem.n_predictors(), Decision::out);
  for (const Index g : support) {
    require(0 <= g && g < problem.n_predictors(), "support: must be predictors.");
    decisions[g] = Decision::in;
  }
  return decisions;
}

inline FamilyKind family_of(const std::string& name) {
  if (name == "logistic") return FamilyKind::logistic;
  if (name == "squared_hinge") return FamilyKind::squared_hinge;
  if (name == "hinge") return FamilyKind::hinge;
  if (name == "squared_error") return FamilyKind::squared_error;
  if (name == "poisson") return FamilyKind::poisson;
  require(name == "cox", "family: must be logistic, squared_hinge, hinge, squared_error, poisson or cox.");
  return FamilyKind::cox;
}

}  // namespace shortlist
