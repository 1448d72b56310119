// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"
#include "symmetric_row.hpp"

namespace furrow {
namespace {

/// PER_ROW entries in every row, at places without pattern; symmetric, positive definite.
/// A ring of ROWS places with edges over a set of random distances is relabelled by a random permutation: every row has
/// the same number of entries, and which rows touch a column is known without storing anything. An even PER_ROW takes
/// the distance ROWS / 2 too; where ROWS is odd, half of the edges over one more distance.
struct scattered {
  index_t n, per_row;
  randomness random;
  permutation place;
  std::vector<index_t> distance;
  bool across = false;   ///< edges over n / 2
  index_t half_kept = 0; ///< the distance of which every other edge is there; 0 for none

  explicit scattered(const arguments& words)
      : n(words.rows({words.whole(0)})), per_row(words.whole(1)), random(words.seed()), place(n, random.key) {
    words.check_that(per_row <= n, "PER_ROW is larger than ROWS");
    const bool even = per_row % 2 == 0;
    across = even && n % 2 == 0;
    const index_t distances = per_row / 2 - (across ? 1 : 0), longest = (n - 1) / 2;
    // One in each of equal parts of [1, longest]: all different.
    for (index_t k = 0; k < distances; ++k) {
      const index_t first = cpu::part_begin(longest, distances, k), last = cpu::part_begin(longest, distances, k + 1);
      distance.push_back(1 + first + below(random.at(-1, k), last - first));
    }
    if (even && !across) {
      half_kept = distance.back();
      distance.pop_back();
    }
  }

  bool kept(index_t from) const { return random.at(-2, from) & 1; }
  index_t before(index_t u, index_t d) const { return u >= d ? u - d : u - d + n; }
  index_t after(index_t u, index_t d) const { return u + d < n ? u + d : u + d - n; }

  shape2 shape() const { return {n, n}; }
  index_t count(index_t i) const {
    index_t total = 1 + 2 * static_cast<index_t>(distance.size()) + (across ? 1 : 0);
    if (half_kept) {
      const index_t u = place.inverse(i);
      total += kept(u) + kept(before(u, half_kept));
    }
    return total;
  }
  void fill(index_t i, std::int32_t* col, double* val) const {
    const index_t u = place.inverse(i);
    index_t count = 0;
    const auto put = [&](index_t v) { col[count++] = static_cast<std::int32_t>(place(v)); };
    put(u);
    for (const index_t d : distance) {
      put(before(u, d));
      put(after(u, d));
    }
    if (across) put(after(u, n / 2));
    if (half_kept && kept(u)) put(after(u, half_kept));
    if (half_kept && kept(before(u, half_kept))) put(before(u, half_kept));
    dominant_row(random, i, col, val, count);
  }
};

/// Every place, values in [-1, 1), ROWS on the diagonal: symmetric, positive definite.
struct full {
  index_t n;
  randomness random;
  explicit full(const arguments& words) : n(words.rows({words.whole(0)})), random(words.seed()) {}

  shape2 shape() const { return {n, n}; }
  index_t entries() const { return n * n; }
  index_t count(index_t) const { return n; }
  void fill(index_t i, std::int32_t* col, double* val) const {
    for (index_t j = 0; j < n; ++j) {
      col[j] = static_cast<std::int32_t>(j);
      val[j] = i == j ? double(n) : 2 * unit(random.at(std::min(i, j), std::max(i, j))) - 1;
    }
  }
};

} // namespace

extern const generator_entry random_rows =
    generator_of<scattered>("random:ROWS:PER_ROW[:SEED]",
                            "PER_ROW entries a row at scattered places; symmetric, definite", "random:1000000:16");
extern const generator_entry dense =
    generator_of<full>("dense:N[:SEED]", "every entry of an N x N matrix; symmetric, definite", "dense:2000");

} // namespace furrow
