// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"
#include "measure.hpp"

#include "check.hpp"
#include "diagonal_marks.hpp"
#include "distinct.hpp"
#include "entry_tile.hpp"
#include "row_numbers.hpp"
#include "row_sum.hpp"
#include "sample.hpp"
#include "set_up_part.hpp"
#include "single_precision.hpp"
#include "triplets.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/prefetch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <vector>

namespace furrow {
namespace {

/// What one piece of the rows adds. Pieces begin and end at row boundaries and are merged in order, and their number
/// does not depend on the number of threads: the same sums everywhere.
struct piece {
  index_t zero_diagonal = 0, lower = 0, upper = 0;
  double norm_inf = 0;
  value_sums values;
};

/// The rows of the entries of a tile, behind that of the entry before it, stretch by stretch in their order:
template <class V> class rows_of_tile {
public:
  rows_of_tile(const coo<V>& a, index_t) : row_(a.row.begin()) {}
  const std::int32_t* at(index_t begin, index_t) { return row_ + begin; }
  void prefetch(index_t k, index_t count) const { cpu::prefetch(row_ + k, count * 4); }

private:
  const std::int32_t* row_;
};
/// of compressed rows they are written where the first cache holds them.
template <class V> class numbers_of_tile {
public:
  numbers_of_tile(const borrowed_rows<V>& a, index_t first)
      : row_ptr_(a.row_ptr.begin()),
        row_(std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), std::max<index_t>(first - 1, 0)) - row_ptr_ - 1) {
    number_[before - 1] = static_cast<std::int32_t>(row_); // of the entry before the first
  }
  const std::int32_t* at(index_t begin, index_t count) {
    if (before_count_ > 0) number_[before - 1] = number_[before + static_cast<std::size_t>(before_count_) - 1];
    row_ = write_row_numbers(row_ptr_, row_, begin, begin + count, 0, number_.data() + before);
    before_count_ = count;
    return number_.data() + before;
  }
  void prefetch(index_t, index_t) const {}

private:
  static constexpr std::size_t before = 16; // so that the tile begins a line
  const std::int32_t* row_ptr_;
  index_t row_, before_count_ = 0;
  alignas(64) std::array<std::int32_t, before + entry_tile::most + row_numbers_beyond> number_;
};
template <class V> rows_of_tile<V> tile_rows(const coo<V>& a, index_t first) { return {a, first}; }
template <class V> numbers_of_tile<V> tile_rows(const borrowed_rows<V>& a, index_t first) { return {a, first}; }

/// The rows that begin in [first, last), tile by tile. Nothing where a triplet breaks a promise.
template <class Triplets, class V>
std::optional<piece> look_at(const Triplets& a, index_t first, index_t last, const diagonal_marks& diagonals,
                             char* marks, host_array<std::int32_t>& row_length, values_of_pieces<V>& values,
                             few_values<V>& set) {
  const std::int32_t* const col = a.col.begin();
  const V* const val = a.val.begin();
  auto rows = tile_rows(a, first);
  std::int32_t last_row = 0;
  constexpr index_t together = 128;
  const bool ahead = cpu::fetching_ahead_helps();
  piece p;
  entry_tile t;
  index_t zeros = 0;
  index_t open = first; // the first entry of the row that goes on
  for (index_t begin = first; begin < last; begin += entry_tile::most) {
    const index_t count = std::min(entry_tile::most, last - begin);
    const std::int32_t* const row = rows.at(begin, count);
    if (!look_at_places(a.shape, row, col + begin, begin, count, t)) return {};
    diagonals.note(t, marks, [&](index_t k) {
      if (ahead) cpu::prefetch(val + begin + k);
    });
    for (index_t k = 0; k < count; k += together) {
      const index_t some = std::min(together, count - k);
      if (ahead) { // not all at once: the processor would wait until most have come
        rows.prefetch(begin + k, some);
        cpu::prefetch(col + begin + k, some * 4);
      }
      look_at_values(val + begin + k, some, p.values);
      values.look(set, val + begin + k, some);
    }
    for (index_t k = 0; p.values.zeros > zeros && k < count; ++k)
      p.zero_diagonal += t.offset[k] == 0 && val[begin + k] == 0;
    zeros = p.values.zeros;
    p.zero_diagonal -= t.on_diagonal;
    p.lower = std::max<index_t>(p.lower, -index_t(t.least_offset));
    p.upper = std::max<index_t>(p.upper, t.most_offset);
    const int from = begin == first; // whose start ends no row
    p.norm_inf = add_up_rows(row, val, t, from, open, row_length.data(), p.norm_inf);
    if (t.starts > 0) open = begin + t.start[static_cast<std::size_t>(t.starts - 1)];
    last_row = row[count - 1];
  }
  if (open < last) {
    row_length[last_row] = static_cast<std::int32_t>(last - open);
    p.norm_inf =
        std::max(p.norm_inf, sum_of_row(last - open, [&](index_t k) { return std::abs(double(val[open + k])); }));
  }
  return p;
}

/// Where the first row begins that does so at k or behind it.
template <class V> index_t next_row(const coo<V>& a, index_t k) {
  while (k > 0 && k < a.nnz() && a.row[k] == a.row[k - 1]) ++k;
  return k;
}
template <class V> index_t next_row(const borrowed_rows<V>& a, index_t k) {
  return *std::lower_bound(a.row_ptr.begin(), a.row_ptr.end(), k);
}

/// Those of a small matrix are shorter, so that two threads have work.
index_t pieces_of_sums(index_t nnz) {
  constexpr index_t least = 1 << 14, several = 8;
  return std::max(nnz / set_up_part, std::clamp<index_t>(nnz / least, nnz > 0, several));
}

} // namespace

template <class Triplets> std::optional<stats> measure_sums_where_kept(const Triplets& a) {
  using V = std::remove_cvref_t<decltype(a.val[0])>;
  const index_t nnz = a.nnz(), pieces = pieces_of_sums(nnz);
  if (nnz > 0 && (a.shape.rows == 0 || a.shape.cols == 0)) return {}; // there is no place for them
  // The piece that a row starts in owns the whole row.
  const auto begin_of = [&](index_t k) { return next_row(a, cpu::part_begin(nnz, pieces, k)); };
  stats s;
  s.row_length = host_array<std::int32_t>(a.shape.rows);
  clear(s.row_length);
  std::optional<diagonal_marks> diagonals;
  if (nnz > 0) diagonals.emplace(a.shape, nnz);
  std::vector<piece> found(static_cast<std::size_t>(pieces));
  values_of_pieces<V> values(pieces);
  std::atomic<bool> wrong = false;
  cpu::for_each_task(pieces, [&](index_t k) {
    const index_t first = begin_of(k), last = begin_of(k + 1);
    few_values<V> set;
    diagonals->with([&](char* marks) {
      const auto one = look_at(a, first, last, *diagonals, marks, s.row_length, values, set);
      if (!one) wrong = true;
      else found[static_cast<std::size_t>(k)] = *one, values.end(k, set);
    });
  });
  if (wrong) return {};

  s.shape = a.shape;
  s.nnz = nnz;
  s.zero_diagonal = std::min(a.shape.rows, a.shape.cols);
  for (const piece& p : found) {
    s.lower_bandwidth = std::max(s.lower_bandwidth, p.lower);
    s.upper_bandwidth = std::max(s.upper_bandwidth, p.upper);
    s.norm_inf = std::max(s.norm_inf, p.norm_inf);
    s.largest = std::max(s.largest, p.values.largest);
    s.finite = s.finite && p.values.finite;
    s.zero_diagonal += p.zero_diagonal;
    s.explicit_zeros += p.values.zeros;
  }
  s.diagonals = diagonals ? diagonals->count() : 0;
  s.distinct_values = count_distinct(values.all(), nnz);
  count_lengths(s);
  return s;
}

template <class Triplets> stats measure_sums(const Triplets& a) {
  auto s = measure_sums_where_kept(a);
  check(s.has_value(), fault::internal, "triplets are out of order that were taken for sorted ones");
  return std::move(*s);
}

template <class V> stats check_and_measure_sums(const coo<V>& a) {
  if (const auto what = wrong_sizes(a.shape, a.row.size(), a.col.size(), a.nnz()); !what.empty())
    throw error(fault::input, what);
  auto s = measure_sums_where_kept(a);
  if (!s) check_triplets(a); // names the first
  check(s.has_value(), fault::internal, "triplets changed while they were looked at");
  return std::move(*s);
}

namespace {

template <class V> auto blocks_of(const coo<V>& a, const stats& s) {
  return count_blocks(a.shape, as_cview(a.row), as_cview(a.col), as_cview(s.row_length));
}
template <class V> auto blocks_of(const borrowed_rows<V>& a, const stats&) {
  return count_blocks_of_rows(a.shape, a.row_ptr, a.col);
}

} // namespace

template <class Triplets> void measure_for_formats(const Triplets& a, stats& s) {
  measure_slices(s);
  measure_samples(a, s);
  s.blocks = blocks_of(a, s);
}

template stats measure_sums(const coo<double>&);
template stats measure_sums(const coo<float>&);
template std::optional<stats> measure_sums_where_kept(const borrowed_rows<double>&);
template std::optional<stats> measure_sums_where_kept(const borrowed_rows<float>&);
template stats check_and_measure_sums(const coo<double>&);
template stats check_and_measure_sums(const coo<float>&);
template void measure_for_formats(const coo<double>&, stats&);
template void measure_for_formats(const coo<float>&, stats&);
template void measure_for_formats(const borrowed_rows<double>&, stats&);
template void measure_for_formats(const borrowed_rows<float>&, stats&);

template <class V> stats measure(const coo<V>& a) {
  stats s = check_and_measure_sums(a);
  measure_for_formats(a, s);
  return s;
}

template stats measure(const coo<double>&);
template stats measure(const coo<float>&);

template <class To, class From> coo<To> convert_values(coo<From>&& a) {
  check_triplets(a);
  if constexpr (std::is_same_v<To, From>) {
    return std::move(a);
  } else if constexpr (is_wide<To>) {
    host_array<To> wide(a.nnz());
    cpu::for_each_range(a.nnz(), set_up_part, [&](index_t first, index_t last) {
      std::copy(a.val.data() + first, a.val.data() + last, wide.data() + first);
    });
    return {a.shape, std::move(a.row), std::move(a.col), std::move(wide)};
  } else {
    return to_single_precision(std::move(a));
  }
}

template coo<double> convert_values(coo<double>&&);
template coo<float> convert_values(coo<double>&&);
template coo<float> convert_values(coo<float>&&);
template coo<double> convert_values(coo<float>&&);

} // namespace furrow
