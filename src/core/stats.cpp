// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"
#include "measure.hpp"

#include "distinct.hpp"
#include "row_sum.hpp"
#include "sample.hpp"
#include "set_up_part.hpp"
#include "single_precision.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/prefetch.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

/// What one piece of the rows adds. Pieces begin and end at row boundaries and are merged in order, and their number
/// does not depend on the number of threads: the same sums everywhere.
struct piece {
  index_t zero_diagonal = 0, zeros = 0, lower = 0, upper = 0;
  double norm_inf = 0, largest = 0;
  bool finite = true;
};

/// What single entries tell, without a branch.
template <class Triplets>
FURROW_INLINE inline void look_at_entries(const Triplets& a, index_t first, index_t last, piece& p) {
  const std::int32_t *const row = a.row.begin(), *const col = a.col.begin();
  const auto* const val = a.val.begin();
  double largest = p.largest;
  int zeros = 0, on_diagonal = 0, not_finite = 0;
#pragma omp simd reduction(max : largest) reduction(+ : zeros, on_diagonal) reduction(| : not_finite)
  for (index_t k = first; k < last; ++k) {
    const double size = std::abs(double(val[k]));
    largest = largest < size ? size : largest;
    const int zero = size == 0;
    zeros += zero;
    on_diagonal += int(row[k] == col[k]) & ~zero;
    not_finite |= !(size <= std::numeric_limits<double>::max());
  }
  p.largest = largest;
  p.zeros += zeros;
  p.zero_diagonal -= on_diagonal;
  p.finite = p.finite && !not_finite;
}

template <class Triplets, class V>
FURROW_INLINE inline piece look_at(const Triplets& a, index_t first, index_t last, std::vector<char>& seen,
                                   host_array<std::int32_t>& row_length, values_of_pieces<V>& values,
                                   few_values<V>& set) {
  constexpr index_t together = 256; // what the first cache still holds when their rows are looked at
  const std::int32_t *const row = a.row.begin(), *const col = a.col.begin();
  const auto* const val = a.val.begin();
  char* const diagonals = seen.data() + (a.shape.rows - 1);
  const bool ahead = cpu::fetching_ahead_helps();
  piece p;
  index_t looked = first;
  const auto look_from = [&](index_t begin) FURROW_INLINE { // to where it has looked
    const index_t end = std::min(last, begin + together);
    if (ahead) {
      cpu::prefetch(row + begin, together * 4);
      cpu::prefetch(col + begin, together * 4);
      cpu::prefetch(val + begin, together * index_t(sizeof *val));
    }
    look_at_entries(a, begin, end, p);
    values.look(set, val + begin, end - begin);
    return end;
  };
  for (index_t k = first; k < last;) {
    while (looked <= k) looked = look_from(looked);
    const index_t r = row[k], begin = k;
    // Read before it is written: threads that write one place take its line from one another, 40 ms of poisson3d:100.
    for (; k < last && row[k] == r; ++k)
      if (const std::atomic_ref one(diagonals[index_t(col[k]) - r]); !one.load(std::memory_order_relaxed))
        one.store(1, std::memory_order_relaxed);
    p.lower = std::max(p.lower, r - col[begin]);
    p.upper = std::max(p.upper, col[k - 1] - r);
    row_length[r] = static_cast<std::int32_t>(k - begin);
    p.norm_inf = std::max(
        p.norm_inf, sum_of_row(k - begin, [&](index_t i) FURROW_INLINE { return std::abs(double(val[begin + i])); }));
  }
  while (looked < last) looked = look_from(looked);
  return p;
}

} // namespace

template <class Triplets> stats measure_sums(const Triplets& a) {
  using V = std::remove_cvref_t<decltype(a.val[0])>;
  const index_t nnz = a.nnz(), pieces = nnz ? std::max<index_t>(nnz / set_up_part, 1) : 0;
  // The piece that a row starts in owns the whole row.
  const auto begin_of = [&](index_t k) {
    index_t at = cpu::part_begin(nnz, pieces, k);
    while (at > 0 && at < nnz && a.row[at] == a.row[at - 1]) ++at;
    return at;
  };
  stats s;
  s.row_length = host_array<std::int32_t>(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 15, [&](index_t first, index_t last) {
    std::fill(s.row_length.begin() + first, s.row_length.begin() + last, 0);
  });
  std::vector<char> seen(static_cast<std::size_t>(nnz ? a.shape.rows + a.shape.cols - 1 : 0), 0);
  std::vector<piece> found(static_cast<std::size_t>(pieces));
  values_of_pieces<V> values(pieces);
  cpu::for_each_task(pieces, [&](index_t k) {
    const index_t first = begin_of(k), last = begin_of(k + 1);
    few_values<V> set;
    cpu::widest([&]() FURROW_INLINE { found[k] = look_at(a, first, last, seen, s.row_length, values, set); });
    values.end(k, set);
  });

  s.shape = a.shape;
  s.nnz = nnz;
  s.zero_diagonal = std::min(a.shape.rows, a.shape.cols);
  for (const piece& p : found) {
    s.lower_bandwidth = std::max(s.lower_bandwidth, p.lower);
    s.upper_bandwidth = std::max(s.upper_bandwidth, p.upper);
    s.norm_inf = std::max(s.norm_inf, p.norm_inf);
    s.largest = std::max(s.largest, p.largest);
    s.finite = s.finite && p.finite;
    s.zero_diagonal += p.zero_diagonal;
    s.explicit_zeros += p.zeros;
  }
  s.diagonals = std::count(seen.begin(), seen.end(), 1);
  s.distinct_values = count_distinct(values.all(), nnz);
  count_lengths(s);
  return s;
}

template <class Triplets> void measure_for_formats(const Triplets& a, stats& s) {
  measure_slices(s);
  measure_samples(a, s);
  s.blocks = count_blocks(a.shape, as_cview(a.row), as_cview(a.col), as_cview(s.row_length));
}

template <class Triplets> stats measure_trusted(const Triplets& a) {
  stats s = measure_sums(a);
  measure_for_formats(a, s);
  return s;
}

template stats measure_sums(const coo<double>&);
template stats measure_sums(const coo<float>&);
template void measure_for_formats(const coo<double>&, stats&);
template void measure_for_formats(const coo<float>&, stats&);
template stats measure_trusted(const coo<double>&);
template stats measure_trusted(const coo<float>&);
template stats measure_trusted(const borrowed_coo<double>&);
template stats measure_trusted(const borrowed_coo<float>&);

template <class V> stats measure(const coo<V>& a) {
  check_triplets(a);
  return measure_trusted(a);
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
