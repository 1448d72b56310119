// SPDX-License-Identifier: BSD-3-Clause
// Multigrid is set up on the GPU as it is by the host.
#include "multigrid_systems.hpp"

#include "preconditioners/amg/gpu_setup.hpp"
#include "preconditioners/amg/grid/box_matrix.hpp"
#include "preconditioners/amg/grid/gpu_setup.hpp"
#include "preconditioners/amg/grid/setup.hpp"
#include "preconditioners/amg/setup.hpp"

#include "kit/elastic_body.hpp"

#include <furrow/storage.hpp>

namespace furrow {
namespace {

row_matrix<double> rows_of(coo<double> a) { return to_rows(std::move(a)); }

void compare_values(const auto& values, const auto& expected, double off, double least) {
  ASSERT_EQ(values.size(), expected.size());
  for (index_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], expected[i], off * (least + std::abs(expected[i]))) << i;
}

/// The hierarchy that the GPU sets up is that of the host, up to rounding.
void compare_levels(const amg::hierarchy<float>& here, const amg::hierarchy<float, gpu_array>& there) {
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
      compare_values(values, expected, 1e-5, 1e-3);
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

void compare_levels(const coo<double>& matrix, int block) {
  const auto a = rows_of(coo<double>(matrix));
  SCOPED_TRACE(std::to_string(a.shape.rows) + " rows, nodes of " + std::to_string(block));
  compare_levels(amg::smoothed_aggregation<float>(a.view(), block),
                 amg::smoothed_aggregation_on_gpu<float>(amg::uploaded(a.view()), block));
}

TEST_F(gpu_multigrid, has_the_levels_of_the_host) {
  for (const auto& a : systems()) compare_levels(a, 1);
}

TEST_F(gpu_multigrid, has_the_levels_of_the_host_for_nodes_of_several_unknowns) {
  compare_levels(generate("elasticity3d:9").a, 3);
  compare_levels(generate("elasticity3d:16").a, 3);
  for (const int b : {2, 3, 4, 5, 6}) {
    compare_levels(by_nodes(conducting(12, 11, 9, 0), b), b);
    compare_levels(by_nodes(conducting(40, 30, 1, 0, 0.01), b), b); // with weak couplings
    compare_levels(by_nodes(kit::jumps(11, 11, 11), b), b);         // and nodes that stay whole
  }
  const auto flat = [](double i, double j, double k) { return std::array<double, 3>{i, j, 0.1 * k}; };
  compare_levels(kit::elastic_grid({14, 12, 6}, 3, flat).body(true).a, 3);
  compare_levels(kit::elastic_grid({60, 20, 0}, 2, flat).body(true).a, 2);
}

TEST_F(gpu_multigrid, has_the_levels_of_the_host_for_what_is_not_symmetric) {
  for (const auto& matrix : winds()) {
    const auto a = rows_of(coo<double>(matrix));
    SCOPED_TRACE(a.shape.rows);
    compare_levels(amg::nonsymmetric_aggregation<float>(a.view()),
                   amg::nonsymmetric_aggregation_on_gpu<float>(amg::uploaded(a.view())));
  }
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
    const auto compare = [&](const auto& values, const auto& expected) { compare_values(values, expected, 1e-11, 1); };
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

} // namespace
} // namespace furrow
