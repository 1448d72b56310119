// SPDX-License-Identifier: BSD-3-Clause
#include "random_b.hpp"
#include "second_start.hpp"
#include "solve_test_kit.hpp"

#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace furrow {
namespace {

using namespace solve_test;

solve_report answer_after(index_t iterations) {
  solve_report r;
  r.solver = "bicgstab", r.iterations = iterations, r.relative_residual = 1e-8;
  return r;
}

/// A method for a diagonal matrix and x = ones, which takes ten iterations a digit and leaves in each element the
/// residual that it was allowed: |y - x| = rtol / a_ii at most.
struct made_up_method {
  std::vector<double> diagonal;
  std::vector<index_t> taken{};

  solve_from<double> from(double last_digits = 16) {
    return [this, last_digits](view<double> y, double rtol, index_t most) {
      const double reached = std::max({rtol, std::pow(10, -double(most) / 10), std::pow(10, -last_digits)});
      for (index_t i = 0; i < y.size; ++i) {
        const double far = reached / diagonal[std::size_t(i)];
        y[i] = 1 + std::clamp(y[i] - 1, -far, far);
      }
      solve_report r = answer_after(std::min(most, index_t(std::ceil(-10 * std::log10(reached)))));
      r.relative_residual = reached;
      taken.push_back(r.iterations);
      return r;
    };
  }
};

TEST(second_start, ends_early_where_it_finds_back) {
  made_up_method m{std::vector<double>(50, 1.0)};
  const auto x = ones(50);
  const auto error = error_by_second_start(as_cview(x), answer_after(80), 1e-8, m.from());
  ASSERT_TRUE(error);
  EXPECT_NEAR(*error, 1e-8, 1e-12);
  EXPECT_EQ(m.taken, std::vector<index_t>{40});
}

TEST(second_start, asks_for_no_goal_of_1_however_large_the_residual_is) {
  double residual = 1e4; // of rows of very different sizes
  const solve_from<double> slow = [&](view<double>, double rtol, index_t most) {
    EXPECT_LT(rtol, 1);
    solve_report r = answer_after(most);
    r.relative_residual = std::exchange(residual, residual / 1e3);
    return r;
  };
  const auto x = ones(50);
  error_by_second_start<double>(as_cview(x), answer_after(20), 1e-8, slow);
  EXPECT_LT(residual, 1e3); // it was asked twice
}

TEST(second_start, finds_a_direction_that_no_residual_shows) {
  made_up_method m{std::vector<double>(50, 1.0)};
  m.diagonal[7] = 1e-12;
  const auto x = ones(50);
  const auto error = error_by_second_start(as_cview(x), answer_after(80), 1e-8, m.from());
  ASSERT_TRUE(error);
  EXPECT_GE(*error, 0.49); // all of the step
  EXPECT_LE(*error, 1.51);
  EXPECT_EQ(m.taken.size(), 2u); // two digits that change nothing are enough
  solve_report report = answer_after(80);
  put_apart(report, 0.5);
  EXPECT_EQ(report.error_estimate, 0.5);
  EXPECT_TRUE(mentions(report.warning, "off by 50 %")) << report.warning;
  put_apart(report, 1.5);
  EXPECT_TRUE(mentions(report.warning, "as much as it is large")) << report.warning;
  put_apart(report, 0.006); // y is one draw
  EXPECT_TRUE(mentions(report.warning, "may be off by 1 %")) << report.warning;
  put_apart(report, 0.003);
  EXPECT_EQ(report.warning, "");
}

TEST(second_start, tells_an_error_of_percents_from_one_that_goes_on_falling) {
  for (const double error_at_goal : {1e-6, 3e-5, 0.03}) {
    made_up_method m{std::vector<double>(50, 1.0)};
    m.diagonal[7] = 1e-8 / error_at_goal;
    const auto x = ones(50);
    const auto error = error_by_second_start(as_cview(x), answer_after(80), 1e-8, m.from());
    ASSERT_TRUE(error);
    EXPECT_EQ(*error > 0.01, error_at_goal > 0.01) << *error;
    EXPECT_GT(*error, 0.3 * error_at_goal);
    EXPECT_LT(*error, 300 * error_at_goal); // promised by a power, or computed
  }
}

TEST(second_start, grows_what_is_left_of_the_step) {
  made_up_method m{std::vector<double>(50, 1.0)};
  const auto x = ones(50);
  const auto with_the_last = [&](double apart) {
    int calls = 0;
    const solve_from<double> shrinking = [&](view<double> y, double rtol, index_t most) {
      const solve_report r = m.from()(y, rtol, most);
      y[7] = 1 + (++calls < 4 ? 0.003 : apart); // as of a direction that random signs hide
      return r;
    };
    return error_by_second_start<double>(as_cview(x), answer_after(80), 1e-8, shrinking);
  };
  EXPECT_NEAR(with_the_last(0.9).value(), 0.9, 1e-14);
  EXPECT_NEAR(with_the_last(0.02).value(), 0.003, 1e-14); // it falls again: conditions are bad, and no worse than said
}

TEST(second_start, knows_nothing_without_residuals_and_takes_four_times_as_many_iterations_at_most) {
  made_up_method m{std::vector<double>(50, 1e-12)};
  const auto x = ones(50);
  EXPECT_FALSE(error_by_second_start(as_cview(x), answer_after(20), 1e-8, m.from(1))); // it gets stuck at 0.1
  index_t all = 0;
  for (const index_t k : m.taken) all += k;
  EXPECT_LE(all, 4 * 20);
  m.taken.clear();
  const host_array<double> zero(50, 0.0);
  EXPECT_FALSE(error_by_second_start(as_cview(zero), answer_after(20), 1e-8, m.from()));
  EXPECT_TRUE(m.taken.empty());
}

TEST(second_start, knows_nothing_where_the_method_strays_but_how_far) {
  double residual = 1e4, far = 1e9; // of a matrix far from normal: the residual falls, and y is nowhere near x
  const solve_from<double> straying = [&](view<double> y, double, index_t) {
    std::fill(y.begin(), y.end(), far *= 1e-3);
    solve_report r = answer_after(10);
    r.relative_residual = residual *= 1e-3;
    return r;
  };
  const auto x = ones(50);
  double strays = 0;
  EXPECT_FALSE(error_by_second_start<double>(as_cview(x), answer_after(20), 1e-8, straying, {}, &strays));
  EXPECT_NEAR(strays, 1e6 * 1e-8 / 10, 1e-5 * strays);
  solve_report report = answer_after(20);
  report.error_estimate = 1e-13;
  put_straying(report, 0.001);
  EXPECT_EQ(report.error_estimate, 0);
  EXPECT_TRUE(mentions(report.warning, "nobody knows how far x is off")) << report.warning;
  put_straying(report, 0.09);
  EXPECT_EQ(report.error_estimate, 0.09);
  EXPECT_TRUE(mentions(report.warning, "off by 9 % and more")) << report.warning;
}

TEST(second_start, tells_of_answers_of_like_reach_and_is_asked_again_for_others) {
  second_starts told;
  int asked = 0;
  std::optional<double> next = 1e-6;
  const auto start = [&] { return ++asked, next; };
  const auto none = [] { return std::optional<double>(); };
  EXPECT_FALSE(told.error_of(1, 1, none));
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(told.error_of(1e8, 0.5, start), 1e-6);
  EXPECT_NEAR(told.error_of(1e8, 0.5, start).value(), 1e-6, 1e-15); // the same answer
  EXPECT_NEAR(told.error_of(5e7, 1, start).value(), 4e-6, 1e-15);   // half as large beside b, and at the goal
  EXPECT_NEAR(told.error_of(1e6, 1, start).value(), 2e-4, 1e-13);   // small enough
  EXPECT_EQ(asked, 1);
  next = 0.8;
  EXPECT_EQ(told.error_of(1e3, 1, start), 0.8); // 20 % for a sample of 1e-6 is a guess
  EXPECT_EQ(asked, 2);
  EXPECT_NEAR(told.error_of(2e3, 1, start).value(), 0.8, 1e-14); // all of the step was left: it may be any number above
  EXPECT_EQ(asked, 2);
  next.reset();
  EXPECT_GT(told.error_of(10, 1, start).value(), 1); // nothing new: rather too large than too small
  next = 0.5;
  for (double reach = 1; reach > 1e-20; reach /= 10) EXPECT_TRUE(told.error_of(reach, 1, start));
  EXPECT_LE(asked, 10);
}

/// As of a b that is an eigenvector, and of which the first start comes to the goal in more steps than x took.
TEST(second_start, of_an_answer_far_below_the_goal_tells_what_is_left_there) {
  made_up_method m{std::vector<double>(50, 1.0)};
  m.diagonal[7] = 1e-2;
  solve_report answer = answer_after(80);
  answer.relative_residual = 1e-15;
  const auto x = ones(50);
  second_starts told;
  const auto error_of = [&](double residual) {
    return told.error_of(1, residual / 1e-8,
                         [&] { return error_by_second_start(as_cview(x), answer, 1e-8, m.from()); });
  };
  EXPECT_LT(error_of(1e-15).value(), 1e-12);
  EXPECT_LT(error_of(1e-15).value(), 1e-12) << "the same answer once more";
  EXPECT_LT(error_of(1e-8).value(), 1e-4) << "another one, at the goal";
  EXPECT_EQ(m.taken.size(), 2u);
}

/// Eigenvalues from 1 to 100, b of all of them; and behind them some of which b holds nothing.
struct seen_in_part {
  std::vector<double> values;
  host_array<double> b;
  index_t taken = 0;

  explicit seen_in_part(const std::vector<double>& hidden, index_t seen = 4000) {
    for (index_t i = 0; i < seen; ++i) values.push_back(std::pow(100, double(i) / double(seen - 1)));
    values.insert(values.end(), hidden.begin(), hidden.end());
    b = host_array<double>(index_t(values.size()), 1.0);
    std::fill(b.begin() + seen, b.end(), 0.0);
  }
  solve_report solve(cview<double> of, view<double> y, double rtol, index_t most) const {
    solve_options o;
    o.solver = "cg", o.precond = "none", o.rtol = rtol, o.max_iterations = most;
    return furrow::solve(kit::diagonal(values), of, y, o);
  }
  solve_report answer() const {
    host_array<double> x(b.size(), 0.0);
    return solve(as_cview(b), as_view(x), 1e-8, 1000);
  }
  shown_at_random shown{};

  std::optional<double> look(const solve_report& of, cview<double> m = {}, double scales = 1) {
    features f;
    f.rows = b.size(), f.scales = scales;
    return error_by_random_b(shown, of, f, !m.empty(), [&](double rtol, index_t most) {
      host_array<double> random(b.size()), y(b.size());
      begin_at_random<double>(as_view(random), as_view(y), m);
      const auto r = solve(as_cview(random), as_view(y), rtol, most);
      taken += r.iterations;
      return r;
    });
  }
};

TEST(random_b, believes_an_answer_that_has_seen_all_for_fewer_steps_than_it_took) {
  seen_in_part s({});
  const auto answer = s.answer();
  const auto error = s.look(answer);
  ASSERT_TRUE(error);
  EXPECT_GE(*error, answer.error_estimate);
  EXPECT_LT(*error, 2 * answer.error_estimate);
  EXPECT_LT(s.taken, 0.8 * double(answer.iterations));
}

TEST(random_b, shows_a_single_small_eigenvalue_among_thousands) {
  for (const double least : {1e-2, 1e-3, 1e-4, 1e-9}) {
    seen_in_part s({least});
    const auto answer = s.answer();
    ASSERT_LT(answer.condition_estimate, 150); // nothing of it was seen
    const auto error = s.look(answer);
    EXPECT_EQ(error.has_value(), answer.error_estimate / least < 1e-3) << least;
    if (error) {
      EXPECT_NEAR(*error, answer.error_estimate / least, 0.5 * *error) << least;
    }
  }
}

TEST(random_b, is_weighed_as_the_preconditioner_weighs) {
  seen_in_part s({});
  const auto answer = s.answer();
  const host_array<double> m(s.b.size(), 1.0);
  s.look(answer, as_cview(m), 1e10);
  const index_t weighed = std::exchange(s.taken, 0);
  s.shown = {};
  s.look(answer, {}, 1e10);
  EXPECT_GT(s.taken, 1.5 * double(weighed));
  seen_in_part none({}, 1);
  EXPECT_FALSE(none.look(none.answer())); // one step tells no condition number
  EXPECT_EQ(none.taken, 0);
}

/// By auto: whether x is off by more than 1 %, and whether the report says so.
void expect_word_of(const coo<double>& a, const host_array<double>& expected, const char* precond) {
  const auto s = kit::solve_honestly(a, kit::times(a, expected), solve_options{});
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.precond, precond);
  double off = 0;
  for (index_t i = 0; i < expected.size(); ++i) off = std::max(off, std::abs(s.x[i] - expected[i]));
  EXPECT_GT(off, 0.1);
  EXPECT_FALSE(s.report.warning.empty()) << off << " " << s.report.error_estimate;
  EXPECT_GT(s.report.error_estimate, 0.01);
}

coo<double> two_rows_among_dominant_ones(index_t n, double diagonal) {
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n - 2; ++i) {
    entries.push_back({i, i, diagonal});
    if (i > 0) entries.push_back({i, i - 1, -1.0}), entries.push_back({i - 1, i, -1.0});
  }
  for (const auto& [i, j, v] : {kit::triplet{0, 0, 1.0}, {0, 1, 2.0}, {1, 0, 2.0}, {1, 1, 4.000000001}})
    entries.push_back({n - 2 + i, n - 2 + j, v});
  return kit::assemble({n, n}, entries);
}

TEST(random_b, shows_two_rows_among_dominant_ones) {
  expect_word_of(two_rows_among_dominant_ones(5000, 2.5), host_array<double>(5000, 1.0), "jacobi");
}

/// Of 1,000 rows b at random holds 1/160 of the usual, so that its Ritz values are no end: of no right-hand side.
TEST(random_b, is_not_believed_while_what_it_shows_grows) {
  const auto a = two_rows_among_dominant_ones(1000, 2.1);
  const auto b = kit::times(a, host_array<double>(1000, 1.0));
  solver<double> kept(a, {});
  for (int k = 0; k < 2; ++k) {
    host_array<double> x(1000, 0.0);
    const auto r = kept.solve(as_cview(b), as_view(x));
    ASSERT_EQ(r.why, status::converged) << r.message;
    EXPECT_FALSE(r.warning.empty()) << k << " " << r.error_estimate;
  }
}

/// A Laplacian whose smallest eigenvalue is `left` times what it was.
coo<double> laplacian_with_a_small_eigenvalue(index_t rows, index_t columns, double left) {
  const auto least = [](index_t points) { return 4 * std::pow(std::sin(M_PI / 2 / double(points + 1)), 2); };
  auto a = kit::laplacian(rows, columns);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= (least(rows) + least(columns)) * (1 - left);
  return a;
}

TEST(random_b, shows_what_multigrid_leaves) {
  expect_word_of(laplacian_with_a_small_eigenvalue(110, 110, 1e-8), host_array<double>(12100, 1.0), "amg");
}

TEST(random_b, holds_most_of_an_eigenvector_of_one_sign) {
  for (const index_t columns : {17, 29, 44, 56})
    expect_word_of(laplacian_with_a_small_eigenvalue(8, columns, 1e-9), host_array<double>(8 * columns, 1.0), "jacobi");
}

/// What one answer was told of is not what the next one's x holds of an eigenvector that its steps did not meet.
TEST(random_b, is_asked_of_each_answer_that_saw_less_than_others) {
  const auto a = laplacian_with_a_small_eigenvalue(80, 80, 1e-6);
  solver<double> kept(a, {});
  index_t off = 0;
  for (int k = 0; k < 6; ++k) {
    const auto expected = kit::random_vector<double>(6400, k);
    const auto b = kit::times(a, expected);
    host_array<double> x(6400, 0.0);
    const auto r = kept.solve(as_cview(b), as_view(x));
    double apart = 0;
    for (index_t i = 0; i < 6400; ++i) apart = std::max(apart, std::abs(x[i] - expected[i]));
    off += apart > 0.01;
    EXPECT_TRUE(apart < 0.01 || !r.warning.empty()) << k << " " << apart << " " << r.error_estimate;
  }
  EXPECT_GT(off, 0);
}

/// Rows that are joined to four others each, not symmetric, more entries than complete factors are tried for. The first
/// half has something more on its diagonal. In the second half rows add up to `left`, times what signs make of them:
/// what b says of it is `left`, lost in the rounding of the others.
coo<double> two_networks(index_t half, double left, const host_array<double>& signs) {
  std::vector<std::map<index_t, double>> rows(std::size_t(2 * half));
  index_t nnz = 0;
  for (index_t i = 0; i < 2 * half; ++i) {
    const index_t from = i < half ? 0 : half, r = i - from;
    auto& row = rows[std::size_t(i)];
    double sum = i < half ? 0.5 : left;
    for (const index_t to : {r + 1, r + half - 1, 17 * r + 5, r * (r + 3) + 11}) {
      const index_t j = from + to % half;
      const double v = 1 + 0.25 * double((i + j) % 4);
      if (j != i) row[j] -= v * signs[i] * signs[j], sum += v;
    }
    row[i] = sum;
    nnz += index_t(row.size());
  }
  coo<double> a{
      {2 * half, 2 * half}, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<double>(nnz)};
  index_t k = 0;
  for (index_t i = 0; i < 2 * half; ++i)
    for (const auto& [j, v] : rows[std::size_t(i)])
      a.row[k] = std::int32_t(i), a.col[k] = std::int32_t(j), a.val[k++] = v;
  return a;
}

host_array<double> random_signs(index_t n) {
  host_array<double> signs = kit::random_vector<double>(n, 3);
  for (double& s : signs) s = s < 0 ? -1 : 1;
  return signs;
}

void expect_honest(double left, const host_array<double>& signs, bool wrong) {
  const index_t n = signs.size();
  const auto a = two_networks(n / 2, left, signs);
  const auto b = kit::times(a, signs);
  host_array<double> x(n, 0.0);
  solver<double> kept(a, {});
  for (int k = 0; k < 2; ++k) { // a second right-hand side is not looked at again, and told the same
    std::fill(x.begin(), x.end(), 0.0);
    const auto report = kept.solve(as_cview(b), as_view(x));
    ASSERT_EQ(report.why, status::converged) << report.message;
    ASSERT_EQ(report.condition_estimate, 0) << report.solver; // neither cg nor direct
    double off = 0;
    for (index_t i = 0; i < n; ++i) off = std::max(off, std::abs(x[i] - signs[i]));
    EXPECT_EQ(off > 0.01, wrong) << off;
    EXPECT_EQ(!report.warning.empty(), wrong) << report.error_estimate << " " << report.warning;
    EXPECT_GT(report.error_estimate, 0.1 * off);
    if (wrong) {
      EXPECT_TRUE(mentions(report.warning, "another first guess")) << report.warning;
    }
  }
}

TEST(second_start, warns_in_the_ladder_of_unknowns_that_b_does_not_reach) {
  expect_honest(1e-14, host_array<double>(64000, 1.0), true);
}

TEST(second_start, warns_in_the_ladder_of_unknowns_with_signs_at_random) {
  expect_honest(1e-14, random_signs(64000), true);
}

TEST(second_start, warns_of_nothing_where_b_reaches_all) { expect_honest(0.3, random_signs(64000), false); }

} // namespace
} // namespace furrow
