// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"
#include "symmetric_row.hpp"

namespace furrow {
namespace {

/// PER_ROW entries a row within HALF_BAND of the diagonal (fewer in the first and last HALF_BAND rows); symmetric,
/// positive definite.
/// The distances 1 to HALF_BAND are cut into parts, one for every two entries of a row. In each part a one-to-one map
/// takes place i to a place at a distance of that part: blocks of places are shifted and shuffled, by a permutation
/// each. So a row has one neighbour before and one after it in each part, and which ones is known without storing
/// anything. An even PER_ROW keeps every other edge of the last part.
struct band {
  index_t n, per_row, half;
  index_t parts = 0;
  bool last_is_half = false;
  randomness random;

  explicit band(const arguments& words)
      : n(words.rows({words.whole(0)})), per_row(words.whole(1)), half(words.whole(2, 0)), random(words.seed()) {
    words.check_that(per_row <= 2 * std::min(half, n) + 1, "PER_ROW is larger than 2 HALF_BAND + 1");
    words.check_that(half < n, "HALF_BAND must be smaller than ROWS");
    parts = per_row / 2;
    last_is_half = per_row % 2 == 0;
  }

  struct map {
    index_t shift, block; ///< i goes to shift + its block's begin + a shuffled place in the block
  };
  map map_of(index_t part) const {
    const index_t first = cpu::part_begin(half, parts, part), last = cpu::part_begin(half, parts, part + 1);
    const index_t block = (last - first + 1) / 2; // shuffling moves by less than a block, both ways
    return {1 + first + block - 1, block};
  }
  permutation shuffle(index_t part, index_t block, const map& m) const {
    return {m.block, random.at(-1 - part, block)};
  }
  bool kept(index_t part, index_t from) const { return !last_is_half || part + 1 < parts || (random.at(-1, from) & 1); }

  /// The neighbour after i in this part, or -1.
  index_t after(index_t part, index_t i) const {
    const map m = map_of(part);
    const index_t b = i / m.block;
    const index_t j = m.shift + b * m.block + shuffle(part, b, m)(i % m.block);
    return j < n && kept(part, i) ? j : -1;
  }
  /// The neighbour before j in this part, or -1.
  index_t before(index_t part, index_t j) const {
    const map m = map_of(part);
    if (j < m.shift) return -1;
    const index_t b = (j - m.shift) / m.block;
    const index_t i = b * m.block + shuffle(part, b, m).inverse((j - m.shift) % m.block);
    return kept(part, i) ? i : -1;
  }

  shape2 shape() const { return {n, n}; }
  index_t count(index_t i) const {
    if (!last_is_half && i >= half && i + half < n) return per_row;
    index_t total = 1;
    for (index_t p = 0; p < parts; ++p) total += (before(p, i) >= 0) + (after(p, i) >= 0);
    return total;
  }
  void fill(index_t i, std::int32_t* col, double* val) const {
    index_t count = 0;
    const auto put = [&](index_t j) {
      if (j >= 0) col[count++] = static_cast<std::int32_t>(j);
    };
    put(i);
    for (index_t p = 0; p < parts; ++p) {
      put(before(p, i));
      put(after(p, i));
    }
    dominant_row(random, i, col, val, count);
  }
};

} // namespace

extern const generator_entry banded = generator_of<band>(
    "banded:ROWS:PER_ROW:HALF_BAND[:SEED]",
    "PER_ROW entries a row within HALF_BAND of the diagonal; symmetric, definite", "banded:1000000:16:1000");

} // namespace furrow
