// SPDX-License-Identifier: BSD-3-Clause
#include "parameters.hpp"

#include "kit/said_by.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace furrow {
namespace {

constexpr std::string_view usage = "ilu[:LEVEL[:ORDER]][:sweeps=K]";

TEST(entry_parameters, finds_what_has_a_name_behind_any_colon) {
  for (const char* text : {"2:natural:sweeps=5", "2:sweeps=5:natural", "sweeps=5:2:natural"}) {
    const entry_parameters p(usage, text);
    EXPECT_EQ(p.whole(0, 7, 0, 9), 2) << text;
    EXPECT_EQ(p.word(1), "natural") << text;
    EXPECT_EQ(p.whole("sweeps", 7, 1, 9), 5) << text;
  }
  const entry_parameters none(usage, "");
  EXPECT_EQ(none.whole("sweeps", 7, 1, 9), 7);
  EXPECT_FALSE(none.named("sweeps"));
  EXPECT_FALSE(none.has(0));
}

TEST(entry_parameters, leave_colons_to_the_name_of_a_file) {
  const entry_parameters p("block_jacobi[:K|:starts=FILE]", "starts=a:b=c.txt");
  EXPECT_EQ(p.named("starts"), "a:b=c.txt");
  EXPECT_FALSE(p.has(0));
}

std::string complaint(std::string_view how, std::string_view text) {
  return kit::said_by(fault::usage, [&] {
    const entry_parameters p(how, text);
    p.whole("sweeps", 0, 1, 9);
  });
}

TEST(entry_parameters, say_what_is_wrong) {
  const auto says = [](std::string_view how, std::string_view text, const char* what) {
    EXPECT_NE(complaint(how, text).find(what), std::string::npos) << complaint(how, text);
  };
  says(usage, "sweep=5", "it has no parameter 'sweep'; usage: ilu[:LEVEL[:ORDER]][:sweeps=K]");
  says(usage, "sweeps=5:sweeps=5", "'sweeps' is given twice");
  says(usage, "sweeps=0", "ilu:sweeps=0: '0' is not a whole number from 1 to 9; usage: ilu[");
  says(usage, "sweeps=", "'' is not a whole number from 1 to 9");
  says(usage, "1:natural:3", "there are 3 parameters, 2 are the most");
  says("ic0[:sweeps=K]", "3", "'3' is given without a name");
  says("none", "sweeps=1", "it has no parameter 'sweeps'");
  says("none", "1", "none:1: it takes no parameters");
  EXPECT_EQ(complaint(usage, "sweeps=9"), "");
}

} // namespace
} // namespace furrow
