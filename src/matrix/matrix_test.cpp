// SPDX-License-Identifier: BSD-3-Clause
#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/sanitized.hpp"

#include "core/look.hpp"
#include "core/measure.hpp"
#include "core/transpose.hpp"

#include <furrow/device.hpp>
#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/matrix.hpp>
#include <furrow/solver.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
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

TYPED_TEST(kept_matrix, takes_several_vectors_one_after_another) {
  using V = TypeParam;
  const matrix<V> m(kit::as_precision<V>(kit::laplacian(20, 10)), {.format = "ell"}); // multiplies no blocks
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

TEST(kept_matrix_without_rows, multiplies_any_number_of_vectors_at_once) {
  const matrix<double> a(coo<double>{});
  for (const storage_order order : {storage_order::col_major, storage_order::row_major}) {
    a.apply(1, {}, 0, {}, index_t(1) << 62, order); // in no time
    a.apply_transposed(1, {}, 0, {}, index_t(1) << 62, order);
  }
}

TEST(kept_matrix_that_was_moved, says_so) {
  matrix<double> from(kit::diagonal({1, 2}));
  const matrix<double> to = std::move(from);
  const host_array<double> x(2, 1.0);
  host_array<double> y(2, 0.0);
  const auto says = [](auto f) {
    kit::expect_refusal(fault::usage,
                        "this matrix is empty, it was moved to another one: use that, or copy in place of moving", f);
  };
  says([&] { from.apply(1, as_cview(x), 0, as_view(y)); });
  says([&] { from.apply_transposed(1, as_cview(x), 0, as_view(y)); });
  says([&] { from.shape(); });
  says([&] { from.chosen(); });
  says([&] { from.op(); });
  says([&] { from.to_triplets(); });
  says([&] { from.update_values(as_cview(x)); });
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

/// The arrays of a matrix as compressed rows.
template <class V> csr_arrays<V, std::int32_t> rows_of(const coo<V>& a, cview<V> values) {
  auto row_ptr = std::make_shared<std::vector<std::int32_t>>(static_cast<std::size_t>(a.shape.rows + 1), 0);
  for (const std::int32_t r : a.row) ++(*row_ptr)[static_cast<std::size_t>(r) + 1];
  std::partial_sum(row_ptr->begin(), row_ptr->end(), row_ptr->begin());
  return {a.shape, *row_ptr, as_cview(a.col), values, {}, row_ptr};
}

/// None is 0.
template <class V> host_array<V> other_values(index_t n, std::uint64_t seed) {
  auto v = kit::random_vector<V>(n, seed);
  for (V& value : v) value += value < V(0) ? V(-1) : V(1);
  return v;
}

template <class V> void expect_same(const matrix<V>& a, const matrix<V>& b) {
  const auto x = kit::random_vector<V>(a.shape().cols, 1), z = kit::random_vector<V>(a.shape().rows, 2);
  EXPECT_TRUE(same(as_cview(product(a, x)), as_cview(product(b, x))));
  host_array<V> u(a.shape().cols), w(a.shape().cols);
  a.apply_transposed(1, as_cview(z), 0, as_view(u));
  b.apply_transposed(1, as_cview(z), 0, as_view(w));
  EXPECT_TRUE(same(as_cview(u), as_cview(w)));
  EXPECT_EQ(a.facts().norm_inf, b.facts().norm_inf);
  EXPECT_EQ(a.facts().largest, b.facts().largest);
  EXPECT_EQ(a.facts().explicit_zeros, b.facts().explicit_zeros);
  EXPECT_EQ(a.facts().zero_diagonal, b.facts().zero_diagonal);
  EXPECT_EQ(a.facts().distinct_values, b.facts().distinct_values);
  const auto* const of_a = estimate_of(a.facts(), "stencil"); // depends on values, and is looked at again
  const auto* const of_b = estimate_of(b.facts(), "stencil");
  ASSERT_TRUE(of_a && of_b);
  EXPECT_EQ(*of_a, *of_b);
  EXPECT_EQ(a.facts().finite, b.facts().finite);
  EXPECT_EQ(name_of(a.chosen()), name_of(b.chosen()));
  EXPECT_EQ(a.chosen().kernel, b.chosen().kernel);
}

/// Whether the format takes A with these values: where it stores rows by their values, they have to be alike.
template <class V> bool takes(const format_entry& f, const coo<V>& a, cview<V> values) {
  coo<V> changed = a;
  std::ranges::copy(values, changed.val.begin());
  return f.lay_out(measure(changed), precision_of<V>, {}).refusal.empty();
}

TYPED_TEST(kept_matrix, with_new_values_is_a_new_matrix_in_every_format) {
  using V = TypeParam;
  int formats_taken = 0;
  for (const auto& [name, wide] : kit::battery()) {
    const auto a = kit::as_precision<V>(wide);
    const stats s = measure(a);
    for (const format_entry* f : formats()) {
      if (!f->lay_out(s, precision_of<V>, {}).refusal.empty()) continue;
      if (!takes(*f, a, as_cview(other_values<V>(a.nnz(), 1)))) continue;
      SCOPED_TRACE(std::string(name) + " in " + std::string(f->name));
      ++formats_taken;
      matrix<V> m(rows_of(a, as_cview(a.val)), {.format = std::string(f->name)});
      const auto x = kit::random_vector<V>(a.shape.cols, 1);
      const auto y = product(m, x);
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto values = other_values<V>(a.nnz(), seed);
        const matrix<V> old = m, fresh(rows_of(a, as_cview(values)), {.format = std::string(f->name)});
        const auto before = product(old, x);
        m.update_values(as_cview(values));
        expect_same(m, fresh);
        EXPECT_TRUE(same(as_cview(product(old, x)), as_cview(before)));
      }
      const auto values = other_values<V>(a.nnz(), 9);
      m.update_values(as_cview(values)); // nobody else uses it
      m.update_values(as_cview(a.val));
      EXPECT_TRUE(same(as_cview(product(m, x)), as_cview(y)));
    }
  }
  EXPECT_GT(formats_taken, 50);
}

TYPED_TEST(kept_matrix, takes_zeros_as_new_values_and_other_values_in_their_places) {
  using V = TypeParam;
  for (const auto& [name, wide] : kit::battery()) {
    const auto a = kit::as_precision<V>(wide);
    auto zeros = other_values<V>(a.nnz(), 1);
    for (index_t k = 0; k < a.nnz(); k += 3) zeros[k] = V(0);
    const auto x = kit::random_vector<V>(a.shape.cols, 1);
    const auto product_in = [&](std::string_view format, cview<V> first, cview<V> then) {
      matrix<V> m(rows_of(a, first), {.format = std::string(format)});
      m.update_values(then);
      return product(m, x);
    };
    for (const format_entry* f : formats()) {
      if (!takes(*f, a, as_cview(a.val)) || !takes(*f, a, as_cview(zeros))) continue;
      SCOPED_TRACE(std::string(name) + " in " + std::string(f->name));
      for (const auto& [first, then] :
           {std::pair{as_cview(a.val), as_cview(zeros)}, {as_cview(zeros), as_cview(a.val)}}) {
        const matrix<V> by_rows(rows_of(a, then), {.format = "csr"});
        const auto y = product_in(f->name, first, then), expected = product(by_rows, x);
        const stats& s = by_rows.facts();
        for (index_t i = 0; i < y.size(); ++i)
          ASSERT_NEAR(y[i], expected[i], std::numeric_limits<V>::epsilon() * double(s.row_max + 1) * s.norm_inf) << i;
      }
    }
  }
}

TYPED_TEST(kept_matrix, of_like_rows_takes_values_that_are_alike_and_says_so_of_others) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(30, 20));
  const auto x = kit::random_vector<V>(a.shape.cols, 1);
  host_array<V> doubled(a.val);
  for (V& v : doubled) v *= 2;
  const auto others = other_values<V>(a.nnz(), 1);

  matrix<V> named(rows_of(a, as_cview(a.val)), {.format = "stencil"});
  named.update_values(as_cview(doubled));
  expect_same(named, matrix<V>(rows_of(a, as_cview(doubled)), {.format = "stencil"}));
  EXPECT_THROW(named.update_values(as_cview(others)), error);
  expect_same(named, matrix<V>(rows_of(a, as_cview(doubled)), {.format = "stencil"})); // as it was

  matrix<V> any(rows_of(a, as_cview(a.val)), {.format = "auto"});
  any.update_values(as_cview(others));
  const auto y = product(any, x), expected = product(matrix<V>(rows_of(a, as_cview(others)), {.format = "csr"}), x);
  for (index_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(y[i], expected[i], 8 * std::numeric_limits<V>::epsilon() * any.facts().norm_inf) << i;
}

TYPED_TEST(kept_matrix, numbers_more_places_than_single_precision_counts) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(500, 450));
  ASSERT_GT(a.nnz(), 1 << 20);
  for (const char* format : {"csr", "sell", "dia"}) {
    SCOPED_TRACE(format);
    matrix<V> m(rows_of(a, as_cview(a.val)), {.format = format});
    const auto values = kit::random_vector<V>(a.nnz(), 4);
    m.update_values(as_cview(values));
    expect_same(m, matrix<V>(rows_of(a, as_cview(values)), {.format = format}));
  }
}

TEST(kept_matrix_of_rows, notices_that_its_rows_were_written_to) {
  const auto a = kit::laplacian(9);
  for (const char* format : {"csr", "packed", "stencil", "ell"}) {
    auto ends = std::make_shared<std::vector<std::int32_t>>();
    for (const std::int32_t p : rows_of(a, as_cview(a.val)).row_ptr) ends->push_back(p);
    matrix<double> m(csr_arrays<double, std::int32_t>{a.shape, *ends, as_cview(a.col), as_cview(a.val), {}, ends},
                     {.format = format});
    m.update_values(as_cview(a.val));
    (*ends)[4] += 1;
    EXPECT_THROW(m.update_values(as_cview(a.val)), error) << format;
    (*ends)[4] = 1 << 30;
    EXPECT_THROW(m.update_values(as_cview(a.val)), error) << format;
  }
}

TEST(kept_matrix_of_rows, says_of_new_values_that_they_are_not_finite) {
  const auto a = kit::laplacian(9);
  matrix<double> m(rows_of(a, as_cview(a.val)));
  host_array<double> values = a.val;
  values[3] = std::numeric_limits<double>::quiet_NaN();
  m.update_values(as_cview(values));
  EXPECT_FALSE(m.facts().finite);
  solve_options o;
  o.solver = "cg";
  const auto b = host_array<double>(9, 1.0);
  host_array<double> x(9, 0.0);
  EXPECT_EQ(solver<double>(m, o).solve(as_cview(b), as_view(x)).why, status::nan);
  m.update_values(as_cview(a.val));
  EXPECT_EQ(solver<double>(m, o).solve(as_cview(b), as_view(x)).why, status::converged);
}

TEST(kept_matrix_in_threads, serves_all_of_them_at_once) {
  for (const char* format : {"csr", "coo", "sell", "dia", "hyb", "ell", "packed", "stencil"}) {
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
  if (kit::sanitized()) GTEST_SKIP() << "the sanitizer's own locks stay locked in the child of a fork";
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
  const auto a = kit::as_precision<V>(kit::laplacian(150, 100)); // of fewer entries a solver looks for no format
  const matrix<V> m(a);
  solve_options o;
  o.rtol = sizeof(V) == 8 ? 1e-10 : 1e-4;
  solver<V> kept(m, o);
  const host_array<V> b(15000, V(1));
  host_array<V> x(15000, V(0)), y(15000, V(0));
  const auto report = kept.solve(as_cview(b), as_view(x));
  EXPECT_EQ(report.why, status::converged);
  EXPECT_EQ(report.format, name_of(m.chosen()));
  solve(a, as_cview(b), as_view(y), o);
  EXPECT_TRUE(same(as_cview(x), as_cview(y)));
}

/// Triplets, triplets with the lengths of their rows, and borrowed rows become the same arrays, and the same
/// statistics.
TEST(conversions, are_the_same_whoever_has_the_rows) {
  auto all = kit::whole_battery();
  for (const char* spec : {"poisson3d:30", "powerlaw:60000:6:2.2", "elasticity3d:8"})
    all.push_back({spec, generate(spec).a});
  for (const auto& m : all) {
    SCOPED_TRACE(m.name);
    host_array<std::int32_t> row_ptr(m.a.shape.rows + 1, 0);
    for (const std::int32_t r : m.a.row) ++row_ptr[r + 1];
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    const borrowed_rows<double> rows{m.a.shape, as_cview(row_ptr), as_cview(m.a.col), as_cview(m.a.val)};
    stats wanted = measure(m.a), found = *measure_sums_where_kept(rows);
    measure_for_formats(rows, found);
    EXPECT_EQ(found.norm_inf, wanted.norm_inf);
    EXPECT_EQ(found.diagonals, wanted.diagonals);
    EXPECT_EQ(found.zero_diagonal, wanted.zero_diagonal);
    EXPECT_EQ(found.lengths_fingerprint, wanted.lengths_fingerprint);
    EXPECT_EQ(found.blocks, wanted.blocks);
    EXPECT_EQ(found.near.by_slice, wanted.near.by_slice);
    ASSERT_EQ(found.estimates.size(), wanted.estimates.size());
    for (std::size_t k = 0; k < found.estimates.size(); ++k)
      EXPECT_EQ(found.estimates[k].number, wanted.estimates[k].number) << found.estimates[k].format;
    const auto x = kit::random_vector<double>(m.a.shape.cols, 3);
    for (const format_entry* f : formats()) {
      SCOPED_TRACE(std::string(f->name));
      if (!f->lay_out(wanted, precision::f64, {}).refusal.empty()) continue;
      const auto like = f->cpu.make<double>()(m.a, {}, "auto");
      host_array<double> y(m.a.shape.rows), z(m.a.shape.rows);
      like->apply(1, as_cview(x), 0, as_view(y));
      const auto compare = [&](const any_operator<double>& made) {
        EXPECT_EQ(made.stored_bytes(), like->stored_bytes());
        made.apply(1, as_cview(x), 0, as_view(z));
        EXPECT_TRUE(kit::same_bits(as_cview(y), as_cview(z)));
      };
      if (const auto make = f->cpu.measured<double>())
        compare(*make({coo<double>(m.a), as_cview(wanted.row_length)}, {}, "auto"));
      if (const auto copy = f->cpu.copy<double>()) compare(*copy(rows, {}, "auto"));
    }
  }
}

} // namespace
} // namespace furrow
