// SPDX-License-Identifier: BSD-3-Clause
#include "cpu/plan.hpp"
#include "gpu/ways.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace furrow::dense {
namespace {

const index_t sizes[] = {1, 2, 3, 7, 8, 9, 10, 31, 32, 33, 64, 65, 127, 255, 1000, 4096, 5001, 8192, 300000, 33554432};

/// [0, total) is cut into `parts` parts of `each`, none of them empty.
void expect_cover(index_t total, index_t parts, index_t each) {
  EXPECT_GE(parts * each, total);
  EXPECT_LT((parts - 1) * each, total);
}

/// What holds for every plan.
void expect_cut(const cut& c, const gemv_shape& p) {
  EXPECT_TRUE(c.tiles < index_t(1) << 31 && c.pieces < 1 << 16); // sides of a grid
  EXPECT_TRUE(c.pieces == 1 || c.tiles * p.batch <= most_counters);
}

/// Tiles of lines, pieces of their elements.
void expect_along(const cut& c, const gemv_shape& p) {
  expect_cover(p.lines, c.tiles, c.outputs);
  expect_cover(p.length, c.pieces, c.terms);
  EXPECT_TRUE(c.pieces == 1 || c.terms % 8 == 0);
}
/// Tiles of columns, pieces of lines.
void expect_across(const cut& c, const gemv_shape& p) {
  expect_cover(p.length, c.tiles, c.outputs);
  expect_cover(p.lines, c.pieces, c.terms);
}
void expect_one_aligned_vector(const gemv_shape& p) { EXPECT_TRUE(p.plain()); }

void expect(along::packed, const cut& c, const gemv_shape& p, index_t) {
  expect_along(c, p);
  EXPECT_TRUE(p.a_aligned && p.y_aligned && p.lines * p.length * p.size >= 16);
}
void expect(along::lines, const along::lines_plan& c, const gemv_shape& p, index_t) {
  expect_cover(p.lines, c.tiles, c.outputs);
  expect_one_aligned_vector(p);
  EXPECT_EQ(c.outputs, gpu_threads / c.lanes * c.lines);
  EXPECT_TRUE(c.lanes == gpu_threads || c.pieces == 1);
  EXPECT_LE(c.lines, along::most_lines);
  if (c.lanes == gpu_threads)
    expect_cover(up(p.loads(), gpu_threads * along::loads_of_lines(p.size, c.lines)), c.pieces, c.terms);
}
void expect(along::units, const cut& c, const gemv_shape& p, index_t) {
  expect_along(c, p);
  const index_t lines = c.outputs / 256, loads = lines * p.length * p.size / 16;
  EXPECT_TRUE(c.outputs % 256 == 0 && lines * p.length * p.size % 16 == 0);
  EXPECT_LE(256 * loads * 16 + loads * 64 + 256 * lines * (p.size == 2 ? 4 : 8), 48 << 10);
}
void expect(along::general, const cut& c, const gemv_shape& p, index_t) {
  expect_along(c, p);
  EXPECT_TRUE(c.pieces == 1 || c.outputs == along::general_lines(p.vectors)); // a whole block for a group
}
void expect(across::flat, const across::flat_plan& c, const gemv_shape& p, index_t) {
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
void expect(across::few, const cut& c, const gemv_shape& p, index_t) {
  expect_across(c, p);
  EXPECT_TRUE(p.lines <= 4 && p.even() && p.y_aligned);
}
void expect(across::alone, const across::across_plan& c, const gemv_shape& p, index_t multiprocessors) {
  expect_across(c, p);
  EXPECT_TRUE(p.even() && p.batch == 1 && p.vectors == 1 && c.pieces == 1);
  EXPECT_LE(c.tiles, 2 * multiprocessors);
}
void expect(across::general, const across::across_plan& c, const gemv_shape& p, index_t) {
  expect_across(c, p);
  EXPECT_EQ(c.whole, p.even());
}

/// Of every way that fits, not of the first alone: each can be asked for by name.
template <class... Way> void expect_all(ways<Way...>, const gemv_shape& p, index_t multiprocessors, index_t* served) {
  const auto one = [&]<class W>(W way) {
    const auto plan = W::fits(p, multiprocessors);
    if (!plan) return;
    ++*served;
    SCOPED_TRACE(testing::Message() << W::name << ": " << p.lines << " of " << p.length << ", " << p.leading
                                    << " apart, " << p.size << " bytes, batch " << p.batch << ", vectors "
                                    << p.vectors);
    EXPECT_TRUE(!W::one_vector || p.vectors == 1);
    expect_cut(*plan, p);
    expect(way, *plan, p, multiprocessors);
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
                const index_t multiprocessors = aligned ? 132 : 20;
                expect_all(along_ways{}, p, multiprocessors, &served);
                expect_all(across_ways{}, p, multiprocessors, &served);
                problems += 2;
                if (testing::Test::HasFailure()) return;
              }
  EXPECT_GT(served, problems + problems / 4); // the general ways serve all, others some
}

TEST(gemv_plan, has_one_piece_of_sums_of_nothing) {
  for (const index_t lines : {2, 1000}) {
    const auto along = along::general::fits({.lines = lines, .length = 0, .leading = 3, .batch = 50'000}, 132);
    ASSERT_TRUE(along && along->pieces == 1);
    expect_cover(lines, along->tiles, along->outputs);
  }
  const auto across = across::general::fits({.lines = 0, .length = 1000, .leading = 1000}, 132);
  ASSERT_TRUE(across && across->pieces == 1);
  expect_cover(1000, across->tiles, across->outputs);
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
