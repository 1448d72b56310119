// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace furrow {
namespace {

/// Two threads with so large a second cache each: what typical_machine says where the cache has that size.
machine two_threads(double cache_each, bool by_intel = true) {
  return {24e9, 80e9, 2 * cache_each, 2e-6, 2, by_intel ? 480e6 : 32e6, by_intel};
}

/// The format that the costs put first, whatever the machine that runs the test.
std::string fastest(const stats& s, precision p, const machine& m) {
  std::string name;
  double least = 0;
  for (const format_entry* f : formats()) {
    const layout l = f->lay_out(s, p, {});
    if (!f->cpu.f64 || !l.refusal.empty()) continue;
    for (const kernel_entry& k : f->cpu.kernels) {
      const double seconds = expected_seconds(k.costs, s, p, l, m);
      if (name.empty() || seconds < least) name = f->name, least = seconds;
    }
  }
  return name;
}

/// Each of `specs` gets one of `wanted` in both precisions, on processors by Intel and by AMD with second caches of 1
/// and of 2 MiB; on one by AMD one of `there_too` will do.
void expect_first(std::initializer_list<const char*> specs, const std::set<std::string>& wanted,
                  const std::set<std::string>& there_too = {}) {
  for (const char* spec : specs) {
    const stats s = measure(generate(spec).a);
    for (const precision p : {precision::f64, precision::f32})
      for (const double mebibytes : {1, 2})
        for (const bool by_intel : {true, false}) {
          const std::string name = fastest(s, p, two_threads(mebibytes * (1 << 20), by_intel));
          EXPECT_TRUE(wanted.contains(name) || (!by_intel && there_too.contains(name)))
              << spec << " in " << 8 * bytes_of(p) << " bits, " << mebibytes << " MiB, "
              << (by_intel ? "Intel: " : "AMD: ") << name;
        }
  }
}

/// A matrix with other values in each row: no stencils.
stats with_values_of_its_own(const char* spec) {
  coo<double> a = generate(spec).a;
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] = 1 + double(k) / double(a.nnz());
  return measure(a);
}

// Where the fastest is at least 1.3 times as fast as what is not named here (bench/results/cpu_choice.json, and
// cpu_choice_zen4.json for AMD).
TEST(cpu_costs, grids_with_long_lines_are_stencils_in_the_caches_and_beyond) {
  expect_first(
      {"poisson1d:10000", "poisson1d:200000", "poisson2d:300", "poisson3d:60", "stencil2d9:300", "stencil3d27:40"},
      {"stencil"}, {"dia"});
}
TEST(cpu_costs, small_grids_are_diagonals) {
  expect_first({"poisson2d:10", "poisson3d:5", "poisson3d:10", "poisson3d:16", "stencil3d27:6", "stencil3d27:10"},
               {"dia", "hdia"});
}
TEST(cpu_costs, rows_that_no_neighbour_is_like_are_no_stencils) {
  expect_first({"elasticity3d:6", "elasticity3d:10", "elasticity3d:16"}, {"bcsr", "dia", "hdia"});
}
TEST(cpu_costs, scattered_entries_and_uneven_rows_are_neither_padded_nor_unpacked) {
  expect_first({"random:10000:8"}, {"sell", "hdia"}, {"ell"}); // the rest of hdia is sell
  expect_first({"powerlaw:20000:8:2.2", "powerlaw:200000:9:2.2"}, {"csr", "sell", "hyb"});
}

TEST(cpu_costs, grids_of_varying_values_are_diagonals) {
  for (const char* spec : {"poisson2d:30", "poisson3d:20", "poisson3d:40", "stencil3d27:16"}) {
    const std::string name = fastest(with_values_of_its_own(spec), precision::f64, two_threads(2 << 20));
    EXPECT_TRUE(name == "dia" || name == "hdia") << spec << ": " << name;
  }
}

TEST(cpu_costs, what_leaves_the_cache_costs_more) {
  const stats s = measure(generate("poisson3d:40").a);
  const format_entry& dia = find_format("dia");
  const layout l = dia.lay_out(s, precision::f64, {});
  const auto seconds = [&](double cache) {
    return expected_seconds(dia.cpu.kernels.front().costs, s, precision::f64, l, two_threads(cache / 2));
  };
  const double bytes = bytes_per_apply(l, s, precision::f64);
  EXPECT_EQ(seconds(bytes + 1), seconds(2 * bytes));
  EXPECT_GT(seconds(bytes - 1), 1.5 * seconds(bytes + 1));
}

TEST(cpu_costs, what_leaves_the_last_cache_of_amd_costs_more) {
  const stats s = measure(generate("poisson3d:40").a);
  const format_entry& dia = find_format("dia");
  const layout l = dia.lay_out(s, precision::f64, {});
  const double bytes = bytes_per_apply(l, s, precision::f64);
  const auto seconds = [&](double last_cache, bool by_intel) {
    machine m = two_threads(1 << 20, by_intel);
    m.last_cache = last_cache;
    return expected_seconds(dia.cpu.kernels.front().costs, s, precision::f64, l, m);
  };
  EXPECT_GT(seconds(bytes - 1, false), 1.5 * seconds(bytes + 1, false));
  EXPECT_EQ(seconds(bytes - 1, true), seconds(bytes + 1, true)); // 300 and 480 MiB held all that was measured
}

} // namespace
} // namespace furrow
