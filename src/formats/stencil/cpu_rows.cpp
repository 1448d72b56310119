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

namespace furrow {
namespace {

template <int Bytes, class V> using pack [[gnu::vector_size(Bytes), gnu::may_alias]] = V;

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

/// P vectors of rows of one stencil, from the one that `x` and `out` point to.
template <int Bytes, int P, class V>
FURROW_INLINE inline void add_vectors(const one_stencil<V>& s, const V* x, V* out) {
  constexpr index_t lanes = Bytes / sizeof(V);
  pack<Bytes, V> sum[P] = {};
  for (std::int32_t j = 0; j < s.count; ++j) {
    const V* const at = x + s.offset[j];
    const V value = s.val[j];
    for (int p = 0; p < P; ++p) {
      pack<Bytes, V> element;
      std::memcpy(&element, at + p * lanes, sizeof element);
#pragma GCC unroll 16
      for (index_t l = 0; l < lanes; ++l) sum[p][l] = multiply_add<Bytes>(value, element[l], sum[p][l]);
    }
  }
  for (int p = 0; p < P; ++p) std::memcpy(out + p * lanes, &sum[p], Bytes); // a copy of several goes through memory
}

/// `n` rows of one stencil, at least a vector of them; the last vectors overlap those before, so that there are few
/// calls and none for single rows.
template <int Bytes, class V>
FURROW_INLINE inline void add_run(const one_stencil<V>& s, const V* x, V* out, index_t n) {
  constexpr index_t lanes = Bytes / sizeof(V);
  index_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) add_vectors<Bytes, 4>(s, x + i, out + i);
  if (n < 4 * lanes && n >= 2 * lanes) {
    add_vectors<Bytes, 2>(s, x, out);
    i = 2 * lanes;
  } else if (n < 2 * lanes) {
    add_vectors<Bytes, 1>(s, x, out);
    i = lanes;
  }
  const index_t left = n - i;
  if (left > 2 * lanes) add_vectors<Bytes, 4>(s, x + n - 4 * lanes, out + n - 4 * lanes); // only behind four
  else if (left > lanes) add_vectors<Bytes, 2>(s, x + n - 2 * lanes, out + n - 2 * lanes);
  else if (left > 0) add_vectors<Bytes, 1>(s, x + n - lanes, out + n - lanes);
}

template <int Bytes, class V> FURROW_INLINE inline void add_row(const one_stencil<V>& s, const V* x, V* out) {
  V sum{};
  for (std::int32_t j = 0; j < s.count; ++j) sum = multiply_add<Bytes>(s.val[j], x[s.offset[j]], sum);
  *out = sum;
}

/// Rows one by one; four neighbours side by side where their stencils are of one length, so that no sum waits for the
/// addition before.
template <int Bytes, class V, class N>
FURROW_INLINE inline void add_rows(const stencil<V, N, cview>& a, index_t row, index_t n, const V* x, V* out) {
  index_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const N* const number = a.number.data + row + i;
    const one_stencil<V> s[4] = {stencil_at(a, number[0]), stencil_at(a, number[1]), stencil_at(a, number[2]),
                                 stencil_at(a, number[3])};
    const V* const at = x + row + i;
    if (s[0].count == s[1].count && s[0].count == s[2].count && s[0].count == s[3].count) {
      V sum[4] = {};
      for (std::int32_t j = 0; j < s[0].count; ++j)
        for (int r = 0; r < 4; ++r) sum[r] = multiply_add<Bytes>(s[r].val[j], at[r + s[r].offset[j]], sum[r]);
      std::copy_n(sum, 4, out + i);
    } else {
      for (int r = 0; r < 4; ++r) add_row<Bytes>(s[r], at + r, out + i + r);
    }
  }
  for (; i < n; ++i) add_row<Bytes>(stencil_at(a, a.number.data[row + i]), x + row + i, out + i);
}

/// The rows [row, last) up to the first that lies beside the table, which is returned.
template <int Bytes, class V, class N>
FURROW_INLINE inline index_t rows_of_table(const stencil<V, N, cview>& a, index_t row, index_t last, const V* x,
                                           V* out) {
  constexpr index_t lanes = Bytes / sizeof(V);
  const index_t none = a.start.size - 1;
  const index_t first = row;
  index_t waiting = row; // from here on rows are left to add_rows
  while (row < last && index_t(a.number.data[row]) < none) {
    const index_t run = run_of(a.number.data + row, last - row);
    if (run >= lanes) {
      add_rows<Bytes>(a, waiting, row - waiting, x, out + (waiting - first));
      add_run<Bytes>(stencil_at(a, a.number.data[row]), x + row, out + (row - first), run);
      waiting = row + run;
    }
    row += run;
  }
  add_rows<Bytes>(a, waiting, row - waiting, x, out + (waiting - first));
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
