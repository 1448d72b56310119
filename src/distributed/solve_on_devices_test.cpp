// SPDX-License-Identifier: BSD-3-Clause
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include "core/row_offsets.hpp"

#include <furrow/generate.hpp>
#include <furrow/solve_on_devices.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace furrow {
namespace {

/// Rows of which the arrays are those of the test.
template <class V, class I> struct rows_of_caller {
  shape2 shape;
  host_array<I> row_ptr, col;
  host_array<V> val;

  explicit rows_of_caller(const coo<double>& a)
      : shape(a.shape), row_ptr(offsets_of_rows<I>(a.row, a.shape.rows)), col(a.nnz()), val(a.nnz()) {
    std::copy(a.col.begin(), a.col.end(), col.begin());
    std::transform(a.val.begin(), a.val.end(), val.begin(), [](double v) { return static_cast<V>(v); });
  }
  csr_arrays<V, I> arrays() const { return {shape, as_cview(row_ptr), as_cview(col), as_cview(val)}; }
};

std::vector<device> processors(int count) { return std::vector<device>(static_cast<std::size_t>(count)); }

solve_options with(const char* solver, double rtol) {
  solve_options o;
  o.solver = solver, o.precond = "jacobi", o.rtol = rtol;
  return o;
}

template <class V, class I> void check_bits(const char* spec, const char* solver, double rtol) {
  const auto a = generate(spec).a;
  const rows_of_caller<V, I> rows(a);
  const auto b = kit::random_vector<V>(a.shape.rows, 5);
  for (const int ranks : kit::numbers_of_ranks) {
    host_array<V> x(a.shape.rows, V(0));
    const auto said = solve_on_devices(processors(ranks), rows.arrays(), as_cview(b), as_view(x), with(solver, rtol));
    const auto whole = kit::solve_on_ranks<V>(ranks, a, b, with(solver, rtol));
    EXPECT_EQ(said.report.why, status::converged) << said.report.message;
    EXPECT_TRUE(kit::same_bits(x, whole.x)) << spec << " on " << ranks;
    EXPECT_EQ(said.partition, "rows");
    ASSERT_EQ(said.parts.size(), whole.on.parts.size());
    for (std::size_t r = 0; r < said.parts.size(); ++r) EXPECT_EQ(said.parts[r].rows, whole.on.parts[r].rows);
    EXPECT_EQ(said.cut(), whole.on.cut());
  }
}

TEST(solve_on_devices, has_the_bits_of_ranks_that_are_sent_their_rows) {
  check_bits<double, std::int32_t>("poisson2d:30", "cg", 1e-9);
  check_bits<double, std::int64_t>("convection2d:30:10", "bicgstab", 1e-9);
  check_bits<float, std::int32_t>("poisson2d:30", "cg", 1e-4);
  check_bits<float, std::int64_t>("poisson2d:1", "cg", 1e-4);
}

TEST(solve_on_devices, puts_rows_in_order_and_begins_with_x) {
  const auto a = generate("poisson2d:20").a;
  rows_of_caller<double, std::int32_t> rows(a);
  for (index_t i = 0; i < a.shape.rows; ++i) {
    std::reverse(rows.col.data() + rows.row_ptr[i], rows.col.data() + rows.row_ptr[i + 1]);
    std::reverse(rows.val.data() + rows.row_ptr[i], rows.val.data() + rows.row_ptr[i + 1]);
  }
  const host_array<double> ones(a.shape.rows, 1.0);
  const auto b = kit::times<double>(a, ones);
  host_array<double> x = ones;
  const auto said = solve_on_devices(processors(3), rows.arrays(), as_cview(b), as_view(x), with("cg", 1e-9));
  EXPECT_EQ(said.report.why, status::converged) << said.report.message;
  EXPECT_EQ(said.report.iterations, 0);
  EXPECT_TRUE(kit::same_bits(x, ones));
}

TEST(solve_on_devices, names_what_is_wrong_by_the_places_of_the_caller) {
  const auto a = kit::laplacian(10);
  const rows_of_caller<double, std::int32_t> good(a);
  host_array<double> b(10, 1.0), x(10, 0.0);
  const auto says = [&](const rows_of_caller<double, std::int32_t>& rows, view<double> to) {
    return kit::said_by([&] { solve_on_devices(processors(2), rows.arrays(), as_cview(b), to, with("cg", 1e-9)); });
  };
  auto outside = good, falling = good, narrow = good;
  outside.col[25] = 99, falling.row_ptr[8] = 3, narrow.shape.cols = 11;
  EXPECT_EQ(says(outside, as_view(x)),
            "entry 25, in row 8, is in column 99 of a matrix of 10 x 10: indices count from 0");
  EXPECT_EQ(says(falling, as_view(x)), "row_ptr[8] = 3 is less than row_ptr[7] = 20: offsets do not decrease");
  EXPECT_EQ(says(narrow, as_view(x)), "the matrix is 10 x 11: ranks of one process solve square systems");
  EXPECT_EQ(says(good, view<double>(x.data(), 9)),
            "b has 10 elements and x 9 for a matrix of 10 rows: give one for each");
  auto o = with("cg", 1e-9);
  o.tune = true;
  EXPECT_EQ(kit::said_by([&] { solve_on_devices(processors(2), good.arrays(), as_cview(b), as_view(x), o); }),
            "formats are not measured on ranks: leave tune out, or name one");
}

TEST(solve_on_devices, calls_the_caller_on_its_own_thread) {
  const auto a = generate("poisson2d:40").a;
  const rows_of_caller<double, std::int32_t> rows(a);
  const host_array<double> b(a.shape.rows, 1.0);
  host_array<double> x(a.shape.rows, 0.0);
  const auto caller = std::this_thread::get_id();
  auto o = with("cg", 1e-9);
  int asked = 0;
  o.watch = [&](const progress&) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return ++asked < 3;
  };
  o.monitor = [&](const progress&, cview<double> whole) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(whole.size, a.shape.rows);
    return true;
  };
  const auto said = solve_on_devices(processors(3), rows.arrays(), as_cview(b), as_view(x), o);
  EXPECT_EQ(said.report.why, status::interrupted);
  o.cancelled = [&] { return true; };
  EXPECT_EQ(solve_on_devices(processors(3), rows.arrays(), as_cview(b), as_view(x), o).report.message,
            "interrupted while it was set up");
}

} // namespace
} // namespace furrow
