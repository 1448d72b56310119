// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_block_counts.hpp"
#include "gpu_distinct.hpp"
#include "gpu_locality.hpp"
#include "gpu_look.hpp"
#include "rows_on_gpu.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/distinct.hpp"
#include "core/look.hpp"
#include "core/measure.hpp"
#include "core/sample.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace furrow {
namespace gpu_stats {

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

/// Those of them that lie in `ranges`, where all of these do. Both ascend.
sampled_rows part_of(const sampled_rows& all, const std::vector<row_range>& ranges) {
  index_t rows = 0;
  for (const row_range& r : ranges) rows += r.count;
  sampled_rows s{host_array<std::int32_t>(rows), host_array<std::int32_t>(rows)};
  index_t to = 0, from = 0;
  for (const row_range& r : ranges) {
    from = std::lower_bound(all.row.begin() + from, all.row.end(), r.first) - all.row.begin();
    std::copy_n(all.row.begin() + from, r.count, s.row.begin() + to);
    std::copy_n(all.length.begin() + from, r.count, s.length.begin() + to);
    to += r.count;
  }
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
  const sampled_rows rows = lengths_of(ranges, row_ptr), valued = part_of(rows, with_values);
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

/// Where each statistic has its words: those that come home in one copy, with the set of values, those all bits of
/// which are set before, of which the set is the first, and room.
struct places {
  index_t distinct, locality, windows, blocks, looks, words;
  index_t set, look_ones, room, all;

  places() {
    index_t at = 0;
    const auto take = [&](index_t count) { return std::exchange(at, at + count); };
    distinct = take(distinct_words);
    locality = take(locality_words);
    windows = take(window_words);
    blocks = take(block_count_words);
    looks = at;
    for (const gpu_format_look* look : gpu_format_looks()) take(look->words);
    words = at;
    set = take(distinct_set_words);
    look_ones = at;
    for (const gpu_format_look* look : gpu_format_looks()) take(look->ones);
    room = at;
    for (const gpu_format_look* look : gpu_format_looks()) take(look->room);
    all = at;
  }
};

/// f(look, memory) for the look of each format.
template <class F> void each_look(const places& p, found_word* there, F f) {
  gpu_format_look::memory at{there + p.looks, there + p.look_ones, there + p.room};
  for (const gpu_format_look* look : gpu_format_looks()) {
    f(*look, at);
    at.words += look->words;
    at.ones += look->ones;
    at.room += look->room;
  }
}

/// Looks of formats that have none for a GPU, at a sample in host memory.
template <class V> void look_on_host(const rows_on_gpu<V>& a, stats& s) {
  std::vector<const format_look*> others;
  for (const format_look* look : format_looks())
    if (std::ranges::find(gpu_format_looks(), look->format, &gpu_format_look::format) == gpu_format_looks().end())
      others.push_back(look);
  if (others.empty()) return;
  const coo<V> sample = sample_of(a, s);
  for (const format_look* look : others) s.estimates.push_back({look->format, look->at(sight_of(sample), s)});
  std::ranges::sort(s.estimates, {}, &format_estimate::format);
}

/// All that is measured of rows that have entries, beside what their look has found: enqueued together and waited for
/// once. The kernels run side by side, those for distinct values first (`gpu::lead_others`) and those that look at all
/// of a large matrix last, for others begin when their last blocks have begun.
template <class V> void measure_entries(const rows_on_gpu<V>& a, const first_facts& first, stats& s) {
  const places p;
  const csr<V, index_t, cview> rows = a.view();
  const index_t* const row_ptr = rows.row_ptr.data;
  gpu_array<found_word> there(p.all);
  const auto at = [&](index_t place) { return there.data() + place; };
  const auto fill = [&](index_t from, index_t end, int byte) {
    gpu::fill_bytes(at(from), byte, static_cast<std::size_t>(end - from) * sizeof(found_word), gpu::current_queue());
  };
  fill(0, p.words, 0);
  fill(p.words, p.room, 0xff);
  enqueue_distinct(rows.val, at(p.set), at(p.distinct));
  look_at_locality(s.shape, row_ptr, rows.col.data, s, at(p.locality));
  const bool sorts = s.slice_places[1] >= 0;
  if (sorts) enqueue_windows(s.shape.rows, row_ptr, at(p.windows));
  each_look(p, at(0), [&](const gpu_format_look& look, const gpu_format_look::memory& memory) {
    look.begin(rows, s, memory);
    if (sorts && look.windows) look.windows({s.shape, rows.row_ptr, rows.col, {}}, s, memory);
  });
  count_blocks(s.shape.rows, row_ptr, rows.col.data, first.edges, at(p.blocks));
  host_array<found_word> home(p.set + distinct_set_words);
  copy_bytes(host_memory{}, home.data(), gpu_memory{}, there.data(), home.byte_count());
  s.distinct_values = distinct_found(home.data() + p.distinct);
  if (a.known && s.distinct_values <= few_values<V>::most)
    a.known->distinct = distinct_of<V>(home.data() + p.distinct, home.data() + p.set);
  s.near = locality_found(home.data() + p.locality).shares();
  for (std::size_t k = 1; sorts && k < s.slice_places.size(); ++k)
    s.slice_places[k] = static_cast<index_t>(home[p.windows + index_t(k) - 1]);
  s.blocks = first.edges;
  for (int edge = least_edge; edge <= most_edge; ++edge)
    if (s.blocks[static_cast<std::size_t>(edge)] == 0)
      s.blocks[static_cast<std::size_t>(edge)] = static_cast<index_t>(home[p.blocks + edge]);
  each_look(p, at(0), [&](const gpu_format_look& look, const gpu_format_look::memory& memory) {
    s.estimates.push_back({look.format, look.numbers(s, home.data() + (memory.words - at(0)), memory.room)});
  });
  look_on_host(a, s);
}

} // namespace gpu_stats

template <class V> stats measure(const rows_on_gpu<V>& a, const rows_look& looked) {
  if (!looked.first) return measure(a, look_at_rows(a));
  stats s;
  s.shape = a.shape;
  s.nnz = a.nnz();
  s.lower_bandwidth = looked.lower_bandwidth;
  s.upper_bandwidth = looked.upper_bandwidth;
  s.zero_diagonal = std::min(a.shape.rows, a.shape.cols) - looked.stored_diagonal;
  s.explicit_zeros = looked.explicit_zeros;
  s.norm_inf = looked.norm_inf;
  s.largest = looked.largest;
  s.finite = looked.finite;
  s.diagonals = looked.diagonals;
  describe(looked.first->lengths, s);
  if (s.nnz > 0) {
    gpu_stats::measure_entries(a, *looked.first, s);
    return s;
  }
  s.distinct_values = 0;
  measure_samples(coo<V>{a.shape, {}, {}, {}}, s);
  return s;
}

template stats measure(const rows_on_gpu<double>&, const rows_look&);
template stats measure(const rows_on_gpu<float>&, const rows_look&);

} // namespace furrow
