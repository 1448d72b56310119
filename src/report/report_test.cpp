// SPDX-License-Identifier: BSD-3-Clause
#include "report/html.hpp"
#include "report/row_lengths.hpp"
#include "report/words.hpp"

#include "picture/thinned.hpp"

#include <furrow/generate.hpp>
#include <furrow/report.hpp>
#include <furrow/stats.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

namespace furrow {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

/// A solve of nothing, with everything that a report can say.
solve_report made_up(index_t iterations) {
  solve_report r;
  r.why = status::stagnated;
  r.message = "the residual stopped falling at 3e-7";
  r.iterations = iterations;
  r.relative_residual = 3e-7;
  r.solve_seconds = 2, r.setup_seconds = 1, r.bytes_per_iteration = 1e6, r.product_bytes = 7e5;
  r.smallest_ritz = 0.25, r.largest_ritz = 4;
  r.solver = "cg", r.precond = "jacobi", r.format = "csr", r.kernel = "rows", r.reason = "the shortest";
  r.warning = "x may be far off", r.condition_estimate = 1e9, r.error_estimate = 0.1;
  for (index_t k = 0; k <= iterations; ++k) {
    r.history.push_back(1 / double(k * k % 977 + 1));
    r.history_seconds.push_back(double(k) * 1e-3);
  }
  return r;
}

TEST(report, says_all_that_is_known) {
  solve_report r = made_up(50);
  r.rungs = {{"direct", "lu", {}, "it is small", "too much memory", status::breakdown, 0, nan, 0.1, 0},
             {"cg", "jacobi", {}, "it is symmetric", "stagnated", status::stagnated, 50, 3e-7, 0.2, 2}};
  r.untried = {"gmres with ilu"};
  report_context c;
  c.name = "m", c.rhs = "b.mtx", c.command = "furrow solve m", c.goal = 1e-8, c.ceiling = 1e9, c.error = 0.5;
  c.machine = {{"processor", "a fast one"}};
  const std::string page = report_html(r, {}, c);
  for (const char* words : {"Stagnated",
                            "The residual stopped falling at 3e-7.",
                            "What to do next",
                            "x may be far off.",
                            "direct with lu",
                            "it is small.",
                            "Too much memory.",
                            "gmres with ilu",
                            "b.mtx",
                            "furrow solve m",
                            "goal 1e-08",
                            "a fast one",
                            "1e+09",
                            "stagnated",
                            "\"relative_residual\":null",
                            "An iteration took 40.0 ms: 25.0 MB/s, 2 % of the 1.00 GB/s",
                            "from 0.25 to 4, of A",
                            "\"ritz\":[0.25,4]",
                            "700 kB",
                            "700 us",
                            "300 kB",
                            "300 us"})
    EXPECT_TRUE(has(page, words)) << words;
  EXPECT_FALSE(has(page, "nan,")) << page;
}

TEST(report, tells_the_parts_of_a_set_up) {
  solve_report r = made_up(50); // 1 s of set-up, 2 s of solving
  r.setup_parts = {{"look", 0.25}, {"choose", 0.001}, {"precond", 0.5}, {"its own", 0.125}};
  const std::string page = report_html(r, {}, {});
  for (const char* words :
       {"set-up: looking at the matrix</th>\n<td>250 ms", "set-up: the preconditioner</th>\n<td>500 ms",
        "set-up: its own</th>\n<td>125 ms", "set-up: the rest</th>\n<td>125 ms", "<td>3.00 s",
        R"("parts":{"look":0.25,"choose":0.001,"precond":0.5,"its own":0.125})"})
    EXPECT_TRUE(has(page, words)) << words;
  EXPECT_FALSE(has(page, "choosing the format")); // below half a percent
  r.rungs = {{"cg", "jacobi", {}, "", "", status::stagnated, 50, 3e-7, 0.5, 2}};
  EXPECT_FALSE(has(report_html(r, {}, {}), "set-up: the preconditioner")); // the rung has it
}

TEST(report, shows_the_next_three_candidates) {
  solve_report r = made_up(5);
  r.format = "csr";
  report_context c;
  c.matrix.expected = {{"dia", "rows", 1e-6},
                       {"ell", "rows", 2e-6},
                       {"hyb", "rows", 3e-6},
                       {"coo", "flat", 4e-6},
                       {"csr", "merge", 8e-6}};
  const std::string page = report_html(r, {}, c);
  for (const char* words : {"dia (rows)<", "ell (rows)<", "hyb (rows)<", "csr (merge), taken<", "8.00 ×"})
    EXPECT_TRUE(has(page, words)) << words;
  EXPECT_FALSE(has(page, "coo (flat)"));
  r.format = "dia";
  EXPECT_TRUE(has(report_html(r, {}, c), "coo (flat)<"));
  const auto expected = sketch(generate("poisson2d:300").a).expected;
  ASSERT_GT(expected.size(), 3u);
  EXPECT_EQ(expected.front().format, "stencil");
  EXPECT_TRUE(std::ranges::is_sorted(expected, {}, &expected_product::seconds));
}

TEST(report, has_the_same_bytes_and_stays_small) {
  coo<double> a = generate("random:3000:40").a;
  report_context c;
  c.matrix = sketch(a);
  const solve_report r = made_up(200'000);
  const std::string page = report_html(r, {}, c);
  EXPECT_LT(page.size(), 100'000u);
  EXPECT_EQ(page, report_html(r, {}, c));
}

TEST(report, counts_rows_by_their_lengths) {
  using report::length_class, report::row_lengths;
  const auto counts = [](const coo<double>& a) {
    const stats s = measure(a);
    std::vector<std::array<index_t, 3>> all;
    for (const length_class& c : row_lengths(a, s.row_min, s.row_max)) all.push_back({c.least, c.most, c.rows});
    return all;
  };
  using expected = std::vector<std::array<index_t, 3>>;
  EXPECT_EQ(counts(generate("poisson2d:10").a), (expected{{3, 3, 4}, {4, 4, 32}, {5, 5, 64}}));
  coo<double> a; // rows of 0, 1, 0 and 40 entries
  a.shape = {4, 64};
  a.row = a.col = host_array<std::int32_t>(41, 3), a.val = host_array<double>(41, 1.0);
  a.row[0] = 1;
  for (std::int32_t k = 1; k < 41; ++k) a.col[k] = k;
  EXPECT_EQ(counts(a), (expected{{0, 0, 2}, {1, 1, 1}, {2, 3, 0}, {4, 7, 0}, {8, 15, 0}, {16, 31, 0}, {32, 63, 1}}));
  EXPECT_TRUE(has(sketch(a).row_lengths, "32 to 63"));
  a.shape = {0, 0};
  a.row = a.col = {}, a.val = {};
  EXPECT_TRUE(counts(a).empty() && sketch(a).row_lengths.empty());
}

TEST(report, escapes_every_text) {
  solve_report r = made_up(3);
  const std::string evil = "</script><b>\"'&\x1b\xff";
  report_context c;
  c.name = c.origin = c.rhs = c.x0 = c.command = evil;
  c.machine = c.matrix.facts = {{evil, evil}};
  r.message = r.warning = r.solver = r.precond = r.precond_about = r.format = r.kernel = r.reason = r.matrix_about =
      evil;
  r.untried = {evil};
  r.rungs = {{evil, evil, {}, evil, evil, status::converged, 1, 0.5, 1, 1}};
  const std::string page = report_html(r, {}, c);
  EXPECT_FALSE(has(page, "<b>"));
  EXPECT_FALSE(has(page, "\x1b"));
  EXPECT_FALSE(has(page, "\xff"));
  const std::size_t first = page.find("</script>");
  ASSERT_NE(first, std::string::npos);
  const std::size_t second = page.find("</script>", first + 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(page.find("</script>", second + 1), std::string::npos); // those of the page: its data, and what runs
}

TEST(report, knows_a_verdict_and_advice_for_every_status) {
  std::set<std::string_view> verdicts;
  for (const status s :
       {status::converged, status::least_squares, status::max_iterations, status::not_positive_definite,
        status::singular, status::breakdown, status::nan, status::stagnated, status::diverged, status::interrupted}) {
    verdicts.insert(report::verdict(s));
    EXPECT_EQ(report::advice(s).empty(), s == status::converged || s == status::least_squares) << name(s);
  }
  EXPECT_EQ(verdicts.size(), 10u);
}

TEST(report, of_nothing_is_a_page) {
  for (const index_t n : {0, 1}) {
    solve_report r;
    r.relative_residual = nan;
    r.history.assign(static_cast<std::size_t>(n), nan);
    report_context c;
    coo<double> empty;
    empty.shape = {n, n};
    c.matrix = sketch(empty);
    const std::string page = report_html(r, {}, c);
    EXPECT_TRUE(has(page, "There is no curve"));
    EXPECT_TRUE(has(page, "</html>"));
    EXPECT_FALSE(has(page, "nan")) << page;
  }
}

TEST(report, draws_a_curve_alone) {
  const std::string curve = draw_convergence(made_up(20), 1e-8);
  EXPECT_TRUE(has(curve, "<svg ") && has(curve, "goal 1e-08") && has(curve, "recomputed from x"));
  EXPECT_FALSE(has(draw_convergence(made_up(20), 0), "goal"));
  EXPECT_EQ(draw_convergence({}, 1e-8), "");
}

TEST(report, is_written_whole) {
  const auto file = std::filesystem::path(testing::TempDir()) / "furrow_report_test.html";
  const solve_report r = made_up(9);
  write_report(file, r, {}, {});
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), report_html(r, {}, {}));
  std::filesystem::remove(file);
  EXPECT_THROW(write_report(file / "none" / "r.html", r, {}, {}), error);
}

TEST(words, speed_is_that_of_the_method_that_gave_the_answer) {
  solve_report r;
  r.solver = "minres", r.precond = "jacobi", r.iterations = 10, r.bytes_per_iteration = 100, r.solve_seconds = 5;
  EXPECT_EQ(report::bytes_a_second(r), 200);
  r.rungs.resize(2);
  r.rungs[0].solver = "minres", r.rungs[0].precond = "jacobi", r.rungs[0].iterations = 10;
  r.rungs[0].solve_seconds = 2;
  r.rungs[1].solver = "bicgstab", r.rungs[1].precond = "jacobi"; // has not begun
  EXPECT_EQ(report::bytes_a_second(r), 500);
}

TEST(html, closes_what_it_opens) {
  report::html page;
  page.open("p", "class=\"a\"").text("1 < 2").open("strong");
  EXPECT_EQ(page.finish(), "<p class=\"a\">1 &lt; 2<strong></strong></p>\n");
}

TEST(thinned, keeps_the_peaks_and_the_ends) {
  using picture::thinned;
  EXPECT_TRUE(thinned({}, 10).empty());
  EXPECT_EQ(thinned({3, 1, 2}, 10), (std::vector<std::size_t>{0, 1, 2}));
  std::vector<double> values(10007, 1.0);
  values[5003] = 9, values[7001] = -9;
  const auto kept = thinned(values, 100);
  EXPECT_LE(kept.size(), 201u);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  EXPECT_TRUE(std::ranges::count(kept, 5003u) == 1 && std::ranges::count(kept, 7001u) == 1);
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), values.size() - 1);
}

} // namespace
} // namespace furrow
