// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "on_gpu.hpp"

#include "distributed/features.hpp"
#include "distributed/gpu/rank_device.hpp"
#include "distributed/together.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"
#include "preconditioners/entry.hpp"
#include "solve/run.hpp"

#include <furrow/checkpoint.hpp>
#include <furrow/generate.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string>
#include <unistd.h>
#include <vector>

/// What ranks with a GPU each must keep, whatever they talk through.
namespace furrow {

inline std::vector<device> gpus(std::initializer_list<int> ordinals) {
  std::vector<device> all;
  for (const int k : ordinals) all.push_back({device::kind::gpu, k});
  return all;
}

inline solve_options with(const std::string& solver, const std::string& precond = "jacobi", double rtol = 1e-9) {
  return kit::options(solver, precond, rtol);
}

struct method_and_matrix {
  const char *solver, *matrix;
};
inline constexpr method_and_matrix methods[] = {{"cg", "poisson2d:40"},
                                                {"cg_single_reduction", "poisson2d:40"},
                                                {"block_cg", "poisson2d:40"},
                                                {"fcg", "poisson2d:40"},
                                                {"cr", "poisson2d:40"},
                                                {"minres", "poisson2d:40"},
                                                {"bicgstab", "convection2d:40:10"},
                                                {"bicgstab2", "convection2d:40:10"},
                                                {"tfqmr", "convection2d:40:10"},
                                                {"gmres", "convection2d:40:10"},
                                                {"gmres:7", "convection2d:40:10"},
                                                {"fgmres", "convection2d:40:10"},
                                                {"idr", "convection2d:40:10"}};

inline void expect_about(index_t iterations, index_t expected, const std::string& what) {
  EXPECT_NEAR(double(iterations), double(expected), 3 + 0.1 * double(expected)) << what;
}

/// Every solver there, with its verdict as on processors and the same bits on every run.
template <class V> void check_solvers(const std::vector<device>& on, double rtol) {
  for (const auto& [solver, matrix] : methods) {
    const auto a = generate(matrix).a;
    const auto b = kit::times<V>(a, kit::random_vector<V>(a.shape.cols, 7));
    for (const char* precond : {"none", "jacobi"}) {
      const auto o = with(solver, precond, rtol);
      const auto cpu = kit::solve_on_ranks<V>(int(on.size()), a, b, o);
      const auto there = kit::solve_on_ranks<V>(on, a, b, o), again = kit::solve_on_ranks<V>(on, a, b, o);
      const std::string what = std::string(solver) + " with " + precond;
      EXPECT_EQ(there.report().why, cpu.report().why) << what << ": " << there.report().message;
      expect_about(there.report().iterations, cpu.report().iterations, what);
      EXPECT_TRUE(kit::same_bits(there.x, again.x)) << what;
      EXPECT_EQ(there.report().history, again.report().history) << what;
      for (std::size_t r = 0; r < on.size(); ++r) EXPECT_EQ(there.on.parts[r].where, on[r]);
    }
  }
}

/// Rows of this rank, of a matrix that all have.
template <class V> coo<V> rows_of(communicator& c, const coo<double>& whole) {
  const index_t n = whole.shape.rows, first = n * c.rank() / c.size(), last = n * (c.rank() + 1) / c.size();
  std::vector<kit::triplet> mine;
  for (index_t k = 0; k < whole.nnz(); ++k)
    if (whole.row[k] >= first && whole.row[k] < last)
      mine.push_back({whole.row[k] - first, whole.col[k], whole.val[k]});
  return kit::as_precision<V>(kit::assemble({last - first, n}, std::move(mine)));
}

/// A rank's part of a system, and what runs it: as `solver_on_ranks` does, but with a way of our choice.
template <class V> struct part_of_rank {
  std::unique_ptr<rank_device> gpu;
  std::unique_ptr<rank_device::scope> here;
  rows_of_rank<V> rows;
  index_t entries = 0;
  std::unique_ptr<any_preconditioner<V>> m;
  std::unique_ptr<operator_of_rank<V>> a;

  part_of_rank(communicator& c, const coo<double>& whole, const char* precond = "jacobi")
      : gpu(rank_device::open(c)), here(gpu->enter()) {
    rows = take_apart_rows(c, rows_of<V>(c, whole));
    m = make_preconditioner<V>(precond, rows.own, c.where(), {});
    const choice how = choose(measure(rows.own), precision_of<V>, c.where(), {});
    a = gpu->make_operator(c, rows, make(how, c.where(), std::move(rows.own)));
  }
  ~part_of_rank() { m.reset(), a.reset(), here.reset(); }
  index_t size() const { return a->shape().rows; }

  solve_report solve(communicator& c, const std::string& solver, cview<V> b, view<V> x, solve_options o) {
    o.where = c.where(), o.values = precision_of<V>;
    const linear_system<V> system{.a = *a,
                                  .m = *m,
                                  .b = b,
                                  .x = x,
                                  .norm_inf = rows.norm_inf,
                                  .norm_2 = rows.norm_inf,
                                  .longest_row = rows.longest_row,
                                  .ranks = &c,
                                  .unknowns = rows.unknowns,
                                  .first_row = rows.first};
    return run_on_host_vectors<V>(find_solver(solver), system, o);
  }
};

template <class V> void expect_same(const coo<V>& got, const coo<V>& wanted) {
  EXPECT_EQ(got.shape, wanted.shape);
  EXPECT_TRUE(std::ranges::equal(got.row, wanted.row));
  EXPECT_TRUE(std::ranges::equal(got.col, wanted.col));
  EXPECT_TRUE(kit::same_bits(got.val, wanted.val));
}

/// Rows that are taken apart on the GPU of each rank, beside the same by the host.
template <class V> void check_apart(const std::vector<device>& on, const coo<double>& a) {
  run_ranks(on, [&](communicator& c) {
    const auto gpu = rank_device::open(c);
    const auto here = gpu->enter();
    const coo<V> mine = rows_of<V>(c, a);
    const rows_of_rank<V> host = take_apart_rows(c, mine),
                          there = take_apart_rows(c, matrix_source<V>(coo<V>(mine), c.where()));
    ASSERT_TRUE(there.own_there.has_value());
    ASSERT_TRUE(there.own_there->has_rows());
    EXPECT_EQ(there.own.shape, host.own.shape);
    expect_same(there.own_there->triplets(), host.own);
    expect_same(there.far, host.far);
    EXPECT_TRUE(std::ranges::equal(there.far_rows, host.far_rows));
    EXPECT_TRUE(std::ranges::equal(there.plan.columns, host.plan.columns));
    EXPECT_TRUE(std::ranges::equal(there.plan.rows_sent, host.plan.rows_sent));
    EXPECT_EQ(there.longest_row, host.longest_row);
    EXPECT_EQ(there.finite, host.finite);
    EXPECT_EQ(there.positive_diagonal, host.positive_diagonal);
    EXPECT_EQ(there.full_diagonal, host.full_diagonal);
    if (host.finite) {
      EXPECT_NEAR(there.norm_inf, host.norm_inf, 1e-13 * host.norm_inf);
      EXPECT_EQ(largest_column_sum(c, there), largest_column_sum(c, host));
      EXPECT_EQ(asymmetry(c, there), asymmetry(c, host));
      const features f = features_on_ranks(c, there, true), g = features_on_ranks(c, host, true);
      EXPECT_EQ(f.nnz, g.nnz);
      EXPECT_EQ(f.zero_diagonal, g.zero_diagonal);
      EXPECT_EQ(f.negative_diagonal, g.negative_diagonal);
      EXPECT_EQ(f.small_diagonal, g.small_diagonal);
      EXPECT_EQ(f.dominant, g.dominant);
      EXPECT_EQ(f.scales, g.scales);
      EXPECT_EQ(std::min(f.diagonals, most_diagonals), std::min(g.diagonals, most_diagonals));
    }
    c.sum(0); // they end together
  });
}

/// y = b - A x, y . y and y . u on GPUs against processors, and x . A x.
template <class V>
inline void check_products(const std::vector<device>& on, const coo<double>& a, gpu_way through = gpu_way::best) {
  const auto check = [&](communicator& c) {
    const part_of_rank<V> mine(c, a, "none");
    const index_t n = mine.size(), first = mine.rows.first;
    const auto x = kit::random_vector<V>(a.shape.cols, 3), b = kit::random_vector<V>(a.shape.rows, 4),
               u = kit::random_vector<V>(a.shape.rows, 5);
    std::vector<double> truth(static_cast<std::size_t>(a.shape.rows), 0), size = truth;
    for (index_t k = 0; k < a.nnz(); ++k) {
      const double term = double(V(a.val[k])) * double(x[a.col[k]]);
      truth[std::size_t(a.row[k])] += term, size[std::size_t(a.row[k])] += std::abs(term);
    }
    const auto part = [&](const host_array<V>& v) {
      host_array<V> own(n);
      std::copy_n(v.data() + first, n, own.begin());
      return gpu_array<V>(own);
    };
    const gpu_array<V> there_x = part(x), there_b = part(b), there_u = part(u);
    gpu_array<V> y(n);
    gpu_array<double> sums(8, -1.0);
    const double unit = std::numeric_limits<V>::epsilon();
    for (int turn = 0; turn < 3; ++turn) { // both buffers, and the first one again
      const auto residual_with = [&](epilogue<V> e) {
        e.b = as_cview(there_b);
        mine.a->apply_with(as_cview(there_x), as_view(y), e);
      };
      residual_with({{}, {as_cview(y), {sums.data()}}});
      residual_with({{}, {}, {as_cview(there_b), as_cview(there_u), {sums.data() + 2}}});
      residual_with({{}, {as_cview(there_u), {sums.data() + 1}}});
      const host_array<V> r(y);
      mine.a->apply_dot(as_cview(there_x), as_view(y), {sums.data() + 7});
      const host_array<V> product(y);
      mine.a->apply(V(2), as_cview(there_x), V(-3), as_view(y));
      const host_array<V> last(y);
      const host_array<double> home(sums);
      double rr = 0, rb = 0, ru = 0, bb = 0, bu = 0, bound = 0, xy = 0, xy_bound = 0;
      for (index_t i = 0; i < n; ++i) {
        const auto row = std::size_t(first + i);
        ASSERT_NEAR(product[i], truth[row], 40 * unit * size[row]);
        ASSERT_NEAR(r[i], double(b[first + i]) - truth[row], 40 * unit * (1 + size[row]));
        ASSERT_NEAR(last[i], 2 * truth[row] - 3 * double(product[i]), 100 * unit * (1 + size[row]));
        rr += double(r[i]) * double(r[i]), ru += double(r[i]) * double(u[first + i]);
        const double of_b(b[first + i]);
        rb += double(r[i]) * of_b, bb += of_b * of_b, bu += of_b * double(u[first + i]);
        bound += (1 + size[row]) * (std::abs(double(u[first + i])) + std::abs(of_b));
        xy += double(x[first + i]) * truth[row], xy_bound += std::abs(double(x[first + i])) * size[row];
      }
      rr = c.sum(rr), ru = c.sum(ru), bound = c.sum(bound), xy = c.sum(xy), xy_bound = c.sum(xy_bound);
      ASSERT_NEAR(home[0], rr, 1e-12 * rr);
      ASSERT_NEAR(home[1], ru, 100 * unit * bound);
      ASSERT_NEAR(home[2], rr, 1e-12 * rr);
      ASSERT_NEAR(home[3], c.sum(rb), 100 * unit * bound);
      ASSERT_NEAR(home[4], ru, 100 * unit * bound);
      ASSERT_NEAR(home[5], c.sum(bb), 1e-12 * bound);
      ASSERT_NEAR(home[6], c.sum(bu), 1e-12 * bound);
      ASSERT_NEAR(home[7], xy, 100 * unit * xy_bound);
    }
    // The rows that it was made of, and elements of others.
    host_array<V> own_x(n);
    std::copy_n(x.data() + first, n, own_x.begin());
    const auto told = mine.a->to_triplets();
    const auto wide = mine.a->with_others(as_cview(own_x));
    ASSERT_TRUE(told.has_value());
    std::vector<double> again(static_cast<std::size_t>(n), 0);
    for (index_t k = 0; k < told->nnz(); ++k)
      again[std::size_t(told->row[k])] += double(told->val[k]) * double(wide[told->col[k]]);
    for (index_t i = 0; i < n; ++i)
      ASSERT_NEAR(again[std::size_t(i)], truth[std::size_t(first + i)], 40 * unit * size[std::size_t(first + i)]);
    mine.gpu->check();
    c.sum(0); // they end together
  };
  run_ranks(on, check, through);
}

inline std::vector<coo<double>> matrices_of_ranks() {
  return {kit::laplacian(30, 20, 10),
          kit::laplacian(400),
          generate("stencil3d27:12").a,
          generate("random:3000:60").a,              // long far rows
          kit::diagonal(std::vector<double>(50, 2)), // nobody talks
          kit::assemble({6, 6}, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 0, 1}, {4, 1, 1}, {5, 2, 1}})};
}

/// What a solver answers where ranks share a GPU, or have one each, by the way that `open` finds.
inline host_array<double> answer(const std::vector<device>& on, const coo<double>& a, const host_array<double>& b,
                                 const std::string& solver, std::string& way, gpu_way through = gpu_way::best) {
  host_array<double> whole(a.shape.rows, 0.0);
  const auto solve = [&](communicator& c) {
    part_of_rank<double> mine(c, a);
    host_array<double> own_b(mine.size()), x(mine.size(), 0.0);
    std::copy_n(b.data() + mine.rows.first, mine.size(), own_b.begin());
    const auto report = mine.solve(c, solver, as_cview(own_b), as_view(x), with(solver));
    EXPECT_EQ(report.why, status::converged) << report.message;
    std::copy_n(x.data(), mine.size(), whole.data() + mine.rows.first);
    if (c.rank() == 0) way = mine.gpu->way();
    c.sum(0); // they end together
  };
  run_ranks(on, solve, through);
  return whole;
}

/// A keeper gets the parts of x that lie on the GPUs: what it has written is the x that a monitor sees whole.
inline void check_checkpoints(const std::vector<device>& on, gpu_way through = gpu_way::best) {
  const auto a = generate("poisson2d:60").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const std::string file = testing::TempDir() + "furrow-" + std::to_string(::getpid()) + ".ckpt";
  host_array<double> x(a.shape.rows, 0.0);
  int told = 0;
  auto o = with("cg", "none");
  o.monitor = [&](const progress&, cview<double> whole) {
    ++told;
    EXPECT_TRUE(std::ranges::equal(read_checkpoint(file).x, whole));
    return true;
  };
  checkpoint_keeper keeper(file, 1e-9, {.system = fingerprint(a, as_cview(b)), .solver = "cg"});
  keeper.watch(o);
  const auto solve = [&](communicator& c) {
    if (c.rank() == 0) keeper.finish(solve_from_first<double>(c, a, as_cview(b), as_view(x), o).report, as_cview(x));
    else solve_from_first<double>(c, {}, {}, {}, {});
  };
  run_ranks(on, solve, through);
  EXPECT_GT(told, 1);
  EXPECT_EQ(keeper.written(), told + 1);
  EXPECT_TRUE(kit::same_bits(read_checkpoint(file).x, x));
  std::filesystem::remove(file);
}

/// One rank begins a product and the other does not come.
inline std::string alone(const std::vector<device>& on, bool leaves, double& seconds, gpu_way through = gpu_way::best) {
  const auto a = kit::laplacian(300);
  return kit::said_by([&] {
    const auto begin = [&](communicator& c) {
      part_of_rank<double> mine(c, a);
      const auto began = std::chrono::steady_clock::now();
      if (c.rank() == 1) {
        if (leaves) mine.gpu->leave();
        c.sum(1);
        return;
      }
      host_array<double> b(mine.size(), 1.0), x(mine.size(), 0.0);
      std::string what;
      try {
        const gpu_array<double> there(b);
        gpu_array<double> y(mine.size()), sum(1);
        mine.a->apply_dot(as_cview(there), as_view(y), {sum.data()});
        const host_array<double> home(sum); // waits
        EXPECT_TRUE(std::isnan(home[0]));
        mine.gpu->check();
      } catch (const error& e) {
        what = e.what();
      }
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      c.sum(1);
      if (!what.empty()) throw error(fault::device, what);
    };
    run_ranks(on, begin, through);
  });
}

} // namespace furrow
