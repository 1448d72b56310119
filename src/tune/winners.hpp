// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace furrow {

/// What a measurement holds for: this matrix on this device in this build, and nothing else.
struct winner_key {
  std::uint64_t fingerprint = 0; ///< of the matrix, its values and their precision
  std::string device, build;
};

/// What was fastest.
struct winner {
  std::string format, kernel; ///< format with its parameters, as `choose` takes it
  double seconds = 0;         ///< of a product
};

/// The file of measured winners: FURROW_CACHE/winners.tsv, by default in the folder `furrow` of XDG_CACHE_HOME or of
/// ~/.cache. Empty where FURROW_CACHE is "off" or there is no such folder to be had.
std::filesystem::path winners_file();

/// The last winner that `file` holds for the key. A line that is not one of ours is passed over, and so is all of what
/// is no regular file.
std::optional<winner> recall(const std::filesystem::path& file, const winner_key& key);

/// Puts a line into `file` in place of those that it has for the key, and makes its folder; false where that cannot be
/// done. Processes that do so at the same time wait for each other, for a second at most.
bool remember(const std::filesystem::path& file, const winner_key& key, const winner& w);

} // namespace furrow
