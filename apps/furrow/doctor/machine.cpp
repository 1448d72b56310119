// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <unistd.h>

#include <algorithm>

namespace furrow::cli {

std::vector<std::pair<std::string, std::string>> settings() {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('='));
    if (name.starts_with("FURROW_") || name == "CUDA_VISIBLE_DEVICES" || name == "NO_COLOR")
      found.emplace_back(name, text.substr(std::min(name.size() + 1, text.size())));
  }
  std::ranges::sort(found);
  return found;
}

} // namespace furrow::cli
