// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_blocks.hpp"
#include "gpu_diagonals.hpp"
#include "rows_on_gpu.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/blocks.hpp"
#include "core/measure.hpp"
#include "core/sample.hpp"

#include <limits>
#include <numeric>

namespace furrow {
namespace gpu_stats {

template <class V> using rows_view = csr<V, index_t, cview>;

struct length_of_row {
  const index_t* row_ptr;
  std::int32_t* to;
  FURROW_HD void operator()(index_t i) const { to[i] = static_cast<std::int32_t>(row_ptr[i + 1] - row_ptr[i]); }
};

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
template <class V> struct gather_stretch {
  rows_view<V> a;
  const stretch* all;
  std::int32_t* col;
  V* val;
};
constexpr int gather_threads = 128;
template <class V> __global__ void __launch_bounds__(gather_threads) gather_kernel(gather_stretch<V> g) {
  gpu::take_turn();
  const stretch s = g.all[blockIdx.x];
  const index_t begin = g.a.row_ptr[s.first], end = g.a.row_ptr[s.first + s.count];
  for (index_t k = begin + threadIdx.x; k < end; k += gather_threads) {
    g.col[s.to + k - begin] = g.a.col[k];
    g.val[s.to + k - begin] = g.a.val[k];
  }
}

template <class T> gpu_array<T> on_device(const std::vector<T>& values) {
  gpu_array<T> there(static_cast<index_t>(values.size()));
  copy_bytes(gpu_memory{}, there.data(), host_memory{}, values.data(), there.byte_count());
  return there;
}

/// The rows of `rows_of_statistics` in host memory.
template <class V> coo<V> sample_of(const rows_on_gpu<V>& a, const host_array<std::int32_t>& length) {
  std::vector<stretch> stretches;
  index_t entries = 0;
  for (const row_range& r : rows_of_statistics(a.shape.rows, a.nnz())) {
    stretches.push_back({r.first, r.count, entries});
    entries = std::accumulate(length.begin() + r.first, length.begin() + r.first + r.count, entries);
  }
  coo<V> s{a.shape, host_array<std::int32_t>(entries), {}, {}};
  auto* to = s.row.data();
  for (const stretch& r : stretches)
    for (index_t row = r.first; row < r.first + r.count; ++row)
      to = std::fill_n(to, length[row], static_cast<std::int32_t>(row));
  gpu_array<std::int32_t> col(entries);
  gpu_array<V> val(entries);
  if (!stretches.empty()) {
    const auto there = on_device(stretches);
    gpu::launch(gather_kernel<V>, static_cast<unsigned>(stretches.size()), gather_threads, 0, gpu::current_queue(),
                gather_stretch<V>{a.view(), there.data(), col.data(), val.data()});
  }
  s.col = host_array<std::int32_t>(col);
  s.val = host_array<V>(val);
  return s;
}

} // namespace gpu_stats

template <class V> stats measure(const rows_on_gpu<V>& a, const rows_look& looked) {
  using namespace gpu_stats;
  stats s;
  s.shape = a.shape;
  s.nnz = a.nnz();
  gpu_array<std::int32_t> length(a.shape.rows);
  gpu::for_each(a.shape.rows, length_of_row{a.row_ptr.data(), length.data()});
  s.row_length = host_array<std::int32_t>(length);
  measure_lengths(s);
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
  const coo<V> sample = sample_of(a, s.row_length);
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
