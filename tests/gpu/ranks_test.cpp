// SPDX-License-Identifier: BSD-3-Clause
// Ranks with a GPU each: on one GPU through the host, on two through each other's memory, and through NCCL.
#include "distributed/features.hpp"
#include "distributed/gpu/rank_device.hpp"
#include "distributed/nccl/library.hpp"
#include "distributed/together.hpp"

#include "on_gpu.hpp"

#include "kit/random.hpp"
#include "kit/ranks_check.hpp"
#include "preconditioners/entry.hpp"
#include "solve/run.hpp"

#include <furrow/generate.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace furrow {
namespace {

std::vector<device> gpus(std::initializer_list<int> ordinals) {
  std::vector<device> all;
  for (const int k : ordinals) all.push_back({device::kind::gpu, k});
  return all;
}

solve_options with(const std::string& solver, const std::string& precond = "jacobi", double rtol = 1e-9) {
  return kit::options(solver, precond, rtol);
}

struct method_and_matrix {
  const char *solver, *matrix;
};
constexpr method_and_matrix methods[] = {{"cg", "poisson2d:40"},
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

void expect_about(index_t iterations, index_t expected, const std::string& what) {
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

  part_of_rank(communicator& c, const coo<double>& whole, bool one_device, const char* precond = "jacobi")
      : gpu(one_device ? rank_device::open_on_one(c) : rank_device::open(c)), here(gpu->enter()) {
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
void check_products(const std::vector<device>& on, const coo<double>& a, bool one_device,
                    gpu_way through = gpu_way::best) {
  const auto check = [&](communicator& c) {
    const part_of_rank<V> mine(c, a, one_device, "none");
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
    gpu_array<double> sums(3, -1.0);
    const double unit = std::numeric_limits<V>::epsilon();
    for (int turn = 0; turn < 3; ++turn) { // both buffers, and the first one again
      epilogue<V> e{as_cview(there_b), {}};
      e.sums[0] = {as_cview(y), {sums.data()}};
      e.sums[1] = {as_cview(there_u), {sums.data() + 1}};
      mine.a->apply_with(as_cview(there_x), as_view(y), e);
      const host_array<V> r(y);
      mine.a->apply_dot(as_cview(there_x), as_view(y), {sums.data() + 2});
      const host_array<V> product(y);
      mine.a->apply(V(2), as_cview(there_x), V(-3), as_view(y));
      const host_array<V> last(y);
      const host_array<double> home(sums);
      double rr = 0, ru = 0, bound = 0, xy = 0, xy_bound = 0;
      for (index_t i = 0; i < n; ++i) {
        const auto row = std::size_t(first + i);
        ASSERT_NEAR(product[i], truth[row], 40 * unit * size[row]);
        ASSERT_NEAR(r[i], double(b[first + i]) - truth[row], 40 * unit * (1 + size[row]));
        ASSERT_NEAR(last[i], 2 * truth[row] - 3 * double(product[i]), 100 * unit * (1 + size[row]));
        rr += double(r[i]) * double(r[i]), ru += double(r[i]) * double(u[first + i]);
        bound += (1 + size[row]) * std::abs(double(u[first + i]));
        xy += double(x[first + i]) * truth[row], xy_bound += std::abs(double(x[first + i])) * size[row];
      }
      rr = c.sum(rr), ru = c.sum(ru), bound = c.sum(bound), xy = c.sum(xy), xy_bound = c.sum(xy_bound);
      ASSERT_NEAR(home[0], rr, 1e-12 * rr);
      ASSERT_NEAR(home[1], ru, 100 * unit * bound);
      ASSERT_NEAR(home[2], xy, 100 * unit * xy_bound);
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

std::vector<coo<double>> matrices() {
  return {kit::laplacian(30, 20, 10),
          kit::laplacian(400),
          generate("stencil3d27:12").a,
          generate("random:3000:60").a,              // long far rows
          kit::diagonal(std::vector<double>(50, 2)), // nobody talks
          kit::assemble({6, 6}, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 0, 1}, {4, 1, 1}, {5, 2, 1}})};
}

/// What a solver answers where ranks share a GPU, or have one each, by the way that `open` finds.
host_array<double> answer(const std::vector<device>& on, const coo<double>& a, const host_array<double>& b,
                          const std::string& solver, bool one_device, std::string& way,
                          gpu_way through = gpu_way::best) {
  host_array<double> whole(a.shape.rows, 0.0);
  const auto solve = [&](communicator& c) {
    part_of_rank<double> mine(c, a, one_device);
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
  for (const auto& a : matrices()) {
    check_products<double>(gpus({0, 0}), a, false);
    check_products<float>(gpus({0, 0, 0}), a, false);
    check_products<double>(gpus({0}), a, false);
  }
}

TEST_F(gpu_ranks, take_their_rows_apart_as_processors_do) {
  auto all = matrices();
  all.push_back(generate("convection2d:40:10").a);
  auto off = kit::laplacian(40, 30), strange = off, missing = off, nearly = off;
  off.val[off.nnz() - 2] += 1e-3;
  strange.val[4000] = std::numeric_limits<double>::quiet_NaN();
  for (index_t k = 0; k < missing.nnz(); ++k)
    if (missing.row[k] == missing.col[k] && missing.row[k] % 97 == 5) missing.val[k] = 0;
  for (index_t k = 0; k < nearly.nnz(); ++k) nearly.val[k] *= 1 + double(k % 5) * 1e-15;
  all.insert(all.end(), {off, strange, missing, nearly});
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
  says("amg:sa over ranks runs on processors alone: say local:amg:sa", with("cg", "amg:sa"));
  says("cg_tutorial keeps its scalars on the host", with("cg_tutorial"));
  says("cg_resident does not run on ranks yet", with("cg_resident"));
  auto o = with("cg");
  o.where = {device::kind::gpu, 99};
  says("ranks compute on gpu:0", o);
}

/// Single products: kernels of two ranks wait for each other on one GPU, where they run at the same time in practice.
/// (Whole solves do not always, and where a tool lets one kernel run at a time, leave these out.)
struct gpu_ranks_in_one_memory : on_gpu {};

TEST_F(gpu_ranks_in_one_memory, multiply_as_the_whole_matrix) {
  for (const auto& a : matrices()) check_products<double>(gpus({0, 0}), a, true);
}

/// One rank begins a product and the other does not come.
std::string alone(const std::vector<device>& on, bool one_device, bool leaves, double& seconds,
                  gpu_way through = gpu_way::best) {
  const auto a = kit::laplacian(300);
  return kit::said_by([&] {
    const auto begin = [&](communicator& c) {
      part_of_rank<double> mine(c, a, one_device);
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

TEST_F(gpu_ranks_in_one_memory, do_not_wait_for_ever) {
  double seconds = 0;
  EXPECT_EQ(alone(gpus({0, 0}), true, false, seconds),
            "gpu:0 (rank 0) has waited 10 s for gpu:0 (rank 1), which does not answer: the solve ends");
  EXPECT_GT(seconds, 9);
  EXPECT_LT(seconds, 15);
  EXPECT_EQ(alone(gpus({0, 0}), true, true, seconds), "the solve of another rank has ended");
  EXPECT_LT(seconds, 2);
}

TEST_F(gpu_ranks, refuse_a_way_that_there_is_not) {
  const auto a = kit::laplacian(40);
  const auto says = [&](const std::vector<device>& on, gpu_way through) {
    return kit::said_by([&] {
      run_ranks(
          on, [&](communicator& c) { part_of_rank<double>(c, a, false); }, through);
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

/// Where the tests' process has NCCL for itself, loops of solvers may be graphs that hold it, and otherwise steps.
struct gpu_ranks_by_nccl : on_gpu {
  void SetUp() override {
    on_gpu::SetUp();
    if (IsSkipped()) return;
    if (!nccl::searched().found) GTEST_SKIP() << nccl::sentence(nccl::searched());
  }
};

TEST_F(gpu_ranks_by_nccl, are_one_where_there_is_one) {
  for (const auto& a : matrices()) check_products<double>(gpus({0}), a, false, gpu_way::nccl);
  const auto poisson = generate("poisson2d:40").a, skew = generate("convection2d:40:10").a;
  for (const char* solver : {"cg", "cg_single_reduction", "bicgstab", "gmres"}) {
    const auto& a = std::string(solver).starts_with("cg") ? poisson : skew;
    const auto b = kit::random_vector<double>(a.shape.rows, 3);
    std::string way;
    const auto by_nccl = answer(gpus({0}), a, b, solver, false, way, gpu_way::nccl);
    EXPECT_EQ(way, nccl::searched().found->name());
    EXPECT_TRUE(kit::same_bits(by_nccl, answer(gpus({0}), a, b, solver, false, way))) << solver;
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

TEST_F(gpu_pair_ranks, multiply_as_the_whole_matrix) {
  for (const auto& a : matrices()) {
    check_products<double>(gpus({0, 1}), a, false);
    check_products<float>(gpus({0, 1}), a, false);
  }
}

TEST_F(gpu_pair_ranks, take_their_rows_apart_as_processors_do) {
  for (const auto& a : matrices()) check_apart<double>(gpus({0, 1}), a);
}

TEST_F(gpu_pair_ranks, have_the_bits_of_ranks_that_go_through_the_host) {
  const auto a = generate("poisson3d:30").a, skew = generate("convection2d:50:10").a;
  for (const char* solver : {"cg", "cg_single_reduction", "bicgstab", "gmres", "idr"}) {
    const auto& matrix = std::string(solver).starts_with("cg") ? a : skew;
    const auto b = kit::random_vector<double>(matrix.shape.rows, 3);
    std::string way;
    const auto host = answer(gpus({0, 0}), matrix, b, solver, false, way);
    EXPECT_EQ(way, "the host: gpu:0 has several ranks");
    const auto peers = answer(gpus({0, 1}), matrix, b, solver, false, way);
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
  for (const auto& a : matrices()) {
    check_products<double>(gpus({0, 1}), a, false, gpu_way::nccl);
    check_products<float>(gpus({1, 0}), a, false, gpu_way::nccl);
  }
}

TEST_F(gpu_pair_ranks_by_nccl, have_the_bits_of_ranks_that_go_through_the_host) {
  const auto a = generate("poisson3d:30").a, skew = generate("convection2d:50:10").a;
  for (const char* solver : {"cg", "cg_single_reduction", "bicgstab", "gmres"}) {
    const auto& matrix = std::string(solver).starts_with("cg") ? a : skew;
    const auto b = kit::random_vector<double>(matrix.shape.rows, 3);
    std::string way;
    const auto host = answer(gpus({0, 1}), matrix, b, solver, false, way, gpu_way::host);
    EXPECT_EQ(way, "the host: as asked for");
    const auto by_nccl = answer(gpus({0, 1}), matrix, b, solver, false, way, gpu_way::nccl);
    EXPECT_EQ(way, nccl::searched().found->name());
    EXPECT_TRUE(kit::same_bits(host, by_nccl)) << solver;
  }
}

TEST_F(gpu_pair_ranks_by_nccl, do_not_wait_for_ever) {
  double seconds = 0;
  EXPECT_EQ(alone(gpus({0, 1}), false, false, seconds, gpu_way::nccl),
            "gpu:0 (rank 0) has waited 10 s for the others through NCCL, and one of them does not answer: the solve "
            "ends");
  EXPECT_GT(seconds, 9);
  EXPECT_LT(seconds, 15);
  EXPECT_EQ(alone(gpus({0, 1}), false, true, seconds, gpu_way::nccl), "the solve of another rank has ended");
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
  EXPECT_EQ(alone(gpus({0, 1}), false, false, seconds),
            "gpu:0 (rank 0) has waited 10 s for gpu:1 (rank 1), which does not answer: the solve ends");
  EXPECT_LT(seconds, 15);
  EXPECT_EQ(alone(gpus({0, 1}), false, true, seconds), "the solve of another rank has ended");
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
