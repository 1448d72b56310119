// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "said_by.hpp"

#include "preconditioners/entry.hpp"

namespace furrow::kit {

/// The refusal that a set-up ends with; `converged`, without words: it ends with none.
template <class F> refusal refused_by(F&& f) {
  try {
    f();
  } catch (const refusal& r) {
    EXPECT_FALSE(r.message.empty());
    return r;
  }
  return {status::converged, {}};
}

/// It is such a one, with these words.
template <class F> void expect_refusal(status why, std::string_view words, F&& f) {
  const refusal r = refused_by(f);
  EXPECT_EQ(r.why, why) << r.message;
  EXPECT_TRUE(mentions(r.message, words)) << r.message << "\nand not: " << words;
}

} // namespace furrow::kit
