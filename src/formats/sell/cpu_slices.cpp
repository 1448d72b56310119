// SPDX-License-Identifier: BSD-3-Clause
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 says of the undefined operand inside its own AVX-512 intrinsics that it is uninitialized.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "cpu_slices.hpp"

#include "backends/cpu/isa.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include "gather_rows.hpp"
#endif

namespace furrow::sell_slices {
namespace {

template <class V>
void add_one_by_one(const std::int32_t* col, const V* val, index_t width, index_t height, const V* x, V* out) {
  for (index_t k = 0; k < width; ++k, col += height, val += height)
    for (index_t i = 0; i < height; ++i)
      if (col[i] >= 0) out[i] += val[i] * x[col[i]];
}

} // namespace

template <class V>
void add_columns(const std::int32_t* col, const V* val, index_t width, index_t height, const V* x, V* out) {
#if defined(__x86_64__)
  using vectors = vectors_of<V>;
  const auto isa = cpu::machine_isa();
  if (isa == cpu::isa::avx512 && height >= vectors::avx512::rows)
    return slice_avx512<typename vectors::avx512>(col, val, width, height, x, out);
  if (isa != cpu::isa::baseline && height >= vectors::avx2::rows)
    return slice_avx2<typename vectors::avx2>(col, val, width, height, x, out);
#endif
  add_one_by_one(col, val, width, height, x, out);
}

template <int W, class V>
void add_columns_to_block(const std::int32_t* col, const V* val, index_t width, index_t height, const V* x, V* out) {
  cpu::widest([&]() FURROW_INLINE {
    for (index_t i = 0; i < height; ++i, out += W) {
      V sum[W];
      std::copy_n(out, W, sum);
      for (index_t at = i, end = i + width * height; at < end && col[at] >= 0; at += height) {
        const V a = val[at];
        const V* const from = x + index_t(col[at]) * W;
#pragma omp simd
        for (int q = 0; q < W; ++q) sum[q] += a * from[q];
      }
      std::copy_n(sum, W, out);
    }
  });
}

template <int W, class V> void blocks::block_sums(const sell<V, cview>& a, index_t slice, const V* x, V* out) {
  const index_t begin = a.slice_ptr[slice], width = (a.slice_ptr[slice + 1] - begin) / a.height;
  std::fill_n(out, a.height * W, V(0));
  add_columns_to_block<W>(a.col.data + begin, a.val.data + begin, width, a.height, x, out);
}

template <class V> void scalar::sums(const sell<V, cview>& a, index_t slice, cview<V> x, V* out) {
  const index_t begin = a.slice_ptr[slice], width = (a.slice_ptr[slice + 1] - begin) / a.height;
  std::fill_n(out, a.height, V(0));
  add_one_by_one(a.col.data + begin, a.val.data + begin, width, a.height, x.data, out);
}

template <class V> void vectors::sums(const sell<V, cview>& a, index_t slice, cview<V> x, V* out) {
  const index_t begin = a.slice_ptr[slice], width = (a.slice_ptr[slice + 1] - begin) / a.height;
  std::fill_n(out, a.height, V(0));
  add_columns(a.col.data + begin, a.val.data + begin, width, a.height, x.data, out);
}

#define FURROW_BLOCKS(V, W)                                                                                            \
  template void add_columns_to_block<W>(const std::int32_t*, const V*, index_t, index_t, const V*, V*);                \
  template void blocks::block_sums<W>(const sell<V, cview>&, index_t, const V*, V*);
#define FURROW_SLICES(V)                                                                                               \
  template void add_columns(const std::int32_t*, const V*, index_t, index_t, const V*, V*);                            \
  template void scalar::sums(const sell<V, cview>&, index_t, cview<V>, V*);                                            \
  template void vectors::sums(const sell<V, cview>&, index_t, cview<V>, V*);                                           \
  FURROW_BLOCKS(V, 2)                                                                                                  \
  FURROW_BLOCKS(V, 4)                                                                                                  \
  FURROW_BLOCKS(V, 8)                                                                                                  \
  FURROW_BLOCKS(V, 16)
FURROW_SLICES(double)
FURROW_SLICES(float)
#undef FURROW_SLICES
#undef FURROW_BLOCKS

} // namespace furrow::sell_slices
