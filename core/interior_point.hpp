// The hinge on a fixed support: a primal-dual interior-point method.
//
// With s = 1 + u, a slack x >= max(s, 0) for each row and p = x - s, the optimum has a p = 0 and (1 - a) x = 0. The
// method follows the points at which both are mu, towards mu = 0: predictor and corrector steps after Mehrotra (SIAM
// Journal on Optimization, 1992), about ten whatever the data.
//
// Its a does not belong to a model, and a proof records nothing else. So the end is a Newton step on a narrow band (see
// `Hinge`) whose rows are those with a between 0 and 1.
#pragma once

#include "newton.hpp"

namespace shortlist {

/// Fit fit.theta on the n listed columns; returns what `Fit::fit` does.
///
/// A coarse fit ends on a wide band, whose curvatures say something about other columns; on a narrow band they do not.
FitScore fit_hinge(Fit& fit, Index n, double cutoff, double tolerance, bool is_coarse);

}  // namespace shortlist
