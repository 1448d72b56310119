// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "units.hpp"

#include <furrow/view.hpp>

#include <string>
#include <string_view>

namespace furrow {

/// "step", or beside other numbers than 1 "steps"; "entries", "launches" and "guesses".
inline std::string plural(index_t n, std::string_view one) {
  std::string word(one);
  if (n == 1) return word;
  if (!word.ends_with("ry")) return word.append(word.ends_with("ch") || word.ends_with("ss") ? "es" : "s");
  word.pop_back();
  return word.append("ies");
}

/// "1 step", "2 steps", "1234 entries".
inline std::string counted(index_t n, std::string_view one) {
  return std::to_string(n).append(" ").append(plural(n, one));
}
/// The same with the digits in groups of three: "1,234 entries".
inline std::string counted_text(index_t n, std::string_view one) {
  return count_text(n).append(" ").append(plural(n, one));
}

} // namespace furrow
