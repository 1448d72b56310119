// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/generate.hpp>

namespace furrow {

bool means_generator(std::string_view text) {
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return false;
  if (is_generator(text)) return true;
  for (const auto& g : generators())
    if (text == std::string_view(g.usage).substr(0, g.usage.find(':'))) return true;
  return false;
}

problem load(std::string_view file_or_spec) {
  return means_generator(file_or_spec) ? generate(file_or_spec) : read_matrix(file_or_spec);
}

matrix_header load_header(std::string_view file_or_spec) {
  return means_generator(file_or_spec) ? generator_header(file_or_spec) : read_header(file_or_spec);
}

} // namespace furrow
