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

#include <furrow/value.hpp>
#endif

namespace furrow {
namespace {

/// Of a strip whose first place is in column `col`, the places [begin, end) lie inside the matrix.
struct part_inside {
  part_inside(index_t col, index_t cols)
      : begin(static_cast<int>(std::clamp<index_t>(-col, 0, strip_height))),
        end(static_cast<int>(std::clamp<index_t>(cols - col, 0, strip_height))) {}
  const int begin, end;
};

/// out <- the sums of whole slices, those of rows beyond the last one too. For machines without vectors of rows.
template <class V>
void slices_one_by_one(const hdia<V, cview>& a, index_t slice, index_t last_slice, const V* x, V* out) {
  for (; slice < last_slice; ++slice, out += strip_height) {
    std::fill_n(out, strip_height, V(0));
    for (index_t k = a.strip_ptr[slice]; k < a.strip_ptr[slice + 1]; ++k) {
      const index_t col = slice * strip_height + a.offset[k];
      const part_inside part(col, a.shape.cols);
      for (index_t i = part.begin; i < part.end; ++i) out[i] += a.val[k * strip_height + i] * x[col + i];
    }
    const index_t place = a.rest.slice_ptr[slice], width = (a.rest.slice_ptr[slice + 1] - place) / strip_height;
    sell_slices::add_columns(a.rest.col.data + place, a.rest.val.data + place, width, strip_height, x, out);
  }
}

#if defined(__x86_64__)
#define FURROW_STRIPS(NAME, REST, ISA)                                                                                 \
  template <class Step, class V>                                                                                       \
  ISA inline __attribute__((always_inline)) void NAME##_add(const hdia<V, cview>& a, index_t k, index_t first,         \
                                                            const V* x, typename Step::sum* sum) {                     \
    const V* const val = a.val.data + k * strip_height;                                                                \
    const index_t col = first + a.offset[k];                                                                           \
    cpu::prefetch(val);                                                                                                \
    if (is_wide<V>) cpu::prefetch(val + 8);                                                                            \
    if (col >= 0 && col + strip_height <= a.shape.cols) {                                                              \
      for (int r = 0; r < int(strip_height / Step::rows); ++r)                                                         \
        sum[r] = Step::add_run(sum[r], val + r * Step::rows, x + col + r * Step::rows);                                \
    } else {                                                                                                           \
      const part_inside part(col, a.shape.cols);                                                                       \
      for (int r = 0; r < int(strip_height / Step::rows); ++r)                                                         \
        sum[r] = Step::add_part(sum[r], val + r * Step::rows, x + col + r * Step::rows,                                \
                                part.begin - r * int(Step::rows), part.end - r * int(Step::rows));                     \
    }                                                                                                                  \
  }                                                                                                                    \
  /* As slices_one_by_one. */                                                                                          \
  template <class Step, class V>                                                                                       \
  ISA void NAME(const hdia<V, cview>& a, index_t slice, index_t last_slice, const V* x, V* out) {                      \
    constexpr int registers = strip_height / Step::rows;                                                               \
    index_t k = a.strip_ptr[slice];                                                                                    \
    for (; slice < last_slice; ++slice, out += strip_height) {                                                         \
      const index_t first = slice * strip_height, end = a.strip_ptr[slice + 1];                                        \
      typename Step::sum even[registers], odd[registers];                                                              \
      for (int r = 0; r < registers; ++r) even[r] = odd[r] = Step::zero();                                             \
      for (; k + 2 <= end; k += 2) {                                                                                   \
        NAME##_add<Step>(a, k, first, x, even);                                                                        \
        NAME##_add<Step>(a, k + 1, first, x, odd);                                                                     \
      }                                                                                                                \
      if (k < end) NAME##_add<Step>(a, k++, first, x, even);                                                           \
      for (int r = 0; r < registers; ++r) Step::put(out + r * Step::rows, Step::add(even[r], odd[r]));                 \
      const index_t place = a.rest.slice_ptr[slice], width = (a.rest.slice_ptr[slice + 1] - place) / strip_height;     \
      if (width)                                                                                                       \
        sell_slices::REST##_rows<Step, registers>(a.rest.col.data + place, a.rest.val.data + place, width,             \
                                                  strip_height, x, out);                                               \
    }                                                                                                                  \
  }
FURROW_STRIPS(strips_avx512, slice_avx512, FURROW_AVX512)
FURROW_STRIPS(strips_avx2, slice_avx2, FURROW_AVX2)
#undef FURROW_STRIPS
#endif

template <class V> void sums_of_slices(const hdia<V, cview>& a, index_t slice, index_t last, const V* x, V* out) {
#if defined(__x86_64__)
  using vectors = sell_slices::vectors_of<V>;
  const auto isa = cpu::machine_isa();
  if (isa == cpu::isa::avx512) return strips_avx512<typename vectors::avx512>(a, slice, last, x, out);
  if (isa != cpu::isa::baseline) return strips_avx2<typename vectors::avx2>(a, slice, last, x, out);
#endif
  slices_one_by_one(a, slice, last, x, out);
}

} // namespace

template <class V> void strip_rows::sums(const hdia<V, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
  const auto some_of_slice = [&](index_t end) { // the rows [first, end)
    alignas(64) V sum[strip_height];
    const index_t slice = first / strip_height, begin = first % strip_height;
    sums_of_slices(a, slice, slice + 1, x.data, sum);
    out = std::copy_n(sum + begin, end - first, out);
    first = end;
  };
  if (first % strip_height) some_of_slice(std::min(last, (first / strip_height + 1) * strip_height));
  const index_t slices = (last - first) / strip_height;
  sums_of_slices(a, first / strip_height, first / strip_height + slices, x.data, out);
  out += slices * strip_height;
  first += slices * strip_height;
  if (first < last) some_of_slice(last);
}

template void strip_rows::sums(const hdia<double, cview>&, index_t, index_t, cview<double>, double*);
template void strip_rows::sums(const hdia<float, cview>&, index_t, index_t, cview<float>, float*);

} // namespace furrow
