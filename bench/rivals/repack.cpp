// SPDX-License-Identifier: BSD-3-Clause
#include "repack.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace furrow::bench {
namespace {

constexpr index_t most_places = std::numeric_limits<std::int32_t>::max();

void check_fill(index_t places, index_t nnz) {
  check(places <= most_places && places <= 3 * nnz + 4096, fault::input, "it would hold {} places for {} entries",
        places, nnz);
}

/// The block columns of each block row, ascending: f(block row, columns).
template <class V, class F> void for_each_block_row(const coo<V>& a, index_t size, F&& f) {
  std::vector<std::int32_t> columns;
  for (index_t k = 0, row = 0; row < a.shape.rows / size; ++row) {
    columns.clear();
    const index_t first = k;
    for (; k < a.nnz() && a.row[k] < (row + 1) * size; ++k) {
      const auto c = static_cast<std::int32_t>(a.col[k] / size);
      if (columns.empty() || columns.back() != c) columns.push_back(c);
    }
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());
    f(row, columns, first, k);
  }
}

template <class V> index_t count_blocks(const coo<V>& a, index_t size) {
  index_t total = 0;
  for_each_block_row(a, size,
                     [&](index_t, const auto& columns, index_t, index_t) { total += index_t(columns.size()); });
  return total;
}

} // namespace

template <class V> sliced<V> to_sliced(const coo<V>& a) {
  constexpr index_t height = sliced<V>::height;
  const index_t rows = a.shape.rows, slices = (rows + height - 1) / height;
  std::vector<index_t> length(static_cast<std::size_t>(slices * height), 0);
  for (index_t k = 0; k < a.nnz(); ++k) ++length[a.row[k]];
  std::vector<index_t> begin(static_cast<std::size_t>(slices + 1), 0);
  for (index_t s = 0; s < slices; ++s)
    begin[s + 1] = begin[s] + height * *std::max_element(&length[s * height], &length[s * height] + height);
  check_fill(begin[slices], a.nnz());
  sliced<V> m{host_array<std::int32_t>(slices + 1), host_array<std::int32_t>(begin[slices], -1),
              host_array<V>(begin[slices], V(0))};
  std::ranges::transform(begin, m.begin.begin(), [](index_t b) { return static_cast<std::int32_t>(b); });
  for (index_t k = 0; k < a.nnz();) {
    const index_t row = a.row[k], slice = row / height;
    for (index_t at = begin[slice] + row % height; k < a.nnz() && a.row[k] == row; ++k, at += height) {
      m.col[at] = a.col[k];
      m.val[at] = a.val[k];
    }
  }
  return m;
}

template <class V> blocked<V> to_blocked(const coo<V>& a) {
  index_t size = 0, blocks = 0;
  double fewest = std::numeric_limits<double>::infinity();
  for (const index_t s : {2, 3, 4, 5, 6, 7, 8}) {
    if (a.shape.rows % s || a.shape.cols % s || a.nnz() == 0) continue;
    const index_t count = count_blocks(a, s);
    const double bytes = double(count) * (4 + double(s * s) * sizeof(V));
    if (bytes >= fewest) continue;
    fewest = bytes;
    size = s;
    blocks = count;
  }
  check(size > 0, fault::input, "no block size from 2 to 8 divides both sides");
  check_fill(blocks * size * size, a.nnz());
  blocked<V> m{size, host_array<std::int32_t>(a.shape.rows / size + 1, 0), host_array<std::int32_t>(blocks),
               host_array<V>(blocks * size * size, V(0))};
  for_each_block_row(a, size, [&](index_t row, const auto& columns, index_t first, index_t last) {
    const index_t at = m.begin[row];
    std::ranges::copy(columns, m.col.begin() + at);
    m.begin[row + 1] = static_cast<std::int32_t>(at + index_t(columns.size()));
    for (index_t k = first; k < last; ++k) {
      const index_t block = at + (std::ranges::lower_bound(columns, a.col[k] / size) - columns.begin());
      m.val[(block * size + a.row[k] % size) * size + a.col[k] % size] = a.val[k];
    }
  });
  return m;
}

template sliced<double> to_sliced(const coo<double>&);
template sliced<float> to_sliced(const coo<float>&);
template blocked<double> to_blocked(const coo<double>&);
template blocked<float> to_blocked(const coo<float>&);

} // namespace furrow::bench
