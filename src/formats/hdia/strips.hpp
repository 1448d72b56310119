// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/sample.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

/// Slices of 16 rows, diagonal by diagonal. Diagonals that are full enough in a slice are stored as strips of 16
/// places.
namespace furrow {

inline constexpr index_t strip_height = 16;

/// How a slice is stored: diagonals with at least `least` entries that are not 0 are strips, the other entries lie
/// beside them in rows that are padded to the longest one. An entry 0 is never in a strip, where it would not be told
/// from padding.
struct strip_plan {
  index_t least = 1, strips = 0, width = 0;
  index_t next = 0; ///< the first triplet of the next slice
};

/// The diagonals of a slice, by a hash of their offsets (column minus row). An entry takes 3 ns, without a branch that
/// depends on what was there before: with one cage10 takes 5, and rows that are merged take 13.
class slice_diagonals {
public:
  /// The cheapest plan of least = 8, 4, 2 and 1: a place beside strips, which has a column, costs as much as two in
  /// strips. `k` is the first triplet of slice s.
  template <class Triplets> strip_plan plan(const Triplets& a, index_t s, index_t k) {
    strip_plan best;
    best.next = find(a, s, k);
    std::array<index_t, strip_height + 1> diagonals{}; // by their entries
    beside_[0] = beside_of[0];
    for (std::size_t d = 1; d < found_; ++d) {
      beside_[d] = beside_of[count_[d]];
      ++diagonals[count_[d]];
    }
    const auto width = widths();
    index_t fewest = std::numeric_limits<index_t>::max(), sum = 0;
    for (std::size_t all = 0, count = strip_height; all < kinds; ++all) {
      const std::size_t least = std::size_t(8) >> all;
      for (; count >= least; --count) sum += diagonals[count];
      if (sum + 2 * width[all] >= fewest) continue;
      fewest = sum + 2 * width[all];
      best.least = index_t(least);
      best.strips = sum;
      best.width = width[all];
    }
    return best;
  }

  /// Of the slice planned last: strip(offset) for each strip, by ascending offset; then entry(n, r) for each entry n of
  /// the slice, which lies in its r-th strip, or in none where r is -1.
  template <class Strip, class Entry> void split(index_t least, Strip&& strip, Entry&& entry) {
    auto end = strips_.begin();
    for (std::uint32_t d = 1; d < found_; ++d) { // without branches
      *end = {offset_[d], d};
      end += count_[d] >= least;
      rank_[d] = -1;
    }
    std::sort(strips_.begin(), end, [](const auto& x, const auto& y) { return x.offset < y.offset; });
    for (auto s = strips_.begin(); s != end; ++s) {
      strip(s->offset);
      rank_[s->number] = static_cast<std::int32_t>(s - strips_.begin());
    }
    for (index_t n = 0; n < begin_[strip_height]; ++n) entry(n, rank_[number_[static_cast<std::size_t>(n)]]);
  }

private:
  static constexpr std::size_t kinds = 4; // of diagonals: 8 entries and more, 4 to 7, 2 or 3, 1
  /// [count]: what an entry of such a diagonal adds to the four numbers of entries in no strip of kinds 0 to k.
  static constexpr auto beside_of = [] {
    std::array<std::uint64_t, strip_height + 1> words{0x1000100010001, 0x100010001};
    words[2] = words[3] = 0x10001;
    words[4] = words[5] = words[6] = words[7] = 1;
    return words;
  }();
  static constexpr index_t fits_word = 0xffff;

  struct place {
    std::uint64_t key = 0; ///< the slice, counted from 1, and the offset
    std::uint32_t number = 0;
  };
  struct numbered_offset {
    std::int32_t offset;
    std::uint32_t number;
  };

  /// Numbers the diagonals of the entries; number 0 is for entries that are 0. Returns the first triplet of the next
  /// slice.
  template <class Triplets> index_t find(const Triplets& a, index_t s, index_t k) {
    ++slice_;
    found_ = 1;
    begin_.fill(0);
    index_t n = 0;
    for (index_t before = -1; n != before;) { // as long as there are more, with room for as many diagonals
      if (std::size_t(n) == number_.size()) number_.resize(2 * number_.size());
      if (found_ == count_.size()) grow();
      before = n;
      const auto room = static_cast<index_t>(std::min(count_.size() - found_, number_.size() - std::size_t(n)));
      n = find(a, static_cast<std::int32_t>(s * strip_height), k, n, std::min(a.nnz() - k, n + room));
    }
    for (std::size_t i = 0; i < strip_height; ++i) begin_[i + 1] = std::max(begin_[i + 1], begin_[i]);
    return k + n;
  }
  /// The same for entries n, n + 1, ... of the slice as long as they are before `end` and in its rows; returns the
  /// first one that is not.
  template <class Triplets>
  index_t find(const Triplets& a, std::int32_t first_row, index_t k, index_t n, const index_t end) {
    const std::int32_t *const row = a.row.begin() + k, *const col = a.col.begin() + k;
    const auto* const val = a.val.begin() + k;
    std::uint32_t* const number_of = number_.data();
    std::int32_t *const offset_of = offset_.data(), *const count_of = count_.data();
    place* const table = table_.data();
    const std::uint64_t slice = std::uint64_t(slice_) << 32;
    const std::size_t mask = table_.size() - 1;
    const int shift = shift_;
    std::uint32_t found = found_;
    for (; n < end && row[n] - first_row < strip_height; ++n) {
      begin_[row[n] - first_row + 1] = n + 1;
      number_of[n] = 0;
      if (val[n] == 0) continue;
      const std::int32_t offset = col[n] - row[n];
      const std::uint64_t key = slice | static_cast<std::uint32_t>(offset);
      std::size_t at = place_of(key, table, mask, shift);
      const std::uint32_t is_old = 0 - std::uint32_t(table[at].key == key); // all bits, for a compiler takes branches
      const std::uint32_t number = (table[at].number & is_old) | (found & ~is_old);
      table[at] = {key, number};
      offset_of[number] = offset;
      count_of[number] = (count_of[number] & std::int32_t(is_old)) + 1;
      number_of[n] = number;
      found += is_old + 1;
    }
    found_ = found;
    return n;
  }
  /// Where a diagonal is, or where it would be.
  static std::size_t place_of(std::uint64_t key, const place* table, std::size_t mask, int shift) {
    std::size_t at = static_cast<std::uint32_t>(key) * std::uint32_t(0x9e3779b1) >> shift;
    while ((table[at].key ^ key) - 1 < 0xffffffff) at = (at + 1) & mask; // of this slice, but another diagonal
    return at;
  }
  void grow() {
    const std::size_t room = 2 * count_.size();
    for (auto* some : {&offset_, &count_, &rank_}) some->resize(room);
    beside_.resize(room);
    strips_.resize(room);
    table_.assign(4 * room, place{});
    --shift_;
    for (std::uint32_t d = 1; d < found_; ++d) {
      const std::uint64_t key = std::uint64_t(slice_) << 32 | static_cast<std::uint32_t>(offset_[d]);
      table_[place_of(key, table_.data(), table_.size() - 1, shift_)] = {key, d};
    }
  }
  /// [k]: the most entries of a row that lie in no strip of kinds 0 to k. Four sums in a word; a long row fills it
  /// several times.
  std::array<index_t, kinds> widths() const {
    std::array<index_t, kinds> width{};
    for (std::size_t i = 0; i < strip_height; ++i) {
      std::array<index_t, kinds> row{};
      for (index_t n = begin_[i], stop = n; n < begin_[i + 1]; n = stop) {
        stop = std::min(begin_[i + 1], n + fits_word);
        std::uint64_t beside = 0;
        for (index_t m = n; m < stop; ++m) beside += beside_[number_[m]];
        for (std::size_t k = 0; k < kinds; ++k) row[k] += index_t(beside >> 16 * k & fits_word);
      }
      for (std::size_t k = 0; k < kinds; ++k) width[k] = std::max(width[k], row[k]);
    }
    return width;
  }

  static constexpr int bits = 8; ///< of the diagonals that there is room for at first, in a table four times as large
  template <class T> using each_diagonal = std::vector<T>; ///< [number]: of a diagonal
  template <class T> static each_diagonal<T> room_at_first() { return each_diagonal<T>(std::size_t(1) << bits); }

  std::uint32_t slice_ = 0, found_ = 1; ///< how many slices so far; diagonals of this one, and one more
  int shift_ = 32 - bits - 2;           ///< from a hash to a place
  std::vector<place> table_ = std::vector<place>(std::size_t(4) << bits);
  std::vector<std::uint32_t> number_ = std::vector<std::uint32_t>(1024); ///< of the diagonal of each entry
  std::array<index_t, strip_height + 1> begin_{};                        ///< of the entries of each row
  each_diagonal<std::int32_t> offset_ = room_at_first<std::int32_t>(), count_ = offset_; ///< count: of entries
  each_diagonal<std::int32_t> rank_ = each_diagonal<std::int32_t>(offset_.size(), -1);   ///< among the strips, or -1
  each_diagonal<std::uint64_t> beside_ = room_at_first<std::uint64_t>();                 ///< what each entry adds
  each_diagonal<numbered_offset> strips_ = room_at_first<numbered_offset>();             ///< by their offsets
};

/// At most 2048 slices, spread evenly: all of a matrix of at most `strips_counted` rows with few enough entries
/// (`sampled_rows`). s: its sizes. The same for every number of threads.
inline constexpr index_t strips_counted = 2048 * strip_height;
inline spread_rows sampled_slices(const stats& s) {
  const index_t rows = s.shape.rows, slices = (rows + strip_height - 1) / strip_height;
  return {rows, strip_height, slices,
          std::min(slices, sampled_rows(s, strips_counted / 16, strips_counted) / strip_height)};
}

/// What plans of slices add up to.
struct strip_counts {
  index_t entries = 0, strips = 0, beside = 0;
  estimate_numbers numbers() const {
    if (entries == 0) return {0, 1};
    return {double(strips) / double(entries), double(beside) / double(entries)};
  }
};

/// What the look of hdia finds: slices in which diagonals are stored as strips where that costs less, a place beside
/// strips counted twice. Of an entry of the matrix.
struct strip_fill {
  double strips = 0; ///< strips
  double beside = 1; ///< places of what lies beside them, in slices that are padded to their longest row
};
/// That of a matrix that was measured; of any other one the worst that there is.
strip_fill strip_fill_of(const stats& s);

} // namespace furrow
