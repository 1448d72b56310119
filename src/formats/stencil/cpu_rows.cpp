// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_rows.hpp"

#include "cpu_rest.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/row_kernel.hpp"
#include "formats/csr/cpu_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace furrow {
namespace {

/// A stencil of the table.
template <class V> struct one_stencil {
  const std::int32_t* offset;
  const V* val;
  std::int32_t count;
};
template <class V, class N> FURROW_INLINE inline one_stencil<V> stencil_at(const stencil<V, N, cview>& a, index_t n) {
  const std::int32_t begin = a.start.data[n];
  return {a.offset.data + begin, a.val.data + begin, a.start.data[n + 1] - begin};
}

/// How many of the numbers from `number` on, at most `most`, are alike. Eight bytes at a time.
template <class N> FURROW_INLINE inline index_t run_of(const N* number, index_t most) {
  constexpr index_t each = 8 / sizeof(N);
  constexpr std::uint64_t ones = sizeof(N) == 1 ? 0x0101010101010101 : 0x0001000100010001;
  const std::uint64_t alike = ones * number[0];
  index_t k = 0;
  for (; k + each <= most; k += each) {
    std::uint64_t some;
    std::memcpy(&some, number + k, sizeof some);
    if (const std::uint64_t other = some ^ alike) // little endian: the first number lies in the lowest bits
      return k + (std::endian::native == std::endian::little ? std::countr_zero(other) : std::countl_zero(other)) /
                     index_t(8 * sizeof(N));
  }
  while (k < most && number[k] == number[0]) ++k;
  return k;
}

/// sum + a b as the vectors have it, rounded once where they have registers for that: left alone, a compiler would take
/// the products of a row together and round each.
template <int Bytes, class V> FURROW_INLINE inline V multiply_add(V a, V b, V sum) {
#if defined(__FP_FAST_FMA)
  return std::fma(a, b, sum);
#else
  if constexpr (Bytes > 16) return std::fma(a, b, sum);
  else return sum + a * b;
#endif
}

/// out[i] = sum over k of s.val[j + k] x[s.offset[j + k] + i] for 0 <= i < n, a multiple of Lanes; on top of what is
/// there unless `First`.
///
/// The loop over lanes is the vectoriser's: `sum += value * element` of whole vectors is rounded once or twice as the
/// compiler likes, and a `fma` for each element of a vector type stays a scalar one in GCC 12, by which poisson3d:40
/// took 4 times as long in f64 and 10 times in f32 (one thread of a Xeon with AVX-512).
template <int Bytes, int Lanes, bool First, class V, std::size_t... K>
FURROW_INLINE inline void add_entries(const one_stencil<V>& s, std::int32_t j, const V* x, V* out, index_t n,
                                      std::index_sequence<K...>) {
  const V value[] = {s.val[j + std::int32_t(K)]...};
  const V* const at[] = {x + s.offset[j + std::int32_t(K)]...};
  for (index_t i = 0; i < n; i += Lanes) {
#pragma omp simd
    for (index_t l = i; l < i + Lanes; ++l) {
      V sum = First ? V(0) : out[l];
      ((sum = multiply_add<Bytes>(value[K], at[K][l], sum)), ...);
      out[l] = sum;
    }
  }
}

/// The next entries of a stencil, at most eight, from `j` on. Returns where it has come to.
template <int Bytes, int Lanes, bool First, class V>
FURROW_INLINE inline std::int32_t add_some(const one_stencil<V>& s, std::int32_t j, const V* x, V* out, index_t n) {
  const auto add = [&](auto count) FURROW_INLINE {
    add_entries<Bytes, Lanes, First>(s, j, x, out, n, std::make_index_sequence<count>{});
    return j + std::int32_t(count);
  };
  switch (s.count - j) {
  case 1:
    return add(std::integral_constant<std::size_t, 1>{});
  case 2:
    return add(std::integral_constant<std::size_t, 2>{});
  case 3:
    return add(std::integral_constant<std::size_t, 3>{});
  case 4:
    return add(std::integral_constant<std::size_t, 4>{});
  case 5:
    return add(std::integral_constant<std::size_t, 5>{});
  case 6:
    return add(std::integral_constant<std::size_t, 6>{});
  case 7:
    return add(std::integral_constant<std::size_t, 7>{});
  default:
    return add(std::integral_constant<std::size_t, 8>{});
  }
}

/// `n` rows of one stencil, a multiple of Lanes; their sums stay in the first cache while the entries go by.
template <int Bytes, int Lanes, class V>
FURROW_INLINE inline void add_vectors(const one_stencil<V>& s, const V* x, V* out, index_t n) {
  if (s.count == 0) return void(std::fill_n(out, n, V(0)));
  for (std::int32_t j = add_some<Bytes, Lanes, true>(s, 0, x, out, n); j < s.count;)
    j = add_some<Bytes, Lanes, false>(s, j, x, out, n);
}

/// `n` rows of one stencil, at least Lanes of them. The last vector overlaps the one before, so that no row is alone.
template <int Bytes, int Lanes, class V>
FURROW_INLINE inline void add_run(const one_stencil<V>& s, const V* x, V* out, index_t n) {
  const index_t whole = n / Lanes * Lanes, last = n - Lanes;
  add_vectors<Bytes, Lanes>(s, x, out, whole);
  if (whole == n) return;
  V sum[Lanes]; // NOLINT: written before it is read
  add_vectors<Bytes, Lanes>(s, x + last, sum, Lanes);
  std::memcpy(out + last, sum, sizeof sum);
}

/// R neighbours side by side where their stencils are of one length, so that no sum waits for the addition before;
/// otherwise half of them at a time.
template <int Bytes, int R, class V, class N>
FURROW_INLINE inline void add_neighbours(const stencil<V, N, cview>& a, index_t row, const V* x, V* out) {
  one_stencil<V> s[R];
  bool alike = true;
  for (int r = 0; r < R; ++r) {
    s[r] = stencil_at(a, a.number.data[row + r]);
    alike &= s[r].count == s[0].count;
  }
  if constexpr (R > 1)
    if (!alike) {
      add_neighbours<Bytes, R / 2>(a, row, x, out);
      return add_neighbours<Bytes, R / 2>(a, row + R / 2, x + R / 2, out + R / 2);
    }
  V sum[R] = {};
  for (std::int32_t j = 0; j < s[0].count; ++j)
    for (int r = 0; r < R; ++r) sum[r] = multiply_add<Bytes>(s[r].val[j], x[r + s[r].offset[j]], sum[r]);
  std::copy_n(sum, R, out);
}

/// `n` rows from `row` on that are not in long runs; `x` and `out` point to the first one's elements.
template <int Bytes, class V, class N>
FURROW_INLINE inline void add_rows(const stencil<V, N, cview>& a, index_t row, index_t n, const V* x, V* out) {
  index_t i = 0;
  for (; i + 4 <= n; i += 4) add_neighbours<Bytes, 4>(a, row + i, x + i, out + i);
  for (; i + 2 <= n; i += 2) add_neighbours<Bytes, 2>(a, row + i, x + i, out + i);
  if (i < n) add_neighbours<Bytes, 1>(a, row + i, x + i, out + i);
}

/// The rows [row, last) up to the first that lies beside the table, which is returned.
template <int Bytes, class V, class N>
FURROW_INLINE inline index_t rows_of_table(const stencil<V, N, cview>& a, index_t row, index_t last, const V* x,
                                           V* out) {
  constexpr int lanes = Bytes / sizeof(V);
  const index_t none = a.start.size - 1;
  const index_t first = row;
  index_t waiting = row; // from here on rows are left to add_rows
  while (row < last && index_t(a.number.data[row]) < none) {
    const index_t run = run_of(a.number.data + row, last - row);
    if (run >= lanes / 2) {
      add_rows<Bytes>(a, waiting, row - waiting, x + waiting, out + (waiting - first));
      const auto s = stencil_at(a, a.number.data[row]);
      if (run >= lanes) add_run<Bytes, lanes>(s, x + row, out + (row - first), run);
      else add_run<Bytes, lanes / 2>(s, x + row, out + (row - first), run);
      waiting = row + run;
    }
    row += run;
  }
  add_rows<Bytes>(a, waiting, row - waiting, x + waiting, out + (waiting - first));
  return row;
}

/// The rows of the table among [first, last); those beside it are left out.
template <class V, class N>
void sums_of_table(const stencil<V, N, cview>& a, index_t first, index_t last, const V* x, V* out) {
  for (index_t row = first; row < last;) {
    cpu::widest_registers(
        [&](auto bytes) FURROW_INLINE { row = rows_of_table<bytes.value>(a, row, last, x, out + (row - first)); });
    if (row < last) row += run_of(a.number.data + row, last - row);
  }
}

/// At most row_block rows, those at the positions [beside, beside_end) of the rest among them.
template <class V, class N>
void sums_of_both(const stencil<V, N, cview>& a, index_t first, index_t last, index_t beside, index_t beside_end,
                  cview<V> x, V* out) {
  if (beside == beside_end) return sums_of_table(a, first, last, x.data, out);
  if (beside_end - beside == last - first) return csr_rows::direct::sums(a.rest, beside, beside_end, x, out);
  N number[row_block]; // NOLINT: written before it is read
  lend_numbers(a, first, last, beside, beside_end, number);
  auto lent = a;
  lent.number = {number, last - first};
  sums_of_table(lent, 0, last - first, x.data + first, out);
  V own[row_block]; // NOLINT: written before it is read
  csr_rows::direct::sums(a.rest, beside, beside_end, x, own);
  for (index_t k = beside; k < beside_end; ++k) out[a.rest_row.data[k] - first] = own[k - beside];
}

} // namespace

template <class V, class N>
void stencil_runs::sums(const stencil<V, N, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
  if (a.rest_row.empty()) return sums_of_table(a, first, last, x.data, out);
  index_t beside = position_beside(a, first);
  for (index_t row = first; row < last; row += row_block) {
    const index_t end = std::min(row + row_block, last), beside_before = beside;
    while (beside < a.rest_row.size && a.rest_row.data[beside] < end) ++beside;
    sums_of_both(a, row, end, beside_before, beside, x, out + (row - first));
  }
}

#define FURROW_STENCIL(V, N)                                                                                           \
  template void stencil_runs::sums(const stencil<V, N, cview>&, index_t, index_t, cview<V>, V*);
FURROW_STENCIL(double, std::uint8_t)
FURROW_STENCIL(double, std::uint16_t)
FURROW_STENCIL(float, std::uint8_t)
FURROW_STENCIL(float, std::uint16_t)
#undef FURROW_STENCIL

} // namespace furrow
