// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/fetch_ahead.hpp"
#include "backends/cpu/isa.hpp"

#include <furrow/gemv.hpp>

#include <array>
#include <cstring>
#include <type_traits>

/// The loops of a dense product over pieces of lines. All are meant to run inside `cpu::widest_registers`; Bytes are
/// those of a vector register.
namespace furrow::dense {

FURROW_INLINE inline double value_of(double a) { return a; }
FURROW_INLINE inline float value_of(float a) { return a; }
FURROW_INLINE inline float value_of(bfloat16 a) { return float(a); }
FURROW_INLINE inline float value_of(half a) { return float(a); }

template <class S, class T, class V> FURROW_INLINE inline S one_sum(const T* a, const V* x, index_t n) {
  S sum{};
#pragma omp simd reduction(+ : sum)
  for (index_t k = 0; k < n; ++k) sum += S(value_of(a[k])) * S(x[k]);
  return sum;
}

/// Bytes of neighbouring numbers: a register. (They are copied one by one: a copy of several goes through memory.)
template <int Bytes, class S> using pack [[gnu::vector_size(Bytes), gnu::may_alias]] = S;
template <int Bytes, class S> inline constexpr index_t in_pack = Bytes / index_t(sizeof(S));

/// out[i] = sum_k line i [k] x[k] for Lines lines, `leading` apart, each in Packs packs of sums. Ahead: they come from
/// memory, and are asked for ahead.
template <int Bytes, int Lines, int Packs, bool Ahead, class S>
FURROW_INLINE inline void pack_sums(const S* a, index_t leading, const S* x, index_t n, S* out) {
  constexpr index_t each = in_pack<Bytes, S>;
  pack<Bytes, S> sum[Lines][Packs] = {};
  index_t k = 0;
  const auto add = [&](auto packs) FURROW_INLINE {
    pack<Bytes, S> factor[packs.value];
#pragma GCC unroll 8
    for (int u = 0; u < packs.value; ++u) std::memcpy(&factor[u], x + k + u * each, Bytes);
#pragma GCC unroll 4
    for (int i = 0; i < Lines; ++i)
#pragma GCC unroll 8
      for (int u = 0; u < packs.value; ++u) {
        const S* const from = a + i * leading + k + u * each;
        if (Ahead) cpu::fetch_ahead(from);
        pack<Bytes, S> numbers;
        std::memcpy(&numbers, from, Bytes);
        sum[i][u] += numbers * factor[u];
      }
  };
  for (; k + Packs * each <= n; k += Packs * each) add(std::integral_constant<int, Packs>{});
  for (; k + each <= n; k += each) add(std::integral_constant<int, 1>{});
#pragma GCC unroll 4
  for (int i = 0; i < Lines; ++i) {
#pragma GCC unroll 8
    for (int u = 1; u < Packs; ++u) sum[i][0] += sum[i][u];
    S part[each]; // halves onto halves
    std::memcpy(part, &sum[i][0], Bytes);
#pragma GCC unroll 4
    for (index_t half = each / 2; half > 0; half /= 2)
#pragma GCC unroll 8
      for (index_t j = 0; j < half; ++j) part[j] += part[j + half];
    for (index_t j = k; j < n; ++j) part[0] += a[i * leading + j] * x[j];
    out[i] = part[0];
  }
}

/// out[i] = sum_k line i [k] x[k] for four lines, `leading` apart, of numbers that are converted.
template <class S, class T, class V>
FURROW_INLINE inline void four_sums(const T* a, index_t leading, const V* x, index_t n, S* out) {
  constexpr index_t together = 16;
  const T *const a0 = a, *const a1 = a0 + leading, *const a2 = a1 + leading, *const a3 = a2 + leading;
  S s0[together]{}, s1[together]{}, s2[together]{}, s3[together]{};
  index_t k = 0;
  for (; k + together <= n; k += together) {
#pragma omp simd
    for (index_t j = 0; j < together; ++j) {
      const S factor = x[k + j];
      s0[j] += S(value_of(a0[k + j])) * factor;
      s1[j] += S(value_of(a1[k + j])) * factor;
      s2[j] += S(value_of(a2[k + j])) * factor;
      s3[j] += S(value_of(a3[k + j])) * factor;
    }
  }
  for (index_t i = 0; i < 4; ++i) out[i] = one_sum<S>(a + i * leading + k, x + k, n - k);
  for (index_t j = 0; j < together; ++j) {
    out[0] += s0[j];
    out[1] += s1[j];
    out[2] += s2[j];
    out[3] += s3[j];
  }
}

inline constexpr index_t side_by_side = 32; ///< short lines that are summed up at the same time
inline constexpr index_t short_line = 16;   ///< longest of them
inline constexpr index_t one_by_one = 2048; ///< bytes of a line up to which lines from memory are read one by one

/// out[i] = sum_k line i [k] x[k] for `side_by_side` lines of a few elements each.
template <class S, class T, class V>
FURROW_INLINE inline void short_sums(const T* a, index_t leading, const V* x, index_t n, S* out) {
  std::array<S, side_by_side> sum{};
  for (index_t k = 0; k < n; ++k) {
    const S factor = x[k];
    const T* const column = a + k;
#pragma omp simd
    for (index_t i = 0; i < side_by_side; ++i) sum[i] += S(value_of(column[i * leading])) * factor;
  }
  for (index_t i = 0; i < side_by_side; ++i) out[i] = sum[i];
}

/// The same for any number of lines of N elements without gaps between them: N is known, so that loads are contiguous
/// and neighbours are sorted out in registers.
template <int N, class S, class T, class V>
FURROW_INLINE inline void narrow_sums(const T* a, index_t lines, const V* x, S* out) {
  S factor[N];
  for (int k = 0; k < N; ++k) factor[k] = x[k];
#pragma omp simd
  for (index_t i = 0; i < lines; ++i) {
    S sum{};
    for (int k = 0; k < N; ++k) sum += S(value_of(a[i * N + k])) * factor[k];
    out[i] = sum;
  }
}

/// out[i] = sum_k line i [k] x[k] for `lines` lines; `far` as in `four_sums`. A line's bits depend on its place.
template <int Bytes, class S, class T, class V>
FURROW_INLINE inline void sums_along(const T* a, index_t leading, index_t lines, const V* x, index_t n, bool far,
                                     S* out) {
  if (leading == n) {
    if (n == 1) return narrow_sums<1>(a, lines, x, out);
    if (n == 2) return narrow_sums<2>(a, lines, x, out);
    if (n == 3) return narrow_sums<3>(a, lines, x, out);
    if (n == 4) return narrow_sums<4>(a, lines, x, out);
    if (n == 8) return narrow_sums<8>(a, lines, x, out);
  }
  index_t i = 0;
  if (n <= short_line)
    for (; i + side_by_side <= lines; i += side_by_side) short_sums(a + i * leading, leading, x, n, out + i);
  if constexpr (std::is_same_v<S, T>) {
    if (far && leading == n && n * index_t(sizeof(T)) <= one_by_one) // as they lie in memory
      for (; i < lines; ++i) pack_sums<Bytes, 1, 8, false>(a + i * leading, leading, x, n, out + i);
    if (sizeof(T) == 8 && far && cpu::fetching_ahead_helps())
      for (; i + 4 <= lines; i += 4) pack_sums<Bytes, 4, 2, true>(a + i * leading, leading, x, n, out + i);
    for (; i + 4 <= lines; i += 4) pack_sums<Bytes, 4, 2, false>(a + i * leading, leading, x, n, out + i);
    for (; i < lines; ++i) pack_sums<Bytes, 1, 8, false>(a + i * leading, leading, x, n, out + i);
  } else {
    for (; i + 4 <= lines; i += 4) four_sums<S>(a + i * leading, leading, x, n, out + i);
  }
  for (; i < lines; ++i) out[i] = one_sum<S>(a + i * leading, x, n);
}

/// sum[k] += sum_i f[i] line i [k] for eight lines of n elements.
template <int Bytes, class S, class T>
FURROW_INLINE inline void add_eight_lines(const T* line, index_t leading, const S* f, index_t n, S* sum) {
  index_t k = 0;
  if constexpr (std::is_same_v<S, T>) {
    constexpr int packs = 2;
    constexpr index_t each = in_pack<Bytes, S>;
    for (; k + packs * each <= n; k += packs * each) {
      pack<Bytes, S> total[packs];
#pragma GCC unroll 2
      for (int u = 0; u < packs; ++u) std::memcpy(&total[u], sum + k + u * each, Bytes);
#pragma GCC unroll 8
      for (int r = 0; r < 8; ++r)
#pragma GCC unroll 2
        for (int u = 0; u < packs; ++u) {
          pack<Bytes, S> numbers;
          std::memcpy(&numbers, line + r * leading + k + u * each, Bytes);
          total[u] += f[r] * numbers;
        }
#pragma GCC unroll 2
      for (int u = 0; u < packs; ++u) std::memcpy(sum + k + u * each, &total[u], Bytes);
    }
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

/// sum[k] += sum_i x[i] line i [k] for `lines` lines of n elements.
template <int Bytes, class S, class T, class V>
FURROW_INLINE inline void add_lines(const T* a, index_t leading, index_t lines, const V* x, index_t n, S* sum) {
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
