// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"
#include "randomness.hpp"

namespace furrow {
namespace {

/// -div(k grad u) on N^3 points, x fastest, zero boundary values; k is 1 but for PERCENT of the points, at scattered
/// places, where it is in [1, 2). Between two points k is the mean of theirs, so the matrix is exactly symmetric.
struct varying {
  index_t n = 0, size = 0;
  double share = 0;
  randomness random;

  explicit varying(const arguments& words) : n(words.whole(0)), size(words.rows({n, n, n})), random(words.seed()) {
    const double percent = words.real(1);
    words.check_that(percent >= 0 && percent <= 100, "PERCENT must be between 0 and 100");
    share = percent / 100;
  }

  double k(index_t i) const { return unit(random.at(i)) < share ? 1 + unit(random.at(i, 1)) : 1; }

  shape2 shape() const { return {size, size}; }
  index_t entries() const { return size + 6 * n * n * (n - 1); }
  index_t count(index_t i) const {
    index_t total = 1;
    for (int d = 0; d < 3; ++d, i /= n) total += (i % n > 0) + (i % n < n - 1);
    return total;
  }
  void fill(index_t i, std::int32_t* col, double* val) const {
    const index_t at[3] = {i % n, i / n % n, i / n / n}, stride[3] = {1, n, n * n};
    const double own = k(i);
    double centre = 0, *diagonal = nullptr;
    const auto put = [&](index_t j, double value) {
      *col++ = static_cast<std::int32_t>(j);
      *val++ = value;
    };
    const auto toward = [&](bool there, index_t j) {
      const double between = there ? (own + k(j)) / 2 : own; // a boundary has the k of the point beside it
      centre += between;
      if (there) put(j, -between);
    };
    for (int d = 3; d-- > 0;) toward(at[d] > 0, i - stride[d]);
    diagonal = val;
    put(i, 0);
    for (int d = 0; d < 3; ++d) toward(at[d] < n - 1, i + stride[d]);
    *diagonal = centre;
  }
};

} // namespace

extern const generator_entry varying3d =
    generator_of<varying>("varying3d:N:PERCENT[:SEED]",
                          "-div(k grad u) on N x N x N points, k other than 1 in PERCENT of them", "varying3d:100:2");

} // namespace furrow
