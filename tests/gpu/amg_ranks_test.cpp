// SPDX-License-Identifier: BSD-3-Clause
// Multigrid over ranks that share one GPU.
#include "amg_ranks_on_gpu.hpp"

namespace furrow {
namespace {

struct gpu_amg_ranks : on_gpu {};

TEST_F(gpu_amg_ranks, of_one_device_solve_as_processors_do) {
  check_amg_on_gpus<double>(gpus({0, 0}), 1e-9);
  check_amg_on_gpus<double>(gpus({0, 0, 0}), 1e-9);
}
TEST_F(gpu_amg_ranks, of_one_device_solve_in_single_precision) { check_amg_on_gpus<float>(gpus({0, 0}), 1e-4); }

TEST_F(gpu_amg_ranks, have_the_cycle_of_processors) {
  for (const auto& on : {gpus({0}), gpus({0, 0}), gpus({0, 0, 0, 0})}) check_cycle_on_gpus<double>(on, 2e-5);
  check_cycle_on_gpus<float>(gpus({0, 0}), 2e-5);
}

TEST_F(gpu_amg_ranks, are_one_where_there_is_one) {
  const auto a = generate("poisson3d:24").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const auto cpu = kit::solve_on_ranks<double>(1, a, b, with("cg", "amg:sa"));
  const auto s = kit::solve_on_ranks<double>(gpus({0}), a, b, with("cg", "amg:sa"));
  EXPECT_EQ(s.report().why, status::converged) << s.report().message;
  EXPECT_NEAR(double(s.report().iterations), double(cpu.report().iterations), 1);
  EXPECT_EQ(s.on.way, "peer memory");
}

TEST_F(gpu_amg_ranks, say_what_of_a_level_took_how_long) {
  const auto a = generate("poisson3d:24").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const std::vector<std::string> usual{"look", "aggregates", "borders", "prolong", "products", "complete", "keep"};
  const auto s = kit::solve_on_ranks<double>(gpus({0, 0}), a, b, with("cg", "amg:sa"));
  const auto& levels = s.report().levels;
  ASSERT_GE(levels.size(), 2u);
  std::vector<std::string> parts;
  double all = 0;
  for (const setup_part& p : levels[0].parts) {
    parts.push_back(p.what), all += p.seconds;
    EXPECT_GT(p.seconds, 0) << p.what;
  }
  EXPECT_EQ(parts, usual);
  EXPECT_GT(all, 0.5 * levels[0].seconds); // of the slowest rank
  EXPECT_LE(all, 1.5 * levels[0].seconds);
  EXPECT_TRUE(levels.back().parts.empty()) << "each rank has it";
  const auto cpu = kit::solve_on_ranks<double>(2, a, b, with("cg", "amg:sa"));
  for (const auto& l : cpu.report().levels) EXPECT_TRUE(l.parts.empty());
}

TEST_F(gpu_amg_ranks, serve_other_methods) {
  const auto a = generate("poisson3d:20").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  for (const char* solver : {"minres", "fcg", "gmres", "bicgstab", "cg_single_reduction", "auto"}) {
    const auto s = kit::solve_on_ranks<double>(gpus({0, 0}), a, b, with(solver, "amg:sa"));
    EXPECT_EQ(s.report().why, status::converged) << solver << ": " << s.report().message;
    EXPECT_EQ(s.report().precond, "amg:sa");
    EXPECT_LT(s.report().iterations, 40) << solver;
  }
}

TEST_F(gpu_amg_ranks, may_have_no_rows_and_rows_no_couplings) {
  const auto tiny = kit::laplacian(3);
  for (const auto& on : {gpus({0, 0}), gpus({0, 0, 0, 0})}) {
    EXPECT_EQ(kit::solve_on_ranks<double>(on, tiny, host_array<double>(3, 1.0), with("cg", "amg:sa")).report().why,
              status::converged);
    std::vector<double> d(5000); // more than are gathered, and nothing to put together
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = 1 + double(i % 7);
    const auto s =
        kit::solve_on_ranks<double>(on, kit::diagonal(d), kit::random_vector<double>(5000, 3), with("cg", "amg:sa"));
    EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    EXPECT_NE(s.report().precond_about.find("do not shrink any more"), std::string::npos) << s.report().precond_about;
  }
}

TEST_F(gpu_amg_ranks, serve_values_of_any_size) {
  for (const double size : {1e-150, 1e150}) {
    auto a = generate("poisson3d:18").a;
    for (double& v : a.val) v *= size;
    const auto b = kit::random_vector<double>(a.shape.rows, 1);
    const auto s = kit::solve_on_ranks<double>(gpus({0, 0}), a, b, with("cg", "amg:sa"));
    EXPECT_EQ(s.report().why, status::converged) << size << ": " << s.report().message;
    EXPECT_LT(s.report().iterations, 30);
  }
  auto wide = generate("poisson3d:18").a; // levels in double
  for (index_t k = 0; k < wide.nnz(); ++k)
    if (wide.row[k] == 7 && wide.col[k] == 7) wide.val[k] = 1e31;
  const auto b = kit::times<double>(wide, kit::random_vector<double>(wide.shape.rows, 1));
  const auto cpu = kit::solve_on_ranks<double>(2, wide, b, with("cg", "amg:sa", 1e-6)),
             there = kit::solve_on_ranks<double>(gpus({0, 0}), wide, b, with("cg", "amg:sa", 1e-6));
  EXPECT_EQ(there.report().why, cpu.report().why) << there.report().message;
  EXPECT_EQ(there.report().precond_about, cpu.report().precond_about);
  EXPECT_NE(there.report().precond_about.find(", f64; "), std::string::npos) << there.report().precond_about;
}

TEST_F(gpu_amg_ranks, solve_again_with_another_b) {
  const auto a = generate("poisson3d:20").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const auto once = kit::solve_on_ranks<double>(gpus({0, 0}), a, b, with("cg", "amg:sa"));
  run_ranks(gpus({0, 0}), [&](communicator& c) {
    const index_t n = a.shape.rows / 2, first = c.rank() * n;
    solver_on_ranks<double> solver(c, rows_of<double>(c, a), with("cg", "amg:sa"));
    host_array<double> own(n), x(n, 0.0);
    for (int turn = 0; turn < 3; ++turn) {
      for (index_t i = 0; i < n; ++i) own[i] = turn == 1 ? 1.0 : b[first + i], x[i] = 0;
      EXPECT_EQ(solver.solve(as_cview(own), as_view(x)).report.why, status::converged);
    }
    EXPECT_TRUE(std::equal(x.begin(), x.end(), once.x.data() + first)); // the cut is the same: rows are alike
  });
}

TEST_F(gpu_amg_ranks, refuse_what_they_cannot_serve) {
  auto indefinite = generate("poisson3d:18").a;
  for (index_t k = 0; k < indefinite.nnz(); ++k)
    if (indefinite.row[k] == 100 && indefinite.col[k] == 100) indefinite.val[k] = -6;
  const auto b = kit::random_vector<double>(indefinite.shape.rows, 1);
  const auto s = kit::solve_on_ranks<double>(gpus({0, 0}), indefinite, b, with("cg", "amg:sa"));
  EXPECT_EQ(s.report().why, status::not_positive_definite) << s.report().message;
  const auto a = generate("convection2d:20:10").a;
  const host_array<double> ones(a.shape.rows, 1.0);
  host_array<double> x(a.shape.rows, 0.0);
  const std::string said = kit::said_by([&] {
    run_ranks(gpus({0, 0}), [&](communicator& c) {
      if (c.rank() == 0) solve_from_first<double>(c, a, as_cview(ones), as_view(x), with("bicgstab", "amg:sa"));
      else solve_from_first<double>(c, {}, {}, {}, {});
    });
  });
  EXPECT_NE(said.find("amg:sa over ranks is made for symmetric matrices, local:amg:sa for others, too: "),
            std::string::npos)
      << said;
}

/// `auto` comes to it behind a diagonal, whose rows it finds where they lay.
TEST_F(gpu_amg_ranks, are_found_by_auto) {
  const auto a = generate("anisotropic2d:300:0.001").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const auto s = kit::solve_on_ranks<double>(gpus({0, 0}), a, b);
  EXPECT_EQ(s.report().why, status::converged) << s.report().message;
  EXPECT_EQ(s.report().precond, "amg:sa");
  ASSERT_EQ(s.report().rungs.size(), 2u);
  EXPECT_EQ(s.report().rungs[0].precond, "jacobi");
}

} // namespace
} // namespace furrow
