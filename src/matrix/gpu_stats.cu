// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_blocks.hpp"
#include "gpu_diagonals.hpp"
#include "gpu_lengths.hpp"
#include "rows_on_gpu.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/blocks.hpp"
#include "core/measure.hpp"
#include "core/sample.hpp"

#include <limits>
#include <numeric>

namespace furrow {
namespace gpu_stats {

template <class V> index_t blocks_of_edge(const rows_on_gpu<V>& a, index_t edge) {
  return with_edge(edge, [&](auto k) {
    gpu_array<index_t> count((a.shape.rows + k - 1) / k);
    gpu::for_each(count.size(),
                  gpu::count_blocks_of_row<k>{a.shape.rows, a.row_ptr.data(), a.col.data(), count.data()});
    return gpu::sum_of(as_cview(count));
  });
}

/// A stretch of rows on its way to a sample: its entries go to `to` and after.
struct stretch {
  index_t first, count, to;
};
constexpr int gather_threads = 128;
template <class T>
__global__ void __launch_bounds__(gather_threads)
    gather_kernel(const index_t* row_ptr, const T* entries, const stretch* all, T* to) {
  gpu::take_turn();
  const stretch s = all[blockIdx.x];
  const index_t begin = row_ptr[s.first], end = row_ptr[s.first + s.count];
  for (index_t k = begin + threadIdx.x; k < end; k += gather_threads) to[s.to + k - begin] = entries[k];
}

struct length_at {
  const index_t* row_ptr;
  const std::int32_t* row;
  std::int32_t* to;
  FURROW_HD void operator()(index_t k) const {
    to[k] = static_cast<std::int32_t>(row_ptr[row[k] + 1] - row_ptr[row[k]]);
  }
};

/// The rows of some ranges, and how many entries each has, in host memory.
struct sampled_rows {
  host_array<std::int32_t> row, length;
};
sampled_rows lengths_of(const std::vector<row_range>& ranges, const index_t* row_ptr) {
  index_t rows = 0;
  for (const row_range& r : ranges) rows += r.count;
  sampled_rows s{host_array<std::int32_t>(rows), {}};
  auto* to = s.row.data();
  for (const row_range& r : ranges) {
    std::iota(to, to + r.count, static_cast<std::int32_t>(r.first));
    to += r.count;
  }
  const gpu_array<std::int32_t> there(s.row);
  gpu_array<std::int32_t> length(rows);
  gpu::for_each(rows, length_at{row_ptr, there.data(), length.data()});
  s.length = host_array<std::int32_t>(length);
  return s;
}

/// Columns or values of some ranges of rows, one after the other, in host memory.
template <class T>
host_array<T> entries_of(const std::vector<row_range>& ranges, const sampled_rows& rows, const index_t* row_ptr,
                         const T* entries) {
  std::vector<stretch> stretches;
  index_t count = 0, row = 0;
  for (const row_range& r : ranges) {
    stretches.push_back({r.first, r.count, count});
    for (const index_t end = row + r.count; row < end; ++row) count += rows.length[row];
  }
  gpu_array<T> gathered(count);
  if (!stretches.empty()) {
    const auto there = gpu::on_device(stretches);
    gpu::launch(gather_kernel<T>, static_cast<unsigned>(stretches.size()), gather_threads, 0, gpu::current_queue(),
                row_ptr, entries, there.data(), gathered.data());
  }
  return host_array<T>(gathered);
}

/// The rows of `rows_of_statistics` in host memory, with values where these matter and zeros elsewhere.
template <class V> coo<V> sample_of(const rows_on_gpu<V>& a, const stats& lengths) {
  const auto ranges = rows_of_statistics(lengths), with_values = rows_of_values(lengths);
  const index_t* const row_ptr = a.row_ptr.data();
  const sampled_rows rows = lengths_of(ranges, row_ptr), valued = lengths_of(with_values, row_ptr);
  coo<V> s{a.shape, {}, entries_of(ranges, rows, row_ptr, a.col.data()), {}};
  s.row = host_array<std::int32_t>(s.col.size());
  s.val = host_array<V>(s.col.size(), V(0));
  const host_array<V> values = entries_of(with_values, valued, row_ptr, a.val.data());
  index_t at = 0, next = 0, taken = 0; // both lists of rows ascend
  for (index_t k = 0; k < rows.row.size(); ++k) {
    const index_t length = rows.length[k];
    std::fill_n(s.row.data() + at, length, rows.row[k]);
    if (next < valued.row.size() && valued.row[next] == rows.row[k]) {
      std::copy_n(values.data() + taken, length, s.val.data() + at);
      taken += length;
      ++next;
    }
    at += length;
  }
  return s;
}

} // namespace gpu_stats

template <class V> stats measure(const rows_on_gpu<V>& a, const rows_look& looked) {
  using namespace gpu_stats;
  stats s;
  s.shape = a.shape;
  s.nnz = a.nnz();
  measure_lengths_on_gpu(a.row_ptr.data(), s);
  s.lower_bandwidth = looked.lower_bandwidth;
  s.upper_bandwidth = looked.upper_bandwidth;
  s.zero_diagonal = std::min(a.shape.rows, a.shape.cols) - looked.stored_diagonal;
  s.explicit_zeros = looked.explicit_zeros;
  s.norm_inf = looked.norm_inf;
  s.largest = looked.largest;
  s.finite = looked.finite;
  if (s.nnz == 0) {
    s.distinct_values = 0;
    measure_samples(coo<V>{a.shape, {}, {}, {}}, s);
    return s;
  }
  s.diagonals = count_diagonals(a.view());
  const auto distinct = distinct_on_gpu(as_cview(a.val));
  s.distinct_values = distinct.empty() ? 257 : static_cast<index_t>(distinct.size());
  const coo<V> sample = sample_of(a, s);
  measure_samples(sample, s);
  std::array<bool, most_edge + 1> hopeless{};
  if (s.nnz >= blocks_sampled_from) hopeless = hopeless_edges(a.shape, as_cview(sample.row), as_cview(sample.col));
  for (int k = least_edge; k <= most_edge; ++k)
    s.blocks[static_cast<std::size_t>(k)] = hopeless[static_cast<std::size_t>(k)] ? -1 : blocks_of_edge(a, k);
  return s;
}

template stats measure(const rows_on_gpu<double>&, const rows_look&);
template stats measure(const rows_on_gpu<float>&, const rows_look&);

} // namespace furrow
