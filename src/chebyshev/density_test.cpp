// SPDX-License-Identifier: BSD-3-Clause
// Moments of a spectrum, and what series in an operator refuse.
#include "kit/matrices.hpp"
#include "kit/said_by.hpp"

#include <furrow/chebyshev.hpp>
#include <furrow/error.hpp>
#include <furrow/formats.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace furrow::chebyshev {
namespace {

using kit::said_by;

std::unique_ptr<any_operator<double>> in_double_on_cpu(coo<double> a) {
  return find_format("csr").cpu.make<double>()(std::move(a), {}, "auto");
}

TEST(chebyshev_density, moments_of_a_known_spectrum) {
  // Random signs see the trace of a diagonal matrix exactly.
  const auto a = kit::diagonal({-1, -0.5, 0, 0.25, 0.9});
  const auto op = in_double_on_cpu(coo<double>(a));
  for (const index_t count : {1, 2, 3, 4, 5, 20, 21}) {
    const auto d = density<double>({*op}, {-1, 1}, {count, 1});
    ASSERT_EQ(d.moments.size(), count);
    for (index_t k = 0; k < count; ++k) {
      double sum = 0;
      for (const double v : a.val) sum += std::cos(double(k) * std::acos(v));
      EXPECT_NEAR(d.moments[k], sum / 5, 1e-13) << k;
    }
  }
}

coo<double> multiplied(coo<double> a, double factor) {
  for (double& v : a.val) v *= factor;
  return a;
}

TEST(chebyshev_bounds, do_not_depend_on_the_scale) {
  const auto bounds = [](const coo<double>& a) {
    return lanczos_bounds<double>({*in_double_on_cpu(coo<double>(a))}, gershgorin(a));
  };
  const auto a = kit::laplacian(300);
  const interval wanted = bounds(a);
  EXPECT_LT(wanted.high, 4.00001);
  for (const double factor : {0x1p-1000, 0x1p1000}) {
    const interval on = bounds(multiplied(a, factor));
    EXPECT_EQ(on.low / factor, wanted.low);
    EXPECT_EQ(on.high / factor, wanted.high);
  }
}

TEST(chebyshev_bounds, hold_what_the_vector_does_not_see) {
  // Signs are eigenvectors of the first two, and of a matrix of zeros.
  for (const auto& a : {kit::assemble({2, 2}, {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 2}}), kit::diagonal({3, 3, 3}),
                        kit::assemble({3, 3}, {}), kit::diagonal({7}), kit::diagonal({0, 1, 0, 1})}) {
    const interval outer = gershgorin(a);
    const auto op = in_double_on_cpu(coo<double>(a));
    const interval on = lanczos_bounds<double>({*op}, outer);
    EXPECT_LT(on.low, on.high);
    const auto d = density<double>({*op}, on, {64});
    EXPECT_NEAR(d.count_below(on.high), double(a.shape.rows), 1e-9);
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(d.count_below(none)) && std::isnan(d.at(none)));
  }
  EXPECT_EQ(gershgorin(kit::assemble({3, 3}, {})), (interval{-1, 1}));
}

TEST(chebyshev_operator_refusals, name_what_is_wrong) {
  const auto has = [](const std::string& text, const char* part) { EXPECT_NE(text.find(part), text.npos) << text; };
  const auto op = in_double_on_cpu(kit::laplacian(5));
  const auto wide = in_double_on_cpu(kit::assemble({2, 3}, {{0, 0, 1}}));
  host_array<double> x(5, 1.0), y(5);
  const series p{{1, 2}, {0, 4}};
  has(said_by([&] { apply<double>(p, {*wide}, as_cview(x), as_view(y)); }), "2 x 3");
  has(said_by([&] { apply<double>(p, {*op}, as_cview(x), as_view(y), 2); }), "2 vectors of 5");
  has(said_by([&] { apply<double>(p, {*op}, as_cview(x), as_view(y), index_t(1) << 62); }), "vectors of 5");
  has(said_by([&] { apply<double>(p, {*op}, as_cview(x), as_view(x)); }), "share memory");
  has(said_by([&] { apply<double>({{1}, {2, 1}}, {*op}, as_cview(x), as_view(y)); }), "no interval");
  has(said_by([&] { density<double>({*op}, {0, 4}, {0}); }), "0 moments");
  has(said_by([&] { density<double>({*op}, {0, 4}, {4, index_t(1) << 31}); }), "2147483648 random vectors");
  has(said_by([&] { density<double>({*op}, {0, 1}, {200}); }), "the spectrum is not inside [0, 1]");
  has(said_by([&] { density<double>({*op}, {0, 1e-310}, {4}); }), "scale matrix and interval by a power of two");
  has(said_by([&] { gershgorin(kit::diagonal({1.7e308, -1.7e308})); }), "scale the matrix");
  const auto huge = kit::assemble({2, 2}, {{0, 0, 1.7e308}, {0, 1, 1.7e308}, {1, 0, 1.7e308}, {1, 1, 1.7e308}});
  has(said_by([&] { gershgorin(huge); }), "its sum leaves the range");
  has(said_by([&] {
        lanczos_bounds<double>({*in_double_on_cpu(coo<double>(huge))}, {-8e307, 8e307});
      }),
      "are not finite");
  has(said_by([&] { gershgorin(kit::assemble({0, 0}, {})); }), "without rows");
  has(said_by([&] { gershgorin(kit::diagonal({1, std::nan("")})); }), "row 2 of the matrix holds a NaN");
  has(said_by([&] { gershgorin(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1}, {1, 1, 2}})); }), "A is not symmetric");
}

} // namespace
} // namespace furrow::chebyshev
