// The quadratic model of the loss on the working set: a weighted Gram matrix, kept across nodes.
//
// The intercept is eliminated: with curvatures d, the model's Hessian on columns i, j is
// sum d x_i x_j - (sum d s x_i)(sum d s x_j) / sum d, where s is the intercept's column. Without that, min-max scaled
// columns are all nearly parallel to the constant and coordinate descent crawls.
//
// The matrix may be stale, that is, belong to another point: the gradient is always exact, so a stale Hessian costs
// steps and never correctness.
#pragma once

#include "point.hpp"

namespace shortlist {

class Gram {
 public:
  Gram(const Problem& problem, Index max_columns);

  Matrix matrix;
  Buffer<double> mean;     // weighted means of the columns
  Buffer<Index> member;    // the column at each place
  Buffer<Index> position;  // the place of each column, or -1
  Index n_columns = 0;     // places in use
  double total = 0.0;      // of the curvatures

  /// Renew the curvatures if they are off by the share `stale`; add what the working set lacks.
  ///
  /// It needs what is nonzero, what is bought, and what has at least the value worth * price.
  void update(const Buffer<double>& theta, const CurvatureAt& curvature, const Decisions& decisions,
              const Buffer<double>& value, const Buffer<double>& price, double worth, double stale);

 private:
  bool is_stale(const double* d, double share) const;
  void reset(const CurvatureAt& curvature);
  void fill_rows(Index first, Index last);
  void weigh(Index first, Index last);
  void add_products(Index first, Index last, Index row);

  const Problem& problem_;
  Buffer<double> d_, e_, by_time_;  // the curvatures that the matrix belongs to
  Buffer<double> weighted_;         // the column of the intercept times d
  Matrix block_;                    // columns times d
  // Where rows are coupled columns are weighted as a whole: some columns times W.
  Matrix coupled_, batch_;
  Buffer<double> scratch_;
};

}  // namespace shortlist
