// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace furrow::cli {

/// Environment variables that Furrow, its libraries or the terminal output listen to, with their values.
std::vector<std::pair<std::string, std::string>> settings();

} // namespace furrow::cli
