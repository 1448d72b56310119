// SPDX-License-Identifier: BSD-3-Clause
// Multigrid on the GPU: the kit that sets it up and the cycle, beside the host's.
#include "on_gpu.hpp"

#include "matrix/gpu_products.hpp"
#include "matrix/multiply.hpp"
#include "matrix/transpose.hpp"
#include "preconditioners/amg/gpu_renewal.hpp"
#include "preconditioners/amg/gpu_setup.hpp"
#include "preconditioners/amg/grid/box_matrix.hpp"
#include "preconditioners/amg/grid/gpu_setup.hpp"
#include "preconditioners/amg/grid/setup.hpp"
#include "preconditioners/amg/setup.hpp"
#include "preconditioners/entry.hpp"
#include "preconditioners/new_values.hpp"

#include "kit/elastic_body.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/generate.hpp>
#include <furrow/solve.hpp>
#include <furrow/solver.hpp>
#include <furrow/storage.hpp>

#include <cmath>

namespace furrow {
namespace {

struct gpu_products : on_gpu {};
struct gpu_multigrid : on_gpu {};

row_matrix<double> rows_of(coo<double> a) { return to_rows(std::move(a)); }

/// `length` draws a row, every fourth row empty, row 0 full where `hub`.
row_matrix<double> random_rows(index_t rows, index_t cols, index_t length, bool hub, std::uint64_t seed) {
  kit::splitmix random(seed);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < rows; ++i) {
    if (hub && i == 0) {
      for (index_t j = 0; j < cols; ++j) entries.push_back({i, j, random.value()});
      continue;
    }
    for (index_t k = random.below(4) == 0 ? length : 0; k < length; ++k)
      entries.push_back({i, random.below(cols), random.value()});
  }
  return rows_of(kit::assemble({rows, cols}, std::move(entries)));
}

/// The same entries; the same bits where the host does not fuse operations.
template <class A, class B> void expect_same(const A& got, const B& wanted) {
  ASSERT_EQ(got.shape, wanted.shape);
  ASSERT_EQ(got.val.size(), wanted.val.size());
  for (index_t i = 0; i <= got.shape.rows; ++i) ASSERT_EQ(got.row_ptr[i], wanted.row_ptr[i]) << i;
  for (index_t k = 0; k < got.val.size(); ++k) {
    ASSERT_EQ(got.col[k], wanted.col[k]) << k;
    ASSERT_NEAR(got.val[k], wanted.val[k], 1e-13 * (1 + std::abs(wanted.val[k]))) << k;
  }
}

TEST_F(gpu_products, are_those_of_the_host) {
  struct factors {
    row_matrix<double> a, b;
  };
  std::vector<factors> all;
  all.push_back({random_rows(300, 200, 5, false, 1), random_rows(200, 150, 1, false, 2)});
  all.push_back({random_rows(1, 1, 1, false, 3), random_rows(1, 1, 1, false, 3)});
  all.push_back({random_rows(500, 400, 7, false, 4), random_rows(400, 600, 4, false, 5)});
  all.push_back({random_rows(40, 900, 60, true, 6), random_rows(900, 700, 9, true, 7)});
  all.push_back({random_rows(50, 3000, 40, true, 8), random_rows(3000, 20000, 30, true, 9)});
  all.push_back({random_rows(20, 10, 3, false, 10), random_rows(10, 5000, 400, true, 11)});
  all.push_back({rows_of(kit::laplacian(30, 20, 10)), rows_of(kit::laplacian(30, 20, 10))});
  for (const factors& f : all) {
    const auto wanted = multiply(f.a.view(), f.b.view());
    const auto a = amg::uploaded(f.a.view()), b = amg::uploaded(f.b.view());
    const auto first = download(gpu::multiply(a, b));
    expect_same(first, wanted);
    if (f.b.shape.cols <= 700) { // unsorted rows are as good as factors
      const auto sorted = download(gpu::multiply(gpu::multiply(a, b, gpu::row_order::any), gpu::transposed(b)));
      const auto back = transposed(f.b.view());
      expect_same(sorted, multiply(wanted.view(), back.view()));
    }
    for (int turn = 0; turn < 3; ++turn) {
      const auto again = download(gpu::multiply(a, b));
      for (index_t k = 0; k < first.val.size(); ++k) ASSERT_EQ(again.val[k], first.val[k]) << k;
    }
  }
}

/// Other values of the same places.
row_matrix<double> with_other_values(const row_matrix<double>& a, std::uint64_t seed) {
  row_matrix<double> other = a;
  kit::splitmix random(seed);
  for (double& v : other.val) v = random.value();
  return other;
}

TEST_F(gpu_products, of_other_values_in_known_places_have_the_same_bits) {
  struct factors {
    row_matrix<double> a, b;
  };
  std::vector<factors> all;
  all.push_back({random_rows(300, 200, 5, false, 1), random_rows(200, 150, 1, false, 2)});
  all.push_back({random_rows(500, 400, 7, false, 4), random_rows(400, 600, 4, false, 5)});
  all.push_back({random_rows(40, 900, 60, true, 6), random_rows(900, 700, 9, true, 7)});
  all.push_back({random_rows(50, 3000, 40, true, 8), random_rows(3000, 20000, 30, true, 9)}); // far tables
  all.push_back({rows_of(kit::laplacian(30, 20, 10)), rows_of(kit::laplacian(30, 20, 10))});
  for (const factors& f : all)
    for (const auto order : {gpu::row_order::sorted, gpu::row_order::any}) {
      gpu::rows_by_table kept;
      const auto places = gpu::multiply(amg::uploaded(f.a.view()), amg::uploaded(f.b.view()), order, &kept);
      const auto other_a = with_other_values(f.a, 21), other_b = with_other_values(f.b, 22);
      const auto a = amg::uploaded(other_a.view()), b = amg::uploaded(other_b.view());
      gpu_array<double> val(places.val.size());
      gpu::multiply_again(view_of(a), view_of(b), kept, view_of(places), as_view(val));
      const auto fresh = download(gpu::multiply(a, b));
      const host_array<double> got(val);
      const host_array<std::int32_t> col(places.col);
      ASSERT_EQ(got.size(), fresh.val.size());
      for (index_t i = 0; i < fresh.shape.rows; ++i) { // by columns, which `any` leaves as they come
        std::vector<std::pair<std::int32_t, double>> row;
        for (index_t k = fresh.row_ptr[i]; k < fresh.row_ptr[i + 1]; ++k) row.push_back({col[k], got[k]});
        std::ranges::sort(row);
        for (std::size_t l = 0; l < row.size(); ++l) {
          ASSERT_EQ(row[l].first, fresh.col[fresh.row_ptr[i] + index_t(l)]) << i;
          ASSERT_EQ(row[l].second, fresh.val[fresh.row_ptr[i] + index_t(l)]) << i << ", " << row[l].first;
        }
      }
    }
}

TEST_F(gpu_products, transposed_are_those_of_the_host) {
  for (const auto& a : {random_rows(300, 200, 5, false, 1), random_rows(7, 5000, 9, true, 2),
                        random_rows(5000, 7, 3, true, 3), random_rows(1, 1, 0, false, 4)})
    expect_same(download(gpu::transposed(amg::uploaded(a.view()))), transposed(a.view()));
}

/// A ring whose nodes are all coupled to one more.
coo<double> wheel(index_t n) {
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 3.1});
    entries.push_back({i, (i + 1) % n, -1});
    entries.push_back({(i + 1) % n, i, -1});
    entries.push_back({i, n, -1});
    entries.push_back({n, i, -1});
  }
  entries.push_back({n, n, double(n) + 1});
  return kit::assemble({n + 1, n + 1}, std::move(entries));
}

/// Some rows hold nothing but a diagonal; couplings of many sizes.
coo<double> jumps(index_t side) {
  auto a = kit::laplacian(side, side, side);
  kit::splitmix random(3);
  std::vector<double> k(static_cast<std::size_t>(a.shape.rows)), sum(k.size(), 0.0);
  for (double& c : k) c = std::pow(10.0, double(random.below(7)) - 3);
  for (index_t e = 0; e < a.nnz(); ++e) {
    const index_t i = a.row[e], j = a.col[e];
    if (i == j) continue;
    a.val[e] = i % 37 == 5 || j % 37 == 5 ? 0 : -2 * k[i] * k[j] / (k[i] + k[j]);
    sum[i] -= a.val[e];
  }
  for (index_t e = 0; e < a.nnz(); ++e)
    if (a.row[e] == a.col[e]) a.val[e] = sum[a.row[e]] + (sum[a.row[e]] == 0 || a.row[e] == 0 ? 1 : 0);
  return a;
}

/// Conductances between points of a grid that all differ, times 1 + change sin(...), 1 at its walls.
coo<double> conducting(index_t nx, index_t ny, index_t nz, double change, double along_y = 1) {
  auto a = kit::laplacian(nx, ny, nz);
  std::vector<double> sum(static_cast<std::size_t>(a.shape.rows), 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) {
    const index_t i = std::min(a.row[k], a.col[k]), j = std::max(a.row[k], a.col[k]);
    if (i == j) continue;
    const double own = 1 + std::abs(std::sin(double(i) + 0.37 * double(j))), way = j - i == nx ? along_y : 1;
    a.val[k] *= own * way * (1 + change * std::sin(0.7 * double(i) - 0.3 * double(j)));
    sum[static_cast<std::size_t>(a.row[k])] -= a.val[k];
  }
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] = sum[static_cast<std::size_t>(a.row[k])] + (a.row[k] < nx ? 1 : 0.01);
  return a;
}

std::vector<coo<double>> systems() {
  std::vector<coo<double>> all;
  all.push_back(kit::laplacian(24, 20, 18));
  all.push_back(kit::laplacian(300, 200));
  all.push_back(kit::laplacian(5000));
  all.push_back(generate("anisotropic2d:80:0.01").a);
  all.push_back(jumps(18));
  all.push_back(wheel(6000));
  all.push_back(generate("stencil3d27:16").a);
  return all;
}

/// The hierarchy that the GPU sets up is that of the host, up to rounding.
void compare_levels(const coo<double>& matrix, int block) {
  const auto a = rows_of(coo<double>(matrix));
  SCOPED_TRACE(std::to_string(a.shape.rows) + " rows, nodes of " + std::to_string(block));
  const auto here = amg::smoothed_aggregation<float>(a.view(), block);
  const auto there = amg::smoothed_aggregation_on_gpu<float>(amg::uploaded(a.view()), block);
  ASSERT_EQ(here.levels.size(), there.levels.size());
  EXPECT_EQ(here.reason, there.reason);
  EXPECT_EQ(here.scale, there.scale);
  for (std::size_t k = 0; k < here.levels.size(); ++k) {
    SCOPED_TRACE(k);
    EXPECT_EQ(here.facts[k].rows, there.facts[k].rows);
    EXPECT_EQ(here.facts[k].entries, there.facts[k].entries);
    EXPECT_EQ(here.facts[k].bytes, there.facts[k].bytes);
    EXPECT_NEAR(here.levels[k].lambda, there.levels[k].lambda, 1e-9);
    EXPECT_EQ(here.levels[k].block, there.levels[k].block);
    const auto got = download(there.levels[k]);
    const amg::level<float>& wanted = here.levels[k];
    const auto compare = [&](const auto& values, const auto& expected) {
      ASSERT_EQ(values.size(), expected.size());
      for (index_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected[i], 1e-5 * (1e-3 + std::abs(expected[i]))) << i;
    };
    const auto compare_columns = [&](const auto& columns, const auto& expected) {
      ASSERT_EQ(columns.size(), expected.size());
      for (index_t i = 0; i < columns.size(); ++i) ASSERT_EQ(columns[i], expected[i]) << i;
    };
    compare_columns(got.p.row_ptr, wanted.p.row_ptr);
    compare_columns(got.p.col, wanted.p.col);
    compare_columns(got.r.col, wanted.r.col);
    compare_columns(got.a.col, wanted.a.col);
    compare_columns(got.diagonals.offset, wanted.diagonals.offset);
    compare(got.p.val, wanted.p.val);
    compare(got.r.val, wanted.r.val);
    compare(got.a.val, wanted.a.val);
    compare(got.diagonals.val, wanted.diagonals.val);
    compare(got.inverse, wanted.inverse);
  }
}

TEST_F(gpu_multigrid, has_the_levels_of_the_host) {
  for (const auto& a : systems()) compare_levels(a, 1);
}

/// Nodes of b unknowns, coupled as the rows of a matrix are, each coupling by a matrix that is full.
coo<double> by_nodes(const coo<double>& a, int b) {
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < a.nnz(); ++k)
    for (int r = 0; r < b; ++r)
      for (int c = 0; c < b; ++c) {
        const double own = a.row[k] == a.col[k] && r == c ? 0.1 * double(a.row[k] % 5) : 0;
        entries.push_back(
            {a.row[k] * b + r, a.col[k] * b + c, a.val[k] * ((r == c) + 0.3 / (1 + std::abs(r - c))) + own});
      }
  return kit::assemble({a.shape.rows * b, a.shape.cols * b}, std::move(entries));
}

TEST_F(gpu_multigrid, has_the_levels_of_the_host_for_nodes_of_several_unknowns) {
  compare_levels(generate("elasticity3d:9").a, 3);
  compare_levels(generate("elasticity3d:16").a, 3);
  for (const int b : {2, 3, 4, 5, 6}) {
    compare_levels(by_nodes(conducting(12, 11, 9, 0), b), b);
    compare_levels(by_nodes(conducting(40, 30, 1, 0, 0.01), b), b); // with weak couplings
    compare_levels(by_nodes(jumps(11), b), b);                      // and nodes that stay whole
  }
  const auto flat = [](double i, double j, double k) { return std::array<double, 3>{i, j, 0.1 * k}; };
  compare_levels(kit::elastic_grid({14, 12, 6}, 3, flat).body(true).a, 3);
  compare_levels(kit::elastic_grid({60, 20, 0}, 2, flat).body(true).a, 2);
}

/// Grids of one, two and three directions, odd and even, coefficients that jump, and one direction that is weak.
std::vector<coo<double>> grids() {
  std::vector<coo<double>> all;
  all.push_back(kit::laplacian(24, 21, 18));
  all.push_back(kit::laplacian(301, 200));
  all.push_back(kit::laplacian(5000));
  all.push_back(generate("anisotropic2d:80:0.01").a);
  all.push_back(generate("stencil3d27:17").a);
  all.push_back(jumps(18));
  return all;
}

TEST_F(gpu_multigrid, finds_the_box_that_the_host_finds) {
  auto all = grids();
  all.push_back(wheel(6000));
  all.push_back(kit::diagonal({3.0, 2.0}));
  std::vector<kit::triplet> leaves{{39, 40, -1.0}, {40, 39, -1.0}}; // from one line of 40 to the next
  const auto plane = kit::laplacian(40, 30);
  for (index_t k = 0; k < plane.nnz(); ++k) leaves.push_back({plane.row[k], plane.col[k], plane.val[k]});
  all.push_back(kit::assemble(plane.shape, std::move(leaves)));
  for (const auto& matrix : all) {
    const auto a = rows_of(coo<double>(matrix));
    SCOPED_TRACE(a.shape.rows);
    const auto here = amg::find_box(a.view());
    const auto there = amg::find_box_on_gpu(view_of(amg::uploaded(a.view())));
    EXPECT_EQ(here.failure, there.failure);
    EXPECT_EQ(here.points, there.points);
    if (here) {
      EXPECT_EQ(here.offsets, there.offsets);
    }
  }
}

TEST_F(gpu_multigrid, has_the_grids_of_the_host) {
  for (const auto& matrix : grids()) {
    const auto a = rows_of(coo<double>(matrix));
    SCOPED_TRACE(a.shape.rows);
    const auto found = amg::find_box(a.view());
    ASSERT_TRUE(found) << found.failure;
    const auto here = amg::grid_hierarchy<double>(amg::in_box(a.view(), found));
    const auto there = amg::grid_hierarchy_on_gpu<double>(view_of(amg::uploaded(a.view())), found);
    ASSERT_EQ(here.levels.size(), there.levels.size());
    EXPECT_EQ(here.reason, there.reason);
    EXPECT_EQ(here.scale, there.scale);
    const auto compare = [&](const auto& values, const auto& expected) {
      ASSERT_EQ(values.size(), expected.size());
      for (index_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << i;
    };
    for (std::size_t k = 0; k < here.levels.size(); ++k) {
      SCOPED_TRACE(k);
      const amg::level<double>& wanted = here.levels[k];
      const auto got = download(there.levels[k]);
      EXPECT_EQ(here.facts[k].rows, there.facts[k].rows);
      EXPECT_EQ(here.facts[k].entries, there.facts[k].entries);
      EXPECT_EQ(here.facts[k].bytes, there.facts[k].bytes);
      EXPECT_NEAR(wanted.lambda, got.lambda, 1e-9);
      ASSERT_EQ(got.axes.size(), wanted.axes.size());
      for (std::size_t d = 0; d < got.axes.size(); ++d) {
        EXPECT_EQ(got.axes[d].axis, wanted.axes[d].axis);
        EXPECT_EQ(got.axes[d].fine, wanted.axes[d].fine);
        compare(got.axes[d].lower, wanted.axes[d].lower);
        compare(got.axes[d].upper, wanted.axes[d].upper);
      }
      EXPECT_TRUE(std::ranges::equal(got.diagonals.offset, wanted.diagonals.offset));
      compare(got.diagonals.val, wanted.diagonals.val);
      compare(got.inverse, wanted.inverse);
    }
    compare(host_array<double>(there.coarsest), here.coarsest);
  }
}

/// x by the host, by the GPU, and by the GPU again, with the bits of the first time. b is random.
struct answers {
  solve_report here, there;
};
answers compare_answers(const coo<double>& a, solve_options o, device gpu) {
  const auto b = kit::random_vector<double>(a.shape.rows, 5);
  const auto answer = [&](device where) {
    host_array<double> x(a.shape.rows, 0.0);
    o.where = where;
    auto report = solve<double>(a, as_cview(b), as_view(x), o);
    return std::pair(std::move(report), std::move(x));
  };
  auto [here, x] = answer(device{});
  auto [there, y] = answer(gpu);
  const auto [again, z] = answer(gpu);
  EXPECT_EQ(there.why, status::converged) << there.message;
  for (index_t i = 0; i < a.shape.rows; ++i) EXPECT_EQ(y[i], z[i]) << i;
  return {std::move(here), std::move(there)};
}

template <class V>
void compare_applications(const coo<double>& matrix, const char* name, device gpu, const node_coordinates* points) {
  const solver_needs definite{.a = {true, true}, .m = {true, true}, .flexible = true, .coordinates = points};
  const auto a = kit::as_precision<V>(matrix);
  const index_t n = a.shape.rows;
  const auto here = make_preconditioner<V>(name, a, device{}, definite);
  const auto there = make_preconditioner<V>(name, a, gpu, definite);
  auto r = kit::random_vector<V>(n, 7);
  for (V& v : r) v *= V(1e-20); // both bring it into range
  host_array<V> expected(n, V(0));
  here->apply(as_cview(r), as_view(expected));
  const gpu_array<V> on_device(r);
  gpu_array<V> z(n), again(n);
  there->apply(as_cview(on_device), as_view(z));
  for (int turn = 0; turn < 3; ++turn) there->apply(as_cview(on_device), as_view(again));
  const host_array<V> got(z), repeated(again);
  double size = 0;
  for (const V v : expected) size = std::max(size, std::abs(double(v)));
  // Steps of a K-cycle are quotients of sums, which amplify how levels in single precision round.
  const double off = std::string_view(name).starts_with("amg:pairwise") ? 1e-3 : 1e-4;
  for (index_t i = 0; i < n; ++i) {
    ASSERT_NEAR(got[i], expected[i], off * size) << i;
    ASSERT_EQ(got[i], repeated[i]) << i;
  }
  EXPECT_EQ(there->stored_bytes(), here->stored_bytes());
  EXPECT_EQ(there->describe(), here->describe());
}

template <class V>
void compare(const coo<double>& matrix, const char* name, device gpu, const node_coordinates* points = nullptr) {
  SCOPED_TRACE(std::string(name) + ", " + std::to_string(matrix.shape.rows) + " rows");
  try {
    compare_applications<V>(matrix, name, gpu, points);
  } catch (const refusal& r) {
    FAIL() << r.message;
  }
}

TEST_F(gpu_multigrid, multiplies_as_the_host_does) {
  auto all = systems();
  all.push_back(generate("elasticity3d:9").a);
  all.push_back(by_nodes(conducting(40, 30, 1, 0, 0.01), 2));
  all.push_back(by_nodes(conducting(12, 11, 9, 0), 6));
  all.push_back(kit::laplacian(20, 20)); // dense, in double
  all.push_back(kit::diagonal({3.0}));
  for (const auto& a : all)
    for (const char* name : {"amg:sa", "amg:sa:1", "amg:sa:3"}) {
      compare<double>(a, name, gpu);
      compare<float>(a, name, gpu);
    }
}

TEST_F(gpu_multigrid, multiplies_on_grids_as_the_host_does) {
  for (const auto& a : grids())
    for (const char* name : {"amg:grid", "amg:grid:1", "amg"}) {
      compare<double>(a, name, gpu);
      compare<float>(a, name, gpu);
    }
}

TEST_F(gpu_multigrid, serves_conjugate_gradients_as_on_the_host) {
  for (const char* name : {"poisson3d:40", "elasticity3d:12", "anisotropic2d:150:0.01"}) {
    SCOPED_TRACE(name);
    solve_options o;
    o.solver = "cg";
    o.precond = "amg:sa";
    o.rtol = 1e-10;
    const auto [here, there] = compare_answers(generate(name).a, o, gpu);
    EXPECT_NEAR(double(there.iterations), double(here.iterations), 1);
  }
}

// Rows in pairs: the host sets up, the K-cycle is the device's.

TEST_F(gpu_multigrid, multiplies_in_a_k_cycle_as_the_host_does) {
  for (const auto& a : systems())
    for (const char* name : {"amg:pairwise", "amg:pairwise:2"}) {
      compare<double>(a, name, gpu);
      compare<float>(a, name, gpu);
    }
}

TEST_F(gpu_multigrid, k_cycles_give_zeros_for_zeros) {
  const auto a = kit::laplacian(30, 31, 9);
  const solver_needs flexible{.a = {true, true}, .m = {true, true}, .flexible = true};
  const auto m = make_preconditioner<double>("amg:pairwise", a, gpu, flexible);
  const gpu_array<double> r(host_array<double>(a.shape.rows, 0.0));
  gpu_array<double> z(host_array<double>(a.shape.rows, 1.0));
  m->apply(as_cview(r), as_view(z));
  for (const double v : host_array<double>(z)) ASSERT_EQ(v, 0);
}

TEST_F(gpu_multigrid, serves_flexible_methods_in_a_k_cycle_as_on_the_host) {
  struct one {
    const char *solver, *matrix, *precond;
  };
  for (const auto& [solver, matrix, precond] :
       {one{"fcg", "poisson3d:64", "amg:pairwise"}, one{"fcg", "poisson3d:64", "amg:pairwise:2"},
        one{"fgmres", "poisson2d:200", "amg:pairwise"}, one{"auto", "anisotropic2d:150:0.01", "amg:pairwise"}}) {
    SCOPED_TRACE(std::string(solver) + ", " + matrix + ", " + precond);
    solve_options o;
    o.solver = solver;
    o.precond = precond;
    const auto [here, there] = compare_answers(generate(matrix).a, o, gpu);
    EXPECT_EQ(there.iterations, here.iterations);
    EXPECT_EQ(there.precond_about, here.precond_about);
  }
}

// Other values.

template <class T> void expect_same_bits(const gpu_array<T>& got, const gpu_array<T>& wanted, const char* what) {
  const host_array<T> x(got), y(wanted);
  ASSERT_EQ(x.size(), y.size()) << what;
  for (index_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], y[i]) << what << ' ' << i;
}
template <class W>
void expect_same_hierarchy(const amg::hierarchy<W, gpu_array>& got, const amg::hierarchy<W, gpu_array>& wanted) {
  ASSERT_EQ(got.levels.size(), wanted.levels.size());
  EXPECT_EQ(got.scale, wanted.scale);
  EXPECT_EQ(got.reason, wanted.reason);
  for (std::size_t k = 0; k < got.levels.size(); ++k) {
    SCOPED_TRACE("level " + std::to_string(k));
    const auto &x = got.levels[k], &y = wanted.levels[k];
    EXPECT_EQ(x.lambda, y.lambda);
    expect_same_bits(x.a.col, y.a.col, "columns of A");
    expect_same_bits(x.a.val, y.a.val, "A");
    expect_same_bits(x.diagonals.val, y.diagonals.val, "diagonals");
    expect_same_bits(x.inverse, y.inverse, "D^-1");
    expect_same_bits(x.p.col, y.p.col, "columns of P");
    expect_same_bits(x.p.val, y.p.val, "P");
    expect_same_bits(x.r.col, y.r.col, "columns of R");
    expect_same_bits(x.r.val, y.r.val, "R");
  }
  expect_same_bits(got.coarsest, wanted.coarsest, "the dense inverse");
}

struct sequence {
  coo<double> first, second; ///< that have the same strong couplings, and differ in every number
};
std::vector<sequence> sequences() {
  const double little = 1e-7; // less than what tells the couplings of a row from each other
  std::vector<sequence> all;
  all.push_back({conducting(24, 20, 18, 0), conducting(24, 20, 18, little)});
  all.push_back({conducting(200, 150, 1, 0), conducting(200, 150, 1, little)});
  all.push_back({conducting(90, 80, 1, 0, 0.01), conducting(90, 80, 1, little, 0.01)}); // weak couplings
  all.push_back({conducting(5000, 1, 1, 0), conducting(5000, 1, 1, little)});
  all.push_back({conducting(20, 20, 1, 0), conducting(20, 20, 1, little)}); // dense
  return all;
}

template <class W, class V> void renew_and_compare(const sequence& s) {
  const auto first = send_rows(kit::as_precision<V>(s.first)), second = send_rows(kit::as_precision<V>(s.second));
  amg::device_renewal<W> renewal;
  auto h = amg::smoothed_aggregation_on_gpu<W>(amg::copied(first));
  ASSERT_EQ(renewal.renew(first, h), amg::renewal_outcome::remade);
  expect_same_hierarchy(h, amg::smoothed_aggregation_on_gpu<W>(amg::copied(first)));
  for (const auto* now : {&second, &first, &second}) {
    const W* const where = h.levels[0].inverse.data();
    ASSERT_EQ(renewal.renew(*now, h), amg::renewal_outcome::renewed);
    EXPECT_EQ(h.levels[0].inverse.data(), where); // in place
    expect_same_hierarchy(h, amg::smoothed_aggregation_on_gpu<W>(amg::copied(*now)));
  }
}

TEST_F(gpu_multigrid, is_renewed_with_the_bits_of_a_set_up) {
  for (const auto& s : sequences()) {
    SCOPED_TRACE(s.first.shape.rows);
    renew_and_compare<float, double>(s);
    renew_and_compare<double, double>(s);
    renew_and_compare<float, float>({s.first, s.first}); // rounding may turn an order
  }
}

TEST_F(gpu_multigrid, finds_new_aggregates_where_the_couplings_have_turned) {
  const auto across = send_rows(conducting(60, 50, 1, 0, 1e-3)), along = send_rows(conducting(60, 50, 1, 0, 1e3));
  amg::device_renewal<float> renewal;
  auto h = amg::smoothed_aggregation_on_gpu<float>(amg::copied(across));
  ASSERT_EQ(renewal.renew(across, h), amg::renewal_outcome::remade);
  ASSERT_EQ(renewal.renew(across, h), amg::renewal_outcome::renewed);
  ASSERT_EQ(renewal.renew(along, h), amg::renewal_outcome::remade);
  expect_same_hierarchy(h, amg::smoothed_aggregation_on_gpu<float>(amg::copied(along)));
  ASSERT_EQ(renewal.renew(along, h), amg::renewal_outcome::renewed);
  expect_same_hierarchy(h, amg::smoothed_aggregation_on_gpu<float>(amg::copied(along)));
  EXPECT_EQ(renewal.renew(send_rows(conducting(50, 60, 1, 0)), h), amg::renewal_outcome::failed); // other places
}

TEST_F(gpu_multigrid, refuses_new_values_that_a_set_up_refuses) {
  const solver_needs needs{{true, true}, {true, true}};
  const auto a = conducting(40, 30, 1, 0);
  const auto m = make_preconditioner<double>("amg:sa", a, gpu, needs);
  auto& kept = dynamic_cast<takes_new_values<double>&>(*m);
  ASSERT_TRUE(kept.update(a, needs));
  EXPECT_FALSE(kept.update(conducting(30, 40, 1, 0), needs));
  EXPECT_FALSE(kept.update(conducting(40, 31, 1, 0), needs));
  auto wide = a; // levels in double now
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == 7 && a.col[k] == 7) wide.val[k] = 1e40;
  EXPECT_FALSE(kept.update(wide, needs));
  auto negative = a;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == 7 && a.col[k] == 7) negative.val[k] = -4;
  EXPECT_FALSE(kept.update(negative, needs)); // the set-up says why
  ASSERT_TRUE(kept.update(a, needs));
  auto indefinite = a; // a coarse pivot is negative
  for (double& v : indefinite.val) v = v > 0 ? v / 4 : v;
  EXPECT_THROW(kept.update(indefinite, needs), refusal);
  for (const char* name : {"amg:grid", "amg:pairwise"}) { // made anew
    const auto other = make_preconditioner<double>(name, a, gpu, {{true, true}, {true, true}, false, true});
    EXPECT_FALSE(dynamic_cast<takes_new_values<double>&>(*other).update(a, needs)) << name;
  }
}

TEST_F(gpu_multigrid, serves_matrices_that_follow_each_other) {
  solve_options o;
  o.solver = "cg";
  o.precond = "amg:sa";
  o.where = gpu;
  const auto b = kit::random_vector<double>(6000, 3);
  const auto solved = [&](solver<double>& s) {
    host_array<double> x(6000, 0.0);
    auto report = s.solve(as_cview(b), as_view(x));
    EXPECT_EQ(report.why, status::converged) << report.message;
    return std::pair(std::move(report), std::move(x));
  };
  const auto a = conducting(60, 100, 1, 0);
  solver<double> kept(coo<double>(a), o), by_rows(coo<double>(a), o);
  for (int step = 1; step <= 5; ++step) {
    SCOPED_TRACE(step);
    const auto now = conducting(60, 100, 1, 0.1 * step);
    const auto rows = to_rows(coo<double>(now));
    host_array<std::int32_t> offsets(rows.row_ptr.size());
    std::ranges::copy(rows.row_ptr, offsets.begin());
    const gpu_array<std::int32_t> row_ptr(offsets), col(rows.col);
    const gpu_array<double> val(rows.val);
    solver<double> fresh(coo<double>(now), o);
    kept.update_values(coo<double>(now));
    by_rows.update_values(
        csr_arrays<double, std::int32_t>{rows.shape, as_cview(row_ptr), as_cview(col), as_cview(val), gpu, nullptr});
    const auto [one, x] = solved(kept);
    const auto [two, y] = solved(by_rows);
    const auto [three, z] = solved(fresh);
    EXPECT_LE(one.iterations, three.iterations + 1);
    EXPECT_EQ(two.iterations, one.iterations);
    for (index_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], y[i]) << i;
  }
}

// Motions of rigid bodies: nodes of 2 and 3 unknowns first, of 3 and 6 below.

std::vector<kit::elastic_body> bodies() {
  const auto bent = [](double i, double j, double k) {
    return std::array<double, 3>{i + 0.2 * std::sin(j + k), j + 0.15 * std::cos(2 * i) * k,
                                 k + 0.1 * std::sin(3 * i + j)};
  };
  std::vector<kit::elastic_body> all;
  all.push_back(kit::elastic_grid({9, 8, 8}, 3, bent).body(true));
  all.push_back(kit::elastic_grid({60, 3, 2}, 3, bent).body(true));
  all.push_back(kit::elastic_grid({30, 20, 0}, 2, bent).body(true));
  all.push_back(kit::elastic_grid({4, 4, 4}, 3, bent).body(true)); // dense, in double
  return all;
}

TEST_F(gpu_multigrid, multiplies_with_motions_of_rigid_bodies_as_the_host_does) {
  for (const auto& body : bodies())
    for (const char* name : {"amg:sa", "amg:sa:1", "amg"}) {
      compare<double>(body.a, name, gpu, body.points.get());
      compare<float>(body.a, name, gpu, body.points.get());
    }
}

TEST_F(gpu_multigrid, serves_elastic_bodies_with_coordinates_as_on_the_host) {
  for (const auto& body : bodies())
    for (const char* solver : {"cg", "refine:cg", "auto"}) {
      SCOPED_TRACE(std::string(solver) + ", " + std::to_string(body.a.shape.rows) + " rows");
      solve_options o;
      o.solver = solver;
      o.precond = "amg:sa";
      o.coordinates = body.points;
      const auto [here, there] = compare_answers(body.a, o, gpu);
      EXPECT_EQ(there.iterations, here.iterations);
      EXPECT_EQ(there.precond_about, here.precond_about);
      EXPECT_NE(there.precond_about.find("motions of rigid bodies"), std::string::npos) << there.precond_about;
    }
}

} // namespace
} // namespace furrow
