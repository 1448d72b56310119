// SPDX-License-Identifier: BSD-3-Clause
#include "block_size.hpp"
#include "convert.hpp"
#include "costs.hpp"
#include "cpu_block_rows.hpp"
#include "cpu_blocks.hpp"

#include "backends/cpu/operator.hpp"
#include "backends/entry.hpp"

#include <array>
#include <limits>

namespace furrow {
namespace bcsr_format {
namespace {

template <class I, class V, class Triplets> std::unique_ptr<any_operator<V>> wrap(Triplets a, index_t edge) {
  auto matrix = to_bcsr<I>(std::move(a), edge);
  a = {};
  auto pieces = cut_rows(blocks_over(matrix.shape.rows, edge),
                         [&](index_t r) { return index_t(matrix.block_ptr[r]) * edge * edge; });
  for (index_t& row : pieces.begin) row = std::min(row * edge, matrix.shape.rows);
  using format = bcsr<V, I, host_array>;
  return std::make_unique<cpu::row_operator<V, format, bcsr_rows::whole_blocks>>(std::move(matrix), std::move(pieces),
                                                                                 "blocks");
}

template <class V, class Triplets>
std::unique_ptr<any_operator<V>> make_cpu(Triplets a, std::string_view parameters, std::string_view) {
  const index_t edge = edge_for(a, parameters);
  const bool narrow = a.nnz() <= std::numeric_limits<std::int32_t>::max(); // no more blocks than entries
  return narrow ? wrap<std::int32_t, V>(std::move(a), edge) : wrap<std::int64_t, V>(std::move(a), edge);
}

constexpr std::array cpu_kernels{
    kernel_entry{"blocks", "a block row at a time, loops of fixed length", &costs::cpu_blocks}};
constexpr std::array gpu_kernels{
    kernel_entry{"blocks", "8 to 32 lanes a block row, a block column a lane", &costs::gpu_blocks}};
constexpr std::array<std::string_view, 3> examples{"2", "3", "8"};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);
template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view kernel);

extern const format_entry entry{
    "bcsr",
    "compressed rows of dense blocks, 2 x 2 to 8 x 8: for several unknowns a point",
    lay_out,
    {cpu_kernels, make_cpu<double, coo<double>>, make_cpu<float, coo<float>>, make_cpu<double, borrowed_rows<double>>,
     make_cpu<float, borrowed_rows<float>>, nullptr, nullptr, make_cpu<double, measured_coo<double>>,
     make_cpu<float, measured_coo<float>>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>), nullptr, nullptr,
     FURROW_GPU_ONLY(from_rows<double>), FURROW_GPU_ONLY(from_rows<float>)},
    "[:K]",
    examples,
    true,
    settle,
};

} // namespace bcsr_format
} // namespace furrow
