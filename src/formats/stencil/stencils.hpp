// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"
#include "core/sample.hpp"
#include "core/sorted_by_keys.hpp"

#include <furrow/stats.hpp>
#include <furrow/value.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

/// Rows that have the same stencil: as many entries, at the same distances from the diagonal, with values of the same
/// bits.
namespace furrow {

/// The entries [begin, begin + count) of a row.
struct row_entries {
  index_t row = 0, begin = 0, count = 0;
};

/// A stencil, by the first row that has it.
struct seen_stencil {
  row_entries first;
  std::uint64_t hash = 0;
  index_t uses = 0;
};

/// The distinct stencils of rows whose columns and values lie in two arrays, in the order in which they are first seen.
/// A hash finds a stencil and every entry is compared, so that none is taken for another.
template <class V, class C> class stencil_set {
public:
  stencil_set(const C* col, const V* val) : col_(col), val_(val), place_(64, none) {}

  /// The number of the row's stencil. A row that is like the one before costs a comparison of its entries, and no hash.
  std::size_t add(const row_entries& r) {
    if (last_ != none && same(found_[last_].first, r)) {
      ++found_[last_].uses;
      return last_;
    }
    return merge({r, hash(r), 1});
  }
  /// So many rows more that have the stencil of the one added last.
  void add_more(index_t rows) { found_[last_].uses += rows; }
  /// One that another set of rows of the same arrays has seen, `s.uses` times.
  std::size_t merge(const seen_stencil& s) {
    std::size_t at = place(s);
    if (place_[at] == none) {
      if (2 * found_.size() >= place_.size()) {
        grow();
        at = place(s);
      }
      place_[at] = static_cast<std::uint32_t>(found_.size());
      found_.push_back({s.first, s.hash, 0});
    }
    last_ = place_[at];
    found_[last_].uses += s.uses;
    return last_;
  }
  const std::vector<seen_stencil>& found() const { return found_; }

  std::uint64_t hash(const row_entries& r) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    std::uint64_t h = static_cast<std::uint64_t>(r.count);
    for (index_t k = r.begin; k < r.begin + r.count; ++k) {
      const auto offset = static_cast<std::uint64_t>(index_t(col_[k]) - r.row);
      h = (std::rotl(h, 23) ^ offset ^ std::uint64_t(std::bit_cast<bits>(val_[k])) * 0xff51afd7ed558ccd) * odd;
    }
    return h ^ h >> 32;
  }
  bool same(const row_entries& a, const row_entries& b) const {
    if (a.count != b.count) return false;
    const C *const ca = col_ + a.begin, *const cb = col_ + b.begin;
    const V *const va = val_ + a.begin, *const vb = val_ + b.begin;
    const index_t apart = b.row - a.row;
    bool all = true;
    for (index_t k = 0; k < a.count; ++k)
      all &= index_t(ca[k]) + apart == index_t(cb[k]) && std::bit_cast<bits>(va[k]) == std::bit_cast<bits>(vb[k]);
    return all;
  }

private:
  using bits = bits_of<V>;
  static constexpr std::uint32_t none = 0xffffffff;

  /// Where the stencil is, or where it would be.
  std::size_t place(const seen_stencil& s) const {
    const std::size_t mask = place_.size() - 1;
    std::size_t at = s.hash & mask;
    while (place_[at] != none && !(found_[place_[at]].hash == s.hash && same(found_[place_[at]].first, s.first)))
      at = (at + 1) & mask;
    return at;
  }
  void grow() {
    place_.assign(4 * place_.size(), none);
    const std::size_t mask = place_.size() - 1;
    for (std::size_t k = 0; k < found_.size(); ++k) {
      std::size_t at = found_[k].hash & mask;
      while (place_[at] != none) at = (at + 1) & mask;
      place_[at] = static_cast<std::uint32_t>(k);
    }
  }

  const C* col_;
  const V* val_;
  std::vector<std::uint32_t> place_; ///< numbers by their hashes; at most half of them are in use
  std::vector<seen_stencil> found_;
  std::uint32_t last_ = none;
};

/// A table of stencils holds at most so many entries and stencils together: 48 KiB of f64, which is what a block of a
/// GPU has without asking, less what its sums take.
inline constexpr index_t most_stencil_places = 4080;
/// As long as a table is no larger than this, stencils that one row has are in it, too.
inline constexpr index_t small_stencil_table = 512;
/// Stencils whose numbers fit one byte; one number more means that the row has none of the table.
inline constexpr index_t short_stencil_numbers = 255;

/// The stencils of a table in the order of their numbers: the most frequent first, of equally frequent ones the one
/// whose first row comes first. Numbers take two bytes only where the rows with those above 255 have more than an entry
/// for every eight bytes that this adds.
inline std::vector<std::size_t> choose_stencils(const std::vector<seen_stencil>& found, index_t rows) {
  constexpr std::uint64_t most = 0x7fffffff; // rows of what has stencils
  std::vector<keyed_number> sorted(found.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    const auto uses = static_cast<std::uint64_t>(found[k].uses);
    sorted[k] = {(most - uses) << 32 | static_cast<std::uint64_t>(found[k].first.row), static_cast<std::uint32_t>(k)};
  }
  sort_by_keys(sorted);
  index_t places = 0, entries_by_word = 0;
  std::size_t taken = 0;
  for (; taken < sorted.size(); ++taken) {
    const seen_stencil& s = found[sorted[taken].number];
    places += s.first.count + 1;
    if (places > most_stencil_places || (places > small_stencil_table && s.uses == 1)) break;
    if (index_t(taken) >= short_stencil_numbers) entries_by_word += s.first.count * s.uses;
  }
  if (8 * entries_by_word <= rows) taken = std::min(taken, std::size_t(short_stencil_numbers));
  std::vector<std::size_t> order(taken);
  for (std::size_t k = 0; k < taken; ++k) order[k] = sorted[k].number;
  return order;
}

inline constexpr index_t stencils_counted = 1 << 15;

/// What the look of stencil finds: what a table takes that holds the most frequent stencils once each, and what is left
/// beside it.
struct row_stencils {
  index_t stencils = 0;      ///< in the table; 0: rows hardly ever share one, or not known
  double changes = 1;        ///< share of the rows whose stencil is not that of the row before
  index_t places = 0;        ///< entries in the table
  double rows_beside = 1;    ///< share of the rows that have none of them
  double entries_beside = 1; ///< share of the entries, those of these rows

  estimate_numbers numbers() const { return {double(stencils), changes, double(places), rows_beside, entries_beside}; }
};
row_stencils row_stencils_of(const stats& s);

/// The rows that the look of stencil takes: 1024 runs of up to 32 rows, one in each of as many equal parts of the
/// matrix, at a place that does not repeat with the part as lines of a grid do; all rows of a matrix that has at most
/// `stencils_counted` rows and few enough entries (`sampled_rows`).
struct sampled_runs {
  index_t rows, count, run; ///< run: 0 where all rows are taken

  /// Of which so many are looked at: rare stencils are not found in fewer, and they make the table.
  static constexpr index_t most_entries = index_t(1) << 17;
  static sampled_runs of(const stats& s) {
    constexpr index_t most = 1024;
    const index_t rows = s.shape.rows, counted = sampled_rows(s, stencils_counted / 8, stencils_counted, most_entries);
    return {rows, std::min(rows, most), rows <= counted ? 0 : counted / most};
  }
  FURROW_HD row_range operator[](index_t k) const {
    const spread_rows parts{rows, 1, rows, count};
    const index_t begin = parts.part(k), part = parts.part(k + 1) - begin;
    if (run == 0) return {begin, part};
    const index_t first = begin + scattered(k, part);
    return {first, rows - first < run ? rows - first : run};
  }
  /// The n-th row that is looked at, of `total()`; -1: none, behind the end of a run.
  FURROW_HD index_t row_at(index_t n) const {
    if (run == 0) return n;
    const index_t row = (*this)[n / run].first + n % run;
    return row < rows ? row : -1;
  }
  FURROW_HD index_t total() const { return run ? count * run : rows; }
  /// Whether that row is the first of its run.
  FURROW_HD bool leads(index_t n, index_t row) const {
    if (run) return n % run == 0;
    const index_t share = rows / count, longer = rows % count; // the first `longer` runs have a row more
    return row < longer * (share + 1) ? row % (share + 1) == 0 : (row - longer) % share == 0;
  }
};

/// Whether so few of the first rows of runs have the stencil of another one that no table is worth looking for.
inline bool hardly_shared(index_t different, index_t runs) { return 4 * different > 3 * runs; }

/// The table of those that a look has found. pairs: neighbours that it saw; changes: those of them that differ.
inline row_stencils table_of(const std::vector<seen_stencil>& found, index_t seen, index_t entries, index_t pairs,
                             index_t changes) {
  row_stencils table;
  index_t rows_taken = 0, entries_taken = 0;
  for (const std::size_t k : choose_stencils(found, seen)) {
    const seen_stencil& s = found[k];
    ++table.stencils;
    table.places += s.first.count;
    rows_taken += s.uses;
    entries_taken += s.uses * s.first.count;
  }
  table.changes = pairs ? double(changes) / double(pairs) : 1;
  table.rows_beside = seen ? double(seen - rows_taken) / double(seen) : 1;
  table.entries_beside = entries ? double(entries - entries_taken) / double(entries) : 0;
  return table;
}

} // namespace furrow
