// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "cpu_rows.hpp"
#include "cpu_split.hpp"

#include "backends/cpu/operator.hpp"
#include "backends/entry.hpp"
#include "formats/parameters.hpp"

#include <furrow/storage.hpp>

#include <array>
#include <limits>

namespace furrow {
namespace csr_format {
namespace {

/// With a row of more entries than this, the kernel is `merge` by itself: eight microseconds of one thread.
constexpr index_t shared_from = 2 * csr_rows::longest_whole;

template <class I> index_t longest_row(const host_array<I>& row_ptr) {
  index_t longest = 0;
  for (index_t r = 0; r + 1 < row_ptr.size(); ++r) longest = std::max<index_t>(longest, row_ptr[r + 1] - row_ptr[r]);
  return longest;
}

template <class Rows, class V, class I>
std::unique_ptr<any_operator<V>> wrap(csr<V, I, host_array> matrix, std::string_view kernel) {
  if (kernel == "merge") return std::make_unique<csr_rows::split_operator<V, I, Rows>>(std::move(matrix));
  auto pieces = cut_rows(matrix.shape.rows, [&](index_t r) { return index_t(matrix.row_ptr[r]); });
  return std::make_unique<cpu::row_operator<V, csr<V, I, host_array>, Rows>>(std::move(matrix), std::move(pieces),
                                                                             std::string(kernel));
}

/// How single rows are added up: the name of a kernel.
template <class V, class I> std::string_view fastest_rows(const csr<V, I, host_array>& a) {
  if (csr_rows::irregular(as_cview(a.row_ptr))) return "staged";
  return a.shape.cols * index_t(sizeof(V)) >= csr_rows::gathered_from ? "gathered" : "rows";
}

template <class I, class V> std::unique_ptr<any_operator<V>> pick(coo<V> a, std::string_view kernel) {
  auto matrix = to_csr<I>(std::move(a));
  const bool automatic = kernel == "auto" || kernel == "merge";
  const std::string_view rows = automatic ? fastest_rows(matrix) : kernel;
  if (automatic) kernel = kernel == "merge" || longest_row(matrix.row_ptr) > shared_from ? "merge" : rows;
  if (rows == "staged") return wrap<csr_rows::staged>(std::move(matrix), kernel);
  if (rows == "gathered") return wrap<csr_rows::gathered>(std::move(matrix), kernel);
  if (rows == "scalar") return wrap<each_row>(std::move(matrix), kernel);
  return wrap<csr_rows::direct>(std::move(matrix), kernel);
}

template <class V> std::unique_ptr<any_operator<V>> make_cpu(coo<V> a, std::string_view, std::string_view kernel) {
  const bool narrow = a.nnz() <= std::numeric_limits<std::int32_t>::max();
  return narrow ? pick<std::int32_t>(std::move(a), kernel) : pick<std::int64_t>(std::move(a), kernel);
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  no_parameters("csr", parameters);
  const double offset = s.nnz <= std::numeric_limits<std::int32_t>::max() ? 4 : 8;
  return {.bytes = (4 + bytes_of(p)) * double(s.nnz) + offset * double(s.shape.rows + 1),
          .places = double(s.nnz),
          .beside = 4 * double(s.nnz)};
}

// A row is the work of one thread but in `merge`: an entry of the longest row costs what others cost on all threads.
constexpr std::array cpu_kernels{
    kernel_entry{
        "rows",
        "a row at a time in vector registers",
        {.memory = 0.125, .by_slice = 0.0277, .by_window = 3.23, .rows = 0.436, .places = 0.315, .longest = 0.315}},
    kernel_entry{
        "staged",
        "products of 32 rows, then eight sums at once: short rows of irregular lengths (AVX-512)",
        {.memory = 0.0956, .by_slice = 0.0595, .by_window = 1.38, .rows = 1.08, .places = 0.462, .longest = 0.462}},
    kernel_entry{
        "gathered",
        "as rows, with gather instructions: for x larger than a cache",
        {.memory = 0.113, .by_slice = 0.0255, .by_window = 2.91, .rows = 1.32, .places = 0.29, .longest = 0.29}},
    kernel_entry{"merge",
                 "threads share rows of more than 16384 entries; others as by the three above",
                 {.memory = 0.139, .by_slice = 0.0291, .by_window = 2.22, .rows = 1.08, .places = 0.3}},
    kernel_entry{"scalar",
                 "a row at a time, an entry at a time",
                 {.memory = 0.0476,
                  .by_slice = 0.00651,
                  .by_window = 2.71,
                  .rows = 0.055,
                  .places = 0.773,
                  .uneven = 0.000435,
                  .longest = 0.773}},
};
constexpr std::array gpu_kernels{
    kernel_entry{"stream",
                 "equal entries a block, staged through shared memory; long rows by whole blocks",
                 {.start = 0.672,
                  .memory = 0.315,
                  .by_slice = 0.702,
                  .by_window = 1.22,
                  .places = 0.135,
                  .uneven = 0.138,
                  .longest = 0.412}},
    kernel_entry{"chunks",
                 "a run of rows a multiprocessor: x stays in its cache; columns scattered in a band",
                 {.start = 0.453, .memory = 0.919, .by_window = 0.931, .rows = 1.31, .uneven = 0.687, .longest = 18}},
    kernel_entry{
        "segments",
        "equal shares of entries, rows added up by segmented scans: rows of very uneven lengths",
        {.start = 0.68, .memory = 1.22, .by_slice = 0.238, .by_window = 0.509, .uneven = 0.000468, .longest = 0.0212}},
    kernel_entry{"merge",
                 "equal shares of entries and row ends, carries added in order: Merrill and Garland's",
                 {.start = 1.25,
                  .memory = 0.934,
                  .by_row = 0.814,
                  .by_slice = 0.174,
                  .rows = 0.503,
                  .places = 0.237,
                  .uneven = 0.000264}},
    kernel_entry{
        "vector",
        "2 to 32 lanes a row, by the mean row length (2 to 64 on 64-lane hardware)",
        {.start = 0.557, .memory = 1.12, .by_window = 0.866, .places = 0.102, .uneven = 0.282, .longest = 8.55}},
    kernel_entry{"scalar",
                 "a thread a row",
                 {.start = 0.625, .by_slice = 2.53, .places = 0.143, .uneven = 0.0754, .longest = 47.1}},
    kernel_entry{"half_warp",
                 "16 lanes a row, as in the tutorial on conjugate gradients",
                 {.start = 0.597, .memory = 0.908, .by_window = 0.845, .rows = 4.35, .longest = 4.29}},
    kernel_entry{"naive",
                 "a thread a row in a grid-stride loop, as in the tutorial on conjugate gradients",
                 {.start = 0.619, .by_slice = 2.71, .places = 0.123, .uneven = 0.0623, .longest = 47.1}},
};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);

extern const format_entry entry{
    "csr",
    "compressed sparse rows: the general format",
    lay_out,
    {cpu_kernels, make_cpu<double>, make_cpu<float>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>)},
};

} // namespace csr_format
} // namespace furrow
