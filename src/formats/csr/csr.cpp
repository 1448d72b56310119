// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "costs.hpp"
#include "cpu_block_rows.hpp"
#include "cpu_rows.hpp"
#include "cpu_split.hpp"
#include "owned.hpp"

#include "backends/cpu/operator.hpp"
#include "backends/entry.hpp"
#include "core/parameters.hpp"

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
  // Without a row to share it does as the others do, which multiply blocks of vectors in one pass.
  if (kernel == "merge" && longest_row(matrix.row_ptr) > csr_rows::longest_whole)
    return std::make_unique<csr_rows::split_operator<V, I, Rows>>(std::move(matrix));
  auto pieces = cut_rows(matrix.shape.rows, [&](index_t r) { return index_t(matrix.row_ptr[r]); });
  return std::make_unique<cpu::row_operator<V, csr<V, I, host_array>, Rows>>(std::move(matrix), std::move(pieces),
                                                                             std::string(kernel));
}

/// How single rows are added up: the name of a kernel.
template <class V, class I> std::string_view fastest_rows(const csr<V, I, host_array>& a) {
  if (csr_rows::irregular(as_cview(a.row_ptr))) return "staged";
  return a.shape.cols * index_t(sizeof(V)) >= csr_rows::gathered_from ? "gathered" : "rows";
}

template <class V, class I>
std::unique_ptr<any_operator<V>> pick(csr<V, I, host_array> matrix, std::string_view kernel) {
  const bool automatic = kernel == "auto" || kernel == "merge";
  const std::string_view rows = automatic ? fastest_rows(matrix) : kernel;
  if (automatic) kernel = kernel == "merge" || longest_row(matrix.row_ptr) > shared_from ? "merge" : rows;
  if (rows == "staged") return wrap<csr_rows::staged>(std::move(matrix), kernel);
  if (rows == "gathered") return wrap<csr_rows::gathered>(std::move(matrix), kernel);
  if (rows == "scalar") return wrap<each_row>(std::move(matrix), kernel);
  return wrap<csr_rows::direct>(std::move(matrix), kernel);
}

template <class V, class Triplets>
std::unique_ptr<any_operator<V>> make_cpu(Triplets a, std::string_view, std::string_view kernel) {
  const bool narrow = a.nnz() <= std::numeric_limits<std::int32_t>::max();
  return narrow ? pick(to_csr<std::int32_t>(std::move(a)), kernel) : pick(to_csr<std::int64_t>(std::move(a)), kernel);
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  no_parameters("csr", parameters);
  const double offset = s.nnz <= std::numeric_limits<std::int32_t>::max() ? 4 : 8;
  return {.bytes = (4 + bytes_of(p)) * double(s.nnz) + offset * double(s.shape.rows + 1),
          .places = double(s.nnz),
          .peak_extra_bytes = 4 * double(s.nnz)};
}

// A row is the work of one thread but in `merge`: an entry of the longest row costs what others cost on all threads.
constexpr std::array cpu_kernels{
    kernel_entry{"rows", "a row at a time in vector registers", &costs::cpu_rows},
    kernel_entry{"staged", "products of 32 rows, then eight sums at once: short rows of irregular lengths (AVX-512)",
                 &costs::cpu_staged},
    kernel_entry{"gathered", "as rows, with gather instructions: for x larger than a cache", &costs::cpu_gathered},
    kernel_entry{"merge", "threads share rows of more than 16384 entries; others as by the three above",
                 &costs::cpu_merge},
    kernel_entry{"scalar", "a row at a time, an entry at a time", &costs::cpu_scalar},
};
constexpr std::array gpu_kernels{
    kernel_entry{"stream", "equal entries a block, staged through shared memory; long rows by whole blocks",
                 &costs::gpu_stream},
    kernel_entry{"chunks", "a run of rows a multiprocessor: x stays in its cache; columns scattered in a band",
                 &costs::gpu_chunks},
    kernel_entry{"segments", "equal shares of entries, rows added up by segmented scans: rows of very uneven lengths",
                 &costs::gpu_segments},
    kernel_entry{"merge", "equal shares of entries and row ends, carries added in order: Merrill and Garland's",
                 &costs::gpu_merge},
    kernel_entry{"vector",
                 "2 to 32 lanes a row, by the mean row length (2 to 64 on 64-lane hardware)",
                 &costs::gpu_vector,
                 {.lanes = true, .block = true}},
    kernel_entry{"scalar", "a thread a row", &costs::gpu_scalar, {.block = true}},
    kernel_entry{"warp_per_row",
                 "a warp a row, whatever its length: the CSR vector kernel of Bell and Garland 2008",
                 {},
                 {.block = true}},
    kernel_entry{"half_warp",
                 "16 lanes a row, as in the tutorial on conjugate gradients",
                 &costs::gpu_half_warp,
                 {.block = true}},
    kernel_entry{"naive",
                 "a thread a row in a grid-stride loop, as in the tutorial on conjugate gradients",
                 &costs::gpu_naive,
                 {.block = true}},
};

} // namespace

template <class V> std::unique_ptr<any_operator<V>> operator_of(csr<V, std::int32_t, host_array> matrix) {
  return pick(std::move(matrix), "auto");
}
template std::unique_ptr<any_operator<double>> operator_of(csr<double, std::int32_t, host_array>);
template std::unique_ptr<any_operator<float>> operator_of(csr<float, std::int32_t, host_array>);

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel);
template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view kernel);

extern const format_entry entry{
    "csr",
    "compressed sparse rows: the general format",
    lay_out,
    {cpu_kernels, make_cpu<double, coo<double>>, make_cpu<float, coo<float>>, make_cpu<double, borrowed_rows<double>>,
     make_cpu<float, borrowed_rows<float>>, nullptr, nullptr, make_cpu<double, measured_coo<double>>,
     make_cpu<float, measured_coo<float>>},
    {gpu_kernels, FURROW_GPU_ONLY(make_gpu<double>), FURROW_GPU_ONLY(make_gpu<float>), nullptr, nullptr,
     FURROW_GPU_ONLY(from_rows<double>), FURROW_GPU_ONLY(from_rows<float>)},
};

} // namespace csr_format
} // namespace furrow
