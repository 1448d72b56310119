// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/caches.hpp"
#include "tune/ceiling.hpp"
#include "tune/row_error.hpp"
#include "tune/timing.hpp"
#include "tune/touched.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>

namespace furrow {
namespace {

coo<double> triplets(shape2 shape, std::initializer_list<std::int32_t> row, std::initializer_list<std::int32_t> col,
                     std::initializer_list<double> val) {
  return {shape, host_array<std::int32_t>(row), host_array<std::int32_t>(col), host_array<double>(val)};
}

TEST(row_error, reference_and_bound_are_those_of_the_text) {
  const auto a = triplets({4, 3}, {1, 1, 2}, {0, 2, 1}, {2, -3, 5}); // rows 0 and 3 are empty
  const host_array<double> x{1, 10, 4};
  const auto r = reference_product<double>(a, as_cview(x));
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  const double value[] = {0, -10, 50, 0}, bound[] = {0, 4 * u * 14, 3 * u * 50, 0};
  for (index_t i = 0; i < 4; ++i) {
    EXPECT_EQ(double(r.value[i]), value[i]);
    EXPECT_EQ(r.bound[i], bound[i]);
  }
}

TEST(row_error, is_in_units_of_the_bound) {
  const auto a = triplets({2, 1}, {0}, {0}, {1}); // row 1 is empty: its element must be 0
  const host_array<double> x{1};
  const auto r = reference_product<double>(a, as_cview(x));
  const auto error_of = [&](double y0, double y1) {
    const host_array<double> y{y0, y1};
    return largest_row_error<double>(r, as_cview(y));
  };
  EXPECT_EQ(error_of(1, 0), 0);
  EXPECT_DOUBLE_EQ(error_of(1 + std::numeric_limits<double>::epsilon(), 0), 2 / 3.0);
  EXPECT_TRUE(std::isinf(error_of(1, 1e-300)));
  EXPECT_TRUE(std::isinf(error_of(std::nan(""), 0)));
  EXPECT_TRUE(std::isinf(error_of(1, std::nan(""))));
}

TEST(row_error, says_nothing_of_rows_whose_sums_may_overflow) {
  const auto a = kit::assemble({2, 2}, {{0, 0, 1e308}, {0, 1, 1e308}, {1, 0, 1}});
  const row_reference r = reference_product<double>(a, as_cview(host_array<double>{1, 1}));
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(largest_row_error<double>(r, as_cview(host_array<double>{inf, 1})), 0);
  EXPECT_EQ(largest_row_error<double>(r, as_cview(host_array<double>{inf, inf})), inf);
}

TEST(row_error, every_format_passes_in_both_precisions) {
  for (const char* spec : {"poisson3d:20", "random:3000:16", "powerlaw:5000:9:2.2"}) {
    const auto check_in = [&]<class V>(V) {
      const auto a = convert_values<V>(generate(spec).a);
      host_array<V> x(a.shape.cols), y(a.shape.rows);
      for (index_t i = 0; i < x.size(); ++i) x[i] = static_cast<V>(0.5 + double(i % 97) / 97);
      const auto r = reference_product<V>(a, as_cview(x));
      for (const auto* f : formats()) {
        if (!f->cpu.make<V>()) continue;
        make<V>({f, {}, "auto", {}}, {}, coo<V>(a))->apply(1, as_cview(x), 0, as_view(y));
        EXPECT_LE(largest_row_error<V>(r, as_cview(y)), 1) << spec << " " << f->name;
      }
    };
    check_in(double());
    check_in(float());
  }
}

TEST(row_sums, add_up_rows_of_all_kinds) {
  const auto a = triplets({5, 2}, {1, 1, 3}, {0, 1, 1}, {1, 2, 7});
  const auto b = row_sums(a);
  const double expected[] = {0, 3, 0, 7, 0};
  for (index_t i = 0; i < 5; ++i) EXPECT_EQ(b[i], expected[i]);
  EXPECT_EQ(row_sums(coo<double>{{3, 3}, {}, {}, {}})[2], 0);
  // One row longer than a piece, with empty rows on both sides.
  const index_t n = 200000;
  coo<double> wide{{7, n}, host_array<std::int32_t>(n, 3), host_array<std::int32_t>(n), host_array<double>(n, 0.5)};
  for (index_t k = 0; k < n; ++k) wide.col[k] = static_cast<std::int32_t>(k);
  const auto sums = row_sums(wide);
  for (index_t i = 0; i < 7; ++i) EXPECT_EQ(sums[i], i == 3 ? n / 2 : 0) << i;
}

TEST(timing, counts_and_orders_its_numbers) {
  auto a = generate("poisson2d:50").a;
  const host_array<double> x(2500, 1.0);
  host_array<double> y(2500);
  const auto op = make<double>({&find_format("csr"), {}, "auto", {}}, {}, std::move(a));
  const auto t = time_apply<double>(*op, as_cview(x), as_view(y), {}, 5);
  EXPECT_EQ(t.repeats, 5);
  EXPECT_GT(t.fastest, 0);
  EXPECT_LE(t.fastest, t.median);
}

TEST(ceiling, is_the_speed_of_a_machine) {
  const double bytes_a_second = measure_read_ceiling({});
  EXPECT_GT(bytes_a_second, 1e8);
  EXPECT_LT(bytes_a_second, 1e13);
  EXPECT_GT(last_level_cache(), 1e4);
}

TEST(ceiling, takes_little_time_and_memory) {
  constexpr double generous = 5; // times what is promised: other tests may run beside this one
  for (const double bytes : {0.0, 1e3, 1e6, 1e12}) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_GT(measure_read_ceiling({}, bytes), 1e7);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), generous * 0.2);
  }
  EXPECT_LE(largest_ceiling_array({}), 0.26 * double(available_host_memory()));
}

TEST(ceiling, is_measured_once_for_each_size) {
  read_ceilings ceilings{device{}};
  const double small = ceilings.of(100e3), memory = ceilings.of_memory();
  EXPECT_EQ(ceilings.of(100.1e3), small); // of another measurement, some digit would differ
  EXPECT_EQ(ceilings.of(1e15), memory);
  EXPECT_TRUE(std::isnan(read_ceilings(device{}, false).of(1e6)));
}

TEST(touched_columns, are_those_with_entries) {
  const auto a = triplets({3, 1000000}, {0, 1, 1, 2}, {7, 7, 999999, 0}, {1, 1, 1, 1});
  EXPECT_EQ(touched_columns(a), 3);
  EXPECT_EQ(touched_columns(coo<double>{{5, 9}, {}, {}, {}}), 0);
  const auto whole = generate("random:200000:3").a;
  std::set<std::int32_t> columns(whole.col.begin(), whole.col.end());
  EXPECT_EQ(touched_columns(whole), index_t(columns.size()));
  const auto op = make<double>({&find_format("csr"), {}, "auto", {}}, {}, coo<double>(a));
  EXPECT_EQ(bytes_moved(*op, 3), op->stored_bytes() + 8 * (3 + 3));
}

TEST(row_error, alpha_is_a_factor_of_both) {
  const auto a = triplets({2, 2}, {0, 0, 1}, {0, 1, 1}, {2, 3, 5});
  const host_array<double> x{1, 10};
  const auto one = reference_product<double>(a, as_cview(x)), other = reference_product<double>(a, as_cview(x), -2);
  for (index_t i = 0; i < 2; ++i) {
    EXPECT_EQ(other.value[i], -2 * one.value[i]);
    EXPECT_EQ(other.bound[i], 2 * one.bound[i]);
  }
}

} // namespace
} // namespace furrow
