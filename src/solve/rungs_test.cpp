// SPDX-License-Identifier: BSD-3-Clause
// Which methods and preconditioners are tried, and in which order.
#include "rungs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace furrow {
namespace {

const inventory everything{[](std::string_view) { return true; }, [](std::string_view) { return true; }};
const inventory little{[](std::string_view name) { return name == "cg" || name == "bicgstab"; },
                       [](std::string_view name) { return name == "jacobi" || name == "none"; }};

features large_matrix() {
  features f;
  f.rows = f.dominant = 1000000;
  f.nnz = 9000000; // more a row than networks and planes have
  f.longest_row = 9;
  f.symmetric = true;
  return f;
}

/// Not symmetric, with zeros on the diagonal.
features large_matrix_to_match() {
  features f = large_matrix();
  f.symmetric = false;
  f.zero_diagonal = 5;
  return f;
}

std::string names(const std::vector<rung_plan>& rungs) {
  std::string text;
  for (const rung_plan& r : rungs) text += r.solver + "+" + r.precond + " ";
  return text;
}

TEST(rungs, of_symmetric_matrices_begin_with_what_is_cheap_and_end_without_an_outlook) {
  const auto list = rungs_for(large_matrix(), everything);
  EXPECT_EQ(names(list), "cg+jacobi cg+amg direct+lu cg+ic0 direct+lu cg+jacobi ");
  EXPECT_GT(list.front().outlook, 0);
  EXPECT_TRUE(list[2].is_bounded());
  EXPECT_GT(list[2].operations.by_panels, list[2].operations.most);
  EXPECT_GT(list[2].operations.to_the_end, list[2].operations.most);
  EXPECT_FALSE(list[4].is_bounded());
  EXPECT_EQ(list.back().outlook, 0);
  for (const rung_plan& r : list) EXPECT_FALSE(r.reason.empty());
}

TEST(rungs, of_a_gpu_are_patient_before_one_of_the_host) {
  inventory on_gpu = everything;
  on_gpu.on_gpu = true;
  const auto host = rungs_for(large_matrix(), everything), all_there = rungs_for(large_matrix(), on_gpu);
  on_gpu.runs_on_gpu = [](std::string_view name) { return name == "jacobi"; };
  const auto little_there = rungs_for(large_matrix(), on_gpu);
  ASSERT_EQ(names(little_there), names(host));
  EXPECT_EQ(all_there.front().outlook, 2 * host.front().outlook); // multigrid has to get there first
  EXPECT_EQ(all_there[1].outlook, host[1].outlook);
  EXPECT_EQ(little_there.front().outlook, 20 * host.front().outlook);
  EXPECT_EQ(little_there[1].outlook, host[1].outlook); // from the host to the host

  on_gpu.runs_on_gpu = [](std::string_view name) { return name != "lu"; };
  on_gpu.by_levels = [](std::string_view name) { return name == "ilu" || name == "ilut" || name == "ic0"; };
  const auto without_factors = rungs_for(large_matrix(), on_gpu), to_match = rungs_for(large_matrix_to_match(), on_gpu);
  EXPECT_EQ(without_factors[1].outlook, 20 * host[1].outlook); // multigrid, before complete factors
  for (const rung_plan& r : without_factors)
    EXPECT_TRUE(r.precond != "ic0" || r.outlook == host[3].outlook) << r.outlook;
  const auto on_host = rungs_for(large_matrix_to_match(), everything);
  ASSERT_EQ(names(to_match), names(on_host));
  for (std::size_t k = 0; k < to_match.size(); ++k)
    EXPECT_TRUE(!on_gpu.by_levels(to_match[k].precond) || to_match[k].outlook == on_host[k].outlook) << k;
}

TEST(rungs, of_few_rows_are_factorised_early) {
  features f = large_matrix();
  f.rows = f.dominant = 2000;
  EXPECT_EQ(names(rungs_for(f, everything)).find("cg+jacobi direct+lu"), 0u);
  f.symmetric = false;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi direct+lu"), 0u);
  f.zero_diagonal = 1;
  EXPECT_EQ(names(rungs_for(f, everything)).find("direct+lu"), 0u);
  f.zero_diagonal = 0, f.scales = 1e5; // a small residual would say nothing of small rows
  EXPECT_EQ(names(rungs_for(f, everything)).find("direct+lu"), 0u);
}

TEST(rungs, of_matrices_that_fall_apart_begin_with_factors) {
  features f = large_matrix_to_match();
  f.blocks = 50000, f.largest_block = 20, f.in_blocks = 50000 * 2.0 / 3 * 8000;
  const auto list = rungs_for(f, everything);
  EXPECT_EQ(names(list).find("direct+lu bicgstab+ilu"), 0u);
  EXPECT_FALSE(list.front().is_bounded());
  EXPECT_NE(list.front().reason.find("50,000 diagonal blocks, the largest of 20 rows"), std::string::npos);
  f.zero_diagonal = 0, f.dominant = 0;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi direct+lu"), 0u);
  f.largest_block = 100000, f.in_blocks = 2.0 / 3 * 1e15;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi bicgstab+ilu"), 0u);
}

TEST(rungs, of_rows_of_like_sizes_try_their_diagonal_before_factors) {
  features f = large_matrix();
  f.symmetric = false, f.dominant = f.rows / 2;
  const auto usual = rungs_for(f, everything);
  f.dominant = 0;
  const auto weak = rungs_for(f, everything);
  EXPECT_EQ(names(weak), names(usual));
  EXPECT_LT(weak.front().outlook, usual.front().outlook);
  inventory ranks = everything;
  ranks.on_ranks = true;
  EXPECT_EQ(names(rungs_for(f, ranks)).find("bicgstab+ilu "), 0u);
  f.small_diagonal = 1;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilu "), 0u);
  f.rows = 2000, f.small_diagonal = 0;
  const auto few = rungs_for(f, everything);
  EXPECT_EQ(names(few).find("bicgstab+jacobi direct+lu"), 0u);
  EXPECT_LT(few.front().outlook, weak.front().outlook);
  inventory on_gpu = everything;
  on_gpu.on_gpu = true; // whose start takes as long as factors of few rows
  EXPECT_EQ(names(rungs_for(f, on_gpu)).find("direct+lu"), 0u);
}

TEST(rungs, of_dominant_rows_have_multigrid_before_incomplete_factors) {
  features f = large_matrix();
  f.symmetric = false;
  const auto list = rungs_for(f, everything);
  EXPECT_EQ(names(list).find("bicgstab+jacobi bicgstab+amg bicgstab+ilu "), 0u) << names(list);
  EXPECT_GT(list[1].outlook, 0);
  f.diagonals = 7; // a grid's in space, whose lines are short
  EXPECT_EQ(rungs_for(f, everything).front().outlook, list.front().outlook);
  f.diagonals = 5; // in the plane a diagonal takes the more steps the larger it is
  EXPECT_LT(rungs_for(f, everything).front().outlook, list.front().outlook);
  inventory other = everything;
  other.on_gpu = true;
  EXPECT_EQ(names(rungs_for(f, other)).find("bicgstab+jacobi bicgstab+amg idr:8+jacobi bicgstab+ilu "), 0u);
  f.diagonals = 0;
  other = everything;
  other.on_ranks = true;
  EXPECT_EQ(names(rungs_for(f, other)).find("amg"), std::string::npos);
  const auto without = [&](auto change) {
    features g = f;
    change(g);
    return names(rungs_for(g, everything)).find("amg") == std::string::npos;
  };
  EXPECT_TRUE(without([](features& g) { g.dominant = g.rows / 2; }));
  EXPECT_TRUE(without([](features& g) { g.negative_diagonal = 1; }));
  EXPECT_TRUE(without([](features& g) { g.rows = g.dominant = 10000; }));
}

TEST(rungs, of_some_rows_have_factors_before_multigrid_that_take_few_operations) {
  features f = large_matrix();
  f.rows = f.dominant = 40000, f.nnz = 1000000;
  const auto list = rungs_for(f, everything);
  EXPECT_EQ(names(list), "cg+jacobi direct+lu cg+amg direct+lu cg+ic0 direct+lu cg+jacobi ");
  EXPECT_GT(list[3].operations.by_panels, list[1].operations.by_panels);
  EXPECT_FALSE(list[5].is_bounded());
  f.diagonals = 7; // a grid's
  EXPECT_EQ(names(rungs_for(f, everything)).find("cg+jacobi cg+amg"), 0u);
  f.diagonals = 0;
  inventory other = everything;
  other.on_gpu = true;
  EXPECT_EQ(names(rungs_for(f, other)).find("cg+jacobi cg+amg"), 0u);
  other = everything;
  other.on_ranks = true;
  EXPECT_EQ(names(rungs_for(f, other)).find("cg+jacobi cg+amg"), 0u);
}

TEST(rungs, of_networks_whose_rows_are_dominant_have_such_factors_before_multigrid) {
  features f = large_matrix();
  f.rows = f.dominant = 40000, f.nnz = 200000, f.symmetric = false;
  const auto list = rungs_for(f, everything);
  EXPECT_EQ(names(list).find("bicgstab+jacobi direct+lu bicgstab+amg direct+lu bicgstab+ilut "), 0u) << names(list);
  EXPECT_GT(list[3].operations.most, list[1].operations.most);
  f.nnz = 400000; // more than power grids and circuits have
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi bicgstab+amg bicgstab+ilut direct+lu "), 0u);
  f.nnz = 300000, f.rows = f.dominant = 60000;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi bicgstab+amg direct+lu bicgstab+ilut "), 0u);
}

TEST(rungs, of_planes_have_factors_before_incomplete_ones) {
  features f = large_matrix();
  f.nnz = 7 * f.rows;
  const auto indefinite = [&](const inventory& there) { return names(rungs_for_indefinite(f, there)); };
  const std::string sooner = "+jacobi direct+lu bicgstab+ilu gmres:50+ilut direct+lu ",
                    later = "+jacobi bicgstab+ilu direct+lu gmres:50+ilut direct+lu ";
  EXPECT_EQ(indefinite(everything).find("minres" + sooner), 0u) << indefinite(everything);
  const auto operations = rungs_for_indefinite(f, everything)[1].operations;
  EXPECT_LT(operations.most, most_operations::any);
  EXPECT_LT(operations.order_steps, 100);
  inventory other = everything;
  other.on_gpu = true;
  EXPECT_EQ(indefinite(other).find("minres" + later), 0u) << indefinite(other);
  f.nnz = 20 * f.rows;
  EXPECT_EQ(indefinite(everything).find("minres" + later), 0u) << indefinite(everything);
  f.diagonals = 19;
  EXPECT_EQ(indefinite(everything).find("minres" + sooner), 0u) << indefinite(everything);
  f.symmetric = false, f.dominant = f.rows / 2;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab" + sooner), 0u);
  f.dominant = f.rows;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi bicgstab+amg direct+lu bicgstab+ilu gmres"), 0u);
  f.diagonals = 0, f.rows = 5600, f.dominant = 2000, f.nnz = 39000; // of which factors without a limit come soon
  const auto few = rungs_for(f, everything);
  EXPECT_EQ(names(few).find("bicgstab+jacobi direct+lu bicgstab+ilut direct+lu gmres"), 0u) << names(few);
  EXPECT_TRUE(few[1].is_bounded());
  EXPECT_FALSE(few[3].is_bounded());
  f.diagonals = 7;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi bicgstab+ilut direct+lu gmres"), 0u);
}

TEST(rungs, of_plates_have_factors_before_multigrid) {
  features f = large_matrix();
  f.diagonals = 13, f.nnz = 13 * f.rows, f.dominant = 0;
  const auto has_factors = [&] { return names(rungs_for(f, everything)).find("cg+jacobi direct+lu cg+amg ") == 0; };
  EXPECT_TRUE(has_factors());
  f.diagonals = 9;
  EXPECT_FALSE(has_factors());
  f.diagonals = 13, f.dominant = f.rows;
  EXPECT_FALSE(has_factors());
}

TEST(rungs, of_chains_have_factors_before_anything_but_a_diagonal) {
  features f = large_matrix();
  f.diagonals = 5, f.below = f.above = 2, f.nnz = 5 * f.rows; // a beam
  EXPECT_EQ(names(rungs_for(f, everything)).find("cg+jacobi direct+lu cg+amg "), 0u);
  f.symmetric = false;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi direct+lu bicgstab+amg "), 0u);
  EXPECT_TRUE(rungs_for(f, everything)[1].is_bounded());
  f.symmetric = true, f.negative_diagonal = 1;
  EXPECT_EQ(names(rungs_for(f, everything)).find("minres+jacobi direct+lu "), 0u);
  const auto has_none = [](const char* what, features g, const inventory& there) {
    EXPECT_EQ(names(rungs_for(g, there)).find("cg+jacobi cg+amg "), 0u) << what;
  };
  f.negative_diagonal = 0;
  inventory other = everything;
  other.on_gpu = true;
  has_none("on a GPU", f, other);
  other.on_gpu = false, other.on_ranks = true;
  has_none("on ranks", f, other);
  f.below = f.above = 1000; // a grid in the plane
  has_none("a wide band", f, everything);
  f.below = f.above = 0; // not known
  has_none("no band", f, everything);
}

TEST(rungs, of_grids_come_to_multigrid_sooner) {
  features f = large_matrix();
  const auto usual = rungs_for(f, everything);
  f.diagonals = 7;
  const auto grid = rungs_for(f, everything);
  EXPECT_EQ(names(grid), names(usual));
  EXPECT_LT(grid.front().outlook, usual.front().outlook);
  inventory on_gpu = everything;
  on_gpu.on_gpu = true;
  EXPECT_EQ(rungs_for(f, on_gpu).front().outlook, grid.front().outlook);
  EXPECT_LT(rungs_for(f, on_gpu).front().outlook, rungs_for(large_matrix(), on_gpu).front().outlook);
}

TEST(rungs, of_a_gpu_take_shadow_vectors_before_triangular_solves_of_many_rows) {
  features f = large_matrix();
  f.symmetric = false, f.diagonals = 5;
  inventory on_gpu = everything;
  on_gpu.on_gpu = true;
  const auto list = rungs_for(f, on_gpu);
  EXPECT_EQ(names(list).find("bicgstab+jacobi bicgstab+amg idr:8+jacobi bicgstab+ilu "), 0u) << names(list);
  EXPECT_EQ(list[2].outlook, 0); // its rate says nothing
  EXPECT_GT(list[2].most, 0);
  const auto have_none = [&](const char* what, const features& of, const inventory& there) {
    EXPECT_EQ(names(rungs_for(of, there)).find("idr"), std::string::npos) << what;
  };
  have_none("on the host", f, everything);
  features other = f;
  other.zero_diagonal = 5;
  have_none("to match", other, on_gpu);
  other = f, other.rows = other.dominant = 40000;
  have_none("few rows", other, on_gpu);
  other = f, other.diagonals = 0;
  have_none("no grid", other, on_gpu);
  on_gpu.on_ranks = true;
  have_none("on ranks", f, on_gpu);
}

TEST(rungs, of_what_fits_on_the_chip_of_a_gpu_begin_there) {
  const features f = large_matrix();
  inventory on_gpu = everything;
  on_gpu.on_gpu = true;
  const auto usual = rungs_for(f, on_gpu);
  on_gpu.cg_fits_on_chip = true;
  const auto chip = rungs_for(f, on_gpu);
  EXPECT_EQ(names(usual).find("cg+jacobi "), 0u);
  EXPECT_EQ(names(chip), "cg_resident" + names(usual).substr(2));
  EXPECT_GT(chip.front().outlook, 2 * usual.front().outlook);
  EXPECT_EQ(rungs_with("none", f, on_gpu).front().solver, "cg_resident");
  EXPECT_EQ(rungs_with("chebyshev:8", f, on_gpu).front().solver, "cg_resident");
  EXPECT_EQ(rungs_with("block_jacobi", f, on_gpu).front().solver, "cg_resident");
  EXPECT_EQ(rungs_with("ic0", f, on_gpu).front().solver, "cg");
  features indefinite = f;
  indefinite.negative_diagonal = 5;
  EXPECT_EQ(names(rungs_for(indefinite, on_gpu)).find("cg_resident"), std::string::npos);
}

TEST(rungs, of_what_is_not_symmetric_and_fits_on_the_chip_begin_there) {
  features f = large_matrix();
  f.symmetric = false;
  inventory on_gpu = everything;
  on_gpu.on_gpu = on_gpu.cg_fits_on_chip = true; // which keeps fewer vectors
  const auto usual = rungs_for(f, on_gpu);
  on_gpu.bicgstab_fits_on_chip = true;
  const auto chip = rungs_for(f, on_gpu);
  EXPECT_EQ(names(usual).find("bicgstab+jacobi "), 0u);
  EXPECT_EQ(names(chip), "bicgstab_resident" + names(usual).substr(8));
  EXPECT_GT(chip.front().outlook, 2 * usual.front().outlook);
  EXPECT_EQ(rungs_with("jacobi", f, on_gpu).front().solver, "bicgstab_resident");
  EXPECT_EQ(rungs_with("ilu0", f, on_gpu).front().solver, "bicgstab");
}

TEST(rungs, of_some_rows_are_factorised_where_the_first_iteration_is_slow) {
  features f = large_matrix_to_match();
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilu direct+lu gmres:50+ilut direct+lu"), 0u);
  f.rows = f.dominant = 5000;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilu direct+lu gmres:50+ilut"), 0u);
}

TEST(rungs, of_some_rows_that_want_matching_are_factorised_first_where_entries_are_few) {
  features f = large_matrix_to_match();
  f.rows = f.dominant = 4900, f.nnz = 33000;
  const auto list = rungs_for(f, everything);
  EXPECT_EQ(names(list), "direct+lu bicgstab+ilut gmres:50+ilut bicgstab+none lsmr+jacobi ");
  EXPECT_TRUE(list.front().reason.find("matching") != std::string::npos) << list.front().reason;
  f.nnz = 330000; // more fill
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilut direct+lu gmres:50+ilut"), 0u);
  f.nnz = 33000, f.zero_diagonal = 0; // a diagonal that says something
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi direct+lu bicgstab+ilut direct+lu"), 0u);
}

TEST(rungs, of_few_entries_have_more_fill_at_once_where_the_host_factors) {
  features f = large_matrix_to_match();
  f.rows = f.dominant = 20000, f.nnz = 800000;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilut direct+lu gmres:50+ilut direct+lu"), 0u);
  inventory elsewhere = everything;
  elsewhere.on_ranks = true;
  EXPECT_EQ(names(rungs_for(f, elsewhere)).find("bicgstab+ilu "), 0u);
  elsewhere.on_ranks = false, elsewhere.on_gpu = true;
  EXPECT_EQ(names(rungs_for(f, elsewhere)).find("bicgstab+ilu "), 0u);
  f.nnz = 800001;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilu "), 0u);
}

TEST(rungs, of_rectangular_and_singular_matrices_end_with_least_squares) {
  features f = large_matrix();
  const auto of_singular = [&] { return names(rungs_for_singular(f, everything)); };
  EXPECT_EQ(of_singular(), "cg+jacobi direct+lu cg+amg minres+jacobi lsmr+jacobi direct+lu lsmr+jacobi ");
  EXPECT_EQ(names(rungs_for_singular(f, everything, true)), // cg and multigrid have failed already
            "direct+lu minres+jacobi lsmr+jacobi direct+lu lsmr+jacobi ");
  f.symmetric = false;
  EXPECT_EQ(of_singular(), "direct+lu gmres:50+ilut gmres:50+ilu lsmr+jacobi direct+lu lsmr+jacobi ");
  f.rows = 10000;
  EXPECT_EQ(of_singular(), "direct+lu gmres:50+ilut gmres:50+ilu lsmr+jacobi direct+lu "); // which had all of its steps
  f.rows = few_rows;
  EXPECT_EQ(of_singular(), "direct+lu gmres:50+ilut gmres:50+ilu lsmr+jacobi ");
  f.more_columns = -10;
  EXPECT_EQ(names(rungs_for(f, everything)), "lsmr+jacobi direct+lu lsmr+jacobi ");
  EXPECT_TRUE(rungs_for(f, everything)[1].augmented);
  auto of_ranks = everything;
  of_ranks.on_ranks = true;
  EXPECT_EQ(names(rungs_for(f, of_ranks)), "lsmr+jacobi ");
  EXPECT_EQ(names(rungs_with("none", f, everything)), "lsmr+none ");
  f.more_columns = 10;
  EXPECT_EQ(names(rungs_for(f, everything)), "lsmr+none lsmr+jacobi ");
}

TEST(rungs, of_other_matrices_never_ask_for_what_they_lack) {
  features f = large_matrix();
  f.negative_diagonal = 5;
  EXPECT_EQ(names(rungs_for(f, everything)).find("cg+"), std::string::npos);
  f.symmetric = false;
  f.negative_diagonal = 0;
  f.zero_diagonal = 3;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi"), std::string::npos);
}

TEST(rungs, are_those_that_the_build_has) {
  features f = large_matrix();
  for (const bool symmetric : {true, false})
    for (const index_t negative : {index_t(0), index_t(10)})
      for (const index_t zero : {index_t(0), index_t(10)}) {
        f.symmetric = symmetric, f.negative_diagonal = negative, f.zero_diagonal = zero;
        const auto list = rungs_for(f, little);
        ASSERT_FALSE(list.empty());
        for (const rung_plan& r : list)
          EXPECT_TRUE(little.has_solver(r.solver) && little.has_preconditioner(r.precond));
        EXPECT_FALSE(rungs_for_indefinite(f, little).empty());
        EXPECT_FALSE(rungs_with("none", f, little).empty());
      }
}

TEST(rungs, with_a_named_preconditioner_leave_out_methods_that_cannot_have_it) {
  inventory there = everything;
  there.suits = suits;
  features f = large_matrix();
  f.symmetric = true;
  EXPECT_EQ(names(rungs_with("ic0", f, there)), "cg+ic0 minres+ic0 bicgstab+ic0 gmres:50+ic0 ");
  EXPECT_EQ(names(rungs_with("ilu:1", f, there)), "bicgstab+ilu:1 gmres:50+ilu:1 ");
  EXPECT_EQ(names(rungs_with("chebyshev", f, there)), "cg+chebyshev bicgstab+chebyshev gmres:50+chebyshev ");
}

} // namespace
} // namespace furrow
