// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace furrow::kit {

/// What the error says that f throws, which must be of that kind where one is given.
template <class F> std::string complaint(F&& f, std::optional<fault> kind = {}) {
  try {
    f();
  } catch (const error& e) {
    if (kind) {
      EXPECT_EQ(e.kind, *kind) << e.what();
    }
    return e.what();
  }
  return "nothing was thrown";
}

} // namespace furrow::kit
