// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "cpu_operator.hpp"
#include "cpu_slices.hpp"

#include "backends/entry.hpp"

#include <array>

namespace furrow {
namespace sell_format {
namespace {

template <class Slices, class V> std::unique_ptr<any_operator<V>> wrap(sell<V, host_array> matrix, const char* kernel) {
  const index_t slices = matrix.slice_ptr.size() - 1, height = matrix.height;
  const index_t* const places = matrix.slice_ptr.data(); // stays where it is when the matrix moves
  return std::make_unique<cpu::slice_operator<V, sell<V, host_array>, Slices>>(
      std::move(matrix), slices, height, [=](index_t s) { return places[s]; }, kernel);
}

template <class V>
std::unique_ptr<any_operator<V>> make_cpu(coo<V> a, std::string_view parameters, std::string_view kernel) {
  auto matrix = to_sell(std::move(a), parameters);
  return kernel == "scalar" ? wrap<sell_slices::scalar>(std::move(matrix), "scalar")
                            : wrap<sell_slices::vectors>(std::move(matrix), "vectors");
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  const slicing asked = read_parameters(parameters);
  const double place = 4 + bytes_of(p);
  const slice_plan plan = plan_slices(s, "sell", asked.height, asked.window, place);
  const double rows = plan.how.window == 1 ? 0 : 4 * double(s.shape.rows);
  return {.bytes = place * plan.places + 8 * (plan.slices + 1) + rows,
          .places = plan.places,
          .refusal = plan.refusal,
          .exact = s.row_length.size() == s.shape.rows,
          .beside = bytes_of(p) * double(s.nnz) + 12 * double(s.shape.rows)}; // values, offsets and lengths of rows
}

constexpr std::array cpu_kernels{
    kernel_entry{"vectors",
                 "4 to 16 rows a vector register, x by gather instructions (AVX2, AVX-512)",
                 {.start = 0.0294,
                  .memory = 0.158,
                  .by_row = 0.0201,
                  .by_slice = 0.109,
                  .by_window = 1.1,
                  .rows = 0.69,
                  .places = 0.212,
                  .uneven = 0.0251}},
    kernel_entry{"scalar",
                 "an entry at a time",
                 {.start = 0.686,
                  .memory = 0.0566,
                  .by_slice = 0.113,
                  .by_window = 0.799,
                  .rows = 0.491,
                  .places = 0.767,
                  .uneven = 0.0411}},
};
constexpr std::array gpu_kernels{
    kernel_entry{"slices",
                 "a thread a row, eight entries of it under way",
                 {.start = 0.575,
                  .memory = 0.704,
                  .by_slice = 0.0312,
                  .by_window = 1.11,
                  .places = 0.0691,
                  .uneven = 0.0897,
                  .longest = 32.4}},
    kernel_entry{"split",
                 "2 to 8 threads a row: for few rows, or rows that are very long",
                 {.start = 0.634,
                  .memory = 0.527,
                  .by_window = 0.955,
                  .rows = 1.7,
                  .places = 0.119,
                  .uneven = 0.361,
                  .longest = 6.76}},
};
constexpr std::array<std::string_view, 3> examples{"8:64", "32:1", "4:256"};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);

extern const format_entry entry{
    "sell",
    "slices of rows of like length, stored by columns: for rows that are not too uneven",
    lay_out,
    {cpu_kernels, make_cpu<double>, make_cpu<float>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>)},
    "[:HEIGHT[:WINDOW]]",
    examples,
};

} // namespace sell_format
} // namespace furrow
