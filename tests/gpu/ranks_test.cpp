// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share one GPU: through the host, and single products in its memory.
#include "ranks_on_gpu.hpp"

namespace furrow {
namespace {

struct gpu_ranks : on_gpu {};

TEST_F(gpu_ranks, of_one_device_solve_as_processors_do) {
  check_solvers<double>(gpus({0, 0}), 1e-9);
  check_solvers<double>(gpus({0, 0, 0}), 1e-9);
}
TEST_F(gpu_ranks, of_one_device_solve_in_single_precision) { check_solvers<float>(gpus({0, 0}), 1e-4); }

TEST_F(gpu_ranks, of_one_device_say_that_they_go_through_the_host) {
  const auto a = generate("poisson2d:20").a;
  const auto s = kit::solve_on_ranks<double>(gpus({0, 0}), a, host_array<double>(400, 1.0), with("cg"));
  EXPECT_EQ(s.on.way, "the host: gpu:0 has several ranks");
  EXPECT_GT(s.on.parts[0].waiting_seconds, 0);
  EXPECT_LE(s.on.parts[0].waiting_seconds, s.on.parts[0].solve_seconds);
  const auto cpu = kit::solve_on_ranks<double>(2, a, host_array<double>(400, 1.0), with("cg"));
  EXPECT_EQ(cpu.on.way, "");
}

TEST_F(gpu_ranks, are_one_where_there_is_one) {
  const auto a = generate("poisson2d:40").a;
  const auto s = kit::solve_on_ranks<double>(gpus({0}), a, kit::random_vector<double>(1600, 1), with("cg"));
  EXPECT_EQ(s.report().why, status::converged) << s.report().message;
  EXPECT_EQ(s.on.way, "peer memory");
}

TEST_F(gpu_ranks, multiply_as_the_whole_matrix) {
  for (const auto& a : matrices_of_ranks()) {
    check_products<double>(gpus({0, 0}), a);
    check_products<float>(gpus({0, 0, 0}), a);
    check_products<double>(gpus({0}), a);
  }
}

TEST_F(gpu_ranks, take_their_rows_apart_as_processors_do) {
  auto all = matrices_of_ranks();
  all.push_back(generate("convection2d:40:10").a);
  auto off = kit::laplacian(40, 30), strange = off, missing = off, nearly = off;
  off.val[off.nnz() - 2] += 1e-3;
  strange.val[4000] = std::numeric_limits<double>::quiet_NaN();
  for (index_t k = 0; k < missing.nnz(); ++k)
    if (missing.row[k] == missing.col[k] && missing.row[k] % 97 == 5) missing.val[k] = 0;
  for (index_t k = 0; k < nearly.nnz(); ++k) nearly.val[k] *= 1 + double(k % 5) * 1e-15;
  // Of a later rank, in columns of an earlier one: the largest row, one that is not dominant, and what is no number.
  auto below = kit::laplacian(40, 30), unknown = below;
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < below.nnz(); ++k) entries.push_back({below.row[k], below.col[k], below.val[k]});
  entries.push_back({1190, 3, 50.0});
  below = kit::assemble(below.shape, entries);
  entries.back().value = std::numeric_limits<double>::infinity();
  unknown = kit::assemble(below.shape, entries);
  all.insert(all.end(), {off, strange, missing, nearly, below, unknown});
  for (const auto& a : all) {
    check_apart<double>(gpus({0, 0}), a);
    check_apart<float>(gpus({0, 0, 0}), a);
    check_apart<double>(gpus({0}), a);
  }
}

TEST_F(gpu_ranks, set_up_on_the_gpu_and_say_how_long_it_took) {
  const auto a = generate("poisson3d:40").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const std::vector<std::string> usual{"upload", "apart", "symmetry", "look", "choose", "precond", "convert"};
  const auto s = kit::solve_on_ranks<double>(gpus({0, 0}), a, b, with("cg"));
  std::vector<std::string> parts;
  for (const setup_part& p : s.report().setup_parts) parts.push_back(p.what);
  EXPECT_EQ(parts, usual);
  for (const char* format : {"csr", "sell", "dia", "coo"}) {
    auto o = with("cg");
    o.format = format;
    const auto cpu = kit::solve_on_ranks<double>(2, a, b, o),
               there = kit::solve_on_ranks<double>(gpus({0, 0}), a, b, o);
    EXPECT_EQ(there.report().why, status::converged) << format << ": " << there.report().message;
    EXPECT_EQ(there.report().format, cpu.report().format);
    expect_about(there.report().iterations, cpu.report().iterations, format);
  }
}

TEST_F(gpu_ranks, may_be_more_than_rows) {
  for (const index_t n : {1, 2, 3}) {
    const auto a = kit::laplacian(n);
    const auto b = kit::times<double>(a, kit::random_vector<double>(n, 2));
    for (const char* solver : {"cg", "gmres", "bicgstab"}) {
      const auto s = kit::solve_on_ranks<double>(gpus({0, 0, 0, 0}), a, b, with(solver));
      EXPECT_EQ(s.report().why, status::converged) << n << " rows: " << s.report().message;
    }
  }
}

TEST_F(gpu_ranks, precondition_by_the_block_of_each) {
  const auto a = generate("poisson2d:40").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  for (const char* precond :
       {"local:ic0", "local:block_jacobi:4", "local:amg:sa", "local:fsai", "local:chebyshev:3", "local:none"}) {
    const auto cpu = kit::solve_on_ranks<double>(2, a, b, with("cg", precond));
    const auto s = kit::solve_on_ranks<double>(gpus({0, 0}), a, b, with("cg", precond));
    EXPECT_EQ(s.report().why, status::converged) << precond << ": " << s.report().message;
    EXPECT_LE(s.report().iterations, 1.3 * double(cpu.report().iterations) + 3) << precond;
  }
}

TEST_F(gpu_ranks, end_as_processors_do_where_there_is_no_answer) {
  const auto periodic = kit::laplacian(24, 1, 1, true);
  auto indefinite = kit::laplacian(24);
  for (index_t k = 0; k < indefinite.nnz(); ++k)
    if (indefinite.row[k] == indefinite.col[k] && indefinite.row[k] % 2) indefinite.val[k] = 0.5;
  auto with_nan = kit::laplacian(24);
  with_nan.val[50] = std::numeric_limits<double>::quiet_NaN();
  const auto b = kit::random_vector<double>(24, 1);
  for (const coo<double>* a : std::vector{&periodic, static_cast<const coo<double>*>(&indefinite),
                                          static_cast<const coo<double>*>(&with_nan)}) {
    const auto cpu = kit::solve_on_ranks<double>(2, *a, b, with("cg"));
    const auto there = kit::solve_on_ranks<double>(gpus({0, 0}), *a, b, with("cg"));
    EXPECT_EQ(there.report().why, cpu.report().why) << there.report().message << " / " << cpu.report().message;
  }
  auto bad = b; // a preconditioner that refuses: the report tells the residual of the first guess
  const auto zero = kit::solve_on_ranks<double>(gpus({0, 0}), kit::laplacian(24), host_array<double>(24, 0.0));
  EXPECT_EQ(zero.report().message, "b is zero, so x is zero");
  bad[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(kit::solve_on_ranks<double>(gpus({0, 0}), kit::laplacian(24), bad).report().why, status::nan);
}

TEST_F(gpu_ranks, obey_the_watcher_and_the_monitor_of_the_first) {
  const auto a = generate("poisson2d:60").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  auto o = with("cg", "none", 1e-12);
  int asked = 0;
  o.watch = [&](const progress&) { return ++asked < 3; };
  EXPECT_EQ(kit::solve_on_ranks<double>(gpus({0, 0}), a, b, o).report().why, status::interrupted);
  o.watch = {};
  index_t seen = 0;
  o.monitor = [&](const progress& now, cview<double> x) {
    EXPECT_EQ(x.size, a.shape.rows);
    seen = now.iteration;
    return now.iteration < 30;
  };
  o.monitor_every = 10;
  EXPECT_EQ(kit::solve_on_ranks<double>(gpus({0, 0}), a, b, o).report().why, status::interrupted);
  EXPECT_EQ(seen, 30);
  o.monitor = {};
  o.watch = [](const progress&) -> bool { throw error(fault::input, "the watcher has had enough"); };
  host_array<double> x(a.shape.rows, 0.0);
  EXPECT_EQ(kit::said_by([&] {
              run_ranks(gpus({0, 0}), [&](communicator& c) {
                if (c.rank() == 0) solve_from_first<double>(c, a, as_cview(b), as_view(x), o);
                else solve_from_first<double>(c, {}, {}, {}, {});
              });
            }),
            "the watcher has had enough");
}

TEST_F(gpu_ranks, keep_checkpoints_of_their_parts) {
  check_checkpoints(gpus({0}));
  check_checkpoints(gpus({0, 0}));
  check_checkpoints(gpus({0, 0, 0}));
}

TEST_F(gpu_ranks, refuse_what_does_not_run_there) {
  const auto a = kit::laplacian(8);
  const host_array<double> b(8, 1.0);
  host_array<double> x(8, 0.0);
  const auto says = [&](const std::string& sentence, const solve_options& o) {
    const std::string said = kit::said_by([&] {
      run_ranks(gpus({0, 0}), [&](communicator& c) {
        if (c.rank() == 0) solve_from_first<double>(c, a, as_cview(b), as_view(x), o);
        else solve_from_first<double>(c, {}, {}, {}, {});
      });
    });
    EXPECT_NE(said.find(sentence), std::string::npos) << said;
  };
  says("cg_tutorial keeps its scalars on the host", with("cg_tutorial"));
  says("cg_resident does not run on ranks yet", with("cg_resident"));
  auto o = with("cg");
  o.where = {device::kind::gpu, 99};
  says("ranks compute on gpu:0", o);
}

TEST_F(gpu_ranks, refuse_a_way_that_there_is_not) {
  const auto a = kit::laplacian(40);
  const auto says = [&](const std::vector<device>& on, gpu_way through) {
    return kit::said_by([&] {
      run_ranks(
          on, [&](communicator& c) { part_of_rank<double>(c, a); }, through);
    });
  };
  EXPECT_EQ(says(gpus({0, 0}), gpu_way::nccl), "the ranks cannot talk through NCCL: gpu:0 has several ranks");
  EXPECT_EQ(says(gpus({0, 0}), gpu_way::peer_memory),
            "the ranks cannot talk through peer memory: gpu:0 has several ranks: take nccl or host");
  EXPECT_EQ(says(gpus({0, 0}), gpu_way::host), "");
}

/// As a rank of MPI does: its communicator knows no GPU, and gets one.
TEST_F(gpu_ranks, may_get_their_gpus_from_a_list) {
  const auto a = generate("poisson2d:40").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  const auto there = gpus({0});
  host_array<double> x(a.shape.rows, 0.0);
  run_ranks(2, [&](communicator& processors) {
    const auto c = with_gpus(processors, there);
    const auto said = c->rank() == 0 ? solve_from_first<double>(*c, a, as_cview(b), as_view(x), with("cg"))
                                     : solve_from_first<double>(*c, {}, {}, {}, {});
    EXPECT_EQ(said.report.why, status::converged) << said.report.message;
    EXPECT_EQ(said.way, "the host: gpu:0 has several ranks");
    for (const rank_part& p : said.parts) EXPECT_EQ(p.where, there.front());
  });
  EXPECT_TRUE(kit::same_bits(x, kit::solve_on_ranks<double>(gpus({0, 0}), a, b, with("cg")).x));
}

} // namespace
} // namespace furrow
