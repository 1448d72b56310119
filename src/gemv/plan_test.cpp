// SPDX-License-Identifier: BSD-3-Clause
#include "cpu/plan.hpp"
#include "gpu/ways.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace furrow::dense {
namespace {

const index_t sizes[] = {1, 2, 3, 7, 8, 9, 10, 31, 32, 33, 64, 65, 127, 255, 1000, 4096, 5001, 8192, 300000, 33554432};

/// [0, total) is cut into `parts` parts of `each`, none of them empty.
void expect_cover(index_t total, index_t parts, index_t each) {
  EXPECT_GE(parts * each, total);
  EXPECT_LT((parts - 1) * each, total);
}

/// Every problem, piece and tile comes exactly once.
void expect_items(const cut& c, index_t problems, gpu_item (*taken_apart)(const cut&, index_t)) {
  const index_t items = c.items(problems);
  if (items > 20000) return;
  std::vector<int> seen(static_cast<std::size_t>(items));
  for (index_t k = 0; k < items; ++k) {
    const auto i = taken_apart(c, k);
    ASSERT_TRUE(i.problem < problems && i.piece < c.pieces && i.tile < c.tiles);
    ++seen[static_cast<std::size_t>((i.problem * c.pieces + i.piece) * c.tiles + i.tile)];
  }
  for (const int times : seen) ASSERT_EQ(times, 1);
}

/// What holds for every plan.
void expect_cut(const cut& c, const gemv_shape& p) {
  EXPECT_TRUE(c.tiles < index_t(1) << 31 && c.pieces < 1 << 16); // sides of a grid
  EXPECT_TRUE(c.pieces == 1 || c.tiles * p.batch <= most_counters);
  EXPECT_GE(c.blocks, 1u);
}

/// Tiles of lines, pieces of their elements.
void expect_along(const cut& c, const gemv_shape& p) {
  expect_cover(p.lines, c.tiles, c.outputs);
  expect_cover(p.length, c.pieces, c.terms);
  EXPECT_TRUE(c.pieces == 1 || c.terms % 8 == 0);
  expect_items(c, p.batch, item_of);
}
/// Tiles of columns, pieces of lines.
void expect_across(const cut& c, const gemv_shape& p) {
  expect_cover(p.length, c.tiles, c.outputs);
  expect_cover(p.lines, c.pieces, c.terms);
  expect_items(c, p.batch, item_of);
}
void expect_one_aligned_vector(const gemv_shape& p) { EXPECT_TRUE(p.plain()); }

void expect(along::packed, const along::packed_plan& c, const gemv_shape& p, const gpu_shape&) {
  expect_along(c, p);
  EXPECT_TRUE(!c.whole || (p.a_aligned && p.y_aligned && p.lines * p.length * p.size >= 16));
}
void expect(along::strips, const cut& c, const gemv_shape& p, const gpu_shape&) {
  expect_cover(p.lines, c.tiles, c.outputs);
  expect_cover(p.length, c.pieces, c.terms);
  expect_items(c, p.batch, along::strip_of);
  expect_one_aligned_vector(p);
  EXPECT_LE(c.outputs, along::strip_outputs);
  EXPECT_EQ(c.terms * p.size % 16, 0);
}
void expect(along::rows, const along::rows_plan& c, const gemv_shape& p, const gpu_shape&) {
  expect_along(c, p);
  expect_one_aligned_vector(p);
}
void expect(along::units, const along::units_plan& c, const gemv_shape& p, const gpu_shape&) {
  expect_along(c, p);
  EXPECT_EQ(c.lines * p.length * p.size, c.loads * 16);
  EXPECT_LE(256 * c.loads * 16 + c.loads * 64 + 256 * c.lines * (p.size == 2 ? 4 : 8), 48 << 10);
}
void expect(along::lines, const cut& c, const gemv_shape& p, const gpu_shape&) {
  expect_cover(p.lines, c.tiles, c.outputs);
  expect_one_aligned_vector(p);
  EXPECT_TRUE(c.outputs == p.lines && p.lines <= along::most_lines && p.batch == 1);
  const index_t round = 256 * p.per_load() * along::loads_of_lines(p.size, int(p.lines));
  expect_cover(up(p.length, round), c.pieces, c.terms);
}
void expect(along::general, const along::general_plan& c, const gemv_shape& p, const gpu_shape&) {
  expect_along(c, p);
  EXPECT_TRUE(c.pieces == 1 || c.lanes == 256);
}
void expect(across::flat, const across::flat_plan& c, const gemv_shape& p, const gpu_shape&) {
  const index_t period = c.active * p.per_load(), elements = (p.lines - 1) * p.leading + p.length;
  EXPECT_EQ(period % p.leading, 0);
  EXPECT_GT(c.active, 0);
  EXPECT_EQ(c.turn * p.leading, period);
  EXPECT_TRUE(c.periods * period <= elements && elements < (c.periods + 1) * period);
  // The stream begins up to a load before the matrix.
  EXPECT_GE(c.pieces * c.terms * period, elements + p.per_load() - 1);
  EXPECT_TRUE(c.holds < 0 || (p.a_aligned && p.x_aligned));
  if (c.holds > 0) {
    EXPECT_TRUE(c.holds == 1 ? p.leading * p.size % 16 == 0 : c.holds * p.leading * p.size == 16);
  }
}
void expect(across::few, const across::few_plan& c, const gemv_shape& p, const gpu_shape&) {
  expect_across(c, p);
  EXPECT_LE(p.lines, c.most);
  EXPECT_TRUE(!c.pair || (p.even() && p.y_aligned && p.lines <= 2));
}
void expect(across::alone, const across::alone_plan& c, const gemv_shape& p, const gpu_shape&) {
  expect_across(c, p);
  expect_one_aligned_vector(p);
  EXPECT_TRUE(p.batch == 1 && c.pieces == 1 && c.tiles * c.outputs == p.length); // nothing is left over
  EXPECT_EQ(p.lines % (across::alone_threads / c.lanes * across::alone_rows), 0);
}
void expect(across::cluster, const across::cluster_plan& c, const gemv_shape& p, const gpu_shape& g) {
  expect_cover(p.length, c.tiles, c.outputs);
  expect_cover(p.lines, c.together, c.terms);
  EXPECT_TRUE(p.even() && p.batch == 1 && p.vectors == 1 && c.blocks == c.tiles * c.together);
  EXPECT_TRUE(c.together == 1 || (g.clusters && c.together == across::cluster_blocks));
}
void expect(across::general, const across::general_plan& c, const gemv_shape& p, const gpu_shape&) {
  expect_across(c, p);
  EXPECT_TRUE(!c.whole || p.even());
}

/// Of every way that fits, not of the first alone: each can be asked for by name.
template <class... Way> void expect_all(ways<Way...>, const gemv_shape& p, const gpu_shape& g, index_t* served) {
  const auto one = [&]<class W>(W way) {
    const auto plan = W::fits(p, g);
    if (!plan) return;
    ++*served;
    SCOPED_TRACE(testing::Message() << W::name << ": " << p.lines << " of " << p.length << ", " << p.leading
                                    << " apart, " << p.size << " bytes, batch " << p.batch << ", vectors "
                                    << p.vectors);
    EXPECT_TRUE(!W::one_vector || p.vectors == 1);
    expect_cut(*plan, p);
    expect(way, *plan, p, g);
  };
  (one(Way{}), ...);
}

TEST(gemv_plan, covers_every_element_once_on_the_gpu_by_every_way) {
  index_t served = 0, problems = 0;
  for (const bool aligned : {true, false})
    for (const index_t lines : sizes)
      for (const index_t length : sizes)
        for (const index_t padding : {0, 1, 64})
          for (const int size : {2, 4, 8})
            for (const index_t batch : {1, 3, 100000})
              for (const int vectors : {1, 2, 8}) {
                const gemv_shape p{lines,   length,  length + padding, batch,  size, size == 8 ? 8 : 4,
                                   vectors, aligned, aligned,          aligned};
                const gpu_shape g{132, aligned};
                expect_all(along_ways{}, p, g, &served);
                expect_all(across_ways{}, p, g, &served);
                problems += 2;
                if (testing::Test::HasFailure()) return;
              }
  EXPECT_GT(served, problems + problems / 4); // the general ways serve all, others some
}

TEST(gemv_plan, covers_every_element_once_on_the_cpu) {
  for (const index_t lines : sizes)
    for (const index_t length : sizes)
      for (const index_t size : {2, 4, 8}) {
        const auto a = plan_along(lines, length, size);
        expect_cover(lines, a.tiles, a.outputs);
        expect_cover(length, a.pieces, a.terms);
        const auto c = plan_across(lines, length, size, 4096);
        expect_cover(length, c.tiles, c.outputs);
        expect_cover(lines, c.pieces, c.terms);
      }
}

TEST(gemv_plan, gives_two_threads_of_a_cpu_equal_shares_of_few_lines) {
  for (const index_t size : {4, 8})
    for (index_t lines = 1; lines <= 19; ++lines)
      for (const index_t length : {20000, 33333, 100000}) {
        const auto p = plan_along(lines, length, size);
        if (lines * length * size < 2 * task_bytes) continue;
        const auto share = [](index_t all, index_t each) { return double(busiest(all, each, 2)) / double(all); };
        EXPECT_LE(p.tiles == 1    ? share(length, p.terms)
                  : p.pieces == 1 ? share(lines, p.outputs)
                                  : share(p.tasks(), 1),
                  0.5 * 1.125)
            << lines << " of " << length << ", " << size;
      }
}

TEST(gemv_plan, gives_the_threads_of_a_cpu_equal_shares_of_a_square) {
  for (const index_t size : {4, 8})
    for (index_t n = 512; n <= 32768 / size; n += 4)
      for (const index_t threads : {2, 4}) {
        const double fair = double(n) / double(threads);
        const auto a = plan_along(n, n, size);
        ASSERT_EQ(a.pieces, 1);
        EXPECT_LE(double(busiest(n, a.outputs, threads)), 1.125 * fair) << n << " " << size;
        const auto c = plan_across(n, n, size, 32768 / size);
        ASSERT_EQ(c.tiles, 1);
        if (c.pieces < threads) continue;
        EXPECT_LE(double(busiest(n, c.terms, threads)), 1.125 * fair) << n << " " << size;
      }
}

} // namespace
} // namespace furrow::dense
