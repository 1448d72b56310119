// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace furrow::kit {

/// The folder of real matrices and of files for readers that FURROW_DATA names, if it is there.
inline std::optional<std::filesystem::path> data_folder() {
  const char* const said = std::getenv("FURROW_DATA");
  if (said && std::filesystem::exists(std::filesystem::path(said) / "INDEX.tsv")) return said;
  return {};
}

} // namespace furrow::kit
