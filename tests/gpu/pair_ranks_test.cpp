// SPDX-License-Identifier: BSD-3-Clause
// Ranks on two GPUs, through each other's memory and through NCCL, and NCCL on one.
#include "ranks_on_gpu.hpp"

#include "distributed/nccl/library.hpp"

#include <thread>

namespace furrow {
namespace {

/// Where the tests' process has NCCL for itself, loops of solvers may be graphs that hold it, and otherwise steps.
struct gpu_ranks_by_nccl : on_gpu {
  void SetUp() override {
    on_gpu::SetUp();
    if (IsSkipped()) return;
    if (!nccl::searched().found) GTEST_SKIP() << nccl::sentence(nccl::searched());
  }
};

TEST_F(gpu_ranks_by_nccl, are_one_where_there_is_one) {
  for (const auto& a : matrices_of_ranks()) check_products<double>(gpus({0}), a, gpu_way::nccl);
  const auto poisson = generate("poisson2d:40").a, skew = generate("convection2d:40:10").a;
  for (const char* solver : {"cg", "cg_single_reduction", "bicgstab", "gmres"}) {
    const auto& a = std::string(solver).starts_with("cg") ? poisson : skew;
    const auto b = kit::random_vector<double>(a.shape.rows, 3);
    std::string way;
    const auto by_nccl = answer(gpus({0}), a, b, solver, way, gpu_way::nccl);
    EXPECT_EQ(way, nccl::searched().found->name());
    EXPECT_TRUE(kit::same_bits(by_nccl, answer(gpus({0}), a, b, solver, way))) << solver;
    EXPECT_EQ(way, "peer memory");
  }
}

struct gpu_pair_ranks : on_gpu {
  void SetUp() override {
    on_gpu::SetUp();
    if (IsSkipped()) return;
    if (inspect_gpus().gpus.size() < 2) GTEST_SKIP() << "one GPU, this needs two";
  }
};

TEST_F(gpu_pair_ranks, solve_as_processors_do) { check_solvers<double>(gpus({0, 1}), 1e-9); }
TEST_F(gpu_pair_ranks, solve_in_single_precision) { check_solvers<float>(gpus({1, 0}), 1e-4); }

TEST_F(gpu_pair_ranks, keep_checkpoints_of_their_parts) { check_checkpoints(gpus({0, 1})); }

TEST_F(gpu_pair_ranks, multiply_as_the_whole_matrix) {
  for (const auto& a : matrices_of_ranks()) {
    check_products<double>(gpus({0, 1}), a);
    check_products<float>(gpus({0, 1}), a);
  }
}

TEST_F(gpu_pair_ranks, take_their_rows_apart_as_processors_do) {
  for (const auto& a : matrices_of_ranks()) check_apart<double>(gpus({0, 1}), a);
}

TEST_F(gpu_pair_ranks, have_the_bits_of_ranks_that_go_through_the_host) {
  const auto a = generate("poisson3d:30").a, skew = generate("convection2d:50:10").a;
  for (const char* solver : {"cg", "cg_single_reduction", "bicgstab", "gmres", "idr"}) {
    const auto& matrix = std::string(solver).starts_with("cg") ? a : skew;
    const auto b = kit::random_vector<double>(matrix.shape.rows, 3);
    std::string way;
    const auto host = answer(gpus({0, 0}), matrix, b, solver, way);
    EXPECT_EQ(way, "the host: gpu:0 has several ranks");
    const auto peers = answer(gpus({0, 1}), matrix, b, solver, way);
    EXPECT_EQ(way, "peer memory");
    EXPECT_TRUE(kit::same_bits(host, peers)) << solver;
  }
}

struct gpu_pair_ranks_by_nccl : gpu_pair_ranks {
  void SetUp() override {
    gpu_pair_ranks::SetUp();
    if (IsSkipped()) return;
    if (!nccl::searched().found) GTEST_SKIP() << nccl::sentence(nccl::searched());
  }
};

TEST_F(gpu_pair_ranks_by_nccl, multiply_as_the_whole_matrix) {
  for (const auto& a : matrices_of_ranks()) {
    check_products<double>(gpus({0, 1}), a, gpu_way::nccl);
    check_products<float>(gpus({1, 0}), a, gpu_way::nccl);
  }
}

TEST_F(gpu_pair_ranks_by_nccl, have_the_bits_of_ranks_that_go_through_the_host) {
  const auto a = generate("poisson3d:30").a, skew = generate("convection2d:50:10").a;
  for (const char* solver : {"cg", "cg_single_reduction", "bicgstab", "gmres"}) {
    const auto& matrix = std::string(solver).starts_with("cg") ? a : skew;
    const auto b = kit::random_vector<double>(matrix.shape.rows, 3);
    std::string way;
    const auto host = answer(gpus({0, 1}), matrix, b, solver, way, gpu_way::host);
    EXPECT_EQ(way, "the host: as asked for");
    const auto by_nccl = answer(gpus({0, 1}), matrix, b, solver, way, gpu_way::nccl);
    EXPECT_EQ(way, nccl::searched().found->name());
    EXPECT_TRUE(kit::same_bits(host, by_nccl)) << solver;
  }
}

TEST_F(gpu_pair_ranks_by_nccl, keep_checkpoints_of_their_parts) { check_checkpoints(gpus({1, 0}), gpu_way::nccl); }

TEST_F(gpu_pair_ranks_by_nccl, do_not_wait_for_ever) {
  double seconds = 0;
  EXPECT_EQ(alone(gpus({0, 1}), false, seconds, gpu_way::nccl),
            "gpu:0 (rank 0) has waited 10 s for the others through NCCL, and one of them does not answer: the solve "
            "ends");
  EXPECT_GT(seconds, 9);
  EXPECT_LT(seconds, 15);
  EXPECT_EQ(alone(gpus({0, 1}), true, seconds, gpu_way::nccl), "the solve of another rank has ended");
  EXPECT_LT(seconds, 4);
}

TEST_F(gpu_pair_ranks_by_nccl, end_everywhere_where_a_watcher_throws) {
  const auto a = generate("poisson2d:100").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  auto o = with("cg", "none", 1e-13);
  o.watch = [](const progress&) -> bool { throw error(fault::input, "the watcher has had enough"); };
  host_array<double> x(a.shape.rows, 0.0);
  const auto solve = [&](communicator& c) {
    if (c.rank() == 0) solve_from_first<double>(c, a, as_cview(b), as_view(x), o);
    else solve_from_first<double>(c, {}, {}, {}, {});
  };
  EXPECT_EQ(kit::said_by([&] { run_ranks(gpus({0, 1}), solve, gpu_way::nccl); }), "the watcher has had enough");
}

TEST_F(gpu_pair_ranks, do_not_wait_for_ever) {
  double seconds = 0;
  EXPECT_EQ(alone(gpus({0, 1}), false, seconds),
            "gpu:0 (rank 0) has waited 10 s for gpu:1 (rank 1), which does not answer: the solve ends");
  EXPECT_LT(seconds, 15);
  EXPECT_EQ(alone(gpus({0, 1}), true, seconds), "the solve of another rank has ended");
  EXPECT_LT(seconds, 2);
}

TEST_F(gpu_pair_ranks, precondition_by_the_block_of_each) {
  const auto a = generate("poisson3d:30").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  for (const char* precond : {"local:ic0", "local:amg:sa", "local:block_jacobi:4"}) {
    const auto s = kit::solve_on_ranks<double>(gpus({0, 1}), a, b, with("cg", precond));
    EXPECT_EQ(s.report().why, status::converged) << precond << ": " << s.report().message;
    EXPECT_EQ(s.on.way, "peer memory");
  }
}

TEST_F(gpu_pair_ranks, solve_again_and_again_beside_others) {
  const auto a = generate("poisson2d:60").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  const auto first = kit::solve_on_ranks<double>(gpus({0, 1}), a, b, with("cg"));
  const auto work = [&] {
    for (int k = 0; k < 5; ++k)
      EXPECT_TRUE(kit::same_bits(kit::solve_on_ranks<double>(gpus({0, 1}), a, b, with("cg")).x, first.x));
  };
  std::thread beside(work);
  work();
  beside.join();
}

TEST_F(gpu_pair_ranks, end_everywhere_where_a_watcher_throws) {
  const auto a = generate("poisson2d:100").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  auto o = with("cg", "none", 1e-13);
  o.watch = [](const progress&) -> bool { throw error(fault::input, "the watcher has had enough"); };
  host_array<double> x(a.shape.rows, 0.0);
  EXPECT_EQ(kit::said_by([&] {
              run_ranks(gpus({0, 1}), [&](communicator& c) {
                if (c.rank() == 0) solve_from_first<double>(c, a, as_cview(b), as_view(x), o);
                else solve_from_first<double>(c, {}, {}, {}, {});
              });
            }),
            "the watcher has had enough");
}

} // namespace
} // namespace furrow
