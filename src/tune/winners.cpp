// SPDX-License-Identifier: BSD-3-Clause
#include "winners.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

namespace furrow {
namespace {

constexpr std::size_t fields = 6; // fingerprint, device, build, format, kernel, seconds

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string start_of_line(const winner_key& key) {
  return fmt::format("{:016x}\t{}\t{}\t", key.fingerprint, key.device, key.build);
}

} // namespace

std::filesystem::path winners_file() {
  // NOLINTBEGIN(concurrency-mt-unsafe)
  const char *named = std::getenv("FURROW_CACHE"), *xdg = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  const std::filesystem::path name = "winners.tsv";
  if (named && *named) return std::string_view(named) == "off" ? std::filesystem::path{} : named / name;
  if (xdg && *xdg) return std::filesystem::path(xdg) / "furrow" / name;
  if (home && *home) return std::filesystem::path(home) / ".cache" / "furrow" / name;
  return {};
}

std::optional<winner> recall(const std::filesystem::path& file, const winner_key& key) {
  std::optional<winner> found;
  std::ifstream in(file);
  const std::string start = start_of_line(key);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(start)) continue;
    const auto words = split(line);
    if (words.size() != fields) continue;
    winner w{std::string(words[3]), std::string(words[4]), 0};
    const auto [stop, code] = std::from_chars(words[5].data(), words[5].data() + words[5].size(), w.seconds);
    if (code == std::errc{} && stop == words[5].data() + words[5].size() && w.seconds > 0) found = w;
  }
  return found;
}

bool remember(const std::filesystem::path& file, const winner_key& key, const winner& w) {
  if (file.empty()) return false;
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  std::ofstream out(file, std::ios::app);
  const std::string line = fmt::format("{}{}\t{}\t{:.9g}\n", start_of_line(key), w.format, w.kernel, w.seconds);
  return bool(out.write(line.data(), static_cast<std::streamsize>(line.size())).flush());
}

} // namespace furrow
