// SPDX-License-Identifier: BSD-3-Clause
#include "picture/chart.hpp"
#include "picture/svg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

TEST(chart, bars_are_as_high_as_their_values) {
  chart c("", std::vector<std::string>{"g"}, {"y", scale::linear, 0, 10});
  c.bars("half", {5});
  EXPECT_NE(c.svg().find("height=\"160\""), std::string::npos); // of a plot of 320
}

TEST(chart, of_nothing_is_still_a_picture) {
  EXPECT_TRUE(chart("empty", axis{"x"}, axis{"y"}).svg().ends_with("</svg>\n"));
  EXPECT_TRUE(chart("empty", std::vector<std::string>{}, axis{"y"}).svg().ends_with("</svg>\n"));
}

} // namespace
} // namespace furrow::picture
