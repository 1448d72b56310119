// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "costs.hpp"
#include "cpu_block_rows.hpp"
#include "cpu_rows.hpp"

#include "backends/cpu/operator.hpp"
#include "backends/entry.hpp"
#include "core/parameters.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace furrow {
namespace dia_format {
namespace {

constexpr index_t default_limit = 3; ///< with more places an entry any other format moves fewer bytes

template <class V, class Triplets>
std::unique_ptr<any_operator<V>> make_cpu(Triplets a, std::string_view, std::string_view) {
  auto matrix = to_dia(a);
  auto pieces = even_pieces(matrix.shape.rows, matrix.offset.size());
  pieces.streamed = byte_count(matrix);
  return std::make_unique<cpu::row_operator<V, dia<V, host_array>, diagonal_rows>>(std::move(matrix), std::move(pieces),
                                                                                   "rows");
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  const index_t limit = entry_parameters("dia[:LIMIT]", parameters).whole(0, default_limit, 1, 1'000'000'000);
  const bool known = s.diagonals > 0 || s.nnz == 0;
  const double diagonals = known ? double(s.diagonals) : std::ceil(double(s.nnz) / double(s.shape.rows));
  const double places = diagonals * double(padded_rows(s.shape.rows));
  layout result{bytes_of(p) * places + 4 * diagonals, places, {}, known};
  const double fill = s.nnz ? diagonals * double(s.shape.rows) / double(s.nnz) : 1;
  if (fill > double(limit))
    result.refusal = fmt::format("format dia would store {} diagonals of {} rows, {:.3g} places an entry, and takes up "
                                 "to {}: choose another format, or dia:{}",
                                 s.diagonals, s.shape.rows, fill, limit, std::ceil(fill));
  return result;
}

constexpr std::array cpu_kernels{
    kernel_entry{"rows", "a block of rows at a time, four diagonals in vector registers", &costs::cpu_rows}};
constexpr std::array gpu_kernels{
    kernel_entry{"tiles", "1 or 4 rows a thread, four diagonals under way at a time", &costs::gpu_tiles},
    kernel_entry{
        "rows", "a thread a row, offsets in shared memory (Bell and Garland 2008)", &costs::gpu_rows, {.block = true}},
};
constexpr std::array<std::string_view, 1> examples{"200"};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);
template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view kernel);

extern const format_entry entry{
    "dia",
    "padded diagonals: for grids and bands, without column indices",
    lay_out,
    {cpu_kernels, make_cpu<double, coo<double>>, make_cpu<float, coo<float>>, make_cpu<double, borrowed_rows<double>>,
     make_cpu<float, borrowed_rows<float>>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>), nullptr, nullptr,
     FURROW_GPU_ONLY(from_rows<double>), FURROW_GPU_ONLY(from_rows<float>)},
    "[:LIMIT]",
    examples,
    true,
};

} // namespace dia_format
} // namespace furrow
