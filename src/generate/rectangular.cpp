// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"
#include "randomness.hpp"

namespace furrow {
namespace {

/// PER_ROW entries in every row of a ROWS x COLS matrix, one at a random place in each of equal parts of the row.
/// Values in [-1, 1).
struct oblong {
  index_t rows, cols, per_row;
  randomness random;

  explicit oblong(const arguments& words)
      : rows(words.rows({words.whole(0)})), cols(words.rows({words.whole(1)})), per_row(words.whole(2)),
        random(words.seed()) {
    words.check_that(per_row <= cols, "PER_ROW is larger than COLS");
  }

  shape2 shape() const { return {rows, cols}; }
  index_t entries() const { return rows * per_row; }
  index_t count(index_t) const { return per_row; }
  void fill(index_t i, std::int32_t* col, double* val) const {
    for (index_t k = 0; k < per_row; ++k) {
      const index_t first = cpu::part_begin(cols, per_row, k), last = cpu::part_begin(cols, per_row, k + 1);
      const std::uint64_t bits = random.at(i, k);
      col[k] = static_cast<std::int32_t>(first + below(bits, last - first));
      val[k] = 2 * unit(mix(bits)) - 1;
    }
  }
};

} // namespace

extern const generator_entry rectangular =
    generator_of<oblong>("rectangular:ROWS:COLS:PER_ROW[:SEED]",
                         "PER_ROW entries a row at scattered places of ROWS x COLS", "rectangular:4000:1000000:2500");

} // namespace furrow
