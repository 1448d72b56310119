// SPDX-License-Identifier: BSD-3-Clause
#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include "core/transpose.hpp"

#include <furrow/device.hpp>
#include <furrow/matrix.hpp>
#include <furrow/solver.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

namespace furrow {
namespace {

template <class V> bool same(cview<V> a, cview<V> b) { return kit::same_bits<V>(a, b); }

template <class V> host_array<V> product(const matrix<V>& a, const host_array<V>& x) {
  host_array<V> y(a.shape().rows);
  a.apply(1, as_cview(x), 0, as_view(y));
  return y;
}

template <class V> struct kept_matrix : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(kept_matrix, precisions);

TYPED_TEST(kept_matrix, multiplies_as_the_operator_of_its_choice) {
  using V = TypeParam;
  for (const auto& [name, wide] : kit::battery()) {
    SCOPED_TRACE(name);
    const auto a = kit::as_precision<V>(wide);
    const matrix<V> m(a);
    EXPECT_EQ(m.shape(), a.shape);
    EXPECT_EQ(m.nnz(), a.nnz());
    const auto x = kit::random_vector<V>(a.shape.cols, 1);
    host_array<V> y(a.shape.rows);
    make<V>(m.chosen(), {}, a)->apply(1, as_cview(x), 0, as_view(y));
    EXPECT_TRUE(same(as_cview(product(m, x)), as_cview(y)));
  }
}

TYPED_TEST(kept_matrix, multiplies_by_its_transpose) {
  using V = TypeParam;
  for (const auto& [name, wide] : kit::battery()) {
    SCOPED_TRACE(name);
    const auto a = kit::as_precision<V>(wide);
    const matrix<V> m(a), t(transposed(a));
    const auto x = kit::random_vector<V>(a.shape.rows, 1);
    host_array<V> y(a.shape.cols);
    m.apply_transposed(1, as_cview(x), 0, as_view(y));
    EXPECT_TRUE(same(as_cview(product(t, x)), as_cview(y)));
  }
}

TYPED_TEST(kept_matrix, takes_several_vectors_at_once) {
  using V = TypeParam;
  const matrix<V> m(kit::as_precision<V>(kit::laplacian(20, 10)));
  const auto x = kit::random_vector<V>(600, 1);
  host_array<V> y(600, V(1));
  m.apply(2, as_cview(x), 3, as_view(y), 3);
  for (index_t k = 0; k < 3; ++k) {
    host_array<V> column(200, V(1));
    m.apply(2, part<const V>(as_cview(x), 200 * k, 200), 3, as_view(column));
    EXPECT_TRUE(same(as_cview(column), cview<V>(part(as_view(y), 200 * k, 200))));
  }
  EXPECT_THROW(m.apply(1, as_cview(x), 0, as_view(y), 2), error);
}

TEST(kept_matrix_of_rows, takes_new_values) {
  auto arrays = std::make_shared<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>>();
  arrays->first = {0, 3, 4};
  arrays->second = {1, 0, 1, 1}; // row 0 is not sorted, and one place comes twice
  const std::vector<double> first{1, 2, 3, 4}, second{5, 6, 7, 8};
  matrix<double> m(csr_arrays<double, std::int32_t>{{2, 2}, arrays->first, arrays->second, first, {}, arrays});
  const host_array<double> x{1, 10};
  const matrix<double> old = m;
  m.update_values(second);
  EXPECT_EQ(product(m, x)[0], 6 + 10 * 12);
  EXPECT_EQ(product(m, x)[1], 80);
  EXPECT_EQ(product(old, x)[0], 2 + 10 * 4);
  EXPECT_THROW(m.update_values(std::vector<double>{1, 2}), error);
  matrix<double> without(kit::laplacian(3));
  EXPECT_THROW(without.update_values(std::vector<double>(7)), error);
}

TEST(kept_matrix_in_threads, serves_all_of_them_at_once) {
  for (const char* format : {"csr", "coo", "sell", "dia", "hyb", "ell", "packed"}) {
    SCOPED_TRACE(format);
    const matrix<double> m(kit::laplacian(60, 50), {.format = format});
    const auto x = kit::random_vector<double>(3000, 1);
    const auto y = product(m, x);
    double xy = 0;
    host_array<double> z(3000);
    m.op()->apply_dot(as_cview(x), as_view(z), {&xy});
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int k = 0; k < 200; ++k) {
          host_array<double> own(3000);
          double dot = 0;
          m.op()->apply_dot(as_cview(x), as_view(own), {&dot});
          if (dot != xy || !same(as_cview(own), as_cview(y))) ++wrong;
        }
      });
    for (auto& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(kept_matrix_in_threads, shares_long_rows_too) {
  const index_t n = 50000;
  coo<double> a{{2, n}, host_array<std::int32_t>(2 * n), host_array<std::int32_t>(2 * n), host_array<double>(2 * n, 1)};
  for (index_t k = 0; k < 2 * n; ++k) a.row[k] = k < n ? 0 : 1, a.col[k] = static_cast<std::int32_t>(k % n);
  const matrix<double> m(a, {.format = "csr", .kernel = "merge"});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      const host_array<double> x(n, double(t));
      for (int k = 0; k < 200; ++k)
        if (product(m, x)[1] != double(t * n)) ++wrong;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(kept_matrix_after_a_fork, multiplies_in_the_child_with_as_many_threads) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer's own locks stay locked in the child of a fork";
#endif
  const matrix<double> m(kit::laplacian(60, 50));
  const auto x = kit::random_vector<double>(3000, 1);
  const auto y = product(m, x);
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) product(m, x);
  });
  for (int k = 0; k < 30; ++k) {
    const int before = threads();
    const pid_t child = fork();
    if (child == 0) { // nothing of GoogleTest here
      alarm(60);
      const matrix<double> own(kit::laplacian(60, 50));
      _exit(threads() == before && same(as_cview(product(m, x)), as_cview(y)) &&
                    same(as_cview(product(own, x)), as_cview(y))
                ? 0
                : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "fork " << k << ": " << status;
  }
  stop = true;
  busy.join();
}

TYPED_TEST(kept_matrix, serves_a_solver) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(30, 20));
  const matrix<V> m(a);
  solve_options o;
  o.rtol = sizeof(V) == 8 ? 1e-10 : 1e-4;
  solver<V> kept(m, o);
  const host_array<V> b(600, V(1));
  host_array<V> x(600, V(0)), y(600, V(0));
  const auto report = kept.solve(as_cview(b), as_view(x));
  EXPECT_EQ(report.why, status::converged);
  EXPECT_EQ(report.format, name_of(m.chosen()));
  solve(a, as_cview(b), as_view(y), o);
  EXPECT_TRUE(same(as_cview(x), as_cview(y)));
}

} // namespace
} // namespace furrow
