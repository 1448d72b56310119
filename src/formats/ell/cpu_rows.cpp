// SPDX-License-Identifier: BSD-3-Clause
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 says of the undefined operand inside its own gather intrinsics that it is uninitialized.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "cpu_rows.hpp"

#include "backends/row_kernel.hpp"

#if defined(__x86_64__)
#include "cpu_rows_avx2.hpp"
#endif

namespace furrow::ell_rows {
namespace {

/// By columns, without vectors.
template <class V> void block(const ell<V, cview>& a, index_t row, index_t count, cview<V> x, V* out) {
  std::fill_n(out, count, V(0));
  for (index_t k = 0; k < a.width; ++k) {
    const index_t at = k * a.stride + row;
    for (index_t i = 0; i < count; ++i)
      if (const std::int32_t col = a.col[at + i]; col >= 0) out[i] += a.val[at + i] * x[col];
  }
}

template <class V, class F> void each_block(index_t first, index_t last, V* out, F&& body) {
  for (index_t row = first; row < last; row += row_block)
    body(row, std::min(row_block, last - row), out + (row - first));
}

} // namespace

template <class V> void direct::sums(const ell<V, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
#if defined(__x86_64__)
  if (cpu::machine_isa() != cpu::isa::baseline)
    return each_block(first, last, out, [&](index_t row, index_t count, V* to) {
      avx2::block<csr_rows::avx2::by_loads>(a, row, count, x.data, to);
    });
#endif
  each_block(first, last, out, [&](index_t row, index_t count, V* to) { block(a, row, count, x, to); });
}

template <class V> void gathered::sums(const ell<V, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
#if defined(__x86_64__)
  if (cpu::machine_isa() != cpu::isa::baseline)
    return each_block(first, last, out, [&](index_t row, index_t count, V* to) {
      avx2::block<csr_rows::avx2::by_gather>(a, row, count, x.data, to);
    });
#endif
  each_block(first, last, out, [&](index_t row, index_t count, V* to) { block(a, row, count, x, to); });
}

#define FURROW_ROWS(V)                                                                                                 \
  template void direct::sums(const ell<V, cview>&, index_t, index_t, cview<V>, V*);                                    \
  template void gathered::sums(const ell<V, cview>&, index_t, index_t, cview<V>, V*);
FURROW_ROWS(double)
FURROW_ROWS(float)
#undef FURROW_ROWS

} // namespace furrow::ell_rows
