// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.hpp"

#include "backends/shared_array.hpp"
#include "kit/sanitized.hpp"

#include <furrow/array.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace furrow::play {
namespace {

using number32 = real<double, 32>;

enum class mistake {
  none,
  no_barrier_before,
  no_barrier_after,
  early_return,
  neighbours_write,
  beyond,
  unwritten,
  constant
};

constexpr int block_threads = 64;

/// A copy of `tiled` with one mistake.
template <mistake F>
__global__ void tiled_copy(cview<number32> a, index_t rows, index_t length, cview<number32> x, view<number32> y) {
  FURROW_SHARED(number32, tile, block_threads);
  const index_t row = index_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (F == mistake::early_return && row >= rows) return;
  number32 sum{};
  for (index_t first = 0; first < length; first += block_threads) {
    const index_t mine = first + threadIdx.x;
    if (mine < length && F != mistake::unwritten) tile[threadIdx.x] = x[mine];
    if (F != mistake::no_barrier_before) __syncthreads();
    const index_t count = length - first < block_threads ? length - first : block_threads;
    if (row < rows)
      for (index_t k = 0; k < count; ++k) sum += a[row * length + first + k] * tile[k];
    if (F != mistake::no_barrier_after) __syncthreads();
  }
  if (F == mistake::beyond) y[row] = sum;
  else if (F == mistake::neighbours_write && row + 1 < rows) y[row | 1] = sum;
  else if (F == mistake::constant && row == 0) const_cast<number32&>(x[0]) = sum;
  else if (row < rows) y[row] = sum;
}

constexpr index_t rows = 100, length = 150; // two blocks, the second not full; three tiles

template <mistake F> kernel_report play_copy(const settings& how) {
  const host_array<double> a(rows * length, 1.0), x(length, 2.0);
  host_array<double> y(rows, 0.0);
  machine m(how);
  m.add("A", view<const double>(as_cview(a)));
  m.add("x", view<const double>(as_cview(x)));
  m.add("y", as_view(y));
  const cview<number32> pa = as_played<32>(view<const double>(as_cview(a))),
                        px = as_played<32>(view<const double>(as_cview(x)));
  const view<number32> py = as_played<32>(as_view(y));
  auto report = m.play("tiled", {2, 1, 1}, block_threads, [&] { tiled_copy<F>(pa, rows, length, px, py); });
  if (F == mistake::none) {
    for (const double v : y) EXPECT_EQ(v, 300);
  }
  return report;
}

/// Random orders: a sanitizer looks at the stack of every lane.
const std::uint64_t orders = kit::repeats(100, 10);

/// The sentences for a fault, in these orders and in the two others: each must have `expected` in its first one.
template <mistake F> void found_in_every_order(std::string_view expected) {
  const auto look = [&](const settings& how) {
    const auto r = play_copy<F>(how);
    ASSERT_FALSE(r.faults.empty()) << "order " << int(how.order) << ", seed " << how.seed;
    EXPECT_NE(r.faults.front().find(expected), std::string::npos) << r.faults.front();
    EXPECT_GE(r.all_faults, index_t(r.faults.size()));
  };
  look({32, turns::ascending});
  look({32, turns::descending});
  for (std::uint64_t seed = 0; seed < orders; ++seed) look({32, turns::random, seed});
}

TEST(planted, the_kernel_without_a_mistake_is_clean) {
  for (std::uint64_t seed = 0; seed < orders; ++seed)
    EXPECT_EQ(play_copy<mistake::none>({32, turns::random, seed}).faults, std::vector<std::string>{});
}

TEST(planted, a_missing_barrier_is_found_in_every_order) {
  found_in_every_order<mistake::no_barrier_before>("put __syncthreads() between the two");
  found_in_every_order<mistake::no_barrier_after>("put __syncthreads() between the two");
}

TEST(planted, a_race_is_found_in_every_order) { found_in_every_order<mistake::neighbours_write>("writes y["); }

TEST(planted, a_barrier_that_some_threads_never_reach_is_found_in_every_order) {
  found_in_every_order<mistake::early_return>("every thread of the block must reach __syncthreads()");
}

TEST(planted, an_index_beyond_the_end_is_named) { found_in_every_order<mistake::beyond>("y has 100 elements"); }

TEST(planted, shared_memory_that_nobody_wrote_is_named) {
  found_in_every_order<mistake::unwritten>("which no thread of its block has written");
}

TEST(planted, a_write_to_what_is_only_read_is_named) {
  found_in_every_order<mistake::constant>("writes x[0], which a kernel only reads");
}

TEST(planted, the_sentence_names_kernel_array_element_and_both_threads) {
  const auto r = play_copy<mistake::no_barrier_before>({32, turns::ascending});
  ASSERT_EQ(r.faults.size(), 1u);
  EXPECT_EQ(r.faults[0], "tiled: thread 1 of block 0 writes tile[1], which thread 0 of the block read since the last "
                         "barrier: put __syncthreads() between the two");
}

/// Lane 0 of each warp leaves before a shuffle over the whole warp.
__global__ void lonely_shuffle(view<number32> y) {
  if (threadIdx.x % 32 == 0) return;
  y[threadIdx.x] = from_lane_above<32>(number32(1), 1);
}

TEST(planted, a_lane_that_is_missing_from_a_shuffle_is_named) {
  host_array<double> y(64, 0.0);
  machine m;
  m.add("y", as_view(y));
  const auto r = m.play("lonely", {}, 64, [&] { lonely_shuffle(as_played<32>(as_view(y))); });
  ASSERT_EQ(r.faults.size(), 1u);
  EXPECT_EQ(r.faults[0],
            "lonely: lane 1 of warp 0 of block 0 waits in a shuffle for lane 0, which has ended: all lanes "
            "that the mask names must call it");
}

/// Lanes hand values on through shared memory, with __syncwarp between or without.
template <bool Meets> __global__ void reversed(cview<number32> x, view<number32> y) {
  FURROW_SHARED(number32, room, 32);
  room[threadIdx.x] = x[threadIdx.x];
  if (Meets) __syncwarp();
  y[threadIdx.x] = room[31 - threadIdx.x];
}

TEST(planted, syncwarp_orders_the_lanes_of_a_warp) {
  host_array<double> x(32), y(32, 0.0);
  for (index_t i = 0; i < 32; ++i) x[i] = double(i);
  const auto play = [&](auto kernel) {
    machine m;
    m.add("x", view<const double>(as_cview(x)));
    m.add("y", as_view(y));
    const cview<number32> px = as_played<32>(view<const double>(as_cview(x)));
    return m.play("reversed", {}, 32, [&] { kernel(px, as_played<32>(as_view(y))); });
  };
  EXPECT_EQ(play(reversed<true>).faults, std::vector<std::string>{});
  for (index_t i = 0; i < 32; ++i) EXPECT_EQ(y[i], double(31 - i));
  EXPECT_FALSE(play(reversed<false>).faults.empty());
}

/// Reads with a distance between neighbouring lanes, from global and from shared memory.
template <class N, int Distance> __global__ void strided(cview<N> x, view<N> y) {
  FURROW_SHARED(N, room, 32 * Distance);
  room[threadIdx.x * Distance] = x[threadIdx.x * Distance];
  y[threadIdx.x] = room[threadIdx.x * Distance];
}
template <class V, int Distance> std::vector<traffic> traffic_of() {
  using N = real<V, 32>;
  const host_array<V> x(32 * Distance, V(1));
  host_array<V> y(32);
  machine m;
  m.add("x", view<const V>(as_cview(x)));
  m.add("y", as_view(y));
  const cview<N> px = as_played<32>(view<const V>(as_cview(x)));
  return m.play("strided", {}, 32, [&] { strided<N, Distance>(px, as_played<32>(as_view(y))); }).arrays;
}

TEST(counts, lines_are_those_that_the_lanes_of_a_load_touch) {
  EXPECT_EQ((traffic_of<float, 1>()[0].lines), 1);
  EXPECT_EQ((traffic_of<double, 1>()[0].lines), 2);
  EXPECT_EQ((traffic_of<float, 2>()[0].lines), 2);
  EXPECT_EQ((traffic_of<float, 32>()[0].lines), 32);
  const traffic x = traffic_of<double, 2>()[0];
  EXPECT_EQ(x.array, "x");
  EXPECT_EQ(x.instructions, 1);
  EXPECT_EQ(x.lanes, 32);
  EXPECT_EQ(x.bytes, 256);
  EXPECT_EQ(x.lines, 4);
}

TEST(counts, banks_are_asked_again_for_lanes_that_want_different_words_of_one) {
  const auto conflicts = [](const std::vector<traffic>& all) {
    index_t sum = 0;
    for (const auto& t : all)
      if (t.array == "room") sum += t.conflicts;
    return sum;
  };
  EXPECT_EQ(conflicts(traffic_of<float, 1>()), 0);
  EXPECT_EQ(conflicts(traffic_of<float, 2>()), 2);   // a store and a load, two words a bank
  EXPECT_EQ(conflicts(traffic_of<float, 3>()), 0);   // an odd distance meets every bank
  EXPECT_EQ(conflicts(traffic_of<float, 32>()), 62); // all in one bank
  EXPECT_EQ(conflicts(traffic_of<double, 1>()), 0);  // two halves of a warp, 128 bytes each
  EXPECT_EQ(conflicts(traffic_of<double, 2>()), 4);
}

/// A loop of different lengths: lane r takes r turns.
__global__ void uneven(cview<number32> x, view<number32> y) {
  number32 sum{};
  for (unsigned k = 0; k < threadIdx.x; ++k) sum += x[k];
  y[threadIdx.x] = sum;
}

TEST(counts, a_loop_takes_as_many_turns_as_its_longest_lane_and_lanes_meet_behind_it) {
  const host_array<double> x(32, 1.0);
  host_array<double> y(32);
  machine m({32, turns::ascending, 1, 100});
  m.add("x", view<const double>(as_cview(x)));
  m.add("y", as_view(y));
  const cview<number32> px = as_played<32>(view<const double>(as_cview(x)));
  const auto r = m.play("uneven", {}, 32, [&] { uneven(px, as_played<32>(as_view(y))); });
  ASSERT_EQ(r.arrays.size(), 2u);
  EXPECT_EQ(r.arrays[0].instructions, 31);
  EXPECT_EQ(r.arrays[0].lanes, 31 * 32 / 2);
  EXPECT_EQ(r.arrays[1].instructions, 1); // y
  EXPECT_EQ(r.arrays[1].lanes, 32);
  ASSERT_EQ(r.trace.size(), 32u);
  EXPECT_EQ(r.trace[0].element[0], -1);
  EXPECT_EQ(r.trace[0].element[31], 0);
  EXPECT_EQ(r.trace[31].array, "y");
}

TEST(machine, an_exception_of_a_kernel_reaches_its_caller) {
  machine m;
  EXPECT_THROW(m.play("throws", {}, 64,
                      [] {
                        if (running->thread.x == 40) throw std::runtime_error("here");
                      }),
               std::runtime_error);
  EXPECT_EQ(m.play("goes on", {}, 64, [] {}).faults, std::vector<std::string>{});
}

} // namespace
} // namespace furrow::play
