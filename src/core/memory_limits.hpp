// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace furrow {

/// Memory under limits: how much this process may have at most, and how much of it is left.
struct memory_limit {
  std::int64_t most = std::numeric_limits<std::int64_t>::max(), left = most;
};

/// The memory limits of control groups, of version 2 and 1: those of the process's own group and of all groups above
/// it, for each of them holds. Which groups these are is read once.
class control_groups {
public:
  /// `root`: where /proc and /sys are.
  explicit control_groups(const std::filesystem::path& root = "/");
  /// The tightest, as it is now. Pages of files, which the kernel gives up first, count as left.
  memory_limit tightest() const;

private:
  struct group {
    std::filesystem::path limit, used, details;
    std::string pages_of_files; ///< their name in `details`
  };
  std::vector<group> groups_;
};

/// RLIMIT_AS and RLIMIT_DATA (ulimit -v and -d).
memory_limit resource_limits();

/// All of them.
memory_limit memory_limits();

} // namespace furrow
