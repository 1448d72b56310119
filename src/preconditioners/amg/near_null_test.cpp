// SPDX-License-Identifier: BSD-3-Clause
#include "preconditioners/amg/amg_test_kit.hpp"
#include "preconditioners/amg/host_kit.hpp"
#include "preconditioners/amg/near_null.hpp"
#include "preconditioners/entry.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include "kit/cycle_check.hpp"
#include "kit/elastic_body.hpp"
#include "kit/options.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <cstring>
#include <limits>

namespace furrow::amg {
namespace {

using place = std::array<double, 3>;
place as_it_is(double i, double j, double k) { return {i, j, k}; }
/// Cells of any shape, of a body that lies far from the origin.
place bent(double i, double j, double k) {
  return {1e3 + i + 0.2 * std::sin(j + k), j + 0.15 * std::cos(2 * i) * k, -50 + k + 0.1 * std::sin(3 * i + j)};
}
place flat(double i, double j, double k) { return {i, j, 0.1 * k}; }

std::vector<kit::elastic_body> bodies(bool clamped) {
  std::vector<kit::elastic_body> all;
  all.push_back(kit::elastic_grid({8, 8, 8}, 3, bent).body(clamped));
  all.push_back(kit::elastic_grid({60, 3, 2}, 3, as_it_is).body(clamped));
  all.push_back(kit::elastic_grid({12, 12, 6}, 3, flat).body(clamped));
  all.push_back(kit::elastic_grid({30, 20, 0}, 2, bent).body(clamped));
  all.push_back(kit::elastic_grid({300, 3, 0}, 2, as_it_is).body(clamped));
  return all;
}

/// Each level, with what it is made of.
struct open_kit : near_null_kit {
  using near_null_kit::near_null_kit;
  const near_null& vectors() const { return vectors_; }
  const near_null& smaller() const { return coarse_vectors_; }
  const row_matrix<double>& p() const { return p_; }
  const row_matrix<double>& next() const { return coarse_; }
  const node_matrix& matrix() const { return m_; }
};
near_null motions_of(const kit::elastic_body& b) { return rigid_motions(as_cview(b.points->values), b.points->dims); }

/// The largest |sum of entries of row i times vector q|, and of the sum of absolute values.
std::pair<double, double> largest_of(row_view<double> a, const near_null& v) {
  double value = 0, size = 0;
  for (index_t i = 0; i < a.shape.rows; ++i)
    for (int q = 0; q < v.count; ++q) {
      double sum = 0, absolute = 0;
      for (index_t k = a.begin(i); k < a.end(i); ++k) {
        const double x = a.val[k] * v.of_rows[a.col[k] * v.count + q];
        sum += x, absolute += std::abs(x);
      }
      value = std::max(value, std::abs(sum)), size = std::max(size, absolute);
    }
  return {value, size};
}

TEST(amg_motions, of_rigid_bodies_have_no_force_where_nothing_holds_them) {
  for (const auto& b : bodies(false)) {
    const auto a = to_rows(coo<double>(b.a));
    const near_null v = motions_of(b);
    ASSERT_EQ(v.count, b.points->dims == 2 ? 3 : 6);
    const auto [force, size] = largest_of(a.view(), v);
    EXPECT_LE(force, 1e-12 * size) << a.shape.rows;
    EXPECT_GT(size, 0.1);
  }
}

TEST(amg_motions, are_in_the_range_of_every_prolongation) {
  int levels = 0, weak = 0;
  for (const auto& b : bodies(false)) {
    const auto a = to_rows(coo<double>(b.a));
    open_kit levels_of(a.view(), b.points->dims, motions_of(b));
    for (double theta = 0.08; levels_of.shape().rows > 60; theta /= 2) {
      levels_of.look();
      const strong_graph strong = strong_couplings(levels_of.matrix(), theta);
      index_t blocks = 0; // that have entries, the diagonal ones left out
      for (index_t i = 0; i < levels_of.matrix().nodes(); ++i) {
        const auto& m = levels_of.matrix();
        for (index_t k = m.a.begin(i * m.block); k < m.a.end(i * m.block); ++k)
          blocks += m.a.col[k] % m.block == 0 && m.a.col[k] / m.block != i;
      }
      weak += strong.to.size() < blocks;
      if (!levels_of.coarsen(theta, true)) break;
      ++levels;
      const auto& p = levels_of.p();
      const near_null &fine = levels_of.vectors(), &coarse = levels_of.smaller();
      ASSERT_EQ(p.shape.cols * coarse.count, coarse.of_rows.size());
      for (index_t i = 0; i < p.shape.rows; ++i)
        for (int q = 0; q < fine.count; ++q) {
          double sum = 0, size = 1;
          for (index_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) {
            const double x = p.val[k] * coarse.of_rows[p.col[k] * coarse.count + q];
            sum += x, size = std::max(size, std::abs(x));
          }
          ASSERT_NEAR(sum, fine.of_rows[i * fine.count + q], 1e-10 * size) << "row " << i << ", motion " << q;
        }
      const auto [force, size] = largest_of(levels_of.next().view(), coarse);
      EXPECT_LE(force, 1e-10 * size);
      levels_of.go_down();
    }
  }
  EXPECT_GE(levels, 8);
  EXPECT_GE(weak, 2); // entries were left out somewhere
}

/// Nodes two by two: a turn about the line between them moves nothing. Alone: none of the turns is of use.
TEST(amg_motions, that_move_nothing_of_an_aggregate_are_lost_there) {
  const auto b = kit::elastic_grid({9, 3, 3}, 3, bent).body(true);
  const auto a = to_rows(coo<double>(b.a));
  const node_matrix m{a.view(), 3};
  const near_null v = motions_of(b);
  for (const index_t together : {1, 2, 4}) {
    aggregates g{host_array<std::int32_t>(m.nodes()), m.nodes() / together};
    for (index_t i = 0; i < m.nodes(); ++i) g.of[i] = static_cast<std::int32_t>(i / together);
    const tentative p0 = orthonormal_over(g, 3, v);
    index_t lost = 0;
    for (index_t k = 0; k < g.count; ++k)
      for (int q = 0; q < 6; ++q) lost += p0.is_lost(k, q);
    EXPECT_EQ(lost, g.count * (together == 1 ? 3 : together == 2 ? 1 : 0));
    for (index_t i = 0; i < a.shape.rows; ++i)
      for (int q = 0; q < 6; ++q) {
        double sum = 0;
        for (int p = 0; p < 6; ++p) sum += p0.rows[i * 6 + p] * p0.coarse.of_rows[(i / (3 * together) * 6 + p) * 6 + q];
        ASSERT_NEAR(sum, v.of_rows[i * 6 + q], 1e-13) << together;
      }
    const auto strong = strong_couplings(m, 0.08);
    const auto p = smoothed_prolongation(m, strong, g, inverse_diagonal(m), 0.5, v, p0);
    const auto r = transposed(p.view());
    auto coarse = triple_product(r.view(), m.a, p.view());
    secure_lost_rows(coarse, p0);
    for (index_t i = 0; i < coarse.shape.rows; ++i)
      for (index_t k = coarse.row_ptr[i]; k < coarse.row_ptr[i + 1]; ++k) {
        const std::int32_t j = coarse.col[k];
        const bool is_lost = p0.is_lost(i / 6, int(i % 6)) || p0.is_lost(j / 6, j % 6);
        if (i == j) {
          ASSERT_GT(coarse.val[k], 0);
        } else if (is_lost) {
          ASSERT_EQ(coarse.val[k], 0);
        }
      }
  }
}

template <class V = double>
kit::solved<V> solved(const kit::elastic_body& b, bool with, double rtol = 1e-8, const char* solver = "cg") {
  auto o = kit::options(solver, "amg:sa", rtol);
  if (with) o.coordinates = b.points;
  auto s = kit::solve_honestly<V>(b.a, kit::random_vector<V>(b.a.shape.rows, 5), o);
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  return s;
}

kit::elastic_body cube(index_t n) {
  kit::elastic_body b{generate("elasticity3d:" + std::to_string(n)).a, {}};
  const auto columns = generator_coordinates("elasticity3d:" + std::to_string(n));
  const index_t nodes = b.a.shape.rows / 3;
  b.points = std::make_shared<node_coordinates>(node_coordinates{3, host_array<double>(3 * nodes)});
  for (index_t i = 0; i < nodes; ++i)
    for (int d = 0; d < 3; ++d) b.points->values[i * 3 + d] = columns.values[d * nodes + i];
  return b;
}

TEST(amg_motions, save_iterations) {
  const auto expect = [](const char* name, const kit::elastic_body& b, double most) {
    const auto without = solved(b, false).report, with = solved(b, true).report;
    EXPECT_LE(double(with.iterations), most * double(without.iterations)) << name << ": " << without.iterations;
    EXPECT_NE(with.precond_about.find("motions of rigid bodies"), std::string::npos) << with.precond_about;
    EXPECT_GT(with.levels.size(), 1) << name;
  };
  expect("elasticity3d:12", cube(12), 0.6);
  const std::pair<const char*, double> most[] = {{"bent cube", 0.75},
                                                 {"beam 60 x 3 x 2", 0.2},
                                                 {"flat cells", 0.4},
                                                 {"bent sheet", 0.75},
                                                 {"strip 300 x 3", 0.15}};
  std::size_t k = 0;
  for (const auto& b : bodies(true)) {
    expect(most[k].first, b, most[k].second);
    ++k;
  }
  expect("beam 200 x 3 x 3", kit::elastic_grid({200, 3, 3}, 3, as_it_is).body(true), 0.15);
}

TEST(amg_motions, serve_single_precision_and_refinement) {
  const auto b = cube(10);
  EXPECT_LT(solved<float>(b, true, 1e-4).report.iterations, solved<float>(b, false, 1e-4).report.iterations);
  EXPECT_LT(solved(b, true, 1e-8, "refine:cg").report.inner_iterations,
            solved(b, false, 1e-8, "refine:cg").report.inner_iterations);
  EXPECT_NE(solved(b, true, 1e-8, "auto").report.precond_about.find("6 motions"), std::string::npos);
}

/// Pairs of nodes held together by a bar alone, beside a body: each pair is an aggregate that loses a turn.
TEST(amg_motions, serve_bodies_of_which_some_parts_are_tiny) {
  auto b = kit::elastic_grid({24, 4, 4}, 3, as_it_is).body(true);
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < b.a.nnz(); ++k) entries.push_back({b.a.row[k], b.a.col[k], b.a.val[k]});
  const index_t body = b.a.shape.rows, bars = 40;
  host_array<double> points(body + 6 * bars);
  std::ranges::copy(b.points->values, points.begin());
  for (index_t k = 0; k < bars; ++k) {
    const double along[3] = {0.6, 0.8 * std::cos(double(k)), 0.8 * std::sin(double(k))};
    for (int i = 0; i < 6; ++i) {
      points[body + 6 * k + i] = 30 + double(k) + (i < 3 ? 0 : along[i % 3]);
      for (int j = 0; j < 6; ++j)
        entries.push_back({body + 6 * k + i, body + 6 * k + j,
                           along[i % 3] * along[j % 3] * (i / 3 == j / 3 ? 1 : -1) + (i == j ? 1e-3 : 0)});
    }
  }
  const index_t n = body + 6 * bars;
  b.a = kit::assemble({n, n}, std::move(entries));
  b.points->values = std::move(points);
  const auto s = solved(b, true);
  EXPECT_LE(s.report.iterations, 40);
  EXPECT_GE(s.report.levels.size(), 2);
}

TEST(amg_motions, have_the_same_bits_for_any_number_of_threads) {
  for (const auto& b : bodies(true)) {
    solver_needs needs = cg_needs;
    needs.coordinates = b.points.get();
    const auto x = kit::random_vector<double>(b.a.shape.rows, 1);
    const auto y = kit::random_vector<double>(b.a.shape.rows, 2);
    const auto m = make_preconditioner<double>("amg:sa", b.a, device{}, needs);
    const auto mx = kit::applied(*m, x), my = kit::applied(*m, y);
    EXPECT_NEAR(kit::dot(x, my), kit::dot(y, mx), 1e-5 * std::sqrt(kit::dot(x, x) * kit::dot(my, my)));
    EXPECT_GT(kit::dot(x, mx), 0);
    for (const int threads : {1, 2, 3, 8}) {
      set_threads(threads);
      const auto again = kit::applied(*make_preconditioner<double>("amg:sa", b.a, device{}, needs), x);
      EXPECT_EQ(std::memcmp(again.data(), mx.data(), mx.byte_count()), 0) << threads;
    }
    set_threads(0);
  }
}

/// Other values make the hierarchy from the beginning: the bits are those of a new solver.
TEST(amg_motions, are_kept_for_other_values) {
  const auto b = kit::elastic_grid({30, 3, 3}, 3, as_it_is).body(true);
  auto other = kit::elastic_grid({30, 3, 3}, 3, bent).body(true).a;
  auto o = kit::options("cg", "amg:sa");
  o.coordinates = b.points;
  const auto rhs = kit::random_vector<double>(b.a.shape.rows, 7);
  host_array<double> x(rhs.size(), 0.0), y(rhs.size(), 0.0);
  solver<double> renewed(coo<double>(b.a), o), made(coo<double>(other), o);
  renewed.update_values(coo<double>(other));
  const auto one = renewed.solve(as_cview(rhs), as_view(x)), two = made.solve(as_cview(rhs), as_view(y));
  EXPECT_EQ(one.why, status::converged);
  EXPECT_EQ(one.precond_about, two.precond_about);
  EXPECT_NE(one.precond_about.find("6 motions"), std::string::npos);
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.byte_count()), 0);
}

TEST(amg_motions, are_refused_where_they_mean_nothing) {
  const auto b = kit::elastic_grid({12, 4, 4}, 3, as_it_is).body(true);
  const auto expect = [&](const char* words, fault kind, auto change) {
    solve_options o;
    o.precond = "amg:sa", o.coordinates = b.points;
    auto points = std::make_shared<node_coordinates>(*b.points);
    coo<double> a = b.a;
    change(o, *points, a);
    o.coordinates = points;
    kit::expect_refusal(kind, words, [&] { solver<double>(std::move(a), o); });
  };
  const auto by = [](const char* precond, const char* solver = "auto") {
    return [=](solve_options& o, node_coordinates&, coo<double>&) { o.precond = precond, o.solver = solver; };
  };
  expect("name it", fault::usage, by("auto"));
  expect("jacobi makes no use of coordinates", fault::usage, by("jacobi"));
  expect("amg:grid makes no use of coordinates", fault::usage, by("amg:grid"));
  expect("amg:pairwise makes no use of coordinates", fault::usage, by("amg:pairwise", "fcg"));
  expect("jacobi makes no use of coordinates", fault::usage, by("jacobi", "refine:cg"));
  expect("have 1 dimension:", fault::input, [](solve_options&, node_coordinates& p, coo<double>&) { p.dims = 1; });
  expect("have 4 dimensions", fault::input, [](solve_options&, node_coordinates& p, coo<double>&) { p.dims = 4; });
  expect("which have 12 unknowns, but A has 900 rows", fault::input,
         [](solve_options&, node_coordinates& p, coo<double>&) { p.values.resize(12); });
  expect("coordinate 2 of node 3 is nan", fault::input, [](solve_options&, node_coordinates& p, coo<double>&) {
    p.values[7] = std::numeric_limits<double>::quiet_NaN();
  });
  expect("all nodes are at one place", fault::input,
         [](solve_options&, node_coordinates& p, coo<double>&) { std::ranges::fill(p.values, 2.0); });
  for (const index_t side : {30, 120}) // a large one: sizes of blocks are judged by a sample there, one is counted
    expect("A has no nodes of 3 unknowns", fault::input, [side](solve_options&, node_coordinates& p, coo<double>& a) {
      a = kit::laplacian(side, side);
      p.values = host_array<double>(side * side);
      for (index_t k = 0; k < side * side; ++k) p.values[k] = double(k * k % 7);
    });
}

TEST(amg_motions, are_counted_in_the_memory_of_a_solve) {
  const auto b = cube(6);
  const stats s = measure(b.a);
  auto o = kit::options("cg", "amg:sa");
  const double without = estimate_solve_memory(s, precision::f64, o).host;
  o.coordinates = b.points;
  EXPECT_NEAR(estimate_solve_memory(s, precision::f64, o).host - without, 3 * 6 * 8.0 * double(s.shape.rows), 1);
}

} // namespace
} // namespace furrow::amg
