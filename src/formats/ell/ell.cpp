// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "costs.hpp"
#include "cpu_rows.hpp"

#include "backends/cpu/operator.hpp"
#include "backends/entry.hpp"
#include "core/parameters.hpp"
#include "formats/csr/cpu_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace furrow {
namespace ell_format {
namespace {

constexpr index_t default_limit = 3;

template <class Rows, class V> std::unique_ptr<any_operator<V>> wrap(ell<V, host_array> matrix, const char* kernel) {
  auto pieces = even_pieces(matrix.shape.rows, matrix.width);
  return std::make_unique<cpu::row_operator<V, ell<V, host_array>, Rows>>(std::move(matrix), std::move(pieces), kernel);
}

template <class V, class Triplets>
std::unique_ptr<any_operator<V>> make_cpu(Triplets a, std::string_view, std::string_view kernel) {
  auto matrix = to_ell(std::move(a));
  if (kernel == "auto")
    kernel = matrix.shape.cols * index_t(sizeof(V)) >= csr_rows::gathered_from ? "gathered" : "rows";
  if (kernel == "scalar") return wrap<each_row>(std::move(matrix), "scalar");
  if (kernel == "gathered") return wrap<ell_rows::gathered>(std::move(matrix), "gathered");
  return wrap<ell_rows::direct>(std::move(matrix), "rows");
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  const index_t limit = entry_parameters("ell[:LIMIT]", parameters).whole(0, default_limit, 1, 1'000'000'000);
  const bool known = s.lengths_known();
  const double width = known ? double(s.row_max) : std::ceil(double(s.nnz) / double(s.shape.rows));
  const double places = width * double(padded_rows(s.shape.rows));
  layout result{(4 + bytes_of(p)) * places, places, {}, known};
  const double fill = s.nnz ? width * double(s.shape.rows) / double(s.nnz) : 1;
  if (fill > double(limit))
    result.refusal = fmt::format("format ell would pad {} rows to the longest, of {} entries, {:.3g} places an entry, "
                                 "and takes up to {}: choose another format, or ell:{}",
                                 s.shape.rows, s.row_max, fill, limit, std::ceil(fill));
  return result;
}

constexpr std::array cpu_kernels{
    kernel_entry{"rows", "a block of rows at a time, four rows in a vector register", &costs::cpu_rows},
    kernel_entry{"gathered", "as rows, with gather instructions: for x larger than a cache", &costs::cpu_gathered},
    kernel_entry{"scalar", "a row at a time, an entry at a time", &costs::cpu_scalar},
};
constexpr std::array gpu_kernels{
    kernel_entry{"tiles", "two rows a thread, four columns under way at a time", &costs::gpu_tiles},
    kernel_entry{"scalar", "a thread a row (Bell and Garland 2008)", &costs::gpu_scalar, {.block = true}},
};
constexpr std::array<std::string_view, 1> examples{"200"};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);
template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view kernel);

extern const format_entry entry{
    "ell",
    "rows padded to the longest, stored by columns: for rows of nearly equal length",
    lay_out,
    {cpu_kernels, make_cpu<double, coo<double>>, make_cpu<float, coo<float>>, make_cpu<double, borrowed_rows<double>>,
     make_cpu<float, borrowed_rows<float>>, nullptr, nullptr, make_cpu<double, measured_coo<double>>,
     make_cpu<float, measured_coo<float>>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>), nullptr, nullptr,
     FURROW_GPU_ONLY(from_rows<double>), FURROW_GPU_ONLY(from_rows<float>)},
    "[:LIMIT]",
    examples,
};

} // namespace ell_format
} // namespace furrow
