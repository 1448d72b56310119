// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <vector>

namespace furrow {
namespace {

using counts = std::array<index_t, most_edge + 1>;

/// The entries in [first, last) that are in the same row and the same K columns as the entry before them.
template <int K> FURROW_INLINE inline index_t joined(const std::int32_t* row, const std::int32_t* col, int count) {
  std::uint32_t sum = 0;
  for (int k = 0; k < count; ++k) {
    const auto here = static_cast<std::uint32_t>(col[k]), before = static_cast<std::uint32_t>(col[k - 1]);
    sum += static_cast<std::uint32_t>(here / K == before / K) & static_cast<std::uint32_t>(row[k] == row[k - 1]);
  }
  return sum;
}

/// For each K, the entries that share a block with their left neighbour.
counts count_joined(cview<std::int32_t> row, cview<std::int32_t> col) {
  constexpr index_t batch = 2048; // both arrays stay in the first cache
  const index_t parts = std::clamp<index_t>(row.size >> 15, 1, cpu::thread_count());
  std::vector<counts> found(static_cast<std::size_t>(parts));
  cpu::for_each_task(parts, [&](index_t part) {
    counts mine{};
    index_t first = std::max<index_t>(cpu::part_begin(row.size, parts, part), 1);
    const index_t last = cpu::part_begin(row.size, parts, part + 1);
    for (; first < last; first += batch) {
      const int count = static_cast<int>(std::min(batch, last - first));
      const std::int32_t *const r = row.data + first, *const c = col.data + first;
      cpu::widest([&]() FURROW_INLINE {
        mine[2] += joined<2>(r, c, count);
        mine[3] += joined<3>(r, c, count);
        mine[4] += joined<4>(r, c, count);
        mine[5] += joined<5>(r, c, count);
        mine[6] += joined<6>(r, c, count);
        mine[7] += joined<7>(r, c, count);
        mine[8] += joined<8>(r, c, count);
      });
    }
    found[part] = mine;
  });
  counts all{};
  for (const counts& one : found)
    for (int k = least_edge; k <= most_edge; ++k) all[k] += one[k];
  return all;
}

template <int K> index_t count_edge(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col) {
  const index_t block_rows = (shape.rows + K - 1) / K;
  const index_t parts = std::clamp<index_t>(row.size >> 13, 1, std::min<index_t>(block_rows, 1024));
  std::vector<index_t> found(static_cast<std::size_t>(parts));
  cpu::for_each_task(parts, [&](index_t part) {
    index_t blocks = 0;
    walk_blocks<K>(
        row, col, cpu::part_begin(block_rows, parts, part), cpu::part_begin(block_rows, parts, part + 1),
        [](index_t) {}, [&](index_t, std::int32_t) { ++blocks; }, [](index_t, int, int) {});
    found[part] = blocks;
  });
  index_t blocks = 0;
  for (const index_t n : found) blocks += n;
  return blocks;
}

} // namespace

counts count_blocks(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col) {
  counts blocks{};
  if (row.empty()) return blocks;
  const counts same = count_joined(row, col);
  for (int k = least_edge; k <= most_edge; ++k) {
    // K rows share a block at best: each row alone touches so many of them.
    const double least_fill = double(k) * double(row.size - same[k]) / double(row.size);
    blocks[k] = least_fill > most_fill ? -1 : with_edge(k, [&](auto edge) { return count_edge<edge>(shape, row, col); });
  }
  return blocks;
}

} // namespace furrow
