// SPDX-License-Identifier: BSD-3-Clause
#include "box_matrix.hpp"
#include "coarsen.hpp"
#include "detect.hpp"
#include "preconditioners/amg/amg_test_kit.hpp"
#include "preconditioners/amg/by_diagonals.hpp"
#include "preconditioners/entry.hpp"
#include "setup.hpp"
#include "transfer.hpp"

#include <furrow/generate.hpp>

#include "kit/cycle_check.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <cstring>
#include <map>

namespace furrow::amg {
namespace {

using triplets = std::vector<kit::triplet>;

triplets entries_of(const coo<double>& a) {
  triplets e;
  for (index_t k = 0; k < a.nnz(); ++k) e.push_back({a.row[k], a.col[k], a.val[k]});
  return e;
}

/// -div k grad on a box of cells, times `scale` along each direction; walls at 0 around it where `walls`.
template <class K>
coo<double> diffusion(const box& b, K k, std::array<double, 3> scale = {1, 1, 1}, bool walls = true) {
  triplets e;
  for (index_t i = 0; i < b.size(); ++i)
    for (int axis = 0; axis < 3; ++axis) {
      if (b.points[axis] == 1) continue;
      const index_t at = i / b.stride(axis) % b.points[axis], j = i + b.stride(axis);
      if (at + 1 < b.points[axis]) {
        const double c = scale[axis] * 2 * k(i) * k(j) / (k(i) + k(j));
        e.push_back({i, i, c}), e.push_back({j, j, c}), e.push_back({i, j, -c}), e.push_back({j, i, -c});
      }
      if (walls && (at == 0 || at + 1 == b.points[axis])) e.push_back({i, i, scale[axis] * k(i)});
    }
  return kit::assemble({b.size(), b.size()}, std::move(e));
}
double one(index_t) { return 1; }

/// Blocks of 8 x 8 x 8 cells of 10^-3 to 10^3.
coo<double> jumping_blocks(const box& b) {
  kit::splitmix random(7);
  std::map<index_t, double> of_block;
  return diffusion(b, [&](index_t i) {
    const auto [nx, ny, nz] = b.points;
    const index_t block = i % nx / 8 + 1000 * (i / nx % ny / 8) + 1000000 * (i / nx / ny / 8);
    if (!of_block.contains(block)) of_block[block] = std::pow(10.0, double(random.below(7)) - 3);
    return of_block[block];
  });
}

box found_in(const coo<double>& a) {
  const auto rows = rows_of(a);
  const auto found = find_box(rows.view());
  EXPECT_TRUE(found) << found.failure;
  return found.points;
}
std::string failure_in(const coo<double>& a) {
  const auto rows = rows_of(a);
  return find_box(rows.view()).failure;
}
box_matrix box_of(const coo<double>& a) {
  const auto rows = rows_of(a);
  return in_box(rows.view(), find_box(rows.view()));
}
box_matrix box_of(const coo<double>& a, const box& b) {
  const auto rows = rows_of(a);
  return in_box(rows.view(), {b, offsets_of(rows.view(), place::count), ""});
}
using kit::mentions;

TEST(amg_grid_detection, finds_boxes_of_every_kind) {
  EXPECT_EQ(found_in(kit::laplacian(50)), (box{{50, 1, 1}}));
  EXPECT_EQ(found_in(kit::laplacian(17, 13)), (box{{17, 13, 1}}));
  EXPECT_EQ(found_in(kit::laplacian(3, 100)), (box{{3, 100, 1}}));
  EXPECT_EQ(found_in(kit::laplacian(9, 8, 7)), (box{{9, 8, 7}}));
  EXPECT_EQ(found_in(kit::laplacian(3, 3, 2)), (box{{3, 3, 2}}));
  EXPECT_EQ(found_in(kit::laplacian(17, 1, 13)), (box{{17, 13, 1}})); // an extent of 1 is no direction
  EXPECT_EQ(found_in(kit::laplacian(1, 17, 13)), (box{{17, 13, 1}}));
  EXPECT_EQ(found_in(generate("stencil3d27:6").a), (box{{6, 6, 6}}));
  EXPECT_EQ(found_in(generate("stencil2d9:12").a), (box{{12, 12, 1}}));
  // Triangles: a neighbour on the diagonal, up or down, and nothing else: the smallest offsets are s2 + 1 or s2 - 1.
  for (const index_t offset : {index_t(13), index_t(11)}) {
    triplets e;
    for (index_t i = 0; i < 120; ++i) {
      e.push_back({i, i, 4.0});
      const index_t x = i % 12, to = x + offset - 12;
      if (x + 1 < 12) e.push_back({i, i + 1, -1.0}), e.push_back({i + 1, i, -1.0});
      if (i + 12 < 120 && to >= 0 && to < 12) e.push_back({i, i + offset, -1.0}), e.push_back({i + offset, i, -1.0});
    }
    EXPECT_EQ(found_in(kit::assemble({120, 120}, std::move(e))), (box{{12, 10, 1}})) << offset;
  }
}

TEST(amg_grid_detection, refuses_what_is_none_and_says_why) {
  EXPECT_TRUE(mentions(failure_in(kit::laplacian(20, 20, 1, true)), "no grid's"));
  EXPECT_TRUE(mentions(failure_in(kit::laplacian(30, 1, 1, true)), "no grid's"));
  EXPECT_TRUE(mentions(failure_in(kit::diagonal({1, 2, 3})), "is diagonal"));
  EXPECT_TRUE(mentions(failure_in(generate("random:2000:16").a), "more than 27 diagonals"));
  EXPECT_FALSE(failure_in(kit::laplacian(2, 50)).empty()); // which way an offset of 1 goes would depend on the row
  auto across = entries_of(kit::laplacian(10, 10));
  across.push_back({9, 10, -0.1}), across.push_back({10, 9, -0.1});
  const std::string why = failure_in(kit::assemble({100, 100}, across));
  EXPECT_TRUE(mentions(why, "entry (10, 11)") && mentions(why, "10 x 10")) << why;
  across[across.size() - 1].value = across[across.size() - 2].value = 0; // a zero leaves nothing
  EXPECT_EQ(found_in(kit::assemble({100, 100}, across)), (box{{10, 10, 1}}));
  auto beyond = entries_of(kit::laplacian(5, 6, 4)); // out of a plane along y
  beyond.push_back({27, 32, -0.1}), beyond.push_back({32, 27, -0.1});
  EXPECT_TRUE(mentions(failure_in(kit::assemble({120, 120}, beyond)), "entry (28, 33)"));
}

TEST(amg_grid_detection, keeps_the_matrix) {
  for (const auto& a :
       {kit::laplacian(50), kit::laplacian(17, 13), kit::laplacian(70, 9, 8), generate("stencil3d27:7").a}) {
    const box_matrix m = box_of(a);
    EXPECT_EQ(m.entries(), a.nnz());
    const auto again = by_rows(m.diagonals());
    ASSERT_EQ(again.nnz(), a.nnz());
    for (index_t k = 0; k < a.nnz(); ++k) ASSERT_TRUE(again.col[k] == a.col[k] && again.val[k] == a.val[k]) << k;
  }
}

/// Values in (-1, 1) at all these places, 2 to 3 on the diagonal, the same on both sides of it.
box_matrix random_matrix(const box& b, place::set there) {
  kit::splitmix random(11);
  box_matrix m(box_layout(b, there));
  for (int p = 0; p < place::count; ++p)
    if (there[p]) std::fill_n(m.at(p), b.size(), 0.0);
  for (int p = place::centre; p < place::count; ++p) {
    if (!there[p]) continue;
    for (index_t i = 0; i < b.size(); ++i) {
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        const index_t to = i / b.stride(axis) % b.points[axis] + place::step(p, axis);
        inside = inside && to >= 0 && to < b.points[axis];
      }
      const double v = double(random.below(1 << 20)) / (1 << 20);
      if (p == place::centre) m.at(p)[i] = 2 + v;
      else if (inside) m.at(p)[i] = m.at(2 * place::centre - p)[i + place::offset(p, b)] = 0.5 - v;
    }
  }
  return m;
}
place::set star() {
  place::set s;
  for (const int p : {4, 10, 12, 13, 14, 16, 22}) s.set(p);
  return s;
}
place::set triangles() { // no point has a neighbour on one of the diagonals of the plane
  place::set s;
  for (const int p : {12, 13, 14, 10, 16, place::of(1, 1, 0), place::of(-1, -1, 0)}) s.set(p);
  return s;
}

TEST(amg_grid_coarsening, makes_the_product_of_three_matrices) {
  const auto all = place::set().set();
  const std::vector<std::pair<box, place::set>> cases{
      {{{5, 6, 7}}, all}, {{{8, 5, 4}}, star()},    {{{3, 3, 2}}, all},        {{{2, 3, 3}}, all},
      {{{4, 2, 5}}, all}, {{{2100, 3, 2}}, star()}, {{{9, 8, 1}}, triangles()}};
  for (const auto& [b, there] : cases)
    for (int axis = 0; axis < 3; ++axis) {
      if (b.points[axis] < 2) continue;
      const box_matrix a = random_matrix(b, there);
      auto p = weights_along(a, axis);
      kit::splitmix random(5); // any weights, where a point has both
      for (index_t i = 0; i < p.gone().size(); ++i)
        for (double* const w : {&p.lower[i], &p.upper[i]})
          if (*w != 0) *w = double(random.below(1000)) / 1000 - 0.3;
      const auto rows = by_rows(a.diagonals());
      std::map<std::pair<index_t, index_t>, std::pair<long double, long double>> truth; // and the sum of moduli
      for (index_t i = 0; i < rows.shape.rows; ++i)
        for (index_t k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k)
          p.each_weight(i, [&](index_t row, double l) {
            p.each_weight(rows.col[k], [&](index_t col, double r) {
              const long double product = static_cast<long double>(l) * rows.val[k] * r;
              auto& sum = truth[{row, col}];
              sum.first += product, sum.second += std::abs(product);
            });
          });
      const auto c = by_rows(galerkin_product(a, p).diagonals());
      ASSERT_EQ(c.shape.rows, p.coarse().size());
      index_t seen = 0;
      for (index_t i = 0; i < c.shape.rows; ++i)
        for (index_t k = c.row_ptr[i]; k < c.row_ptr[i + 1]; ++k) {
          const auto at = truth.find({i, c.col[k]});
          ASSERT_NE(at, truth.end()) << i << ' ' << c.col[k];
          ASSERT_LE(std::abs(c.val[k] - at->second.first), 11 * 1.2e-16L * at->second.second);
          ++seen;
        }
      for (const auto& [place, sum] : truth) seen -= sum.first != 0;
      EXPECT_GE(seen, 0) << to_string(b) << axis; // nothing is missing
    }
}

TEST(amg_grid_coarsening, interpolates_constants_where_rows_add_up_to_zero) {
  kit::splitmix random(2);
  std::vector<double> k(17 * 12 * 9);
  for (double& v : k) v = std::pow(10.0, double(random.below(7)) - 3);
  const box b{{17, 12, 9}};
  const auto conducts = [&](index_t i) { return k[i]; };
  box_matrix a = box_of(diffusion(b, conducts, {1, 1, 1}, false), b);
  for (int axis = 0; axis < 3; ++axis) {
    const auto p = weights_along(a, axis);
    for (index_t i = 0; i < p.gone().size(); ++i) {
      ASSERT_NEAR(p.lower[i] + p.upper[i], 1, 1e-9) << axis << ' ' << i;
      ASSERT_GE(std::min(p.lower[i], p.upper[i]), 0);
    }
    a = galerkin_product(a, p);
  }
}

TEST(amg_grid_coarsening, has_weights_between_0_and_1_that_know_walls_and_large_diagonals) {
  auto laplacian = kit::laplacian(9, 9);
  const auto weights = [&](int axis) { return weights_along(box_of(laplacian), axis); };
  for (int axis = 0; axis < 2; ++axis) {
    const auto p = weights(axis);
    const index_t along = axis == 0 ? 1 : 9, across = axis == 0 ? 5 : 1;
    for (index_t line = 0; line < 9; ++line) {
      for (index_t j = 1; j < 4; ++j) {
        EXPECT_EQ(p.lower[j * along + line * across], 0.5); // also beside a wall
        EXPECT_EQ(p.upper[j * along + line * across], 0.5);
      }
      EXPECT_EQ(p.lower[line * across], 0);
      EXPECT_EQ(p.upper[line * across], line == 0 || line == 8 ? 1.0 / 3 : 0.5); // towards the wall at the end
      EXPECT_EQ(p.upper[4 * along + line * across], 0);
    }
  }
  for (index_t e = 0; e < laplacian.nnz(); ++e)
    if (laplacian.row[e] == laplacian.col[e]) laplacian.val[e] = 1e6;
  const auto stiff = weights(0);
  for (const double w : stiff.upper) EXPECT_LT(w, 1e-5);
  const box b{{8, 7, 6}};
  const box_matrix wild = random_matrix(b, place::set().set());
  for (int axis = 0; axis < 3; ++axis) {
    const auto p = weights_along(wild, axis);
    for (index_t i = 0; i < p.gone().size(); ++i) {
      EXPECT_GE(std::min(p.lower[i], p.upper[i]), 0);
      EXPECT_LE(p.lower[i] + p.upper[i], 1 + 1e-15);
    }
  }
}

/// A row of P: a point and its weight are handed from direction to direction, to two points of the next box each.
std::map<index_t, double> row_of_prolongation(const std::vector<axis_transfer<double>>& axes, index_t point) {
  std::map<index_t, double> row{{point, 1}};
  for (const auto& t : axes)
    for (const auto& [from, weight] : std::exchange(row, {}))
      t.each_weight(from, [&](index_t to, double w) { row[to] += weight * w; });
  return row;
}

TEST(amg_grid_transfer, is_its_matrix_and_the_transpose) {
  for (const box& b : {box{{13, 12, 9}}, box{{14, 2, 40}}, box{{2500, 1, 1}}, box{{31, 40, 1}}, box{{3, 20, 30}}}) {
    const auto h = grid_hierarchy<double>(box_of(diffusion(b, one), b));
    const level<double>& l = h.levels[0];
    ASSERT_FALSE(l.axes.empty());
    const index_t fine = b.size(), coarse = h.levels[1].size();
    ASSERT_EQ(l.p.shape, (shape2{fine, coarse}));
    ASSERT_EQ(l.r.shape, (shape2{coarse, fine}));
    const auto x = kit::random_vector<double>(fine, 1), c = kit::random_vector<double>(coarse, 2);
    host_array<double> down(coarse), up(fine, 0.25), down_by_rows(coarse, 0.0);
    grid_transfer<double> way(l.axes);
    way.restrict_to(x.data(), down.data());
    way.add_prolonged(c.data(), up.data());
    for (index_t i = 0; i < fine; ++i) {
      double sum = 0.25;
      for (const auto& [j, weight] : row_of_prolongation(l.axes, i)) {
        sum += weight * c[j];
        down_by_rows[j] += weight * x[i];
      }
      ASSERT_NEAR(up[i], sum, 1e-14) << to_string(b) << ' ' << i;
    }
    for (index_t j = 0; j < coarse; ++j) ASSERT_NEAR(down[j], down_by_rows[j], 1e-13) << to_string(b) << ' ' << j;
  }
}

TEST(amg_grid_setup, halves_strong_directions_only_and_keeps_27_places) {
  const box b{{40, 30, 20}};
  const auto extents = [&](std::array<double, 3> scale) {
    const auto h = grid_hierarchy<float>(box_of(diffusion(b, one, scale), b));
    for (const auto& l : h.levels) EXPECT_LE(l.diagonals.offset.size(), 27);
    const auto& last = h.levels[0].axes.back();
    return last.coarse().points;
  };
  EXPECT_EQ(extents({1, 1, 1}), (std::array<index_t, 3>{20, 15, 10}));
  EXPECT_EQ(extents({1, 1, 1e-3}), (std::array<index_t, 3>{20, 15, 20}));
  EXPECT_EQ(extents({1e-3, 1, 0.2}), (std::array<index_t, 3>{40, 15, 20}));
  EXPECT_EQ(extents({0.4, 1e3, 1}), (std::array<index_t, 3>{40, 15, 20}));
}

TEST(amg_grid_setup, goes_down_from_thin_and_odd_boxes) {
  for (const box& b : {box{{3, 700, 1}}, box{{5, 3, 200}}, box{{601, 3, 3}}, box{{7, 11, 13}}, box{{1023, 1, 1}}}) {
    const auto h = grid_hierarchy<double>(box_of(diffusion(b, one), b));
    ASSERT_GE(h.levels.size(), 2) << to_string(b);
    EXPECT_LE(h.levels.back().size(), 150);
    EXPECT_EQ(h.coarsest.size(), h.levels.back().size() * h.levels.back().size());
  }
}

TEST(amg_grid_setup, smooths_what_is_not_coupled) {
  triplets e; // points of lines along x that stop being coupled once these are short
  for (index_t i = 0; i < 3000; ++i) {
    e.push_back({i, i, 2.0 + double(i % 5)});
    if (i % 3 != 2) e.push_back({i, i + 1, -1.0}), e.push_back({i + 1, i, -1.0});
  }
  e.push_back({5, 8, -0.5}), e.push_back({8, 5, -0.5});
  const auto a = kit::assemble({3000, 3000}, std::move(e));
  const auto m = make_preconditioner<double>("amg:grid", a, device{}, cg_needs);
  EXPECT_GT(m->levels().size(), 1);
}

TEST(amg_grid, is_symmetric_positive_and_the_same_for_every_number_of_threads) {
  for (const auto& a : {kit::laplacian(60, 60), kit::laplacian(33, 32, 31), jumping_blocks({{24, 24, 24}}),
                        generate("stencil3d27:20").a, generate("anisotropic2d:100:0.01").a, kit::laplacian(40000)})
    kit::expect_symmetric_positive("amg:grid", a);
}

template <class V> index_t grid_iterations(const coo<double>& a, const char* precond, double rtol = 1e-8) {
  solve_options o;
  o.precond = precond;
  o.rtol = rtol;
  o.max_iterations = 300;
  o.where = device{};
  const auto x = kit::random_vector<double>(a.shape.rows, 3);
  const auto b = kit::times(a, x);
  host_array<V> own(b.size());
  std::copy(b.begin(), b.end(), own.begin());
  const auto [report, answer] = kit::solve_honestly<V>(a, own, o);
  EXPECT_EQ(report.why, status::converged) << precond << ": " << report.message;
  return report.iterations;
}

TEST(amg_grid, takes_few_iterations_whatever_the_size) {
  EXPECT_LE(grid_iterations<double>(kit::laplacian(24, 24, 24), "amg:grid"), 9);
  EXPECT_LE(grid_iterations<double>(kit::laplacian(47, 40, 33), "amg:grid"), 9);
  EXPECT_LE(grid_iterations<double>(kit::laplacian(200, 201), "amg:grid"), 9);
  EXPECT_LE(grid_iterations<double>(kit::laplacian(30000), "amg:grid"), 9);
  EXPECT_LE(grid_iterations<double>(generate("stencil3d27:30").a, "amg:grid"), 9);
  EXPECT_LE(grid_iterations<float>(kit::laplacian(24, 24, 24), "amg:grid", 1e-5), 7);
  EXPECT_LT(grid_iterations<double>(kit::laplacian(200, 201), "amg:grid:4"),
            grid_iterations<double>(kit::laplacian(200, 201), "amg:grid:1"));
}

TEST(amg_grid, takes_anisotropy_in_every_direction) {
  for (const double eps : {1e-3, 1e3})
    for (int axis = 0; axis < 3; ++axis) {
      std::array<double, 3> scale{1, 1, 1};
      scale[axis] = eps;
      EXPECT_LE(grid_iterations<double>(diffusion({{30, 30, 30}}, one, scale), "amg:grid"), 12) << eps << ' ' << axis;
    }
  EXPECT_LE(grid_iterations<double>(generate("anisotropic2d:150:0.01").a, "amg:grid"), 10);
}

TEST(amg_grid, takes_jumps) {
  EXPECT_LE(grid_iterations<double>(jumping_blocks({{32, 32, 32}}), "amg:grid"), 15);
  EXPECT_LE(grid_iterations<double>(jumping_blocks({{128, 120, 1}}), "amg:grid"), 15);
}

TEST(amg_grid, solves_singular_consistent_systems) {
  const box b{{40, 37, 1}};
  EXPECT_LE(grid_iterations<double>(diffusion(b, one, {1, 1, 1}, false), "amg:grid"), 12);
}

TEST(amg_grid, takes_rows_of_any_size) {
  auto a = kit::laplacian(40, 40);
  for (double& v : a.val) v *= 1e-200;
  EXPECT_LE(grid_iterations<double>(a, "amg:grid"), 12);
  a = kit::laplacian(40, 40);
  for (index_t k = 0; k < a.nnz(); ++k) // D A D with D from 1e-10 to 1e10
    a.val[k] *= std::pow(10.0, double(a.row[k] % 21) - 10) * std::pow(10.0, double(a.col[k] % 21) - 10);
  const auto m = make_preconditioner<double>("amg:grid", a, device{}, cg_needs);
  for (const double v : kit::applied(*m, kit::random_vector<double>(1600, 2))) ASSERT_TRUE(std::isfinite(v));
}

TEST(amg_grid, is_refused_where_it_would_not_be_what_is_needed) {
  const auto why = [](const char* name, const coo<double>& a) -> std::string {
    return kit::refused_by([&] { make_preconditioner<double>(name, a, device{}, cg_needs); }).message;
  };
  const auto scattered = generate("random:2000:16").a;
  EXPECT_TRUE(mentions(why("amg:grid", scattered), "more than 27 diagonals; use amg:sa"));
  EXPECT_EQ(why("amg", scattered), "");
  auto indefinite = kit::laplacian(40, 40);
  for (index_t k = 0; k < indefinite.nnz(); ++k)
    if (indefinite.row[k] == indefinite.col[k]) indefinite.val[k] = 3;
  EXPECT_TRUE(mentions(why("amg:grid", indefinite), "not positive definite"));
  for (const char* name : {"amg:grid:0", "amg:grid:7", "amg:grid:2:1", "amg:box"})
    EXPECT_THROW(make_preconditioner<double>(name, kit::laplacian(5), device{}, cg_needs), error) << name;
}

TEST(amg, takes_the_grid_where_there_is_one_and_says_why_not) {
  const auto said = [](const char* name, const coo<double>& a) {
    return make_preconditioner<double>(name, a, device{}, cg_needs)->describe();
  };
  const auto grid = said("amg", kit::laplacian(40, 30));
  EXPECT_TRUE(grid.starts_with("amg:grid:2: 3 levels of a grid of 40 x 30 points, ")) << grid;
  const auto other = said("amg", generate("random:2000:16").a);
  EXPECT_TRUE(other.starts_with("amg:sa:2: ") && other.ends_with("; no grid: the matrix has more than 27 diagonals"))
      << other;
  EXPECT_TRUE(said("amg:sa", kit::laplacian(40, 30)).starts_with("amg:sa:2: "));
  EXPECT_FALSE(mentions(said("amg:sa", kit::laplacian(40, 30)), "no grid"));
  EXPECT_TRUE(said("amg:grid:3", kit::laplacian(2000)).starts_with("amg:grid:3: 5 levels of a line of 2000 points"));
}

} // namespace
} // namespace furrow::amg
