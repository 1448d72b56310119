// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <string>
#include <string_view>

namespace furrow {

/// "1 step", "2 steps": `one` with an s behind other numbers than 1.
inline std::string counted(index_t n, std::string_view one) {
  return std::to_string(n).append(" ").append(one).append(n == 1 ? "" : "s");
}

} // namespace furrow
