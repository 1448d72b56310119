// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "width.hpp"

#include "core/parameters.hpp"

#include <string_view>

namespace furrow::hyb_format {

inline constexpr std::string_view usage = "hyb[:WIDTH|bell_garland]";

/// The width by the parameters of the format: a number, the paper's rule, or the fewest bytes. Never more than the
/// longest row. Throws `fault::usage`.
inline index_t width_by(std::string_view parameters, const std::vector<index_t>& reaching, double bytes_of_value) {
  const entry_parameters given(usage, parameters);
  if (!given.has(0)) return width_of_fewest_bytes(reaching, bytes_of_value);
  if (given.word(0) == "bell_garland") return width_of_bell_garland(reaching);
  return std::min(given.whole(0, 0, 0, 2147483647), static_cast<index_t>(reaching.size()) - 1);
}

} // namespace furrow::hyb_format
