// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"
#include "measure.hpp"

#include "check.hpp"
#include "diagonal_marks.hpp"
#include "distinct.hpp"
#include "entry_tile.hpp"
#include "row_sum.hpp"
#include "sample.hpp"
#include "set_up_part.hpp"
#include "single_precision.hpp"
#include "triplets.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/prefetch.hpp"

#include <algorithm>
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

/// The rows that begin in [first, last), tile by tile. Nothing where a triplet breaks a promise.
template <class Triplets, class V>
std::optional<piece> look_at(const Triplets& a, index_t first, index_t last, const diagonal_marks& diagonals,
                             char* marks, host_array<std::int32_t>& row_length, values_of_pieces<V>& values,
                             few_values<V>& set) {
  const std::int32_t *const row = a.row.begin(), *const col = a.col.begin();
  const V* const val = a.val.begin();
  constexpr index_t together = 128;
  const bool ahead = cpu::fetching_ahead_helps();
  piece p;
  entry_tile t;
  index_t zeros = 0;
  index_t open = first; // the first entry of the row that goes on
  for (index_t begin = first; begin < last; begin += entry_tile::most) {
    const index_t count = std::min(entry_tile::most, last - begin);
    if (!look_at_places(a.shape, row, col, begin, count, t)) return {};
    diagonals.note(t, marks, [&](index_t k) {
      if (ahead) cpu::prefetch(val + begin + k);
    });
    for (index_t k = 0; k < count; k += together) {
      const index_t some = std::min(together, count - k);
      if (ahead) { // not all at once: the processor would wait until most have come
        cpu::prefetch(row + begin + k, some * 4);
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
  }
  if (open < last) {
    row_length[row[open]] = static_cast<std::int32_t>(last - open);
    p.norm_inf =
        std::max(p.norm_inf, sum_of_row(last - open, [&](index_t k) { return std::abs(double(val[open + k])); }));
  }
  return p;
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
  const auto begin_of = [&](index_t k) {
    index_t at = cpu::part_begin(nnz, pieces, k);
    while (at > 0 && at < nnz && a.row[at] == a.row[at - 1]) ++at;
    return at;
  };
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

template <class Triplets> void measure_for_formats(const Triplets& a, stats& s) {
  measure_slices(s);
  measure_samples(a, s);
  s.blocks = count_blocks(a.shape, as_cview(a.row), as_cview(a.col), as_cview(s.row_length));
}

template stats measure_sums(const coo<double>&);
template stats measure_sums(const coo<float>&);
template std::optional<stats> measure_sums_where_kept(const borrowed_coo<double>&);
template std::optional<stats> measure_sums_where_kept(const borrowed_coo<float>&);
template stats check_and_measure_sums(const coo<double>&);
template stats check_and_measure_sums(const coo<float>&);
template void measure_for_formats(const coo<double>&, stats&);
template void measure_for_formats(const coo<float>&, stats&);
template void measure_for_formats(const borrowed_coo<double>&, stats&);
template void measure_for_formats(const borrowed_coo<float>&, stats&);

template <class V> stats measure(const coo<V>& a) {
  stats s = check_and_measure_sums(a);
  measure_for_formats(a, s);
  return s;
}

template stats measure(const coo<double>&);
template stats measure(const coo<float>&);

template <class To, class From> coo<To> convert_values(coo<From>&& a) {
  check_triplets(a);
  if constexpr (std::is_same_v<To, From>) return std::move(a);
  else return to_single_precision(std::move(a));
}

template coo<double> convert_values(coo<double>&&);
template coo<float> convert_values(coo<double>&&);
template coo<float> convert_values(coo<float>&&);

} // namespace furrow
