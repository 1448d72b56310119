// SPDX-License-Identifier: BSD-3-Clause
// The library as somebody else's program calls it, rightly and wrongly, thousands of times at random.
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/furrow.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

/// A symmetric positive definite matrix as finite elements list it: in no order, places coming again and again.
struct listed {
  index_t n = 0;
  std::vector<std::int64_t> row, col;
  std::vector<double> val;

  void add(index_t i, index_t j, double v) { row.push_back(i), col.push_back(j), val.push_back(v); }
  coo<double> assembled() const { return assemble({n, n}, row, col, val); }
};

listed random_list(kit::splitmix& random) {
  listed a;
  a.n = 1 + random.below(12);
  for (index_t i = 0; i < a.n; ++i) a.add(i, i, 0.1 + random.unit());
  for (index_t k = random.below(5 * a.n); k > 0; --k) { // an edge of weight w: w on the diagonal, -w beside it
    const index_t i = random.below(a.n), j = random.below(a.n);
    const double w = random.unit();
    if (i == j) continue;
    a.add(i, i, w), a.add(j, j, w), a.add(i, j, -w), a.add(j, i, -w);
  }
  for (std::size_t k = a.row.size() - 1; k > 0; --k) {
    const auto other = static_cast<std::size_t>(random.below(static_cast<index_t>(k) + 1));
    std::swap(a.row[k], a.row[other]), std::swap(a.col[k], a.col[other]), std::swap(a.val[k], a.val[other]);
  }
  return a;
}

/// A x by the list as it stands, and the same of absolute values.
struct product {
  std::vector<long double> value, size;
};
product times(const listed& a, const std::vector<double>& x) {
  product y{std::vector<long double>(x.size()), std::vector<long double>(x.size())};
  for (std::size_t k = 0; k < a.row.size(); ++k) {
    const auto i = static_cast<std::size_t>(a.row[k]), j = static_cast<std::size_t>(a.col[k]);
    const long double term = static_cast<long double>(a.val[k]) * x[j];
    y.value[i] += term;
    y.size[i] += std::fabs(term);
  }
  return y;
}

std::vector<double> random_values(index_t n, kit::splitmix& random) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double& v : x) v = random.value();
  return x;
}

choice any_choice(kit::splitmix& random) {
  const auto all = formats();
  return {all[static_cast<std::size_t>(random.below(static_cast<index_t>(all.size())))], {}, "auto", {}};
}

TEST(border, random_lists_give_the_products_and_the_answers_of_the_dense_matrix) {
  kit::splitmix random(1);
  for (int trial = 0; trial < 1500; ++trial) {
    SCOPED_TRACE(trial);
    const listed list = random_list(random);
    const coo<double> a = list.assembled();
    ASSERT_EQ(kit::violation(a), "");

    const auto x = random_values(list.n, random);
    std::vector<double> y(x.size(), std::numeric_limits<double>::quiet_NaN());
    const choice c = any_choice(random);
    const auto op = make<double>(c, {}, coo<double>(a));
    op->apply(1, x, 0, y);
    const product exact = times(list, x);
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_LE(std::fabs(y[i] - exact.value[i]), 0x1p-52L * 70 * exact.size[i]) << c.format->name << ", row " << i;

    std::vector<double> answer(x.size(), 0.0);
    solve_options o;
    if (c.format->lay_out(measure(a), precision::f64, {}).refusal.empty()) o.format = c.format->name;
    o.rtol = 1e-12;
    const auto report = solve<double>(coo<double>(a), y, answer, o);
    ASSERT_EQ(report.why, status::converged) << report.message;
    const product back = times(list, answer);
    long double residual = 0, norm = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      residual += (y[i] - back.value[i]) * (y[i] - back.value[i]);
      norm += static_cast<long double>(y[i]) * y[i];
    }
    ASSERT_LE(std::sqrt(residual), 1.1e-12L * std::sqrt(norm) + 0x1p-46L);
  }
}

/// One thing wrong with a matrix, or nothing that matters.
void spoil(coo<double>& a, kit::splitmix& random) {
  const auto any = [&] { return random.below(a.nnz()); };
  const auto index = [&] { // mostly near the edges of what is allowed
    constexpr std::int64_t far[] = {-1, 1 << 28, -(1 << 28), 2147483647, -2147483647 - 1};
    const index_t kind = random.below(9);
    return static_cast<std::int32_t>(kind < 5 ? far[kind] : random.below(a.shape.rows + 2) - 1);
  };
  switch (random.below(6)) {
  case 0:
    a.row[any()] = index();
    break;
  case 1:
    a.col[any()] = index();
    break;
  case 2: {
    const index_t k = any(), other = any();
    std::swap(a.row[k], a.row[other]), std::swap(a.col[k], a.col[other]);
    break;
  }
  case 3: {
    const index_t k = any(), other = any();
    a.row[k] = a.row[other], a.col[k] = a.col[other];
    break;
  }
  case 4: {
    auto* const array = random.below(2) ? &a.row : &a.col;
    array->resize(random.below(a.nnz() + 1));
    break;
  }
  default:
    a.shape.rows = a.shape.cols = random.below(2) ? random.below(a.shape.rows) : (index_t(1) << 31) + random.below(9);
  }
}

/// Whether `call` refuses the matrix, with a sentence.
template <class F> bool refuses(F&& call) {
  try {
    call();
    return false;
  } catch (const error& e) {
    EXPECT_EQ(e.kind, fault::input) << e.what();
    EXPECT_GT(std::string(e.what()).size(), 20u);
    EXPECT_EQ(std::string(e.what()).find(".cpp"), std::string::npos) << e.what();
    return true;
  }
}

TEST(border, spoiled_matrices_are_refused_and_nothing_else_is) {
  kit::splitmix random(2);
  int bad = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    SCOPED_TRACE(trial);
    coo<double> a = random_list(random).assembled();
    const index_t n = a.shape.rows;
    spoil(a, random);
    const bool wrong = a.shape.rows > 2147483647 || !kit::violation(a).empty();
    bad += wrong;
    const choice c = any_choice(random);
    ASSERT_EQ(refuses([&] { make<double>(c, {}, coo<double>(a)); }), wrong);
    ASSERT_EQ(refuses([&] { measure(a); }), wrong);
    ASSERT_EQ(refuses([&] { convert_values<float>(coo<double>(a)); }), wrong);
    if (!wrong) continue; // what is left is a matrix, though perhaps no symmetric one
    std::vector<double> b(static_cast<std::size_t>(n), 1.0), x(b.size(), 0.5);
    ASSERT_TRUE(refuses([&] { solve<double>(coo<double>(a), b, x, {}); }));
    ASSERT_TRUE(std::ranges::all_of(x, [](double v) { return v == 0.5; })) << "x was written";
  }
  EXPECT_GT(bad, 2500);
}

TEST(border, spoiled_lists_are_refused_and_nothing_else_is) {
  kit::splitmix random(3);
  for (int trial = 0; trial < 4000; ++trial) {
    SCOPED_TRACE(trial);
    listed a = random_list(random);
    const auto k = static_cast<std::size_t>(random.below(static_cast<index_t>(a.row.size())));
    const bool wide = random.below(2);
    const std::int64_t index = wide ? static_cast<std::int64_t>(random.next()) : random.below(2 * a.n) - a.n / 2;
    (random.below(2) ? a.row : a.col)[k] = index;
    if (random.below(5) == 0) a.val.pop_back();
    const bool wrong = index < 0 || index >= a.n || a.val.size() != a.row.size();
    ASSERT_EQ(refuses([&] { a.assembled(); }), wrong) << index;
  }
}

TEST(border, choices_and_statistics_that_make_no_sense) {
  const auto a = kit::laplacian(4);
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
      return "accepted";
    } catch (const error& e) {
      return (e.kind == fault::usage ? "usage: " : "other: ") + std::string(e.what());
    }
  };
  const auto made = [&](const choice& c) { make<double>(c, {}, coo<double>(a)); };
  EXPECT_EQ(message([&] { made({}); }), "usage: the choice names no format: let choose make one");
  EXPECT_EQ(message([&] { name_of(choice{}); }), "usage: the choice names no format: let choose make one");
  const auto kernel = message([&] { made({&find_format("ell"), {}, "no-such-kernel", {}}); });
  EXPECT_EQ(kernel.find("usage: format ell has no kernel 'no-such-kernel' on the CPU"), 0u) << kernel;
  const auto grid = measure(generate("poisson2d:12").a);
  const auto blocks = message([&] { choose(grid, precision::f64, {}, {.kernel = "blocks"}); });
  EXPECT_EQ(blocks.find("other: the kernel 'blocks' is one of a format that refuses: bcsr: "), 0u) << blocks;
  for (const format_entry* f : formats()) {
    const auto parameters = message([&] { made({f, "no:sense", "auto", {}}); });
    EXPECT_EQ(parameters.find("usage: "), 0u) << f->name << ": " << parameters;
  }
  stats s = measure(a);
  s.row_length.resize(2);
  const auto lengths = message([&] { choose(s, precision::f64, {}); });
  EXPECT_EQ(lengths.find("usage: the statistics hold 10 entries and the lengths of 2 rows for a matrix of 4"), 0u);
  s = measure(kit::laplacian(5));
  EXPECT_EQ(message([&] { tune(a, s, {}); }).find("usage: the statistics are of a matrix of 5 x 5 with 13 entries"),
            0u);
  s.shape.rows = -1;
  EXPECT_EQ(message([&] { shortlist(s, precision::f64, {}); }).find("usage: the matrix is -1 x 5"), 0u);
}

} // namespace
} // namespace furrow
