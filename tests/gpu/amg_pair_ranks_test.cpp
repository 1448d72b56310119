// SPDX-License-Identifier: BSD-3-Clause
// Multigrid over ranks on two GPUs, through each other's memory, NCCL and the host.
#include "amg_ranks_on_gpu.hpp"

#include "distributed/nccl/library.hpp"

namespace furrow {
namespace {

struct gpu_amg_pair_ranks : on_gpu {
  void SetUp() override {
    on_gpu::SetUp();
    if (IsSkipped()) return;
    if (inspect_gpus().gpus.size() < 2) GTEST_SKIP() << "one GPU, this needs two";
  }
};

TEST_F(gpu_amg_pair_ranks, solve_as_processors_do) { check_amg_on_gpus<double>(gpus({0, 1}), 1e-9); }
TEST_F(gpu_amg_pair_ranks, solve_in_single_precision) { check_amg_on_gpus<float>(gpus({1, 0}), 1e-4); }
TEST_F(gpu_amg_pair_ranks, have_the_cycle_of_processors) { check_cycle_on_gpus<double>(gpus({0, 1}), 2e-5); }

/// M and x of every way that there is.
TEST_F(gpu_amg_pair_ranks, have_the_same_bits_by_all_ways) {
  const auto a = generate("poisson3d:30").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  std::string about;
  const auto z = amg_of_ranks<double>(gpus({0, 0}), a, b, 60, about);
  const auto x = kit::solve_on_ranks<double>(gpus({0, 0}), a, b, with("cg", "amg:sa")).x;
  const auto peers = kit::solve_on_ranks<double>(gpus({0, 1}), a, b, with("cg", "amg:sa"));
  EXPECT_EQ(peers.on.way, "peer memory");
  EXPECT_TRUE(kit::same_bits(peers.x, x));
  std::vector<gpu_way> ways{gpu_way::peer_memory, gpu_way::host};
  if (nccl::searched().found) ways.push_back(gpu_way::nccl);
  for (const gpu_way way : ways)
    EXPECT_TRUE(kit::same_bits(amg_of_ranks<double>(gpus({0, 1}), a, b, 60, about, way), z));
}

TEST_F(gpu_amg_pair_ranks, solve_by_nccl) {
  if (!nccl::searched().found) GTEST_SKIP() << nccl::sentence(nccl::searched());
  const auto a = generate("poisson3d:30").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  const auto peers = kit::solve_on_ranks<double>(gpus({0, 1}), a, b, with("cg", "amg:sa"));
  host_array<double> x(a.shape.rows, 0.0);
  std::string way;
  const auto solve = [&](communicator& c) {
    const auto said = c.rank() == 0 ? solve_from_first<double>(c, a, as_cview(b), as_view(x), with("cg", "amg:sa"))
                                    : solve_from_first<double>(c, {}, {}, {}, {});
    EXPECT_EQ(said.report.why, status::converged) << said.report.message;
    if (c.rank() == 0) way = said.way;
  };
  run_ranks(gpus({0, 1}), solve, gpu_way::nccl);
  EXPECT_EQ(way, nccl::searched().found->name());
  EXPECT_TRUE(kit::same_bits(x, peers.x));
}

} // namespace
} // namespace furrow
