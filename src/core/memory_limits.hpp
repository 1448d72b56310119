// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
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
  /// The tightest, as it is now. Pages of files, which the kernel gives up first, count as left. A limit beyond the
  /// memory of the machine limits nothing: what is taken of it is not read, for those files take ten times as long.
  memory_limit tightest() const;

private:
  struct group {
    std::filesystem::path limit, used, details;
    std::string pages_of_files; ///< their name in `details`
  };
  std::vector<group> groups_;
};

/// The number behind the first `name` of a short file of the system, or the first number where the name is empty; -1
/// where there is none. By one call: a set-up asks some ten times.
std::int64_t number_in_file(const char* file, std::string_view name = {});

/// RLIMIT_AS and RLIMIT_DATA (ulimit -v and -d).
memory_limit resource_limits();

/// All of them.
memory_limit memory_limits();

} // namespace furrow
