// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "norm_estimate.hpp"

#include <furrow/coo.hpp>
#include <furrow/operator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace furrow::lu {

/// Two searches whose products are solves with A or with A', of two vectors at once wherever two are wanted: most of a
/// solve is reading the factors. B = A^-1 for |A^-1|_1, and B = D A'^-1 with the row sums D of |A|, for
/// | |A^-1| |A| |_inf = |A^-1 D|_inf = |D A'^-1|_1.
template <class Solve> class condition_search {
public:
  condition_search(const host_array<double>& row_sum, const Solve& solve)
      : row_sum_(row_sum), solve_(solve), of_inverse_(row_sum.size()), of_rows_(row_sum.size()) {}

  void run() {
    for (bool transposed = false; !all_done(); transposed = !transposed) {
      const bool one = wants(of_inverse_, transposed), other = wants(of_rows_, !transposed);
      if (one && other) {
        before(transposed);
        solve_(of_inverse_.x(), of_rows_.x(), transposed);
        after(transposed);
        of_inverse_.take();
        of_rows_.take();
      } else if (one) {
        with_check(of_inverse_, transposed);
      } else if (other) {
        before(transposed);
        with_check(of_rows_, transposed);
      } else if (norm_search& s = transposed ? of_rows_ : of_inverse_; all_searched() && s.wants_check()) {
        host_array<double> v = s.check();
        solve_(v.data(), nullptr, transposed);
        take_check(s, v);
      }
    }
  }

  double norm_of_inverse() const { return of_inverse_.estimate(); }
  double skeel() const { return of_rows_.estimate(); }

private:
  static bool wants(const norm_search& s, bool transposed) {
    return !s.wants_nothing() && s.wants_transposed() == transposed;
  }
  bool all_searched() const { return of_inverse_.wants_nothing() && of_rows_.wants_nothing(); }
  bool all_done() const { return all_searched() && !of_inverse_.wants_check() && !of_rows_.wants_check(); }
  void by_row_sums(double* x) const {
    for (index_t i = 0; i < row_sum_.size(); ++i) x[i] *= row_sum_[i];
  }
  /// B' of the second search is A^-1 D: D comes before a solve with A, and after one with A'.
  void before(bool transposed) {
    if (!transposed) by_row_sums(of_rows_.x());
  }
  void after(bool transposed) {
    if (transposed) by_row_sums(of_rows_.x());
  }
  void take_check(norm_search& s, host_array<double>& v) {
    if (&s == &of_rows_) by_row_sums(v.data());
    s.take_check(v);
  }
  /// The vector that one of the searches wants multiplied, and beside it the one of either that can be at any time.
  void with_check(norm_search& s, bool transposed) {
    norm_search& other = transposed ? of_rows_ : of_inverse_;
    const bool two = other.wants_check();
    host_array<double> v = two ? other.check() : host_array<double>();
    solve_(s.x(), two ? v.data() : nullptr, transposed);
    if (&s == &of_rows_) after(transposed);
    s.take();
    if (two && other.wants_check()) take_check(other, v);
  }

  const host_array<double>& row_sum_;
  const Solve& solve_;
  norm_search of_inverse_, of_rows_;
};

/// Of A, by `solve(x, y, transposed)`: x <- A^-1 x and y <- A^-1 y, or with A'; y may be null. Some six of them, mostly
/// of two vectors, and a pass over the entries.
template <class V, class Solve> condition_numbers condition_of(const coo<V>& a, const Solve& solve) {
  condition_numbers known;
  const index_t n = a.shape.rows;
  if (n == 0) return known;
  host_array<double> row_sum(n, 0.0), col_sum(n, 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) {
    const double size = std::abs(double(a.val[k]));
    row_sum[a.row[k]] += size;
    col_sum[a.col[k]] += size;
  }
  condition_search<Solve> search(row_sum, solve);
  search.run();
  known.norm_1 = *std::ranges::max_element(col_sum) * search.norm_of_inverse();
  known.skeel = search.skeel();
  for (double* c : {&known.norm_1, &known.skeel}) // a product left the range
    if (!(*c > 0)) *c = std::numeric_limits<double>::infinity();
  return known;
}

/// The largest element of |A^-1| d for d >= 0, about, by some six solves: | |A^-1| d |_inf = |D A'^-1|_1.
/// `solve(x, transposed)`: x <- A^-1 x, or A'^-1 x.
template <class Solve> double amplified(const host_array<double>& d, const Solve& solve) {
  const auto by_d = [&](double* x) {
    for (index_t i = 0; i < d.size(); ++i) x[i] *= d[i];
  };
  return norm_1_estimate(
      d.size(), [&](double* x) { solve(x, true), by_d(x); }, [&](double* x) { by_d(x), solve(x, false); });
}

/// What a preconditioner is besides that is A^-1 by complete factors.
struct amplifies_errors {
  /// The largest element of |A^-1| d, as above, beside `size`, that of x: what errors of as much as d in the equations
  /// make of it. Units of rows and columns do not leave the range.
  virtual double amplified(const host_array<double>& d, double size) const = 0;
  /// Whether nobody knows the condition number, for the factors are those of a matrix too far from A.
  virtual bool hides_condition() const = 0;
  /// Whether rounding alone may have made a pivot, in whatever units rows and columns are: then nothing that the
  /// factors tell of A^-1 need be so, but that it is large.
  virtual bool is_blurred() const = 0;

protected:
  ~amplifies_errors() = default;
};

} // namespace furrow::lu
