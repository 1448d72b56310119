// SPDX-License-Identifier: BSD-3-Clause
#include "play.hpp"
#include "played.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/method_check.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/sanitized.hpp"

#include <furrow/error.hpp>

#include <cmath>
#include <set>
#include <span>
#include <string>

namespace furrow {
namespace {

/// Sanitizers, which look at the stack of every lane, see the first two.
constexpr play::settings every_way[] = {{32, play::turns::random, 5},
                                        {64, play::turns::descending},
                                        {32, play::turns::ascending},
                                        {32, play::turns::descending},
                                        {64, play::turns::random, 6}};
const std::span ways = std::span(every_way).first(kit::sanitized() ? 2 : std::size(every_way));
const char* const a_grid = kit::sanitized() ? "poisson2d:4" : "poisson2d:10";

template <class V> struct cg_played : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(cg_played, precisions);

TYPED_TEST(cg_played, dot_and_add_are_right_in_every_order_of_warps_with_32_and_64_lanes) {
  using V = TypeParam;
  for (const index_t n : {1, 31, 257, 3000}) {
    const auto x = kit::random_vector<V>(n, 1), y = kit::random_vector<V>(n, 2);
    double exact = 0, size = 0;
    for (index_t i = 0; i < n; ++i) exact += double(x[i]) * double(y[i]), size += std::abs(double(x[i]) * double(y[i]));
    double of_32 = NAN;
    for (const auto& way : ways) {
      double total = NAN;
      const auto dot = unfused::play_dot(as_cview(x), as_cview(y), total, way);
      EXPECT_EQ(dot.faults, std::vector<std::string>{});
      EXPECT_EQ(dot.barriers, dot.blocks);
      EXPECT_NEAR(total, exact, 1e-13 * size) << n;
      if (way.wave == 32) {
        if (std::isnan(of_32)) of_32 = total;
        EXPECT_EQ(total, of_32) << n;
      }
      host_array<V> sum(n, std::numeric_limits<V>::quiet_NaN()), place(x);
      EXPECT_EQ(unfused::play_add(as_cview(x), V(-0.5), as_cview(y), as_view(sum), way).faults,
                std::vector<std::string>{});
      for (index_t i = 0; i < n; ++i) EXPECT_EQ(sum[i], std::fma(V(-0.5), y[i], x[i])) << i;
      unfused::play_add(as_cview(place), V(-0.5), as_cview(y), as_view(place), way);
      EXPECT_TRUE(kit::same_bits(as_cview(place), as_cview(sum)));
    }
  }
}

TYPED_TEST(cg_played, takes_the_steps_of_the_method_with_nothing_found) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate(a_grid).a);
  const auto b = kit::random_vector<V>(a.shape.rows, 9);
  auto o = kit::solver_options<V>("cg_tutorial", "none");
  const auto usual = kit::solve_honestly<V>(generate(a_grid).a, b, o);
  host_array<V> first;
  for (const auto& [format, kernel] : {std::pair{"csr", "half_warp"},
                                       {"csr", "vector:lanes=4,block=64"},
                                       {"ell", "scalar"},
                                       {"hyb:bell_garland", "auto"}})
    for (const auto& way : ways) {
      host_array<V> x(a.shape.cols, V(0));
      const auto played = play_cg<V>(a, as_cview(b), as_view(x), format, kernel, o, way);
      EXPECT_EQ(played.report.why, status::converged) << format << ' ' << kernel;
      EXPECT_NEAR(double(played.report.iterations), double(usual.report.iterations), 1) << format << ' ' << kernel;
      std::set<std::string> names;
      for (const auto& k : played.kernels) {
        EXPECT_EQ(k.sum.faults, std::vector<std::string>{}) << k.sum.kernel;
        names.insert(k.sum.kernel);
        if (k.sum.kernel == "dot") {
          EXPECT_EQ(k.launches, 1 + 2 * played.report.iterations);
        }
        if (k.sum.kernel == "add") {
          EXPECT_EQ(k.launches, 3 * played.report.iterations);
        }
      }
      EXPECT_TRUE(names.contains("dot") && names.contains("add"));
      double size = 0;
      for (const V v : usual.x) size = std::max(size, std::abs(double(v)));
      for (index_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(x[i], usual.x[i], (sizeof(V) == 8 ? 1e-8 : 1e-2) * size) << format << ' ' << kernel << ' ' << i;
      if (std::string_view(kernel) != "half_warp" || way.wave != 32) continue;
      if (first.empty()) first = x;
      EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(x)));
    }
}

TEST(cg_played, says_what_it_cannot_play) {
  const auto a = generate("poisson2d:5").a;
  const auto said = [](const coo<double>& matrix, const host_array<double>& b, const char* format, const char* kernel) {
    host_array<double> x(b.size(), 0.0);
    return kit::said_by([&] { play_cg<double>(matrix, as_cview(b), as_view(x), format, kernel, {}, {}); });
  };
  const host_array<double> ones(25, 1.0), zeros(25, 0.0), huge(25, 1e200), short_one(3, 1.0);
  host_array<double> nan(25, 1.0);
  nan[7] = NAN;
  EXPECT_EQ(said(a, ones, "csr", "naive"), "");
  EXPECT_NE(said(a, short_one, "csr", "naive").find("b has 3 elements"), std::string::npos);
  EXPECT_NE(said(a, zeros, "csr", "naive").find("b is zero"), std::string::npos);
  EXPECT_NE(said(a, huge, "csr", "naive").find("scale b"), std::string::npos);
  EXPECT_NE(said(a, nan, "csr", "naive").find("NaN"), std::string::npos);
  EXPECT_NE(said(a, ones, "csr", "stream").find("is not a classic one"), std::string::npos);
  EXPECT_NE(said(kit::lopsided(25, 3), ones, "csr", "naive").find("not symmetric"), std::string::npos);
}

} // namespace
} // namespace furrow
