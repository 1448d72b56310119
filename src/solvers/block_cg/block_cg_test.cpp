// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides, by block conjugate gradients and by others.
#include "state.hpp"

#include "kit/guarded.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

namespace furrow {
namespace {

solve_options with(std::string solver, std::string precond, double rtol) {
  return kit::options(std::move(solver), std::move(precond), rtol);
}

template <class V> struct answers {
  std::vector<solve_report> reports;
  host_array<V> x;
  bool all(status why) const {
    return std::ranges::all_of(reports, [&](const solve_report& r) { return r.why == why; });
  }
  index_t most_iterations() const { return std::ranges::max(reports, {}, &solve_report::iterations).iterations; }
};

/// Solves, and holds each report to the truth in long double.
template <class V>
answers<V> solve_columns(const coo<double>& matrix, const host_array<V>& b, const solve_options& o,
                         host_array<V> x = {}) {
  const coo<V> a = kit::as_precision<V>(matrix);
  const index_t n = a.shape.rows, columns = b.size() / n;
  if (x.empty()) x = host_array<V>(b.size(), V(0));
  answers<V> result{solver<V>(a, o).solve(as_cview(b), as_view(x), columns), std::move(x)};
  EXPECT_EQ(std::ssize(result.reports), columns);
  for (index_t j = 0; j < columns; ++j) {
    SCOPED_TRACE("column " + std::to_string(j));
    const solve_report& r = result.reports[static_cast<std::size_t>(j)];
    const auto truth = kit::true_residual(a, cview<V>(b.data() + j * n, n), cview<V>(result.x.data() + j * n, n));
    EXPECT_FALSE(r.message.empty());
    if (r.why == status::converged) {
      EXPECT_LE(truth.norm, o.rtol * truth.norm_b * (1 + 1e-6L) + truth.rounding) << r.message;
    }
    if (std::isfinite(r.relative_residual) && truth.norm_b > 0 && (sizeof(V) == 4 || o.values == precision::f64)) {
      EXPECT_NEAR(r.relative_residual, double(truth.norm / truth.norm_b),
                  double((truth.rounding + 1e-6L * truth.norm) / truth.norm_b))
          << r.message;
    }
    if (r.iterations > 0) {
      EXPECT_EQ(std::ssize(r.history), r.iterations + 1);
      EXPECT_EQ(r.history.size(), r.history_seconds.size());
    }
  }
  return result;
}

template <class V> struct block_cg_columns : testing::Test {
  static constexpr double rtol = sizeof(V) == 8 ? 1e-10 : 1e-4;
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(block_cg_columns, precisions);

TYPED_TEST(block_cg_columns, are_solved_with_every_preconditioner_of_cg) {
  using V = TypeParam;
  const auto a = kit::laplacian(24, 20);
  for (const char* m : {"none", "jacobi", "ic0", "fsai", "amg"})
    for (const index_t s : {1, 2, 3, 8, 16, 21}) {
      SCOPED_TRACE(std::string(m) + ", " + std::to_string(s) + " columns");
      const auto b = kit::random_vector<V>(480 * s, 5);
      const auto block = solve_columns<V>(a, b, with("block_cg", m, this->rtol));
      EXPECT_TRUE(block.all(status::converged)) << block.reports[0].message;
      const auto alone = solve_columns<V>(a, b, with("cg", m, this->rtol));
      EXPECT_LE(block.most_iterations(), alone.most_iterations() + 2);
    }
}

TYPED_TEST(block_cg_columns, take_fewer_iterations_together) {
  using V = TypeParam;
  const auto a = kit::laplacian(50, 50);
  const auto b = kit::random_vector<V>(2500 * 8, 7);
  const auto block = solve_columns<V>(a, b, with("block_cg", "jacobi", this->rtol));
  const auto alone = solve_columns<V>(a, b, with("cg", "jacobi", this->rtol));
  EXPECT_TRUE(block.all(status::converged));
  EXPECT_LT(double(block.most_iterations()), 0.7 * double(alone.most_iterations()));
}

TYPED_TEST(block_cg_columns, may_depend_on_each_other) {
  using V = TypeParam;
  const index_t n = 400;
  const auto a = kit::laplacian(20, 20);
  for (const char* m : {"none", "jacobi", "ic0"}) {
    SCOPED_TRACE(m);
    auto b = kit::random_vector<V>(n * 6, 11);
    for (index_t i = 0; i < n; ++i) {
      b[n + i] = b[i];                        // twice the same
      b[2 * n + i] = 0;                       // nothing
      b[4 * n + i] = b[i] + 2 * b[3 * n + i]; // in the span of others
      b[5 * n + i] = b[i] + V(1e-3) * b[3 * n + i];
    }
    const auto s = solve_columns<V>(a, b, with("block_cg", m, this->rtol));
    EXPECT_TRUE(s.all(status::converged));
    EXPECT_EQ(s.reports[2].iterations, 0);
    EXPECT_TRUE(std::all_of(s.x.data() + 2 * n, s.x.data() + 3 * n, [](V v) { return v == 0; }));
    const host_array<V> same(n * 5, V(3)); // nothing but copies: a block of one direction
    EXPECT_TRUE(solve_columns<V>(a, same, with("block_cg", m, this->rtol)).all(status::converged));
  }
}

TYPED_TEST(block_cg_columns, may_be_more_than_rows) {
  using V = TypeParam;
  for (const index_t n : {2, 3, 5}) {
    const auto s =
        solve_columns<V>(kit::laplacian(n), kit::random_vector<V>(n * 40, 3), with("block_cg", "jacobi", this->rtol));
    EXPECT_TRUE(s.all(status::converged)) << n << ": " << s.reports[0].message;
  }
}

TYPED_TEST(block_cg_columns, may_differ_in_size_and_end_at_different_times) {
  using V = TypeParam;
  const index_t n = 900;
  const auto a = kit::laplacian(30, 30);
  auto b = kit::random_vector<V>(n * 4, 3);
  const double size = sizeof(V) == 8 ? 1e60 : 1e12;
  for (index_t i = 0; i < n; ++i) {
    b[i] *= V(size), b[n + i] /= V(size);
    const double step = std::acos(-1.0) / 31; // an eigenvector
    b[2 * n + i] = V(std::sin(step * double(i % 30 + 1)) * std::sin(step * double(i / 30 + 1)));
  }
  const auto s = solve_columns<V>(a, b, with("block_cg", "jacobi", this->rtol));
  EXPECT_TRUE(s.all(status::converged));
  EXPECT_LE(s.reports[2].iterations, 2);
  EXPECT_GT(s.reports[3].iterations, 10);
}

TYPED_TEST(block_cg_columns, have_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const auto a = kit::laplacian(70, 60);
  const auto b = kit::random_vector<V>(4200 * 5, 13);
  answers<V> first;
  for (const int threads : {1, 2, 3, 1}) {
    set_threads(threads);
    auto next = solve_columns<V>(a, b, with("block_cg", "jacobi", this->rtol));
    if (first.reports.empty()) first = std::move(next);
    else {
      EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(next.x))) << threads;
      for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(first.reports[j].history, next.reports[j].history);
    }
  }
  set_threads(0);
}

TYPED_TEST(block_cg_columns, say_of_each_that_a_is_not_definite) {
  using V = TypeParam;
  const auto a = kit::from_function(30, [](index_t i, index_t j) {
    return i != j ? 0.1 : i % 3 ? 1.0 + double(i) : -2.0;
  });
  const auto s = solve_columns<V>(a, kit::random_vector<V>(30 * 4, 3), with("block_cg", "none", this->rtol));
  EXPECT_TRUE(s.all(status::not_positive_definite)) << s.reports[0].message;
  EXPECT_NE(s.reports[0].message.find("is negative, so the matrix is not positive definite"), std::string::npos);
}

TYPED_TEST(block_cg_columns, end_alone_where_the_matrix_is_singular) {
  using V = TypeParam;
  const index_t n = 200; // a chain without ends: ones are in its null space
  auto a = kit::laplacian(n);
  a.val[0] = a.val[a.nnz() - 1] = 1;
  auto b = kit::random_vector<V>(n * 3, 5);
  double mean = 0;
  for (index_t i = 0; i < n; ++i) mean += double(b[i]) / double(n);
  for (index_t i = 0; i < n; ++i) b[i] = V(double(b[i]) - mean); // in the range, up to rounding
  const auto s = solve_columns<V>(a, b, with("block_cg", "none", sizeof(V) == 8 ? 1e-8 : 1e-3));
  EXPECT_EQ(s.reports[0].why, status::converged) << s.reports[0].message;
  EXPECT_NE(s.reports[1].why, status::converged);
  EXPECT_NE(s.reports[2].why, status::converged);
}

TYPED_TEST(block_cg_columns, keep_one_that_is_not_finite_to_itself) {
  using V = TypeParam;
  auto b = kit::random_vector<V>(100 * 3, 5);
  b[150] = std::numeric_limits<V>::quiet_NaN();
  const auto s = solve_columns<V>(kit::laplacian(10, 10), b, with("block_cg", "jacobi", this->rtol));
  EXPECT_EQ(s.reports[0].why, status::converged);
  EXPECT_EQ(s.reports[1].why, status::nan);
  EXPECT_EQ(s.reports[2].why, status::converged);
}

TYPED_TEST(block_cg_columns, stop_at_the_limit_and_when_they_are_told) {
  using V = TypeParam;
  const auto a = kit::laplacian(60, 60);
  const auto b = kit::random_vector<V>(3600 * 4, 5);
  auto o = with("block_cg", "jacobi", this->rtol);
  o.max_iterations = 7;
  const auto limited = solve_columns<V>(a, b, o);
  EXPECT_TRUE(limited.all(status::max_iterations));
  for (const solve_report& r : limited.reports) EXPECT_EQ(r.iterations, 7) << r.message;
  o.max_iterations = 0, o.time_limit = 0;
  EXPECT_TRUE(
      solve_columns<V>(kit::laplacian(400, 400), host_array<V>(160000 * 2, V(1)), o).all(status::max_iterations));
  o.time_limit = std::numeric_limits<double>::infinity();
  o.watch = [](const progress&) { return false; };
  EXPECT_TRUE(solve_columns<V>(kit::laplacian(400, 400), host_array<V>(160000 * 2, V(1)), o).all(status::interrupted));
}

TYPED_TEST(block_cg_columns, come_back_no_worse_than_their_first_guess) {
  using V = TypeParam;
  const auto a = kit::laplacian(40, 40);
  const host_array<V> near(1600 * 3, V(1));
  auto b = kit::times<V>(a, host_array<V>(1600, V(1)));
  host_array<V> all(1600 * 3);
  for (index_t i = 0; i < all.size(); ++i) all[i] = b[i % 1600];
  const auto done = solve_columns<V>(a, all, with("block_cg", "jacobi", this->rtol), near);
  EXPECT_TRUE(done.all(status::converged));
  EXPECT_EQ(done.most_iterations(), 0);
  auto o = with("block_cg", "jacobi", this->rtol);
  o.max_iterations = 1;
  auto far = kit::random_vector<V>(1600 * 3, 4);
  for (const solve_report& r : solve_columns<V>(a, all, o, far).reports) EXPECT_LE(r.relative_residual, r.history[0]);
}

TEST(block_cg, reaches_goals_near_rounding_by_starting_again) {
  auto a = kit::laplacian(400);
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= (1 + 1e4 * double(a.row[k] % 2)) * (1 + 1e4 * double(a.col[k] % 2));
  for (const double rtol : {1e-8, 1e-10, 1e-11, 1e-12, 1e-13}) {
    auto o = with("block_cg", "none", rtol);
    o.max_iterations = 1000000;
    for (const solve_report& r : solve_columns<double>(a, kit::random_vector<double>(400 * 3, 17), o).reports)
      EXPECT_TRUE(r.why == status::converged || r.why == status::stagnated) << rtol << ": " << r.message;
  }
}

/// A team of threads, as a block of a GPU is one.
struct team_of_threads {
  int rank, size;
  std::barrier<>* all;
  void sync() const { all->arrive_and_wait(); }
};
template <class F> void together(int members, F f) {
  if (members == 1) return f(block_cg::alone{});
  std::barrier all(members);
  std::vector<std::jthread> threads;
  for (int k = 0; k < members; ++k) threads.emplace_back([&, k] { f(team_of_threads{k, members, &all}); });
}

TEST(block_cg, drops_directions_that_depend_on_others) {
  block_cg::square<4> g; // of the columns a, b, a + b, 0
  const double a[3] = {3, 1, 2}, b[3] = {-1, 2, 5};
  const auto entry = [&](int i, int j) {
    const auto element = [&](int c, int k) { return c == 0 ? a[k] : c == 1 ? b[k] : c == 2 ? a[k] + b[k] : 0; };
    return element(i, 0) * element(j, 0) + element(i, 1) * element(j, 1) + element(i, 2) * element(j, 2);
  };
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) g[i][j] = entry(i, j);
  for (const int members : {1, 3, 16}) {
    block_cg::square<4> used = g, factor, inverse, half, q, whole;
    block_cg::small_room<4> room;
    together(members, [&](const auto& team) {
      const auto f = block_cg::orthonormalise(team, used, 1e-14, factor, inverse, room);
      EXPECT_EQ(f.rank, 2);
      block_cg::multiply(team, g, inverse, half);
      block_cg::multiply(team, inverse, half, q, true);
      block_cg::multiply(team, factor, factor, whole, true);
    });
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        EXPECT_NEAR(q[i][j], i == j && i < 2, 1e-12);
        EXPECT_NEAR(whole[i][j], g[i][j], 1e-12);
      }
  }
}

/// What a step works out beside the vectors, from Gram matrices of random vectors, by so many members.
template <int W> block_cg::block_state<W> state_after_a_step(int members) {
  const auto gram = [](std::uint64_t seed, double shift) {
    const auto v = kit::random_vector<double>(W * 20, seed);
    block_cg::square<W> g{};
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) {
        for (int k = 0; k < 20; ++k) g[i][j] += v[i * 20 + k] * v[j * 20 + k];
        g[i][j] += i == j ? shift : 0;
      }
    return g;
  };
  block_cg::block_state<W> s{};
  block_cg::step_record<W> record{};
  block_cg::small_room<W> room;
  s.c = block_cg::square<W>::identity();
  s.count = W, s.nothing = 1e-14, s.again = true;
  for (int k = 0; k < W; ++k) s.residual[k] = 2, s.goal[k] = 1e-8;
  s.slots[control::rr] = s.slots[control::peak] = s.slots[control::best] = 1e20;
  s.most = {.goal = 1, .steps = 1e9, .patience = 1e9, .ceiling = 1e300, .hump = 1e300};
  s.g = gram(1, 0.1);
  together(members, [&](const auto& team) { block_cg::after_gram<W>::run(team, s, record, room); });
  EXPECT_TRUE(s.again);
  s.g = gram(2, 4);
  together(members, [&](const auto& team) { block_cg::after_gram_again<W>::run(team, s, record, room); });
  s.g = gram(3, 1);
  together(members, [&](const auto& team) { block_cg::after_product<W>::run(team, s, record, room); });
  s.g = gram(4, 1), s.h = gram(5, 0);
  together(members, [&](const auto& team) { block_cg::after_shrink<W>::run(team, s, record, room); });
  EXPECT_EQ(s.why, control::running);
  EXPECT_EQ(s.rank, W);
  EXPECT_EQ(s.slots[control::steps], 1);
  return s;
}

TEST(block_cg, works_out_the_same_beside_the_vectors_for_any_number_of_members) {
  const auto same = [](const auto& one, const auto& many) {
    for (const auto which : {&std::decay_t<decltype(one)>::c, &std::decay_t<decltype(one)>::xi,
                             &std::decay_t<decltype(one)>::factor, &std::decay_t<decltype(one)>::inverse,
                             &std::decay_t<decltype(one)>::norms_in_m, &std::decay_t<decltype(one)>::x_in_m})
      EXPECT_EQ(std::memcmp(&(one.*which), &(many.*which), sizeof(one.*which)), 0);
    EXPECT_TRUE(std::ranges::equal(one.residual, many.residual));
    EXPECT_TRUE(std::ranges::equal(one.ratio_in_m, many.ratio_in_m));
  };
  for (const int members : {2, 7, 32}) {
    same(state_after_a_step<2>(1), state_after_a_step<2>(members));
    same(state_after_a_step<8>(1), state_after_a_step<8>(members));
    same(state_after_a_step<16>(1), state_after_a_step<16>(members));
  }
}

TEST(block_cg, inverts_a_definite_matrix_and_names_the_direction_that_is_none) {
  block_cg::square<4> d{}, inverse, product;
  block_cg::small_room<4> room;
  double v[4] = {};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) d[i][j] = i == j ? 2.0 + i : 0.5;
  together(4, [&](const auto& team) {
    EXPECT_TRUE(block_cg::invert(team, d, 3, 1e-15, inverse, v, room).found);
    block_cg::multiply(team, d, inverse, product);
  });
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(product[i][j], i == j, 1e-14);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(inverse[i][3], 0);
  d[2][2] = -1;
  together(4, [&](const auto& team) {
    const auto stopped = block_cg::invert(team, d, 3, 1e-15, inverse, v, room);
    EXPECT_FALSE(stopped.found);
    EXPECT_LT(stopped.pivot, 0);
  });
  double form = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) form += v[i] * d[i][j] * v[j];
  EXPECT_LT(form, -1);
  EXPECT_EQ(v[2], 1);
}

TEST(columns, are_solved_one_after_the_other_by_any_solver_with_the_bits_of_a_solve) {
  const auto a = generate("convection2d:20:5").a;
  const auto b = kit::random_vector<double>(400 * 3, 3);
  for (const char* name : {"bicgstab", "gmres:20", "direct", "lsmr"}) {
    const auto o = with(name, "auto", 1e-9);
    const auto all = solve_columns<double>(a, b, o);
    EXPECT_TRUE(all.all(status::converged)) << name;
    for (index_t j = 0; j < 3; ++j) {
      host_array<double> x(400, 0.0);
      solve(a, cview<double>(b.data() + j * 400, 400), as_view(x), o);
      EXPECT_TRUE(kit::same_bits(as_cview(x), cview<double>(all.x.data() + j * 400, 400))) << name;
    }
    EXPECT_EQ(all.reports[1].setup_seconds, 0);
  }
}

TEST(columns, are_taken_at_once_by_auto_where_it_takes_cg) {
  const auto a = kit::laplacian(80, 70);
  auto o = with("auto", "auto", 1e-8);
  const auto s = solve_columns<double>(a, kit::random_vector<double>(5600 * 4, 3), o);
  EXPECT_TRUE(s.all(status::converged));
  for (const solve_report& r : s.reports) EXPECT_EQ(r.solver, "block_cg");
  auto minus = a;
  for (double& v : minus.val) v = -v;
  EXPECT_TRUE(solve_columns<double>(minus, kit::random_vector<double>(5600 * 4, 3), o).all(status::converged));
  const auto general =
      solve_columns<double>(generate("convection2d:60:5").a, kit::random_vector<double>(3600 * 3, 3), o);
  EXPECT_TRUE(general.all(status::converged));
  EXPECT_NE(general.reports[0].solver, "block_cg");
}

TEST(columns, climb_on_together_where_a_rung_is_too_slow) {
  auto a = kit::laplacian(130, 120); // scaled, Jacobi takes too many iterations
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] != a.col[k] && std::abs(a.row[k] - a.col[k]) > 1) a.val[k] *= 1e-3;
    else if (a.row[k] == a.col[k]) a.val[k] = 2.002 + 1e-5;
  const auto s = solve_columns<double>(a, kit::random_vector<double>(15600 * 3, 3), with("auto", "auto", 1e-8));
  EXPECT_TRUE(s.all(status::converged)) << s.reports[0].message;
  for (const solve_report& r : s.reports) EXPECT_GE(r.rungs.size(), 2u);
}

TEST(columns, are_rounded_to_single_precision_one_by_one) {
  auto o = with("block_cg", "jacobi", 1e-4);
  o.values = precision::f32;
  auto b = kit::random_vector<double>(400 * 3, 3);
  EXPECT_TRUE(solve_columns<double>(kit::laplacian(20, 20), b, o).all(status::converged));
  for (index_t i = 0; i < 400; ++i) b[400 + i] *= 1e-60;
  EXPECT_THROW(solve_columns<double>(kit::laplacian(20, 20), b, o), error);
}

TEST(columns, of_wrong_sizes_are_refused_in_a_sentence) {
  solver<double> kept(kit::laplacian(4, 4), with("block_cg", "jacobi", 1e-8));
  host_array<double> b(32, 1.0), x(32, 0.0);
  const auto refused = [&](cview<double> from, view<double> to, index_t columns) -> std::string {
    return kit::said_by(fault::usage, [&] { kept.solve(from, to, columns); });
  };
  EXPECT_EQ(refused(as_cview(b), as_view(x), 0), "0 right-hand sides: give at least one");
  EXPECT_EQ(refused(as_cview(b), as_view(x), 3),
            "3 right-hand sides have 32 elements for a matrix of 16 rows: give one for each row and column");
  EXPECT_EQ(refused(as_cview(b), part(as_view(x), 0, 16), 2),
            "2 answers have 16 elements for a matrix of 16 columns: give one for each");
  EXPECT_EQ(refused(as_cview(b), as_view(b), 2), "x and b share memory: give each its own");
  EXPECT_EQ(refused({nullptr, 32}, as_view(x), 2), "x or b points nowhere, but has 32 elements");
}

} // namespace
} // namespace furrow
