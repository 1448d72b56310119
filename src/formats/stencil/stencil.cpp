// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "costs.hpp"
#include "cpu_block_rows.hpp"
#include "cpu_rows.hpp"

#include "backends/cpu/operator.hpp"
#include "backends/entry.hpp"
#include "core/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace furrow {
namespace stencil_format {
namespace {

/// Entries before a row, those of the table as long as they are on average: for pieces of like work.
template <class V, class N> row_pieces cut_pieces(const stencil<V, N, host_array>& a, index_t entries) {
  const index_t beside = a.rest.val.size(), rows = a.shape.rows;
  const index_t mean = rows ? (entries - beside + rows - 1) / rows : 0;
  const auto view = view_of(a);
  return cut_rows(
      rows, [&](index_t r) { return r * mean + view.rest.row_ptr[position_beside(view, r)]; }, 16384);
}

template <class N, class V, class Triplets>
std::unique_ptr<any_operator<V>> wrap(const Triplets& a, const stencil_plan& plan) {
  auto matrix = to_stencil<N>(a, plan);
  auto pieces = cut_pieces(matrix, a.nnz());
  return std::make_unique<cpu::row_operator<V, stencil<V, N, host_array>, stencil_runs>>(std::move(matrix),
                                                                                         std::move(pieces), "runs");
}

template <class V, class Triplets>
std::unique_ptr<any_operator<V>> make_cpu(Triplets a, std::string_view, std::string_view) {
  const auto plan = plan_stencils(a);
  return plan.fits_bytes() ? wrap<std::uint8_t, V>(a, plan) : wrap<std::uint16_t, V>(a, plan);
}

/// Without a PERCENT: of the bytes that csr takes, at most this share may lie beside the table. Rows do not tell: the
/// empty ones of a graph are alike, and all its entries lie beside.
constexpr double most_beside = 0.5;

std::string refusal_of(double share_alike, double bytes_beside, const entry_parameters& given) {
  std::string why;
  if (given.has(0)) {
    const index_t percent = given.whole(0, 0, 0, 100);
    if (share_alike < double(percent)) why = fmt::format("asks for {} %", percent);
  } else if (bytes_beside > most_beside) {
    why = fmt::format("leaves {:.3g} % of the bytes of csr beside its table, and takes up to {:.0f} %",
                      100 * bytes_beside, 100 * most_beside);
  }
  if (why.empty()) return {};
  return fmt::format("format stencil finds {:.3g} % of the rows alike, in their values and in where these lie from the "
                     "diagonal, and {}: choose another format, or stencil:{}",
                     share_alike, why, std::floor(share_alike));
}

/// What costs as much as so many entries, one after the other: the CPU leaves its vectors where the stencil changes. A
/// change is worth a row by itself and eight entries (one thread of a Xeon: bcsstm09, one entry a row and a stencil
/// each, takes 5.4 ns a row, elasticity3d:6 0.5 ns an entry, a line of poisson3d:40 with its three changes 25 ns more
/// than its vectors). Rows beside the table are sums of their own, too.
double entries_of_changes(const stats& s, const row_stencils& alike) {
  return std::min(1.0, alike.changes + alike.entries_beside) * double(s.nnz) + 8 * alike.changes * double(s.shape.rows);
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  const entry_parameters given(usage, parameters);
  const double rows = double(s.shape.rows), nnz = double(s.nnz), entry = 4 + bytes_of(p);
  const bool known = s.lengths_known();
  const row_stencils alike =
      known ? row_stencils_of(s) : row_stencils{1, 0, s.shape.rows ? s.nnz / s.shape.rows : 0, 0, 0};
  const double number = alike.stencils > short_stencil_numbers ? 2 : 1;
  const double beside = alike.rows_beside * rows, entries = alike.entries_beside * nnz;
  layout result{.bytes = number * rows + 4 * double(alike.stencils + 1) + entry * double(alike.places) +
                         entry * entries + 12 * beside + 8,
                .places = nnz + double(alike.places), // multiplied, and stored in the table
                .exact = false,
                // All triplets, where rows begin, and their numbers twice.
                .peak_extra_bytes = (4 + entry) * nnz + (8 + 2) * rows,
                .longest_stored_row = entries_of_changes(s, alike)};
  if (const std::string why = refusal_of(100 * (1 - alike.rows_beside),
                                         (entry * entries + 12 * beside) / (entry * nnz + 4 * (rows + 1)), given);
      s.nnz > 0)
    result.refusal = why;
  return result;
}

constexpr std::array cpu_kernels{
    kernel_entry{"runs", "neighbouring rows of one stencil as vectors: no columns, no values but those of the table",
                 &costs::cpu_runs}};
constexpr std::array gpu_kernels{kernel_entry{
    "table", "four rows a thread, stencils in shared memory, the one of most rows of a warp for all of them at once",
    &costs::gpu_table}};
constexpr std::array<std::string_view, 1> examples{"0"};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);

template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view kernel);

extern const format_entry entry{
    "stencil",
    "rows as numbers of their stencils, which a table holds once: for grids with few coefficients",
    lay_out,
    {cpu_kernels, make_cpu<double, coo<double>>, make_cpu<float, coo<float>>, make_cpu<double, borrowed_rows<double>>,
     make_cpu<float, borrowed_rows<float>>, nullptr, nullptr, make_cpu<double, measured_coo<double>>,
     make_cpu<float, measured_coo<float>>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>), nullptr, nullptr,
     FURROW_GPU_ONLY(from_rows<double>), FURROW_GPU_ONLY(from_rows<float>)},
    "[:PERCENT]",
    examples,
};

} // namespace stencil_format
} // namespace furrow
