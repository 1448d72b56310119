// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../call.hpp"
#include "pack.hpp"

#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/store_nontemporal.hpp"

#include <furrow/gemv.hpp>

#include <algorithm>

/// The CPU's loops of products that add lines up.
namespace furrow::dense {

/// total[u] += sum_r factor[r] line r [u] for neighbouring packs of Lines lines, `leading` apart.
template <int Bytes, class S, int Packs, int Lines>
FURROW_INLINE inline void add_packs(pack<Bytes, S> (&total)[Packs], const S* a, index_t leading,
                                    const S (&factor)[Lines]) {
#pragma GCC unroll 8
  for (int r = 0; r < Lines; ++r)
#pragma GCC unroll 8
    for (int u = 0; u < Packs; ++u) {
      pack<Bytes, S> numbers;
      std::memcpy(&numbers, a + r * leading + u * in_pack<Bytes, S>, Bytes);
      total[u] += factor[r] * numbers;
    }
}

/// sum[k] += sum_i x[i apart] line i [k] for Lines lines of n elements, `leading` apart, Packs packs of a line at a
/// time.
template <int Bytes, int Lines, int Packs, class S>
FURROW_INLINE inline void add_some_lines(const S* line, index_t leading, const S* x, index_t apart, index_t n, S* sum) {
  S factor[Lines];
#pragma GCC unroll 8
  for (int r = 0; r < Lines; ++r) factor[r] = x[r * apart];
  constexpr index_t each = in_pack<Bytes, S>;
  index_t k = 0;
  const auto add = [&](auto packs) FURROW_INLINE {
    pack<Bytes, S> total[packs.value];
#pragma GCC unroll 8
    for (int u = 0; u < packs.value; ++u) std::memcpy(&total[u], sum + k + u * each, Bytes);
    add_packs<Bytes, S>(total, line + k, leading, factor);
#pragma GCC unroll 8
    for (int u = 0; u < packs.value; ++u) std::memcpy(sum + k + u * each, &total[u], Bytes);
  };
  for (; k + Packs * each <= n; k += Packs * each) add(std::integral_constant<int, Packs>{});
  for (; k + each <= n; k += each) add(std::integral_constant<int, 1>{});
#pragma omp simd
  for (index_t j = k; j < n; ++j) {
    S low = sum[j], high{};
#pragma GCC unroll 8
    for (int r = 0; r < Lines; ++r) (r < Lines / 2 ? low : high) += factor[r] * line[r * leading + j];
    sum[j] = low + high;
  }
}

inline constexpr index_t few_lines = 8; ///< whose sums are not kept anywhere

/// y <- alpha sum_i x[i] line i + beta y for `lines` lines of n elements, from Lines to `few_lines`; Packs packs of a
/// line at a time. far_y: y leaves the caches, and beta is 0.
template <int Bytes, int Packs, int Lines = 1, class S>
FURROW_INLINE inline void put_lines(const S* a, index_t leading, index_t lines, const S* x, index_t n, S alpha, S beta,
                                    S* y, bool far_y) {
  if constexpr (Lines < few_lines)
    if (lines > Lines) return put_lines<Bytes, Packs, Lines + 1>(a, leading, lines, x, n, alpha, beta, y, far_y);
  constexpr index_t each = in_pack<Bytes, S>;
  S factor[Lines];
  std::copy_n(x, Lines, factor);
  const auto one_by_one = [&](index_t first, index_t last) FURROW_INLINE {
#pragma omp simd
    for (index_t k = first; k < last; ++k) {
      S sum{};
#pragma GCC unroll 8
      for (int r = 0; r < Lines; ++r) sum += factor[r] * a[r * leading + k];
      put(alpha, sum, beta, y[k]);
    }
  };
  index_t k = far_y ? std::min(n, cpu::elements_before_nontemporal(y)) : 0;
  one_by_one(0, k);
  const auto put_packs = [&](auto packs) FURROW_INLINE {
    pack<Bytes, S> total[packs.value] = {};
    add_packs<Bytes, S>(total, a + k, leading, factor);
#pragma GCC unroll 8
    for (int u = 0; u < packs.value; ++u) {
      S* const to = y + k + u * each;
      total[u] *= alpha;
      if (far_y) {
        cpu::store_nontemporal_bytes<Bytes>(to, &total[u]);
        continue;
      }
      if (beta != S(0)) {
        pack<Bytes, S> before;
        std::memcpy(&before, to, Bytes);
        total[u] += beta * before;
      }
      std::memcpy(to, &total[u], Bytes);
    }
  };
  for (; k + Packs * each <= n; k += Packs * each) put_packs(std::integral_constant<int, Packs>{});
  for (; k + each <= n; k += each) put_packs(std::integral_constant<int, 1>{});
  one_by_one(k, n);
  if (far_y) cpu::finish_nontemporal();
}

/// The same for 1 to `few_lines` lines. far: they come from memory.
template <int Bytes, class S>
FURROW_INLINE inline void put_few_lines(const S* a, index_t leading, index_t lines, const S* x, index_t n, S alpha,
                                        S beta, S* y, bool far, bool far_y) {
  constexpr int run = packs_of_a_run<Bytes>, cache_line = packs_of_a_cache_line<Bytes>;
  if (run == cache_line || !far || cpu::long_runs_help()) // from caches, too, the fewer turns the better
    return put_lines<Bytes, run>(a, leading, lines, x, n, alpha, beta, y, far_y);
  put_lines<Bytes, cache_line>(a, leading, lines, x, n, alpha, beta, y, far_y);
}

inline constexpr int most_packs = 8; ///< of sums that stay in registers

/// sum[k] += sum_i x[i] line i [k] for `lines` lines of n elements, of which Packs packs of sums stay in registers. The
/// last one overlaps the one before, with the same sums, where n is not whole packs. Where there are few packs, several
/// lines have sums of their own: a sum waits for its last addition.
template <int Bytes, int Packs, class S>
FURROW_INLINE inline void add_to_packs(const S* a, index_t leading, index_t lines, const S* x, index_t n, bool in_parts,
                                       S* sum) {
  constexpr index_t each = in_pack<Bytes, S>;
  constexpr int together = std::max(1, most_packs / 2 / Packs);
  const auto place = [&](int u) FURROW_INLINE { return u < Packs - 1 ? u * each : n - each; };
  pack<Bytes, S> total[together][Packs] = {};
#pragma GCC unroll 8
  for (int u = 0; u < Packs; ++u) std::memcpy(&total[0][u], sum + place(u), Bytes);
  const auto take = [&](index_t line, int r) FURROW_INLINE {
    const S factor = x[line];
#pragma GCC unroll 8
    for (int u = 0; u < Packs; ++u) {
      pack<Bytes, S> numbers;
      std::memcpy(&numbers, a + line * leading + place(u), Bytes);
      total[r % together][u] += factor * numbers;
    }
  };
  index_t i = lines / 4 * 4;
  for_each_few<4>(i, in_parts, [&](index_t first, index_t apart) FURROW_INLINE {
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) take(first + r * apart, r);
  });
  for (; i < lines; ++i) take(i, 0);
#pragma GCC unroll 8
  for (int u = 0; u < Packs; ++u) {
#pragma GCC unroll 4
    for (int r = 1; r < together; ++r) total[0][u] += total[r][u];
    std::memcpy(sum + place(u), &total[0][u], Bytes);
  }
}

/// The same for n less than a pack: of a pack a line only the first n numbers count.
template <int Bytes, class S>
FURROW_INLINE inline void add_parts_of_packs(const S* a, index_t leading, index_t lines, const S* x, index_t n,
                                             bool in_parts, S* sum) {
  constexpr index_t each = in_pack<Bytes, S>;
  pack<Bytes, S> total[4] = {};
  const bool ahead = in_parts && cpu::fetching_ahead_helps();
  index_t i = std::max<index_t>(lines_before_a_pack_ends_behind(lines, leading, n, each), 0) / 4 * 4;
  for_each_few<4>(i, in_parts, [&](index_t first, index_t apart) FURROW_INLINE {
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const index_t line = first + r * apart;
      if (ahead) cpu::prefetch(a + line * leading);
      pack<Bytes, S> numbers;
      std::memcpy(&numbers, a + line * leading, Bytes);
      total[r] += x[line] * numbers;
    }
  });
  total[0] = (total[0] + total[1]) + (total[2] + total[3]);
  S whole[each];
  std::memcpy(whole, &total[0], Bytes);
  for (; i < lines; ++i)
    for (index_t k = 0; k < n; ++k) whole[k] += x[i] * a[i * leading + k];
  for (index_t k = 0; k < n; ++k) sum[k] += whole[k];
}

/// The same for n from one pack to `most_packs`.
template <int Bytes, int Packs = 1, class S>
FURROW_INLINE inline void add_to_registers(const S* a, index_t leading, index_t lines, const S* x, index_t n,
                                           bool in_parts, S* sum) {
  if constexpr (Packs < most_packs)
    if (n > Packs * in_pack<Bytes, S>)
      return add_to_registers<Bytes, Packs + 1>(a, leading, lines, x, n, in_parts, sum);
  add_to_packs<Bytes, Packs>(a, leading, lines, x, n, in_parts, sum);
}

/// sum[k] += sum_i x[i] line i [k] for `lines` lines of N elements without gaps between them, N known: sixteen running
/// sums a column.
template <int N, class S>
FURROW_INLINE inline void add_narrow_lines(const S* a, index_t lines, const S* x, bool ahead, S* sum) {
  constexpr index_t together = 16;
  S wide[N][together] = {};
  index_t i = 0;
  for (; i + together <= lines; i += together) {
    const S *const at = a + i * N, *const factor = x + i;
    if (ahead) cpu::prefetch(at, together * N * index_t(sizeof(S)));
#pragma omp simd
    for (index_t j = 0; j < together; ++j)
      for (int k = 0; k < N; ++k) wide[k][j] += factor[j] * at[j * N + k];
  }
  for (int k = 0; k < N; ++k)
    for (index_t j = 0; j < together; ++j) sum[k] += wide[k][j];
  for (; i < lines; ++i)
    for (int k = 0; k < N; ++k) sum[k] += x[i] * a[i * N + k];
}

/// sum[k] += sum_i x[i] line i [k] for `lines` lines of n elements. far: they come from memory.
template <int Bytes, class S>
FURROW_INLINE inline void add_lines(const S* a, index_t leading, index_t lines, const S* x, index_t n, bool far,
                                    S* sum) {
  const bool in_parts = read_in_parts(leading, n, n * index_t(sizeof(S)), far);
  if (leading == n) {
    const bool ahead = far && cpu::fetching_ahead_helps();
    if (n == 1) return add_narrow_lines<1>(a, lines, x, ahead, sum);
    if (n == 2) return add_narrow_lines<2>(a, lines, x, ahead, sum);
  }
  constexpr index_t each = in_pack<Bytes, S>, most = most_packs * each;
  if (n < each)
    return in_narrowest_register<Bytes, S>(
        n, [&](auto bytes) FURROW_INLINE { add_parts_of_packs<bytes.value>(a, leading, lines, x, n, in_parts, sum); });
  if (n <= most) return add_to_registers<Bytes>(a, leading, lines, x, n, in_parts, sum);
  if (n <= 2 * most && !in_parts) { // in halves, while some lines stay in the first cache
    constexpr index_t some = 16;
    const index_t half = (n + each - 1) / each / 2 * each;
    for (index_t i = 0; i < lines; i += some) {
      const index_t now = std::min(some, lines - i);
      add_to_registers<Bytes>(a + i * leading, leading, now, x + i, half, false, sum);
      add_to_registers<Bytes>(a + i * leading + half, leading, now, x + i, n - half, false, sum + half);
    }
    return;
  }
  constexpr std::integral_constant<int, packs_of_a_run<Bytes>> run;
  constexpr std::integral_constant<int, packs_of_a_cache_line<Bytes>> cache_line;
  index_t i = 0;
  const auto take = [&](auto count, auto packs) FURROW_INLINE {
    const index_t some = (lines - i) / count.value * count.value;
    for_each_few<count.value>(some, in_parts, [&](index_t first, index_t apart) FURROW_INLINE {
      add_some_lines<Bytes, count.value, packs.value>(a + (i + first) * leading, apart * leading, x + i + first, apart,
                                                      n, sum);
    });
    i += some;
  };
  if (!in_parts && (!far || cpu::long_runs_help())) take(std::integral_constant<int, 8>{}, run);
  take(std::integral_constant<int, 4>{}, cache_line);
  take(std::integral_constant<int, 2>{}, cache_line);
  take(std::integral_constant<int, 1>{}, cache_line);
}

} // namespace furrow::dense
