// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "pack.hpp"

#include "backends/cpu/prefetch.hpp"

#include <algorithm>
#include <numeric>

/// The CPU's loops of products that sum along lines.
namespace furrow::dense {

/// out[i] = sum_k line i [k] x[k] for `lines` lines, a multiple of four, as for_each_few has them; four(from, apart,
/// total) leaves packs whose numbers add up to those of the lines `apart` apart from `from` on.
template <int Bytes, class S, class F>
FURROW_INLINE inline void sum_by_fours(const S* a, index_t leading, index_t lines, bool in_parts, S* out,
                                       const F& four) {
  for_each_few<4>(lines, in_parts, [&](index_t first, index_t apart) FURROW_INLINE {
    pack<Bytes, S> total[4];
    four(a + first * leading, apart * leading, total);
    S sums[4];
    four_totals<Bytes, S>(total[0], total[1], total[2], total[3], sums);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) out[first + i * apart] = sums[i];
  });
}

/// sums[i][u] += line i [k] x[k] for Run packs of Lines lines, `leading` apart, of which every Packs-th has the same
/// sum.
template <int Bytes, class S, int Lines, int Run, int Packs>
FURROW_INLINE inline void add_products(pack<Bytes, S> (&sums)[Lines][Packs], const S* a, index_t leading, const S* x) {
  constexpr index_t each = in_pack<Bytes, S>;
  pack<Bytes, S> factor[Run];
#pragma GCC unroll 16
  for (int u = 0; u < Run; ++u) std::memcpy(&factor[u], x + u * each, Bytes);
#pragma GCC unroll 8
  for (int i = 0; i < Lines; ++i)
#pragma GCC unroll 16
    for (int u = 0; u < Run; ++u) {
      pack<Bytes, S> numbers;
      std::memcpy(&numbers, a + i * leading + u * each, Bytes);
      sums[i][u % Packs] += numbers * factor[u];
    }
}

/// total[i]: a pack whose numbers add up to sum_k line i [k] x[k], for Lines lines of n elements, a pack or more,
/// `leading` apart; Packs running packs a line, of which Run packs are read before the next line's.
template <int Bytes, class S, int Lines, int Packs, int Run = Packs>
FURROW_INLINE inline void sum_packs(pack<Bytes, S> (&total)[Lines], const S* a, index_t leading, const S* x,
                                    index_t n) {
  constexpr index_t each = in_pack<Bytes, S>;
  pack<Bytes, S> sums[Lines][Packs] = {};
  index_t k = 0;
  for (; k + Run * each <= n; k += Run * each) add_products<Bytes, S, Lines, Run>(sums, a + k, leading, x + k);
  for (; k + each <= n; k += each) add_products<Bytes, S, Lines, 1>(sums, a + k, leading, x + k);
  if (k < n) {
    pack<Bytes, S> factor, numbers;
    load_part<Bytes, S>(factor, x + n - each, k - n);
#pragma GCC unroll 8
    for (int i = 0; i < Lines; ++i) {
      load_part<Bytes, S>(numbers, a + i * leading + n - each, k - n);
      sums[i][0] += numbers * factor;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Lines; ++i) {
    total[i] = sums[i][0];
#pragma GCC unroll 8
    for (int u = 1; u < Packs; ++u) total[i] += sums[i][u];
  }
}

/// out[i] = sum_k line i [k] x[k] for those of `lines` lines of n > 0 elements, less than a pack, of which whole packs
/// can be read; returns how many these are.
template <int Bytes, class S>
FURROW_INLINE inline index_t sum_short_lines(const S* a, index_t leading, index_t lines, const S* x, index_t n,
                                             bool in_parts, S* out) {
  constexpr index_t each = in_pack<Bytes, S>;
  S padded[each] = {};
  std::copy_n(x, n, padded);
  pack<Bytes, S> factor;
  std::memcpy(&factor, padded, Bytes);
  const bool ahead = in_parts && cpu::fetching_ahead_helps();
  const index_t whole = std::max<index_t>(lines_before_a_pack_ends_behind(lines, leading, n, each), 0) / 4 * 4;
  sum_by_fours<Bytes>(a, leading, whole, in_parts, out, [&](const S* from, index_t apart, auto& total) FURROW_INLINE {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (ahead) cpu::prefetch(from + i * apart);
      load_part<Bytes, S>(total[i], from + i * apart, n);
      total[i] *= factor;
    }
  });
  return whole;
}

/// How many of `lines` lines that are read four by four go together at the end: with the last four of them, where there
/// are four, for a line alone reads x for itself.
constexpr index_t read_last(index_t lines) { return lines <= 8 ? lines : lines % 4 == 0 ? 0 : 4 + lines % 4; }

/// out[i] = sum_k line i [k] x[k] for `lines` lines, from Lines to 7.
template <int Bytes, int Lines = 1, class S>
FURROW_INLINE inline void sum_last_lines(const S* a, index_t leading, index_t lines, const S* x, index_t n, S* out) {
  if constexpr (Lines < 8)
    if (lines > Lines) return sum_last_lines<Bytes, Lines + 1>(a, leading, lines, x, n, out);
  constexpr int packs = std::max(8 / Lines, Bytes == 64 ? 2 : 1); // a sum waits for its last addition
  pack<Bytes, S> total[Lines];
  sum_packs<Bytes, S, Lines, packs>(total, a, leading, x, n);
#pragma GCC unroll 8
  for (int i = 0; i < Lines; ++i) out[i] = one_total<Bytes, S>(total[i]);
}

/// out[i] = sum_k line i [k] x[k] for any number of lines of N elements without gaps between them: N is known, so that
/// loads are contiguous and neighbours are sorted out in registers.
template <int N, class S>
FURROW_INLINE inline void narrow_sums(const S* a, index_t lines, const S* x, bool ahead, S* out) {
  S factor[N];
  for (int k = 0; k < N; ++k) factor[k] = x[k];
  const index_t some = ahead ? 64 : lines;
  for (index_t first = 0; first < lines; first += some) {
    if (ahead) cpu::prefetch(a + first * N, some * N * index_t(sizeof(S)));
    const index_t last = std::min(lines, first + some);
#pragma omp simd
    for (index_t i = first; i < last; ++i) {
      S sum{};
      for (int k = 0; k < N; ++k) sum += a[i * N + k] * factor[k];
      out[i] = sum;
    }
  }
}

/// out[i] = sum_k line i [k] x[k] for `lines` lines. far: they come from memory. A line's bits depend on its place.
template <int Bytes, class S>
FURROW_INLINE inline void sums_along(const S* a, index_t leading, index_t lines, const S* x, index_t n, bool far,
                                     S* out) {
  const bool in_parts = read_in_parts(leading, n, n * index_t(sizeof(S)), far);
  if (leading == n) {
    const bool ahead = far && cpu::fetching_ahead_helps();
    if (n == 1) return narrow_sums<1>(a, lines, x, ahead, out);
    if (n == 2) return narrow_sums<2>(a, lines, x, ahead, out);
    if (n == 3) return narrow_sums<3>(a, lines, x, ahead, out);
    if (n == 4) return narrow_sums<4>(a, lines, x, ahead, out);
  }
  if (n < in_pack<Bytes, S>) {
    index_t i = 0;
    if (n > 0) // in narrow registers few are parts of two cache lines
      i = in_narrowest_register<Bytes, S>(n, [&](auto bytes) FURROW_INLINE {
        return sum_short_lines<bytes.value>(a, leading, lines, x, n, in_parts, out);
      });
    for (; i < lines; ++i) out[i] = std::inner_product(x, x + n, a + i * leading, S(0));
    return;
  }
  const index_t last = read_last(lines);
  const auto by_four = [&](auto packs, auto run) FURROW_INLINE {
    sum_by_fours<Bytes>(a, leading, lines - last, in_parts, out,
                        [&](const S* from, index_t apart, auto& total) FURROW_INLINE {
                          sum_packs<Bytes, S, 4, packs.value, run.value>(total, from, apart, x, n);
                        });
  };
  constexpr std::integral_constant<int, 2> two;
  constexpr std::integral_constant<int, packs_of_a_cache_line<Bytes>> cache_line;
  constexpr std::integral_constant<int, packs_of_a_long_run<Bytes>> long_run;
  if (!far) by_four(two, two);
  else if (in_parts || !cpu::long_runs_help()) by_four(cache_line, cache_line);
  else by_four(two, long_run);
  if (last > 0) sum_last_lines<Bytes>(a + (lines - last) * leading, leading, last, x, n, out + lines - last);
}

} // namespace furrow::dense
