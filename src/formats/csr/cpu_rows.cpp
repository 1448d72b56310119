// SPDX-License-Identifier: BSD-3-Clause
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 says of the undefined operand inside its own AVX-512 intrinsics that it is uninitialized.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "cpu_rows.hpp"

#include "backends/row_kernel.hpp"
#include "core/mispredicted_lengths.hpp"

#if defined(__x86_64__)
#include "cpu_rows_avx2.hpp"
#include "cpu_rows_avx512.hpp"
#endif

namespace furrow::csr_rows {
namespace {

/// The share of the entries that are in rows of more than 64.
template <class I> double entries_in_long_rows(cview<I> row_ptr) {
  index_t entries = 0;
  for (index_t row = 0; row + 1 < row_ptr.size; ++row) {
    const index_t length = row_ptr[row + 1] - row_ptr[row];
    entries += length > 64 ? length : 0;
  }
  return double(entries) / double(row_ptr[row_ptr.size - 1]);
}

} // namespace

template <class V, class I>
void direct::sums(const csr<V, I, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
#if defined(__x86_64__)
  if (cpu::machine_isa() != cpu::isa::baseline) return avx2::rows<avx2::by_loads>(a, first, last, x.data, out);
#endif
  each_row::sums(a, first, last, x, out);
}

template <class V, class I>
void gathered::sums(const csr<V, I, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
#if defined(__x86_64__)
  if (cpu::machine_isa() != cpu::isa::baseline) return avx2::rows<avx2::by_gather>(a, first, last, x.data, out);
#endif
  each_row::sums(a, first, last, x, out);
}

template <class V, class I>
void staged::sums(const csr<V, I, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
#if defined(__x86_64__)
  if (cpu::machine_isa() == cpu::isa::avx512) return avx512::rows(a, first, last, x.data, out);
#endif
  direct::sums(a, first, last, x, out);
}

template <class I> bool irregular(cview<I> row_ptr) {
  const index_t rows = row_ptr.size - 1;
  const double mean = double(row_ptr[rows]) / double(std::max<index_t>(rows, 1));
  const auto length = [&](index_t row) { return row_ptr[row + 1] - row_ptr[row]; };
  return mean <= 32 && mispredicted_lengths(rows, length) > 0.5 && entries_in_long_rows(row_ptr) < 0.1;
}

#define FURROW_ROWS(V, I)                                                                                              \
  template void direct::sums(const csr<V, I, cview>&, index_t, index_t, cview<V>, V*);                                 \
  template void gathered::sums(const csr<V, I, cview>&, index_t, index_t, cview<V>, V*);                               \
  template void staged::sums(const csr<V, I, cview>&, index_t, index_t, cview<V>, V*);
FURROW_ROWS(double, std::int32_t)
FURROW_ROWS(double, std::int64_t)
FURROW_ROWS(float, std::int32_t)
FURROW_ROWS(float, std::int64_t)
#undef FURROW_ROWS
template bool irregular(cview<std::int32_t>);
template bool irregular(cview<std::int64_t>);

} // namespace furrow::csr_rows
