// SPDX-License-Identifier: BSD-3-Clause
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 says of the undefined operand inside its own AVX-512 intrinsics that it is uninitialized.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "cpu_strips.hpp"

#include "backends/cpu/isa.hpp"
#include "formats/sell/cpu_slices.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include "formats/sell/gather_rows.hpp"
#endif

namespace furrow {
namespace {

/// out += a strip, element by element, without those beside the matrix.
template <class V> void add_strip(const hdia<V, cview>& a, index_t strip, index_t col, const V* x, V* out) {
  for (index_t i = 0; i < strip_height; ++i)
    if (col + i >= 0 && col + i < a.shape.cols) out[i] += a.val[strip * strip_height + i] * x[col + i];
}

template <class V> void add_strips(const hdia<V, cview>& a, index_t slice, const V* x, V* out) {
  for (index_t k = a.strip_ptr[slice]; k < a.strip_ptr[slice + 1]; ++k)
    add_strip(a, k, slice * strip_height + a.offset[k], x, out);
}

#if defined(__x86_64__)
#define FURROW_STRIPS(NAME, ISA)                                                                                       \
  /* sum += strip k, element by element into `out` where not all of its elements of x exist. */                        \
  template <class Step, class V>                                                                                       \
  ISA inline __attribute__((always_inline)) void NAME##_add(const hdia<V, cview>& a, index_t k, index_t first,         \
                                                            const V* x, V* out, typename Step::sum* sum) {             \
    const V* const val = a.val.data + k * strip_height;                                                                \
    const index_t col = first + a.offset[k];                                                                           \
    cpu::fetch_ahead(val);                                                                                             \
    if (sizeof(V) == 8) cpu::fetch_ahead(val + 8);                                                                     \
    if (col < 0 || col + strip_height > a.shape.cols) return add_strip(a, k, col, x, out);                             \
    for (int r = 0; r < strip_height / Step::rows; ++r)                                                                \
      sum[r] = Step::add_run(sum[r], val + r * Step::rows, x + col + r * Step::rows);                                  \
  }                                                                                                                    \
  template <class Step, class V> ISA void NAME(const hdia<V, cview>& a, index_t slice, const V* x, V* out) {           \
    constexpr int registers = strip_height / Step::rows;                                                               \
    const index_t first = slice * strip_height, end = a.strip_ptr[slice + 1];                                          \
    index_t k = a.strip_ptr[slice];                                                                                    \
    typename Step::sum even[registers], odd[registers];                                                                \
    for (int r = 0; r < registers; ++r) even[r] = odd[r] = Step::zero();                                               \
    for (; k + 2 <= end; k += 2) {                                                                                     \
      NAME##_add<Step>(a, k, first, x, out, even);                                                                     \
      NAME##_add<Step>(a, k + 1, first, x, out, odd);                                                                  \
    }                                                                                                                  \
    if (k < end) NAME##_add<Step>(a, k, first, x, out, even);                                                          \
    for (int r = 0; r < registers; ++r) {                                                                              \
      V* const at = out + r * Step::rows;                                                                              \
      Step::put(at, Step::add(Step::start(at), Step::add(even[r], odd[r])));                                           \
    }                                                                                                                  \
  }
FURROW_STRIPS(strips_avx512, FURROW_AVX512)
FURROW_STRIPS(strips_avx2, FURROW_AVX2)
#undef FURROW_STRIPS
#endif

/// out <- the sums of the 16 rows of a slice; 0 for those beyond the last one.
template <class V> void sums_of_slice(const hdia<V, cview>& a, index_t slice, const V* x, V* out) {
  std::fill_n(out, strip_height, V(0));
#if defined(__x86_64__)
  using vectors = sell_slices::vectors_of<V>;
  const auto isa = cpu::machine_isa();
  if (isa == cpu::isa::avx512) strips_avx512<typename vectors::avx512>(a, slice, x, out);
  else if (isa != cpu::isa::baseline) strips_avx2<typename vectors::avx2>(a, slice, x, out);
  else
#endif
    add_strips(a, slice, x, out);
  const index_t place = a.rest.slice_ptr[slice], places = a.rest.slice_ptr[slice + 1] - place;
  if (places)
    sell_slices::add_columns(a.rest.col.data + place, a.rest.val.data + place, places / strip_height, strip_height, x,
                             out);
}

} // namespace

template <class V> void strip_rows::sums(const hdia<V, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
  for (index_t row = first; row < last;) {
    const index_t slice = row / strip_height, begin = slice * strip_height, end = std::min(begin + strip_height, last);
    if (row == begin && end == begin + strip_height) {
      sums_of_slice(a, slice, x.data, out + (row - first));
    } else { // a part of a slice
      alignas(64) V sum[strip_height];
      sums_of_slice(a, slice, x.data, sum);
      std::copy(sum + (row - begin), sum + (end - begin), out + (row - first));
    }
    row = end;
  }
}

template void strip_rows::sums(const hdia<double, cview>&, index_t, index_t, cview<double>, double*);
template void strip_rows::sums(const hdia<float, cview>&, index_t, index_t, cview<float>, float*);

} // namespace furrow
