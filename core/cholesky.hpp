// Small dense positive definite systems, in place.
//
// The factor's diagonal holds the inverses of its pivots: substitution then multiplies.
#pragma once

#include "memory.hpp"

namespace shortlist {

/// Replace rows first to n of the lower triangle by rows of its Cholesky factor; return whether it exists.
///
/// Rows before `first` hold the factor already.
bool factorise(Matrix& matrix, Index first, Index n);

/// Solve L y = b for the factor L; entries first to n of b become entries of y.
void forward(const Matrix& factor, Index first, Index n, double* b);

/// Solve L' x = b for the factor L; b becomes x.
void backward(const Matrix& factor, Index n, double* b);

/// Solve L L' x = b for the factor L; b becomes x.
inline void substitute(const Matrix& factor, Index n, double* b) {
  forward(factor, 0, n, b);
  backward(factor, n, b);
}

}  // namespace shortlist
