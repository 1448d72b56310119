// SPDX-License-Identifier: BSD-3-Clause
#include "winners.hpp"

#include "core/environment.hpp"
#include "io/atomic_file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
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

/// An open file, or -1, that is closed at the end.
struct owned_file {
  int descriptor = -1;
  explicit owned_file(int number) : descriptor(number) {}
  owned_file(owned_file&& from) noexcept : descriptor(std::exchange(from.descriptor, -1)) {}
  owned_file& operator=(owned_file&&) = delete;
  ~owned_file() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

/// None where `file` is something else, at which an open or a read could wait for good.
owned_file open_regular(const std::filesystem::path& file, int how) {
  owned_file opened(::open(file.c_str(), how | O_NONBLOCK | O_CLOEXEC, 0666));
  struct stat about {};
  if (opened.descriptor >= 0 && ::fstat(opened.descriptor, &about) == 0 && S_ISREG(about.st_mode)) return opened;
  return owned_file(-1);
}

/// `file`, made where it is not there, locked for this process. None where somebody else keeps the lock.
owned_file open_alone(const std::filesystem::path& file) {
  for (int trial = 0; trial < 100; ++trial) {
    owned_file opened = open_regular(file, O_RDWR | O_CREAT);
    if (opened.descriptor < 0) return opened;
    struct stat mine {};
    struct stat there {};
    const bool locked = ::flock(opened.descriptor, LOCK_EX | LOCK_NB) == 0;
    // One who had the lock before may have put another file in its place.
    if (locked && ::fstat(opened.descriptor, &mine) == 0 && ::stat(file.c_str(), &there) == 0 &&
        mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
      return opened;
    if (!locked) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return owned_file(-1);
}

/// All of a file; what cannot be read is as if it were not there.
std::string text_of(const owned_file& file) {
  std::string text;
  std::array<char, 1 << 16> some;
  for (ssize_t got; file.descriptor >= 0 && (got = ::read(file.descriptor, some.data(), some.size())) > 0;)
    text.append(some.data(), static_cast<std::size_t>(got));
  return text;
}

template <class F> void for_each_line(std::string_view text, F use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

} // namespace

std::filesystem::path winners_file() {
  const std::string_view named = environment("FURROW_CACHE");
  const char *xdg = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME"); // NOLINT(concurrency-mt-unsafe)
  const std::filesystem::path name = "winners.tsv";
  if (!named.empty()) return named == "off" ? std::filesystem::path{} : std::filesystem::path(named) / name;
  if (xdg && *xdg) return std::filesystem::path(xdg) / "furrow" / name;
  if (home && *home) return std::filesystem::path(home) / ".cache" / "furrow" / name;
  return {};
}

std::optional<winner> recall(const std::filesystem::path& file, const winner_key& key) {
  std::optional<winner> found;
  const std::string start = start_of_line(key), text = text_of(open_regular(file, O_RDONLY));
  for_each_line(text, [&](std::string_view line) {
    if (!line.starts_with(start)) return;
    const auto words = split(line);
    if (words.size() != fields) return;
    winner w{std::string(words[3]), std::string(words[4]), 0};
    const char* const end = words[5].data() + words[5].size();
    const auto [stop, code] = std::from_chars(words[5].data(), end, w.seconds);
    if (code == std::errc{} && stop == end && w.seconds > 0 && std::isfinite(w.seconds)) found = w;
  });
  return found;
}

bool remember(const std::filesystem::path& file, const winner_key& key, const winner& w) {
  if (file.empty()) return false;
  try {
    std::filesystem::create_directories(file.parent_path());
    const owned_file old = open_alone(file);
    if (old.descriptor < 0) return false;
    const std::string start = start_of_line(key);
    io::atomic_file out(file);
    for_each_line(text_of(old), [&](std::string_view line) {
      if (!line.starts_with(start)) out.write(std::string(line) + '\n');
    });
    out.write(fmt::format("{}{}\t{}\t{:.9g}\n", start, w.format, w.kernel, w.seconds));
    out.commit();
    return true;
  } catch (const std::exception&) { // the folder, the disk
    return false;
  }
}

} // namespace furrow
