// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "costs.hpp"
#include "cpu_rows.hpp"
#include "rule.hpp"

#include "backends/cpu/operator.hpp"
#include "backends/entry.hpp"
#include "formats/csr/cpu_rows.hpp"
#include "formats/ell/cpu_rows.hpp"

#include <array>
#include <cmath>

namespace furrow {
namespace hyb_format {
namespace {

template <class Rows, class V> std::unique_ptr<any_operator<V>> wrap(hyb<V, host_array> matrix, const char* kernel) {
  const auto rest = as_cview(matrix.rest.row);
  const index_t width = matrix.regular.width;
  auto pieces = cut_rows(
      matrix.shape.rows, [&](index_t r) { return r * width + entries_before(rest, r); }, 16384);
  return std::make_unique<cpu::row_operator<V, hyb<V, host_array>, hybrid_rows<Rows>>>(std::move(matrix),
                                                                                       std::move(pieces), kernel);
}

template <class V>
std::unique_ptr<any_operator<V>> make_cpu(coo<V> a, std::string_view parameters, std::string_view kernel) {
  const auto reaching = rows_reaching(as_cview(row_lengths(a)));
  auto matrix = to_hyb(a, width_by(parameters, reaching, sizeof(V)));
  if (kernel == "auto") kernel = a.shape.cols * index_t(sizeof(V)) >= csr_rows::gathered_from ? "gathered" : "rows";
  if (kernel == "scalar") return wrap<each_row>(std::move(matrix), "scalar");
  if (kernel == "gathered") return wrap<ell_rows::gathered>(std::move(matrix), "gathered");
  return wrap<ell_rows::direct>(std::move(matrix), "rows");
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  const bool known = s.lengths_known();
  // Where only the sizes are known, all rows have the mean length.
  const auto mean = static_cast<std::size_t>(s.nnz ? std::ceil(double(s.nnz) / double(s.shape.rows)) : 0);
  const auto alike = s.rows_reaching.empty() ? std::vector<index_t>(mean + 1, s.shape.rows) : std::vector<index_t>();
  const auto& reaching = s.rows_reaching.empty() ? alike : s.rows_reaching;
  const index_t width = width_by(parameters, reaching, bytes_of(p));
  const double places = double(width) * double(padded_rows(s.shape.rows)),
               rest = double(known ? s.nnz - entries_within(reaching, width) : entries_beyond(reaching, width));
  return {.bytes = (4 + bytes_of(p)) * places + (8 + bytes_of(p)) * rest,
          .places = places + rest,
          .exact = known,
          .longest_stored_row = double(width)};
}

constexpr std::array cpu_kernels{
    kernel_entry{"rows", "a block of rows at a time, four rows in a vector register, then what they have beyond",
                 &costs::cpu_rows},
    kernel_entry{"gathered", "as rows, with gather instructions: for x larger than a cache", &costs::cpu_gathered},
    kernel_entry{"scalar", "a row at a time, an entry at a time", &costs::cpu_scalar},
};
constexpr std::array gpu_kernels{
    kernel_entry{"tiles", "two rows a thread, four columns under way at a time; then a segmented reduction",
                 &costs::gpu_tiles},
    kernel_entry{"scalar",
                 "a thread a row; then a segmented reduction (Bell and Garland 2008)",
                 &costs::gpu_scalar,
                 {.block = true}},
};
constexpr std::array<std::string_view, 3> examples{"bell_garland", "0", "3"};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);

extern const format_entry entry{
    "hyb",
    "padded rows of the typical length, triplets for the rest: for a few long rows",
    lay_out,
    {cpu_kernels, make_cpu<double>, make_cpu<float>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>)},
    "[:WIDTH|bell_garland]",
    examples,
};

} // namespace hyb_format
} // namespace furrow
