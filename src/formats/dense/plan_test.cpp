// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"
#include "cpu_plan.hpp"
#include "gpu_plan_across.hpp"
#include "gpu_plan_along.hpp"

#include "kit/matrices.hpp"

#include <furrow/formats.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace furrow {
namespace {

const index_t sizes[] = {1, 2, 3, 7, 8, 9, 10, 31, 32, 33, 64, 65, 127, 255, 1000, 4096, 5001, 8192, 300000, 33554432};

/// [0, total) is cut into `parts` parts of `each`, none of them empty.
void expect_cover(index_t total, index_t parts, index_t each) {
  EXPECT_GE(parts * each, total);
  EXPECT_LT((parts - 1) * each, total);
}

/// Every problem, piece and tile comes exactly once.
void expect_items(const dense::gpu_plan& p, index_t problems) {
  const index_t items = p.items(problems);
  if (items > 20000) return;
  std::vector<int> seen(static_cast<std::size_t>(items));
  for (index_t k = 0; k < items; ++k) {
    const auto i = p.kind == dense::gpu_kind::strips ? dense::strip_of(p, k) : dense::item_of(p, k);
    ASSERT_TRUE(i.problem < problems && i.piece < p.pieces && i.tile < p.tiles);
    ++seen[static_cast<std::size_t>((i.problem * p.pieces + i.piece) * p.tiles + i.tile)];
  }
  for (const int times : seen) ASSERT_EQ(times, 1);
}

void expect_along(index_t lines, index_t length, index_t leading, index_t problems, int size, int vectors,
                  dense::gpu_shape device) {
  const auto p = dense::plan_along(lines, length, leading, problems, size, size == 8 ? 8 : 4, vectors, device);
  SCOPED_TRACE(dense::text_of(p));
  expect_cover(lines, p.tiles, p.outputs);
  if (p.kind == dense::gpu_kind::lines) {
    EXPECT_TRUE(device.a_aligned && device.x_aligned && length * size % 16 == 0 && leading * size % 16 == 0);
    EXPECT_TRUE(p.rows == lines && lines <= dense::most_lines && problems == 1 && vectors == 1);
    const index_t round = 256 * (16 / size) * dense::loads_of_lines(size, p.rows);
    expect_cover(dense::up(length, round), p.pieces, p.terms);
  } else {
    expect_cover(length, p.pieces, p.terms);
    EXPECT_TRUE(p.pieces == 1 || p.terms % 8 == 0);
  }
  EXPECT_TRUE(p.pieces == 1 || (p.lanes == 256 && p.tiles * problems <= dense::most_counters));
  EXPECT_TRUE(p.tiles < index_t(1) << 31 && p.pieces < 1 << 16); // sides of a grid
  EXPECT_TRUE(p.kind != dense::gpu_kind::packed || !p.whole ||
              (device.a_aligned && device.y_aligned && lines * length * size >= 16));
  if (p.kind == dense::gpu_kind::staged) {
    EXPECT_LE(p.outputs * leading * size + 16, dense::staged_bytes);
  }
  if (p.kind == dense::gpu_kind::units) {
    EXPECT_EQ(p.rows * length * size, p.lanes * 16);
    EXPECT_LE(256 * p.lanes * 16 + p.lanes * 64 + 256 * p.rows * (size == 2 ? 4 : 8), 48 << 10);
  }
  if (p.kind == dense::gpu_kind::strips) {
    EXPECT_LE(p.outputs, dense::strip_outputs);
    EXPECT_EQ(p.terms * size % 16, 0);
  }
  if (p.kind == dense::gpu_kind::rows || p.kind == dense::gpu_kind::strips) {
    EXPECT_TRUE(device.a_aligned && device.x_aligned && length * size % 16 == 0 && leading * size % 16 == 0);
  }
  EXPECT_GE(p.blocks, 1u);
  expect_items(p, problems);
}

void expect_across(index_t lines, index_t length, index_t leading, index_t problems, int size, int vectors,
                   dense::gpu_shape device) {
  const auto p = dense::plan_across(lines, length, leading, problems, size, vectors, device);
  SCOPED_TRACE(dense::text_of(p));
  if (p.kind == dense::gpu_kind::flat) {
    const index_t period = p.active * (16 / size);
    EXPECT_EQ(period % leading, 0);
    EXPECT_GT(p.active, 0);
    EXPECT_EQ(p.turn * leading, period);
    const index_t elements = (lines - 1) * leading + length;
    EXPECT_TRUE(p.periods * period <= elements && elements < (p.periods + 1) * period);
    // The stream begins up to a load before the matrix.
    EXPECT_GE(p.pieces * p.terms * period, elements + 16 / size - 1);
    EXPECT_TRUE(p.holds < 0 || (device.a_aligned && device.x_aligned));
    if (p.holds > 0) {
      EXPECT_TRUE(p.holds == 1 ? leading * size % 16 == 0 : p.holds * leading * size == 16);
    }
  } else if (p.kind == dense::gpu_kind::stream) {
    const index_t period = p.active * (16 / size), elements = (lines - 1) * leading + length;
    EXPECT_TRUE(device.a_aligned && problems == 1 && vectors == 1 && p.tiles == 1 && p.turn * leading == period);
    EXPECT_TRUE(p.active <= dense::stream_threads && leading * size >= 16); // a load is of two lines at most
    EXPECT_TRUE(p.periods * period <= elements && elements < (p.periods + 1) * period);
    const index_t round = dense::stream_loads(size); // of a turn
    EXPECT_TRUE(p.terms * round <= p.periods && p.periods < (p.terms + 1) * round);
    // Shares of places, four of which are read together.
    EXPECT_TRUE(p.outputs >= leading && p.outputs % 4 == 0 && p.lanes % 4 == 0 && p.lanes <= dense::stream_threads);
    EXPECT_TRUE(p.rows == dense::up(p.outputs, p.lanes) && p.rows <= 16);
  } else {
    expect_cover(length, p.tiles, p.outputs);
    expect_cover(lines, p.pieces, p.terms);
  }
  if (p.kind == dense::gpu_kind::cluster) {
    EXPECT_TRUE(p.whole && problems == 1 && p.blocks == p.tiles * p.pieces);
    EXPECT_TRUE(p.pieces == 1 || (device.clusters && p.pieces == dense::cluster_blocks));
  } else {
    EXPECT_TRUE(p.pieces == 1 || p.tiles * problems <= dense::most_counters);
  }
  if (p.kind == dense::gpu_kind::alone) { // nothing is left over
    EXPECT_TRUE(p.whole && device.x_aligned && problems == 1 && p.pieces == 1 && p.tiles * p.outputs == length);
    EXPECT_EQ(lines % (dense::alone_threads / p.lanes * dense::alone_rows), 0);
  }
  EXPECT_TRUE(p.kind != dense::gpu_kind::few || !p.whole ||
              (device.y_aligned && lines <= 2 && length * size % 16 == 0));
  EXPECT_TRUE(p.tiles < index_t(1) << 31 && p.pieces < 1 << 16);
  expect_items(p, problems);
}

TEST(gemv_plan, covers_every_element_once_on_the_gpu) {
  for (const bool aligned : {true, false})
    for (const index_t lines : sizes)
      for (const index_t length : sizes)
        for (const index_t padding : {0, 1, 64})
          for (const int size : {2, 4, 8})
            for (const index_t problems : {1, 3, 100000})
              for (const int vectors : {1, 2, 8}) {
                const dense::gpu_shape device{132, aligned, aligned, aligned, aligned};
                expect_along(lines, length, length + padding, problems, size, vectors, device);
                expect_across(lines, length, length + padding, problems, size, vectors, device);
                if (testing::Test::HasFailure()) return;
              }
}

TEST(gemv_plan, covers_every_element_once_on_the_cpu) {
  for (const index_t lines : sizes)
    for (const index_t length : sizes)
      for (const index_t size : {2, 4, 8}) {
        const auto a = dense::plan_along(lines, length, size);
        expect_cover(lines, a.tiles, a.outputs);
        expect_cover(length, a.pieces, a.terms);
        const auto c = dense::plan_across(lines, length, size, 4096);
        expect_cover(length, c.tiles, c.outputs);
        expect_cover(lines, c.pieces, c.terms);
      }
}

TEST(gemv_plan, gives_two_threads_of_a_cpu_equal_shares_of_few_lines) {
  for (const index_t size : {4, 8})
    for (index_t lines = 1; lines <= 19; ++lines)
      for (const index_t length : {20000, 33333, 100000}) {
        const auto p = dense::plan_along(lines, length, size);
        if (lines * length * size < 2 * dense::task_bytes) continue;
        const auto share = [](index_t all, index_t each) { return double(dense::busiest(all, each, 2)) / double(all); };
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
        const auto a = dense::plan_along(n, n, size);
        ASSERT_EQ(a.pieces, 1);
        EXPECT_LE(double(dense::busiest(n, a.outputs, threads)), 1.125 * fair) << n << " " << size;
        const auto c = dense::plan_across(n, n, size, 32768 / size);
        ASSERT_EQ(c.tiles, 1);
        if (c.pieces < threads) continue;
        EXPECT_LE(double(dense::busiest(n, c.terms, threads)), 1.125 * fair) << n << " " << size;
      }
}

TEST(dense, goes_to_triplets_and_back) {
  for (const auto& m : kit::battery()) {
    const auto a = to_dense(m.a);
    EXPECT_EQ(violation(a), "") << m.name;
    const auto again = to_dense(to_coo(a));
    ASSERT_EQ(again.val.size(), a.val.size());
    EXPECT_TRUE(std::equal(a.val.begin(), a.val.end(), again.val.begin())) << m.name;
  }
}

TEST(dense, refuses_a_matrix_that_is_nearly_empty) {
  const auto s = measure(kit::laplacian(2000));
  const layout l = find_format("dense").lay_out(s, precision::f64, {});
  EXPECT_NE(l.refusal.find("choose a sparse format"), std::string::npos) << l.refusal;
}

} // namespace
} // namespace furrow
