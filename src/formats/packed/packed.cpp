// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "costs.hpp"
#include "cpu_packed.hpp"

#include "backends/entry.hpp"
#include "formats/sell/cpu_operator.hpp"

#include <algorithm>
#include <array>

namespace furrow {
namespace packed_format {
namespace {

template <class V> std::unique_ptr<any_operator<V>> make_cpu(coo<V> a, std::string_view parameters, std::string_view) {
  auto matrix = to_packed(std::move(a), read_parameters(parameters));
  const index_t slices = matrix.slice.size();
  const packed_slice* const slice = matrix.slice.data(); // stays where it is when the matrix moves
  const index_t slots = matrix.base.size();
  return std::make_unique<cpu::slice_operator<V, packed<V, host_array>, packed_slices::unpacked>>(
      std::move(matrix), slices, delta_rows,
      [=](index_t s) { return delta_rows * (s < slices ? slice[s].slot : slots); }, "unpacked");
}

/// Bytes a place of columns, from the samples with the largest window up to this one.
double column_bytes(const stats& s, index_t window) {
  std::size_t k = sorting_windows.size() - 1;
  while (sorting_windows[k] > window && k > (window > 1 ? 1 : 0)) --k;
  return column_bytes_of(s)[k];
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  const index_t window = read_parameters(parameters);
  const slice_plan plan = plan_slices(s, "packed", delta_rows, window, bytes_of(p) + 1);
  const bool known = s.lengths_known();
  const double slots = plan.places / delta_rows, rows = plan.how.window == 1 ? 0 : 4 * double(s.shape.rows);
  double values = bytes_of(p) * plan.places;
  if (known && numbers_pay(s.distinct_values, plan.places, bytes_of(p))) {
    const double whole_words = 1.5 * delta_rows * plan.slices; // of four numbers: half of one is left over on average
    values = bytes_of(p) * double(s.distinct_values) + (s.distinct_values > 1 ? plan.places + whole_words : 0);
  }
  const double columns = known ? column_bytes(s, plan.how.window) * plan.places : 4 * plan.places + 4 * slots;
  const double bytes = columns + values + sizeof(packed_slice) * plan.slices + rows;
  // Columns and values, offsets and lengths of rows; before that all triplets and the offsets.
  const double entry = 4 + bytes_of(p);
  const double beside = std::max(entry * double(s.nnz) + 12 * double(s.shape.rows),
                                 (4 + entry) * double(s.nnz) + 8 * double(s.shape.rows) - bytes);
  return {.bytes = bytes, .places = plan.places, .refusal = plan.refusal, .exact = false, .peak_extra_bytes = beside};
}

constexpr std::array cpu_kernels{
    kernel_entry{"unpacked", "eight slots at a time into a buffer, then as sell does it", &costs::cpu_unpacked},
};
constexpr std::array gpu_kernels{
    kernel_entry{"slices", "a thread a row, eight entries of it under way", &costs::gpu_slices},
    kernel_entry{"split", "2 to 8 threads a row: for few rows, or rows that are very long", &costs::gpu_split},
};
constexpr std::array<std::string_view, 2> examples{"1", "256"};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);
template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view kernel);

extern const format_entry entry{
    "packed",
    "slices with columns as small differences and repeated values as numbers: the fewest bytes, without loss",
    lay_out,
    {cpu_kernels, make_cpu<double>, make_cpu<float>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>), nullptr, nullptr,
     FURROW_GPU_ONLY(from_rows<double>), FURROW_GPU_ONLY(from_rows<float>)},
    "[:WINDOW]",
    examples,
};

} // namespace packed_format
} // namespace furrow
