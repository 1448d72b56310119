// SPDX-License-Identifier: BSD-3-Clause
// A degree of a series costs what operator.hpp says: passes, waits and bytes.
#include "operator_space.hpp"

#include "backends/cpu/space.hpp"
#include "kit/counting.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/formats.hpp>

#include <gtest/gtest.h>

namespace furrow::chebyshev {
namespace {

struct setting {
  kit::traffic seen;
  cpu::space<double> inner;
  kit::counting_space<cpu::space<double>> space{inner, seen};
  interval on{0, 12};
  coo<double> a;
  kit::counting_operator<double> op;

  explicit setting(bool centred)
      : a(kit::laplacian(12, 12, 12, true, 0.01)),
        op(find_format("csr").cpu.make<double>()(centred ? centre(coo<double>(a), on) : coo<double>(a), {}, "auto"),
           seen) {}
};

kit::traffic apply_cost(index_t degree, bool centred) {
  setting s(centred);
  const auto x = kit::random_vector<double>(s.a.shape.rows, 1);
  host_array<double> y(x.size());
  const host_array<double> c(degree + 1, 1.0);
  apply_in(s.space, as_cview(c), s.on, {s.op, {}, centred}, as_cview(x), as_view(y), 1);
  return s.seen;
}

TEST(chebyshev_operator_cost, a_degree_is_a_product_and_half_a_pass) {
  for (const bool centred : {false, true}) {
    const auto few = apply_cost(20, centred), more = apply_cost(40, centred);
    EXPECT_EQ(more.products - few.products, 20);
    EXPECT_EQ(more.sweeps - few.sweeps, 10);
    EXPECT_EQ(more.waits, 0);
    const double n = 12 * 12 * 12;
    setting s(centred);
    const symmetric_operator<double> a{s.op, {}, centred};
    // The counting operator does not count the y that a product updates.
    EXPECT_EQ((more.bytes - few.bytes) / 20 + 8 * n, bytes_per_degree(a));
    // A row of seven points: 104 bytes a bare product.
    EXPECT_NEAR(bytes_per_degree(a) / (104 * n), centred ? 128.0 / 104 : 132.0 / 104, 1e-3);
  }
}

TEST(chebyshev_operator_cost, two_moments_a_product_and_one_wait) {
  for (const bool centred : {false, true}) {
    const auto cost = [&](index_t count) {
      setting s(centred);
      moments_in(s.space, {s.op, {}, centred}, s.on, count, 1);
      return s.seen;
    };
    const auto few = cost(20), more = cost(60);
    EXPECT_EQ(more.products - few.products, 20);
    EXPECT_EQ(more.sweeps - few.sweeps, 20);
    EXPECT_EQ(more.waits, 1);
    const double n = 12 * 12 * 12;
    EXPECT_EQ((more.bytes - few.bytes) / 20, 104 * n + 4 + 8 * n * (centred ? 2 : 3));
  }
}

TEST(chebyshev_operator_cost, bounds_wait_once) {
  setting s(false);
  lanczos(s.space, s.op, 30, 6, 1);
  EXPECT_EQ(s.seen.products, 30);
  EXPECT_EQ(s.seen.waits, 1);
}

} // namespace
} // namespace furrow::chebyshev
