// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "cpu_pack.hpp"

#include <furrow/gemv.hpp>

#include <algorithm>

/// The CPU's loops of products that add lines up.
namespace furrow::dense {

/// sum[k] += sum_i f[i] line i [k] for eight lines of n elements. Where there are registers for it, 512 bytes of a line
/// at a time: the fewer turns from line to line, the better memory answers.
template <int Bytes, class S, class T>
FURROW_INLINE inline void add_eight_lines(const T* line, index_t leading, const S* f, index_t n, S* sum) {
  index_t k = 0;
  if constexpr (std::is_same_v<S, T>) {
    constexpr int most = Bytes == 64 ? 8 : 2;
    constexpr index_t each = in_pack<Bytes, S>;
    const auto add = [&](auto packs) FURROW_INLINE {
      pack<Bytes, S> total[packs.value];
#pragma GCC unroll 8
      for (int u = 0; u < packs.value; ++u) std::memcpy(&total[u], sum + k + u * each, Bytes);
#pragma GCC unroll 8
      for (int r = 0; r < 8; ++r)
#pragma GCC unroll 8
        for (int u = 0; u < packs.value; ++u) {
          pack<Bytes, S> numbers;
          std::memcpy(&numbers, line + r * leading + k + u * each, Bytes);
          total[u] += f[r] * numbers;
        }
#pragma GCC unroll 8
      for (int u = 0; u < packs.value; ++u) std::memcpy(sum + k + u * each, &total[u], Bytes);
      k += packs.value * each;
    };
    while (k + most * each <= n) add(std::integral_constant<int, most>{});
    while (k + each <= n) add(std::integral_constant<int, 1>{});
  }
#pragma omp simd
  for (index_t j = k; j < n; ++j) {
    const T* const at = line + j;
    const S low = f[0] * S(value_of(at[0])) + f[1] * S(value_of(at[leading])) + f[2] * S(value_of(at[2 * leading])) +
                  f[3] * S(value_of(at[3 * leading]));
    const S high = f[4] * S(value_of(at[4 * leading])) + f[5] * S(value_of(at[5 * leading])) +
                   f[6] * S(value_of(at[6 * leading])) + f[7] * S(value_of(at[7 * leading]));
    sum[j] += low + high;
  }
}

inline constexpr int most_packs = 8; ///< of sums that stay in registers

/// sum[k] += sum_i x[i] line i [k] for `lines` lines of n elements, of which Packs packs of sums stay in registers. The
/// last one overlaps the one before, with the same sums, where n is not whole packs.
template <int Bytes, int Packs, class S>
FURROW_INLINE inline void add_to_packs(const S* a, index_t leading, index_t lines, const S* x, index_t n, S* sum) {
  constexpr index_t each = in_pack<Bytes, S>;
  const auto place = [&](int u) FURROW_INLINE { return u < Packs - 1 ? u * each : n - each; };
  pack<Bytes, S> total[Packs];
#pragma GCC unroll 8
  for (int u = 0; u < Packs; ++u) std::memcpy(&total[u], sum + place(u), Bytes);
  for (index_t i = 0; i < lines; ++i) {
    const S factor = x[i];
#pragma GCC unroll 8
    for (int u = 0; u < Packs; ++u) {
      pack<Bytes, S> numbers;
      std::memcpy(&numbers, a + i * leading + place(u), Bytes);
      total[u] += factor * numbers;
    }
  }
#pragma GCC unroll 8
  for (int u = 0; u < Packs; ++u) std::memcpy(sum + place(u), &total[u], Bytes);
}

/// The same for n from one pack to `most_packs`.
template <int Bytes, int Packs = 1, class S>
FURROW_INLINE inline void add_to_registers(const S* a, index_t leading, index_t lines, const S* x, index_t n, S* sum) {
  if constexpr (Packs < most_packs)
    if (n > Packs * in_pack<Bytes, S>) return add_to_registers<Bytes, Packs + 1>(a, leading, lines, x, n, sum);
  add_to_packs<Bytes, Packs>(a, leading, lines, x, n, sum);
}

/// sum[k] += sum_i x[i] line i [k] for `lines` lines of n elements.
template <int Bytes, class S, class T, class V>
FURROW_INLINE inline void add_lines(const T* a, index_t leading, index_t lines, const V* x, index_t n, S* sum) {
  if constexpr (std::is_same_v<S, T>) {
    constexpr index_t each = in_pack<Bytes, S>, most = most_packs * each;
    if (n >= each && n <= most) return add_to_registers<Bytes>(a, leading, lines, x, n, sum);
    if (n > most && n <= 2 * most) { // in halves, while some lines stay in the first cache
      constexpr index_t some = 16;
      const index_t half = (n + each - 1) / each / 2 * each;
      for (index_t i = 0; i < lines; i += some) {
        const index_t now = std::min(some, lines - i);
        add_to_registers<Bytes>(a + i * leading, leading, now, x + i, half, sum);
        add_to_registers<Bytes>(a + i * leading + half, leading, now, x + i, n - half, sum + half);
      }
      return;
    }
  }
  index_t i = 0;
  for (; i + 8 <= lines; i += 8) {
    S f[8];
    for (int r = 0; r < 8; ++r) f[r] = x[i + r];
    add_eight_lines<Bytes>(a + i * leading, leading, f, n, sum);
  }
  for (; i < lines; ++i) {
    const T* const line = a + i * leading;
    const S factor = x[i];
#pragma omp simd
    for (index_t k = 0; k < n; ++k) sum[k] += factor * S(value_of(line[k]));
  }
}

/// The same for lines of N elements without gaps between them, N known: sixteen running sums a column.
template <int N, class S, class T, class V>
FURROW_INLINE inline void add_narrow_lines(const T* a, index_t lines, const V* x, S* sum) {
  constexpr index_t together = 16;
  S wide[N][together] = {};
  index_t i = 0;
  for (; i + together <= lines; i += together) {
    const T* const at = a + i * N;
    const V* const factor = x + i;
#pragma omp simd
    for (index_t j = 0; j < together; ++j)
      for (int k = 0; k < N; ++k) wide[k][j] += S(factor[j]) * S(value_of(at[j * N + k]));
  }
  for (int k = 0; k < N; ++k)
    for (index_t j = 0; j < together; ++j) sum[k] += wide[k][j];
  for (; i < lines; ++i)
    for (int k = 0; k < N; ++k) sum[k] += S(x[i]) * S(value_of(a[i * N + k]));
}

/// The same for lines of a few elements without gaps between them: several lines make one long one, whose sums are
/// folded at the end. `sum` is zero before.
template <class S, class T, class V>
FURROW_INLINE inline void add_short_lines(const T* a, index_t lines, const V* x, index_t n, S* sum) {
  if (n == 1) return add_narrow_lines<1>(a, lines, x, sum);
  if (n == 2) return add_narrow_lines<2>(a, lines, x, sum);
  if (n == 4) return add_narrow_lines<4>(a, lines, x, sum);
  if (n == 8) return add_narrow_lines<8>(a, lines, x, sum);
  constexpr index_t together = 16;
  std::array<S, together * short_line> wide{};
  std::array<std::int32_t, together * short_line> line_of{};
  for (index_t q = 0; q < together * n; ++q) line_of[q] = static_cast<std::int32_t>(q / n);
  index_t i = 0;
  for (; i + together <= lines; i += together) {
    const T* const at = a + i * n;
    const V* const factor = x + i;
#pragma omp simd
    for (index_t q = 0; q < together * n; ++q) wide[q] += S(factor[line_of[q]]) * S(value_of(at[q]));
  }
  for (index_t q = 0; q < together * n; ++q) sum[q % n] += wide[q];
  for (; i < lines; ++i)
    for (index_t k = 0; k < n; ++k) sum[k] += S(x[i]) * S(value_of(a[i * n + k]));
}

} // namespace furrow::dense
