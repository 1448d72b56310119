// SPDX-License-Identifier: BSD-3-Clause
// Vector operations one at a time, and conjugate gradients made of them, on the GPU.
#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include "solve/random_b.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/stats.hpp>
#include <furrow/vector_operations.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

struct gpu_fill : on_gpu {};

template <class T> void expect_filled(T value) {
  for (const index_t n : {0, 1, 1000, 100003}) {
    const host_array<T> home(gpu_array<T>(n, value));
    ASSERT_EQ(home.size(), n);
    for (index_t i = 0; i < n; ++i) ASSERT_EQ(home[i], value) << i;
  }
}

TEST_F(gpu_fill, arrays_of_one_value_of_any_size) {
  expect_filled<char>('f');
  expect_filled<std::int16_t>(-2);
  expect_filled<float>(1.5f);
  expect_filled<std::int32_t>(-7);
  expect_filled<double>(-0.25);
  expect_filled<std::array<double, 2>>({1, 2});
  expect_filled<std::array<float, 3>>({1, 2, 3});
}

template <class V> struct gpu_operations : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_operations, precisions);

TYPED_TEST(gpu_operations, draw_the_right_hand_side_that_the_host_draws) {
  using V = TypeParam;
  for (const index_t n : {1, 1000, 3000001})
    for (const bool weighed : {false, true}) {
      host_array<V> m(weighed ? n : 0), b(n), y(n, V(7));
      for (index_t i = 0; i < m.size(); ++i) m[i] = V(1 + i % 1000);
      begin_at_random<V>(as_view(b), as_view(y), as_cview(m));
      const gpu_array<V> there_m(m);
      gpu_array<V> there_b(n), there_y(n, V(7));
      begin_at_random_on_gpu<V>(as_view(there_b), as_view(there_y), as_cview(there_m));
      const host_array<V> home_b(there_b), home_y(there_y);
      for (index_t i = 0; i < n; ++i) ASSERT_TRUE(home_b[i] == b[i] && home_y[i] == 0 && y[i] == 0) << i;
    }
}

TYPED_TEST(gpu_operations, give_what_they_give_on_the_host) {
  using V = TypeParam;
  for (const index_t n : {1, 33, 100000, 3000001}) {
    const auto x = kit::random_vector<V>(n, 1), y = kit::random_vector<V>(n, 2);
    gpu_array<V> gx(x), gy(y), sum(n);
    add<V>(gx, V(-0.5), gy, sum);
    const host_array<V> got(sum);
    double size = 0;
    for (index_t i = 0; i < n; ++i) {
      ASSERT_NEAR(got[i], x[i] - V(0.5) * y[i], 2 * std::numeric_limits<V>::epsilon()) << i;
      size += std::abs(double(x[i]) * double(y[i]));
    }
    EXPECT_NEAR(dot<V>(gx, gy), dot<V>(x, y), 1e-12 * size);
    EXPECT_EQ(dot<V>(gx, gy), dot<V>(gx, gy));
    EXPECT_EQ(norm2<V>(gx), std::sqrt(dot<V>(gx, gx)));
    add<V>(gx, V(-0.5), gy, gx); // in place
    EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(gx)), as_cview(got)));
  }
}

TYPED_TEST(gpu_operations, residual_is_b_minus_the_product) {
  using V = TypeParam;
  const auto wide = kit::laplacian(30, 20); // its entries are whole numbers
  const auto a = kit::as_precision<V>(wide);
  const auto op = make<V>(choose(measure(a), precision_of<V>, this->gpu, {"csr"}), this->gpu, a);
  const auto x = kit::random_vector<V>(600, 5), b = kit::random_vector<V>(600, 6);
  const gpu_array<V> gx(x), gb(b);
  gpu_array<V> r(600, std::numeric_limits<V>::quiet_NaN());
  residual<V>(*op, gb, gx, r);
  const host_array<V> got(r);
  const auto product = kit::times<V>(wide, x);
  for (index_t i = 0; i < 600; ++i) ASSERT_NEAR(got[i], b[i] - product[i], 40 * std::numeric_limits<V>::epsilon()) << i;
}

TYPED_TEST(gpu_operations, refuse_vectors_in_two_memories) {
  using V = TypeParam;
  host_array<V> home(10, V(1));
  gpu_array<V> there(10, V(1));
  EXPECT_NE(kit::said_by([&] { dot<V>(home, there); }).find("dot: "), std::string::npos);
  EXPECT_NE(kit::said_by([&] { add<V>(there, V(1), there, home); }).find("give both in one memory"), std::string::npos);
  const auto a = kit::as_precision<V>(kit::laplacian(10));
  const auto op = make<V>(choose(measure(a), precision_of<V>, this->gpu, {"csr"}), this->gpu, a);
  host_array<V> r(10);
  EXPECT_NE(kit::said_by([&] { residual<V>(*op, home, home, r); }).find("the matrix lies on a GPU"), std::string::npos);
}

struct gpu_cg_tutorial : on_gpu {};

TEST_F(gpu_cg_tutorial, takes_the_steps_of_cg_and_waits_three_times_in_each) {
  for (const char* spec : {"poisson2d:60", "poisson3d:20", "anisotropic2d:40:100"})
    for (const char* m : {"none", "jacobi"}) {
      const auto a = generate(spec).a;
      const auto b = kit::times(a, host_array<double>(a.shape.rows, 1.0));
      auto o = kit::options("cg", m);
      o.where = gpu;
      const auto usual = kit::solve_honestly<double>(a, b, o);
      o.solver = "cg_tutorial";
      const auto s = kit::solve_honestly<double>(a, b, o);
      EXPECT_EQ(s.report.why, status::converged) << spec << ", " << m << ": " << s.report.message;
      EXPECT_NEAR(double(s.report.iterations), double(usual.report.iterations), 1) << spec << ", " << m;
      EXPECT_GE(s.report.waits, 3 * s.report.iterations);
      EXPECT_LT(usual.report.waits, 100);
      const auto again = kit::solve_honestly<double>(a, b, o);
      EXPECT_TRUE(kit::same_bits(as_cview(s.x), as_cview(again.x))) << spec;
    }
}

} // namespace
} // namespace furrow
