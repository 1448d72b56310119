// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"
#include "power.hpp"
#include "randomness.hpp"

namespace furrow {
namespace {

/// Row lengths by a power law: rows of k entries are about k^-ALPHA as frequent, MEAN entries a row on average.
/// The rows are ranked by a random permutation; rank r has MEAN (1 - s) ((r + 1/2) / ROWS)^-s entries, s = 1 / (ALPHA -
/// 1), rounded up or down at random, ROWS at the most. Columns: one in each of equal parts of the row. Values in
/// [-1, 1). General: neither symmetric nor square in its pattern.
struct skewed {
  index_t n;
  double mean, slope, scale;
  randomness random;
  permutation rank;

  explicit skewed(const arguments& words)
      : n(words.rows({words.whole(0)})), mean(words.real(1)), slope(words.real(2)), scale(0), random(words.seed()),
        rank(n, random.key) {
    words.check_that(mean > 0 && mean <= double(n), "MEAN must be positive and at most ROWS");
    words.check_that(slope > 2 && slope <= 100, "ALPHA must be larger than 2 and at most 100");
    slope = 1 / (slope - 1);
    scale = mean * (1 - slope);
  }

  shape2 shape() const { return {n, n}; }
  index_t count(index_t i) const {
    const double length = scale * portable_power((double(rank(i)) + 0.5) / double(n), -slope);
    if (length >= double(n)) return n;
    return std::min(n, static_cast<index_t>(length + unit(random.at(i, -1))));
  }
  void fill(index_t i, std::int32_t* col, double* val) const {
    const index_t parts = count(i);
    for (index_t k = 0; k < parts; ++k) {
      const index_t first = cpu::part_begin(n, parts, k), last = cpu::part_begin(n, parts, k + 1);
      const std::uint64_t bits = random.at(i, k);
      col[k] = static_cast<std::int32_t>(first + below(bits, last - first));
      val[k] = 2 * unit(mix(bits)) - 1;
    }
  }
};

} // namespace

extern const generator_entry powerlaw =
    generator_of<skewed>("powerlaw:ROWS:MEAN:ALPHA[:SEED]",
                         "row lengths by a power law of exponent ALPHA > 2; nonsymmetric", "powerlaw:1000000:16:2.2");

} // namespace furrow
