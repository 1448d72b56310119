// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
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

template <class V> std::unique_ptr<any_operator<V>> make_cpu(coo<V> a, std::string_view, std::string_view kernel) {
  auto matrix = to_ell(a);
  if (kernel == "auto") kernel = a.shape.cols * index_t(sizeof(V)) >= csr_rows::gathered_from ? "gathered" : "rows";
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
    kernel_entry{"rows",
                 "a block of rows at a time, four rows in a vector register",
                 {.start = 0.572,
                  .memory = 0.105,
                  .by_slice = 0.157,
                  .by_window = 0.75,
                  .places = 0.24,
                  .surprising = 0.781,
                  .longest = 43.7}},
    kernel_entry{"gathered",
                 "as rows, with gather instructions: for x larger than a cache",
                 {.start = 0.442,
                  .memory = 0.094,
                  .by_slice = 0.19,
                  .by_window = 0.945,
                  .places = 0.24,
                  .surprising = 0.438,
                  .longest = 58.4}},
    kernel_entry{"scalar",
                 "a row at a time, an entry at a time",
                 {.start = 1.72,
                  .memory = 0.135,
                  .by_row = 0.269,
                  .by_slice = 0.0697,
                  .by_window = 0.6,
                  .rows = 0.659,
                  .places = 0.317,
                  .surprising = 7.22}},
};
constexpr std::array gpu_kernels{
    kernel_entry{
        "tiles",
        "two rows a thread, four columns under way at a time",
        {.start = 0.371, .memory = 0.722, .by_row = 0.146, .by_window = 0.899, .places = 0.00503, .longest = 126}},
    kernel_entry{"scalar",
                 "a thread a row (Bell and Garland 2008)",
                 {.start = 0.152, .memory = 0.997, .by_row = 0.0454, .by_window = 0.846, .longest = 328},
                 {.block = true}},
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
    {cpu_kernels, make_cpu<double>, make_cpu<float>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>), nullptr, nullptr,
     FURROW_GPU_ONLY(from_rows<double>), FURROW_GPU_ONLY(from_rows<float>)},
    "[:LIMIT]",
    examples,
};

} // namespace ell_format
} // namespace furrow
