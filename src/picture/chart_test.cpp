// SPDX-License-Identifier: BSD-3-Clause
#include "picture/chart.hpp"
#include "picture/colours.hpp"
#include "picture/svg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace furrow::picture {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++found;
  return found;
}

TEST(axis, ticks_are_round_and_inside) {
  for (const double high : {0.003, 0.7, 1.0, 9.0, 47.0, 123456.0}) {
    const axis a = axis{"", scale::linear}.fitted({high / 3, high});
    EXPECT_EQ(a.low, 0);
    EXPECT_GE(a.high, high);
    EXPECT_LE(a.high, 2 * high);
    const auto t = a.ticks(6);
    EXPECT_GE(t.size(), 3u) << high;
    EXPECT_LE(t.size(), 13u) << high;
    EXPECT_TRUE(std::ranges::is_sorted(t));
    EXPECT_GE(t.front(), a.low);
    EXPECT_LE(t.back(), a.high * (1 + 1e-9));
  }
  EXPECT_EQ((axis{"", scale::linear, -1, 1}.ticks(4)), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
}

TEST(axis, a_logarithm_has_decades) {
  const axis a = axis{"", scale::logarithmic}.fitted({0.03, 700, -1, 0, std::nan("")});
  EXPECT_DOUBLE_EQ(a.low, 0.02);
  EXPECT_DOUBLE_EQ(a.high, 1000);
  const auto t = a.ticks(6);
  ASSERT_EQ(t.size(), 5u);
  EXPECT_DOUBLE_EQ(t[0], 0.1);
  EXPECT_DOUBLE_EQ(t[4], 1000);
  EXPECT_DOUBLE_EQ(a.place(0.02), 0);
  EXPECT_DOUBLE_EQ(a.place(1000), 1);
  EXPECT_NEAR(a.place(std::sqrt(20)), 0.5, 1e-12);
}

TEST(axis, nothing_and_one_value_have_a_range_too) {
  for (const scale kind : {scale::linear, scale::logarithmic})
    for (const std::vector<double>& values : {std::vector<double>{}, {5}, {0}}) {
      const axis a = axis{"", kind}.fitted(values);
      EXPECT_LT(a.low, a.high);
      EXPECT_TRUE(std::isfinite(a.place(3)));
    }
}

TEST(svg, escapes_what_comes_from_outside) {
  EXPECT_EQ(escaped("a<b & \"c\">\n"), "a&lt;b &amp; &quot;c&quot;&gt; ");
  chart c("<title>", std::vector<std::string>{"m & m"}, {"y"});
  c.bars("\"s\"", {1});
  const std::string text = c.svg();
  EXPECT_EQ(count(text, "&lt;title&gt;"), 2u); // the title for readers of the file, and on the paper
  EXPECT_NE(text.find(">m &amp; m</text>"), std::string::npos);
  EXPECT_EQ(text.find("m & m"), std::string::npos);
}

TEST(svg, coordinates_are_short) {
  EXPECT_EQ(coordinate(1), "1");
  EXPECT_EQ(coordinate(1.25), "1.25");
  EXPECT_EQ(coordinate(100), "100");
  EXPECT_EQ(coordinate(-0.001), "0");
}

TEST(chart, draws_every_value_that_has_a_place) {
  chart bars("bars", {"one", "two"}, {"GFLOP/s"});
  bars.bars("csr", {1, 2});
  bars.bars("coo", {3, std::nan("")});
  const std::string text = bars.svg();
  EXPECT_EQ(count(text, "<rect"), 3u + 2u); // three bars, two squares of the legend
  EXPECT_NE(text.find("two, csr: 2"), std::string::npos);

  chart roof("roofline", {"x", scale::logarithmic}, {"y", scale::logarithmic});
  roof.line("ceiling", {{0.1, 1}, {1, 10}, {std::nan(""), 2}, {2, 20}});
  roof.points("csr", {{0.2, 1.5, "cant"}, {0, 3}, {0.3, -1}});
  const std::string drawn = roof.svg();
  EXPECT_EQ(count(drawn, "<circle"), 1u);
  EXPECT_EQ(count(drawn, "M"), 2u) << drawn; // the gap lifts the pen
  EXPECT_NE(drawn.find("csr: cant"), std::string::npos);
  EXPECT_EQ(drawn.find("nan"), std::string::npos);
  EXPECT_EQ(count(drawn, "<g"), count(drawn, "</g>"));
}

TEST(chart, names_of_groups_stand_upright_where_they_fit) {
  chart few("c", {"3", "4", "5"}, {"rows"});
  few.bars("rows", {1, 2, 3});
  few.groups_are("entries of a row");
  EXPECT_EQ(count(few.svg(), "rotate(-45"), 0u);
  EXPECT_EQ(count(few.svg(), "entries of a row"), 1u);
  EXPECT_EQ(count(few.svg(), ">rows<"), 1u); // the axis: a legend would say the same
  chart long_names("c", {"a name that is longer than its group", "and another one"}, {"GFLOP/s"});
  long_names.bars("rows", {1, 2});
  EXPECT_EQ(count(long_names.svg(), "rotate(-45"), 2u);
  EXPECT_EQ(count(long_names.svg(), ">rows<"), 1u); // the legend
}

TEST(chart, says_where_its_values_are) {
  chart c("c", axis{"x"}, {"y", scale::logarithmic});
  c.line("one", {{0, 1}, {10, 1e-4}});
  const chart::frame f = c.place();
  EXPECT_LT(f.left, f.right);
  EXPECT_LT(f.top, f.bottom);
  EXPECT_EQ(f.x.low, 0);
  EXPECT_EQ(f.x.high, 10);
  EXPECT_EQ(f.y.high, 1);
  const std::string start = "M" + coordinate(f.left) + " " + coordinate(f.top) + " L";
  EXPECT_EQ(count(c.svg(), start), 1u) << start;
}

TEST(chart, bars_are_as_high_as_their_values) {
  chart c("", std::vector<std::string>{"g"}, {"y", scale::linear, 0, 10});
  c.bars("half", {5});
  EXPECT_NE(c.svg().find("height=\"160\""), std::string::npos); // of a plot of 320
}

TEST(chart, a_name_has_one_colour_in_every_picture) {
  const auto alone = colours_of({"csr", "cuSPARSE csr_alg1"}),
             among = colours_of({"x", "y", "cuSPARSE csr_alg1", "csr", "sell"});
  EXPECT_EQ(alone[0], among[3]);
  EXPECT_EQ(alone[0], colours_of({"csr:2"})[0]); // parameters change nothing
  const auto ours = colours_of({"bcsr", "coo", "csr", "dense", "dia", "ell", "hdia", "hyb", "packed", "sell", "stencil",
                                "csr:2", "MKL", "Eigen csr"});
  EXPECT_EQ(std::set<std::string>(ours.begin(), ours.end()).size(), ours.size()); // in one picture they differ
  EXPECT_EQ(ours[2], alone[0]);
}

TEST(chart, guides_are_dashed_named_and_inside) {
  chart c("", {"x", scale::logarithmic}, {"y", scale::logarithmic});
  c.points("csr", {{1, 1, "cant", "cant"}, {1, 1, "again", "again"}});
  c.guide("memory, 46 GB/s", {1, 1}, {10, 1000});
  const std::string text = c.svg();
  EXPECT_EQ(count(text, "stroke-dasharray"), 1u);
  EXPECT_NE(text.find(">memory, 46 GB/s</text>"), std::string::npos);
  EXPECT_NE(text.find(">1000</text>"), std::string::npos); // the axis holds it
  EXPECT_NE(text.find(">cant</text>"), std::string::npos);
}

TEST(chart, labels_do_not_lie_upon_each_other) {
  chart c("", axis{"x"}, axis{"y"});
  std::vector<point> crowd;
  for (int k = 0; k < 40; ++k) crowd.push_back({0.5 + 0.001 * k, 0.5, "", "label"});
  c.points("csr", crowd);
  const std::size_t shown = count(c.svg(), ">label</text>");
  EXPECT_GE(shown, 1u);
  EXPECT_LE(shown, 6u);
}

TEST(chart, refusals_are_crosses_in_the_colour_of_their_series) {
  chart c("", std::vector<std::string>{"one", "two"}, {"y"});
  c.bars("csr", {1, 2});
  c.bars("dia", {1, std::nan("")});
  EXPECT_EQ(count(c.svg(), "refused"), 0u);
  c.refusal("dia", 1, "too many diagonals");
  const std::string text = c.svg();
  EXPECT_NE(text.find("two, dia: too many diagonals"), std::string::npos);
  EXPECT_EQ(count(text, "stroke=\"" + colours_of({"dia"})[0]), 1u);
}

TEST(chart, long_remarks_become_several_lines) {
  chart c("", axis{"x"}, axis{"y"});
  c.remark(std::string(60, 'a') + " " + std::string(60, 'b'), chart::tone::bad);
  const std::string text = c.svg();
  EXPECT_EQ(count(text, std::string(60, 'a') + "</text>"), 1u);
  EXPECT_EQ(count(text, ">" + std::string(60, 'b')), 1u);
}

TEST(axis, whole_numbers_have_whole_ticks) {
  axis a{"iteration"};
  a.whole = true;
  for (const double v : a.fitted({0, 3}).ticks(8)) EXPECT_EQ(v, std::round(v));
}

TEST(chart, of_nothing_is_still_a_picture) {
  EXPECT_TRUE(chart("empty", axis{"x"}, axis{"y"}).svg().ends_with("</svg>\n"));
  EXPECT_TRUE(chart("empty", std::vector<std::string>{}, axis{"y"}).svg().ends_with("</svg>\n"));
}

TEST(chart, a_line_shows_the_hints_of_its_points) {
  chart c("t", axis{"x"}, axis{"y"});
  c.width(280);
  c.line("l", {{0, 1, "first <one>"}, {1, 2}, {2, std::nan(""), "nowhere"}});
  const std::string drawn = c.svg();
  EXPECT_EQ(count(drawn, "<circle"), 1u);
  EXPECT_EQ(count(drawn, "first &lt;one&gt;"), 1u);
  EXPECT_EQ(count(drawn, "nowhere"), 0u);
  EXPECT_EQ(count(drawn, "width=\"368\""), 1u); // 72 and 16 beside it
}

} // namespace
} // namespace furrow::picture
