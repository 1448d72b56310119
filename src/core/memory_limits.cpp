// SPDX-License-Identifier: BSD-3-Clause
#include "memory_limits.hpp"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace furrow {
namespace {

namespace fs = std::filesystem;

memory_limit tighter(memory_limit a, memory_limit b) { return {std::min(a.most, b.most), std::min(a.left, b.left)}; }

/// `mounted` and the folders below it that lead to `path`; what lies outside of a container is passed over.
std::vector<fs::path> folders_along(const fs::path& mounted, const std::string& path) {
  std::vector<fs::path> folders{mounted};
  for (const auto& name : fs::path(path).relative_path())
    if (!name.empty() && name != "..") folders.push_back(folders.back() / name);
  return folders;
}

} // namespace

std::int64_t number_in_file(const char* file, std::string_view name) {
  const int in = open(file, O_RDONLY | O_CLOEXEC);
  if (in < 0) return -1;
  char buffer[8192]; // those of Linux have 1.5 kB at most
  const ssize_t size = read(in, buffer, sizeof buffer);
  close(in);
  std::string_view text(buffer, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (!name.empty()) {
    while (!text.empty() && !(text.starts_with(name) && text.substr(name.size()).starts_with(' ')))
      text.remove_prefix(std::min(text.size() - 1, text.find('\n')) + 1);
    text.remove_prefix(std::min(text.size(), name.size()));
  }
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max<std::int64_t>(value, -1);
}

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
  static const std::int64_t machine = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  memory_limit all;
  for (const group& g : groups_) {
    const std::int64_t limit = number_in_file(g.limit.c_str());
    if (limit < 0 || limit >= machine) continue;
    const std::int64_t used = number_in_file(g.used.c_str());
    const std::int64_t files = std::max<std::int64_t>(number_in_file(g.details.c_str(), g.pages_of_files), 0);
    all = tighter(all, {limit, std::max<std::int64_t>(limit - std::max<std::int64_t>(used - files, 0), 0)});
  }
  return all;
}

memory_limit resource_limits() {
  memory_limit all;
  const auto add = [&](auto resource, int field) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur > static_cast<rlim_t>(all.most)) return; // none
    std::ifstream in("/proc/self/statm"); // pages: all, resident, shared, text, 0, data
    std::int64_t pages = 0;
    for (int k = 0; k <= field; ++k) in >> pages;
    const auto most = static_cast<std::int64_t>(limit.rlim_cur);
    all = tighter(all, {most, std::max<std::int64_t>(most - pages * sysconf(_SC_PAGESIZE), 0)});
  };
  add(RLIMIT_AS, 0);
  add(RLIMIT_DATA, 5);
  return all;
}

memory_limit memory_limits() {
  static const auto& groups = *new control_groups;
  return tighter(groups.tightest(), resource_limits());
}

} // namespace furrow
