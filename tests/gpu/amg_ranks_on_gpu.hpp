// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ranks_on_gpu.hpp"

#include "distributed/amg/amg_on_gpus.hpp"

#include <cmath>

/// What multigrid over ranks with a GPU each must keep, whatever they talk through.
namespace furrow {

/// Formats of processors leave zeros out that were stored: they would count as entries on GPUs alone.
inline coo<double> generated_without_zeros(const char* spec) {
  const coo<double> a = generate(spec).a;
  std::vector<kit::triplet> some;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.val[k] != 0) some.push_back({a.row[k], a.col[k], a.val[k]});
  return kit::assemble(a.shape, std::move(some));
}

/// Matrices that leave at least one level among the ranks: weakly dominant rows, long rows, weak couplings, and rows
/// whose spectrum is bounded by a Lanczos run of all ranks.
inline constexpr const char* spread_over_ranks[] = {"poisson3d:20", "poisson2d:90", "stencil3d27:18",
                                                    "anisotropic2d:80:0.01", "elasticity3d:12"};

/// The levels, the iterations and the x of ranks of processors; the same bits on every run.
template <class V> void check_amg_on_gpus(const std::vector<device>& on, double rtol) {
  for (const char* spec : spread_over_ranks) {
    const auto a = generated_without_zeros(spec);
    const auto b = kit::times<V>(a, kit::random_vector<V>(a.shape.cols, 7));
    for (const char* precond : {"amg:sa", "amg:sa:1", "amg:sa:3"}) {
      const auto o = with("cg", precond, rtol);
      const auto cpu = kit::solve_on_ranks<V>(int(on.size()), a, b, o);
      const auto there = kit::solve_on_ranks<V>(on, a, b, o), again = kit::solve_on_ranks<V>(on, a, b, o);
      const std::string what = std::string(spec) + " with " + precond + ": " + there.report().message;
      EXPECT_EQ(there.report().why, status::converged) << what;
      EXPECT_NEAR(double(there.report().iterations), double(cpu.report().iterations), 1) << what;
      EXPECT_EQ(there.report().precond_about, cpu.report().precond_about) << what;
      ASSERT_EQ(there.report().levels.size(), cpu.report().levels.size()) << what;
      for (std::size_t k = 0; k < cpu.report().levels.size(); ++k) {
        EXPECT_EQ(there.report().levels[k].rows, cpu.report().levels[k].rows) << what << ", level " << k;
        EXPECT_EQ(there.report().levels[k].entries, cpu.report().levels[k].entries) << what << ", level " << k;
      }
      double off = 0, size = 0;
      for (index_t i = 0; i < b.size(); ++i)
        off = std::max(off, std::abs(double(there.x[i]) - double(cpu.x[i]))),
        size = std::max(size, std::abs(double(cpu.x[i])));
      EXPECT_LE(off, 1e4 * rtol * size) << what;
      EXPECT_TRUE(kit::same_bits(there.x, again.x)) << what;
      EXPECT_EQ(there.report().history, again.report().history) << what;
    }
  }
}

/// z = M r of ranks with these devices, put together; levels of more than `gathered` rows lie among them.
template <class V>
host_array<V> amg_of_ranks(const std::vector<device>& on, const coo<double>& a, const host_array<V>& r,
                           index_t gathered, std::string& about, gpu_way through = gpu_way::best) {
  host_array<V> z(r.size());
  const auto apply = [&](communicator& c) {
    coo<V> mine = rows_of<V>(c, a);
    const auto gpu = rank_device::open(c);
    const auto here = gpu ? gpu->enter() : nullptr;
    std::unique_ptr<any_preconditioner<V>> m;
    const index_t n = mine.shape.rows, first = a.shape.rows * c.rank() / c.size();
    host_array<V> own(n), image(n);
    std::copy_n(r.data() + first, n, own.begin());
    if (gpu) {
      auto rows = take_apart_rows(c, matrix_source<V>(std::move(mine), c.where()));
      m = amg_on_gpus<V>(
          c, *gpu,
          {rows.begins, rows.own_there->rows(), std::move(rows.far), std::move(rows.far_rows), std::move(rows.plan)}, 2,
          gathered);
      const gpu_array<V> there(own);
      gpu_array<V> to(n);
      for (int turn = 0; turn < 3; ++turn) m->apply(as_cview(there), as_view(to)); // buffers take turns
      image = host_array<V>(to);
      gpu->check();
    } else {
      m = amg_on_ranks<V>(c, mine, 2, gathered);
      m->apply(as_cview(own), as_view(image));
    }
    std::copy_n(image.data(), n, z.data() + first);
    if (c.rank() == 0) about = m->describe();
    c.sum(0); // they end together
    m.reset();
  };
  if (on.front().is_gpu()) run_ranks(on, apply, through);
  else run_ranks(int(on.size()), apply);
  return z;
}

/// Several levels among the ranks: M is that of processors, but for rounding.
template <class V>
void check_cycle_on_gpus(const std::vector<device>& on, double unit, gpu_way through = gpu_way::best) {
  auto random = kit::laplacian(40, 30, 1, true); // periodic: the first rank and the last one are neighbours
  for (index_t k = 0; k < random.nnz(); ++k)
    if (random.row[k] == random.col[k]) random.val[k] += 0.1;
  std::vector<coo<double>> all{std::move(random)};
  for (const char* spec : spread_over_ranks) all.push_back(generate(spec).a);
  for (const auto& a : all) {
    const auto r = kit::random_vector<V>(a.shape.rows, 5);
    std::string about, about_there;
    const auto z = amg_of_ranks<V>(std::vector<device>(on.size()), a, r, 60, about);
    const auto there = amg_of_ranks<V>(on, a, r, 60, about_there, through);
    EXPECT_EQ(about_there, about);
    double off = 0, size = 0;
    for (index_t i = 0; i < z.size(); ++i)
      off += std::pow(double(z[i]) - double(there[i]), 2), size += std::pow(double(z[i]), 2);
    EXPECT_LE(std::sqrt(off), unit * std::sqrt(size)) << about;
    EXPECT_GT(size, 0) << about;
  }
}

} // namespace furrow
