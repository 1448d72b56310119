// SPDX-License-Identifier: BSD-3-Clause
// Every reason why a solve stops, each provoked.
#include "solve_test_kit.hpp"

namespace furrow {
namespace {

using namespace solve_test;

TEST(reason, names_are_those_of_the_command_line) {
  EXPECT_EQ(name(status::converged), "converged");
  EXPECT_EQ(name(status::max_iterations), "max_iterations");
  EXPECT_EQ(name(status::not_positive_definite), "not_positive_definite");
  EXPECT_EQ(name(status::singular), "singular");
  EXPECT_EQ(name(status::breakdown), "breakdown");
  EXPECT_EQ(name(status::nan), "nan");
  EXPECT_EQ(name(status::stagnated), "stagnated");
  EXPECT_EQ(name(status::diverged), "diverged");
  EXPECT_EQ(name(status::interrupted), "interrupted");
}

TEST(reason, max_iterations) {
  auto o = with("none");
  o.max_iterations = 7;
  const auto s = kit::solve_honestly(kit::laplacian(40, 40), ones(1600), o);
  EXPECT_EQ(s.report.why, status::max_iterations);
  EXPECT_EQ(s.report.iterations, 7);
  EXPECT_EQ(s.report.restarts, 0);
  EXPECT_TRUE(mentions(s.report.message, "7")) << s.report.message;
  EXPECT_LT(s.report.relative_residual, 1e3);
}

TEST(reason, max_iterations_also_after_many_without_progress) {
  // A limit that falls into a phase in which the residual grows is still the limit, not stagnation.
  auto o = with("none", 1e-300);
  for (const index_t limit : {1, 2, 3, 5, 100, 3000}) {
    o.max_iterations = limit;
    const auto s = kit::solve_honestly(kit::laplacian(300), kit::random_vector<double>(300, 3), o);
    if (s.report.why == status::stagnated) {
      EXPECT_LT(s.report.iterations, limit);
    } else {
      EXPECT_EQ(s.report.why, status::max_iterations) << s.report.message;
      EXPECT_EQ(s.report.iterations, limit);
    }
  }
}

TEST(reason, not_positive_definite_by_an_indefinite_matrix) {
  for (const char* m : {"none", "jacobi"}) {
    const auto a = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}}); // eigenvalues 3 and -1
    const auto s = kit::solve_honestly(a, host_array<double>{1, -1}, with(m));
    EXPECT_EQ(s.report.why, status::not_positive_definite) << m << ": " << s.report.message;
    EXPECT_TRUE(mentions(s.report.message, "-")) << s.report.message;
  }
}

TEST(reason, not_positive_definite_by_a_shifted_laplacian) {
  auto a = kit::laplacian(30, 30);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= 0.5; // lambda_min is about 0.02
  for (const char* m : {"none", "jacobi"}) {
    const auto s = kit::solve_honestly(a, kit::random_vector<double>(900, 5), with(m));
    EXPECT_EQ(s.report.why, status::not_positive_definite) << m << ": " << s.report.message;
  }
}

TEST(reason, not_positive_definite_by_the_diagonal) {
  const auto a = kit::diagonal({1, 2, -3, 4});
  const auto jacobi = kit::solve_honestly(a, ones(4), with("jacobi"));
  EXPECT_EQ(jacobi.report.why, status::not_positive_definite);
  EXPECT_TRUE(mentions(jacobi.report.message, "diagonal entry 3 is -3")) << jacobi.report.message;
  EXPECT_EQ(kit::solve_honestly(a, ones(4), with("none")).report.why, status::not_positive_definite);
  EXPECT_EQ(kit::solve_honestly(kit::diagonal({-1}), ones(1), with("none")).report.why, status::not_positive_definite);
}

TEST(reason, not_positive_definite_by_an_absent_diagonal) {
  const auto a = kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, 1}});
  EXPECT_EQ(kit::solve_honestly(a, host_array<double>{1, 2}, with("jacobi")).report.why, status::not_positive_definite);
}

TEST(reason, singular_by_a_right_hand_side_outside_of_the_range) {
  const auto s = kit::solve_honestly(kit::diagonal({1, 2, 0}), host_array<double>{0, 0, 1}, with("none"));
  EXPECT_EQ(s.report.why, status::singular) << s.report.message;
  EXPECT_NEAR(s.report.relative_residual, 1, 1e-14);
  // Where rounding leaves p'Ap a little above 0, the step along the null space is a huge one.
  const auto mixed = kit::solve_honestly(kit::diagonal({1, 2, 0}), ones(3), with("none"));
  EXPECT_EQ(mixed.report.why, status::singular) << mixed.report.message;
  EXPECT_LE(mixed.report.relative_residual, 1 + 1e-14);
}

TEST(reason, singular_is_the_zero_matrix) {
  for (const auto& a : {kit::assemble({3, 3}, {}), kit::diagonal({0, 0, 0})}) {
    const auto s = kit::solve_honestly(a, ones(3), with("none"));
    EXPECT_EQ(s.report.why, status::singular) << s.report.message;
    EXPECT_NEAR(s.report.relative_residual, 1, 1e-14);
    for (const double v : s.x) EXPECT_EQ(v, 0);
  }
}

TEST(reason, a_singular_matrix_never_converges_on_an_inconsistent_side) {
  // The Laplacian without a boundary: constants are its null space, and b has a part in it.
  const auto a = kit::laplacian(20, 20, 1, true, 0);
  auto b = kit::random_vector<double>(400, 7);
  for (double& v : b) v += 1;
  for (const char* m : {"none", "jacobi"}) {
    const auto s = kit::solve_honestly(a, b, with(m));
    EXPECT_EQ(s.report.why, status::singular) << s.report.message;
    EXPECT_LE(s.report.iterations, 500);
    EXPECT_LE(s.report.relative_residual, 1 + 1e-14);
  }
}

TEST(reason, a_singular_matrix_converges_on_a_consistent_side) {
  const auto a = kit::laplacian(20, 20, 1, true, 0);
  const auto b = kit::times(a, kit::random_vector<double>(400, 8));
  const auto s = kit::solve_honestly(a, b, with("none"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
}

TEST(reason, nan_in_what_is_given) {
  for (const double bad : {nan, inf, -inf}) {
    auto a = kit::laplacian(10);
    a.val[3] = bad;
    EXPECT_EQ(kit::solve_honestly(a, ones(10)).report.why, status::nan);
    auto b = ones(10);
    b[9] = bad;
    const auto by_b = kit::solve_honestly(kit::laplacian(10), b);
    EXPECT_EQ(by_b.report.why, status::nan);
    EXPECT_TRUE(mentions(by_b.report.message, "element 10 of b")) << by_b.report.message;
    auto x = ones(10);
    x[2] = bad;
    const auto by_x = kit::solve_honestly(kit::laplacian(10), ones(10), {}, x);
    EXPECT_EQ(by_x.report.why, status::nan);
    EXPECT_TRUE(mentions(by_x.report.message, "element 3 of the first guess")) << by_x.report.message;
  }
}

TEST(reason, nan_says_nothing_about_the_residual) {
  auto a = kit::laplacian(10);
  a.val[3] = nan;
  const auto s = kit::solve_honestly(a, ones(10));
  EXPECT_FALSE(s.report.relative_residual == 0) << "0 would be a lie";
}

TEST(reason, nan_by_overflow) {
  const auto a = kit::diagonal({1e300, 1e300});
  const auto s = kit::solve_honestly(a, ones(2), with("none"), host_array<double>{1e300, 1e300});
  EXPECT_EQ(s.report.why, status::nan) << s.report.message;
  const auto f = kit::solve_honestly<float>(kit::diagonal({1e38, 3e38}), host_array<float>{1, 1}, with("none", 1e-5),
                                            host_array<float>{1e10f, 1e10f});
  EXPECT_EQ(f.report.why, status::nan) << f.report.message;
}

TEST(reason, stagnated) {
  for (const char* m : {"none", "jacobi"}) {
    const auto s = kit::solve_honestly(kit::laplacian(20, 20), kit::random_vector<double>(400, 9), with(m, 1e-20));
    EXPECT_EQ(s.report.why, status::stagnated) << s.report.message;
    EXPECT_LE(s.report.relative_residual, 1e-14);
    EXPECT_GT(s.report.restarts, 0);
  }
  const auto f =
      kit::solve_honestly<float>(kit::laplacian(20, 20), kit::random_vector<float>(400, 9), with("none", 1e-9));
  EXPECT_EQ(f.report.why, status::stagnated) << f.report.message;
  EXPECT_TRUE(mentions(f.report.message, "f64")) << f.report.message;
}

TEST(reason, a_goal_below_rounding_makes_no_matrix_singular) {
  // The recurrence falls to 1e-160, where its scalars are rounding alone; x has stayed where it was.
  for (const char* method : {"cg", "cg_single_reduction"})
    for (const char* m : {"none", "jacobi"}) {
      auto o = with(m, 1e-300);
      o.solver = method;
      const auto s = kit::solve_honestly(kit::laplacian(10, 10), ones(100), o);
      EXPECT_TRUE(s.report.why == status::stagnated || s.report.why == status::max_iterations ||
                  s.report.why == status::breakdown)
          << method << m << ": " << s.report.message;
    }
}

/// A ring with a shift of 1e-7: b = A * ones is as small as the shift, and what rounding leaves is large beside it.
TEST(reason, stagnated_with_few_steps_behind_factors_that_left_rounding_alone) {
  const index_t n = 4000;
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i)
    entries.insert(entries.end(), {{i, (i + 1) % n, 1e4}, {i, (i + n - 1) % n, -1e4}, {i, i, 1e-3}});
  const auto a = kit::assemble({n, n}, entries);
  const auto b = kit::times(a, ones(n));
  solve_options o;
  o.solver = "direct", o.precond = "auto", o.rtol = 1e-15;
  const double floor = kit::solve_honestly(a, b, o).report.relative_residual;
  o.solver = "auto", o.rtol = floor / 3;
  const auto s = kit::solve_honestly(a, b, o);
  EXPECT_EQ(s.report.why, status::stagnated) << s.report.message;
  EXPECT_TRUE(mentions(s.report.message, "rounding limits this matrix")) << s.report.message;
  EXPECT_LE(s.report.relative_residual, 1.1 * floor);
  index_t steps = 0;
  for (const solve_rung& r : s.report.rungs) steps += r.iterations;
  EXPECT_GE(s.report.rungs.size(), 4u); // one of them might have got there
  EXPECT_LT(steps, 1000);
}

TEST(reason, rows_without_an_entry_have_no_answer_where_b_is_not_zero) {
  // An indefinite matrix, on which MINRES goes round in circles.
  const index_t n = 20;
  for (const index_t empty : {index_t(0), n / 2, n - 1}) {
    const auto a = kit::from_function(n, [&](index_t i, index_t j) {
      if (i == empty || j == empty) return 0.0;
      return i == j ? (i % 2 ? 2.0 : -3.0) : std::abs(i - j) == 1 ? -1.0 : 0.0;
    });
    auto o = with("none");
    o.solver = "minres";
    const auto s = kit::solve_honestly(a, ones(n), o);
    EXPECT_EQ(s.report.why, status::singular) << s.report.message;
    EXPECT_FALSE(mentions(s.report.message, "rounding limits")) << s.report.message;
    auto b = ones(n);
    b[empty] = 0; // in the range
    EXPECT_EQ(kit::solve_honestly(a, b, o).report.why, status::converged);
  }
}

TEST(reason, a_method_that_overflows_where_there_is_no_answer_says_the_latter) {
  const index_t n = 26;
  const auto a = kit::from_function(n, [](index_t i, index_t j) {
    if (i == n - 1 || j == n - 1) return 0.0;
    return i == j ? 4.0 : std::abs(i - j) == 1 || std::abs(i - j) == 5 ? -1.0 : 0.0;
  });
  for (const char* method : {"bicgstab", "bicgstab2", "tfqmr", "idr"}) {
    auto o = with("none");
    o.solver = method;
    const auto s = kit::solve_honestly(a, ones(n), o);
    EXPECT_NE(s.report.why, status::nan) << method << ": " << s.report.message;
  }
}

TEST(reason, values_whose_squares_leave_the_range_are_named) {
  for (const double size : {1e-305, 1e-160})
    for (const char* method : {"cr", "minres", "gmres", "bicgstab", "fcg", "cg"})
      for (const char* m : {"none", "jacobi"}) {
        const auto a = kit::from_function(50, [&](index_t i, index_t j) {
          return i == j ? 2 * size : std::abs(i - j) == 1 ? -size : 0.0;
        });
        host_array<double> b = kit::random_vector<double>(50, 1);
        for (double& v : b) v *= size;
        auto o = with(m);
        o.solver = method;
        const auto s = kit::solve_honestly(a, b, o);
        if (s.report.why == status::converged) continue;
        EXPECT_TRUE(mentions(s.report.message, "multiply A and b by 2^")) << method << m << ": " << s.report.message;
      }
}

TEST(reason, an_answer_out_of_range_is_named_where_a_and_b_are_far_apart) {
  const auto scaled = [](double size) {
    return kit::from_function(12, [=](index_t i, index_t j) {
      return i == j ? 2 * size : std::abs(i - j) == 1 ? -size : 0.0;
    });
  };
  // x is about 1e400: powers of two for A and b together would make b infinite.
  for (const char* method : {"gmres", "minres", "cg"}) {
    auto o = with("none");
    o.solver = method;
    const auto s = kit::solve_honestly(scaled(1e-200), host_array<double>(12, 1e200), o);
    EXPECT_TRUE(mentions(s.report.message, "too large for double; multiply A by 2^663 and b by 2^-666") ||
                mentions(s.report.message, "the answer is too large for this precision: scale b"))
        << method << ": " << s.report.message;
    EXPECT_FALSE(mentions(s.report.message, "nan")) << s.report.message;
  }
  auto o = with("none");
  o.solver = "gmres";
  const auto s = kit::solve_honestly(scaled(1e200), host_array<double>(12, 1e-200), o);
  EXPECT_TRUE(mentions(s.report.message, "x is too small for double; multiply A by 2^-666 and b by 2^66"))
      << s.report.message;
}

TEST(reason, rows_that_no_one_factor_brings_into_range_are_named) {
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(std::pow(10.0, 3 * i - 150));
  auto o = with("none");
  o.solver = "direct";
  const auto s = kit::solve_honestly(kit::diagonal(values), host_array<double>(100, 1.0), o);
  EXPECT_NE(s.report.why, status::converged);
  EXPECT_TRUE(mentions(s.report.message, "the largest entry of a row is 1e-150 in one and 1e+147 in another"))
      << s.report.message;
  EXPECT_FALSE(mentions(s.report.message, "multiply A and b")) << s.report.message;
  EXPECT_EQ(kit::solve_honestly(kit::diagonal(values), host_array<double>(100, 1.0)).report.why, status::converged);
}

TEST(reason, columns_that_no_one_factor_brings_into_range_are_named) {
  const auto a = kit::assemble({2, 2}, {{0, 0, 1e150}, {0, 1, 1e-150}, {1, 0, -1e150}, {1, 1, 1e-150}});
  auto o = with("none");
  o.solver = "gmres";
  const auto s = kit::solve_honestly(a, host_array<double>{1, 1}, o);
  EXPECT_TRUE(mentions(s.report.message, "the largest entry of a column is 1e-150 in one and 1e+150 in another"))
      << s.report.message;
  EXPECT_TRUE(mentions(s.report.message, "divide each column of A and its element of the x")) << s.report.message;
}

TEST(reason, a_row_whose_sum_overflows_is_no_matrix_of_size_inf) {
  const auto a = kit::assemble({2, 2}, {{0, 0, 1.7e308}, {0, 1, 1.7e308}, {1, 1, 1e308}});
  auto o = with("none");
  o.solver = "gmres";
  const auto s = kit::solve_honestly(a, host_array<double>{1e300, 1e300}, o);
  EXPECT_TRUE(mentions(s.report.message, "|A| is beyond the largest number, and the squares of such values overflow in "
                                         "double; multiply A and b by 2^-1023"))
      << s.report.message;
}

TEST(reason, diverged) {
  // One step along b overshoots the large eigenvalue: the residual grows by half the root of 1e42.
  const auto s = kit::solve_honestly(kit::diagonal({1, 1e42}), host_array<double>{1, 1e-21}, with("none"));
  EXPECT_EQ(s.report.why, status::diverged) << s.report.message;
  EXPECT_EQ(s.report.iterations, 1);
}

TEST(reason, interrupted) {
  auto o = with("none", 1e-30);
  o.max_iterations = 1000000;
  int calls = 0;
  index_t last = 0;
  o.watch = [&](const progress& p) {
    EXPECT_GT(p.iteration, last);
    EXPECT_GE(p.relative_residual, 0);
    EXPECT_GE(p.seconds, 0);
    last = p.iteration;
    return ++calls < 3;
  };
  const auto s = kit::solve_honestly(kit::laplacian(200, 200), kit::random_vector<double>(40000, 5), o);
  EXPECT_EQ(s.report.why, status::interrupted) << s.report.message;
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(s.report.iterations, last);
  EXPECT_NE(s.x[20000], 0) << "the best x so far was not handed back";
}

} // namespace
} // namespace furrow
