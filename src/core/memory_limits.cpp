// SPDX-License-Identifier: BSD-3-Clause
#include "memory_limits.hpp"

#include <algorithm>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace furrow {
namespace {

namespace fs = std::filesystem;

/// A whole number in a file; -1 where there is none ("max").
std::int64_t number_in(const fs::path& file) {
  std::ifstream in(file);
  std::int64_t value = -1;
  return in >> value && value >= 0 ? value : -1;
}

/// The number behind a name, as in memory.stat; 0 where the name is missing.
std::int64_t number_behind(const std::string& name, const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  for (std::int64_t value = 0; in >> word >> value;)
    if (word == name) return value;
  return 0;
}

memory_limit tighter(memory_limit a, memory_limit b) { return {std::min(a.most, b.most), std::min(a.left, b.left)}; }

/// `mounted` and the folders below it that lead to `path`; what lies outside of a container is passed over.
std::vector<fs::path> folders_along(const fs::path& mounted, const std::string& path) {
  std::vector<fs::path> folders{mounted};
  for (const auto& name : fs::path(path).relative_path())
    if (!name.empty() && name != "..") folders.push_back(folders.back() / name);
  return folders;
}

} // namespace

control_groups::control_groups(const fs::path& root) {
  std::ifstream in(root / "proc/self/cgroup");
  const fs::path mounts = root / "sys/fs/cgroup";
  const auto add = [&](const fs::path& folder, const char* limit, const char* used, const char* pages) {
    std::error_code ignored;
    if (fs::exists(folder / limit, ignored))
      groups_.push_back({folder / limit, folder / used, folder / "memory.stat", pages});
  };
  for (std::string line; std::getline(in, line);) { // NUMBER:CONTROLLERS:PATH; no controllers: version 2
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty())
      for (const fs::path& mounted : {mounts, mounts / "unified"})
        for (const auto& folder : folders_along(mounted, path))
          add(folder, "memory.max", "memory.current", "inactive_file");
    if (controllers.find("memory") != controllers.npos)
      for (const auto& folder : folders_along(mounts / "memory", path))
        add(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
  }
}

memory_limit control_groups::tightest() const {
  memory_limit all;
  for (const group& g : groups_) {
    const std::int64_t limit = number_in(g.limit), used = number_in(g.used);
    if (limit < 0) continue;
    const std::int64_t needed = std::max<std::int64_t>(used - number_behind(g.pages_of_files, g.details), 0);
    all = tighter(all, {limit, std::max<std::int64_t>(limit - needed, 0)});
  }
  return all;
}

memory_limit resource_limits() {
  memory_limit all;
  std::ifstream in("/proc/self/statm"); // pages: all, resident, shared, text, 0, data
  std::int64_t pages[6] = {};
  for (std::int64_t& p : pages) in >> p;
  const auto add = [&](auto resource, std::int64_t used) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur > static_cast<rlim_t>(all.most)) return; // none
    const auto most = static_cast<std::int64_t>(limit.rlim_cur);
    all = tighter(all, {most, std::max<std::int64_t>(most - used * sysconf(_SC_PAGESIZE), 0)});
  };
  add(RLIMIT_AS, pages[0]);
  add(RLIMIT_DATA, pages[5]);
  return all;
}

memory_limit memory_limits() {
  static const auto& groups = *new control_groups;
  return tighter(groups.tightest(), resource_limits());
}

} // namespace furrow
