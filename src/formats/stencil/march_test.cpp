// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "march.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/row_error.hpp"

#include <furrow/generate.hpp>
#include <furrow/storage.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

using matrix = stencil<double, std::uint8_t, host_array>;

matrix stencils_in(const coo<double>& a) { return to_stencil<std::uint8_t>(a, plan_stencils(a)); }
march_plan plan_of(const coo<double>& a, index_t rows = 64) { return plan_march(stencils_in(a), rows); }

TEST(march, finds_the_planes_of_grids) {
  const auto of = [](const char* spec) { return plan_of(generate(spec).a); };
  EXPECT_EQ(of("poisson3d:20").planes.period, 400);
  EXPECT_EQ(of("poisson3d:20").planes.halo, 20);
  EXPECT_EQ(of("stencil3d27:20").planes.period, 400);
  EXPECT_EQ(of("stencil3d27:20").planes.halo, 21);
  EXPECT_EQ(of("poisson2d:300").planes.period, 300); // planes are lines
  EXPECT_EQ(of("poisson2d:300").planes.halo, 1);
  EXPECT_EQ(of("elasticity3d:12").planes.period % 3, 0); // three unknowns a node
  EXPECT_LE(of("elasticity3d:12").planes.halo, most_halo);
  for (const char* spec : {"poisson3d:20", "stencil3d27:20", "poisson2d:300"}) EXPECT_EQ(of(spec).rows_far, 0) << spec;
}

TEST(march, takes_blocks_of_rows_where_there_are_no_planes) {
  const auto band = plan_of(kit::laplacian(5000));
  EXPECT_EQ(band.planes.period, 64);
  EXPECT_EQ(band.planes.halo, 1);
  EXPECT_EQ(band.rows_far, 0);
  // Around a periodic box the first and the last plane are neighbours: their rows reach far.
  const auto box = plan_of(kit::laplacian(20, 20, 10, true, 1));
  EXPECT_EQ(box.planes.period, 400);
  EXPECT_NEAR(box.rows_far, 0.2, 1e-12);
  EXPECT_EQ(plan_of(kit::assemble({70, 70}, {})).rows_far, 0);
  EXPECT_EQ(plan_of(kit::assemble({0, 7}, {})).part.size(), 4);
}

/// What a block does: windows of the three planes of a row, with zeros where x ends; whatever a window does not hold is
/// not read.
TEST(march, windows_hold_what_rows_read) {
  std::vector<coo<double>> matrices{kit::laplacian(20, 20, 10),   kit::laplacian(20, 20, 10, true, 1),
                                    kit::laplacian(300, 7),       kit::laplacian(5000),
                                    generate("stencil3d27:18").a, generate("elasticity3d:10").a};
  for (const auto& m : kit::battery()) matrices.push_back(m.a);
  for (const auto& a : matrices) {
    const auto made = stencils_in(a);
    const auto view = view_of(made);
    const march_plan plan = plan_march(made, 64);
    const stencil_table<double> t{plan.part.data(), plan.away.data(), made.val.data()};
    const index_t period = plan.planes.period, halo = plan.planes.halo;
    const auto x = kit::random_vector<double>(a.shape.cols, 21);
    host_array<double> y(a.shape.rows);
    for (index_t row = 0; row < a.shape.rows; ++row) {
      const int number = made.number[row];
      double sum[1] = {};
      if (number >= stencils_of(made) || is_far(plan.part.data(), number)) {
        sum[0] = partial(lanes{}, view, row, as_cview(x));
      } else {
        for (int j = 0; j < 3; ++j) {
          host_array<double> window(2 * halo + 1, 0.0);
          for (index_t k = 0; k < window.size(); ++k)
            if (const index_t i = row + (j - 1) * period - halo + k; i >= 0 && i < x.size()) window[k] = x[i];
          add_stencil<4>(t, 3 * number + j, window.data() + halo, 1, sum);
        }
      }
      y[row] = sum[0];
    }
    const auto expected = kit::reference_product(a, 1.0, as_cview(x), 0.0, {});
    EXPECT_LE(kit::row_error(expected, as_cview(y)), 1) << a.shape.rows << " rows";
  }
}

TEST(march, blocks_share_all_rows_evenly) {
  for (const index_t rows : {1, 1000, 8'000'000, 2'097'152, 134'217'728})
    for (const index_t period : {256, 1000, 16384, 40000, 262144, 5'000'000}) {
      const march_cut cut = cut_planes(rows, period, 2048, 264);
      EXPECT_GE(cut.parts * cut.rows, period);
      EXPECT_LT((cut.parts - 1) * cut.rows, period);
      EXPECT_LE(cut.rows, 2048);
      EXPECT_GE(cut.planes * period, rows);
      EXPECT_GE(cut.chunk, 1);
      if (2 * cut.parts <= 264) {
        EXPECT_LE(cut.units(), 264) << rows << ", " << period;
      }
    }
  const march_cut cube = cut_planes(200 * 200 * 200, 200 * 200, 2048, 264);
  EXPECT_EQ(cube.rows, 2000);
  EXPECT_EQ(cube.chunk, 16);
  EXPECT_EQ(cube.units(), 260);
}

} // namespace
} // namespace furrow
