// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "costs.hpp"
#include "cpu_strips.hpp"

#include "backends/cpu/operator.hpp"
#include "backends/entry.hpp"
#include "core/parameters.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace furrow {
namespace hdia_format {
namespace {

constexpr index_t default_limit = 2; ///< with more places an entry other formats move fewer bytes

/// Pieces of whole slices.
row_pieces cut_slices(index_t rows, cview<index_t> strip_ptr, cview<index_t> place_ptr) {
  const auto before = [&](index_t s) { return strip_height * strip_ptr[s] + place_ptr[s]; };
  row_pieces pieces = cut_rows(strip_ptr.size - 1, before);
  for (index_t& row : pieces.begin) row = std::min(rows, row * strip_height);
  return pieces;
}

template <class V, class Triplets>
std::unique_ptr<any_operator<V>> make_cpu(Triplets a, std::string_view, std::string_view) {
  auto matrix = to_hdia(std::move(a));
  auto pieces = cut_slices(matrix.shape.rows, as_cview(matrix.strip_ptr), as_cview(matrix.rest.slice_ptr));
  pieces.streamed = byte_count(matrix);
  return std::make_unique<cpu::row_operator<V, hdia<V, host_array>, strip_rows>>(std::move(matrix), std::move(pieces),
                                                                                 "strips");
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  const index_t limit = entry_parameters("hdia[:LIMIT]", parameters).whole(0, default_limit, 1, 1'000'000'000);
  const index_t slices = (s.shape.rows + strip_height - 1) / strip_height;
  const double nnz = double(s.nnz);
  const strip_fill fill_of = strip_fill_of(s);
  const double strips = std::round(fill_of.strips * nnz), beside = std::round(fill_of.beside * nnz);
  const double places = double(strip_height) * strips + beside;
  layout result{.bytes = (4 + bytes_of(p) * double(strip_height)) * strips + (4 + bytes_of(p)) * beside +
                         double(16 * (slices + 1)),
                .places = places,
                .exact = s.lengths_known() && s.shape.rows <= sampled_slices(s).count * strip_height};
  // As plans of slices count.
  if (const double fill = (places + beside) / nnz; fill > double(limit))
    result.refusal =
        fmt::format("format hdia would take {:.3g} places an entry, those beside its strips counted twice, as "
                    "few diagonals have entries in neighbouring rows, and takes up to {}: choose another "
                    "format, or hdia:{}",
                    fill, limit, std::ceil(fill));
  return result;
}

constexpr std::array cpu_kernels{kernel_entry{
    "strips", "16 rows at a time, consecutive elements of x; then the rest as sell does it", &costs::cpu_strips}};
constexpr std::array gpu_kernels{
    kernel_entry{"strips", "a thread a row, eight diagonals under way at a time; then the rest as sell does it",
                 &costs::gpu_strips},
    kernel_entry{"split", "2 to 8 threads a row: for few rows", &costs::gpu_split},
};
constexpr std::array<std::string_view, 1> examples{"200"};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);

extern const format_entry entry{
    "hdia",
    "diagonals of 16 rows at a time, sell for what lies beside them: for grids with edges, refined or numbered by "
    "parts",
    lay_out,
    {cpu_kernels, make_cpu<double, coo<double>>, make_cpu<float, coo<float>>, nullptr, nullptr, nullptr, nullptr,
     make_cpu<double, measured_coo<double>>, make_cpu<float, measured_coo<float>>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>)},
    "[:LIMIT]",
    examples,
    true,
};

} // namespace hdia_format
} // namespace furrow
