// SPDX-License-Identifier: BSD-3-Clause
#include "pieces.hpp"
#include "played_kernel.hpp"

#include "backends/runs.hpp"

#include <map>

namespace furrow {
namespace {

constexpr piece_sizes all_sizes[] = {{8, 1, 8}, {8, 3, 16}, {16, 64, 24}, {64, 32, 128}, {1024, 1024, 2048}};

TEST(pieces, cover_every_entry_and_every_row_once) {
  for (const auto& m : kit::whole_battery())
    for (const piece_sizes& s : all_sizes) {
      SCOPED_TRACE(m.name + ", pieces of " + std::to_string(s.entries));
      const auto row_ptr = offsets_of_rows<std::int64_t>(m.a.row, m.a.shape.rows);
      const pieces cut = cut_pieces(row_ptr, s);
      std::vector<int> entries(static_cast<std::size_t>(m.a.nnz())), rows(static_cast<std::size_t>(m.a.shape.rows));
      std::vector<int> slots(static_cast<std::size_t>(cut.slots));
      bool whole = false;
      for (const piece& p : cut.all) {
        EXPECT_FALSE(whole && p.parts > 0) << "a part of a long row behind whole rows";
        whole |= p.rows > 0;
        for (index_t k = p.begin; k < p.begin + p.count; ++k) ++entries[k];
        for (std::int32_t r = 0; r < p.rows; ++r) ++rows[p.row + r];
        if (p.rows > 0) {
          EXPECT_LE(p.rows, s.rows);
          EXPECT_LE(p.begin % piece_alignment + p.count, s.entries);
          EXPECT_EQ(p.begin, row_ptr[p.row]);
          EXPECT_EQ(p.begin + p.count, row_ptr[p.row + p.rows]);
          continue;
        }
        EXPECT_LE(p.begin % piece_alignment + p.count, s.part);
        EXPECT_EQ(p.parts, (row_ptr[p.row + 1] - aligned(row_ptr[p.row]) + s.part - 1) / s.part);
        EXPECT_EQ(p.first + (p.begin - aligned(row_ptr[p.row])) / s.part, p.slot);
        if (p.begin == row_ptr[p.row]) ++rows[p.row];
        ++slots[p.slot];
      }
      EXPECT_EQ(std::ranges::count(entries, 1), m.a.nnz());
      EXPECT_EQ(std::ranges::count(rows, 1), m.a.shape.rows);
      EXPECT_EQ(std::ranges::count(slots, 1), cut.slots);
    }
}

TEST(pieces, flags_stand_at_the_last_entries_of_rows) {
  const host_array<std::int32_t> row_ptr{0, 0, 1, 8, 8, 9, 20};
  const auto ends = ends_of_rows(row_ptr);
  EXPECT_EQ(std::vector<int>(ends.begin(), ends.end()), (std::vector<int>{0b10000001, 0b00000001, 0b00001000}));
  EXPECT_TRUE(ends_of_rows(host_array<std::int32_t>{0, 0, 0}).empty());
}

/// The kernel, played by one thread: `threads` lanes in warps of `width`, the scan from left to right.
template <class V, class I>
host_array<V> play(const csr<V, I, host_array>& a, int threads, int width, index_t part, V alpha, cview<V> x, V beta,
                   host_array<V> y) {
  constexpr int entries = 4;
  const int tile = threads * entries, warp_run = width * entries;
  const pieces cut = cut_pieces(a.row_ptr, {tile, 4 * threads, part});
  const auto ends = ends_of_rows(a.row_ptr);
  std::map<index_t, std::vector<V>> slots; // by the first slot of a row
  const auto finish_row = [&](index_t row, V sum) { store(alpha, sum, beta, y[row]); };
  for (const piece& p : cut.all) {
    const index_t first = aligned(p.begin);
    const int lead = static_cast<int>(p.begin - first), end = lead + p.count;
    const auto product = [&](int k) { return k < lead || k >= end ? V(0) : a.val[first + k] * x[a.col[first + k]]; };
    if (p.parts > 0) {
      V sum{};
      for (int k = 0; k < end; ++k) sum += product(k);
      auto& parts = slots[p.first];
      parts.push_back(sum);
      if (std::int32_t(parts.size()) < p.parts) continue;
      sum = V(0);
      for (const V share : parts) sum += share;
      finish_row(p.row, sum);
      continue;
    }
    std::vector<V> at_end(static_cast<std::size_t>(tile)), left;
    run<V> before{V(0), false};
    for (int thread = 0; thread < threads; ++thread) {
      const int at = thread * entries;
      V four[entries];
      for (int i = 0; i < entries; ++i) four[i] = product(at + i);
      const unsigned flags = at < end ? ends[(first + at) / 8] >> (at & 4) : 0u;
      const segment<V> mine = walk_entries(four, flags, [&](int i, V sum) { at_end[at + i] = sum; });
      if (mine.first >= 0) at_end[at + mine.first] = before.sum + mine.head;
      before = add_runs{}(before, run<V>{mine.tail, mine.first >= 0});
      if (thread % width == width - 1) {
        left.push_back(before.sum);
        before = {V(0), false};
      }
    }
    for (index_t r = p.row; r < p.row + p.rows; ++r) {
      const int from = static_cast<int>(a.row_ptr[r] - first), last = static_cast<int>(a.row_ptr[r + 1] - first) - 1;
      V sum{};
      if (last >= from) {
        for (int w = from / warp_run; w < last / warp_run; ++w) sum += left[w];
        sum += at_end[last];
      }
      finish_row(r, sum);
    }
  }
  return y;
}

template <class V> struct segments_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(segments_of, precisions);

TYPED_TEST(segments_of, rows_across_lanes_warps_and_blocks_are_added_up) {
  using V = TypeParam;
  struct shape {
    int threads, width;
    index_t part;
  };
  for (const auto& m : kit::whole_battery())
    for (const shape s : {shape{4, 1, 8}, shape{4, 2, 40}, shape{16, 4, 64}, shape{256, 32, 2048}}) {
      if (s.threads < 16 && m.a.nnz() > 10000) continue;
      SCOPED_TRACE(m.name + ", " + std::to_string(s.threads) + " threads");
      check_played<V>(m, [&](const auto& a, V alpha, cview<V> x, V beta, const host_array<V>& y) {
        return play(a, s.threads, s.width, s.part, alpha, x, beta, y);
      });
    }
}

} // namespace
} // namespace furrow
