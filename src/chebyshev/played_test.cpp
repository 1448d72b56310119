// SPDX-License-Identifier: BSD-3-Clause
#include "classic.hpp"
#include "played.hpp"

#include "kit/guarded.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/sanitized.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>

namespace furrow::chebyshev {
namespace {

/// Sanitizers, which look at the stack of every lane, see the first two.
constexpr play::settings every_way[] = {{32, play::turns::random, 5}, {64, play::turns::descending},
                                        {32, play::turns::ascending}, {32, play::turns::descending},
                                        {64, play::turns::ascending}, {64, play::turns::random, 6}};
const std::span ways = std::span(every_way).first(kit::sanitized() ? 2 : std::size(every_way));

/// Within the bound of the sums that the CPU makes in long-standing code, in every order; in all orders the same bits.
template <class V>
void check_product(index_t na, index_t nb, index_t keep, convention series, algorithm how, int block = 0) {
  const auto a = kit::random_vector<V>(na, 3), b = kit::random_vector<V>(nb, 4);
  product_options o;
  o.series = series;
  o.keep = keep;
  o.how = algorithm::direct;
  const auto truth = multiply(as_cview(a), as_cview(b), o);
  const double bound = error_bound<V>(as_cview(a), as_cview(b), o, algorithm::direct);
  host_array<V> first;
  int wave = 0;
  for (const auto& way : ways) {
    if (block && block < way.wave && (how == algorithm::block || how == algorithm::warp)) continue; // refused
    host_array<V> c(keep, std::numeric_limits<V>::quiet_NaN());
    const auto report = play_product(as_cview(a), as_cview(b), series, how, as_view(c), way, block);
    EXPECT_EQ(report.threads, block ? block : classic_threads);
    EXPECT_EQ(report.faults, std::vector<std::string>{});
    for (index_t k = 0; k < keep; ++k)
      EXPECT_LE(std::fabs(double(c[k]) - double(truth[k])), 2 * bound)
          << name_of(how) << ", " << na << " by " << nb << ", coefficient " << k << ", wave " << way.wave;
    if (way.wave != wave) first = c;
    wave = way.wave;
    EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(c)));
  }
}

TEST(chebyshev_played, the_classic_kernels_are_right_in_every_order_of_warps_with_32_and_64_lanes) {
  for (const algorithm how : classic_algorithms)
    for (const convention series : {convention::plain, convention::primed})
      for (const auto& [na, nb] : {std::pair<index_t, index_t>{1, 1}, {1, 5}, {7, 3}, {33, 64}})
        for (const index_t keep : {index_t(1), na, na + nb - 1, na + nb + 3}) {
          check_product<double>(na, nb, keep, series, how);
          check_product<float>(na, nb, keep, series, how);
        }
}

TEST(chebyshev_played, blocks_of_every_size_are_right) {
  for (const algorithm how : classic_algorithms)
    for (int block = 32; block <= 1024; block *= 2) {
      check_product<double>(70, 33, 5, convention::plain, how, block); // a coefficient is a block of them
      check_product<float>(5, 5, 3, convention::primed, how, block);
    }
}

/// One coefficient of a thread or a warp does not know its block.
TEST(chebyshev_played, thread_and_warp_have_the_same_bits_in_every_block) {
  const auto a = kit::random_vector<double>(90, 3), b = kit::random_vector<double>(41, 4);
  const auto play = [&](algorithm how, int block) {
    host_array<double> c(130);
    play_product(as_cview(a), as_cview(b), convention::plain, how, as_view(c), {}, block);
    return c;
  };
  for (const algorithm how : {algorithm::thread, algorithm::warp})
    EXPECT_TRUE(kit::same_bits(as_cview(play(how, 0)), as_cview(play(how, 1024)))) << name_of(how);
}

/// The sweep shares what the shuffles do not: a store and a load of every thread, and a barrier for each halving.
TEST(chebyshev_played, the_sweep_goes_through_shared_memory_and_the_shuffles_do_not) {
  const auto a = kit::random_vector<double>(300, 3);
  host_array<double> c(10);
  const auto of_room = [&](algorithm how, int block) {
    const auto report = play_product(as_cview(a), as_cview(a), convention::plain, how, as_view(c), {}, block);
    index_t lanes = 0;
    for (const auto& t : report.arrays)
      if (t.array == "room") lanes += t.lanes;
    return std::array<index_t, 3>{lanes, report.barriers, report.shuffles};
  };
  const auto sweep = of_room(algorithm::block_sweep, 256), shuffles = of_room(algorithm::block, 256);
  EXPECT_EQ(sweep[1], 10 * 9); // one before the eight halvings and one behind each
  EXPECT_EQ(sweep[2], 0);
  EXPECT_EQ(sweep[0], 10 * (256 + 3 * 255 + 1)); // a store each, two loads and a store a sum, and the last load
  EXPECT_EQ(shuffles[1], 10);
  EXPECT_GT(shuffles[2], 0);
  EXPECT_LT(shuffles[0], 10 * 40);
}

TEST(chebyshev_played, blocks_that_cannot_be_are_refused) {
  const host_array<double> a(3, 1.0);
  host_array<double> c(5);
  const auto said = [&](algorithm how, int block, int wave) -> std::string {
    return kit::said_by(
        [&] { play_product(as_cview(a), as_cview(a), convention::plain, how, as_view(c), {wave}, block); });
  };
  EXPECT_EQ(said(algorithm::block, 48, 32),
            "algorithm 'block': a block of 48 threads: give a power of two from 32 to 1024");
  EXPECT_EQ(said(algorithm::thread, 2048, 32),
            "algorithm 'thread': a block of 2048 threads: give a power of two from 32 to 1024");
  EXPECT_EQ(said(algorithm::warp, 32, 64),
            "algorithm 'warp': a block of 32 threads is less than a warp of 64 lanes: give a larger one");
  EXPECT_EQ(said(algorithm::block_sweep, 32, 64), "");
}

TEST(chebyshev_played, other_algorithms_are_refused) {
  const host_array<double> a(3, 1.0);
  host_array<double> c(5);
  EXPECT_THROW(play_product(as_cview(a), as_cview(a), convention::plain, algorithm::fft, as_view(c), {}), error);
}

} // namespace
} // namespace furrow::chebyshev
