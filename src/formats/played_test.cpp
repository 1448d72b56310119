// SPDX-License-Identifier: BSD-3-Clause
#include "played.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/row_error.hpp"
#include "kit/said_by.hpp"
#include "kit/sanitized.hpp"

#include <furrow/error.hpp>
#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/stats.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace furrow::play {
namespace {

constexpr settings every_way[] = {{32, turns::ascending}, {32, turns::descending}, {32, turns::random, 7},
                                  {64, turns::ascending}, {64, turns::descending}, {64, turns::random, 8}};

/// Places of a matrix that is still played: a lane costs a hundred times as much where a sanitizer looks at its stack.
const double most_places = kit::sanitized() ? 2e3 : 1e5;
const char* const a_grid = kit::sanitized() ? "poisson2d:12" : "poisson2d:40";

/// A kernel of a format, for messages and as what a test is about.
struct kernel_of {
  const played_format* format;
  std::string_view kernel;
};
std::vector<kernel_of> all_kernels() {
  std::vector<kernel_of> all;
  for (const auto* f : played_formats())
    for (const auto k : f->kernels) all.push_back({f, k});
  return all;
}
class played_kernels : public testing::TestWithParam<kernel_of> {};
INSTANTIATE_TEST_SUITE_P(all, played_kernels, testing::ValuesIn(all_kernels()), [](const auto& one) {
  return fmt::format("{}_{}", one.param.format->format, one.param.kernel);
});

template <class V>
std::vector<kernel_report> play_once(const kernel_of& k, const coo<V>& a, V beta, const host_array<V>& x,
                                     host_array<V>& y, const settings& how) {
  return k.format->product<V>()({a, {}, V(2), as_cview(x), beta, as_view(y)}, k.kernel, how);
}

/// Right in these ways; in all orders the same bits; nothing found.
template <class V>
void check_kernel(const kernel_of& k, const kit::named_matrix& m, std::span<const settings> ways, V beta) {
  const auto a = kit::as_precision<V>(m.a);
  const auto x = kit::random_vector<V>(a.shape.cols, 107);
  auto start = kit::random_vector<V>(a.shape.rows, 108);
  if (beta == V(0)) std::fill(start.begin(), start.end(), std::numeric_limits<V>::quiet_NaN());
  const auto truth = kit::reference_product(a, V(2), as_cview(x), beta, as_cview(start));
  host_array<V> first;
  int wave = 0;
  for (const settings& how : ways) {
    SCOPED_TRACE(fmt::format("{}: {} {}, wave {}, order {}, beta {}", m.name, k.format->format, k.kernel, how.wave,
                             int(how.order), beta));
    host_array<V> y = start;
    for (const auto& r : play_once(k, a, beta, x, y, how)) EXPECT_EQ(r.faults, std::vector<std::string>{});
    EXPECT_LE(kit::row_error(truth, as_cview(y)), 1);
    if (how.wave != wave) first = y;
    wave = how.wave;
    EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(y)));
  }
}

TEST_P(played_kernels, keep_to_the_bound_in_every_order_of_warps_with_32_and_64_lanes) {
  for (const auto& m : kit::battery()) {
    const auto stored = find_format(GetParam().format->format).lay_out(measure(m.a), precision::f64, {});
    if (!stored.refusal.empty() || stored.places > most_places) continue;
    check_kernel<double>(GetParam(), m, every_way, 0);
    check_kernel<double>(GetParam(), m, std::span(every_way).first(2), -0.5);
    check_kernel<float>(GetParam(), m, std::span(every_way).last(2), -0.5F);
  }
}

TEST_P(played_kernels, say_what_they_read) {
  const auto grid = generate(a_grid).a;
  const host_array<double> x(grid.shape.cols, 1.0);
  host_array<double> y(grid.shape.rows);
  index_t stored = 0;
  bool of_x = false;
  for (const auto& r : play_once<double>(GetParam(), grid, 0, x, y, {})) {
    EXPECT_GT(r.blocks, 0);
    EXPECT_EQ(r.wave, 32);
    for (const auto& t : r.arrays) {
      EXPECT_GT(t.instructions, 0) << t.array;
      EXPECT_LE(t.lanes, t.instructions * 32) << t.array;
      EXPECT_GE(t.lanes, t.instructions) << t.array;
      EXPECT_LE(t.bytes, t.lanes * t.element_bytes) << t.array;
      EXPECT_EQ(t.shared, t.lines == 0) << t.array;
      if (!t.shared) {
        EXPECT_LE(t.bytes, 128 * t.lines) << t.array;
      }
      if (t.array == "y" && t.stores) stored += t.lanes;
      of_x = of_x || (t.array == "x" && !t.stores);
    }
  }
  EXPECT_TRUE(of_x);
  EXPECT_GE(stored, grid.shape.rows);
}

traffic of(const std::vector<kernel_report>& reports, std::string_view array) {
  for (const auto& t : reports.front().arrays)
    if (t.array == array && !t.stores) return t;
  return {};
}

/// What the page on the kernels explains, as numbers.
TEST(played, lanes_that_share_a_row_read_neighbours_and_a_thread_a_row_does_not) {
  const auto a = generate("random:512:32").a; // 32 entries a row
  const host_array<double> x(a.shape.cols, 1.0);
  host_array<double> y(a.shape.rows);
  const auto play = [&](std::string_view kernel) {
    const auto c = find_played("csr", kernel);
    return play_once<double>({c.format, c.kernel}, a, 0, x, y, {});
  };
  const auto scalar = of(play("scalar"), "val"), vector = of(play("warp_per_row"), "val");
  EXPECT_EQ(scalar.lanes, a.nnz());
  EXPECT_EQ(vector.lanes, a.nnz());
  EXPECT_GT(double(scalar.lines) / double(scalar.instructions), 25);
  EXPECT_LT(double(vector.lines) / double(vector.instructions), 4);
}

TEST(played, rows_shorter_than_a_warp_leave_lanes_idle) {
  const auto a = generate("poisson2d:40").a; // up to five entries a row
  const host_array<double> x(a.shape.cols, 1.0);
  host_array<double> y(a.shape.rows);
  const auto share = [&](std::string_view kernel, int wave) {
    const auto c = find_played("csr", kernel);
    const auto val = of(play_once<double>({c.format, c.kernel}, a, 0, x, y, {wave}), "val");
    return double(val.lanes) / double(val.instructions * wave);
  };
  EXPECT_LT(share("warp_per_row", 32), 0.16);
  EXPECT_LT(share("warp_per_row", 64), 0.08);
  EXPECT_GT(share("vector", 32), 0.5);
}

TEST(played, the_classic_kernels_are_named_where_another_one_is_wanted) {
  const auto said = [](std::string_view format, std::string_view kernel) -> std::string {
    return kit::said_by([&] { find_played(format, kernel); });
  };
  EXPECT_NE(said("csr", "stream").find("csr (vector, scalar, warp_per_row, half_warp, naive)"), std::string::npos);
  EXPECT_NE(said("sell", "auto").find("format sell has no classic kernel"), std::string::npos);
  EXPECT_EQ(said("auto", "auto"), "");
}

/// A row's sum knows its lanes alone, so that every block has the same bits.
TEST(played, lanes_and_blocks_are_those_that_were_asked_for) {
  const auto a = generate("poisson2d:12").a;
  const auto x = kit::random_vector<double>(a.shape.cols, 107);
  const host_array<double> zeros(a.shape.rows, 0.0);
  const auto truth = kit::reference_product(a, 2.0, as_cview(x), 0.0, as_cview(zeros));
  const auto play = [&](std::string_view format, const std::string& kernel, int wave, int threads) {
    SCOPED_TRACE(fmt::format("{} {}, wave {}", format, kernel, wave));
    const auto c = find_played(format, kernel);
    host_array<double> y(a.shape.rows, std::numeric_limits<double>::quiet_NaN());
    const auto reports = play_once<double>({c.format, c.kernel}, a, 0, x, y, {wave});
    EXPECT_EQ(reports.front().threads, threads);
    EXPECT_EQ(reports.front().kernel, kernel);
    for (const auto& r : reports) EXPECT_EQ(r.faults, std::vector<std::string>{});
    EXPECT_LE(kit::row_error(truth, as_cview(y)), 1);
    return y;
  };
  const std::pair<const char*, const char*> kernels[] = {
      {"csr", "vector"}, {"csr", "scalar"}, {"csr", "half_warp"}, {"csr", "naive"},   {"csr", "vector:lanes=16"},
      {"ell", "scalar"}, {"hyb", "scalar"}, {"dia", "rows"},      {"dense", "naive"}, {"dense", "tiled"}};
  for (const int wave : {32, 64})
    for (const auto& [format, kernel] : kernels) {
      const auto usual = play(format, kernel, wave, 256);
      for (const int block : {32, 128, 1024}) {
        const bool more = std::string_view(kernel).find(':') != std::string_view::npos;
        const auto y = play(format, fmt::format("{}{}block={}", kernel, more ? "," : ":", block), wave, block);
        EXPECT_TRUE(kit::same_bits(as_cview(usual), as_cview(y))) << format << ' ' << kernel << ' ' << block;
      }
    }
  for (int lanes = 2; lanes <= 64; lanes *= 2) {
    const auto c = find_played("csr", "vector");
    const std::string kernel = fmt::format("vector:lanes={}", lanes);
    host_array<double> y(a.shape.rows);
    const auto report = play_once<double>({c.format, kernel}, a, 0, x, y, {64}).front();
    EXPECT_EQ(report.blocks, (a.shape.rows * lanes + 255) / 256) << lanes;
    EXPECT_LE(kit::row_error(truth, as_cview(y)), 1) << lanes;
  }
}

TEST(played, numbers_that_a_kernel_cannot_have_are_refused) {
  const auto said = [](std::string_view format, std::string_view kernel) -> std::string {
    return kit::said_by([&] { find_played(format, kernel); });
  };
  EXPECT_NE(said("csr", "vector:lanes=128").find("from 2 to 64"), std::string::npos);
  EXPECT_NE(said("csr", "scalar:lanes=2").find("no use for 'lanes=2'"), std::string::npos);
  EXPECT_NE(said("coo", "segmented:block=64").find("give segmented alone"), std::string::npos);
  const auto a = generate("poisson1d:4").a;
  const host_array<double> x(4, 1.0);
  host_array<double> y(4);
  const auto c = find_played("csr", "vector");
  EXPECT_THROW(play_once<double>({c.format, "vector:lanes=64"}, a, 0, x, y, {32}), error);
  EXPECT_THROW(play_once<double>({c.format, "vector:lanes=64,block=32"}, a, 0, x, y, {64}), error);
}

TEST(played, a_wave_has_32_or_64_lanes) {
  const auto a = generate("poisson1d:4").a;
  const host_array<double> x(4, 1.0);
  host_array<double> y(4);
  EXPECT_THROW(
      play_once<double>({played_formats().front(), played_formats().front()->kernels.front()}, a, 0, x, y, {48}),
      error);
}

} // namespace
} // namespace furrow::play
