// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <string_view>

namespace furrow::io {

/// Whether a name ends so, in whatever case: "x.NPY" has the ending ".npy".
inline bool has_ending(std::string_view name, std::string_view ending) {
  const auto same = [](char a, char small) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == small; };
  return name.size() >= ending.size() && std::ranges::equal(name.substr(name.size() - ending.size()), ending, same);
}

} // namespace furrow::io
