// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace furrow::picture {

inline constexpr const char *grey = "#7a808a", *green = "#2f9e6e", *red = "#cc5a4a";

/// A colour for each name, in their order: that of the same name is the same in every picture, and different names of
/// one picture differ as long as there are colours.
std::vector<std::string> colours_of(const std::vector<std::string_view>& names);

} // namespace furrow::picture
