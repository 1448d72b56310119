// SPDX-License-Identifier: BSD-3-Clause
// A solver that stays: many right-hand sides, operators and preconditioners of the caller.
#include "solve_test_kit.hpp"

#include "kit/said_by.hpp"

#include <furrow/function_operator.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include "solvers/entry.hpp"

#include <optional>
#include <type_traits>

namespace furrow {
namespace {

using namespace solve_test;

template <class V> struct kept_solver : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(kept_solver, precisions);

/// Scattered, symmetric and dominant.
coo<double> scattered(index_t n) {
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 20});
    for (index_t k = 1; k < 4; ++k) {
      const index_t j = (i * 7919 * k + 31 * k) % n;
      if (j < i) entries.push_back({i, j, -1}), entries.push_back({j, i, -1});
    }
  }
  return kit::assemble({n, n}, std::move(entries));
}

TEST(solver_formats, are_chosen_where_that_pays) {
  const auto solved = [](const coo<double>& a, const char* method, const char* format) {
    solve_options o;
    o.solver = method, o.format = format;
    host_array<double> x(a.shape.cols, 0.0);
    return solve(a, as_cview(host_array<double>(a.shape.rows, 1.0)), as_view(x), o);
  };
  auto to_factor = generate("convection2d:50:80").a; // 12,300 entries
  to_factor.val[0] = 0;                              // on the diagonal
  const auto factors = solved(to_factor, "auto", "auto");
  EXPECT_EQ(factors.solver, "direct");
  EXPECT_EQ(factors.format, "csr");
  EXPECT_NE(factors.reason.find("factorisation"), std::string::npos) << factors.reason;
  EXPECT_EQ(solved(generate("convection2d:50:80").a, "direct", "auto").format, "csr");
  EXPECT_EQ(solved(generate("convection2d:50:80").a, "auto", "sell").format, "sell");
  const auto few = solved(generate("poisson2d:25").a, "auto", "auto"); // 3,025 entries
  EXPECT_EQ(few.solver, "cg");
  EXPECT_EQ(few.format, "csr");
  EXPECT_NE(few.reason.find("few entries"), std::string::npos) << few.reason;
  EXPECT_EQ(solved(generate("poisson2d:110").a, "auto", "auto").reason, few.reason); // 60,060 of a grid
  EXPECT_NE(solved(generate("poisson2d:120").a, "auto", "auto").format, "csr");      // 71,520
  EXPECT_EQ(solved(scattered(120000), "auto", "auto").format, "csr");                // 479,998 in many
  EXPECT_EQ(solved(scattered(120000), "auto", "auto").reason, few.reason);
  EXPECT_NE(solved(scattered(140000), "auto", "auto").reason, few.reason); // 559,998
  EXPECT_NE(solved(generate("poisson2d:50").a, "cg", "auto").format,
            "csr"); // 12,300 of a grid, for any number of steps
  EXPECT_EQ(solved(scattered(3000), "cg", "auto").reason, few.reason);
  EXPECT_NE(solved(scattered(20000), "cg", "auto").reason, few.reason);
}

TYPED_TEST(kept_solver, takes_rows_as_it_takes_triplets_and_tells_the_parts_of_its_set_up) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(30, 20));
  const auto b = kit::random_vector<V>(600, 5);
  host_array<std::int64_t> row_ptr(601, 0), col(a.nnz());
  for (index_t k = 0; k < a.nnz(); ++k) ++row_ptr[a.row[k] + 1], col[k] = a.col[k];
  for (index_t r = 0; r < 600; ++r) row_ptr[r + 1] += row_ptr[r];
  for (const char* method : {"auto", "cg"}) {
    auto o = with("jacobi", sizeof(V) == 8 ? 1e-10 : 1e-4);
    o.solver = method;
    host_array<V> x(600, V(0)), y(600, V(0));
    const auto from_triplets = solve(a, as_cview(b), as_view(x), o);
    const csr_arrays<V, std::int64_t> rows{a.shape, as_cview(row_ptr), as_cview(col), as_cview(a.val)};
    const auto report = solver<V>(rows, o).solve(as_cview(b), as_view(y));
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_EQ(report.history, from_triplets.history);
    EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(y)));
    std::vector<std::string> parts;
    double seconds = 0;
    for (const setup_part& p : report.setup_parts) parts.push_back(p.what), seconds += p.seconds;
    const bool named = std::string_view(method) != "auto"; // which asks early what the matrix is
    EXPECT_EQ(parts, (named ? std::vector<std::string>{"check", "look", "choose", "symmetry", "precond", "convert"}
                            : std::vector<std::string>{"check", "look", "symmetry", "choose", "precond", "convert"}));
    EXPECT_LE(seconds, report.setup_seconds);
  }
  const csr_arrays<V, std::int64_t> outside{a.shape, as_cview(row_ptr), as_cview(row_ptr), as_cview(a.val)};
  EXPECT_THROW(solver<V>(outside, with("jacobi")), error);
}

TYPED_TEST(kept_solver, has_the_bits_of_a_solve_for_every_right_hand_side) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(30, 20));
  const auto o = with("jacobi", sizeof(V) == 8 ? 1e-10 : 1e-4);
  solver<V> kept(a, o);
  EXPECT_EQ(kept.shape().rows, 600);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto b = kit::random_vector<V>(600, seed);
    host_array<V> x(600, V(0)), y(600, V(0));
    const auto report = kept.solve(as_cview(b), as_view(x));
    const auto once = solve(a, as_cview(b), as_view(y), o);
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_EQ(report.history, once.history);
    EXPECT_EQ(report.format, once.format);
    EXPECT_EQ(report.stored_bytes, once.stored_bytes);
    EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(y)));
    if (seed > 1) {
      EXPECT_EQ(report.setup_seconds, 0);
    } else {
      EXPECT_EQ(report.setup_seconds, kept.setup_seconds());
    }
  }
}

TYPED_TEST(kept_solver, keeps_what_the_set_up_found_and_says_it_each_time) {
  using V = TypeParam;
  solver<V> kept(kit::as_precision<V>(kit::diagonal({1, -2, 3})), with("jacobi", 1e-3));
  for (int k = 0; k < 2; ++k) {
    const host_array<V> b(3, V(1));
    host_array<V> x(3, V(0));
    const auto report = kept.solve(as_cview(b), as_view(x));
    EXPECT_EQ(report.why, status::not_positive_definite);
    EXPECT_TRUE(mentions(report.message, "diagonal entry 2 is -2")) << report.message;
    EXPECT_NEAR(report.relative_residual, 1, 1e-14);
  }
}

TYPED_TEST(kept_solver, says_that_it_was_moved_from) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::diagonal({1, 2}));
  solver<V> from(a);
  const solver<V> to = std::move(from);
  const host_array<V> b(2, V(1));
  host_array<V> x(2, V(0));
  const auto says = [](auto f) {
    kit::expect_refusal(fault::usage, "this solver is empty, its system was moved to another one: use that", f);
  };
  says([&] { from.solve(as_cview(b), as_view(x)); });
  says([&] { from.solve(as_cview(b), as_view(x), 1); });
  says([&] { from.update_values(a); });
  says([&] { from.update_values(matrix<V>(a)); });
  says([&] { from.set_limits({}); });
  says([&] { from.shape(); });
  says([&] { from.setup_seconds(); });
}

/// As another thread would: its watcher is called while it solves.
TYPED_TEST(kept_solver, takes_no_second_call_while_it_solves) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(20, 10));
  const host_array<V> b(200, V(1));
  host_array<V> x(200, V(0)), y(200, V(0));
  for (const char* method : {"cg", "auto"}) {
    solver<V>* self = nullptr;
    auto o = with("jacobi", 1e-4);
    o.solver = method, o.watch_every = 1;
    int told = 0;
    o.watch = [&](const progress&) {
      const auto says = [](auto f) { EXPECT_TRUE(mentions(kit::said_by(fault::usage, f), "this solver is solving")); };
      says([&] { self->solve(as_cview(b), as_view(y)); });
      says([&] { self->solve(as_cview(b), as_view(y), 1); });
      says([&] { self->update_values(a); });
      return ++told < 3;
    };
    solver<V> kept(a, o);
    self = &kept;
    EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::interrupted);
    EXPECT_EQ(told, 3);
    kept.update_values(a); // which leaves it free for the next one
    EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::interrupted);
  }
}

TEST(kept_solver_in_f32, takes_doubles_of_any_magnitude) {
  auto a = kit::laplacian(15, 15);
  for (double& v : a.val) v *= 1e-60;
  auto o = with("jacobi", 1e-5);
  o.values = precision::f32;
  solver<double> kept(a, o);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto expected = kit::random_vector<double>(225, seed);
    const auto b = kit::times(a, expected);
    host_array<double> x(225, 0.0);
    const auto report = kept.solve(as_cview(b), as_view(x));
    EXPECT_EQ(report.why, status::converged) << report.message;
    for (index_t i = 0; i < 225; ++i) ASSERT_NEAR(x[i], expected[i], 1e-2);
  }
}

TYPED_TEST(kept_solver, shows_x_to_its_monitor) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(40, 40));
  for (const double size : {1.0, sizeof(V) == 8 ? 1e-150 : 1e-25}) { // the second one is scaled inside
    auto b = kit::random_vector<V>(1600, 3);
    for (V& v : b) v *= V(size);
    auto o = with("jacobi", 1e-4);
    std::vector<index_t> seen;
    double last = 0;
    o.monitor_every = 7;
    o.monitor = [&](const progress& p, cview<double> x) {
      seen.push_back(p.iteration);
      EXPECT_EQ(x.size, 1600);
      last = x[800];
      return p.iteration < 21;
    };
    solver<V> kept(a, o);
    host_array<V> x(1600, V(0));
    const auto report = kept.solve(as_cview(b), as_view(x));
    EXPECT_EQ(report.why, status::interrupted) << report.message;
    EXPECT_EQ(seen, (std::vector<index_t>{7, 14, 21}));
    EXPECT_EQ(last, double(x[800]));
  }
}

/// What a method shows of its first steps: to a monitor, or to a watcher that asks.
template <class V> struct shown_steps {
  std::vector<index_t> seen;
  std::vector<host_array<double>> x;
  solve_report report;
};

template <class V> shown_steps<V> show(const coo<V>& a, cview<V> b, solve_options o, bool to_a_watcher, bool asks) {
  shown_steps<V> all;
  const auto add = [&](index_t iteration, host_array<double> x) {
    all.seen.push_back(iteration);
    all.x.push_back(std::move(x));
    return all.seen.size() < 3;
  };
  if (to_a_watcher) {
    o.watch_every = 2;
    o.watch = [&, add](const progress& p) {
      EXPECT_EQ(p.due, p.iteration > 0 && p.iteration % 2 == 0) << p.iteration;
      return !p.due || add(p.iteration, asks ? p.x() : host_array<double>());
    };
  } else {
    o.monitor_every = 2;
    o.monitor = [&, add](const progress& p, cview<double> x) {
      host_array<double> copy(x.size);
      std::copy(x.begin(), x.end(), copy.begin());
      return add(p.iteration, std::move(copy));
    };
  }
  host_array<V> x(a.shape.cols, V(0));
  all.report = solver<V>(a, o).solve(b, as_view(x));
  return all;
}

TYPED_TEST(kept_solver, shows_x_to_a_watcher_that_asks) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(40, 40));
  for (const char* name : {"cg", "bicgstab", "gmres:3", "minres", "fcg", "idr:2", "tfqmr", "lsmr"})
    for (const double size : {1.0, sizeof(V) == 8 ? 1e-150 : 1e-25}) { // the second one is scaled inside
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(size));
      auto b = kit::random_vector<V>(1600, 3);
      for (V& v : b) v *= V(size);
      auto o = kit::options(name, "none", 1e-4);
      const auto told = show<V>(a, as_cview(b), o, false, true), asked = show<V>(a, as_cview(b), o, true, true),
                 silent = show<V>(a, as_cview(b), o, true, false);
      EXPECT_EQ(told.seen, (std::vector<index_t>{2, 4, 6}));
      EXPECT_EQ(asked.seen, told.seen);
      EXPECT_EQ(silent.seen, told.seen);
      EXPECT_EQ(asked.report.relative_residual, silent.report.relative_residual); // asking changes nothing
      ASSERT_EQ(asked.x.size(), told.x.size());
      for (std::size_t k = 0; k < told.x.size(); ++k)
        EXPECT_TRUE(kit::same_bits(as_cview(asked.x[k]), as_cview(told.x[k]))) << k;
    }
}

TEST(watching, keeps_no_x_beyond_its_call) {
  const auto a = generate("poisson2d:20").a;
  const std::vector<double> b(400, 1.0);
  for (const char* method : {"cg", "fgmres", "refine:cg", "auto"}) {
    std::function<host_array<double>()> kept;
    solve_options o;
    o.solver = method, o.rtol = 1e-10, o.watch_every = 1;
    o.watch = [&](const progress& p) {
      if (kept) kit::expect_refusal(fault::usage, "call progress::x there", kept);
      kept = p.x;
      EXPECT_EQ(kept().size(), 400);
      return true;
    };
    std::vector<double> x(400, 0.0);
    solver<double>(coo<double>(a), o).solve(b, x);
    ASSERT_TRUE(kept) << method;
    kit::expect_refusal(fault::usage, "call progress::x there", kept); // the solver is gone, and its vectors
  }
}

TEST(watching_refinement, shows_the_x_of_its_corrections) {
  const auto a = kit::laplacian(40, 40);
  const auto b = kit::random_vector<double>(1600, 3);
  auto o = kit::options("refine:cg", "auto", 1e-13);
  o.watch_every = 1;
  std::vector<double> size;
  o.watch = [&](const progress& p) {
    const host_array<double> x = p.x();
    const double most = std::abs(*std::max_element(x.begin(), x.end()));
    if (p.due) size.push_back(most);
    else EXPECT_EQ(most, size.empty() ? 0 : size.back()); // in the midst of a correction
    return true;
  };
  host_array<double> x(1600, 0.0);
  const auto report = solver<double>(a, o).solve(as_cview(b), as_view(x));
  EXPECT_EQ(report.why, status::converged) << report.message;
  ASSERT_FALSE(size.empty());
  EXPECT_GT(size.front(), 0);
  o.watch_every = -1;
  EXPECT_THROW(solver<double>(a, o), error);
}

TYPED_TEST(kept_solver, takes_an_operator_and_a_preconditioner_of_the_caller) {
  using V = TypeParam;
  const auto matrix = kit::as_precision<V>(kit::laplacian(25, 25));
  const stats s = measure(matrix);
  const auto op = make<V>(choose(s, precision_of<V>, {}, {"csr", "auto"}), {}, matrix);
  index_t products = 0;
  const function_operator<V> own({625, 625}, [&](cview<V> x, view<V> y) {
    ++products;
    op->apply(V(1), x, V(0), y);
  });
  const auto b = kit::random_vector<V>(625, 5);
  auto o = with("none", sizeof(V) == 8 ? 1e-9 : 1e-4);
  o.format = "csr";
  host_array<V> x(625, V(0)), y(625, V(0));
  const auto expected = solve(matrix, as_cview(b), as_view(y), o);
  solver<V> kept(own, nullptr, o, {s.norm_inf, s.row_max});
  const auto report = kept.solve(as_cview(b), as_view(x));
  EXPECT_EQ(report.why, status::converged) << report.message;
  EXPECT_NEAR(double(report.iterations), double(expected.iterations), 1); // x . y is summed up in another order
  EXPECT_GE(products, report.iterations);
  EXPECT_EQ(report.kernel, "function");
  EXPECT_EQ(report.solver + " with " + report.precond, "cg with none");
  const auto jacobi = make_preconditioner<V>("jacobi", matrix, device{}, {{true, true}, {true, true}});
  solver<V> preconditioned(own, jacobi.get(), o, {s.norm_inf, s.row_max});
  std::fill(x.begin(), x.end(), V(0));
  EXPECT_EQ(preconditioned.solve(as_cview(b), as_view(x)).why, status::converged);
  o = {};
  o.where.ordinal = 3; // of a CPU nobody looks at it
  solver<V> of_auto(own, jacobi.get(), o);
  const auto picked = of_auto.solve(as_cview(b), as_view(x));
  EXPECT_EQ(picked.solver + " with " + picked.precond, "cg with own");
}

template <class Operator>
constexpr bool serves_a_solver = std::is_constructible_v<solver<double>, Operator, const any_preconditioner<double>*>;
static_assert(serves_a_solver<function_operator<double>&> && serves_a_solver<const any_operator<double>&>);
static_assert(!serves_a_solver<function_operator<double>>, "it would have ended when the solver begins");

TYPED_TEST(kept_solver, proves_nothing_of_an_operator_that_it_cannot_see) {
  using V = TypeParam;
  // Told its norm, a goal below the rounding of the product is not said to be reached.
  const function_operator<V> own({50, 50}, [](cview<V> x, view<V> y) {
    for (index_t i = 0; i < 50; ++i) y[i] = V(1 + i % 7) * x[i];
  });
  const auto b = kit::random_vector<V>(50, 9);
  host_array<V> x(50, V(0));
  const double tight = std::numeric_limits<V>::epsilon() / 8;
  const auto report = solver<V>(own, nullptr, with("none", tight), {7, 1}).solve(as_cview(b), as_view(x));
  EXPECT_EQ(report.why, status::stagnated) << report.message;
}

TYPED_TEST(kept_solver, function_operators_take_every_factor) {
  using V = TypeParam;
  const function_operator<V> a({2, 3}, [](cview<V> x, view<V> y) {
    y[0] = x[0] + x[1];
    y[1] = x[2];
  });
  const host_array<V> x{1, 2, 3};
  for (const V alpha : {V(0), V(1), V(-2)})
    for (const V beta : {V(0), V(1), V(3)}) {
      host_array<V> y{10, 20};
      if (beta == V(0)) y[0] = y[1] = V(nan);
      a.apply(alpha, as_cview(x), beta, as_view(y));
      EXPECT_EQ(y[0], alpha * V(3) + (beta == V(0) ? V(0) : beta * V(10)));
      EXPECT_EQ(y[1], alpha * V(3) + (beta == V(0) ? V(0) : beta * V(20)));
    }
  EXPECT_THROW((function_operator<V>({2, 2}, nullptr)), error);
  solve_options elsewhere;
  elsewhere.where = {device::kind::gpu, 3};
  const function_operator<V> square({2, 2}, [](cview<V>, view<V>) {});
  EXPECT_THROW(solver<V>(square, nullptr, elsewhere), error);
  solve_options direct;
  direct.solver = "direct";
  EXPECT_NE(kit::said_by(fault::usage, [&] { solver<V>(square, nullptr, direct); }).find("give M, an approximation"),
            std::string::npos);
  EXPECT_THROW((function_operator<V>({-2, 2}, [](cview<V>, view<V>) {})), error);
}

TEST(kept_solver_set_up, can_be_cancelled) {
  for (int calls = 0; calls < 4; ++calls) {
    auto o = with("jacobi");
    int left = calls;
    o.cancelled = [&] { return left-- == 0; };
    solver<double> kept(kit::laplacian(10), o);
    auto b = ones(10);
    host_array<double> x(10, 0.0);
    EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::interrupted) << calls;
  }
}

TYPED_TEST(kept_solver, refuses_vectors_that_do_not_fit) {
  using V = TypeParam;
  solver<V> kept(kit::as_precision<V>(kit::laplacian(4)), with("none", 1e-3));
  host_array<V> b(4, V(1)), x(3), y(4, V(0));
  EXPECT_THROW(kept.solve(as_cview(b), as_view(x)), error);
  EXPECT_THROW(kept.solve(as_cview(x), as_view(y)), error);
  EXPECT_THROW(kept.solve(as_cview(b), as_view(b)), error);
  EXPECT_EQ(kept.solve(as_cview(b), as_view(y)).why, status::converged);
  // 4 times 2^62 is 0 in 64 bits.
  EXPECT_EQ(kit::said_by(fault::usage, [&] { kept.solve(cview<V>(), view<V>(), index_t(1) << 62); }),
            "4611686018427387904 right-hand sides have 0 elements for a matrix of 4 rows: give one for each row and "
            "column");
}

TEST(solver_object, refuses_facts_that_bound_nothing) {
  const function_operator<double> a({1, 1}, [](cview<double> x, view<double> y) { y[0] = x[0]; });
  for (const operator_facts bad : {operator_facts{-1, 1}, {std::nan(""), 1}, {INFINITY, 1}, {1, -1}})
    EXPECT_NE(kit::said_by(fault::usage, [&] { solver<double>(a, nullptr, {}, bad); }).find("of the operator must be"),
              std::string::npos);
}

struct diagonal_of_ones final : any_preconditioner<double> {
  explicit diagonal_of_ones(index_t n) : ones(n, 1.0) {}
  void apply(cview<double> r, view<double> z) const override { std::copy(r.begin(), r.end(), z.begin()); }
  kind what() const override { return kind::diagonal; }
  cview<double> diagonal() const override { return as_cview(ones); }
  double stored_bytes() const override { return 0; }
  host_array<double> ones;
};

TEST(solver_object, refuses_a_diagonal_of_another_length) {
  const function_operator<double> a({4, 4},
                                    [](cview<double> x, view<double> y) { std::copy_n(x.begin(), 4, y.begin()); });
  for (const index_t n : {0, 3, 5}) {
    const diagonal_of_ones m(n);
    EXPECT_EQ(kit::said_by(fault::usage, [&] { solver<double>(a, &m); }),
              "the diagonal of the preconditioner has " + std::to_string(n) +
                  " elements for a matrix of 4 x 4: give one for each column");
  }
  const diagonal_of_ones m(4);
  solver<double>(a, &m);
}

/// The solve that runs keeps what it needs.
TEST(solver_object, may_be_moved_or_assigned_to_by_its_own_monitor) {
  const auto a = kit::laplacian(20, 10);
  const host_array<double> b(200, 1.0);
  auto o = with("jacobi", 1e-6);
  host_array<double> alone(200, 0.0);
  solve(a, as_cview(b), as_view(alone), o);
  for (const bool assigns : {false, true}) {
    solver<double> other(kit::laplacian(3), with("jacobi", 1e-6));
    std::optional<solver<double>> taken;
    solver<double>* self = nullptr;
    o.monitor = [&](const progress& p, cview<double>) {
      if (p.iteration == 2 && assigns) *self = std::move(other);
      if (p.iteration == 2 && !assigns) taken.emplace(std::move(*self));
      return true;
    };
    solver<double> kept(a, o);
    self = &kept;
    host_array<double> x(200, 0.0);
    EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::converged);
    EXPECT_TRUE(kit::same_bits<double>(as_cview(x), as_cview(alone)));
    EXPECT_EQ((assigns ? kept : *taken).shape().rows, assigns ? 3 : 200);
  }
}

TEST(solver_object, keeps_the_parameters_of_its_method) {
  const auto a = generate("convection2d:10:5").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  std::unique_ptr<solver<double>> kept;
  {
    solve_options o;
    o.solver = "gmres:" + std::string(1, '7'); // gone before the solve
    o.precond = "none";
    kept = std::make_unique<solver<double>>(coo<double>(a), o);
    o.solver = "fgmres:123456789";
  }
  host_array<double> x(b.size(), 0.0);
  EXPECT_EQ(kept->solve(as_cview(b), as_view(x)).why, status::converged);
}

} // namespace
} // namespace furrow
