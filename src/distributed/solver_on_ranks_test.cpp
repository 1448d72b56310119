// SPDX-License-Identifier: BSD-3-Clause
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <thread>

namespace furrow {
namespace {

solve_options with(const char* solver, const char* precond = "jacobi", double rtol = 1e-9) {
  solve_options o;
  o.solver = solver, o.precond = precond, o.rtol = rtol;
  return o;
}

/// Nearly the same: sums of other pieces round elsewhere.
void expect_about(index_t iterations, index_t of_one, const std::string& what) {
  EXPECT_NEAR(double(iterations), double(of_one), 2 + 0.1 * double(of_one)) << what;
}

struct method_and_matrix {
  const char *solver, *matrix;
  double rtol = 1e-9; ///< for `double`
};
std::ostream& operator<<(std::ostream& out, const method_and_matrix& m) { return out << m.solver << " " << m.matrix; }

class solvers_on_ranks : public testing::TestWithParam<method_and_matrix> {};
INSTANTIATE_TEST_SUITE_P(
    , solvers_on_ranks,
    testing::Values(method_and_matrix{"cg", "poisson2d:20"}, method_and_matrix{"cg_single_reduction", "poisson2d:20"},
                    method_and_matrix{"cg_tutorial", "poisson2d:20"}, method_and_matrix{"block_cg", "poisson2d:20"},
                    method_and_matrix{"fcg", "poisson2d:20"}, method_and_matrix{"cr", "poisson2d:20"},
                    method_and_matrix{"minres", "poisson2d:20"}, method_and_matrix{"bicgstab", "convection2d:20:10"},
                    method_and_matrix{"bicgstab2", "convection2d:20:10"},
                    method_and_matrix{"tfqmr", "convection2d:20:10"}, method_and_matrix{"gmres", "convection2d:20:10"},
                    method_and_matrix{"gmres:7", "convection2d:20:10"},
                    method_and_matrix{"fgmres", "convection2d:20:10"}, method_and_matrix{"idr", "convection2d:20:10"},
                    method_and_matrix{"idr:2", "convection2d:20:10"}),
    [](const auto& one) {
      std::string name = one.param.solver;
      std::ranges::replace(name, ':', '_');
      return name;
    });

template <class V> void check_like_one_rank(const method_and_matrix& m, double rtol) {
  const auto a = generate(m.matrix).a;
  const auto b = kit::times<V>(a, kit::random_vector<V>(a.shape.cols, 7));
  for (const char* precond : {"none", "jacobi"}) {
    const auto o = with(m.solver, precond, rtol);
    const auto one = kit::solve_honestly<V>(a, b, o);
    ASSERT_EQ(one.report.why, status::converged) << one.report.message;
    for (const int ranks : kit::numbers_of_ranks) {
      const auto several = kit::solve_on_ranks<V>(ranks, a, b, o), again = kit::solve_on_ranks<V>(ranks, a, b, o);
      EXPECT_EQ(several.report().why, status::converged) << ranks << ": " << several.report().message;
      expect_about(several.report().iterations, one.report.iterations, std::to_string(ranks) + " ranks");
      EXPECT_EQ(several.report().solver, one.report.solver);
      EXPECT_EQ(several.report().precond, precond);
      EXPECT_TRUE(kit::same_bits(several.x, again.x)) << ranks;
      EXPECT_EQ(several.report().history, again.report().history) << ranks;
    }
  }
}

TEST_P(solvers_on_ranks, go_as_on_one_rank) { check_like_one_rank<double>(GetParam(), 1e-9); }
TEST_P(solvers_on_ranks, go_as_on_one_rank_in_single_precision) { check_like_one_rank<float>(GetParam(), 1e-4); }

TEST_P(solvers_on_ranks, have_more_ranks_than_rows) {
  for (const index_t n : {1, 2, 3}) {
    const auto a = kit::laplacian(n);
    const auto b = kit::times<double>(a, kit::random_vector<double>(n, 2));
    for (const int ranks : {4, 7}) {
      const auto s = kit::solve_on_ranks<double>(ranks, a, b, with(GetParam().solver));
      EXPECT_EQ(s.report().why, status::converged) << n << " rows: " << s.report().message;
    }
  }
}

TEST_P(solvers_on_ranks, have_the_same_bits_for_every_number_of_threads) {
  const auto a = generate(GetParam().matrix).a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const int before = threads();
  set_threads(1);
  const auto narrow = kit::solve_on_ranks<double>(2, a, b, with(GetParam().solver));
  set_threads(6);
  const auto wide = kit::solve_on_ranks<double>(2, a, b, with(GetParam().solver));
  set_threads(before);
  EXPECT_TRUE(kit::same_bits(narrow.x, wide.x));
}

TEST(solver_on_ranks, has_the_bits_of_a_solve_without_ranks_on_one) {
  const auto a = generate("poisson3d:12").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  for (const char* solver : {"cg", "gmres", "idr"}) {
    auto o = with(solver);
    o.format = "dia"; // of a matrix that is so small ranks choose, and a solve without them leaves the rows as they are
    const auto without = kit::solve_honestly<double>(a, b, o);
    const auto one = kit::solve_on_ranks<double>(1, a, b, o);
    EXPECT_TRUE(kit::same_bits(without.x, one.x)) << solver;
    EXPECT_EQ(without.report.message, one.report().message) << solver;
    EXPECT_EQ(without.report.history, one.report().history) << solver;
  }
}

TEST(solver_on_ranks, tells_the_parts_of_the_slowest_set_up) {
  const auto a = generate("poisson3d:30").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const std::vector<std::string> usual{"check", "apart", "symmetry", "look", "choose", "precond", "convert"};
  for (const int ranks : {1, 3}) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b, with("cg"));
    std::vector<std::string> parts;
    double seconds = 0, longest = 0;
    for (const setup_part& p : s.report().setup_parts) parts.push_back(p.what), seconds += p.seconds;
    for (const rank_part& p : s.on.parts) longest = std::max(longest, p.setup_seconds);
    EXPECT_EQ(parts, usual);
    EXPECT_GT(seconds, 0);
    EXPECT_LE(seconds, longest);
    EXPECT_EQ(s.report().setup_seconds, longest);
  }
}

TEST(solver_on_ranks, takes_what_auto_takes) {
  struct expected {
    coo<double> a;
    const char* solver;
  };
  const expected all[] = {{generate("poisson2d:15").a, "cg"},
                          {generate("convection2d:60:3").a, "bicgstab"},
                          {kit::diagonal({2, -1, 3, 5, -4, 1, 2, 2}), "direct"}}; // by the first rank
  for (const auto& [a, solver] : all) {
    const auto b = kit::random_vector<double>(a.shape.rows, 1);
    for (const int ranks : kit::numbers_of_ranks) {
      const auto s = kit::solve_on_ranks<double>(ranks, a, b);
      EXPECT_EQ(s.report().why, status::converged) << s.report().message;
      EXPECT_EQ(s.report().solver, solver);
    }
  }
}

TEST(solver_on_ranks, goes_on_where_cg_finds_a_matrix_not_to_be_definite) {
  const auto a = kit::from_function(12, [](index_t i, index_t j) { return i == j ? 1.0 : i + j == 11 ? 3.0 : 0.0; });
  const auto b = kit::random_vector<double>(12, 1);
  for (const int ranks : kit::numbers_of_ranks) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b);
    EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    ASSERT_EQ(s.report().rungs.size(), 2u);
    EXPECT_EQ(s.report().rungs[0].why, status::not_positive_definite);
    EXPECT_EQ(s.report().solver, "direct");
    solve_options o;
    o.precond = "jacobi";
    const auto named = kit::solve_on_ranks<double>(ranks, a, b, o);
    EXPECT_EQ(named.report().why, status::converged) << named.report().message;
    ASSERT_EQ(named.report().rungs.size(), 2u);
    EXPECT_EQ(named.report().solver, "minres");
  }
}

TEST(solver_on_ranks, has_no_unknowns_or_one) {
  for (const int ranks : kit::numbers_of_ranks) {
    const auto none = kit::solve_on_ranks<double>(ranks, {}, {});
    EXPECT_EQ(none.report().why, status::converged) << none.report().message;
    const auto one = kit::solve_on_ranks<double>(ranks, kit::diagonal({4}), {8});
    EXPECT_EQ(one.report().why, status::converged) << one.report().message;
    EXPECT_NEAR(one.x[0], 2, 1e-12);
    const auto zero =
        kit::solve_on_ranks<double>(ranks, kit::laplacian(5), host_array<double>(5, 0.0), {}, {1, 2, 3, 4, 5});
    EXPECT_EQ(zero.report().message, "b is zero, so x is zero");
    for (const double v : zero.x) EXPECT_EQ(v, 0);
  }
}

TEST(solver_on_ranks,
     has_ranks_without_neighbours) { // a diagonal, and a chain that crosses the ranks only at its start
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < 40; ++i) entries.push_back({i, i, 3});
  for (index_t i = 0; i + 1 < 15; ++i) entries.push_back({i, i + 1, -1}), entries.push_back({i + 1, i, -1});
  const auto a = kit::assemble({40, 40}, std::move(entries));
  const auto b = kit::random_vector<double>(40, 3);
  for (const char* solver : {"cg", "gmres"}) {
    const auto s = kit::solve_on_ranks<double>(4, a, b, with(solver));
    EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    EXPECT_EQ(s.on.parts.back().neighbours, 0);
    EXPECT_EQ(s.on.parts.back().halo, 0);
    EXPECT_GT(s.on.parts.front().neighbours, 0);
  }
}

TEST(solver_on_ranks, says_what_each_rank_has) {
  const auto a = generate("poisson2d:12").a;
  const auto s = kit::solve_on_ranks<double>(3, a, host_array<double>(144, 1.0));
  EXPECT_EQ(s.on.parts[1].neighbours, 2);
  EXPECT_EQ(s.on.parts[1].halo, 24); // the lines of points above and below
  for (const rank_part& p : s.on.parts) {
    EXPECT_GT(p.solve_seconds, 0);
    EXPECT_GE(p.waiting_seconds, 0);
    EXPECT_LE(p.waiting_seconds, p.solve_seconds);
  }
}

TEST(solver_on_ranks, preconditions_by_the_block_of_each_rank) {
  const auto a = generate("poisson2d:24").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  const auto jacobi = kit::solve_on_ranks<double>(4, a, b, with("cg"));
  for (const char* precond : {"local:ic0", "local:ssor", "local:amg:sa", "local:block_jacobi:4", "local:jacobi"}) {
    index_t of_one = 0;
    for (const int ranks : kit::numbers_of_ranks) {
      const auto s = kit::solve_on_ranks<double>(ranks, a, b, with("cg", precond));
      const auto again = kit::solve_on_ranks<double>(ranks, a, b, with("cg", precond));
      EXPECT_EQ(s.report().why, status::converged) << precond << ": " << s.report().message;
      EXPECT_EQ(s.report().precond, precond);
      EXPECT_TRUE(kit::same_bits(s.x, again.x)) << precond;
      if (ranks == 1) of_one = s.report().iterations;
      EXPECT_GE(s.report().iterations + 2, of_one) << precond; // couplings between ranks are missing in M
    }
  }
  const auto ic0 = kit::solve_on_ranks<double>(4, a, b, with("cg", "local:ic0"));
  EXPECT_LT(ic0.report().iterations, 0.7 * double(jacobi.report().iterations));
  EXPECT_EQ(ic0.report().precond_about, "ic0 of the block of each of 4 ranks");
}

TEST(solver_on_ranks, looks_at_a_doubtful_answer_of_a_named_block) {
  const auto a = generate("disc2d:30").a; // its error is looked at by complete factors on the first rank
  const auto b = kit::times<double>(a, host_array<double>(a.shape.rows, 1.0));
  const auto s = kit::solve_on_ranks<double>(2, a, b, with("auto", "local:ic0"));
  EXPECT_EQ(s.report().why, status::converged) << s.report().message;
  EXPECT_EQ(s.report().precond, "local:ic0");
}

TEST(solver_on_ranks, starts_from_a_guess_and_keeps_the_better_one) {
  const auto a = generate("poisson2d:15").a;
  const auto truth = kit::random_vector<double>(a.shape.rows, 5);
  const auto b = kit::times<double>(a, truth);
  for (const int ranks : kit::numbers_of_ranks) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b, with("cg"), truth);
    EXPECT_EQ(s.report().iterations, 0);
    auto o = with("cg");
    o.max_iterations = 3;
    const auto stopped = kit::solve_on_ranks<double>(ranks, a, b, o);
    EXPECT_EQ(stopped.report().why, status::max_iterations) << stopped.report().message;
    EXPECT_EQ(stopped.report().iterations, 3);
  }
}

TEST(solver_on_ranks, takes_a_guess_that_is_an_answer_where_the_preconditioner_is_refused) {
  const auto a = generate("convection2d:8:30").a;
  const host_array<double> ones(64, 1.0);
  for (const char* solver : {"auto", "bicgstab"})
    for (const int ranks : kit::numbers_of_ranks) {
      const auto s =
          kit::solve_on_ranks<double>(ranks, a, kit::times<double>(a, ones), with(solver, "local:amg"), ones);
      EXPECT_EQ(s.report().why, status::converged) << solver << ", " << ranks << ": " << s.report().message;
      EXPECT_EQ(s.report().iterations, 0);
    }
}

TEST(solver_on_ranks, solves_where_the_goal_is_near_rounding) { // the residual is worked out beyond rounding
  const auto a = generate("poisson2d:15").a;
  const auto b = kit::times<double>(a, kit::random_vector<double>(a.shape.rows, 5));
  for (const int ranks : kit::numbers_of_ranks) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b, with("cg", "jacobi", 3e-15));
    const auto one = kit::solve_honestly<double>(a, b, with("cg", "jacobi", 3e-15));
    EXPECT_EQ(s.report().why, one.report.why) << s.report().message;
  }
}

TEST(solver_on_ranks, scales_tiny_and_huge_right_hand_sides) {
  const auto a = generate("poisson2d:9").a;
  for (const double size : {1e-200, 1e200}) {
    auto b = kit::random_vector<double>(a.shape.rows, 5);
    for (double& v : b) v *= size;
    for (index_t i = 0; i < 40; ++i) b[i] = 0; // the first ranks see nothing but zeros
    for (const int ranks : kit::numbers_of_ranks) {
      const auto s = kit::solve_on_ranks<double>(ranks, a, b, with("cg"));
      EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    }
  }
}

TEST(solver_on_ranks, ends_as_one_rank_does_where_there_is_no_answer) {
  const auto laplacian = kit::laplacian(24, 1, 1, true); // periodic: ones are in its null space
  const auto b = kit::random_vector<double>(24, 1);
  auto indefinite = kit::laplacian(24);
  for (index_t k = 0; k < indefinite.nnz(); ++k)
    if (indefinite.row[k] == indefinite.col[k] && indefinite.row[k] % 2) indefinite.val[k] = 0.5;
  auto with_nan = kit::laplacian(24);
  with_nan.val[50] = std::numeric_limits<double>::quiet_NaN();
  for (const coo<double>* a :
       {&laplacian, static_cast<const coo<double>*>(&indefinite), static_cast<const coo<double>*>(&with_nan)}) {
    const auto one = kit::solve_honestly<double>(*a, b, with("cg"));
    EXPECT_NE(one.report.why, status::converged);
    for (const int ranks : kit::numbers_of_ranks) {
      const auto s = kit::solve_on_ranks<double>(ranks, *a, b, with("cg"));
      EXPECT_EQ(s.report().why, one.report.why) << ranks << ": " << s.report().message << " / " << one.report.message;
      if (a == &with_nan) {
        EXPECT_EQ(s.report().message, one.report.message) << ranks;
      }
    }
  }
}

TEST(solver_on_ranks, names_rows_without_an_entry_where_b_is_not_zero) {
  const index_t n = 40;
  const auto a = kit::from_function(n, [](index_t i, index_t j) {
    if (i == n - 1 || j == n - 1) return 0.0;
    return i == j ? (i % 2 ? 2.0 : -3.0) : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  for (const char* solver : {"minres", "gmres"})
    for (const int ranks : kit::numbers_of_ranks) {
      const auto s = kit::solve_on_ranks<double>(ranks, a, host_array<double>(n, 1.0), with(solver, "none"));
      EXPECT_EQ(s.report().why, status::singular) << ranks << ": " << s.report().message;
      EXPECT_EQ(s.report().message.find("rounding limits"), std::string::npos) << s.report().message;
    }
}

TEST(solver_on_ranks, refuses_b_and_first_guesses_that_are_not_finite) {
  const auto a = kit::laplacian(10);
  host_array<double> b(10, 1.0), x(10, 0.0);
  b[9] = std::numeric_limits<double>::infinity();
  for (const int ranks : kit::numbers_of_ranks) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b, with("cg"), x);
    EXPECT_EQ(s.report().why, status::nan);
    EXPECT_NE(s.report().message.find("b"), std::string::npos) << s.report().message;
  }
}

TEST(solver_on_ranks, obeys_the_watcher_and_the_clock_of_the_first_rank) {
  const auto a = generate("poisson2d:40").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  for (const int ranks : kit::numbers_of_ranks) {
    auto o = with("cg", "none", 1e-12);
    std::atomic<int> asked = 0;
    const auto here = std::this_thread::get_id();
    o.watch = [&](const progress&) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      return ++asked < 3;
    };
    const auto s = kit::solve_on_ranks<double>(ranks, a, b, o);
    EXPECT_EQ(s.report().why, status::interrupted) << s.report().message;
    EXPECT_EQ(asked, 3);
    o.watch = {}, o.time_limit = 0;
    const auto late = kit::solve_on_ranks<double>(ranks, a, b, o);
    EXPECT_EQ(late.report().why, status::max_iterations) << late.report().message;
    o.cancelled = [] { return true; };
    EXPECT_EQ(kit::solve_on_ranks<double>(ranks, a, b, o).report().why, status::interrupted);
  }
}

TEST(solver_on_ranks, are_interrupted_while_multigrid_is_set_up) {
  const auto a = generate("poisson2d:80").a; // a level lies among the ranks
  const host_array<double> b(a.shape.rows, 1.0);
  for (const int ranks : {2, 3}) {
    auto o = with("cg", "amg:sa");
    std::atomic<int> asked = 0;
    o.cancelled = [&] { return ++asked > 3 * ranks + 1; };
    const auto s = kit::solve_on_ranks<double>(ranks, a, b, o);
    EXPECT_EQ(s.report().why, status::interrupted) << s.report().message;
    EXPECT_EQ(s.report().message, "interrupted while it was set up");
  }
}

TEST(solver_on_ranks, have_one_limit_on_the_time_for_what_comes_before_a_preconditioner_and_for_it) {
  const auto a = generate("poisson2d:80").a;
  const host_array<double> b(a.shape.rows, 1.0);
  for (const char* m : {"amg:sa", "local:ic0"}) {
    auto o = with("cg", m);
    std::atomic<int> asked = 0;
    o.time_limit = 0.15;
    o.cancelled = [&] { // who asks first, before M, takes all of the time
      if (++asked == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return false;
    };
    const auto s = kit::solve_on_ranks<double>(2, a, b, o);
    EXPECT_EQ(s.report().message, std::string(m) + " was not set up within the limit on the time");
  }
}

TEST(solver_on_ranks, keeps_its_set_up) {
  const auto a = generate("poisson2d:10").a; // every rank makes its rows itself
  run_ranks(3, [&](communicator& c) {
    const index_t first = 100 * c.rank() / 3, last = 100 * (c.rank() + 1) / 3;
    std::vector<kit::triplet> mine;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] >= first && a.row[k] < last) mine.push_back({a.row[k] - first, a.col[k], a.val[k]});
    solver_on_ranks<double> solver(c, kit::assemble({last - first, 100}, std::move(mine)), with("cg", "local:ic0"));
    for (const double size : {1.0, 7.0}) {
      const host_array<double> b(last - first, size);
      host_array<double> x(last - first, 0.0), again = x;
      const auto report = solver.solve(as_cview(b), as_view(x)).report;
      EXPECT_EQ(report.why, status::converged) << report.message;
      solver.solve(as_cview(b), as_view(again));
      EXPECT_TRUE(kit::same_bits(x, again));
    }
    const auto moved = std::move(solver);
  });
}

/// What all ranks say of a system and options that one of them gives.
std::string refusal_of(int ranks, const coo<double>& a, const solve_options& o) {
  const host_array<double> b(a.shape.rows, 1.0);
  host_array<double> x(a.shape.rows, 0.0);
  std::vector<std::string> said(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](communicator& c) {
    try {
      if (c.rank() == 0) solve_from_first<double>(c, a, as_cview(b), as_view(x), o);
      else solve_from_first<double>(c, {}, {}, {}, {});
    } catch (const error& e) {
      said[static_cast<std::size_t>(c.rank())] = e.what();
    }
  });
  for (const std::string& s : said) EXPECT_EQ(s, said.front());
  return said.front();
}

TEST(solver_on_ranks, refuses_in_one_sentence_on_every_rank) {
  const auto a = kit::laplacian(8);
  const auto says = [&](const std::string& what, const solve_options& o, const coo<double>& matrix) {
    for (const int ranks : kit::numbers_of_ranks) {
      const std::string sentence = refusal_of(ranks, matrix, o);
      EXPECT_NE(sentence.find(what), std::string::npos) << ranks << ": '" << sentence << "' without '" << what << "'";
    }
  };
  says("lsmr does not run on ranks", with("lsmr"), a);
  says("direct does not run on ranks", with("direct"), a);
  says("refine does not run on ranks", with("refine"), a);
  says("ilu sees the rows of one rank only", with("bicgstab", "ilu"), a);
  says("say local:amg:grid", with("cg", "amg:grid"), a);
  says("nonsense", with("nonsense"), a);
  says("nonsense", with("cg", "local:nonsense"), a);
  says("nonsense", with("cg", "nonsense"), a);
  says("rtol = 2", with("cg", "none", 2), a);
  says("is longer than a name on ranks may be", with("cg", std::string(80, 'x').c_str()), a);
  auto o = with("cg");
  o.where.what = device::kind::gpu;
  says("ranks compute on cpu, and not on gpu:0: leave the device out, or begin them with it, by run_ranks", o, a);
  o = with("cg"), o.values = precision::f32;
  says("in the precision of the system", o, a);
  o = with("cg"), o.tune = true;
  says("formats are not measured on ranks", o, a);
  auto unsymmetric = a;
  unsymmetric.val[1] = 5;
  says("the matrix is not symmetric", with("cg"), unsymmetric);
  says("the matrix is 2 x 3", with("gmres"), kit::assemble({2, 3}, {{0, 0, 1}, {1, 2, 1}}));
  auto broken = a;
  broken.col[3] = 100;
  says("100", with("cg"), broken);
}

TEST(solver_on_ranks, has_a_gpu_for_each_rank_or_for_none) {
  const auto a = kit::laplacian(8);
  const auto solve = [&](communicator& c) {
    std::vector<kit::triplet> mine;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] / 4 == c.rank()) mine.push_back({a.row[k] % 4, a.col[k], a.val[k]});
    const solver_on_ranks<double> s(c, kit::assemble({4, 8}, std::move(mine)), with("cg"));
  };
  const device gpu{device::kind::gpu, 0};
  EXPECT_EQ(kit::said_by([&] {
              run_ranks({gpu, device{}}, solve);
            }),
            "some ranks have a GPU and some do not: give each rank one, or none");
  if (inspect_gpus().gpus.empty()) {
    EXPECT_NE(kit::said_by([&] { run_ranks({gpu, gpu}, solve); }), "");
  }
}

TEST(solver_on_ranks, refuses_vectors_that_do_not_fit) {
  const auto solve = [](communicator& c) {
    solver_on_ranks<double> s(c, kit::assemble({1, 2}, {{0, c.rank(), 1}}), with("cg"));
    const host_array<double> b(c.rank() == 1 ? 2 : 1, 1.0);
    host_array<double> x(1, 0.0);
    s.solve(as_cview(b), as_view(x));
  };
  EXPECT_EQ(kit::sentence_of_ranks(2, solve),
            "rank 1: b has 2 elements and x 1 on a rank of 1 rows: give one for each");
}

TEST(solver_on_ranks, says_that_it_was_moved_from) {
  const auto solve = [](communicator& c) {
    solver_on_ranks<double> from(c, kit::laplacian(4), with("cg"));
    const solver_on_ranks<double> to = std::move(from);
    const host_array<double> b(4, 1.0);
    host_array<double> x(4, 0.0);
    from.solve(as_cview(b), as_view(x));
  };
  EXPECT_EQ(kit::sentence_of_ranks(1, solve), "this solver is empty, its system was moved to another one: use that");
}

TEST(solver_on_ranks, names_elements_and_rows_by_the_numbers_of_the_whole) {
  auto a = kit::laplacian(20);
  host_array<double> b(20, 1.0), x(20, 0.0);
  const auto message = [&](const char* precond) {
    return kit::solve_on_ranks<double>(2, a, b, with("gmres", precond), host_array<double>(x)).report().message;
  };
  b[19] = std::nan("");
  EXPECT_EQ(message("none"), "rank 1: iteration 0: element 20 of b is nan");
  b[19] = 1, x[15] = std::nan("");
  EXPECT_EQ(message("none"), "rank 1: iteration 0: element 16 of the first guess is nan");
  x[15] = 0;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == 15 && a.col[k] == 15) a.val[k] = 0;
  EXPECT_EQ(message("jacobi"), "rank 1: diagonal entry 6 is 0, so jacobi cannot divide by it: use the preconditioner "
                               "none; counted from row 11 of the matrix, the first one of the rank");
}

TEST(solver_on_ranks, hands_on_what_a_monitor_throws) {
  const auto a = generate("poisson2d:30").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  auto o = with("cg");
  o.monitor = [](const progress&, cview<double>) -> bool { throw std::out_of_range("of the caller"); };
  for (const int ranks : kit::numbers_of_ranks)
    EXPECT_THROW(kit::solve_on_ranks<double>(ranks, a, b, o), std::out_of_range);
}

TEST(solver_on_ranks, ends_everywhere_where_a_watcher_throws) {
  const auto a = generate("poisson2d:30").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  auto o = with("cg");
  o.watch = [](const progress&) -> bool { throw error(fault::input, "the watcher has had enough"); };
  for (const int ranks : kit::numbers_of_ranks) {
    host_array<double> x(a.shape.rows, 0.0);
    EXPECT_EQ(kit::sentence_of_ranks(ranks,
                                     [&](communicator& c) {
                                       if (c.rank() == 0) solve_from_first<double>(c, a, as_cview(b), as_view(x), o);
                                       else solve_from_first<double>(c, {}, {}, {}, {});
                                     }),
              "the watcher has had enough");
  }
}

} // namespace
} // namespace furrow
