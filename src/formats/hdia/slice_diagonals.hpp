// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "strips.hpp"

#include "backends/cpu/isa.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace furrow {

/// How a slice is stored: diagonals with at least `least` entries that are not 0 are strips, the other entries lie
/// beside them in rows that are padded to the longest one. An entry 0 is never in a strip, where it would not be told
/// from padding.
struct strip_plan {
  index_t least = 1, strips = 0, width = 0;
};

/// Finds diagonals by their offsets (column minus row) in a table that has a place for each of the matrix.
class diagonal_places {
public:
  explicit diagonal_places(shape2 shape)
      : main_(shape.rows - 1), rows_(static_cast<std::size_t>(std::max<index_t>(shape.rows + shape.cols - 1, 0))) {}
  /// Whether a second cache holds the places, and so many entries are worth their clearing.
  static bool serve(shape2 shape, double entries) {
    constexpr index_t most = index_t(1) << 19;
    const index_t places = shape.rows + shape.cols;
    return places <= most && double(places) <= 4 * entries;
  }

  void next_slice() {}
  void make_room(std::size_t) {}
  std::size_t place_of(std::int32_t offset) { return static_cast<std::size_t>(offset + main_); }
  std::int32_t offset_at(std::size_t place) const { return static_cast<std::int32_t>(index_t(place) - main_); }
  std::uint16_t& at(std::size_t place) { return rows_[place]; }

private:
  index_t main_;
  std::vector<std::uint16_t> rows_;
};

/// The same of a large matrix, by a hash.
class hashed_diagonals {
public:
  explicit hashed_diagonals(shape2) {}
  void next_slice() { ++slice_; }
  /// For so many diagonals of a slice that none was asked for yet.
  void make_room(std::size_t diagonals) {
    if (4 * diagonals <= key_.size()) return;
    while (4 * diagonals > key_.size()) key_.resize(2 * key_.size()), --shift_;
    std::ranges::fill(key_, 0);
    rows_.assign(key_.size(), 0);
  }
  std::size_t place_of(std::int32_t offset) {
    const std::uint64_t key = std::uint64_t(slice_) << 32 | static_cast<std::uint32_t>(offset);
    const std::size_t mask = key_.size() - 1;
    std::size_t at = static_cast<std::uint32_t>(offset) * std::uint32_t(0x9e3779b1) >> shift_;
    while ((key_[at] ^ key) - 1 < 0xffffffff) at = (at + 1) & mask; // of this slice, but another diagonal
    key_[at] = key;
    return at;
  }
  std::int32_t offset_at(std::size_t place) const { return static_cast<std::int32_t>(key_[place]); }
  std::uint16_t& at(std::size_t place) { return rows_[place]; }

private:
  static constexpr int bits = 10;
  std::uint32_t slice_ = 0;                                                   ///< counted from 1
  int shift_ = 32 - bits;                                                     ///< from a hash to a place
  std::vector<std::uint64_t> key_ = std::vector<std::uint64_t>(1 << bits);    ///< the slice and the offset
  std::vector<std::uint16_t> rows_ = std::vector<std::uint16_t>(key_.size()); ///< 0 where nothing of this slice is
};

/// The diagonals of a slice. A diagonal is a word with a bit for each row that has an entry in it: what a plan needs is
/// counted by diagonals, sixteen rows at once.
template <class Places> class slice_diagonals {
public:
  explicit slice_diagonals(shape2 shape) : places_(shape) {}

  /// The cheapest plan of least = 8, 4, 2 and 1: a place beside strips, which has a column, costs as much as two in
  /// strips. Entry n of `count` is val[n] at (row[n], col[n]), in the 16 rows from `first_row` on. The plan before must
  /// have been split or left.
  template <class V>
  strip_plan plan(const std::int32_t* row, const std::int32_t* col, const V* val, index_t count,
                  std::int32_t first_row) {
    find(row, col, val, count, first_row);
    // Of diagonals with fewer than 2, 4 and 8 entries: how many there are, and how many entries of each row they have.
    std::array<index_t, kinds> fewer{};
    std::array<lanes, kinds> beside{zeros_, zeros_, zeros_, zeros_};
    cpu::widest([&]() FURROW_INLINE {
      lanes two = zeros_, four = zeros_, eight = zeros_;
      for (std::size_t d = 0; d < found_; ++d) {
        const std::uint32_t rows = places_.at(list_[d]);
        const int entries = std::popcount(rows);
        const auto rows_if = [&](bool is) FURROW_INLINE { return static_cast<std::int32_t>(rows & (0U - is)); };
        const auto add = [&](lanes& to, bool is) FURROW_INLINE { to += rows_if(is) >> lane & 1; };
        add(two, entries < 2), add(four, entries < 4), add(eight, entries < 8);
        fewer[1] += entries < 2, fewer[2] += entries < 4, fewer[3] += entries < 8;
      }
      beside = {zeros_, two, four, eight};
    });
    strip_plan best;
    index_t fewest = std::numeric_limits<index_t>::max();
    for (std::size_t kind = kinds; kind-- > 0;) {
      const index_t strips = index_t(found_) - fewer[kind];
      std::int32_t width = 0;
      for (std::size_t i = 0; i < strip_height; ++i) width = std::max(width, beside[kind][i]);
      if (strips + 2 * width >= fewest) continue;
      fewest = strips + 2 * width;
      best = {index_t(1) << kind, strips, width};
    }
    return best;
  }

  /// Of the slice planned last: strip(offset) for each strip, by ascending offset; then entry(n, r) for each of its
  /// entries, which lies in the r-th strip, or in none where r is -1.
  template <class V, class Strip, class Entry>
  void split(index_t least, const std::int32_t* row, const std::int32_t* col, const V* val, index_t count,
             Strip&& strip, Entry&& entry) {
    std::size_t strips = 0;
    offset_.resize(found_), rank_.resize(found_), strip_.resize(found_);
    for (std::size_t d = 0; d < found_; ++d) { // without branches
      std::uint16_t& rows = places_.at(list_[d]);
      offset_[strips] = places_.offset_at(list_[d]);
      strip_[strips] = list_[d];
      strips += std::popcount(rows) >= least;
      rows = 0;
    }
    sort(strips);
    for (std::size_t k = 0; k < strips; ++k) strip(sorted_[k]);
    for (std::size_t k = 0; k < strips; ++k) places_.at(strip_[k]) = static_cast<std::uint16_t>(rank_[k] + 1);
    if (strips < 0xffff)
      for (index_t n = 0; n < count; ++n) {
        const std::int32_t r = std::int32_t(places_.at(places_.place_of(col[n] - row[n]))) - 1;
        entry(n, val[n] == 0 ? -1 : r);
      }
    else
      for (index_t n = 0; n < count; ++n) { // ranks do not fit the table
        const auto found = std::lower_bound(sorted_.begin(), sorted_.begin() + strips, col[n] - row[n]);
        const bool is = found != sorted_.begin() + strips && *found == col[n] - row[n] && val[n] != 0;
        entry(n, is ? static_cast<std::int32_t>(found - sorted_.begin()) : -1);
      }
    for (std::size_t k = 0; k < strips; ++k) places_.at(strip_[k]) = 0;
    found_ = 0;
  }
  /// In place of a split.
  void leave() {
    for (std::size_t d = 0; d < found_; ++d) places_.at(list_[d]) = 0;
    found_ = 0;
  }

private:
  static constexpr std::size_t kinds = 4; ///< of plans: diagonals with 1, 2, 4 or 8 entries and more are strips
  using lanes [[gnu::vector_size(64)]] = std::int32_t; ///< of each row
  static_assert(sizeof(lanes) / 4 == strip_height);
  static constexpr lanes lane{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

  /// Lists the diagonals of entries that are not 0, and notes their rows; counts the zeros of each row. Without a
  /// branch that depends on what was there before.
  template <class V>
  void find(const std::int32_t* row, const std::int32_t* col, const V* val, index_t count, std::int32_t first_row) {
    places_.next_slice();
    places_.make_room(static_cast<std::size_t>(count));
    if (list_.size() < static_cast<std::size_t>(count) + 1) list_.resize(2 * static_cast<std::size_t>(count) + 1);
    zeros_ = lanes{};
    std::size_t* const list = list_.data();
    std::size_t found = 0;
    for (index_t n = 0; n < count; ++n) {
      if (val[n] == 0) {
        ++zeros_[row[n] - first_row];
        continue;
      }
      const std::size_t at = places_.place_of(col[n] - row[n]);
      const std::uint16_t rows = places_.at(at);
      list[found] = at;
      found += rows == 0;
      places_.at(at) = static_cast<std::uint16_t>(rows | 1U << (row[n] - first_row));
    }
    found_ = found;
  }
  /// sorted_ <- the first `strips` offsets, ascending, rank_ <- where each went. A few are compared each with each,
  /// without branches.
  void sort(std::size_t strips) {
    sorted_.resize(strips);
    constexpr std::size_t few = 128;
    if (strips > few) {
      std::copy_n(offset_.begin(), strips, sorted_.begin());
      std::ranges::sort(sorted_);
      for (std::size_t k = 0; k < strips; ++k)
        rank_[k] = static_cast<std::int32_t>(std::ranges::lower_bound(sorted_, offset_[k]) - sorted_.begin());
      return;
    }
    cpu::widest([&]() FURROW_INLINE {
      const std::int32_t* const offset = offset_.data();
      for (std::size_t k = 0; k < strips; ++k) {
        std::int32_t before = 0;
        for (std::size_t j = 0; j < strips; ++j) before += offset[j] < offset[k];
        rank_[k] = before;
      }
    });
    for (std::size_t k = 0; k < strips; ++k) sorted_[static_cast<std::size_t>(rank_[k])] = offset_[k];
  }

  Places places_;
  std::size_t found_ = 0;
  std::vector<std::size_t> list_ = std::vector<std::size_t>(1024); ///< places of the diagonals
  std::vector<std::size_t> strip_;                                 ///< those of the strips
  std::vector<std::int32_t> offset_, rank_, sorted_;               ///< of the strips
  lanes zeros_{};                                                  ///< entries that are 0
};

/// f(std::type_identity<...>{}) of the places that suit a matrix of which so many entries are looked at.
template <class F> decltype(auto) with_places(shape2 shape, double entries, F&& f) {
  if (diagonal_places::serve(shape, entries)) return f(std::type_identity<diagonal_places>{});
  return f(std::type_identity<hashed_diagonals>{});
}

} // namespace furrow
