// SPDX-License-Identifier: BSD-3-Clause
#include "transpose.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace furrow {
namespace {

/// Rows of about equal numbers of entries for each of `parts` threads.
template <class V> std::vector<index_t> cut_evenly(row_view<V> a, index_t parts) {
  std::vector<index_t> cuts;
  for (index_t k = 0; k <= parts; ++k)
    cuts.push_back(std::lower_bound(a.row_ptr.begin(), a.row_ptr.end() - 1, cpu::part_begin(a.nnz(), parts, k)) -
                   a.row_ptr.begin());
  cuts.back() = a.shape.rows;
  return cuts;
}

} // namespace

template <class V> row_matrix<V> transposed(row_view<V> a) {
  const index_t cols = a.shape.cols;
  const index_t worth = a.nnz() / std::max<index_t>(cols, 1 << 16);
  const index_t parts = std::clamp<index_t>(worth, 1, cpu::thread_count());
  const auto cuts = cut_evenly(a, parts);
  row_matrix<V> t{
      {cols, a.shape.rows}, host_array<index_t>(cols + 1), host_array<std::int32_t>(a.nnz()), host_array<V>(a.nnz())};
  host_array<index_t> next(parts * cols); // of a part and column: entries, then where the next of them goes
  cpu::for_each_task(parts, [&](index_t part) {
    index_t* const count = next.data() + part * cols;
    std::fill_n(count, cols, 0);
    for (index_t k = a.begin(cuts[part]); k < a.begin(cuts[part + 1]); ++k) ++count[a.col[k]];
  });
  index_t at = 0;
  for (index_t j = 0; j < cols; ++j) {
    t.row_ptr[j] = at;
    for (index_t part = 0; part < parts; ++part) at += std::exchange(next[part * cols + j], at);
  }
  t.row_ptr[cols] = at;
  cpu::for_each_task(parts, [&](index_t part) {
    index_t* const to = next.data() + part * cols;
    for (index_t i = cuts[part]; i < cuts[part + 1]; ++i)
      for (index_t k = a.begin(i); k < a.end(i); ++k) {
        const index_t place = to[a.col[k]]++;
        t.col[place] = static_cast<std::int32_t>(i);
        t.val[place] = a.val[k];
      }
  });
  return t;
}

template row_matrix<double> transposed(row_view<double>);
template row_matrix<float> transposed(row_view<float>);

} // namespace furrow
