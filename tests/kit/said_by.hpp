// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace furrow::kit {

inline bool mentions(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The sentence of the error that f throws, which has to be of that kind where one is named; empty: it throws none.
template <class F> std::string said_by(std::optional<fault> kind, F&& f) {
  try {
    f();
  } catch (const error& e) {
    EXPECT_EQ(e.kind, kind.value_or(e.kind)) << e.what();
    return e.what();
  }
  return {};
}
template <class F> std::string said_by(F&& f) { return said_by(std::nullopt, f); }

/// f throws an error with these words in its sentence, of that kind where one is named.
template <class F> void expect_refusal(std::optional<fault> kind, std::string_view words, F&& f) {
  const std::string said = said_by(kind, f);
  EXPECT_NE(said, "") << "nothing was thrown";
  EXPECT_TRUE(mentions(said, words)) << said << "\nand not: " << words;
}
template <class F> void expect_refusal(std::string_view words, F&& f) { expect_refusal(std::nullopt, words, f); }

} // namespace furrow::kit
