// SPDX-License-Identifier: BSD-3-Clause
#include "played.hpp"

#include "kit/guarded.hpp"
#include "kit/random.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace furrow::chebyshev {
namespace {

constexpr play::settings every_way[] = {{32, play::turns::ascending},  {32, play::turns::descending},
                                        {32, play::turns::random, 5},  {64, play::turns::ascending},
                                        {64, play::turns::descending}, {64, play::turns::random, 6}};

/// Within the bound of the sums that the CPU makes in long-standing code, in every order; in all orders the same bits.
template <class V> void check_product(index_t na, index_t nb, index_t keep, convention series, algorithm how) {
  const auto a = kit::random_vector<V>(na, 3), b = kit::random_vector<V>(nb, 4);
  product_options o;
  o.series = series;
  o.keep = keep;
  o.how = algorithm::direct;
  const auto truth = multiply(as_cview(a), as_cview(b), o);
  const double bound = error_bound<V>(as_cview(a), as_cview(b), o, algorithm::direct);
  host_array<V> first;
  int wave = 0;
  for (const auto& way : every_way) {
    host_array<V> c(keep, std::numeric_limits<V>::quiet_NaN());
    const auto report = play_product(as_cview(a), as_cview(b), series, how, as_view(c), way);
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
  for (const algorithm how : {algorithm::thread, algorithm::block, algorithm::warp})
    for (const convention series : {convention::plain, convention::primed})
      for (const auto& [na, nb] : {std::pair<index_t, index_t>{1, 1}, {1, 5}, {7, 3}, {33, 64}})
        for (const index_t keep : {index_t(1), na, na + nb - 1, na + nb + 3}) {
          check_product<double>(na, nb, keep, series, how);
          check_product<float>(na, nb, keep, series, how);
        }
}

TEST(chebyshev_played, other_algorithms_are_refused) {
  const host_array<double> a(3, 1.0);
  host_array<double> c(5);
  EXPECT_THROW(play_product(as_cview(a), as_cview(a), convention::plain, algorithm::fft, as_view(c), {}), error);
}

} // namespace
} // namespace furrow::chebyshev
