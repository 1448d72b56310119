// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "costs.hpp"
#include "cpu_operator.hpp"
#include "cpu_slices.hpp"

#include "backends/entry.hpp"

#include <fmt/format.h>

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

template <class V, class Triplets>
std::unique_ptr<any_operator<V>> make_cpu(Triplets a, std::string_view parameters, std::string_view kernel) {
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
          .exact = !s.row_length.empty() || (s.lengths_known() && plan.how.height == usual_height),
          .peak_extra_bytes =
              bytes_of(p) * double(s.nnz) + 12 * double(s.shape.rows)}; // values, offsets and lengths of rows
}

std::string settle(const stats& s, precision p, std::string_view parameters) {
  const slicing asked = read_parameters(parameters);
  if (asked.window != 0 || counted_places(s, {asked.height, 1}) < 0) return std::string(parameters);
  return fmt::format("{}:{}", asked.height, best_slicing(s, asked.height, 4 + bytes_of(p)).window);
}

constexpr std::array cpu_kernels{
    kernel_entry{"vectors", "4 to 16 rows a vector register, x by gather instructions (AVX2, AVX-512)",
                 &costs::cpu_vectors},
    kernel_entry{"scalar", "an entry at a time", &costs::cpu_scalar},
};
constexpr std::array gpu_kernels{
    kernel_entry{"slices", "a thread a row, eight entries of it under way", &costs::gpu_slices},
    kernel_entry{"split", "2 to 8 threads a row: for few rows, or rows that are very long", &costs::gpu_split},
};
constexpr std::array<std::string_view, 3> examples{"8:64", "32:1", "4:256"};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);
template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view kernel);

extern const format_entry entry{
    "sell",
    "slices of rows of like length, stored by columns: for rows that are not too uneven",
    lay_out,
    {cpu_kernels, make_cpu<double, coo<double>>, make_cpu<float, coo<float>>, make_cpu<double, borrowed_rows<double>>,
     make_cpu<float, borrowed_rows<float>>, nullptr, nullptr, make_cpu<double, measured_coo<double>>,
     make_cpu<float, measured_coo<float>>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>), nullptr, nullptr,
     FURROW_GPU_ONLY(from_rows<double>), FURROW_GPU_ONLY(from_rows<float>)},
    "[:HEIGHT[:WINDOW]]",
    examples,
    false,
    settle,
};

} // namespace sell_format
} // namespace furrow
